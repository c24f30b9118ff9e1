"""Attitude from thrust, the tilt-prioritised error, and the attitude loop against its closed form."""

import math
import tomllib
from pathlib import Path

import numpy as np
import pytest

from fieldworthy.control.attitude import (
    AttitudeOptions,
    AttitudeParameters,
    attitude_error_rad,
    attitude_from_thrust,
    first_attitude_state,
    moment_demand,
    next_attitude_state,
    rate_setpoint,
)
from fieldworthy.core.vec import (
    Quat,
    Vec3,
    euler_zyx_from_quat,
    quat_from_euler_zyx,
    quat_from_rotation_vector,
    quat_from_yaw,
    quat_identity,
    quat_multiply,
    rotate,
)

STEP = tomllib.loads((Path(__file__).parent / "data" / "integrators.toml").read_text())["attitude_step"]
ZERO = Vec3(0.0, 0.0, 0.0)


def pd(wn, zeta, inertia=0.0143, **changes):
    values = {
        "inertia_kg_m2": Vec3(inertia, inertia, inertia), "tilt_gain_1_s": wn / (2.0 * zeta),
        "yaw_gain_1_s": wn / (2.0 * zeta), "rate_gain_1_s": Vec3(*(2.0 * zeta * wn,) * 3),
        "rate_integral_gain_1_s2": ZERO, "rate_derivative_gain": ZERO, "derivative_filter_s": 0.005,
        "rate_max_rad_s": Vec3(99.0, 99.0, 99.0),
    }  # fmt: skip
    return AttitudeParameters(**(values | changes))


@pytest.mark.parametrize("heading", [0.0, 1.2, -2.9])
@pytest.mark.parametrize("force", [(0.0, 0.0, -19.6), (5.0, -3.0, -18.0), (-9.0, 9.0, -10.0), (3.0, 1.0, 4.0)])
def test_attitude_points_the_thrust_and_keeps_the_heading(force, heading):
    quat = attitude_from_thrust(Vec3(*force), heading)
    up = rotate(quat, Vec3(0.0, 0.0, -1.0))
    assert np.array([*up]) == pytest.approx(np.array(force) / np.linalg.norm(force), abs=1e-12)
    nose = rotate(quat, Vec3(1.0, 0.0, 0.0))
    if force[2] < 0.0:
        assert math.remainder(math.atan2(nose.y, nose.x) - heading, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-12)


def test_nose_down_pulls_north():
    _, pitch, _ = euler_zyx_from_quat(attitude_from_thrust(Vec3(5.0, 0.0, -19.6), 0.0))
    assert pitch == pytest.approx(-math.atan(5.0 / 19.6))
    roll, _, _ = euler_zyx_from_quat(attitude_from_thrust(Vec3(0.0, 5.0, -19.6), 0.0))
    assert roll == pytest.approx(math.atan(5.0 / 19.6))


def test_error_of_a_small_turn_is_the_turn():
    start = quat_from_euler_zyx(0.3, -0.2, 2.0)
    turn = Vec3(2e-4, -1e-4, 3e-4)
    e = attitude_error_rad(start, quat_multiply(start, quat_from_rotation_vector(turn)))
    assert [*e] == pytest.approx([*turn], abs=1e-7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("heading", [0.0, 1.0, 3.0, -2.5])
def test_tilt_is_turned_the_shortest_way_whatever_the_heading(heading, sign):
    """The tilt part is along z_now x z_wanted, twice the sine of half the angle; heading does not change its length."""
    start = quat_from_euler_zyx(0.2, 0.1, 0.4)
    wanted = quat_multiply(quat_from_euler_zyx(-0.5, 0.7, 0.4), quat_from_yaw(heading))
    e = attitude_error_rad(start, wanted * sign)
    now, goal = np.array([*rotate(start, Vec3(0, 0, 1.0))]), np.array([*rotate(wanted, Vec3(0, 0, 1.0))])
    axis, angle = np.cross(now, goal), math.acos(now @ goal)
    turn = np.array([*rotate(start, Vec3(e.x, e.y, 0.0))])
    assert turn == pytest.approx(2.0 * math.sin(angle / 2.0) * axis / np.linalg.norm(axis), abs=1e-12)


def test_heading_error_is_the_short_way():
    e = attitude_error_rad(quat_from_yaw(3.0), quat_from_yaw(-3.0))
    assert e.z == pytest.approx(2.0 * math.sin((2.0 * math.pi - 6.0) / 2.0))


@pytest.mark.parametrize("angle", [math.pi, math.pi - 1e-6, math.pi - 1e-4])
def test_inverted_is_turned_home_and_finite(angle):
    e = attitude_error_rad(quat_from_euler_zyx(angle, 0.0, 0.0), quat_identity())
    assert np.isfinite([*e]).all()
    assert math.hypot(e.x, e.y) == pytest.approx(2.0, abs=1e-6)
    assert [*attitude_error_rad(Quat(0.0, 1.0, 0.0, 0.0), quat_identity())] == pytest.approx([-2.0, 0.0, 0.0])


def closed_form(wn, zeta, lag, t, step_rad):
    """angle' = w, w' = M, M' = (wn^2 (step - angle) - 2 zeta wn w - M)/lag, by its eigenvectors."""
    a = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-wn * wn / lag, -2.0 * zeta * wn / lag, -1.0 / lag]])
    values, vectors = np.linalg.eig(a)
    mode = np.linalg.solve(vectors, np.array([-step_rad, 0.0, 0.0], complex))
    return step_rad + (vectors @ (mode[:, None] * np.exp(np.outer(values, t)))).real[0]


def turned(p, options, seconds, step_rad, lag, dt=0.001, torque=0.0, state=None):
    """The body alone about y, moment through a first-order lag, by exact-enough small steps: angles over time."""
    quat, rate, moment = quat_identity(), 0.0, 0.0
    goal = quat_from_euler_zyx(0.0, step_rad, 0.0)
    state = state or first_attitude_state(options, ZERO)
    angles = []
    for _ in range(round(seconds / dt)):
        rate_frd = Vec3(0.0, rate, 0.0)
        wanted = rate_setpoint(p, quat, goal)
        asked = moment_demand(options, p, wanted, rate_frd, state, dt)
        state = next_attitude_state(options, p, wanted, rate_frd, state, ZERO, dt)
        for _ in range(2):
            h = dt / 2
            before = rate
            m_before, moment = moment, asked.y + (moment - asked.y) * math.exp(-h / lag)
            rate += h * (0.5 * (m_before + moment) + torque) / p.inertia_kg_m2.y
            quat = quat_multiply(quat, quat_from_rotation_vector(Vec3(0.0, 0.5 * (before + rate) * h, 0.0)))
        angles.append(euler_zyx_from_quat(quat)[1])
    return np.array(angles)


def test_reference_attitude_loop_is_its_closed_form():
    """The document's loop: wn 15, zeta 0.7 designed without the 30 ms lag, here with it; a step of 2 deg is linear."""
    wn, zeta, lag = STEP["natural_frequency_rad_s"], STEP["damping_ratio"], STEP["motor_lag_s"]
    step = math.radians(2.0)
    got = turned(pd(wn, zeta), AttitudeOptions(integral=False), 1.0, step, lag)
    exact = closed_form(wn, zeta, lag, 0.001 * np.arange(1, 1001), step)
    # The moment is held for 1 ms: half of that is lost in phase, about wn * 0.5 ms = 0.8 % of the step.
    assert np.abs(got - exact).max() < 0.012 * step
    # Without the lag the overshoot of zeta = 0.7 is exp(-pi zeta / sqrt(1 - zeta^2)) = 4.6 %.
    quick = turned(pd(wn, zeta), AttitudeOptions(integral=False), 1.0, step, 1e-5)
    overshoot = math.exp(-math.pi * zeta / math.sqrt(1.0 - zeta * zeta))
    assert quick.max() / step - 1.0 == pytest.approx(overshoot, abs=0.005)


def test_integral_takes_a_steady_torque_and_proportional_leaves_its_share():
    """Without the integral the angle stands off by M / (I wn^2)."""
    torque = 0.02
    p = pd(15.0, 0.9, rate_integral_gain_1_s2=Vec3(40.0, 40.0, 40.0))
    stands = turned(p, AttitudeOptions(integral=False), 3.0, 0.0, 0.01, dt=0.002, torque=torque)[-1]
    assert stands == pytest.approx(torque / (0.0143 * 15.0**2), rel=1e-3)
    assert abs(turned(p, AttitudeOptions(), 4.0, 0.0, 0.01, dt=0.002, torque=torque)[-1]) < 0.02 * stands


def test_derivative_acts_as_added_inertia():
    """tau s^3 + (1 + K_d) s^2 + K_p s + K K_p: the loop of gains and lag divided by 1 + K_d, by hand."""
    kd, wn, zeta, lag, step = 0.5, 18.0, 0.8, 0.03, math.radians(2.0)
    p = pd(wn, zeta, rate_derivative_gain=Vec3(kd, kd, kd), derivative_filter_s=0.0)
    got = turned(p, AttitudeOptions(integral=False, derivative=True), 1.0, step, lag)
    t, root = 0.001 * np.arange(1, 1001), math.sqrt(1.0 + kd)
    exact = closed_form(wn / root, zeta / root, lag / (1.0 + kd), t, step)
    # Held for 1 ms and differenced over 1 ms.
    assert np.abs(got - exact).max() < 0.02 * step
    assert np.abs(got - closed_form(wn, zeta, lag, t, step)).max() > 0.04 * step


def test_saturation_stops_the_integral():
    """Asked 10 times what there is for 5 s: the integral must not grow beyond what explains the moment got."""
    p = pd(15.0, 0.7, rate_integral_gain_1_s2=Vec3(20.0, 20.0, 20.0))
    options, state, rate = AttitudeOptions(), first_attitude_state(AttitudeOptions(), ZERO), Vec3(0.0, 1.0, 0.0)
    got = Vec3(0.0, 0.0, 0.0)
    for _ in range(5000):
        asked = moment_demand(options, p, ZERO, rate, state, 0.001)
        state = next_attitude_state(options, p, ZERO, rate, state, got - asked, 0.001)
    settled = moment_demand(options, p, ZERO, rate, state, 0.001)
    free = first_attitude_state(options, ZERO)
    for _ in range(5000):
        free = next_attitude_state(options, p, ZERO, rate, free, ZERO, 0.001)
    assert free.rate_error_rad.y == pytest.approx(-5.0)
    # It settles where the integral's growth -1 equals what the shortfall gives back: asked = got - I K_p.
    assert settled.y == pytest.approx(-0.0143 * 21.0, rel=1e-3)
