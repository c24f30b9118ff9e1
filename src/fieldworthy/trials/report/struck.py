"""Which obstacle a vehicle hit, for drawing only: the one nearest to where the trial ended."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fieldworthy.environment.shapes import Cylinder, Polyline, Shape, Sphere
from fieldworthy.trials.report.mapping import outline_points


def nearest_shape(shapes: Iterable[Shape], north_m: float, east_m: float) -> Shape | None:
    """The shape whose outline is nearest to a point; None where there are no shapes."""
    return min(shapes, key=lambda shape: outline_distance_m(shape, north_m, east_m), default=None)


def outline_distance_m(shape: Shape, north_m: float, east_m: float) -> float:
    """Distance from a point to a shape's outline seen from above, at t = 0 [m]."""
    if isinstance(shape, (Cylinder, Sphere)):
        return abs(float(np.hypot(shape.north_m - north_m, shape.east_m - east_m)) - shape.radius_m)
    corners = np.asarray(outline_points(shape))
    first = corners[:-1] if isinstance(shape, Polyline) else corners
    second = corners[1:] if isinstance(shape, Polyline) else np.roll(corners, -1, axis=0)
    side = second - first
    to_point = np.array([north_m, east_m]) - first
    squared = np.maximum((side * side).sum(axis=1), 1e-12)
    along = np.clip((to_point * side).sum(axis=1) / squared, 0.0, 1.0)
    return float(np.hypot(*(to_point - along[:, None] * side).T).min())
