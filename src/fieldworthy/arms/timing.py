"""When a path of joint positions is where: the shortest times that keep every joint's speed and acceleration limit.

A smooth curve (spline.py) runs exactly through the waypoints; its pace is the fastest one within the limits and the
programmed tool speed (timing_reach.py). The arm starts and ends at rest and stands still where it is told to. Jerk is
not limited: accelerations jump, as time-optimal ones do.
Between waypoints the joints follow the curve, not straight chords. Where waypoints are coarse, at a corner say, the
curve swings out beside the chord: `Timing.chord_deviation` says how far, and such segments get more intervals of pace.
More waypoints, or a stop at the corner, bring the curve closer.
An infinite acceleration means a start from rest within one interval of pace, not a jump of speed.
Verified by: tests/verification/test_arm_timing.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Array
from fieldworthy.arms.spline import Indices, Mask, Spline, spline_through
from fieldworthy.arms.timing_input import Task, checked
from fieldworthy.arms.timing_reach import BOUNDLESS, Intervals, fastest_paces, speed_ceiling
from fieldworthy.arms.timing_result import Slowed, Timing, Track, resample
from fieldworthy.core.errors import Problem, ScenarioError

__all__ = ["Slowed", "Timing", "resample", "retime"]

REPEAT_S = 1e-3
"""Least time between repeated waypoints [s]: controllers want times that increase."""
PIECE_INTERVALS = (16, 512)
"""Least number of intervals of pace between two stops: many stops, one stop."""
ALL_INTERVALS = 4096
"""Shared by the pieces between stops, within the two numbers above."""
SEGMENT_INTERVALS = 16
"""Most intervals that a segment gets because its curve is bent."""
TURN = 0.05
"""The angle [rad], in weighted joint space, by which the curve turns in an interval before its segment gets more."""
SLOWED = 1e-3
"""A tool slower than its feed by more than this share counts as slowed."""


def retime(
    q: ArrayLike,
    speed: ArrayLike,
    acceleration: ArrayLike,
    *,
    tool_step_m: ArrayLike | None = None,
    feed_m_s: ArrayLike | None = None,
    stops: Sequence[int] = (),
    dwell_s: ArrayLike | None = None,
) -> Timing:
    """The fastest times through waypoints q (n, dof) within speed and acceleration limits (dof,), rest to rest.

    Limits may be infinite. `tool_step_m` (n-1,) is the way of the tool in each segment and `feed_m_s`, one number or
    (n-1,), the programmed tool speed there: within a segment the tool is taken to move evenly along the curve, so that
    its mean speed never exceeds the feed. A segment without tool way has no feed.
    The arm stands still at `stops`, at the first and last waypoint, and at equal neighbours (within 1e-9), which stay
    together for their dwell and at least 1 ms. `dwell_s` is one number for every such place but the first and last, or
    (n,), the time at rest before a waypoint is left.

    Method: see timing_reach.py. The path parameter is the length of the joint path, each joint weighted by its speed
    limit. Corners at stops are kept: each piece between stops is a curve of its own.
    Raises: ScenarioError with all problems, each with its waypoint and joint.
    """
    task = checked(q, speed, acceleration, tool_step_m, feed_m_s, list(stops), dwell_s)
    n, dof = task.q.shape
    if n == 1:
        nothing = np.zeros((0, dof))
        return Timing(
            task.q, np.zeros(1), np.zeros((1, dof)), np.zeros((1, dof)), np.zeros(dof), np.zeros(dof), 1.0, nothing,
            np.zeros(0), None, np.zeros(0, np.intp), np.zeros(0, "U12"), None,
        )  # fmt: skip
    finite = task.speed[np.isfinite(task.speed)]
    usual = float(np.median(finite)) if len(finite) else 1.0
    weight = 1.0 / np.where(np.isfinite(task.speed), task.speed, usual)
    step = np.sqrt(((np.diff(task.q, axis=0) * weight) ** 2).sum(axis=1))
    step[task.repeated] = 0.0
    spline = spline_through(task.q, step, task.rest)
    parts = _parts(task, spline, weight)

    # The intervals of pace. A waypoint with a dwell has one of no length before those of its segment.
    wait = (task.dwell_s[:-1] > 0.0) & ~task.repeated
    count = parts + wait
    first = np.concatenate([[0], np.cumsum(count)])
    segment = np.repeat(np.arange(n - 1), count)
    offset = np.arange(first[-1]) - first[segment] - wait[segment]
    still = (offset < 0) | task.repeated[segment]
    ds = np.where(still, 0.0, (step / parts)[segment])
    start = np.maximum(offset, 0) * ds
    _, start_slope, start_bend = spline.at(segment, start)
    _, end_slope, end_bend = spline.at(segment, start + ds)
    intervals = Intervals(ds, start_slope, end_slope, start_bend, end_bend)

    ceiling = np.full(first[-1] + 1, np.inf)
    feed = np.full(n - 1, np.inf)
    if task.tool_step_m is not None:
        tool_rate = np.divide(task.tool_step_m, step, out=np.zeros(n - 1), where=step > 0.0)
        np.divide(task.feed_m_s, tool_rate, out=feed, where=tool_rate > 0.0)
    ceiling[:-1] = feed[segment] ** 2
    ceiling[1:] = np.minimum(ceiling[1:], ceiling[:-1].copy())
    ceiling[first[task.rest.nonzero()]] = 0.0
    ceiling[1:][still] = 0.0
    x = fastest_paces(intervals, task.acceleration, speed_ceiling(intervals, task.speed, ceiling))
    return _timing(task, spline, first, segment, start, still, intervals, x, feed)


def _parts(task: Task, spline: Spline, weight: Array) -> Indices:
    """Intervals of pace for each segment: enough in each piece between stops, and more where the curve turns."""
    piece = np.cumsum(task.rest[:-1]) - 1
    sizes = np.bincount(piece)
    least = np.clip(ALL_INTERVALS // len(sizes), *PIECE_INTERVALS)
    # The parameter is a length, so the second derivative is a curvature; it is largest at an end of the segment.
    _, _, c2, c3 = spline.coefficients * weight
    bend = np.maximum((c2**2).sum(axis=1), ((c2 + 3.0 * c3 * spline.step[:, None]) ** 2).sum(axis=1))
    turn = 2.0 * np.sqrt(bend) * spline.step
    parts = np.maximum(np.ceil(least / sizes)[piece], np.minimum(np.ceil(turn / TURN), SEGMENT_INTERVALS))
    return np.where(task.repeated, 1, parts).astype(np.intp)


def _timing(
    task: Task,
    spline: Spline,
    first: Indices,
    segment: Indices,
    start: Array,
    still: Mask,
    intervals: Intervals,
    x: Array,
    feed: Array,
) -> Timing:
    """Times, rates and the report from the paces x at the ends of the intervals."""
    rate = np.sqrt(x)
    both = rate[:-1] + rate[1:]
    stuck = ~still & ~((both > 0.0) & (x[:-1] < BOUNDLESS))
    if stuck.any():
        i = int(segment[stuck.argmax()])
        moving = int(np.abs(np.diff(task.q, axis=0)[i] / task.speed).argmax())
        raise ScenarioError(
            Problem(
                f"q, waypoints {i} to {i + 1}, joint {moving}",
                "the curve cannot be followed at any pace within the limits",
                "waypoints farther apart than rounding, limits that are not vanishing",
            )
        )
    speeds, accelerations = intervals.peaks(x)
    use = np.concatenate([speeds / task.speed, accelerations / task.acceleration], axis=1)
    dof = task.q.shape[1]
    top = use.max(axis=0)
    stretch = max(1.0, float(top[:dof].max()), float(np.sqrt(top[dof:].max())))
    stretch = 1.0 if stretch < 1.0 + 1e-9 else stretch
    rest_s = np.where(task.repeated, np.maximum(task.dwell_s[:-1], REPEAT_S), task.dwell_s[:-1])
    moving_s = stretch * 2.0 * intervals.ds / np.where(still, 1.0, both)
    ends = np.concatenate([[0.0], np.cumsum(np.where(still, rest_s[segment], moving_s))])
    push = np.where(still, 0.0, (x[1:] - x[:-1]) / (2.0 * np.where(still, 1.0, intervals.ds))) / stretch**2
    rate /= stretch
    track = Track(spline, segment, start, intervals.ds, rate[:-1], push, ends)

    t_s = ends[first]
    at_start = first[:-1]
    slopes = np.concatenate([intervals.start_slope[at_start], intervals.end_slope[-1:]])
    bends = np.concatenate([intervals.start_bend[at_start], intervals.end_bend[-1:]])
    pushes = np.concatenate([push[at_start], push[-1:]])[:, None]
    velocity = slopes * rate[first, None]
    acceleration = slopes * pushes + bends * rate[first, None] ** 2

    nearest = np.maximum.reduceat(use, at_start, axis=0).argmax(axis=1)
    joint: Indices = nearest % dof
    by = np.where(nearest < dof, "speed", "acceleration").astype("U12")
    reached = None
    if task.tool_step_m is not None:
        way_s = np.diff(t_s) - rest_s
        reached = np.divide(task.tool_step_m, way_s, out=np.zeros(len(way_s)), where=~task.repeated)
        at_feed = np.isfinite(feed) & (reached >= task.feed_m_s * (1.0 - SLOWED))
        joint, by = np.where(at_feed, -1, joint), np.where(at_feed, "feed", by)
    joint, by = np.where(task.repeated, -1, joint), np.where(task.repeated, "rest", by)
    return Timing(
        task.q, t_s, velocity, acceleration, top[:dof] / stretch, top[dof:] / stretch**2, stretch,
        spline.chord_deviation(),
        task.feed_m_s, reached, joint, by, track,
    )  # fmt: skip
