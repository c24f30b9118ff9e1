"""Vectors and rotations: known answers, group laws, and the exponential map at and near zero."""

import math

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float64
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.core.vec import (
    Mat3,
    Quat,
    Vec3,
    cross,
    dot,
    euler_zyx_from_quat,
    mat3_apply,
    mat3_diagonal,
    mat3_from_quat,
    mat3_solve,
    mat3_transpose,
    norm,
    normalize,
    quat_conjugate,
    quat_from_euler_zyx,
    quat_from_rotation_vector,
    quat_from_yaw,
    quat_identity,
    quat_multiply,
    quat_normalize,
    rotate,
    rotate_inverse,
)

number = st.floats(-10.0, 10.0)
vectors = st.builds(Vec3, number, number, number)
rotations = st.builds(quat_from_rotation_vector, st.builds(Vec3, *[st.floats(-1.8, 1.8)] * 3))
few = settings(max_examples=60, deadline=None, derandomize=True)
NOSE, RIGHT, DOWN = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)


def assert_close(a, b, tolerance=1e-13):
    assert list(a) == pytest.approx(list(b), rel=tolerance, abs=tolerance)


def test_yaw_90_deg_points_the_nose_east():
    q = quat_from_euler_zyx(0.0, 0.0, math.pi / 2)
    assert_close(rotate(q, NOSE), Vec3(0.0, 1.0, 0.0))
    assert_close(rotate(q, RIGHT), Vec3(-1.0, 0.0, 0.0))
    assert_close(quat_from_yaw(math.pi / 2), q)


def test_pitch_90_deg_points_the_nose_up():
    assert_close(rotate(quat_from_euler_zyx(0.0, math.pi / 2, 0.0), NOSE), Vec3(0.0, 0.0, -1.0))


def test_roll_90_deg_puts_the_right_wing_down():
    assert_close(rotate(quat_from_euler_zyx(math.pi / 2, 0.0, 0.0), RIGHT), Vec3(0.0, 0.0, 1.0))


def test_yaw_comes_before_pitch_before_roll():
    """Heading east, nose 30 deg up, right wing 90 deg down."""
    q = quat_from_euler_zyx(math.pi / 2, math.radians(30.0), math.pi / 2)
    assert_close(rotate(q, NOSE), Vec3(0.0, math.cos(math.pi / 6), -0.5))
    assert_close(rotate(q, RIGHT), Vec3(0.0, 0.5, math.cos(math.pi / 6)))


def test_hamilton_products():
    i, j, k = Quat(0.0, 1.0, 0.0, 0.0), Quat(0.0, 0.0, 1.0, 0.0), Quat(0.0, 0.0, 0.0, 1.0)
    assert quat_multiply(i, j) == k
    assert quat_multiply(j, k) == i
    assert quat_multiply(k, i) == j
    assert quat_multiply(i, i) == -quat_identity()


@few
@given(rotations, rotations, vectors)
def test_product_rotates_in_turn(q, p, v):
    assert_close(rotate(quat_multiply(q, p), v), rotate(q, rotate(p, v)), 1e-12)


@few
@given(rotations, vectors, vectors)
def test_rotation_keeps_lengths_angles_and_hands(q, a, b):
    ra, rb = rotate(q, a), rotate(q, b)
    assert dot(ra, rb) == pytest.approx(dot(a, b), abs=1e-11)
    assert_close(cross(ra, rb), rotate(q, cross(a, b)), 1e-11)


@few
@given(rotations, vectors)
def test_matrix_and_inverse_do_what_rotate_does(q, v):
    m = mat3_from_quat(q)
    assert_close(mat3_apply(m, v), rotate(q, v), 1e-12)
    assert_close(mat3_apply(mat3_transpose(m), v), rotate_inverse(q, v), 1e-12)
    assert_close(rotate_inverse(q, rotate(q, v)), v, 1e-12)
    assert_close(quat_multiply(q, quat_conjugate(q)), quat_identity(), 1e-14)


@few
@given(st.floats(-3.1, 3.1), st.floats(-1.57, 1.57), st.floats(-3.1, 3.1))
def test_euler_angles_come_back(roll, pitch, yaw):
    assert euler_zyx_from_quat(quat_from_euler_zyx(roll, pitch, yaw)) == pytest.approx((roll, pitch, yaw), abs=1e-9)


@pytest.mark.parametrize("below_deg", [1e-1, 1e-3, 1e-5])
def test_pitch_stays_accurate_near_vertical(below_deg):
    """asin would lose half of the digits here: 1e-5 deg below 90 deg it is off by 1e-9 rad."""
    pitch = math.radians(90.0 - below_deg)
    assert euler_zyx_from_quat(quat_from_euler_zyx(0.0, pitch, 0.3))[1] == pytest.approx(pitch, abs=1e-15)


def test_rotation_vector_known_answers():
    assert quat_from_rotation_vector(Vec3(0.0, 0.0, 0.0)) == quat_identity()
    assert_close(quat_from_rotation_vector(Vec3(0.0, 0.0, math.pi)), Quat(0.0, 0.0, 0.0, 1.0), 1e-15)
    third = 2.0 * math.pi / 3.0 / math.sqrt(3.0)  # 120 deg about (1, 1, 1): x to y to z
    q = quat_from_rotation_vector(Vec3(third, third, third))
    assert_close(q, Quat(0.5, 0.5, 0.5, 0.5), 1e-15)
    assert_close(rotate(q, NOSE), RIGHT, 1e-15)


@pytest.mark.parametrize("angle_rad", [1e-12, 1e-6, 0.01, 0.06, 0.0632, 0.0633, 0.1, 1.0, 3.0, 6.0])
def test_rotation_vector_on_both_sides_of_its_series(angle_rad):
    q = quat_from_rotation_vector(Vec3(0.0, angle_rad, 0.0))
    assert q.w == pytest.approx(math.cos(angle_rad / 2), rel=1e-15)
    assert q.y == pytest.approx(math.sin(angle_rad / 2), rel=1e-15)


def test_rotation_vector_has_a_gradient_at_zero():
    """d(x, y, z)/d(rotation) = 1/2, dw = 0: the half angle."""
    r = Vec3(Float64(0.0), Float64(0.0), Float64(0.0))
    for component in r:
        dr.enable_grad(component)
    q = quat_from_rotation_vector(r)
    dr.backward(q.w + 3.0 * q.x + 5.0 * q.y + 7.0 * q.z)
    assert [dr.grad(component)[0] for component in r] == [1.5, 2.5, 3.5]


@few
@given(vectors, vectors)
def test_vector_algebra(a, b):
    assert a + b - b == pytest.approx(a) or list(a + b - b) == pytest.approx(list(a), abs=1e-14)
    assert dot(cross(a, b), a) == pytest.approx(0.0, abs=1e-11)
    assert norm(cross(a, b)) ** 2 + dot(a, b) ** 2 == pytest.approx(dot(a, a) * dot(b, b), abs=1e-9)  # Lagrange
    assert list(-a) == [-x for x in a]


def test_scaling_from_both_sides():
    v = Vec3(1.0, 2.0, 4.0)
    doubled = Vec3(2.0, 4.0, 8.0)
    assert v * 2.0 == 2.0 * v == np.float64(2.0) * v == v / 0.5 == doubled
    assert isinstance(np.float64(2.0) * v, Vec3)
    assert list((v * Float64([1.0, 3.0])).z) == [4.0, 12.0]
    assert Quat(1.0, 2.0, 3.0, 4.0) * 2.0 == 2.0 * Quat(1.0, 2.0, 3.0, 4.0) == Quat(2.0, 4.0, 6.0, 8.0)


def test_unit_lengths():
    assert norm(normalize(Vec3(3.0, -4.0, 12.0))) == pytest.approx(1.0, abs=1e-15)
    assert_close(normalize(Vec3(0.0, 3.0, 4.0)), Vec3(0.0, 0.6, 0.8), 1e-15)
    assert_close(quat_normalize(Quat(2.0, 2.0, 2.0, 2.0)), Quat(0.5, 0.5, 0.5, 0.5), 1e-15)


def test_solve_undoes_apply():
    m = Mat3(2.0, -0.3, 0.1, -0.3, 3.0, 0.2, 0.1, 0.2, 4.0)
    v = Vec3(1.0, -2.0, 0.5)
    assert_close(mat3_solve(m, mat3_apply(m, v)), v, 1e-14)
    assert mat3_solve(mat3_diagonal(Vec3(2.0, 4.0, 8.0)), Vec3(1.0, 1.0, 1.0)) == Vec3(0.5, 0.25, 0.125)
    a, b = m, Mat3(*range(1, 10))
    assert list((a + b) - b) == pytest.approx(list(a), abs=1e-14)
    assert list(2.0 * a) == [2.0 * x for x in a]
