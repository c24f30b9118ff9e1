"""A program as a URScript. Read back, it is the same program to 1e-7 m and 1e-8 rad."""

from __future__ import annotations

import re

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Matrix
from fieldworthy.arms.orientation import values_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.checks import check_finite
from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.words import fixed, identifier


def write(program: Program) -> str:
    """The text of a script with one function, which the controller runs when it is sent.

    Joint speeds as a share of the largest are left out with a comment, since a script gives rad/s. Read back, it is the
    same program to 1e-7 m and 1e-8 rad.
    Raises: ScenarioError for moves that are not six joints or a pose, and tools left to the controller after one was
    named.
    """
    found = Findings(program.name)
    check_finite(found, program.moves)
    found.stop()
    lines = [f"def {identifier(program.name, 60)}():"]
    frames: dict[Matrix, str] = {}
    tool: Matrix | None = None
    clock = 0.0
    for at, move in enumerate(program.moves, 1):
        frame = ""
        if move.base_from_frame != IDENTITY:
            frame = frames.get(move.base_from_frame, "")
            if not frame:
                frame = frames[move.base_from_frame] = f"frame_{len(frames) + 1}"
                lines.append(f"  global {frame} = {_pose(move.base_from_frame)}")
        if move.flange_from_tool != tool:
            tool = move.flange_from_tool
            if tool is None:
                what = "leaves the tool to the controller after a move that named one"
                found.problem(0, f"move {at}", what, "a tool for it, or for none of the moves")
            else:
                lines.append(f"  set_tcp({_pose(tool)})")
        if move.joint_speed is not None:
            lines.append(f"  # {100.0 * move.joint_speed:.6g} % of the largest joint speed was asked for")
        clock = _move_line(move, at, frame, clock, lines, found)
    found.stop()
    return "\n".join([*lines, "end", ""])


def _move_line(move: Move, at: int, frame: str, clock: float, lines: list[str], found: Findings) -> float:
    def target(pose: Matrix) -> str:
        return f"pose_trans({frame}, {_pose(pose)})" if frame else _pose(pose)

    if move.joints is not None and len(move.joints) == 6 and move.kind != "circular":
        goal = "[" + ", ".join(fixed(angle, 9) for angle in move.joints) + "]"
    elif move.pose is not None and (move.kind != "circular" or move.via is not None):
        goal = target(move.pose)
        if move.kind == "joint":
            near = f", {move.posture}" if re.fullmatch(r"qnear=\[[-+\d., eE]*\]", move.posture) else ""
            goal = f"get_inverse_kin({goal}{near})"
        elif move.kind == "circular" and move.via is not None:
            goal = f"{target(move.via)}, {goal}"
    else:
        found.problem(0, f"move {at}", f"a {move.kind} move without a target that a UR takes", "six joints, or a pose")
        return clock
    word = {"joint": "movej", "linear": "movel", "circular": "movec"}[move.kind]
    speed = move.joint_speed_rad_s if move.kind == "joint" else move.speed_m_s
    options = [] if speed is None else [f"v={speed:.9g}"]
    if move.time_s is not None and move.kind != "circular":
        if move.time_s <= clock:
            found.problem(0, f"move {at}", f"is due at {move.time_s:g} s, not after {clock:g} s", "increasing times")
        options.append(f"t={move.time_s - clock:.9g}")
        clock = move.time_s + move.dwell_s
    if move.blend_m > 0.0:
        options.append(f"r={move.blend_m:.9g}")
    lines.append(f"  {word}({', '.join([goal, *options])})")
    if move.dwell_s > 0.0:
        lines.append(f"  sleep({move.dwell_s:.9g})")
    return clock


def _pose(pose: Matrix) -> str:
    matrix = np.array(pose)
    position = [fixed(value, 7) for value in matrix[:3, 3].tolist()]
    turn = [fixed(value, 9) for value in values_of("ur_rotvec", matrix[:3, :3]).tolist()]
    return f"p[{', '.join([*position, *turn])}]"
