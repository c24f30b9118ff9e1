"""Triangle files: read with their axes right, cut where the hull is, seen by the LiDAR, and hit by the boat."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fieldworthy.core.errors import ScenarioError
from fieldworthy.environment.mesh_files import cut, outline, read_triangles
from fieldworthy.scenario import load
from fieldworthy.scenario.build import build
from fieldworthy.sensors.scan import to_numpy
from fieldworthy.world import start, step
from fieldworthy.world.course import COLLISION
from fieldworthy.world.look import look

FACES = [(0, 1, 3), (0, 3, 2), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 3, 7), (1, 7, 5)]  # fmt: skip


def corners(east: tuple[float, float], north: tuple[float, float], up: tuple[float, float]) -> list[tuple[float, ...]]:
    return [(e, n, u) for u in up for n in north for e in east]


def ply(path: Path, points: list[tuple[float, ...]], faces: list[tuple[int, ...]]) -> Path:
    head = (
        f"ply\nformat ascii 1.0\nelement vertex {len(points)}\nproperty float x\nproperty float y\nproperty float z\n"
    )
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = [" ".join(map(str, point)) for point in points] + [f"3 {a} {b} {c}" for a, b, c in faces]
    path.write_text(head + "\n".join(rows) + "\n")
    return path


def obj(path: Path, points: list[tuple[float, ...]], faces: list[tuple[int, ...]]) -> Path:
    rows = ["v " + " ".join(map(str, p)) for p in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    path.write_text("\n".join(rows) + "\n")
    return path


PLY_HEAD = (
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
)

BLOCK = corners(east=(-4.0, 3.0), north=(10.0, 16.0), up=(-2.0, 2.5))
"""7 m wide from port to starboard, its face 10 m north of the origin."""

SCENE = """
schema = 1
name = "block"
trials = 1
duration_s = 10.0
scene_mesh = "block.ply"
[start]
speed_m_s = 4.0
[goal]
north_m = 60.0
east_m = 0.0
[control]
controller = "straight"
[sensors.lidar]
rays = "mesh"
noise_m = 0.0
"""


@pytest.mark.parametrize(("write", "name"), [(ply, "block.ply"), (obj, "block.obj")])
def test_axes_of_a_file_are_east_north_up(tmp_path: Path, write: type, name: str) -> None:
    triangles = read_triangles(write(tmp_path / name, BLOCK, FACES))
    assert triangles.shape == (12, 3, 3)
    assert triangles.min(axis=(0, 1)) == pytest.approx([10.0, -4.0, -2.0])
    assert triangles.max(axis=(0, 1)) == pytest.approx([16.0, 3.0, 2.5])


def lengths(segments: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.hypot(*np.moveaxis(segments[:, 1] - segments[:, 0], 1, 0))


def test_a_cut_through_a_pyramid_shrinks_with_height(tmp_path: Path) -> None:
    """Similar triangles: at height z of a pyramid of height h and base b the cut is a square of side b (1 - z/h)."""
    points = [(-3.0, -3.0, 0.0), (3.0, -3.0, 0.0), (3.0, 3.0, 0.0), (-3.0, 3.0, 0.0), (0.0, 0.0, 4.0)]
    sides = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
    triangles = read_triangles(ply(tmp_path / "pyramid.ply", points, sides))
    for up in (0.5, 1.0, 3.9):
        segments = cut(triangles, up)
        assert lengths(segments) == pytest.approx([6.0 * (1.0 - up / 4.0)] * 4, rel=1e-6)
    assert len(cut(triangles, 4.1)) == len(cut(triangles, -0.1)) == 0


def test_the_outline_of_a_block_is_its_plan_once(tmp_path: Path) -> None:
    """All three levels cut an upright block in the same rectangle, so the walls are as long as its perimeter."""
    triangles = read_triangles(ply(tmp_path / "block.ply", BLOCK, FACES))
    walls = outline(triangles, 0.4, 2.0, "block")
    length = sum(
        math.dist(a, b) for wall in walls for a, b in zip(wall.points_ne_m, wall.points_ne_m[1:], strict=False)
    )
    assert length == pytest.approx(2.0 * (7.0 + 6.0), abs=1e-3)
    assert sum(len(wall.points_ne_m) - 1 for wall in walls) <= 5
    assert outline(triangles + np.array([0.0, 0.0, 20.0]), 0.4, 2.0, "bridge") == ()


def test_the_lidar_sees_it_and_the_boat_runs_into_it(tmp_path: Path) -> None:
    """The face 10 m ahead of the origin reads (10 - forward) / cos; 7 m wide, shifted to port; a straight run ends."""
    ply(tmp_path / "block.ply", BLOCK, FACES)
    (tmp_path / "scene.toml").write_text(SCENE.replace("speed_m_s = 4.0", "speed_m_s = 0.0"))
    world = build(load(tmp_path / "scene.toml"), full_sweep=True).world
    scan = to_numpy(look(world, start(world)))
    level = int(np.argmin(np.abs(scan.elevation_rad - math.radians(-1.0))))
    seen, azimuth = scan.range_m[0, :, level], scan.azimuth_rad[:, level]
    across = 10.0 * np.tan(azimuth)
    on = (np.abs(azimuth) < 1.0) & (across > -3.99) & (across < 2.99)
    assert seen[on] == pytest.approx(10.0 / np.cos(azimuth[on]) / math.cos(math.radians(1.0)), abs=1e-4)
    assert np.all(seen[(np.abs(azimuth) < 1.0) & ((across < -4.01) | (across > 3.01))] == 100.0)

    (tmp_path / "scene.toml").write_text(SCENE)
    world = build(load(tmp_path / "scene.toml")).world
    state = start(world)
    for _ in range(60):
        state, _ = step(world, state)
    bow_m = max(forward for forward, _ in world.hull.outline)
    assert np.asarray(state.standing.outcome)[0] == COLLISION
    assert np.asarray(state.sights.seen["north_m"])[0] == pytest.approx(10.0 - bow_m, abs=0.2)


def test_triangles_need_rays_that_can_meet_them(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENE.replace('rays = "mesh"\n', ""))
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "scene.toml")
    (problem,) = caught.value.problems
    assert "scene_mesh" in problem.where + problem.what
    assert problem.valid == 'sensors.lidar.rays = "mesh"'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("quay.ply", None, "no such file"),
        ("quay.stl", "solid", "'.stl' is no triangle file"),
        ("quay.ply", "no ply at all\n", "cannot be read"),
        ("quay.ply", PLY_HEAD + "0 0 0\n1 0 0\n1 1 0\n3 0 1 7\n", "names corner 7, but there are 3"),
        ("quay.ply", PLY_HEAD + "0 0 0\n1 0 0\n", "cannot be read"),
        ("quay.obj", "v 0 0 0\nv 1 0 0\nv 0 1 1\nf 1 2 9\n", "invalid vertex 9"),
        ("quay.obj", "# nothing\n", "no triangle"),
        ("quay.obj", "v 0 0 0\nv 5e6 0 0\nv 0 5e6 1\nf 1 2 3\n", "100 km from the origin"),
        ("quay.obj", "v 0 0 0\nv nan 0 0\nv 0 5 1\nf 1 2 3\n", "cannot be read: mesh contains invalid"),
    ],
)
def test_bad_files_are_refused_with_their_name(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ScenarioError, match=said) as caught:
        read_triangles(tmp_path / name)
    assert caught.value.problems[0].where.endswith(name)
    assert caught.value.problems[0].valid
