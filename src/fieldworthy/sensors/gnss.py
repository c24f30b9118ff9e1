"""A GNSS receiver: position and velocity of its antenna with errors that stay for a minute.

The law works in local NED; `geodetic` makes coordinates of a reading.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fieldworthy.core.constants import NEVER_S
from fieldworthy.core.frames import lonlat_from_ne, meridian_radius_m
from fieldworthy.core.lanes import Scalar, logical_and, select, sqrt
from fieldworthy.core.vec import Vec3, cross, rotate
from fieldworthy.sensors.noise_process import gauss_markov_step, vec
from fieldworthy.sensors.truth import SensorTruth

NO_FIX, SINGLE, RTK_FLOAT, RTK_FIXED = 0.0, 1.0, 2.0, 3.0
"""Values of `GnssReading.fix`."""


@dataclass(frozen=True)
class GnssOptions:
    """Which effects are computed; one that is off costs nothing."""

    dt_s: float
    """Time between readings."""
    correlated: bool = True
    white: bool = True
    multipath: bool = False
    velocity_noise: bool = True
    rtk: bool = False
    outage: bool = False
    lever_arm: bool = False


@dataclass
class GnssParameters:
    """Standard deviations are for each of north and east ("horizontal") and for down ("vertical")."""

    horizontal_sigma_m: Scalar = 1.5
    vertical_sigma_m: Scalar = 2.5
    correlation_s: Scalar = 60.0
    white_horizontal_sigma_m: Scalar = 0.05
    white_vertical_sigma_m: Scalar = 0.1
    multipath_sigma_m: Scalar = 0.3
    multipath_correlation_s: Scalar = 5.0
    sky_hidden: Scalar = 1.0
    """Multiplies the multipath: 0 open sky, 1 as its sigma was measured."""
    velocity_horizontal_sigma_m_s: Scalar = 0.05
    velocity_vertical_sigma_m_s: Scalar = 0.1
    float_sigma_m: Scalar = 0.3
    fixed_sigma_m: Scalar = 0.01
    fixed_ppm: Scalar = 1.0
    baseline_m: Scalar = 1000.0
    """Distance to the reference station."""
    float_after_s: Scalar = 3.0
    fixed_after_s: Scalar = 10.0
    """Time with fix until the ambiguities are float, and fixed."""
    outage_start_s: Scalar = NEVER_S
    outage_end_s: Scalar = NEVER_S
    pos_frd_m: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Of the antenna, from the centre of mass."""


@dataclass
class GnssMemory:
    """Errors as multiples of their standard deviations; None where the effect is off."""

    correlated: Vec3 | None
    multipath: Vec3 | None
    locked_s: Scalar
    """Time since the receiver has had a fix without a break; None without RTK."""


@dataclass
class GnssReading:
    """One fix; where `fix` is NO_FIX the rest must not be used."""

    pos_ned_m: Vec3
    vel_ned_m_s: Vec3
    fix: Scalar
    horizontal_sigma_m: Scalar
    """What the receiver believes of itself."""
    vertical_sigma_m: Scalar


def gnss_normals(options: GnssOptions) -> int:
    """Normal numbers that one reading takes."""
    return 3 * (options.correlated + options.multipath + options.white + options.velocity_noise)


def first_gnss_normals(options: GnssOptions) -> int:
    """Normal numbers that `first_gnss` takes."""
    return 3 * (options.correlated + options.multipath)


def first_gnss(options: GnssOptions, p: GnssParameters, normals: tuple[Scalar, ...]) -> GnssMemory:
    """Memory at the start: errors stationary, a single-point fix just won."""
    correlated = vec(normals) if options.correlated else None
    multipath = vec(normals, 3 * options.correlated) if options.multipath else None
    return GnssMemory(correlated, multipath, 0.0 if options.rtk else None)


def read_gnss(
    options: GnssOptions, p: GnssParameters, truth: SensorTruth, memory: GnssMemory, normals: tuple[Scalar, ...]
) -> tuple[GnssReading, GnssMemory]:
    """One position and velocity, every `dt_s`.

    Equation: p = p_cm + R r + s x_gm + m x_mp + white;   v = v_cm + R (w x r) + white.   x_gm and x_mp are
        Gauss-Markov processes of variance one; s is the sigma of the present state (single, RTK float, RTK fixed).
    Source: Gauss-Markov receiver errors after Rankin (1994), "An error model for sensor simulation"; RTK accuracy
        as data sheets give it, a constant plus parts per million of the baseline.
    Frames: world NED, antenna in body FRD.      Shapes: scalars.
    Limits: errors of north, east and down are independent; CEP50 = 1.177 sigma horizontally; no constellation.
    Verified by: tests/verification/test_gnss.py
    """
    pos, vel, at = truth.pos_ned_m, truth.vel_ned_m_s, 0
    if options.lever_arm:
        pos = pos + rotate(truth.quat_ned_from_frd, p.pos_frd_m)
        vel = vel + rotate(truth.quat_ned_from_frd, cross(truth.rate_frd_rad_s, p.pos_frd_m))
    fix: Scalar = SINGLE
    locked_s = memory.locked_s
    horizontal, vertical = p.horizontal_sigma_m, p.vertical_sigma_m
    if options.rtk:
        # Dr.Jit makes 32-bit lanes of a choice between two Python floats: give the choices the type of the lanes.
        nothing = truth.t_s * 0.0
        locked_s = locked_s + options.dt_s + nothing
        fixed_sigma = p.fixed_sigma_m + 1e-6 * p.fixed_ppm * p.baseline_m + nothing
        float_sigma = p.float_sigma_m + nothing
        is_fixed, is_float = locked_s > p.fixed_after_s, locked_s > p.float_after_s
        fix = select(is_fixed, RTK_FIXED, select(is_float, RTK_FLOAT, SINGLE))
        horizontal = select(is_fixed, fixed_sigma, select(is_float, float_sigma, horizontal))
        vertical = select(is_fixed, fixed_sigma, select(is_float, float_sigma, vertical))
    variance_h, variance_v = horizontal * horizontal, vertical * vertical
    correlated, multipath = memory.correlated, memory.multipath
    if options.correlated:
        correlated = _walked(memory.correlated, normals, at, p.correlation_s, options.dt_s)
        pos = pos + Vec3(horizontal * correlated.x, horizontal * correlated.y, vertical * correlated.z)
        at += 3
    if options.multipath:
        multipath = _walked(memory.multipath, normals, at, p.multipath_correlation_s, options.dt_s)
        sigma = p.multipath_sigma_m * p.sky_hidden
        pos = pos + multipath * sigma
        variance_h, variance_v = variance_h + sigma * sigma, variance_v + sigma * sigma
        at += 3
    if options.white:
        h, v = p.white_horizontal_sigma_m, p.white_vertical_sigma_m
        if options.rtk:  # carrier phase is quieter than code: its white part cannot exceed the fixed error
            h = select(fix > RTK_FLOAT, horizontal, h + nothing)
            v = select(fix > RTK_FLOAT, vertical, v + nothing)
        pos = pos + Vec3(h * normals[at], h * normals[at + 1], v * normals[at + 2])
        variance_h, variance_v = variance_h + h * h, variance_v + v * v
        at += 3
    if options.velocity_noise:
        h, v = p.velocity_horizontal_sigma_m_s, p.velocity_vertical_sigma_m_s
        vel = vel + Vec3(h * normals[at], h * normals[at + 1], v * normals[at + 2])
    if options.outage:
        lost = logical_and(truth.t_s >= p.outage_start_s, truth.t_s < p.outage_end_s)
        fix = select(lost, NO_FIX, fix)
        if options.rtk:
            locked_s = select(lost, 0.0, locked_s)
    reading = GnssReading(pos, vel, fix, sqrt(variance_h), sqrt(variance_v))
    return reading, GnssMemory(correlated, multipath, locked_s)


def geodetic(
    pos_ned_m: Vec3, ref_lon_deg: Scalar, ref_lat_deg: Scalar, ref_height_m: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """(longitude [deg], latitude [deg], height above the ellipsoid [m]) of a local position.

    Equation: `core.frames.lonlat_from_ne`; h = h_ref - down + (north^2 + east^2) / 2R, R the meridian's radius: the
        plane leaves the ellipsoid.
    Limits: height good to 1 cm within 9 km, 64 bits.      Verified by: tests/verification/test_gnss.py
    """
    lon_deg, lat_deg = lonlat_from_ne(pos_ned_m.x, pos_ned_m.y, ref_lon_deg, ref_lat_deg)
    rise_m = (pos_ned_m.x * pos_ned_m.x + pos_ned_m.y * pos_ned_m.y) / (2.0 * meridian_radius_m(ref_lat_deg))
    return lon_deg, lat_deg, ref_height_m - pos_ned_m.z + rise_m


def _walked(error: Vec3 | None, normals: tuple[Scalar, ...], at: int, correlation_s: Scalar, dt_s: float) -> Vec3:
    """Three independent Gauss-Markov processes of variance one, a step on."""
    if error is None:
        raise TypeError("the memory was made by `first_gnss` with other options")
    return Vec3(*(gauss_markov_step(e, normals[at + k], 1.0, correlation_s, dt_s) for k, e in enumerate(error)))
