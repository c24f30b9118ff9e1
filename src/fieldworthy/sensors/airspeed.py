"""A pitot tube with its differential pressure sensor."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3
from fieldworthy.core.lanes import Scalar, clip, maximum, sqrt
from fieldworthy.core.vec import Vec3, cross, dot
from fieldworthy.sensors.inertial_triad import quantised
from fieldworthy.sensors.noise_process import gauss_markov_coefficients
from fieldworthy.sensors.truth import SensorTruth

_HEAT_RATIO = 1.4
_SMALLEST_PA = 1e-9


@dataclass(frozen=True)
class AirspeedOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    white: bool = True
    offset: bool = False
    temperature: bool = False
    compressible: bool = False
    lag: bool = False
    lever_arm: bool = False
    saturation: bool = False
    quantisation: bool = False


@dataclass
class AirspeedParameters:
    """Numbers of one tube, its hoses and its sensor."""

    noise_pa: Scalar = 1.0
    """Standard deviation of one reading."""
    offset_sigma_pa: Scalar = 5.0
    """Zero error from one start to the next, after the preflight zeroing."""
    temperature_pa_k: Scalar = 0.0
    """Zero error per kelvin away from 25 deg C."""
    scale: Scalar = 1.0
    """Pressure coefficient of the installation: 1 in undisturbed flow."""
    axis_frd: Vec3 = field(default_factory=lambda: Vec3(1.0, 0.0, 0.0))
    """Where the tube points, unit length."""
    pos_frd_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    lag_s: Scalar = 0.02
    """Time constant of the hoses."""
    range_pa: Scalar = 6894.757
    resolution_pa: Scalar = 0.84


@dataclass
class AirspeedMemory:
    """None where the effect is off."""

    offset_pa: Scalar
    lagged_pa: Scalar


@dataclass
class AirspeedReading:
    """One sample."""

    differential_pa: Scalar
    """Can be negative: noise, offset, flow from behind."""
    airspeed_m_s: Scalar
    """Indicated: at sea level density, never negative; true airspeed is sqrt(1.225 / density) times as much."""


def airspeed_normals(options: AirspeedOptions) -> int:
    """Normal numbers that one reading takes."""
    return int(options.white)


def first_airspeed_normals(options: AirspeedOptions) -> int:
    """Normal numbers that `first_airspeed` takes."""
    return int(options.offset)


def first_airspeed(options: AirspeedOptions, p: AirspeedParameters, normals: tuple[Scalar, ...]) -> AirspeedMemory:
    """Memory at the start: standing in still air, the zero error drawn."""
    return AirspeedMemory(
        p.offset_sigma_pa * normals[0] if options.offset else None,
        0.0 if options.lag else None,
    )


def read_airspeed(
    options: AirspeedOptions,
    p: AirspeedParameters,
    truth: SensorTruth,
    memory: AirspeedMemory,
    normals: tuple[Scalar, ...],
) -> tuple[AirspeedReading, AirspeedMemory]:
    """One differential pressure, every `dt_s`.

    Equation: q = k rho/2 u |u| with u the flow along the tube, or compressible p ((1 + M^2/5)^3.5 - 1);
        y = q + zero error + c (T - 25 C) + n;   indicated airspeed sqrt(2 max(y, 0) / 1.225).
    Source: Gracey, NASA RP-1046 (1980), chapters 3 and 9.
    Frames: flow and tube in body FRD.      Shapes: scalars.
    Limits: subsonic; the flow's part along the tube counts, so 10 deg of misalignment read 1.5 % low, where a real
        tube with a wide mouth still reads right; flow from behind reads as suction of the same size.
    Verified by: tests/verification/test_air_and_field_sensors.py
    """
    flow = truth.air_velocity_frd_m_s
    if options.lever_arm:
        flow = flow + cross(truth.rate_frd_rad_s, p.pos_frd_m)
    along = dot(flow, p.axis_frd)
    speed2 = along * along
    if options.compressible:
        fifth = 1.0 + truth.density_kg_m3 * speed2 / (5.0 * _HEAT_RATIO * truth.pressure_pa)
        size = truth.pressure_pa * (fifth * fifth * fifth * sqrt(fifth) - 1.0)
    else:
        size = 0.5 * truth.density_kg_m3 * speed2
    pressure = p.scale * size * clip(along * 1e6, -1.0, 1.0)
    lagged = memory.lagged_pa
    if options.lag:
        gone, _ = gauss_markov_coefficients(p.lag_s, options.dt_s)
        lagged = lagged + gone * (pressure - lagged)
        pressure = lagged
    if options.offset:
        pressure = pressure + memory.offset_pa
    if options.temperature:
        pressure = pressure + p.temperature_pa_k * (truth.temperature_k - 298.15)
    if options.white:
        pressure = pressure + p.noise_pa * normals[0]
    if options.saturation:
        pressure = clip(pressure, -p.range_pa, p.range_pa)
    if options.quantisation:
        pressure = quantised(pressure, p.resolution_pa)
    # The floor keeps the gradient finite at a standstill: 4e-5 m/s.
    speed = sqrt((2.0 / SEA_LEVEL_DENSITY_KG_M3) * maximum(pressure, _SMALLEST_PA))
    return AirspeedReading(pressure, speed), AirspeedMemory(memory.offset_pa, lagged)
