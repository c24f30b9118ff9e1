"""Faults of sensors strike what they name, when they say."""

import numpy as np
import pytest

from fieldworthy.core.vec import Vec3
from fieldworthy.sensors.gnss import GnssReading
from fieldworthy.sensors.imu import ImuReading
from fieldworthy.sensors.sensor_faults import (
    SensorFault,
    SensorFaultOptions,
    apply_fault,
    fault_normals,
    first_held,
)


def sample(t):
    return ImuReading(Vec3(t, 2.0 * t, 3.0 * t), Vec3(-t, 0.0, -9.8))


def run(options, fault, times, normals=()):
    held, heard = first_held(sample(0.0)), []
    for t in times:
        reading, held = apply_fault(options, fault, sample(t), held, t, normals)
        heard.append(reading)
    return heard


def test_a_freeze_repeats_the_last_good_reading_and_ends():
    heard = run(SensorFaultOptions("freeze"), SensorFault(2.0, 5.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert [r.rate_frd_rad_s.x for r in heard] == [0.0, 1.0, 1.0, 1.0, 1.0, 5.0]
    assert [r.specific_force_frd_m_s2.x for r in heard] == [0.0, -1.0, -1.0, -1.0, -1.0, -5.0]


def test_a_freeze_of_one_axis_leaves_the_others():
    heard = run(SensorFaultOptions("freeze", ("rate_frd_rad_s.y",)), SensorFault(2.0, 9.0), [1.0, 2.0, 3.0])
    assert [tuple(r.rate_frd_rad_s) for r in heard] == [(1.0, 2.0, 3.0), (2.0, 2.0, 6.0), (3.0, 2.0, 9.0)]


def test_a_bias_steps_in_and_out():
    options = SensorFaultOptions("bias", ("rate_frd_rad_s.x",))
    heard = run(options, SensorFault(1.0, 3.0, 0.1), [0.0, 1.0, 2.0, 3.0])
    assert [r.rate_frd_rad_s.x for r in heard] == pytest.approx([0.0, 1.1, 2.1, 3.0])
    assert [r.rate_frd_rad_s.y for r in heard] == [0.0, 2.0, 4.0, 6.0]


def test_noise_is_added_to_all_of_a_part_with_its_size():
    options = SensorFaultOptions("noise", ("specific_force_frd_m_s2",))
    assert fault_normals(options, sample(0.0)) == 3
    fault, rng = SensorFault(0.0, 1e9, 0.5), np.random.default_rng(4)
    seen = [
        tuple(run(options, fault, [1.0], tuple(rng.standard_normal(3).tolist()))[0].specific_force_frd_m_s2)
        for _ in range(2000)
    ]
    assert np.std(seen, axis=0) == pytest.approx([0.5] * 3, rel=0.05)
    assert np.mean(seen, axis=0) == pytest.approx([-1.0, 0.0, -9.8], abs=0.04)


def test_a_lost_receiver_has_no_fix():
    zero = Vec3(0.0, 0.0, 0.0)
    options, fault = SensorFaultOptions("loss", ("fix",)), SensorFault(10.0, 20.0)
    fixes = [
        apply_fault(options, fault, GnssReading(zero, zero, 3.0, 1.0, 1.0), None, t)[0].fix for t in (9.9, 10.0, 20.0)
    ]
    assert fixes == [3.0, 0.0, 3.0]


def test_an_unknown_number_is_told_with_the_valid_ones():
    with pytest.raises(ValueError, match=r"rate_frd_rad_s\.x"):
        run(SensorFaultOptions("bias", ("rate.x",)), SensorFault(0.0, 1.0), [0.0])
