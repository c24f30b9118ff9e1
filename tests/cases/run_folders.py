"""Realistic run folders of every kind that reports must show: the three scenarios, a harbour, sweeps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from run_folder_files import HULL_M, cylinder, line, write_run

__all__ = ["HULL_M"]

STRAIGHT = np.array([[0.0, 0.0], [100.0, 0.0]])


def buoy_run(folder: Path, trials: int = 200, **options: object) -> Path:
    """Scenario A: one buoy whose place varies a little."""
    rng = np.random.default_rng(5)
    circles = np.column_stack((rng.uniform(45, 55, trials), rng.uniform(-2, 2, trials), np.full(trials, 2.5)))[:, None]
    own = [[cylinder(*c, label="buoy") for c in trial] for trial in circles]
    return write_run(folder, "boat-buoy", "One buoy on the course", trials, circles, STRAIGHT, own=own, **options)


def field_run(folder: Path, trials: int = 200, count: int = 35, **options: object) -> Path:
    """Scenario B: a random field, different in every trial."""
    rng = np.random.default_rng(6)
    circles = np.dstack(
        (
            rng.uniform(15, 85, (trials, count)),
            rng.uniform(-30, 30, (trials, count)),
            rng.uniform(0.5, 1.5, (trials, count)),
        )
    )
    own = [[cylinder(*c) for c in trial] for trial in circles]
    title = f"{count} obstacles on the course"
    return write_run(folder, "boat-field", title, trials, circles, STRAIGHT, own=own, parameters=True, **options)


def channel_run(folder: Path, trials: int = 10, **options: object) -> Path:
    """Scenario C: an S-shaped channel between two walls that all trials share."""
    north = np.linspace(10, 90, 81)
    middle = 12 * np.sin(2 * np.pi * (north - 10) / 80)
    walls = [line([[n, e + side] for n, e in zip(north, middle, strict=True)]) for side in (-8.0, 8.0)]
    posts = np.array([[n, e, 0.1] for wall in walls for n, e in wall["points_ne_m"]])
    circles = np.broadcast_to(posts, (trials, *posts.shape))
    path = np.array([[0, 0], [10, 0], [30, 12], [50, 0], [70, -12], [90, 0], [100, 0]], dtype=float)
    return write_run(
        folder, "boat-channel", "S-shaped channel", trials, circles, path, shared=walls, skill=0.9, **options
    )


def harbour_run(folder: Path, trials: int = 8) -> Path:
    """A harbour of 368 features: long shores, walls, pontoons and piles, shared by all trials."""
    rng = np.random.default_rng(7)
    north = np.linspace(0, 2000, 340)
    shared: list[dict] = []
    for side in (-1.0, 1.0):
        edge = side * (70 + 25 * np.sin(north / 260.0) + np.cumsum(rng.normal(0, 1.2, len(north))) * 0.3) + 60 * np.sin(
            north / 500.0
        )
        ring = [[n, e] for n, e in zip(north, edge, strict=True)] + [[2000.0, side * 600], [0.0, side * 600]]
        shared.append(line(ring, "polygon", "shore"))
    for k in range(250):
        n, side = rng.uniform(50, 1950), rng.choice([-1.0, 1.0])
        e = 60 * np.sin(n / 500.0) + side * rng.uniform(48, 70)
        shared.append(
            line([[n, e], [n + 0.5, e + side * rng.uniform(8, 25)]], "polyline", "pontoon" if k % 2 else "wall")
        )
    piles = [
        [n, 60 * np.sin(n / 500.0) + rng.choice([-1, 1]) * rng.uniform(40, 60), 0.3] for n in rng.uniform(50, 1950, 116)
    ]
    shared += [cylinder(*p, label="pile") for p in piles]
    n = np.linspace(-60, 1800, 9)
    path = np.column_stack((n, 60 * np.sin(n / 500.0)))
    circles = np.broadcast_to(np.array(piles), (trials, len(piles), 3))
    extra = 'obstacles_geojson = "harbour.geojson"\n'
    return write_run(
        folder, "harbour", "Up the waterway", trials, circles, path, shared=shared, extra_toml=extra, waypoints=True
    )


def sweep_folder(folder: Path, two: bool = False) -> Path:
    """A sweep over noise, or over noise and safe distance."""
    noises, distances = [0.0, 0.02, 0.05, 0.1], [10.0, 15.0, 20.0] if two else [15.0]
    points = []
    for distance in distances:
        for noise in noises:
            name = f"point-{len(points):03d}"
            run = field_run(folder / name, 40, 10, seed=len(points), skill=1.0 - 6.0 * noise + 0.01 * distance)
            values = {
                "sensors.lidar.noise_m": noise,
                **({"control.parameters.safe_distance_m": distance} if two else {}),
            }
            points.append({"values": values, "run": name, "summary": json.loads((run / "summary.json").read_text())})
    vary = {"sensors.lidar.noise_m": noises, **({"control.parameters.safe_distance_m": distances} if two else {})}
    run = json.loads((folder / "point-000" / "run.json").read_text())
    sweep = {
        **run,
        "scenario": "boat-field",
        "vary": vary,
        "points": points,
        "command": "fieldworthy sweep boat-field --vary …",
    }
    (folder / "sweep.json").write_text(json.dumps(sweep))
    return folder
