"""From waypoints to a timed joint motion: points put in along lines, one continuous path, times within limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Arm, Array
from fieldworthy.arms.driven import Driven, departures, driven, swept, too_wide
from fieldworthy.arms.path import JointPath, NoPath, PathOptions, plan
from fieldworthy.arms.path_words import Label
from fieldworthy.arms.program import Program
from fieldworthy.arms.program_waypoints import waypoints_of
from fieldworthy.arms.spline import Indices
from fieldworthy.arms.timing import Timing, retime
from fieldworthy.arms.waypoints import WaypointSet, densify
from fieldworthy.core.errors import FieldworthyError

_STANDS_M = 1e-9
_ROUNDS = 6
"""Times that stops are added where the smooth curve leaves its lines."""
CORNER_RAD = math.radians(15.0)
"""A tool path that turns more than this at a waypoint is a corner: the arm stops there, for no smooth path goes
through it."""


@dataclass(frozen=True)
class MotionOptions:
    """How waypoints become a motion."""

    feed_m_s: float = 0.1
    """Tool speed on lines where the waypoints name none."""
    step_m: float = 0.005
    """Points are put in so that the tool goes no further than this between two of them on a line ..."""
    step_rad: float = math.radians(3.0)
    """... and turns no further than this."""
    path: PathOptions = field(default_factory=PathOptions)


@dataclass(frozen=True)
class Motion:
    """A motion that an arm can drive."""

    arm: Arm
    waypoints: WaypointSet
    """With the points that were put in; `given` tells which are the user's."""
    path: JointPath
    timing: Timing
    feed_m_s: float
    """Tool speed on lines where the waypoints name none."""
    stops: tuple[int, ...]
    """Waypoints at which the arm stands, besides first and last."""
    driven: Driven
    """What was measured on the motion as it is driven, between the points too."""
    hold_s: float
    """Dwell at the last waypoint, which is not part of `timing`."""
    notes: tuple[str, ...]
    """What had to be given up, one sentence each, waypoints by their own numbers or names."""

    @property
    def given(self) -> Indices:
        """Rows of the user's own waypoints."""
        return np.flatnonzero(self.waypoints.given)


def plan_motion(
    arm: Arm, waypoints: WaypointSet | Program, *, start: Any = None, options: MotionOptions | None = None
) -> Motion:
    """The continuous motion of least travel through waypoints, in the shortest time that limits and feeds allow.

    The set's own tool, where it names one, is put on the arm. The arm stops at corners, at dwells, where lines and
    joint moves meet, and wherever the smooth curve through the points would leave the lines by more than 1 mm or 0.5
    deg. What is driven, not only its points, is then held against lines, limits and clearance. A feed is the mean tool
    speed between two points.
    start: posture (dof,) from which the arm comes.
    Raises: NoPath with the waypoint and the reason, also for a joint move through something; FieldworthyError for
    options that are none.
    """
    if isinstance(waypoints, Program):
        waypoints = waypoints_of(waypoints, arm)
    options = options or MotionOptions()
    for name in ("feed_m_s", "step_m", "step_rad"):
        value = getattr(options, name)
        if not (isinstance(value, int | float) and value > 0.0):
            raise FieldworthyError(f"{name}: {value}; valid: above 0")
    notes = []
    if waypoints.flange_from_tool is not None:
        if arm.tool != IDENTITY and np.abs(np.array(arm.tool) - waypoints.flange_from_tool).max() > 1e-9:
            notes.append("the waypoints' own tool takes the place of the arm's")
        arm = arm.with_tool(waypoints.flange_from_tool)
    dense = densify(waypoints, options.step_m, options.step_rad)
    joint_moves = [row for row in range(1, len(dense)) if dense.move[row] == "joint"]
    path_options, turning = options.path, None
    if dense.tool_axis_free.any() and path_options.spin_step_rad is None:
        path_options, turning = replace(path_options, spin_step_rad=math.radians(15.0)), dense.tool_axis_free
    label = labels(dense)
    try:
        path = plan(
            arm, dense.base_from_tool, start=start, options=path_options, joint_moves=joint_moves, spin_free=turning,
            postures=dense.joints, label=label,
        )  # fmt: skip
    except NoPath as error:
        raise NoPath(own_waypoint(dense, error.waypoint), error.why) from None
    hold_s = float(dense.dwell_s[-1])
    if len(dense) == 1:
        timing, stops = retime(path.q, arm.speed, arm.acceleration), []
    else:
        place = path.base_from_tool[:, :3, 3]
        length = np.linalg.norm(np.diff(place, axis=0), axis=1)
        length[length < _STANDS_M] = 0.0  # rounding is no way that a feed could belong to
        length[np.array(joint_moves, int) - 1] = 0.0  # nor is a joint move
        feed = np.where(np.isfinite(dense.speed_m_s[1:]), dense.speed_m_s[1:], options.feed_m_s)
        dwell = np.append(dense.dwell_s[:-1], 0.0)
        stops = _stops(place, dense, joint_moves)
        for _ in range(_ROUNDS):
            timing = retime(
                path.q, arm.speed, arm.acceleration, tool_step_m=length, feed_m_s=feed, stops=stops, dwell_s=dwell
            )
            wide = too_wide(arm, timing, joint_moves)
            more = sorted({*stops, *(row for k in wide for row in (k, k + 1) if 0 < row < len(dense) - 1)})
            if len(more) == len(stops):
                break
            stops = more
    found = driven(arm, timing, joint_moves, path_options)
    for sentence, row in swept(found, joint_moves, label, path_options.margin_m):
        if path_options.avoid:
            raise NoPath(own_waypoint(dense, row), sentence)
        notes.append(sentence)
    notes += [*path.compromises, *_slow_notes(arm, dense, timing, stops), *departures(found, label)]
    if hold_s:
        notes.append(f"the arm stands for {hold_s:g} s at the end, after the motion's time")
    return Motion(arm, dense, path, timing, options.feed_m_s, tuple(stops), found, hold_s, tuple(notes))


def _stops(place: Array, dense: WaypointSet, joint_moves: Sequence[int]) -> list[int]:
    ways = np.diff(place, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    moved = lengths > 1e-9
    cosine = np.ones(len(place))
    both = moved[1:] & moved[:-1]
    cosine[1:-1][both] = (ways[1:] * ways[:-1]).sum(axis=1)[both] / (lengths[1:] * lengths[:-1])[both]
    # Where the tool stops going and only turns, or begins to go again, its feed changes at once: that is a corner too.
    cosine[1:-1][moved[1:] != moved[:-1]] = -1.0
    stops = set(np.nonzero(cosine < math.cos(CORNER_RAD))[0].tolist())
    stops |= set(np.nonzero(dense.dwell_s > 0.0)[0].tolist())
    stops |= {row for move in joint_moves for row in (move - 1, move)}
    return sorted(row for row in stops if 0 < row < len(place) - 1)


def _slow_notes(arm: Arm, dense: WaypointSet, timing: Timing, stops: Sequence[int]) -> list[str]:
    notes = []
    corners = sum(1 for row in stops if dense.dwell_s[row] == 0.0)
    if corners:
        places = "1 place" if corners == 1 else f"{corners} places"
        notes.append(f"the arm stops at {places} on the way: corners, and where no smooth curve keeps to the lines")
    # Getting under way and stopping are no compromise: what counts is slowness between.
    held = [slow for slow in timing.slowed if slow.limit == "speed" or slow.reached_m_s < 0.5 * slow.asked_m_s]
    standing = {0, len(dense) - 1, *stops}
    held = [slow for slow in held if not {slow.segment, slow.segment + 1} & standing]
    held = [slow for slow in held if slow.reached_m_s < 0.97 * slow.asked_m_s]
    if held:
        worst = min(held, key=lambda slow: slow.reached_m_s / slow.asked_m_s)
        notes.append(
            f"the feed is slower than asked in {len(held)} segments, most after {labels(dense)(worst.segment)}: "
            f"{worst.reached_m_s * 1e3:.3g} of {worst.asked_m_s * 1e3:.3g} mm/s, held back by the "
            f"{worst.limit} of joint {arm.joints[worst.joint].name}"
        )
    return notes


def own_waypoint(dense: WaypointSet, row: int) -> int:
    """The user's waypoint at a row of a set with points put in, or the last one before it."""
    return max(int(np.searchsorted(np.flatnonzero(dense.given), row, side="right")) - 1, 0)


def labels(dense: WaypointSet) -> Label:
    """What to call a row of a set with points put in: by the user's own waypoints."""
    given = np.flatnonzero(dense.given)

    def name(index: int) -> str:
        text = dense.names[given[index]]
        return f"waypoint {index} ('{text}')" if text else f"waypoint {index}"

    def label(row: int) -> str:
        before = int(np.searchsorted(given, row, side="right")) - 1
        if before < 0 or given[before] == row or before + 1 == len(given):
            return name(max(before, 0))
        share = (row - given[before]) / (given[before + 1] - given[before])
        return f"{100.0 * share:.0f} % of the way from {name(before)} to {name(before + 1)}"

    return label
