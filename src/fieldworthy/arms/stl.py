"""Triangles of STL files, and how far from convex they are.

Verified by: tests/cases/test_arm_collision.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.separation import convex_hull
from fieldworthy.core.errors import Problem, ScenarioError


def dent(triangles_m: Array) -> float:
    """How far a triangle's middle or corner lies below the hull of all [m]; 0 of a convex mesh.

    Shapes: (k, 3, 3). Raises: FieldworthyError where the triangles span no volume.
    """
    hull = convex_hull(triangles_m.reshape(-1, 3), "mesh")
    places = np.concatenate([triangles_m.mean(axis=1), triangles_m.reshape(-1, 3)])
    deepest = 0.0
    for k in range(0, len(places), 1024):
        heights = places[k : k + 1024] @ hull.normals.T - hull.offsets_m
        deepest = max(deepest, float(-heights.max(axis=1).min()))
    return deepest


def read_stl(path: Path) -> Array:
    """Corners (k, 3, 3) of the triangles of a binary or text STL file, in the file's own unit.

    Raises: ScenarioError where it cannot be read, holds no triangle or a number that is not finite.
    """
    where = str(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ScenarioError(Problem(where, f"cannot be read: {error.strerror}", "an STL file")) from None
    count = int.from_bytes(raw[80:84], "little") if len(raw) >= 84 else -1
    if len(raw) == 84 + 50 * count:
        body = np.frombuffer(raw, np.uint8, offset=84).reshape(count, 50)
        corners = body[:, 12:48].copy().view("<f4").astype(float).reshape(-1, 3, 3)
    elif raw.lstrip()[:5].lower() == b"solid" and b"facet" in raw:
        words = raw.decode("latin-1").split()
        try:
            rows = [[float(x) for x in words[k + 1 : k + 4]] for k, word in enumerate(words) if word == "vertex"]
            corners = np.array(rows, float).reshape(-1, 3, 3)
        except ValueError:
            raise ScenarioError(Problem(where, "a vertex is not of three numbers", "vertex x y z")) from None
    else:
        what = f"is no STL file: {len(raw)} bytes"
        raise ScenarioError(Problem(where, what, "text that begins with solid, or 84 + 50 bytes a triangle"))
    if not len(corners) or not np.isfinite(corners).all():
        what = "a corner is not finite" if len(corners) else "holds no triangle"
        raise ScenarioError(Problem(where, what, "triangles of finite corners"))
    return corners
