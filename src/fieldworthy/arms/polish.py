"""The last digits of postures that are nearly right: damped Newton steps for many at once."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import forward_and_jacobian, pose_error
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.straight import written
from fieldworthy.core.vec import Mat3, Vec3

_STEPS = 30
_GOOD = 1e-12
_ENOUGH = 1e-9
"""A row that is this good and gets no better by a step is left alone."""
_HARDEST = 1e3
"""A row that gets no better with this many times the damping is given up."""


def polished(arm: Arm, base_from_tool: Array, q: Array) -> tuple[Array, Array]:
    """(q (n, dof) within limits, miss (n,)) nearer to poses (n, 4, 4); miss is the larger of metres and radians.

    Equation: dq = J^T (J J^T + k |e|^2 1)^-1 e with the damping of Sugihara, which vanishes at the goal. A step
    counts only where it lowers the miss; a row whose step does not is tried with ten times the damping, three times at
    the most. Source: Sugihara, Solvability-unconcerned inverse kinematics by the
    Levenberg-Marquardt method, IEEE T-RO 27(5), 2011. Limits: from starts a few degrees away; a search from afar is
    `least_squares`.
    """
    goal = np.asarray(base_from_tool).reshape(-1, 16).T[:12]
    best = np.clip(q, arm.lower, arm.upper)
    error, jacobian = _error(arm, best, goal)
    miss = _size(error)
    harder = np.ones(len(best))
    for _ in range(_STEPS):
        open_rows = np.nonzero((miss > _GOOD) & (harder <= _HARDEST))[0]
        if not len(open_rows):
            break
        e, j = error[open_rows], jacobian[open_rows]
        transposed = np.swapaxes(j, 1, 2)
        damping = harder[open_rows] * (1e-3 * (e * e).sum(axis=1) + 1e-15)
        system = j @ transposed + damping[:, None, None] * np.eye(6)
        step = (transposed @ np.linalg.solve(system, e[:, :, None]))[:, :, 0]
        tried = np.clip(best[open_rows] + step, arm.lower, arm.upper)
        new_error, new_jacobian = _error(arm, tried, goal[:, open_rows])
        new_miss = _size(new_error)
        better = new_miss < miss[open_rows]
        worse = open_rows[~better]
        harder[worse] *= np.where(miss[worse] > _ENOUGH, 10.0, math.inf)
        rows = open_rows[better]
        harder[rows] = 1.0
        best[rows], miss[rows] = tried[better], new_miss[better]
        error[rows], jacobian[rows] = new_error[better], new_jacobian[better]
    return best, miss


def _size(error: Array) -> Array:
    return np.asarray(np.maximum(np.linalg.norm(error[:, :3], axis=1), np.linalg.norm(error[:, 3:], axis=1)))


@lru_cache(maxsize=64)
def _law(arm: Arm) -> Any:
    def law(*v: Scalar) -> Any:
        rotation, position, columns = forward_and_jacobian(arm, v[: arm.dof])
        g = v[arm.dof :]
        goal = Mat3(g[0], g[1], g[2], g[4], g[5], g[6], g[8], g[9], g[10])
        return (*pose_error(rotation, position, goal, Vec3(g[3], g[7], g[11])), columns)

    return written(law, arm.dof + 12, "numpy")


def _error(arm: Arm, q: Array, goal: Array) -> tuple[Array, Array]:
    """(error (n, 6), Jacobian (n, 6, dof)) of postures, base frame."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = _law(arm)(*q.T.copy(), *goal)
    error, jacobian = np.empty((len(q), 6)), np.empty((len(q), 6, arm.dof))
    for index, value in enumerate(values):
        if index < 6:
            error[:, index] = value
        else:
            jacobian[:, (index - 6) % 6, (index - 6) // 6] = value
    return error, jacobian
