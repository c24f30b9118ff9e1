"""Layouts as tables of primitives: what the ray and clearance kernels read.

Every shape becomes upright cylinders, spheres, upright walls and level triangles (caps). A table holds one kind of
primitive for all trials: row after row, `most` entries a row, so entry k of a trial is at row * stride + k. Trials that
share one layout share one row (stride 0). Moving primitives have tables of their own.
Frames: north, east [m]; heights up positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from fieldworthy.core.engine import Engine
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.lanes import Scalar
from fieldworthy.environment import rays
from fieldworthy.environment.shapes import Box, Cylinder, Layout, Polygon, Shape, Sphere, box_corners, is_moving

FIELDS = {
    "cylinder": ("north_m", "east_m", "radius_m", "bottom_up_m", "top_up_m"),
    "sphere": ("north_m", "east_m", "up_m", "radius_m"),
    "wall": ("a_north_m", "a_east_m", "b_north_m", "b_east_m", "bottom_up_m", "top_up_m"),
    "cap": ("a_north_m", "a_east_m", "b_north_m", "b_east_m", "c_north_m", "c_east_m", "up_m"),
}
"""Numbers of each kind, in the order in which the laws of `environment.rays` take them."""

DISTANCE_LAW: dict[str, Callable[..., Scalar]] = {
    "cylinder": rays.to_cylinder,
    "sphere": rays.to_sphere,
    "wall": rays.to_wall,
    "cap": rays.to_cap,
}

BITS = 32
"""Entries of a table that one word of a candidate mask stands for."""


@dataclass
class Table:
    """All primitives of one kind, in lanes. `kind` and `moving` shape the code, the arrays are data."""

    kind: str
    moving: bool
    values: tuple[Any, ...]
    """One Float array for each of FIELDS[kind], length rows * most."""
    velocity: tuple[Any, ...]
    """(north, east) [m/s] arrays of the same length for moving tables, else empty."""
    count: Any
    """UInt32 (rows): entries used."""
    stride: Any
    """UInt32 scalar: entries from row to row; 0 where all trials share one."""
    words: Any
    """UInt32 scalar: mask words a row needs."""
    row_scale: Any
    """UInt32 scalar: 1, or 0 where all trials share one row."""
    word_count: int
    """`words` as a plain number; the kernels only look whether it is 1."""

    @property
    def many_words(self) -> bool:
        """Whether a row needs more than one mask word."""
        return self.word_count > 1


def primitives_of(shape: Shape) -> list[tuple[str, tuple[float, ...]]]:
    """The primitives of a shape, each its kind and the numbers that FIELDS names."""
    if isinstance(shape, Cylinder):
        return [("cylinder", (shape.north_m, shape.east_m, shape.radius_m, shape.bottom_up_m, shape.top_up_m))]
    if isinstance(shape, Sphere):
        return [("sphere", (shape.north_m, shape.east_m, shape.up_m, shape.radius_m))]
    if isinstance(shape, Box):
        corners = box_corners(shape)
        return _walls((*corners, corners[0]), shape) + _caps(shapely.Polygon(corners), shape.top_up_m)
    if isinstance(shape, Polygon):
        found = []
        for ring in (shape.points_ne_m, *shape.holes_ne_m):
            closed = ring if ring[0] == ring[-1] else (*ring, ring[0])
            found += _walls(closed, shape)
        return found + _caps(shapely.Polygon(shape.points_ne_m, shape.holes_ne_m), shape.top_up_m)
    return _walls(shape.points_ne_m, shape)


def _walls(points: Sequence[tuple[float, float]], shape: Any) -> list[tuple[str, tuple[float, ...]]]:
    return [
        ("wall", (*a, *b, shape.bottom_up_m, shape.top_up_m))
        for a, b in zip(points, points[1:], strict=False)
        if a != b
    ]


def _caps(polygon: shapely.Polygon, up_m: float) -> list[tuple[str, tuple[float, ...]]]:
    try:
        triangles = shapely.constrained_delaunay_triangles(polygon)
    except shapely.errors.GEOSException as error:
        outline = f"polygon at north {polygon.exterior.coords[0][0]:.1f} m, east {polygon.exterior.coords[0][1]:.1f} m"
        what = f"the outline is not that of one area ({str(error).splitlines()[0]})"
        raise ScenarioError(Problem(outline, what, "edges that do not cross or touch")) from error
    return [("cap", (*(c for point in t.exterior.coords[:3] for c in point[:2]), up_m)) for t in triangles.geoms]


def build_tables(engine: Engine, layouts: Sequence[Layout]) -> tuple[Table, ...]:
    """Tables of all primitives of the layouts, one layout a trial; kinds that no layout has get no table."""
    shared = all(layout is layouts[0] or layout == layouts[0] for layout in layouts)
    rows: list[dict[tuple[str, bool], list[tuple[float, ...]]]] = []
    cache: dict[int, dict[tuple[str, bool], list[tuple[float, ...]]]] = {}
    for layout in layouts[:1] if shared else layouts:
        row: dict[tuple[str, bool], list[tuple[float, ...]]] = {}
        for shape in layout:
            found = cache.get(id(shape))
            if found is None:
                found = {}
                moving = is_moving(shape)
                for kind, numbers in primitives_of(shape):
                    velocity = (shape.vel_north_m_s, shape.vel_east_m_s) if moving else ()
                    found.setdefault((kind, moving), []).append((*numbers, *velocity))
                cache[id(shape)] = found
            for key, entries in found.items():
                row.setdefault(key, []).extend(entries)
        rows.append(row)
    keys = sorted({key for row in rows for key in row})
    return tuple(_table(engine, kind, moving, [row.get((kind, moving), []) for row in rows]) for kind, moving in keys)


def _table(engine: Engine, kind: str, moving: bool, rows: list[list[tuple[float, ...]]]) -> Table:
    most = max(len(row) for row in rows)
    width = len(FIELDS[kind]) + (2 if moving else 0)
    values = np.zeros((len(rows), most, width))
    for index, row in enumerate(rows):
        if row:
            values[index, : len(row)] = row
    columns = tuple(engine.floats(values[:, :, i]) for i in range(width))
    words = math.ceil(most / BITS)
    return Table(
        kind=kind,
        moving=moving,
        values=columns[: len(FIELDS[kind])],
        velocity=columns[len(FIELDS[kind]) :],
        count=engine.integers(np.array([len(row) for row in rows])),
        stride=engine.counter(most if len(rows) > 1 else 0),
        words=engine.counter(words),
        row_scale=engine.counter(1 if len(rows) > 1 else 0),
        word_count=words,
    )


def entry(table: Table, index: Any, t_s: Scalar, float_type: Any, active: Any = True) -> tuple[Any, ...]:
    """The numbers of the entries at `index` (lanes), with moving ones where they are at `t_s`."""
    import drjit as dr

    numbers = tuple(dr.gather(float_type, column, index, active) for column in table.values)
    if not table.moving:
        return numbers
    north, east = (dr.gather(float_type, column, index, active) * t_s for column in table.velocity)
    return shifted(table.kind, numbers, north, east)


def shifted(kind: str, numbers: tuple[Scalar, ...], north_m: Scalar, east_m: Scalar) -> tuple[Scalar, ...]:
    """The numbers of a primitive moved by (north, east)."""
    moves = {"north_m": north_m, "east_m": east_m}
    axes = (name[2:] if name[1] == "_" else name for name in FIELDS[kind])
    return tuple(number + moves[axis] if axis in moves else number for axis, number in zip(axes, numbers, strict=True))


def velocity(table: Table, index: Any, float_type: Any) -> tuple[Any, Any]:
    """(north, east) velocity [m/s] of the entries at `index` of a moving table."""
    import drjit as dr

    north, east = (dr.gather(float_type, column, index) for column in table.velocity)
    return north, east


def footprint(kind: str, numbers: tuple[Scalar, ...]) -> tuple[list[tuple[Scalar, Scalar]], Scalar]:
    """Points (north, east) and radius [m]: the primitive lies within their convex hull widened by the radius."""
    if kind == "cylinder":
        return [(numbers[0], numbers[1])], numbers[2]
    if kind == "sphere":
        return [(numbers[0], numbers[1])], numbers[3]
    corners = 2 if kind == "wall" else 3
    return [(numbers[2 * i], numbers[2 * i + 1]) for i in range(corners)], 0.0
