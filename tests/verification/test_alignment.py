"""What a filter knows after standing still, against the truth that its sensors were made from."""

from __future__ import annotations

import math

import pytest

from fieldworthy.control.alignment import aligned
from fieldworthy.core.vec import Vec3, euler_zyx_from_quat, quat_from_euler_zyx, rotate, rotate_inverse

G = 9.80665
HERE, STILL = Vec3(1.0, 2.0, -3.0), Vec3(0.0, 0.0, 0.0)


@pytest.mark.parametrize("angles", [(0.0, 0.0, 0.0), (0.1, -0.2, 2.5), (-0.3, 0.25, -3.0)])
def test_good_sensors_give_the_true_attitude(angles: tuple[float, float, float]) -> None:
    force = rotate_inverse(quat_from_euler_zyx(*angles), Vec3(0.0, 0.0, -G))
    state = aligned(HERE, STILL, angles[2], STILL, force, G)
    assert euler_zyx_from_quat(state.quat_ned_from_frd) == pytest.approx(angles, abs=1e-12)
    assert state.down_bias_m_s2 == pytest.approx(0.0, abs=1e-12)
    assert state.pos_ned_m == HERE


def test_biases_are_learnt_and_nothing_seems_to_accelerate() -> None:
    """With the attitude it has found, the readings at rest give no acceleration and no turn."""
    rate = Vec3(0.01, -0.02, 0.005)
    force = Vec3(0.2, -0.1, -G + 0.15)
    state = aligned(HERE, STILL, 1.0, rate, force, G)
    assert state.gyro_bias_frd_rad_s == rate
    felt = rotate(state.quat_ned_from_frd, force)
    assert tuple(felt) == pytest.approx((0.0, 0.0, -G - state.down_bias_m_s2), abs=1e-12)


def test_a_level_bias_leans_the_attitude_by_its_share_of_gravity() -> None:
    state = aligned(HERE, STILL, 0.0, STILL, Vec3(0.1, 0.0, -G), G)
    roll, pitch, heading = euler_zyx_from_quat(state.quat_ned_from_frd)
    assert (roll, heading) == (0.0, 0.0)
    assert pitch == pytest.approx(math.atan2(0.1, G), abs=1e-12)


def test_a_broken_gyroscope_is_not_believed_without_bound() -> None:
    state = aligned(HERE, STILL, 0.0, Vec3(3.0, -3.0, 0.0), Vec3(0.0, 0.0, -G), G)
    assert state.gyro_bias_frd_rad_s == Vec3(0.1, -0.1, 0.0)
