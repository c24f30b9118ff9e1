"""The few geometric questions that closed forms of inverse kinematics are made of, on scalars of any engine.

Source: Paden, Kinematics and Control of Robot Manipulators, PhD thesis, UC Berkeley, 1985; Elias & Wen, IK-Geo:
unified robot inverse kinematics using subproblem decomposition, Mechanism and Machine Theory 209, 2025 (whose
numbering is used)
"""

from __future__ import annotations

from typing import NamedTuple

from fieldworthy.arms.kinematics import turn_about
from fieldworthy.core.lanes import Scalar, abs, atan2, maximum, sqrt
from fieldworthy.core.vec import Vec3, cross, dot, mat3_apply


class Pair(NamedTuple):
    """Two angles [rad] that answer one question, and how far the question is from having none."""

    first: Scalar
    second: Scalar
    slack: Scalar
    """How far from the edge of what can be answered, in the unit of the question's `value`; negative: no answer, and
    the two angles are then the nearest one."""


def turned(axis: Vec3, angle_rad: Scalar, v: Vec3) -> Vec3:
    """The vector turned about a unit axis."""
    return mat3_apply(turn_about(axis, angle_rad), v)


def angle_between(axis: Vec3, start: Vec3, goal: Vec3) -> Scalar:
    """Subproblem 1: the turn about `axis` that brings `start` onto `goal` (or nearest to it); 0 where every turn
    does."""
    # Of both vectors only what lies across the axis, or a short rest of a long vector loses its digits.
    a, b = cross(axis, start), cross(axis, goal)
    return atan2(dot(axis, cross(a, b)), dot(a, b))


def angles_at_height(axis: Vec3, direction: Vec3, start: Vec3, value: Scalar, sine: Scalar | None = None) -> Pair:
    """Subproblem 4: the turns of `start` about `axis` after which its product with `direction` is `value`.

    Equation: c cos(t) + s sin(t) = m = value - (d.k)(p.k), c = d.p - (d.k)(p.k), s = d.(k x p):
    t = atan2(s, c) +- acos(m/rho)
    sine: sqrt(rho^2 - m^2) where the caller knows it better: the difference loses half of the digits at its edge.
    """
    fixed = dot(direction, axis) * dot(start, axis)
    c = dot(direction, start) - fixed
    s = dot(direction, cross(axis, start))
    m = value - fixed
    rho = sqrt(c * c + s * s)
    if sine is None:
        sine = sqrt(maximum((rho - m) * (rho + m), 0.0))
    middle, half = atan2(s, c), atan2(sine, m)
    return Pair(middle + half, middle - half, rho - abs(m))


def angles_at_distance(axis: Vec3, start: Vec3, offset: Vec3, squared: Scalar) -> Pair:
    """Subproblem 3: the turns of `start` about `axis` that put `offset` + `start` at a distance from the origin,
    given squared."""
    value = (squared - dot(offset, offset) - dot(start, start)) * 0.5
    return angles_at_height(axis, offset, start, value)
