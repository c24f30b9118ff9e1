"""How far a hull is from a shape, in the horizontal plane: laws on scalars.

A hull is a convex polygon of constant (forward, right) points [m], clockwise seen from above. Shapes come in body axes.
Distances are zero or negative where hull and shape overlap.
"""

from __future__ import annotations

import math

from fieldworthy.core.lanes import Scalar, clip, logical_and, logical_or, maximum, minimum, select, sqrt

Outline = tuple[tuple[float, float], ...]


def point_to_segment_square(x: Scalar, y: Scalar, a_x: Scalar, a_y: Scalar, b_x: Scalar, b_y: Scalar) -> Scalar:
    """Squared distance [m^2] of a point to the segment from a to b; a segment of no length is its point."""
    along_x, along_y = b_x - a_x, b_y - a_y
    square = maximum(along_x * along_x + along_y * along_y, 1e-12)
    share = clip(((x - a_x) * along_x + (y - a_y) * along_y) / square, 0.0, 1.0)
    off_x, off_y = x - a_x - share * along_x, y - a_y - share * along_y
    return off_x * off_x + off_y * off_y


def depth_inside(outline: Outline, x: Scalar, y: Scalar) -> Scalar:
    """How deep [m] a point lies inside the convex outline; negative outside (there it is no distance)."""
    depth: Scalar = math.inf
    for (a_x, a_y), (b_x, b_y) in _edges(outline):
        length = math.hypot(b_x - a_x, b_y - a_y)
        # Clockwise seen from above with x forward and y right: the inside is on the right of each edge.
        inside = ((b_x - a_x) * (y - a_y) - (b_y - a_y) * (x - a_x)) / length
        depth = minimum(inside, depth)
    return depth


def hull_to_disc(outline: Outline, x: Scalar, y: Scalar, radius_m: Scalar) -> Scalar:
    """Signed distance [m] between the hull and a disc: negative when they overlap."""
    square: Scalar = math.inf
    for (a_x, a_y), (b_x, b_y) in _edges(outline):
        square = minimum(point_to_segment_square(x, y, a_x, a_y, b_x, b_y), square)
    distance = sqrt(square)
    return select(depth_inside(outline, x, y) > 0.0, -distance, distance) - radius_m


def hull_to_segment(outline: Outline, a_x: Scalar, a_y: Scalar, b_x: Scalar, b_y: Scalar) -> Scalar:
    """Distance [m] between the hull and a segment; 0 when they cross or the segment starts inside.

    Equation: two segments that do not cross are nearest at an end of one of them.
    """
    square: Scalar = math.inf
    crossed: Scalar = depth_inside(outline, a_x, a_y) >= 0.0
    for (p_x, p_y), (q_x, q_y) in _edges(outline):
        square = minimum(point_to_segment_square(p_x, p_y, a_x, a_y, b_x, b_y), square)
        square = minimum(point_to_segment_square(a_x, a_y, p_x, p_y, q_x, q_y), square)
        square = minimum(point_to_segment_square(b_x, b_y, p_x, p_y, q_x, q_y), square)
        crossed = logical_or(crossed, _cross(p_x, p_y, q_x, q_y, a_x, a_y, b_x, b_y))
    return select(crossed, 0.0, sqrt(square))


def _cross(
    p_x: float, p_y: float, q_x: float, q_y: float, a_x: Scalar, a_y: Scalar, b_x: Scalar, b_y: Scalar
) -> Scalar:
    """Whether the segments pq and ab cross: each has its ends on different sides of the other."""
    a_side = (q_x - p_x) * (a_y - p_y) - (q_y - p_y) * (a_x - p_x)
    b_side = (q_x - p_x) * (b_y - p_y) - (q_y - p_y) * (b_x - p_x)
    p_side = (b_x - a_x) * (p_y - a_y) - (b_y - a_y) * (p_x - a_x)
    q_side = (b_x - a_x) * (q_y - a_y) - (b_y - a_y) * (q_x - a_x)
    return logical_and(a_side * b_side < 0.0, p_side * q_side < 0.0)


def _edges(outline: Outline) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return list(zip(outline, outline[1:] + outline[:1], strict=True))
