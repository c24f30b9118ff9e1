"""Every posture that puts the tool at a pose, within limits: closed forms, and least squares where there is none.

`all_postures` gives every branch in every whole turn that the limits allow, `solve` the one nearest to a posture,
`solve_many` that for many poses, `branches_of` many poses with all branches. Answers are checked by forward
kinematics wherever a closed form is near an edge (of reach, singular, calibrated) and polished to 1e-9 m and rad;
where there is none, the answer says why.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed import EDGE, Closed, broken_limit, closed_of, wound
from fieldworthy.arms.exact_branches import (
    STARTS,
    TOLERANCE,
    branches_within,
    by_search,
    held_values,
    miss_of,
    start_of,
    starts_of,
)
from fieldworthy.arms.polish import polished
from fieldworthy.arms.posture import pose_numbers, poses
from fieldworthy.arms.singularity import reach_m
from fieldworthy.arms.solver import Attempt
from fieldworthy.core.errors import FieldworthyError


@dataclass(frozen=True)
class Branches:
    """All branches of a batch of poses, each in the whole turns nearest to a posture."""

    q: Array
    """(n, branches, dof) [rad]; NaN where the branch does not exist or breaks a limit."""
    exists: Any
    """(n, branches) bool: within reach and within limits."""
    sine: Array
    """(n, branches) sine of the middle wrist angle: 0 is a wrist singularity."""


_MOST = 2000
"""Whole turns of one branch; of joints that turn and turn only the nearest are told."""


def all_postures(arm: Arm, base_from_tool: Any, near: Any = None, *, whole_turns: bool = True) -> Array:
    """Every posture within limits that puts the tool at a pose (4, 4): (count, dof) [rad], the nearest to `near` first.

    All branches in all whole turns (of one branch the 2,000 nearest); one posture of each family at a singularity, and
    for seven axes the postures at 33 places of the held joint. near: (dof,); the middle of the limits if None. Arms
    without a closed form: what 64 random starts find.
    whole_turns: False gives each branch once, in the turns nearest to `near`, in no order.
    Raises: FieldworthyError for what is no pose.
    """
    numbers, start = pose_numbers(base_from_tool), start_of(arm, near)
    if not whole_turns:
        return np.array(list(branches_within(arm, numbers, start, every=True))).reshape(-1, arm.dof)
    found: list[list[float]] = []
    for q in branches_within(arm, numbers, start, every=True):
        turns = [
            sorted(wound(x, joint.lower, joint.upper), key=lambda y, near=near: abs(y - near))  # type: ignore[misc]
            if joint.kind == "revolute"
            else [x]
            for x, joint, near in zip(q, arm.joints, start, strict=True)
        ]
        while math.prod(map(len, turns)) > _MOST:
            max(turns, key=len).pop()
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

    Nearest by the sum of squared joint travel: for seven axes of the postures at 34 places of the held joint, without a
    closed form whatever least squares comes to from the seed. seed: the middle of the limits if None. Where no posture
    exists, the answer holds the nearest one that was found, with its errors.
    Raises: FieldworthyError for what is no pose or no posture.
    """
    numbers, start = pose_numbers(base_from_tool), start_of(arm, seed)
    best, least = None, math.inf
    for q in branches_within(arm, numbers, start, every=False):
        away = math.dist(q, start)
        if away < least:
            best, least = q, away
    if best is not None:
        miss = miss_of(arm, best, numbers)
        if max(miss) <= TOLERANCE:
            return Attempt(np.array(best), True, *miss, iterations=1)
    return _otherwise(arm, numbers, start)


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
    start = starts_of(arm, near, count)
    columns = [*goals.reshape(count, 16).T[:12].copy(), *start.T[kept].copy()]
    places = 1
    if hold is not None:
        held = held_values(arm, hold)
        places = len(held)
        columns = [np.repeat(column, places) for column in columns] + [np.tile(held, count)]
    found = form.many(columns)
    # Branches first, poses last, as the kernel gives them; the answer is a view of it the other way round.
    angles, slack, sine = found[:, :6], found[:, 7], found[:, 8]
    if hold is not None:
        angles = np.insert(angles, hold, columns[18], axis=1)
    exists = (slack >= -EDGE) & (found[:, 6] > 0.5)
    unsure = exists if not form.shape.exact else exists & ((slack < EDGE) | (sine < EDGE))
    if unsure.any():
        branch, owner = np.nonzero(unsure)
        better, miss = polished(arm, goals[owner // places], angles[branch, :, owner])
        angles[branch, :, owner], exists[branch, owner] = better, miss <= TOLERANCE
    np.copyto(angles, np.nan, where=~exists[:, None])
    shape = (count, places * 8)
    if places == 1:
        return Branches(angles.transpose(2, 0, 1), exists.T, sine.T)
    q = angles.transpose(2, 0, 1).reshape(*shape, arm.dof)
    return Branches(q, exists.T.reshape(shape), sine.T.reshape(shape))


def solve_many(arm: Arm, base_from_tool: Any, near: Any = None) -> tuple[Array, Any]:
    """(q (n, dof), reached (n,)): for each pose (n, 4, 4) the posture within limits nearest to `near`, (dof,) or (n,
    dof).

    Rows that are not reached are NaN; `solve` says why. Raises: as `solve`.
    """
    goals = poses(base_from_tool).reshape(-1, 4, 4)
    start = starts_of(arm, near, len(goals))
    q, reached = np.full((len(goals), arm.dof), np.nan), np.zeros(len(goals), bool)
    if closed_of(arm) is not None:
        found = branches_of(arm, goals, start)
        away = np.where(found.exists, ((found.q - start[:, None]) ** 2).sum(axis=2), np.inf)
        best = np.argmin(away, axis=1)
        rows = np.arange(len(goals))
        reached = found.exists[rows, best]
        q[reached] = found.q[rows, best][reached]
    rest = ~reached
    form = closed_of(arm)
    if form is not None and form.shape.exact and form.shape.held is None:
        rest &= (found.sine < EDGE).any(axis=1)  # a closed form that finds nothing is right, but at singularities
    for row in np.nonzero(rest)[0]:
        attempt = solve(arm, goals[row], start[row])
        if attempt.reached:
            q[row], reached[row] = attempt.q, True
    return q, reached


def _otherwise(arm: Arm, numbers: list[float], start: list[float]) -> Attempt:
    """Least squares from many starts, and the reason where that fails too."""
    from fieldworthy.arms.least_squares import solve_one

    form = closed_of(arm)
    # A closed form that finds nothing is right, but for families (seven axes, singularities) that were only sampled.
    known = form is not None and form.shape.exact and form.shape.held is None and not _singular(form, numbers, start)
    goal = np.array([*numbers, 0.0, 0.0, 0.0, 1.0]).reshape(4, 4)
    attempt = solve_one(arm, goal, np.array(start), starts=1 if known else STARTS)
    if attempt.reached:
        return attempt
    if not known and (others := [(math.dist(q, start), q) for q in by_search(arm, numbers, start)]):
        q = min(others)[1]
        return Attempt(np.array(q), True, *miss_of(arm, q, numbers), iterations=attempt.iterations)
    why = ""
    if form is not None and form.shape.held is None:
        why = broken_limit(form, [*numbers, *(start[index] for index in form.shape.joints)])
    if not why:
        far = f"{attempt.position_error_m * 1e3:.3g} mm and {math.degrees(attempt.orientation_error_rad):.3g} deg"
        why = f"out of reach: the nearest posture found misses by {far}"
        if attempt.position_error_m > 50.0 * reach_m(arm):
            why += "; are its metres millimetres?"
    return Attempt(attempt.q, False, attempt.position_error_m, attempt.orientation_error_rad, attempt.iterations, why)


def _singular(form: Closed, numbers: list[float], start: list[float]) -> bool:
    near = [start[index] for index in form.shape.joints]
    return any(sine < EDGE for _, _, _, sine in form.one([*numbers, *near], every=True))
