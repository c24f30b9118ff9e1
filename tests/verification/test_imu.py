"""The inertial unit: lever arm, mounting, filter, saturation, quantisation and the errors of a data sheet."""

import math

import numpy as np
import pytest

from fieldworthy.core.vec import Quat, Vec3, quat_from_euler_zyx, quat_from_rotation_vector, rotate
from fieldworthy.sensors.imu import (
    ImuOptions,
    ImuParameters,
    average_imu,
    first_imu,
    first_imu_normals,
    imu_normals,
    read_imu,
)
from fieldworthy.sensors.inertial_triad import TriadOptions, TriadParameters, quantised
from fieldworthy.verify.sensors import still_truth

G = 9.80665
QUIET = TriadOptions(noise=False)


def read(options, p, truth, normals=(), first=()):
    return read_imu(options, p, truth, first_imu(options, p, first), normals)[0]


def acceleration_of_a_point(arm, yaw, t=0.3, h=1e-4):
    """Specific force (body) of a point fixed to a tumbling body, by differences of its track in the world."""

    def attitude(s):
        # Body rate is (0.3, -0.2, 4 + 6 s) only about z; a constant axis keeps the rate known exactly.
        turn = quat_from_rotation_vector(Vec3(0.0, 0.0, 4.0 * s + 3.0 * s * s))
        start = quat_from_euler_zyx(0.4, -0.3, yaw)
        w = start.w * turn.w - start.z * turn.z
        return Quat(
            w,
            start.x * turn.w + start.y * turn.z,
            start.y * turn.w - start.x * turn.z,
            start.z * turn.w + start.w * turn.z,
        )

    def point(s):
        return rotate(attitude(s), arm)

    ddot = (point(t + h) - point(t) * 2.0 + point(t - h)) * (1.0 / h**2)
    q = attitude(t)
    return rotate(Quat(q.w, -q.x, -q.y, -q.z), ddot), q, Vec3(0.0, 0.0, 4.0 + 6.0 * t), Vec3(0.0, 0.0, 6.0)


@pytest.mark.parametrize("yaw_deg", range(0, 360, 45))
def test_lever_arm_is_the_acceleration_of_the_point_at_every_yaw(yaw_deg):
    arm = Vec3(0.12, -0.07, 0.03)
    expected, quat, rate, rate_dot = acceleration_of_a_point(arm, math.radians(yaw_deg))
    truth = still_truth(quat)
    truth.rate_frd_rad_s, truth.rate_dot_frd_rad_s2 = rate, rate_dot
    truth.specific_force_frd_m_s2 = Vec3(0.0, 0.0, 0.0)
    found = read(ImuOptions(1e-3, QUIET, QUIET, lever_arm=True), ImuParameters(pos_frd_m=arm), truth)
    # Differences of second order: h^2 and rounding / h^2, 1e-6 of 5 m/s2.
    assert tuple(found.specific_force_frd_m_s2) == pytest.approx(tuple(expected), abs=2e-6)


def test_a_unit_turned_to_the_right_feels_forward_thrust_on_its_left():
    truth = still_truth()
    truth.specific_force_frd_m_s2 = Vec3(3.0, 0.0, -G)
    truth.rate_frd_rad_s = Vec3(1.0, 0.0, 0.5)
    p = ImuParameters(quat_frd_from_sensor=quat_from_euler_zyx(0.0, 0.0, math.pi / 2))
    found = read(ImuOptions(1e-3, QUIET, QUIET, mounting=True), p, truth)
    assert tuple(found.specific_force_frd_m_s2) == pytest.approx((0.0, -3.0, -G), abs=1e-12)
    assert tuple(found.rate_frd_rad_s) == pytest.approx((0.0, -1.0, 0.5), abs=1e-12)


def sine(options, p, hz, rate_hz, seconds=0.4):
    """Complex gain of the forward accelerometer for a sine, over the last half."""
    truth, memory, x, y = still_truth(), first_imu(options, p, ()), [], []
    for k in range(round(seconds * rate_hz)):
        truth.specific_force_frd_m_s2 = Vec3(math.cos(2.0 * math.pi * hz * k / rate_hz), 0.0, -G)
        reading, memory = read_imu(options, p, truth, memory, ())
        x.append(np.exp(-2j * math.pi * hz * k / rate_hz))
        y.append(reading.specific_force_frd_m_s2.x)
    half = len(y) // 2
    return 2.0 * np.mean(np.array(y[half:]) * np.array(x[half:]))


@pytest.mark.parametrize("rate_hz", [1000.0, 4000.0])
def test_low_pass_is_a_butterworth(rate_hz):
    options = ImuOptions(1.0 / rate_hz, QUIET, TriadOptions(noise=False, low_pass=True))
    p = ImuParameters(accelerometer=TriadParameters(bandwidth_hz=100.0))
    # -3 dB and -90 degrees at the bandwidth: exact by prewarping.
    assert sine(options, p, 100.0, rate_hz) == pytest.approx(-1j / math.sqrt(2.0), abs=1e-6)
    # At a tenth 1/sqrt(1 + 1e-4).
    assert abs(sine(options, p, 10.0, rate_hz)) == pytest.approx(0.99995, abs=1e-5)
    # Two octaves above it, 40 dB a decade: 1/16; the bilinear transform falls faster near half the rate.
    assert abs(sine(options, p, 400.0, rate_hz)) < 0.0624


def test_low_pass_rests_at_rest():
    full = TriadOptions(noise=False, low_pass=True)
    options, p = ImuOptions(1e-3, full, full), ImuParameters()
    assert tuple(read(options, p, still_truth()).specific_force_frd_m_s2) == pytest.approx((0.0, 0.0, -G), abs=1e-12)


def test_saturation_makes_a_bias_of_vibration():
    # Mean of max(x - c, 0) of a sine: A/pi (sqrt(1 - u^2) - u acos u), u = (2 g - g) / A: facts: -2.2 m/s2.
    amplitude, options = 20.0, ImuOptions(1e-3, QUIET, TriadOptions(noise=False, saturation=True), vibration=True)
    p, shifts = ImuParameters(accelerometer=TriadParameters(range_q=2.0 * G)), []
    for k in range(2000):
        truth = still_truth()
        truth.vibration_frd_m_s2 = Vec3(0.0, 0.0, amplitude * math.sin(2.0 * math.pi * (k + 0.5) / 2000))
        shifts.append(abs(read(options, p, truth).specific_force_frd_m_s2.z) - G)
    # The magnitude folds the part of the swing above zero; undo it by reading the sign from the truth.
    u = G / amplitude
    folded = 2.0 * amplitude / math.pi * (math.sqrt(1 - u * u) - u * math.acos(u))
    assert np.mean(shifts) - folded == pytest.approx(-2.2447, abs=2e-3)


def test_vibration_rectification_is_the_mean_square_times_its_coefficient():
    options = ImuOptions(1e-3, QUIET, QUIET, vibration=True, rectification=True)
    p, values = ImuParameters(rectification_s2_m=2e-3), []
    for k in range(100):
        truth = still_truth()
        truth.vibration_frd_m_s2 = Vec3(8.0 * math.sin(2.0 * math.pi * k / 100), 0.0, 0.0)
        values.append(read(options, p, truth).specific_force_frd_m_s2.x)
    assert np.mean(values) == pytest.approx(2e-3 * 8.0**2 / 2.0, rel=1e-9)


def test_quantisation_is_the_nearest_step():
    steps = [quantised(x, 0.25) for x in (-0.38, -0.3, -0.1, 0.0, 0.12, 0.13, 7.9)]
    assert steps == [-0.5, -0.25, 0.0, 0.0, 0.0, 0.25, 8.0]


def test_quantisation_comes_after_the_low_pass_and_leaves_whole_steps():
    triad = TriadOptions(low_pass=True, quantisation=True)
    options = ImuOptions(1e-3, QUIET, triad)
    p = ImuParameters(accelerometer=TriadParameters(noise_density_q_rthz=0.01, resolution_q=0.05))
    value = read(options, p, still_truth(), normals=(2.1, -0.4, 0.7)).specific_force_frd_m_s2
    assert [axis / 0.05 for axis in value] == pytest.approx([round(axis / 0.05) for axis in value], abs=1e-9)


def test_constant_errors_are_drawn_once_and_kept():
    triad = TriadOptions(noise=False, turn_on=True, scale=True, misalignment=True)
    options = ImuOptions(1e-3, QUIET, triad)
    p = ImuParameters(accelerometer=TriadParameters(turn_on_sigma_q=0.1, scale_sigma=0.01, misalignment_sigma_rad=0.02))
    assert first_imu_normals(options) == 12
    assert imu_normals(options) == 0
    first = (1.0, 2.0, 3.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    memory = first_imu(options, p, first)
    for _ in range(2):
        reading, memory = read_imu(options, p, still_truth(), memory, ())
    # Bias, 2 % more on the plumb axis, 20 mrad of it on the forward axis.
    expected = (0.1 + 0.02 * -G * 1.02, 0.2, 0.3 - 1.02 * G)
    assert tuple(reading.specific_force_frd_m_s2) == pytest.approx(expected, abs=1e-12)


def test_gyroscope_leans_with_gravity_and_warms():
    options = ImuOptions(1e-3, TriadOptions(noise=False, temperature=True), QUIET, g_sensitivity=True)
    p = ImuParameters(gyro=TriadParameters(temperature_q_k=1e-4), g_sensitivity_rad_s_m_s2=1e-3, self_heating_k=20.0)
    # 15 deg C of air and 20 K of self-heating are 10 K above 25 deg C.
    assert tuple(read(options, p, still_truth()).rate_frd_rad_s) == pytest.approx((1e-3, 1e-3, 1e-3 - G * 1e-3))


def test_a_mean_of_readings_keeps_the_density():
    options = ImuOptions(1e-3, TriadOptions(), QUIET)
    p, rng = ImuParameters(gyro=TriadParameters(noise_density_q_rthz=0.01)), np.random.default_rng(2)
    found = []
    for _ in range(1500):
        some = [read(options, p, still_truth(), tuple(rng.standard_normal(3).tolist())) for _ in range(4)]
        found.append(average_imu(tuple(some)).rate_frd_rad_s.x)
    # 1500 means: 3 standard deviations of a standard deviation are 5.5 %.
    assert np.std(found) == pytest.approx(0.01 / math.sqrt(4e-3), rel=0.055)


def test_everything_off_is_the_truth_itself():
    truth = still_truth()
    found = read(ImuOptions(1e-3, QUIET, QUIET), ImuParameters(), truth)
    assert found.rate_frd_rad_s is truth.rate_frd_rad_s
    assert found.specific_force_frd_m_s2 is truth.specific_force_frd_m_s2
