"""How fast LiDAR rays are cast: closed forms on 1,000 trials, and the mesh path beside bare Mitsuba.

Usage: python benchmarks/rays.py [--quick]
Prints the machine and, for each case, millions of rays a second: best and median of interleaved repetitions. Where
other programs share the machine trust the ratios, and of these the one by processor time. Figures to reach on 2 cores:
60 M rays/s in scenario A; whole sweeps through the mesh at 0.8 of bare Mitsuba, which gets the same rays ready-made and
only says how far they go.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import engine_facts, frozen, load_engine
from fieldworthy.environment.mesh import mesh_scene
from fieldworthy.environment.primitives import build_tables
from fieldworthy.environment.shapes import Box, Cylinder, Layout, Polygon, Polyline
from fieldworthy.scenario import load
from fieldworthy.scenario.build import build
from fieldworthy.scenario.draw import StartPose
from fieldworthy.scenario.feasible import blocked_start
from fieldworthy.sensors.scan import to_numpy
from fieldworthy.world import start
from fieldworthy.world.look import look
from fieldworthy.world.state import World

MESH_TRIALS = 20


def world_along_course(name: str, trials: int, layout: Layout | None = None, mesh: bool = False) -> World:
    """A built-in scenario with its boats at rest in free water all along the course, and all rays cast.

    layout: the same shapes for all trials in place of the scenario's own.
    """
    world = build(load(name, ["sensors.lidar.noise_m=0.0"]), trials, full_sweep=True).world
    if layout is not None:
        layouts = (layout,) * trials
        world = replace(world, layouts=layouts, tables=build_tables(world.engine, layouts))
    boats = replace(world.start, north_m=np.linspace(0.0, 95.0, trials), surge_m_s=np.zeros(trials))
    for trial, shapes in enumerate(world.layouts):
        pose = StartPose(boats.north_m[trial], boats.east_m[trial], boats.heading_rad[trial])
        while blocked_start(shapes, world.hull, pose):
            pose = replace(pose, north_m=(pose.north_m + 1.7) % 95.0)
        boats.north_m[trial] = pose.north_m
    return replace(world, start=boats, mesh=mesh_scene(world.engine, world.layouts[0]) if mesh else None, _made={})


def harbour() -> Layout:
    """A basin with quays on both sides, three marinas with their fingers, piles and a mole: about 4,000 walls."""
    shapes: list[Any] = []
    along = np.linspace(-150.0, 300.0, 400)
    for side in (-1.0, 1.0):
        quay = [(float(n), float(side * (60.0 + 6.0 * math.sin(n / 17.0) + 1.5 * math.sin(n / 2.1)))) for n in along]
        land = (*quay, (300.0, side * 200.0), (-150.0, side * 200.0))
        shapes.append(Polygon(points_ne_m=land, top_up_m=2.5, bottom_up_m=-3.0, label="quay"))
        for building in range(12):
            north = -120.0 + 35.0 * building
            shapes.append(
                Box(north_m=north, east_m=side * 85.0, length_m=24.0, width_m=14.0, heading_rad=0.1 * building,
                    top_up_m=9.0, bottom_up_m=2.0)
            )  # fmt: skip
        for pontoon in range(15):
            north = -20.0 + 10.0 * pontoon
            shapes.append(
                Polyline(points_ne_m=((north, side * 12.0), (north, side * 54.0)), top_up_m=0.6, bottom_up_m=-0.4)
            )
            for finger in range(14):
                east = side * (14.0 + 2.9 * finger)
                shapes.append(
                    Box(north_m=north + 2.0, east_m=east, length_m=4.0, width_m=0.5, heading_rad=0.0, top_up_m=0.5,
                        bottom_up_m=-0.3)
                )  # fmt: skip
            for pile in range(8):
                east = side * (13.0 + 5.5 * pile)
                shapes.append(Cylinder(north_m=north + 4.5, east_m=east, radius_m=0.2, top_up_m=3.0, bottom_up_m=-4.0))
    mole = tuple((280.0 + 10.0 * math.sin(e / 20.0), float(e)) for e in np.linspace(-40.0, 20.0, 60))
    return (*shapes, Polyline(points_ne_m=mole, top_up_m=3.0, bottom_up_m=-3.0, label="mole"))


def bare_mitsuba(world: World, coherent: bool) -> Callable[[], Any]:
    """The rays of the first sweep as arrays, made here with NumPy, and Mitsuba's intersection with nothing around it.

    They lie channel after channel, columns side by side, as the sweep has them.
    coherent: Mitsuba's hint that neighbouring rays take similar ways.
    """
    import mitsuba as mi

    assert world.lidar is not None
    assert world.mesh is not None
    engine, lidar, boats = world.engine, world.lidar, world.start
    scan = to_numpy(look(world, start(world)))
    heading = np.asarray(boats.heading_rad)[None, :, None]
    elevation = scan.elevation_rad[:, None, None]
    azimuth = scan.azimuth_rad.T[:, None, :] + heading
    forward, up = (float(np.asarray(value)[0]) for value in (lidar.forward_m, lidar.up_m))
    shape = azimuth.shape
    numbers = (
        np.asarray(boats.north_m)[None, :, None] + forward * np.cos(heading),
        np.asarray(boats.east_m)[None, :, None] + forward * np.sin(heading),
        np.full((1, 1, 1), up),
        np.cos(elevation) * np.cos(azimuth),
        np.cos(elevation) * np.sin(azimuth),
        np.sin(elevation),
    )
    lanes = [engine.floats(np.broadcast_to(value, shape)) for value in numbers]
    # Water ends a beam, for both alike.
    far = float(np.asarray(lidar.range_max_m)[0])
    reach = np.minimum(far, up / np.maximum(-np.sin(elevation), 1e-9)) + 0.0 * azimuth
    farthest = engine.floats(reach)

    def distances(scene: Any, lanes: Any, farthest: Any) -> Any:
        ray = mi.Ray3f(mi.Point3f(*lanes[:3]), mi.Vector3f(*lanes[3:]))
        ray.maxt = farthest
        return scene.ray_intersect_preliminary(ray, coherent=coherent).t

    mi.set_variant(f"{engine.device}_ad_rgb")
    trace, scene = frozen(distances), world.mesh.scene
    bare = np.asarray(trace(scene, lanes, farthest)).reshape(shape)
    ours = np.moveaxis(scan.range_m, 2, 0)
    near = float(np.asarray(lidar.range_min_m)[0])
    bare = np.where(bare < reach, np.where(bare < near, math.inf, bare), far)
    same = (bare == ours) | (np.abs(np.where(np.isfinite(bare), bare, 0.0) - ours) <= 1e-2)
    different = int(np.sum(~same))
    if different > 1e-3 * bare.size:
        raise SystemExit(f"{different} of {bare.size} rays differ between the sweep and the rays made here")
    return lambda: trace(scene, lanes, farthest)


def timed(cases: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, NDArray[np.float64]]:
    """Wall and processor seconds (2, repetitions) of every case, one after another in turn."""
    import drjit as dr

    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for repetition in range(repetitions + 2):
        for name, run in cases.items():
            wall, processor = time.perf_counter(), time.process_time()
            result = run()
            dr.eval(result)
            dr.sync_thread()
            if repetition >= 2:  # the first two record and compile
                seconds[name].append((time.perf_counter() - wall, time.process_time() - processor))
    return {name: np.array(pairs).T for name, pairs in seconds.items()}


def sweeps(world: World) -> Callable[[], Any]:
    """A call that casts one sweep of all trials."""
    state = start(world)
    return lambda: look(world, state).range_m


def line(name: str, rays: int, seconds: NDArray[np.float64]) -> str:
    """One row of the table: rays by wall time, best and median."""
    wall = seconds[0]
    return f"  {name:<44} {rays / wall.min() / 1e6:8.1f} {rays / np.median(wall) / 1e6:8.1f}"


def machine() -> str:
    """The processor, the cores and the compiler in one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [row.split(":", 1)[1].strip() for row in info.read_text().splitlines() if row.startswith("model name")]
        cpu = names[0] if names else cpu
    facts = engine_facts(load_engine())
    versions = ", ".join(f"{name} {facts[name]}" for name in ("device", "llvm", "drjit", "mitsuba", "threads"))
    return f"{cpu}, {os.cpu_count()} cores; {versions}"


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="100 trials and few repetitions")
    quick = parser.parse_args().quick
    trials, repetitions = (100, 5) if quick else (1000, 12)
    print(machine())
    print(f"{'M rays/s':<46} {'best':>8} {'median':>8}")

    print(f"closed forms, {trials} trials of 28,800 rays, every trial with its own layout")
    closed = {name: sweeps(world_along_course(name, trials)) for name in ("boat-buoy", "boat-field-35")}
    for name, seconds in timed(closed, repetitions).items():
        print(line(name, trials * 28800, seconds))

    buoys = build(load("boat-field-35"), 1).world.layouts[0]
    for title, layout in (("35 obstacles", buoys), ("harbour", harbour())):
        meshed = world_along_course("boat-buoy", MESH_TRIALS, layout, mesh=True)
        shapes = world_along_course("boat-buoy", MESH_TRIALS, layout)
        cases = {
            "bare Mitsuba": bare_mitsuba(meshed, coherent=False),
            "bare Mitsuba, told that rays are coherent": bare_mitsuba(meshed, coherent=True),
            "whole sweep, mesh": sweeps(meshed),
            "whole sweep, closed forms": sweeps(shapes),
        }
        print(f"{title}: {MESH_TRIALS} trials of 28,800 rays in one layout of {len(layout)} shapes")
        result = timed(cases, 3 * repetitions)
        for name, seconds in result.items():
            print(line(name, MESH_TRIALS * 28800, seconds))
        plain, coherent, ours, _ = result.values()
        bare = plain if np.median(plain[1]) < np.median(coherent[1]) else coherent
        for clock, b, o in zip(("wall", "processor"), bare, ours, strict=True):
            title = f"mesh / the faster bare Mitsuba, {clock} time"
            print(f"  {title:<44} {b.min() / o.min():8.2f} {np.median(b / o):8.2f}")


if __name__ == "__main__":
    main()
