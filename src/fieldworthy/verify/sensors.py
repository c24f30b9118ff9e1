"""Sensors of flying robots against closed forms and published numbers."""

from __future__ import annotations

import math

from fieldworthy.core.random import normals as normals_of
from fieldworthy.core.random import stream_key
from fieldworthy.core.vec import Quat, Vec3, quat_from_euler_zyx, quat_identity, rotate
from fieldworthy.sensors.airspeed import AirspeedOptions, AirspeedParameters, first_airspeed, read_airspeed
from fieldworthy.sensors.barometer import BarometerParameters, position_error_pa
from fieldworthy.sensors.delivery import DeliveryOptions, DeliveryParameters, collect, first_mailbox, post
from fieldworthy.sensors.gnss import GnssOptions, GnssParameters, first_gnss, read_gnss
from fieldworthy.sensors.imu import ImuOptions, ImuParameters, first_imu, read_imu
from fieldworthy.sensors.inertial_triad import TriadOptions, TriadParameters
from fieldworthy.sensors.magnetometer import (
    MagnetometerOptions,
    MagnetometerParameters,
    first_magnetometer,
    read_magnetometer,
)
from fieldworthy.sensors.noise_process import gauss_markov_step
from fieldworthy.sensors.odometry import OdometryOptions, OdometryParameters, first_odometry, read_odometry
from fieldworthy.sensors.optical_flow import (
    OpticalFlowOptions,
    OpticalFlowParameters,
    first_optical_flow,
    read_optical_flow,
    watch_optical_flow,
)
from fieldworthy.sensors.rangefinder import (
    RangefinderOptions,
    RangefinderParameters,
    first_rangefinder,
    read_rangefinder,
)
from fieldworthy.sensors.truth import SensorTruth
from fieldworthy.verify.check import Check

_QUIET = TriadOptions(noise=False)
_G = 9.80665


def still_truth(quat: Quat | None = None) -> SensorTruth:
    """A vehicle hanging still at sea level in the standard atmosphere."""
    zero = Vec3(0.0, 0.0, 0.0)
    hung = Vec3(0.0, 0.0, -_G)
    turned = quat or quat_identity()
    return SensorTruth(0.0, zero, turned, zero, zero, zero, hung, zero, 1.225, 101325.0, 288.15, 0.0, 0.0, 0.0, zero)


def _white_sample(rate_hz: float) -> float:
    """Gyroscope reading [deg/s] for a normal number of 1."""
    options = ImuOptions(1.0 / rate_hz, TriadOptions(), _QUIET)
    p = ImuParameters(TriadParameters(noise_density_q_rthz=math.radians(0.005)))
    reading, _ = read_imu(options, p, still_truth(), first_imu(options, p, ()), (1.0, 0.0, 0.0))
    return math.degrees(reading.rate_frd_rad_s.x)


def _bias_step(rate_hz: float) -> float:
    """Step of the gyroscope's bias [deg/s] for a normal number of 1."""
    options = ImuOptions(1.0 / rate_hz, TriadOptions(noise=False, walk=True), _QUIET)
    p = ImuParameters(TriadParameters(walk_q_rts=math.radians(5e-5)))
    reading, _ = read_imu(options, p, still_truth(), first_imu(options, p, ()), (1.0, 0.0, 0.0))
    return math.degrees(reading.rate_frd_rad_s.x)


def _rectified() -> float:
    """Mean shift of a +-2 g accelerometer by 20 m/s2 of vibration along gravity, over whole periods."""
    options = ImuOptions(1e-3, _QUIET, TriadOptions(noise=False, saturation=True), vibration=True)
    p = ImuParameters(accelerometer=TriadParameters(range_q=2.0 * _G))
    truth, memory, total, count = still_truth(), first_imu(options, p, ()), 0.0, 4000
    for k in range(count):
        truth.vibration_frd_m_s2 = Vec3(0.0, 0.0, 20.0 * math.sin(2.0 * math.pi * 107.0 * k / count))
        reading, memory = read_imu(options, p, truth, memory, ())
        total += reading.specific_force_frd_m_s2.z
    return abs(total / count + _G)


def _low_pass_gain() -> float:
    """Amplitude of a 100 Hz sine behind a low-pass of 100 Hz, sampled at 1 kHz."""
    options = ImuOptions(1e-3, _QUIET, TriadOptions(noise=False, low_pass=True))
    p = ImuParameters(accelerometer=TriadParameters(bandwidth_hz=100.0))
    truth, memory, seen = still_truth(), first_imu(options, p, ()), []
    for k in range(600):
        truth.specific_force_frd_m_s2 = Vec3(math.sin(2.0 * math.pi * 0.1 * k + 0.3), 0.0, -_G)
        reading, memory = read_imu(options, p, truth, memory, ())
        seen.append(reading.specific_force_frd_m_s2.x)
    return math.sqrt(2.0 * sum(value * value for value in seen[-200:]) / 200.0)


def _centripetal() -> float:
    """Forward specific force of an accelerometer 0.2 m behind the centre of mass, in a spin of 5 rad/s."""
    options = ImuOptions(1e-3, _QUIET, _QUIET, lever_arm=True)
    p = ImuParameters(pos_frd_m=Vec3(-0.2, 0.0, 0.0))
    truth = still_truth(quat_from_euler_zyx(0.0, 0.0, 0.5 * math.pi))
    truth.rate_frd_rad_s = Vec3(0.0, 0.0, 5.0)
    return float(read_imu(options, p, truth, first_imu(options, p, ()), ())[0].specific_force_frd_m_s2.x)


def _half_within() -> float:
    """Share of 2,000 independent fixes within the CEP50 of 2.5 m."""
    options = GnssOptions(1.0, white=False, velocity_noise=False)
    p = GnssParameters(horizontal_sigma_m=2.5 / 1.17741, correlation_s=0.01)
    key, inside, count = stream_key(3, "verify.gnss"), 0, 2000
    for trial in range(count):
        numbers = normals_of(key, trial, 0, 6)
        fix, _ = read_gnss(options, p, still_truth(), first_gnss(options, p, numbers[:3]), numbers[3:])
        inside += math.hypot(fix.pos_ned_m.x, fix.pos_ned_m.y) < 2.5
    return inside / count


def _pitot(speed_m_s: float, density_kg_m3: float, compressible: bool) -> tuple[float, float]:
    """(differential pressure, indicated airspeed) of a perfect tube."""
    options = AirspeedOptions(0.02, white=False, compressible=compressible)
    p, truth = AirspeedParameters(), still_truth()
    truth.air_velocity_frd_m_s, truth.density_kg_m3 = Vec3(speed_m_s, 0.0, 0.0), density_kg_m3
    reading, _ = read_airspeed(options, p, truth, first_airspeed(options, p, ()), ())
    return float(reading.differential_pa), float(reading.airspeed_m_s)


def _facing_east() -> float:
    """Right component [uT] of a field of 20 uT to the north, nose east."""
    options = MagnetometerOptions(0.02, white=False)
    p = MagnetometerParameters(Vec3(20e-6, 0.0, 43e-6))
    truth = still_truth(quat_from_euler_zyx(0.0, 0.0, 0.5 * math.pi))
    reading, _ = read_magnetometer(options, p, truth, first_magnetometer(options, p, ()), ())
    return float(reading.field_frd_t.y) * 1e6


def _slant_range() -> float:
    """Range [m] at 10 m height with 30 deg of bank."""
    options, p = RangefinderOptions(0.02, white=False), RangefinderParameters()
    truth = still_truth(quat_from_euler_zyx(math.pi / 6.0, 0.0, 1.0))
    truth.height_above_ground_m = 10.0
    return float(read_rangefinder(options, p, truth, first_rangefinder(options, p, ()), ())[0].range_m)


def _flow(vel_frd_m_s: Vec3, rate_frd_rad_s: Vec3, arm_m: float = 0.0) -> tuple[float, float]:
    """Flow [rad] about forward and right in 0.1 s, 2 m high, nose east; the lens `arm_m` ahead."""
    options = OpticalFlowOptions(0.1, white=False, lever_arm=True)
    p = OpticalFlowParameters(pos_frd_m=Vec3(arm_m, 0.0, 0.0))
    truth = still_truth(quat_from_euler_zyx(0.0, 0.0, 0.5 * math.pi))
    truth.height_above_ground_m, truth.rate_frd_rad_s = 2.0, rate_frd_rad_s
    truth.vel_ned_m_s = rotate(truth.quat_ned_from_frd, vel_frd_m_s)
    memory = first_optical_flow(options, p, ())
    for _ in range(50):
        memory = watch_optical_flow(options, p, truth, memory)
    reading, _ = read_optical_flow(options, p, truth, memory, ())
    return float(reading.integrated_x_rad), float(reading.integrated_y_rad)


def _flown_east() -> float:
    """Velocity [m/s] to the body's right by odometry that flies east with the nose north."""
    options = OdometryOptions(0.02, white=False, velocity_noise=False, attitude_noise=False)
    p, truth = OdometryParameters(), still_truth()
    truth.vel_ned_m_s = Vec3(0.0, 2.0, 0.0)
    return float(read_odometry(options, p, truth, first_odometry(options, p, ()), ())[0].vel_frd_m_s.y)


def _drift() -> float:
    """Root mean square [m] of the drift of 500 trials after 25 m of way and 4 s."""
    options = OdometryOptions(
        0.1, white=False, velocity_noise=False, attitude_noise=False, drift=True, travel_drift=True
    )
    p, truth = OdometryParameters(drift_m_rts=0.2, drift_m_rtm=0.06), still_truth()
    truth.vel_ned_m_s = Vec3(6.25, 0.0, 0.0)
    key, total, count = stream_key(3, "verify.odometry"), 0.0, 500
    for trial in range(count):
        memory = first_odometry(options, p, ())
        for tick in range(40):
            reading, memory = read_odometry(options, p, truth, memory, normals_of(key, trial, tick, 3))
        total += sum(float(value) ** 2 for value in reading.pos_ned_m)
    return math.sqrt(total / (3 * count))


def _age_when_heard() -> float:
    """Ticks of 1 ms from measuring to hearing with 120 ms of latency."""
    options, p = DeliveryOptions(slots=1), DeliveryParameters(latency_s=0.12)
    mailbox = post(options, p, first_mailbox(options, 0.0), 7.0, 0.0)
    return float(next(tick for tick in range(1000) if collect(mailbox, tick * 1e-3)[1]))


CHECKS: tuple[Check, ...] = (
    Check("IMU", "white noise of a sample at 250 Hz, N = 0.005 deg/s/rtHz", "N / sqrt(dt), IEEE Std 952-1997",
          0.0791, lambda: _white_sample(250.0), 5e-5, "deg/s"),
    Check("IMU", "white noise of a sample at 1000 Hz", "N / sqrt(dt), IEEE Std 952-1997",
          0.158, lambda: _white_sample(1000.0), 5e-4, "deg/s"),
    Check("IMU", "bias step at 1000 Hz, K = 5e-5 deg/s/rts", "K sqrt(dt), IEEE Std 952-1997",
          1.58e-6, lambda: _bias_step(1000.0), 5e-9, "deg/s"),
    Check("IMU", "saturation at 2 g makes a bias of 20 m/s2 vibration",
          "A/pi (sqrt(1-c^2) - c acos c), c = g/A", 2.2447, _rectified, 1e-3, "m/s2"),
    Check("IMU", "low-pass at its bandwidth", "Butterworth: 1/sqrt(2)", math.sqrt(0.5), _low_pass_gain, 1e-6),
    Check("IMU", "lever arm 0.2 m aft, 5 rad/s, heading 90 deg", "w^2 r", 5.0, _centripetal, 1e-12, "m/s2"),
    Check("sensor noise", "Gauss-Markov process after one correlation time", "exp(-1)",
          0.36788, lambda: gauss_markov_step(1.0, 0.0, 1.0, 60.0, 60.0), 1e-5),
    # 2,000 fixes: three standard deviations of a share of one half are 0.034.
    Check("GNSS", "share of fixes within CEP50", "CEP50 = 1.177 sigma (Rayleigh median)", 0.5, _half_within, 0.034),
    Check("barometer", "position error 10 % of dynamic pressure at 15 m/s", "c rho/2 v^2: 1.15 m",
          13.78, lambda: position_error_pa(BarometerParameters(forward_coefficients=Vec3(0.1, 0.0, 0.0)),
                                           Vec3(15.0, 0.0, 0.0), 1.225), 5e-3, "Pa"),
    Check("magnetometer", "field to the north, nose east, right axis", "geometry", -20.0, _facing_east, 1e-9, "uT"),
    Check("airspeed", "pitot pressure at Mach 0.3", "NACA Report 1135: p/p0 = 0.9395",
          101325.0 * (1.0 / 0.9395 - 1.0), lambda: _pitot(0.3 * 340.294, 1.225, True)[0], 8.0, "Pa"),
    Check("airspeed", "indicated at 20 m/s true, density of 3,000 m", "ISA: sqrt(0.9091/1.225) 20 m/s",
          17.229, lambda: _pitot(20.0, 0.9091, False)[1], 2e-3, "m/s"),
    Check("range finder", "10 m high, 30 deg of bank", "h / cos 30 deg", 11.5470, _slant_range, 1e-4, "m"),
    Check("optical flow", "about right, forward at 3 m/s, 2 m high", "v T / h; MAVLink HIL_OPTICAL_FLOW: positive",
          0.15, lambda: _flow(Vec3(3.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))[1], 1e-12, "rad"),
    Check("optical flow", "about forward, to the right at 3 m/s", "v T / h; MAVLink HIL_OPTICAL_FLOW: negative",
          -0.15, lambda: _flow(Vec3(0.0, 3.0, 0.0), Vec3(0.0, 0.0, 0.0))[0], 1e-12, "rad"),
    Check("optical flow", "about forward, rolling right at 0.5 rad/s", "w T; MAVLink HIL_OPTICAL_FLOW: positive",
          0.05, lambda: _flow(Vec3(0.0, 0.0, 0.0), Vec3(0.5, 0.0, 0.0))[0], 1e-12, "rad"),
    Check("optical flow", "lens 0.5 m ahead, yawing right at 1.2 rad/s", "-w r T / h",
          -0.03, lambda: _flow(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.2), 0.5)[0], 1e-12, "rad"),
    Check("odometry", "flying east at 2 m/s, nose north, right axis", "geometry", 2.0, _flown_east, 1e-12, "m/s"),
    # 1,500 numbers: three standard deviations of a standard deviation are 5.5 %.
    Check("odometry", "drift after 4 s and 25 m, 0.2 m/rts and 0.06 m/rtm", "sqrt(K^2 t + k^2 s)",
          0.5, _drift, 0.0275, "m"),
    Check("delivery", "latency of 120 ms", "tick of measuring + 120", 120.0, _age_when_heard, 0.5, "ticks"),
)  # fmt: skip
