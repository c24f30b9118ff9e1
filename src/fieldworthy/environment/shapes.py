"""The obstacles of a layout, as a person describes them: plain numbers, no lanes.

Frames: horizontal positions are north and east [m] of the world origin; heights are above still water, up positive,
because that is how charts and people give them. Headings are clockwise from north [rad].
A moving shape keeps its orientation and moves with a constant velocity; its position is the one at t = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class _Named:
    """What every shape has: a constant velocity and a label for people."""

    vel_north_m_s: float = 0.0
    vel_east_m_s: float = 0.0
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Cylinder(_Named):
    """Vertical cylinder with a flat top."""

    north_m: float
    east_m: float
    radius_m: float
    top_up_m: float
    bottom_up_m: float


@dataclass(frozen=True, kw_only=True)
class Sphere(_Named):
    """Sphere with its centre `up_m` above still water."""

    north_m: float
    east_m: float
    up_m: float
    radius_m: float


@dataclass(frozen=True, kw_only=True)
class Box(_Named):
    """Upright box; `length_m` lies along its heading."""

    north_m: float
    east_m: float
    length_m: float
    width_m: float
    heading_rad: float
    top_up_m: float
    bottom_up_m: float


@dataclass(frozen=True, kw_only=True)
class Polygon(_Named):
    """Extruded, filled polygon; the rings are (north, east) and need not repeat their first point."""

    points_ne_m: tuple[Point, ...]
    top_up_m: float
    bottom_up_m: float
    holes_ne_m: tuple[tuple[Point, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Polyline(_Named):
    """Thin vertical wall along a line of (north, east) points."""

    points_ne_m: tuple[Point, ...]
    top_up_m: float
    bottom_up_m: float


Shape = Cylinder | Sphere | Box | Polygon | Polyline
Layout = tuple[Shape, ...]

KIND_FROM_TYPE = {Cylinder: "cylinder", Sphere: "sphere", Box: "box", Polygon: "polygon", Polyline: "polyline"}


def is_moving(shape: Shape) -> bool:
    """Whether the shape has a velocity."""
    return shape.vel_north_m_s != 0.0 or shape.vel_east_m_s != 0.0


def box_corners(box: Box) -> tuple[Point, Point, Point, Point]:
    """The four corners (north, east) [m], clockwise from the front left."""
    c, s = math.cos(box.heading_rad), math.sin(box.heading_rad)
    half = ((box.length_m / 2, -box.width_m / 2), (box.length_m / 2, box.width_m / 2))
    front_left, front_right = ((box.north_m + c * f - s * r, box.east_m + s * f + c * r) for f, r in half)
    back_left, back_right = ((box.north_m - c * f - s * r, box.east_m - s * f + c * r) for f, r in half)
    return front_left, front_right, back_right, back_left


def moved(shape: Shape, duration_s: float) -> Shape:
    """The shape where its own velocity takes it in `duration_s`."""
    north, east = shape.vel_north_m_s * duration_s, shape.vel_east_m_s * duration_s
    if isinstance(shape, Polygon):
        return replace(
            shape,
            points_ne_m=_shifted(shape.points_ne_m, north, east),
            holes_ne_m=tuple(_shifted(ring, north, east) for ring in shape.holes_ne_m),
        )
    if isinstance(shape, Polyline):
        return replace(shape, points_ne_m=_shifted(shape.points_ne_m, north, east))
    return replace(shape, north_m=shape.north_m + north, east_m=shape.east_m + east)


def _shifted(points: tuple[Point, ...], north: float, east: float) -> tuple[Point, ...]:
    return tuple((n + north, e + east) for n, e in points)
