"""The walk of one step: command, physics, sensors. Only drivers differ: campaign, replay, links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import frozen, take
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.track import Track
from fieldworthy.sensors.scan import thinned as thinned_scan
from fieldworthy.sensors.sensor import Truth
from fieldworthy.vehicles.boat import BoatCommand, BoatState
from fieldworthy.world.decide import decide, first_memory
from fieldworthy.world.look import look
from fieldworthy.world.motion import boat_pose, move, near_masks
from fieldworthy.world.sense import first_extra, sense, thinned_extra
from fieldworthy.world.state import BOAT_READINGS, CLEARANCE_HORIZON_M, Frame, Progress, State, World


def start(world: World) -> State:
    """All trials at tick 0, with the sweep that ended just then already delivered."""
    engine, rows = world.engine, len(world.trials)
    zeros = np.zeros(rows)
    state = State(
        tick=0,
        row=engine.indices(rows),
        boat=map_leaves(engine.floats, world.start),
        command=BoatCommand(engine.floats(zeros), engine.floats(zeros)),
        mode=engine.floats(zeros),
        progress=Progress(
            outcome=engine.integers(zeros),
            end_tick=engine.integers(zeros),
            target=engine.integers(zeros),
            clearance_m=engine.floats(zeros + CLEARANCE_HORIZON_M),
            path_m=engine.floats(zeros),
        ),
        track=_first_track(world),
        memory=first_memory(world),
        scan=None,
        waiting=(),
        extra={extra.name: first_extra(extra, rows) for extra in world.extra},
    )
    if world.lidar is not None:
        state = replace(state, scan=look(world, state))
    return _sense(world, state)


def advance(world: World, state: State) -> tuple[State, Frame]:
    """On to the next tick at which a command is due.

    Returns the new state, and a frame of the old one: where every lane was when its command was given.
    """
    timing = world.timing
    state = _deliver(state)
    command, mode, memory = decide(world, state)
    state = replace(state, command=command, mode=mode, memory=memory)
    frame = frame_of(world, state)
    stop = state.tick + timing.control
    while state.tick < stop:
        ticks = stop - state.tick
        if world.lidar is not None:
            ticks = min(ticks, timing.sweep - state.tick % timing.sweep)
        for extra in world.extra:
            ticks = min(ticks, extra.period - state.tick % extra.period)
        state = _sense(world, _move(world, state, ticks))
        if world.lidar is not None and state.tick % timing.sweep == 0:
            state = replace(state, waiting=(*state.waiting, (state.tick + timing.latency, look(world, state))))
    return state, frame


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
        boat=map_leaves(thin, state.boat),
        command=map_leaves(thin, state.command),
        mode=thin(state.mode),
        progress=map_leaves(thin, state.progress),
        track=Track(
            map_leaves(lambda a: dr.gather(type(a), a, places), state.track.poses), engine.counter(len(lanes)), slots
        ),
        memory={name: thin(value) for name, value in state.memory.items()},
        scan=thinned_scan(engine, state.scan, lanes) if state.scan is not None else None,
        waiting=tuple((tick, thinned_scan(engine, scan, lanes)) for tick, scan in state.waiting),
        extra={name: thinned_extra(extra, lanes) for name, extra in state.extra.items()},
    )
    dr.eval(thinner.row, thinner.boat, thinner.command, thinner.mode, thinner.progress, thinner.track)
    dr.eval([value for value in thinner.memory.values() if not isinstance(value, np.ndarray)])
    return thinner


def frame_of(world: World, state: State) -> Frame:
    """The state as NumPy arrays, by the names of the run folder."""
    values = _true_motion(state)
    values["cmd_surge_m_s"] = np.asarray(state.command.surge_m_s)
    values["cmd_yaw_rate_rad_s"] = np.asarray(state.command.yaw_rate_rad_s)
    values["clearance_m"] = np.asarray(state.progress.clearance_m)
    values["mode"] = np.asarray(state.mode).astype(np.int8)
    for name, extra in state.extra.items():
        for key, heard in (extra.heard.values if extra.heard is not None else {}).items():
            values[f"{name}.{key}"] = heard
    return Frame(state.tick, state.tick * world.timing.dt_s, np.asarray(state.row), values, state.scan)


def _true_motion(state: State) -> dict[str, NDArray[Any]]:
    track = state.track
    slot = state.tick % track.slots
    values = {name: np.asarray(getattr(state.boat, name)) for name in BOAT_READINGS}
    for name in ("up_m", "roll_rad", "pitch_rad"):
        # A copy: the physics kernel writes into this ring.
        values[name] = np.asarray(getattr(track.poses, name)).reshape(track.slots, state.lanes)[slot].copy()
    return values


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


def _first_track(world: World) -> Track:
    """Poses of the sweep before tick 0, in which the boat came along its starting course at its starting speed."""
    engine, rows, boat = world.engine, len(world.trials), world.start
    slots = world.timing.sweep + 1
    # Slot 0 is tick 0; slot k is tick k - slots, which the ring has not yet overwritten.
    t_s = np.where(np.arange(slots) == 0, 0, np.arange(slots) - slots)[:, None] * world.timing.dt_s + np.zeros(rows)
    along = np.asarray(boat.surge_m_s) * t_s
    still = np.zeros((slots, rows))
    before = BoatState(
        north_m=boat.north_m + along * np.cos(boat.heading_rad),
        east_m=boat.east_m + along * np.sin(boat.heading_rad),
        heading_rad=boat.heading_rad + still,
        surge_m_s=boat.surge_m_s + still,
        sway_m_s=still,
        yaw_rate_rad_s=still,
        surge_error_m=still,
        yaw_error_rad=still,
    )
    row = engine.integers(np.arange(rows) + np.zeros((slots, 1)))
    p, sea = take((world.boat, world.sea), row)
    poses = boat_pose(map_leaves(engine.floats, before), sea, p, engine.floats(t_s))
    import drjit as dr

    dr.make_opaque(poses)
    return Track(poses, engine.counter(rows), slots)


def _deliver(state: State) -> State:
    """Hand over the newest sweep whose latency has passed."""
    due = [scan for tick, scan in state.waiting if tick <= state.tick]
    if not due:
        return state
    return replace(state, scan=due[-1], waiting=tuple(item for item in state.waiting if item[0] > state.tick))


def _move(world: World, state: State, ticks: int) -> State:
    engine, timing, hull = world.engine, world.timing, world.hull

    def kernel(
        boat_parameters: Any, sea: Any, tables: Any, course: Any, row: Any, lane: Any, places: Any, boat: Any,
        progress: Any, command: Any, track: Any, tick: Any, ticks: Any, end: Any, now_s: Any,
    ) -> Any:  # fmt: skip
        import drjit as dr

        masks = tuple(
            near_masks(engine, hull, table, boat, row, now_s, timing.control * timing.dt_s, index)
            for table, index in zip(tables, places, strict=True)
        )
        dr.eval(masks)
        return move(
            engine, hull, timing, tables, masks, boat_parameters, sea, course, row, lane, boat, progress,
            command, track, tick, ticks, end,
        )  # fmt: skip

    tables = tuple(table for table in world.tables if table.kind != "cap")
    boat, progress, track = world.kernel("move", lambda: frozen(kernel))(
        world.boat, world.sea, tables, world.course_lanes, state.row, world.counting(state.lanes),
        tuple(world.counting(state.lanes * table.word_count) for table in tables),
        state.boat, state.progress, state.command, state.track,
        engine.counter(state.tick), engine.counter(ticks), engine.counter(timing.end),
        engine.scalar(state.tick * timing.dt_s),
    )  # fmt: skip
    return replace(state, tick=state.tick + ticks, boat=boat, progress=progress, track=track)
