"""Piecewise linear tables in one and two dimensions: numbers between knots, for any engine, without a gather.

The weights of an axis are worked out once and shared by every table on it: one clip a knot. A table of lanes costs one
multiplication and addition an entry, whatever the place that is asked for, and all of it is differentiable.
"""

from __future__ import annotations

from collections.abc import Sequence

from fieldworthy.core.lanes import Scalar, clip

Knots = tuple[float, ...]
"""Places of the entries of a table on one axis, rising: plain numbers, the same in every lane."""

Weights = tuple[Scalar, ...]


def check_knots(knots: Sequence[float], name: str) -> Knots:
    """The knots as a tuple of floats; ValueError unless there are two or more and each is above the one before."""
    if len(knots) < 2 or not all(low < high for low, high in zip(knots, knots[1:], strict=False)):
        raise ValueError(f"{name} = {list(knots)}: not a table's axis; valid: two or more numbers, each above the last")
    return tuple(float(knot) for knot in knots)


def weights(knots: Knots, x: Scalar) -> Weights:
    """Share of every entry in the value at x: they add up to one, and two neighbours at most are not zero.

    Equation: t_i = clip((x - x_i)/(x_i+1 - x_i), 0, 1);  w_0 = 1 - t_0,  w_i = t_i-1 - t_i,  w_n = t_n-1
    Source: hat functions of linear finite elements, each written as a difference of two clipped ramps.
    Limits: outside the knots the value of the nearest end (no extrapolation); kinks at the knots.
    Verified by: tests/verification/test_table.py
    """
    ramps = [clip((x - low) * (1.0 / (high - low)), 0.0, 1.0) for low, high in zip(knots, knots[1:], strict=False)]
    inner = tuple(before - after for before, after in zip(ramps, ramps[1:], strict=False))
    return (1.0 - ramps[0], *inner, ramps[-1])


def interpolate(axis: Weights, values: Sequence[Scalar]) -> Scalar:
    """The value of a table with one entry a weight."""
    total: Scalar = 0.0
    for weight, value in zip(axis, values, strict=True):
        total = total + weight * value
    return total


def interpolate_2d(rows: Weights, columns: Weights, table: Sequence[Sequence[Scalar]]) -> Scalar:
    """The value of a table of rows: bilinear between four neighbours."""
    return interpolate(rows, [interpolate(columns, row) for row in table])
