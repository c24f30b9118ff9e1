"""The waypoints of a robot program: one tool, arcs as points, targets in joints with their posture.

Verified by: tests/cases/test_arm_dataset.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.interpolate import arc_poses, arc_through, pose_distance, subdivisions
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.waypoints import WaypointMove, WaypointSet
from fieldworthy.core.errors import FieldworthyError


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
