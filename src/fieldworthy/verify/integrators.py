"""What the integrators owe: their order, and the tables of the document that this project started from.

Long runs are one compiled loop of 64-bit lanes, whose answers are kept for the rows that share it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import load_engine
from fieldworthy.core.integrate import euler, rk4, semi_implicit_euler
from fieldworthy.core.lanes import Scalar, cos, select, sin, sqrt
from fieldworthy.verify.check import Check


def _step(method: str, velocity_fields: tuple[str, ...]) -> Callable[..., Any]:
    methods: dict[str, Callable[..., Any]] = {
        "Euler": euler,
        "semi-implicit Euler": partial(semi_implicit_euler, velocity_fields=velocity_fields),
        "RK4": rk4,
    }
    return methods[method]


def _oscillator_order(method: str) -> float:
    """Slope of log error over log step on x'' = -x from rest at 1, at t = 2 s, floats."""

    def rate(s: dict[str, Scalar]) -> dict[str, Scalar]:
        return {"x": s["v"], "v": -s["x"]}

    step, counts, errors = _step(method, ("v",)), (50, 100, 200, 400), []
    for count in counts:
        state = {"x": 1.0, "v": 0.0}
        for _ in range(count):
            state = step(rate, state, 2.0 / count)
        errors.append(math.hypot(state["x"] - math.cos(2.0), state["v"] + math.sin(2.0)))
    return -float(np.polyfit(np.log(counts), np.log(errors), 1)[0])


# The tables of the flight-robot document ----------------------------------------------------------------------------

STEPS_S = (0.00025, 0.0005, 0.001, 0.002, 0.005, 0.010, 0.020)
FREQUENCY_RAD_S, DAMPING, LAG_S, INERTIA_KG_M2 = 15.0, 0.7, 0.030, 0.0143


def _attitude_rate(command_rad: Scalar) -> Any:
    """The document's 2 kg quadrotor in the pitch plane with its controller, motor lag and drag."""
    gain = INERTIA_KG_M2 * FREQUENCY_RAD_S**2
    damping = 2.0 * DAMPING * FREQUENCY_RAD_S * INERTIA_KG_M2

    def rate(s: dict[str, Scalar]) -> dict[str, Scalar]:
        drag = 0.5 * 1.225 * 0.05 * sqrt(s["vx"] * s["vx"] + s["vz"] * s["vz"] + 1e-30)
        return {
            "vx": -(s["thrust"] * sin(s["theta"]) + drag * s["vx"]) / 2.0,
            "vz": 9.81 - (s["thrust"] * cos(s["theta"]) + drag * s["vz"]) / 2.0,
            "theta": s["q"],
            "q": s["torque"] / INERTIA_KG_M2,
            "torque": (gain * (command_rad - s["theta"]) - damping * s["q"] - s["torque"]) / LAG_S,
            "thrust": (2.0 * 9.81 - s["thrust"]) / LAG_S,
        }

    return rate


def _exact_attitude_rad(t_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """The loop's pitch is linear and of third order: its matrix exponential, by eigenvalues."""
    w = FREQUENCY_RAD_S
    matrix = np.array([[0, 1, 0], [0, 0, 1], [-(w**2) / LAG_S, -2 * DAMPING * w / LAG_S, -1 / LAG_S]])
    values, vectors = np.linalg.eig(matrix)

    def flow(start: Any, target: float, time: NDArray[np.float64]) -> Any:
        rest = np.array([target, 0.0, 0.0])
        modes = np.linalg.solve(vectors, start - rest)
        return (vectors @ (modes[:, None] * np.exp(np.outer(values, time)))).real + rest[:, None]

    up = math.radians(20.0)
    turned = flow(np.zeros(3), up, np.array([1.0]))[:, 0]
    rising = flow(np.zeros(3), up, np.minimum(t_s, 1.0))[0]
    pitch: NDArray[np.float64] = np.where(t_s <= 1.0, rising, flow(turned, 0.0, np.maximum(t_s - 1.0, 0.0))[0])
    return pitch


@cache
def _attitude_errors_deg(method: str) -> dict[float, float]:
    """Largest pitch error over 2 s by step size: 20 deg for one second, then level, all step sizes as lanes."""
    import drjit as dr

    engine = load_engine("f64")
    step = _step(method, ("vx", "vz", "q", "torque", "thrust"))
    counts = np.rint(2.0 / np.array(STEPS_S)).astype(int)
    width, lanes = int(counts.max()), len(STEPS_S)
    recorded = dr.full(engine.Float, math.nan, width * lanes)
    row = engine.indices(lanes) * width
    count, half, dt_s = engine.integers(counts), engine.integers(counts // 2), engine.floats(STEPS_S)
    zero = dr.zeros(engine.Float, lanes)
    start = dict.fromkeys(("vx", "vz", "theta", "q", "torque"), zero) | {"thrust": zero + 2.0 * 9.81}

    def body(i: Any, s: dict[str, Scalar]) -> tuple[Any, dict[str, Scalar]]:
        s = step(_attitude_rate(select(i < half, math.radians(20.0), zero)), s, dt_s)
        dr.scatter(recorded, s["theta"], row + i)
        return i + 1, s

    dr.while_loop((dr.zeros(engine.UInt32, lanes), start), lambda i, s: i < count, body, labels=("i", "s"))
    pitch = recorded.numpy().reshape(lanes, width)
    found = {}
    for lane, (size, n) in enumerate(zip(STEPS_S, counts, strict=True)):
        error = np.abs(pitch[lane, :n] - _exact_attitude_rad(size * np.arange(1, n + 1))).max()
        found[size] = math.degrees(error)
    return found


PENDULUM_RUNS = ((0.010, 10.0), (0.010, 60.0), (0.001, 10.0), (0.001, 60.0))


@cache
def _pendulum_amplitudes(method: str) -> dict[tuple[float, float], float]:
    """Amplitude by the final energy over the release angle of 10 deg; length 1 m, no damping."""
    import drjit as dr

    engine, release = load_engine("f64"), math.radians(10.0)
    dt_s, step = engine.floats([size for size, _ in PENDULUM_RUNS]), _step(method, ("omega",))
    count = engine.integers([round(duration / size) for size, duration in PENDULUM_RUNS])
    zero = dr.zeros(engine.Float, len(PENDULUM_RUNS))

    def rate(s: dict[str, Scalar]) -> dict[str, Scalar]:
        return {"angle": s["omega"], "omega": -9.81 * sin(s["angle"])}

    _, end = dr.while_loop(
        (dr.zeros(engine.UInt32, len(PENDULUM_RUNS)), {"angle": zero + release, "omega": zero}),
        lambda i, s: i < count,
        lambda i, s: (i + 1, step(rate, s, dt_s)),
        labels=("i", "s"),
    )
    angle, omega = end["angle"].numpy(), end["omega"].numpy()
    amplitude = np.arccos(np.cos(angle) - omega**2 / (2.0 * 9.81)) / release
    return dict(zip(PENDULUM_RUNS, amplitude.tolist(), strict=True))


DOCUMENT = "flight-robot simulation document, section 8.28.4"


def _table_row(method: str, dt_s: float, expected: float, half_digit: float) -> Check:
    law = f"largest pitch error of the 20° step, {1000 * dt_s:g} ms"
    # Half of the last printed digit, and a little: Euler at 20 ms errs by 5.449, printed as 5.5.
    return Check(method, law, DOCUMENT, expected, lambda: _attitude_errors_deg(method)[dt_s], 1.04 * half_digit, "deg")


def _pendulum_row(method: str, dt_s: float, duration_s: float, expected: float, half_digit: float) -> Check:
    law = f"pendulum amplitude, end over start, {duration_s:g} s at {1000 * dt_s:g} ms"
    return Check(method, law, DOCUMENT, expected, lambda: _pendulum_amplitudes(method)[dt_s, duration_s], half_digit)


def _order_row(method: str, order: float) -> Check:
    source = "x = cos t; order of the method (Hairer, Nørsett, Wanner, Solving ODEs I, II.1)"
    return Check(method, "order on x'' = -x", source, order, lambda: _oscillator_order(method), 0.1)


CHECKS: tuple[Check, ...] = (
    _order_row("Euler", 1.0),
    _order_row("semi-implicit Euler", 1.0),
    _order_row("RK4", 4.0),
    _table_row("Euler", 0.001, 0.18, 0.005),
    _table_row("Euler", 0.020, 5.5, 0.05),
    _table_row("semi-implicit Euler", 0.001, 0.18, 0.005),
    _table_row("semi-implicit Euler", 0.020, 4.7, 0.05),
    _table_row("RK4", 0.001, 2.7e-8, 5e-10),
    _table_row("RK4", 0.020, 5.4e-3, 5e-5),
    _pendulum_row("Euler", 0.010, 60.0, 15.2, 0.05),
    _pendulum_row("semi-implicit Euler", 0.010, 60.0, 1.008, 0.0005),
    _pendulum_row("RK4", 0.010, 60.0, 1.000, 0.0005),
)  # fmt: skip
