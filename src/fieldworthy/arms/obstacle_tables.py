"""Obstacles from tables as TOML or JSON files give them.

    [[obstacles]]
    kind = "box"                  # sphere, box, capsule, half_space, mesh
    name = "table"
    centre_mm = [600, 0, -25]     # every length as _m or _mm
    size_mm = [1200, 800, 50]
    rpy_deg = [0, 0, 30]          # or quat_wxyz; box and mesh, left out: not turned
    ignore_links = [6]            # links that may touch it

sphere: centre, radius; capsule: a, b (ends of its axis), radius; half_space: point, normal (to the free side);
mesh: points, or file (STL) with unit = "m" or "mm"; hull = true takes the hull of a file that is not convex; position.
Verified by: tests/cases/test_arm_collision.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.obstacles import FARTHEST_M, Box, ConvexMesh, HalfSpace, Obstacle, Rod, Sphere, turn_of
from fieldworthy.arms.orientation import matrix_of
from fieldworthy.arms.posture import poses
from fieldworthy.arms.stl import dent, read_stl
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean, same_quantity


@dataclass(frozen=True)
class _Kind:
    lengths: tuple[tuple[str, int], ...]
    """Keys given as _m or _mm, and how many numbers each has."""
    plain: tuple[str, ...] = ()
    turned: bool = False
    common: ClassVar[tuple[str, ...]] = ("kind", "name", "ignore_links")

    def valid(self) -> list[str]:
        found = [*self.common, *(f"{name}_{unit}" for name, _ in self.lengths for unit in ("m", "mm")), *self.plain]
        return found + (["rpy_deg", "quat_wxyz"] if self.turned else [])


_KINDS = {
    "sphere": _Kind((("centre", 3), ("radius", 1))),
    "box": _Kind((("centre", 3), ("size", 3)), turned=True),
    "capsule": _Kind((("a", 3), ("b", 3), ("radius", 1))),
    "half_space": _Kind((("point", 3),), plain=("normal",)),
    "mesh": _Kind((("points", 0), ("position", 3)), plain=("file", "unit", "hull"), turned=True),
}
_OPTIONAL = ("position", "points")


def obstacles_from(
    data: Any, where: str, base_from_frame: Any = None, folder: Path | None = None
) -> tuple[Obstacle, ...]:
    """Obstacles from a list of tables, or from a table with the one key `obstacles`.

    `where` names the file in errors; shapes are given in a frame (a workpiece's, say) whose pose in the base is
    `base_from_frame` (4, 4), the base itself where it is None; mesh files are looked for in `folder`.
    Raises: ScenarioError with all problems.
    """
    frame = None if base_from_frame is None else poses(base_from_frame, "base_from_frame")
    if frame is not None and frame.ndim != 2:
        raise FieldworthyError(f"base_from_frame: shape {frame.shape}; valid: (4, 4)")
    if isinstance(data, dict):
        extra = [key for key in data if key != "obstacles"]
        if extra or "obstacles" not in data:
            what = f"unknown key '{extra[0]}'{did_you_mean(extra[0], ['obstacles'])}" if extra else "no 'obstacles'"
            raise ScenarioError(Problem(where, what, "obstacles, a list of tables"))
        data = data["obstacles"]
    if not isinstance(data, list | tuple):
        raise ScenarioError(Problem(where, f"obstacles are a {type(data).__name__}", "a list of tables"))
    problems: list[Problem] = []
    found: list[Obstacle] = []
    names: set[str] = set()
    for index, table in enumerate(data):
        reader = _Reader(table, f"{where} [obstacles[{index}]]", folder or Path(), problems)
        shape = reader.shape()
        if shape is None:
            continue
        if shape.name in names:
            problems.append(Problem(reader.where, f"a second obstacle '{shape.name}'", "one name each"))
        names.add(shape.name)
        found.append(shape if frame is None else shape.moved(frame))
    if problems:
        raise ScenarioError(problems)
    return tuple(found)


class _Reader:
    """One table. Problems are collected; a value with one is None."""

    def __init__(self, table: Any, where: str, folder: Path, problems: list[Problem]) -> None:
        self.table, self.where, self.folder, self.problems = table, where, folder, problems

    def wrong(self, what: str, valid: str) -> None:
        self.problems.append(Problem(self.where, what, valid))

    def shape(self) -> Obstacle | None:
        before = len(self.problems)
        if not isinstance(self.table, dict):
            self.wrong(f"a {type(self.table).__name__} in the place of an obstacle", "a table with kind and name")
            return None
        word, name = self.table.get("kind"), self.table.get("name")
        if not isinstance(name, str) or not name:
            self.wrong("no name" if name is None else f"name = {name!r}", "name = \"…\"")  # fmt: skip
        else:
            self.where += f" '{name}'"
        if not isinstance(word, str) or word not in _KINDS:
            hint = did_you_mean(word, _KINDS) if isinstance(word, str) else ""
            self.wrong("no kind" if word is None else f"kind = {word!r}{hint}", ", ".join(_KINDS))
            return None
        kind = _KINDS[word]
        for key in self.table:
            if key not in kind.valid():
                self.unknown(str(key), kind.valid())
        values = {key: self.length(key, count) for key, count in kind.lengths}
        ignored = self.table.get("ignore_links", [])
        whole = isinstance(ignored, list | tuple) and all(type(x) is int and x >= 0 for x in ignored)
        if not whole:
            self.wrong(f"ignore_links = {ignored!r}", "a list of link numbers, 0 the base")
        turn = self.turn() if kind.turned else None
        normal = self.numbers("normal", 3) if word == "half_space" else None
        points = self.mesh_points(values) if word == "mesh" else None
        if len(self.problems) > before:
            return None
        links = tuple(ignored)
        name = str(name)
        try:
            if word == "sphere":
                return Sphere(name, values["centre"], values["radius"], links)
            if word == "box":
                return Box(name, values["centre"], values["size"], turn_of(turn), links)  # type: ignore[arg-type]
            if word == "capsule":
                return Rod(name, values["a"], values["b"], values["radius"], links)
            if word == "half_space":
                return HalfSpace(name, values["point"], normal, links)  # type: ignore[arg-type]
            offset = np.array(values["position"] or (0.0, 0.0, 0.0))
            placed = np.asarray(points) @ np.asarray(turn).T + offset
            return ConvexMesh(name, tuple((float(x), float(y), float(z)) for x, y, z in placed), links)
        except FieldworthyError as error:
            what, _, valid = str(error).removeprefix(f"obstacle {name}: ").rpartition("; valid: ")
            self.wrong(what, valid)
            return None

    def unknown(self, key: str, keys: list[str]) -> None:
        same = same_quantity(key, keys)
        hint = f"; this quantity is given as {' or '.join(same)}" if same else did_you_mean(key, keys)
        self.wrong(f"unknown key '{key}'{hint}", ", ".join(keys))

    def length(self, key: str, count: int) -> Any:
        """Metres: a number (count 1), three, or a list of threes (count 0)."""
        given = [f"{key}_{unit}" for unit in ("m", "mm") if f"{key}_{unit}" in self.table]
        if len(given) != 1:
            if given or key not in _OPTIONAL:
                self.wrong(f"both {' and '.join(given)}" if given else f"no {key}", f"{key}_m or {key}_mm")
            return None
        values = self.numbers(given[0], count)
        if values is None:
            return None
        scale = 1e-3 if given[0].endswith("_mm") else 1.0
        metres = np.asarray(values, float) * scale
        if np.abs(metres).max() > FARTHEST_M:
            hint = f"; in millimetres? that is {key}_mm" if scale == 1.0 else ""
            self.wrong(f"{given[0]} is {np.abs(metres).max():g} m{hint}", f"within {FARTHEST_M:g} m of the base")
            return None
        if count == 0:
            return metres
        return float(metres) if count == 1 else tuple(float(x) for x in metres)

    def numbers(self, key: str, count: int) -> Any:
        value = self.table.get(key)
        rows = value if count == 0 and isinstance(value, list | tuple) else [value]
        parts = [row if count != 1 else [row] for row in rows]
        good = bool(parts) and all(
            isinstance(part, list | tuple)
            and len(part) == (count or 3)
            and all(type(x) in (int, float) and math.isfinite(x) for x in part)
            for part in parts
        )
        if not good:
            words = {0: "a list of three numbers each", 1: "a number"}.get(count, f"{count} numbers")
            shown = repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "…"
            self.wrong(f"{key} = {shown}" if key in self.table else f"no {key}", f"{key} = {words}, finite")
            return None
        return value

    def turn(self) -> Array | None:
        given = [key for key in ("rpy_deg", "quat_wxyz") if key in self.table]
        if len(given) == 2:
            self.wrong("both rpy_deg and quat_wxyz", "one of the two")
        if len(given) != 1:
            return np.eye(3)
        values = self.numbers(given[0], 3 if given[0] == "rpy_deg" else 4)
        if values is None:
            return None
        try:
            return matrix_of("rpy", np.radians(values)) if given[0] == "rpy_deg" else matrix_of("quat_wxyz", values)
        except FieldworthyError as error:
            what, _, valid = str(error).rpartition("; valid: ")
            self.wrong(what, valid)
            return None

    def mesh_points(self, values: dict[str, Any]) -> Any:
        has_points = any(f"points_{unit}" in self.table for unit in ("m", "mm"))
        if has_points == ("file" in self.table):
            self.wrong("both points and file" if has_points else "no points and no file", "points_m, points_mm or file")
            return None
        if has_points:
            return values["points"]
        name, unit, hull = self.table["file"], self.table.get("unit"), self.table.get("hull", False)
        if unit not in ("m", "mm"):
            self.wrong("no unit" if unit is None else f"unit = {unit!r}", 'unit = "m" or "mm": STL does not say')
        if not isinstance(hull, bool):
            self.wrong(f"hull = {hull!r}", "true or false")
        if not isinstance(name, str) or unit not in ("m", "mm"):
            if not isinstance(name, str):
                self.wrong(f"file = {name!r}", "the name of an STL file")
            return None
        try:
            triangles = read_stl(self.folder / name) * (1e-3 if unit == "mm" else 1.0)
            points = triangles.reshape(-1, 3)
            far = float(np.abs(points).max())
            if far > FARTHEST_M:
                raise ScenarioError(
                    Problem(name, f"a corner is {far:g} m away", f'within {FARTHEST_M:g} m; unit = "mm"?')
                )
            inward = dent(triangles)
        except ScenarioError as error:
            self.problems.extend(Problem(f"{self.where} {p.where}", p.what, p.valid) for p in error.problems)
            return None
        except FieldworthyError as error:
            what, _, valid = str(error).rpartition("; valid: ")
            self.wrong(what, valid)
            return None
        size = float(np.ptp(points, axis=0).max())
        if inward > 1e-3 * size and hull is not True:
            self.wrong(
                f"{name} is not convex: a face lies {1e3 * inward:.3g} mm inside the hull",
                "convex pieces, or hull = true to take the hull of all",
            )
            return None
        return points
