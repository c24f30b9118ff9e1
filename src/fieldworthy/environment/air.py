"""What a vehicle feels of the air and of gravity at its place and time."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.constants import (
    SEA_LEVEL_DENSITY_KG_M3,
    SEA_LEVEL_PRESSURE_PA,
    SEA_LEVEL_TEMPERATURE_K,
    STANDARD_GRAVITY_M_S2,
)
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3
from fieldworthy.environment.atmosphere import isa
from fieldworthy.environment.turbulence import TurbulenceOptions, TurbulenceParameters
from fieldworthy.environment.wind import WindOptions, WindParameters, wind_ned_m_s
from fieldworthy.environment.wind_grid import GridShape, WindGrid, grid_wind_ned_m_s


@dataclass(frozen=True)
class AirOptions:
    """Which parts of the air are computed."""

    wind: WindOptions | None = None
    """None: no mean wind and no gusts."""
    turbulence: TurbulenceOptions = field(default_factory=TurbulenceOptions)
    grid: GridShape | None = None
    """The size of the parameters' wind grid; its wind is added to the mean wind."""
    standard_atmosphere: bool = True
    """False: density, pressure and temperature are the same everywhere, as the parameters say."""


@dataclass
class AirParameters:
    """Numbers of the air; each may differ from trial to trial, the wind grid is one for all."""

    gravity_m_s2: Scalar = STANDARD_GRAVITY_M_S2
    elevation_m: Scalar = 0.0
    """Altitude of the NED origin, which lies on the ground, above sea level."""
    temperature_offset_k: Scalar = 0.0
    sea_level_pressure_pa: Scalar = SEA_LEVEL_PRESSURE_PA
    constant_density_kg_m3: Scalar = SEA_LEVEL_DENSITY_KG_M3
    """Where there is no standard atmosphere."""
    wind: WindParameters = field(default_factory=lambda: WindParameters(0.0, 0.0))
    turbulence: TurbulenceParameters = field(default_factory=TurbulenceParameters)
    grid: WindGrid | None = None


@dataclass(slots=True)
class AirSample:
    """The air at one place and time."""

    density_kg_m3: Scalar
    pressure_pa: Scalar
    temperature_k: Scalar
    wind_ned_m_s: Vec3
    """Velocity of the air, gusts and turbulence included: the way it goes."""
    gravity_m_s2: Scalar


def sample(
    options: AirOptions, p: AirParameters, pos_ned_m: Vec3, t_s: Scalar, turbulence_ned_m_s: Vec3 | None = None
) -> AirSample:
    """The air at a place: standard atmosphere, mean wind, gusts, wind grid, and the turbulence that was stepped before.

    Frames: NED; the ground is the plane down = 0.      Shapes: scalars.
    Limits: gravity is the same at all heights (it falls by 0.03 % a kilometre). With nothing switched on, the answer
        holds the parameters themselves and costs no operation.
    Verified by: tests/verification/test_air.py
    """
    height_m = -pos_ned_m.z
    wind = Vec3(0.0, 0.0, 0.0)
    if options.wind is not None:
        wind = wind_ned_m_s(options.wind, p.wind, height_m, t_s)
    if options.grid is not None and p.grid is not None:
        wind = wind + grid_wind_ned_m_s(options.grid, p.grid, pos_ned_m, t_s)
    if turbulence_ned_m_s is not None:
        wind = wind + turbulence_ned_m_s
    if not options.standard_atmosphere:
        return AirSample(
            p.constant_density_kg_m3, p.sea_level_pressure_pa, SEA_LEVEL_TEMPERATURE_K, wind, p.gravity_m_s2
        )
    still = isa(p.elevation_m + height_m, p.temperature_offset_k, p.sea_level_pressure_pa)
    return AirSample(still.density_kg_m3, still.pressure_pa, still.temperature_k, wind, p.gravity_m_s2)
