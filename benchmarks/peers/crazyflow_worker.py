"""crazyflow's first-principles model on rotor speeds, 16,384 worlds, ten steps a call: RK4, 2 ms, float32.

Run by quad_step.py with the peers' Python. Says "ready" and its name, then for every line on stdin "window" and the
steps, wall seconds and processor seconds of one. With `--euler` the integrator is Euler: one evaluation, not four.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import version

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
from crazyflow.control import Control
from crazyflow.dynamics import Dynamics
from crazyflow.sim import Sim
from crazyflow.sim.integration import Integrator

WORLDS, CHUNK, CALLS = 16_384, 10, 10


def main() -> None:
    """Compile and warm up, then a window for every line."""
    integrator = Integrator.euler if "--euler" in sys.argv[1:] else Integrator.rk4
    sim = Sim(
        n_worlds=WORLDS, dynamics=Dynamics.first_principles, control=Control.rotor_vel, integrator=integrator,
        freq=500, device="cpu",
    )  # fmt: skip
    command = jnp.full((WORLDS, 1, 4), 12_000.0)

    def window(calls: int) -> tuple[int, float, float]:
        sim.reset()
        sim.rotor_vel_control(command)
        jax.block_until_ready(sim.data)
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(calls):
            sim.step(CHUNK)
        jax.block_until_ready(sim.data)
        return calls * CHUNK * WORLDS, time.perf_counter() - wall, time.process_time() - processor

    window(2)
    which = f"crazyflow {version('crazyflow')} (jax {version('jax')})"
    print(f"ready {which}, {WORLDS} worlds, {integrator} 2 ms, {CHUNK} steps a call", flush=True)
    for _ in sys.stdin:
        print("window", *window(CALLS), flush=True)


if __name__ == "__main__":
    main()
