"""How a trial goes on and ends: waypoints, goal, area, contact, time. Apart from the physics, watched at every tick."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    up_m: tuple[float, ...] | None = None
    """Heights of the targets, for what flies; None: reached at any height."""
    ceiling_m: float = 1.0e9
    """Greatest height of the area."""
    hold: tuple[int, ...] | None = None
    """Ticks for which the vehicle must stay within each target's radius; None: to touch it is enough."""
    wishes: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """What else each target asks for, by the names of the readings (`target_speed_m_s`, …)."""


@dataclass
class CourseLanes:
    """`Course` as data of the kernels."""

    north_m: Any
    east_m: Any
    radius_m: Any
    count: Any
    area: tuple[Any, Any, Any, Any]
    """north low, north high, east low, east high."""
    up_m: Any
    """None where heights do not count; so are the next two."""
    ceiling_m: Any
    hold: Any
    wishes: dict[str, Any]
    start_north_m: Any
    """(rows)"""
    start_east_m: Any
    start_up_m: Any


@dataclass
class Standing:
    """How far each lane has come."""

    outcome: Any
    """UInt32, a place in OUTCOMES."""
    end_tick: Any
    target: Any
    """Waypoint being headed for."""
    held: Any
    """Ticks that the vehicle has now been within its radius."""
    clearance_m: Any
    """Least distance between hull and shapes so far."""
    path_m: Any
    path_rest_m: Any
    """What the sum in `path_m` has not yet taken up, see `integrate.add_compensated`."""


def judge(
    engine: Engine,
    course: CourseLanes,
    standing: Standing,
    row: Any,
    pos_ned_m: Vec3,
    gap_m: Any,
    broken: Any,
    flown_m: Any,
    sound: Any,
    now: Any,
    end: Any,
) -> Standing:
    """The standing at tick `now`, from where a lane has come.

    gap_m: distance to the nearest shape.      broken: the vehicle has broken by itself, or False.
    flown_m: way since the tick before.      sound: all numbers finite.
    A tick ends a lane by the first of: a number that is not finite, contact, the goal, leaving the area, `end`.
    """
    import drjit as dr

    north, east = pos_ned_m.x, pos_ned_m.y
    there, target, held = _arrived(engine, course, row, pos_ned_m, standing)
    low_n, high_n, low_e, high_e = course.area
    inside = (north >= low_n) & (north <= high_n) & (east >= low_e) & (east <= high_e)
    if course.ceiling_m is not None:
        inside = inside & (-pos_ned_m.z <= course.ceiling_m)
    outcome = dr.select(now >= end, engine.UInt32(TIMEOUT), engine.UInt32(RUNNING))
    outcome = dr.select(~inside, LEFT_AREA, outcome)
    outcome = dr.select(there & (target >= course.count), GOAL, outcome)
    outcome = dr.select((gap_m <= 0.0) | broken, COLLISION, outcome)
    outcome = dr.select(~sound, NON_FINITE, outcome)
    path, rest = add_compensated(standing.path_m, standing.path_rest_m, 1.0, flown_m)
    return Standing(
        outcome=outcome,
        end_tick=now,
        target=target,
        held=held,
        clearance_m=maximum(minimum(standing.clearance_m, gap_m), 0.0),
        path_m=path,
        path_rest_m=rest,
    )


def _arrived(
    engine: Engine, course: CourseLanes, row: Any, pos_ned_m: Vec3, standing: Standing
) -> tuple[Any, Any, Any]:
    """Whether the current target is done with, the target after it, and for how long it has been held.

    A waypoint on wings is also done with once it has been passed: what cannot stop must not turn back for a metre. The
    goal itself must be reached.
    """
    import drjit as dr

    known = dr.minimum(standing.target, course.count - 1)
    north = dr.gather(engine.Float, course.north_m, known) - pos_ned_m.x
    east = dr.gather(engine.Float, course.east_m, known) - pos_ned_m.y
    radius = dr.gather(engine.Float, course.radius_m, known)
    square = north * north + east * east
    if course.up_m is not None:
        up = dr.gather(engine.Float, course.up_m, known) + pos_ned_m.z
        square = square + up * up
    there = square <= radius * radius
    if course.hold is None:
        return there, dr.select(there, standing.target + 1, standing.target), standing.held
    held = dr.select(there, standing.held + 1, 0)
    done = there & (held > dr.gather(engine.UInt32, course.hold, known))
    if "target_way" in course.wishes:
        on_wings = dr.gather(engine.Float, course.wishes["target_way"], known) > 0.5
        from_north, from_east = (_before(engine, course, name, standing.target, row) for name in ("north_m", "east_m"))
        leg_north = dr.gather(engine.Float, course.north_m, known) - from_north
        leg_east = dr.gather(engine.Float, course.east_m, known) - from_east
        passed = north * leg_north + east * leg_east < 0.0
        done = done | (on_wings & passed & (standing.target + 1 < course.count))
    return done, dr.select(done, standing.target + 1, standing.target), dr.select(done, 0, held)


def target_of(engine: Engine, course: CourseLanes, standing: Standing, row: Any) -> dict[str, Any]:
    """What a controller knows of where to go: the target, what it asks for, and the place before it."""
    import drjit as dr

    target = dr.minimum(standing.target, course.count - 1)
    found = {
        "target": engine.Float(target),
        "target_north_m": dr.gather(engine.Float, course.north_m, target),
        "target_east_m": dr.gather(engine.Float, course.east_m, target),
    }
    if course.up_m is None:
        return found
    for name in ("north_m", "east_m", "up_m"):
        found[f"from_{name}"] = _before(engine, course, name, target, row)
    found["target_up_m"] = dr.gather(engine.Float, course.up_m, target)
    found.update({name: dr.gather(engine.Float, values, target) for name, values in course.wishes.items()})
    return found


def _before(engine: Engine, course: CourseLanes, name: str, target: Any, row: Any) -> Any:
    """One coordinate of the place before a target: the waypoint before it, or the start of the lane's row."""
    import drjit as dr

    start = dr.gather(engine.Float, getattr(course, f"start_{name}"), row)
    waypoint = dr.gather(engine.Float, getattr(course, name), dr.maximum(target, 1) - 1)
    return dr.select(target == 0, start, waypoint)
