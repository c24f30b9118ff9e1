"""An optical flow camera that looks straight down: how far the ground has turned by below it since its last reading.

Its image moves all the time, so it looks at every tick (`watch_optical_flow`) and tells the sum when it reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.lanes import Scalar, clip, floor, logical_and, maximum, select, sqrt
from fieldworthy.core.vec import Vec3, cross, rotate, rotate_inverse
from fieldworthy.sensors.inertial_triad import quantised
from fieldworthy.sensors.noise_process import vec
from fieldworthy.sensors.truth import SensorTruth

BEST_QUALITY = 255.0
"""The greatest quality that MAVLink and the parts themselves tell."""

UNKNOWN_M = -1.0
"""A distance that nobody has measured, as MAVLink tells it."""

_LENS_FRD = Vec3(0.0, 0.0, 1.0)
_LEAST_COSINE = 1e-3
_LEAST_DISTANCE_M = 1e-3


@dataclass(frozen=True)
class OpticalFlowOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    white: bool = True
    poor: bool = False
    """More noise with less quality."""
    saturation: bool = False
    fade: bool = False
    """Quality falls before the range ends; otherwise at its end."""
    lever_arm: bool = False
    quantisation: bool = False
    gyro: bool = False
    """The part has gyroscopes of its own."""
    gyro_noise: bool = False
    gyro_bias: bool = False
    distance: bool = False
    """The part has a range finder of its own."""
    distance_noise: bool = False


@dataclass
class OpticalFlowParameters:
    """Numbers of one camera."""

    range_min_m: Scalar = 0.08
    """Along the lens's axis: nearer ground is out of focus, farther ground has no texture left."""
    range_max_m: Scalar = 30.0
    fade: Scalar = 0.0
    """Share of `range_max_m` over which the quality falls to 0."""
    quality: Scalar = BEST_QUALITY
    """Over this ground while all is well, 0 to 255."""
    noise_rad_s: Scalar = 0.0
    """Standard deviation of the flow rate of one reading, each axis, at quality 255."""
    poor_noise_rad_s: Scalar = 0.0
    """The same at quality 0."""
    rate_max_rad_s: Scalar = 7.4
    """Flow that is matched from image to image at most, each axis."""
    resolution_rad: Scalar = 0.0026
    pos_frd_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Of the lens, from the centre of mass."""
    gyro_noise_rad_s_rthz: Scalar = 0.0
    gyro_turn_on_rad_s: Scalar = 0.0
    """Standard deviation of the gyroscopes' bias, drawn for each trial."""
    distance_min_m: Scalar = 0.3
    distance_max_m: Scalar = 5.0
    distance_noise_m: Scalar = 0.0


@dataclass
class OpticalFlowMemory:
    """Sums over the ticks since the last reading; None where the effect is off."""

    x_rad_s: Scalar
    y_rad_s: Scalar
    sight: Scalar
    """1 for every tick with the ground well in view."""
    ticks: Scalar
    gyro_frd_rad_s: Vec3 | None
    bias_frd_rad_s: Vec3 | None
    rest_x_rad: Scalar | None
    """What rounding has kept back."""
    rest_y_rad: Scalar | None


@dataclass
class OpticalFlowReading:
    """One reading, in the body's axes, which are the sensor's: x forward, y right, z down along the lens."""

    integrated_x_rad: Scalar
    """Flow about x since the last reading: positive for a right-handed turn about x, and for motion to the left."""
    integrated_y_rad: Scalar
    """Flow about y: positive for a right-handed turn about y, and for motion forward."""
    gyro_frd_rad: Vec3 | None
    """What its own gyroscopes have turned in this time; None: it has none."""
    quality: Scalar
    """0 (nothing to say) to 255, whole."""
    distance_m: Scalar
    """To the ground along the lens's axis, now; `UNKNOWN_M` without an echo and without a range finder."""
    period_s: Scalar
    """Over which flow and turn are summed."""


def blank_optical_flow(options: OpticalFlowOptions) -> OpticalFlowReading:
    """Before the first reading."""
    return OpticalFlowReading(0.0, 0.0, Vec3(0.0, 0.0, 0.0) if options.gyro else None, 0.0, UNKNOWN_M, 0.0)


def optical_flow_normals(options: OpticalFlowOptions) -> int:
    """Normal numbers that one reading takes."""
    return 2 * options.white + 3 * (options.gyro and options.gyro_noise) + (options.distance and options.distance_noise)


def first_optical_flow_normals(options: OpticalFlowOptions) -> int:
    """Normal numbers that `first_optical_flow` takes."""
    return 3 * (options.gyro and options.gyro_bias)


def first_optical_flow(
    options: OpticalFlowOptions, p: OpticalFlowParameters, normals: tuple[Scalar, ...]
) -> OpticalFlowMemory:
    """Memory at the start: nothing seen, and the gyroscopes' bias."""
    bias = vec(normals) * p.gyro_turn_on_rad_s if first_optical_flow_normals(options) else None
    rest = 0.0 if options.quantisation else None
    return OpticalFlowMemory(0.0, 0.0, 0.0, 0.0, Vec3(0.0, 0.0, 0.0) if options.gyro else None, bias, rest, rest)


def watch_optical_flow(
    options: OpticalFlowOptions, p: OpticalFlowParameters, truth: SensorTruth, memory: OpticalFlowMemory
) -> OpticalFlowMemory:
    """The sums after one more look, every physics tick.

    Equation: f_x = w_x - v_y / d,  f_y = w_y + v_x / d;   v = R^T v_cm + w x r,  d = (h - (R r)_z) / cos(tilt).
        A point of the ground on the axis lies at P = (0, 0, d) from the lens and moves by -v - w x P, so its image
        moves by (-v_x/d - w_y, -v_y/d + w_x); f is the turn of the camera that would do the same.
    Source: rigid-body kinematics (Longuet-Higgins and Prazdny 1980, Proc. R. Soc. B 208, at the image's centre); signs
        of MAVLink's OPTICAL_FLOW_RAD and HIL_OPTICAL_FLOW (common.xml) and PX4's SensorOpticalFlow.
    Frames: body FRD, ground level in NED.      Shapes: scalars.
    Limits: the flow at the middle of the image stands for all of it; level ground; what is out of range or too fast
        for the matching counts as no motion and takes its share from the quality. The sum over ticks is that of a
        window half a tick later.
    Verified by: tests/verification/test_optical_flow.py
    """
    rate, height = truth.rate_frd_rad_s, truth.height_above_ground_m
    vel = rotate_inverse(truth.quat_ned_from_frd, truth.vel_ned_m_s)
    if options.lever_arm:
        vel = vel + cross(rate, p.pos_frd_m)
        height = height - rotate(truth.quat_ned_from_frd, p.pos_frd_m).z
    distance, downward = _along_the_lens(truth, height)
    seen = logical_and(downward, logical_and(distance >= p.range_min_m, distance <= p.range_max_m))
    reach = maximum(distance, _LEAST_DISTANCE_M)
    x, y = rate.x - vel.y / reach, rate.y + vel.x / reach
    # Dr.Jit makes 32-bit lanes of a choice between two Python floats: give one the type of the lanes.
    sight = clip((p.range_max_m - distance) / (p.fade * p.range_max_m), 0.0, 1.0) if options.fade else 1.0 + 0.0 * x
    if options.saturation:
        matched_x, matched_y = (clip(f, -p.rate_max_rad_s, p.rate_max_rad_s) for f in (x, y))
        sight = select(logical_and(matched_x == x, matched_y == y), sight, 0.0)
        x, y = matched_x, matched_y
    turned = memory.gyro_frd_rad_s
    return OpticalFlowMemory(
        memory.x_rad_s + select(seen, x, 0.0),
        memory.y_rad_s + select(seen, y, 0.0),
        memory.sight + select(seen, sight, 0.0),
        memory.ticks + 1.0,
        turned + rate if turned is not None else None,
        memory.bias_frd_rad_s,
        memory.rest_x_rad,
        memory.rest_y_rad,
    )


def read_optical_flow(
    options: OpticalFlowOptions,
    p: OpticalFlowParameters,
    truth: SensorTruth,
    memory: OpticalFlowMemory,
    normals: tuple[Scalar, ...],
) -> tuple[OpticalFlowReading, OpticalFlowMemory]:
    """What was seen since the last reading, every `dt_s`.

    Equation: y = T mean(f) + T s(q) n,  s(q) = s_poor + (s_best - s_poor) q / 255,  q = q_ground mean(sight);
        gyroscopes: T mean(w) + T b + N sqrt(T) n;   range finder: d + s n.
    Source: noise by quality as PX4's EKF2 expects it (EKF2_OF_N_MIN, EKF2_OF_N_MAX); rounding that loses nothing, as
        counters of a mouse sensor work.
    Frames: body FRD.      Shapes: scalars.
    Limits: texture and light are one number, `quality`; no rolling shutter, no flicker. The first reading, at
        switch-on, has seen nothing: quality 0.
    Verified by: tests/verification/test_optical_flow.py
    """
    period_s, at = options.dt_s, 0
    share = 1.0 / maximum(memory.ticks, 1.0)
    x, y = (period_s * share * flow for flow in (memory.x_rad_s, memory.y_rad_s))
    quality = floor(p.quality * share * memory.sight + 0.5)
    if options.white:
        sigma = p.noise_rad_s
        if options.poor:
            sigma = p.poor_noise_rad_s + (p.noise_rad_s - p.poor_noise_rad_s) * (quality / BEST_QUALITY)
        x, y = x + period_s * sigma * normals[0], y + period_s * sigma * normals[1]
        at += 2
    rest_x, rest_y = memory.rest_x_rad, memory.rest_y_rad
    if options.quantisation:
        x, rest_x = _rounded(x, rest_x, p.resolution_rad)
        y, rest_y = _rounded(y, rest_y, p.resolution_rad)
    gyro = memory.gyro_frd_rad_s
    if options.gyro and gyro is not None:
        gyro = gyro * (period_s * share)
        if memory.bias_frd_rad_s is not None:
            gyro = gyro + memory.bias_frd_rad_s * period_s
        if options.gyro_noise:
            gyro = gyro + vec(normals, at) * (p.gyro_noise_rad_s_rthz * sqrt(period_s))
            at += 3
    found: Scalar = UNKNOWN_M
    if options.distance:
        height = truth.height_above_ground_m
        if options.lever_arm:
            height = height - rotate(truth.quat_ned_from_frd, p.pos_frd_m).z
        distance, downward = _along_the_lens(truth, height)
        heard = logical_and(downward, logical_and(distance >= p.distance_min_m, distance <= p.distance_max_m))
        if options.distance_noise:
            distance = distance + p.distance_noise_m * normals[at]
        found = select(heard, maximum(distance, 0.0), UNKNOWN_M)
    nothing = 0.0 * memory.ticks
    turned = Vec3(nothing, nothing, nothing) if options.gyro else None
    after = OpticalFlowMemory(nothing, nothing, nothing, nothing, turned, memory.bias_frd_rad_s, rest_x, rest_y)
    return OpticalFlowReading(x, y, gyro, quality, found, period_s), after


def _along_the_lens(truth: SensorTruth, height_m: Scalar) -> tuple[Scalar, Scalar]:
    """(distance to the ground along the lens's axis, whether the axis meets it)."""
    cosine = rotate(truth.quat_ned_from_frd, _LENS_FRD).z
    return height_m / maximum(cosine, _LEAST_COSINE), cosine > _LEAST_COSINE


def _rounded(value: Scalar, rest: Scalar | None, resolution: Scalar) -> tuple[Scalar, Scalar]:
    """(whole steps, what is kept back for the next reading)."""
    if rest is None:
        raise TypeError("the memory was made by `first_optical_flow` with other options")
    kept = value + rest
    told = quantised(kept, resolution)
    return told, kept - told
