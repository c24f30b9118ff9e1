"""Triangle files of quays, bridges or ships: reading them, and the outline that a hull can run into.

Axes of a file as GIS programs export them: x east, y north, z up [m], from the scenario's own origin.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import shapely

from fieldworthy.core.engine import load_engine
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.environment.mesh import Triangles, load_mitsuba
from fieldworthy.environment.shapes import Polyline

KINDS = {".ply": "ply", ".obj": "obj"}
"""Mitsuba's reader for each kind of file."""

VALID = "triangles in PLY, or polygons in OBJ with corners counted from 1"

FARTHEST_M = 1.0e5
"""Beyond this, 32 bits no longer tell centimetres apart."""

GRID_M = 1e-3
BEND_M = 5e-3
"""How far an outline may be from the cut that it simplifies."""


def read_triangles(path: Path) -> Triangles:
    """The triangles of a PLY or OBJ file, as north, east, up.

    Raises: ScenarioError where the file cannot be read, holds no triangle, or lies far from the origin.
    """
    where = str(path)
    if path.suffix.lower() not in KINDS:
        raise ScenarioError(Problem(where, f"'{path.suffix}' is no triangle file that is read", ", ".join(KINDS)))
    if not path.is_file():
        raise ScenarioError(Problem(where, "no such file", "a PLY or OBJ file, relative to the scenario file"))
    with load_mitsuba(load_engine().device) as mi:
        try:
            mesh = mi.load_dict({"type": KINDS[path.suffix.lower()], "filename": where, "face_normals": True})
        except RuntimeError as error:
            reason = " ".join(str(error).split()).rpartition('": ')[2]  # without the plugins that it came through
            raise ScenarioError(Problem(where, f"cannot be read: {reason}", VALID)) from None
        parameters = mi.traverse(mesh)
        points = np.asarray(parameters["vertex_positions"], dtype=float).reshape(-1, 3)
        faces = np.asarray(parameters["faces"]).reshape(-1, 3)
    if len(faces) == 0:
        raise ScenarioError(Problem(where, "holds no triangle", "at least one triangle"))
    if np.max(faces) >= len(points):
        what = f"a triangle names corner {np.max(faces)}, but there are {len(points)}"
        raise ScenarioError(Problem(where, what, "corners counted from 0 in PLY"))
    if not np.all(np.abs(points) < FARTHEST_M):
        what = f"a corner is not finite or more than {FARTHEST_M / 1e3:.0f} km from the origin"
        raise ScenarioError(Problem(where, what, "metres east, north and up of the scenario's reference point"))
    north_east_up: Triangles = points[faces][:, :, [1, 0, 2]]
    return north_east_up


def outline(triangles: Triangles, draft_m: float, air_draft_m: float, label: str) -> tuple[Polyline, ...]:
    """Thin walls where a hull of that draft and height meets the triangles, seen from above.

    The triangles are cut at half the draft, just above the water (0.1 m), and at half the hull's height.
    Limits: what lies between these levels is missed, and so is the inside of a solid: only its skin is in the way.
    Verified by: tests/verification/test_mesh_files.py
    """
    segments = np.concatenate([cut(triangles, up) for up in (-draft_m / 2.0, 0.1, air_draft_m / 2.0)])
    if len(segments) == 0:
        return ()
    lines = shapely.line_merge(shapely.union_all(shapely.linestrings(segments), grid_size=GRID_M))
    return tuple(
        Polyline(
            points_ne_m=tuple((float(north), float(east)) for north, east in part.coords),
            top_up_m=air_draft_m,
            bottom_up_m=-draft_m,
            label=label,
        )
        for part in shapely.get_parts(shapely.simplify(lines, BEND_M))
        if part.length > GRID_M
    )


def cut(triangles: Triangles, up_m: float) -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
    """Segments (count, 2 ends, north and east) where triangles cross a level; a corner on it counts as above it."""
    above = triangles[:, :, 2] >= up_m
    crossing = triangles[above.any(axis=1) & ~above.all(axis=1)]
    above = crossing[:, :, 2] >= up_m
    # Turn each triangle so that the corner which is alone on its side comes first.
    alone = np.where(above.sum(axis=1) == 1, np.argmax(above, axis=1), np.argmin(above, axis=1))
    order = (alone[:, None] + np.arange(3)) % 3
    first, second, third = np.moveaxis(np.take_along_axis(crossing, order[:, :, None], axis=1), 1, 0)

    def between(a: Triangles, b: Triangles) -> Triangles:
        share = (up_m - a[:, 2]) / (b[:, 2] - a[:, 2])
        found: Triangles = a[:, :2] + share[:, None] * (b[:, :2] - a[:, :2])
        return found

    return np.stack([between(first, second), between(first, third)], axis=1)
