"""How many simulated seconds a campaign flies per second of wall time, 1,000 trials side by side.

    python benchmarks/campaign.py [--trials 1000] [--seconds 4]

For scenario A and 35 obstacles, with the full 28,800-ray sweep at 10 Hz and with the rays of the front sector only; the
first call with new numbers is watched for compilation. Prints the machine and the peak memory. Ratios against other ray
casters on the same rays are in rays.py.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time

import fieldworthy as fw
from fieldworthy.core.engine import KernelCounter
from fieldworthy.world import State, World, start, step


def pace(world: World, seconds: float) -> float:
    """Simulated seconds of all lanes per wall second, over `seconds` of each lane's own time, after a warm-up."""
    import drjit as dr  # not above: fieldworthy must settle first where LLVM lies

    state: State = start(world)
    for _ in range(3):
        state, _ = step(world, state)
    dr.sync_thread()
    began, first = time.perf_counter(), state.tick
    while (state.tick - first) * world.timing.dt_s < seconds:
        state, _ = step(world, state)
    dr.sync_thread()
    return len(world.trials) * (state.tick - first) * world.timing.dt_s / (time.perf_counter() - began)


def compiled_by_new_numbers(name: str, trials: int, full: bool) -> int:
    """Kernels compiled by a second world with another seed, noise and safe distance."""
    other = fw.load(name, ["seed=7", "sensors.lidar.noise_m=0.08", "control.parameters.safe_distance_m=13"])
    world = fw.build(other, trials, full_sweep=full).world
    import drjit as dr

    with KernelCounter() as counter:
        state = start(world)
        for _ in range(2):
            state, _ = step(world, state)
        dr.sync_thread()
    return counter.compiled


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {options.trials} trials")
    rows: dict[tuple[str, bool], float] = {}
    for name in ("boat-buoy", "boat-field-35"):
        for full in (True, False):
            world = fw.build(fw.load(name), options.trials, full_sweep=full).world
            best = max(pace(world, options.seconds) for _ in range(2))
            rows[name, full] = best
            assert world.lidar_shape is not None
            rays = world.lidar_shape.pattern.rays
            compiled = compiled_by_new_numbers(name, options.trials, full)
            print(
                f"{name:14} {'full sweep' if full else 'front only':10} {rays:6d} rays a sweep: {best:7.0f} simulated "
                f"s per wall s, {best * 10 * rays / 1e6:5.0f} Mray/s; new numbers compile {compiled} kernels"
            )
        print(f"{name:14} front only against full sweep: {rows[name, False] / rows[name, True]:.1f}x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if platform.system() == "Linux" else 1024**2)
    print(f"peak memory {peak / 1024:.2f} GiB")


if __name__ == "__main__":
    main()
