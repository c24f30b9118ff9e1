"""Where the tool is and how it moves: forward kinematics, geometric Jacobian, manipulability.

The laws take scalars of any engine; the functions below them take NumPy arrays, one posture or many.
Equation: base_from_tool = exp(S_1 q_1) ... exp(S_n q_n) M, with the screws S of the axes and the pose M at the zero
posture, carried along as one rotation and one point a link.
Source: Lynch & Park, Modern Robotics, 2017, ch. 4 (product of exponentials) and 5 (Jacobian, singularities)
Frames: everything in the robot's base.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array, Joint, Triple
from fieldworthy.arms.posture import postures
from fieldworthy.core.lanes import Scalar, atan2, cos, select, sin, sqrt
from fieldworthy.core.straight import written
from fieldworthy.core.vec import Mat3, Vec3, cross, dot, mat3_apply, mat3_multiply, mat3_transpose

_NO_TURN = Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

# ---------------------------------------------------------------------------------------------------- laws on scalars


def turn_about(axis: Triple | Vec3, angle_rad: Scalar) -> Mat3:
    """Rotation about a unit axis.

    Equation: R = a a^T + cos (1 - a a^T) + sin [a]      Source: Rodrigues
    """
    x, y, z = axis
    c, s = cos(angle_rad), sin(angle_rad)

    def square(a: Scalar) -> Scalar:
        # An axis along a coordinate leaves an exact one or a bare cosine: c + (1 - c) would not fold to 1.
        if isinstance(a, float | int) and abs(a) in (0.0, 1.0):
            return 1.0 if a else c
        return c + (1.0 - c) * (a * a)

    def mixed(a: Scalar, b: Scalar) -> Scalar:
        product = a * b
        return 0.0 if isinstance(product, float | int) and product == 0.0 else (1.0 - c) * product

    xy, xz, yz = mixed(x, y), mixed(x, z), mixed(y, z)
    sx, sy, sz = s * x, s * y, s * z
    return Mat3(square(x), xy - sz, xz + sy, xy + sz, square(y), yz - sx, xz - sy, yz + sx, square(z))


def carried(joints: Sequence[Joint], q: Sequence[Scalar]) -> tuple[list[Mat3], list[Vec3], list[Vec3]]:
    """(rotation of each link, place of each joint's point, axis of each joint) in the base frame, joint by joint."""
    turns: list[Mat3] = []
    points: list[Vec3] = []
    axes: list[Vec3] = []
    turn, before, place = _NO_TURN, Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    for joint, position in zip(joints, q, strict=True):
        here = Vec3(*joint.point_m)
        place = place + mat3_apply(turn, here - before)
        axis = mat3_apply(turn, Vec3(*joint.axis))
        if joint.kind == "prismatic":
            place = place + axis * position
        else:
            turn = mat3_multiply(turn, turn_about(joint.axis, position))
        turns.append(turn)
        points.append(place)
        axes.append(axis)
        before = here
    return turns, points, axes


def forward(arm: Arm, q: Sequence[Scalar]) -> tuple[Mat3, Vec3]:
    """(rotation, position [m]) of the tool in the base, base_from_tool."""
    turns, points, _ = carried(arm.joints, q)
    return _tool(arm, turns[-1], points[-1])


def _tool(arm: Arm, turn: Mat3, place: Vec3) -> tuple[Mat3, Vec3]:
    home = arm.home
    rotation = Mat3(*(home[row][column] for row in range(3) for column in range(3)))
    reach = Vec3(home[0][3], home[1][3], home[2][3]) - Vec3(*arm.joints[-1].point_m)
    return mat3_multiply(turn, rotation), place + mat3_apply(turn, reach)


def forward_and_jacobian(arm: Arm, q: Sequence[Scalar]) -> tuple[Mat3, Vec3, list[tuple[Vec3, Vec3]]]:
    """(rotation, position, columns): a column is (velocity of the tool point, angular velocity) at unit joint rate.

    Equation: v = a x (p - o), w = a for a joint about a through o; v = a, w = 0 for a prismatic one.
    """
    turns, points, axes = carried(arm.joints, q)
    rotation, position = _tool(arm, turns[-1], points[-1])
    columns = []
    for joint, axis, point in zip(arm.joints, axes, points, strict=True):
        if joint.kind == "prismatic":
            columns.append((axis, Vec3(0.0, 0.0, 0.0)))
        else:
            columns.append((cross(axis, position - point), axis))
    return rotation, position, columns


def rotation_vector(turn: Mat3) -> Vec3:
    """Axis times angle [rad] of a rotation, angle in [0, pi].

    Equation: w = vee(R - R^T)/2 has length sin(angle), (trace - 1)/2 is its cosine; where the sine is small beside
    it, the axis is the longest column of (R + R^T)/2 - cos 1 = (1 - cos) a a^T, its sign from w. Limits: exactly at
    pi either of two axes.
    """
    w = Vec3(turn.zy - turn.yz, turn.xz - turn.zx, turn.yx - turn.xy) * 0.5
    sine = sqrt(dot(w, w))
    cosine = (turn.xx + turn.yy + turn.zz - 1.0) * 0.5
    angle = atan2(sine, cosine)
    small = sine < 1e-12
    usual = w * select(small, 1.0 + 0.0 * sine, angle / select(small, 1.0 + 0.0 * sine, sine))
    xy, xz, yz = (turn.xy + turn.yx) * 0.5, (turn.xz + turn.zx) * 0.5, (turn.yz + turn.zy) * 0.5
    a = Vec3(turn.xx - cosine, xy, xz)
    b, c = Vec3(xy, turn.yy - cosine, yz), Vec3(xz, yz, turn.zz - cosine)
    longest = _longer(_longer(a, b), c)
    size = sqrt(dot(longest, longest))
    sign = select(dot(w, longest) < 0.0, -1.0 + 0.0 * size, 1.0 + 0.0 * size)
    backward = longest * (sign * angle / select(size < 0.5, 1.0 + 0.0 * size, size))
    turned = cosine < -0.9
    return Vec3(*(select(turned, far, near) for far, near in zip(backward, usual, strict=True)))


def _longer(a: Vec3, b: Vec3) -> Vec3:
    more = dot(b, b) > dot(a, a)
    return Vec3(*(select(more, second, first) for first, second in zip(a, b, strict=True)))


def pose_error(rotation: Mat3, position: Vec3, goal_rotation: Mat3, goal_position: Vec3) -> tuple[Vec3, Vec3]:
    """(offset [m], turn [rad] as a rotation vector) that would bring the pose to the goal, in the base frame."""
    return goal_position - position, rotation_vector(mat3_multiply(goal_rotation, mat3_transpose(rotation)))


def pose_error_size(rotation: Mat3, position: Vec3, goal_rotation: Mat3, goal_position: Vec3) -> tuple[Scalar, Scalar]:
    """(distance [m], chord 2 sin(angle/2) of the angle) between two poses, cheaply.

    The chord is |R - G|_F / sqrt(2): equal to the angle to third order, and never small for a large one.
    """
    offset = goal_position - position
    difference = rotation - goal_rotation
    squares: Scalar = 0.0
    for entry in difference:
        squares = squares + entry * entry
    return sqrt(dot(offset, offset)), sqrt(squares * 0.5)


# ------------------------------------------------------------------------------------------------------ NumPy arrays


def _flat_pose(rotation: Mat3, p: Vec3) -> tuple[Scalar, ...]:
    r = rotation
    return (r.xx, r.xy, r.xz, p.x, r.yx, r.yy, r.yz, p.y, r.zx, r.zy, r.zz, p.z)


@lru_cache(maxsize=64)
def _fk_law(arm: Arm, engine: Any) -> Any:
    return written(lambda *q: _flat_pose(*forward(arm, q)), arm.dof, engine)


@lru_cache(maxsize=64)
def _jacobian_law(arm: Arm, engine: Any) -> Any:
    def law(*q: Scalar) -> Any:
        columns = forward_and_jacobian(arm, q)[2]
        return tuple(
            getattr(part, axis) for k in (0, 1) for axis in "xyz" for part in (column[k] for column in columns)
        )

    return written(law, arm.dof, engine)


@lru_cache(maxsize=64)
def _motion_law(arm: Arm) -> Any:
    def law(*q: Scalar) -> Any:
        turns, points, _ = carried(arm.joints, q)
        return tuple(
            _flat_pose(turn, point - mat3_apply(turn, Vec3(*joint.point_m)))
            for joint, turn, point in zip(arm.joints, turns, points, strict=True)
        )

    return written(law, arm.dof, "numpy")


def fk(arm: Arm, q: Any) -> Array:
    """base_from_tool of postures q (dof,) -> (4, 4), or (n, dof) -> (n, 4, 4).

    Raises: FieldworthyError for another shape or numbers that are not finite.
    """
    rows = postures(arm, q)
    if rows.ndim == 1:
        values = _fk_law(arm, "float")(*rows.tolist())
        return np.array((*values, 0.0, 0.0, 0.0, 1.0)).reshape(4, 4)
    return _stack(_fk_law(arm, "numpy")(*rows.T.copy()), len(rows), 3, 4, square=True)


def link_motions(arm: Arm, q: Any) -> Array:
    """(n, dof + 1, 4, 4): matrix i brings zero-posture coordinates of link i to where they are now; matrix 0 is the
    identity.

    q has shape (n, dof), or (dof,) for n = 1.
    """
    rows = np.atleast_2d(postures(arm, q))
    found = np.zeros((len(rows), arm.dof + 1, 4, 4))
    found[:, :, 3, 3] = 1.0
    found[:, 0] = np.eye(4)
    values = _motion_law(arm)(*rows.T.copy())
    for index, value in enumerate(values):
        link, entry = divmod(index, 12)
        found[:, link + 1, entry // 4, entry % 4] = value
    return found


def jacobian(arm: Arm, q: Any) -> Array:
    """Geometric Jacobian at the tool point in the base frame: (6, dof) or (n, 6, dof), velocity rows above angular
    ones."""
    rows = postures(arm, q)
    if rows.ndim == 1:
        return np.array(_jacobian_law(arm, "float")(*rows.tolist())).reshape(6, arm.dof)
    return _stack(_jacobian_law(arm, "numpy")(*rows.T.copy()), len(rows), 6, arm.dof)


def _stack(values: Sequence[Any], count: int, height: int, width: int, square: bool = False) -> Array:
    found = np.zeros((count, width if square else height, width))
    for index, value in enumerate(values):
        found[:, index // width, index % width] = value
    if square:
        found[:, 3, 3] = 1.0
    return found


def manipulability(arm: Arm, q: Any) -> Any:
    """Yoshikawa's measure sqrt(det(J J^T)) of postures, () or (n,); 0 at a singularity. Units are mixed (m^3 for six
    joints).

    Source: Yoshikawa, Manipulability of robotic mechanisms, IJRR 4(2), 1985
    """
    j = jacobian(arm, q)
    if j.shape[-1] < 6:
        return np.sqrt(np.maximum(np.linalg.det(np.swapaxes(j, -1, -2) @ j), 0.0))
    return np.sqrt(np.maximum(np.linalg.det(j @ np.swapaxes(j, -1, -2)), 0.0))
