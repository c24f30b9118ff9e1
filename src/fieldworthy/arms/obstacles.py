"""What stands around an arm: spheres, boxes, capsules, half-spaces and convex meshes, in the arm's base frame [m].

`obstacles_from` reads them from tables as TOML or JSON files give them:

    [[obstacles]]
    kind = "box"                  # sphere, box, capsule, half_space, mesh
    name = "table"
    centre_mm = [600, 0, -25]     # every length as _m or _mm
    size_mm = [1200, 800, 50]
    rpy_deg = [0, 0, 30]          # or quat_wxyz; box and mesh, left out: not turned
    ignore_links = [6]            # links that may touch it

sphere: centre, radius; capsule: a, b (ends of its axis), radius; half_space: point, normal (to the free side);
mesh: points, or file (STL) with unit = "m" or "mm"; hull = true takes the hull of a file that is not convex; position.
"""

# Long because every kind of shape is here, with its reader.

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from fieldworthy.arms.chain import Array, Triple
from fieldworthy.arms.orientation import matrix_of
from fieldworthy.arms.posture import poses
from fieldworthy.arms.separation import (
    Gap,
    Hull,
    convex_hull,
    segment_box,
    segment_half_space,
    segment_hull,
    segment_point,
    segment_segment,
)
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean, same_quantity

FARTHEST_M = 100.0
"""A shape further from the base than this was meant in another unit."""

Turn: TypeAlias = tuple[Triple, Triple, Triple]
"""Three rows of a rotation, hashable."""

UPRIGHT: Turn = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Shape:
    """What all obstacles share. Raises: FieldworthyError for numbers that make no such shape."""

    name: str

    def gap(self, a0: Array, a1: Array) -> Gap:
        """Signed distance from the segments a0 to a1 (n, 3) to the surface, as in `separation`."""
        raise NotImplementedError

    def ball(self) -> tuple[Array, float]:
        """(centre (3,), radius) of a ball around it; an infinite radius where none is."""
        raise NotImplementedError

    def moved(self, base_from_frame: Array) -> Shape:
        """The shape given in a frame, in the base frame."""
        raise NotImplementedError

    def _require(self, good: bool, what: str, valid: str) -> None:
        if not good:
            raise FieldworthyError(f"obstacle {self.name}: {what}; valid: {valid}")

    def _lengths(self, **values: Any) -> None:
        """Three finite numbers, or one for a radius; lists and arrays become tuples, so that a shape can be looked
        up."""
        for name, value in values.items():
            try:
                numbers = np.asarray(value, float)
            except (TypeError, ValueError):
                numbers = np.array(math.nan)
            shape = () if name == "radius_m" else (3,)
            good = numbers.shape == shape and bool(np.isfinite(numbers).all())
            self._require(
                good, f"{name} = {value} is not {'one number' if not shape else 'three numbers'}", "metres, finite"
            )
            object.__setattr__(self, name, float(numbers) if not shape else tuple(numbers.tolist()))


@dataclass(frozen=True)
class Sphere(Shape):
    """All points within a radius of a centre."""

    centre_m: Triple
    radius_m: float
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(centre_m=self.centre_m, radius_m=self.radius_m)
        self._require(self.radius_m > 0.0, f"radius_m = {self.radius_m}", "> 0")

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_point(a0, a1, np.array(self.centre_m)).thicker(self.radius_m)

    def ball(self) -> tuple[Array, float]:
        return np.array(self.centre_m), self.radius_m

    def moved(self, base_from_frame: Array) -> Sphere:
        return replace(self, centre_m=_at(base_from_frame, self.centre_m))


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid with its three sides along the columns of `turn` (base_from_box)."""

    centre_m: Triple
    size_m: Triple
    """Whole side lengths."""
    turn: Turn = UPRIGHT
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(centre_m=self.centre_m, size_m=self.size_m)
        self._require(min(self.size_m) > 0.0, f"size_m = {self.size_m}", "three sides > 0")
        turn = np.asarray(self.turn, float)
        rigid = turn.shape == (3, 3) and bool(np.abs(turn @ turn.T - np.eye(3)).max() <= 1e-6)
        self._require(rigid and np.linalg.det(turn) > 0.0, "turn is no rotation", "3 rows of a rotation")
        object.__setattr__(self, "turn", _as_turn(turn))

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_box(a0, a1, np.array(self.centre_m), np.array(self.turn), 0.5 * np.array(self.size_m))

    def ball(self) -> tuple[Array, float]:
        return np.array(self.centre_m), 0.5 * math.hypot(*self.size_m)

    def moved(self, base_from_frame: Array) -> Box:
        turn = _as_turn(base_from_frame[:3, :3] @ np.array(self.turn))
        return replace(self, centre_m=_at(base_from_frame, self.centre_m), turn=turn)


@dataclass(frozen=True)
class Rod(Shape):
    """A capsule: all points within a radius of a segment."""

    a_m: Triple
    b_m: Triple
    radius_m: float
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(a_m=self.a_m, b_m=self.b_m, radius_m=self.radius_m)
        self._require(self.radius_m > 0.0, f"radius_m = {self.radius_m}", "> 0")

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_segment(a0, a1, np.array(self.a_m), np.array(self.b_m)).thicker(self.radius_m)

    def ball(self) -> tuple[Array, float]:
        return (np.array(self.a_m) + self.b_m) / 2.0, self.radius_m + 0.5 * math.dist(self.a_m, self.b_m)

    def moved(self, base_from_frame: Array) -> Rod:
        return replace(self, a_m=_at(base_from_frame, self.a_m), b_m=_at(base_from_frame, self.b_m))


@dataclass(frozen=True)
class HalfSpace(Shape):
    """A table top, floor or wall: all points on the far side of a plane."""

    point_m: Triple
    normal: Triple
    """To the free side; made a unit vector."""
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._lengths(point_m=self.point_m, normal=self.normal)
        length = math.hypot(*self.normal)
        self._require(length > 1e-9, f"normal = {self.normal} has no length", "a direction to the free side")
        x, y, z = self.normal
        object.__setattr__(self, "normal", (x / length, y / length, z / length))

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_half_space(a0, a1, np.array(self.point_m), np.array(self.normal))

    def ball(self) -> tuple[Array, float]:
        return np.array(self.point_m), math.inf

    def moved(self, base_from_frame: Array) -> HalfSpace:
        x, y, z = (float(c) for c in base_from_frame[:3, :3] @ np.array(self.normal))
        return replace(self, point_m=_at(base_from_frame, self.point_m), normal=(x, y, z))


@dataclass(frozen=True)
class ConvexMesh(Shape):
    """The convex hull of points."""

    points_m: tuple[Triple, ...]
    ignore_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "points_m", tuple(tuple(float(x) for x in point) for point in self.points_m))
        self.hull()

    def hull(self) -> Hull:
        """Faces and edges. Raises: FieldworthyError where the points span no volume."""
        return _hull(self.points_m, f"obstacle {self.name}")

    def gap(self, a0: Array, a1: Array) -> Gap:
        return segment_hull(a0, a1, self.hull())

    def ball(self) -> tuple[Array, float]:
        corners = self.hull().corners_m
        centre: Array = (corners.min(axis=0) + corners.max(axis=0)) / 2.0
        return centre, float(np.linalg.norm(corners - centre, axis=1).max())

    def moved(self, base_from_frame: Array) -> ConvexMesh:
        return replace(self, points_m=tuple(_at(base_from_frame, point) for point in self.hull().corners_m))


Obstacle: TypeAlias = Sphere | Box | Rod | HalfSpace | ConvexMesh


@lru_cache(maxsize=256)
def _hull(points_m: tuple[Triple, ...], what: str) -> Hull:
    return convex_hull(points_m, what)


def _at(base_from_frame: Array, point: Any) -> Triple:
    x, y, z = (float(c) for c in base_from_frame[:3, :3] @ np.asarray(point, float) + base_from_frame[:3, 3])
    return x, y, z


def _as_turn(matrix: Array) -> Turn:
    rows = [(float(x), float(y), float(z)) for x, y, z in matrix]
    return rows[0], rows[1], rows[2]


# ------------------------------------------------------------------------------------------------------------- reading


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
                return Box(name, values["centre"], values["size"], _as_turn(turn), links)  # type: ignore[arg-type]
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
