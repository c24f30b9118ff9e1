"""An inertial measurement unit, read every `dt_s` (the physics tick)."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Quat, Vec3, cross, quat_identity, rotate_inverse
from fieldworthy.sensors.inertial_triad import (
    TriadMemory,
    TriadOptions,
    TriadParameters,
    first_triad,
    first_triad_normals,
    read_triad,
    triad_normals,
)
from fieldworthy.sensors.truth import SensorTruth

REFERENCE_TEMPERATURE_K = 298.15
"""Data sheets give biases at 25 deg C."""


@dataclass(frozen=True)
class ImuOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Sample period."""
    gyro: TriadOptions = field(default_factory=TriadOptions)
    accelerometer: TriadOptions = field(default_factory=TriadOptions)
    lever_arm: bool = False
    mounting: bool = False
    vibration: bool = False
    rectification: bool = False
    g_sensitivity: bool = False


@dataclass
class ImuParameters:
    """Numbers of one unit and of where it sits."""

    gyro: TriadParameters = field(default_factory=TriadParameters)
    accelerometer: TriadParameters = field(default_factory=TriadParameters)
    pos_frd_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Of the accelerometers, from the centre of mass."""
    quat_frd_from_sensor: Quat = field(default_factory=quat_identity)
    """How the unit is turned; readings are in its own axes, which the autopilot takes for the body's."""
    g_sensitivity_rad_s_m_s2: Scalar = 0.0
    """Gyroscope bias per specific force along the same axis."""
    rectification_s2_m: Scalar = 0.0
    """Accelerometer bias per squared acceleration of vibration (the data sheet's VRE)."""
    self_heating_k: Scalar = 0.0
    """How much warmer the unit is than the air."""


@dataclass
class ImuMemory:
    """What lasts from sample to sample."""

    gyro: TriadMemory
    accelerometer: TriadMemory


@dataclass
class ImuReading:
    """One sample, in the unit's axes."""

    rate_frd_rad_s: Vec3
    specific_force_frd_m_s2: Vec3


def imu_normals(options: ImuOptions) -> int:
    """Normal numbers that one reading takes."""
    return triad_normals(options.gyro) + triad_normals(options.accelerometer)


def first_imu_normals(options: ImuOptions) -> int:
    """Normal numbers that `first_imu` takes."""
    return first_triad_normals(options.gyro) + first_triad_normals(options.accelerometer)


def first_imu(options: ImuOptions, p: ImuParameters, normals: tuple[Scalar, ...]) -> ImuMemory:
    """Memory at switch-on, the body level and at rest."""
    split = first_triad_normals(options.gyro)
    still, hung = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, -STANDARD_GRAVITY_M_S2)
    if options.mounting:
        hung = rotate_inverse(p.quat_frd_from_sensor, hung)
    return ImuMemory(
        first_triad(options.gyro, p.gyro, options.dt_s, normals[:split], still),
        first_triad(options.accelerometer, p.accelerometer, options.dt_s, normals[split:], hung),
    )


def read_imu(
    options: ImuOptions, p: ImuParameters, truth: SensorTruth, memory: ImuMemory, normals: tuple[Scalar, ...]
) -> tuple[ImuReading, ImuMemory]:
    """One sample of rate and specific force.

    Equation: f = f_cm + w' x r + w x (w x r) + v,   then both triads (`inertial_triad.read_triad`), with
        f += VRE v^2 and w += G f axis by axis.
    Source: Titterton, Weston, Strapdown Inertial Navigation Technology (2004), chapter 4 (errors) and 3 (lever arm).
    Frames: truth in body FRD; readings in the unit's axes.      Shapes: scalars.
    Limits: turn of the Earth left out; vibration enters as linear acceleration only and needs a tick short against
        its period; to run slower than the physics, average readings (`average_imu`), as units do.
    Verified by: tests/verification/test_imu.py
    """
    rate, force = truth.rate_frd_rad_s, truth.specific_force_frd_m_s2
    if options.lever_arm:
        arm = p.pos_frd_m
        force = force + cross(truth.rate_dot_frd_rad_s2, arm) + cross(rate, cross(rate, arm))
    vibration = truth.vibration_frd_m_s2
    if options.vibration:
        force = force + vibration
    if options.mounting:
        rate = rotate_inverse(p.quat_frd_from_sensor, rate)
        force = rotate_inverse(p.quat_frd_from_sensor, force)
        vibration = rotate_inverse(p.quat_frd_from_sensor, vibration) if options.rectification else vibration
    if options.g_sensitivity:
        rate = rate + force * p.g_sensitivity_rad_s_m_s2
    if options.rectification:
        force = force + Vec3(*(value * value for value in vibration)) * p.rectification_s2_m
    warm = 0.0
    if options.gyro.temperature or options.accelerometer.temperature:
        warm = truth.temperature_k + (p.self_heating_k - REFERENCE_TEMPERATURE_K)
    split = triad_normals(options.gyro)
    rate, gyro = read_triad(options.gyro, p.gyro, options.dt_s, rate, warm, memory.gyro, normals[:split])
    force, accelerometer = read_triad(
        options.accelerometer, p.accelerometer, options.dt_s, force, warm, memory.accelerometer, normals[split:]
    )
    return ImuReading(rate, force), ImuMemory(gyro, accelerometer)


def average_imu(readings: tuple[ImuReading, ...]) -> ImuReading:
    """The mean of successive samples: what a unit sends that integrates over a longer period than the physics tick.

    Keeps the noise density; every n-th sample alone would have sqrt(n) times as much.
    """
    share = 1.0 / len(readings)
    return map_leaves(lambda *values: sum(values[1:], values[0]) * share, readings[0], *readings[1:])
