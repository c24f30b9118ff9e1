"""The smooth curve through waypoints (arms/spline.py): its conditions, known answers and order of convergence."""

from __future__ import annotations

import numpy as np
import pytest

from fieldworthy.arms.spline import Spline, solve_tridiagonal, spline_through
from fieldworthy.core.errors import FieldworthyError


def ends_only(n: int) -> np.ndarray:
    corners = np.zeros(n, bool)
    corners[[0, -1]] = True
    return corners


def both_sides(spline: Spline) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Value and derivatives at the start and at the end of every segment."""
    segments = np.arange(len(spline.step))
    return spline.at(segments, np.zeros(len(segments))), spline.at(segments, spline.step)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 40])
def test_conditions_of_a_cubic_spline_hold(n: int) -> None:
    rng = np.random.default_rng(n)
    points, step = rng.normal(size=(n, 3)), rng.uniform(0.01, 2.0, n - 1)
    spline = spline_through(points, step, ends_only(n))
    start, end = both_sides(spline)
    assert start[0] == pytest.approx(points[:-1], abs=1e-12)
    assert end[0] == pytest.approx(points[1:], abs=1e-12)
    for left, right in zip(end[1:], start[1:], strict=True):
        # Slopes reach 1/0.01 and bends its square, so rounding leaves 1e-12 of the largest.
        assert left[:-1] == pytest.approx(right[1:], abs=1e-11 * (1.0 + np.abs(right).max()))
    # The ends run out as parabolas: no third derivative.
    assert np.abs(spline.coefficients[3][[0, -1]] * step[[0, -1], None] ** 3).max() < 1e-12


def test_solves_the_same_system_as_one_written_in_all_coefficients() -> None:
    """Unknowns: four powers a segment. Rows: values, equal slopes and bends inside, parabolas at the ends."""
    rng = np.random.default_rng(5)
    n = 9
    points, h = rng.normal(size=n), rng.uniform(0.2, 1.5, n - 1)
    m = n - 1
    rows, right = [], []

    def row(**entries: float) -> np.ndarray:
        line = np.zeros(4 * m)
        for key, value in entries.items():
            line[int(key[1:])] = value
        return line

    for i in range(m):
        k = 4 * i
        rows += [row(**{f"k{k}": 1.0}), row(**{f"k{k + p}": h[i] ** p for p in range(4)})]
        right += [points[i], points[i + 1]]
        if i < m - 1:
            slope = {f"k{k + 1}": 1.0, f"k{k + 2}": 2 * h[i], f"k{k + 3}": 3 * h[i] ** 2, f"k{k + 5}": -1.0}
            bend = {f"k{k + 2}": 2.0, f"k{k + 3}": 6 * h[i], f"k{k + 6}": -2.0}
            rows += [row(**slope), row(**bend)]
            right += [0.0, 0.0]
    rows += [row(k3=1.0), row(**{f"k{4 * m - 1}": 1.0})]
    right += [0.0, 0.0]
    expected = np.linalg.solve(np.array(rows), np.array(right)).reshape(m, 4).T
    spline = spline_through(points[:, None], h, ends_only(n))
    assert spline.coefficients[:, :, 0] == pytest.approx(expected, abs=1e-11)


def test_parabola_is_reproduced() -> None:
    s = np.cumsum(np.r_[0.0, np.random.default_rng(3).uniform(0.05, 0.5, 12)])
    spline = spline_through((2.0 - 3.0 * s + 0.7 * s * s)[:, None], np.diff(s), ends_only(len(s)))
    segment = np.arange(len(s) - 1)
    q, slope, bend = spline.at(segment, 0.3 * np.diff(s))
    at = s[:-1] + 0.3 * np.diff(s)
    assert q[:, 0] == pytest.approx(2.0 - 3.0 * at + 0.7 * at * at, abs=1e-12)
    assert slope[:, 0] == pytest.approx(-3.0 + 1.4 * at, abs=1e-11)
    assert bend[:, 0] == pytest.approx(1.4, abs=1e-9)


def error_on_sine(n: int, inner: bool) -> float:
    s = np.linspace(0.0, 3.0, n)
    spline = spline_through(np.sin(s)[:, None], np.diff(s), ends_only(n))
    segment = np.arange(n - 1)
    if inner:
        segment = segment[(s[:-1] > 1.0) & (s[1:] < 2.0)]
    half = 0.5 * np.diff(s)[segment]
    return float(np.abs(spline.at(segment, half)[0][:, 0] - np.sin(s[segment] + half)).max())


@pytest.mark.parametrize(("inner", "order"), [(True, 4.0), (False, 3.0)])
def test_order_of_convergence(inner: bool, order: float) -> None:
    """A cubic spline is of fourth order, the parabola at the ends of third; its trace fades within few segments."""
    observed = np.log2(error_on_sine(61, inner) / error_on_sine(121, inner))
    assert observed == pytest.approx(order, abs=0.2)


def test_corners_split_the_curve() -> None:
    rng = np.random.default_rng(7)
    points, step = rng.normal(size=(12, 2)), rng.uniform(0.1, 1.0, 11)
    corners = ends_only(12)
    corners[[4, 5]] = True
    whole = spline_through(points, step, corners)
    for a, b in ((0, 4), (4, 5), (5, 11)):
        alone = spline_through(points[a : b + 1], step[a:b], ends_only(b - a + 1))
        assert whole.coefficients[:, a:b] == pytest.approx(alone.coefficients, abs=1e-12)
    assert np.abs(whole.coefficients[2:, 4]).max() == 0.0


def test_a_segment_without_length_stays_at_its_point() -> None:
    points = np.array([[0.0], [1.0], [1.0], [3.0]])
    spline = spline_through(points, np.array([1.0, 0.0, 2.0]), np.array([True, True, True, True]))
    q, slope, bend = spline.at(np.array([1]), np.array([0.0]))
    assert (q[0, 0], slope[0, 0], bend[0, 0]) == (1.0, 0.0, 0.0)


def test_chord_deviation_of_a_parabola() -> None:
    """y = s^2 leaves its chord over a step h by h^2 / 4, at the middle."""
    s = np.array([0.0, 0.5, 1.5])
    spline = spline_through((s * s)[:, None], np.diff(s), ends_only(3))
    assert spline.chord_deviation()[:, 0] == pytest.approx([0.25 * 0.25, 0.25], abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 513])
def test_tridiagonal_solver_agrees_with_a_dense_one(n: int) -> None:
    rng = np.random.default_rng(n)
    lower, upper = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    diagonal = np.abs(lower) + np.abs(upper) + rng.uniform(0.01, 1.0, n)
    dense = np.diag(diagonal) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    right = rng.normal(size=(n, 4))
    # Rows dominate by as little as a hundredth, so the condition number is some hundreds.
    assert solve_tridiagonal(lower, diagonal, upper, right) == pytest.approx(np.linalg.solve(dense, right), abs=1e-11)


@pytest.mark.parametrize("step", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_impossible_steps_are_refused(step: list[float]) -> None:
    with pytest.raises(FieldworthyError, match="step"):
        spline_through(np.zeros((3, 1)), np.array(step), ends_only(3))
