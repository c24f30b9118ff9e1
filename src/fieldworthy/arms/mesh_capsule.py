"""Capsules that contain a link's mesh, box or cylinder, so that nothing sticks out of what is tried for collision."""

from __future__ import annotations

import math

import numpy as np

from fieldworthy.arms.chain import Array


def capsule_about(points: Array) -> tuple[Array, Array, float]:
    """(end, end, radius) of a capsule that contains all points (n, 3), and with them their convex hull.

    The axis is a principal axis of the points or of their bounding box, whichever gives the least volume, through the
    centre of the circle around the points seen along it. It is near, not exactly, the least capsule.
    """
    points = np.unique(np.asarray(points, float), axis=0)
    centre = (points.max(axis=0) + points.min(axis=0)) / 2.0
    about = points - centre
    axes = np.vstack([np.linalg.eigh(about.T @ about)[1].T, np.eye(3)])
    return min((_along(points, centre, axis) for axis in axes), key=lambda found: volume(*found))


def volume(a: Array, b: Array, radius: float) -> float:
    """Volume of a capsule [m^3]."""
    return math.pi * radius**2 * float(np.linalg.norm(b - a)) + 4.0 / 3.0 * math.pi * radius**3


def solid_capsule(half_length: float, half_across: float) -> tuple[float, float]:
    """(half distance of the ends, radius) of the least capsule about a cylinder, or a box of that half diagonal across.

    Equation: ends at +-h and a rim at (half_across, half_length) ask for sqrt(half_across^2 + (half_length - h)^2).
    """
    ends = np.linspace(0.0, half_length, 65)
    radii = np.hypot(half_across, half_length - ends)
    best = int(np.argmin(math.pi * radii**2 * 2.0 * ends + 4.0 / 3.0 * math.pi * radii**3))
    return float(ends[best]), float(radii[best])


def _along(points: Array, centre: Array, axis: Array) -> tuple[Array, Array, float]:
    """The capsule with its segment along an axis."""
    along = (points - centre) @ axis
    across = points - centre - np.outer(along, axis)
    middle = _circle_centre(across)
    off = np.linalg.norm(across - middle, axis=1)
    # A hair over the farthest point, or rounding may leave it outside.
    radius = float(off.max()) * (1.0 + 1e-12) + 1e-12
    room = np.sqrt(radius**2 - off**2)
    low, high = float((along + room).min()), float((along - room).max())
    if low > high:
        # Flatter than a ball of this radius: one ball, which must reach the points at both ends.
        low = high = (along.max() + along.min()) / 2.0
        radius = float(np.hypot(off, along - low).max()) * (1.0 + 1e-12)
    start = centre + middle
    return start + low * axis, start + high * axis, radius


def _circle_centre(points: Array, steps: int = 200) -> Array:
    """Near the centre of the least ball around points.

    Source: Badoiu & Clarkson, Smaller core-sets for balls, 2003: step 1/(i+1) of the way to the farthest point.
    """
    middle = points.mean(axis=0)
    for step in range(1, steps + 1):
        away = points - middle
        farthest = int(np.argmax(np.einsum("ij,ij->i", away, away)))
        middle = middle + away[farthest] / (step + 1.0)
    return np.asarray(middle, float)
