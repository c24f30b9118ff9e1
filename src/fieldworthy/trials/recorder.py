"""Record one trial in full: every pose, command, LiDAR sweep and device reading, as MCAP and CSV.

The trial is flown as in its campaign; the sweeps recorded are cast beside it over the full turn, with the same noise on
the same rays, so that recording changes nothing of what it records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.subnormal import flushed
from fieldworthy.core.vec import quat_from_euler_zyx
from fieldworthy.scenario.build import build
from fieldworthy.scenario.schema import LidarConfig, Scenario
from fieldworthy.sensors.scan import to_numpy
from fieldworthy.trials.device_log import Said, columns, heard
from fieldworthy.trials.reasons import reason
from fieldworthy.trials.record import Cloud, Flight, Recording, write_csv, write_mcap
from fieldworthy.world import OUTCOMES, Frame, State, World, start, step
from fieldworthy.world.look import look
from fieldworthy.world.walk import frame_of


@flushed()
def record(
    scenario: Scenario, trial: int, facts: dict[str, Any], progress: Callable[[float], None] | None = None
) -> Recording:
    """Fly one trial and keep everything. facts: provenance of its campaign.

    Raises: ScenarioError when the scenario cannot be built.
    """
    world = build(scenario, [trial]).world
    flies, lidar = scenario.vehicle.kind == "aircraft", scenario.sensors.lidar
    eye = build(scenario, [trial], full_sweep=True).world if lidar is not None else None
    frames: list[Frame] = []
    clouds: list[Cloud] = []
    said: list[Said] = []
    state = start(world)

    def look_around() -> None:
        # A sweep is due whenever this tick ends one; the world's own are cast inside advance.
        if eye is not None and state.tick % world.timing.sweep == 0:
            clouds.append(_cloud(eye, state, omits=lidar is not None and lidar.no_hit == "omit"))

    while not int(np.asarray(state.standing.outcome)[0]):
        look_around()
        if flies:
            said.append(heard(state))
        state, frame = step(world, state)
        frames.append(frame)
        if progress is not None:
            progress(state.tick / world.timing.end)
    # The state stands still from the tick at which the trial ended to that of the next command.
    end_tick = int(np.asarray(state.standing.end_tick)[0])
    frames.append(replace(frame_of(world, state), t_s=end_tick * world.timing.dt_s))
    if flies:
        said.append(heard(state))
    if end_tick == state.tick:
        look_around()
    outcome = OUTCOMES[int(np.asarray(state.standing.outcome)[0])]
    why = reason(scenario, world, frames[-1], 0, outcome, end_tick)
    return recording_of(scenario, world, trial, facts, frames, said, clouds, outcome=outcome, why=why)


def recording_of(
    scenario: Scenario,
    world: World,
    trial: int,
    facts: dict[str, Any],
    frames: list[Frame],
    said: list[Said],
    clouds: Sequence[Cloud] = (),
    *,
    outcome: str,
    why: str,
) -> Recording:
    """What was kept of one trial as the recording that files are written from. frames: of its lane alone."""
    flies, lidar = scenario.vehicle.kind == "aircraft", scenario.sensors.lidar
    targets = [(t.north_m, t.east_m, t.radius_m) for t in (*scenario.waypoints, scenario.goal)]
    reference = scenario.reference
    return Recording(
        name=scenario.name,
        trial=trial,
        seed=scenario.seed,
        provenance={key: str(value) for key, value in facts.items() if key != "scenario_folder"},
        outcome=outcome,
        why=why,
        **(_flown(frames) if flies else _sailed(frames)),
        flight=_flight(scenario, frames, said) if flies else None,
        sensors=_heard(frames),
        clouds=[cloud for cloud in clouds if cloud.t_start_s >= 0.0],
        lidar_translation_frd_m=(lidar.forward_m, lidar.right_m, -lidar.up_m) if lidar else (0.0, 0.0, 0.0),
        quat_body_from_lidar=_mount(lidar) if lidar else None,
        layout=world.layouts[0],
        goal=targets[-1],
        waypoints=targets[:-1],
        target_up_m=[t.up_m or 0.0 for t in (*scenario.waypoints, scenario.goal)] if flies else (),
        hull_frd_m=np.asarray(world.hull.outline),
        reference_lon_lat_deg=(reference.lon_deg, reference.lat_deg) if reference else None,
    )


def write_recording(recording: Recording, folder: Path) -> tuple[Path, Path]:
    """Write trial-K.mcap and trial-K.csv into a folder; returns both paths.

    Raises: MissingExtraError without the extra 'log'; FieldworthyError when the files cannot be written.
    """
    mcap, csv = folder / f"trial-{recording.trial}.mcap", folder / f"trial-{recording.trial}.csv"
    write_mcap(mcap, recording)
    write_csv(csv, recording)
    return mcap, csv


def _mount(lidar: LidarConfig) -> tuple[float, float, float, float]:
    w, x, y, z = quat_from_euler_zyx(*(math.radians(a) for a in (lidar.roll_deg, lidar.pitch_deg, lidar.yaw_deg)))
    return w, x, y, z


def _column(frames: list[Frame], name: str) -> NDArray[np.float64]:
    return np.array([frame.values[name][0] for frame in frames], dtype=np.float64)


def _samples(frames: list[Frame]) -> dict[str, NDArray[Any]]:
    """Fields of Recording that every vehicle has, from frames of one lane."""
    roll, pitch, heading = (_column(frames, name) for name in ("roll_rad", "pitch_rad", "heading_rad"))
    quat = [quat_from_euler_zyx(float(r), float(p), float(h)) for r, p, h in zip(roll, pitch, heading, strict=True)]
    return {
        "t_s": np.array([frame.t_s for frame in frames]),
        "north_m": _column(frames, "north_m"),
        "east_m": _column(frames, "east_m"),
        "down_m": -_column(frames, "up_m"),
        "quat_ned_from_frd": np.array([(q.w, q.x, q.y, q.z) for q in quat]),
        "mode": np.array([frame.values["mode"][0] for frame in frames]),
        "clearance_m": _column(frames, "clearance_m"),
    }


def _sailed(frames: list[Frame]) -> dict[str, NDArray[Any]]:
    """Fields of Recording for a boat."""
    surge, sway, yaw_rate = (_column(frames, name) for name in ("surge_m_s", "sway_m_s", "yaw_rate_rad_s"))
    heading = _column(frames, "heading_rad")
    c, s, zero = np.cos(heading), np.sin(heading), np.zeros(len(frames))
    return {
        **_samples(frames),
        "vel_ned_m_s": np.stack([surge * c - sway * s, surge * s + sway * c, zero], axis=1),
        "rate_frd_rad_s": np.stack([zero, zero, yaw_rate], axis=1),
        "cmd_surge_m_s": _column(frames, "cmd_surge_m_s"),
        "cmd_yaw_rate_rad_s": _column(frames, "cmd_yaw_rate_rad_s"),
    }


def _flown(frames: list[Frame]) -> dict[str, NDArray[Any]]:
    """Fields of Recording for a flight."""
    north, east, up = (_column(frames, f"{axis}_m_s") for axis in ("north", "east", "up"))
    rates = [_column(frames, f"{axis}_rate_rad_s") for axis in ("roll", "pitch", "yaw")]
    return {
        **_samples(frames),
        "vel_ned_m_s": np.stack([north, east, -up], axis=1),
        "rate_frd_rad_s": np.stack(rates, axis=1),
    }


_IN_POSE = ("north_m", "east_m", "up_m", "roll_rad", "pitch_rad", "heading_rad", "north_m_s", "east_m_s", "up_m_s",
            "roll_rate_rad_s", "pitch_rate_rad_s", "yaw_rate_rad_s", "mode", "clearance_m")  # fmt: skip
"""Tracks that a Recording has in another form."""


def _flight(scenario: Scenario, frames: list[Frame], said: list[Said]) -> Flight:
    names = [name for name in frames[0].values if name not in _IN_POSE and "." not in name]
    tracks = {name: _column(frames, name) for name in names}
    return Flight(tracks=tracks, devices=columns(said), elevation_m=scenario.air.elevation_m)


def _heard(frames: list[Frame]) -> dict[str, NDArray[np.float64]]:
    """Readings of the user's own sensors by SENSOR.VALUE, each (samples,); NaN before the first was delivered."""
    names = dict.fromkeys(name for frame in frames for name in frame.values if "." in name)
    return {
        name: np.array([float(f.values[name][0]) if name in f.values else np.nan for f in frames]) for name in names
    }


def _cloud(eye: World, state: State, omits: bool) -> Cloud:
    """The returns of the sweep that ends now as points in the LiDAR's own axes; rays without a return are left out."""
    arrays = to_numpy(look(eye, state))
    ranges = arrays.range_m[0].astype(np.float64)
    hit = np.isfinite(ranges)
    if not omits:
        # Readings at exactly the greatest range are rays without a return, not points.
        hit &= ranges != np.asarray(eye.lidar.range_max_m)[0] if eye.lidar is not None else True
    level = np.cos(arrays.elevation_rad)[None, :]
    directions = np.stack(
        [
            level * np.cos(arrays.azimuth_rad),
            level * np.sin(arrays.azimuth_rad),
            -np.sin(arrays.elevation_rad)[None, :] + 0.0 * arrays.azimuth_rad,
        ],
        axis=-1,
    )
    ring = np.argsort(np.argsort(arrays.elevation_rad))
    dt_s = eye.timing.dt_s
    return Cloud(
        # From whole ticks: the kernels' own time of the sweep may be rounded to 32 bits.
        t_start_s=(state.tick - eye.timing.sweep) * dt_s,
        t_end_s=state.tick * dt_s,
        points_frd_m=(ranges[..., None] * directions)[hit].astype(np.float32),
        range_m=ranges[hit],
        ring=np.broadcast_to(ring, ranges.shape)[hit].astype(np.uint16),
        time_offset_s=arrays.time_s[hit].astype(np.float32),
    )
