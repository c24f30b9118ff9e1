"""What is said of a path: why there is none, and what had to be given up for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.collision import clearance
from fieldworthy.arms.exact import solve
from fieldworthy.arms.path_candidates import Candidates
from fieldworthy.arms.path_options import PathOptions
from fieldworthy.arms.path_search import Way, short_way

Label: TypeAlias = Callable[[int], str]
"""What sentences call a row of the poses: "waypoint 3"."""
JUMP_RAD = 0.5
"""Largest step of a joint between waypoints that needs no further look."""
JUMP_M = 0.1
"""The same for prismatic joints."""
_NEAR_WRIST = 0.02
"""Sine of the wrist's middle angle under which a waypoint is told to be near its singularity."""


def largest_steps(arm: Arm) -> Array:
    """(dof,) largest step of each joint that needs no further look."""
    return np.array([JUMP_RAD if joint.kind == "revolute" else JUMP_M for joint in arm.joints])


def told_mm(length_m: float) -> str:
    """A length in millimetres."""
    return f"{length_m * 1e3:g} mm"


def too_tight(arm: Arm, q: Array, options: PathOptions, where: str) -> str:
    """That no posture (k, dof) of a waypoint has clearance, and how much the best of them has, between what."""
    space = clearance(arm, q, options.obstacles, options.margin_m)
    best = int(space.distance_m.argmax())
    pair = " and ".join(space.pairs[best])
    most = f"at best {space.distance_m[best] * 1e3:.1f} mm between {pair}"
    return f"at {where} every posture has less clearance than {told_mm(options.margin_m)}: {most}"


def why_it_ends(arm: Arm, goals: Array, found: Candidates, way: Way, label: Label) -> str:
    """Why the longest way ends."""
    row = way.ends_at
    if row is None:
        return "every continuous way turns a joint further than its limits allow, in whichever whole turn it starts"
    if not found.exists[row].any():
        return f"{label(row)} cannot be reached: {solve(arm, goals[row]).why}"
    if row == 0:
        return f"{label(0)} cannot be left"
    turning = np.array([joint.kind == "revolute" for joint in arm.joints])
    before = found.q[row - 1, way.chosen[-1]] if way.last is None else way.last
    steps = short_way(found.q[row, found.exists[row]] - before, turning)
    least = steps[np.argmin(np.abs(steps).max(axis=1))]
    over = np.maximum(arm.lower - (before + least), before + least - arm.upper)
    if over.max() > 0.0 and (np.abs(least) <= largest_steps(arm)).all():
        joint = arm.joints[int(over.argmax())]
        limits = f"{math.degrees(joint.lower):.4g} to {math.degrees(joint.upper):.4g} deg"
        return (
            f"between {label(row - 1)} and {label(row)} joint {joint.name} comes to its limit ({limits}), in whichever "
            "branch and whole turn the path starts"
        )
    joint = arm.joints[int(np.abs(least).argmax())]
    return (
        f"between {label(row - 1)} and {label(row)} every way jumps: the least of them turns joint {joint.name} by "
        f"{math.degrees(np.abs(least).max()):.1f} deg at once: the branch that leads there is out of reach or at "
        "a limit, or the two lie too far apart to tell (put points in between)"
    )


def compromises(arm: Arm, steps: Array, sine: Array, linear: Any, label: Label) -> list[str]:
    """Sentences on steps (n - 1, dof) of rows `linear` that are large, and on wrist sines (n,) that are small."""
    notes = []
    for row in linear[(steps[linear] > largest_steps(arm)).any(axis=1)]:
        joint, turn = arm.joints[int(steps[row].argmax())], math.degrees(steps[row].max())
        notes.append(
            f"between {label(row)} and {label(row + 1)} joint {joint.name} turns {turn:.0f} deg while the tool hardly "
            "moves: the feed stops there"
        )
    low = np.nonzero(sine < _NEAR_WRIST)[0]
    if len(low):
        nearest = int(np.nanargmin(sine))
        angle = math.degrees(math.asin(min(sine[nearest], 1.0)))
        notes.append(
            f"{len(low)} points lie within {math.degrees(_NEAR_WRIST):.1f} deg of the wrist singularity, the nearest "
            f"at {label(nearest)} ({angle:.2g} deg)"
        )
    return notes
