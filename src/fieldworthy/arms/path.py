"""A whole path of the tool as one continuous joint path, its branch chosen over all waypoints at once.

All postures at all waypoints are weighed together (`path_search`): joint travel, distance to the wrist singularity
and, where asked, clearance. A branch that is near at the first waypoint may end at a limit half way, and another may
pass a singularity at a distance: a solver that follows the nearest posture finds out too late.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.collision import clearance
from fieldworthy.arms.exact import solve, start_of
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.path_candidates import Candidates, candidates, spun
from fieldworthy.arms.path_search import Way, cheapest, cheapest_wound, short_way
from fieldworthy.arms.path_spin import smoothed
from fieldworthy.arms.posture import poses
from fieldworthy.arms.singularity import singularities
from fieldworthy.core.errors import FieldworthyError

JUMP_RAD = 0.5
"""Largest step of a joint between waypoints that needs no further look."""
JUMP_M = 0.1
"""The same for prismatic joints."""
_TRIES = 60
"""Ways that are tried around collisions."""
LINE_M = 1e-3
LINE_RAD = math.radians(0.5)
"""How far the tool may leave the straight way between waypoints in a larger step, for it to count as continuous."""


class NoPath(FieldworthyError):
    """No continuous path: says at which waypoint the longest one ends, and why."""

    def __init__(self, waypoint: int, why: str) -> None:
        self.waypoint = waypoint
        self.why = why
        super().__init__(f"no continuous path: {why}")


@dataclass(frozen=True)
class PathOptions:
    """What a path is chosen by."""

    singularity_weight: float = 1e-6
    """Cost of a waypoint, divided by the square of the sine of the wrist's middle angle [rad^2]: small against joint
    travel, so that it decides between ways that are equally short."""
    spin_step_rad: float | None = None
    """Where the tool may turn about its own z axis (drills, mills, nozzles): the step in which it is tried; None
    where it may not."""
    margin_m: float = 0.0
    """Least clearance to itself and to obstacles; only looked at where `avoid` is set."""
    avoid: bool = True
    """Postures with less clearance than the margin are not used, if the arm has shapes."""
    obstacles: tuple[Any, ...] = ()
    """Shapes in the base frame (arms/obstacles.py)."""


@dataclass(frozen=True)
class JointPath:
    """A continuous joint path and what had to be given up for it."""

    arm: Arm
    base_from_tool: Array
    """(n, 4, 4) as asked for; with a free tool axis, as it is reached."""
    q: Array
    """(n, dof) within limits [rad]."""
    position_error_m: Array
    """(n,)."""
    orientation_error_rad: Array
    """(n,)."""
    step_rad: Array
    """(n - 1,) largest joint step between waypoints."""
    sine: Array
    """(n,) sine of the wrist's middle angle, 0 at its singularity; NaN where the arm has no such measure."""
    spin_rad: Array
    """(n,) turn of the tool about its own axis that was chosen; 0 where it is not free."""
    clearance_m: Array | None
    """(n,) least distance to itself and to obstacles; None where the arm has no shapes."""
    compromises: tuple[str, ...]
    """One sentence each, with the waypoint."""


def plan(
    arm: Arm,
    base_from_tool: Any,
    *,
    start: Any = None,
    options: PathOptions | None = None,
    joint_moves: Sequence[int] = (),
) -> JointPath:
    """The continuous joint path of least travel through poses (n, 4, 4), exact to 1e-9 m and rad at each.

    start: posture (dof,) from which the arm comes; among equal ways the nearest to it is taken.
    joint_moves: waypoints (1 to n - 1) that all joints go to at once, with the tool wherever that leads: the branch
    may change.
    Raises: NoPath, with the waypoint at which the longest way ends and why; FieldworthyError for what are no poses.
    """
    options = options or PathOptions()
    goals = poses(base_from_tool, "waypoint").reshape(-1, 4, 4)
    if not len(goals):
        raise FieldworthyError("path: no waypoint; valid: one or more poses (n, 4, 4)")
    spins: Array = np.zeros(1)
    if options.spin_step_rad is not None:
        if not 0.0 < options.spin_step_rad <= math.pi:
            raise FieldworthyError(f"spin_step_rad: {options.spin_step_rad:g}; valid: above 0, up to pi")
        count = math.ceil(2.0 * math.pi / options.spin_step_rad)
        spins = np.arange(count, dtype=float) * (2.0 * math.pi / count)
    near = np.array(start_of(arm, start))
    from_start = None if start is None else near
    free = np.zeros(len(goals) - 1, bool)
    free[np.array(list(joint_moves), int) - 1] = True
    way, found, linear = _chosen(
        arm, goals, near, np.broadcast_to(spins, (len(goals), len(spins))), options, from_start, free
    )
    spin = found.spin[np.arange(len(goals)), way.chosen]
    q = way.q
    if len(spins) > 1:
        smooth, turn = smoothed(arm, goals, q, spin, free)
        clear = not (options.avoid and arm.capsules) or _clearances(arm, smooth, options).min() >= options.margin_m
        q, spin = (smooth, turn) if clear else (q, spin)
    return _described(arm, goals, q, spin, options, linear)


def _chosen(
    arm: Arm, goals: Array, near: Array, spins: Array, options: PathOptions, start: Array | None, free: Any
) -> tuple[Way, Candidates, Any]:
    """(the cheapest way with enough clearance, what it was chosen from, its rows of lines that were let pass).

    Raises: NoPath.
    """
    found = candidates(arm, goals, near, spins)
    cost = np.nan_to_num(options.singularity_weight / np.maximum(found.sine, 1e-3) ** 2)
    avoid = options.avoid and bool(arm.capsules)
    for _ in range(_TRIES):
        way, turned_in_place = _search(arm, found, cost, start, free)
        if not len(way.q):
            raise NoPath(way.ends_at or 0, _why(arm, goals, found, way, options))
        hit = np.nonzero(_clearances(arm, way.q, options) < options.margin_m)[0] if avoid else np.empty(0, int)
        if not len(hit):
            return way, found, np.nonzero(turned_in_place & ~free)[0]
        found = _without(arm, found, _around(hit, len(goals)), options)
    raise NoPath(
        int(hit[0]), f"at waypoint {hit[0]} the clearance stays under {options.margin_m * 1e3:g} mm in every way tried"
    )


def _search(arm: Arm, found: Candidates, cost: Array, start: Array | None, free: Any) -> tuple[Way, bool]:
    """(the cheapest way, whether it has steps that were let pass because the tool hardly moves in them)."""
    round_joints = np.array([joint.kind == "revolute" and joint.upper - joint.lower > 2e-9 for joint in arm.joints])
    scale = np.where(free[:, None], np.inf, _largest_steps(arm))
    arguments = (cost, arm.lower, arm.upper, round_joints)
    way = cheapest(found.q, found.exists, *arguments, scale, start)
    if way.ends_at is None and not len(way.q):
        way = cheapest_wound(found.q, found.exists, *arguments, scale, start)
    if len(way.q):
        return way, False
    # Beside a singularity the wrist may have to turn far while the tool hardly moves.
    # A joint move is infinite in all joints; this is as good as that, and still a step that is wound with its
    # neighbours.
    wide = np.where(free[:, None], np.inf, np.full(arm.dof, 1e9))
    other = cheapest(found.q, found.exists, *arguments, wide, start)
    if other.ends_at is None and not len(other.q):
        other = cheapest_wound(found.q, found.exists, *arguments, wide, start)
    if len(other.q) and _keeps_to_the_line(arm, other, scale):
        return other, True
    return way, False


def _largest_steps(arm: Arm) -> Array:
    return np.array([JUMP_RAD if joint.kind == "revolute" else JUMP_M for joint in arm.joints])


def _keeps_to_the_line(arm: Arm, way: Way, scale: Array) -> bool:
    """Whether the tool stays on its straight way in every large step of a joint."""
    steps = np.diff(way.q, axis=0)
    for row in np.nonzero((np.abs(steps) > scale).any(axis=1))[0]:
        shares = np.linspace(0.0, 1.0, 33)[1:-1]
        reached = fk(arm, way.q[row] + shares[:, None] * steps[row])
        ends = fk(arm, way.q[row : row + 2])
        line = ends[0, :3, 3] + shares[:, None] * (ends[1, :3, 3] - ends[0, :3, 3])
        off = np.linalg.norm(reached[:, :3, 3] - line, axis=1)
        turn = np.minimum(*(_angle(reached[:, :3, :3], end[:3, :3]) for end in ends))
        if off.max() > LINE_M or turn.max() > LINE_RAD + _angle(ends[:1, :3, :3], ends[1, :3, :3])[0]:
            return False
    return True


def _angle(turns: Array, other: Array) -> Array:
    """(n,) angle [rad] between rotations (n, 3, 3) and one (3, 3)."""
    return np.asarray(2.0 * np.arcsin(np.clip(np.sqrt(((turns - other) ** 2).sum(axis=(1, 2)) / 8.0), 0.0, 1.0)))


def _clearances(arm: Arm, q: Array, options: PathOptions) -> Array:
    return clearance(arm, q, options.obstacles, options.margin_m).distance_m


def _around(hit: Any, count: int) -> Any:
    """Waypoints in collision and five to each side: the way round begins before them."""
    return np.unique(np.clip(hit[:, None] + np.arange(-5, 6), 0, count - 1))


def _without(arm: Arm, found: Candidates, rows: Any, options: PathOptions) -> Candidates:
    """The candidates less those of some waypoints that have too little clearance."""
    exists = found.exists.copy()
    at, which = np.nonzero(exists[rows])
    bad = _clearances(arm, found.q[rows[at], which], options) < options.margin_m
    exists[rows[at[bad]], which[bad]] = False
    return replace(found, exists=exists)


def _why(arm: Arm, goals: Array, found: Candidates, way: Way, options: PathOptions) -> str:
    """Why the longest way ends."""
    row = way.ends_at
    if row is None:
        return "every continuous way turns a joint further than its limits allow, in whichever whole turn it starts"
    if not found.exists[row].any():
        attempt = solve(arm, goals[row])
        if attempt.reached:
            return f"at waypoint {row} every posture has less clearance than {options.margin_m * 1e3:g} mm"
        return f"waypoint {row} cannot be reached: {attempt.why}"
    if row == 0:
        return "waypoint 0 cannot be left"
    turning = np.array([joint.kind == "revolute" for joint in arm.joints])
    before = found.q[row - 1, way.chosen[-1]] if way.last is None else way.last
    steps = short_way(found.q[row, found.exists[row]] - before, turning)
    least = steps[np.argmin(np.abs(steps).max(axis=1))]
    over = np.maximum(arm.lower - (before + least), before + least - arm.upper)
    if over.max() > 0.0 and (np.abs(least) <= _largest_steps(arm)).all():
        joint = arm.joints[int(over.argmax())]
        limits = f"{math.degrees(joint.lower):.4g} to {math.degrees(joint.upper):.4g} deg"
        return (
            f"between waypoints {row - 1} and {row} joint {joint.name} comes to its limit ({limits}), in whichever "
            "branch and whole turn the path starts"
        )
    joint = arm.joints[int(np.abs(least).argmax())]
    return (
        f"between waypoints {row - 1} and {row} every way jumps: the least of them turns joint {joint.name} by "
        f"{math.degrees(np.abs(least).max()):.1f} deg at once, as the branch that leads there is out of reach or at "
        "a limit"
    )


def _described(arm: Arm, goals: Array, q: Array, spin: Array, options: PathOptions, linear: Any) -> JointPath:
    asked = goals if options.spin_step_rad is None else goals @ spun(spin)
    reached = fk(arm, q)
    position = np.linalg.norm(reached[:, :3, 3] - asked[:, :3, 3], axis=1)
    orientation = np.sqrt(((reached[:, :3, :3] - asked[:, :3, :3]) ** 2).sum(axis=(1, 2)) * 0.5)
    steps = np.abs(np.diff(q, axis=0))
    sine = singularities(arm, q).wrist
    space = _clearances(arm, q, options) if arm.capsules else None
    notes = []
    for row in linear[(steps[linear] > _largest_steps(arm)).any(axis=1)]:
        joint = arm.joints[int(steps[row].argmax())]
        notes.append(
            f"between waypoints {row} and {row + 1} joint {joint.name} turns {math.degrees(steps[row].max()):.0f} deg "
            "while the tool hardly moves: the feed stops there"
        )
    low = np.nonzero(sine < 0.02)[0]
    if len(low):
        nearest = int(np.nanargmin(sine))
        notes.append(
            f"{len(low)} waypoints lie within 1.1 deg of the wrist singularity, nearest at waypoint {nearest} "
            f"({math.degrees(math.asin(min(sine[nearest], 1.0))):.2g} deg)"
        )
    if space is not None and not options.avoid and (space < options.margin_m).any():
        notes.append(f"clearance falls to {space.min() * 1e3:.1f} mm at waypoint {int(space.argmin())}")
    return JointPath(
        arm, asked, q, position, orientation, steps.max(axis=1) if len(steps) else np.zeros(0), sine, spin, space,
        tuple(notes),
    )  # fmt: skip
