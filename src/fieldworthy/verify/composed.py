"""Vehicles of the catalogue composed for checks, in air that stays as it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from fieldworthy.catalog import load_entry
from fieldworthy.core.rigid_body import RigidBodyState
from fieldworthy.core.vec import Vec3, quat_identity
from fieldworthy.environment.air import AirSample
from fieldworthy.vehicles.aircraft import (
    Actuators,
    AircraftParameters,
    AircraftShape,
    AircraftState,
    aircraft_step,
)
from fieldworthy.vehicles.battery import first_battery
from fieldworthy.vehicles.compose import EffectSwitches, Parts, compose
from fieldworthy.vehicles.tether import LoadParameters

GRAVITY, DENSITY = 9.80665, 1.225
STILL = Vec3(0.0, 0.0, 0.0)
HOVER_RAD_S = 6432.0 * 2.0 * math.pi / 60.0
"""Of the 2 kg quadrotor of the flight-robot document, section 8.28.5.1."""

SMOOTH: dict[str, Any] = {"rotor_drag": True, "flapping": True, "inflow": True, "gyroscopic": True}
"""Every effect of free flight; none has a kink."""


@cache
def catalogue(kind: str, name: str) -> dict[str, Any]:
    """Values of a catalogue file, whole numbers as floats."""
    values = load_entry(kind, name).values
    return {key: float(value) if isinstance(value, int) else value for key, value in values.items()}


def vehicle(
    name: str = "x500", dt_s: float = 0.001, load: LoadParameters | None = None, values: dict[str, Any] | None = None,
    **effects: bool,
) -> tuple[AircraftShape, AircraftParameters]:  # fmt: skip
    """Composed of its catalogue file, with only the effects that are named, and some values changed."""
    given = {**catalogue("aircraft", name), **(values or {})}
    battery = catalogue("battery", given["battery"]) if "battery" in given else {}
    off = dict.fromkeys(EffectSwitches.__dataclass_fields__, False)
    return compose(given, EffectSwitches(**{**off, **effects}), Parts(battery, load), dt_s)


def air(wind: Vec3 = STILL, gravity: float = GRAVITY, density: float = DENSITY) -> AirSample:
    """Air that is the same everywhere."""
    return AirSample(density, 101325.0, 288.15, wind, gravity)


def at_rest(
    shape: AircraftShape, p: AircraftParameters, speeds: float | tuple[float, ...] = 0.0, up_m: float = 100.0,
    vel: Vec3 = STILL, rate: Vec3 = STILL, quat: Any = None,
) -> AircraftState:  # fmt: skip
    """Level with these rotor speeds, the battery full; moving and turning if said so."""
    body = RigidBodyState(Vec3(0.0, 0.0, -up_m), quat or quat_identity(), vel, rate)
    turning = speeds if isinstance(speeds, tuple) else (speeds,) * len(p.rotors)
    return AircraftState(body, turning, battery=first_battery() if shape.battery is not None else None)


def holding(p: AircraftParameters, speeds: float | tuple[float, ...]) -> Actuators:
    """Throttles at which rotors keep their speeds, at nominal voltage."""
    turning = speeds if isinstance(speeds, tuple) else (speeds,) * len(p.rotors)
    return Actuators(tuple(speed / rotor.speed_max_rad_s for speed, rotor in zip(turning, p.rotors, strict=True)))


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function passes zero, by halving."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if f(middle) > 0.0 else (middle, high)
    return 0.5 * (low + high)


def flown(
    shape: AircraftShape, p: AircraftParameters, state: AircraftState, command: Actuators, around: AirSample,
    seconds: float, dt_s: float,
) -> AircraftState:  # fmt: skip
    """The state some seconds later, on floats."""
    for _ in range(round(seconds / dt_s)):
        state = aircraft_step(shape, p, state, command, around, dt_s)
    return state
