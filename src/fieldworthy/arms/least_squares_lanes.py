"""The search of least_squares.py for many poses at once, as lanes of the compiled engine: each until it has arrived.

Apart from its imports this is the same search; tests/consistency/test_arm_solvers.py holds the two together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.kit import TURN, Kit, normals_law, solve_law
from fieldworthy.arms.least_squares import DAMPING, HELD, LEAST, PATIENCE
from fieldworthy.core.engine import frozen, load_engine


def search_lanes(
    k: Kit, goals: Array, begin: Array, starts: int, squares: tuple[float, float], most: int, draw: int
) -> tuple[Array, Any]:
    """(postures (n, dof), steps (n,)): start by start, all rows that have not arrived at once, one lane a pose."""
    engine = load_engine("f64")
    if engine not in k.lanes:
        k.lanes[engine] = _search_kernel(k, engine)
    search = k.lanes[engine]
    count = len(goals)
    found, used, least = inside_rows(k, begin.T).T.copy(), np.zeros(count, int), np.full(count, np.inf)
    seen = np.full((2 * starts, count, k.dof), np.nan)
    rows, q = np.arange(count), found.copy()
    options = [engine.scalar(value) for value in (*squares, float(most))]
    for start in range(starts):
        bounded = engine.scalar(1.0 if start % 2 == 0 else 0.0)
        goal = goals[rows]
        answer = search([engine.floats(x) for x in q.T], [engine.floats(x) for x in goal.T], bounded, *options)
        *columns, error, arrived, steps = (value.numpy() for value in (*answer[0], *answer[1:]))
        end = np.array(columns)
        home = inside_rows(k, end)
        turns = (end - home) / TURN
        same = (np.abs(turns - np.round(turns)) < 1e-12).all(axis=0)
        done = same & (arrived > 0.5)
        better = done | (same & (error < least[rows]))
        found[rows[better]] = home.T[better]
        least[rows[better]] = error[better]
        used[rows] += steps.astype(int)
        lost = ~done
        rows = rows[lost]
        if not len(rows) or start + 1 == starts:
            break
        seen[2 * start, rows] = end.T[lost]
        q = k.starts(draw).pick(goals[rows], seen[: 2 * start + 1, rows])
        seen[2 * start + 1, rows] = q
    return found, used


def _search_kernel(k: Kit, engine: Any) -> Any:
    """`_search` on lanes: (q, goal, bounded, squared tolerances, most) -> (q, error, arrived, steps)."""
    import drjit as dr

    size, count = k.dof, k.dof * (k.dof + 1) // 2
    normals, solve = normals_law(k), solve_law(k)
    weight = 0.5 / (k.length_m * k.length_m)
    limits = list(zip(k.lower, k.upper, k.turning, strict=True))

    def search(q: Any, goal: Any, bounded: Any, near: Any, facing: Any, most: Any) -> Any:
        within = bounded > 0.5

        def body(q: Any, error: Any, mark: Any, idle: Any, steps: Any, going: Any, arrived: Any) -> Any:
            values = normals(*q, *goal)
            error = weight * values[-2] + 0.5 * values[-1]
            arrived = (values[-2] <= near) & (values[-1] <= facing)
            better = error < 0.9 * mark
            mark = dr.select(better, error, mark)
            idle = dr.select(better, 0.0 * idle, idle + 1.0)
            going = ~arrived & (idle < PATIENCE) & (steps < most)
            pull = values[count : count + size]
            mu = DAMPING * error + LEAST
            added = []
            for x, g, (low, high, _) in zip(q, pull, limits, strict=True):
                held = within & (((x >= high) & (g > 0.0)) | ((x <= low) & (g < 0.0)))
                added.append(dr.select(held, HELD, mu))
            move = solve(*values[:count], *added, *pull)
            there = []
            for x, step, (low, high, turning) in zip(q, move, limits, strict=True):
                to = x + step
                turned = to + TURN * dr.round(((low + high) * 0.5 - to) / TURN) if turning else to
                home = dr.select((turned >= low) & (turned <= high), turned, dr.clip(to, low, high))
                to = dr.select(within & ((to < low) | (to > high)), home, to)
                there.append(dr.select(going, to, x))
            return there, error, mark, idle, dr.select(going, steps + 1.0, steps), going, arrived

        lanes = dr.width(q)
        zero = dr.zeros(engine.Float, lanes)
        going = dr.full(dr.mask_t(engine.Float), True, lanes)
        state = (q, zero + 0.0, zero + np.inf, zero + 0.0, zero + 0.0, going, ~going)
        q, error, _, _, steps, _, arrived = dr.while_loop(state, lambda *now: now[5], body)
        return q, error, dr.select(arrived, 1.0 + zero, zero), steps

    return frozen(search)


def inside_rows(k: Kit, q: Array) -> Array:
    """`Kit.inside` for columns (dof, n)."""
    low, high = np.array(k.lower)[:, None], np.array(k.upper)[:, None]
    outside = (q < low) | (q > high)
    if not outside.any():
        return q
    turning = np.array(k.turning)[:, None]
    turned = np.where(turning, q + TURN * np.round(((low + high) * 0.5 - q) / TURN), q)
    fits = (turned >= low) & (turned <= high)
    return np.where(outside, np.where(fits, turned, np.clip(q, low, high)), q)
