"""The walk of one step: command, physics, sensors. Only drivers differ: campaign, replay, links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import frozen, own_copy, take
from fieldworthy.core.pack import separate
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.track import Track, pose_of_tick
from fieldworthy.environment.primitives import Table
from fieldworthy.sensors.scan import thinned as thinned_scan
from fieldworthy.sensors.sensor import Truth
from fieldworthy.vehicles.vehicle import Clock
from fieldworthy.world.course import Standing
from fieldworthy.world.decide import Decision, command_names, decide, first_memory
from fieldworthy.world.look import look
from fieldworthy.world.motion import Moving, Surroundings, gap_m, move, near_masks, sights
from fieldworthy.world.sense import first_extra, sense, thinned_extra
from fieldworthy.world.state import Frame, Sights, State, World

LONGEST_MOVE_S = 0.25
"""Physics goes on at most this long before it looks again for what can be touched."""


def start(world: World) -> State:
    """All trials at tick 0, with the sweep that ended just then already delivered."""
    engine, rows = world.engine, len(world.trials)
    zeros = np.zeros(rows)
    first, sights_now = _first_state(world)
    track = _first_track(world, first)
    state = State(
        tick=0,
        row=engine.indices(rows),
        vehicle=first,
        sights=sights_now,
        command=world.vehicle.command(**{name: engine.floats(zeros) for name in command_names(world)}),
        mode=engine.floats(zeros),
        standing=Standing(
            outcome=engine.integers(zeros),
            end_tick=engine.integers(zeros),
            target=engine.integers(zeros),
            held=engine.integers(zeros),
            clearance_m=_first_gap(world, track),
            path_m=engine.floats(zeros),
            path_rest_m=engine.floats(zeros),
        ),
        track=track,
        memory=first_memory(world),
        scan=None,
        waiting=(),
        extra={extra.name: first_extra(extra, rows) for extra in world.extra},
    )
    if world.lidar is not None:
        state = replace(state, scan=look(world, state))
    return _sense(world, state)


def step(world: World, state: State) -> tuple[State, Frame]:
    """Ask the controller, then `advance`: what a campaign does again and again."""
    return advance(world, state, decide(world, state))


def advance(world: World, state: State, decision: Decision) -> tuple[State, Frame]:
    """On to the next tick at which a command is due.

    decision: of the world's own controller (`decide`), or of whoever steers (`decision_of`).
    Returns the new state, and a frame of the old one: where every lane was when its command was given.
    """
    timing = world.timing
    command, mode, memory = decision
    state = replace(state, command=command, mode=mode, memory=memory)
    frame = frame_of(world, state)
    stop = min(state.tick + timing.control, timing.end)
    while state.tick < stop:
        ticks = min(stop - state.tick, max(1, round(LONGEST_MOVE_S / timing.dt_s)))
        if world.lidar is not None:
            ticks = min(ticks, timing.sweep - state.tick % timing.sweep)
        for period in (*world.periods, *(extra.period for extra in world.extra)):
            ticks = min(ticks, period - state.tick % period)
        state = _sense(world, _move(world, state, ticks))
        if world.lidar is not None and state.tick % timing.sweep == 0:
            state = replace(state, waiting=(*state.waiting, (state.tick + timing.latency, look(world, state))))
    return _deliver(state), frame


def compact(world: World, state: State, lanes: NDArray[np.intp]) -> State:
    """The state with only the given lanes (indices); the others have ended. No number of a kept lane changes."""
    import drjit as dr

    engine = world.engine
    keep = engine.integers(lanes)

    def thin(array: Any) -> Any:
        if isinstance(array, np.ndarray):
            return array[lanes]
        return dr.gather(type(array), array, keep)

    old, slots = state.lanes, state.track.slots
    places = engine.integers(np.arange(slots)[:, None] * old + lanes[None, :])
    thinner = replace(
        state,
        row=thin(state.row),
        vehicle=tuple(thin(leaf) for leaf in state.vehicle),
        sights=map_leaves(thin, state.sights),
        command=map_leaves(thin, state.command),
        mode=thin(state.mode),
        standing=map_leaves(thin, state.standing),
        track=Track(
            map_leaves(lambda a: dr.gather(type(a), a, places), state.track.poses), engine.counter(len(lanes)), slots
        ),
        memory={name: thin(value) for name, value in state.memory.items()},
        scan=thinned_scan(engine, state.scan, lanes) if state.scan is not None else None,
        waiting=tuple((tick, thinned_scan(engine, scan, lanes)) for tick, scan in state.waiting),
        extra={name: thinned_extra(extra, lanes) for name, extra in state.extra.items()},
    )
    dr.eval(thinner.row, thinner.vehicle, thinner.sights, thinner.command, thinner.mode)
    dr.eval(thinner.standing, thinner.track)
    dr.eval([value for value in thinner.memory.values() if not isinstance(value, np.ndarray)])
    return thinner


def frame_of(world: World, state: State) -> Frame:
    """The state as NumPy arrays, by the names of the run folder."""
    values = _true_motion(state)
    for name in command_names(world):
        values[f"cmd_{name}"] = own_copy(getattr(state.command, name))
    values["clearance_m"] = own_copy(state.standing.clearance_m)
    values["mode"] = own_copy(state.mode).astype(np.int8)
    if world.course.up_m is not None:
        values["target"] = own_copy(state.standing.target).astype(np.int16)
    for name, extra in state.extra.items():
        for key, heard in (extra.heard.values if extra.heard is not None else {}).items():
            values[f"{name}.{key}"] = heard.copy()
    return Frame(state.tick, state.tick * world.timing.dt_s, own_copy(state.row), values, state.scan)


def _true_motion(state: State) -> dict[str, NDArray[Any]]:
    """What can be seen of the vehicle: copies, the kernels' memory is nobody's to write."""
    # A constant comes out of a kernel as wide as the lanes were when it was first seen: a level boat's height, say.
    return {name: own_copy(values)[: state.lanes] for name, values in state.sights.seen.items()}


def _sense(world: World, state: State) -> State:
    """Let the user's own sensors read what is due at this tick."""
    if not world.extra:
        return state
    row = np.asarray(state.row)
    motion: dict[str, Any] = {name: values.astype(np.float64) for name, values in _true_motion(state).items()}
    found = {}
    for extra in world.extra:
        truth = Truth(
            t_s=state.tick * world.timing.dt_s,
            period_s=extra.period * world.timing.dt_s,
            trial=world.trials[row],
            **motion,
        )
        found[extra.name] = sense(extra, state.extra[extra.name], truth, state.tick, row)
    return replace(state, extra=found)


def _first_state(world: World) -> tuple[tuple[Any, ...], Sights]:
    """The vehicle at tick 0, and what is seen and known of it."""
    import drjit as dr

    engine, vehicle, rows = world.engine, world.vehicle, len(world.trials)
    first = map_leaves(engine.floats, world.start)
    row, nought = world.counting(rows), engine.floats(np.zeros(rows))
    p, medium = take((world.vehicle_parameters, world.medium), row)
    if vehicle.first is not None:
        trial = dr.gather(engine.UInt32, world.trial_lanes, row)
        clock = Clock(engine.counter(0), engine.scalar(0.0), engine.scalar(world.timing.dt_s), world.timing.dt_s, trial)
        first = map_leaves(lambda leaf: leaf + nought, vehicle.first(first, medium, p, clock))
    found = map_leaves(lambda leaf: leaf + nought, sights(vehicle, first, medium, engine.scalar(0.0), p))
    flat = world.vehicle_shape(first).flat(first)
    dr.make_opaque(flat, found)
    return separate(engine, flat), found


def _first_track(world: World, first: tuple[Any, ...]) -> Track:
    """Poses of the sweep before tick 0, in which the vehicle came along at its starting velocity."""
    import drjit as dr

    engine, rows = world.engine, len(world.trials)
    slots = world.timing.sweep + 1
    # Slot 0 is tick 0; slot k is tick k - slots, which the ring has not yet overwritten.
    ticks = np.where(np.arange(slots) == 0, 0, np.arange(slots) - slots)
    t_s = engine.floats(ticks[:, None] * world.timing.dt_s + np.zeros(rows))
    row = engine.integers(np.arange(rows) + np.zeros((slots, 1)))
    p, medium, vehicle = take((world.vehicle_parameters, world.medium, world.vehicle_shape().tree(first)), row)
    poses = map_leaves(lambda leaf: leaf + 0.0 * t_s, world.vehicle.earlier(vehicle, medium, t_s, p))
    dr.eval(poses)
    # Arrays of their own: a ring that is the vehicle's own array at first would have the move recorded twice.
    poses = map_leaves(lambda leaf: engine.floats(np.asarray(leaf)), poses)
    return Track(poses, engine.counter(rows), slots)


def _deliver(state: State) -> State:
    """Hand over the newest sweep whose latency has passed."""
    due = [scan for tick, scan in state.waiting if tick <= state.tick]
    if not due:
        return state
    return replace(state, scan=due[-1], waiting=tuple(item for item in state.waiting if item[0] > state.tick))


def _first_gap(world: World, track: Track) -> Any:
    """Clearance at tick 0, of all rows."""
    import drjit as dr

    engine, hull, rows = world.engine, world.hull, len(world.trials)
    lane = world.counting(rows)
    pose = pose_of_tick(track, engine.counter(0), lane)
    tables = solid(world)
    masks = tuple(
        near_masks(engine, hull, table, pose, lane, 0.0, 0.0, world.counting(rows * table.word_count))
        for table in tables
    )
    dr.eval(pose, masks)
    gap = gap_m(engine, hull, tables, masks, lane, lane, pose, 0.0)
    dr.make_opaque(gap)
    return gap


def solid(world: World) -> tuple[Table, ...]:
    """What a hull can touch: caps lie on walls that it touches first."""
    return tuple(table for table in world.tables if table.kind != "cap")


def longest_move_s(world: World) -> float:
    """Physics goes on at most this long before it looks again for what can be touched."""
    return max(LONGEST_MOVE_S, world.timing.dt_s)


def _move(world: World, state: State, ticks: int) -> State:
    engine, vehicle, hull = world.engine, world.vehicle, world.hull
    dt_s, horizon_s = world.timing.dt_s, longest_move_s(world)
    shape, (constants, numbers) = world.vehicle_shape(), world.constants()

    def kernel(
        numbers: Any, tables: tuple[Table, ...], course: Any, row: Any, trials: Any, lane: Any, places: Any,
        flat: tuple[Any, ...], standing: Standing, track: Track, command: Any, tick: Any, ticks: Any, end: Any,
        now_s: Any,
    ) -> Any:  # fmt: skip
        import drjit as dr

        trial = dr.gather(engine.UInt32, trials, row)
        pose = pose_of_tick(track, tick, lane)
        dr.eval(pose)
        masks = tuple(
            near_masks(engine, hull, table, pose, row, now_s, horizon_s, index)
            for table, index in zip(tables, places, strict=True)
        )
        dr.eval(masks)
        p, medium = take(constants.tree(numbers), row)
        around = Surroundings(p, medium, tables, masks, course, row, trial, lane, end)
        moving = Moving(shape.tree(flat), standing, track)
        moved, found = move(engine, vehicle, hull, dt_s, around, moving, command, tick, ticks)
        return shape.flat(moved.vehicle), moved.standing, moved.track, found

    tables = solid(world)
    flat, standing, track, found = world.kernel("move", lambda: frozen(kernel))(
        numbers,
        tables,
        world.course_lanes,
        state.row,
        world.trial_lanes,
        world.counting(state.lanes),
        tuple(world.counting(state.lanes * table.word_count) for table in tables),
        state.vehicle,
        state.standing,
        state.track,
        state.command,
        engine.counter(state.tick),
        engine.counter(ticks),
        engine.counter(world.timing.end),
        engine.scalar(state.tick * dt_s),
    )
    return replace(
        state,
        tick=state.tick + ticks,
        vehicle=separate(engine, flat),
        sights=found,
        standing=standing,
        track=track,
    )
