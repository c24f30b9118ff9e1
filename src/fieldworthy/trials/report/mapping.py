"""The plan view: world metres to drawing units, and the obstacles as paths.

Frames: north and east [m] in, x right and y down in drawing units out. A chart keeps north up; a long course from
south to north may be `turned`, so that north points right and east points down and the page is used well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Shape, Sphere, box_corners
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.look import ORDER, least_half
from fieldworthy.trials.report.simplify import simplify

TOLERANCE = 0.3
"""Largest displacement of a line by simplification, in drawing units (below a pixel)."""


@dataclass(frozen=True)
class Bounds:
    """A rectangle in the world [m]."""

    south_m: float
    north_m: float
    west_m: float
    east_m: float

    @property
    def height_m(self) -> float:
        """Extent from south to north."""
        return self.north_m - self.south_m

    @property
    def width_m(self) -> float:
        """Extent from west to east."""
        return self.east_m - self.west_m

    @property
    def middle(self) -> tuple[float, float]:
        """(north, east) [m] of the centre."""
        return 0.5 * (self.south_m + self.north_m), 0.5 * (self.west_m + self.east_m)

    def grown(self, margin_m: float) -> Bounds:
        """The rectangle with a margin all round."""
        return Bounds(self.south_m - margin_m, self.north_m + margin_m, self.west_m - margin_m, self.east_m + margin_m)

    def joined(self, other: Bounds) -> Bounds:
        """The smallest rectangle around both."""
        return Bounds(
            min(self.south_m, other.south_m),
            max(self.north_m, other.north_m),
            min(self.west_m, other.west_m),
            max(self.east_m, other.east_m),
        )

    def common(self, other: Bounds) -> Bounds | None:
        """The part that both share, if any."""
        south, north = max(self.south_m, other.south_m), min(self.north_m, other.north_m)
        west, east = max(self.west_m, other.west_m), min(self.east_m, other.east_m)
        return Bounds(south, north, west, east) if south <= north and west <= east else None

    def holds(self, north_m: float, east_m: float) -> bool:
        """Whether a point lies inside."""
        return self.south_m <= north_m <= self.north_m and self.west_m <= east_m <= self.east_m


def bounds_of_points(north_m: Iterable[float], east_m: Iterable[float]) -> Bounds:
    """The smallest rectangle around points (at least one)."""
    north, east = np.asarray(list(north_m)), np.asarray(list(east_m))
    return Bounds(float(north.min()), float(north.max()), float(east.min()), float(east.max()))


def bounds_of_shape(shape: Shape) -> Bounds:
    """The smallest rectangle around a shape where it is at t = 0."""
    if isinstance(shape, (Cylinder, Sphere)):
        return Bounds(shape.north_m, shape.north_m, shape.east_m, shape.east_m).grown(shape.radius_m)
    return bounds_of_points(*zip(*outline_points(shape), strict=True))


def outline_points(shape: Polygon | Polyline | Box) -> tuple[tuple[float, float], ...]:
    """Corners (north, east) [m] of a shape with corners."""
    return box_corners(shape) if isinstance(shape, Box) else shape.points_ne_m


@dataclass(frozen=True)
class MapFrame:
    """The plot rectangle of a map and its projection."""

    view: Bounds
    left: float
    top: float
    scale: float
    """Drawing units a metre."""
    turned: bool = False

    @property
    def width(self) -> float:
        """Of the plot rectangle, in drawing units."""
        return (self.view.height_m if self.turned else self.view.width_m) * self.scale

    @property
    def height(self) -> float:
        """Of the plot rectangle, in drawing units."""
        return (self.view.width_m if self.turned else self.view.height_m) * self.scale

    def xy(self, north_m: float, east_m: float) -> tuple[float, float]:
        """Drawing position of a point."""
        if self.turned:
            x, y = north_m - self.view.south_m, east_m - self.view.west_m
        else:
            x, y = east_m - self.view.west_m, self.view.north_m - north_m
        return self.left + self.scale * x, self.top + self.scale * y

    def points(self, north_m: NDArray[np.float64], east_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Drawing positions (n, 2) of many points."""
        if self.turned:
            x, y = north_m - self.view.south_m, east_m - self.view.west_m
        else:
            x, y = east_m - self.view.west_m, self.view.north_m - north_m
        return np.column_stack((self.left + self.scale * x, self.top + self.scale * y))


def fit(
    view: Bounds, left: float, top: float, width: float, max_height: float, turned: bool, least_height: float = 0.0
) -> MapFrame:
    """The frame of the given width that shows all of `view`, grown to fill the width and at least `least_height`."""
    span_x, span_y = (view.height_m, view.width_m) if turned else (view.width_m, view.height_m)
    scale = min(width / max(span_x, 1e-9), max_height / max(span_y, 1e-9))
    extra_x = max(0.0, width / scale - span_x)
    extra_y = max(0.0, least_height / scale - span_y)
    extra_north, extra_east = (extra_x, extra_y) if turned else (extra_y, extra_x)
    grown = Bounds(
        view.south_m - extra_north / 2, view.north_m + extra_north / 2,
        view.west_m - extra_east / 2, view.east_m + extra_east / 2,
    )  # fmt: skip
    return MapFrame(grown, left, top, scale, turned)


def obstacle_paths(frame: MapFrame, shapes: Iterable[Shape], css_of: Callable[[Shape], str]) -> str:
    """The shapes as one path for all of a class, solids filled and walls stroked."""
    return "".join(f'<path class="{css}" d="{data}"/>' for css, data in obstacle_data(frame, shapes, css_of))


def obstacle_data(frame: MapFrame, shapes: Iterable[Shape], css_of: Callable[[Shape], str]) -> list[tuple[str, str]]:
    """Classes and path data of solids and of thin walls, in painting order.

    Rings are simplified below a pixel, shapes outside the view are left out, and small shapes of a class that must be
    seen are enlarged about their middle.
    """
    data: dict[tuple[str, str], list[str]] = {}
    rings: list[NDArray[np.float64]] = []
    owners: list[tuple[str, str]] = []
    for shape in shapes:
        bounds = bounds_of_shape(shape)
        if bounds.common(frame.view) is None:
            continue
        css = css_of(shape)
        if isinstance(shape, (Cylinder, Sphere)):
            radius = max(shape.radius_m * frame.scale, least_half(css))
            circle = svg.circle_data(*frame.xy(shape.north_m, shape.east_m), radius)
            data.setdefault((css, "obstacle"), []).append(circle)
            continue
        half = 0.5 * max(bounds.height_m, bounds.width_m) * frame.scale
        larger = max(1.0, least_half(css) / max(half, 1e-3))
        middle = np.array(frame.xy(*bounds.middle))
        holes = shape.holes_ne_m if isinstance(shape, Polygon) else ()
        for ring in (outline_points(shape), *holes):
            corners = np.asarray(ring, dtype=np.float64)
            is_closed = not isinstance(shape, Polyline)
            if is_closed:
                corners = np.vstack((corners, corners[:1]))
            points = frame.points(corners[:, 0], corners[:, 1])
            # All solids of a class share a path, and may overlap: holes must wind the other way round than rims.
            if is_closed and (_winding(points) > 0.0) != (ring in holes):
                points = points[::-1]
            rings.append(middle + larger * (points - middle))
            owners.append((css, "obstacle" if is_closed else "wall"))
    for points, owner in zip(simplify(rings, TOLERANCE), owners, strict=True):
        data.setdefault(owner, []).append(svg.path_data(points, owner[1] == "obstacle"))
    ordered = sorted(data.items(), key=lambda item: ORDER.index(item[0][0]))
    return [(f"{form} {css}".strip(), "".join(parts)) for (css, form), parts in ordered]


def _winding(ring: NDArray[np.float64]) -> float:
    """Twice the signed area of a closed ring, positive clockwise on the screen."""
    x, y = ring[:, 0], ring[:, 1]
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))
