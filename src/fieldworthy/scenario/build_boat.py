"""A boat of a scenario: its numbers in lanes, the sea that it swims in, and where it starts."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.control.controller import Readings
from fieldworthy.core.engine import Engine
from fieldworthy.environment.sea import Sea, WaveComponent
from fieldworthy.environment.wave_spectrum import wave_table
from fieldworthy.scenario.draw import StartPose
from fieldworthy.scenario.mover import Mover
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values
from fieldworthy.vehicles.boat import BOAT, BoatParameters, BoatState


def build_boat(
    engine: Engine, scenario: Scenario, values: Values, trials: NDArray[np.uint32], starts: list[StartPose]
) -> Mover:
    """What a world needs of a boat."""
    numbers = scenario.vehicle.values
    return Mover(
        vehicle=BOAT,
        parameters=BoatParameters(
            **{f.name: values.lanes(engine, f"vehicle.{f.name}", numbers[f.name]) for f in fields(BoatParameters)}
        ),
        medium=_sea(engine, scenario, values, trials),
        start=_start(scenario, starts),
        readings=Readings,
    )


def _sea(engine: Engine, scenario: Scenario, values: Values, trials: NDArray[np.uint32]) -> Sea:
    sea = scenario.sea

    def vector(speed: str, angle: str, turn_rad: float) -> tuple[Any, Any]:
        size = np.asarray(values.numbers(f"sea.{speed}", getattr(sea, speed)))
        towards = np.radians(values.numbers(f"sea.{angle}", getattr(sea, angle))) + turn_rad
        return engine.floats(size * np.cos(towards)), engine.floats(size * np.sin(towards))

    current = vector("current_speed_m_s", "current_towards_deg", 0.0)
    wind = vector("wind_speed_m_s", "wind_from_deg", math.pi)
    waves: tuple[WaveComponent, ...] = ()
    if sea.waves is not None and sea.waves.height_m > 0.0:
        w = sea.waves
        table = wave_table(
            w.height_m, w.period_s, math.radians(w.from_deg), math.radians(w.spread_deg), w.components,
            scenario.seed, trials,
        )  # fmt: skip
        waves = tuple(
            WaveComponent(**{name: engine.floats(rows[i]) for name, rows in table.items()}) for i in range(w.components)
        )
    return Sea(*current, *wind, waves)


def _start(scenario: Scenario, starts: list[StartPose]) -> BoatState:
    zero = np.zeros(len(starts))
    return BoatState(
        north_m=np.array([s.north_m for s in starts]),
        east_m=np.array([s.east_m for s in starts]),
        heading_rad=np.array([s.heading_rad for s in starts]),
        surge_m_s=zero + scenario.start.speed_m_s,
        sway_m_s=zero,
        yaw_rate_rad_s=zero,
        surge_error_m=zero,
        yaw_error_rad=zero,
    )
