"""The postures that a path may choose from at each waypoint, and where a singularity leaves one free, those that
continue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed import closed_of
from fieldworthy.arms.closed_form import SINGULAR_SINE
from fieldworthy.arms.exact import all_postures, branches_of
from fieldworthy.arms.exact_branches import TOLERANCE
from fieldworthy.arms.polish import polished

_ON_AXIS_M = 1e-9
"""Distance of the wrist from axis 1 below which joint 1 is free."""
_TRACKS = 16
"""Postures of one waypoint that are followed, where there is no closed form."""


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
        parts = ([getattr(one, name) for one in each_spin] for name in ("q", "exists", "sine"))
        q, exists, sine = (np.concatenate(part, axis=1) for part in parts)
        # Tracks of their own may be as many as they like at each angle: no groups.
        return Candidates(q, exists, sine, np.concatenate(spin, axis=1))
    near = start if start.ndim == 1 else np.repeat(start, spins.shape[1], axis=0)
    found = branches_of(arm, turned.reshape(-1, 4, 4), near)
    each = found.exists.shape[1]
    branches = found.q.reshape(count, -1, each, arm.dof)
    there, sine = found.exists.reshape(count, -1, each), found.sine.reshape(count, -1, each)
    if each == 8:  # of a held joint there are neighbours enough
        _fill(arm, turned, branches, there, sine, near.reshape(-1, arm.dof))
        _continue_through_singularities(arm, turned, branches, there, sine)
    shape = (count, spins.shape[1] * each)
    return Candidates(
        branches.reshape(*shape, arm.dof),
        there.reshape(shape),
        sine.reshape(shape),
        np.repeat(spins, each, axis=1),
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


def _fill(arm: Arm, goals: Array, q: Array, exists: Any, sine: Array, near: Array) -> None:
    """Postures for poses that have none: what a singularity leaves free may stand elsewhere, and where axes are only
    nearly those of a known shape a search finds what its closed form does not. q and exists are changed."""
    form = closed_of(arm)
    assert form is not None
    doubtful = (sine < SINGULAR_SINE).any(axis=2) | (not form.shape.exact)
    for row, k in np.argwhere(doubtful & ~exists.any(axis=2)):
        found = all_postures(arm, goals[row, k], near[row * q.shape[1] + k if len(near) > 1 else 0], whole_turns=False)
        count = min(len(found), 8)
        q[row, k, :count], exists[row, k, :count] = found[:count], True


def _continue_through_singularities(arm: Arm, goals: Array, q: Array, exists: Any, sine: Array) -> None:
    """At a singularity of wrist or shoulder a joint is free: let each branch have it as its neighbour's waypoint does.

    goals (n, k, 4, 4), q (n, k, 8, dof), exists and sine (n, k, 8); q and exists are changed.
    """
    singular: Any = (sine < SINGULAR_SINE).any(axis=2) | _over_shoulder(arm, goals)
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


def _over_shoulder(arm: Arm, goals: Array) -> Any:
    """(n, k) whether the wrist stands on axis 1, so that joint 1 may stand anywhere."""
    form = closed_of(arm)
    assert form is not None
    home, axis = np.array(arm.home), np.array(arm.joints[form.shape.joints[0]].axis)
    to_wrist = home[:3, :3].T @ (np.array(form.shape.points[5]) - home[:3, 3])
    wrist = goals[..., :3, 3] + goals[..., :3, :3] @ to_wrist - np.array(form.shape.points[0])
    return np.linalg.norm(np.cross(axis, wrist), axis=-1) < _ON_AXIS_M


def _followed(arm: Arm, goals: Array, start: Array) -> Candidates:
    """Without a closed form: postures that are found at some waypoints, each followed forwards and backwards."""
    count = len(goals)
    tracks = np.full((count, 0, arm.dof), np.nan)
    for first in dict.fromkeys((0, count - 1, count // 2)):
        found = all_postures(arm, goals[first], start, whole_turns=False)
        found = found[np.argsort(np.abs(found - start).max(axis=1), kind="stable")][:_TRACKS]
        apart = found[:, None] - np.nan_to_num(tracks[first], nan=1e9)[None]
        apart -= 2.0 * np.pi * np.round(apart / (2.0 * np.pi)) * [joint.kind == "revolute" for joint in arm.joints]
        fresh = found[(np.abs(apart).max(axis=2) > 1e-6).all(axis=1)]
        track = np.full((count, len(fresh), arm.dof), np.nan)
        track[first] = fresh
        for rows in (range(first + 1, count), range(first - 1, -1, -1)):
            before, alive = fresh.copy(), np.arange(len(fresh))
            for row in rows:
                if not len(alive):
                    break
                after, miss = polished(arm, np.repeat(goals[row : row + 1], len(alive), axis=0), before)
                kept = miss <= TOLERANCE
                before, alive = after[kept], alive[kept]
                track[row, alive] = before
        tracks = np.concatenate([tracks, track], axis=1)
    q = tracks if tracks.shape[1] else np.full((count, 1, arm.dof), np.nan)
    exists = np.isfinite(q).all(axis=2)
    return Candidates(q, exists, np.full(exists.shape, np.nan), np.zeros(exists.shape))
