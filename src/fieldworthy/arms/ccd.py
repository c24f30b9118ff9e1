"""Cyclic coordinate descent: each joint in turn, from the last to the first, goes where the tool is nearest the goal.

Default: nearest in position and orientation together, by the closed form of one joint's best angle, so that every turn
lowers the error; the last stretch, where such a descent creeps, is left to damped least squares.
Source: Wang & Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical
manipulators", IEEE Trans. Robotics and Automation 7(4), 1991; Chen et al., "A general approach based on Newton's method
and cyclic coordinate descent method for solving the inverse kinematics", Applied Sciences 9(24), 2019
Faithful: position alone, on the plane normal to each axis, and the wrist's turn after it (iterate.py).
Verified by: tests/verification/test_arm_ccd.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fieldworthy.arms.iterate import SweepingSolver
from fieldworthy.arms.kinematics import carried, forward, turn_about
from fieldworthy.arms.kit import Kit, goal_of
from fieldworthy.arms.sweep_laws import best_angle, pose_pairs, turn_to
from fieldworthy.core.lanes import Scalar, clip
from fieldworthy.core.vec import dot, mat3_apply, mat3_multiply


@dataclass(frozen=True)
class CcdSolver(SweepingSolver):
    """CCD with joint and speed limits; options in `SweepingSolver`."""

    name: str = field(default="ccd", init=False)

    @staticmethod
    def sweep_law(of: Kit) -> Callable[..., Any]:
        """The sweep for a whole pose."""
        return _sweep(of, whole=True)

    @staticmethod
    def position_law(of: Kit) -> Callable[..., Any]:
        """The sweep for the position alone."""
        return _sweep(of, whole=False)


def _sweep(of: Kit, whole: bool) -> Callable[..., Any]:
    """Joints nearer the base are not moved by those nearer the tool, so one forward pass serves the whole sweep."""
    size = of.dof

    def law(*numbers: Scalar) -> Any:
        q, lower, upper = list(numbers[:size]), numbers[size : 2 * size], numbers[2 * size : 3 * size]
        goal, target = goal_of(numbers[3 * size : 3 * size + 12])
        _, points, axes = carried(of.arm.joints, q)
        rotation, tip = forward(of.arm, q)
        for i in reversed(range(size)):
            axis, pivot = axes[i], points[i]
            if not of.turning[i]:
                move = clip(dot(axis, target - tip), lower[i] - q[i], upper[i] - q[i])
                q[i] = q[i] + move
                tip = tip + axis * move
                continue
            away, goal_away = tip - pivot, target - pivot
            if whole:
                pairs = pose_pairs(away, goal_away, rotation, goal, of.length_m)
                least = 1e-12
            else:
                pairs = [(away, goal_away)]
                least = (1e-6 * of.length_m) ** 2
            angle = best_angle(*turn_to(axis, pairs), lower[i] - q[i], upper[i] - q[i], least)
            q[i] = q[i] + angle
            turn = turn_about(axis, angle)
            tip = pivot + mat3_apply(turn, away)
            rotation = mat3_multiply(turn, rotation)
        return tuple(q)

    return law
