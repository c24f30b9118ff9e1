"""What the autopilot and the navigation filter must meet: placed poles, least squares, closed forms, statics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from fieldworthy.control.allocation import allocate, rotor_shares
from fieldworthy.control.attitude import (
    AttitudeOptions,
    AttitudeParameters,
    attitude_error_rad,
    attitude_from_thrust,
    first_attitude_state,
    moment_demand,
    rate_setpoint,
)
from fieldworthy.control.complementary import FilterOptions, FilterParameters, correct_gnss, first, predict
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.position import (
    PositionOptions,
    approach_speed_per_m,
    first_position_state,
    next_position_state,
)
from fieldworthy.core.vec import (
    Vec3,
    euler_zyx_from_quat,
    quat_from_euler_zyx,
    quat_from_yaw,
    quat_identity,
    quat_multiply,
    rotate,
)
from fieldworthy.verify.check import Check

GRAVITY = 9.80665
ZERO = Vec3(0.0, 0.0, 0.0)
DOCUMENT = "flight-robot simulation document, section 8.28.4"


@dataclass
class _Rotor:
    """The reference quadrotor's, without what the vehicles' package adds."""

    pos_frd_m: Vec3
    spin: float
    axis_frd: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, -1.0))
    torque_ratio_m: float = 0.016
    thrust_coefficient_n_s2: float = 1.0811e-5
    speed_min_rad_s: float = 80.0
    speed_max_rad_s: float = 1000.0
    lag_up_s: float = 0.03
    lag_down_s: float = 0.03


ROTORS = tuple(
    _Rotor(Vec3(0.174 * ahead, 0.174 * right, 0.0), spin)
    for ahead, right, spin in ((1.0, 1.0, 1.0), (-1.0, -1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0))
)
GAINS = default_gains(2.0, Vec3(0.0143, 0.0143, 0.026), ROTORS, 0.002, GRAVITY)


@cache
def _step_angles(lag_s: float) -> tuple[float, ...]:
    """Pitch over 1 s, in steps of 1 ms, of a 2 deg step of the document's PD loop; the moment follows with a lag."""
    wn, zeta, inertia, dt = 15.0, 0.7, 0.0143, 0.001
    options, rate_gain = AttitudeOptions(integral=False), 2.0 * zeta * wn
    p = AttitudeParameters(
        inertia_kg_m2=Vec3(inertia, inertia, inertia),
        tilt_gain_1_s=wn * wn / rate_gain,
        yaw_gain_1_s=wn * wn / rate_gain,
        rate_gain_1_s=Vec3(rate_gain, rate_gain, rate_gain),
        rate_integral_gain_1_s2=ZERO,
        rate_derivative_gain=ZERO,
        derivative_filter_s=dt,
        rate_max_rad_s=Vec3(99.0, 99.0, 99.0),
    )
    goal, state = quat_from_euler_zyx(0.0, math.radians(2.0), 0.0), first_attitude_state(options, ZERO)
    pitch, rate, moment, angles = 0.0, 0.0, 0.0, []
    for _ in range(1000):
        turning = Vec3(0.0, rate, 0.0)
        wanted = rate_setpoint(p, quat_from_euler_zyx(0.0, pitch, 0.0), goal)
        asked = moment_demand(options, p, wanted, turning, state, dt).y
        held = moment
        moment = asked + (held - asked) * math.exp(-dt / lag_s)
        before = rate
        rate += dt * 0.5 * (held + moment) / inertia
        pitch += dt * 0.5 * (before + rate)
        angles.append(pitch)
    return tuple(angles)


def _largest_error_of_step() -> float:
    """Against angle''' = (wn^2 (step - angle) - 2 zeta wn angle' - angle'')/lag by its eigenvectors, over the step."""
    lag, step = 0.030, math.radians(2.0)
    a = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-225.0 / lag, -21.0 / lag, -1.0 / lag]])
    values, vectors = np.linalg.eig(a)
    mode = np.linalg.solve(vectors, np.array([-step, 0.0, 0.0], dtype=complex))
    exact = step + (vectors @ (mode[:, None] * np.exp(np.outer(values, 0.001 * np.arange(1, 1001))))).real[0]
    return float(np.abs(np.array(_step_angles(lag)) - exact).max() / step)


def _allocation_off_least_squares() -> float:
    demand = np.array([19.6, 0.4, -0.3, 0.04])
    rows = []
    for rotor in ROTORS:
        arm, axis = np.array([*rotor.pos_frd_m]), np.array([0.0, 0.0, -1.0])
        rows.append([1.0, *(np.cross(arm, axis) - rotor.spin * rotor.torque_ratio_m * axis)])
    exact = np.linalg.lstsq(np.array(rows).T, demand, rcond=None)[0]
    got = allocate(rotor_shares(ROTORS), 19.6, Vec3(0.4, -0.3, 0.04)).rotor_thrust_n
    return float(np.abs(np.array(got) - exact).max())


def _kept_at_saturation(component: str) -> float:
    """Share of each demand that is kept when full thrust, some roll and full yaw are asked at once."""
    got = allocate(rotor_shares(ROTORS), 100.0, Vec3(1.0, 0.0, 1.0))
    return float(got.moment_frd_n_m.x if component == "roll" else got.moment_frd_n_m.z)


def _heading_in_a_bank() -> float:
    nose = rotate(attitude_from_thrust(Vec3(9.0, -6.0, -15.0), 1.0), Vec3(1.0, 0.0, 0.0))
    return math.atan2(nose.y, nose.x)


def _tilt_part_of_error() -> float:
    """Of a tilt by 60 deg with a heading error of 150 deg on top."""
    start = quat_from_euler_zyx(0.2, -0.1, 0.5)
    wanted = quat_multiply(quat_multiply(start, quat_from_euler_zyx(0.0, math.radians(60.0), 0.0)), quat_from_yaw(2.6))
    error = attitude_error_rad(start, wanted)
    return math.hypot(error.x, error.y)


def _braking() -> float:
    """v dv/dd of the approach profile, 30 m from the target."""
    low, high = (d * approach_speed_per_m(d, 0.8, 2.5) for d in (30.0 - 1e-4, 30.0 + 1e-4))
    return float(0.5 * (low + high) * (high - low) / 2e-4)


def _slowest_damping() -> float:
    """Least damping ratio of the attitude loop that the default gains make around lag and control period."""
    p, tau = GAINS.attitude, 0.03 + 1.5 * 0.002
    roots = np.roots([tau, 1.0, p.rate_gain_1_s.x, p.rate_gain_1_s.x * p.tilt_gain_1_s])
    return float((-roots.real / np.abs(roots)).min())


def _learnt_push() -> float:
    """Of a steady 1.5 m/s^2, after 1/w: both poles at w leave (1 + 1)/e of it to be learnt."""
    options, p, dt = PositionOptions(), GAINS.position, 0.001
    state, vel = first_position_state(options, ZERO), 0.0
    for _ in range(round(1.0 / p.disturbance_bandwidth_rad_s / dt)):
        state = next_position_state(options, p, Vec3(vel, 0.0, 0.0), state, Vec3(0.0, 0.0, -2.0 * GRAVITY), dt)
        vel += 1.5 * dt
    return float(state.disturbance_ned_m_s2.x / 1.5)


@cache
def _hover_with_gyro_bias() -> tuple[float, float]:
    """Tilt [deg] and the bias found [deg/s] after 40 s of hover with 0.5 deg/s on the roll gyroscope."""
    options, p, bias = FilterOptions(), FilterParameters(GRAVITY, gnss_period_s=0.2), math.radians(0.5)
    place = Vec3(0.0, 0.0, -10.0)
    state = first(place, ZERO, quat_identity())
    for i in range(1, 1001):
        state = predict(options, p, state, Vec3(bias, 0.0, 0.0), Vec3(0.0, 0.0, -GRAVITY), 0.04)
        state = correct_gnss(options, p, state, place, ZERO, 0.0, i % 5 == 0)
    roll = euler_zyx_from_quat(state.quat_ned_from_frd)[0]
    return math.degrees(roll), math.degrees(state.gyro_bias_frd_rad_s.x)


CHECKS: tuple[Check, ...] = (
    Check(
        "attitude loop", "2° step at wn 15, ζ 0.7 with 30 ms lag: largest error against the closed form, of the step",
        f"{DOCUMENT}; eigenvectors of the linear loop", 0.0, _largest_error_of_step,
        0.012,  # the moment is held for 1 ms: half of that is lost in phase, 0.8 % of the step
    ),
    Check(
        "attitude loop", "overshoot at ζ 0.7 without lag", "exp(−π ζ/√(1 − ζ²)), second-order step response",
        0.04599, lambda: max(_step_angles(1e-5)) / math.radians(2.0) - 1.0, 0.006,
    ),
    Check(
        "attitude error", "tilt part of 60° tilt under a heading error of 149°", "2 sin(60°/2): heading has no say",
        1.0, _tilt_part_of_error, 1e-12, "rad",
    ),
    Check(
        "attitude from thrust", "heading of the nose in a 36° tilt", "as asked", 1.0, _heading_in_a_bank, 1e-12, "rad",
    ),
    Check(
        "default gains", "least damping of the attitude loop with rotor lag", "pole placement", 0.75,
        _slowest_damping, 1e-9,
    ),
    Check(
        "allocation", "largest distance to NumPy's least-squares solution", "Moore–Penrose inverse", 0.0,
        _allocation_off_least_squares, 1e-12, "N",
    ),
    Check(
        "allocation", "1 N m of roll kept while full thrust and yaw are asked", "roll and pitch before thrust and yaw",
        1.0, lambda: _kept_at_saturation("roll"), 1e-12, "N m",
    ),
    Check(
        "allocation", "1 N m of yaw left at full thrust with roll", "two rotors at their limit leave none", 0.0,
        lambda: _kept_at_saturation("yaw"), 1e-9, "N m",
    ),
    Check("position", "deceleration of the approach, 30 m away", "v dv/dd = a", 2.5, _braking, 1e-6, "m/s²"),
    Check(
        "position", "share of a steady push learnt after 1/w", "1 − 2/e: a double pole at w", 1.0 - 2.0 / math.e,
        _learnt_push, 0.002,
    ),
    Check(
        "navigation filter", "gyroscope bias found after 40 s of hover", "the bias put in", 0.5,
        lambda: _hover_with_gyro_bias()[1], 0.01, "°/s",
    ),
    Check(
        "navigation filter", "tilt error after 40 s of hover with that bias", "integral action leaves none", 0.0,
        lambda: _hover_with_gyro_bias()[0], 0.02, "°",
    ),
)  # fmt: skip
