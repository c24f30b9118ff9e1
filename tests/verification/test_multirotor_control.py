"""The whole cascade in closed loop on a quadrotor with motor lag: steps, disturbances, recoveries, other vehicles."""

import math
from dataclasses import replace
from functools import cache

import flight_rig as rig
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.core.vec import Vec3, euler_zyx_from_quat, quat_from_euler_zyx
from fieldworthy.verify.control import CHECKS

DT = 0.002
GAINS = default_gains(rig.MASS, rig.INERTIA, rig.ROTORS, DT, rig.GRAVITY)
TILTS = (1.0, 2.5, math.pi - 1e-9)
LANES = ("north", "east", "up", "yaw", "far", "push", "torque", *TILTS)


@cache
def flights():
    """All of them at once, as lanes of one compiled loop, 16 s."""

    def only(**values):
        return Float64([float(values.get(str(name), 0.0)) for name in LANES])

    target = rig.setpoint(
        north_m=only(north=5.0, far=50.0), east_m=only(east=5.0), up_m=10.0 + only(up=5.0), heading_rad=only(yaw=2.0)
    )
    start = rig.start_state(
        10.0, quat_from_euler_zyx(Float64([0.0] * (len(LANES) - 3) + list(TILTS)), Float64(0.0), Float64(0.0))
    )
    disturbance = (Vec3(only(push=3.0), 0.0, only(push=4.0)), Vec3(0.0, only(torque=0.1), only(torque=0.02)))
    flown = rig.fly(GAINS, target, 16.0, DT, start, disturbance, lanes=len(LANES))
    return {name: {key: values[:, i] for key, values in flown.items()} for i, name in enumerate(LANES)}


def settled_after(x, goal, band):
    outside = np.flatnonzero(np.abs(x - goal) > band)
    return 0.0 if not len(outside) else (outside[-1] + 1) * DT


@pytest.mark.parametrize(("lane", "axis", "goal", "start"), [
    ("north", "north", 5.0, 0.0), ("east", "east", 5.0, 0.0), ("up", "up", 15.0, 10.0), ("yaw", "yaw", 2.0, 0.0),
    ("far", "north", 50.0, 0.0),
])  # fmt: skip
def test_steps_are_well_damped(lane, axis, goal, start):
    x, size = flights()[lane][axis], goal - start
    assert x.max() < goal + 0.02 * size
    assert settled_after(x, goal, 0.02 * size) < (9.0 if lane == "far" else 4.0)
    assert x[-1] == pytest.approx(goal, abs=1e-3)


def test_a_step_ahead_keeps_height_and_line():
    got = flights()["north"]
    assert np.abs(got["up"] - 10.0).max() < 0.15
    assert np.abs(got["east"]).max() < 1e-6
    assert np.degrees(got["tilt"]).max() < 40.0
    assert np.degrees(np.abs(got["yaw"])).max() < 0.1


def test_speed_limits_hold():
    far, up = flights()["far"], flights()["up"]
    assert np.hypot(far["vn"], far["ve"]).max() < 1.02 * GAINS.position.speed_max_m_s
    assert -up["vd"].min() < 1.02 * GAINS.position.climb_max_m_s


def test_steady_disturbances_leave_no_error():
    """3 N ahead and 4 N of weight: 15 and 20 % of the weight; 0.1 N m: 15 mm of the centre of mass off the middle."""
    push, torque = flights()["push"], flights()["torque"]
    assert abs(push["north"][-1]) < 1e-3
    assert push["up"][-1] == pytest.approx(10.0, abs=1e-3)
    assert np.abs(push["north"]).max() < 1.0
    assert np.abs(torque["north"]).max() < 0.6
    assert abs(torque["north"][-1]) < 0.01
    assert abs(torque["yaw"][-1]) < 0.01
    # In a steady wind it leans into it by the ratio of push to lift.
    assert math.tan(push["tilt"][-1]) == pytest.approx(3.0 / (rig.MASS * rig.GRAVITY + 4.0), rel=1e-3)


def test_hover_thrust_and_margin():
    got = flights()["yaw"]
    assert got["thrust"][-1] == pytest.approx(rig.MASS * rig.GRAVITY, rel=1e-4)
    low, high = (rig.K_F * w * w for w in (80.0, 1000.0))
    assert got["margin"][-1] == pytest.approx((rig.MASS * rig.GRAVITY / 4.0 - low) / (high - low), rel=1e-3)


@pytest.mark.parametrize("tilt", TILTS)
def test_recovers_from_any_attitude(tilt):
    got = flights()[tilt]
    assert all(np.isfinite(values).all() for values in got.values())
    assert np.argmax(got["tilt"] < math.radians(5.0)) * DT < 1.2
    assert got["up"].min() > 1.0
    assert got["up"][-1] == pytest.approx(10.0, abs=0.01)


@pytest.mark.parametrize(("lag", "period"), [(0.015, 0.001), (0.03, 0.004), (0.08, 0.004)])
def test_gains_place_the_poles_of_attitude_and_velocity(lag, period):
    """tau s^3 + s^2 + K_r s + K_r K_a with tau the lag and 1.5 periods: all three of modulus w, damping 0.75 and 1."""
    rotors = [rig.RigRotor(r.pos_frd_m, r.axis_frd, r.spin, lag_up_s=lag, lag_down_s=lag) for r in rig.ROTORS]
    p = default_gains(rig.MASS, rig.INERTIA, rotors, period, rig.GRAVITY)
    for tau, inner, outer in (
        (lag + 1.5 * period, p.attitude.rate_gain_1_s.x, p.attitude.tilt_gain_1_s),
        (1.0 / p.attitude.tilt_gain_1_s, p.position.velocity_gain_1_s, p.position.position_gain_1_s),
    ):
        roots = np.roots([tau, 1.0, inner, inner * outer])
        assert np.abs(roots) == pytest.approx(1.0 / (2.5 * tau), rel=1e-6)
        assert min(-roots.real / np.abs(roots)) == pytest.approx(0.75, rel=1e-6)


def test_a_lane_is_the_float_flight():
    """The first 0.2 s of a step, walked in Python floats."""
    target, state = rig.setpoint(north_m=5.0, heading_rad=0.5), rig.start_state()
    options = rig.MultirotorOptions()
    memory = rig.first_multirotor_state(options, rig.truth(state))
    for _ in range(100):
        thrusts, memory, _ = rig.multirotor_control(options, GAINS, target, rig.truth(state), memory, DT)
        commands = tuple(math.sqrt(t / rig.K_F) for t in thrusts)
        state = rig.normalised_step(
            rig.rk4,
            lambda s, commands=commands: rig.rig_rates(s, commands, (Vec3(0.0, 0.0, 0.0),) * 2),
            state,
            DT,
        )
    lanes = rig.fly(GAINS, target, 0.2, DT)
    assert [lanes[name][-1, 0] for name in ("north", "p", "q", "yaw")] == pytest.approx(
        [state.body.pos_ned_m.x, state.body.rate_frd_rad_s.x, state.body.rate_frd_rad_s.y,
         euler_zyx_from_quat(state.body.quat_ned_from_frd)[2]], rel=1e-9, abs=1e-12)  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.model}: {check.law}")
def test_verification_table(check):
    assert check.holds(check.got()), f"{check.got()} instead of {check.expected}"


def test_standing_it_asks_for_no_moment_and_integrates_nothing():
    """Leaning on uneven ground, in a wind, turned away from its heading: none of it is the autopilot's to mend."""
    options, state = rig.MultirotorOptions(), rig.start_state(0.2, quat_from_euler_zyx(0.1, -0.1, 1.0))
    memory = rig.first_multirotor_state(options, rig.truth(state), 0.0)
    target = rig.setpoint(north_m=5.0, up_m=0.2)
    for _ in range(500):
        thrusts, memory, report = rig.multirotor_control(options, GAINS, target, rig.truth(state), memory, DT)
    assert tuple(report.moment_frd_n_m) == (0.0, 0.0, 0.0)
    assert thrusts == pytest.approx([share.thrust_min_n for share in GAINS.shares])
    assert tuple(memory.attitude.rate_error_rad) == (0.0, 0.0, 0.0)
    assert tuple(memory.position.disturbance_ned_m_s2) == (0.0, 0.0, 0.0)
    assert report.saturation_margin == 0.5


def test_the_nose_gives_way_where_little_yaw_is_granted():
    """A tail that turns into the wind with more than its share keeps roll and pitch within their range."""
    options, state = rig.MultirotorOptions(), rig.start_state(10.0, quat_from_euler_zyx(0.0, 0.0, 2.0))
    memory = rig.first_multirotor_state(options, rig.truth(state))
    asked = [
        rig.multirotor_control(options, replace(GAINS, yaw_max_n_m=most), rig.setpoint(up_m=10.0), rig.truth(state),
                               memory, DT)[2].moment_frd_n_m.z
        for most in (1e6, 0.05)
    ]  # fmt: skip
    assert asked[0] < -0.05
    assert asked[1] == -0.05
