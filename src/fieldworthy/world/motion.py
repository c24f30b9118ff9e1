"""The physics kernel: many ticks of every lane, with contact, waypoints and limits watched at every tick."""

from __future__ import annotations

from typing import Any

from fieldworthy.core.engine import Engine, take
from fieldworthy.core.integrate import rk4
from fieldworthy.core.lanes import is_finite, maximum, minimum, sqrt
from fieldworthy.core.struct import leaves, where
from fieldworthy.core.track import Pose, Track, write_pose
from fieldworthy.environment.primitives import Table, entry
from fieldworthy.environment.sea import Sea, ride
from fieldworthy.sensors.candidates import FASTEST_M_S, for_each_candidate, mask_word, within_reach
from fieldworthy.vehicles.boat import BoatCommand, BoatParameters, BoatState, boat_rates
from fieldworthy.vehicles.hull import Hull, can_touch, hull_distance
from fieldworthy.world.state import (
    CLEARANCE_HORIZON_M,
    COLLISION,
    GOAL,
    LEFT_AREA,
    NON_FINITE,
    RUNNING,
    TIMEOUT,
    CourseLanes,
    Progress,
    Timing,
)


def boat_pose(boat: BoatState, sea: Sea, p: BoatParameters, t_s: Any) -> Pose:
    """Pose with the heave, roll and pitch that the waves give it."""
    tilt = ride(sea.waves, boat.north_m, boat.east_m, boat.heading_rad, t_s, p.length_m, p.beam_m)
    zero = boat.north_m * 0.0
    return Pose(
        north_m=boat.north_m,
        east_m=boat.east_m,
        up_m=zero + tilt.heave_up_m,
        roll_rad=zero + tilt.roll_rad,
        pitch_rad=zero + tilt.pitch_rad,
        heading_rad=boat.heading_rad,
    )


def near_masks(
    engine: Engine, hull: Hull, table: Table, boat: BoatState, row: Any, t_s: Any, ticks_s: float, index: Any
) -> Any:
    """Candidates for contact of one table in the next `ticks_s` seconds: UInt32 [lanes * words], `index` counting."""
    import drjit as dr

    word = index % table.words if table.many_words else engine.UInt32(0)
    lane = index // table.words if table.many_words else index
    north, east = dr.gather(engine.Float, boat.north_m, lane), dr.gather(engine.Float, boat.east_m, lane)
    reach = CLEARANCE_HORIZON_M + hull.radius_m + FASTEST_M_S * ticks_s
    near = within_reach(table.kind, north, east, reach)
    row = dr.gather(engine.UInt32, row, lane)
    return mask_word(
        engine, table, row, word, t_s, lambda numbers: near(numbers) & can_touch(hull, table.kind, numbers)
    )


def move(
    engine: Engine,
    hull: Hull,
    timing: Timing,
    tables: tuple[Table, ...],
    masks: tuple[Any, ...],
    boat_parameters: BoatParameters,
    sea: Sea,
    course: CourseLanes,
    row: Any,
    lane: Any,
    boat: BoatState,
    progress: Progress,
    command: BoatCommand,
    track: Track,
    tick: Any,
    ticks: Any,
    end: Any,
) -> tuple[BoatState, Progress, Track]:
    """Fly all lanes `ticks` ticks on from `tick` under one command; lanes that end stay where they ended.

    A tick ends a lane by the first of: a number that is not finite, contact, the goal, leaving the area, `end`.
    """
    import drjit as dr

    p, air = take(boat_parameters, row), take(sea, row)
    dt = timing.dt_s

    def clearance(at: BoatState, t_s: Any) -> Any:
        nearest = engine.Float(CLEARANCE_HORIZON_M) + 0.0 * at.north_m
        for table, mask in zip(tables, masks, strict=True):

            def visit(index: Any, nearest: Any, table: Table = table) -> Any:
                numbers = entry(table, index, t_s, engine.Float)
                return minimum(hull_distance(hull, table.kind, numbers, at.north_m, at.east_m, at.heading_rad), nearest)

            nearest = for_each_candidate(engine, table, mask, lane * table.words, row, nearest, visit)
        return nearest

    def step(i: Any, boat: BoatState, progress: Progress) -> tuple[Any, BoatState, Progress]:
        active = progress.outcome == RUNNING
        new = rk4(lambda s: boat_rates(s, command, air, p), boat, dt)
        now = tick + i + 1
        t_s = engine.Float(now) * dt
        sound = is_finite(sum(leaves(new)))
        new = where(active & sound, new, boat)
        gap = clearance(new, t_s)
        there, target = _arrived(engine, course, new, progress.target)
        low_n, high_n, low_e, high_e = course.area
        inside = (new.north_m >= low_n) & (new.north_m <= high_n) & (new.east_m >= low_e) & (new.east_m <= high_e)
        outcome = dr.select(now >= end, engine.UInt32(TIMEOUT), engine.UInt32(RUNNING))
        outcome = dr.select(~inside, LEFT_AREA, outcome)
        outcome = dr.select(there & (target >= course.count), GOAL, outcome)
        outcome = dr.select(gap <= 0.0, COLLISION, outcome)
        outcome = dr.select(~sound, NON_FINITE, outcome)
        speed = sqrt(new.surge_m_s * new.surge_m_s + new.sway_m_s * new.sway_m_s)
        ahead = Progress(
            outcome=outcome,
            end_tick=now,
            target=target,
            clearance_m=maximum(minimum(progress.clearance_m, gap), 0.0),
            path_m=progress.path_m + speed * dt,
        )
        write_pose(track, boat_pose(new, air, p, t_s), now, lane, active)
        return i + 1, new, where(active, ahead, progress)

    _, boat, progress = dr.while_loop((engine.UInt32(0), boat, progress), lambda i, boat, progress: i < ticks, step)
    return boat, progress, track


def _arrived(engine: Engine, course: CourseLanes, boat: BoatState, target: Any) -> tuple[Any, Any]:
    """Whether the current target is reached, and the target after it."""
    import drjit as dr

    known = dr.minimum(target, course.count - 1)
    north = dr.gather(engine.Float, course.north_m, known) - boat.north_m
    east = dr.gather(engine.Float, course.east_m, known) - boat.east_m
    radius = dr.gather(engine.Float, course.radius_m, known)
    there = north * north + east * east <= radius * radius
    return there, dr.select(there, target + 1, target)
