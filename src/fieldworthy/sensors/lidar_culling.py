"""Which shapes a LiDAR can meet during a sweep: masks for every bin of columns, so that `sweep` skips the rest.

Frames: as in `sensors.lidar`.
"""

from __future__ import annotations

import math
from typing import Any

from fieldworthy.core.engine import Engine, take
from fieldworthy.core.lanes import abs as magnitude
from fieldworthy.core.track import Track, pose_at
from fieldworthy.environment.primitives import Table
from fieldworthy.sensors.candidates import FASTEST_M_S, mask_word, within_reach, within_wedge
from fieldworthy.sensors.lidar import (
    BIN_COLUMNS,
    LidarParameters,
    LidarShape,
    SweepTime,
    column_at,
    direction,
    firing_time,
)

WIDEST_HALF_BIN_RAD = 1.0
"""Bins wider than this to either side are not sorted by direction."""


def around(
    engine: Engine,
    shape: LidarShape,
    table: Table,
    track: Track,
    time: SweepTime,
    parameters: LidarParameters,
    row: Any,
    index: Any,
) -> Any:
    """What a whole sweep can reach of one table at rest: UInt32 [lanes * words], `index` counting them.

    A first, coarse answer for long tables, so that `cull` need not look at a whole harbour for every bin.
    """
    import drjit as dr

    word, lane = index % table.words, index // table.words
    row = dr.gather(engine.UInt32, row, lane)
    p = take(parameters, row)
    half_s = 0.5 * shape.pattern.period_s
    pose = pose_at(track, lane, time.first_tick, engine.Float(0.5 * shape.ticks), engine.UInt32)
    # The mount may swing to any side of the vehicle's own place.
    swing = magnitude(p.forward_m) + magnitude(p.right_m) + magnitude(p.up_m)
    reach = p.range_max_m + FASTEST_M_S * half_s + swing
    return mask_word(
        engine, table, row, word, time.start_s, within_reach(table.kind, pose.pos_ned_m.x, pose.pos_ned_m.y, reach)
    )


def cull(
    engine: Engine,
    shape: LidarShape,
    table: Table,
    track: Track,
    time: SweepTime,
    parameters: LidarParameters,
    row: Any,
    index: Any,
    near: Any = None,
) -> Any:
    """Candidate masks of one table: UInt32 [lanes * bins * words], `index` counting them.

    row: UInt32 [lanes], the row of each lane in the tables.      near: from `around`, or None to look at everything.
    """
    import drjit as dr

    pattern = shape.pattern
    word = index % table.words if table.many_words else engine.UInt32(0)
    place = index // table.words if table.many_words else index
    lane, number = place // shape.bins, place % shape.bins
    first = pattern.first + number * BIN_COLUMNS
    row = dr.gather(engine.UInt32, row, lane)
    p = take(parameters, row)
    middle = firing_time(shape, time, engine.Float(first) + 0.5 * BIN_COLUMNS)
    centre = column_at(shape, track, time, p, lane, middle, middle * pattern.spin_rad_s - math.pi, engine)
    half = 0.5 * BIN_COLUMNS * pattern.firing_period_s * pattern.spin_rad_s
    if half > WIDEST_HALF_BIN_RAD:
        # So few columns need no sorting by direction, and past a half turn the middle of a bin says nothing.
        return mask_word(
            engine, table, row, word, time.start_s + 0.5 * pattern.period_s,
            within_reach(table.kind, centre.origin.x, centre.origin.y, p.range_max_m + FASTEST_M_S * pattern.period_s),
        )  # fmt: skip
    corners = []
    for azimuth in (-half, half):
        for elevation in (min(pattern.elevation_rad), max(pattern.elevation_rad)):
            d = direction(centre, azimuth, elevation)
            corners.append((d.x, d.y))
    # Undistorted sweeps see everything, the shapes too, where it is at the sweep's end.
    t_s = time.start_s + (middle if shape.distorted else pattern.period_s)
    spare_s = 0.5 * BIN_COLUMNS * pattern.firing_period_s if shape.distorted else 0.0
    reach_m = p.range_max_m + FASTEST_M_S * spare_s
    wedge = within_wedge(table.kind, centre.origin.x, centre.origin.y, corners, spare_s)
    if near is not None:
        return mask_word(
            engine, table, row, word, t_s, wedge, dr.gather(engine.UInt32, near, lane * table.words + word)
        )
    reach = within_reach(table.kind, centre.origin.x, centre.origin.y, reach_m)
    return mask_word(engine, table, row, word, t_s, lambda numbers: reach(numbers) & wedge(numbers))
