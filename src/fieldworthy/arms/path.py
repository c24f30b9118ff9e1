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
from fieldworthy.arms.exact_branches import start_of
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.path_candidates import Candidates, candidates, spun
from fieldworthy.arms.path_options import LINE_M, LINE_RAD, NoPath, PathOptions
from fieldworthy.arms.path_search import Way, around, cheapest, cheapest_wound
from fieldworthy.arms.path_spin import smoothed, smoothed_elbow
from fieldworthy.arms.path_words import Label, compromises, largest_steps, told_mm, too_tight, why_it_ends
from fieldworthy.arms.posture import poses
from fieldworthy.arms.singularity import reach_m, wrist_sine
from fieldworthy.core.errors import FieldworthyError

__all__ = ["JointPath", "NoPath", "PathOptions", "plan"]

_TRIES = 60
"""Ways that are tried around collisions."""


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
    spin_free: Any = None,
    postures: Array | None = None,
    label: Label = "waypoint {}".format,
) -> JointPath:
    """The continuous joint path of least travel through poses (n, 4, 4), exact to 1e-9 m and rad at each.

    Waypoints must lie so close that a joint turns less than half a radian between two (`densify`); larger steps count
    only where the tool keeps to its line in them. Least is the sum of squared joint steps, and what
    `singularity_weight` adds; limits and clearance are bounds, not costs, and whole turns are chosen so that the path
    stays far from limits. Of seven axes 33 places of the held joint are tried, and their way is then smoothed.
    start: posture (dof,) from which the arm comes; among nearly equal ways the nearest to it is taken.
    joint_moves: waypoints (1 to n - 1) that all joints go to at once, with the tool wherever that leads: the branch
    may change. spin_free: (n,) bool, where the tool may turn; everywhere if options say so and None.
    postures: (n, dof) the posture at rows that have one, NaN at the others: no other is taken there.
    label: what sentences call a row of the poses.
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
    if postures is not None:
        pinned = _pinned(arm, postures, goals, label)
        start = postures[0] if start is None and pinned[0] else start
    near = np.array(start_of(arm, start))
    from_start = None if start is None else near
    free = np.zeros(len(goals) - 1, bool)
    for row in joint_moves:
        if int(row) != row or not 1 <= row < len(goals):
            raise FieldworthyError(f"joint_moves: {row}; valid: rows 1 to {len(goals) - 1}")
        free[int(row) - 1] = True
    turning = np.ones(len(goals), bool) if spin_free is None else np.asarray(spin_free, bool)
    if turning.shape != (len(goals),):
        raise FieldworthyError(f"spin_free: shape {turning.shape}; valid: ({len(goals)},)")
    all_spins = np.where(turning[:, None], spins, 0.0)
    way, found, linear, space = _chosen(arm, goals, near, all_spins, options, from_start, free, label, postures)
    spin = found.spin[np.arange(len(goals)), way.chosen]
    q = way.q
    smoother: list[tuple[Array, Array]] = []
    if len(spins) > 1:
        smoother.append(smoothed(arm, goals, q, spin, free, turning))
    elif arm.dof == 7:
        smoother.append((smoothed_elbow(arm, goals, q, free), spin))
    for smooth, turn in smoother:
        room = _clearances(arm, smooth, options) if arm.capsules else None
        if room is None or not options.avoid or room.min() >= options.margin_m:
            q, spin, space = smooth, turn, room
    return _described(arm, goals, q, spin, space, options, linear, label)


def _chosen(
    arm: Arm,
    goals: Array,
    near: Array,
    spins: Array,
    options: PathOptions,
    start: Array | None,
    free: Any,
    label: Label,
    postures: Array | None,
) -> tuple[Way, Candidates, Any, Array | None]:
    """(the cheapest way with enough clearance, what it was chosen from, its rows of lines that were let pass, its
    clearance if that was asked for).

    Raises: NoPath.
    """
    found = candidates(arm, goals, near, spins)
    if postures is not None:
        for given in np.flatnonzero(np.isfinite(postures).all(axis=1)).tolist():
            found.q[given], found.exists[given], found.sine[given] = postures[given], False, 1.0
            found.exists[given, ::8] = True  # one in each group
    cost = np.nan_to_num(options.singularity_weight * (_ways(arm, goals) / np.maximum(found.sine, 1e-3)) ** 2)
    whole, was = found.q, found.exists
    reached = was.any(axis=1)
    avoid = options.avoid and bool(arm.capsules)
    for _ in range(_TRIES):
        way, turned_in_place = _search(arm, found, cost, start, free)
        if not len(way.q):
            row = way.ends_at
            if row is not None and reached[row] and not found.exists[row].any():
                raise NoPath(row, too_tight(arm, whole[row][was[row]], options, label(row)))
            raise NoPath(row or 0, why_it_ends(arm, goals, found, way, label))
        space = _clearances(arm, way.q, options) if avoid else None
        hit = np.nonzero(space < options.margin_m)[0] if space is not None else np.empty(0, int)
        if not len(hit):
            return way, found, np.nonzero(turned_in_place & ~free)[0], space
        found = _without(arm, found, _around(hit, len(goals)), options)
    where = label(int(hit[0]))
    raise NoPath(int(hit[0]), f"at {where} the clearance stays under {told_mm(options.margin_m)} in every way tried")


def _pinned(arm: Arm, postures: Array, goals: Array, label: Label) -> Any:
    """(n,) rows with a posture of their own. Raises: NoPath where one is beyond limits or not at its pose."""
    rows = np.isfinite(postures).all(axis=1)
    for row in np.flatnonzero(rows).tolist():
        q = postures[row]
        if (q < arm.lower - 1e-9).any() or (q > arm.upper + 1e-9).any():
            joint = arm.joints[int(np.maximum(arm.lower - q, q - arm.upper).argmax())]
            raise NoPath(row, f"{label(row)} is given in joints, and {joint.name} is beyond its limits")
        if np.abs(fk(arm, q) - goals[row]).max() > 1e-6:
            raise NoPath(row, f"{label(row)} is given in joints that do not put the tool at its pose")
    return rows


def _ways(arm: Arm, goals: Array) -> Array:
    """(n, 1) how far the tool goes around each pose, half of the way before and half of that after it [reach + rad]."""
    step = np.linalg.norm(np.diff(goals[:, :3, 3], axis=0), axis=1) / reach_m(arm)
    chord = np.sqrt((np.diff(goals[:, :3, :3], axis=0) ** 2).sum(axis=(1, 2)) * 0.5)
    whole = np.zeros(len(goals))
    whole[1:] += 0.5 * (step + chord)
    whole[:-1] += 0.5 * (step + chord)
    return whole[:, None]


def _search(arm: Arm, found: Candidates, cost: Array, start: Array | None, free: Any) -> tuple[Way, bool]:
    """(the cheapest way, whether it has steps that were let pass because the tool hardly moves in them)."""
    round_joints = np.array([joint.kind == "revolute" and joint.upper - joint.lower > 2e-9 for joint in arm.joints])
    scale = np.where(free[:, None], np.inf, largest_steps(arm))
    arguments = (cost, arm.lower, arm.upper, round_joints)
    way = _cheapest(found, *arguments, scale, start)
    if len(way.q):
        return way, False
    # Beside a singularity the wrist may have to turn far while the tool hardly moves. A joint move is infinite in all
    # joints; this is as good as that, and still a step that is wound with its neighbours.
    wide = np.where(free[:, None], np.inf, np.full(arm.dof, 1e9))
    other = _cheapest(found, *arguments, wide, start)
    if len(other.q) and _keeps_to_the_line(arm, other, scale):
        return other, True
    return way, False


def _cheapest(
    found: Candidates,
    cost: Array,
    low: Array,
    high: Array,
    round_joints: Any,
    most_step: Array,
    start: Array | None,
) -> Way:
    """The cheapest way; where it cannot be wound into limits, the cheapest of all whole turns.

    Of many candidates only those near to it are then looked at.
    """
    way = cheapest(found.q, found.exists, cost, low, high, round_joints, most_step, start, found.grid)
    if way.ends_at is not None or len(way.q):
        return way
    if found.grid == (1, 1):
        return cheapest_wound(found.q, found.exists, cost, low, high, round_joints, most_step, start)
    kept = around(way.chosen, found.q.shape[1], found.grid)
    q = np.take_along_axis(found.q, kept[:, :, None], axis=1)
    exists, near = (np.take_along_axis(values, kept, axis=1) for values in (found.exists, cost))
    wound = cheapest_wound(q, exists, near, low, high, round_joints, most_step, start)
    return replace(wound, chosen=np.take_along_axis(kept[: len(wound.chosen)], wound.chosen[:, None], axis=1)[:, 0])


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


def _described(
    arm: Arm,
    goals: Array,
    q: Array,
    spin: Array,
    space: Array | None,
    options: PathOptions,
    linear: Any,
    label: Label,
) -> JointPath:
    asked = goals if options.spin_step_rad is None else goals @ spun(spin)
    reached = fk(arm, q)
    position = np.linalg.norm(reached[:, :3, 3] - asked[:, :3, 3], axis=1)
    orientation = np.sqrt(((reached[:, :3, :3] - asked[:, :3, :3]) ** 2).sum(axis=(1, 2)) * 0.5)
    steps = np.abs(np.diff(q, axis=0))
    sine = wrist_sine(arm, q)
    if space is None and arm.capsules:
        space = _clearances(arm, q, options)
    notes = compromises(arm, steps, sine, linear, label)
    if space is not None and not options.avoid and (space < options.margin_m).any():
        notes.append(f"clearance falls to {space.min() * 1e3:.1f} mm at {label(int(space.argmin()))}")
    return JointPath(
        arm, asked, q, position, orientation, steps.max(axis=1) if len(steps) else np.zeros(0), sine, spin, space,
        tuple(notes),
    )  # fmt: skip
