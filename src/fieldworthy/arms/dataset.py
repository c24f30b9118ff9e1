"""Waypoints of a tool: a JSON format that says everything (units, angles, axes, workpiece), and sets of other things.

Long because the format, its checks and the two ways to make a set of something else are one matter.

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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Arm, Array, are_rigid
from fieldworthy.arms.interpolate import arc_poses, arc_through, lerp_pose, pose_distance, subdivisions
from fieldworthy.arms.json_lines import At, Checked, JsonFile, kind_of, read_json
from fieldworthy.arms.orientation import (
    BASES,
    CONVENTIONS,
    QUATERNION_TOLERANCE,
    matrix_of,
    other_from_source,
    values_of,
)
from fieldworthy.arms.program import Move, Program
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.whole_file import write_whole_text

WaypointMove = Literal["linear", "joint"]

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


@dataclass(frozen=True, eq=False)
class WaypointSet:
    """Poses that a tool passes in order. The n of all shapes is the number of waypoints, 1 or more.

    Raises: FieldworthyError for poses that are no rigid motions, or lists of another length than the poses.
    """

    name: str
    workpiece_from_tool: Array
    """Shape (n, 4, 4)."""
    base_from_workpiece: Array
    """Shape (4, 4)."""
    names: tuple[str, ...]
    """Of the waypoints; "" where one has none. See `label`."""
    speed_m_s: Array
    """Of the motion that ends at the waypoint, shape (n,); NaN where nobody says."""
    dwell_s: Array
    """Time to wait at the waypoint, shape (n,)."""
    move: tuple[WaypointMove, ...]
    """How the waypoint is reached: the tool on a line, or all joints at once."""
    tool_axis_free: Array
    """Whether the tool may turn about its own z there, shape (n,) of bool."""
    given: Array
    """False for points that `densify` or an arc put in between, shape (n,) of bool."""
    flange_from_tool: Array | None = None
    """Shape (4, 4); None where the set leaves the tool to the arm."""
    joints: Array | None = None
    """(n, dof) the posture at waypoints that were given in joints, NaN at the others; None where all are poses."""
    description: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    """What looks wrong but is no error, and what was left out."""

    def __post_init__(self) -> None:
        n = len(self.workpiece_from_tool)
        if n == 0:
            raise FieldworthyError(f"waypoints {self.name}: none; valid: one or more")
        for label, values in (
            ("names", self.names),
            ("speed_m_s", self.speed_m_s),
            ("dwell_s", self.dwell_s),
            ("move", self.move),
            ("tool_axis_free", self.tool_axis_free),
            ("given", self.given),
        ):
            if len(values) != n:
                raise FieldworthyError(f"waypoints {self.name}: {len(values)} values of {label}; valid: {n}")
        poses = [*self.workpiece_from_tool, self.base_from_workpiece]
        poses += [] if self.flange_from_tool is None else [self.flange_from_tool]
        good = are_rigid(np.array(poses)) if all(np.shape(pose) == (4, 4) for pose in poses) else np.zeros(n + 2, bool)
        if not good.all():
            index = int(np.argmin(good))
            which = f"waypoint {index}" if index < n else ("workpiece", "tool")[index - n]
            raise FieldworthyError(f"waypoints {self.name}: {which} is no rigid motion; valid: a 4x4 pose")

    def __len__(self) -> int:
        return len(self.workpiece_from_tool)

    @property
    def base_from_tool(self) -> Array:
        """The waypoints in the robot's base, shape (n, 4, 4)."""
        return self.base_from_workpiece @ self.workpiece_from_tool

    def label(self, index: int) -> str:
        """The waypoint's name, or `#3`."""
        return self.names[index] or f"#{index}"


def waypoint_set(
    name: str,
    workpiece_from_tool: ArrayLike,
    base_from_workpiece: ArrayLike | None = None,
    speed_m_s: float = math.nan,
    **others: Any,
) -> WaypointSet:
    """A set from poses (n, 4, 4): linear, no dwell or names, the base as workpiece; `others` are fields of the set."""
    poses = np.array(workpiece_from_tool, float)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise FieldworthyError(f"waypoints {name}: poses of shape {poses.shape}; valid: (n, 4, 4)")
    n = len(poses)
    fields: dict[str, Any] = {
        "names": ("",) * n,
        "speed_m_s": np.full(n, speed_m_s),
        "dwell_s": np.zeros(n),
        "move": ("linear",) * n,
        "tool_axis_free": np.zeros(n, bool),
        "given": np.ones(n, bool),
    }
    workpiece = np.eye(4) if base_from_workpiece is None else np.array(base_from_workpiece, float)
    return WaypointSet(name, poses, workpiece, **(fields | others))


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


def densify(waypoints: WaypointSet, step_m: float, step_rad: float = math.inf) -> WaypointSet:
    """The same path with points put in, so that no linear motion is longer than step_m [m] or turns more than step_rad.

    Points go on the straight line (lerp and slerp) in equal parts; speed, kind and freedom of the tool's axis are those
    of the motion they stand in. `given` tells the waypoints of before from the new ones. Joint motions stay whole:
    their tool path is the arm's.
    Raises: FieldworthyError for steps that are not positive or that ask for a million points.
    """
    poses = waypoints.workpiece_from_tool
    apart, angle = pose_distance(poses[:-1], poses[1:])
    kept = [0]
    source, fraction = [0], [1.0]
    for index in range(1, len(poses)):
        parts = 1
        if waypoints.move[index] == "linear":
            parts = subdivisions(float(apart[index - 1]), float(angle[index - 1]), step_m, step_rad)
        source += [index] * parts
        fraction += [(k + 1) / parts for k in range(parts)]
        kept.append(len(source) - 1)
    at = np.array(source)
    is_kept = np.zeros(len(at), bool)
    is_kept[kept] = True
    dense = lerp_pose(poses[np.maximum(at - 1, 0)], poses[at], np.array(fraction))
    return dataclasses.replace(
        waypoints,
        workpiece_from_tool=dense,
        names=tuple(waypoints.names[i] if keep else "" for i, keep in zip(source, is_kept, strict=True)),
        speed_m_s=waypoints.speed_m_s[at],
        dwell_s=np.where(is_kept, waypoints.dwell_s[at], 0.0),
        joints=None if waypoints.joints is None else np.where(is_kept[:, None], waypoints.joints[at], np.nan),
        move=tuple(waypoints.move[i] for i in source),
        tool_axis_free=waypoints.tool_axis_free[at],
        given=waypoints.given[at] & is_kept,
    )


def waypoints_of(
    program: Program, arm: Arm | None = None, arc_step_m: float = 0.005, arc_step_rad: float = 0.1
) -> WaypointSet:
    """The tool's poses of a robot program.

    Linear and joint moves become one waypoint each. A circular move becomes points on its true arc, at most arc_step_m
    or arc_step_rad apart, turning by slerp from its start to its end as controllers do; its own three points stay
    `given`. The frame of the first pose is the workpiece, and other frames are written in it. Targets in joints need
    the arm.
    Raises: FieldworthyError, with the program's line, where no set can say the same: no moves, a change of tool, a
    target in joints without an arm, an arc without a start or a circle.
    """
    if not program.moves:
        raise FieldworthyError(f"{program.source or program.name}: the program moves nothing; valid: one move or more")
    tool = _one_tool(program)
    frame = next((np.array(move.base_from_frame) for move in program.moves if move.pose is not None), np.eye(4))
    told = dict.fromkeys(note for move in program.moves for note in _left_out(move))
    made = _Path(program, arm, tool, np.linalg.inv(frame))
    for move in program.moves:
        made.add(move, arc_step_m, arc_step_rad)
    return WaypointSet(
        name=program.name,
        workpiece_from_tool=np.stack(made.poses),
        base_from_workpiece=frame,
        flange_from_tool=tool,
        names=_unique(made.names),
        speed_m_s=np.array(made.speeds),
        dwell_s=np.array(made.dwells),
        move=tuple(made.moves),
        tool_axis_free=np.zeros(len(made.poses), bool),
        given=np.array(made.given, bool),
        joints=made.postures(),
        source=program.source,
        notes=(*program.notes, *told),
    )


class _Path:
    """Poses of a program in the making, workpiece_from_tool."""

    def __init__(self, program: Program, arm: Arm | None, tool: Array | None, workpiece_from_base: Array) -> None:
        self.place = program.source or program.name
        self.arm = arm if arm is None or tool is None else arm.with_tool(tool)
        self.workpiece_from_base = workpiece_from_base
        self.poses: list[Array] = []
        self.names: list[str] = []
        self.speeds: list[float] = []
        self.dwells: list[float] = []
        self.moves: list[WaypointMove] = []
        self.given: list[bool] = []
        self.joints: list[tuple[float, ...] | None] = []

    def add(self, move: Move, arc_step_m: float, arc_step_rad: float) -> None:
        end = self._pose(move)
        if move.kind == "circular":
            self._arc(move, end, arc_step_m, arc_step_rad)
        else:
            self._put(end, move, move.label, "joint" if move.kind == "joint" else "linear", move.dwell_s, True)

    def _put(self, pose: Array, move: Move, name: str, kind: WaypointMove, dwell_s: float, given: bool) -> None:
        self.poses.append(pose)
        self.names.append(name)
        self.speeds.append(math.nan if move.speed_m_s is None else move.speed_m_s)
        self.dwells.append(dwell_s)
        self.moves.append(kind)
        self.given.append(given)
        self.joints.append(move.joints if kind == "joint" and given else None)

    def postures(self) -> Array | None:
        """(n, dof), NaN where a target is a pose; None where all are."""
        if self.arm is None or all(joints is None for joints in self.joints):
            return None
        nothing = (math.nan,) * self.arm.dof
        return np.array([nothing if joints is None else joints for joints in self.joints], float)

    def _arc(self, move: Move, end: Array, step_m: float, step_rad: float) -> None:
        if not self.poses or move.via is None:
            what = (
                "a circular move as the first one"
                if move.via is not None
                else "a circular move without a point on the way"
            )
            raise FieldworthyError(
                f"{self._where(move)}: {what}; valid: an arc from the move before it through a point"
            )
        start, via = self.poses[-1], self._in_workpiece(move, move.via)
        arc = arc_through(start[:3, 3], via[:3, 3], end[:3, 3])
        if arc is None:
            raise FieldworthyError(
                f"{self._where(move)}: start, middle and end lie on one line: no circle; valid: three corners"
            )
        _, turned = pose_distance(start, end)
        for first, last in ((0.0, arc.via_rad), (arc.via_rad, arc.end_rad)):
            angle = last - first
            turn = max(angle, float(turned) * angle / arc.end_rad)
            parts = subdivisions(angle * arc.radius_m, turn, step_m, step_rad)
            fractions = (first + angle * np.arange(1, parts + 1) / parts) / arc.end_rad
            poses = arc_poses(start, end, arc, fractions)
            for k in range(parts):
                at_end = last == arc.end_rad and k == parts - 1
                pose = end if at_end else poses[k]
                self._put(pose, move, move.label if at_end else "", "linear", move.dwell_s * at_end, k == parts - 1)

    def _pose(self, move: Move) -> Array:
        if move.pose is not None:
            return self._in_workpiece(move, move.pose)
        if self.arm is None:
            raise FieldworthyError(f"{self._where(move)}: a target in joints; valid: waypoints_of(program, arm)")
        from fieldworthy.arms.kinematics import fk

        try:
            reached: Array = self.workpiece_from_base @ fk(self.arm, np.array(move.joints, float))
        except FieldworthyError as error:
            raise FieldworthyError(f"{self._where(move)}: {error}") from None
        return reached

    def _in_workpiece(self, move: Move, pose: Any) -> Array:
        base_from_frame, frame_from_tool = np.array(move.base_from_frame), np.array(pose)
        moved: Array = self.workpiece_from_base @ base_from_frame @ frame_from_tool
        return moved

    def _where(self, move: Move) -> str:
        return f"{self.place}:{move.line}" if move.line else self.place


def _one_tool(program: Program) -> Array | None:
    tool, seen = None, False
    for move in program.moves:
        if move.joints is not None and move.flange_from_tool is None:
            continue  # a posture needs no tool; its pose is that of the tool that the poses are of
        if seen and move.flange_from_tool != tool:
            place = f"{program.source or program.name}:{move.line}" if move.line else program.source or program.name
            raise FieldworthyError(f"{place}: the tool changes here; valid: one tool a set (split the program)")
        tool, seen = move.flange_from_tool, True
    return None if tool is None else np.array(tool)


def _left_out(move: Move) -> list[str]:
    notes = []
    if move.blend_m > 0.0:
        notes.append("blends are left out: the waypoints lie on the corners")
    if move.joint_speed is not None or move.joint_speed_rad_s is not None:
        notes.append("speeds of joint moves are left out: the arm goes as fast as its limits allow")
    if move.posture:
        notes.append("the controller's words on the branch are left out")
    if move.time_s is not None:
        notes.append("due times are left out: waypoints have speeds")
    return notes


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, later ones of equal names counted: P1, P1 (2). A program may well go to one point twice."""
    used: set[str] = set()
    found = []
    for name in names:
        free, count = name, 1
        while free and free in used:
            count += 1
            free = f"{name} ({count})"
        used.add(free)
        found.append(free)
    return tuple(found)


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
