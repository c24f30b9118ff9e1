"""Inverse kinematics in closed form: every branch of the arms that most of industry uses.

Three shapes of six joints are known, and each also with one more joint that is held (a seven-axis arm whose elbow is
chosen):
- a spherical wrist (the last three axes meet) behind axes 2 and 3 that are parallel: KUKA, ABB, FANUC and most others;
- a spherical wrist behind axes 1 and 2 that meet: seven-axis arms with joint 3 held;
- axes 2, 3 and 4 parallel, 5 and 6 meeting: Universal Robots and most collaborative arms.
Source: Pieper, The Kinematics of Manipulators under Computer Control, Stanford, 1968; Elias & Wen, IK-Geo, 2025
Frames: base, zero posture, as `chain` has them. Limits: what a shape asks for must hold to 1e-9 (m, rad) or the
answers are only near (`Shape.exact`), as for arms whose kinematics were calibrated; whoever uses them polishes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import turn_about
from fieldworthy.arms.subproblems import angle_between, angles_at_distance, angles_at_height, turned
from fieldworthy.core.lanes import Scalar, floor, minimum, select, sqrt
from fieldworthy.core.vec import Mat3, Vec3, cross, dot, mat3_apply, mat3_multiply, mat3_transpose

SINGULAR_SINE = 1e-10
"""Sine of the middle wrist angle below which the outer two axes count as one: turning them against each other moves the
tool by less than 1e-9 rad then."""
_NEAR = 0.02
"""Radians and metres up to which a shape counts as calibrated rather than another one."""

ShapeKind = Literal["spherical, 2 and 3 parallel", "spherical, 1 and 2 meet", "2, 3 and 4 parallel"]


@dataclass(frozen=True)
class Shape:
    """What was recognised: which joints are solved for, and points on their axes that the formulas want."""

    kind: ShapeKind
    joints: tuple[int, ...]
    """Indices of the six joints that are solved for."""
    points: tuple[tuple[float, float, float], ...]
    """A point on each of the six axes, base frame, zero posture [m]."""
    held: int | None
    """Index of the joint whose position is given, for seven axes."""
    exact: bool
    """Whether the arm has the shape to 1e-9."""


class Branch(NamedTuple):
    """One answer of a closed form: six angles [rad] in (-2 pi, 2 pi), not yet wound into limits."""

    angles: tuple[Scalar, ...]
    slack: Scalar
    """Negative where the pose is out of reach of this branch."""
    sine: Scalar
    """Sine of the middle wrist angle, never negative: 0 where the wrist is singular."""


def recognised(arm: Arm) -> Shape | None:
    """The shape of an arm, or None where no closed form is known."""
    if any(joint.kind != "revolute" for joint in arm.joints) or arm.dof not in (6, 7):
        return None
    # Joint 3 of a shoulder of three is the usual one to hold; any other that leaves a known shape will do.
    for held in (None,) if arm.dof == 6 else (2, 3, 1, 4, 0, 5, 6):
        kept = tuple(index for index in range(arm.dof) if index != held)
        # With a held joint the shape must be there wherever it stands, and not only where axes happen to be parallel.
        found, other = (_shape_of(*_placed(arm, kept, held, angle)) for angle in (0.7, 2.1))
        if found is None or other is None or found[0] != other[0]:
            continue
        kind, places, error = found
        if held is not None:
            turn, pivot = _turn(arm, held, 0.7), np.array(arm.joints[held].point_m)
            after = [place for place, index in enumerate(kept) if index > held]
            places[after] = pivot + (places[after] - pivot) @ turn
        return Shape(kind, kept, tuple(map(tuple, places.tolist())), held, error <= 1e-9)
    return None


def _turn(arm: Arm, joint: int, angle: float) -> Array:
    return np.array(tuple(turn_about(arm.joints[joint].axis, angle))).reshape(3, 3)


def _placed(arm: Arm, kept: tuple[int, ...], held: int | None, angle: float) -> tuple[Array, Array]:
    """(axes, points) of the kept joints when the held one stands at an angle."""
    axes = np.array([arm.joints[index].axis for index in kept])
    points = np.array([arm.joints[index].point_m for index in kept])
    if held is not None:
        turn, pivot = _turn(arm, held, angle), np.array(arm.joints[held].point_m)
        after = [place for place, index in enumerate(kept) if index > held]
        axes[after], points[after] = axes[after] @ turn.T, pivot + (points[after] - pivot) @ turn.T
    return axes, points


def _shape_of(axes: Array, points: Array) -> tuple[ShapeKind, Array, float] | None:
    """(kind, points, how far from the ideal [m or rad]) of six axes."""

    def parallel(i: int, j: int) -> float:
        return float(np.linalg.norm(np.cross(axes[i], axes[j])))

    def lever(axis: int, start: Array, end: Array) -> float:
        """Distance of `end` from the axis through `start`: without one, its turn changes nothing."""
        return float(np.linalg.norm(np.cross(axes[axis], end - start)))

    wrist, miss = _meeting(axes[3:], points[3:])
    bends = min(lever(2, points[2], wrist), lever(2, points[2], points[1])) > 1e-3
    if miss < _NEAR and bends and min(parallel(3, 4), parallel(4, 5)) > 0.1:
        places = points.copy()
        places[3:] = wrist
        shoulder, off = _meeting(axes[:2], points[:2])
        if parallel(0, 1) > 0.1 and off <= 1e-9 and parallel(1, 2) > 1e-9:
            places[:2] = shoulder
            return "spherical, 1 and 2 meet", places, max(miss, off)
        if parallel(1, 2) < _NEAR and parallel(0, 1) > 0.1:
            return "spherical, 2 and 3 parallel", places, max(miss, parallel(1, 2))
    wrist, miss = _meeting(axes[4:], points[4:])
    bent = max(parallel(1, 2), parallel(1, 3))
    bends = min(lever(2, points[2], points[3]), lever(2, points[2], points[1])) > 1e-3
    if max(miss, bent) < _NEAR and bends and min(parallel(0, 1), parallel(3, 4), parallel(4, 5)) > 0.1:
        places = points.copy()
        places[4:] = wrist
        return "2, 3 and 4 parallel", places, max(miss, bent)
    return None


def _meeting(axes: Array, points: Array) -> tuple[Array, float]:
    """(point nearest to all lines, largest distance of a line from it) [m]."""
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    point = np.linalg.lstsq(across.sum(axis=0), (across @ points[:, :, None]).sum(axis=0)[:, 0], rcond=None)[0]
    return point, float(np.linalg.norm(across @ (points - point)[:, :, None], axis=1).max())


def branches(
    arm: Arm, shape: Shape, rotation: Mat3, position: Vec3, near: tuple[Scalar, ...], held: Scalar = 0.0
) -> list[Branch]:
    """All answers for base_from_tool: eight, of which those without reach have a negative slack.

    near: positions of the six joints [rad] that decide what is free at a singularity (where axes turn against each
    other, both share the way; a shoulder that may stand anywhere stands as in `near`).
    held: position of the joint that is not solved for [rad].
    """
    axes = [Vec3(*arm.joints[index].axis) for index in shape.joints]
    points = [Vec3(*point) for point in shape.points]
    home = arm.home
    zero = Mat3(*(home[row][column] for row in range(3) for column in range(3)))
    tool = Vec3(home[0][3], home[1][3], home[2][3])
    if shape.held is not None:
        joint = arm.joints[shape.held]
        turn, pivot = turn_about(joint.axis, held), Vec3(*joint.point_m)
        for place, index in enumerate(shape.joints):
            if index > shape.held:
                axes[place] = mat3_apply(turn, axes[place])
                points[place] = pivot + mat3_apply(turn, points[place] - pivot)
        zero, tool = mat3_multiply(turn, zero), pivot + mat3_apply(turn, tool - pivot)
    whole = mat3_multiply(rotation, mat3_transpose(zero))
    if shape.kind == "2, 3 and 4 parallel":
        return _three_parallel(axes, points, tool, whole, position, near)
    return _spherical(shape.kind, axes, points, tool, whole, position, near)


def _spherical(
    kind: ShapeKind,
    h: list[Vec3],
    points: list[Vec3],
    tool: Vec3,
    whole: Mat3,
    position: Vec3,
    near: tuple[Scalar, ...],
) -> list[Branch]:
    p1, p2, p3, wrist = points[0], points[1], points[2], points[5]
    reach = position - mat3_apply(whole, tool - wrist) - p1
    found = []
    upper, fore = p3 - p2, wrist - p3
    if kind == "spherical, 1 and 2 meet":
        q3s = angles_at_distance(h[2], fore, upper, dot(reach, reach))
        for q3 in q3s[:2]:
            bent = upper + turned(h[2], q3, fore)
            q2s = angles_at_height(h[1], h[0], bent, dot(h[0], reach))
            for q2 in q2s[:2]:
                goal = turned(h[1], q2, bent)
                q1 = _free_or(near[0], h[0], goal, reach)
                found.append((q1, q2, q3, minimum(q3s.slack, q2s.slack)))
    else:
        across = dot(h[1], wrist - p1)
        q1s = angles_at_height(-h[0], h[1], reach, across)
        lost = _off_axis(h[0], reach) < 1e-18
        for q1 in q1s[:2]:
            q1 = select(lost, near[0] + 0.0 * q1, q1)
            ahead = turned(h[0], -q1, reach) - (p2 - p1)
            q3s = angles_at_distance(h[2], fore, upper, dot(ahead, ahead))
            for q3 in q3s[:2]:
                q2 = angle_between(h[1], upper + turned(h[2], q3, fore), ahead)
                found.append((q1, q2, q3, minimum(q1s.slack, q3s.slack)))
    answers = []
    for q1, q2, q3, slack in found:
        turn = mat3_multiply(mat3_multiply(turn_about(h[0], q1), turn_about(h[1], q2)), turn_about(h[2], q3))
        rest = mat3_multiply(mat3_transpose(turn), whole)
        for q4, q5, q6, gap, sine in _wrist(h[3], h[4], h[5], rest, near[3], near[5]):
            answers.append(Branch((q1, q2, q3, q4, q5, q6), minimum(slack, gap), sine))
    return answers


def _three_parallel(
    h: list[Vec3], points: list[Vec3], tool: Vec3, whole: Mat3, position: Vec3, near: tuple[Scalar, ...]
) -> list[Branch]:
    p1, p2, p3, p4, wrist = points[0], points[1], points[2], points[3], points[5]
    s3, s4 = (_sign(dot(h[1], h[index])) for index in (2, 3))
    reach = position - mat3_apply(whole, tool - wrist) - p1
    q1s = angles_at_height(-h[0], h[1], reach, dot(h[1], wrist - p1))
    answers = []
    for q1 in q1s[:2]:
        rest = mat3_multiply(turn_about(h[0], -q1), whole)
        ahead = turned(h[0], -q1, reach) - (p2 - p1)
        swept = near[1] + near[2] * s3 + near[3] * s4
        for total, q5, q6, gap, sine in _wrist(h[1], h[4], h[5], rest, swept, near[5]):
            elbow = ahead - turned(h[1], total, wrist - p4)
            upper, fore = p3 - p2, p4 - p3
            # Along the common axis nothing can move: only what lies across it counts.
            flat = _across(h[1], elbow)
            q3s = angles_at_distance(h[2], _across(h[1], fore), _across(h[1], upper), dot(flat, flat))
            for q3 in q3s[:2]:
                q2 = angle_between(h[1], upper + turned(h[2], q3, fore), elbow)
                q4 = (total - q2 - q3 * s3) * s4
                slack = minimum(minimum(q1s.slack, q3s.slack), gap)
                answers.append(Branch((q1, q2, q3, q4, q5, q6), slack, sine))
    return answers


def _wrist(
    first: Vec3, second: Vec3, third: Vec3, turn: Mat3, near_first: Scalar, near_third: Scalar
) -> list[tuple[Scalar, Scalar, Scalar, Scalar, Scalar]]:
    """(angle, angle, angle, slack, sine of the singularity), twice: three turns about axes that make one rotation.

    The sine comes from a vector product: from 1 - cos^2 a singular wrist would look 1e-8 rad away and turn at random.
    """
    last = mat3_apply(turn, third)
    off = cross(first, last)
    sine = sqrt(dot(off, off))
    square = _number(dot(first, second)) == 0.0 and _number(dot(second, third)) == 0.0
    pair = angles_at_height(second, first, third, dot(first, last), sine if square else None)
    aside = _perpendicular(third, first, second)
    goal = mat3_apply(turn, aside)
    lost = sine < SINGULAR_SINE
    answers = []
    for index, middle in enumerate(pair[:2]):
        bent = turned(second, middle, third)
        one = select(lost, near_first + 0.0 * sine, angle_between(first, bent, last))
        three = angle_between(third, aside, turned(second, -middle, turned(first, -one, goal)))
        # A singular wrist has one angle to share among two axes: each takes half of the way from where it was.
        share = _wrapped(three - near_third) * 0.5
        same = select(dot(first, bent) < 0.0, -1.0 + 0.0 * sine, 1.0 + 0.0 * sine)
        one = select(lost, near_first + share * same, one)
        three = select(lost, near_third + share, three)
        # There both answers of the middle angle are one: the second is dropped.
        gap = select(lost, -1.0 + 0.0 * sine, pair.slack + 0.0 * sine) if index and square else pair.slack
        if square:
            gap = select(gap < 0.0, gap, 0.0 * sine) if index else 0.0
        answers.append((one, middle, three, gap, sine))
    return answers


def _perpendicular(axis: Vec3, *others: Vec3) -> Vec3:
    """A vector that is no multiple of `axis` wherever a known axis allows it: turning it shows the angle about the
    axis."""
    for other in others:
        off = cross(axis, other)
        if _number(dot(off, off)) is None or _number(dot(off, off)) > 0.01:  # type: ignore[operator]
            return off
    return Vec3(-axis.y, axis.x, axis.z)


def _free_or(near: Scalar, axis: Vec3, start: Vec3, goal: Vec3) -> Scalar:
    """The turn of one vector onto another; as in `near` where the vector lies on the axis and any turn does."""
    return select(_off_axis(axis, goal) < 1e-18, near + 0.0 * goal.x, angle_between(axis, start, goal))


def _off_axis(axis: Vec3, v: Vec3) -> Scalar:
    """Squared distance of a point from a line through the origin."""
    return dot(cross(axis, v), cross(axis, v))


def _across(axis: Vec3, v: Vec3) -> Vec3:
    rest: Vec3 = v - axis * dot(axis, v)
    return rest


def _wrapped(angle: Scalar) -> Scalar:
    """In [-pi, pi)."""
    return angle - 2.0 * np.pi * floor(angle * (0.5 / np.pi) + 0.5)


def _number(value: Scalar) -> float | None:
    """A value that is known now, rounded where it can only be 0; None for one that is recorded."""
    if not isinstance(value, float | int):
        return None
    return 0.0 if -1e-12 < value < 1e-12 else float(value)


def _sign(value: Scalar) -> float:
    return 1.0 if value > 0.0 else -1.0
