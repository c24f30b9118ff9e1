"""The plan view: world metres to drawing units, the obstacles, and what makes it a map (grid, scale bar, north arrow).

Frames: north and east [m] in, x right and y down in drawing units out. A chart keeps north up; a long course from
south to north may be `turned`, so that north points right and east points down and the page is used well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Shape, Sphere, box_corners
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.simplify import simplify
from fieldworthy.trials.report.text import short

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


def obstacle_paths(frame: MapFrame, shapes: Iterable[Shape]) -> str:
    """The shapes as one filled path (solids) and one stroked path (walls), clipped to nothing outside the view."""
    solid, wall = obstacle_data(frame, shapes)
    parts = [
        f'<path class="obstacle" d="{solid}"/>' if solid else "",
        f'<path class="wall" d="{wall}"/>' if wall else "",
    ]
    return "".join(parts)


def obstacle_data(frame: MapFrame, shapes: Iterable[Shape]) -> tuple[str, str]:
    """Path data of solids and of thin walls. Rings are simplified below a pixel; far shapes are left out."""
    solids: list[str] = []
    walls: list[str] = []
    rings: list[NDArray[np.float64]] = []
    closed: list[bool] = []
    for shape in shapes:
        if bounds_of_shape(shape).common(frame.view) is None:
            continue
        if isinstance(shape, (Cylinder, Sphere)):
            solids.append(svg.circle_data(*frame.xy(shape.north_m, shape.east_m), shape.radius_m * frame.scale))
            continue
        holes = shape.holes_ne_m if isinstance(shape, Polygon) else ()
        for ring in (outline_points(shape), *holes):
            corners = np.asarray(ring, dtype=np.float64)
            is_closed = not isinstance(shape, Polyline)
            if is_closed:
                corners = np.vstack((corners, corners[:1]))
            points = frame.points(corners[:, 0], corners[:, 1])
            # All solids share a path, and may overlap: holes must wind the other way round than rims and circles.
            if is_closed and (_winding(points) > 0.0) != (ring in holes):
                points = points[::-1]
            rings.append(points)
            closed.append(is_closed)
    for points, is_closed in zip(simplify(rings, TOLERANCE), closed, strict=True):
        (solids if is_closed else walls).append(svg.path_data(points, is_closed))
    return "".join(solids), "".join(walls)


def _winding(ring: NDArray[np.float64]) -> float:
    """Twice the signed area of a closed ring, positive clockwise on the screen."""
    x, y = ring[:, 0], ring[:, 1]
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def map_axes(frame: MapFrame, ticks: int = 8, labels: bool = True) -> list[str]:
    """Water, light grid and metres along both edges: goes under everything else."""
    x0, y0 = frame.left, frame.top
    x1, y1 = x0 + frame.width, y0 + frame.height
    view = frame.view
    step = svg.nice_step(max(frame.width, frame.height) / frame.scale, ticks)
    across = (view.south_m, view.north_m) if frame.turned else (view.west_m, view.east_m)
    upright = (view.west_m, view.east_m) if frame.turned else (view.south_m, view.north_m)
    parts = [svg.rect(x0, y0, frame.width, frame.height, "water")]
    for value in _multiples(*across, step):
        x = frame.xy(value, view.west_m)[0] if frame.turned else frame.xy(view.south_m, value)[0]
        parts += [svg.line(x, y0, x, y1, "grid"), svg.text(x, y1 + 15, short(value), "t", "middle")]
    for value in _multiples(*upright, step):
        y = frame.xy(view.south_m, value)[1] if frame.turned else frame.xy(value, view.west_m)[1]
        parts += [svg.line(x0, y, x1, y, "grid"), svg.text(x0 - 6, y + 4, short(value), "t", "end")]
    if labels:
        names = ("north [m]", "east [m]") if frame.turned else ("east [m]", "north [m]")
        parts.append(svg.text(0.5 * (x0 + x1), y1 + 33, names[0], "t label", "middle"))
        parts.append(svg.text(x0 - 44, 0.5 * (y0 + y1), names[1], "t label", "middle", turned=True))
    return parts


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [i * step for i in range(first, last + 1)]


def scale_bar(frame: MapFrame, right: float, y: float, most: float = 130.0) -> list[str]:
    """A bar of a round length that ends at `right`, with its length above."""
    length_m = svg.nice_step(most / frame.scale, 1)
    if length_m * frame.scale > most:
        length_m = svg.nice_step(most / frame.scale / 2.5, 1)
    left = right - length_m * frame.scale
    return [
        f'<path class="bar" d="M{left:.1f} {y - 4:.1f}v4H{right:.1f}v-4"/>',
        svg.text(0.5 * (left + right), y - 5, f"{short(length_m)}\u202fm", "t", "middle"),
    ]


def north_arrow(x: float, y: float, turned: bool) -> str:
    """An arrow with an N, centred on (x, y), about 20 units long."""
    turn = 90 if turned else 0
    letter = svg.text(x + (15 if turned else 9), y + 4, "N", "t strong")
    return (
        f'<path class="arrow" transform="translate({x:.1f} {y:.1f}) rotate({turn})" d="M0 -11L5 9L0 5L-5 9z"/>{letter}'
    )
