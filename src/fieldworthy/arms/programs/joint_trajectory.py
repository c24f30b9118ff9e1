"""ROS 2 trajectory_msgs/JointTrajectory as YAML (`ros2 topic echo`, `ros2 topic pub`) or JSON: read and written.

Units: radians, or metres of prismatic joints, and seconds, as in the message.
Source: ROS 2, trajectory_msgs/msg/JointTrajectory and JointTrajectoryPoint, builtin_interfaces/msg/Duration.
Verified by: tests/cases/test_arm_joint_trajectory.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.reading import Findings, refuse_not_finite
from fieldworthy.arms.programs.yaml_subset import Node, YamlError, documents
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.suggest import did_you_mean

HEAD = ("header", "joint_names", "points")
RATES = ("velocities", "accelerations")
POINT = ("positions", *RATES, "effort", "time_from_start")
LONGEST_S = 2**31 - 1
TIMES = {"sec": "sec", "secs": "sec", "nanosec": "nanosec", "nsecs": "nanosec"}
"""Names of ROS 2, and of ROS 1."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Joint positions over time. Shapes: times (n,), positions, velocities and accelerations (n, dof)."""

    joint_names: tuple[str, ...]
    times_s: Array
    """From the start of the trajectory, increasing."""
    positions: Array
    velocities: Array | None = None
    """None where not every point has them."""
    accelerations: Array | None = None
    lines: tuple[int, ...] = ()
    """Line of each point in its file."""

    def for_joints(self, names: Iterable[str]) -> Trajectory:
        """The same trajectory with its joints in another order, or with some of them only.

        Raises: FieldworthyError for a joint that the trajectory does not have, or one named twice.
        """
        wanted = tuple(names)
        for name in wanted:
            if name not in self.joint_names:
                raise FieldworthyError(
                    f"joint {name!r} is not in the trajectory; valid: {', '.join(self.joint_names)}"
                    f"{did_you_mean(name, self.joint_names)}"
                )
            if wanted.count(name) > 1:
                raise FieldworthyError(f"joint {name!r} is named twice; valid: each joint once")
        order = [self.joint_names.index(name) for name in wanted]
        rates = [None if each is None else each[:, order] for each in (self.velocities, self.accelerations)]
        return Trajectory(wanted, self.times_s, self.positions[:, order], rates[0], rates[1], self.lines)


def for_joints(program: Program, names: Iterable[str]) -> Program:
    """A program of joint moves with its joints in another order, or with some of them only.

    Raises: FieldworthyError as `Trajectory.for_joints`, ScenarioError for a program that is no trajectory.
    """
    return _program(program.name, trajectory_of(program).for_joints(names), program.source, program.notes)


def read(text: str, source: str = "") -> Program:
    """The points of a message as joint moves with due times; velocities and accelerations are checked and left out.

    Raises: ScenarioError with all problems of the file.
    """
    trajectory, notes = _read(text, source)
    for name, values in (("velocities", trajectory.velocities), ("accelerations", trajectory.accelerations)):
        if values is not None:
            notes = (*notes, f"{source or 'trajectory'}: {name} are in read_trajectory, not in the moves")
    return _program("trajectory", trajectory, source, notes)


def read_trajectory(text: str, source: str = "") -> Trajectory:
    """The message with its velocities and accelerations. Raises: ScenarioError with all problems of the file."""
    return _read(text, source)[0]


def trajectory_of(program: Program) -> Trajectory:
    """The joint moves of a program as a trajectory. Joints without names are joint_1, joint_2, ...

    Raises: ScenarioError for moves to poses, without due time, not in order of time, or of different joints.
    """
    found = Findings(program.name)
    refuse_not_finite(found, program.moves)
    if not program.moves:
        found.problem(0, "points", "the program has no moves", "one or more")
    count = len(program.joint_names) or len(next((move.joints for move in program.moves if move.joints), ()))
    last = -math.inf
    for at, move in enumerate(program.moves, 1):
        if move.joints is None:
            found.problem(move.line, f"move {at}", "goes to a pose", "joint positions")
        elif len(move.joints) != count:
            found.problem(move.line, f"move {at}", f"{len(move.joints)} joint positions", f"{count}")
        if move.time_s is None:
            found.problem(move.line, f"move {at}", "has no due time", "time_s for every move, as retiming gives it")
        elif round(move.time_s * 1e9) <= last or move.time_s < 0.0:
            what = f"is due at {move.time_s:g} s, not after the one before"
            found.problem(move.line, f"move {at}", what, "times that rise from move to move")
        last = last if move.time_s is None else round(move.time_s * 1e9)
    found.stop()
    return Trajectory(
        program.joint_names or tuple(f"joint_{i + 1}" for i in range(count)),
        np.array([move.time_s for move in program.moves], float),
        np.array([move.joints for move in program.moves], float),
        lines=tuple(move.line for move in program.moves),
    )


def write(program: Program, form: Literal["yaml", "json"] = "yaml") -> str:
    """A program of joint moves with due times as a message.

    Raises: ScenarioError as `trajectory_of`.
    """
    return write_trajectory(trajectory_of(program), form)


def write_trajectory(trajectory: Trajectory, form: Literal["yaml", "json"] = "yaml") -> str:
    """The message, with every digit of a float and times to the nanosecond.

    Raises: FieldworthyError for another form.
    """
    if form not in ("yaml", "json"):
        raise FieldworthyError(f"form {form!r}; valid: 'yaml', 'json'")
    points = []
    for i, time_s in enumerate(trajectory.times_s.tolist()):
        rates = {
            name: values[i].tolist()
            for name, values in (("velocities", trajectory.velocities), ("accelerations", trajectory.accelerations))
            if values is not None
        }
        sec, nanosec = divmod(round(time_s * 1e9), 1_000_000_000)
        time = {"sec": sec, "nanosec": nanosec}
        points.append({"positions": trajectory.positions[i].tolist(), **rates, "time_from_start": time})
    if form == "json":
        return json.dumps({"joint_names": trajectory.joint_names, "points": points}, indent=1) + "\n"
    lines = [f"joint_names: {json.dumps(trajectory.joint_names)}", "points:"]
    for point in points:
        mark = "-"
        for key, value in point.items():
            told = json.dumps(value)
            told = told.replace('"', "") if key == "time_from_start" else told
            lines.append(f"{mark} {key}: {told}")
            mark = " "
    return "\n".join([*lines, ""])


def _program(name: str, trajectory: Trajectory, source: str, notes: Sequence[str]) -> Program:
    lines = trajectory.lines or (0,) * len(trajectory.times_s)
    moves = tuple(
        Move("joint", tuple(row), time_s=time_s, line=line)
        for row, time_s, line in zip(trajectory.positions.tolist(), trajectory.times_s.tolist(), lines, strict=True)
    )
    return Program(name, moves, source, trajectory.joint_names, tuple(notes))


def _read(text: str, source: str) -> tuple[Trajectory, tuple[str, ...]]:
    found = Findings(source or "trajectory")
    try:
        messages = documents(text)
    except YamlError as error:
        found.problem(error.line, "", error.what, error.valid or "YAML of a JointTrajectory message, or JSON")
        found.stop()
        raise  # stop() has raised
    if len(messages) != 1:
        line = messages[1].line if messages else 0
        found.problem(line, "", f"{len(messages)} messages", "one JointTrajectory (ros2 topic echo --once)")
        found.stop()
    head = _mapping(messages[0], "", found)
    if "trajectory" in head and "points" not in head:
        head = _mapping(head["trajectory"], "trajectory", found)
    found.stop()
    for key, node in head.items():
        if key not in HEAD:
            found.problem(node.line, key, f"unknown key{did_you_mean(key, HEAD)}", ", ".join(HEAD))
    names = _names(head.get("joint_names"), found)
    points = head.get("points")
    if points is None or not isinstance(points.value, list) or not points.value:
        found.problem(points.line if points else 0, "points", "no points", "a list of one or more")
        found.stop()
    assert points is not None
    assert isinstance(points.value, list)
    rows = [_point(node, f"points[{i}]", len(names), found) for i, node in enumerate(points.value)]
    for i in range(1, len(rows)):
        if rows[i]["time"] is not None and rows[i - 1]["time"] is not None and rows[i]["time"] <= rows[i - 1]["time"]:
            found.problem(
                points.value[i].line, f"points[{i}].time_from_start",
                f"{rows[i]['time'] / 1e9:g} s, after {rows[i - 1]['time'] / 1e9:g} s of points[{i - 1}] in line "
                f"{points.value[i - 1].line}", "times that rise from point to point",
            )  # fmt: skip
    found.stop()
    rates: list[Array | None] = []
    for name in RATES:
        given = [row[name] for row in rows if row[name]]
        rates.append(np.array(given, float) if len(given) == len(rows) else None)
        if 0 < len(given) < len(rows):
            found.note(0, f"{name} are given for {len(given)} of {len(rows)} points and are left out")
    if any(row["effort"] for row in rows):
        found.note(0, "effort is left out")
    times = np.array([row["time"] / 1e9 for row in rows])
    positions = np.array([row["positions"] for row in rows], float)
    lines = tuple(node.line for node in points.value)
    return Trajectory(names, times, positions, rates[0], rates[1], lines), tuple(found.notes)


def _mapping(node: Node | None, where: str, found: Findings) -> dict[str, Node]:
    if node is None or not isinstance(node.value, dict):
        found.problem(node.line if node else 0, where, f"{_told(node)} where a mapping belongs", "name: value")
        return {}
    return node.value


def _names(node: Node | None, found: Findings) -> tuple[str, ...]:
    if node is None or not isinstance(node.value, list) or not node.value:
        found.problem(node.line if node else 0, "joint_names", "no joint names", "a list of one or more")
        return ()
    names: list[str] = []
    for i, each in enumerate(node.value):
        if each.value is None or isinstance(each.value, list | dict):
            found.problem(each.line, f"joint_names[{i}]", f"{_told(each)} is no name", "a word")
        elif str(each.value) in names:
            found.problem(each.line, f"joint_names[{i}]", f"{each.value!r} is there twice", "each joint once")
        names.append(str(each.value))
    return tuple(names)


def _point(node: Node, where: str, count: int, found: Findings) -> dict[str, Any]:
    point = _mapping(node, where, found)
    row: dict[str, Any] = {"time": None, "effort": []}
    for key, each in point.items():
        if key not in POINT:
            found.problem(each.line, f"{where}.{key}", f"unknown key{did_you_mean(key, POINT)}", ", ".join(POINT))
    for key in ("positions", *RATES, "effort"):
        row[key] = _numbers(point.get(key), f"{where}.{key}", count, key == "positions", node.line, found)
    row["time"] = _time(point.get("time_from_start"), f"{where}.time_from_start", node.line, found)
    return row


def _numbers(node: Node | None, where: str, count: int, needed: bool, line: int, found: Findings) -> list[float]:
    if node is None or node.value is None or node.value == []:
        if needed:
            found.problem(node.line if node else line, where, "no values", f"{count} numbers, one a joint")
        return []
    if not isinstance(node.value, list):
        found.problem(node.line, where, f"{_told(node)} where a list belongs", f"{count} numbers, one a joint")
        return []
    values = []
    for i, each in enumerate(node.value):
        if each.value == "...":
            found.problem(each.line, where, "the list was cut short", "ros2 topic echo --full-length")
        elif isinstance(each.value, bool) or not isinstance(each.value, int | float) or not math.isfinite(each.value):
            found.problem(each.line, f"{where}[{i}]", f"{_told(each)} is no finite number", "a number")
        else:
            values.append(float(each.value))
    if count and len(node.value) != count:
        found.problem(node.line, where, f"{len(node.value)} values for {count} joints", f"{count} numbers, one a joint")
    return values


def _time(node: Node | None, where: str, line: int, found: Findings) -> int | None:
    """Nanoseconds from the start."""
    if node is None:
        found.problem(line, where, "no time", "{sec: 1, nanosec: 500000000}")
        return None
    parts = {"sec": 0, "nanosec": 0}
    before = len(found.problems)
    for key, each in _mapping(node, where, found).items():
        if key not in TIMES:
            found.problem(each.line, f"{where}.{key}", f"unknown key{did_you_mean(key, TIMES)}", "sec, nanosec")
        elif isinstance(each.value, bool) or not isinstance(each.value, int) or each.value < 0:
            found.problem(each.line, f"{where}.{key}", f"{_told(each)}", "a whole number, 0 or more")
        elif TIMES[key] == "sec" and each.value > LONGEST_S:
            found.problem(each.line, f"{where}.{key}", f"{each.value}", f"0 to {LONGEST_S}, a 32-bit number")
        elif TIMES[key] == "nanosec" and each.value >= 1_000_000_000:
            found.problem(each.line, f"{where}.{key}", f"{each.value}", "0 to 999999999")
        else:
            parts[TIMES[key]] = each.value
    return None if len(found.problems) > before else parts["sec"] * 1_000_000_000 + parts["nanosec"]


def _told(node: Node | None) -> str:
    if node is None or node.value is None:
        return "nothing"
    if isinstance(node.value, list | dict):
        return f"a {'list' if isinstance(node.value, list) else 'mapping'} of {len(node.value)}"
    return repr(node.value)
