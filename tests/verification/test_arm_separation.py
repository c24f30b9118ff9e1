"""Distances from segments to other shapes: closed forms, certificates that no nearer points exist, invariance, and
MuJoCo.

A certificate: between two convex sets the slab square to the line through two of their points, from one to the other,
holds neither set. Where that is so, no nearer pair exists, whatever method found this one.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldworthy.arms.separation import (
    Gap,
    convex_hull,
    segment_box,
    segment_half_space,
    segment_hull,
    segment_point,
    segment_segment,
)
from fieldworthy.core.errors import FieldworthyError

EXACT = 1e-12
"""Coordinates of a few metres: some hundred roundings of 2e-16."""
HALF = np.array([0.3, 0.5, 0.8])
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])

places = st.one_of(
    # A lattice meets every special case: points, parallel, crossing, ends upon ends.
    st.tuples(*[st.integers(-2, 2).map(float)] * 3),
    st.tuples(*[st.floats(-3.0, 3.0, allow_subnormal=False)] * 3),
)


def row(*points) -> list[np.ndarray]:
    return [np.array([point], float) for point in points]


def a_turn(rng: np.random.Generator) -> np.ndarray:
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return turn * np.sign(np.linalg.det(turn))


def segments(seed: int, count: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.random.default_rng(seed).normal(size=(2, count, 3)) * size
    return a, b


def certify(gap: Gap, ends: list[np.ndarray], corners: np.ndarray, tolerance: float = EXACT) -> None:
    """No nearer points exist where the distance is positive. Shapes: ends (n, 3) each, corners (n, k, 3)."""
    there = gap.on_other_m
    assert np.abs(np.linalg.norm(gap.normal, axis=1) - 1.0).max() <= EXACT
    apart = gap.distance_m > 1e-6
    # The slab's direction is the difference of two points: rounding turns it by some 1e-15 m over the distance.
    slack = (tolerance + 1e-14 / np.maximum(gap.distance_m, 1e-6))[apart]
    for end in ends:
        assert (np.sum((end - gap.on_segment_m) * gap.normal, axis=1)[apart] >= -slack).all()
    heights = np.einsum("nki,ni->nk", corners - there[:, None], gap.normal)
    assert (heights[apart] <= slack[:, None]).all()


def on_segment(point: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far points are from their segments: the detour by way of them."""
    detour = np.linalg.norm(point - a, axis=1) + np.linalg.norm(point - b, axis=1) - np.linalg.norm(b - a, axis=1)
    return np.abs(detour)


# ------------------------------------------------------------------------------------- segments

KNOWN = {
    "parallel, side by side": ((0, 0, 0), (2, 0, 0), (0.5, 0, 0.7), (1.5, 0, 0.7), 0.7),
    "parallel, opposite ways": ((0, 0, 0), (2, 0, 0), (1.5, 0.3, 0), (0.5, 0.3, 0), 0.3),
    "parallel, one behind the other": ((0, 0, 0), (1, 0, 0), (4, 4, 0), (9, 4, 0), 5.0),
    "on one line, apart": ((0, 0, 0), (1, 1, 1), (3, 3, 3), (2, 2, 2), math.sqrt(3.0)),
    "on one line, overlapping": ((0, 0, 0), (3, 0, 0), (2, 0, 0), (5, 0, 0), 0.0),
    "square to each other, skew": ((-1, 0, 0), (1, 0, 0), (0, -1, 0.25), (0, 1, 0.25), 0.25),
    "crossing": ((-1, -1, 0), (1, 1, 0), (-1, 1, 0), (1, -1, 0), 0.0),
    "end over the middle": ((0, 0, 3), (0, 0, 2), (-1, 0, 0), (1, 0, 0), 2.0),
    "end to end": ((0, 0, 0), (-1, -1, 0), (3, 4, 0), (5, 9, 0), 5.0),
    "a point and a segment": ((1, 2, 0), (1, 2, 0), (0, 0, 0), (4, 0, 0), 2.0),
    "a segment and a point": ((0, 0, 0), (4, 0, 0), (7, 4, 0), (7, 4, 0), 5.0),
    "two points": ((1, 2, 3), (1, 2, 3), (3, 5, 9), (3, 5, 9), 7.0),
    "one point twice": ((1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2, 3), 0.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_segments_at_known_distances(name: str) -> None:
    *points, distance = KNOWN[name]
    gap = segment_segment(*row(*points))
    assert gap.distance_m[0] == pytest.approx(distance, abs=EXACT)
    assert np.linalg.norm(gap.normal[0]) == pytest.approx(1.0, abs=EXACT)
    assert np.linalg.norm(gap.on_segment_m - gap.on_other_m) == pytest.approx(distance, abs=EXACT)


@pytest.mark.parametrize("angle", [10.0**-k for k in range(1, 17)])
def test_nearly_parallel_segments_that_cross(angle: float) -> None:
    # The determinant of the usual formula is angle^2: from 1e-8 on it is lost, and the answer off by up to the angle.
    a0, a1 = (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    b0, b1 = (-0.4, -0.7 * angle, 0.0), (1.0, 0.7 * angle, 0.0)
    assert segment_segment(*row(a0, a1, b0, b1)).distance_m[0] <= 1e-15


def test_crossing_segments_are_parted_square_to_both() -> None:
    gap = segment_segment(*row(*KNOWN["crossing"][:4]))
    np.testing.assert_allclose(np.abs(gap.normal), [[0.0, 0.0, 1.0]], atol=EXACT)


def in_fractions(a0, a1, b0, b1) -> float:
    """The distance by exact arithmetic: of ends to segments, and of the lines where their nearest points are within."""
    (a0, a1, b0, b1) = ([Fraction(x) for x in point] for point in (a0, a1, b0, b1))

    def minus(x, y):
        return [p - q for p, q in zip(x, y, strict=True)]

    def dot(x, y):
        return sum(p * q for p, q in zip(x, y, strict=True))

    u, v, w = minus(a1, a0), minus(b1, b0), minus(a0, b0)
    a, b, e = dot(u, u), dot(u, v), dot(v, v)
    pairs = [(s, min(max((b * s + dot(v, w)) / e, 0), 1) if e else 0) for s in (0, 1)]
    pairs += [(min(max((b * t - dot(u, w)) / a, 0), 1) if a else 0, t) for t in (0, 1)]
    if a * e > b * b:
        s = (b * dot(v, w) - e * dot(u, w)) / (a * e - b * b)
        pairs.append((s, (b * s + dot(v, w)) / e))
    apart = (
        [wk + s * uk - t * vk for uk, vk, wk in zip(u, v, w, strict=True)]
        for s, t in pairs
        if 0 <= min(s, t) <= max(s, t) <= 1
    )
    return math.sqrt(min(dot(x, x) for x in apart))


@given(places, places, places, places)
@settings(max_examples=300)
def test_segments_beside_exact_arithmetic(a0, a1, b0, b1) -> None:
    gap = segment_segment(*row(a0, a1, b0, b1))
    assert gap.distance_m[0] == pytest.approx(in_fractions(a0, a1, b0, b1), abs=1e-14)
    a0, a1, b0, b1 = row(a0, a1, b0, b1)
    certify(gap, [a0, a1], np.stack([b0, b1], axis=1))
    assert on_segment(gap.on_segment_m, a0, a1)[0] <= EXACT
    assert on_segment(gap.on_other_m, b0, b1)[0] <= EXACT


@given(places, places, places, places, st.integers(0, 2**32 - 1))
def test_segments_moved_and_swapped(a0, a1, b0, b1, seed) -> None:
    rng = np.random.default_rng(seed)
    turn, offset = a_turn(rng), rng.normal(size=3)
    points = row(a0, a1, b0, b1)
    distance = segment_segment(*points).distance_m[0]
    a0, a1, b0, b1 = (point @ turn.T + offset for point in points)
    for again in ((a0, a1, b0, b1), (b0, b1, a0, a1), (a1, a0, b0, b1), (b1, b0, a1, a0)):
        assert segment_segment(*again).distance_m[0] == pytest.approx(distance, abs=1e-11)


def test_segments_beside_dense_samples() -> None:
    (a0, a1), (b0, b1) = segments(1, 200), segments(2, 200)
    s = np.linspace(0.0, 1.0, 101)[:, None]
    p, r = (x[:, None] + s * (y - x)[:, None] for x, y in ((a0, a1), (b0, b1)))
    sampled = np.linalg.norm(p[:, :, None] - r[:, None], axis=-1).min(axis=(1, 2))
    found = segment_segment(a0, a1, b0, b1).distance_m
    step = (np.linalg.norm(a1 - a0, axis=1) + np.linalg.norm(b1 - b0, axis=1)) / 200.0
    assert (found <= sampled + EXACT).all()
    assert (found >= sampled - step - EXACT).all()


def test_answers_broadcast_and_may_be_empty() -> None:
    a0, a1 = segments(3, 12)
    grid = segment_segment(a0.reshape(3, 4, 3), a1.reshape(3, 4, 3), np.zeros(3), np.ones(3))
    flat = segment_segment(a0, a1, np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(grid.distance_m.ravel(), flat.distance_m)
    none = np.zeros((0, 3))
    hull = convex_hull(CUBE)
    for gap in (
        segment_segment(none, none, np.zeros(3), np.ones(3)),
        segment_point(none, none, np.zeros(3)),
        segment_half_space(none, none, np.zeros(3), np.eye(3)[2]),
        segment_box(none, none, np.zeros(3), np.eye(3), HALF),
        segment_hull(none, none, hull),
    ):
        assert gap.distance_m.shape == (0,)
        assert gap.on_other_m.shape == (0, 3)


# ------------------------------------------------------------------------------------- points and half-spaces


def test_points_at_known_distances() -> None:
    a0, a1 = row((0, 0, 0), (2, 0, 0))
    for point, distance in (((1, 3, 4), 5.0), ((-3, 4, 0), 5.0), ((4, 0, 0), 2.0), ((1, 0, 0), 0.0)):
        assert segment_point(a0, a1, np.array(point, float)).distance_m[0] == pytest.approx(distance, abs=EXACT)


def test_half_space_is_signed_and_touched_at_the_lower_end() -> None:
    normal = np.array([0.6, 0.0, 0.8])
    a0 = np.array([[3.0, 1.0, 4.0], [0.0, 0.0, -1.0], [0.0, 5.0, 1.0]])
    a1 = np.array([[0.0, 1.0, 1.0], [3.0, 0.0, 4.0], [0.0, 7.0, 1.0]])
    gap = segment_half_space(a0, a1, np.zeros(3), normal)
    np.testing.assert_allclose(gap.distance_m, [0.8, -0.8, 0.8], atol=EXACT)
    np.testing.assert_allclose(gap.on_segment_m, [a1[0], a0[1], [0.0, 6.0, 1.0]], atol=EXACT)
    np.testing.assert_allclose(gap.on_other_m @ normal, 0.0, atol=EXACT)


# ------------------------------------------------------------------------------------- boxes and hulls


def point_to_box(p: np.ndarray) -> np.ndarray:
    """Signed distance of points to the box of HALF around the origin."""
    over = np.abs(p) - HALF
    return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)


BOXED = {
    "over a face": ((0, 0, 2), (0.1, 0.1, 3), 1.2),
    "along a face": ((-9, 0, 1), (9, 0, 1), 0.2),
    "past an edge": ((0.6, 0.9, -5), (0.6, 0.9, 5), 0.5),
    "to a corner": ((0.5, 0.7, 1.0), (2, 2, 2), math.sqrt(0.12)),
    "square to a diagonal of an edge": ((1.3, 0.5, 0), (0.3, 1.5, 0), math.sqrt(0.5)),
    "through the middle along z": ((0, 0, -9), (0, 0, 9), -0.3),
    "end inside": ((0, 0, 9), (0, 0, 0.7), -0.1),
    "a point at the middle": ((0, 0, 0), (0, 0, 0), -0.3),
    "cutting an edge": ((0.3, -0.2, 9), (0.3, -0.2, 0.8), 0.0),
    "across a corner's edge": ((0.3, 0.3, 0), (0.1, 0.5, 0), -0.1),
}


@pytest.mark.parametrize("name", BOXED)
def test_boxes_at_known_distances(name: str) -> None:
    a0, a1, distance = BOXED[name]
    rng = np.random.default_rng(5)
    turn, centre = a_turn(rng), rng.normal(size=3)
    a0, a1 = (x @ turn.T + centre for x in row(a0, a1))
    box = segment_box(a0, a1, centre, turn, HALF)
    hull = segment_hull(a0, a1, convex_hull(CUBE * HALF @ turn.T + centre))
    for gap in (box, hull):
        assert gap.distance_m[0] == pytest.approx(distance, abs=1e-11)
        assert point_to_box((gap.on_other_m[0] - centre) @ turn) == pytest.approx(0.0, abs=1e-11)
        assert point_to_box((gap.on_segment_m[0] - centre) @ turn) == pytest.approx(distance, abs=1e-11)


def test_boxes_and_hulls_have_no_nearer_points_and_no_deeper_ones() -> None:
    a0, a1 = segments(7, 3000)
    a1[:300] = a0[:300]
    a1[300:600, :2] = a0[300:600, :2]  # square to two faces
    s = np.linspace(0.0, 1.0, 401)[:, None]
    sampled = point_to_box(a0[:, None] + s * (a1 - a0)[:, None]).min(axis=1)
    for gap in (segment_box(a0, a1, np.zeros(3), np.eye(3), HALF), segment_hull(a0, a1, convex_hull(CUBE * HALF))):
        certify(gap, [a0, a1], np.broadcast_to(CUBE * HALF, (3000, 8, 3)), 1e-9)
        assert 0.1 < (gap.distance_m < 0.0).mean() < 0.9
        assert (gap.distance_m <= sampled + EXACT).all()
        assert (gap.distance_m >= sampled - np.linalg.norm(a1 - a0, axis=1) / 800.0 - EXACT).all()
        np.testing.assert_allclose(point_to_box(gap.on_segment_m), gap.distance_m, atol=EXACT)
        np.testing.assert_allclose(point_to_box(gap.on_other_m), 0.0, atol=EXACT)


@given(places, places)
@settings(max_examples=200)
def test_a_box_is_the_hull_of_its_corners(a0, a1) -> None:
    # Whole half sides: segments of the lattice lie in faces, on edges and through corners.
    a0, a1 = row(a0, a1)
    half = np.array([1.0, 1.0, 2.0])
    box = segment_box(a0, a1, np.zeros(3), np.eye(3), half)
    hull = segment_hull(a0, a1, convex_hull(CUBE * half))
    assert box.distance_m[0] == pytest.approx(hull.distance_m[0], abs=1e-11)


@pytest.mark.parametrize("shape", ["ball", "cylinder", "needle"])
def test_hulls_have_no_nearer_points(shape: str) -> None:
    rng = np.random.default_rng(11)
    points = rng.normal(size=(120, 3))
    if shape == "ball":
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif shape == "cylinder":
        angle = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
        points = np.array([[math.cos(x), math.sin(x), z] for x in angle for z in (-0.5, 0.0, 0.5)])
    else:
        points *= (2.0, 0.01, 0.02)
    hull = convex_hull(points)
    a0, a1 = segments(12, 500, 1.5)
    gap = segment_hull(a0, a1, hull)
    certify(gap, [a0, a1], np.broadcast_to(points, (500, *points.shape)), 1e-9)
    out = gap.distance_m > 0.0
    assert 0.05 < out.mean() < 1.0
    heights = gap.on_other_m @ hull.normals.T - hull.offsets_m
    np.testing.assert_allclose(heights.max(axis=1), 0.0, atol=1e-9)  # on the surface, near or deep
    s = np.linspace(0.0, 1.0, 201)[:, None]
    samples = (a0[:, None] + s * (a1 - a0)[:, None]) @ hull.normals.T - hull.offsets_m
    deepest = samples.max(axis=2).min(axis=1)
    assert (gap.distance_m[~out] <= deepest[~out] + EXACT).all()
    assert (gap.distance_m[~out] >= (deepest - np.linalg.norm(a1 - a0, axis=1) / 400.0 - EXACT)[~out]).all()


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6])
def test_hulls_of_points_nearly_in_planes_and_lines(noise: float) -> None:
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 5)] * 3), axis=-1).reshape(-1, 3)
    points = grid + noise * rng.normal(size=grid.shape)
    hull = convex_hull(points)
    assert (points @ hull.normals.T - hull.offsets_m).max() <= 4e-6
    a, b, c = np.moveaxis(hull.corners_m[hull.triangles], 1, 0)
    volume = np.sum(a * np.cross(b, c)) / 6.0  # divergence theorem, a cube of side 1
    assert volume == pytest.approx(1.0, abs=1e-12 + 40.0 * noise)
    if noise == 0.0:
        assert len(hull.edges) == len(np.unique(hull.edges, axis=0))
        assert len(hull.corners_m) >= 8


def test_hulls_that_are_none() -> None:
    with pytest.raises(FieldworthyError, match=r"rock: points of shape \(3, 3\); valid: \(k, 3\) with k >= 4"):
        convex_hull(np.eye(3), "rock")
    for flat in (np.zeros((5, 3)), np.outer(np.arange(5.0), [1, 2, 3]), np.c_[CUBE[:, :2], np.zeros(8)]):
        with pytest.raises(FieldworthyError, match="in one plane; valid: points around a volume"):
            convex_hull(flat)
    with pytest.raises(FieldworthyError, match="not finite"):
        convex_hull(np.where(CUBE > 0.0, np.nan, CUBE))


# ------------------------------------------------------------------------------------- another library's word


def test_capsules_beside_mujoco() -> None:
    """mj_geomDistance of MuJoCo (its own convex solver, tolerance 1e-6 set smaller) for every shape.

    Where shapes overlap by more than a radius the two measure depth differently; those pairs only agree that they
    overlap.
    """
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (pip install mujoco)")
    rng = np.random.default_rng(21)
    count, radius = 150, 0.1
    a0, a1 = segments(22, count)
    b0, b1 = row((-0.3, 0.2, 0.1), (0.5, -0.4, 0.6))
    turn, centre = a_turn(rng), np.array([0.2, -0.3, 0.4])
    rows = " ".join(f"{x:.17g}" for x in (turn[:, 0].tolist() + turn[:, 1].tolist()))
    rock = rng.normal(size=(40, 3)) * 0.4
    normal = np.array([0.6, 0.0, 0.8])

    def words(x) -> str:
        return " ".join(f"{v:.17g}" for v in np.ravel(x))

    geoms = "".join(
        f'<geom type="capsule" size="{radius}" fromto="{words(p)} {words(q)}"/>' for p, q in zip(a0, a1, strict=True)
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option ccd_tolerance="1e-12" ccd_iterations="200"/>
        <asset><mesh name="rock" vertex="{words(rock)}"/></asset><worldbody>{geoms}
        <geom name="capsule" type="capsule" size="0.2" fromto="{words(b0)} {words(b1)}"/>
        <geom name="box" type="box" size="{words(HALF)}" pos="{words(centre)}" xyaxes="{rows}"/>
        <geom name="sphere" type="sphere" size="0.25" pos="{words(centre)}"/>
        <geom name="plane" type="plane" size="9 9 1" pos="{words(centre)}" zaxis="{words(normal)}"/>
        <geom name="rock" type="mesh" mesh="rock"/></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ours = {
        "capsule": segment_segment(a0, a1, b0, b1).thicker(0.2),
        "box": segment_box(a0, a1, centre, turn, HALF),
        "sphere": segment_point(a0, a1, centre).thicker(0.25),
        "plane": segment_half_space(a0, a1, centre, normal),
        "rock": segment_hull(a0, a1, convex_hull(rock)),
    }
    for name, gap in ours.items():
        other = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name)
        theirs = np.array([mujoco.mj_geomDistance(model, data, k, other, 50.0, np.zeros(6)) for k in range(count)])
        found = gap.distance_m - radius
        clear = found > 0.0
        assert 10 < clear.sum() < count, name
        np.testing.assert_allclose(found[clear], theirs[clear], atol=2e-6, err_msg=name)
        assert (theirs[~clear] <= 2e-6).all(), name
