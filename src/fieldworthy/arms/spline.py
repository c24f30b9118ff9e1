"""A smooth curve through waypoints: piecewise cubics whose first two derivatives are continuous.

Equation: the second derivatives M of a cubic spline obey h0 M0 + 2 (h0 + h1) M1 + h1 M2 = 6 (d1 - d0) at every inner
waypoint, with h the steps of the path parameter and d the slopes of the chords on both sides. At an end the curve runs
out as a parabola (M0 = M1): exact for parabolas, a straight line for two waypoints, and tame beside a very long
segment, where the not-a-knot condition would swing out.
Source: de Boor, A Practical Guide to Splines, 2001, ch. IV; the solver: Hockney & Jesshope, Parallel Computers 2, 1988,
sec. 5.4 (parallel cyclic reduction, stable for diagonally dominant matrices, which these are).
Verified by: tests/verification/test_arm_spline.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fieldworthy.arms.chain import Array
from fieldworthy.core.errors import FieldworthyError

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Spline:
    """A curve over a path parameter that starts at zero in every segment.

    Shapes: n waypoints, dof coordinates, n - 1 segments.
    """

    step: Array
    """Length of each segment in the path parameter, (n-1,); zero where the curve stands still."""
    coefficients: Array
    """Of the powers 0 to 3 of the parameter within a segment, (4, n-1, dof)."""

    def at(self, segment: Indices, s: Array) -> tuple[Array, Array, Array]:
        """Value and two derivatives by the path parameter, (k, dof) each, at k places: segments and s within them."""
        c0, c1, c2, c3 = self.coefficients[:, segment]
        s = s[:, None]
        value = c0 + s * (c1 + s * (c2 + s * c3))
        return value, c1 + s * (2.0 * c2 + s * (3.0 * c3)), 2.0 * c2 + s * (6.0 * c3)

    def chord_deviation(self) -> Array:
        """How far each coordinate leaves the straight chord, (n-1, dof): the largest of seven places in each segment.

        Along the chord too: a place that runs ahead of an even pace on a straight chord counts as deviation.
        """
        h = self.step[:, None]
        _, _, c2, c3 = self.coefficients
        deviation = np.zeros_like(c2)
        for part in np.arange(1, 8) / 8.0:
            s = part * h
            # The chord's slope is c1 + c2 h + c3 h^2, so the linear part drops out.
            np.maximum(deviation, np.abs(s * ((s - h) * c2 + (s * s - h * h) * c3)), out=deviation)
        return np.asarray(deviation)


def spline_through(points: Array, step: Array, corners: Mask) -> Spline:
    """The spline through points (n, dof) with n - 1 steps of the path parameter.

    `corners` (n,) marks waypoints where the curve may break off and begin anew (the arm stands still there); the first
    and last count as marked. A step of zero is a segment that stays at its first point; both its ends must be corners.

    Raises: FieldworthyError for a step that is negative or not finite, or zero between waypoints that are no corners.
    """
    n, dof = points.shape
    free = ~corners
    free[[0, -1]] = False
    if not np.isfinite(step).all() or (step < 0.0).any():
        raise FieldworthyError("spline: a step is negative or not finite; valid: >= 0")
    if ((step == 0.0) & (free[:-1] | free[1:])).any():
        raise FieldworthyError("spline: a step is zero beside a waypoint that is no corner; valid: > 0 there")
    h = np.where(step > 0.0, step, 1.0)[:, None]
    slope = np.where(step[:, None] > 0.0, np.diff(points, axis=0) / h, 0.0)
    lower, diagonal, upper = np.zeros(n), np.ones(n), np.zeros(n)
    right = np.zeros((n, dof))
    inner = np.flatnonzero(free)
    h0, h1 = h[inner - 1, 0], h[inner, 0]
    after_end, before_end = ~free[inner - 1], ~free[inner + 1]
    lower[inner] = np.where(after_end, 0.0, h0)
    upper[inner] = np.where(before_end, 0.0, h1)
    diagonal[inner] = 2.0 * (h0 + h1) + np.where(after_end, h0, 0.0) + np.where(before_end, h1, 0.0)
    right[inner] = 6.0 * (slope[inner] - slope[inner - 1])
    bend = solve_tridiagonal(lower, diagonal, upper, right)
    # A corner has a bend on either side, each that of its neighbour; between two corners both are zero: a line.
    left_bend = np.where(free[:-1, None], bend[:-1], bend[1:])
    right_bend = np.where(free[1:, None], bend[1:], bend[:-1])
    linear = slope - h * (2.0 * left_bend + right_bend) / 6.0
    return Spline(step, np.stack([points[:-1], linear, 0.5 * left_bend, (right_bend - left_bend) / (6.0 * h)]))


def solve_tridiagonal(lower: Array, diagonal: Array, upper: Array, right: Array) -> Array:
    """Solve for x (n, m): lower_i x_(i-1) + diagonal_i x_i + upper_i x_(i+1) = right_i, for all m columns at once.

    The matrix must be diagonally dominant. Every round couples each row to rows twice as far away; with strong
    dominance the coupling is below the rounding after some six rounds, whatever n is.
    Shapes: lower, diagonal, upper (n,); right (n, m). The first of `lower` and the last of `upper` are not read.
    """
    a, c, x = lower / diagonal, upper / diagonal, right / diagonal[:, None]
    a[0] = c[-1] = 0.0
    reach = 1
    while reach < len(a) and max(np.abs(a).max(), np.abs(c).max()) > 1e-18:
        below, above = slice(reach, None), slice(None, -reach)
        scale = np.ones_like(a)
        scale[below] -= a[below] * c[above]
        scale[above] -= c[above] * a[below]
        new_a, new_c, new_x = np.zeros_like(a), np.zeros_like(c), x.copy()
        new_x[below] -= a[below, None] * x[above]
        new_x[above] -= c[above, None] * x[below]
        new_a[below] = -a[below] * a[above]
        new_c[above] = -c[above] * c[below]
        a, c, x = new_a / scale, new_c / scale, new_x / scale[:, None]
        reach *= 2
    return np.asarray(x)
