"""A single-beam range finder against flat ground."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.lanes import Scalar, clip, logical_and, maximum, select
from fieldworthy.core.vec import Vec3, rotate
from fieldworthy.sensors.inertial_triad import quantised
from fieldworthy.sensors.noise_process import uniform_of
from fieldworthy.sensors.truth import SensorTruth

_LEAST_COSINE = 1e-3


@dataclass(frozen=True)
class RangefinderOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    white: bool = True
    dropout: bool = False
    lever_arm: bool = False
    quantisation: bool = False


@dataclass
class RangefinderParameters:
    """Numbers of one range finder."""

    range_min_m: Scalar = 0.2
    range_max_m: Scalar = 40.0
    noise_m: Scalar = 0.02
    noise_per_range: Scalar = 0.0
    """Added to the noise for every metre of range."""
    dropout: Scalar = 0.0
    """Probability that a reading with ground in range finds none."""
    axis_frd: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 1.0))
    """Where the beam points, unit length."""
    pos_frd_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    resolution_m: Scalar = 0.01


@dataclass
class RangefinderMemory:
    """Nothing lasts."""


@dataclass
class RangefinderReading:
    """One range."""

    range_m: Scalar
    """Along the beam; the greatest range where there is no return."""
    valid: Scalar
    """1 with a return, 0 without."""


def rangefinder_normals(options: RangefinderOptions) -> int:
    """Normal numbers that one reading takes."""
    return options.white + 2 * options.dropout


def first_rangefinder_normals(options: RangefinderOptions) -> int:
    """Normal numbers that `first_rangefinder` takes: none."""
    return 0


def first_rangefinder(
    options: RangefinderOptions, p: RangefinderParameters, normals: tuple[Scalar, ...]
) -> RangefinderMemory:
    """Memory at the start."""
    return RangefinderMemory()


def read_rangefinder(
    options: RangefinderOptions,
    p: RangefinderParameters,
    truth: SensorTruth,
    memory: RangefinderMemory,
    normals: tuple[Scalar, ...],
) -> tuple[RangefinderReading, RangefinderMemory]:
    """One range, every `dt_s`.

    Equation: d = h / cos(tilt), tilt between beam and plumb; y = d + (s0 + s1 d) n where min <= d <= max.
    Source: plane geometry.      Frames: beam in body FRD, ground level in NED.      Shapes: scalars.
    Limits: flat ground, a thin beam, all surfaces reflect alike; use the LiDAR for shapes and meshes.
    Verified by: tests/verification/test_air_and_field_sensors.py
    """
    height = truth.height_above_ground_m
    if options.lever_arm:
        height = height - rotate(truth.quat_ned_from_frd, p.pos_frd_m).z
    cosine = rotate(truth.quat_ned_from_frd, p.axis_frd).z
    distance = height / maximum(cosine, _LEAST_COSINE)
    seen = logical_and(cosine > _LEAST_COSINE, distance <= p.range_max_m)
    seen = logical_and(seen, distance >= p.range_min_m)
    found, at = distance, 0
    if options.white:
        found = found + (p.noise_m + p.noise_per_range * distance) * normals[at]
        at += 1
    if options.dropout:
        seen = logical_and(seen, uniform_of(normals[at], normals[at + 1]) >= p.dropout)
    if options.quantisation:
        found = quantised(found, p.resolution_m)
    found = clip(found, p.range_min_m, p.range_max_m)
    return RangefinderReading(select(seen, found, p.range_max_m), select(seen, 1.0, 0.0)), memory
