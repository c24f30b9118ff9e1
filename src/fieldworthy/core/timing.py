"""Time is a whole number of ticks of dt. Durations and rates are turned into ticks once, on load, exactly."""

from __future__ import annotations

import math

from fieldworthy.core.errors import Problem, ScenarioError

_TICK_TOLERANCE = 1e-6
"""How far from a whole number of ticks a decimal fraction may fall by rounding [ticks]."""


def ticks_from_seconds(duration_s: float, dt_s: float, name: str) -> int:
    """How many ticks of dt a duration is; ScenarioError naming the nearest valid durations when it is not whole.

    `name` is the value's place in the scenario, such as "sensors.lidar.latency_s".
    """
    _check_dt(dt_s)
    if not (math.isfinite(duration_s) and duration_s >= 0.0):
        raise ScenarioError(Problem(name, f"{duration_s!r} s is not a duration", "a finite number, 0 or more"))
    ratio = duration_s / dt_s
    ticks = round(ratio)
    if abs(ratio - ticks) > _TICK_TOLERANCE:
        below = math.floor(ratio)
        what = f"{duration_s:.9g} s is not a whole number of steps of dt_s = {dt_s:.9g} s"
        valid = f"multiples of dt_s, next {below * dt_s:.9g} or {(below + 1) * dt_s:.9g}"
        raise ScenarioError(Problem(name, what, valid))
    return ticks


def ticks_from_rate(rate_hz: float, dt_s: float, name: str) -> int:
    """How many ticks lie between two events of a rate; ScenarioError naming the nearest valid rates."""
    _check_dt(dt_s)
    if not (math.isfinite(rate_hz) and rate_hz > 0.0):
        raise ScenarioError(Problem(name, f"{rate_hz!r} Hz is not a rate", "a finite number above 0"))
    ratio = 1.0 / (rate_hz * dt_s)
    ticks = round(ratio)
    if ticks < 1 or abs(ratio - ticks) > _TICK_TOLERANCE * max(1.0, ratio):
        below = math.floor(ratio)
        choices = [f"{1.0 / (n * dt_s):.9g}" for n in (below + 1, below) if n >= 1]
        what = f"{rate_hz:.9g} Hz does not divide into steps of dt_s = {dt_s:.9g} s ({ratio:.6g} steps a period)"
        raise ScenarioError(Problem(name, what, f"1 / (n dt_s), next {' or '.join(choices)} Hz"))
    return ticks


def _check_dt(dt_s: float) -> None:
    if not (math.isfinite(dt_s) and dt_s > 0.0):
        raise ScenarioError(Problem("dt_s", f"{dt_s!r} s is not a step", "a finite number above 0"))
