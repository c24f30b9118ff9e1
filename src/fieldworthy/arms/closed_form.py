"""Inverse kinematics in closed form: every branch of the arms that most of industry uses, of the shapes in shape.py.

Source: Elias & Wen, IK-Geo: unified robot inverse kinematics using subproblem decomposition, Mechanism and Machine
Theory 209, 2025; Pieper, The Kinematics of Manipulators under Computer Control, Stanford, 1968
Frames: base, zero posture, as `chain` has them. Limits: see `Shape.exact`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fieldworthy.arms.chain import Arm
from fieldworthy.arms.kinematics import turn_about
from fieldworthy.arms.shape import Shape, ShapeKind
from fieldworthy.arms.subproblems import angle_between, angles_at_distance, angles_at_height, turned
from fieldworthy.core.lanes import Scalar, floor, minimum, select, sqrt
from fieldworthy.core.vec import Mat3, Vec3, cross, dot, mat3_apply, mat3_multiply, mat3_transpose

SINGULAR_SINE = 1e-10
"""Sine of the middle wrist angle below which the outer two axes count as one: turning them against each other moves the
tool by less than 1e-9 rad then."""


class Branch(NamedTuple):
    """One answer of a closed form: six angles [rad] in (-2 pi, 2 pi), not yet wound into limits."""

    angles: tuple[Scalar, ...]
    slack: Scalar
    """Negative where the pose is out of reach of this branch."""
    sine: Scalar
    """Sine of the middle wrist angle, never negative: 0 where the wrist is singular."""


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
    tool, aside = Vec3(home[0][3], home[1][3], home[2][3]), Vec3(*shape.aside)
    if shape.held is not None:
        joint = arm.joints[shape.held]
        turn, pivot = turn_about(joint.axis, held), Vec3(*joint.point_m)
        for place, index in enumerate(shape.joints):
            if index > shape.held:
                axes[place] = mat3_apply(turn, axes[place])
                points[place] = pivot + mat3_apply(turn, points[place] - pivot)
        zero, tool = mat3_multiply(turn, zero), pivot + mat3_apply(turn, tool - pivot)
        aside = mat3_apply(turn, aside)
    whole = mat3_multiply(rotation, mat3_transpose(zero))
    wrist = _Wrist(axes[4], axes[5], aside, shape.square)
    if shape.kind == "2, 3 and 4 parallel":
        along = np.array([arm.joints[shape.joints[place]].axis for place in (1, 2, 3)])
        s3, s4 = (1.0 if along[0] @ axis > 0.0 else -1.0 for axis in along[1:])
        return _three_parallel((s3, s4), axes, points, tool, whole, position, near, wrist)
    return _spherical(shape.kind, axes, points, tool, whole, position, near, wrist)


class _Wrist(NamedTuple):
    """The last two axes of three that make one rotation."""

    second: Vec3
    third: Vec3
    aside: Vec3
    square: bool


def _spherical(
    kind: ShapeKind,
    h: list[Vec3],
    points: list[Vec3],
    tool: Vec3,
    whole: Mat3,
    position: Vec3,
    near: tuple[Scalar, ...],
    end: _Wrist,
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
        for q4, q5, q6, gap, sine in _turns(h[3], end, rest, near[3], near[5]):
            answers.append(Branch((q1, q2, q3, q4, q5, q6), minimum(slack, gap), sine))
    return answers


def _three_parallel(
    signs: tuple[float, float],
    h: list[Vec3],
    points: list[Vec3],
    tool: Vec3,
    whole: Mat3,
    position: Vec3,
    near: tuple[Scalar, ...],
    end: _Wrist,
) -> list[Branch]:
    p1, p2, p3, p4, wrist = points[0], points[1], points[2], points[3], points[5]
    s3, s4 = signs
    reach = position - mat3_apply(whole, tool - wrist) - p1
    q1s = angles_at_height(-h[0], h[1], reach, dot(h[1], wrist - p1))
    answers = []
    for q1 in q1s[:2]:
        rest = mat3_multiply(turn_about(h[0], -q1), whole)
        ahead = turned(h[0], -q1, reach) - (p2 - p1)
        swept = near[1] + near[2] * s3 + near[3] * s4
        for total, q5, q6, gap, sine in _turns(h[1], end, rest, swept, near[5]):
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


def _turns(
    first: Vec3, end: _Wrist, turn: Mat3, near_first: Scalar, near_third: Scalar
) -> list[tuple[Scalar, Scalar, Scalar, Scalar, Scalar]]:
    """(angle, angle, angle, slack, sine of the singularity), twice: three turns about axes that make one rotation.

    The sine comes from a vector product: from 1 - cos^2 a singular wrist would look 1e-8 rad away and turn at random.
    """
    second, third, aside, square = end
    last = mat3_apply(turn, third)
    off = cross(first, last)
    sine = sqrt(dot(off, off))
    pair = angles_at_height(second, first, third, dot(first, last), sine if square else None)
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
        gap = 1.0 + 0.0 * sine if square else pair.slack + 0.0 * sine
        if index:
            gap = select(lost, -1.0 + 0.0 * sine, gap) if square else gap
        answers.append((one, middle, three, gap, sine))
    return answers


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
