"""Attitude of a thrust-vectored body: the attitude to take, the turn rate towards it, the moment for that rate.

Roll and pitch point the thrust and are turned first and fast; heading follows at its own gain.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, atan2, clip, cos, maximum, select, sin, sqrt
from fieldworthy.core.vec import Quat, Vec3, quat_conjugate, quat_from_euler_zyx, quat_multiply

_NEAR_INVERSION = 1e-9
"""Below this cos^2 of half the tilt error the thrust points the wrong way within 0.004 deg: no yaw is left there."""


@dataclass(frozen=True)
class AttitudeOptions:
    """Which terms the rate loop has besides the proportional one."""

    integral: bool = True
    derivative: bool = False


@dataclass
class AttitudeParameters:
    """Gains as rates, so that they carry over between bodies; the inertia turns them into moments."""

    inertia_kg_m2: Vec3
    """About the principal axes, as the autopilot believes it."""
    tilt_gain_1_s: Scalar
    """Roll and pitch rate per tilt error [(rad/s)/rad]."""
    yaw_gain_1_s: Scalar
    rate_gain_1_s: Vec3
    """Angular acceleration per rate error [(rad/s^2)/(rad/s)]."""
    rate_integral_gain_1_s2: Vec3
    rate_derivative_gain: Vec3
    """Angular acceleration asked against each rad/s^2 measured."""
    derivative_filter_s: Scalar
    rate_max_rad_s: Vec3


@dataclass
class AttitudeState:
    """What the rate loop remembers."""

    rate_error_rad: Vec3
    """Time integral of the rate error."""
    rate_slow_rad_s: Vec3 | None
    """Low-passed rate, for the derivative; None without one."""


def first_attitude_state(options: AttitudeOptions, rate_frd_rad_s: Vec3) -> AttitudeState:
    """Nothing integrated, the filter settled at the present rate."""
    return AttitudeState(Vec3(0.0, 0.0, 0.0), rate_frd_rad_s if options.derivative else None)


def attitude_from_thrust(force_ned: Vec3, heading_rad: Scalar) -> Quat:
    """The attitude quat_ned_from_frd whose -z axis lies along a force (any length but zero) and whose heading is given.

    Equation: with f the force turned by -heading about z:  pitch = atan2(-f_x, -f_z),
        roll = atan2(f_y, sqrt(f_x^2 + f_z^2))
    Source: geometry of the zyx angles; the choice of heading as in Mellinger and Kumar, ICRA 2011.
    Frames: NED, FRD.      Shapes: scalars.
    Limits: a force due sideways of the heading leaves pitch undefined (taken as 0 or pi); no gradient there.
    Verified by: tests/verification/test_attitude_control.py
    """
    c, s = cos(heading_rad), sin(heading_rad)
    ahead = force_ned.x * c + force_ned.y * s
    right = force_ned.y * c - force_ned.x * s
    up = -force_ned.z
    in_plane = sqrt(maximum(ahead * ahead + up * up, 1e-30))
    return quat_from_euler_zyx(atan2(right, in_plane), atan2(-ahead, up), heading_rad)


def attitude_error_rad(quat_ned_from_frd: Quat, quat_setpoint: Quat) -> Vec3:
    """The turn in body axes that is left to do: (x, y) brings the thrust axis home, z the heading; small angles in rad.

    Equation: with q = quat* quat_setpoint and n = sqrt(q_w^2 + q_z^2),
        e = 2/n (q_w q_x - q_y q_z,  q_w q_y + q_x q_z,  sgn(q_w) q_z)
        (twice the sines of half the tilt and half the heading error; q = tilt x turn about z).
    Source: Brescianini, Hehn, D'Andrea, ETH Zurich 2013 (doi 10.3929/ethz-a-009970340); closed form as in
        Brescianini and D'Andrea, Tilt-prioritized quadrocopter attitude control, IEEE TCST 28 (2020) 376.
    Frames: body FRD.      Shapes: scalars.
    Limits: length of the tilt part at most 2, at thrust inverted; jumps where a heading error passes half a turn.
    Verified by: tests/verification/test_attitude_control.py
    """
    q = quat_multiply(quat_conjugate(quat_ned_from_frd), quat_setpoint)
    n2 = q.w * q.w + q.z * q.z
    inverted = n2 < _NEAR_INVERSION
    per_n = 2.0 / sqrt(maximum(n2, _NEAR_INVERSION))
    yaw = select(q.w < 0.0, -q.z, q.z) * per_n
    # Inverted, the formula is 0/0, and an exactly inverted vehicle must still be turned: q_x, q_y are a way round.
    return Vec3(
        select(inverted, 2.0 * q.x, (q.w * q.x - q.y * q.z) * per_n),
        select(inverted, 2.0 * q.y, (q.w * q.y + q.x * q.z) * per_n),
        select(inverted, 0.0, yaw),
    )


def rate_setpoint(p: AttitudeParameters, quat_ned_from_frd: Quat, quat_setpoint: Quat) -> Vec3:
    """Turn rate in body axes towards an attitude, within the limits of each axis.

    Equation: w = clip(K e)      Source: proportional law; with `moment_demand` a PD law of w_n^2 = K K_rate,
        2 zeta w_n = K_rate.
    Frames: body FRD.      Shapes: scalars.      Limits: each axis is limited by itself.
    Verified by: tests/verification/test_attitude_control.py
    """
    e = attitude_error_rad(quat_ned_from_frd, quat_setpoint)
    top = p.rate_max_rad_s
    return Vec3(
        clip(e.x * p.tilt_gain_1_s, -top.x, top.x),
        clip(e.y * p.tilt_gain_1_s, -top.y, top.y),
        clip(e.z * p.yaw_gain_1_s, -top.z, top.z),
    )


def moment_demand(
    options: AttitudeOptions,
    p: AttitudeParameters,
    rate_setpoint_rad_s: Vec3,
    rate_frd_rad_s: Vec3,
    state: AttitudeState,
    dt_s: Scalar,
) -> Vec3:
    """Moment for a turn rate, about the centre of mass in body axes.

    Equation: M = I (K_p (w_set - w) + K_i integral - K_d w'),  w' from a first-order low-pass of the rate
    Source: PID on the rates, derivative on the measurement (Astrom and Hagglund, Advanced PID Control, 2006).
    Frames: body FRD.      Shapes: scalars.
    Limits: the coupling w x I w is left to the feedback.
    Verified by: tests/verification/test_attitude_control.py
    """
    error = rate_setpoint_rad_s - rate_frd_rad_s
    turn = _each(p.rate_gain_1_s, error)
    if options.integral:
        turn = turn + _each(p.rate_integral_gain_1_s2, state.rate_error_rad)
    if options.derivative and state.rate_slow_rad_s is not None:
        slope = (rate_frd_rad_s - state.rate_slow_rad_s) / (p.derivative_filter_s + dt_s)
        turn = turn - _each(p.rate_derivative_gain, slope)
    return _each(p.inertia_kg_m2, turn)


def next_attitude_state(
    options: AttitudeOptions,
    p: AttitudeParameters,
    rate_setpoint_rad_s: Vec3,
    rate_frd_rad_s: Vec3,
    state: AttitudeState,
    shortfall_frd_n_m: Vec3,
    dt_s: Scalar,
) -> AttitudeState:
    """The memory after a step in which `shortfall` = moment got minus moment asked was missing.

    Equation: integral' = e + shortfall / (I K_p): at saturation the integral stops (back-calculation)
    Source: Astrom and Hagglund 2006, section 3.5.
    Frames: body FRD.      Shapes: scalars.      Limits: K_p above 0 on every axis.
    Verified by: tests/verification/test_attitude_control.py
    """
    integral, slow = state.rate_error_rad, state.rate_slow_rad_s
    if options.integral:
        error, stiff = rate_setpoint_rad_s - rate_frd_rad_s, _each(p.inertia_kg_m2, p.rate_gain_1_s)
        missing = Vec3(shortfall_frd_n_m.x / stiff.x, shortfall_frd_n_m.y / stiff.y, shortfall_frd_n_m.z / stiff.z)
        integral = integral + (error + missing) * dt_s
    if options.derivative and slow is not None:
        slow = slow + (rate_frd_rad_s - slow) * (dt_s / (p.derivative_filter_s + dt_s))
    return AttitudeState(integral, slow)


def _each(a: Vec3, b: Vec3) -> Vec3:
    """Axis by axis."""
    return Vec3(a.x * b.x, a.y * b.y, a.z * b.z)
