"""Where the tool may turn about its own axis: the turn at each waypoint that saves the most joint travel, found
smoothly."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.exact_branches import TOLERANCE
from fieldworthy.arms.kinematics import fk, jacobian
from fieldworthy.arms.path_candidates import spun
from fieldworthy.arms.polish import polished
from fieldworthy.arms.spline import solve_tridiagonal

_ROUNDS = 40
_MOST_RAD = 0.3
"""Largest change of a turn in one round: the posture follows it by its tangent."""


def smoothed(arm: Arm, goals: Array, q: Array, spin: Array, free: Any, turning: Any) -> tuple[Array, Array]:
    """(q (n, dof), spin (n,)) with less squared travel between waypoints, in the same branches, exact and within
    limits.

    goals (n, 4, 4) before the turn; free (n - 1,): steps that are joint moves and count for nothing. turning (n,):
    where the tool may turn.
    Equation: Gauss-Newton on the sum of |q_k+1 - q_k|^2 with dq = J^+ (z w) of the turn's rate w about the tool's
    axis z, which is a tridiagonal system in the turns. A round counts only where it lowers the sum.
    """
    weight = np.where(free, 0.0, 1.0)
    total = _travel(q, weight)
    for _ in range(_ROUNDS):
        twist = np.zeros((len(q), 6, 1))
        twist[:, 3:, 0] = fk(arm, q)[:, :3, 2]
        j = jacobian(arm, q)
        jt = np.swapaxes(j, 1, 2)
        tangent = (jt @ np.linalg.solve(j @ jt + 1e-6 * np.eye(6), twist))[:, :, 0] * turning[:, None]
        step = np.diff(q, axis=0)
        # Normal equations of sum w |step + t_k+1 d_k+1 - t_k d_k|^2 in d.
        square, cross = (tangent**2).sum(axis=1), -weight * (tangent[1:] * tangent[:-1]).sum(axis=1)
        diagonal = np.full(len(q), 1e-6)  # all turned alike costs nothing: that is left as it is
        diagonal[:-1] += weight * square[:-1]
        diagonal[1:] += weight * square[1:]
        right = np.zeros(len(q))
        right[:-1] += weight * (step * tangent[:-1]).sum(axis=1)
        right[1:] -= weight * (step * tangent[1:]).sum(axis=1)
        below, above = np.append(0.0, cross), np.append(cross, 0.0)
        change = solve_tridiagonal(below, diagonal, above, right[:, None])[:, 0]
        change *= min(1.0, _MOST_RAD / max(np.abs(change).max(), 1e-12))
        lower = False
        while np.abs(change).max() > 1e-5 and not lower:
            change = np.where(turning, change, 0.0)
            turned = spin + change
            tried, miss = polished(arm, goals @ spun(turned), q + tangent * change[:, None])
            near = np.abs(tried - q).max() < 2.0 * _MOST_RAD + np.abs(tangent).max() * _MOST_RAD
            if (miss <= TOLERANCE).all() and near and _travel(tried, weight) < total * (1.0 - 1e-6):
                q, spin, total, lower = tried, turned, _travel(tried, weight), True
            change = change * 0.5
        if not lower:
            break
    return q, spin


def _travel(q: Array, weight: Array) -> float:
    return float(((np.diff(q, axis=0) ** 2).sum(axis=1) * weight).sum())
