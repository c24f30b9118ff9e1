"""Whole vehicles of the catalogue for tests: composed, in air that stays as it is, on floats or in 64-bit lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import drjit as dr
import numpy as np
from drjit.llvm.ad import Float64, UInt32

from fieldworthy.control.autopilot import AutopilotOptions, AutopilotParameters, first_autopilot, steer
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.lanes import sqrt
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import dot
from fieldworthy.environment.air import AirSample
from fieldworthy.vehicles.aircraft import (
    Actuators,
    AircraftParameters,
    AircraftShape,
    AircraftState,
    aircraft_rates,
    aircraft_step,
)
from fieldworthy.verify.composed import (
    DENSITY,
    GRAVITY,
    HOVER_RAD_S,
    SMOOTH,
    STILL,
    air,
    at_rest,
    catalogue,
    holding,
    root,
    vehicle,
)

ALL_EFFECTS = SMOOTH
"""Everything of the air that has no kink in free flight."""

__all__ = ["ALL_EFFECTS", "DENSITY", "GRAVITY", "HOVER_RAD_S", "STILL", "air", "at_rest", "catalogue", "holding",
           "in_lanes", "on_floats", "piloted", "rates", "root", "setpoint", "truth", "vehicle"]  # fmt: skip

rates = aircraft_rates


def on_floats(
    shape: AircraftShape, p: AircraftParameters, state: AircraftState, command: Actuators, around: AirSample,
    seconds: float, dt_s: float = 0.001,
) -> Iterator[AircraftState]:  # fmt: skip
    """Every state after the start, step by step in Python."""
    for _ in range(round(seconds / dt_s)):
        state = aircraft_step(shape, p, state, command, around, dt_s)
        yield state


def in_lanes(
    shape: AircraftShape, p: AircraftParameters, state: AircraftState, command: Actuators, around: AirSample,
    seconds: float, dt_s: float = 0.001, *, lanes: int = 1, every: int = 0,
    watch: Callable[[AircraftState], dict[str, Any]] | None = None,
) -> tuple[AircraftState, dict[str, np.ndarray]]:  # fmt: skip
    """The last state as NumPy arrays (lanes,), and what `watch` sees after each `every` steps: (samples, lanes)."""
    steps = round(seconds / dt_s)
    wide = lambda tree: map_leaves(lambda x: dr.zeros(Float64, lanes) + x, tree)  # noqa: E731
    state = wide(state)
    names = list(watch(state)) if watch else []
    log = {name: dr.full(Float64, math.nan, (steps // every) * lanes) for name in names}
    lane = dr.arange(UInt32, lanes)

    def body(tick: Any, state: AircraftState) -> tuple[Any, AircraftState]:
        state = aircraft_step(shape, p, state, command, around, dt_s)
        if watch is not None:
            now = tick + 1
            for name, value in watch(state).items():
                dr.scatter(log[name], Float64(value), (now // every - 1) * lanes + lane, now % every == 0)
        return tick + 1, wide(state)

    _, state = dr.while_loop((dr.zeros(UInt32, lanes), state), lambda tick, _: tick < steps, body)
    found = {name: np.asarray(values).reshape(-1, lanes) for name, values in log.items()}
    return map_leaves(np.asarray, state), found


def piloted(
    shape: AircraftShape, p: AircraftParameters, pilot: tuple[AutopilotOptions, AutopilotParameters],
    state: AircraftState, asked: Callable[[Any], Setpoint], around: AirSample, seconds: float, dt_s: float,
    *, every: int, watch: Callable[[AircraftState, Any, Actuators, Any], dict[str, Any]], lanes: int = 1,
) -> dict[str, np.ndarray]:  # fmt: skip
    """What `watch(state, memory, actuators, margin)` sees of a flight by its autopilot, which knows the truth."""
    steps = round(seconds / dt_s)
    wide = lambda tree: map_leaves(lambda x: dr.zeros(Float64, lanes) + x, tree)  # noqa: E731
    state = wide(state)
    memory = wide(first_autopilot(pilot[0], truth(state, around)))
    first = steer(*pilot, asked(dr.zeros(Float64, lanes)), truth(state, around), memory, dt_s)
    log = {name: dr.full(Float64, math.nan, (steps // every) * lanes) for name in watch(state, memory, *first[::2])}
    lane = dr.arange(UInt32, lanes)

    def body(tick: Any, state: AircraftState, memory: Any) -> tuple[Any, AircraftState, Any]:
        actuators, memory, margin = steer(*pilot, asked(Float64(tick) * dt_s), truth(state, around), memory, dt_s)
        state = aircraft_step(shape, p, state, actuators, around, dt_s)
        now = tick + 1
        for name, value in watch(state, memory, actuators, margin).items():
            dr.scatter(log[name], Float64(value), (now // every - 1) * lanes + lane, now % every == 0)
        return tick + 1, wide(state), wide(memory)

    dr.while_loop((dr.zeros(UInt32, lanes), state, memory), lambda tick, *_: tick < steps, body)
    return {name: np.asarray(values).reshape(-1, lanes) for name, values in log.items()}


def truth(state: AircraftState, around: AirSample) -> Estimate:
    """The motion as it is."""
    body = state.body
    through = body.vel_ned_m_s - around.wind_ned_m_s
    speed = sqrt(dot(through, through) + 1e-12)
    return Estimate(body.pos_ned_m, body.vel_ned_m_s, body.quat_ned_from_frd, body.rate_frd_rad_s, speed)


def setpoint(**values: Any) -> Setpoint:
    """The origin at 100 m, hovering, unless said otherwise."""
    base = dict.fromkeys(Setpoint.__dataclass_fields__, 0.0) | {"up_m": 100.0}
    return Setpoint(**(base | values))
