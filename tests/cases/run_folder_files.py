"""Files of run folders made by a simple stand-in for a campaign, so that reports can be tested without flying one.

The files follow the run folder's specification; the boat here is a point that steers
for the goal and away from circles.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np

from fieldworthy.trials.statistics import wilson_interval

HULL_M = 5.0
CHANNELS = (
    "north_m",
    "east_m",
    "up_m",
    "heading_rad",
    "roll_rad",
    "pitch_rad",
    "surge_m_s",
    "sway_m_s",
    "yaw_rate_rad_s",
    "cmd_surge_m_s",
    "cmd_yaw_rate_rad_s",
    "clearance_m",
)


def cylinder(north_m: float, east_m: float, radius_m: float, label: str = "") -> dict[str, object]:
    """A shape as layouts.json holds it."""
    return {
        "kind": "cylinder",
        "north_m": float(north_m),
        "east_m": float(east_m),
        "radius_m": float(radius_m),
        "top_up_m": 3.0,
        "bottom_up_m": -1.0,
        "vel_north_m_s": 0.0,
        "vel_east_m_s": 0.0,
        "label": label,
    }


def line(points: list[list[float]], kind: str = "polyline", label: str = "wall") -> dict[str, object]:
    """A polyline or polygon as layouts.json holds it."""
    return {
        "kind": kind,
        "points_ne_m": points,
        "top_up_m": 3.0,
        "bottom_up_m": -1.0,
        "vel_north_m_s": 0.0,
        "vel_east_m_s": 0.0,
        "label": label,
        **({"holes_ne_m": []} if kind == "polygon" else {}),
    }


def fly(trials: int, circles: np.ndarray, path_ne: np.ndarray, seed: int, dt_s: float = 0.1, skill: float = 1.0):
    """Tracks of boats along a path; `circles` is (trials, n, 3) of north, east, radius."""
    rng = np.random.default_rng(seed)
    steps = int(2.2 * np.hypot(*np.diff(path_ne, axis=0).T).sum() / 5.0 / dt_s) + 100
    position = path_ne[0] + rng.uniform([-0.5, -3.0], [0.5, 3.0], (trials, 2))
    heading = math.atan2(*(path_ne[1] - path_ne[0])[::-1]) + rng.uniform(-0.2, 0.2, trials)
    start = np.column_stack((position, heading))
    gain = rng.uniform(0.4, 1.0, trials) * skill
    leg = np.ones(trials, dtype=int)
    alive, length = np.ones(trials, dtype=bool), np.full(trials, steps)
    outcome = np.array(["timeout"] * trials, dtype=object)
    data = np.full((len(CHANNELS), trials, steps), np.nan, dtype=np.float32)
    for k in range(steps):
        away = position[:, None] - circles[..., :2]
        gap = np.hypot(away[..., 0], away[..., 1]) - circles[..., 2]
        clearance = np.maximum(gap.min(axis=1) - 1.0, 0.0)
        for name, value in (
            ("north_m", position[:, 0]),
            ("east_m", position[:, 1]),
            ("heading_rad", heading),
            ("clearance_m", clearance),
        ):
            data[CHANNELS.index(name), alive, k] = value[alive]
        target = path_ne[leg]
        reached = np.hypot(*(target - position).T) < 5.0
        done = alive & reached & (leg == len(path_ne) - 1)
        hit = alive & (clearance <= 0.0)
        outcome[done], outcome[hit] = "goal", "collision"
        length[done | hit] = k + 1
        alive &= ~(done | hit)
        leg = np.minimum(leg + reached, len(path_ne) - 1)
        if not alive.any():
            break
        nearest = gap.argmin(axis=1)
        d = np.maximum(gap[np.arange(trials), nearest], 0.3)[:, None]
        push = (
            away[np.arange(trials), nearest]
            / np.hypot(*away[np.arange(trials), nearest].T)[:, None]
            * 9.0
            * gain[:, None]
            / d**1.6
        )
        want = (target - position) / np.hypot(*(target - position).T)[:, None] + push
        side = np.arctan2(want[:, 1], want[:, 0]) - heading
        heading = (
            heading
            + np.clip((side + np.pi) % (2 * np.pi) - np.pi, -0.7 * dt_s, 0.7 * dt_s)
            + rng.normal(0, 0.012, trials)
        )
        position = position + 4.8 * dt_s * np.column_stack((np.cos(heading), np.sin(heading)))
    return start, data[..., : k + 1], np.minimum(length, k + 1), outcome


def write_run(
    folder: Path,
    name: str,
    title: str,
    trials: int,
    circles: np.ndarray,
    path_ne: np.ndarray,
    *,
    seed: int = 1,
    shared: list[dict] | None = None,
    own: list[list[dict]] | None = None,
    extra_toml: str = "",
    parameters: bool = False,
    interrupted: bool = False,
    skill: float = 1.0,
    waypoints: bool = False,
) -> Path:
    """A complete run folder."""
    folder.mkdir(parents=True)
    start, data, length, outcome = fly(trials, circles, path_ne, seed, skill=skill)
    t_s = np.arange(data.shape[2]) * 0.1
    clearance = data[CHANNELS.index("clearance_m")]
    least = np.nanmin(np.where(np.arange(len(t_s)) < length[:, None], clearance, np.nan), axis=1)
    time_s = (length - 1) * 0.1
    noise = np.random.default_rng(seed).uniform(0.0, 0.1, trials)
    header = "trial,outcome,why,time_s,clearance_m,path_m,start_north_m,start_east_m,start_heading_deg,redrawn".split(
        ","
    )
    with (folder / "trials.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header + (["sensors.lidar.noise_m"] if parameters else []))
        for i in range(trials):
            struck = "wall" if shared and not own else "cylinder buoy"
            why = {
                "goal": f"reached the goal after {time_s[i]:.1f} s",
                "collision": f"the hull touched the {struck} at t = {time_s[i]:.1f} s",
                "timeout": "the goal was not reached within the time allowed",
            }[outcome[i]]
            row = [i, outcome[i], why, f"{time_s[i]:.2f}", f"{least[i]:.3f}", f"{4.8 * time_s[i]:.1f}"]
            row += [f"{start[i, 0]:.3f}", f"{start[i, 1]:.3f}", f"{math.degrees(start[i, 2]):.2f}", 0]
            writer.writerow(row + ([f"{noise[i]:.4f}"] if parameters else []))
    np.savez_compressed(
        folder / "trajectories.npz",
        t_s=t_s,
        length=length.astype(np.int32),
        trial=np.arange(trials, dtype=np.int32),
        mode=np.zeros(data.shape[1:], dtype=np.int8),
        **dict(zip(CHANNELS, data, strict=True)),
    )
    (folder / "layouts.json").write_text(
        json.dumps({"shared": shared or [], "trials": own or [[] for _ in range(trials)]})
    )
    (folder / "scenario.toml").write_text(_toml(name, title, trials, path_ne, extra_toml, waypoints), encoding="utf-8")
    wins = int((outcome == "goal").sum())
    times = time_s[outcome == "goal"]
    summary = {
        "scenario": name,
        "title": title,
        "trials": trials,
        "seed": seed,
        "success": {"count": wins, "rate": wins / trials, "ci95": wilson_interval(wins, trials)},
        "collisions": int((outcome == "collision").sum()),
        "outcomes": {o: int((outcome == o).sum()) for o in set(outcome)},
        "time_s": {"mean": float(times.mean()) if wins else None, "min": None, "max": None},
        "clearance_m": {"min": float(least.min()), "mean": float(least.mean())},
        "wall_s": 4.2,
        "sim_s": float(time_s.sum()),
        "report": None,
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    run = {
        "schema": 1,
        "fieldworthy": "0.1.0",
        "command": f"fieldworthy run {name} --trials {trials}",
        "started_utc": "2025-03-04T09:12:33Z",
        "seed": seed,
        "trials": trials + (50 if interrupted else 0),
        "finished": trials,
        "interrupted": interrupted,
        "engine": {
            "device": "llvm",
            "llvm": "23.1.4",
            "drjit": "1.5.0",
            "mitsuba": "3.9.1",
            "precision": "f32",
            "threads": 2,
        },
        "python": "3.11.7",
        "numpy": "2.4.6",
        "platform": "Linux x86_64",
        "cpu": "AMD EPYC",
        "wall_s": 4.2,
        "sim_s": float(time_s.sum()),
        "redrawn": 3,
        "rays": 123456789,
        "git": "abc1234",
        "scenario_sha256": "9f" * 32,
        "files_sha256": {},
    }
    (folder / "run.json").write_text(json.dumps(run))
    return folder


def _toml(name: str, title: str, trials: int, path_ne: np.ndarray, extra: str, waypoints: bool) -> str:
    middle = path_ne[1:-1] if waypoints else []
    ways = "".join(f"\n[[waypoints]]\nnorth_m = {n:.2f}\neast_m = {e:.2f}\nradius_m = 8.0\n" for n, e in middle)
    return f"""schema = 1
name = "{name}"
title = "{title}"
description = "A 5 m boat at about 5 m/s with a VLP-16 keeps clear by the paper's sector rule."
trials = {trials}
seed = 1
duration_s = 120.0
dt_s = 0.02
{extra}
[vehicle]
model = "boat-5m"
[vehicle.set]
length_m = {HULL_M}
beam_m = 2.0
[start]
north_m = {path_ne[0][0]:.2f}
east_m = {path_ne[0][1]:.2f}
heading_deg = 0.0
spread_north_m = 0.5
spread_east_m = 3.0
[goal]
north_m = {path_ne[-1][0]:.2f}
east_m = {path_ne[-1][1]:.2f}
radius_m = 5.0
{ways}
[sea]
current_speed_m_s = 0.0
[sensors.lidar]
noise_m = 0.05
sea_returns = false
[control]
controller = "sector"
"""
