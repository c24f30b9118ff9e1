"""Clearance between hull and shapes beside shapely, for hulls and poses of every kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from fieldworthy.core.engine import load_engine
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.track import Pose
from fieldworthy.core.vec import Vec3, quat_from_yaw
from fieldworthy.environment.clearance import depth_inside, hull_to_disc, hull_to_segment
from fieldworthy.vehicles.hull import Hull, can_touch, hull, hull_distance

BOAT = hull(
    [(2.5, 0.0), (1.8, 0.7), (0.6, 1.0), (-2.5, 1.0), (-2.5, -1.0), (0.6, -1.0), (1.8, -0.7)], 0.35, 2.2, "boat"
)
TRIANGLE = hull([(1.0, 0.0), (-1.0, 0.5), (-1.0, -0.5)], 0.1, 0.5, "dinghy")
HULLS = {"boat": BOAT, "triangle": TRIANGLE}

near = st.floats(-8.0, 8.0)
turn = st.floats(-10.0, 10.0)


def upright(north, east, heading):
    """A pose on an even keel."""
    return Pose(Vec3(north, east, 0.0 * north), quat_from_yaw(heading))


def placed(shape: Hull, north: float, east: float, heading: float):
    """The outline in the plane, (north, east) as (x, y), by complex numbers: turning by heading is multiplying."""
    points = [
        complex(north, east) + complex(f, r) * complex(math.cos(heading), math.sin(heading)) for f, r in shape.outline
    ]
    return shapely.Polygon([(p.real, p.imag) for p in points])


@pytest.mark.parametrize("name", HULLS)
@given(north=near, east=near, heading=turn, a=st.tuples(near, near), b=st.tuples(near, near))
def test_segments_beside_shapely(name, north, east, heading, a, b):
    assume(math.dist(a, b) > 1e-3)
    found = hull_distance(HULLS[name], "wall", (*a, *b, -1.0, 1.0), upright(north, east, heading))
    assert found == pytest.approx(
        placed(HULLS[name], north, east, heading).distance(shapely.LineString([a, b])), abs=1e-6
    )


@pytest.mark.parametrize("name", HULLS)
@given(north=near, east=near, heading=turn, place=st.tuples(near, near), radius=st.floats(0.05, 6.0))
def test_discs_beside_shapely(name, north, east, heading, place, radius):
    found = hull_distance(HULLS[name], "cylinder", (*place, radius, -1.0, 1.0), upright(north, east, heading))
    outline, centre = placed(HULLS[name], north, east, heading), shapely.Point(place)
    depth = outline.exterior.distance(centre)
    signed = -depth if outline.contains(centre) else depth
    assert found == pytest.approx(signed - radius, abs=1e-6)
    assert (found <= 1e-9) == (outline.distance(centre) <= radius + 1e-9)


@pytest.mark.parametrize("name", HULLS)
@given(north=near, east=near, heading=turn, sides=st.integers(3, 9), size=st.floats(0.3, 5.0))
def test_polygons_beside_shapely(name, north, east, heading, sides, size):
    angles = 2.0 * math.pi * np.arange(sides) / sides
    ring = [(size * math.cos(a), size * math.sin(a)) for a in angles]
    walls = zip(ring, ring[1:] + ring[:1], strict=True)
    found = min(
        hull_distance(HULLS[name], "wall", (*a, *b, -1.0, 1.0), upright(north, east, heading)) for a, b in walls
    )
    outline = placed(HULLS[name], north, east, heading)
    assert found == pytest.approx(outline.distance(shapely.Polygon(ring).exterior), abs=1e-6)


def test_known_distances():
    # Alongside a quay 2 m to starboard of the side, heading 30 degrees.
    heading = math.radians(30.0)
    ahead, right = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    quay = [*(3.0 * right + 50.0 * ahead), *(3.0 * right - 50.0 * ahead), -1.0, 1.0]
    assert hull_distance(BOAT, "wall", tuple(map(float, quay)), upright(0.0, 0.0, heading)) == pytest.approx(2.0)
    # A pile dead ahead: bow to surface.
    pile = 2.5 + 4.0 + 0.3
    assert hull_distance(
        BOAT, "cylinder", (*map(float, pile * ahead), 0.3, -1.0, 1.0), upright(0.0, 0.0, heading)
    ) == pytest.approx(4.0)


def test_overlap_is_never_positive():
    # Crossing, starting inside, both ends inside, the hull inside a disc, a disc inside the hull.
    assert hull_to_segment(BOAT.outline, -9.0, 0.3, 9.0, -0.2) == 0.0
    assert hull_to_segment(BOAT.outline, 0.0, 0.0, 9.0, 9.0) == 0.0
    assert hull_to_segment(BOAT.outline, 9.0, 9.0, 0.0, 0.0) == 0.0
    assert hull_to_segment(BOAT.outline, -0.1, 0.0, 0.1, 0.0) == 0.0
    assert hull_to_segment(BOAT.outline, -0.3, -0.7, 0.4, -0.7) == 0.0
    assert hull_to_disc(BOAT.outline, 1.0, 0.0, 50.0) < -49.0
    assert hull_to_disc(BOAT.outline, 0.0, 0.0, 0.01) == pytest.approx(-1.01)
    # Touching counts as contact: a segment through a corner, a point on the side.
    assert hull_to_segment(BOAT.outline, 2.5, -1.0, 2.5, 1.0) == pytest.approx(0.0, abs=1e-12)
    assert hull_to_segment(BOAT.outline, 0.0, 1.0, 0.0, 5.0) == pytest.approx(0.0, abs=1e-12)


@given(x=near, y=near)
def test_depth_inside_is_the_distance_to_the_nearest_side(x, y):
    outline, point = placed(BOAT, 0.0, 0.0, 0.0), shapely.Point(x, y)
    depth = depth_inside(BOAT.outline, x, y)
    assume(outline.exterior.distance(point) > 1e-9)
    assert (depth > 0.0) == outline.contains(point)
    if depth > 0.0:
        assert depth == pytest.approx(outline.exterior.distance(point), abs=1e-9)


def test_clearance_is_the_same_from_every_frame():
    # Turning and moving hull and shape together changes nothing.
    rng = np.random.default_rng(2)
    for _ in range(200):
        a, b, shift, angle = rng.uniform(-8, 8, 2), rng.uniform(-8, 8, 2), rng.uniform(-50, 50, 2), rng.uniform(-7, 7)
        turned = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        here = hull_distance(BOAT, "wall", (*a.tolist(), *b.tolist(), -1.0, 1.0), upright(0.0, 0.0, 0.0))
        wall = (*(turned @ a + shift).tolist(), *(turned @ b + shift).tolist(), -1.0, 1.0)
        there = hull_distance(BOAT, "wall", wall, upright(*shift.tolist(), angle))
        assert there == pytest.approx(here, abs=1e-9)


@pytest.mark.parametrize("kind", ["wall", "cylinder"])
def test_32_bit_lanes_keep_a_tenth_of_a_millimetre(kind):
    engine, rng = load_engine("f32"), np.random.default_rng(6)
    n = 3000
    numbers = (
        [rng.uniform(-60, 60, n) for _ in range(4)]
        if kind == "wall"
        else [*rng.uniform(-60, 60, (2, n)), rng.uniform(0.1, 9, n)]
    )
    numbers += [np.full(n, -1.0), np.full(n, 1.0)]
    pose = [*rng.uniform(-60, 60, (2, n)), rng.uniform(-9, 9, n)]
    numbers, pose = ([np.asarray(x, np.float32).astype(float) for x in group] for group in (numbers, pose))
    found = np.full(n, np.nan)
    found[:] = np.asarray(
        hull_distance(BOAT, kind, tuple(map(engine.floats, numbers)), upright(*map(engine.floats, pose)))
    )
    exact = [
        hull_distance(BOAT, kind, tuple(map(float, v[:-3])), upright(*map(float, v[-3:])))
        for v in np.stack([*numbers, *pose], 1)
    ]
    assert np.abs(found - exact).max() < 1e-4


# --- height ----------------------------------------------------------------------------------------------------------


def test_a_sphere_counts_with_its_widest_cut_within_the_hulls_height():
    def gap(up, radius):
        return hull_distance(BOAT, "sphere", (0.0, 10.0, up, radius), upright(0.0, 0.0, 0.0))

    assert gap(0.0, 2.0) == pytest.approx(10.0 - 1.0 - 2.0)  # afloat: its equator
    assert gap(1.5, 2.0) == pytest.approx(10.0 - 1.0 - 2.0)  # equator still below the mast's top
    assert gap(2.2 + 1.2, 2.0) == pytest.approx(10.0 - 1.0 - 1.6)  # 3-4-5: cut 1.2 m below the centre
    assert gap(-0.35 - 1.2, 2.0) == pytest.approx(10.0 - 1.0 - 1.6)  # a rock, cut at the keel
    assert gap(2.2 + 2.5, 2.0) > 1e5  # a balloon above the mast
    assert gap(-0.35 - 2.5, 2.0) > 1e5


def test_bridges_above_and_rocks_below_cannot_be_touched():
    def touches(bottom, top):
        return can_touch(BOAT, "cylinder", (0.0, 0.0, 1.0, bottom, top))

    assert touches(-1.0, 3.0)
    assert touches(2.1, 5.0)
    assert not touches(2.3, 5.0)
    assert touches(-9.0, -0.3)
    assert not touches(-9.0, -0.4)


# --- outlines --------------------------------------------------------------------------------------------------------


def test_outlines_of_either_turn_are_the_same_hull():
    points = [(2.0, 0.0), (-1.0, 1.0), (-1.0, -1.0)]
    a, b = hull(points, 0.3, 1.0, "x"), hull(points[::-1], 0.3, 1.0, "x")
    for x, y in ((3.0, 3.0), (0.0, 0.0), (-2.0, 0.4)):
        assert hull_to_disc(a.outline, x, y, 0.5) == pytest.approx(hull_to_disc(b.outline, x, y, 0.5))
    assert a.radius_m == pytest.approx(2.0)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(1.0, 0.0), (-1.0, 0.0)],
        [(2.0, 0.0), (0.0, 0.1), (-2.0, 1.0), (-2.0, -1.0), (0.5, 2.0)],  # a dent
        [
            (math.cos(2 * a), math.sin(2 * a)) for a in 2 * math.pi * np.arange(5) / 5
        ],  # a star: turns one way, crosses itself
    ],
    ids=["none", "a line", "a dent", "a star"],
)
def test_outlines_that_are_not_convex_are_refused(points):
    with pytest.raises(ScenarioError, match="not a convex polygon"):
        hull(points, 0.3, 1.0, "boat.toml")
