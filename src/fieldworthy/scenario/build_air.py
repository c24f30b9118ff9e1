"""The air of a scenario: what of it is computed, and its numbers in lanes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy.core.engine import Engine
from fieldworthy.core.vec import Vec3
from fieldworthy.environment.air import AirOptions, AirParameters
from fieldworthy.environment.turbulence import TurbulenceOptions, TurbulenceParameters
from fieldworthy.environment.wind import Gust, WindOptions, WindParameters, wind_20ft_m_s
from fieldworthy.environment.wind_grid import GridShape, WindGrid, grid_for
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values

Grid = tuple[GridShape, WindGrid] | None
"""Size and numbers of a wind field."""


def air_options(scenario: Scenario, grid: Grid = None) -> AirOptions:
    """Which parts of the air there are, the wind field of `grid_of` among them."""
    air = scenario.air
    drawn = any(name.startswith("air.wind") for name in scenario.randomize)
    windy = air.wind_speed_m_s > 0.0 or bool(air.gusts) or drawn
    turbulence = TurbulenceOptions()
    if air.turbulence is not None:
        turbulence = TurbulenceOptions(
            air.turbulence.model, air.turbulence.specification, rates="aero_span_m" in scenario.vehicle.values
        )
    return AirOptions(
        wind=WindOptions(air.shear, len(air.gusts)) if windy else None,
        turbulence=turbulence,
        grid=None if grid is None else grid[0],
    )


def air_parameters(scenario: Scenario, values: Values, grid: Grid = None) -> AirParameters:
    """Its numbers; NumPy arrays (rows,) where trials differ."""
    air = scenario.air
    speed = np.asarray(values.numbers("air.wind_speed_m_s", air.wind_speed_m_s))
    towards = np.radians(values.numbers("air.wind_from_deg", air.wind_from_deg)) + math.pi
    shear = WindOptions(air.shear, len(air.gusts))
    wind = WindParameters(
        north_m_s=_plain(speed * np.cos(towards)),
        east_m_s=_plain(speed * np.sin(towards)),
        reference_height_m=values.numbers("air.reference_height_m", air.reference_height_m),
        roughness_m=values.numbers("air.roughness_m", air.roughness_m),
        exponent=values.numbers("air.exponent", air.exponent),
        gusts=tuple(
            Gust(gust.start_s, gust.rise_s, gust.hold_s, Vec3(gust.north_m_s, gust.east_m_s, -gust.up_m_s))
            for gust in air.gusts
        ),
    )
    turbulence = TurbulenceParameters()
    if air.turbulence is not None:
        at_20ft = air.turbulence.wind_20ft_m_s
        if at_20ft is None:
            steady = WindParameters(_plain(speed), 0.0, air.reference_height_m, air.roughness_m, air.exponent)
            at_20ft = _speed_20ft(shear, steady, speed)
        turbulence = TurbulenceParameters(at_20ft, air.turbulence.high_sigma_m_s)
    return AirParameters(
        elevation_m=values.numbers("air.elevation_m", air.elevation_m),
        temperature_offset_k=values.numbers("air.temperature_offset_k", air.temperature_offset_k),
        sea_level_pressure_pa=values.numbers("air.sea_level_pressure_pa", air.sea_level_pressure_pa),
        wind=wind,
        turbulence=turbulence,
        grid=None if grid is None else grid[1],
    )


def _speed_20ft(shear: WindOptions, steady: WindParameters, speed: Any) -> Any:
    """The mean wind at 20 ft: the wind that turbulence is scaled by where the scenario names none."""
    unit = WindParameters(1.0, 0.0, steady.reference_height_m, steady.roughness_m, steady.exponent)
    return _plain(np.asarray(speed) * float(wind_20ft_m_s(shear, unit)))


def grid_of(engine: Engine, scenario: Scenario) -> Grid:
    """(its size, its numbers in lanes) of the scenario's wind field; None without one."""
    if scenario.air.grid is None:
        return None
    from fieldworthy.environment.wind_grid_files import read_wind_grid  # here: it needs an extra

    shape, grid = read_wind_grid(Path(scenario.source_path).parent / scenario.air.grid)
    return shape, grid_for(grid, engine.Float)


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value)
