"""What a retiming is asked for, checked: every problem at once, each with its waypoint and joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Array
from fieldworthy.arms.spline import Mask
from fieldworthy.core.errors import Problem, ScenarioError

SAME = 1e-9
"""Neighbouring waypoints whose joints differ by no more than this [rad or m] are the same one, repeated."""
TOOL_NOISE_M = 1e-6
"""Tool length that a repeated waypoint may carry as rounding of somebody's forward kinematics."""


@dataclass(frozen=True, eq=False)
class Task:
    """A checked retiming: n waypoints, dof joints."""

    q: Array
    speed: Array
    acceleration: Array
    tool_step_m: Array | None
    """(n-1,) or None."""
    feed_m_s: Array
    """(n-1,), infinite where the tool is not limited."""
    dwell_s: Array
    """Time spent at rest at each waypoint before it is left, (n,)."""
    repeated: Mask
    """Segments between equal waypoints, (n-1,)."""
    rest: Mask
    """Waypoints at which the arm stands still, (n,)."""


def checked(
    q: ArrayLike,
    speed: ArrayLike,
    acceleration: ArrayLike,
    tool_step_m: ArrayLike | None,
    feed_m_s: ArrayLike | None,
    stops: Sequence[int],
    dwell_s: ArrayLike | None,
) -> Task:
    """Arrays of the right shapes and values.

    Raises: ScenarioError with all problems.
    """
    path = _numbers("q", q)
    if path.ndim != 2 or not path.shape[0] or not path.shape[1]:
        raise ScenarioError(Problem("q", f"has shape {path.shape}", "(waypoints, joints), at least one of each"))
    n, dof = path.shape
    problems = [
        Problem(f"q, waypoint {i}, joint {j}", f"is {path[i, j]}", "a finite number")
        for i, j in np.argwhere(~np.isfinite(path))[:10]
    ]
    limits = {}
    for name, values in (("speed", speed), ("acceleration", acceleration)):
        limit = limits[name] = _numbers(name, values)
        if limit.shape != (dof,):
            problems.append(Problem(name, f"has shape {limit.shape}", f"({dof},), one limit a joint"))
        else:
            problems += [
                Problem(f"{name}, joint {j}", f"is {limit[j]}", "> 0, or infinite")
                for j in np.flatnonzero(~(limit > 0.0))
            ]
    repeated: Mask = np.all(np.abs(np.diff(path, axis=0)) <= SAME, axis=1)
    length = None if tool_step_m is None else _numbers("tool_step_m", tool_step_m)
    if length is not None:
        problems += _length_problems(length, repeated)
    feed = np.full(max(n - 1, 0), np.inf)
    if feed_m_s is not None:
        asked = _numbers("feed_m_s", feed_m_s)
        if asked.ndim and asked.shape != (n - 1,):
            problems.append(Problem("feed_m_s", f"has shape {asked.shape}", f"one number, or ({n - 1},)"))
        elif not (asked > 0.0).all():
            problems.append(Problem("feed_m_s", "is not positive everywhere", "> 0, or infinite"))
        else:
            feed = np.broadcast_to(asked, (n - 1,)).astype(float)
        if length is None:
            problems.append(Problem("tool_step_m", "is missing beside feed_m_s", "the tool's way in each segment"))
    problems += [
        Problem("stops", f"names waypoint {i}", f"whole numbers from 0 to {n - 1}")
        for i in stops
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < n
    ]
    if problems:
        raise ScenarioError(problems)
    rest = np.zeros(n, bool)
    rest[[0, -1]] = True
    rest[list(stops)] = True
    rest[:-1] |= repeated
    rest[1:] |= repeated
    dwell = _dwell(dwell_s, rest, repeated)
    task = Task(path, limits["speed"], limits["acceleration"], length, feed, dwell, repeated, rest | (dwell > 0.0))
    _some_limit(task)
    return task


def _numbers(name: str, values: ArrayLike) -> Array:
    """As a float array.

    Raises: ScenarioError for what is none.
    """
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise ScenarioError(Problem(name, f"is no array of numbers ({error})", "numbers")) from error


def _length_problems(length: Array, repeated: Mask) -> list[Problem]:
    """What is wrong with the tool's way."""
    if length.shape != repeated.shape:
        return [Problem("tool_step_m", f"has shape {length.shape}", f"{repeated.shape}, one a segment")]
    problems = [
        Problem(f"tool_step_m, segment {i}", f"is {length[i]}", "a finite number >= 0")
        for i in np.flatnonzero(~(np.isfinite(length) & (length >= 0.0)))[:10]
    ]
    return problems + [
        Problem(
            f"tool_step_m, segment {i}", f"is {length[i]:g} while no joint moves", "0 there, or other joint positions"
        )
        for i in np.flatnonzero(repeated & (length > TOOL_NOISE_M))[:10]
    ]


def _dwell(dwell_s: ArrayLike | None, rest: Mask, repeated: Mask) -> Array:
    """Time at rest at each waypoint: one number counts at every stop but the first and last, and once a repetition."""
    n = len(rest)
    dwell = np.zeros(n)
    if dwell_s is None:
        return dwell
    asked = _numbers("dwell_s", dwell_s)
    if asked.ndim and asked.shape != (n,):
        raise ScenarioError(Problem("dwell_s", f"has shape {asked.shape}", f"one number, or ({n},)"))
    if not (np.isfinite(asked) & (asked >= 0.0)).all():
        raise ScenarioError(Problem("dwell_s", "is negative or not finite", ">= 0"))
    if asked.ndim:
        if asked[-1] > 0.0:
            raise ScenarioError(
                Problem("dwell_s, last waypoint", f"is {asked[-1]:g}", "0; repeat the waypoint instead")
            )
        return asked.copy()
    dwell[:-1] = np.where(repeated, asked, 0.0)
    inner = rest[1:-1] & ~repeated[:-1] & ~repeated[1:]
    dwell[1:-1] += np.where(inner, asked, 0.0)
    return dwell


def _some_limit(task: Task) -> None:
    """Every segment that moves needs something that limits it.

    Raises: ScenarioError naming the segments and the joint that moves most.
    """
    limited = np.isfinite(task.speed) | np.isfinite(task.acceleration)
    step = np.abs(np.diff(task.q, axis=0))
    fed = np.isfinite(task.feed_m_s)
    if task.tool_step_m is not None:
        fed &= task.tool_step_m > 0.0
    bare = ~task.repeated & ~fed & ~(step[:, limited] > 0.0).any(axis=1)
    if bare.any():
        raise ScenarioError(
            Problem(
                f"q, waypoints {i} to {i + 1}, joint {int(step[i].argmax())}",
                "moves without any limit, so no time can be given",
                "a finite speed or acceleration limit, or a feed",
            )
            for i in np.flatnonzero(bare)[:10]
        )
