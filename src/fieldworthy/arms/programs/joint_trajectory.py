"""ROS 2 trajectory_msgs/JointTrajectory as YAML (`ros2 topic echo`, `ros2 topic pub`) or JSON: read and written.

Parts: trajectory_message (what a message holds, and what is wrong with it), trajectory_json (the same, fast, where all
is well), yaml_subset.
Units: radians, or metres of prismatic joints, and seconds, as in the message.
Source: ROS 2, trajectory_msgs/msg/JointTrajectory and JointTrajectoryPoint, builtin_interfaces/msg/Duration.
Verified by: tests/cases/test_arm_joint_trajectory.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import Array
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.checks import check_finite
from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.trajectory_json import quick_message
from fieldworthy.arms.programs.trajectory_message import RATES, read_message
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.suggest import did_you_mean


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
    check_finite(found, program.moves)
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
    message = quick_message(text) or read_message(text, found)
    count = len(message.lines)
    rates: list[Array | None] = []
    for name in RATES:
        given = [row for row in message.values[name] if row]
        rates.append(np.array(given, float) if len(given) == count else None)
        if 0 < len(given) < count:
            found.note(0, f"{name} are given for {len(given)} of {count} points and are left out")
    if any(message.values["effort"]):
        found.note(0, "effort is left out")
    times = np.array(message.times_ns) / 1e9
    positions = np.array(message.values["positions"], float)
    lines = tuple(message.lines)
    return Trajectory(message.joint_names, times, positions, rates[0], rates[1], lines), tuple(found.notes)
