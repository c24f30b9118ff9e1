"""Waypoint files: a JSON format that says everything (units, angles, axes, workpiece).

    {"schema": 1, "name": "edge", "description": "two points",
     "units": {"length": "mm", "angle": "deg"}, "orientation": "kuka_abc", "axes": "ros",
     "workpiece": {"position": [550, 0, 200], "orientation": [0, 0, 0]},
     "tool": {"position": [0, 0, 120], "orientation": [1, 0, 0, 0], "convention": "quat_wxyz"},
     "speed_m_s": 0.05,
     "waypoints": [{"name": "start", "position": [0, 0, 0], "orientation": [0, 0, 180]},
                   {"position": [100, 0, 0], "orientation": [0, 0, 180], "speed_m_s": 0.02, "dwell_s": 0.5,
                    "move": "linear", "tool_axis_free": true}]}

`waypoint_schema.json` beside this file is its JSON Schema (2020-12). The checks here are stricter: lengths of
quaternions, the count of an orientation's numbers, names that stand twice.
- `orientation` is a name of `orientation.CONVENTIONS`. `units.length` holds for positions, `units.angle` for all
  orientations but quaternions.
- `workpiece` is base_from_workpiece (left out: the robot's base), `tool` is flange_from_tool (left out: the arm's own
  tool). Either may write its orientation in another `convention`.
- Waypoints are workpiece_from_tool. Speed, dwell and kind of motion belong to the motion that ends at the waypoint.
- `axes` says in which axes ALL numbers are written: "ros" (right-handed, x forward, y left, z up) or "unity"
  (left-handed, x right, y up, z forward). Unity's are read as B M B^-1 of each frame, so the axes of the tool change
  their names too: what Unity calls its y is z here.
Inside, everything is right-handed, in metres and radians.
Verified by: tests/cases/test_arm_dataset.py
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.json_lines import At, Checked, JsonFile, kind_of, read_json
from fieldworthy.arms.orientation import (
    BASES,
    CONVENTIONS,
    QUATERNION_TOLERANCE,
    matrix_of,
    other_from_source,
    values_of,
)
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.core.whole_file import write_whole_text

DATA = Path(__file__).parent / "data"
"""Folder of the sets that come with the package."""

FAR_M = 20.0
"""Reach beyond which no arm on a fixed base works: lengths are probably in millimetres."""
NEAR_M = 0.02
"""A whole set given in millimetres that is this close to the base is probably in metres."""
_TOP = ("schema", "name", "description", "units", "orientation", "axes", "workpiece", "tool", "speed_m_s", "waypoints")
_UNITS = ("length", "angle")
_FRAME = ("position", "orientation", "convention")
_WAYPOINT = ("name", "position", "orientation", "speed_m_s", "dwell_s", "move", "tool_axis_free")


def builtin_sets(suffix: str = ".json") -> tuple[str, ...]:
    """Names of the sets that come with the package: waypoints (.json) or joints (.csv)."""
    return tuple(sorted(path.stem for path in DATA.glob(f"*{suffix}")))


def data_path(path_or_name: str | Path, suffix: str) -> Path:
    """The file of a built-in set, or the path as it is."""
    is_name = isinstance(path_or_name, str) and path_or_name in builtin_sets(suffix)
    return DATA / f"{path_or_name}{suffix}" if is_name else Path(path_or_name)


def read_waypoints(path_or_name: str | Path) -> WaypointSet:
    """Read a waypoint file, or a built-in set by its name.

    Raises: ScenarioError with everything that is wrong in the file: `file:line field: what; valid: ...`.
    """
    path = data_path(path_or_name, ".json")
    file = read_json(path, str(path_or_name), f"a waypoint file, or one of {', '.join(builtin_sets())}")
    return _Reader(file).read()


class _Reader(Checked):
    def __init__(self, file: JsonFile) -> None:
        super().__init__(file)
        self.metres = 1.0
        self.radians = 1.0
        self.angles: list[float] = []
        """All angles as written, to see whether their unit is likely."""

    def read(self) -> WaypointSet:
        data = self.file.data
        if not isinstance(data, dict):
            self.wrong((), f"the file holds {kind_of(data)}", "an object with schema, name, units, waypoints, ...")
            self.raise_all()
        self.keys((), data, _TOP, ("schema", "name", "units", "orientation", "waypoints"))
        if "schema" in data and (data["schema"] != 1 or isinstance(data["schema"], bool)):
            self.wrong(("schema",), f"{json.dumps(data['schema']):.40} is no known version of the format", "1")
        name = self.text(("name",), data.get("name", "-"))
        description = self.text(("description",), data.get("description", ""), empty=True)
        self._units(data.get("units"))
        convention = self._convention(("orientation",), data["orientation"]) if "orientation" in data else None
        basis = BASES[self.choice(("axes",), data.get("axes", "ros"), BASES)].T
        workpiece = self._frame(("workpiece",), data["workpiece"], convention) if "workpiece" in data else np.eye(4)
        tool = self._frame(("tool",), data["tool"], convention) if "tool" in data else None
        speed = self.positive(("speed_m_s",), data["speed_m_s"]) if "speed_m_s" in data else math.nan
        rows = self._waypoints(data.get("waypoints"), convention, speed)
        self.raise_all()
        found = WaypointSet(
            name=name,
            workpiece_from_tool=other_from_source(basis, np.stack([row["pose"] for row in rows])),
            base_from_workpiece=other_from_source(basis, workpiece),
            flange_from_tool=None if tool is None else other_from_source(basis, tool),
            names=tuple(row["name"] for row in rows),
            speed_m_s=np.array([row["speed"] for row in rows]),
            dwell_s=np.array([row["dwell"] for row in rows]),
            move=tuple(row["move"] for row in rows),
            tool_axis_free=np.array([row["free"] for row in rows], bool),
            given=np.ones(len(rows), bool),
            description=description,
            source=self.file.name,
        )
        return dataclasses.replace(found, notes=self._notes(found))

    def _units(self, units: Any) -> None:
        if units is None:
            return
        if self.object(("units",), units):
            self.keys(("units",), units, _UNITS, _UNITS)
            length = self.choice(("units", "length"), units.get("length", "m"), ("m", "mm"))
            angle = self.choice(("units", "angle"), units.get("angle", "rad"), ("deg", "rad"))
            self.metres = {"m": 1.0, "mm": 1e-3}[length]
            self.radians = {"rad": 1.0, "deg": math.pi / 180.0}[angle]

    def _waypoints(self, waypoints: Any, convention: str | None, speed: float) -> list[dict[str, Any]]:
        if waypoints is None:
            return []
        if not isinstance(waypoints, list) or not waypoints:
            self.wrong(("waypoints",), kind_of(waypoints), "a list of one or more waypoints")
            return []
        rows = []
        seen: dict[str, int] = {}
        for index, item in enumerate(waypoints):
            at: At = ("waypoints", index)
            if not self.object(at, item):
                continue
            self.keys(at, item, _WAYPOINT, ("position", "orientation"))
            name = self.text((*at, "name"), item["name"]) if "name" in item else ""
            if name and seen.setdefault(name, index) != index:
                first = f"waypoints[{seen[name]}]"
                self.wrong((*at, "name"), f"'{name}' is the name of {first} too", "a name of its own, or none")
            rows.append(
                {
                    "name": name,
                    "pose": self._pose(at, item, convention),
                    "speed": self.positive((*at, "speed_m_s"), item["speed_m_s"]) if "speed_m_s" in item else speed,
                    "dwell": self.positive((*at, "dwell_s"), item.get("dwell_s", 0.0), zero=True),
                    "move": self.choice((*at, "move"), item.get("move", "linear"), ("linear", "joint")),
                    "free": self.flag((*at, "tool_axis_free"), item.get("tool_axis_free", False)),
                }
            )
        return rows

    def _frame(self, at: At, item: Any, convention: str | None) -> Array:
        if not self.object(at, item):
            return np.eye(4)
        self.keys(at, item, _FRAME, ("position", "orientation"))
        own = self._convention((*at, "convention"), item["convention"]) if "convention" in item else convention
        return self._pose(at, item, own)

    def _convention(self, at: At, value: Any) -> str | None:
        """A known convention, or None: then orientations are not judged, as nobody knows how they are written."""
        before = len(self.problems)
        name = self.choice(at, value, CONVENTIONS)
        return str(name) if len(self.problems) == before else None

    def _pose(self, at: At, item: dict[str, Any], convention: str | None) -> Array:
        pose = np.eye(4)
        if "position" in item:
            place = self.numbers((*at, "position"), item["position"], 3, "x, y, z")
            pose[:3, 3] = np.array(place or (0.0, 0.0, 0.0)) * self.metres
        if "orientation" in item and convention is not None:
            is_quat = "quat" in convention
            where = (*at, "orientation")
            told = CONVENTIONS[convention]
            values = self.numbers(where, item["orientation"], 4 if is_quat else 3, f"{convention}: {told}")
            if values and is_quat and abs(math.hypot(*values) - 1.0) > QUATERNION_TOLERANCE:
                length = math.hypot(*values)
                self.wrong(where, f"a quaternion of length {length:.6g}", f"length 1 within {QUATERNION_TOLERANCE:g}")
            elif values:
                self.angles += [] if is_quat else values
                pose[:3, :3] = matrix_of(convention, np.array(values) * (1.0 if is_quat else self.radians))
        return pose

    def _notes(self, found: WaypointSet) -> tuple[str, ...]:
        notes = []
        reach = float(np.linalg.norm(found.base_from_tool[:, :3, 3], axis=1).max())
        if self.metres == 1.0 and reach > FAR_M:
            notes.append(f"waypoints lie up to {reach:.6g} m from the base: millimetres? (units.length says m)")
        if self.metres != 1.0 and reach < NEAR_M:
            notes.append(f"all waypoints lie within {reach * 1e3:.3g} mm of the base: metres? (units.length says mm)")
        if self.radians == 1.0 and any(abs(angle) > 2.0 * math.pi for angle in self.angles):
            largest = max(self.angles, key=abs)
            notes.append(f"an angle of {largest:g} rad is more than a whole turn: degrees? (units.angle says rad)")
        if self.radians != 1.0 and look_like_radians(self.angles):
            notes.append(
                "all angles are below 6.3 and some are quarter turns in radians: radians? (units.angle says deg)"
            )
        return tuple(notes)


def look_like_radians(angles_deg: Iterable[float]) -> bool:
    """Whether angles given as degrees look like radians: none beyond a turn, and quarter turns among them."""
    angles = np.abs(np.array(list(angles_deg), float))
    quarters = angles / (0.5 * math.pi)
    is_quarter = (np.abs(quarters - np.round(quarters)) < 1.1e-3) & (quarters > 0.5)
    return bool(angles.size and angles.max() <= 6.3 and is_quarter.any())


def write_waypoints(path: Path, waypoints: WaypointSet) -> None:
    """Write a waypoint file that reads as the same set: metres, quaternions, ROS axes, one waypoint a line.

    Raises: FieldworthyError where the file cannot be written.
    """

    def frame(pose: Array) -> dict[str, Any]:
        turn = [float(x) for x in values_of("quat_wxyz", pose[:3, :3])]
        return {"position": [float(x) for x in pose[:3, 3]], "orientation": turn}

    def row(index: int) -> str:
        item = ({"name": waypoints.names[index]} if waypoints.names[index] else {}) | frame(
            waypoints.workpiece_from_tool[index]
        )
        extras = {
            "speed_m_s": None if math.isnan(waypoints.speed_m_s[index]) else float(waypoints.speed_m_s[index]),
            "dwell_s": float(waypoints.dwell_s[index]) or None,
            "move": "joint" if waypoints.move[index] == "joint" else None,
            "tool_axis_free": True if waypoints.tool_axis_free[index] else None,
        }
        return json.dumps(item | {key: value for key, value in extras.items() if value is not None}, ensure_ascii=False)

    head: dict[str, Any] = {
        "schema": 1,
        "name": waypoints.name,
        "description": waypoints.description,
        "units": {"length": "m", "angle": "rad"},
        "orientation": "quat_wxyz",
        "workpiece": frame(waypoints.base_from_workpiece),
    }
    if waypoints.flange_from_tool is not None:
        head["tool"] = frame(waypoints.flange_from_tool)
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    rows = ",\n".join(f"    {row(index)}" for index in range(len(waypoints)))
    write_whole_text(path, "{\n" + "\n".join(lines) + f'\n  "waypoints": [\n{rows}\n  ]\n}}\n')
