"""Which shape an arm has, and what the closed form of that shape wants to know of it.

Three shapes of six joints are known, and each also with one more joint that is held (a seven-axis arm whose elbow is
chosen):
- a spherical wrist (the last three axes meet) behind axes 2 and 3 that are parallel: KUKA, ABB, FANUC and most others;
- a spherical wrist behind axes 1 and 2 that meet: seven-axis arms with joint 3 held;
- axes 2, 3 and 4 parallel, 5 and 6 meeting: Universal Robots and most collaborative arms.
Source: Pieper, The Kinematics of Manipulators under Computer Control, Stanford, 1968; Elias & Wen, IK-Geo, 2025
Frames: base, zero posture, as `chain` has them. Limits: what a shape asks for must hold to 1e-11 or the answers
of its closed form are only near (`Shape.exact`), as for arms whose kinematics were calibrated; whoever uses them
polishes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import Arm, Array, Triple
from fieldworthy.arms.kinematics import turn_about

_EXACT = 1e-11
"""Radians, and shares of the arm's size, up to which it has the shape: sums of a file's numbers are that good."""
_NEAR = 0.005
"""Radians, and shares of the arm's length, up to which a shape counts as calibrated rather than another one."""

ShapeKind = Literal["spherical, 2 and 3 parallel", "spherical, 1 and 2 meet", "2, 3 and 4 parallel"]


@dataclass(frozen=True)
class Shape:
    """What was recognised: which joints are solved for, and points on their axes that the formulas want."""

    kind: ShapeKind
    joints: tuple[int, ...]
    """Indices of the six joints that are solved for."""
    points: tuple[Triple, ...]
    """A point on each of the six axes, base frame, zero posture [m]."""
    held: int | None
    """Index of the joint whose position is given, for seven axes."""
    square: bool
    """Whether the wrist's axes are at right angles: it can then turn any way."""
    aside: Triple
    """A vector across the last axis, base frame, zero posture: its turn shows the last angle."""
    exact: bool
    """Whether the arm has the shape to 1e-11 of its size, and to 1e-11 rad."""


def recognised(arm: Arm) -> Shape | None:
    """The shape of an arm, or None where no closed form is known."""
    if any(joint.kind != "revolute" for joint in arm.joints) or arm.dof not in (6, 7):
        return None
    # Joint 3 of a shoulder of three is the usual one to hold; any other that leaves a known shape will do.
    for held in (None,) if arm.dof == 6 else (2, 3, 1, 4, 0, 5, 6):
        kept = tuple(index for index in range(arm.dof) if index != held)
        # With a held joint the shape must be there wherever it stands, and not only where axes happen to be parallel.
        placed = [_placed(arm, kept, held, angle) for angle in (0.7, 2.1)]
        found, other = (_shape_of(*axes_and_points) for axes_and_points in placed)
        if found is None or other is None or found[0] != other[0]:
            continue
        square = all(_is_square(found[0], axes) for axes, _ in placed)
        kind, places, error = found
        if held is not None:
            turn, pivot = _turn(arm, held, 0.7), np.array(arm.joints[held].point_m)
            after = [place for place, index in enumerate(kept) if index > held]
            places[after] = pivot + (places[after] - pivot) @ turn
        last, before = (np.array(arm.joints[index].axis) for index in (kept[5], kept[4]))
        aside = np.cross(last, before)
        return Shape(
            kind, kept, tuple(map(tuple, places.tolist())), held, square,
            tuple((aside / np.linalg.norm(aside)).tolist()), error <= _EXACT,
        )  # fmt: skip
    return None


def _is_square(kind: ShapeKind, axes: Array) -> bool:
    first = axes[1] if kind == "2, 3 and 4 parallel" else axes[3]
    return bool(max(abs(first @ axes[4]), abs(axes[4] @ axes[5])) < 1e-12)


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
    """(kind, points, how far from the ideal [rad, or share of the arm's size]) of six axes."""

    def parallel(i: int, j: int) -> float:
        return float(np.linalg.norm(np.cross(axes[i], axes[j])))

    def lever(axis: int, start: Array, end: Array) -> float:
        """Distance of `end` from the axis through `start`: without one, its turn changes nothing."""
        return float(np.linalg.norm(np.cross(axes[axis], end - start)))

    wrist, miss = _meeting(axes[3:], points[3:])
    # Lengths count in units of the arm's own size, which no posture changes: from axis 2 to axis 3, and to the wrist.
    upper, fore = lever(1, points[1], points[2]), lever(2, points[2], wrist)
    size = max(upper + fore, 1e-12)
    if miss < _NEAR * size and min(upper, fore) > 1e-3 * size and min(parallel(3, 4), parallel(4, 5)) > 0.1:
        places = points.copy()
        places[3:] = wrist
        shoulder, off = _meeting(axes[:2], points[:2])
        if parallel(0, 1) > 0.1 and off <= _EXACT * size and parallel(1, 2) > 1e-9:
            places[:2] = shoulder
            return "spherical, 1 and 2 meet", places, max(miss, off) / size
        if parallel(1, 2) < _NEAR and parallel(0, 1) > 0.1:
            return "spherical, 2 and 3 parallel", places, max(miss / size, parallel(1, 2))
    wrist, miss = _meeting(axes[4:], points[4:])
    bent = max(parallel(1, 2), parallel(1, 3))
    fore = lever(2, points[2], points[3])
    size = max(upper + fore, 1e-12)
    square = min(parallel(0, 1), parallel(3, 4), parallel(4, 5)) > 0.1
    if max(miss / size, bent) < _NEAR and min(upper, fore) > 1e-3 * size and square:
        places = points.copy()
        places[4:] = wrist
        return "2, 3 and 4 parallel", places, max(miss / size, bent)
    return None


def _meeting(axes: Array, points: Array) -> tuple[Array, float]:
    """(point nearest to all lines, largest distance of a line from it) [m]."""
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    point = np.linalg.lstsq(across.sum(axis=0), (across @ points[:, :, None]).sum(axis=0)[:, 0], rcond=None)[0]
    return point, float(np.linalg.norm(across @ (points - point)[:, :, None], axis=1).max())
