"""Which primitives can be met at all: bit masks that let the ray and clearance kernels skip the rest.

For every lane (or lane and bin of neighbouring columns) one word says which of 32 primitives are worth an exact test.
A mask may be too wide, never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fieldworthy.core.engine import Engine
from fieldworthy.core.lanes import Scalar, atan2, cos, logical_or, maximum, minimum, select, sin, sqrt
from fieldworthy.core.lanes import abs as magnitude
from fieldworthy.environment.clearance import point_to_segment_square
from fieldworthy.environment.primitives import BITS, Table, entry, footprint

MARGIN_M = 0.3
"""Widening of every primitive: more than rounding, and than interpolated poses lie beside the true path."""

MARGIN_RAD = 0.02

FASTEST_M_S = 40.0
"""Speed of approach that masks allow for during the time they stand for (78 knots)."""

FASTEST_TURN_RAD_S = 2.0
"""Rate of turn, roll and pitch that they allow for."""

Test = Callable[[tuple[Scalar, ...]], Any]
"""From the numbers of a primitive to whether it is worth an exact test."""


def mask_word(engine: Engine, table: Table, row: Any, word: Any, t_s: Scalar, worth: Test, among: Any = None) -> Any:
    """UInt32: bit k tells whether primitive 32 * word + k of the trial in `row` is worth an exact test at `t_s`.

    among: UInt32, a wider mask of the same word, where there is one: only what it marks is looked at.
    """
    import drjit as dr

    uint = engine.UInt32
    count = dr.gather(uint, table.count, row * table.row_scale)
    first = word * BITS
    used = dr.minimum(count - dr.minimum(first, count), BITS)
    every = dr.select(used == BITS, uint(0xFFFFFFFF), (uint(1) << dr.minimum(used, BITS - 1)) - 1)

    def step(left: Any, mask: Any) -> tuple[Any, Any]:
        bit = dr.tzcnt(left)
        numbers = entry(table, row * table.stride + first + bit, t_s, engine.Float, left != 0)
        return left & (left - 1), mask | dr.select((left != 0) & worth(numbers), uint(1) << bit, uint(0))

    left = every if among is None else every & among
    _, mask = dr.while_loop((left, uint(0)), lambda left, mask: left != 0, step)
    return mask


def within_reach(kind: str, north_m: Scalar, east_m: Scalar, reach_m: Scalar) -> Test:
    """Worth it where the primitive comes nearer than `reach_m` to (north, east), seen from above."""

    def worth(numbers: tuple[Scalar, ...]) -> Any:
        points, radius = footprint(kind, numbers)
        if len(points) == 3:
            return sqrt(_triangle_square(points, north_m, east_m)) < reach_m + MARGIN_M
        (a_n, a_e), (b_n, b_e) = points[0], points[-1]
        square = point_to_segment_square(north_m, east_m, a_n, a_e, b_n, b_e)
        return sqrt(square) < reach_m + radius + MARGIN_M

    return worth


def within_wedge(
    kind: str, north_m: Scalar, east_m: Scalar, corners: list[tuple[Scalar, Scalar]], spare_s: float = 0.0
) -> Test:
    """Worth it where rays from (north, east) within the wedge of directions can meet the primitive.

    spare_s: time that vehicle and primitive may have moved and turned for since the wedge was laid.
    corners: horizontal parts (north, east) of the directions at the bin's four corners. Along a column the direction is
        cos e * forward + sin e * up, whose horizontal part turns one way only with the elevation e: so every
        direction of the bin lies between the extreme corners.
    """
    middle_n, middle_e = sum(n for n, _ in corners), sum(e for _, e in corners)
    length = sqrt(maximum(_square(middle_n, middle_e), 1e-12))
    axis_n, axis_e = middle_n / length, middle_e / length
    widest: Scalar = 0.0
    for n, e in corners:
        widest = maximum(widest, magnitude(atan2(axis_n * e - axis_e * n, axis_n * n + axis_e * e)))
    half = widest + MARGIN_RAD + FASTEST_TURN_RAD_S * spare_s
    c, s = cos(minimum(half, 1.4)), sin(minimum(half, 1.4))

    def worth(numbers: tuple[Scalar, ...]) -> Any:
        points, radius = footprint(kind, numbers)
        wide = radius + MARGIN_M + FASTEST_M_S * spare_s
        outside: list[Any] = []
        for n, e in points:
            ahead = (n - north_m) * axis_n + (e - east_m) * axis_e
            right = (e - east_m) * axis_n - (n - north_m) * axis_e
            sides = (right * c - ahead * s > wide, -right * c - ahead * s > wide, ahead < -wide)
            outside = [a & b for a, b in zip(outside, sides, strict=True)] if outside else list(sides)
        # Past 80 degrees either side (a hull on its beam ends) a wedge excludes nothing.
        return ~(outside[0] | outside[1] | outside[2]) | (half > 1.4)

    return worth


def _triangle_square(corners: list[tuple[Scalar, Scalar]], north_m: Scalar, east_m: Scalar) -> Scalar:
    """Squared distance [m^2] of a point to a filled triangle, 0 inside."""
    square: Scalar = math.inf
    least, most = math.inf, -math.inf
    for (a_n, a_e), (b_n, b_e) in zip(corners, corners[1:] + corners[:1], strict=True):
        square = minimum(point_to_segment_square(north_m, east_m, a_n, a_e, b_n, b_e), square)
        side = (b_n - a_n) * (east_m - a_e) - (b_e - a_e) * (north_m - a_n)
        least, most = minimum(side, least), maximum(side, most)
    return select(logical_or(least >= 0.0, most <= 0.0), 0.0, square)


def _square(x: Scalar, y: Scalar) -> Scalar:
    return x * x + y * y


def filled_parts(engine: Engine, table: Table, masks: Any, group: Any) -> Any:
    """UInt32 (lanes): bit k tells whether anything is marked in part k of the words of a group.

    A long table's words are cut into 32 parts or fewer, so that `for_each_candidate` need not read empty ones.
    group: which `table.words` words of the masks, in lanes.
    """
    import drjit as dr

    uint = engine.UInt32
    base, words = group * table.words, _words_of_part(table)

    def step(number: Any, parts: Any) -> tuple[Any, Any]:
        marked = dr.gather(uint, masks, base + number) != 0
        return number + 1, parts | dr.select(marked, uint(1) << (number // words), uint(0))

    return dr.while_loop((uint(0), uint(0)), lambda number, parts: number < table.words, step)[1]


def _words_of_part(table: Table) -> Any:
    return (table.words + (BITS - 1)) // BITS


def for_each_candidate(
    engine: Engine,
    table: Table,
    masks: Any,
    base: Any,
    row: Any,
    state: Any,
    visit: Callable[[Any, Any], Any],
    filled: Any = None,
) -> Any:
    """Run `state = visit(index, state)` over every primitive marked in masks[base], masks[base + 1], …

    index is the place in the table (lanes). state is a tuple of lanes. filled: what `filled_parts` says of these
    words, to skip empty ones. Returns the last state.
    """
    import drjit as dr

    uint = engine.UInt32
    first = row * table.stride

    def over_words(number: Any, state: Any) -> tuple[Any, Any]:
        def over_bits(word: Any, state: Any) -> tuple[Any, Any]:
            index = first + number * BITS + dr.tzcnt(word)
            return word & (word - 1), visit(index, state)

        word = dr.gather(uint, masks, base + number)
        _, state = dr.while_loop((word, state), lambda word, state: word != 0, over_bits)
        return number + 1, state

    if not table.many_words:
        return over_words(uint(0), state)[1]
    if filled is None:
        return dr.while_loop((uint(0), state), lambda number, state: number < table.words, over_words)[1]
    words = _words_of_part(table)

    def over_parts(left: Any, state: Any) -> tuple[Any, Any]:
        start = dr.tzcnt(left) * words
        end = dr.minimum(start + words, table.words)
        _, state = dr.while_loop((start, state), lambda number, state: number < end, over_words)
        return left & (left - 1), state

    return dr.while_loop((uint(filled), state), lambda left, state: left != 0, over_parts)[1]
