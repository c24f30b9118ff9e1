"""The vehicle of a scenario as an autopilot has it: bare actuators, devices read, nothing of ours between."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import msgspec

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.scenario.build import Built, build
from fieldworthy.scenario.load import set_values
from fieldworthy.scenario.schema import Scenario

USUAL_RATE_HZ: dict[AutopilotKind, float] = {"px4": 250.0, "ardupilot": 800.0}
"""Exchanges a second: PX4's IMU_INTEG_RATE; twice the loop of ArduCopter, which refuses to arm below 1.8 times."""

BOAT_RATE_HZ = 100.0
"""Exchanges a second with ArduPilot Rover, whose loop runs at 50 Hz."""

PHYSICS_HZ = 800.0
"""Physics of what flies is stepped at least so often."""

FOREVER_TICKS = 0xFFFFFFFF
"""Longer than any flight: 49 days of 1 ms."""

NOT_TOLD: dict[AutopilotKind, tuple[str, ...]] = {
    "px4": (),
    "ardupilot": ("gnss", "barometer", "magnetometer", "optical_flow", "odometry"),
}
"""Devices that an autopilot makes up itself: computing ours would be for nothing."""


def rate_of(kind: AutopilotKind, scenario: Scenario) -> float:
    """Exchanges a second where nobody says otherwise."""
    return BOAT_RATE_HZ if scenario.vehicle.kind == "boat" else USUAL_RATE_HZ[kind]


def for_autopilot(scenario: Scenario, kind: AutopilotKind, rate_hz: float | None = None) -> Scenario:
    """The same scenario steered from outside: 64 bits, a command an exchange, physics at PHYSICS_HZ or more.

    Raises: ScenarioError where the scenario does not go with that rate, FieldworthyError where PX4's clock does not.
    """
    rate = rate_of(kind, scenario) if rate_hz is None else rate_hz
    control: dict[str, Any] = {"controller": "external", "rate_hz": rate}
    values: dict[str, Any] = {"precision": "f64"}
    if scenario.vehicle.kind == "boat":
        values["dt_s"] = 1.0 / rate
    else:
        values["dt_s"] = 1.0 / (rate * _steps(kind, rate))
        control |= {"commands": "actuators", "navigation": "truth"}
    values["control"] = control
    drawn = {path: span for path, span in scenario.randomize.items() if not path.startswith("control.")}
    if drawn != scenario.randomize:
        values["randomize"] = drawn
    return set_values(scenario, values)


def _steps(kind: AutopilotKind, rate_hz: float) -> int:
    """Steps of the physics an exchange; for PX4, whose clock counts microseconds, of a whole number of them each."""
    least = max(1, math.ceil(PHYSICS_HZ / rate_hz - 1e-9))
    if kind != "px4":
        return least
    for steps in range(least, 4 * least + 1):
        if whole_us(1.0 / (rate_hz * steps)) is not None:
            return steps
    works = [1_000_000 // period_us for period_us in range(1, 1_000_001) if 1_000_000 % period_us == 0]
    near = [str(max((w for w in works if w < rate_hz), default=1)), str(min(w for w in works if w > rate_hz))]
    raise FieldworthyError(
        f"rate {rate_hz:g} Hz: {1e6 / rate_hz:.10g} us from one exchange to the next are no whole number of steps of "
        f"whole microseconds, by which PX4's clock counts; valid: such as {' or '.join(near)} Hz"
    )


def whole_us(dt_s: float) -> int | None:
    """A time in microseconds, or None where they are no whole number."""
    us = round(dt_s * 1e6)
    return us if us > 0 and abs(dt_s * 1e6 - us) <= 1e-6 * us else None


def build_for(scenario: Scenario, kind: AutopilotKind, trial: int, *, endless: bool = False) -> Built:
    """The world of one trial. endless: it has no goal and no time limit, but still ends in a crash."""
    sensors = scenario.sensors
    unheard = {name: None for name in NOT_TOLD[kind] if getattr(sensors, name, None) is not None}
    if unheard:
        scenario = msgspec.structs.replace(scenario, sensors=msgspec.structs.replace(sensors, **unheard))
    built = build(scenario, [trial])
    if endless:
        world = built.world
        world.timing = replace(world.timing, end=FOREVER_TICKS)
        # No distance is less than NaN: no target is ever reached.
        world.course_lanes = replace(
            world.course_lanes, radius_m=world.engine.floats([math.nan] * len(world.course.radius_m))
        )
    return built
