"""The cheapest way through the postures of all waypoints, by dynamic programming.

A step costs the squared travel of all joints, so that of two ways through the one without a large step is taken. Whole
turns are no posture of their own at first: the cheapest way over the branches is found with every joint going the short
way round, and then wound so that it stays within limits. Only where no winding fits are all whole turns searched too.
Source: Bellman's principle; ladder graphs as in De Maeyer, Moyaers & Demeester, Cartesian path planning for arc
welding robots: evaluation of the Descartes algorithm, ETFA 2017
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Array

_TURN = 2.0 * np.pi
_MOST_PAIRS = 3000
"""Candidates of a waypoint up to which a joint move may go between any two groups."""


@dataclass(frozen=True)
class Way:
    """One posture at each waypoint, or how far a way leads."""

    chosen: Any
    """(n,) index of the candidate; shorter where the way ends."""
    q: Array
    """(n, dof) with whole turns chosen; empty where the way ends or cannot be wound."""
    ends_at: int | None = None
    """The waypoint that no way reaches, with `chosen` leading up to it; None where all are reached."""
    last: Array | None = None
    """(dof,) the posture before that waypoint, where whole turns were searched."""


def cheapest(
    q: Array,
    exists: Any,
    cost: Array,
    low: Array,
    high: Array,
    round_joints: Any,
    most_step: Array,
    start: Array | None,
    grid: tuple[int, int] = (1, 1),
) -> Way:
    """The cheapest way through candidates q (n, c, dof).

    cost: (n, c) of standing there. low, high: (dof,) limits. round_joints: (dof,) bool, True where a joint may be a
    whole turn away. most_step: (n - 1, dof) largest step of a joint between waypoints; infinite in all joints for a
    joint move. start: posture from which the first waypoint is reached, whose travel counts too (at a hundredth: it
    is no part of the path).
    grid: (angles of a free tool, which are a ring, places of a held joint): the candidates are so many groups, and on
    lines a step goes to the same or a neighbouring group only.
    """
    first = np.where(exists[0], cost[0], np.inf)
    if start is not None:
        first = first + 0.01 * (short_way(q[0] - start, round_joints) ** 2).sum(axis=1)
    first[np.isnan(first)] = np.inf
    edges = _all_edges(q, exists, round_joints, most_step) if grid == (1, 1) and q.shape[1] <= 16 else None
    line: Any = ~np.isinf(most_step).all(axis=1)
    before, total = np.empty(exists.shape, np.int32), first
    if not np.isfinite(total).any():
        return Way(np.empty(0, int), np.empty((0, q.shape[2])), 0)
    for row in range(1, len(q)):
        if grid != (1, 1) and (line[row - 1] or q.shape[1] > _MOST_PAIRS):
            after, before[row] = _from_neighbours(q, exists, row, total, round_joints, most_step[row - 1], grid)
        else:
            edge = edges[row - 1] if edges is not None else _edges(q, exists, row, round_joints, most_step)
            sums = total[:, None] + edge  # from each candidate to each of the next waypoint
            before[row] = sums.argmin(axis=0)
            after = sums[before[row], np.arange(sums.shape[1])]
        after = after + cost[row]
        if not np.isfinite(after).any():
            return Way(_back(before, row - 1, int(total.argmin())), np.empty((0, q.shape[2])), row)
        total = after
    chosen = _back(before, len(q) - 1, int(total.argmin()))
    path = q[np.arange(len(q)), chosen]
    return Way(chosen, wind(path, low, high, round_joints, most_step, start))


def wind(path: Array, low: Array, high: Array, round_joints: Any, most_step: Array, start: Array | None) -> Array:
    """The path (n, dof) going the short way round at each step, shifted by whole turns into limits; empty where none
    fit.

    Of several that fit, the one nearest to `start`, or farthest from its limits. Joint moves end a piece, and each
    piece is wound for itself, near to where the one before has ended.
    """
    pieces = []
    for piece in np.split(path, np.nonzero(np.isinf(most_step).all(axis=1))[0] + 1):
        whole = _wind_piece(piece, low, high, round_joints, start)
        if not len(whole):
            return whole
        pieces.append(whole)
        start = whole[-1]
    return np.concatenate(pieces)


def _wind_piece(path: Array, low: Array, high: Array, round_joints: Any, start: Array | None) -> Array:
    steps = short_way(np.diff(path, axis=0), round_joints)
    whole = np.concatenate([path[:1], path[:1] + np.cumsum(steps, axis=0)])
    # The sum of steps loses digits that the candidates have: back to them, by whole turns.
    whole = np.where(round_joints, path + _TURN * np.round((whole - path) / _TURN), path)
    for joint in np.nonzero(round_joints)[0]:
        least, most = whole[:, joint].min(), whole[:, joint].max()
        first, last = np.ceil((low[joint] - least) / _TURN - 1e-9), np.floor((high[joint] - most) / _TURN + 1e-9)
        if first > last:
            return np.empty((0, path.shape[1]))
        middle = 0.5 * (low[joint] + high[joint]) - 0.5 * (least + most)
        goal = middle if start is None else start[joint] - whole[0, joint]
        whole[:, joint] += _TURN * np.clip(np.round((goal if np.isfinite(goal) else 0.0) / _TURN), first, last)
    return np.asarray(np.clip(whole, low, high))


def all_turns(q: Array, exists: Any, low: Array, high: Array, round_joints: Any, row: int) -> tuple[Array, Any]:
    """(postures (k, dof), candidate of each (k,)) of one waypoint, in every whole turn within limits."""
    found, owner = [], []
    for candidate in np.nonzero(exists[row])[0]:
        turns = []
        for joint, angle in enumerate(q[row, candidate]):
            if round_joints[joint]:
                first, last = (
                    np.ceil((low[joint] - angle) / _TURN - 1e-9),
                    np.floor((high[joint] - angle) / _TURN + 1e-9),
                )
                turns.append([angle + _TURN * turn for turn in np.arange(max(first, -8.0), min(last, 8.0) + 1.0)])
            else:
                turns.append([angle])
        for combined in itertools.product(*turns):
            found.append(combined)
            owner.append(candidate)
    return np.array(found).reshape(-1, q.shape[2]), np.array(owner, int)


def cheapest_wound(
    q: Array,
    exists: Any,
    cost: Array,
    low: Array,
    high: Array,
    round_joints: Any,
    most_step: Array,
    start: Array | None,
) -> Way:
    """As `cheapest`, with every whole turn of every candidate as a posture of its own; slower by far."""
    reached, owner = all_turns(q, exists, low, high, round_joints, 0)
    if not len(reached):
        return Way(np.empty(0, int), np.empty((0, q.shape[2])), 0)
    total = cost[0, owner] + (0.0 if start is None else 0.01 * ((reached - start) ** 2).sum(axis=1))
    rows, owners, links = [reached], [owner], [np.zeros(len(owner), int)]
    for row in range(1, len(q)):
        if np.isinf(most_step[row - 1]).all():
            after, whose = all_turns(q, exists, low, high, round_joints, row)
            sums = total[:, None] + ((after[None] - rows[-1][:, None]) ** 2).sum(axis=2)
            link = sums.argmin(axis=0) if sums.size else np.empty(0, int)
            spent = sums[link, np.arange(len(after))]
        else:
            after, whose, link, spent = _onward(
                rows[-1], owners[-1], total, q, exists, row, low, high, round_joints, most_step[row - 1]
            )
        if not len(after):
            last = int(total.argmin())
            chosen = np.array([o[i] for o, i in zip(owners, _walk(links, last), strict=True)])
            return Way(chosen, np.empty((0, q.shape[2])), row, rows[-1][last])
        total = spent + cost[row, whose]
        rows.append(after)
        owners.append(whose)
        links.append(link)
    indices = _walk(links, int(total.argmin()))
    chosen = np.array([o[i] for o, i in zip(owners, indices, strict=True)])
    return Way(chosen, np.clip(np.array([r[i] for r, i in zip(rows, indices, strict=True)]), low, high))


def _onward(
    states: Array,
    owner: Any,
    total: Array,
    q: Array,
    exists: Any,
    row: int,
    low: Array,
    high: Array,
    round_joints: Any,
    most: Array,
) -> tuple[Array, Any, Any, Array]:
    """(postures (k, dof), candidate of each, state it is reached from, cost): one step on from wound states (m, dof).

    On a line each joint goes the short way, so that a state has one way on to each candidate, in one whole turn.
    """
    a, b = np.nonzero(exists[row - 1])[0], np.nonzero(exists[row])[0]
    steps = short_way(q[row, b][None] - q[row - 1, a][:, None], round_joints)
    allowed = (np.abs(steps) <= most).all(axis=2)
    found: list[tuple[Array, Any, Any, Array]] = []
    for i, j in np.argwhere(allowed):
        members = np.nonzero(owner == a[i])[0]
        after = states[members] + steps[i, j]
        turns = np.where(round_joints, np.round((after - q[row, b[j]]) / _TURN), 0.0)
        after = q[row, b[j]] + _TURN * turns
        inside = ((after >= low - 1e-9) & (after <= high + 1e-9)).all(axis=1)
        spent = total[members] + (steps[i, j] ** 2).sum()
        key = np.column_stack([np.full(len(members), b[j]), turns])
        found.append((after[inside], key[inside], members[inside], spent[inside]))
    if not found:
        return np.empty((0, q.shape[2])), np.empty(0, int), np.empty(0, int), np.empty(0)
    postures, keys, origin, spent = (np.concatenate([part[k] for part in found]) for k in range(4))
    order = np.lexsort((spent, *keys.T))  # of equal postures the cheapest comes first
    fresh = np.ones(len(order), bool)
    fresh[1:] = (np.diff(keys[order], axis=0) != 0.0).any(axis=1)
    kept = order[fresh]
    return postures[kept], keys[kept, 0].astype(int), origin[kept], spent[kept]


def short_way(step: Array, round_joints: Any) -> Array:
    """The step by the short way round, for joints that may be a whole turn away."""
    short: Array = step - np.where(round_joints, _TURN * np.round(step / _TURN), 0.0)
    return short


def _all_edges(q: Array, exists: Any, round_joints: Any, most_step: Array) -> Array:
    """(n - 1, c, c) cost from each candidate to each of the next waypoint; infinite where a joint would go too far."""
    count, each, dof = q.shape
    total, allowed = np.zeros((count - 1, each, each)), exists[:-1, :, None] & exists[1:, None, :]
    for joint in range(dof):
        step = q[1:, None, :, joint] - q[:-1, :, None, joint]
        if round_joints[joint]:
            step -= _TURN * np.round(step / _TURN)
        np.abs(step, out=step)
        allowed &= step <= most_step[:, joint, None, None]
        step *= step
        total += step
    total[~allowed] = np.inf
    return total


def _edges(q: Array, exists: Any, row: int, round_joints: Any, most_step: Array) -> Array:
    """(c, c) as `_all_edges`, for one step and only between what exists."""
    a, b = np.nonzero(exists[row - 1])[0], np.nonzero(exists[row])[0]
    steps = np.abs(short_way(q[row, b][None] - q[row - 1, a][:, None], round_joints))
    edge = np.full((q.shape[1], q.shape[1]), np.inf)
    edge[np.ix_(a, b)] = np.where((steps <= most_step[row - 1]).all(axis=2), (steps**2).sum(axis=2), np.inf)
    return edge


def _from_neighbours(
    q: Array, exists: Any, row: int, total: Array, round_joints: Any, most: Array, grid: tuple[int, int]
) -> tuple[Array, Any]:
    """(cost of reaching each candidate of a waypoint, (c,), and from which): from the same and neighbouring groups."""
    shape = (*grid, q.shape[1] // (grid[0] * grid[1]))
    here, there = q[row - 1].reshape(*shape, -1), q[row].reshape(*shape, -1)
    spent = np.where(exists[row - 1], total, np.inf).reshape(shape)
    numbers = np.arange(q.shape[1]).reshape(shape)
    least, origin = np.full(shape, np.inf), np.zeros(shape, np.int64)
    for by in itertools.product(*((-1, 0, 1) if size > 2 else range(size) for size in grid)):
        cost_there = np.roll(spent, by, axis=(0, 1))
        if by[1]:  # places of a held joint have ends, angles of a tool have none
            cost_there[:, 0 if by[1] > 0 else -1] = np.inf
        step = np.abs(
            short_way(there[:, :, None] - np.roll(here, by, axis=(0, 1))[:, :, :, None], round_joints)
        )  # (.., from, to, dof)
        sums = (step * step).sum(axis=-1) + cost_there[..., None]
        sums[~(step <= most).all(axis=-1)] = np.inf  # NaN, where a candidate does not exist, is no step either
        best = sums.argmin(axis=2)
        reached = np.take_along_axis(sums, best[:, :, None], axis=2)[:, :, 0]
        better = reached < least
        least[better] = reached[better]
        origin[better] = np.take_along_axis(np.roll(numbers, by, axis=(0, 1)), best, axis=2)[better]
    return least.ravel(), origin.ravel()


def around(chosen: Any, count: int, grid: tuple[int, int]) -> Any:
    """(n, k) candidates in the groups of those chosen (n,) and in their neighbours, of `count` candidates in all."""
    each = count // (grid[0] * grid[1])
    group = chosen // each
    first, second = group // grid[1], group % grid[1]
    found = []
    for by in itertools.product(*((-1, 0, 1) if size > 2 else range(size) for size in grid)):
        at = ((first + by[0]) % grid[0]) * grid[1] + np.clip(second + by[1], 0, grid[1] - 1)
        found.append(at[:, None] * each + np.arange(each))
    return np.concatenate(found, axis=1)


def _back(before: Any, row: int, last: int) -> Any:
    chosen = np.empty(row + 1, int)
    for index in range(row, -1, -1):
        chosen[index] = last
        last = int(before[index, last]) if index else 0
    return chosen


def _walk(links: list[Any], last: int) -> list[int]:
    indices = []
    for link in reversed(links):
        indices.append(last)
        last = int(link[last])
    return indices[::-1]
