"""Barometer, magnetometer, airspeed and range finder against physics."""

import math

import pytest

from fieldworthy.core.vec import Mat3, Vec3, quat_from_euler_zyx
from fieldworthy.sensors import airspeed, barometer, magnetometer, rangefinder
from fieldworthy.verify.sensors import still_truth


def pressure(truth, normals=(), first=(), p=None, **effects):
    options = barometer.BarometerOptions(0.02, **{"white": False, **effects})
    p = p or barometer.BarometerParameters()
    memory = barometer.first_barometer(options, p, first)
    return barometer.read_barometer(options, p, truth, memory, normals)[0]


def test_the_barometer_feels_flow_only_where_its_port_does():
    p = barometer.BarometerParameters(
        forward_coefficients=Vec3(0.1, 0.0, 0.0), backward_coefficients=Vec3(-0.05, 0.0, 0.2)
    )
    for flow, expected in (((15.0, 3.0, 0.0), 13.78), ((-15.0, 3.0, 0.0), -6.89), ((0.0, 0.0, -4.0), 1.96)):
        truth = still_truth()
        truth.air_velocity_frd_m_s = Vec3(*flow)
        # 1.15 m of height at 12.01 Pa/m are 13.8 Pa (shared/facts/sensors.md).
        assert pressure(truth, p=p, position_error=True).pressure_pa - 101325.0 == pytest.approx(expected, abs=5e-3)


def test_the_barometer_warms_up_in_thirty_seconds():
    truth = still_truth()
    truth.t_s = 30.0
    found = pressure(truth, warm_up=True)
    assert found.temperature_k - 288.15 == pytest.approx(20.0 * (1.0 - math.exp(-1.0)), abs=1e-9)
    assert found.pressure_pa - 101325.0 == pytest.approx(0.75 * 12.642, abs=1e-3)


def test_barometer_adds_wash_offset_and_whole_steps():
    truth = still_truth()
    truth.rotor_wash_pa = 7.0
    assert pressure(truth, wash=True).pressure_pa == pytest.approx(101332.0)
    assert pressure(truth, first=(-1.0,), offset=True).pressure_pa == pytest.approx(101175.0)
    steps = pressure(truth, quantisation=True, wash=True).pressure_pa / 1.2
    assert steps == pytest.approx(round(steps), abs=1e-6)


def field(truth, p, **effects):
    options = magnetometer.MagnetometerOptions(0.02, **{"white": False, **effects})
    memory = magnetometer.first_magnetometer(options, p, (0.0, 0.0, 1.0) if options.hard_iron else ())
    return tuple(magnetometer.read_magnetometer(options, p, truth, memory, ())[0].field_frd_t)


def test_the_compass_turns_against_the_vehicle():
    p = magnetometer.MagnetometerParameters(Vec3(20e-6, 0.0, 43e-6))
    for heading, expected in ((0, (20, 0)), (90, (0, -20)), (180, (-20, 0)), (270, (0, 20))):
        found = field(still_truth(quat_from_euler_zyx(0.0, 0.0, math.radians(heading))), p)
        assert found == pytest.approx((expected[0] * 1e-6, expected[1] * 1e-6, 43e-6), abs=1e-15)


def test_iron_and_currents():
    p = magnetometer.MagnetometerParameters(
        Vec3(20e-6, 0.0, 43e-6),
        hard_iron_frd_t=Vec3(1e-6, 2e-6, 3e-6),
        hard_iron_sigma_t=0.5e-6,
        soft_iron=Mat3(1.1, 0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0, 0.9),
        motor_frd_t_a=Vec3(0.0, 1e-7, 0.0),
    )
    truth = still_truth()
    truth.current_a = 20.0
    assert field(truth, p, hard_iron=True) == pytest.approx((21e-6, 2e-6, 46.5e-6))
    assert field(truth, p, soft_iron=True) == pytest.approx((22e-6, 1e-6, 38.7e-6))
    # 2 uT of 20 A, which a pair of wires 5 mm apart makes at 0.1 m.
    assert field(truth, p, motor_current=True) == pytest.approx((20e-6, 2e-6, 43e-6))


def pitot(speed, p=None, normals=(), density=1.225, **effects):
    options = airspeed.AirspeedOptions(0.02, **{"white": False, **effects})
    p = p or airspeed.AirspeedParameters()
    truth = still_truth()
    truth.air_velocity_frd_m_s, truth.density_kg_m3 = Vec3(speed, 0.0, 0.0), density
    return airspeed.read_airspeed(options, p, truth, airspeed.first_airspeed(options, p, ()), normals)[0]


def test_pitot_pressure():
    assert pitot(20.0).differential_pa == pytest.approx(245.0)
    assert pitot(20.0).airspeed_m_s == pytest.approx(20.0)
    assert pitot(-20.0).differential_pa == pytest.approx(-245.0)
    assert pitot(0.0).differential_pa == 0.0
    assert 0.0 < pitot(0.0).airspeed_m_s < 1e-4
    # NACA Report 1135, table I: p/p0 = 0.8430 at Mach 0.5; the fourth digit of the table is 0.04 % of q.
    found = pitot(0.5 * 340.294, compressible=True).differential_pa
    assert found == pytest.approx(101325.0 * (1.0 / 0.8430 - 1.0), rel=5e-4)
    # 10 deg of misalignment: cos^2.
    bent = airspeed.AirspeedParameters(axis_frd=Vec3(math.cos(math.radians(10)), 0.0, math.sin(math.radians(10))))
    assert pitot(20.0, bent).airspeed_m_s == pytest.approx(19.696, abs=1e-3)


def test_hoses_lag_by_their_time_constant():
    options, p, truth = airspeed.AirspeedOptions(0.01, white=False, lag=True), airspeed.AirspeedParameters(), None
    truth, memory = still_truth(), airspeed.first_airspeed(options, p, ())
    truth.air_velocity_frd_m_s = Vec3(20.0, 0.0, 0.0)
    for _ in range(2):
        reading, memory = airspeed.read_airspeed(options, p, truth, memory, ())
    assert reading.differential_pa == pytest.approx(245.0 * (1.0 - math.exp(-1.0)), rel=1e-9)


def down(roll, height, normals=(), **changes):
    effects = {"white": False, **{k: changes.pop(k) for k in ("dropout_on", "lever_arm") if k in changes}}
    effects["dropout"] = effects.pop("dropout_on", False)
    options, p = rangefinder.RangefinderOptions(0.02, **effects), rangefinder.RangefinderParameters(**changes)
    truth = still_truth(quat_from_euler_zyx(math.radians(roll), 0.0, 2.0))
    truth.height_above_ground_m = height
    memory = rangefinder.first_rangefinder(options, p, ())
    return rangefinder.read_rangefinder(options, p, truth, memory, normals)[0]


def test_range_grows_with_tilt_and_ends():
    assert (down(0, 10.0).range_m, down(0, 10.0).valid) == (10.0, 1.0)
    assert down(60, 10.0).range_m == pytest.approx(20.0)
    for roll, height in ((80, 10.0), (95, 10.0), (180, 10.0), (0, 0.1), (0, 41.0)):
        reading = down(roll, height)
        assert (reading.valid, reading.range_m) == (0.0, 40.0), (roll, height)
    assert down(0, 10.0, lever_arm=True, pos_frd_m=Vec3(0.3, 0.0, 0.1)).range_m == pytest.approx(9.9)


def test_dropouts_come_as_often_as_asked():
    import numpy as np

    pairs = np.random.default_rng(3).standard_normal((3000, 2))
    lost = sum(down(0, 10.0, tuple(pair), dropout_on=True, dropout=0.2).valid == 0.0 for pair in pairs.tolist())
    assert lost / 3000 == pytest.approx(0.2, abs=3.0 * math.sqrt(0.16 / 3000))
