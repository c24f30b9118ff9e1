"""Two ways to cast a ray, closed forms and a Mitsuba mesh, see the same scene; and both see what geometry says.

Both work in 32 bits, where a place 100 m away is known to 4e-6 m. A ray that meets a surface at a grazing angle turns
such an error into one of error / cos(angle to the normal), and past a silhouette into another shape. So rays are
compared to 1e-4 m where they are steady: turning the boat by 1 mrad any way (heading, pitch, roll, either sign) moves
the hit by less than 1 % of its range and turns no hit into a miss. (At a surface met at an angle a to its normal,
1 mrad moves the hit by range * tan a / 1000, so a is below 84 degrees.) All other rays count too, but a few may differ.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fieldworthy.core.engine import KernelCounter, load_engine
from fieldworthy.core.errors import EngineError, ScenarioError
from fieldworthy.core.vec import Quat, Vec3, euler_zyx_from_quat, quat_multiply
from fieldworthy.environment.mesh import SAGITTA_M, cylinder_triangles, mesh_scene
from fieldworthy.environment.shapes import Cylinder
from fieldworthy.scenario import load
from fieldworthy.scenario.build import build
from fieldworthy.sensors.scan import to_numpy
from fieldworthy.world import compact, start, step
from fieldworthy.world.look import look
from fieldworthy.world.state import State, World

AGREE_M = 1e-4
TURN_RAD = 1e-3
FAR_M = 1000.0

HEAD = """
schema = 1
name = "two ray paths"
trials = 3
duration_s = 60.0
[start]
spread_east_m = 2.0
spread_heading_deg = 180.0
speed_m_s = 5.0
[goal]
north_m = 400.0
east_m = 0.0
[area]
north_m = [-500.0, 500.0]
east_m = [-500.0, 500.0]
[control]
controller = "straight"
[sea]
current_speed_m_s = 0.3
[sea.waves]
height_m = 0.8
period_s = 3.0
[sensors.lidar]
noise_m = 0.0
sea_returns = true
roll_deg = 3.0
pitch_deg = -2.0
"""

EVERY_SHAPE = """
[[obstacles]]
kind = "cylinder"
north_m = 18.0
east_m = 12.0
radius_m = 2.5
[[obstacles]]
kind = "cylinder"
north_m = -60.0
east_m = 20.0
radius_m = 12.0
top_up_m = 1.2
[[obstacles]]
kind = "sphere"
north_m = 10.0
east_m = -22.0
radius_m = 3.0
up_m = 1.0
[[obstacles]]
kind = "box"
north_m = -15.0
east_m = -12.0
length_m = 8.0
width_m = 3.0
heading_deg = 30.0
top_up_m = 1.0
[[obstacles]]
kind = "polygon"
points_ne_m = [[40.0, 20.0], [70.0, 25.0], [70.0, 60.0], [55.0, 40.0], [40.0, 60.0]]
top_up_m = 4.0
[[obstacles]]
kind = "polyline"
points_ne_m = [[-80.0, -50.0], [-20.0, -40.0], [30.0, -60.0], [80.0, -30.0]]
[[obstacles]]
kind = "cylinder"
north_m = 25.0
east_m = -10.0
radius_m = 1.0
vel_north_m_s = -3.0
vel_east_m_s = 2.0
[[obstacles]]
kind = "box"
north_m = -25.0
east_m = 30.0
length_m = 12.0
width_m = 4.0
vel_east_m_s = -4.0
[[obstacles]]
kind = "sphere"
north_m = 50.0
east_m = -30.0
radius_m = 2.0
vel_north_m_s = -2.0
[[obstacles]]
kind = "polyline"
points_ne_m = [[-40.0, 5.0], [-42.0, 15.0]]
vel_north_m_s = 1.5
"""


def quay(side: float, aloft_m: float = 0.0) -> str:
    """One side of a small harbour: a quay of 120 corners, fingers of thin wall, and piles; all of it lifted."""

    def between(bottom: float, top: float) -> str:
        return f"bottom_up_m = {aloft_m + bottom}\ntop_up_m = {aloft_m + top}\n"

    north = np.linspace(-140.0, 140.0, 120)
    edge = [(float(n), side * (35.0 + 3.0 * math.sin(n / 9.0))) for n in north]
    land = [list(point) for point in [*edge, (140.0, side * 90.0), (-140.0, side * 90.0)]]
    text = f'[[obstacles]]\nkind = "polygon"\npoints_ne_m = {land}\n{between(-1.0, 1.1)}'
    for i in range(8):
        n = -70.0 + 20.0 * i
        finger = [[n, side * 12.0], [n, side * 30.0]]
        text += f'[[obstacles]]\nkind = "polyline"\npoints_ne_m = {finger}\n{between(-1.0, 0.7)}'
        text += f'[[obstacles]]\nkind = "cylinder"\nnorth_m = {n + 5.0}\neast_m = {side * 14.0}\nradius_m = 0.25\n'
        text += between(-1.0, 3.0)
    return text


@pytest.fixture(name="scenario_file")
def _scenario_file(tmp_path: Path) -> Path:
    return tmp_path / "scene.toml"


UNIFORM = ("sensors.lidar.elevation_step_deg=5.0",)
"""All lasers of a column at once; few of them, because each adds to the time of compilation."""

FIRING = (
    "sensors.lidar.model='vlp16'",
    "sensors.lidar.laser_elevation_deg=[-9.0, 3.0, -5.0, -1.0]",
    "sensors.lidar.laser_spacing_s=1.1e-5",
)
"""Lasers one after another while the head turns, 1,809 firings a sweep."""


def worlds(file: Path, text: str, *overrides: str, lasers: tuple[str, ...] = UNIFORM) -> tuple[World, World]:
    """The same scenario with rays against closed forms and against the mesh."""
    file.write_text(text)
    shapes, mesh = (
        build(load(file, [*lasers, *overrides, f'sensors.lidar.rays="{rays}"']), full_sweep=True).world
        for rays in ("shapes", "mesh")
    )
    assert shapes.mesh is None
    return shapes, mesh


def under_way(world: World) -> State:
    """Boats that run and roll, 0.6 s after the start, so that what moves is no longer where the file has it.

    The track's poses are those of the 0.1 s before the start: 30 ticks are whole turns of its ring, so they fit.
    """
    state = start(world)
    assert 30 % state.track.slots == 0
    return replace(state, tick=30)


def ranges(world: World, state: State) -> NDArray[Any]:
    """Ranges (trials, columns, channels)."""
    measured = to_numpy(look(world, state)).range_m
    return np.minimum(measured, FAR_M)  # firings that a sweep does not have read infinity


def turned(state: State, axis: Vec3, angle_rad: float) -> State:
    """The state with the hulls of all poses turned about one of their own axes, and the LiDAR with them."""
    poses, half = state.track.poses, angle_rad / 2.0
    v = axis * math.sin(half)
    quat = quat_multiply(poses.quat_ned_from_frd, Quat(math.cos(half), v.x, v.y, v.z))
    return replace(state, track=replace(state.track, poses=replace(poses, quat_ned_from_frd=quat)))


def steady(world: World, state: State) -> NDArray[np.bool_]:
    """Rays whose hit, or miss, stays what it is when the boat turns a little."""
    middle = ranges(world, state)
    same = np.ones(middle.shape, dtype=bool)
    for axis in (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)):
        for angle in (-TURN_RAD, TURN_RAD):
            same &= np.abs(ranges(world, turned(state, axis, angle)) - middle) < 10.0 * TURN_RAD * middle
    return same


def assert_agree(shapes: World, mesh: World, state: State, *, few: int) -> None:
    """Both paths agree on steady rays, and on all but `few` of the others."""
    closed, traced = ranges(shapes, state), ranges(mesh, state)
    calm = steady(shapes, state)
    assert shapes.lidar is not None
    hit = closed < float(np.asarray(shapes.lidar.range_max_m)[0])
    assert np.sum(calm & hit) > 0.03 * closed.size, "too few hits to say anything"
    assert np.max(np.abs(closed - traced)[calm]) <= AGREE_M
    assert np.sum(np.abs(closed - traced) > AGREE_M) <= few


@pytest.mark.parametrize("lasers", [UNIFORM, FIRING], ids=["uniform", "firing"])
def test_both_paths_agree_on_every_kind_of_shape(scenario_file: Path, lasers: tuple[str, ...]) -> None:
    """At rest and moving, from a boat that runs and rolls, with all lasers at once or one after another."""
    shapes, mesh = worlds(scenario_file, HEAD + EVERY_SHAPE, lasers=lasers)
    state = under_way(shapes)
    roll = np.asarray(euler_zyx_from_quat(state.track.poses.quat_ned_from_frd)[0])
    assert np.max(np.abs(roll)) > 0.01, "the boat does not roll; the test would say too little"
    assert_agree(shapes, mesh, state, few=40)


@pytest.mark.parametrize(("precision", "aloft_m"), [("f32", 0.0), ("f64", 0.0), ("f32", 40.0)])
def test_both_paths_agree_in_a_harbour(scenario_file: Path, precision: str, aloft_m: float) -> None:
    """Quays of many corners, thin walls and piles; in 64 bits only the closed forms are finer.

    Aloft no ray ends in the water, and both paths see all sides of all shapes.
    """
    text = (
        HEAD.replace("spread_heading_deg = 180.0", "spread_heading_deg = 20.0")
        + quay(-1.0, aloft_m)
        + quay(1.0, aloft_m)
    )
    mount = f"sensors.lidar.up_m={aloft_m + 2.0}"
    shapes, mesh = worlds(scenario_file, text, f'precision="{precision}"', "sensors.lidar.sea_returns=false", mount)
    assert_agree(shapes, mesh, under_way(shapes), few=40)


def test_a_trial_alone_reads_the_same_bits(scenario_file: Path) -> None:
    """Its rays meet Embree in other groups: 1,809 firings a trial do not fill whole vectors of 4, 8 or 16."""
    text = HEAD.replace("trials = 3", "trials = 39").replace("[start]", "[start]\nspread_north_m = 80.0")
    text += quay(-1.0) + quay(1.0)
    for i in range(48):  # fingers whose ends lie in the wall behind them: of two equal hits either may be found first
        north, east = -70.0 + 20.0 * (i // 6) + 2.0, 13.0 + 3.0 * (i % 6)
        text += f'[[obstacles]]\nkind = "box"\nnorth_m = {north}\neast_m = {east}\nlength_m = 4.0\nwidth_m = 0.5\n'
    _, mesh = worlds(scenario_file, text, lasers=FIRING)
    state = start(mesh)
    together = ranges(mesh, state)
    for trials in ([5], [1, 2, 7], list(range(1, 39))):
        assert np.array_equal(ranges(mesh, compact(mesh, state, np.array(trials))), together[trials])


STILL = """
schema = 1
name = "known answers"
trials = 1
start = {}
[goal]
north_m = 1.5
east_m = 0.0
radius_m = 1.0
[control]
controller = "straight"
[sensors.lidar]
noise_m = 0.0
up_m = 41.5
[[obstacles]] # ahead
kind = "box"
north_m = 13.0
length_m = 6.0
width_m = 8.0
top_up_m = 43.0
bottom_up_m = 35.0
[[obstacles]] # astern
kind = "polygon"
points_ne_m = [[-3.2, -10.0], [-90.0, -10.0], [-90.0, 10.0], [-3.2, 10.0]]
top_up_m = 40.5
[[obstacles]] # to starboard
kind = "cylinder"
north_m = 0.0
east_m = 20.0
radius_m = 2.5
top_up_m = 43.0
bottom_up_m = 39.0
[[obstacles]] # to port
kind = "sphere"
north_m = 0.0
east_m = -20.0
radius_m = 2.5
up_m = 41.5
"""
"""A boat at rest at the origin, heading north, its LiDAR so high that no ray meets the water within its range."""


@dataclass(frozen=True)
class Reading:
    """Ranges of one path (columns, channels), and where the rays went, by the pattern's own formula."""

    range_m: NDArray[Any]
    azimuth_rad: NDArray[Any]
    elevation_rad: NDArray[Any]


@pytest.fixture(name="known", scope="module", params=["shapes", "mesh"])
def _known(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reading:
    file = tmp_path_factory.mktemp("known") / "scene.toml"
    file.write_text(STILL)
    world = build(load(file, [f'sensors.lidar.rays="{request.param}"']), full_sweep=True).world
    assert (world.mesh is None) == (request.param == "shapes")
    azimuth, elevation = np.meshgrid(
        np.radians(-180.0 + 0.2 * np.arange(1800)), np.radians(-15.0 + 2.0 * np.arange(16)), indexing="ij"
    )
    return Reading(to_numpy(look(world, start(world))).range_m[0], azimuth, elevation)


def test_a_face_ten_metres_ahead_reads_ten_over_the_cosines(known: Reading) -> None:
    """A plane at north 10: r = 10 / (cos elevation cos azimuth) wherever that point is on the face, else no return."""
    ahead = np.abs(known.azimuth_rad) < 1.0
    azimuth, elevation = known.azimuth_rad, known.elevation_rad
    across, up = 10.0 * np.tan(azimuth), 41.5 + 10.0 / np.cos(azimuth) * np.tan(elevation)
    on = ahead & (np.abs(across) < 3.999) & (up < 42.999)
    off = ahead & ((np.abs(across) > 4.001) | (up > 43.001))
    expected = 10.0 / np.cos(elevation) / np.cos(azimuth)
    assert np.sum(on) > 2000
    assert known.range_m[on] == pytest.approx(expected[on], abs=2e-5)
    assert np.all(known.range_m[off] == 100.0)


def test_a_low_quay_is_seen_from_above(known: Reading) -> None:
    """Level ground at 40.5 m seen from 41.5 m: r = 1 / sin(-elevation)."""
    expected = 1.0 / np.maximum(np.sin(-known.elevation_rad), 1e-9)
    north, east = (expected * np.cos(known.elevation_rad) * f(known.azimuth_rad) for f in (np.cos, np.sin))
    on = (known.elevation_rad < 0.0) & (north < -3.21) & (np.abs(east) < 9.99)
    assert np.sum(on) > 2000
    assert known.range_m[on] == pytest.approx(expected[on], rel=2e-5)


def test_a_cylinder_stands_its_radius_nearer_than_its_axis(known: Reading) -> None:
    """Law of cosines in the plane: r cos elevation = c cos a - sqrt(R^2 - c^2 sin^2 a), a from the axis."""
    off = np.abs(known.azimuth_rad - math.pi / 2)
    inside = (np.sin(off) < 0.95 * 2.5 / 20.0) & (off < 1.0) & (np.abs(known.elevation_rad) < math.radians(4.0))
    level = 20.0 * np.cos(off) - np.sqrt(np.maximum(2.5**2 - (20.0 * np.sin(off)) ** 2, 0.0))
    assert np.sum(inside) > 100
    assert known.range_m[inside] == pytest.approx((level / np.cos(known.elevation_rad))[inside], abs=AGREE_M)


def test_a_sphere_stands_its_radius_nearer_than_its_centre(known: Reading) -> None:
    """Law of cosines in space: r = c cos a - sqrt(R^2 - c^2 sin^2 a), a from the centre; nothing is seen beside it."""
    off = np.arccos(-np.sin(known.azimuth_rad) * np.cos(known.elevation_rad))
    inside = np.sin(off) < 0.95 * 2.5 / 20.0
    beside = (np.sin(off) > 1.001 * 2.5 / 20.0) & (off < 0.3)
    expected = 20.0 * np.cos(off) - np.sqrt(np.maximum(2.5**2 - (20.0 * np.sin(off)) ** 2, 0.0))
    inside &= off < 0.3
    assert np.sum(inside) > 200
    assert known.range_m[inside] == pytest.approx(expected[inside], abs=AGREE_M)
    assert np.all(known.range_m[beside] == 100.0)


@pytest.mark.parametrize("radius", [0.05, 0.3, 2.5, 60.0])
def test_a_prism_lies_within_the_sagitta_of_its_cylinder(radius: float) -> None:
    """Corners and middles of sides are the extremes; the lids have the area of the polygon: pi R^2, nearly."""
    triangles = cylinder_triangles(0.0, 0.0, radius, -1.0, 2.0)
    upright = triangles[np.ptp(triangles[:, :, 2], axis=1) > 0]
    middles = (triangles + np.roll(triangles, 1, axis=1))[np.ptp(triangles[:, :, 2], axis=1) > 0] / 2.0
    for points in (upright, middles):
        assert np.max(np.abs(np.hypot(points[..., 0], points[..., 1]) - radius)) <= SAGITTA_M * 0.51
    lids = triangles[np.ptp(triangles[:, :, 2], axis=1) == 0]
    a, b = lids[:, 1, :2] - lids[:, 0, :2], lids[:, 2, :2] - lids[:, 0, :2]
    area = np.sum(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])) / 2.0
    assert area == pytest.approx(2.0 * math.pi * radius**2, rel=4.0 * SAGITTA_M / radius)


def test_later_sweeps_compile_nothing_and_take_few_kernels(scenario_file: Path) -> None:
    _, mesh = worlds(scenario_file, HEAD + EVERY_SHAPE)
    state = start(mesh)
    state, _ = step(mesh, state)
    state, _ = step(mesh, state)
    with KernelCounter() as kernels:
        look(mesh, state)
    assert kernels.compiled == 0
    assert 0 < kernels.launched <= 3


def test_nothing_at_rest_needs_no_mesh(scenario_file: Path) -> None:
    """With an empty sea, or only moving shapes, the closed forms do it all."""
    moving = "[[obstacles]]\n" + EVERY_SHAPE.split("[[obstacles]]\n")[8]
    for text in (HEAD, HEAD + moving):
        shapes, mesh = worlds(scenario_file, text)
        state = start(shapes)
        assert mesh.mesh is None
        assert np.array_equal(ranges(shapes, state), ranges(mesh, state))


def test_a_program_keeps_its_own_mitsuba_variant(scenario_file: Path) -> None:
    load_engine()
    import mitsuba

    mitsuba.set_variant("scalar_rgb")
    _, mesh = worlds(scenario_file, HEAD + EVERY_SHAPE)
    look(mesh, start(mesh))
    assert mitsuba.variant() == "scalar_rgb"


@pytest.mark.parametrize(
    ("more", "culprit"),
    [
        ("[[scatter]]\ncount = 3\nnorth_m = [20.0, 80.0]\neast_m = [-20.0, 20.0]\n", "[[scatter]]"),
        (
            '[[obstacles]]\nkind = "cylinder"\nnorth_m = 30.0\nradius_m = 1.0\nspread_east_m = 2.0\n',
            "spread_east_m of [[obstacles]] 1",
        ),
    ],
)
def test_layouts_that_differ_cannot_be_a_mesh(scenario_file: Path, more: str, culprit: str) -> None:
    scenario_file.write_text(HEAD.replace("[sensors.lidar]\n", '[sensors.lidar]\nrays = "mesh"\n') + more)
    with pytest.raises(ScenarioError) as caught:
        load(scenario_file)
    (problem,) = caught.value.problems
    line = scenario_file.read_text().splitlines().index('rays = "mesh"') + 1
    assert f"scene.toml:{line}" in problem.where
    assert culprit in problem.what
    assert 'rays = "shapes"' in problem.valid


def test_another_word_is_refused_with_the_two_valid_ones(scenario_file: Path) -> None:
    scenario_file.write_text(HEAD)
    with pytest.raises(ScenarioError, match="'mesh' or 'shapes'"):
        load(scenario_file, ["sensors.lidar.rays=meshes"])


def test_missing_mitsuba_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    buoy = Cylinder(north_m=9.0, east_m=0.0, radius_m=1.0, top_up_m=1.0, bottom_up_m=-1.0)
    with pytest.raises(EngineError, match="pip install 'mitsuba"):
        mesh_scene(load_engine(), (buoy,))
