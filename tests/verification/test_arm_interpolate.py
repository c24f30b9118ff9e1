"""Straight lines with slerp, arcs through three points and joints over time, by known answers and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fieldworthy.arms.chain import Array
from fieldworthy.arms.interpolate import (
    arc_poses,
    arc_through,
    at_times,
    lerp_pose,
    pose_distance,
    rotation_vector,
    slerp,
    subdivisions,
)
from fieldworthy.core.errors import FieldworthyError

# Each element of a rotation comes out of some ten products of numbers below 1: rounding stays below 1e-14.
ROUNDING = 1e-14


def about(axis: tuple[float, float, float], angle_rad: float) -> Array:
    """Rotation about an axis, by its textbook form with sines of the half angle (not the one of the package)."""
    x, y, z = np.array(axis, float) / np.linalg.norm(axis) * math.sin(angle_rad / 2.0)
    w = math.cos(angle_rad / 2.0)
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def pose(turn: Array, x_m: float = 0.0, y_m: float = 0.0, z_m: float = 0.0) -> Array:
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = turn, (x_m, y_m, z_m)
    return made


def test_a_share_of_a_turn_is_that_share_of_its_angle() -> None:
    start = about((1.0, -2.0, 0.5), 0.7)
    axis, angle = (0.3, 0.4, -1.0), 2.0
    end = start @ about(axis, angle)
    shares = np.array([0.0, 0.25, 0.5, 0.9, 1.0])
    turned = slerp(start, end, shares)
    for share, turn in zip(shares, turned, strict=True):
        assert np.abs(turn - start @ about(axis, share * angle)).max() < ROUNDING
    assert (turned[0] == start).all()
    assert (turned[-1] == end).all()


def test_half_way_from_x_to_y_is_the_diagonal() -> None:
    half = slerp(np.eye(3), about((0, 0, 1), math.pi / 2), 0.5)
    assert half @ (1.0, 0.0, 0.0) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0), abs=ROUNDING)


def test_the_shorter_way_is_taken() -> None:
    """From 0 to 350 degrees it is 10 degrees back."""
    turned = slerp(np.eye(3), about((0, 0, 1), math.radians(350.0)), 0.5)
    assert np.abs(turned - about((0, 0, 1), math.radians(-5.0))).max() < ROUNDING


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-15, 1e-9, 1e-5])
def test_small_turns_keep_their_size(angle: float) -> None:
    """The angle comes out with a relative error of the matrix's own rounding, not of its square root (1e-8)."""
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    found = rotation_vector(np.eye(3), about((2.0, -1.0, 2.0), angle))
    assert np.abs(found - angle * axis).max() <= 1e-15 * angle + 1e-16
    half = slerp(np.eye(3), about((2.0, -1.0, 2.0), angle), 0.5)
    assert np.abs(half - about((2.0, -1.0, 2.0), angle / 2.0)).max() < ROUNDING


@pytest.mark.parametrize("short", [0.0, 1e-15, 1e-12, 1e-8, 1e-4])
def test_turns_near_half_a_turn_stay_on_their_axis(short: float) -> None:
    """A turn of pi - short about a known axis: half of it is a quarter turn about the same axis, whichever way."""
    axis = (1.0, 2.0, -2.0)
    half = slerp(np.eye(3), about(axis, math.pi - short), 0.5)
    unit = np.array(axis) / 3.0
    assert np.abs(half @ unit - unit).max() < ROUNDING
    assert (np.trace(half) - 1.0) / 2.0 == pytest.approx(math.cos((math.pi - short) / 2.0), abs=ROUNDING)


def test_half_a_turn_goes_the_same_way_each_time() -> None:
    """Both ways are as short: about +z here, and again about +z."""
    exact = np.diag((-1.0, -1.0, 1.0))
    assert np.abs(slerp(np.eye(3), exact, 0.5) - about((0, 0, 1), math.pi / 2)).max() < ROUNDING
    assert (slerp(np.eye(3), exact, 0.3) == slerp(np.eye(3), exact.copy(), 0.3)).all()


def test_there_and_back_is_the_same_path() -> None:
    a, b = about((1, 1, 0), 0.4), about((0, -1, 3), 2.2)
    shares = np.linspace(0.0, 1.0, 7)
    assert np.abs(slerp(a, b, shares) - slerp(b, a, 1.0 - shares)).max() < ROUNDING


def test_a_line_has_a_constant_pace() -> None:
    a = pose(about((1, 0, 0), 0.2), 0.5, -0.1, 0.3)
    b = pose(about((0, 1, 1), 1.7), -0.1, 0.6, 0.9)
    path = lerp_pose(a, b, np.linspace(0.0, 1.0, 11))
    apart, angle = pose_distance(path[:-1], path[1:])
    whole_m, whole_rad = pose_distance(a, b)
    assert apart == pytest.approx(np.full(10, whole_m / 10.0), rel=1e-13)
    assert angle == pytest.approx(np.full(10, whole_rad / 10.0), rel=1e-13)
    assert (path[0] == a).all()
    assert (path[-1] == b).all()


def test_batches_are_their_rows() -> None:
    generator = np.random.Generator(np.random.Philox(7))
    starts = np.stack([pose(about(tuple(axis), angle), *axis) for *axis, angle in generator.normal(size=(20, 4))])
    ends = np.roll(starts, 3, axis=0)
    shares = generator.uniform(size=20)
    together = lerp_pose(starts, ends, shares)
    for row, start, end, share in zip(together, starts, ends, shares, strict=True):
        assert np.abs(row - lerp_pose(start, end, share)).max() < ROUNDING


def test_matrices_that_are_no_rotations_are_refused() -> None:
    with pytest.raises(FieldworthyError, match="no rotation"):
        slerp(np.eye(3), np.diag((1.0, 1.0, -1.0)), 0.5)


def test_the_arc_of_a_known_circle() -> None:
    """(1, 0), (0, 1), (-1, 0) lie on the unit circle; the arc is the upper half, run left-handed seen from below."""
    arc = arc_through((1, 0, 0), (0, 1, 0), (-1, 0, 0))
    assert arc is not None
    assert arc.radius_m == pytest.approx(1.0, rel=1e-15)
    assert np.abs(arc.centre_m).max() < 1e-15
    assert arc.axis == pytest.approx((0, 0, 1))
    assert (arc.via_rad, arc.end_rad) == pytest.approx((math.pi / 2, math.pi))
    assert arc.points(math.pi / 4) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0), abs=1e-15)


@pytest.mark.parametrize("end_deg", [20.0, 179.0, 200.0, 340.0])
def test_arcs_short_and_long_pass_their_three_points(end_deg: float) -> None:
    """A circle of known centre, radius and plane is found from three of its points, also over more than half a turn."""
    centre, radius, frame = np.array((0.4, -0.2, 0.7)), 0.15, about((1, 2, 0.3), 1.1)

    def on_circle(angle_deg: float) -> Array:
        angle = math.radians(angle_deg)
        return centre + radius * frame @ (math.cos(angle), math.sin(angle), 0.0)

    arc = arc_through(on_circle(0.0), on_circle(0.4 * end_deg), on_circle(end_deg))
    assert arc is not None
    # The worst triangle here has an angle of 4 degrees: some 1 / sin^2 = 200 roundings.
    assert np.abs(arc.centre_m - centre).max() < 1e-12
    assert arc.radius_m == pytest.approx(radius, abs=1e-12)
    assert np.abs(arc.axis - frame[:, 2]).max() < 1e-12
    assert arc.end_rad == pytest.approx(math.radians(end_deg), abs=1e-11)
    for share in (0.1, 0.5, 0.93):
        assert np.abs(arc.points(share * arc.end_rad) - on_circle(share * end_deg)).max() < 1e-11


@pytest.mark.parametrize(
    "points",
    [
        ((0, 0, 0), (1, 1, 0), (2, 2, 0)),
        ((0, 0, 0), (2, 2, 0), (1, 1, 0)),
        ((0, 0, 0), (1, 1, 0), (0, 0, 0)),
        ((0, 0, 0), (0, 0, 0), (1, 0, 0)),
        ((1, 2, 3), (1, 2, 3), (1, 2, 3)),
    ],
)
def test_points_on_a_line_have_no_arc(points: tuple[tuple[float, float, float], ...]) -> None:
    assert arc_through(*points) is None


def test_the_tool_turns_evenly_along_an_arc() -> None:
    a, b = pose(np.eye(3), 1.0, 0.0), pose(about((0, 0, 1), math.pi / 2), -1.0, 0.0)
    arc = arc_through(a[:3, 3], (0, 1, 0), b[:3, 3])
    assert arc is not None
    third = arc_poses(a, b, arc, np.array([1.0 / 3.0]))[0]
    assert third[:3, 3] == pytest.approx((0.5, math.sqrt(0.75), 0.0), abs=1e-14)
    assert np.abs(third[:3, :3] - about((0, 0, 1), math.pi / 6)).max() < ROUNDING


def test_joints_between_uneven_samples() -> None:
    t_s = np.array([1.0, 1.5, 4.0])
    q = np.array([[0.0, 10.0], [1.0, 10.0], [-4.0, 20.0]])
    assert at_times(t_s, q, 1.25) == pytest.approx((0.5, 10.0))
    assert at_times(t_s, q, 2.5) == pytest.approx((-1.0, 14.0))
    assert (at_times(t_s, q, t_s) == q).all()
    assert (at_times(t_s, q, [-3.0, 99.0]) == q[[0, 2]]).all()
    assert (at_times(t_s[:1], q[:1], [0.0, 7.0]) == q[[0, 0]]).all()


def test_a_straight_line_in_time_is_kept_by_any_stamps() -> None:
    """Linear interpolation is exact for what is linear."""
    t_s = np.cumsum(np.random.Generator(np.random.Philox(1)).uniform(0.01, 0.5, 30))
    offset = np.array((1.0, 5.0))
    q = np.outer(t_s, (2.0, -3.0)) + offset
    when = np.linspace(t_s[0], t_s[-1], 101)
    assert at_times(t_s, q, when) == pytest.approx(np.outer(when, (2.0, -3.0)) + offset, rel=1e-13)


def test_parts_are_no_longer_than_a_step() -> None:
    assert subdivisions(0.1, 0.0, 0.02, 1.0) == 5  # and not 6 by rounding
    assert subdivisions(0.1001, 0.0, 0.02, 1.0) == 6
    assert subdivisions(0.0, 1.0, 0.02, 0.3) == 4
    assert subdivisions(0.0, 0.0, 0.02, 0.3) == 1
    assert subdivisions(5.0, 2.0, math.inf, math.inf) == 1
    for step in (0.0, -1.0, math.nan):
        with pytest.raises(FieldworthyError, match="both > 0"):
            subdivisions(1.0, 1.0, step, 1.0)
    with pytest.raises(FieldworthyError, match="parts"):
        subdivisions(1.0, 0.0, 1e-9, 1.0)
