"""What an autopilot does before take-off: standing still, it learns which way is up and what its gyroscopes read."""

from __future__ import annotations

from dataclasses import replace

from fieldworthy.control.complementary import FilterState, first, level_attitude
from fieldworthy.core.lanes import Scalar, clip, sqrt
from fieldworthy.core.vec import Vec3, dot

_BIAS_MAX_RAD_S = 0.1


def aligned(
    pos_ned_m: Vec3,
    vel_ned_m_s: Vec3,
    heading_rad: Scalar,
    rate_frd_rad_s: Vec3,
    specific_force_frd_m_s2: Vec3,
    gravity_m_s2: Scalar,
    airspeed_m_s: Scalar = 0.0,
) -> FilterState:
    """A filter at a known place, levelled by what its inertial sensors read on average while nothing accelerated.

    Equation: attitude by `level_attitude`,  gyroscope bias = w,  vertical bias = |f| - g
    Source: Groves, Principles of GNSS, Inertial and Multisensor Navigation Systems (2013), section 5.6.
    Frames: readings in FRD.      Shapes: scalars.
    Limits: level bias of the accelerometers stays in the attitude: it leans by bias / g, and does not accelerate then.
    Verified by: tests/verification/test_alignment.py
    """
    f, top = specific_force_frd_m_s2, _BIAS_MAX_RAD_S
    rate = rate_frd_rad_s
    return replace(
        first(pos_ned_m, vel_ned_m_s, level_attitude(f, heading_rad), airspeed_m_s),
        gyro_bias_frd_rad_s=Vec3(clip(rate.x, -top, top), clip(rate.y, -top, top), clip(rate.z, -top, top)),
        down_bias_m_s2=sqrt(dot(f, f)) - gravity_m_s2,
    )
