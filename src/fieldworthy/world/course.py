"""How a trial goes on and ends: waypoints, goal, area, contact, time. Apart from the physics, watched at every tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldworthy.core.engine import Engine
from fieldworthy.core.integrate import add_compensated
from fieldworthy.core.lanes import maximum, minimum
from fieldworthy.core.vec import Vec3

OUTCOMES = ("running", "goal", "collision", "timeout", "left area", "non-finite")
RUNNING, GOAL, COLLISION, TIMEOUT, LEFT_AREA, NON_FINITE = range(6)


@dataclass(frozen=True)
class Course:
    """Where to go: waypoints in order, the goal last, and the area that may not be left. Plain numbers, all trials."""

    north_m: tuple[float, ...]
    east_m: tuple[float, ...]
    radius_m: tuple[float, ...]
    area_north_m: tuple[float, float]
    area_east_m: tuple[float, float]


@dataclass
class CourseLanes:
    """`Course` as data of the kernels."""

    north_m: Any
    east_m: Any
    radius_m: Any
    count: Any
    area: tuple[Any, Any, Any, Any]
    """north low, north high, east low, east high."""


@dataclass
class Standing:
    """How far each lane has come."""

    outcome: Any
    """UInt32, a place in OUTCOMES."""
    end_tick: Any
    target: Any
    """Waypoint being headed for."""
    clearance_m: Any
    """Least distance between hull and shapes so far."""
    path_m: Any
    path_rest_m: Any
    """What the sum in `path_m` has not yet taken up, see `integrate.add_compensated`."""


def judge(
    engine: Engine,
    course: CourseLanes,
    standing: Standing,
    pos_ned_m: Vec3,
    gap_m: Any,
    flown_m: Any,
    sound: Any,
    now: Any,
    end: Any,
) -> Standing:
    """The standing at tick `now`, from where a lane has come.

    gap_m: distance to the nearest shape.      flown_m: way since the tick before.      sound: all numbers finite.
    A tick ends a lane by the first of: a number that is not finite, contact, the goal, leaving the area, `end`.
    """
    import drjit as dr

    north, east = pos_ned_m.x, pos_ned_m.y
    there, target = _arrived(engine, course, north, east, standing.target)
    low_n, high_n, low_e, high_e = course.area
    inside = (north >= low_n) & (north <= high_n) & (east >= low_e) & (east <= high_e)
    outcome = dr.select(now >= end, engine.UInt32(TIMEOUT), engine.UInt32(RUNNING))
    outcome = dr.select(~inside, LEFT_AREA, outcome)
    outcome = dr.select(there & (target >= course.count), GOAL, outcome)
    outcome = dr.select(gap_m <= 0.0, COLLISION, outcome)
    outcome = dr.select(~sound, NON_FINITE, outcome)
    path, rest = add_compensated(standing.path_m, standing.path_rest_m, 1.0, flown_m)
    return Standing(
        outcome=outcome,
        end_tick=now,
        target=target,
        clearance_m=maximum(minimum(standing.clearance_m, gap_m), 0.0),
        path_m=path,
        path_rest_m=rest,
    )


def _arrived(engine: Engine, course: CourseLanes, north_m: Any, east_m: Any, target: Any) -> tuple[Any, Any]:
    """Whether the current target is reached, and the target after it."""
    import drjit as dr

    known = dr.minimum(target, course.count - 1)
    north = dr.gather(engine.Float, course.north_m, known) - north_m
    east = dr.gather(engine.Float, course.east_m, known) - east_m
    radius = dr.gather(engine.Float, course.radius_m, known)
    there = north * north + east * east <= radius * radius
    return there, dr.select(there, target + 1, target)
