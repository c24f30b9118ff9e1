"""The physics kernel: many ticks of every lane, with contact watched at every tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldworthy.core.engine import Engine
from fieldworthy.core.lanes import is_finite, minimum
from fieldworthy.core.struct import leaves, where
from fieldworthy.core.track import Pose, Track, write_pose
from fieldworthy.core.vec import euler_zyx_from_quat
from fieldworthy.environment.primitives import Table, entry
from fieldworthy.sensors.candidates import FASTEST_M_S, for_each_candidate, mask_word, within_reach
from fieldworthy.vehicles.hull import Hull, can_touch, hull_distance
from fieldworthy.vehicles.vehicle import Clock, Vehicle
from fieldworthy.world.course import RUNNING, CourseLanes, Standing, judge
from fieldworthy.world.state import CLEARANCE_HORIZON_M, Sights


@dataclass
class Surroundings:
    """What lanes move in: the same from call to call."""

    parameters: Any
    """Of the vehicle, as each lane sees them; so is `medium`."""
    medium: Any
    tables: tuple[Table, ...]
    masks: tuple[Any, ...]
    """Of each table, what may be touched in the time of the call (`near_masks`)."""
    course: CourseLanes
    row: Any
    """UInt32 (lanes); so are the next two."""
    trial: Any
    lane: Any
    end: Any
    """Tick of the time limit, a UInt32 scalar."""


@dataclass
class Moving:
    """What changes: one entry a lane."""

    vehicle: Any
    standing: Standing
    track: Track | None
    """None: nobody asks where the vehicle was before."""


def near_masks(
    engine: Engine, hull: Hull, table: Table, pose: Pose, row: Any, t_s: Any, ticks_s: float, index: Any
) -> Any:
    """Candidates for contact of one table in the next `ticks_s` seconds: UInt32 [lanes * words], `index` counting."""
    import drjit as dr

    word = index % table.words if table.many_words else engine.UInt32(0)
    lane = index // table.words if table.many_words else index
    north = dr.gather(engine.Float, pose.pos_ned_m.x, lane)
    east = dr.gather(engine.Float, pose.pos_ned_m.y, lane)
    # The vehicle and what it meets may come towards each other.
    reach = CLEARANCE_HORIZON_M + hull.radius_m + 2.0 * FASTEST_M_S * ticks_s
    near = within_reach(table.kind, north, east, reach)
    row = dr.gather(engine.UInt32, row, lane)
    return mask_word(
        engine, table, row, word, t_s, lambda numbers: near(numbers) & can_touch(hull, table.kind, numbers)
    )


def gap_m(
    engine: Engine, hull: Hull, tables: tuple[Table, ...], masks: tuple[Any, ...], row: Any, lane: Any, pose: Pose,
    t_s: Any,
) -> Any:  # fmt: skip
    """Distance [m] from the hull to the nearest marked shape, at most CLEARANCE_HORIZON_M."""
    nearest = engine.Float(CLEARANCE_HORIZON_M) + 0.0 * pose.pos_ned_m.x
    for table, mask in zip(tables, masks, strict=True):

        def visit(index: Any, nearest: Any, table: Table = table) -> Any:
            numbers = entry(table, index, t_s, engine.Float)
            return minimum(hull_distance(hull, table.kind, numbers, pose), nearest)

        nearest = for_each_candidate(engine, table, mask, lane * table.words, row, nearest, visit)
    return nearest


def move(
    engine: Engine,
    vehicle: Vehicle,
    hull: Hull,
    dt_s: float,
    around: Surroundings,
    moving: Moving,
    command: Any,
    tick: Any,
    ticks: Any,
) -> tuple[Moving, Sights]:
    """Move all lanes `ticks` ticks on from `tick` under one command; lanes that have ended stay where they ended."""
    import drjit as dr

    p, medium, track = around.parameters, around.medium, moving.track

    def clock_at(tick: Any) -> Clock:
        return Clock(tick, engine.Float(tick) * dt_s, engine.Float(tick + 1) * dt_s, dt_s, around.trial)

    def step(i: Any, state: Any, standing: Standing) -> tuple[Any, Any, Standing]:
        active = standing.outcome == RUNNING
        new = vehicle.step(state, command, medium, p, clock_at(tick + i))
        sound = is_finite(sum(leaves((new, command))))
        new = where(active & sound, new, state)
        now = tick + i + 1
        t_s = engine.Float(now) * dt_s
        pose = vehicle.pose(new, medium, t_s, p)
        flown_m = vehicle.speed_m_s(new) * dt_s
        gap = gap_m(engine, hull, around.tables, around.masks, around.row, around.lane, pose, t_s)
        broken = vehicle.broken(new) if vehicle.broken is not None else False
        ahead = judge(
            engine, around.course, standing, around.row, pose.pos_ned_m, gap, broken, flown_m, sound, now, around.end
        )
        if track is not None:
            write_pose(track, pose, now, around.lane, active)
        return i + 1, new, where(active, ahead, standing)

    begun = moving.vehicle
    if vehicle.prepare is not None:
        begun = vehicle.prepare(begun, command, medium, p, clock_at(tick))
        begun = where(moving.standing.outcome == RUNNING, begun, moving.vehicle)
    first = (engine.UInt32(0), begun, moving.standing)
    _, state, standing = dr.while_loop(first, lambda i, state, standing: i < ticks, step)
    found = sights(vehicle, state, medium, engine.Float(tick + ticks) * dt_s, p)
    return Moving(state, standing, track), found


def sights(vehicle: Vehicle, state: Any, medium: Any, t_s: Any, p: Any) -> Sights:
    """What records and controllers see of a vehicle."""
    pose = vehicle.pose(state, medium, t_s, p)
    roll, pitch, _ = euler_zyx_from_quat(pose.quat_ned_from_frd)
    seen = {**vehicle.observe(state), "up_m": -pose.pos_ned_m.z, "roll_rad": roll, "pitch_rad": pitch}
    return Sights(seen, vehicle.read(state), vehicle.tell(state) if vehicle.tell is not None else {})
