"""A JointTrajectory message with the line of every value: what is in it, and everything that is wrong with it.

Source: ROS 2, trajectory_msgs/msg/JointTrajectory and JointTrajectoryPoint, builtin_interfaces/msg/Duration.
Verified by: tests/cases/test_arm_joint_trajectory.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.yaml_flow import Node, YamlError
from fieldworthy.arms.programs.yaml_subset import documents
from fieldworthy.core.suggest import did_you_mean

HEAD = ("header", "joint_names", "points")
RATES = ("velocities", "accelerations")
VALUES = ("positions", *RATES, "effort")
POINT = (*VALUES, "time_from_start")
LONGEST_S = 2**31 - 1
TIMES = {"sec": "sec", "secs": "sec", "nanosec": "nanosec", "nsecs": "nanosec"}
"""Names of ROS 2, and of ROS 1."""


@dataclass(frozen=True)
class Message:
    """What a message says. Every point has its line, its time [ns] and one list for each of VALUES, perhaps empty."""

    joint_names: tuple[str, ...]
    lines: list[int]
    times_ns: list[int]
    values: dict[str, list[list[float]]]


def read_message(text: str, found: Findings) -> Message:
    """The message of a text in YAML or JSON. Raises: ScenarioError with all its problems."""
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
    lines = [node.line for node in points.value]
    values: dict[str, list[list[float]]] = {name: [] for name in VALUES}
    times: list[int | None] = []
    for i, node in enumerate(points.value):
        times.append(_point(node, f"points[{i}]", len(names), values, found))
    for i, (before, now) in enumerate(zip(times, times[1:], strict=False), 1):
        if before is not None and now is not None and now <= before:
            told = f"{now / 1e9:g} s, after {before / 1e9:g} s of points[{i - 1}] in line {lines[i - 1]}"
            found.problem(lines[i], f"points[{i}].time_from_start", told, "times that rise from point to point")
    found.stop()
    return Message(names, lines, [time for time in times if time is not None], values)


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


def _point(node: Node, where: str, count: int, values: dict[str, list[list[float]]], found: Findings) -> int | None:
    """Add the values of a point; its time [ns]."""
    point = _mapping(node, where, found)
    for key, each in point.items():
        if key not in POINT:
            found.problem(each.line, f"{where}.{key}", f"unknown key{did_you_mean(key, POINT)}", ", ".join(POINT))
    for key in VALUES:
        values[key].append(_numbers(point.get(key), f"{where}.{key}", count, key == "positions", node.line, found))
    return _time(point.get("time_from_start"), f"{where}.time_from_start", node.line, found)


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
