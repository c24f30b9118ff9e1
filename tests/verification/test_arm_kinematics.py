"""Forward kinematics, Jacobian and manipulability by closed forms, matrix exponentials and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldworthy.arms.catalogue import arm_names, load_arm
from fieldworthy.arms.chain import Arm, Joint, as_matrix
from fieldworthy.arms.kinematics import (
    fk,
    jacobian,
    link_motions,
    manipulability,
    pose_error_size,
    rotation_vector,
    turn_about,
)
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.vec import Mat3, Vec3

LONG, SHORT = 0.7, 0.4


def offset(x, y, z):
    matrix = np.eye(4)
    matrix[:3, 3] = (x, y, z)
    return as_matrix(matrix)


@pytest.fixture
def planar():
    """Two links in the plane: x = L cos a + l cos(a + b)."""
    joints = tuple(Joint(f"j{i}", (0.0, 0.0, 1.0), (x, 0.0, 0.0), -3.0, 3.0, 1.0) for i, x in enumerate((0.0, LONG)))
    return Arm("planar", joints, offset(LONG + SHORT, 0.0, 0.0))


@pytest.fixture
def mixed():
    """A rail, two skew axes and a lift: every kind of joint at odd angles."""
    skew = np.array((1.0, 2.0, -2.0)) / 3.0
    joints = (
        Joint("rail", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), -1.0, 1.0, 1.0, kind="prismatic"),
        Joint("turn", tuple(skew), (0.1, 0.2, 0.3), -3.0, 3.0, 1.0),
        Joint("tilt", (0.0, 0.6, 0.8), (0.5, 0.0, 0.4), -3.0, 3.0, 1.0),
        Joint("lift", (0.8, 0.0, 0.6), (0.0, 0.0, 0.0), -1.0, 1.0, 1.0, kind="prismatic"),
    )
    return Arm("mixed", joints, offset(0.9, 0.1, 0.7))


def exponential(twist):
    """exp of a 4x4 twist by its series, scaled and squared: no formula of the package in it."""
    scaled, result, power = twist / 1024.0, np.eye(4), np.eye(4)
    for k in range(1, 12):
        power = power @ scaled / k
        result = result + power
    for _ in range(10):
        result = result @ result
    return result


def by_exponentials(arm, q):
    pose = np.eye(4)
    for joint, position in zip(arm.joints, q, strict=True):
        twist = np.zeros((4, 4))
        if joint.kind == "prismatic":
            twist[:3, 3] = joint.axis
        else:
            x, y, z = joint.axis
            twist[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
            twist[:3, 3] = -np.cross(joint.axis, joint.point_m)
        pose = pose @ exponential(twist * position)
    return pose @ np.array(arm.home)


def test_planar_arm_by_its_closed_form(planar):
    a, b = 0.3, 1.1
    pose = fk(planar, (a, b))
    expected = (LONG * math.cos(a) + SHORT * math.cos(a + b), LONG * math.sin(a) + SHORT * math.sin(a + b), 0.0)
    assert pose[:3, 3] == pytest.approx(expected, abs=1e-15)
    assert math.atan2(pose[1, 0], pose[0, 0]) == pytest.approx(a + b, abs=1e-15)


def test_planar_manipulability_is_the_area_of_its_links(planar):
    # Yoshikawa 1985, two-joint arm: w = L l |sin b|; here with the rotation of the tool as a third direction left out.
    q = np.array([[0.3, 1.1], [0.0, 0.0], [1.0, -2.0]])
    j = jacobian(planar, q)[:, :2]
    assert np.abs(np.linalg.det(j)) == pytest.approx(LONG * SHORT * np.abs(np.sin(q[:, 1])), abs=1e-15)
    assert manipulability(planar, q)[1] > 0.0  # both joints still turn the tool


@pytest.mark.parametrize("name", arm_names())
def test_catalogue_arms_by_matrix_exponentials(name):
    arm = load_arm(name).with_tool(offset(0.02, -0.03, 0.15))
    q = np.random.default_rng(5).uniform(-2.0, 2.0, (20, arm.dof))
    for row, pose in zip(q, fk(arm, q), strict=True):
        assert np.abs(pose - by_exponentials(arm, row)).max() < 1e-12  # ten squarings
        assert np.abs(fk(arm, row) - pose).max() < 1e-14


def test_mixed_joints_by_matrix_exponentials(mixed):
    q = np.random.default_rng(6).uniform(-0.9, 0.9, (20, 4))
    for row, pose in zip(q, fk(mixed, q), strict=True):
        assert np.abs(pose - by_exponentials(mixed, row)).max() < 1e-12


@pytest.mark.parametrize("name", ["kr10-r1100", "ur5e", "iiwa7-r800"])
def test_jacobian_by_differences(name):
    arm = load_arm(name)
    check_jacobian(arm, np.random.default_rng(7).uniform(-2.0, 2.0, arm.dof))


def test_jacobian_of_mixed_joints(mixed):
    check_jacobian(mixed, np.array((0.2, 0.5, -0.8, 0.3)))


def check_jacobian(arm, q):
    j, h = jacobian(arm, q), 1e-6
    assert np.abs(jacobian(arm, np.stack([q, q])) - j).max() < 1e-14
    for index in range(arm.dof):
        step = h * np.eye(arm.dof)[index]
        before, after = fk(arm, q - step), fk(arm, q + step)
        spin = (after[:3, :3] - before[:3, :3]) / (2.0 * h) @ fk(arm, q)[:3, :3].T
        # Central differences: error h^2 times the third derivative, and rounding over h.
        assert (after[:3, 3] - before[:3, 3]) / (2.0 * h) == pytest.approx(j[:3, index], abs=1e-9)
        assert (spin[2, 1], spin[0, 2], spin[1, 0]) == pytest.approx(j[3:, index], abs=1e-9)


def test_link_motions_carry_every_link(mixed):
    q = np.array((0.2, 0.5, -0.8, 0.3))
    motions = link_motions(mixed, q)
    assert motions.shape == (1, 5, 4, 4)
    assert np.abs(motions[0, 0] - np.eye(4)).max() == 0.0
    assert np.abs(motions[0, 4] @ np.array(mixed.home) - fk(mixed, q)).max() < 1e-15
    # A joint's own axis lies still in the motion of its link: points on it go where the link before brings them.
    for index, joint in enumerate(mixed.joints):
        if joint.kind == "revolute":
            point = np.array((*joint.point_m, 1.0))
            assert motions[0, index] @ point == pytest.approx(motions[0, index + 1] @ point, abs=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, math.pi - 1e-6, math.pi - 1e-12, math.pi])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.6, 0.0, -0.8), (1 / 3, -2 / 3, 2 / 3)])
def test_rotation_vector_is_the_axis_times_the_angle(axis, angle):
    found = np.array(list(rotation_vector(turn_about(axis, angle))))
    expected = np.array(axis) * angle
    if angle > math.pi - 1e-11:  # half a turn either way round is the same rotation, and 1e-12 short of it nearly so
        expected = expected if found @ expected > 0.0 else -expected
    assert found == pytest.approx(expected, abs=1e-11)


def test_pose_error_grows_with_the_angle():
    here = Mat3(*np.eye(3).ravel().tolist())
    for angle in (1e-12, 1e-3, 2.0, math.pi):
        miss = pose_error_size(here, Vec3(0.0, 0.0, 0.0), turn_about((0.0, 1.0, 0.0), angle), Vec3(3.0, 0.0, 4.0))
        # The 2 of |R - 1|_F / sqrt(2) = 2 sin(angle / 2).
        assert miss == pytest.approx((5.0, 2.0 * math.sin(0.5 * angle)), rel=1e-4)


def test_what_is_no_posture_is_refused():
    arm = load_arm("ur5e")
    for wrong, word in (
        ([0.0] * 5, "shape"),
        ([[0.0] * 6, [0.0, math.nan, 0.0, 0.0, 0.0, 0.0]], r"q\[1\].*not finite"),
    ):
        with pytest.raises(FieldworthyError, match=word):
            fk(arm, wrong)


def test_arms_with_wrong_numbers_are_refused():
    good = {"name": "a", "axis": (0.0, 0.0, 1.0), "point_m": (0.0, 0.0, 0.0), "lower": -1.0, "upper": 1.0, "speed": 1.0}
    for change, word in (
        ({"axis": (0.0, 0.0, 2.0)}, "no unit vector"),
        ({"lower": 2.0}, "lower <= upper"),
        ({"speed": 0.0}, "not positive"),
        ({"point_m": (math.nan, 0.0, 0.0)}, "not finite"),
    ):
        with pytest.raises(FieldworthyError, match=word):
            Arm("wrong", (Joint(**(good | change)),), offset(0.0, 0.0, 0.0))
    mirrored = np.diag((1.0, 1.0, -1.0, 1.0))
    with pytest.raises(FieldworthyError, match="no rigid motion"):
        Arm("wrong", (Joint(**good),), as_matrix(mirrored))
    with pytest.raises(FieldworthyError, match="no moving joint"):
        Arm("wrong", (), offset(0.0, 0.0, 0.0))
