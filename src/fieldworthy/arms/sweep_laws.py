"""The laws of one joint's best turn and of the wrist's turn, which the sweeping solvers are made of.

Verified by: tests/verification/test_arm_ccd.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from fieldworthy.arms.kinematics import carried, forward, rotation_vector, turn_about
from fieldworthy.arms.kit import TURN, Kit, goal_of
from fieldworthy.core.lanes import Scalar, atan2, clip, cos, logical_and, select
from fieldworthy.core.vec import Mat3, Vec3, cross, dot, mat3_multiply, mat3_transpose


def turn_to(axis: Vec3, pairs: Sequence[tuple[Vec3, Vec3]]) -> tuple[Scalar, Scalar]:
    """(sine, cosine), both times a weight, of the turn about an axis that brings each first nearest to its second.

    Equation: the angle atan2(a . sum(c x d), sum(c . d - (a . c)(a . d))), which is both vectors projected on the plane
    normal to the axis and the signed angle between them. It is the least sum of |turned c - d|^2.
    Source: Wang & Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical
    manipulators", IEEE Trans. Robotics and Automation 7(4), 1991
    """
    sine: Scalar = 0.0
    cosine: Scalar = 0.0
    for c, d in pairs:
        sine = sine + dot(axis, cross(c, d))
        cosine = cosine + dot(c, d) - dot(axis, c) * dot(axis, d)
    return sine, cosine


def best_angle(sine: Scalar, cosine: Scalar, low: Scalar, high: Scalar, least: float) -> Scalar:
    """The angle [rad] in [low, high], 0 among them, nearest to the turn that is looked for; 0 where none is seen.

    A sinusoid that has no crest within an interval is largest at one of its ends, so the choice is exact.
    """
    angle = atan2(sine, cosine)
    other = select(angle > 0.0, angle - TURN, angle + TURN)
    end = select(cos(low - angle) > cos(high - angle), low, high)
    found = select(
        logical_and(angle >= low, angle <= high), angle, select(logical_and(other >= low, other <= high), other, end)
    )
    blind = sine * sine + cosine * cosine < least * least
    return select(blind, 0.0 * found, found)


def columns(m: Mat3) -> tuple[Vec3, Vec3, Vec3]:
    """The three axes of a rotation."""
    return Vec3(m.xx, m.yx, m.zx), Vec3(m.xy, m.yy, m.zy), Vec3(m.xz, m.yz, m.zz)


def pose_pairs(away: Vec3, goal_away: Vec3, rotation: Mat3, goal: Mat3, length_m: float) -> list[tuple[Vec3, Vec3]]:
    """Pairs for `turn_to` that stand for a whole pose: the tool point and its three axes, seen from a joint.

    Their squares sum to 2 (|offset|^2 / length^2 + angle^2) for small angles. Source: as `turn_to`
    """
    scale = math.sqrt(2.0) / length_m
    return [(away * scale, goal_away * scale), *zip(columns(rotation), columns(goal), strict=True)]


def wrist_law(of: Kit) -> Callable[..., Any]:
    """wrist(*q, *lower, *upper, *goal, blend) -> q: the last three joints turn a share of the way that is left."""
    size = of.dof

    def law(*numbers: Scalar) -> Any:
        q = list(numbers[:size])
        goal, _ = goal_of(numbers[3 * size : 3 * size + 12])
        blend = numbers[-1]
        axes = carried(of.arm.joints, q)[2]
        rotation, _ = forward(of.arm, q)
        for i in reversed(range(max(size - 3, 0), size)):
            if of.turning[i]:
                left = rotation_vector(mat3_multiply(goal, mat3_transpose(rotation)))
                wanted = q[i] + dot(axes[i], left) * blend
                angle = clip(wanted, numbers[size + i], numbers[2 * size + i]) - q[i]
                q[i] = q[i] + angle
                rotation = mat3_multiply(turn_about(axes[i], angle), rotation)
        return tuple(q)

    return law
