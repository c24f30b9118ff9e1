"""What `scene_mesh` and `rays = "mesh"` of a scenario stand for: triangles for the rays, walls for the hull."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from fieldworthy.core.engine import Engine
from fieldworthy.environment.mesh import MeshScene, Triangles, mesh_scene
from fieldworthy.environment.mesh_files import outline, read_triangles
from fieldworthy.environment.shapes import Layout, Polyline
from fieldworthy.scenario.schema import Scenario


def ray_mesh(engine: Engine, scenario: Scenario, layout: Layout) -> MeshScene | None:
    """What rays meet besides moving shapes; None where closed forms do it all.

    `load` has seen to it that all trials share the one layout.
    """
    if scenario.sensors.lidar is None or scenario.sensors.lidar.rays != "mesh":
        return None
    # The walls of a triangle file are for the hull; rays meet the triangles themselves.
    walls = set(mesh_walls(scenario))
    seen = tuple(shape for shape in layout if shape not in walls)
    return mesh_scene(engine, seen, [_triangles(*_file(scenario, name)) for name in scenario.scene_mesh])


def mesh_walls(scenario: Scenario) -> tuple[Polyline, ...]:
    """The outlines of all triangle files, as thin walls that the hull can touch."""
    values: dict[str, Any] = dict(scenario.vehicle.values)
    return tuple(
        wall
        for name in scenario.scene_mesh
        for wall in _walls(*_file(scenario, name), values["draft_m"], values["air_draft_m"])
    )


def _file(scenario: Scenario, name: str) -> tuple[Path, int]:
    """The file and when it was last written, so that a changed file is read again."""
    path = Path(scenario.source_path).parent / name
    return path, path.stat().st_mtime_ns if path.exists() else 0


@lru_cache(maxsize=8)
def _triangles(path: Path, written_ns: int) -> Triangles:
    return read_triangles(path)


@lru_cache(maxsize=8)
def _walls(path: Path, written_ns: int, draft_m: float, air_draft_m: float) -> tuple[Polyline, ...]:
    return outline(_triangles(path, written_ns), draft_m, air_draft_m, path.name)
