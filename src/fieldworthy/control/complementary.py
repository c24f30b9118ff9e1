"""A navigation filter of fixed gains: attitude, gyroscope bias, velocity and position from what cheap sensors say.

`predict` at the rate of the inertial sensors; each `correct_...` whenever one is asked whether something has come. What
has not come is masked by `fresh`. Measurements are as they are read; latency is made up for in `correct_gnss`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.core.lanes import Scalar, atan2, clip, cos, maximum, select, sin, sqrt
from fieldworthy.core.rigid_body import turn
from fieldworthy.core.vec import (
    Quat,
    Vec3,
    cross,
    dot,
    quat_from_euler_zyx,
    quat_from_rotation_vector,
    quat_multiply,
    quat_normalize,
    rotate,
    rotate_inverse,
)

_TINY = 1e-12


@dataclass(frozen=True)
class FilterOptions:
    """What the vehicle carries beside inertial sensors and GNSS."""

    barometer: bool = True
    """Height comes from it and GNSS only steadies its zero; without, GNSS height is used."""
    airspeed: bool = False
    """Airspeed is measured; without, ground speed stands in for it."""


@dataclass
class FilterParameters:
    """Bandwidths of the loops and periods of the sensors."""

    gravity_m_s2: Scalar
    gnss_period_s: Scalar
    barometer_period_s: Scalar = 0.04
    magnetometer_period_s: Scalar = 0.02
    airspeed_period_s: Scalar = 0.1
    tilt_bandwidth_rad_s: Scalar = 0.5
    """Roll, pitch and their gyroscope bias against GNSS velocity."""
    level_bandwidth_rad_s: Scalar = 0.02
    """The same against gravity, without GNSS: slow, for a vehicle's own accelerations pass for a tilt of gravity."""
    heading_bandwidth_rad_s: Scalar = 0.3
    position_bandwidth_rad_s: Scalar = 0.8
    height_bandwidth_rad_s: Scalar = 1.0
    barometer_zero_s: Scalar = 600.0
    """Time in which the barometer's zero follows GNSS height, which within minutes wanders more than the barometer."""
    airspeed_filter_s: Scalar = 0.3
    acceleration_filter_s: Scalar = 0.2
    gyro_bias_max_rad_s: Scalar = 0.1
    gnss_timeout_s: Scalar = 1.0
    """Without a fix for so long, gravity levels the attitude and the next fix is taken as it is."""


@dataclass
class FilterState:
    """Everything believed; world NED, body FRD."""

    quat_ned_from_frd: Quat
    gyro_bias_frd_rad_s: Vec3
    vel_ned_m_s: Vec3
    pos_ned_m: Vec3
    down_bias_m_s2: Scalar
    """Vertical error of the accelerometers; the horizontal ones cannot be told from tilt in hover."""
    barometer_zero_m: Scalar
    """Height that the barometer reads at height zero."""
    acceleration_ned_m_s2: Vec3
    """Low-passed acceleration of the vehicle."""
    rate_frd_rad_s: Vec3
    airspeed_m_s: Scalar
    since_fix_s: Scalar


def first(pos_ned_m: Vec3, vel_ned_m_s: Vec3, quat_ned_from_frd: Quat, airspeed_m_s: Scalar = 0.0) -> FilterState:
    """A filter that starts from what is known: the truth with errors, or `alignment.aligned`."""
    zero = Vec3(0.0, 0.0, 0.0)
    return FilterState(quat_ned_from_frd, zero, vel_ned_m_s, pos_ned_m, 0.0, 0.0, zero, zero, airspeed_m_s, 0.0)


def level_attitude(specific_force_frd_m_s2: Vec3, heading_rad: Scalar) -> Quat:
    """Attitude of a vehicle at rest from gravity, its heading known.

    Equation: roll = atan2(-f_y, -f_z),  pitch = atan2(f_x, sqrt(f_y^2 + f_z^2))
    Source: Groves, Principles of GNSS, Inertial and Multisensor Navigation Systems (2013), section 5.6.2.
    Frames: FRD.      Shapes: scalars.      Limits: at rest; nose straight up or down leaves roll open.
    Verified by: tests/verification/test_complementary.py
    """
    f = specific_force_frd_m_s2
    roll, pitch = atan2(-f.y, -f.z), atan2(f.x, sqrt(f.y * f.y + f.z * f.z))
    return quat_from_euler_zyx(roll, pitch, heading_rad)


def predict(
    options: FilterOptions,
    p: FilterParameters,
    state: FilterState,
    rate_frd_rad_s: Vec3,
    specific_force_frd_m_s2: Vec3,
    dt_s: Scalar,
) -> FilterState:
    """The state a period later, by the inertial sensors; levelled by gravity while GNSS is lost.

    Equation: q' = 1/2 q (0, w - b + s),  v' = R f + g e_z + a_bias e_z,  p' = v
        lost: s = k_P f^ x f^_expected,  b' = -k_I f^ x f^_expected,  f_expected = R^T (-g e_z) + (w - b) x V e_x
    Source: strapdown equations; Mahony, Hamel, Pflimlin, Nonlinear complementary filters on SO(3), IEEE TAC 53 (2008)
        1203, eq. 32; the turn at airspeed V added to the expected force where a pitot tube is on board.
    Frames: NED, FRD.      Shapes: scalars.
    Limits: flat earth. Levelling takes the mean acceleration for zero; velocity and position then drift freely.
    Verified by: tests/verification/test_complementary.py
    """
    quat, bias = state.quat_ned_from_frd, state.gyro_bias_frd_rad_s
    rate = rate_frd_rad_s - bias
    force = specific_force_frd_m_s2

    expected = rotate_inverse(quat, Vec3(0.0, 0.0, -p.gravity_m_s2))
    if options.airspeed:
        expected = expected + cross(rate, Vec3(state.airspeed_m_s, 0.0, 0.0))
    off = cross(_unit(force), _unit(expected))
    off = off * select(state.since_fix_s > p.gnss_timeout_s, 1.0, 0.0)
    w = p.level_bandwidth_rad_s
    level = off * (2.0 * w)
    bias = _bounded(bias - off * (w * w * dt_s), p.gyro_bias_max_rad_s)

    new_quat = quat_normalize(turn(quat, rate + level, dt_s))
    # The body turns while it measures: the force is that of the middle of the step, seen from its start.
    force = force + cross(rate, force) * (0.5 * dt_s)
    acceleration = rotate(quat, force) + Vec3(0.0, 0.0, p.gravity_m_s2 + state.down_bias_m_s2)
    vel = state.vel_ned_m_s + acceleration * dt_s
    share = dt_s / (p.acceleration_filter_s + dt_s)
    slow = state.acceleration_ned_m_s2
    airspeed = state.airspeed_m_s
    if not options.airspeed:
        airspeed = sqrt(dot(vel, vel) + _TINY)
    return FilterState(
        quat_ned_from_frd=new_quat,
        gyro_bias_frd_rad_s=bias,
        vel_ned_m_s=vel,
        pos_ned_m=state.pos_ned_m + state.vel_ned_m_s * dt_s + acceleration * (0.5 * dt_s * dt_s),
        down_bias_m_s2=state.down_bias_m_s2,
        barometer_zero_m=state.barometer_zero_m,
        acceleration_ned_m_s2=slow + (acceleration - slow) * share,
        rate_frd_rad_s=rate,
        airspeed_m_s=airspeed,
        since_fix_s=state.since_fix_s + dt_s,
    )


def correct_gnss(
    options: FilterOptions,
    p: FilterParameters,
    state: FilterState,
    pos_ned_m: Vec3,
    vel_ned_m_s: Vec3,
    age_s: Scalar,
    fresh: Scalar,
) -> FilterState:
    """A fix that is `age` old, brought up to now and blended in; its velocity also tells the attitude.

    Equation: now: v = v_fix + a age,  p = p_fix + v_fix age + a age^2/2;  dv, dp against the state;
        per fix of period T, w and w_t the bandwidths of position and tilt:
        p += 2 w T dp,  v += w^2 T dp + 2 w_t T dv,
        turn in body = 2 (w_t/g)^2 T f x R^T dv,  b -= w_t^3/g^2 T f x R^T dv
        height without a barometer as in `correct_baro`; with one, dp_z moves only the barometer's zero.
    Source: Hua, Attitude estimation for accelerated vehicles using GPS/INS measurements, Control Eng. Practice 18
        (2010) 723 (the innovation of velocity as the correction of the accelerometer); gains: Butterworth poles of
        dv' = g e - k dv, e' = -b - k dv, b' = k dv.
    Frames: NED; f the specific force of the low-passed acceleration, FRD.      Shapes: scalars; `fresh` a mask.
    Limits: w T, w_t T well under 1. After an outage position and velocity are taken from the fix.
    Verified by: tests/verification/test_complementary.py
    """
    a = state.acceleration_ned_m_s2
    dv = _where(fresh, vel_ned_m_s + a * age_s - state.vel_ned_m_s)
    dp = _where(fresh, pos_ned_m + vel_ned_m_s * age_s + a * (0.5 * age_s * age_s) - state.pos_ned_m)
    t_s, w, w_tilt = p.gnss_period_s, p.position_bandwidth_rad_s, p.tilt_bandwidth_rad_s
    # A choice between two Python floats is 32-bit in Dr.Jit: 1 and 0 are exact there, and meet a 64-bit vector first.
    regained = select(state.since_fix_s > p.gnss_timeout_s, 1.0, 0.0)
    all_dp, all_dv, some_dp, some_dv = dp * regained, dv * regained, dp * (1.0 - regained), dv * (1.0 - regained)

    to_pos = all_dp + some_dp * (2.0 * w * t_s)
    to_vel = all_dv + some_dv * (2.0 * w_tilt * t_s) + some_dp * (w * w * t_s)
    down, climb, bias_down, zero = 0.0, 0.0, state.down_bias_m_s2, state.barometer_zero_m
    if options.barometer:
        zero = zero + dp.z * (t_s / p.barometer_zero_s)
    else:
        down = to_pos.z
        climb = all_dv.z + some_dp.z * (2.0 * w * w * t_s)
        bias_down = bias_down + some_dp.z * (w * w * w * t_s)
    pos = state.pos_ned_m + Vec3(to_pos.x, to_pos.y, down)
    vel = state.vel_ned_m_s + Vec3(to_vel.x, to_vel.y, climb)

    quat = state.quat_ned_from_frd
    force = rotate_inverse(quat, a - Vec3(0.0, 0.0, p.gravity_m_s2))
    per_g2 = w_tilt * t_s / (p.gravity_m_s2 * p.gravity_m_s2)
    off = cross(force, rotate_inverse(quat, Vec3(some_dv.x, some_dv.y, 0.0))) * per_g2
    bias = _bounded(state.gyro_bias_frd_rad_s - off * (w_tilt * w_tilt), p.gyro_bias_max_rad_s)
    return FilterState(
        quat_ned_from_frd=quat_multiply(quat, quat_from_rotation_vector(off * (2.0 * w_tilt))),
        gyro_bias_frd_rad_s=bias,
        vel_ned_m_s=vel,
        pos_ned_m=pos,
        down_bias_m_s2=bias_down,
        barometer_zero_m=zero,
        acceleration_ned_m_s2=a,
        rate_frd_rad_s=state.rate_frd_rad_s,
        airspeed_m_s=state.airspeed_m_s,
        since_fix_s=select(fresh, 0.0, state.since_fix_s),
    )


def correct_baro(p: FilterParameters, state: FilterState, height_m: Scalar, fresh: Scalar) -> FilterState:
    """Height by the barometer into height, climb and the vertical accelerometer's error.

    Equation: e = -(height - zero) - p_z;  p_z += 2 w T e,  v_z += 2 w^2 T e,  bias += w^3 T e
    Source: fixed-gain inertial height channel, Butterworth poles (s + w)(s^2 + w s + w^2).
    Limits: w T well under 1.      Verified by: tests/verification/test_complementary.py
    """
    w = p.height_bandwidth_rad_s
    step = select(fresh, state.barometer_zero_m - height_m - state.pos_ned_m.z, 0.0) * (w * p.barometer_period_s)
    return replace(
        state,
        pos_ned_m=state.pos_ned_m + Vec3(0.0, 0.0, 2.0 * step),
        vel_ned_m_s=state.vel_ned_m_s + Vec3(0.0, 0.0, 2.0 * w * step),
        down_bias_m_s2=state.down_bias_m_s2 + w * w * step,
    )


def correct_mag(
    p: FilterParameters, state: FilterState, field_frd: Vec3, declination_rad: Scalar, fresh: Scalar
) -> FilterState:
    """Heading by the compass; tilt is left alone.

    Equation: m = R m_frd turned by -D about z;  e = -atan2(m_y, m_x);  heading += 2 w T e,  b -= w^2 T e R^T e_z
    Source: Mahony and others (2008), with the field's level part only, as common in autopilots.
    Frames: FRD; a field of any unit.      Limits: not near the magnetic poles.
    Verified by: tests/verification/test_complementary.py
    """
    quat, w = state.quat_ned_from_frd, p.heading_bandwidth_rad_s
    m = rotate(quat, _where(fresh, field_frd))
    c, s = cos(declination_rad), sin(declination_rad)
    north = select(fresh, m.x * c + m.y * s, 1.0)
    step = -atan2(m.y * c - m.x * s, north) * (w * p.magnetometer_period_s)
    down = rotate_inverse(quat, Vec3(0.0, 0.0, 1.0))
    return replace(
        state,
        quat_ned_from_frd=quat_multiply(quat, quat_from_rotation_vector(down * (2.0 * step))),
        gyro_bias_frd_rad_s=_bounded(state.gyro_bias_frd_rad_s - down * (w * step), p.gyro_bias_max_rad_s),
    )


def correct_airspeed(p: FilterParameters, state: FilterState, airspeed_m_s: Scalar, fresh: Scalar) -> FilterState:
    """Airspeed by the pitot tube, low-passed.

    Equation: V += T/(tau + T) (V_read - V)      Source: first-order low-pass
    Limits: lags by tau.      Verified by: tests/verification/test_complementary.py
    """
    share = p.airspeed_period_s / (p.airspeed_filter_s + p.airspeed_period_s)
    off = select(fresh, airspeed_m_s - state.airspeed_m_s, 0.0)
    return replace(state, airspeed_m_s=state.airspeed_m_s + off * share)


def estimate(state: FilterState) -> Estimate:
    """What the control laws see of the filter."""
    return Estimate(
        state.pos_ned_m, state.vel_ned_m_s, state.quat_ned_from_frd, state.rate_frd_rad_s, state.airspeed_m_s
    )


def _where(fresh: Scalar, v: Vec3) -> Vec3:
    """The vector, or zero where nothing has come: a reading that never came may be NaN.

    Give lanes, not Python floats, where `fresh` is a lane: Dr.Jit chooses between Python floats in 32 bits.
    """
    return Vec3(select(fresh, v.x, 0.0), select(fresh, v.y, 0.0), select(fresh, v.z, 0.0))


def _unit(v: Vec3) -> Vec3:
    """Direction; the zero vector stays zero."""
    unit: Vec3 = v * (1.0 / sqrt(maximum(dot(v, v), _TINY)))
    return unit


def _bounded(v: Vec3, top: Scalar) -> Vec3:
    """Each component within +-top."""
    return Vec3(clip(v.x, -top, top), clip(v.y, -top, top), clip(v.z, -top, top))
