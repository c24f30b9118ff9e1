"""How fast flights are: one vehicle from Python, a campaign, and the time to the first result of a fresh process.

    python benchmarks/flight.py [--seconds 20] [--trials 1000]

One vehicle: `quad-hover` with physics and inertial unit at 1 kHz, a command every 20 ms, with the estimate and with the
truth; also a command every 4 ms, as autopilots in the loop want. Campaign: all trials side by side. Fresh
process: `fieldworthy run quad-hover --trials 1` with nothing cached, with everything, and without kernels only.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time

import fieldworthy as fw
from fieldworthy.world import start, step

ONE = ["dt_s=0.001"]
CASES = {
    "estimate, 50 Hz commands": ONE,
    "the same in 64 bits": [*ONE, "precision=f64"],
    "truth, 50 Hz commands": [*ONE, "control.navigation=truth"],
    "estimate, 250 Hz commands": [*ONE, "control.rate_hz=250"],
}


def real_time_factor(overrides: list[str], seconds: float) -> float:
    """Simulated seconds of one vehicle per second of wall time, after a warm-up."""
    world = fw.build(fw.load("quad-hover", overrides), 1).world
    state = start(world)
    for _ in range(5):
        state, _ = step(world, state)
    first, began = state.tick, time.perf_counter()
    while (state.tick - first) * world.timing.dt_s < seconds:
        state, _ = step(world, state)
    return (state.tick - first) * world.timing.dt_s / (time.perf_counter() - began)


def campaign(trials: int) -> tuple[float, float]:
    """(simulated seconds per wall second, wall seconds) of a whole campaign, building and results included."""
    scenario = fw.load("quad-hover")
    fw.fly(scenario, 2)  # compiles
    began = time.perf_counter()
    result = fw.fly(scenario, trials)
    wall = time.perf_counter() - began
    return result.sim_s / wall, wall


def first_result(home: str, code: str, out: str) -> float:
    """Wall seconds of `fieldworthy run quad-hover --trials 1` with kernels cached below `home`.

    Python's bytecode is cached below `code`, as it is beside the source for any user after the first call.
    """
    command = "import sys; sys.argv[0] = 'fieldworthy'; from fieldworthy.cli.main import main; main()"
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", command, "run", "quad-hover", "--trials", "1", "--out", out],
        env={**os.environ, "HOME": home, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": code},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - began


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--trials", type=int, default=1000)
    options = parser.parse_args()
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as code, tempfile.TemporaryDirectory() as bare:
        with tempfile.TemporaryDirectory() as home:
            print(f"first result, nothing cached     {first_result(home, code, f'{home}/a'):6.2f} s")
            print(
                f"first result, kernels cached     {min(first_result(home, code, f'{home}/{i}') for i in 'bcd'):6.2f} s"
            )
        print(f"first result, no kernels cached  {first_result(bare, code, f'{bare}/a'):6.2f} s")
    for name, overrides in CASES.items():
        print(f"one vehicle, {name:<26}{real_time_factor(overrides, options.seconds):7.1f} x real time")
    pace, wall = campaign(options.trials)
    print(f"campaign of {options.trials} trials: {pace:.0f} simulated s per s ({wall:.1f} s)")


if __name__ == "__main__":
    main()
