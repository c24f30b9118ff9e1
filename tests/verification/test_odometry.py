"""Odometry against geometry and statistics: known answers of frames, drift that grows with the root, unit turns."""

import math

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Vec3, euler_zyx_from_quat, quat_conjugate, quat_from_euler_zyx, quat_multiply, rotate
from fieldworthy.sensors import delivery
from fieldworthy.sensors import odometry as law
from fieldworthy.sensors.devices import odometry_device
from fieldworthy.verify.sensors import still_truth

OFF = {"white": False, "velocity_noise": False, "attitude_noise": False}


def truth_of(roll=0.0, pitch=0.0, yaw=0.0, pos=(0.0, 0.0, 0.0), vel=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0)):
    truth = still_truth(quat_from_euler_zyx(roll, pitch, yaw))
    truth.pos_ned_m, truth.vel_ned_m_s, truth.rate_frd_rad_s = Vec3(*pos), Vec3(*vel), Vec3(*rate)
    return truth


def told(truth, p=None, normals=(), **effects):
    options = law.OdometryOptions(0.02, **{**OFF, **effects})
    p = p or law.OdometryParameters()
    return law.read_odometry(options, p, truth, law.first_odometry(options, p, ()), normals)[0]


EAST = (0.0, 2.0, 0.0)


@pytest.mark.parametrize(
    ("yaw", "vel_ned", "vel_frd"),
    [(0.0, EAST, (0, 2, 0)), (90.0, EAST, (2, 0, 0)), (180.0, EAST, (0, -2, 0)), (270.0, EAST, (-2, 0, 0)),
     (90.0, (3.0, 0.0, 0.0), (0, -3, 0)), (33.0, (0.0, 0.0, -1.5), (0, 0, -1.5))],
)  # fmt: skip
def test_velocity_is_along_the_bodys_axes(yaw, vel_ned, vel_frd):
    """Flying east with the nose north is to the right."""
    found = told(truth_of(yaw=math.radians(yaw), vel=vel_ned))
    assert tuple(found.vel_frd_m_s) == pytest.approx(vel_frd, abs=1e-12)


def test_a_nose_held_up_makes_part_of_a_level_flight_a_sinking_of_the_body():
    """Nose up by 30 deg, flying level north: forward cos 30, and down along the body's z axis sin 30."""
    found = told(truth_of(pitch=math.radians(30.0), vel=(2.0, 0.0, 0.0)))
    assert tuple(found.vel_frd_m_s) == pytest.approx((2.0 * math.cos(math.pi / 6), 0.0, 1.0), abs=1e-12)


def test_position_and_attitude_are_those_of_the_world():
    found = told(truth_of(0.1, -0.2, 2.0, (10.0, -4.0, -3.0)))
    assert tuple(found.pos_ned_m) == (10.0, -4.0, -3.0)
    assert euler_zyx_from_quat(found.quat_ned_from_frd) == pytest.approx((0.1, -0.2, 2.0))
    assert found.valid == 1.0
    sigmas = (found.horizontal_sigma_m, found.vertical_sigma_m, found.velocity_sigma_m_s, found.tilt_sigma_rad)
    assert (*sigmas, found.heading_sigma_rad) == (0.0,) * 5


def test_a_camera_ahead_goes_round_with_the_nose():
    """0.5 m ahead, nose east, yawing by 2 rad/s: it is 0.5 m further east and moves right, which is south."""
    p = law.OdometryParameters(pos_frd_m=Vec3(0.5, 0.0, 0.0))
    found = told(truth_of(yaw=math.pi / 2, rate=(0.0, 0.0, 2.0)), p, lever_arm=True)
    assert tuple(found.pos_ned_m) == pytest.approx((0.0, 0.5, 0.0), abs=1e-12)
    assert tuple(found.vel_frd_m_s) == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)


def drifted(p, truth, steps, count, seed, dt_s=0.1, **effects):
    """(the last reading, the memory after it) of many trials after so many readings, as NumPy arrays."""
    options = law.OdometryOptions(dt_s, **{**OFF, **effects})
    numbers = np.random.default_rng(seed).standard_normal((steps, law.odometry_normals(options), count))
    memory = law.first_odometry(options, p, ())
    for row in numbers:
        reading, memory = law.read_odometry(options, p, truth, memory, tuple(Float64(values) for values in row))
        dr.eval(reading, memory)
    return map_leaves(np.array, (reading, memory))


def test_drift_grows_with_the_root_of_time_as_it_says_of_itself():
    """5,000 trials: the deviation of a variance is sqrt(2 / N) = 2 %; three of them 6 %."""
    p = law.OdometryParameters(drift_m_rts=0.05, heading_drift_rad_rts=0.01)
    for steps in (40, 160):
        found, memory = drifted(p, truth_of(), steps, 5000, steps, drift=True, heading_drift=True)
        for error in found.pos_ned_m:
            assert np.var(error) == pytest.approx(0.05**2 * 0.1 * steps, rel=0.06)
        assert found.horizontal_sigma_m == pytest.approx(0.05 * math.sqrt(0.1 * steps))
        assert found.vertical_sigma_m == pytest.approx(0.05 * math.sqrt(0.1 * steps))
        assert np.var(memory.heading_rad) == pytest.approx(0.01**2 * 0.1 * steps, rel=0.06)
        assert found.heading_sigma_rad == pytest.approx(0.01 * math.sqrt(0.1 * steps))
        assert np.corrcoef(found.pos_ned_m.x, found.pos_ned_m.y)[0, 1] == pytest.approx(0.0, abs=3 / math.sqrt(5000))


def test_drift_of_the_way_is_the_same_at_any_rate_and_none_at_rest():
    """4 m/s for 10 s are 40 m, read at 10 Hz or at 40 Hz."""
    p, flying = law.OdometryParameters(drift_m_rtm=0.1), truth_of(vel=(0.0, 4.0, 0.0))
    for dt_s, steps in ((0.1, 100), (0.025, 400)):
        found, _ = drifted(p, flying, steps, 5000, steps, dt_s, travel_drift=True)
        assert np.var(found.pos_ned_m.z) == pytest.approx(0.1**2 * 40.0, rel=0.06)
        assert found.horizontal_sigma_m == pytest.approx(0.1 * math.sqrt(40.0))
    still, _ = drifted(p, truth_of(), 100, 100, 1, travel_drift=True)
    assert np.abs(still.pos_ned_m.x).max() < 0.01


def test_noise_has_the_deviations_it_tells():
    p = law.OdometryParameters(0.1, 0.3, 0.2, 0.01, 0.03)
    effects = {"white": True, "velocity_noise": True, "attitude_noise": True}
    true = truth_of(0.4, -0.3, 2.5, vel=(1.0, 2.0, 3.0))
    level = told(true)
    found, _ = drifted(p, true, 1, 20000, 9, **effects)
    # 20,000 numbers: three deviations of a standard deviation are 1.5 %.
    spread = [np.std(value) for value in (*found.pos_ned_m, *found.vel_frd_m_s)]
    assert spread == pytest.approx([0.1, 0.1, 0.3, 0.2, 0.2, 0.2], rel=0.015)
    assert [np.mean(v) for v in found.vel_frd_m_s] == pytest.approx(tuple(level.vel_frd_m_s), abs=0.2 * 3 / 141)
    # The turn from the true to the told attitude, about north, east and down: twice the vector part when small.
    turn = quat_multiply(found.quat_ned_from_frd, quat_conjugate(true.quat_ned_from_frd))
    assert [np.std(2.0 * v) for v in (turn.x, turn.y, turn.z)] == pytest.approx([0.01, 0.01, 0.03], rel=0.02)
    norm = np.sqrt(sum(np.square(v) for v in found.quat_ned_from_frd))
    assert np.abs(norm - 1.0).max() < 1e-14
    told_sigmas = (found.horizontal_sigma_m, found.vertical_sigma_m, found.velocity_sigma_m_s)
    assert (*told_sigmas, found.tilt_sigma_rad, found.heading_sigma_rad) == pytest.approx((0.1, 0.3, 0.2, 0.01, 0.03))


def test_a_drift_of_heading_turns_clockwise_and_leaves_the_tilt():
    """A positive turn about down is clockwise: nose north becomes nose north by east; what is level stays level."""
    p = law.OdometryParameters(heading_drift_rad_rts=1.0)
    found = told(truth_of(), p, (0.5,), heading_drift=True)
    step = 0.5 * math.sqrt(0.02)
    assert euler_zyx_from_quat(found.quat_ned_from_frd) == pytest.approx((0.0, 0.0, step), abs=1e-12)
    assert tuple(rotate(found.quat_ned_from_frd, Vec3(1.0, 0.0, 0.0)))[1] == pytest.approx(math.sin(step))


def test_it_is_heard_late_and_stamped_when_it_was_so():
    """30 ms of latency at 1 m/s: what is heard is 3 cm behind, and its stamp says so."""
    options, p = delivery.DeliveryOptions(slots=3), delivery.DeliveryParameters(latency_s=0.03)
    mailbox = delivery.first_mailbox(options, law.blank_odometry(law.OdometryOptions(0.02, **OFF)))
    for tick in range(6):
        t_s = 0.02 * tick
        mailbox = delivery.post(options, p, mailbox, told(truth_of(pos=(t_s, 0.0, 0.0))), t_s)
        mailbox, _ = delivery.collect(mailbox, t_s + 1e-9)
    assert mailbox.newest.stamp_s == pytest.approx(0.06)
    assert mailbox.newest.value.pos_ned_m.x == pytest.approx(0.06)


def test_a_motion_capture_room_has_no_drift():
    options, p = odometry_device(
        {"noise_horizontal_m": 0.001, "tilt_noise_deg": 90.0, "heading_drift_deg_rts": 0.0}, 0.1
    )
    assert options == law.OdometryOptions(0.1, velocity_noise=False)
    assert p.tilt_noise_rad == pytest.approx(math.pi / 2)
