"""One pose at a time: the postures of all branches, tried and polished where a closed form is near an edge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed import EDGE, Closed, closed_of
from fieldworthy.arms.kinematics import forward, pose_error_size
from fieldworthy.arms.polish import polished
from fieldworthy.arms.posture import postures
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.straight import written
from fieldworthy.core.vec import Mat3, Vec3

TOLERANCE = 1e-9
"""Metres and radians to which a pose counts as reached."""
_HELD = 33
"""Positions of the held joint of seven-axis arms that are tried."""
_FREE = 24
"""Directions that are tried of a joint which a singularity leaves free."""
STARTS = 64
"""Random starts of least squares, where there is no closed form."""


def start_of(arm: Arm, near: Any) -> list[float]:
    """A posture within limits to be near to: the given one (dof,), or the middle of the limits.

    Raises: FieldworthyError for what is no posture.
    """
    if near is None:
        return [
            0.5 * (joint.lower + joint.upper) if math.isfinite(joint.upper - joint.lower) else 0.0
            for joint in arm.joints
        ]
    rows = postures(arm, near, "seed")
    if rows.ndim != 1:
        raise FieldworthyError(f"seed: shape {rows.shape}; valid: ({arm.dof},)")
    return [min(max(x, joint.lower), joint.upper) for x, joint in zip(rows.tolist(), arm.joints, strict=True)]


def starts_of(arm: Arm, near: Any, count: int) -> Array:
    """(count, dof) postures within limits to be near to: (dof,) or (count, dof) given, or the middle of the limits.

    Raises: FieldworthyError for what are no postures, or another number of them.
    """
    if near is None:
        return np.broadcast_to(start_of(arm, None), (count, arm.dof))
    rows = postures(arm, near, "near")
    if rows.ndim == 2 and len(rows) != count:
        raise FieldworthyError(f"near: {len(rows)} postures for {count} poses; valid: one, or one for each pose")
    return np.broadcast_to(np.clip(rows, arm.lower, arm.upper), (count, arm.dof))


@lru_cache(maxsize=64)
def _miss_law(arm: Arm) -> Any:
    def law(*v: Scalar) -> Any:
        g = v[arm.dof :]
        rotation = Mat3(g[0], g[1], g[2], g[4], g[5], g[6], g[8], g[9], g[10])
        return pose_error_size(*forward(arm, v[: arm.dof]), rotation, Vec3(g[3], g[7], g[11]))

    return written(law, arm.dof + 12)


def miss_of(arm: Arm, q: list[float], numbers: list[float]) -> tuple[float, float]:
    """(distance [m], angle [rad]) by which a posture misses a pose of 12 numbers."""
    distance, chord = _miss_law(arm)(*q, *numbers)
    return distance, chord if chord < 1e-6 else 2.0 * math.asin(min(0.5 * chord, 1.0))


def held_values(arm: Arm, held: int) -> Array:
    joint = arm.joints[held]
    middle = 0.5 * (joint.lower + joint.upper)
    return np.linspace(max(joint.lower, middle - math.pi), min(joint.upper, middle + math.pi), _HELD)


def branches_within(arm: Arm, numbers: list[float], start: list[float], every: bool) -> Iterator[list[float]]:
    """Postures within limits, one of each branch, in the whole turns nearest to `start`.

    every: for seven axes at all places of the held joint, not only until no nearer posture can follow.
    """
    form = closed_of(arm)
    if form is None:
        if every:
            yield from by_search(arm, numbers, start)
        return
    some, held = False, form.shape.held is not None
    for q in _at_held_places(form, numbers, start, every) if held else _sure(form, numbers, start, ()):
        some = True
        yield q
    if not some and not held:
        yield from _free_joint(form, numbers, start)
    if every and not form.shape.exact:  # branches of the ideal shape may be too far from those of the arm
        yield from by_search(arm, numbers, start)


def _sure(form: Closed, numbers: list[float], near: list[float], held: tuple[float, ...]) -> Iterator[list[float]]:
    """Branches of six joints within limits that put the tool at the pose; those near an edge are tried and polished."""
    arm, shape = form.arm, form.shape
    for angles, _, slack, sine in form.one([*numbers, *(near[index] for index in shape.joints), *held]):
        if angles is None:
            continue
        if held:
            angles.insert(shape.held, held[0])  # type: ignore[arg-type]
        if shape.exact and slack >= EDGE and sine >= EDGE:
            yield angles
            continue
        if max(miss_of(arm, angles, numbers)) > 1e-12:
            goal = np.array([*numbers, 0.0, 0.0, 0.0, 1.0]).reshape(1, 4, 4)
            better, miss = polished(arm, goal, np.array([angles]))
            if miss[0] > TOLERANCE:
                continue
            angles = better[0].tolist()
        yield angles


def _free_joint(form: Closed, numbers: list[float], start: list[float]) -> Iterator[list[float]]:
    """Where a singularity leaves a joint free, its usual choice may break a limit or be out of reach: other choices."""
    for place in (form.shape.joints[5], form.shape.joints[0]):
        for step in range(_FREE):
            near = list(start)
            near[place] = -math.pi + step * (2.0 * math.pi / _FREE)
            yield from _sure(form, numbers, near, ())


def _at_held_places(form: Closed, numbers: list[float], start: list[float], every: bool) -> Iterator[list[float]]:
    hold = form.shape.held
    assert hold is not None
    places = sorted([start[hold], *held_values(form.arm, hold).tolist()], key=lambda x: abs(x - start[hold]))
    least = math.inf
    for place in places:
        if not every and abs(place - start[hold]) > least:
            return
        for q in _sure(form, numbers, start, (place,)):
            least = min(least, math.dist(q, start))
            yield q


def by_search(arm: Arm, numbers: list[float], start: list[float]) -> Iterator[list[float]]:
    """Distinct postures that least squares finds from random starts."""
    from fieldworthy.arms.least_squares import solve_many as search

    goal = np.array([*numbers, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)
    rng = np.random.Generator(np.random.Philox(key=1))
    low, high = np.maximum(arm.lower, -math.pi), np.minimum(arm.upper, math.pi)
    seeds = np.vstack([start, rng.uniform(low, np.maximum(low, high), (STARTS - 1, arm.dof))])
    found = search(arm, np.broadcast_to(goal, (STARTS, 4, 4)), seeds, starts=1)
    yield from found[0][found[1]].tolist()
