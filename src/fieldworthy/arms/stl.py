"""Triangles of STL files, and how far from convex they are.

Verified by: tests/cases/test_arm_collision.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.separation import convex_hull
from fieldworthy.core.errors import Problem, ScenarioError

_HEADER_BYTES = 84
_TRIANGLE_BYTES = 50


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
    count = int.from_bytes(raw[80:_HEADER_BYTES], "little") if len(raw) >= _HEADER_BYTES else -1
    if count >= 0 and len(raw) == _HEADER_BYTES + _TRIANGLE_BYTES * count:
        # A triangle is a normal, three corners (12 floats in all) and two bytes of attributes.
        rows = np.frombuffer(raw, np.uint8, offset=_HEADER_BYTES).reshape(count, _TRIANGLE_BYTES)
        corners = np.ascontiguousarray(rows[:, 12:48]).view("<f4").astype(float).reshape(-1, 3, 3)
    elif raw.lstrip()[:5].lower() == b"solid" and b"\0" not in raw:
        corners = _text_corners(where, raw.decode("latin-1"))
    else:
        what = f"no STL of {count} triangles in {len(raw)} bytes" if count >= 0 else f"{len(raw)} bytes"
        valid = "text that begins with solid, or 84 + 50 bytes a triangle"
        raise ScenarioError(Problem(where, f"is no STL file: {what}", valid))
    if not len(corners) or not np.isfinite(corners).all():
        what = "a corner is not finite" if len(corners) else "holds no triangles"
        raise ScenarioError(Problem(where, what, "triangles of finite corners"))
    return corners


def _text_corners(where: str, text: str) -> Array:
    names = ("solid", "endsolid")  # what follows them on their line is a name
    lines = [line.split() for line in text.splitlines()]
    words = [word for line in lines if line and line[0].lower() not in names for word in line]
    corners = []
    for k, word in enumerate(words):
        if word.lower() == "vertex":
            numbers = words[k + 1 : k + 4]
            try:
                x, y, z = map(float, numbers)
            except ValueError:
                what = f"a vertex is not of three numbers: {' '.join(numbers)}"
                raise ScenarioError(Problem(where, what, "vertex x y z")) from None
            corners.append((x, y, z))
    if len(corners) % 3:
        raise ScenarioError(Problem(where, f"holds {len(corners)} corners", "three a triangle"))
    return np.array(corners).reshape(-1, 3, 3)
