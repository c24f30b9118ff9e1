"""Vectors, quaternions and 3x3 matrices whose components are scalars of any engine.

Quaternions are Hamilton's, in the order w, x, y, z; `rotate(quat_a_from_b, v_b)` is v_a. The classes carry no frame:
names do (`vel_ned_m_s`, `quat_ned_from_frd`). They are plain mutable dataclasses because Dr.Jit loops write into
the fields of their state; treat them as values all the same and make new ones.

Write the vector on the left of a Dr.Jit scalar: `v * s` works on every engine, `s * v` raises inside Dr.Jit, which
refuses operands it does not know. `__array_ufunc__ = None` makes a NumPy scalar on the left give way instead of
making an array of the vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fieldworthy.core.lanes import Scalar, atan2, cos, maximum, select, sin, sqrt


@dataclass(slots=True)
class Vec3:
    """Three components; unit and frame are in the name of the variable."""

    x: Scalar
    y: Scalar
    z: Scalar
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vec3:
        return Vec3(self.x * factor, self.y * factor, self.z * factor)

    def __rmul__(self, factor: Scalar) -> Vec3:
        return self.__mul__(factor)

    def __truediv__(self, divisor: Scalar) -> Vec3:
        return Vec3(self.x / divisor, self.y / divisor, self.z / divisor)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))


@dataclass(slots=True)
class Quat:
    """w + x i + y j + z k; a rotation when its norm is one."""

    w: Scalar
    x: Scalar
    y: Scalar
    z: Scalar
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: Quat) -> Quat:
        return Quat(self.w + other.w, self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Quat) -> Quat:
        return Quat(self.w - other.w, self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Quat:
        return Quat(-self.w, -self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Quat:
        """Scaled by a scalar; the product of rotations is `quat_multiply`."""
        return Quat(self.w * factor, self.x * factor, self.y * factor, self.z * factor)

    def __rmul__(self, factor: Scalar) -> Quat:
        return self.__mul__(factor)

    def __truediv__(self, divisor: Scalar) -> Quat:
        return Quat(self.w / divisor, self.x / divisor, self.y / divisor, self.z / divisor)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.w, self.x, self.y, self.z))


@dataclass(slots=True)
class Mat3:
    """Row by row: `xy` is row x, column y."""

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yx: Scalar
    yy: Scalar
    yz: Scalar
    zx: Scalar
    zy: Scalar
    zz: Scalar
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: Mat3) -> Mat3:
        return Mat3(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Mat3) -> Mat3:
        return Mat3(*(a - b for a, b in zip(self, other, strict=True)))

    def __mul__(self, factor: Scalar) -> Mat3:
        return Mat3(*(a * factor for a in self))

    def __rmul__(self, factor: Scalar) -> Mat3:
        return self.__mul__(factor)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.xz, self.yx, self.yy, self.yz, self.zx, self.zy, self.zz))


def dot(a: Vec3, b: Vec3) -> Scalar:
    """Scalar product."""
    return a.x * b.x + a.y * b.y + a.z * b.z


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Vector product, right-handed."""
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def norm(v: Vec3) -> Scalar:
    """Length. Its gradient at zero is not defined (NaN with automatic differentiation)."""
    return sqrt(dot(v, v))


def normalize(v: Vec3) -> Vec3:
    """Unit vector of v; NaN (or an error with floats) for the zero vector."""
    unit: Vec3 = v / norm(v)
    return unit


def quat_identity() -> Quat:
    """No rotation."""
    return Quat(1.0, 0.0, 0.0, 0.0)


def quat_multiply(a: Quat, b: Quat) -> Quat:
    """Hamilton product: quat_a_from_c = quat_multiply(quat_a_from_b, quat_b_from_c)."""
    return Quat(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
    )


def quat_conjugate(q: Quat) -> Quat:
    """The inverse rotation of a unit quaternion: quat_b_from_a of quat_a_from_b."""
    return Quat(q.w, -q.x, -q.y, -q.z)


def quat_normalize(q: Quat) -> Quat:
    """q scaled to norm one."""
    unit: Quat = q / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    return unit


def rotate(quat_a_from_b: Quat, v_b: Vec3) -> Vec3:
    """v in frame a.

    Equation: v + 2 w (u x v) + 2 u x (u x v), u = (x, y, z)      Limits: unit quaternion
    """
    u = Vec3(quat_a_from_b.x, quat_a_from_b.y, quat_a_from_b.z)
    t = cross(u, v_b)
    t = t + t
    along: Vec3 = t * quat_a_from_b.w
    return v_b + along + cross(u, t)


def rotate_inverse(quat_a_from_b: Quat, v_a: Vec3) -> Vec3:
    """v in frame b: the rotation of `rotate`, backwards."""
    return rotate(quat_conjugate(quat_a_from_b), v_a)


def quat_from_rotation_vector(rotation_rad: Vec3) -> Quat:
    """Exponential map: the turn about the vector's direction by its length [rad].

    Equation: q = (cos h, r/2 sin(h)/h), h = |r|/2. Below h^2 = 1e-3 sin(h)/h and cos h are their series (error under
    1e-17), so that value and gradient are right at zero; both sides are computed and one selected, without a branch.
    """
    half = rotation_rad * 0.5
    h2 = dot(half, half)
    small = h2 < 1e-3
    h = sqrt(maximum(h2, 1e-3))
    sinc_series = 1.0 + h2 * (-1.0 / 6.0 + h2 * (1.0 / 120.0 + h2 * (-1.0 / 5040.0)))
    cos_series = 1.0 + h2 * (-0.5 + h2 * (1.0 / 24.0 + h2 * (-1.0 / 720.0 + h2 * (1.0 / 40320.0))))
    sinc = select(small, sinc_series, sin(h) / h)
    return Quat(select(small, cos_series, cos(h)), half.x * sinc, half.y * sinc, half.z * sinc)


def quat_from_euler_zyx(roll_rad: Scalar, pitch_rad: Scalar, yaw_rad: Scalar) -> Quat:
    """Yaw about z, then pitch about the new y, then roll about the new x: quat_ned_from_frd of the usual angles."""
    cr, sr = cos(roll_rad * 0.5), sin(roll_rad * 0.5)
    cp, sp = cos(pitch_rad * 0.5), sin(pitch_rad * 0.5)
    cy, sy = cos(yaw_rad * 0.5), sin(yaw_rad * 0.5)
    return Quat(
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def quat_from_yaw(yaw_rad: Scalar) -> Quat:
    """Turn about z (down in NED: a heading, clockwise from north)."""
    return Quat(cos(yaw_rad * 0.5), 0.0, 0.0, sin(yaw_rad * 0.5))


def mat3_from_quat(quat_a_from_b: Quat) -> Mat3:
    """The matrix that does what `rotate` does. Limits: unit quaternion."""
    w, x, y, z = quat_a_from_b
    return Mat3(
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


def euler_zyx_from_quat(quat_a_from_b: Quat) -> tuple[Scalar, Scalar, Scalar]:
    """(roll, pitch, yaw) [rad], pitch in [-pi/2, pi/2], the others in [-pi, pi].

    Pitch comes from atan2, which stays accurate near +-90 deg where asin does not. Limits: exactly there roll and
    yaw are not separate and no gradient exists.
    """
    m = mat3_from_quat(quat_a_from_b)
    return atan2(m.zy, m.zz), atan2(-m.zx, sqrt(m.xx * m.xx + m.yx * m.yx)), atan2(m.yx, m.xx)


def mat3_diagonal(diagonal: Vec3) -> Mat3:
    """Matrix with this diagonal and zeros elsewhere."""
    return Mat3(diagonal.x, 0.0, 0.0, 0.0, diagonal.y, 0.0, 0.0, 0.0, diagonal.z)


def mat3_transpose(m: Mat3) -> Mat3:
    """Rows become columns; the inverse of a rotation."""
    return Mat3(m.xx, m.yx, m.zx, m.xy, m.yy, m.zy, m.xz, m.yz, m.zz)


def mat3_apply(m: Mat3, v: Vec3) -> Vec3:
    """Matrix times vector."""
    return Vec3(
        m.xx * v.x + m.xy * v.y + m.xz * v.z,
        m.yx * v.x + m.yy * v.y + m.yz * v.z,
        m.zx * v.x + m.zy * v.y + m.zz * v.z,
    )


def mat3_multiply(a: Mat3, b: Mat3) -> Mat3:
    """Matrix product: rotation_a_from_c = mat3_multiply(rotation_a_from_b, rotation_b_from_c)."""
    return Mat3(
        a.xx * b.xx + a.xy * b.yx + a.xz * b.zx,
        a.xx * b.xy + a.xy * b.yy + a.xz * b.zy,
        a.xx * b.xz + a.xy * b.yz + a.xz * b.zz,
        a.yx * b.xx + a.yy * b.yx + a.yz * b.zx,
        a.yx * b.xy + a.yy * b.yy + a.yz * b.zy,
        a.yx * b.xz + a.yy * b.yz + a.yz * b.zz,
        a.zx * b.xx + a.zy * b.yx + a.zz * b.zx,
        a.zx * b.xy + a.zy * b.yy + a.zz * b.zy,
        a.zx * b.xz + a.zy * b.yz + a.zz * b.zz,
    )


def mat3_solve(m: Mat3, v: Vec3) -> Vec3:
    """The u with m u = v, by Cramer's rule. Limits: m must be well conditioned (an inertia, a rotation)."""
    a, b, c = Vec3(m.xx, m.yx, m.zx), Vec3(m.xy, m.yy, m.zy), Vec3(m.xz, m.yz, m.zz)
    bc = cross(b, c)
    determinant = dot(a, bc)
    solution: Vec3 = Vec3(dot(v, bc), dot(a, cross(v, c)), dot(a, cross(b, v))) / determinant
    return solution
