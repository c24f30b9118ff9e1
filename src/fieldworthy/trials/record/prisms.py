"""Extruded polygons and walls as triangles, for viewers. Points are (x, y) with z up [m], right-handed.

Seen from outside, the corners of every triangle of a prism run counter-clockwise. A wall has no thickness.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import shapely
from shapely.geometry.polygon import orient

Flat = tuple[float, float]
Corner = tuple[float, float, float]


def prism_triangles(
    outline_m: Sequence[Flat], holes_m: Sequence[Sequence[Flat]], top_m: float, bottom_m: float
) -> list[Corner]:
    """Corners, three a triangle: top, bottom, and the walls of the outline and of the holes.

    A ring that crosses itself is taken as the area that it encloses, and one without area as nothing.
    """
    corners: list[Corner] = []
    for piece in _polygons(shapely.make_valid(shapely.Polygon(outline_m, holes_m))):
        corners += _solid(piece, top_m, bottom_m)
    return corners


def wall_triangles(line_m: Sequence[Flat], top_m: float, bottom_m: float) -> list[Corner]:
    """Corners, three a triangle, of a thin wall along the line."""
    corners: list[Corner] = []
    for (x0, y0), (x1, y1) in pairwise(line_m):
        corners += [(x0, y0, bottom_m), (x1, y1, bottom_m), (x1, y1, top_m)]
        corners += [(x0, y0, bottom_m), (x1, y1, top_m), (x0, y0, top_m)]
    return corners


def _polygons(area: shapely.Geometry) -> list[shapely.Polygon]:
    if isinstance(area, shapely.Polygon):
        return [] if area.is_empty else [area]
    return [piece for part in getattr(area, "geoms", ()) for piece in _polygons(part)]


def _solid(piece: shapely.Polygon, top: float, bottom: float) -> list[Corner]:
    piece = orient(piece)  # outline counter-clockwise, holes clockwise: the solid is on the left of every edge
    corners: list[Corner] = []
    for triangle in shapely.constrained_delaunay_triangles(piece).geoms:
        ring = list(orient(triangle).exterior.coords)[:3]
        corners += [(x, y, top) for x, y in ring]
        corners += [(x, y, bottom) for x, y in reversed(ring)]
    for loop in (piece.exterior, *piece.interiors):
        corners += wall_triangles(list(loop.coords), top, bottom)
    return corners
