"""Rays against shapes: each law beside shapely in the plane, root finding along the ray, or an answer known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from fieldworthy.core.engine import load_engine
from fieldworthy.environment.primitives import DISTANCE_LAW, build_tables, entry, primitives_of, shifted
from fieldworthy.environment.rays import MISS, ray, to_cap, to_cylinder, to_sea, to_sphere, to_wall
from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Sphere, moved

REACH_M = 200.0
places = st.tuples(st.floats(-40, 40), st.floats(-40, 40), st.floats(0.1, 12))
bearings = st.floats(-math.pi, math.pi)
elevations = st.floats(math.radians(-80), math.radians(80))


def beam(place, bearing, elevation):
    level = math.cos(elevation)
    return ray(*place, level * math.cos(bearing), level * math.sin(bearing), math.sin(elevation))


def at(r, t):
    return r.north_m + t * r.d_north, r.east_m + t * r.d_east, r.up_m + t * r.d_up


def slab_in_plane(r, shape, bottom, top):
    """First entry into an upright prism over a shapely shape: the overlap of two intervals along the ray.

    Only for rays that start outside: the interval in the plane comes from cutting the ray's track with shapely.
    """
    track = shapely.LineString([at(r, 0.0)[:2], at(r, REACH_M)[:2]])
    inside = track.intersection(shape)
    spans = []
    for part in getattr(inside, "geoms", [inside]):
        if part.is_empty or part.geom_type == "Point":
            continue
        flat = math.hypot(r.d_north, r.d_east)
        ends = sorted(math.dist(at(r, 0.0)[:2], p) / flat for p in (part.coords[0], part.coords[-1]))
        spans.append(ends)
    low, high = sorted(((bottom - r.up_m) / r.d_up, (top - r.up_m) / r.d_up))
    entries = [max(a, low) for a, b in spans if max(a, low) <= min(b, high) and max(a, low) > 0.0]
    return min(entries, default=math.inf)


# --- each primitive beside an independent method ---------------------------------------------------------------------


@given(
    place=places,
    bearing=bearings,
    elevation=elevations,
    radius=st.floats(0.2, 20),
    low=st.floats(-5, 2),
    height=st.floats(0.1, 9),
)
def test_cylinder_beside_shapely(place, bearing, elevation, radius, low, height):
    assume(abs(elevation) > 1e-3)
    r = beam(place, bearing, elevation)
    off = math.hypot(place[0] - 3.0, place[1] + 4.0)
    assume(off > radius + 0.01)
    # A circle of 4,096 corners is inside the true one by r (1 - cos(pi / 4096)) = 3e-7 r.
    circle = shapely.Point(3.0, -4.0).buffer(radius, 1024)
    expected = slab_in_plane(r, circle, low, low + height)
    found = to_cylinder(r, 3.0, -4.0, radius, low, low + height)
    miss_m = abs((3.0 - place[0]) * math.sin(bearing) - (-4.0 - place[1]) * math.cos(bearing))
    assume(abs(miss_m - radius) > 0.01)  # grazing rays are a test of their own
    for end in (low, low + height):
        t = (end - r.up_m) / r.d_up
        assume(abs(math.dist(at(r, t)[:2], (3.0, -4.0)) - radius) > 1e-3)  # and so are rims
    if found < REACH_M:
        assert found == pytest.approx(expected, abs=1e-3)
    else:
        assert expected == math.inf or expected > REACH_M - 1.0


@given(place=places, bearing=bearings, elevation=elevations, radius=st.floats(0.2, 15))
def test_sphere_is_met_where_its_surface_is_first_reached(place, bearing, elevation, radius):
    r = beam(place, bearing, elevation)
    centre = np.array([5.0, 2.0, 1.0])
    assume(math.dist(place, centre) > radius + 0.01)
    found = to_sphere(r, *centre, radius)
    # Nearest approach, by geometry of the right triangle, not by the quadratic.
    nearest = float(np.dot(centre - place, [r.d_north, r.d_east, r.d_up]))
    miss = np.linalg.norm(np.array(at(r, nearest)) - centre)
    assume(abs(miss - radius) > 1e-6)
    if nearest < 0.0 or miss > radius:
        assert found == MISS
    else:
        assert math.dist(at(r, found), centre) == pytest.approx(radius, abs=1e-9)
        assert found < nearest  # the near side


segment_ends = st.tuples(st.floats(-30, 30), st.floats(-30, 30))


@given(place=places, bearing=bearings, elevation=elevations, a=segment_ends, b=segment_ends, low=st.floats(-5, 1))
def test_wall_beside_shapely(place, bearing, elevation, a, b, low):
    assume(math.dist(a, b) > 0.1)
    r = beam(place, bearing, elevation)
    found = to_wall(r, *a, *b, low, low + 6.0)
    flat = math.hypot(r.d_north, r.d_east)
    track = shapely.LineString([at(r, 0.0)[:2], at(r, 500.0 / flat)[:2]])
    crossing = track.intersection(shapely.LineString([a, b]))
    assume(crossing.is_empty or crossing.geom_type == "Point")
    assume(min(track.distance(shapely.Point(a)), track.distance(shapely.Point(b))) > 1e-9)
    if crossing.is_empty:
        assert found == MISS
        return
    expected = math.dist(place[:2], (crossing.x, crossing.y)) / flat
    up = place[2] + expected * r.d_up
    assume(min(abs(up - low), abs(up - low - 6.0)) > 1e-6)
    assert found == (pytest.approx(expected, abs=1e-6) if low < up < low + 6.0 else MISS)


@given(
    place=places,
    bearing=bearings,
    elevation=elevations,
    corners=st.tuples(segment_ends, segment_ends, segment_ends),
    up=st.floats(-3, 20),
)
def test_cap_beside_shapely(place, bearing, elevation, corners, up):
    triangle = shapely.Polygon(corners)
    assume(triangle.area > 0.1)
    assume(abs(elevation) > 1e-3)
    r = beam(place, bearing, elevation)
    distance = (up - place[2]) / math.sin(elevation)
    point = shapely.Point(at(r, distance)[:2])
    assume(triangle.exterior.distance(point) > 1e-6)
    assume(abs(distance) > 1e-9)
    expected = distance if distance > 0.0 and triangle.contains(point) else MISS
    for turned in (corners, corners[::-1]):  # either sense of turn
        assert to_cap(r, *turned[0], *turned[1], *turned[2], up) == pytest.approx(expected)


def test_sea_is_met_at_height_over_sine():
    for degrees in (1.0, 15.0, 90.0):
        down = beam((0.0, 0.0, 2.0), 1.0, math.radians(-degrees))
        assert to_sea(down) == pytest.approx(2.0 / math.sin(math.radians(degrees)))
        assert to_sea(beam((0.0, 0.0, 2.0), 1.0, math.radians(degrees))) == MISS
    assert to_sea(beam((0.0, 0.0, 2.0), 1.0, 0.0)) > 1e8  # a level ray: nowhere near


# --- whole shapes against marching along the ray ---------------------------------------------------------------------


def inside(shape, points):
    """Whether points (n, 3) lie within the solid."""
    north, east, up = points.T
    match shape:
        case Cylinder():
            plan = np.hypot(north - shape.north_m, east - shape.east_m) < shape.radius_m
        case Sphere():
            return (north - shape.north_m) ** 2 + (east - shape.east_m) ** 2 + (
                up - shape.up_m
            ) ** 2 < shape.radius_m**2
        case Box():
            c, s = math.cos(shape.heading_rad), math.sin(shape.heading_rad)
            n, e = north - shape.north_m, east - shape.east_m
            plan = (np.abs(n * c + e * s) < shape.length_m / 2) & (np.abs(e * c - n * s) < shape.width_m / 2)
        case _:
            plan = shapely.contains_xy(shapely.Polygon(shape.points_ne_m, shape.holes_ne_m), north, east)
    return plan & (up > shape.bottom_up_m) & (up < shape.top_up_m)


SOLIDS = {
    "cylinder": Cylinder(north_m=6.0, east_m=2.0, radius_m=3.0, top_up_m=2.5, bottom_up_m=-1.0),
    "sphere": Sphere(north_m=-4.0, east_m=5.0, up_m=0.5, radius_m=2.5),
    "box": Box(north_m=0.0, east_m=-6.0, length_m=7.0, width_m=3.0, heading_rad=0.6, top_up_m=1.5, bottom_up_m=-2.0),
    "polygon": Polygon(
        points_ne_m=((-8.0, -8.0), (-8.0, 8.0), (2.0, 1.0), (8.0, 8.0), (8.0, -8.0)), top_up_m=1.0, bottom_up_m=-1.0
    ),
    "courtyard": Polygon(
        points_ne_m=((-9.0, -9.0), (-9.0, 9.0), (9.0, 9.0), (9.0, -9.0)), top_up_m=2.0, bottom_up_m=-1.0,
        holes_ne_m=(((-4.0, -4.0), (-4.0, 4.0), (4.0, 4.0), (4.0, -4.0)),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLIDS)
def test_whole_shapes_beside_marching(name):
    shape, rng = SOLIDS[name], np.random.default_rng(3)
    primitives = primitives_of(shape)
    steps = np.arange(0.0, 60.0, 2e-3)
    hits = 0
    while hits < 60:
        place = np.array([*rng.uniform(-20.0, 20.0, 2), rng.uniform(1.0, 6.0)])
        if inside(shape, place[None])[0]:
            continue
        target = np.array([*rng.uniform(-7.0, 7.0, 2), rng.uniform(0.0, 2.0)]) - place
        d = target / np.linalg.norm(target)
        r = ray(*map(float, place), *map(float, d))
        # Bottoms have no cap (they are under water): only rays that come from above the bottom are asked for.
        found = min(DISTANCE_LAW[kind](r, *numbers) for kind, numbers in primitives)
        within = inside(shape, place + steps[:, None] * d)
        if not within.any():
            # A corner may be cut by less than a step.
            assert found > 60.0 or not inside(shape, (place + (found + 0.01) * d)[None])[0]
            continue
        assert found == pytest.approx(steps[within.argmax()], abs=2.5e-3)
        hits += 1


@given(bearing=bearings, elevation=st.floats(-0.5, 0.5), t=st.floats(-20, 20), velocity=segment_ends)
@pytest.mark.parametrize("name", SOLIDS)
def test_moving_shapes_are_met_where_they_have_moved_to(name, bearing, elevation, t, velocity):
    # Moving the primitives and moving the shape are two ways to the same place.
    r = beam((-30.0 * math.cos(bearing), -30.0 * math.sin(bearing), 2.0), bearing, elevation)
    north, east = velocity[0] * t * 0.01, velocity[1] * t * 0.01
    still = SOLIDS[name]
    there = moved(type(still)(**{**vars(still), "vel_north_m_s": north, "vel_east_m_s": east}), 1.0)
    a = min(DISTANCE_LAW[kind](r, *shifted(kind, numbers, north, east)) for kind, numbers in primitives_of(still))
    b = min(DISTANCE_LAW[kind](r, *numbers) for kind, numbers in primitives_of(there))
    assert a == pytest.approx(b, abs=1e-6) or min(a, b) > 0.0


# --- answers known by hand -------------------------------------------------------------------------------------------

NORTHWARD = ray(0.0, 0.0, 2.0, 1.0, 0.0, 0.0)


def test_grazing_rays():
    assert to_cylinder(NORTHWARD, 50.0, 1.0, 1.0 + 1e-6, -1.0, 3.0) == pytest.approx(50.0, abs=2e-3)
    assert to_cylinder(NORTHWARD, 50.0, 1.0, 1.0 - 1e-6, -1.0, 3.0) == MISS
    assert to_sphere(NORTHWARD, 50.0, 0.0, 3.0, 1.0 + 1e-6) == pytest.approx(50.0, abs=2e-3)
    assert to_sphere(NORTHWARD, 50.0, 0.0, 3.0, 1.0 - 1e-6) == MISS
    # A wall seen along its length has no width to meet.
    assert to_wall(NORTHWARD, 10.0, 0.0, 20.0, 0.0, -1.0, 3.0) == MISS
    # A level ray just over and just under a top.
    assert to_cylinder(NORTHWARD, 50.0, 0.0, 1.0, -1.0, 1.999) == MISS
    assert to_cylinder(NORTHWARD, 50.0, 0.0, 1.0, -1.0, 2.001) == pytest.approx(49.0)


def test_tops_are_seen_from_above_and_bottoms_from_below():
    down = ray(0.0, 0.0, 10.0, math.sqrt(0.5), 0.0, -math.sqrt(0.5))
    assert to_cylinder(down, 8.0, 0.0, 2.0, -1.0, 2.0) == pytest.approx(8.0 * math.sqrt(2.0))  # on the top at (8, 0, 2)
    up = ray(0.0, 0.0, 1.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
    assert to_cylinder(up, 8.0, 0.0, 2.0, 8.0, 12.0) == pytest.approx(
        7.0 * math.sqrt(2.0)
    )  # a bridge deck at (7, 0, 8)
    # The top hides what is behind it: a ray over the near rim ends on the far half of the top.
    assert to_cylinder(down, 7.0, 0.0, 2.0, -1.0, 2.0) == pytest.approx(8.0 * math.sqrt(2.0))


def test_vertical_rays():
    for sign, top in ((-1.0, 2.0), (1.0, 12.0)):
        vertical = ray(3.0, 4.0, 5.0, 0.0, 0.0, sign)
        bottom = top - 3.0
        expected = 3.0 if sign < 0.0 else 4.0
        assert to_cylinder(vertical, 3.5, 4.0, 1.0, bottom, top) == pytest.approx(expected)
        assert to_cylinder(vertical, 30.0, 4.0, 1.0, bottom, top) == MISS
        assert to_cylinder(vertical, 3.0, 5.1, 1.0, bottom, top) == MISS
        assert to_sphere(vertical, 3.0, 4.0, 5.0 + sign * 4.0, 1.0) == pytest.approx(3.0)
        assert to_wall(vertical, 0.0, 0.0, 1.0, 0.0, -1.0, 9.0) == MISS


def test_what_lies_behind_is_not_seen():
    assert to_cylinder(NORTHWARD, -50.0, 0.0, 1.0, -1.0, 3.0) == MISS
    assert to_sphere(NORTHWARD, -50.0, 0.0, 2.0, 1.0) == MISS
    assert to_wall(NORTHWARD, -10.0, -1.0, -10.0, 1.0, -1.0, 3.0) == MISS


def test_from_inside_a_solid_nothing_of_it_is_seen_but_walls_are():
    assert to_cylinder(NORTHWARD, 0.5, 0.0, 3.0, -1.0, 3.0) == MISS
    assert to_sphere(NORTHWARD, 0.5, 0.0, 2.0, 3.0) == MISS
    assert to_wall(NORTHWARD, 3.0, -3.0, 3.0, 3.0, -1.0, 3.0) == pytest.approx(3.0)


def test_thin_walls_and_hollow_polygons():
    line = primitives_of(Polyline(points_ne_m=((5.0, -1.0), (5.0, 1.0), (9.0, 1.0)), top_up_m=3.0, bottom_up_m=-1.0))
    assert [kind for kind, _ in line] == ["wall", "wall"]
    # Looking down into a courtyard, nothing is at the deck's height in the hole.
    down = ray(0.0, 0.0, 9.0, 0.0, 0.0, -1.0)
    assert min(DISTANCE_LAW[k](down, *n) for k, n in primitives_of(SOLIDS["courtyard"])) == MISS


def test_32_bit_lanes_keep_a_tenth_of_a_millimetre_at_100_m():
    engine, rng = load_engine("f32"), np.random.default_rng(8)
    n = 4000
    distance, bearing = rng.uniform(5.0, 100.0, n), rng.uniform(-math.pi, math.pi, n)
    aim = bearing + rng.uniform(-0.9, 0.9, n) / distance
    north, east = distance * np.cos(bearing), distance * np.sin(bearing)
    level = np.cos(0.01)
    d = (level * np.cos(aim), level * np.sin(aim), np.full(n, np.sin(0.01)))
    lanes = [engine.floats(x) for x in (np.zeros(n), np.zeros(n), np.full(n, 2.0), *d, north, east)]
    found = np.asarray(to_cylinder(ray(*lanes[:6]), *lanes[6:], 1.0, -1.0, 9.0))
    exact = np.array(
        [
            to_cylinder(ray(*map(float, v[:6])), *map(float, v[6:]), 1.0, -1.0, 9.0)
            for v in np.stack([np.asarray(x, float) for x in lanes], 1)
        ]
    )
    assert np.isfinite(exact).all()
    # The near side falls away steeply at the rim: rounding of the direction, 6e-8 at 100 m, shows there as 1e-4 m.
    assert np.abs(found - exact).max() < 4e-4
    assert np.percentile(np.abs(found - exact), 95) < 3e-5


def test_tables_hold_every_trials_own_shapes_and_no_others():
    engine = load_engine("f64")
    a = Cylinder(north_m=1.0, east_m=2.0, radius_m=3.0, top_up_m=4.0, bottom_up_m=-5.0)
    b = Cylinder(north_m=6.0, east_m=7.0, radius_m=8.0, top_up_m=9.0, bottom_up_m=-1.0, vel_east_m_s=2.0)
    c = Cylinder(north_m=-1.0, east_m=-2.0, radius_m=1.0, top_up_m=1.0, bottom_up_m=-1.0)
    still, moving = build_tables(engine, [(a, b), (c, a, a)])
    assert (still.kind, still.moving, moving.moving) == ("cylinder", False, True)
    assert np.asarray(still.count).tolist() == [1, 3]
    assert np.asarray(moving.count).tolist() == [1, 0]
    numbers = entry(still, engine.integers([0, 3, 4]), engine.scalar(0.0), engine.Float)
    assert np.stack([np.asarray(x) for x in numbers], 1).tolist() == [
        [1, 2, 3, -5, 4], [-1, -2, 1, -1, 1], [1, 2, 3, -5, 4],
    ]  # fmt: skip
    there = entry(moving, engine.integers([0]), engine.scalar(1.5), engine.Float)
    assert [float(np.asarray(x)[0]) for x in there] == [6.0, 10.0, 8.0, -1.0, 9.0]
