"""One LiDAR sweep of given boats past given shapes, without a scenario; and where its rays must run, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import drjit as dr
import numpy as np

from fieldworthy.core.engine import Engine, load_engine
from fieldworthy.core.random import stream_key
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.track import Pose, Track
from fieldworthy.core.vec import Quat, Vec3
from fieldworthy.environment.mesh import mesh_scene
from fieldworthy.environment.primitives import build_tables
from fieldworthy.environment.shapes import Layout
from fieldworthy.sensors.lidar import LidarParameters, LidarShape, SweepTime, sweep
from fieldworthy.sensors.scan_pattern import ScanPattern, first_firing, uniform_pattern
from fieldworthy.world.look import look
from fieldworthy.world.state import Timing, World

Array = np.ndarray[Any, Any]
PoseAt = Callable[[Array], dict[str, Array]]
"""Times [s] (n, 1) from the sweep's start to the numbers of MOTION, each (n, lanes) or broadcastable to it."""

MOTION = ("north_m", "east_m", "up_m", "roll_rad", "pitch_rad", "heading_rad")

FINE_S = 2e-5
"""A step so short that a hull which turns about all axes is where `beams` says: the error goes with its square."""

COARSE = uniform_pattern(10.0, -15.0, 15.0, 10.0, 1.0)
"""4 x 360 rays: quick to compile, every law of the full grid."""

QUIET = {
    "noise_m": 0.0, "dropout": 0.0, "range_min_m": 0.0, "range_max_m": 100.0, "forward_m": 0.0, "right_m": 0.0,
    "up_m": 2.0, "roll_rad": 0.0, "pitch_rad": 0.0, "yaw_rad": 0.0,
}  # fmt: skip


def at_rest(**fields: Any) -> PoseAt:
    """A boat that lies still: at the origin, level and heading north but for the given fields (numbers or (lanes,))."""
    return under_way(start=fields, rate={})


def under_way(start: dict[str, Any], rate: dict[str, Any]) -> PoseAt:
    """Every number of the motion runs steadily from its start."""

    def at(t_s: Array) -> dict[str, Array]:
        return {name: np.asarray(start.get(name, 0.0)) + np.asarray(rate.get(name, 0.0)) * t_s for name in MOTION}

    return at


@dataclass
class Sweep:
    """What a sweep read, (lanes, columns, channels), and what is needed to reckon where its rays ran."""

    range_m: Array
    time_s: Array
    """(columns, channels) from the sweep's start."""
    azimuth_rad: Array
    elevation_rad: Array


def fly(
    layouts: Sequence[Layout],
    pose_at: PoseAt,
    pattern: ScanPattern = COARSE,
    *,
    precision: Any = "f64",
    brute: bool = False,
    mesh: bool = False,
    number: int = 1,
    trials: Sequence[int] | None = None,
    seed: int = 1,
    dt_s: float = 0.02,
    no_hit: str = "max",
    sea_returns: bool = False,
    distorted: bool = True,
    **numbers: Any,
) -> Sweep:
    """Sweep `number`, which starts at (number - 1) periods; one lane a layout.

    brute: try every primitive of the tables with every ray, whatever the candidate masks say.
    mesh: cast at what is at rest through Mitsuba; then all layouts are the same.
    """
    engine: Engine = load_engine(precision)
    lanes, ticks = len(layouts), round(pattern.period_s / dt_s)
    slots, end = ticks + 1, number * ticks
    # The pose of tick n lies in slot n mod slots; tick `end - ticks` is the sweep's start.
    since_start = (np.arange(slots) - (end - ticks)) % slots
    motion = pose_at((since_start * dt_s)[:, None])
    poses = pose_of(*(np.broadcast_to(motion[name], (slots, lanes)).ravel() for name in MOTION))
    track = Track(
        map_leaves(engine.floats, poses),
        engine.counter(lanes),
        slots,
    )
    values = QUIET | numbers
    shape = LidarShape(pattern, ticks, dt_s, no_hit, sea_returns, bool(np.any(values["dropout"])), distorted)
    world: Any = World(**dict.fromkeys(World.__dataclass_fields__.keys() - {"_made"}))
    world.engine, world.tables, world.lidar_shape = engine, build_tables(engine, list(layouts)), shape
    world.mesh = mesh_scene(engine, layouts[0]) if mesh else None
    world.timing = Timing(dt_s=dt_s, end=end + 1, control=ticks, sweep=ticks, latency=0)
    world.lidar = LidarParameters(**{name: engine.floats(value) for name, value in values.items()})
    world.lidar_key = tuple(engine.counter(word) for word in stream_key(seed, "lidar"))
    world.trial_lanes = engine.integers(np.arange(lanes) if trials is None else trials)
    state: Any = SimpleNamespace(tick=end, row=engine.indices(lanes), lanes=lanes, track=track)
    ranges = _try_everything(world, state) if brute else look(world, state).range_m
    dr.eval(ranges)
    full = np.stack([np.broadcast_to(np.asarray(r), (lanes * pattern.columns,)) for r in ranges], axis=-1)
    firing = (pattern.first + np.arange(pattern.columns))[:, None]
    shift, _ = first_firing(pattern, number)
    fired_at = shift + firing * pattern.firing_period_s + np.asarray(pattern.laser_delay_s)[None, :]
    return Sweep(
        range_m=full.reshape(lanes, pattern.columns, pattern.channels),
        time_s=fired_at,
        azimuth_rad=2.0 * math.pi * fired_at / pattern.period_s - math.pi,
        elevation_rad=np.asarray(pattern.elevation_rad),
    )


def pose_of(north: Array, east: Array, up: Array, roll: Array, pitch: Array, heading: Array) -> Pose:
    """The pose of the aerospace angles: the quaternion is read off the rotation matrix.

    Equation: w = sqrt(1 + trace) / 2, the vector part from the skew part over 4 w; for turns of less than 180 degrees,
        which is why the heading is put on with half angles.
    """
    level = euler_matrix(roll, pitch, 0.0 * heading)
    w = np.sqrt(1.0 + np.trace(level, axis1=1, axis2=2)) / 2.0
    x, y, z = ((level[:, i, j] - level[:, j, i]) / (4.0 * w) for i, j in ((2, 1), (0, 2), (1, 0)))
    c, s = np.cos(heading / 2.0), np.sin(heading / 2.0)
    return Pose(Vec3(north, east, -up), Quat(c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w))


def _try_everything(world: Any, state: Any) -> tuple[Any, ...]:
    """What `look` does, with every entry of every table marked as worth an exact test."""
    engine, shape, lanes = world.engine, world.lidar_shape, state.lanes
    shift, firings = first_firing(shape.pattern, state.tick // shape.ticks)
    time = SweepTime(
        number=engine.counter(state.tick // shape.ticks),
        first_tick=engine.counter(state.tick - shape.ticks + state.track.slots),
        start_s=engine.scalar((state.tick - shape.ticks) * shape.dt_s),
        firing_shift_s=engine.scalar(shift),
        firings=engine.counter(firings),
    )
    masks = []
    for table in world.tables:
        words = [[_all_entries(int(n), word) for word in range(table.word_count)] for n in np.asarray(table.count)]
        every = np.array(words)[:, None, :]
        masks.append(engine.integers(np.broadcast_to(every, (lanes, shape.bins, table.word_count))))
    return sweep(
        engine, shape, world.tables, tuple(masks), state.track, time, world.lidar, state.row, world.trial_lanes,
        world.lidar_key, engine.indices(lanes * shape.pattern.columns),
    )  # fmt: skip


def _all_entries(count: int, word: int) -> int:
    return (1 << min(max(count - 32 * word, 0), 32)) - 1


def beams(sweep: Sweep, pose_at: PoseAt, lane: int = 0, **numbers: Any) -> tuple[Array, Array]:
    """Origins and unit directions (columns, channels, 3) in north, east, down of every ray of a lane.

    Written with rotation matrices, each ray from the true pose at its own time: no quaternion, no track.
    """
    values = QUIET | numbers
    shape = sweep.time_s.shape
    pose = {}
    for name, value in pose_at(sweep.time_s.reshape(-1, 1)).items():
        value = np.atleast_2d(value)
        pose[name] = np.broadcast_to(value[:, min(lane, value.shape[1] - 1)], (sweep.time_s.size,))
    body = euler_matrix(pose["roll_rad"], pose["pitch_rad"], pose["heading_rad"])
    mount = euler_matrix(*(np.atleast_1d(np.asarray(values[f"{n}_rad"], float)) for n in ("roll", "pitch", "yaw")))
    level = np.cos(sweep.elevation_rad)[None, :]
    azimuth = sweep.azimuth_rad
    ray = np.stack(
        [level * np.cos(azimuth), level * np.sin(azimuth), -np.sin(sweep.elevation_rad)[None, :] + 0.0 * azimuth],
        axis=-1,
    ).reshape(-1, 3, 1)
    arm = np.array([values["forward_m"], values["right_m"], -values["up_m"]]).reshape(1, 3, 1)
    origin = np.stack([pose["north_m"], pose["east_m"], -pose["up_m"]], axis=-1) + (body @ arm)[..., 0]
    return origin.reshape(*shape, 3), (body @ mount @ ray)[..., 0].reshape(*shape, 3)


def euler_matrix(roll: Array, pitch: Array, yaw: Array) -> Array:
    """(n, 3, 3) rotation Rz(yaw) Ry(pitch) Rx(roll): the aerospace sequence."""
    zero, one = 0.0 * roll, 0.0 * roll + 1.0

    def matrix(*rows: Array) -> Array:
        return np.stack(np.broadcast_arrays(*rows), axis=-1).reshape(-1, 3, 3)

    x = matrix(one, zero, zero, zero, np.cos(roll), -np.sin(roll), zero, np.sin(roll), np.cos(roll))
    y = matrix(np.cos(pitch), zero, np.sin(pitch), zero, one, zero, -np.sin(pitch), zero, np.cos(pitch))
    z = matrix(np.cos(yaw), -np.sin(yaw), zero, np.sin(yaw), np.cos(yaw), zero, zero, zero, one)
    return z @ y @ x
