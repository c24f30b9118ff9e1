"""The postures that a path may choose from at each waypoint, and where a singularity leaves one free, those that
continue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed import closed_of
from fieldworthy.arms.closed_form import SINGULAR_SINE
from fieldworthy.arms.exact import TOLERANCE, all_postures, branches_of
from fieldworthy.arms.polish import polished


@dataclass(frozen=True)
class Candidates:
    """Postures at each of n waypoints, whole turns not yet chosen."""

    q: Array
    """(n, c, dof) [rad]; NaN where there is none."""
    exists: Any
    """(n, c) bool."""
    sine: Array
    """(n, c) distance to the wrist singularity as the sine of its middle angle; NaN where the arm has no such
    measure."""
    spin: Array
    """(n, c) angle [rad] by which the tool stands turned about its own axis; 0 unless that is free."""
    within_reach: Any
    """(n, c) bool: within reach, whatever the limits say."""
    grid: tuple[int, int] = (1, 1)
    """How the c candidates are grouped: (angles of the tool, places of a held joint), groups of equally many."""


def candidates(arm: Arm, goals: Array, start: Array, spins: Array) -> Candidates:
    """All branches at poses (n, 4, 4), for each angle `spins` (n, k) [rad] about the tool's z axis.

    They are wound nearest to `start`, (dof,) or (n, dof).
    """
    count = len(goals)
    turned = goals[:, None] @ spun(spins)
    if closed_of(arm) is None:
        first = start if start.ndim == 1 else start[0]
        each_spin = [_followed(arm, turned[:, k], first) for k in range(spins.shape[1])]
        spin = [np.broadcast_to(spins[:, k : k + 1], one.exists.shape) for k, one in enumerate(each_spin)]
        parts = ([getattr(one, name) for one in each_spin] for name in ("q", "exists", "sine", "within_reach"))
        q, exists, sine, reach = (np.concatenate(part, axis=1) for part in parts)
        # Tracks of their own may be as many as they like at each angle: no groups.
        return Candidates(q, exists, sine, np.concatenate(spin, axis=1), reach)
    near = start if start.ndim == 1 else np.repeat(start, spins.shape[1], axis=0)
    found = branches_of(arm, turned.reshape(-1, 4, 4), near)
    each = found.exists.shape[1]
    branches = found.q.reshape(count, -1, each, arm.dof)
    there, sine = found.exists.reshape(count, -1, each), found.sine.reshape(count, -1, each)
    _continue_through_singularities(arm, turned, branches, there, sine)
    shape = (count, spins.shape[1] * each)
    return Candidates(
        branches.reshape(*shape, arm.dof),
        there.reshape(shape),
        sine.reshape(shape),
        np.repeat(spins, each, axis=1),
        found.within_reach.reshape(shape),
        (spins.shape[1], each // 8),
    )


def spun(spin: Array) -> Array:
    """Turns about z by angles of any shape, (..., 4, 4)."""
    turn = np.zeros((*spin.shape, 4, 4))
    turn[..., 0, 0] = turn[..., 1, 1] = np.cos(spin)
    turn[..., 1, 0] = np.sin(spin)
    turn[..., 0, 1] = -turn[..., 1, 0]
    turn[..., 2, 2] = turn[..., 3, 3] = 1.0
    return turn


def _continue_through_singularities(arm: Arm, goals: Array, q: Array, exists: Any, sine: Array) -> None:
    """At a wrist singularity two joints share one angle: let each branch share it as its neighbour's waypoint does.

    goals (n, k, 4, 4), q (n, k, branches, dof), exists and sine (n, k, branches); q and exists are changed. Only for
    arms whose branches are eight: with a held joint there are neighbours enough.
    """
    if q.shape[2] != 8:
        return
    singular: Any = (sine < SINGULAR_SINE).any(axis=2)
    rows = np.nonzero(singular.any(axis=1))[0]
    steps = [(row, row - 1) for row in rows if row > 0] + [(row, row + 1) for row in rows[::-1] if row + 1 < len(q)]
    done = ~singular
    for row, beside in steps:
        for k in np.nonzero(singular[row] & done[beside] & ~done[row])[0]:
            for branch in range(8):
                if not exists[beside, k, branch]:
                    continue
                near = q[beside, k, branch]
                found = all_postures(arm, goals[row, k], near, whole_turns=False)
                if len(found):
                    q[row, k, branch] = found[np.argmin(np.abs(found - near).max(axis=1))]
                    exists[row, k, branch] = True
            done[row, k] = True


def _followed(arm: Arm, goals: Array, start: Array) -> Candidates:
    """Without a closed form: all postures that are found at some waypoint, each followed forwards and backwards."""
    count = len(goals)
    tracks: list[Array] = []
    for first in (0, count - 1, count // 2):
        for posture in all_postures(arm, goals[first], start):
            if any(np.abs(track[first] - posture).max() < 1e-6 for track in tracks):
                continue
            track = np.full((count, arm.dof), np.nan)
            track[first] = posture
            for rows in (range(first + 1, count), range(first - 1, -1, -1)):
                before = posture
                for row in rows:
                    after, miss = polished(arm, goals[row : row + 1], before[None])
                    if miss[0] > TOLERANCE:
                        break
                    track[row] = before = after[0]
            tracks.append(track)
    q = np.stack(tracks, axis=1) if tracks else np.full((count, 1, arm.dof), np.nan)
    exists = np.isfinite(q).all(axis=2)
    nothing = np.full(exists.shape, np.nan)
    return Candidates(q, exists, nothing, np.zeros(exists.shape), exists)
