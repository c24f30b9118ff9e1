"""A spinning LiDAR: every ray leaves from where the vehicle is at that ray's own time and meets the nearest shape.

One thread handles one firing (a column of rays): it finds its pose once, walks the primitives that its bin can meet and
updates all rays of the column. Readings are ranges [m]; a ray without a return reads `range_max_m` or infinity.
Frames: the sensor is FRD at its mount; azimuth clockwise from forward, elevation up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.engine import Engine, take
from fieldworthy.core.lanes import Scalar, cos, minimum, select, sin
from fieldworthy.core.random import normal_pair, stream_words, unit_uniform
from fieldworthy.core.track import Track, pose_at
from fieldworthy.core.vec import Vec3, quat_from_euler_zyx, quat_multiply, rotate
from fieldworthy.environment import rays
from fieldworthy.environment.primitives import DISTANCE_LAW, Table, entry, shifted, velocity
from fieldworthy.sensors.candidates import for_each_candidate
from fieldworthy.sensors.scan_pattern import ScanPattern

BIN_COLUMNS = 28
"""Columns that share one candidate mask: 5.6 degrees of a VLP-16."""


@dataclass
class LidarParameters:
    """Numbers of one LiDAR and its mount; each may differ from trial to trial."""

    noise_m: Scalar
    """Standard deviation of the range error."""
    dropout: Scalar
    """Probability that a return is lost."""
    range_min_m: Scalar
    """Measured ranges below this are discarded."""
    range_max_m: Scalar
    forward_m: Scalar
    right_m: Scalar
    up_m: Scalar
    roll_rad: Scalar
    pitch_rad: Scalar
    yaw_rad: Scalar


@dataclass
class SweepTime:
    """When a sweep happens: UInt32 and Float scalars that change from sweep to sweep."""

    number: Any
    """Sweep number, the counter of its noise."""
    first_tick: Any
    """Physics tick at its start (plus the ring's slots, so that it is never negative)."""
    start_s: Any
    firing_shift_s: Any
    """First firing after the sweep's start."""
    firings: Any
    """Firings in this sweep."""


@dataclass(frozen=True)
class LidarShape:
    """What shapes the code of the kernels: fixed while a simulation runs."""

    pattern: ScanPattern
    ticks: int
    """Physics ticks in a sweep."""
    dt_s: float
    no_hit: str
    sea_returns: bool
    drops: bool
    """Whether any trial loses returns."""
    distorted: bool

    @property
    def bins(self) -> int:
        """Bins of columns that share a candidate mask."""
        return math.ceil(self.pattern.columns / BIN_COLUMNS)


@dataclass
class Column:
    """A column of rays: origin (north, east, up) and axes of the turning head in (north, east, up)."""

    origin: Vec3
    ahead: Vec3
    aside: Vec3
    above: Vec3


def sweep(
    engine: Engine,
    shape: LidarShape,
    tables: tuple[Table, ...],
    masks: tuple[Any, ...],
    track: Track,
    time: SweepTime,
    parameters: LidarParameters,
    row: Any,
    trial: Any,
    key: tuple[Any, Any],
    index: Any,
    mesh_distance: Callable[[rays.Ray, Scalar], Scalar] | None = None,
    filled: tuple[Any, ...] = (),
) -> tuple[Any, ...]:
    """Readings of one sweep: for each channel the ranges [m], Float [lanes * columns], column after column.

    masks: for each table, from `lidar_culling.cull`.
    row, trial: UInt32 [lanes], row in the tables and trial number (the noise belongs to the trial).
    index: UInt32 [lanes * columns], counting.
    mesh_distance: further distances, from a mesh scene, of a ray and the distance beyond which no hit counts.
    filled: for each table `candidates.filled_parts` of its masks, or None; empty: of none.
    Equation: r' = r + sigma n, left out below range_min; P = O + r d.      Source: seed A, equations (2) and (3)
    Water swallows the beam: nothing under still water is seen, and the surface itself only if `sea_returns`.
    Limits: a beam is a line (no divergence), every surface returns, orientation moves linearly within one firing; the
        water that ends a beam is flat, whatever waves lift the boat.
    """
    import drjit as dr

    pattern = shape.pattern
    lane, place = index // pattern.columns, index % pattern.columns
    firing = pattern.first + place
    row = dr.gather(engine.UInt32, row, lane)
    p = take(parameters, row)
    at = firing_time(shape, time, engine.Float(firing))
    azimuth = at * pattern.spin_rad_s - math.pi
    delay = pattern.laser_delay_s[-1]
    column = column_at(shape, track, time, p, lane, at, azimuth, engine)
    later = column_at(shape, track, time, p, lane, at + delay, azimuth, engine) if delay else column
    beams = [_beam(pattern, column, later, k) for k in range(pattern.channels)]

    water = tuple(rays.to_sea(beam) for beam in beams)
    nearest = water
    t_s = time.start_s + (at if shape.distorted else pattern.period_s)
    for table, mask, parts in zip(tables, masks, filled or [None] * len(tables), strict=True):
        group = lane * shape.bins + place // BIN_COLUMNS

        def visit(entry_index: Any, nearest: Any, table: Table = table) -> tuple[Any, ...]:
            numbers = entry(table, entry_index, t_s, engine.Float)
            drift = velocity(table, entry_index, engine.Float) if table.moving and delay else None
            return tuple(
                minimum(old, DISTANCE_LAW[table.kind](beam, *_drifted(table.kind, numbers, drift, wait)))
                for beam, old, wait in zip(beams, nearest, pattern.laser_delay_s, strict=True)
            )

        some = dr.gather(engine.UInt32, parts, group) if parts is not None else None
        nearest = for_each_candidate(engine, table, mask, group * table.words, row, nearest, visit, some)
    if mesh_distance is not None:
        nearest = tuple(
            minimum(old, mesh_distance(beam, minimum(old, p.range_max_m)))
            for old, beam in zip(nearest, beams, strict=True)
        )

    trial = dr.gather(engine.UInt32, trial, lane)
    silent = p.range_max_m if shape.no_hit == "max" else engine.Float(rays.MISS)
    readings = []
    errors = _normals(engine, key, trial, time.number, firing, pattern.channels)
    losses = _uniforms(engine, key, trial, time.number, firing, pattern.channels) if shape.drops else None
    fired = firing < time.firings
    for k, true in enumerate(nearest):
        measured = true + p.noise_m * errors[k]
        back = (true <= p.range_max_m) & fired
        if not shape.sea_returns:
            back &= true < water[k]
        if losses is not None:
            back &= losses[k] >= p.dropout
        # Nothing came back: silence. Something came back too near: the device throws it away, no point.
        near = measured < p.range_min_m
        readings.append(select(back, select(near, rays.MISS, measured), select(fired, silent, rays.MISS)))
    return tuple(readings)


def firing_time(shape: LidarShape, time: SweepTime, firing: Any) -> Any:
    """Seconds from the sweep's start to a firing."""
    return time.firing_shift_s + firing * shape.pattern.firing_period_s


def column_at(
    shape: LidarShape,
    track: Track,
    time: SweepTime,
    p: LidarParameters,
    lane: Any,
    at_s: Any,
    azimuth_rad: Any,
    engine: Engine,
) -> Column:
    """Origin and axes of the head, turned to an azimuth, at a time after the sweep's start."""
    ticks = at_s / shape.dt_s if shape.distorted else engine.Float(shape.ticks)
    pose = pose_at(track, lane, time.first_tick, ticks, engine.UInt32)
    quat_ned_from_body = pose.quat_ned_from_frd
    quat_body_from_sensor = quat_from_euler_zyx(p.roll_rad, p.pitch_rad, p.yaw_rad)
    quat = quat_multiply(quat_ned_from_body, quat_body_from_sensor)
    mount = rotate(quat_ned_from_body, Vec3(p.forward_m, p.right_m, -p.up_m))
    return Column(
        origin=_up_positive(pose.pos_ned_m + mount),
        ahead=_up_positive(rotate(quat, Vec3(cos(azimuth_rad), sin(azimuth_rad), 0.0))),
        aside=_up_positive(rotate(quat, Vec3(-sin(azimuth_rad), cos(azimuth_rad), 0.0))),
        above=_up_positive(rotate(quat, Vec3(0.0, 0.0, -1.0))),
    )


def _up_positive(v_ned: Vec3) -> Vec3:
    return Vec3(v_ned.x, v_ned.y, -v_ned.z)


def direction(column: Column, azimuth_rad: float, elevation_rad: float) -> Vec3:
    """Direction at a fixed angle from the column's azimuth."""
    level = math.cos(elevation_rad)
    v = column.ahead * (level * math.cos(azimuth_rad))
    if azimuth_rad:
        v = v + column.aside * (level * math.sin(azimuth_rad))
    return v + column.above * math.sin(elevation_rad)


def _beam(pattern: ScanPattern, column: Column, later: Column, laser: int) -> rays.Ray:
    """The ray of one laser: fired `laser_delay_s` after the column began, by then turned and moved on."""
    delay = pattern.laser_delay_s[laser]
    origin, d = column.origin, direction(column, delay * pattern.spin_rad_s, pattern.elevation_rad[laser])
    if delay:
        share = delay / pattern.laser_delay_s[-1]
        end = direction(later, delay * pattern.spin_rad_s, pattern.elevation_rad[laser])
        origin = origin + (later.origin - origin) * share
        d = d + (end - d) * share
    return rays.ray(origin.x, origin.y, origin.z, d.x, d.y, d.z)


def _drifted(kind: str, numbers: tuple[Any, ...], drift: tuple[Any, Any] | None, wait_s: float) -> tuple[Any, ...]:
    """Numbers of a primitive `wait_s` after the column began; drift is its (north, east) velocity, if it moves."""
    return shifted(kind, numbers, drift[0] * wait_s, drift[1] * wait_s) if drift and wait_s else numbers


def _normals(engine: Engine, key: Any, trial: Any, number: Any, firing: Any, channels: int) -> list[Any]:
    """One standard normal number for every channel of a firing; a function of (seed, trial, sweep, firing, channel)."""
    found: list[Any] = []
    for group in range(math.ceil(channels / 4)):
        a, b, c, d = stream_words(key, trial, number, firing * 256 + group)
        found += [*normal_pair(a, b, engine.Float), *normal_pair(c, d, engine.Float)]
    return found[:channels]


def _uniforms(engine: Engine, key: Any, trial: Any, number: Any, firing: Any, channels: int) -> list[Any]:
    """One uniform number for every channel of a firing, independent of the normal ones (blocks 128 and up)."""
    found: list[Any] = []
    for group in range(math.ceil(channels / 4)):
        found += [unit_uniform(w, engine.Float) for w in stream_words(key, trial, number, firing * 256 + 128 + group)]
    return found[:channels]
