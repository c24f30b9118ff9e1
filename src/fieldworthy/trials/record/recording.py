"""One trial, sampled: everything that a recording file says, in the simulator's own frames.

Frames: poses are world NED and body FRD, quaternions wxyz; cloud points are in the LiDAR's own frame with FRD axes,
each as measured from where the LiDAR was at that ray's own time. Times are seconds of simulated time. The writers
turn this into the axes of their format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.environment.shapes import Layout
from fieldworthy.trials.record.flight import Flight, flight_problems

Floats = NDArray[np.floating[Any]]
Circle = tuple[float, float, float]
"""(north, east, radius) [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cloud:
    """One sweep of the LiDAR; n points in the order of firing."""

    t_start_s: float
    t_end_s: float
    points_frd_m: Floats
    """Shape (n, 3), in the LiDAR's frame."""
    range_m: Floats
    """Shape (n,)."""
    ring: NDArray[np.unsignedinteger[Any]]
    """Shape (n,): which laser, 0 the lowest."""
    time_offset_s: Floats
    """Shape (n,): time of each ray after `t_start_s`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """One trial of S samples, with what stood around it. Arrays are checked on construction."""

    name: str
    trial: int
    seed: int
    provenance: Mapping[str, str]
    t_s: Floats
    """Shape (S,), rising, from 0 or later."""
    north_m: Floats
    east_m: Floats
    down_m: Floats
    quat_ned_from_frd: Floats
    """Shape (S, 4), wxyz."""
    vel_ned_m_s: Floats
    """Shape (S, 3)."""
    rate_frd_rad_s: Floats
    """Shape (S, 3)."""
    cmd_surge_m_s: Floats | None = None
    """Shape (S,); None for a flight, whose commands are among its tracks. So is the next."""
    cmd_yaw_rate_rad_s: Floats | None = None
    """Shape (S,), clockwise positive."""
    flight: Flight | None = None
    """None for a boat."""
    mode: NDArray[np.integer[Any]]
    """Shape (S,): the controller's mode, 0 = on course."""
    clearance_m: Floats
    """Shape (S,): free distance from the hull to the nearest shape."""
    outcome: str = ""
    """How the trial ended, as in `trials.csv`."""
    why: str = ""
    """The outcome in a sentence."""
    sensors: Mapping[str, Floats] = field(default_factory=dict)
    """Readings of the user's own sensors by SENSOR.VALUE, each of shape (S,); NaN where there is none."""
    clouds: Sequence[Cloud] = ()
    lidar_translation_frd_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the LiDAR sits on the body."""
    quat_body_from_lidar: tuple[float, float, float, float] | None = (1.0, 0.0, 0.0, 0.0)
    """None without a LiDAR."""
    layout: Layout = ()
    """The shapes where they are at t = 0."""
    goal: Circle | None = None
    waypoints: Sequence[Circle] = ()
    target_up_m: Sequence[float] = ()
    """Of a flight: heights of the waypoints in order, then of the goal."""
    hull_frd_m: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    """Shape (H, 2): outline seen from above (of a boat: at the waterline), (forward, right)."""
    reference_lon_lat_deg: tuple[float, float] | None = None
    """Longitude and latitude of the world's origin."""

    def __post_init__(self) -> None:
        problems = [*_sample_problems(self), *_cloud_problems(self.clouds)]
        if np.ndim(self.hull_frd_m) != 2 or np.shape(self.hull_frd_m)[1] != 2:
            problems.append(f"hull_frd_m has shape {np.shape(self.hull_frd_m)}; valid: (corners, 2)")
        if problems:
            raise FieldworthyError(f"recording {self.name!r}: " + "; ".join(problems))


def has_pose(recording: Recording) -> NDArray[np.bool_]:
    """Shape (S,): which samples have a finite pose and velocity. A trial that ended 'non-finite' has some without."""
    columns = (
        np.column_stack((recording.north_m, recording.east_m, recording.down_m)),
        recording.quat_ned_from_frd,
        recording.vel_ned_m_s,
        recording.rate_frd_rad_s,
    )
    return np.asarray(np.isfinite(np.hstack(columns)).all(axis=1))


def nanoseconds(t_s: float) -> int:
    """Simulated time as the integer that log files carry [ns]: the nearest one, exact for every multiple of 1 ns."""
    return round(float(t_s) * 1e9)


_WIDTH_FROM_NAME = {
    "north_m": 0,
    "east_m": 0,
    "down_m": 0,
    "quat_ned_from_frd": 4,
    "vel_ned_m_s": 3,
    "rate_frd_rad_s": 3,
    "cmd_surge_m_s": 0,
    "cmd_yaw_rate_rad_s": 0,
    "mode": 0,
    "clearance_m": 0,
}


_OF_BOATS = ("cmd_surge_m_s", "cmd_yaw_rate_rad_s")


def _sample_problems(recording: Recording) -> list[str]:
    t_s = np.asarray(recording.t_s)
    if t_s.ndim != 1 or t_s.size == 0:
        return [f"t_s has shape {t_s.shape}; valid: one dimension and at least one sample"]
    problems = []
    if not np.isfinite(t_s).all() or t_s[0] < 0.0 or (np.diff(t_s) <= 0.0).any():
        problems.append("t_s is not a rising series of finite times from 0 or later")
    for name, width in _WIDTH_FROM_NAME.items():
        if recording.flight is not None and name in _OF_BOATS and getattr(recording, name) is None:
            continue
        valid = (t_s.size, width) if width else (t_s.size,)
        if np.shape(getattr(recording, name)) != valid:
            problems.append(f"{name} has shape {np.shape(getattr(recording, name))}; valid: {valid}")
    for name, values in recording.sensors.items():
        if np.shape(values) != (t_s.size,):
            problems.append(f"sensors['{name}'] has shape {np.shape(values)}; valid: {(t_s.size,)}")
    if recording.flight is not None:
        problems += flight_problems(recording.flight, t_s.size)
    return problems


def _cloud_problems(clouds: Sequence[Cloud]) -> list[str]:
    problems = []
    for index, cloud in enumerate(clouds):
        count = len(cloud.range_m)
        shapes = (np.shape(cloud.points_frd_m), np.shape(cloud.ring), np.shape(cloud.time_offset_s))
        if shapes != ((count, 3), (count,), (count,)):
            problems.append(f"clouds[{index}] has points, ring, time_offset_s of shapes {shapes} for {count} ranges")
        if not 0.0 <= cloud.t_start_s <= cloud.t_end_s < np.inf:
            problems.append(
                f"clouds[{index}] runs from {cloud.t_start_s} s to {cloud.t_end_s} s; valid: 0 <= start <= end"
            )
    return problems
