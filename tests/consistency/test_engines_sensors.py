"""Sensor laws with every effect on: floats, lanes and symbols answer alike; catalogue devices read."""

import pathlib

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.catalog import load_entry
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Mat3, Quat, Vec3, quat_from_euler_zyx
from fieldworthy.sensors import (
    airspeed,
    barometer,
    delivery,
    devices,
    gnss,
    imu,
    magnetometer,
    odometry,
    optical_flow,
    rangefinder,
)
from fieldworthy.sensors.inertial_triad import TriadOptions, TriadParameters
from fieldworthy.sensors.noise_process import DECADES_S
from fieldworthy.sensors.sensor_faults import SensorFault, SensorFaultOptions, apply_fault
from fieldworthy.sensors.truth import SensorTruth

CATALOG = pathlib.Path(devices.__file__).parents[1] / "catalog"
LANES = 64
ALL = TriadOptions(*[True] * 2, DECADES_S, *[True] * 6, quantisation=False)
TRIAD = TriadParameters(0.01, 0.001, 0.02, 0.1, 0.01, 0.02, 1e-3, 90.0, 9.0, 1e-3)
TURN = quat_from_euler_zyx(0.1, -0.2, 0.3)
ARM = Vec3(0.1, -0.05, 0.02)


def truth_of(x):
    return SensorTruth(
        10.0 + 3.0 * x[0], Vec3(x[1], x[2], x[3]), quat_from_euler_zyx(x[0], 0.5 * x[1], x[2]), Vec3(x[3], x[4], x[5]),
        Vec3(x[6], x[7], x[8]), Vec3(x[9], x[0], x[1]), Vec3(x[2], x[3], -9.8 + x[4]), Vec3(20.0 * x[5], x[6], x[7]),
        1.2 + 0.1 * x[8], 1e5 + 100.0 * x[9], 288.0 + x[0], 10.0 + x[1], 10.0 + x[2], x[3], Vec3(x[4], x[5], x[6]),
    )  # fmt: skip


def law_of(module, kind, options, p):
    def law(x):
        first = getattr(module, f"first_{kind}_normals")(options)
        count = getattr(module, f"{kind}_normals")(options)
        numbers = [x[k % len(x)] * (1.0 + 0.1 * k) for k in range(first + count)]
        memory = getattr(module, f"first_{kind}")(options, p, tuple(numbers[:first]))
        watch = getattr(module, f"watch_{kind}", None)
        for _ in range(2):
            memory = memory if watch is None else watch(options, p, truth_of(x), memory)
            reading, memory = getattr(module, f"read_{kind}")(options, p, truth_of(x), memory, tuple(numbers[first:]))
        return reading, memory

    return law


def delivered(x):
    options = delivery.DeliveryOptions(slots=2, jitter=True, dropout=True, clock=True)
    p = delivery.DeliveryParameters(0.1, 0.05, 0.2, 1e-5, 0.3)
    mailbox = delivery.first_mailbox(options, Vec3(0.0, 0.0, 0.0))
    for k in range(2):
        uniforms = (0.5 + 0.3 * x[k], 0.5 + 0.3 * x[k + 2])
        mailbox = delivery.post(
            options, p, mailbox, Vec3(x[4], x[5], x[9]), 1.0 + k + 0.1 * x[8], x[6] > -0.5, uniforms
        )
    return delivery.collect(mailbox, 2.3 + 0.1 * x[7])[0]


def faulty(x):
    reading = Vec3(x[0], x[1], x[2])
    fault = SensorFault(x[3], x[3] + 1.0, x[4])
    return tuple(
        apply_fault(SensorFaultOptions(kind), fault, reading, Vec3(x[5], x[6], x[7]), x[8], (x[9], x[0], x[1]))
        for kind in ("freeze", "bias", "noise", "loss")
    )


LAWS = {
    "imu": law_of(imu, "imu", imu.ImuOptions(1e-3, ALL, ALL, *[True] * 5), imu.ImuParameters(
        TRIAD, TRIAD, ARM, TURN, 1e-3, 2e-3, 10.0)),
    "gnss": law_of(gnss, "gnss", gnss.GnssOptions(0.2, *[True] * 7),
                   gnss.GnssParameters(outage_start_s=11.0, outage_end_s=12.0, float_after_s=0.1, pos_frd_m=ARM)),
    "barometer": law_of(barometer, "barometer", barometer.BarometerOptions(0.02, *[True] * 6),
                        barometer.BarometerParameters(forward_coefficients=ARM)),
    "magnetometer": law_of(magnetometer, "magnetometer", magnetometer.MagnetometerOptions(0.02, *[True] * 6),
                           magnetometer.MagnetometerParameters(
                               Vec3(0.2, 0.01, 0.4), 0.01, ARM, 0.02, Mat3(1.1, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2, 0.9),
                               ARM, TURN, 0.6)),
    "airspeed": law_of(airspeed, "airspeed", airspeed.AirspeedOptions(0.02, *[True] * 7),
                       airspeed.AirspeedParameters(temperature_pa_k=0.5, pos_frd_m=ARM)),
    "rangefinder": law_of(rangefinder, "rangefinder", rangefinder.RangefinderOptions(0.02, *[True] * 3),
                          rangefinder.RangefinderParameters(dropout=0.3, pos_frd_m=ARM)),
    # No rounding here: engines that differ in the last digit may round to different sides.
    "optical_flow": law_of(optical_flow, "optical_flow", optical_flow.OpticalFlowOptions(
        0.02, *[True] * 5, quantisation=False, gyro=True, gyro_noise=True, gyro_bias=True, distance=True,
        distance_noise=True), optical_flow.OpticalFlowParameters(
            range_max_m=14.0, fade=0.6, noise_rad_s=0.1, poor_noise_rad_s=0.5, rate_max_rad_s=0.7, pos_frd_m=ARM,
            gyro_noise_rad_s_rthz=0.01, gyro_turn_on_rad_s=0.02, distance_max_m=12.0, distance_noise_m=0.1)),
    "odometry": law_of(odometry, "odometry", odometry.OdometryOptions(0.02, *[True] * 7), odometry.OdometryParameters(
        0.1, 0.2, 0.05, 0.02, 0.03, 0.01, 0.1, 0.02, ARM)),
    "delivery": delivered,
    "faults": faulty,
}  # fmt: skip


def seen(outputs):
    return [value for value in leaves(outputs) if value is not None]


@pytest.mark.parametrize("name", LAWS)
def test_engines_agree(name):
    inputs = np.random.default_rng(8).uniform(-1.0, 1.0, size=(10, LANES))

    def law(x):
        return seen(LAWS[name](x))

    expected = as_floats(law, inputs)
    assert np.isfinite(expected).all()
    # The float engine has expm1 where lanes have a continued fraction, good to 3e-10.
    assert as_lanes(law, inputs, Float64) == pytest.approx(expected, rel=2e-9, abs=2e-9)
    assert as_symbols(law, inputs) == pytest.approx(expected, rel=2e-9, abs=2e-9)


@pytest.mark.parametrize("path", sorted((CATALOG / "imus").glob("*.toml")), ids=lambda path: path.stem)
def test_catalogue_units_read_the_rest_they_are_in(path):
    options, p = devices.imu_device(load_entry("imu", str(path)).values, 1e-3)
    zeros = (0.0,) * imu.first_imu_normals(options)
    truth = truth_of([0.0] * 10)
    truth.temperature_k = imu.REFERENCE_TEMPERATURE_K - p.self_heating_k
    reading, _ = imu.read_imu(options, p, truth, imu.first_imu(options, p, zeros), (0.0,) * imu.imu_normals(options))
    # Without noise and drawn errors only quantisation and the difference between 9.80665 and 9.8 are left.
    assert tuple(reading.specific_force_frd_m_s2) == pytest.approx((0.0, 0.0, -9.8), abs=0.01)
    # Leaning with gravity: at most 0.1 deg/s/g; one digit of 2000 deg/s is 0.06 deg/s.
    assert tuple(reading.rate_frd_rad_s) == pytest.approx((0.0, 0.0, 0.0), abs=np.radians(0.14))


DEVICES = {
    "gnss": ("gnss", gnss, lambda v: devices.gnss_device(v, 0.2)),
    "barometer": ("barometers", barometer, lambda v: devices.barometer_device(v, 0.02)),
    "magnetometer": ("magnetometers", magnetometer, lambda v: devices.magnetometer_device(
        v, 0.02, Vec3(20e-6, 1e-6, 43e-6))),
    "airspeed": ("airspeeds", airspeed, lambda v: devices.airspeed_device(v, 0.02)),
    "rangefinder": ("rangefinders", rangefinder, lambda v: devices.rangefinder_device(v, 0.02)),
    "optical_flow": ("optical_flows", optical_flow, lambda v: devices.optical_flow_device(v, 0.02)),
    "odometry": ("odometries", odometry, lambda v: devices.odometry_device(v, 0.02)),
}  # fmt: skip


@pytest.mark.parametrize("kind", DEVICES)
def test_catalogue_devices_can_be_read(kind):
    folder, module, make = DEVICES[kind]
    paths = sorted((CATALOG / folder).glob("*.toml"))
    assert len(paths) >= 2
    for path in paths:
        options, p = make(load_entry(kind, str(path)).values)
        assert options.white, path
        reading, _ = law_of(module, kind, options, p)([0.1] * 10)
        assert np.isfinite(np.array(seen(reading), dtype=float)).all()


def test_a_rotation_of_the_mounting_is_read_in_degrees():
    options, p = devices.imu_device({"mounting_deg": [180.0, 0.0, 0.0]}, 1e-3)
    assert options.mounting
    assert isinstance(p.quat_frd_from_sensor, Quat)
    assert abs(p.quat_frd_from_sensor.z) == pytest.approx(1.0)
