"""The shapes at rest of one layout as a Mitsuba scene: Embree on the CPU, OptiX on CUDA, behind one ray query.

For worlds that all trials share and that have thousands of walls within the LiDAR's range (benchmarks/rays.py says from
where on it pays), and for triangle files. Walls and caps are the triangles that the closed forms use. Upright cylinders
are prisms with so many sides that nobody can tell: Mitsuba's own cylinder is off by more than 1e-4 m on one hit in
fifteen. Spheres are Mitsuba's own.
Frames: x = north, y = east, z = up [m]. Mitsuba does not mind that these axes are left-handed: no normals are read.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine
from fieldworthy.core.errors import EngineError
from fieldworthy.core.lanes import Scalar
from fieldworthy.environment.primitives import primitives_of
from fieldworthy.environment.rays import Ray
from fieldworthy.environment.shapes import Layout, is_moving

SAGITTA_M = 2e-5
"""How far the sides of a prism lie from the arc that they stand for; half of it inside, half outside the cylinder."""

Triangles = NDArray[np.float64]
"""(count, 3 corners, 3): north, east, up [m]."""


@dataclass
class MeshScene:
    """A Mitsuba scene as an input of a frozen kernel; calling it gives distances.

    Limits: Mitsuba works in 32 bits whatever the engine's precision. Both ray paths agree to 1e-4 m at 100 m all the
        same, but for rays that graze a surface: there the error grows with 1 / cos(angle to the normal).
        A ray that starts inside a shape hits its far side; the closed forms of round shapes see nothing from inside.
    Verified by: tests/verification/test_ray_paths.py
    """

    scene: Any
    device: str

    def __call__(self, ray: Ray, farthest_m: Scalar) -> Scalar:
        """Distance [m] to the nearest surface, infinite where there is none nearer than `farthest_m`."""
        mi, float_type = _types(self.device), type(ray.d_north)
        query = mi.Ray3f(
            mi.Point3f(mi.Float(ray.north_m), mi.Float(ray.east_m), mi.Float(ray.up_m)),
            mi.Vector3f(mi.Float(ray.d_north), mi.Float(ray.d_east), mi.Float(ray.d_up)),
        )
        query.maxt = mi.Float(farthest_m)
        # Not ray_intersect: that traces a second time to find normals. Not coherent, for two reasons: rays 0.2 degrees
        # apart soon part ways among the many narrow sides of a cylinder, and Embree then is up to twice as fast one by
        # one; and the last bits of a coherent ray depend on its neighbours, so a trial flown alone would differ.
        return float_type(self.scene.ray_intersect_preliminary(query, coherent=False).t)


def mesh_scene(engine: Engine, layout: Layout, more: Sequence[Triangles] = ()) -> MeshScene | None:
    """The scene of all shapes of a layout that do not move, and of further triangles; None if there are none.

    Raises: EngineError where Mitsuba is missing or cannot use the engine's device.
    """
    parts, spheres = list(more), []
    for shape in layout:
        for kind, numbers in () if is_moving(shape) else primitives_of(shape):
            if kind == "sphere":
                spheres.append(numbers)
            else:
                parts.append(TRIANGLES[kind](*numbers))
    triangles = np.concatenate(parts) if parts else np.zeros((0, 3, 3))
    if not len(triangles) and not spheres:
        return None
    with load_mitsuba(engine.device) as mi:
        scene: dict[str, Any] = {"type": "scene"}
        if engine.device == "llvm":
            # Otherwise one ray in 10^5 slips through the seam between two triangles.
            scene["embree_use_robust_intersections"] = True
        for index, (north, east, up, radius) in enumerate(spheres):
            scene[f"sphere-{index}"] = {"type": "sphere", "center": [north, east, up], "radius": radius}
        if len(triangles):
            scene["triangles"] = _mesh(mi, triangles)
        return MeshScene(mi.load_dict(scene), engine.device)


def wall_triangles(a_n: float, a_e: float, b_n: float, b_e: float, bottom: float, top: float) -> Triangles:
    """The two triangles of an upright rectangle over the segment from a to b."""
    low_a, low_b, high_a, high_b = (a_n, a_e, bottom), (b_n, b_e, bottom), (a_n, a_e, top), (b_n, b_e, top)
    return np.array([(low_a, low_b, high_b), (low_a, high_b, high_a)])


def cap_triangles(a_n: float, a_e: float, b_n: float, b_e: float, c_n: float, c_e: float, up: float) -> Triangles:
    """A level triangle."""
    return np.array([((a_n, a_e, up), (b_n, b_e, up), (c_n, c_e, up))])


def cylinder_triangles(north: float, east: float, radius: float, bottom: float, top: float) -> Triangles:
    """An upright cylinder as a prism.

    Equation: n sides have the sagitta r (1 - cos(pi/n)) ~ r pi^2 / (2 n^2); corners lie half of it outside.
    """
    sides = max(8, math.ceil(math.pi * math.sqrt(radius / (2.0 * SAGITTA_M))))
    outer = 2.0 * radius / (1.0 + math.cos(math.pi / sides))
    angle = 2.0 * math.pi / sides * np.arange(sides)
    ring = np.stack([north + outer * np.cos(angle), east + outer * np.sin(angle)], axis=1)
    low, high = (np.column_stack([ring, np.full(sides, up)]) for up in (bottom, top))
    next_low, next_high = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
    mantle = [np.stack([low, next_low, next_high], axis=1), np.stack([low, next_high, high], axis=1)]
    return np.concatenate([*mantle, low[_convex_faces(sides)], high[_convex_faces(sides)]])


def _convex_faces(corners: int) -> NDArray[np.intp]:
    """Corners (faces, 3) of a convex polygon's triangles: cut off every other corner, again and again.

    A fan would give the ray tracer one thin sliver a side, all overlapping near the hub.
    """
    faces: list[tuple[int, int, int]] = []
    ring = list(range(corners))
    while len(ring) > 2:
        faces += [(ring[i], ring[i + 1], ring[(i + 2) % len(ring)]) for i in range(0, len(ring) - 1, 2)]
        ring = ring[::2]
    return np.array(faces)


TRIANGLES: dict[str, Callable[..., Triangles]] = {
    "wall": wall_triangles,
    "cap": cap_triangles,
    "cylinder": cylinder_triangles,
}
"""Triangles of each kind of primitive, from the numbers that `primitives.FIELDS` names."""


def _mesh(mi: Any, triangles: Triangles) -> Any:
    mesh = mi.Mesh("layout", 3 * len(triangles), len(triangles))
    parameters = mi.traverse(mesh)
    parameters["vertex_positions"] = mi.Float(np.ascontiguousarray(triangles, dtype=np.float32).ravel())
    parameters["faces"] = mi.UInt32(np.arange(3 * len(triangles), dtype=np.uint32))
    parameters.update()
    return mesh


def _variant(device: str) -> str:
    """The build of Mitsuba that shares its array types with the engine."""
    return f"{device}_ad_rgb"


def _types(device: str) -> Any:
    """Mitsuba's types of that variant, whichever one is active; it has been loaded since the scene exists."""
    return importlib.import_module(f"mitsuba.{_variant(device)}")


@contextmanager
def load_mitsuba(device: str) -> Iterator[Any]:
    """Mitsuba with the engine's variant active; a program's own choice comes back after."""
    try:
        import mitsuba
    except ImportError as error:
        raise EngineError(
            f"rays against a mesh need Mitsuba 3 ({error}): pip install 'mitsuba>=3.9', or rays = \"shapes\""
        ) from error
    variant, before = _variant(device), mitsuba.variant()
    try:
        mitsuba.set_variant(variant)
    except ImportError as error:
        raise EngineError(f'Mitsuba has no variant {variant} ({error}); valid: rays = "shapes"') from error
    try:
        yield mitsuba
    finally:
        if before not in (None, variant):
            mitsuba.set_variant(before)
