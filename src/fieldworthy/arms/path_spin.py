"""What is free along a path, the turn of a tool about its own axis or the elbow of seven joints, chosen smoothly.

The search over all waypoints tries a few values of what is free. Between them lies the way of least travel, which is
found by following each posture along what leaves the tool where it is.
Equation: Gauss-Newton on the sum of |q_k+1 - q_k|^2 with dq = t d, where t is the tangent of what is free; that is a
tridiagonal system in the d. A round counts only where it lowers the sum. Postures stay exact and within limits.
"""

from __future__ import annotations

from collections.abc import Callable
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
"""Largest change in one round: the posture follows it by its tangent."""


def smoothed(arm: Arm, goals: Array, q: Array, spin: Array, free: Any, turning: Any) -> tuple[Array, Array]:
    """(q (n, dof), spin (n,)) with less squared travel between waypoints, in the same branches.

    goals (n, 4, 4) before the turn; free (n - 1,): steps that are joint moves and count for nothing. turning (n,):
    where the tool may turn.
    """

    def tangent(postures: Array) -> Array:
        """J^+ of a turn about the tool's axis."""
        twist = np.zeros((len(postures), 6, 1))
        twist[:, 3:, 0] = fk(arm, postures)[:, :3, 2]
        j = jacobian(arm, postures)
        jt = np.swapaxes(j, 1, 2)
        along = (jt @ np.linalg.solve(j @ jt + 1e-6 * np.eye(6), twist))[:, :, 0]
        return np.asarray(along * np.asarray(turning)[:, None])

    found, change = _relaxed(arm, q, free, tangent, lambda d: goals @ spun(spin + np.where(turning, d, 0.0)))
    return found, spin + np.where(turning, change, 0.0)


def smoothed_elbow(arm: Arm, goals: Array, q: Array, free: Any) -> Array:
    """q (n, 7) with less squared travel: each posture slides along the motion that leaves the tool where it is."""

    def tangent(postures: Array) -> Array:
        """The direction that the Jacobian takes to nothing, the same way round all along the path."""
        null = np.linalg.svd(jacobian(arm, postures))[2][:, -1]
        turn = np.sign((null[1:] * null[:-1]).sum(axis=1))
        null[1:] *= np.cumprod(np.where(turn == 0.0, 1.0, turn))[:, None]
        return np.asarray(null)

    return _relaxed(arm, q, free, tangent, lambda _: goals)[0]


def _relaxed(
    arm: Arm, q: Array, free: Any, tangent_of: Callable[[Array], Array], poses_at: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """(q, how far each posture has gone along its tangent (n,))."""
    weight = np.where(free, 0.0, 1.0)
    total, gone = _travel(q, weight), np.zeros(len(q))
    for _ in range(_ROUNDS):
        tangent = tangent_of(q)
        step = np.diff(q, axis=0)
        # Normal equations of sum w |step + t_k+1 d_k+1 - t_k d_k|^2 in d.
        square, cross = (tangent**2).sum(axis=1), -weight * (tangent[1:] * tangent[:-1]).sum(axis=1)
        diagonal = np.full(len(q), 1e-6)  # all changed alike costs nothing: that is left as it is
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
            moved = tangent * change[:, None]
            tried, miss = polished(arm, poses_at(gone + change), q + moved)
            # A posture that comes to a limit stays where it is, and the others go on.
            far = np.abs(tried - q).max(axis=1) > 2.0 * (_MOST_RAD + np.abs(moved).max(axis=1))
            stays = (miss > TOLERANCE) | far
            tried[stays] = q[stays]
            if _travel(tried, weight) < total * (1.0 - 1e-6):
                q, total, lower = tried, _travel(tried, weight), True
                gone = gone + np.where(stays, 0.0, change)
            change = change * 0.5
        if not lower:
            break
    return q, gone


def _travel(q: Array, weight: Array) -> float:
    return float(((np.diff(q, axis=0) ** 2).sum(axis=1) * weight).sum())
