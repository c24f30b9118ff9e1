"""What stands around an arm: spheres, boxes, capsules, half-spaces and convex meshes, in the arm's base frame [m]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from fieldworthy.arms.chain import Array, Triple
from fieldworthy.arms.separation import (
    Gap,
    Hull,
    convex_hull,
    segment_box,
    segment_half_space,
    segment_hull,
    segment_point,
    segment_segment,
)
from fieldworthy.core.errors import FieldworthyError

FARTHEST_M = 100.0
"""A shape further from the base than this was meant in another unit."""

Turn: TypeAlias = tuple[Triple, Triple, Triple]
"""Three rows of a rotation, hashable."""

UPRIGHT: Turn = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Shape:
    """What all obstacles share. Raises: FieldworthyError for numbers that make no such shape."""

    name: str

    def gap(self, a0: Array, a1: Array) -> Gap:
        """Signed distance from the segments a0 to a1 (n, 3) to the surface, as in `separation`."""
        raise NotImplementedError

    def ball(self) -> tuple[Array, float]:
        """(centre (3,), radius) of a ball around it; an infinite radius where none is."""
        raise NotImplementedError

    def moved(self, base_from_frame: Array) -> Shape:
        """The shape given in a frame, in the base frame."""
        raise NotImplementedError

    def _require(self, good: bool, what: str, valid: str) -> None:
        if not good:
            raise FieldworthyError(f"obstacle {self.name}: {what}; valid: {valid}")

    def _lengths(self, **values: Any) -> None:
        """Three finite numbers, or one for a radius; lists and arrays become tuples, so that a shape can be looked
        up."""
        for name, value in values.items():
            try:
                numbers = np.asarray(value, float)
            except (TypeError, ValueError):
                numbers = np.array(math.nan)
            shape = () if name == "radius_m" else (3,)
            good = numbers.shape == shape and bool(np.isfinite(numbers).all())
            self._require(
                good, f"{name} = {value} is not {'one number' if not shape else 'three numbers'}", "metres, finite"
            )
            object.__setattr__(self, name, float(numbers) if not shape else tuple(numbers.tolist()))


@dataclass(frozen=True)
class Sphere(Shape):
    """All points within a radius of a centre."""

    centre_m: Triple
    radius_m: float
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(centre_m=self.centre_m, radius_m=self.radius_m)
        self._require(self.radius_m > 0.0, f"radius_m = {self.radius_m}", "> 0")

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_point(a0, a1, np.array(self.centre_m)).thicker(self.radius_m)

    def ball(self) -> tuple[Array, float]:
        return np.array(self.centre_m), self.radius_m

    def moved(self, base_from_frame: Array) -> Sphere:
        return replace(self, centre_m=_at(base_from_frame, self.centre_m))


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with its three sides along the columns of `turn` (base_from_box)."""

    centre_m: Triple
    size_m: Triple
    """Whole side lengths."""
    turn: Turn = UPRIGHT
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(centre_m=self.centre_m, size_m=self.size_m)
        self._require(min(self.size_m) > 0.0, f"size_m = {self.size_m}", "three sides > 0")
        turn = np.asarray(self.turn, float)
        rigid = turn.shape == (3, 3) and bool(np.abs(turn @ turn.T - np.eye(3)).max() <= 1e-6)
        self._require(rigid and np.linalg.det(turn) > 0.0, "turn is no rotation", "3 rows of a rotation")
        object.__setattr__(self, "turn", turn_of(turn))

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_box(a0, a1, np.array(self.centre_m), np.array(self.turn), 0.5 * np.array(self.size_m))

    def ball(self) -> tuple[Array, float]:
        return np.array(self.centre_m), 0.5 * math.hypot(*self.size_m)

    def moved(self, base_from_frame: Array) -> Box:
        turn = turn_of(base_from_frame[:3, :3] @ np.array(self.turn))
        return replace(self, centre_m=_at(base_from_frame, self.centre_m), turn=turn)


@dataclass(frozen=True)
class Rod(Shape):
    """A capsule: all points within a radius of a segment."""

    a_m: Triple
    b_m: Triple
    radius_m: float
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(a_m=self.a_m, b_m=self.b_m, radius_m=self.radius_m)
        self._require(self.radius_m > 0.0, f"radius_m = {self.radius_m}", "> 0")

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_segment(a0, a1, np.array(self.a_m), np.array(self.b_m)).thicker(self.radius_m)

    def ball(self) -> tuple[Array, float]:
        return (np.array(self.a_m) + self.b_m) / 2.0, self.radius_m + 0.5 * math.dist(self.a_m, self.b_m)

    def moved(self, base_from_frame: Array) -> Rod:
        return replace(self, a_m=_at(base_from_frame, self.a_m), b_m=_at(base_from_frame, self.b_m))


@dataclass(frozen=True)
class HalfSpace(Shape):
    """A table top, floor or wall: all points on the far side of a plane."""

    point_m: Triple
    normal: Triple
    """To the free side; made a unit vector."""
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(point_m=self.point_m, normal=self.normal)
        length = math.hypot(*self.normal)
        self._require(length > 1e-9, f"normal = {self.normal} has no length", "a direction to the free side")
        x, y, z = self.normal
        object.__setattr__(self, "normal", (x / length, y / length, z / length))

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_half_space(a0, a1, np.array(self.point_m), np.array(self.normal))

    def ball(self) -> tuple[Array, float]:
        return np.array(self.point_m), math.inf

    def moved(self, base_from_frame: Array) -> HalfSpace:
        x, y, z = (float(c) for c in base_from_frame[:3, :3] @ np.array(self.normal))
        return replace(self, point_m=_at(base_from_frame, self.point_m), normal=(x, y, z))


@dataclass(frozen=True)
class ConvexMesh(Shape):
    """The convex hull of points."""

    points_m: tuple[Triple, ...]
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "points_m", tuple(tuple(float(x) for x in point) for point in self.points_m))
        self.hull()

    def hull(self) -> Hull:
        """Faces and edges. Raises: FieldworthyError where the points span no volume."""
        return _hull(self.points_m, f"obstacle {self.name}")

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_hull(a0, a1, self.hull())

    def ball(self) -> tuple[Array, float]:
        corners = self.hull().corners_m
        centre: Array = (corners.min(axis=0) + corners.max(axis=0)) / 2.0
        return centre, float(np.linalg.norm(corners - centre, axis=1).max())

    def moved(self, base_from_frame: Array) -> ConvexMesh:
        return replace(self, points_m=tuple(_at(base_from_frame, point) for point in self.hull().corners_m))


Obstacle: TypeAlias = Sphere | Box | Rod | HalfSpace | ConvexMesh


@lru_cache(maxsize=256)
def _hull(points_m: tuple[Triple, ...], what: str) -> Hull:
    return convex_hull(points_m, what)


def _at(base_from_frame: Array, point: Any) -> Triple:
    x, y, z = (float(c) for c in base_from_frame[:3, :3] @ np.asarray(point, float) + base_from_frame[:3, 3])
    return x, y, z


def turn_of(matrix: Array) -> Turn:
    """A rotation matrix (3, 3) as hashable rows."""
    rows = [(float(x), float(y), float(z)) for x, y, z in matrix]
    return rows[0], rows[1], rows[2]
