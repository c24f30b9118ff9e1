"""The LiDAR sweep that ends at the current tick."""

from __future__ import annotations

from typing import Any

from fieldworthy.core.engine import frozen
from fieldworthy.sensors.candidates import filled_parts
from fieldworthy.sensors.lidar import SweepTime, sweep
from fieldworthy.sensors.lidar_culling import around, cull
from fieldworthy.sensors.scan import Scan
from fieldworthy.sensors.scan_pattern import first_firing
from fieldworthy.world.state import State, World


def look(world: World, state: State) -> Scan:
    """The readings of the sweep that ends at `state.tick`, which is a whole number of sweeps."""
    engine, shape = world.engine, world.lidar_shape
    assert shape is not None
    pattern = shape.pattern
    ticks, slots = world.timing.sweep, state.track.slots
    number = state.tick // ticks
    # Sweep 0 ends at tick 0: it starts before time does, in slots that `start` filled.
    shift_s, firings = first_firing(pattern, number)
    time = SweepTime(
        number=engine.counter(number),
        first_tick=engine.counter(state.tick - ticks + slots),
        start_s=engine.scalar((state.tick - ticks) * world.timing.dt_s),
        firing_shift_s=engine.scalar(shift_s),
        firings=engine.counter(firings),
    )

    def kernel(
        tables: Any,
        mesh: Any,
        track: Any,
        time: Any,
        parameters: Any,
        row: Any,
        trials: Any,
        key: Any,
        index: Any,
        group: Any,
        wide: Any,
        places: Any,
    ) -> Any:
        import drjit as dr

        near = tuple(
            around(engine, shape, table, track, time, parameters, row, place)
            if table.many_words and not table.moving
            else None
            for table, place in zip(tables, wide, strict=True)
        )
        dr.eval(near)
        masks = tuple(
            cull(engine, shape, table, track, time, parameters, row, place, part)
            for table, part, place in zip(tables, near, places, strict=True)
        )
        dr.eval(masks)
        filled = tuple(
            filled_parts(engine, table, mask, group) if table.many_words else None
            for table, mask in zip(tables, masks, strict=True)
        )
        dr.eval(filled)
        trial = dr.gather(engine.UInt32, trials, row)
        dr.eval(trial)
        return sweep(engine, shape, tables, masks, track, time, parameters, row, trial, key, index, mesh, filled)

    tables = tuple(table for table in world.tables if table.moving or world.mesh is None)
    ranges = world.kernel("look", lambda: frozen(kernel))(
        tables,
        world.mesh,
        state.track,
        time,
        world.lidar,
        state.row,
        world.trial_lanes,
        world.lidar_key,
        world.counting(state.lanes * pattern.columns),
        world.counting(state.lanes * shape.bins),
        tuple(world.counting(state.lanes * table.word_count) for table in tables),
        tuple(world.counting(state.lanes * shape.bins * table.word_count) for table in tables),
    )
    return Scan(ranges, world.counting(state.lanes * pattern.columns), time.firing_shift_s, time.start_s, pattern)
