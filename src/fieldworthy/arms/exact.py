"""Every posture that puts the tool at a pose, within limits: closed forms, and least squares where there is none.

`all_postures` gives every branch in every whole turn that the limits allow, `solve` the one nearest to a posture,
`solve_many` that for many poses, `branches_of` many poses with all branches. Answers are checked by forward
kinematics wherever a closed form is near an edge (of reach, singular, calibrated) and polished to 1e-9 m and rad;
where there is none, the answer says why.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed import EDGE, Closed, broken_limit, closed_of, wound
from fieldworthy.arms.kinematics import forward, pose_error_size
from fieldworthy.arms.polish import polished
from fieldworthy.arms.posture import pose_numbers, poses, postures
from fieldworthy.arms.solver import Attempt
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
_STARTS = 64
"""Random starts of least squares, where there is no closed form."""


@dataclass(frozen=True)
class Branches:
    """All branches of a batch of poses, each in the whole turns nearest to a posture."""

    q: Array
    """(n, branches, dof) [rad]; NaN where the branch does not exist or breaks a limit."""
    exists: Any
    """(n, branches) bool: within reach and within limits."""
    sine: Array
    """(n, branches) sine of the middle wrist angle: 0 is a wrist singularity."""
    within_reach: Any
    """(n, branches) bool: within reach, whatever the limits say."""


def all_postures(arm: Arm, base_from_tool: Any, near: Any = None, *, whole_turns: bool = True) -> Array:
    """Every posture within limits that puts the tool at a pose (4, 4): (count, dof) [rad], the nearest to `near` first.

    All branches in all whole turns; one posture of each family at a singularity, and for seven axes the postures at
    33 places of the held joint. near: (dof,); the middle of the limits if None. Arms without a closed form: what 64
    random starts find.
    whole_turns: False gives each branch once, in the turns nearest to `near`, in no order.
    Raises: FieldworthyError for what is no pose.
    """
    numbers, start = pose_numbers(base_from_tool), start_of(arm, near)
    if not whole_turns:
        return np.array(list(_postures(arm, numbers, start, every=True))).reshape(-1, arm.dof)
    found: list[list[float]] = []
    for q in _postures(arm, numbers, start, every=True):
        turns = [
            wound(x, joint.lower, joint.upper) if joint.kind == "revolute" else [x]
            for x, joint in zip(q, arm.joints, strict=True)
        ]
        found += [list(combined) for combined in itertools.product(*turns)]
    if not found:
        return np.empty((0, arm.dof))
    rows = np.array(found)
    rows = rows[np.argsort(np.abs(rows - start).max(axis=1), kind="stable")]
    kept = np.unique(np.round(rows, 8), axis=0, return_index=True)[1]
    return rows[np.sort(kept)]


def solve(arm: Arm, base_from_tool: Any, seed: Any = None) -> Attempt:
    """The posture within limits that puts the tool at a pose (4, 4) and is nearest to `seed` (dof,), or why there is
    none.

    Nearest by the sum of squared joint travel; seed: the middle of the limits if None. Where no posture exists, the
    answer holds the nearest one that was found, with its errors. Raises: FieldworthyError for what is no pose or no
    posture.
    """
    numbers, start = pose_numbers(base_from_tool), start_of(arm, seed)
    best, least = None, math.inf
    for q in _postures(arm, numbers, start, every=False):
        away = math.dist(q, start)
        if away < least:
            best, least = q, away
    if best is not None:
        return Attempt(np.array(best), True, *miss_of(arm, best, numbers), iterations=1)
    return _otherwise(arm, np.asarray(base_from_tool, float), numbers, start)


def branches_of(arm: Arm, base_from_tool: Any, near: Any = None) -> Branches:
    """All branches of poses (n, 4, 4), each wound nearest to `near`, (dof,) or (n, dof); 8 of six-axis arms, 264 of
    seven.

    Raises: FieldworthyError for what is no pose, or an arm without a closed form.
    """
    form = closed_of(arm)
    if form is None:
        raise FieldworthyError(f"arm {arm.name}: no closed form; valid: solve, one pose at a time")
    goals = poses(base_from_tool).reshape(-1, 4, 4)
    count, kept, hold = len(goals), list(form.shape.joints), form.shape.held
    start = np.broadcast_to(start_of(arm, None) if near is None else postures(arm, near, "near"), (count, arm.dof))
    columns = [*goals.reshape(count, 16).T[:12].copy(), *start.T[kept].copy()]
    places = 1
    if hold is not None:
        held = _held_values(arm, hold)
        places = len(held)
        columns = [np.repeat(column, places) for column in columns] + [np.tile(held, count)]
    found = form.many(columns)
    # Branches first, poses last, as the kernel gives them; the answer is a view of it the other way round.
    angles, slack, sine = found[:, :6], found[:, 7], found[:, 8]
    if hold is not None:
        angles = np.insert(angles, hold, columns[18], axis=1)
    reach = slack >= -EDGE
    exists = reach & (found[:, 6] > 0.5)
    unsure = exists if not form.shape.exact else exists & ((slack < EDGE) | (sine < EDGE))
    if unsure.any():
        branch, owner = np.nonzero(unsure)
        better, miss = polished(arm, goals[owner // places], angles[branch, :, owner])
        angles[branch, :, owner], exists[branch, owner] = better, miss <= TOLERANCE
    np.copyto(angles, np.nan, where=~exists[:, None])
    shape = (count, places * 8)
    if places == 1:
        return Branches(angles.transpose(2, 0, 1), exists.T, sine.T, reach.T)
    q = angles.transpose(2, 0, 1).reshape(*shape, arm.dof)
    return Branches(q, exists.T.reshape(shape), sine.T.reshape(shape), reach.T.reshape(shape))


def solve_many(arm: Arm, base_from_tool: Any, near: Any = None) -> tuple[Array, Any]:
    """(q (n, dof), reached (n,)): for each pose (n, 4, 4) the posture within limits nearest to `near`, (dof,) or (n,
    dof).

    Rows that are not reached are NaN; `solve` says why. Raises: as `solve`.
    """
    goals = poses(base_from_tool).reshape(-1, 4, 4)
    start = np.broadcast_to(start_of(arm, None) if near is None else postures(arm, near, "near"), (len(goals), arm.dof))
    q, reached = np.full((len(goals), arm.dof), np.nan), np.zeros(len(goals), bool)
    if closed_of(arm) is not None:
        found = branches_of(arm, goals, start)
        away = np.where(found.exists, ((found.q - start[:, None]) ** 2).sum(axis=2), np.inf)
        best = np.argmin(away, axis=1)
        rows = np.arange(len(goals))
        reached = found.exists[rows, best]
        q[reached] = found.q[rows, best][reached]
    for row in np.nonzero(~reached)[0]:
        attempt = solve(arm, goals[row], start[row])
        if attempt.reached:
            q[row], reached[row] = attempt.q, True
    return q, reached


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


def _held_values(arm: Arm, held: int) -> Array:
    joint = arm.joints[held]
    return np.linspace(max(joint.lower, -math.pi), min(joint.upper, math.pi), _HELD)


def _postures(arm: Arm, numbers: list[float], start: list[float], every: bool) -> Iterator[list[float]]:
    """Postures within limits, one of each branch, in the whole turns nearest to `start`.

    every: for seven axes at all places of the held joint, not only until no nearer posture can follow.
    """
    form = closed_of(arm)
    if form is None:
        if every:
            yield from _by_search(arm, numbers, start)
    elif form.shape.held is None:
        some = False
        for q in _sure(form, numbers, start, ()):
            some = True
            yield q
        if not some:
            yield from _free_joint(form, numbers, start)
    else:
        yield from _at_held_places(form, numbers, start, every)


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
    places = sorted([start[hold], *_held_values(form.arm, hold).tolist()], key=lambda x: abs(x - start[hold]))
    least = math.inf
    for place in places:
        if not every and abs(place - start[hold]) > least:
            return
        for q in _sure(form, numbers, start, (place,)):
            least = min(least, math.dist(q, start))
            yield q


def _by_search(arm: Arm, numbers: list[float], start: list[float]) -> Iterator[list[float]]:
    """Distinct postures that least squares finds from random starts."""
    from fieldworthy.arms.least_squares import solve_many as search

    goal = np.array([*numbers, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)
    rng = np.random.Generator(np.random.Philox(key=1))
    low, high = np.maximum(arm.lower, -math.pi), np.minimum(arm.upper, math.pi)
    seeds = np.vstack([start, rng.uniform(low, np.maximum(low, high), (_STARTS - 1, arm.dof))])
    found = search(arm, np.broadcast_to(goal, (_STARTS, 4, 4)), seeds, starts=1)
    yield from found[0][found[1]].tolist()


def _otherwise(arm: Arm, goal: Array, numbers: list[float], start: list[float]) -> Attempt:
    """Least squares from many starts, and the reason where that fails too."""
    from fieldworthy.arms.least_squares import solve_one

    form = closed_of(arm)
    # A closed form that finds nothing is right, but for families (seven axes, singularities) that were only sampled.
    known = form is not None and form.shape.exact and form.shape.held is None and not _singular(form, numbers, start)
    attempt = solve_one(arm, goal, np.array(start), starts=1 if known else _STARTS)
    if attempt.reached:
        return attempt
    if not known and (others := [(math.dist(q, start), q) for q in _by_search(arm, numbers, start)]):
        q = min(others)[1]
        return Attempt(np.array(q), True, *miss_of(arm, q, numbers), iterations=attempt.iterations)
    why = (
        broken_limit(form, [*numbers, *(start[index] for index in form.shape.joints)])
        if form is not None and form.shape.held is None
        else ""
    )
    if not why:
        far = f"{attempt.position_error_m * 1e3:.3g} mm and {math.degrees(attempt.orientation_error_rad):.3g} deg"
        why = f"out of reach: the nearest posture found misses by {far}"
    return Attempt(attempt.q, False, attempt.position_error_m, attempt.orientation_error_rad, attempt.iterations, why)


def _singular(form: Closed, numbers: list[float], start: list[float]) -> bool:
    near = [start[index] for index in form.shape.joints]
    return any(sine < EDGE for _, _, _, sine in form.one([*numbers, *near], every=True))
