"""Mean wind that grows with height, and single gusts of a known shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fieldworthy.core.lanes import Scalar, clip, cos, exp, log, maximum, sqrt
from fieldworthy.core.vec import Vec3

HEIGHT_20FT_M = 6.096
"""Where the turbulence specifications take their reference wind."""


@dataclass(frozen=True)
class WindOptions:
    """Which parts of the wind are there."""

    shear: Literal["none", "log", "power"] = "none"
    gusts: int = 0
    """How many of the parameters' gusts blow."""


@dataclass
class Gust:
    """An extra wind that comes and goes by half a cosine."""

    start_s: Scalar
    rise_s: Scalar
    """Time to grow to full strength, and to fade at the end; a pulse of the whole shape 1 - cos lasts twice this."""
    hold_s: Scalar
    """Time at full strength: 0 for the pulse of certification, 1e9 for the gust of MIL-F-8785C, which stays."""
    velocity_ned_m_s: Vec3
    """Where and how fast the extra air goes at full strength."""


@dataclass
class WindParameters:
    """Mean wind TOWARDS north and east at the reference height, and its profile."""

    north_m_s: Scalar
    east_m_s: Scalar
    reference_height_m: Scalar = HEIGHT_20FT_M
    roughness_m: Scalar = 0.0457
    """z0 of the log profile: 0.15 ft for terminal flight, 2.0 ft (0.61 m) elsewhere in MIL-F-8785C."""
    exponent: Scalar = 1.0 / 7.0
    """Of the power profile."""
    gusts: tuple[Gust, ...] = ()


def wind_ned_m_s(options: WindOptions, p: WindParameters, height_m: Scalar, t_s: Scalar) -> Vec3:
    """Velocity of the air without turbulence: mean wind at this height plus the gusts of this moment.

    Equation: w = w_ref s(h) + sum of g_i (1 - cos(pi x_i)) / 2, x_i from 0 to 1 over the rise, back to 0 over the fade.
    Source: discrete gust of MIL-F-8785C section 3.7.3; with no hold the pulse of 14 CFR 25.341.
    Frames: NED, the way the air goes.      Shapes: scalars.
    Limits: no veer with height; a gust reaches the whole vehicle at once.
    Verified by: tests/verification/test_air.py
    """
    wind = mean_wind_ned_m_s(options, p, height_m)
    for gust in p.gusts[: options.gusts]:
        wind = wind + gust.velocity_ned_m_s * gust_share(gust, t_s)
    return wind


def mean_wind_ned_m_s(options: WindOptions, p: WindParameters, height_m: Scalar) -> Vec3:
    """The mean wind at a height above ground."""
    if options.shear == "none":
        return Vec3(p.north_m_s, p.east_m_s, 0.0)
    factor = shear_factor(options, p, height_m)
    return Vec3(p.north_m_s * factor, p.east_m_s * factor, 0.0)


def shear_factor(options: WindOptions, p: WindParameters, height_m: Scalar) -> Scalar:
    """Mean wind at a height over mean wind at the reference height.

    Equation: log(h / z0) / log(h_ref / z0), or (h / h_ref)^a
    Source: MIL-F-8785C section 3.7.3.2 (log profile); Hellmann 1919 (power profile, 1/7 over open land).
    Limits: below the roughness height (log) and below 1 mm (power) the air stands nearly still; meant for the
        lowest 300 m.
    """
    if options.shear == "none":
        return 1.0
    if options.shear == "power":
        return exp(p.exponent * log(maximum(height_m, 1e-3) / p.reference_height_m))
    return log(maximum(height_m / p.roughness_m, 1.0)) / log(p.reference_height_m / p.roughness_m)


def wind_20ft_m_s(options: WindOptions, p: WindParameters) -> Scalar:
    """Speed of the mean wind at 20 ft, which the low-altitude turbulence is scaled by.

    Limits: rounded up by at most 1e-6 m/s, so that it has a slope in calm air too.
    """
    speed = sqrt(p.north_m_s * p.north_m_s + p.east_m_s * p.east_m_s + 1e-12)
    return speed if options.shear == "none" else speed * shear_factor(options, p, HEIGHT_20FT_M)


def gust_share(gust: Gust, t_s: Scalar) -> Scalar:
    """How much of a gust blows now, from 0 to 1."""
    since = t_s - gust.start_s
    rise = maximum(gust.rise_s, 1e-6)
    x = clip(since / rise, 0.0, 1.0) - clip((since - rise - gust.hold_s) / rise, 0.0, 1.0)
    return 0.5 - 0.5 * cos(x * math.pi)
