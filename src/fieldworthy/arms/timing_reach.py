"""The fastest way along a given curve, by two sweeps over it: where one can still brake, then as fast as that allows.

Equation: a curve q(s) run at the pace x = (ds/dt)^2 has speed q' sqrt(x) and acceleration q' u + q'' x, with
u = d2s/dt2 = (x1 - x0) / (2 ds) in an interval of constant u. There q' is a parabola, q'' and x are straight lines, so
the acceleration is a parabola and lies within its three Bernstein coefficients. Each is linear in (x0, x1), so every
joint gives three strips |a x0 + b x1| <= 1 in every interval, and the limit holds all along the interval, not only at
its ends. The origin lies in all strips: paces small enough are always possible.
Backward: the largest x0 from which some x1 in [0, K] can be reached. Eliminating x1 leaves the crossings of the strips,
which do not depend on K and are found for all intervals at once, and one line in K for each strip.
Forward: the largest x1. The duration approaches the optimum of the curve in proportion to the length of the intervals.
Source: Pham & Pham, A New Approach to Time-Optimal Path Parameterization Based on Reachability Analysis, IEEE Trans.
Robotics 34 (2018) 645-659, with the strips' crossings in the place of its linear programs.
Verified by: tests/verification/test_arm_timing.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.spline import Mask

CHUNK = 512
"""Intervals whose crossings are found at once, few enough for the processor's cache."""
FLAT = 1e-10
"""A strip steeper than this acts on x0 alone: its bound on x1 would be rounding noise."""
BOUNDLESS = 1e100
"""In the place of infinite paces, whose products with zero would be no numbers."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """The curve in N intervals of the path parameter; derivatives by it at both ends, (N, dof) each."""

    ds: Array
    """Length, (N,); zero where the arm stands still for a time."""
    start_slope: Array
    end_slope: Array
    start_bend: Array
    end_bend: Array

    @property
    def middle_slope(self) -> Array:
        """The middle Bernstein coefficient of the slope, a parabola over each interval, (N, dof)."""
        return self.start_slope + 0.5 * self.ds[:, None] * self.start_bend

    def peaks(self, x: Array) -> tuple[Array, Array]:
        """Largest speed and acceleration of each joint in each interval at the paces x (N+1,), (N, dof) each.

        The acceleration is exact, the speed the largest of eleven places.
        """
        x0, x1 = x[:-1, None], x[1:, None]
        u = (x1 - x0) / (2.0 * np.where(self.ds > 0.0, self.ds, 1.0)[:, None])
        middle = self.middle_slope
        first, last = self.start_slope * u + self.start_bend * x0, self.end_slope * u + self.end_bend * x1
        control = middle * u + 0.5 * (self.start_bend * x1 + self.end_bend * x0)
        rise, fall = first - control, last - control
        place = np.divide(rise, rise + fall, out=np.zeros_like(first), where=rise * fall > 0.0)
        crest = first - rise * place
        acceleration = np.maximum(np.maximum(np.abs(first), np.abs(last)), np.abs(crest))
        speed = np.zeros_like(first)
        for p in np.linspace(0.0, 1.0, 11):
            slope = (1.0 - p) ** 2 * self.start_slope + 2.0 * p * (1.0 - p) * middle + p * p * self.end_slope
            np.maximum(speed, np.abs(slope) * np.sqrt((1.0 - p) * x0 + p * x1), out=speed)
        return speed, acceleration


def speed_ceiling(intervals: Intervals, speed: Array, ceiling: Array) -> Array:
    """Lower a ceiling of x (N+1,) to where no joint exceeds its speed (dof,), also between the ends of the intervals.

    The square of the speed, q'^2 x, is a quintic in each interval and lies within its Bernstein coefficients. Where
    they exceed the limit with both ends at the ceiling, both ends come down: a second-order amount in the length.
    """
    limited = np.isfinite(speed)
    if not limited.any() or not len(intervals.ds):
        return ceiling
    v = speed[limited]
    b0, b1, b2 = (s[:, limited] / v for s in (intervals.start_slope, intervals.middle_slope, intervals.end_slope))
    largest = 0.1 * np.maximum(np.maximum(np.abs(b0), np.abs(b1)), np.abs(b2))
    top = ceiling.copy()
    with np.errstate(divide="ignore"):
        np.minimum(top[:-1], 1.0 / np.maximum(np.abs(b0), largest).max(axis=1) ** 2, out=top[:-1])
        np.minimum(top[1:], 1.0 / np.maximum(np.abs(b2), largest).max(axis=1) ** 2, out=top[1:])
    # Where no joint with a limit moves the ceiling stays infinite, and nothing can exceed the limit there.
    finite = np.where(np.isfinite(top), top, 0.0)
    x0, x1 = finite[:-1, None], finite[1:, None]
    c = (b0 * b0, b0 * b1, (b0 * b2 + 2.0 * b1 * b1) / 3.0, b1 * b2, b2 * b2)
    excess = np.ones(len(b0))
    for k in range(1, 5):
        np.maximum(excess, (((5 - k) * c[k] * x0 + k * c[k - 1] * x1) / 5.0).max(axis=1), out=excess)
    share = np.ones(len(top))
    share[:-1] = excess
    np.maximum(share[1:], excess, out=share[1:])
    top /= share
    return top


def fastest_paces(intervals: Intervals, acceleration: Array, ceiling: Array) -> Array:
    """The largest x (N+1,) within a ceiling (N+1,) whose accelerations stay within their limits (dof,).

    The ceiling is zero where the arm stands still; it begins and ends with zero. Limits may be infinite; without any
    limit x is BOUNDLESS.
    """
    limited = np.isfinite(acceleration)
    if not limited.any() or not len(intervals.ds):
        return np.minimum(ceiling, BOUNDLESS)
    a, b = _strips(intervals, acceleration, limited)
    top = np.minimum(ceiling, BOUNDLESS)
    with np.errstate(divide="ignore"):
        np.minimum(top[:-1], 1.0 / _crossings(a, b), out=top[:-1])
    # x0 <= (1 + b x1) / -a where a < 0, and x1 <= (1 - a x0) / b where b > 0.
    down, up = a < 0.0, b > 0.0
    brake_r, push_r = np.full_like(a, np.inf), np.full_like(a, np.inf)
    brake_p, push_p = np.zeros_like(a), np.zeros_like(a)
    np.divide(1.0, -a, out=brake_r, where=down)
    np.divide(b, -a, out=brake_p, where=down)
    np.divide(1.0, b, out=push_r, where=up)
    np.divide(-a, b, out=push_p, where=up)
    limit = top.tolist()
    reach = limit[-1]
    smallest = np.minimum.reduce
    # Plain floats and one small array operation a stage: only this part is sequential.
    for i in range(len(limit) - 2, -1, -1):
        reach = limit[i] = min(limit[i], float(smallest(brake_p[i] * reach + brake_r[i])))
    x = limit[0]
    for i in range(len(limit) - 1):
        x = limit[i + 1] = max(0.0, min(limit[i + 1], float(smallest(push_p[i] * x + push_r[i]))))
    return np.array(limit)


def _strips(intervals: Intervals, acceleration: Array, limited: Mask) -> tuple[Array, Array]:
    """a, b of |a x0 + b x1| <= 1 with b >= 0, (N, 3 * limited joints) each; zeros where the arm stands still."""
    scale = 1.0 / acceleration[limited]
    moving = intervals.ds > 0.0
    ds = np.where(moving, intervals.ds, 1.0)[:, None]
    g0, g1, g2, e0, e2 = (
        np.where(moving[:, None], s[:, limited], 0.0) * scale
        for s in (
            intervals.start_slope,
            intervals.middle_slope,
            intervals.end_slope,
            intervals.start_bend,
            intervals.end_bend,
        )
    )
    g0, g1, g2 = g0 / (2.0 * ds), g1 / (2.0 * ds), g2 / (2.0 * ds)
    a = np.concatenate([e0 - g0, 0.5 * e2 - g1, -g2], axis=1)
    b = np.concatenate([g0, 0.5 * e0 + g1, g2 + e2], axis=1)
    a[np.abs(a) < 1.0 / BOUNDLESS] = 0.0
    b[np.abs(b) <= np.maximum(FLAT * np.abs(a), 1.0 / BOUNDLESS)] = 0.0
    # Both signs of a strip are the same strip. Without b the sign of a is chosen so that it bounds x0.
    a = np.where(b < 0.0, -a, np.where(b == 0.0, np.abs(a), a))
    return a, np.abs(b)


def _crossings(a: Array, b: Array) -> Array:
    """One over the largest x0 for which some x1 >= 0 lies in all strips of an interval, (N,)."""
    inverse = np.maximum(a, 0.0).max(axis=1)
    for start in range(0, len(a), CHUNK):
        rows = slice(start, start + CHUNK)
        product = a[rows, :, None] * b[rows, None, :]
        product -= product.transpose(0, 2, 1).copy()
        width = b[rows, :, None] + b[rows, None, :] + 1e-300
        inverse[rows] = np.maximum(inverse[rows], (product / width).max(axis=(1, 2)))
    return np.asarray(inverse)
