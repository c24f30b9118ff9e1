"""Clearance of arms of capsules: folded arms at distances told by hand, obstacles from files, and what lies between
postures."""

from __future__ import annotations

import dataclasses
import json
import math
import struct
import tomllib

import numpy as np
import pytest

from fieldworthy.arms.chain import IDENTITY, Arm, Capsule, Joint
from fieldworthy.arms.collision import _scene, clearance, clearance_along, clearance_between
from fieldworthy.arms.kinematics import link_motions
from fieldworthy.arms.obstacle_tables import obstacles_from
from fieldworthy.arms.obstacles import Box, ConvexMesh, HalfSpace, Rod, Sphere
from fieldworthy.arms.separation import segment_segment
from fieldworthy.arms.stl import read_stl
from fieldworthy.core.errors import FieldworthyError, ScenarioError

Z = (0.0, 0.0, 1.0)


def joint(name: str, axis, point, kind="revolute") -> Joint:
    return Joint(name, axis, point, -7.0, 7.0, 3.0, kind=kind)


PLANAR = Arm(
    "planar",
    tuple(joint(f"j{k}", Z, (float(k), 0.0, 0.5)) for k in range(3)),
    flange=IDENTITY,
    capsules=(
        Capsule(0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.5), 0.1, "foot"),
        Capsule(1, (0.0, 0.0, 0.5), (1.0, 0.0, 0.5), 0.1, "upper arm"),
        Capsule(2, (1.0, 0.0, 0.5), (2.0, 0.0, 0.5), 0.05, "forearm"),
        Capsule(3, (2.0, 0.0, 0.5), (2.5, 0.0, 0.5), 0.05, "tool"),
    ),
)
"""Three links of 1, 1 and 0.5 m that turn about z, 0.5 m above the base."""

WRISTED = Arm(
    "wristed",
    (
        joint("j1", Z, (0.0, 0.0, 0.0)),
        joint("j2", (0.0, 1.0, 0.0), (0.1, 0.0, 0.4)),
        joint("j3", (0.0, 1.0, 0.0), (0.1, 0.0, 0.9)),
        joint("j4", (1.0, 0.0, 0.0), (0.1, 0.0, 0.9)),
        joint("slide", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), "prismatic"),
        joint("j6", (0.6, 0.0, 0.8), (0.5, 0.1, 0.9)),
    ),
    flange=IDENTITY,
    capsules=(
        Capsule(0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.2), 0.1),
        Capsule(1, (0.0, 0.0, 0.3), (0.1, 0.0, 0.4), 0.08),
        Capsule(2, (0.1, 0.0, 0.4), (0.1, 0.0, 0.9), 0.04),
        Capsule(3, (0.1, 0.0, 0.9), (0.2, 0.0, 0.9), 0.05),
        Capsule(4, (0.2, 0.0, 0.9), (0.4, 0.0, 0.9), 0.03),
        Capsule(5, (0.4, 0.0, 0.9), (0.5, 0.1, 0.9), 0.04),
        Capsule(6, (0.5, 0.1, 0.9), (0.6, 0.1, 1.0), 0.03),
        Capsule(6, (0.55, 0.0, 1.0), (0.55, 0.2, 1.0), 0.02, "gripper"),
    ),
)
"""Six joints, one of them a slide, no two axes in simple places."""

CORNERS = tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3))
SHAPES = (
    Sphere("ball", (0.5, 0.5, 0.5), 0.1),
    Box("crate", (-0.5, 0.3, 0.4), (0.2, 0.3, 0.4), ((0.6, -0.8, 0.0), (0.8, 0.6, 0.0), (0.0, 0.0, 1.0))),
    Rod("post", (0.2, -0.6, 0.0), (0.2, -0.6, 1.5), 0.05),
    HalfSpace("floor", (0.0, 0.0, -0.4), Z),
    ConvexMesh("rock", tuple((x + 0.7, y - 0.4, z + 0.9) for x, y, z in CORNERS)),
)


def some_postures(seed: int, count: int) -> np.ndarray:
    q = np.random.default_rng(seed).uniform(-3.0, 3.0, (count, 6))
    q[:, 4] *= 0.1
    return q


def by_hand(arm: Arm, q: np.ndarray, obstacles=()) -> tuple[np.ndarray, np.ndarray]:
    """(itself, environment) of every posture: each pair in turn, nothing left out."""
    own, around = np.full(len(q), np.inf), np.full(len(q), np.inf)
    motions = link_motions(arm, q)

    def axis(shape: Capsule) -> tuple[np.ndarray, np.ndarray]:
        a, b = (motions[:, shape.link] @ np.array([*end, 1.0]) for end in (shape.a_m, shape.b_m))
        return a[:, :3], b[:, :3]

    for first in arm.capsules:
        for second in arm.capsules:
            if second.link - first.link >= 2:
                apart = segment_segment(*axis(first), *axis(second)).distance_m - first.radius_m - second.radius_m
                own = np.minimum(own, apart)
        for obstacle in obstacles:
            if first.link > 0:
                around = np.minimum(around, obstacle.gap(*axis(first)).distance_m - first.radius_m)
    return own, around


# ------------------------------------------------------------------------------------------------------------ postures


def test_a_folded_arm_at_known_distances() -> None:
    quarter = math.pi / 2.0
    # Straight, and a U of sides 1, 1 and 0.5 m.
    found = clearance(PLANAR, [[0.0, 0.0, 0.0], [0.0, quarter, quarter]])
    # In both, foot and forearm are 1 m apart, less radii of 0.1 and 0.05; in the U so are upper arm and tool.
    np.testing.assert_allclose(found.distance_m, [1.0 - 0.15, 1.0 - 0.15], atol=1e-12)
    assert found.pairs[0] == ("link 0 (foot)", "link 2 (forearm)")
    np.testing.assert_allclose(found.first_m[0], [0.1, 0.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.second_m[0], [0.95, 0.0, 0.5], atol=1e-12)
    assert not found.in_collision.any()
    assert np.isinf(found.environment.distance_m).all()
    assert np.isnan(found.environment.first_m).all()
    spared = dataclasses.replace(PLANAR, near=((0, 2),))
    found = clearance(spared, [0.0, quarter, quarter])
    assert found.pairs == (("link 1 (upper arm)", "link 3 (tool)"),)
    assert found.second_m[0, 1] - found.first_m[0, 1] == pytest.approx(0.85, abs=1e-12)
    # Folded back onto itself, the forearm ends on the foot's axis: as deep as both radii.
    back = clearance(PLANAR, [0.0, math.pi, 0.0])
    assert back.distance_m.shape == (1,)
    assert back.distance_m[0] == pytest.approx(-0.15, abs=1e-12)
    assert back.in_collision[0]


def test_obstacles_at_known_distances() -> None:
    q = [0.0, 0.0, 0.0]
    # The straight arm lies along x at a height of 0.5 m, up to x = 2.5; the tool's radius is 0.05 m.
    cases = {
        Sphere("ball", (2.2, 0.4, 0.8), 0.1): 0.5 - 0.1 - 0.05,
        Box("box", (3.0, 0.0, 0.5), (0.4, 0.2, 0.2)): 0.3 - 0.05,
        Rod("rod", (2.3, -1.0, 0.7), (2.3, 1.0, 0.7), 0.02): 0.2 - 0.02 - 0.05,
        HalfSpace("wall", (2.6, 9.0, 9.0), (-2.0, 0.0, 0.0)): 0.1 - 0.05,
        HalfSpace("table", (0.0, 0.0, 0.35), Z): 0.15 - 0.1,
        ConvexMesh("mesh", tuple((x + 2.3, y, z + 1.0) for x, y, z in CORNERS)): 0.5 - 0.3 - 0.05,
    }
    for obstacle, distance in cases.items():
        found = clearance(PLANAR, q, [obstacle], margin_m=distance + 1e-9)
        assert found.environment.distance_m[0] == pytest.approx(distance, abs=1e-12), obstacle.name
        assert found.environment.pairs[0][1] == obstacle.name
        assert np.linalg.norm(found.first_m - found.second_m) == pytest.approx(distance, abs=1e-12)
        assert found.below_margin[0]
        assert not clearance(PLANAR, q, [obstacle], margin_m=distance - 1e-9).below_margin[0]
    names = [clearance(PLANAR, q, [obstacle]).environment.pairs[0][0] for obstacle in cases]
    assert names[:4] == ["link 3 (tool)"] * 4
    assert names[4] == "link 1 (upper arm)"


def test_what_is_not_tried() -> None:
    folded = [0.0, math.pi, math.pi]  # forearm back on the upper arm, tool back on both
    assert clearance(PLANAR, folded).in_collision[0]
    spared = dataclasses.replace(PLANAR, near=((0, 2), (3, 1), (0, 3)))
    found = clearance(spared, folded)
    assert np.isinf(found.distance_m[0])  # what is left are neighbours
    assert found.pairs == (("", ""),)
    assert not found.in_collision[0]
    # The base stands in the floor for good, and link 1 may touch what ignores it.
    floor = HalfSpace("floor", (0.0, 0.0, 0.1), Z)
    assert clearance(PLANAR, [0.0, 0.0, 0.0], [floor]).environment.distance_m[0] == pytest.approx(0.3)
    ignoring = dataclasses.replace(floor, ignore_links=(1,))
    found = clearance(PLANAR, [0.0, 0.0, 0.0], [ignoring])
    assert found.environment.distance_m[0] == pytest.approx(0.35)
    # Two capsules of one link never collide.
    twice = dataclasses.replace(PLANAR, capsules=(PLANAR.capsules[1], PLANAR.capsules[1]))
    assert np.isinf(clearance(twice, folded).distance_m[0])


def test_nothing_is_lost_by_what_is_skipped() -> None:
    q = some_postures(1, 300)
    own, around = by_hand(WRISTED, q, SHAPES)
    found = clearance(WRISTED, q, SHAPES)
    np.testing.assert_allclose(found.itself.distance_m, own, atol=1e-12)
    np.testing.assert_allclose(found.environment.distance_m, around, atol=1e-12)
    np.testing.assert_allclose(found.distance_m, np.minimum(own, around), atol=1e-12)
    assert 0.02 < found.in_collision.mean() < 0.98
    for part in (found.itself, found.environment):
        np.testing.assert_allclose(
            np.linalg.norm(part.first_m - part.second_m, axis=1), np.abs(part.distance_m), atol=1e-11
        )
    # Below a horizon the same, beyond it nothing.
    near = clearance(WRISTED, q, SHAPES, horizon_m=0.02)
    for part, exact in ((near.itself, own), (near.environment, around)):
        assert 0.05 < (exact < 0.02).mean() < 1.0
        np.testing.assert_allclose(part.distance_m, np.where(exact < 0.02, exact, np.inf), atol=1e-12)


def test_a_single_posture_is_a_row_of_many_and_none_are_none() -> None:
    q = some_postures(2, 5)
    many = clearance(WRISTED, q, SHAPES)
    one = clearance(WRISTED, q[3], SHAPES)
    np.testing.assert_allclose(one.distance_m, many.distance_m[3:4], atol=1e-13)
    assert one.pairs == many.pairs[3:4]
    none = clearance(WRISTED, np.zeros((0, 6)), SHAPES)
    assert none.distance_m.shape == (0,)
    assert none.pairs == ()


# ------------------------------------------------------------------------------------------------------------- motions


def test_a_thin_post_between_two_postures() -> None:
    post = Rod("post", (1.5, 1.5, 0.0), (1.5, 1.5, 1.0), 0.001)
    ends = np.array([[0.0, 0.0, 0.0], [math.pi / 2.0, 0.0, 0.0]])
    assert clearance(PLANAR, ends, [post]).environment.distance_m.min() > 1.3
    found = clearance_between(PLANAR, ends[0], ends[1], [post])
    assert found.in_collision[0]
    assert found.at.pairs == (("link 3 (tool)", "post"),)
    # The tool's axis goes through the post at an eighth of a turn: deepest is both radii.
    assert found.distance_m[0] == pytest.approx(-0.051, abs=1e-3)
    assert -0.051 - 1e-3 <= found.at_least_m[0] <= found.distance_m[0]
    assert found.fraction[0] == pytest.approx(0.5, abs=0.01)
    np.testing.assert_allclose(found.q[0], ends[0] + found.fraction[0] * (ends[1] - ends[0]), atol=1e-12)


def test_a_post_that_is_just_passed() -> None:
    # The end of the stretched arm sweeps a circle of 2.55 m; the post stands 10 mm outside of it.
    far = (2.5 + 0.05 + 0.01 + 0.02) / math.sqrt(2.0)
    post = Rod("post", (far, far, 0.0), (far, far, 1.0), 0.02)
    found = clearance_between(PLANAR, [0.0] * 3, [math.pi / 2.0, 0.0, 0.0], [post], margin_m=0.02, tolerance_m=1e-4)
    assert not found.in_collision[0]
    assert found.below_margin[0]
    assert found.distance_m[0] == pytest.approx(0.01, abs=1e-4)
    assert found.at_least_m[0] == pytest.approx(0.01, abs=1e-4)


@pytest.mark.parametrize("size", [0.01, 0.2, 1.5])
def test_motions_beside_dense_samples(size: float) -> None:
    rng = np.random.default_rng(4)
    tolerance, horizon = 1e-3, 0.1
    steps = rng.uniform(-size, size, (12, 6)) * (1.0, 1.0, 1.0, 1.0, 0.1, 1.0)
    path = np.concatenate([some_postures(5, 1), some_postures(5, 1) + np.cumsum(steps, axis=0)])
    found = clearance_along(WRISTED, path, SHAPES, tolerance_m=tolerance, horizon_m=horizon)
    s = np.linspace(0.0, 1.0, 301)[:, None]
    for k in range(len(steps)):
        sampled = np.minimum(*by_hand(WRISTED, path[k] + s * steps[k], SHAPES)).min()
        assert found.at_least_m[k] <= sampled + 1e-12
        assert found.at_least_m[k] <= found.distance_m[k]
        if found.distance_m[k] < horizon:
            assert found.distance_m[k] <= sampled + tolerance
            assert found.distance_m[k] - found.at_least_m[k] <= tolerance + 1e-12
        else:
            assert found.at_least_m[k] >= horizon - tolerance
    at = clearance(WRISTED, found.q, SHAPES)
    np.testing.assert_allclose(at.distance_m, found.distance_m, atol=1e-12)


GANTRY = Arm(
    "gantry",
    (
        joint("x", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), "prismatic"),
        joint("turn", Z, (0.0, 0.0, 0.0)),
        joint("reach", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), "prismatic"),
    ),
    flange=IDENTITY,
    capsules=(Capsule(3, (0.0, 0.0, 0.0), (0.0, 0.5, 0.0), 0.01, "tip"),),
)
"""Two slides and a turn between them."""


def test_a_long_slide_is_bounded_too() -> None:
    wire = Sphere("wire", (2.0, 2.4, 0.0), 0.001)
    assert clearance_between(GANTRY, [0.0, 0.0, 2.0], [4.0, 0.0, 2.0], [wire]).in_collision[0]
    # Reach drawn in on the way and turned: sampled densely.
    path = np.array([[0.0, -2.0, 3.0], [4.0, 2.0, 1.0], [1.0, 0.5, 2.5]])
    found = clearance_along(GANTRY, path, [wire], horizon_m=3.0)
    for k in range(2):
        q = path[k] + np.linspace(0.0, 1.0, 4001)[:, None] * (path[k + 1] - path[k])
        sampled = by_hand(GANTRY, q, [wire])[1].min()
        assert found.at_least_m[k] <= sampled + 1e-12
        assert found.distance_m[k] <= sampled + 1e-3


X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
SINE, FALL = math.sin(1.0), 1.0 - math.cos(1.0)


@pytest.mark.parametrize(
    ("joints", "step", "middle", "fastest"),
    [
        # The tip, 3.5 m from the axis, is carried back as fast as it turns: (a - sin a, cos a), a from -1 to 1 rad.
        ("slide X, turn, slide Y", (7.0, 2.0, 0.0), (0.0, 0.0, 3.5), 7.0 * math.hypot(FALL, SINE)),
        ("slide X, turn, turn, slide Y", (7.0, 1.0, 1.0, 0.0), (0.0, 0.0, 0.0, 3.5), 7.0 * math.hypot(FALL, SINE)),
        # Drawn through the axis while it turns, and carried back: a (-sin a, cos a) - (0, a).
        (
            "slide Y, turn, slide Y",
            (-2.0, 2.0, 2.0),
            (0.0, 0.0, 0.0),
            2.0 * math.hypot(SINE + 1.0 - FALL, FALL + SINE),
        ),
    ],
)
def test_the_bound_of_speeds_holds_where_motions_cancel_in_the_middle(joints, step, middle, fastest) -> None:
    axes = {"X": X, "Y": Y}
    arm = Arm(
        "slides",
        tuple(
            joint(f"j{k}", axes.get(word[-1], Z), (0.0, 0.0, 0.0), "revolute" if word == "turn" else "prismatic")
            for k, word in enumerate(joints.split(", "))
        ),
        flange=IDENTITY,
        capsules=(Capsule(len(step), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.01, "tip"),),
    )
    ring = [Sphere(f"{k}", (50.0 * math.sin(k), 50.0 * math.cos(k), 0.0), 0.1) for k in range(24)]
    scene = _scene(arm, tuple(ring))
    rows = np.array([step])
    travel = np.abs(middle) + 0.5 * np.abs(step)
    bound = scene.speeds(np.array([middle]), rows, np.array([0.5]), travel)
    s = np.linspace(-0.5, 0.5, 2001)
    rates = np.abs(np.diff(scene.distances(middle + s[:, None] * rows, math.inf), axis=0)) * 2000.0
    assert 0.95 * fastest < rates.max() <= fastest
    assert (rates.max(axis=0) <= bound[0]).all()
    assert bound.max() <= 1.7 * fastest  # and the bound is of use


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_speeds_holds_for_pairs_and_obstacles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = _scene(WRISTED, SHAPES)
    q, step = some_postures(seed, 20), rng.uniform(-1.0, 1.0, (20, 6)) * (1.0, 1.0, 1.0, 1.0, 0.2, 1.0)
    bound = scene.speeds(q + 0.5 * step, step, np.full(20, 0.5), np.full(6, 1.0))
    s = np.linspace(0.0, 1.0, 101)
    for k in range(20):
        apart = scene.distances(q[k] + s[:, None] * step[k], math.inf)
        tried = np.isfinite(apart[0])
        rates = np.abs(np.diff(apart[:, tried], axis=0)) * 100.0
        assert (rates <= bound[k, tried] + 1e-9).all()


def test_a_margin_beyond_the_horizon_counts() -> None:
    wall = HalfSpace("wall", (3.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    # Stretched towards the wall in the middle of the motion: 3 m less 2.5 m and a radius.
    ends = [-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]
    found = clearance_between(PLANAR, *ends, [wall], margin_m=0.46)
    assert found.at_least_m[0] == pytest.approx(0.45, abs=1e-3)
    assert found.below_margin[0]
    assert not clearance_between(PLANAR, *ends, [wall], margin_m=0.44).below_margin[0]


def test_standing_still_is_a_motion() -> None:
    q = some_postures(9, 1)[0]
    found = clearance_between(WRISTED, q, q, SHAPES)
    own, around = by_hand(WRISTED, q[None], SHAPES)
    assert found.distance_m[0] == pytest.approx(min(own[0], around[0]), abs=1e-12)
    assert found.at_least_m[0] <= found.distance_m[0]


# ------------------------------------------------------------------------------------------------------ obstacle files

CELL = """
[[obstacles]]
kind = "box"
name = "table"
centre_mm = [600, 0, -25]
size_mm = [1200, 800, 50]
rpy_deg = [0, 0, 90]
ignore_links = [3]

[[obstacles]]
kind = "sphere"
name = "lamp"
centre_m = [0.1, 0.2, 1.5]
radius_mm = 80

[[obstacles]]
kind = "capsule"
name = "post"
a_m = [1, 0, 0]
b_m = [1, 0, 2]
radius_m = 0.05

[[obstacles]]
kind = "half_space"
name = "wall"
point_m = [-1, 0, 0]
normal = [2, 0, 0]

[[obstacles]]
kind = "mesh"
name = "wedge"
points_mm = [[0, 0, 0], [100, 0, 0], [0, 100, 0], [0, 0, 100]]
position_m = [1, 1, 0]
quat_wxyz = [0, 0, 0, 1]
"""


def test_a_cell_from_a_file() -> None:
    table, lamp, post, wall, wedge = obstacles_from(tomllib.loads(CELL), "cell.toml")
    assert isinstance(table, Box)
    assert table.centre_m == pytest.approx((0.6, 0.0, -0.025))
    assert table.size_m == pytest.approx((1.2, 0.8, 0.05))
    np.testing.assert_allclose(table.turn, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert table.ignore_links == (3,)
    assert lamp == Sphere("lamp", (0.1, 0.2, 1.5), 0.08)
    assert post == Rod("post", (1.0, 0.0, 0.0), (1.0, 0.0, 2.0), 0.05)
    assert wall == HalfSpace("wall", (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert isinstance(wedge, ConvexMesh)  # half a turn about z
    assert sorted(wedge.points_m)[0] == pytest.approx((0.9, 1.0, 0.0))
    same = obstacles_from(json.loads(json.dumps(tomllib.loads(CELL)))["obstacles"], "cell.json")
    assert same == (table, lamp, post, wall, wedge)
    assert obstacles_from([], "cell.json") == ()


def test_a_frame_moves_every_shape() -> None:
    # Distances do not change when arm axis and shape move together.
    turn = np.array([[0.0, 0.0, 1.0], [0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]])
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = turn, (0.3, -0.7, 0.2)
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 50, 3))
    data = tomllib.loads(CELL)
    for still, moved in zip(obstacles_from(data, "c"), obstacles_from(data, "c", frame), strict=True):
        there = moved.gap(a @ turn.T + frame[:3, 3], b @ turn.T + frame[:3, 3]).distance_m
        np.testing.assert_allclose(there, still.gap(a, b).distance_m, atol=1e-12)
        assert (moved.name, moved.ignore_links) == (still.name, still.ignore_links)


def ball_holds_shape(shape) -> bool:
    centre, radius = shape.ball()
    far = np.random.default_rng(1).normal(size=(200, 3)) * 3.0
    distance = shape.gap(far, far).distance_m
    return bool((np.linalg.norm(far - centre, axis=1) - radius <= distance + 1e-12).all())


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_balls_hold_their_shapes(shape) -> None:
    assert ball_holds_shape(shape)


BALL = {"kind": "sphere", "name": "a", "centre_m": [0, 0, 1], "radius_m": 0.1}
CRATE = {"kind": "box", "name": "b", "centre_m": [0, 0, 0], "size_m": [1, 1, 1]}
ROD = {"kind": "capsule", "name": "c", "a_m": [0, 0, 0], "b_m": [0, 0, 1], "radius_m": 0.1}
PLANE = {"kind": "half_space", "name": "h", "point_m": [0, 0, 0], "normal": [0, 0, 1]}
FLAT = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]


def renamed(table: dict, key: str, other: str) -> dict:
    return {other if k == key else k: v for k, v in table.items()}


MISTAKES = (
    (renamed(BALL, "radius_m", "radius"), "unknown key 'radius'; this quantity is given as radius_m or radius_mm"),
    (renamed(BALL, "radius_m", "radius"), "no radius; valid: radius_m or radius_mm"),
    (BALL | {"radius_m": -0.1}, "radius_m = -0.1; valid: > 0"),
    (BALL | {"centre_m": [0, math.nan, 1]}, "centre_m = [0, nan, 1]; valid: centre_m = 3 numbers, finite"),
    (BALL | {"centre_m": [0, 1]}, "centre_m = [0, 1]; valid: centre_m = 3 numbers"),
    (BALL | {"centre_m": [0, 0, 800]}, "in millimetres? that is centre_mm"),
    (BALL | {"radius_mm": 100}, "both radius_m and radius_mm"),
    (BALL | {"radius_m": True}, "radius_m = True; valid: radius_m = a number"),
    (BALL | {"kind": "spere"}, "kind = 'spere'; did you mean 'sphere'?; valid: sphere, box, capsule, half_space, mesh"),
    (BALL | {"name": ""}, "name = ''"),
    ({"kind": "box"}, "no name"),
    ({"name": "b"}, "no kind; valid: sphere"),
    (CRATE | {"size_m": [1, 0, 1]}, "size_m = (1.0, 0.0, 1.0); valid: three sides > 0"),
    (renamed(CRATE, "centre_m", "center_m"), "unknown key 'center_m'; did you mean 'centre_m'?"),
    (CRATE | {"quat_wxyz": [1, 1, 0, 0]}, "quaternion of length"),
    (CRATE | {"quat_wxyz": [1, 0, 0, 0], "rpy_deg": [0, 0, 0]}, "both rpy_deg and quat_wxyz"),
    (CRATE | {"rpy_deg": 90}, "rpy_deg = 90; valid: rpy_deg = 3 numbers"),
    (PLANE | {"normal": [0, 0, 0]}, "has no length"),
    (ROD | {"b_m": "x"}, "b_m = 'x'"),
    (ROD | {"ignore_links": [-1]}, "ignore_links = [-1]; valid: a list of link numbers"),
    (ROD | {"ignore_links": 3}, "ignore_links = 3"),
    ({"kind": "mesh", "name": "m"}, "no points and no file"),
    ({"kind": "mesh", "name": "m", "points_m": FLAT}, "in one plane"),
    ({"kind": "mesh", "name": "m", "points_m": [[0, 0], [1, 1]]}, "a list of three numbers each"),
    ({"kind": "mesh", "name": "m", "points_m": []}, "points_m = []"),
    ({"kind": "mesh", "name": "m", "file": "none.stl"}, 'no unit; valid: unit = "m" or "mm"'),
    ({"kind": "mesh", "name": "m", "file": "none.stl", "unit": "mm"}, "none.stl: cannot be read"),
    ({"kind": "mesh", "name": "m", "file": 7, "unit": "mm", "hull": 1}, "file = 7"),
    ({"kind": "mesh", "name": "m", "file": 7, "unit": "mm", "hull": 1}, "hull = 1; valid: true or false"),
)


@pytest.mark.parametrize(("table", "words"), MISTAKES, ids=lambda x: x if isinstance(x, str) else "")
def test_mistakes_in_files_are_told(table: dict, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        obstacles_from([table], "cell.toml")
    assert str(caught.value).startswith("cell.toml [obstacles[0]]")
    assert words in str(caught.value)


def test_all_mistakes_at_once() -> None:
    with pytest.raises(ScenarioError) as caught:
        obstacles_from([BALL | {"radius_m": None}, 7, PLANE, PLANE], "cell.json")
    assert [problem.where for problem in caught.value.problems] == [
        "cell.json [obstacles[0]] 'a'",
        "cell.json [obstacles[1]]",
        "cell.json [obstacles[3]] 'h'",
    ]
    for bad in ({"obstacle": []}, {}, 3, "box"):
        with pytest.raises(ScenarioError, match=r"cell.json: .*valid: "):
            obstacles_from(bad, "cell.json")
    with pytest.raises(FieldworthyError, match="base_from_frame"):
        obstacles_from([], "cell.json", np.eye(3))


# ------------------------------------------------------------------------------------------------------------ STL files


def triangles_of(points: np.ndarray, faces: list[tuple[int, int, int]]) -> np.ndarray:
    return np.array([[points[k] for k in face] for face in faces])


PYRAMID = triangles_of(
    np.array([[0, 0, 0], [100, 0, 0], [100, 100, 0], [0, 100, 0], [50, 50, 80]], float),
    [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
)
DENTED = np.concatenate([PYRAMID, PYRAMID + np.array([0.0, 0.0, 80.0])])
"""A pyramid on the tip of another."""


def stl_bytes(triangles: np.ndarray) -> bytes:
    rows = [struct.pack("<12fH", 0, 0, 0, *map(float, corners.ravel()), 0) for corners in triangles]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def stl_text(triangles: np.ndarray) -> str:
    facets = []
    for corners in triangles:
        loop = "\n".join("vertex " + " ".join(f"{x:.9g}" for x in corner) for corner in corners)
        facets.append(f"facet normal 0 0 0\nouter loop\n{loop}\nendloop\nendfacet")
    return "solid part\n" + "\n".join(facets) + "\nendsolid part\n"


def mesh(name: str, **more) -> list[dict]:
    return [{"kind": "mesh", "name": "part", "file": name, "unit": "mm", **more}]


def test_meshes_from_stl_files(tmp_path) -> None:
    (tmp_path / "part.stl").write_bytes(stl_bytes(PYRAMID))
    (tmp_path / "text.stl").write_text(stl_text(PYRAMID))
    np.testing.assert_array_equal(read_stl(tmp_path / "part.stl"), PYRAMID)
    np.testing.assert_array_equal(read_stl(tmp_path / "text.stl"), PYRAMID)
    (tmp_path / "text.stl").write_text(stl_text(PYRAMID).replace("solid part", "SOLID a vertex of many").upper())
    np.testing.assert_array_equal(read_stl(tmp_path / "text.stl"), PYRAMID)
    (part,) = obstacles_from(mesh("part.stl", position_mm=[0, 0, 1000]), "cell", folder=tmp_path)
    point = np.array([[0.05, 0.05, 1.2]])
    assert part.gap(point, point).distance_m[0] == pytest.approx(0.12, abs=1e-9)
    for bad, words in (
        (b"", "is no STL file: 0 bytes"),
        (bytes(34), "is no STL file: 34 bytes"),
        (b"solid\nfacet vertex 1 2 x", "vertex is not of three numbers"),
        (b"solid\nfacet vertex 1 2 3 vertex 4 5 6", "holds 2 corners; valid: three a triangle"),
        (stl_bytes(PYRAMID[:0]), "holds no triangle"),
        (stl_bytes(PYRAMID * np.nan), "not finite"),
        (stl_bytes(PYRAMID)[:-1], "is no STL file"),
    ):
        (tmp_path / "bad.stl").write_bytes(bad)
        with pytest.raises(ScenarioError, match=words):
            obstacles_from(mesh("bad.stl"), "cell", folder=tmp_path)
    (tmp_path / "big.stl").write_bytes(stl_bytes(10.0 * PYRAMID))
    with pytest.raises(ScenarioError, match="1000 m away"):
        obstacles_from([{**mesh("big.stl")[0], "unit": "m"}], "cell", folder=tmp_path)


def test_a_mesh_that_is_not_convex_is_refused_unless_its_hull_is_asked_for(tmp_path) -> None:
    (tmp_path / "dented.stl").write_bytes(stl_bytes(DENTED))
    with pytest.raises(ScenarioError, match=r"is not convex: a face lies .* mm inside the hull; valid: .*hull = true"):
        obstacles_from(mesh("dented.stl"), "cell", folder=tmp_path)
    (part,) = obstacles_from(mesh("dented.stl", hull=True), "cell", folder=tmp_path)
    corner = np.array([[0.0, 0.0, 0.04]])  # on the upright edge of the hull, beside both pyramids
    assert part.gap(corner, corner).distance_m[0] == pytest.approx(0.0, abs=1e-9)


# ------------------------------------------------------------------------------------------------------------- mistakes


def test_mistakes_are_told() -> None:
    bare = dataclasses.replace(PLANAR, capsules=())
    with pytest.raises(FieldworthyError, match=r"arm planar has no shapes: .*; valid: capsules"):
        clearance(bare, [0.0] * 3)
    good = PLANAR.capsules[1]
    for change, words in (
        ({"radius_m": -0.1}, "radius_m = -0.1; valid: > 0"),
        ({"radius_m": math.nan}, "not finite"),
        ({"a_m": (0.0, math.inf, 0.0)}, "not finite"),
        ({"link": 4}, r"link 4; valid: 0 \(base\) to 3"),
    ):
        bad = dataclasses.replace(PLANAR, capsules=(dataclasses.replace(good, **change),))
        with pytest.raises(FieldworthyError, match=words):
            clearance(bad, [0.0] * 3)
    for q in ([0.0, 0.0], [[0.0, 0.0, math.nan]], np.zeros((1, 2, 3))):
        with pytest.raises(FieldworthyError, match="valid: "):
            clearance(PLANAR, q)
    for name, value in (("margin_m", -1.0), ("margin_m", math.inf), ("horizon_m", math.nan), ("tolerance_m", 0.0)):
        with pytest.raises(FieldworthyError, match=f"{name} = .*valid: "):
            clearance_between(PLANAR, [0.0] * 3, [1.0] * 3, **{name: value})
    for path in ([[0.0] * 3], [0.0] * 3):
        with pytest.raises(FieldworthyError, match=r"path: shape .*valid: \(n, 3\) with n >= 2"):
            clearance_along(PLANAR, path)
    with pytest.raises(FieldworthyError, match="ignore_links names link 9, arm planar has 3"):
        clearance(PLANAR, [0.0] * 3, [Sphere("ball", (1.0, 1.0, 1.0), 0.1, (9,))])


MIRROR = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0))


def test_shapes_of_lists_and_arrays_are_the_same_shapes() -> None:
    assert Sphere("a", np.array([0, 0, 1]), np.float64(0.1)) == Sphere("a", (0.0, 0.0, 1.0), 0.1)
    box = Box("b", [0, 0, 1], [1, 2, 3], np.eye(3))
    assert hash(box) == hash(Box("b", (0.0, 0.0, 1.0), (1.0, 2.0, 3.0)))
    mesh_of_array = ConvexMesh("m", np.array(CORNERS))
    assert hash(mesh_of_array) == hash(ConvexMesh("m", CORNERS))
    found = clearance(PLANAR, [0.0] * 3, [Sphere("a", [0, 0, 3], 0.1), box, mesh_of_array])
    assert np.isfinite(found.environment.distance_m).all()
    with pytest.raises(FieldworthyError, match=r"obstacles\[1\] is a dict; valid: Sphere"):
        clearance(PLANAR, [0.0] * 3, [box, {"kind": "box"}])


def test_an_arm_with_nothing_to_touch_is_infinitely_far_from_it() -> None:
    alone = dataclasses.replace(PLANAR, capsules=PLANAR.capsules[:1])
    found = clearance_between(alone, [0.0] * 3, [1.0] * 3)
    assert np.isinf(found.distance_m).all()
    assert np.isinf(found.at_least_m).all()
    assert not found.in_collision.any()


def test_shapes_that_are_none() -> None:
    for make, words in (
        (lambda: Sphere("s", (0.0, 0.0, 0.0), 0.0), "obstacle s: radius_m = 0.0; valid: > 0"),
        (lambda: Sphere("s", (0.0, 0.0), 1.0), "centre_m = .* is not three numbers"),
        (
            lambda: Rod("r", (0.0, 0.0, math.nan), (0.0, 0.0, 1.0), 0.1),
            "a_m = .* is not three numbers; valid: metres, finite",
        ),
        (lambda: Box("b", (0.0, 0.0, 0.0), (1.0, 1.0, -1.0)), "three sides > 0"),
        (lambda: Box("b", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), MIRROR), "turn is no rotation"),
        (lambda: HalfSpace("h", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), "no length"),
        (lambda: ConvexMesh("m", ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))), "k >= 4"),
    ):
        with pytest.raises(FieldworthyError, match=words):
            make()
