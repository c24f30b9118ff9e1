"""FABRIK on an arm of single axes: points are placed along the chain, then each joint turns towards its point.

A backward pass puts the tool on the goal and draws the joints' points after it, a forward pass puts the first point
back on the base; then, from the base on, each joint turns about its one axis to where the next point that it moves was
placed, both directions projected on the plane normal to the axis. What does not lie in that plane is lost.
Source: Aristidou & Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics problem", Graphical Models
73(5), 2011
Default: the goal's orientation places the last joint's point as well (Source: Aristidou, Chrysanthou & Lasenby,
"Extending FABRIK with model constraints", Computer Animation and Virtual Worlds 27(1), 2016); a joint takes the angle
that brings all points after it nearest to their places, the last three the whole pose (as in CCD); and a pass is taken
whole, by half, a quarter or an eighth, only where it lowers the error. Damped least squares makes the last stretch.
Faithful: position alone, every pass taken, and the wrist's turn after it (iterate.py): at some goals this goes to and
fro for ever, at others it stalls short of them.
Verified by: tests/verification/test_arm_fabrik.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fieldworthy.arms.iterate import SweepingSolver
from fieldworthy.arms.kinematics import carried, forward, turn_about
from fieldworthy.arms.kit import Kit, goal_of
from fieldworthy.arms.sweep_laws import best_angle, pose_pairs, turn_to
from fieldworthy.core.lanes import Scalar, clip, select
from fieldworthy.core.vec import Vec3, dot, mat3_apply, mat3_multiply, mat3_transpose, norm


@dataclass(frozen=True)
class FabrikSolver(SweepingSolver):
    """FABRIK with joint and speed limits; options in `SweepingSolver`."""

    max_deg_s: float = 960.0
    name: str = field(default="fabrik", init=False)
    shares: ClassVar[tuple[float, ...]] = (1.0, 0.5, 0.25, 0.125)

    @staticmethod
    def sweep_law(of: Kit) -> Callable[..., Any]:
        """The sweep for a whole pose."""
        return _sweep(of, whole=True)

    @staticmethod
    def position_law(of: Kit) -> Callable[..., Any]:
        """The sweep for the position alone."""
        return _sweep(of, whole=False)


def nodes_of(of: Kit) -> list[int]:
    """Joints whose points are nodes of the chain: points that coincide are one node, the first joint's."""
    points = [np.array(joint.point_m) for joint in of.arm.joints]
    found = [0]
    for index in range(1, of.dof):
        if np.linalg.norm(points[index] - points[found[-1]]) > 1e-6 * of.reach_m or not of.turning[index - 1]:
            found.append(index)
    return found


def follows(of: Kit, nodes: list[int]) -> list[int | None]:
    """For each joint the first node that it moves, as an index into the nodes; len(nodes): the tool, None: none."""
    found: list[int | None] = []
    for index in range(of.dof):
        far = np.zeros(len(nodes) + 1)
        for row in of.starts().q[:4].tolist():
            _, points, axes = carried(of.arm.joints, row)
            chain = [*(points[node] for node in nodes), forward(of.arm, row)[1]]
            axis = np.array([*axes[index]])
            for place, point in enumerate(chain):
                away = np.array([*(point - points[index])])
                far[place] = max(far[place], np.linalg.norm(away - axis * (axis @ away)))
        moved = [
            place
            for place in range(len(nodes) + 1)
            if (place == len(nodes) or nodes[place] > index)
            and (far[place] > 1e-6 * of.reach_m or not of.turning[index])
        ]
        found.append(moved[0] if moved else None)
    return found


def _towards(start: Vec3, way: Vec3, length: Scalar) -> Vec3:
    """The point at a distance from `start` along a way; `start` where the way is none."""
    long = norm(way)
    none = long < 1e-12
    reached: Vec3 = start + way * select(none, 0.0 * long, length / select(none, 1.0 + 0.0 * long, long))
    return reached


def _sweep(of: Kit, whole: bool) -> Callable[..., Any]:
    size = of.dof
    nodes = nodes_of(of)
    moves = follows(of, nodes)

    def law(*numbers: Scalar) -> Any:
        q, lower, upper = list(numbers[:size]), numbers[size : 2 * size], numbers[2 * size : 3 * size]
        goal, target = goal_of(numbers[3 * size : 3 * size + 12])
        share = numbers[-1]
        _, points, axes = carried(of.arm.joints, q)
        rotation, tip = forward(of.arm, q)
        old = [*(points[node] for node in nodes), tip]
        aims = pass_over(old, target, mat3_multiply(goal, mat3_transpose(rotation)) if whole else None)
        # What has been turned so far moves every point still to come: old point x is now at turned(x).
        turn, shift = None, Vec3(0.0, 0.0, 0.0)
        for i in range(size):
            axis, pivot = axes[i], points[i]
            if turn is not None:
                axis, pivot = mat3_apply(turn, axis), mat3_apply(turn, pivot) + shift
            which = len(nodes) if whole and i >= size - 3 else moves[i]
            if which is None:
                continue
            now = old[which] if turn is None else mat3_apply(turn, old[which]) + shift
            aim = target if which == len(nodes) else aims[which]
            if not of.turning[i]:
                move = clip(dot(axis, aim - now) * share, lower[i] - q[i], upper[i] - q[i])
                q[i] = q[i] + move
                shift = shift + axis * move
                continue
            if whole and i >= size - 3:
                facing = rotation if turn is None else mat3_multiply(turn, rotation)
                pairs, least = pose_pairs(now - pivot, aim - pivot, facing, goal, of.length_m), 1e-12
            else:
                # One point near the axis would decide everything by its noise; all later ones together do not.
                last = None if whole else which + 1
                pairs = [
                    ((x if turn is None else mat3_apply(turn, x) + shift) - pivot, y - pivot)
                    for x, y in zip(old[which:last], aims[which:last], strict=True)
                ]
                least = (1e-6 * of.length_m) ** 2
            angle = best_angle(*turn_to(axis, pairs), lower[i] - q[i], upper[i] - q[i], least) * share
            q[i] = q[i] + angle
            own = turn_about(axis, angle)
            turn = own if turn is None else mat3_multiply(own, turn)
            shift = pivot + mat3_apply(own, shift - pivot)
        return tuple(q)

    return law


def pass_over(old: list[Vec3], target: Vec3, to_goal: Any) -> list[Vec3]:
    """The chain's points after a backward and a forward pass; lengths are those of the present posture."""
    lengths = [norm(b - a) for a, b in zip(old, old[1:], strict=False)]
    new = list(old)
    new[-1] = target
    last = len(old) - 1
    if to_goal is not None and last > 1:
        last -= 1
        new[last] = target + mat3_apply(to_goal, old[last] - old[-1])
    for i in reversed(range(last)):
        new[i] = _towards(new[i + 1], new[i] - new[i + 1], lengths[i])
    new[0] = old[0]
    for i in range(len(old) - 1):
        new[i + 1] = _towards(new[i], new[i + 1] - new[i], lengths[i])
    return new
