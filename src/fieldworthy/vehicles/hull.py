"""The part of a vehicle that touches things: its outline seen from above and how high and deep it reaches.

Frames: outline points are (forward, right) of the vehicle's origin [m]; heights up positive, above the waterline of a
boat, above the centre of mass of what flies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.lanes import Scalar, logical_and, maximum, select, sqrt
from fieldworthy.core.track import Pose
from fieldworthy.core.vec import Vec3, rotate
from fieldworthy.environment.clearance import Outline, hull_to_disc, hull_to_segment
from fieldworthy.environment.primitives import FIELDS

FAR_M = 1.0e6


@dataclass(frozen=True)
class Hull:
    """Convex outline, clockwise seen from above, and its vertical extent."""

    outline: Outline
    draft_m: float
    """How far it reaches down."""
    air_draft_m: float
    """How far it reaches up."""
    flies: bool = False
    """Whether its height counts; a boat stays at height 0."""

    @property
    def radius_m(self) -> float:
        """Radius of the circle about the origin that holds the outline."""
        return max(math.hypot(x, y) for x, y in self.outline)


def hull(
    outline: list[tuple[float, float]], draft_m: float, air_draft_m: float, where: str, flies: bool = False
) -> Hull:
    """A hull from outline points in either direction of turn.

    Raises: ScenarioError unless the points make a convex polygon.
    """
    valid = "3 or more (forward, right) points of a convex hull"
    try:
        points = tuple((float(x), float(y)) for x, y in outline)
    except (TypeError, ValueError):
        raise ScenarioError(Problem(where, "the outline is not a list of pairs of numbers", valid)) from None
    turns = []
    for (a_x, a_y), (b_x, b_y), (c_x, c_y) in zip(
        points, points[1:] + points[:1], points[2:] + points[:2], strict=True
    ):
        across = (b_x - a_x) * (c_y - b_y) - (b_y - a_y) * (c_x - b_x)
        turns.append(math.atan2(across, (b_x - a_x) * (c_x - b_x) + (b_y - a_y) * (c_y - b_y)))
    # Turning one way all along, and once round in all: a star turns one way too, but twice round.
    one_way = all(t > 0 for t in turns) or all(t < 0 for t in turns)
    if len(points) < 3 or not one_way or abs(sum(turns)) > 1.5 * 2.0 * math.pi:
        raise ScenarioError(Problem(where, "the outline is not a convex polygon", valid))
    return Hull(points if turns[0] > 0 else points[::-1], draft_m, air_draft_m, flies)


def vertical_extent(kind: str, numbers: tuple[Scalar, ...]) -> tuple[Scalar, Scalar]:
    """Lowest and highest point of a primitive, up positive [m]."""
    if kind == "sphere":
        return numbers[2] - numbers[3], numbers[2] + numbers[3]
    fields = FIELDS[kind]
    return numbers[fields.index("bottom_up_m")], numbers[fields.index("top_up_m")]


def can_touch(hull: Hull, kind: str, numbers: tuple[Scalar, ...]) -> Scalar:
    """Whether hull and primitive can meet; a bridge above a boat's mast or a rock below its keel cannot."""
    if hull.flies:
        return numbers[0] == numbers[0]
    bottom, top = vertical_extent(kind, numbers)
    return logical_and(bottom < hull.air_draft_m, top > -hull.draft_m)


def hull_distance(hull: Hull, kind: str, numbers: tuple[Scalar, ...], pose: Pose) -> Scalar:
    """Distance [m] from the hull to a primitive; <= 0 where they touch. Horizontal for a boat, in space for what flies.

    Limits: the hull is taken upright; roll and pitch do not move its outline, only where its bow points does.
    Verified by: tests/verification/test_clearance.py
    """
    bow = rotate(pose.quat_ned_from_frd, Vec3(1.0, 0.0, 0.0))
    level = sqrt(bow.x * bow.x + bow.y * bow.y)
    c, s = bow.x / level, bow.y / level

    def in_body(north: Scalar, east: Scalar) -> tuple[Scalar, Scalar]:
        n, e = north - pose.pos_ned_m.x, east - pose.pos_ned_m.y
        return c * n + s * e, c * e - s * n

    up = -pose.pos_ned_m.z if hull.flies else 0.0
    if kind == "wall":
        level_m = hull_to_segment(hull.outline, *in_body(numbers[0], numbers[1]), *in_body(numbers[2], numbers[3]))
        return _in_space(hull, kind, numbers, up, level_m) if hull.flies else level_m
    x, y = in_body(numbers[0], numbers[1])
    if kind == "cylinder":
        level_m = hull_to_disc(hull.outline, x, y, numbers[2])
        return _in_space(hull, kind, numbers, up, level_m) if hull.flies else level_m
    # The widest level cut of the sphere within the hull's height.
    off = maximum(maximum(up - hull.draft_m - numbers[2], numbers[2] - up - hull.air_draft_m), 0.0)
    if hull.flies:
        beside = maximum(hull_to_disc(hull.outline, x, y, 0.0), 0.0)
        return sqrt(beside * beside + off * off) - numbers[3]
    square = numbers[3] * numbers[3] - off * off
    distance = hull_to_disc(hull.outline, x, y, sqrt(maximum(square, 0.0)))
    return select(square > 0.0, distance, FAR_M)


def _in_space(hull: Hull, kind: str, numbers: tuple[Scalar, ...], up_m: Scalar, level_m: Scalar) -> Scalar:
    """Distance of upright prisms: level distance and gap in height together."""
    bottom, top = vertical_extent(kind, numbers)
    gap = maximum(maximum(up_m - hull.draft_m - top, bottom - up_m - hull.air_draft_m), 0.0)
    beside = maximum(level_m, 0.0)
    return select(gap > 0.0, sqrt(beside * beside + gap * gap), level_m)
