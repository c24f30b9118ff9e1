"""Inverse kinematics of any chain by damped least squares: one pose in well under a millisecond, many as lanes.

Equation: (J^T J + mu 1) dq = J^T e, e = (offset / length, rotation vector), mu = 0.1 E + 1e-12 with E = |e|^2 / 2.
Damping by the error keeps steps bounded far away and at singularities, and vanishes fast enough for quadratic
convergence at a solution (linear, by halves, at a double root).
Source: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics
27(5), 2011; Chan & Lawrence, "General inverse kinematics with the error damped pseudoinverse", ICRA 1988
Limits: a joint that stands at a limit and is pushed outward is held for that step; a joint that passes one goes by
whole turns where its range allows, else to the limit. Every second start ignores the limits until it has arrived.
Starts after the first come from a library of random postures of the arm (starts.py), which depends on nothing but the
arm and the number `draw`: the same call gives the same answer.
Verified by: tests/verification/test_arm_dls.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kit import TURN, Kit, errors_law, goal_numbers, kit, posture
from fieldworthy.arms.posture import poses, postures
from fieldworthy.arms.solver import Attempt
from fieldworthy.core.errors import FieldworthyError

DAMPING = 0.1
LEAST = 1e-12
HELD = 1e30
"""Added to the diagonal for a joint that is to stay."""
PATIENCE = 8
"""Iterations without a tenth less error after which a start is given up."""
_FEW = 16
"""Below so many poses one after the other is sooner done than a kernel is launched."""


NDArrayBool = np.ndarray[Any, np.dtype[np.bool_]]


class Solutions(NamedTuple):
    """Answers for n poses."""

    q: Array
    """(n, dof), always within the limits; where not ok, the best posture found."""
    ok: NDArrayBool
    """(n,), both errors within the tolerances."""
    position_error_m: Array
    orientation_error_rad: Array
    iterations: Array
    """(n,), steps over all starts."""


def solve_one(
    arm: Arm,
    base_from_tool: Any,
    seed: Any,
    starts: int = 8,
    tolerance_m: float = 1e-9,
    tolerance_rad: float = 1e-9,
    iterations: int = 40,
    damping: float | None = None,
    draw: int = 0,
) -> Attempt:
    """Joint positions for a pose (4, 4), first from `seed` (dof,), then from other starts.

    `iterations` is the most of one start; `damping` puts a constant lambda in the place of the error's own damping.
    The answer is wound as near to the seed as the limits allow. Where no start arrives, it is the best posture found.
    Raises: FieldworthyError for a pose or seed that is none.
    """
    seed_q = posture(arm, seed)
    k = kit(arm)
    goal = goal_numbers(base_from_tool)
    squares = (tolerance_m * tolerance_m, tolerance_rad * tolerance_rad)
    q, arrived, used = _search(k, goal, k.inside(seed_q), squares, iterations, damping, bounded=True)
    ends, seen = [q], [q]
    while not arrived and len(ends) < starts:
        start = k.starts(draw).pick(np.array([goal]), np.array(seen)[:, None])[0].tolist()
        q, arrived, more = _search(k, goal, start, squares, iterations, damping, bounded=len(ends) % 2 == 0)
        used += more
        ends.append(q)
        seen += [start, q]
    if not arrived:
        best = min((k.inside(end) for end in ends), key=lambda end: k.cost(*k.errors(*end, *goal)))
        q, more = descend(k, goal, best, k.lower, k.upper, iterations)
        used += more
    return k.attempt(goal, k.wound(q, seed_q), used, (tolerance_m, tolerance_rad))


def _search(
    k: Kit,
    goal: Sequence[float],
    q: list[float],
    squares: tuple[float, float],
    iterations: int,
    damping: float | None,
    bounded: bool,
) -> tuple[list[float], bool, int]:
    """(where one start ends, whether that is the goal and within the limits, steps)."""
    size, count = k.dof, k.dof * (k.dof + 1) // 2
    weight = 0.5 / (k.length_m * k.length_m)
    mark, idle = float("inf"), 0
    for step in range(iterations):
        values = k.normals(*q, *goal)
        distance, angle = values[-2:]
        if distance <= squares[0] and angle <= squares[1]:
            if bounded:
                return q, True, step
            home = k.inside(q)
            same = all(abs((a - b) / TURN - round((a - b) / TURN)) < 1e-12 for a, b in zip(q, home, strict=True))
            return (home, True, step) if same else (q, False, step)
        error = weight * distance + 0.5 * angle
        if error < 0.9 * mark:
            mark, idle = error, 0
        else:
            idle += 1
            if idle >= PATIENCE:
                return q, False, step
        pull = values[count : count + size]
        mu = [DAMPING * error + LEAST if damping is None else damping * damping + LEAST] * size
        if bounded:
            _hold(mu, q, pull, k.lower, k.upper)
        move = k.solve(*values[:count], *mu, *pull)
        q = [a + b for a, b in zip(q, move, strict=True)]
        if bounded:
            q = k.inside(q)
    return q, False, iterations


def _hold(
    mu: list[float], q: Sequence[float], pull: Sequence[float], lower: Sequence[float], upper: Sequence[float]
) -> None:
    for index, x in enumerate(q):
        if (x >= upper[index] and pull[index] > 0.0) or (x <= lower[index] and pull[index] < 0.0):
            mu[index] = HELD


def descend(
    k: Kit,
    goal: Sequence[float],
    q: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    iterations: int = 20,
    damping: float | None = None,
) -> tuple[list[float], int]:
    """(posture, steps): down from q within the bounds, without jumps: a step is taken only where it lowers the error.

    Ends where the error is numerically nothing or no damping gives a lower one. Source: Marquardt 1963
    """
    size, count = k.dof, k.dof * (k.dof + 1) // 2
    weight = 0.5 / (k.length_m * k.length_m)
    now = [min(max(x, low), high) for x, low, high in zip(q, lower, upper, strict=True)]
    values = k.normals(*now, *goal)
    error = weight * values[-2] + 0.5 * values[-1]
    least = DAMPING if damping is None else 1.0
    factor = least
    for step in range(iterations):
        if error < 1e-24:
            return now, step
        pull = values[count : count + size]
        scale = error if damping is None else damping * damping
        mu = [factor * scale + LEAST] * size
        _hold(mu, now, pull, lower, upper)
        move = k.solve(*values[:count], *mu, *pull)
        there = [min(max(a + b, lo), hi) for a, b, lo, hi in zip(now, move, lower, upper, strict=True)]
        new = k.normals(*there, *goal)
        lower_error = weight * new[-2] + 0.5 * new[-1]
        if lower_error < error * (1.0 - 1e-9):
            now, values, error = there, new, lower_error
            factor = max(factor / 4.0, least)
        else:
            factor *= 8.0
            if factor * scale > 1e6:
                return now, step + 1
    return now, iterations


def solve_many(
    arm: Arm,
    base_from_tools: Any,
    seeds: Any = None,
    starts: int = 8,
    tolerance_m: float = 1e-9,
    tolerance_rad: float = 1e-9,
    iterations: int = 40,
    draw: int = 0,
) -> Solutions:
    """The same for poses (n, 4, 4) at once, from seeds (n, dof) or, without, from the library of starts.

    Runs as lanes of the compiled engine (a kernel is compiled once for an arm and kept on disk).
    Raises: FieldworthyError for poses or seeds that are none; EngineError where no compiled engine can run.
    """
    k = kit(arm)
    goal_rows = np.ascontiguousarray(poses(base_from_tools).reshape(-1, 4, 4)[:, :3].reshape(-1, 12))
    count = len(goal_rows)
    if seeds is None:
        begin = k.starts(draw).pick(goal_rows)
    else:
        begin = np.atleast_2d(postures(arm, seeds, "seeds"))
        if len(begin) != count:
            raise FieldworthyError(f"seeds: {len(begin)} rows for {count} poses; valid: one row a pose")
    if count < _FEW:
        found, used = _one_by_one(arm, goal_rows, begin, starts, tolerance_m, tolerance_rad, iterations, draw)
    else:
        squares = (tolerance_m * tolerance_m, tolerance_rad * tolerance_rad)
        from fieldworthy.arms.least_squares_lanes import search_lanes

        found, used = search_lanes(k, goal_rows, begin, starts, squares, iterations, draw)
    if seeds is not None:
        found = wound_rows(k, found.T, begin.T).T
    distance, angle = k.law(errors_law, k.dof + 12, "numpy")(*found.T.copy(), *goal_rows.T.copy())
    return Solutions(found, (distance <= tolerance_m) & (angle <= tolerance_rad), distance, angle, used)


def _one_by_one(
    arm: Arm, goals: Array, begin: Array, starts: int, tolerance_m: float, tolerance_rad: float, most: int, draw: int
) -> tuple[Array, Any]:
    found, used = begin.copy(), np.zeros(len(begin), int)
    for row, goal in enumerate(goals):
        pose = np.vstack([goal.reshape(3, 4), (0.0, 0.0, 0.0, 1.0)])
        answer = solve_one(arm, pose, begin[row], starts, tolerance_m, tolerance_rad, most, draw=draw)
        found[row], used[row] = answer.q, answer.iterations
    return found, used


def wound_rows(k: Kit, q: Array, near: Array) -> Array:
    """`Kit.wound` for columns (dof, n)."""
    low, high = np.array(k.lower)[:, None], np.array(k.upper)[:, None]
    turns = np.round((near - q) / TURN)
    turns = np.clip(turns, np.ceil((low - q) / TURN), np.floor((high - q) / TURN))
    return np.where(np.array(k.turning)[:, None], np.clip(q + TURN * turns, low, high), q)
