"""Orientations as controllers write them: known answers worked out by hand, published examples, locks and limits.

Angles that do not commute are used throughout, so that an order the wrong way round cannot pass.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.arms.orientation import BASES, CONVENTIONS, matrix_of, other_from_source, pose_of, values_of
from fieldworthy.core import frames
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.vec import Quat, Vec3

QUARTER, HALF = math.pi / 2, math.pi
ROUNDING = 1e-14
"""A handful of products of numbers up to 1 in 64 bits."""

# Quarter turns worked out with a die: the columns are where x, y and z of the tool point.
# Rz(90) Ry(90): z first takes x to y; in the turned axes, y' (= -x) then takes x' to -z. So x -> -z, y -> -x, z -> y.
Z_THEN_NEW_Y = np.array([[0, -1, 0], [0, 0, 1], [-1, 0, 0]])
# Rz(90) Rx(90): x -> y; y' (= -x) turns about x' (= y) to z; z' turns to x. So x -> y, y -> z, z -> x: a cycle.
CYCLE = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
# Rx(90) Ry(90): y goes to z, and about that new y (= z) x goes to y. So x -> y, y -> z, z -> x: the same cycle.


@pytest.mark.parametrize(
    ("convention", "values", "expected"),
    [
        ("euler_zyx", (QUARTER, QUARTER, 0.0), Z_THEN_NEW_Y),
        ("kuka_abc", (QUARTER, QUARTER, 0.0), Z_THEN_NEW_Y),
        ("rpy", (0.0, QUARTER, QUARTER), Z_THEN_NEW_Y),
        ("fanuc_wpr", (0.0, QUARTER, QUARTER), Z_THEN_NEW_Y),
        ("euler_zyx", (QUARTER, 0.0, QUARTER), CYCLE),
        ("kuka_abc", (QUARTER, 0.0, QUARTER), CYCLE),
        ("rpy", (QUARTER, 0.0, QUARTER), CYCLE),
        ("fanuc_wpr", (QUARTER, 0.0, QUARTER), CYCLE),
        ("euler_xyz", (QUARTER, QUARTER, 0.0), CYCLE),
        # The cycle x -> y -> z -> x is a third of a turn about the space diagonal.
        ("ur_rotvec", tuple([2.0 * HALF / 3.0 / math.sqrt(3.0)] * 3), CYCLE),
        ("quat_wxyz", (0.5, 0.5, 0.5, 0.5), CYCLE),
        ("quat_xyzw", (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])),
        # The tool's x against the z of the frame, y kept, z along x: the worked example of `orient` in ABB's RAPID
        # reference manual, 0.707107, 0, 0.707107, 0.
        ("abb_quat", (0.707107, 0.0, 0.707107, 0.0), np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])),
    ],
)
def test_known_answers(convention, values, expected):
    tolerance = 2e-6 if convention == "abb_quat" else ROUNDING  # six decimals in the manual
    assert matrix_of(convention, values) == pytest.approx(expected, abs=tolerance)
    assert matrix_of(convention, values_of(convention, expected.astype(float))) == pytest.approx(expected, abs=ROUNDING)


def test_the_matrix_of_craig():
    """Craig, Introduction to Robotics, eq. 2.64: fixed angles X-Y-Z, written out in sines and cosines."""
    gamma, beta, alpha = 0.3, -0.7, 1.9
    ca, sa, cb, sb = math.cos(alpha), math.sin(alpha), math.cos(beta), math.sin(beta)
    cg, sg = math.cos(gamma), math.sin(gamma)
    expected = [
        [ca * cb, ca * sb * sg - sa * cg, ca * sb * cg + sa * sg],
        [sa * cb, sa * sb * sg + ca * cg, sa * sb * cg - ca * sg],
        [-sb, cb * sg, cb * cg],
    ]
    for convention, values in (
        ("rpy", (gamma, beta, alpha)),
        ("fanuc_wpr", (gamma, beta, alpha)),
        ("euler_zyx", (alpha, beta, gamma)),
        ("kuka_abc", (alpha, beta, gamma)),
    ):
        assert matrix_of(convention, values) == pytest.approx(np.array(expected), abs=ROUNDING)
        assert values_of(convention, expected) == pytest.approx(values, abs=ROUNDING)


def test_moving_x_y_z_written_out():
    """Rx(a) Ry(b) Rz(c): its first row is (cb cc, -cb sc, sb) and its last column (sb, -sa cb, ca cb)."""
    a, b, c = 0.4, 0.9, -2.0
    matrix = matrix_of("euler_xyz", (a, b, c))
    assert matrix[0] == pytest.approx(
        [math.cos(b) * math.cos(c), -math.cos(b) * math.sin(c), math.sin(b)], abs=ROUNDING
    )
    assert matrix[:, 2] == pytest.approx(
        [math.sin(b), -math.sin(a) * math.cos(b), math.cos(a) * math.cos(b)], abs=ROUNDING
    )
    assert values_of("euler_xyz", matrix) == pytest.approx([a, b, c], abs=ROUNDING)


def test_a_tool_that_points_down():
    """Half a turn about x points z down and keeps x: KUKA writes it 0, 0, 180, FANUC 180, 0, 0 and UR (pi, 0, 0)."""
    down = np.diag([1.0, -1.0, -1.0])
    assert matrix_of("kuka_abc", (0, 0, HALF)) == pytest.approx(down, abs=ROUNDING)
    assert matrix_of("fanuc_wpr", (HALF, 0, 0)) == pytest.approx(down, abs=ROUNDING)
    assert matrix_of("ur_rotvec", (HALF, 0, 0)) == pytest.approx(down, abs=ROUNDING)
    assert values_of("ur_rotvec", down) == pytest.approx([HALF, 0, 0], abs=ROUNDING)
    assert values_of("abb_quat", down) == pytest.approx([0, 1, 0, 0], abs=ROUNDING)


@pytest.mark.parametrize("convention", ["euler_zyx", "euler_xyz", "rpy", "kuka_abc", "fanuc_wpr"])
@pytest.mark.parametrize("middle", [QUARTER, -QUARTER])
@pytest.mark.parametrize("beside", [0.0, 1e-12, 1e-9, 1e-7, 1e-4])
def test_gimbal_lock_makes_the_same_matrix(convention, middle, beside):
    first, last = 0.8, -1.3
    matrix = matrix_of(convention, (first, middle - math.copysign(beside, middle), last))
    values = values_of(convention, matrix)
    assert np.isfinite(values).all()
    # Below LOCK = 1e-10 the angle about z is set to 0, which costs that much.
    assert matrix_of(convention, values) == pytest.approx(matrix, abs=2e-10 if beside < 1e-10 else ROUNDING)
    if beside == 0.0:
        about_z = {"euler_zyx": 0, "kuka_abc": 0}.get(convention, 2)
        assert values[about_z] == 0.0


@pytest.mark.parametrize("angle", [1e-300, 1e-16, 1e-9, 1e-6, 1e-3, 1.0, 3.0, HALF - 1e-6, HALF - 1e-12, HALF])
def test_rotation_vectors_from_nothing_to_half_a_turn(angle):
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    back = values_of("ur_rotvec", matrix_of("ur_rotvec", angle * axis))
    sign = np.sign(back @ axis) if angle == HALF else 1.0  # both signs are right at half a turn
    # A matrix near 1 keeps an angle to the bits of 1, so the error does not shrink with the angle.
    assert sign * back == pytest.approx(angle * axis, abs=1e-15 if angle < 0.1 else 4e-15)


def test_more_than_half_a_turn_comes_back_the_short_way():
    back = values_of("ur_rotvec", matrix_of("ur_rotvec", (0.0, 0.0, 1.5 * HALF)))
    assert back == pytest.approx([0.0, 0.0, -QUARTER], abs=ROUNDING)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_every_convention_says_the_same_rotation(quat):
    unit = np.array(quat) / np.linalg.norm(quat)
    w, x, y, z = unit
    # A vector turned by a quaternion: v + 2 w (u x v) + 2 u x (u x v).
    u = np.array([x, y, z])
    expected = np.array([v + 2 * w * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v)) for v in np.eye(3)]).T
    for convention in CONVENTIONS:
        values = values_of(convention, expected)
        assert matrix_of(convention, values) == pytest.approx(expected, abs=3e-10)


def test_a_batch_is_its_rows():
    angles = np.linspace(-3.0, 3.0, 21).reshape(7, 3)
    for convention in CONVENTIONS:
        if "quat" in convention:
            continue
        matrices = matrix_of(convention, angles)
        assert matrices.shape == (7, 3, 3)
        rows = np.array([matrix_of(convention, row) for row in angles])
        assert np.array_equal(matrices, rows)
        for other in CONVENTIONS:
            alone = np.array([values_of(other, row) for row in rows])
            assert np.array_equal(values_of(other, matrices), alone)
    poses = pose_of(np.ones((7, 3)), "rpy", angles)
    assert poses.shape == (7, 4, 4)
    assert np.array_equal(poses[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (7, 1)))
    assert matrix_of("rpy", np.zeros((0, 3))).shape == (0, 3, 3)
    assert values_of("quat_wxyz", np.zeros((0, 3, 3))).shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: matrix_of("euler", (0, 0, 0)), "'euler' is not known; valid: euler_zyx"),
        (lambda: values_of("abc", np.eye(3)), "'abc' is not known"),
        (lambda: matrix_of("quat_wxyz", (1, 0, 0)), "shape (3,); valid: (4,)"),
        (lambda: matrix_of("rpy", (1, 0, 0, 0)), "shape (4,); valid: (3,)"),
        (lambda: matrix_of("rpy", (math.nan, 0, 0)), "not finite"),
        (lambda: matrix_of("abb_quat", (0.7, 0, 0, 0.7)), "length 0.989949; valid: 1"),
        (lambda: matrix_of("quat_xyzw", [(0, 0, 0, 1), (0, 0, 0, 0)]), "length 0; valid: 1"),
        (lambda: values_of("rpy", np.diag([1.0, 1.0, -1.0])), "no rotation"),
        (lambda: values_of("rpy", np.eye(3) * 1.001), "no rotation"),
        (lambda: values_of("rpy", np.full((3, 3), math.inf)), "not finite"),
        (lambda: values_of("rpy", np.eye(4)), "shape (4, 4)"),
        (lambda: pose_of((0, 0), "rpy", (0, 0, 0)), "position of shape (2,)"),
        (lambda: pose_of((0, 0, math.inf), "rpy", (0, 0, 0)), "position has a value that is not finite"),
        (lambda: other_from_source("blender", np.eye(4)), "'blender' are not known; valid: ros, unity"),
        (lambda: other_from_source(np.ones((3, 3)), np.eye(4)), "no change of axes"),
        (lambda: other_from_source("ros", np.eye(3)), "shape (3, 3)"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(FieldworthyError) as caught:
        call()
    assert told in str(caught.value)


def test_a_quaternion_of_three_decimals_is_scaled():
    matrix = matrix_of("abb_quat", (0.707, 0.0, 0.0, 0.707))
    assert matrix == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=ROUNDING)


def test_unity_from_the_axes_of_ros():
    """Forward is Unity's z, left is its -x, up its y. Vec3 and matrices agree with the axes of drones and boats."""
    assert frames.unity_from_flu(Vec3(1.0, 2.0, 3.0)) == Vec3(-2.0, 3.0, 1.0)
    assert frames.flu_from_unity(Vec3(-2.0, 3.0, 1.0)) == Vec3(1.0, 2.0, 3.0)
    assert frames.unity_from_flu(frames.flu_from_frd(Vec3(1.0, 2.0, 3.0))) == frames.unity_from_frd(Vec3(1.0, 2.0, 3.0))
    assert np.array_equal(BASES["unity"], [[0, -1, 0], [0, 0, 1], [1, 0, 0]])
    assert np.linalg.det(BASES["unity"]) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("convention_values", "unity_wxyz"),
    [
        # Unity counts turns left-handed: a turn to the left is a negative one about its y.
        ((0.0, 0.0, QUARTER), (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)),
        # Nose down (about left, positive) is a positive turn about Unity's x, as Transform.Rotate(90, 0, 0) looks down.
        ((0.0, QUARTER, 0.0), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)),
        # Rolling right (about forward, positive) is a negative turn about Unity's z.
        ((QUARTER, 0.0, 0.0), (math.sqrt(0.5), 0.0, 0.0, -math.sqrt(0.5))),
    ],
)
def test_turns_in_unity(convention_values, unity_wxyz):
    pose = pose_of((1.0, 2.0, 3.0), "rpy", convention_values)
    seen = other_from_source("unity", pose)
    assert seen[:3, 3] == pytest.approx([-2.0, 3.0, 1.0], abs=ROUNDING)
    assert values_of("quat_wxyz", seen[:3, :3]) == pytest.approx(unity_wxyz, abs=ROUNDING)
    # Forward of the tool is where Unity's z axis of the object points.
    forward = frames.unity_from_flu(Vec3(*pose[:3, 0].tolist()))
    assert seen[:3, 2] == pytest.approx(list(forward), abs=ROUNDING)


def test_unity_agrees_with_the_quaternions_of_vehicles():
    """`quat_unity_from_ned` is tested by known answers of its own; a body in FLU must be shown in the same way."""
    w, x, y, z = (np.array([0.5, -0.1, 0.7, 0.3]) / np.linalg.norm([0.5, -0.1, 0.7, 0.3])).tolist()
    # The same turn, once with forward-right-down axes and once with forward-left-up ones.
    expected = list(frames.quat_unity_from_ned(Quat(w, x, y, z)))
    pose = pose_of((0.0, 0.0, 0.0), "quat_wxyz", (w, x, -y, -z))
    got = values_of("quat_wxyz", other_from_source("unity", pose)[:3, :3])
    assert got * np.sign(got @ np.array(expected)) == pytest.approx(expected, abs=ROUNDING)


def test_the_axes_of_ros_change_nothing_and_changes_chain():
    pose = pose_of((0.1, -0.2, 0.3), "kuka_abc", (0.3, 0.4, 0.5))
    assert np.array_equal(other_from_source("ros", pose), pose)
    step = pose_of((0.0, 0.5, 0.0), "rpy", (1.0, 0.2, 0.1))
    together = other_from_source("unity", pose @ step)
    assert together == pytest.approx(other_from_source("unity", pose) @ other_from_source("unity", step), abs=ROUNDING)
    assert other_from_source("unity", np.array([pose, step])).shape == (2, 4, 4)
    assert other_from_source(BASES["unity"].T, together) == pytest.approx(pose @ step, abs=ROUNDING)
