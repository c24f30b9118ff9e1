"""A pose from outside the autopilot: visual-inertial odometry that drifts, or a motion capture room that does not."""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.lanes import Scalar, sqrt
from fieldworthy.core.vec import (
    Quat,
    Vec3,
    cross,
    dot,
    quat_from_rotation_vector,
    quat_identity,
    quat_multiply,
    rotate,
    rotate_inverse,
)
from fieldworthy.sensors.noise_process import vec, walk_sigma
from fieldworthy.sensors.truth import SensorTruth


@dataclass(frozen=True)
class OdometryOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    white: bool = True
    """Of position."""
    velocity_noise: bool = True
    attitude_noise: bool = True
    drift: bool = False
    """Position walks away with time."""
    travel_drift: bool = False
    """Position walks away with the way that is made."""
    heading_drift: bool = False
    lever_arm: bool = False


@dataclass
class OdometryParameters:
    """Noise is that of one reading, each axis; drift is that of a random walk, each axis."""

    noise_horizontal_m: Scalar = 0.0
    noise_vertical_m: Scalar = 0.0
    velocity_noise_m_s: Scalar = 0.0
    tilt_noise_rad: Scalar = 0.0
    heading_noise_rad: Scalar = 0.0
    drift_m_rts: Scalar = 0.0
    """Standard deviation after one second; it grows with the root of time."""
    drift_m_rtm: Scalar = 0.0
    """Standard deviation after one metre of way; it grows with the root of the way."""
    heading_drift_rad_rts: Scalar = 0.0
    pos_frd_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Of the camera or the markers, from the centre of mass: what is told is their position and velocity."""


@dataclass
class OdometryMemory:
    """How far it has drifted, and how far it may have; None where the effect is off."""

    drift_ned_m: Vec3 | None
    variance_m2: Scalar | None
    """Of each axis of the drift."""
    heading_rad: Scalar | None
    heading_variance_rad2: Scalar | None


@dataclass
class OdometryReading:
    """One pose."""

    pos_ned_m: Vec3
    vel_frd_m_s: Vec3
    """Over ground, along the body's axes."""
    quat_ned_from_frd: Quat
    horizontal_sigma_m: Scalar
    """What it believes of itself, each axis; so are the next four."""
    vertical_sigma_m: Scalar
    velocity_sigma_m_s: Scalar
    tilt_sigma_rad: Scalar
    heading_sigma_rad: Scalar
    valid: Scalar
    """1 while it tracks, 0 when it is lost: the rest must not be used."""


def blank_odometry(options: OdometryOptions) -> OdometryReading:
    """Before the first reading."""
    zero = Vec3(0.0, 0.0, 0.0)
    return OdometryReading(zero, Vec3(0.0, 0.0, 0.0), quat_identity(), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def odometry_normals(options: OdometryOptions) -> int:
    """Normal numbers that one reading takes."""
    return 3 * (options.white + options.velocity_noise + options.attitude_noise + _walks(options)) + (
        options.heading_drift
    )


def first_odometry_normals(options: OdometryOptions) -> int:
    """Normal numbers that `first_odometry` takes: none, it starts where it is."""
    return 0


def first_odometry(options: OdometryOptions, p: OdometryParameters, normals: tuple[Scalar, ...]) -> OdometryMemory:
    """Memory at the start: no drift yet."""
    drift, none_yet = Vec3(0.0, 0.0, 0.0), 0.0
    turn = none_yet if options.heading_drift else None
    if not _walks(options):
        return OdometryMemory(None, None, turn, turn)
    return OdometryMemory(drift, none_yet, turn, turn)


def read_odometry(
    options: OdometryOptions,
    p: OdometryParameters,
    truth: SensorTruth,
    memory: OdometryMemory,
    normals: tuple[Scalar, ...],
) -> tuple[OdometryReading, OdometryMemory]:
    """One pose and velocity, every `dt_s`.

    Equation: p = p_cm + R r + d + white;   v = R^T v_cm + w x r + white;   q = exp(e) q_true, e = (tilt, tilt, heading)
        about north, east, down.   d is a random walk: its variance grows by K^2 T + k^2 |v| T a reading; so does the
        heading's by K_h^2 T. The sigmas told are the roots of the variances of these sums.
    Source: drift of odometry as a random walk of time and way, after Kelly (2004), "Linearized error propagation in
        odometry", IJRR 23(2); gravity holds the tilt of visual-inertial odometry, so only position and heading drift
        (Kelly and Sukhatme 2011, IJRR 30(1): four unobservable directions).
    Frames: position and attitude in world NED, velocity in body FRD (MAVLink ODOMETRY with MAV_FRAME_LOCAL_NED and
        MAV_FRAME_BODY_FRD).      Shapes: scalars.
    Limits: drift of heading does not bend the drift of position; it starts without error; no loop closure, and no loss
        of tracking by itself (a fault does that).
    Verified by: tests/verification/test_odometry.py
    """
    pos, at, dt_s = truth.pos_ned_m, 0, options.dt_s
    vel = rotate_inverse(truth.quat_ned_from_frd, truth.vel_ned_m_s)
    if options.lever_arm:
        pos = pos + rotate(truth.quat_ned_from_frd, p.pos_frd_m)
        vel = vel + cross(truth.rate_frd_rad_s, p.pos_frd_m)
    # A sigma of what is off is 0, in the type of the lanes.
    nothing = 0.0 * truth.t_s
    horizontal, vertical, fast, tilted, turned = (nothing for _ in range(5))
    if options.white:
        h, v = p.noise_horizontal_m, p.noise_vertical_m
        pos = pos + Vec3(h * normals[at], h * normals[at + 1], v * normals[at + 2])
        horizontal, vertical = nothing + h * h, nothing + v * v
        at += 3
    if options.velocity_noise:
        vel = vel + vec(normals, at) * p.velocity_noise_m_s
        fast = nothing + p.velocity_noise_m_s
        at += 3
    error = None
    if options.attitude_noise:
        tilt, heading = p.tilt_noise_rad, p.heading_noise_rad
        error = Vec3(tilt * normals[at], tilt * normals[at + 1], heading * normals[at + 2])
        tilted, turned = nothing + tilt, nothing + heading * heading
        at += 3
    drift, variance = memory.drift_ned_m, memory.variance_m2
    if drift is not None and variance is not None:
        grown = _growth(options, p, truth)
        drift, variance = drift + vec(normals, at) * sqrt(grown), variance + grown
        pos, horizontal, vertical = pos + drift, horizontal + variance, vertical + variance
        at += 3
    lean, uncertain = memory.heading_rad, memory.heading_variance_rad2
    if lean is not None and uncertain is not None:
        step = walk_sigma(p.heading_drift_rad_rts, dt_s)
        lean, uncertain = lean + step * normals[at], uncertain + step * step
        error = Vec3(nothing, nothing, lean) if error is None else Vec3(error.x, error.y, error.z + lean)
        turned = turned + uncertain
    quat = truth.quat_ned_from_frd
    if error is not None:
        quat = quat_multiply(quat_from_rotation_vector(error), quat)
    reading = OdometryReading(
        pos, vel, quat, sqrt(horizontal), sqrt(vertical), fast, tilted, sqrt(turned), 1.0 + nothing
    )
    return reading, OdometryMemory(drift, variance, lean, uncertain)


def _walks(options: OdometryOptions) -> bool:
    return options.drift or options.travel_drift


def _growth(options: OdometryOptions, p: OdometryParameters, truth: SensorTruth) -> Scalar:
    """Variance [m^2] that the drift of each axis gains until the next reading."""
    grown: Scalar = 0.0
    if options.drift:
        grown = p.drift_m_rts * p.drift_m_rts * options.dt_s
    if options.travel_drift:
        way = sqrt(dot(truth.vel_ned_m_s, truth.vel_ned_m_s) + 1e-12) * options.dt_s
        grown = grown + p.drift_m_rtm * p.drift_m_rtm * way
    return grown
