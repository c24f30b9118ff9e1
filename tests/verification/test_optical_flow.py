"""The optical flow camera against geometry: known answers of moving, turning and tilting above level ground."""

import math

import numpy as np
import pytest

from fieldworthy.core.vec import Vec3, cross, quat_from_euler_zyx, rotate, rotate_inverse
from fieldworthy.sensors import optical_flow as law
from fieldworthy.sensors.devices import optical_flow_device
from fieldworthy.verify.sensors import still_truth

PERIOD_S = 0.02
TICKS = 10


def looking(height=2.0, vel_frd=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0), roll=0.0, pitch=0.0, yaw=0.0):
    quat = quat_from_euler_zyx(roll, pitch, yaw)
    truth = still_truth(quat)
    truth.height_above_ground_m = height
    truth.vel_ned_m_s, truth.rate_frd_rad_s = rotate(quat, Vec3(*vel_frd)), Vec3(*rate)
    return truth


def told(truths, p=None, normals=(), first=(), readings=1, **effects):
    """The last reading after so many looks each."""
    options = law.OpticalFlowOptions(PERIOD_S, **{"white": False, **effects})
    p = p or law.OpticalFlowParameters()
    truths = [truths] * TICKS if not isinstance(truths, list) else truths
    memory = law.first_optical_flow(options, p, first)
    for _ in range(readings):
        for truth in truths:
            memory = law.watch_optical_flow(options, p, truth, memory)
        reading, memory = law.read_optical_flow(options, p, truths[-1], memory, normals)
    return reading


@pytest.mark.parametrize("yaw", [0.0, 1.0, math.pi / 2])
@pytest.mark.parametrize(
    ("vel_frd", "signs"),
    # MAVLink common.xml, HIL_OPTICAL_FLOW: "Sensor linear motion along the positive Y axis induces a negative flow"
    # about X, "along the positive X axis induces a positive flow" about Y.
    [((3.0, 0.0, 0.0), (0.0, 1.0)), ((0.0, 3.0, 0.0), (-1.0, 0.0)), ((0.0, 0.0, 3.0), (0.0, 0.0))],
)
def test_moving_without_turning_is_speed_over_height(yaw, vel_frd, signs):
    found = told(looking(2.0, vel_frd, yaw=yaw))
    expected = tuple(sign * 3.0 / 2.0 * PERIOD_S for sign in signs)
    assert (found.integrated_x_rad, found.integrated_y_rad) == pytest.approx(expected, abs=1e-15)
    assert (found.quality, found.period_s) == (255.0, PERIOD_S)


def test_turning_on_the_spot_is_the_integral_of_the_rate():
    """ "Sensor RH rotation about the X axis induces a positive flow", at any height; about z none in the middle."""
    for height in (0.5, 20.0):
        found = told(looking(height, rate=(0.4, -0.3, 2.0)))
        assert found.integrated_x_rad == pytest.approx(0.4 * PERIOD_S, rel=1e-12)
        assert found.integrated_y_rad == pytest.approx(-0.3 * PERIOD_S, rel=1e-12)
    # A rate that swings within the period: A sin(w t) from 0 to T is A (1 - cos w T) / w.
    count, swing = 2000, 200.0
    times = [(k + 1) * PERIOD_S / count for k in range(count)]
    found = told([looking(rate=(math.sin(swing * t), 0.0, 0.0)) for t in times])
    # The sum over steps is that of a window half a step later: an error of half a step times the last sample.
    half_step = 0.5 * PERIOD_S / count
    assert found.integrated_x_rad == pytest.approx((1.0 - math.cos(swing * PERIOD_S)) / swing, abs=1.1 * half_step)


def test_its_own_gyroscopes_take_the_turn_out_again():
    found = told(looking(4.0, (2.0, -1.0, 0.0), rate=(0.5, 0.7, -0.2)), gyro=True)
    assert found.integrated_x_rad - found.gyro_frd_rad.x == pytest.approx(1.0 / 4.0 * PERIOD_S, rel=1e-12)
    assert found.integrated_y_rad - found.gyro_frd_rad.y == pytest.approx(2.0 / 4.0 * PERIOD_S, rel=1e-12)
    assert tuple(found.gyro_frd_rad) == pytest.approx(tuple(w * PERIOD_S for w in (0.5, 0.7, -0.2)))
    assert told(looking()).gyro_frd_rad is None


def footprint(lens_ned, quat):
    """Where the lens's axis meets the ground, north and east."""
    axis = rotate(quat, Vec3(0.0, 0.0, 1.0))
    reach = -lens_ned.z / axis.z
    return Vec3(lens_ned.x + reach * axis.x, lens_ned.y + reach * axis.y, 0.0), reach


def test_tilted_with_a_lever_arm_it_follows_a_point_of_the_ground():
    """Against a pinhole camera: project the point under the axis, move the body as it moves, project it again."""
    arm, rate, vel_frd, step = Vec3(0.3, -0.2, 0.1), Vec3(0.3, -0.5, 0.8), (1.5, -0.7, 0.4), 1e-6
    roll, pitch, yaw = 0.2, -0.3, 1.1
    truth = looking(3.0, vel_frd, tuple(rate), roll, pitch, yaw)
    quat = truth.quat_ned_from_frd
    lens = Vec3(0.0, 0.0, -3.0) + rotate(quat, arm)
    mark, reach = footprint(lens, quat)
    assert reach == pytest.approx(-lens.z / (math.cos(roll) * math.cos(pitch)))
    moved = Vec3(0.0, 0.0, -3.0) + truth.vel_ned_m_s * step
    # Turned by w dt in the body: the mark in the turned body, to first order in the step.
    seen = rotate_inverse(quat, mark - moved)
    seen = seen - cross(rate, seen) * step - arm
    found = told(truth, law.OpticalFlowParameters(pos_frd_m=arm), lever_arm=True)
    # A scene that moves by (dx, dy) in the image is a camera that turns by (dy, -dx) about (x, y).
    assert found.integrated_x_rad == pytest.approx(seen.y / seen.z / step * PERIOD_S, rel=1e-5)
    assert found.integrated_y_rad == pytest.approx(-seen.x / seen.z / step * PERIOD_S, rel=1e-5)


def test_an_arm_forward_of_a_yawing_body_moves_sideways():
    """Closed form: a lens r ahead of a yaw rate w moves right with w r, so the flow about x is -w r T / h."""
    p = law.OpticalFlowParameters(pos_frd_m=Vec3(0.5, 0.0, 0.0))
    found = told(looking(2.0, rate=(0.0, 0.0, 1.2)), p, lever_arm=True)
    assert found.integrated_x_rad == pytest.approx(-1.2 * 0.5 / 2.0 * PERIOD_S, rel=1e-12)
    assert found.integrated_y_rad == pytest.approx(0.0, abs=1e-15)
    below = law.OpticalFlowParameters(pos_frd_m=Vec3(0.0, 0.0, 0.5))
    assert told(looking(2.5, (3.0, 0.0, 0.0)), below, lever_arm=True).integrated_y_rad == pytest.approx(0.03)


def test_nothing_is_seen_out_of_range_or_over_the_horizon():
    p = law.OpticalFlowParameters(range_min_m=0.5, range_max_m=10.0)
    for change in ({"height": 0.4}, {"height": 10.1}, {"height": 6.0, "roll": 1.0}, {"roll": 1.7}, {"pitch": math.pi}):
        found = told(looking(vel_frd=(1.0, 1.0, 0.0), **change), p)
        assert (found.integrated_x_rad, found.integrated_y_rad, found.quality) == (0.0, 0.0, 0.0), change
    assert told(looking(9.9), p).quality == 255.0
    # Half of the looks in range: half of the quality, and half of the way.
    halves = [looking(height, (2.0, 0.0, 0.0)) for height in [2.0] * 5 + [20.0] * 5]
    found = told(halves, p)
    assert (found.quality, found.integrated_y_rad) == (128.0, pytest.approx(0.5 * PERIOD_S))


def test_quality_fades_with_height_and_with_tilt():
    p = law.OpticalFlowParameters(range_max_m=20.0, fade=0.5, quality=200.0)
    for height, expected in ((1.0, 200.0), (10.0, 200.0), (15.0, 100.0), (19.0, 20.0), (20.0, 0.0)):
        assert told(looking(height), p, fade=True).quality == expected
    # 60 deg of roll double the distance: 7.5 m are 15 m.
    assert told(looking(7.5, roll=math.pi / 3), p, fade=True).quality == pytest.approx(100.0, abs=1.0)


def test_flow_beyond_its_limit_is_cut_and_says_so():
    p = law.OpticalFlowParameters(rate_max_rad_s=7.4)
    fast = told(looking(1.0, (10.0, 2.0, 0.0)), p, saturation=True)
    assert fast.integrated_y_rad == pytest.approx(7.4 * PERIOD_S)
    assert fast.integrated_x_rad == pytest.approx(-2.0 * PERIOD_S)
    assert fast.quality == 0.0
    assert told(looking(1.0, (7.3, 0.0, 0.0)), p, saturation=True).quality == 255.0


def test_before_its_first_look_it_says_nothing():
    options, p = law.OpticalFlowOptions(PERIOD_S, white=False), law.OpticalFlowParameters()
    truth = looking(vel_frd=(1.0, 0.0, 0.0))
    found, _ = law.read_optical_flow(options, p, truth, law.first_optical_flow(options, p, ()), ())
    assert (found.integrated_y_rad, found.quality) == (0.0, 0.0)


def test_every_reading_begins_anew():
    assert told(looking(2.0, (3.0, 0.0, 0.0)), readings=5).integrated_y_rad == pytest.approx(1.5 * PERIOD_S)


def test_noise_has_its_deviation_and_grows_as_quality_falls():
    """4,000 readings: the deviation of a standard deviation is 1/sqrt(2 N) = 1.1 %; three of them 3.4 %."""
    p = law.OpticalFlowParameters(
        range_max_m=20.0, fade=1.0, noise_rad_s=0.1, poor_noise_rad_s=0.5, gyro_noise_rad_s_rthz=0.01
    )
    pairs = np.random.default_rng(4).standard_normal((4000, 5)).tolist()
    # Straight below at 0, half of the range, all of it: q = 255, 128, 0, and the line between 0.1 and 0.5.
    for height, sigma in ((0.081, 0.1), (10.0, 0.3), (20.0, 0.5)):
        effects = {"white": True, "poor": True, "fade": True, "gyro": True, "gyro_noise": True}
        found = [told([looking(height)], p, tuple(numbers), **effects) for numbers in pairs]
        flows = np.array([(r.integrated_x_rad, r.integrated_y_rad) for r in found])
        # One step of the quality of 255 is 0.4 % of the line.
        assert flows.std(axis=0) == pytest.approx(sigma * PERIOD_S, rel=0.05)
        assert abs(np.corrcoef(flows.T)[0, 1]) < 3.0 / math.sqrt(4000)
        turned = np.array([tuple(r.gyro_frd_rad) for r in found])
        # White noise of density N summed over T: N sqrt(T) (IEEE Std 952-1997).
        assert turned.std(axis=0) == pytest.approx(0.01 * math.sqrt(PERIOD_S), rel=0.04)


def test_a_bias_of_its_gyroscopes_is_summed_too():
    p = law.OpticalFlowParameters(gyro_turn_on_rad_s=0.02)
    found = told(looking(), p, first=(1.0, -1.0, 0.5), readings=3, gyro=True, gyro_bias=True)
    assert tuple(found.gyro_frd_rad) == pytest.approx((0.02 * PERIOD_S, -0.02 * PERIOD_S, 0.01 * PERIOD_S))


def test_rounding_loses_no_way():
    """Slower than a step a reading: told now and then, in whole steps, and all of it in the end."""
    options, p = law.OpticalFlowOptions(0.01, white=False, quantisation=True), law.OpticalFlowParameters()
    memory, truth, total = law.first_optical_flow(options, p, ()), looking(2.0, (0.1, 0.0, 0.0)), 0.0
    for _ in range(1000):
        memory = law.watch_optical_flow(options, p, truth, memory)
        reading, memory = law.read_optical_flow(options, p, truth, memory, ())
        steps = reading.integrated_y_rad / p.resolution_rad
        assert steps == pytest.approx(round(steps), abs=1e-9)
        total += reading.integrated_y_rad
    assert total == pytest.approx(0.1 / 2.0 * 10.0, abs=p.resolution_rad)


def test_its_range_finder_measures_along_the_lens_or_says_minus_one():
    p = law.OpticalFlowParameters(distance_min_m=0.3, distance_max_m=5.0, distance_noise_m=0.1)
    assert told(looking(2.0), p, distance=True).distance_m == pytest.approx(2.0)
    assert told(looking(2.0, roll=math.pi / 3), p, distance=True).distance_m == pytest.approx(4.0)
    assert told(looking(2.0), p, (1.5,), distance=True, distance_noise=True).distance_m == pytest.approx(2.15)
    for change in ({"height": 0.2}, {"height": 5.1}, {"height": 3.0, "roll": 1.0}, {"pitch": 2.0}):
        assert told(looking(**change), p, distance=True).distance_m == -1.0
    assert told(looking(2.0), p).distance_m == -1.0


def test_a_part_has_what_its_file_has_values_for():
    bare = optical_flow_device({"range_min_m": 0.1, "range_max_m": 5.0}, 0.1)[0]
    assert bare == law.OpticalFlowOptions(0.1, white=False)
    whole = optical_flow_device(
        {"noise_rad_s": 0.1, "poor_noise_rad_s": 0.2, "rate_max_rad_s": 5.0, "fade": 0.5, "pos_frd_m": [0.1, 0.0, 0.0],
         "resolution_rad": 0.001, "gyro_noise_density_deg_s_rthz": 0.03, "gyro_turn_on_deg_s": 90.0,
         "distance_max_m": 4.0, "distance_noise_m": 0.02}, 0.1)  # fmt: skip
    assert whole[0] == law.OpticalFlowOptions(0.1, *[True] * 11)
    assert whole[1].gyro_turn_on_rad_s == pytest.approx(math.pi / 2)
