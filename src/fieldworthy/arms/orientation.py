"""Rotation matrices to and from the ways in which robot controllers write orientations.

Everything here is in radians and float64, and works on one value or on a batch along the leading axis. A rotation
matrix is named by what it makes from what, `frame_from_tool`: its columns are the tool's axes seen from the frame.
Source: Craig, Introduction to Robotics, 4th ed., ch. 2 (angle sets, fixed and moving axes); Shepperd, J. Guidance and
Control 1(3), 1978 (quaternion of a matrix); the controllers' manuals for their order of angles.
Frames: `other_from_source` changes axes, also to a left-handed viewer's; the axes themselves are in `core/frames.py`.
Verified by: tests/verification/test_arm_orientation.py
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.frames import unity_from_flu
from fieldworthy.core.vec import Vec3

Array: TypeAlias = NDArray[np.float64]

CONVENTIONS: dict[str, str] = {
    "euler_zyx": "rz, ry, rx: turned about z, then the new y, then the new x",
    "euler_xyz": "rx, ry, rz: turned about x, then the new y, then the new z",
    "rpy": "roll, pitch, yaw of ROS: about the fixed x, then the fixed y, then the fixed z",
    "kuka_abc": "A, B, C of KUKA: A about z, B about the new y, C about the new x",
    "fanuc_wpr": "W, P, R of FANUC: about the fixed X, then the fixed Y, then the fixed Z",
    "ur_rotvec": "rx, ry, rz of Universal Robots: the axis times the angle",
    "abb_quat": "q1, q2, q3, q4 of ABB: unit quaternion, scalar first",
    "quat_wxyz": "unit quaternion, scalar first",
    "quat_xyzw": "unit quaternion, scalar last (ROS messages, Unity)",
}
"""Name of each way to write an orientation, with the order of its numbers."""

QUATERNION_TOLERANCE = 1e-3
"""How far the length of a quaternion may be from 1: what rounding to three decimals can do. Within it, it is scaled."""

MATRIX_TOLERANCE = 1e-6
"""How far R R^T may be from the identity in any element."""

LOCK = 1e-10
"""Cosine of the middle angle below which the first and last angles turn about one axis; that about z is then 0."""

ROS_FROM_ROS: Array = np.eye(3)
UNITY_FROM_ROS: Array = np.array([tuple(unity_from_flu(Vec3(*axis))) for axis in np.eye(3).tolist()]).T
BASES: dict[str, Array] = {"ros": ROS_FROM_ROS, "unity": UNITY_FROM_ROS}
"""Name of a viewer's axes -> viewer_from_ros, shape (3, 3). Unity's is a mirror (determinant -1)."""


def matrix_of(convention: str, values: ArrayLike) -> Array:
    """The rotation matrix of an orientation as a controller writes it.

    Shapes: values (3,) or (n, 3), quaternions (4,) or (n, 4); the answer (3, 3) or (n, 3, 3). Angles in radians.
    Raises: FieldworthyError for an unknown convention, a wrong number of values, values that are not finite, and
    quaternions whose length is further than QUATERNION_TOLERANCE from 1.
    """
    _known(convention)
    width = 4 if "quat" in convention else 3
    given = np.asarray(values, np.float64)
    if given.ndim not in (1, 2) or given.shape[-1] != width:
        raise FieldworthyError(f"orientation {convention}: shape {given.shape}; valid: ({width},) or (n, {width})")
    if not np.isfinite(given).all():
        raise FieldworthyError(f"orientation {convention}: a value is not finite; valid: numbers")
    first, second, third = given[..., 0], given[..., 1], given[..., 2]
    if convention in ("euler_zyx", "kuka_abc"):
        return _turn(2, first) @ _turn(1, second) @ _turn(0, third)
    if convention in ("rpy", "fanuc_wpr"):
        return _turn(2, third) @ _turn(1, second) @ _turn(0, first)
    if convention == "euler_xyz":
        return _turn(0, first) @ _turn(1, second) @ _turn(2, third)
    if convention == "ur_rotvec":
        return _matrix_of_rotvec(given)
    return _matrix_of_quat(np.roll(given, 1, axis=-1) if convention == "quat_xyzw" else given, convention)


def values_of(convention: str, matrix: ArrayLike) -> Array:
    """An orientation as a controller writes it, from a rotation matrix.

    The middle angle is within +-pi/2 and the others within +-pi. Where it is +-pi/2 (gimbal lock) only the sum or
    difference of the others is defined: the angle about z is then 0. Quaternions have w >= 0, rotation vectors a
    length of at most pi. `matrix_of` makes the same matrix of the answer, also in gimbal lock.

    Shapes: matrix (3, 3) or (n, 3, 3); the answer (3,) or (n, 3), quaternions (4,) or (n, 4).
    Raises: FieldworthyError for an unknown convention or a matrix that is no right-handed rotation.
    """
    _known(convention)
    turn = np.asarray(matrix, np.float64)
    if turn.ndim not in (2, 3) or turn.shape[-2:] != (3, 3):
        raise FieldworthyError(f"orientation {convention}: matrix of shape {turn.shape}; valid: (3, 3) or (n, 3, 3)")
    if not np.isfinite(turn).all():
        raise FieldworthyError(f"orientation {convention}: the matrix has a value that is not finite; valid: numbers")
    off = np.abs(turn @ np.swapaxes(turn, -1, -2) - np.eye(3))
    if off.size and (off.max() > MATRIX_TOLERANCE or np.linalg.det(turn).min() < 0.0):
        raise FieldworthyError(
            f"orientation {convention}: the matrix is no rotation (R R^T is up to {off.max():.2g} from the identity, "
            f"determinant {np.linalg.det(turn).min():.3g}); valid: orthonormal rows and determinant 1"
        )
    if convention in ("euler_zyx", "kuka_abc"):
        return _zyx_of(turn)
    if convention in ("rpy", "fanuc_wpr"):
        return _zyx_of(turn)[..., ::-1].copy()
    if convention == "euler_xyz":
        # Rx(a) Ry(b) Rz(c) transposed is Rz(-c) Ry(-b) Rx(-a); adding 0 turns -0 into 0.
        return -_zyx_of(np.swapaxes(turn, -1, -2))[..., ::-1] + 0.0
    quat = _quat_of(turn)
    if convention == "ur_rotvec":
        return _rotvec_of(quat)
    return np.roll(quat, -1, axis=-1) if convention == "quat_xyzw" else quat


def pose_of(position_m: ArrayLike, convention: str, values: ArrayLike) -> Array:
    """The homogeneous matrix of a position [m] and an orientation.

    Shapes: position (3,) or (n, 3), values as in `matrix_of`; the answer (4, 4) or (n, 4, 4).
    Raises: FieldworthyError as `matrix_of` does, and for positions that are not finite or of another shape.
    """
    turn = matrix_of(convention, values)
    position = np.asarray(position_m, np.float64)
    if position.shape != turn.shape[:-1]:
        raise FieldworthyError(f"pose: position of shape {position.shape}; valid: {turn.shape[:-1]}")
    if not np.isfinite(position).all():
        raise FieldworthyError("pose: the position has a value that is not finite; valid: metres")
    pose = np.zeros((*turn.shape[:-2], 4, 4))
    pose[..., :3, :3] = turn
    pose[..., :3, 3] = position
    pose[..., 3, 3] = 1.0
    return pose


def other_from_source(basis: str | ArrayLike, matrix: ArrayLike) -> Array:
    """A motion written in other axes: B M B^-1 with B = other_from_source on vectors.

    It serves motions between two frames that both change their axes (base_from_tool and all others here). A mirror is
    right too: in a left-handed frame the answer is still a proper rotation, and turns the way that frame counts.

    Shapes: basis (3, 3) with orthonormal rows, or a name of BASES for viewer_from_ros; matrix (4, 4) or (n, 4, 4).
    Raises: FieldworthyError for an unknown name, a basis that is not orthonormal, or a matrix of another shape.
    """
    if isinstance(basis, str) and basis not in BASES:
        raise FieldworthyError(f"axes {basis!r} are not known; valid: {', '.join(sorted(BASES))}, or a 3x3 matrix")
    change = BASES[basis] if isinstance(basis, str) else np.asarray(basis, np.float64)
    if change.shape != (3, 3) or not np.abs(change @ change.T - np.eye(3)).max() <= MATRIX_TOLERANCE:
        raise FieldworthyError("basis: no change of axes; valid: a 3x3 matrix with orthonormal rows")
    motion = np.asarray(matrix, np.float64)
    if motion.ndim not in (2, 3) or motion.shape[-2:] != (4, 4):
        raise FieldworthyError(f"motion: shape {motion.shape}; valid: (4, 4) or (n, 4, 4)")
    whole = np.eye(4)
    whole[:3, :3] = change
    back = np.eye(4)
    back[:3, :3] = change.T
    return whole @ motion @ back


def _known(convention: str) -> None:
    if convention not in CONVENTIONS:
        raise FieldworthyError(f"orientation {convention!r} is not known; valid: {', '.join(CONVENTIONS)}")


def _turn(axis: int, angle: Array) -> Array:
    """Right-handed rotation about x, y or z (0, 1, 2); angle () or (n,)."""
    cosine, sine = np.cos(angle), np.sin(angle)
    matrix = np.zeros((*np.shape(angle), 3, 3))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., j, j] = cosine
    matrix[..., k, k] = cosine
    matrix[..., j, k] = -sine
    matrix[..., k, j] = sine
    return matrix


def _zyx_of(turn: Array) -> Array:
    """(rz, ry, rx) of Rz Ry Rx.

    Equation: rz from the first column; ry and rx from what Rz(-rz) leaves. So the three make the same matrix again
    however poorly rz is determined near the lock.
    """
    across = np.hypot(turn[..., 0, 0], turn[..., 1, 0])
    rz = np.where(across < LOCK, 0.0, np.arctan2(turn[..., 1, 0], turn[..., 0, 0]))
    c, s = np.cos(rz), np.sin(rz)
    ry = np.arctan2(-turn[..., 2, 0], c * turn[..., 0, 0] + s * turn[..., 1, 0])
    rx = np.arctan2(s * turn[..., 0, 2] - c * turn[..., 1, 2], c * turn[..., 1, 1] - s * turn[..., 0, 1])
    return np.stack([rz, ry, rx], axis=-1) + 0.0


def _matrix_of_rotvec(rotvec: Array) -> Array:
    """Equation: I + (sin t / t) K + ((1 - cos t) / t^2) K^2, both factors as sincs so that t -> 0 loses no digits."""
    angle = np.sqrt(np.sum(rotvec * rotvec, axis=-1))
    cross = np.zeros((*angle.shape, 3, 3))
    x, y, z = rotvec[..., 0], rotvec[..., 1], rotvec[..., 2]
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -z, y, -x
    cross[..., 1, 0], cross[..., 2, 0], cross[..., 2, 1] = z, -y, x
    once = np.sinc(angle / np.pi)[..., None, None]
    twice = 0.5 * np.sinc(angle / (2.0 * np.pi))[..., None, None] ** 2
    matrix: Array = np.eye(3) + once * cross + twice * (cross @ cross)
    return matrix


def _rotvec_of(quat: Array) -> Array:
    """Equation: axis times 2 atan2(|v|, w), which is accurate near 0 and near pi."""
    sine = np.sqrt(np.sum(quat[..., 1:] ** 2, axis=-1))
    angle = 2.0 * np.arctan2(sine, quat[..., 0])
    return np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)[..., None] * quat[..., 1:]


def _matrix_of_quat(quat: Array, convention: str) -> Array:
    length = np.sqrt(np.sum(quat * quat, axis=-1))
    off = np.abs(length - 1.0)
    if off.size and off.max() > QUATERNION_TOLERANCE:
        worst = float(np.ravel(length)[np.argmax(off)])
        raise FieldworthyError(
            f"orientation {convention}: a quaternion of length {worst:.6g}; valid: 1 within {QUATERNION_TOLERANCE:g}"
        )
    w, x, y, z = np.moveaxis(quat / length[..., None], -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _quat_of(turn: Array) -> Array:
    """(w, x, y, z) with w >= 0.

    Equation: the matrix gives 4 q q^T; its row with the largest diagonal element is the quaternion, scaled, and loses
    no digits.
    """
    r = turn
    d = [r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]]
    ww, xx, yy, zz = 1 + d[0] + d[1] + d[2], 1 + d[0] - d[1] - d[2], 1 - d[0] + d[1] - d[2], 1 - d[0] - d[1] + d[2]
    wx, wy, wz = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    xy, xz, yz = r[..., 0, 1] + r[..., 1, 0], r[..., 0, 2] + r[..., 2, 0], r[..., 1, 2] + r[..., 2, 1]
    rows = [[ww, wx, wy, wz], [wx, xx, xy, xz], [wy, xy, yy, yz], [wz, xz, yz, zz]]
    outer = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    quat = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    quat = quat / np.sqrt(np.sum(quat * quat, axis=-1, keepdims=True))
    positive: Array = np.where(quat[..., :1] < 0.0, -quat, quat) + 0.0
    return positive
