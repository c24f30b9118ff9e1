"""L2F's vector module, one call a step of 1,024 quadrotors: RK4, 10 ms, float32, motor lag, no drag.

Run by quad_step.py with the peers' Python. Says "ready" and its name, then for every line on stdin "window" and the
steps, wall seconds and processor seconds of one.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import version

os.environ["OMP_NUM_THREADS"] = "1"

import l2f
import numpy as np

ENVIRONMENTS, CALLS = 1024, 700


def main() -> None:
    """Warm up, then a window for every line."""
    vector, device = l2f.vector_selector[ENVIRONMENTS], l2f.Device()
    rng, environment = vector.VectorRng(), vector.VectorEnvironment()
    parameters, here, there = vector.VectorParameters(), vector.VectorState(), vector.VectorState()
    vector.initialize_rng(device, rng, 0)
    vector.initialize_environment(device, environment)
    vector.initial_parameters(device, environment, parameters)
    action = np.zeros((ENVIRONMENTS, environment.ACTION_DIM), np.float32)

    def window(calls: int) -> tuple[int, float, float]:
        vector.sample_initial_state(device, environment, parameters, here, rng)  # nothing drifts to infinity
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(calls // 2):
            vector.step(device, environment, parameters, here, action, there, rng)
            vector.step(device, environment, parameters, there, action, here, rng)
        return calls * ENVIRONMENTS, time.perf_counter() - wall, time.process_time() - processor

    window(100)
    print(f"ready L2F {version('l2f')}, vector of {ENVIRONMENTS}, RK4 10 ms", flush=True)
    for _ in sys.stdin:
        print("window", *window(CALLS), flush=True)


if __name__ == "__main__":
    main()
