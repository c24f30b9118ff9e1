"""A magnetometer: the Earth's field through the iron and the currents of the vehicle."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.lanes import Scalar, clip
from fieldworthy.core.vec import Mat3, Quat, Vec3, mat3_apply, mat3_diagonal, quat_identity, rotate_inverse
from fieldworthy.sensors.inertial_triad import quantised
from fieldworthy.sensors.noise_process import vec
from fieldworthy.sensors.truth import SensorTruth


@dataclass(frozen=True)
class MagnetometerOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    white: bool = True
    hard_iron: bool = False
    soft_iron: bool = False
    motor_current: bool = False
    mounting: bool = False
    saturation: bool = False
    quantisation: bool = False


@dataclass
class MagnetometerParameters:
    """Tesla: the Earth's field is 25e-6 to 65e-6."""

    field_ned_t: Vec3
    """Of the Earth at the scenario's place (`earth_field.py`)."""
    noise_t: Scalar = 15e-9
    """Standard deviation of one reading, each axis."""
    hard_iron_frd_t: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    hard_iron_sigma_t: Scalar = 0.0
    """What calibration leaves, drawn for each trial."""
    soft_iron: Mat3 = field(default_factory=lambda: mat3_diagonal(Vec3(1.0, 1.0, 1.0)))
    motor_frd_t_a: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Field per ampere of motor current."""
    quat_frd_from_sensor: Quat = field(default_factory=quat_identity)
    range_t: Scalar = 1e-3
    resolution_t: Scalar = 13e-9


@dataclass
class MagnetometerMemory:
    """None where the effect is off."""

    hard_iron_frd_t: Vec3 | None


@dataclass
class MagnetometerReading:
    """One sample, in the sensor's axes."""

    field_frd_t: Vec3


def magnetometer_normals(options: MagnetometerOptions) -> int:
    """Normal numbers that one reading takes."""
    return 3 * options.white


def first_magnetometer_normals(options: MagnetometerOptions) -> int:
    """Normal numbers that `first_magnetometer` takes."""
    return 3 * options.hard_iron


def first_magnetometer(
    options: MagnetometerOptions, p: MagnetometerParameters, normals: tuple[Scalar, ...]
) -> MagnetometerMemory:
    """Memory at the start: the hard iron that calibration has left."""
    if not options.hard_iron:
        return MagnetometerMemory(None)
    return MagnetometerMemory(p.hard_iron_frd_t + vec(normals) * p.hard_iron_sigma_t)


def read_magnetometer(
    options: MagnetometerOptions,
    p: MagnetometerParameters,
    truth: SensorTruth,
    memory: MagnetometerMemory,
    normals: tuple[Scalar, ...],
) -> tuple[MagnetometerReading, MagnetometerMemory]:
    """One field vector, every `dt_s`.

    Equation: B = A_soft R^T B_earth + b_hard + c I + n      Source: Vasconcelos et al. (2011), "Geometric approach to
        strapdown magnetometer calibration in sensor frame", for A and b; c I is Biot-Savart with fixed wires.
    Frames: body FRD, then the sensor's axes.      Shapes: scalars.
    Limits: the Earth's field is the same all over the scenario (50 nT in 5 km); currents act without delay.
    Verified by: tests/verification/test_air_and_field_sensors.py
    """
    found = rotate_inverse(truth.quat_ned_from_frd, p.field_ned_t)
    if options.soft_iron:
        found = mat3_apply(p.soft_iron, found)
    if options.hard_iron and memory.hard_iron_frd_t is not None:
        found = found + memory.hard_iron_frd_t
    if options.motor_current:
        found = found + p.motor_frd_t_a * truth.current_a
    if options.mounting:
        found = rotate_inverse(p.quat_frd_from_sensor, found)
    if options.white:
        found = found + vec(normals) * p.noise_t
    if options.saturation:
        found = Vec3(*(clip(value, -p.range_t, p.range_t) for value in found))
    if options.quantisation:
        found = Vec3(*(quantised(value, p.resolution_t) for value in found))
    return MagnetometerReading(found), memory
