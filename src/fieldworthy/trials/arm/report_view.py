"""Orthographic views of what stands around an arm's base: where metres lie on a drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.trials.report import svg
from fieldworthy.trials.report.simplify import simplify

_FINE = 0.25
"""Largest displacement of a line by simplification, in drawing units."""


@dataclass(frozen=True)
class View:
    """An orthographic view: unit vectors of the page in the base frame."""

    name: str
    right: Array
    up: Array

    @property
    def out(self) -> Array:
        """To the person who looks."""
        return np.cross(self.right, self.up)

    def flat(self, points: Array) -> Array:
        """(..., 2) on the page, y up [m]."""
        return points @ np.stack([self.right, self.up], axis=1)


def standing(azimuth_deg: float = -52.0, elevation_deg: float = 20.0) -> View:
    """From in front, to the right and above."""
    a, e = math.radians(azimuth_deg), math.radians(elevation_deg)
    right = np.array([-math.sin(a), math.cos(a), 0.0])
    up = np.array([-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)])
    return View("standing view", right, up)


SIDES = (
    View("from above", np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])),
    View("from the front", np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])),
    View("from the right", np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])),
)
AXES = {"from above": ("−y", "x"), "from the front": ("y", "z"), "from the right": ("x", "z")}
"""What points right and up in each of the three."""


@dataclass(frozen=True)
class Fit:
    """Where a view's metres lie on a drawing."""

    view: View
    scale: float
    """Drawing units a metre."""
    left: float
    top: float
    low: Array
    high: Array

    def at(self, points: Array) -> Array:
        """(..., 2) drawing units of points (..., 3) [m]."""
        flat = self.view.flat(np.asarray(points, float))
        x = self.left + (flat[..., 0] - self.low[0]) * self.scale
        y = self.top + (self.high[1] - flat[..., 1]) * self.scale
        return np.stack([x, y], axis=-1)

    def path(self, points: Array) -> str:
        """A line's data through (n, 3) points, simplified."""
        return svg.path_data(simplify([self.at(points)], _FINE)[0])


def fit(view: View, points: Array, width: float, height: float, left: float = 0.0, top: float = 0.0) -> Fit:
    """Points (n, 3) as large as they can be inside a rectangle, in its middle."""
    flat = view.flat(points)
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = np.maximum(high - low, 1e-3)
    scale = float(min(width / span[0], height / span[1]))
    middle = 0.5 * (low + high)
    half = 0.5 * np.array([width, height]) / scale
    return Fit(view, scale, left, top, middle - half, middle + half)


def drawn_height(view: View, points: Array, width: float, most: float) -> float:
    """Height of a drawing of this width that the points fill."""
    flat = view.flat(points)
    span = np.maximum(np.ptp(flat, axis=0), 1e-3)
    return float(min(most, max(0.45 * most, width * span[1] / span[0])))
