"""A barometer: static pressure with weather, warm-up, noise and what the flow does to its port."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.lanes import Scalar, exp, select
from fieldworthy.core.vec import Vec3
from fieldworthy.sensors.inertial_triad import quantised
from fieldworthy.sensors.noise_process import gauss_markov_step
from fieldworthy.sensors.truth import SensorTruth


@dataclass(frozen=True)
class BarometerOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    white: bool = True
    drift: bool = False
    offset: bool = False
    position_error: bool = False
    wash: bool = False
    warm_up: bool = False
    quantisation: bool = False


@dataclass
class BarometerParameters:
    """Numbers of one barometer and its port."""

    noise_pa: Scalar = 1.8
    """Standard deviation of one reading."""
    drift_sigma_pa: Scalar = 185.0
    drift_correlation_s: Scalar = 3600.0
    """Weather: both for the change of the air's pressure, which the sensor cannot tell from height."""
    offset_sigma_pa: Scalar = 150.0
    """Absolute accuracy, from one unit to the next."""
    forward_coefficients: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Share of the dynamic pressure of flow along +x, +y, +z of the body that is felt as static pressure."""
    backward_coefficients: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """The same for flight towards -x, -y, -z."""
    wash_coefficient: Scalar = 1.0
    warm_up_rise_k: Scalar = 20.0
    warm_up_s: Scalar = 30.0
    temperature_pa_k: Scalar = 0.75
    """Pressure error per kelvin of the board above the air."""
    resolution_pa: Scalar = 1.2


@dataclass
class BarometerMemory:
    """None where the effect is off."""

    drift_pa: Scalar | None
    offset_pa: Scalar | None


@dataclass
class BarometerReading:
    """One sample; `environment.atmosphere` makes a height of it."""

    pressure_pa: Scalar
    temperature_k: Scalar
    """Of the sensor, warmer than the air."""


def barometer_normals(options: BarometerOptions) -> int:
    """Normal numbers that one reading takes."""
    return options.white + options.drift


def first_barometer_normals(options: BarometerOptions) -> int:
    """Normal numbers that `first_barometer` takes."""
    return options.offset


def first_barometer(options: BarometerOptions, p: BarometerParameters, normals: tuple[Scalar, ...]) -> BarometerMemory:
    """Memory at the start: the weather's change counts from now, the unit's offset is drawn."""
    return BarometerMemory(0.0 if options.drift else None, p.offset_sigma_pa * normals[0] if options.offset else None)


def read_barometer(
    options: BarometerOptions,
    p: BarometerParameters,
    truth: SensorTruth,
    memory: BarometerMemory,
    normals: tuple[Scalar, ...],
) -> tuple[BarometerReading, BarometerMemory]:
    """One pressure, every `dt_s`.

    Equation: p = p_air + d + o + rho/2 sum c_i v_i^2 + c_w p_wash + k dT (1 - exp(-t/tau)) + n, with d Gauss-Markov.
    Source: position error as share of dynamic pressure: Gracey, NASA RP-1046 (1980); drift of a fixed variance:
        Sabatini, Genovese (2013), "A stochastic approach to noise modeling for barometric altimeters".
    Frames: flow in body FRD.      Shapes: scalars.
    Limits: position error axis by axis, without coupling; the warm-up starts with the trial.
    Verified by: tests/verification/test_air_and_field_sensors.py
    """
    pressure, temperature, at = truth.pressure_pa, truth.temperature_k, 0
    drift = memory.drift_pa
    if options.white:
        pressure = pressure + p.noise_pa * normals[at]
        at += 1
    if options.drift:
        drift = gauss_markov_step(drift, normals[at], p.drift_sigma_pa, p.drift_correlation_s, options.dt_s)
        pressure = pressure + drift
    if options.offset:
        pressure = pressure + memory.offset_pa
    if options.position_error:
        pressure = pressure + position_error_pa(p, truth.air_velocity_frd_m_s, truth.density_kg_m3)
    if options.wash:
        pressure = pressure + p.wash_coefficient * truth.rotor_wash_pa
    if options.warm_up:
        rise = p.warm_up_rise_k * (1.0 - exp(-truth.t_s / p.warm_up_s))
        temperature = temperature + rise
        pressure = pressure + p.temperature_pa_k * rise
    if options.quantisation:
        pressure = quantised(pressure, p.resolution_pa)
    return BarometerReading(pressure, temperature), BarometerMemory(drift, memory.offset_pa)


def position_error_pa(p: BarometerParameters, air_velocity_frd_m_s: Vec3, density_kg_m3: Scalar) -> Scalar:
    """What the flow past the port adds to the static pressure."""
    total: Scalar = 0.0
    for speed, ahead, astern in zip(air_velocity_frd_m_s, p.forward_coefficients, p.backward_coefficients, strict=True):
        squared = speed * speed
        total = total + select(speed > 0.0, ahead * squared, astern * squared)
    return 0.5 * density_kg_m3 * total
