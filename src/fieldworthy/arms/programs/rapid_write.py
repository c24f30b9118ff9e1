"""Writing ABB RAPID modules.

Verified by: tests/cases/test_arm_programs_rapid.py
"""

from __future__ import annotations

import re

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Matrix
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.checks import check_finite
from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.frames import M_PER_MM
from fieldworthy.arms.programs.rapid_data import V_TCP, ZONES, as_values
from fieldworthy.arms.programs.words import identifier, shortest


def write(program: Program) -> str:
    """The program as a RAPID module with `PROC main`, its tools, work objects, speeds and zones as data.

    Tools left to the controller become tool0, with a remark; joint shares become VelSet with vmax. Left out with a
    remark: due times, and joint speeds in rad/s. Orientations have eight digits, positions and angles six after the
    point.
    Raises: ScenarioError for joint targets of more than six axes, circular moves without a point on the way and numbers
    that are not finite.
    """
    name = identifier(program.name, 32, "Motion")
    found = Findings(program.name)
    check_finite(found, program.moves)
    found.stop()
    data: dict[str, str] = {}
    tools, frames, body = _Names("tool"), _Names("wobj"), []
    remarks: dict[str, None] = {}
    share = 1.0
    for at, move in enumerate(program.moves, 1):
        wanted = 1.0
        if move.kind == "joint" and move.joint_speed is not None and move.speed_m_s is None:
            wanted = min(max(move.joint_speed, 0.01), 1.0)
        if wanted != share:
            body.append(f"VelSet {wanted * 100.0:g}, 7000;")
            share = wanted
        tool = "tool0"
        if move.flange_from_tool is None:
            remarks["the tool is left to the controller: put its name in the place of tool0"] = None
        elif move.flange_from_tool != IDENTITY:
            tool = tools.of(move.flange_from_tool)
            load = "[1,[0,0,0.001],[1,0,0,0],0,0,0]"
            data[tool] = f"PERS tooldata {tool}:=[TRUE,{_pose_text(move.flange_from_tool)},{load}];"
        wobj = ""
        if move.base_from_frame != IDENTITY and move.pose is not None:
            frame = frames.of(move.base_from_frame)
            data[frame] = (
                f'PERS wobjdata {frame}:=[FALSE,TRUE,"",{_pose_text(move.base_from_frame)},[[0,0,0],[1,0,0,0]]];'
            )
            wobj = f"\\WObj:={frame}"
        if move.time_s is not None:
            remarks["due times are left out"] = None
        if move.joint_speed_rad_s is not None:
            remarks["joint speeds in rad/s are left out"] = None
        body.append(f"{_target_text(move, at, found)},{_speed(move, data)},{_zone(move, data)},{tool}{wobj};")
        if move.dwell_s > 0.0:
            body.append(f"WaitTime {move.dwell_s:.6g};")
    found.stop()
    if not any(re.fullmatch(r"\[-?\d+(,-?\d+){3}\]", move.posture) for move in program.moves):
        body[:0] = ["ConfJ\\Off;", "ConfL\\Off;"]
    lines = [f"MODULE {name}", *(f"  ! {remark}" for remark in remarks), *(f"  {text}" for text in data.values())]
    return "\n".join([*lines, "", "  PROC main()", *(f"    {text}" for text in body), "  ENDPROC", "ENDMODULE", ""])


class _Names:
    """Names for the different tools or work objects of a program."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.known: list[Matrix] = []

    def of(self, matrix: Matrix) -> str:
        if matrix not in self.known:
            self.known.append(matrix)
        return f"{self.stem}_{self.known.index(matrix) + 1}"


def _pose_text(matrix: Matrix) -> str:
    position, quaternion = as_values(np.array(matrix))
    at = ",".join(shortest(part, 6) for part in position)
    return f"[[{at}],[{','.join(shortest(part, 8) for part in quaternion)}]]"


def _target_text(move: Move, at: int, found: Findings) -> str:
    """The instruction with its targets written out."""
    nowhere = "[9E9,9E9,9E9,9E9,9E9,9E9]"
    if move.pose is None:
        angles = np.degrees(np.array(move.joints, np.float64))
        if len(angles) > 6:
            found.problem(0, f"move {at}", f"{len(angles)} joint positions", "up to 6 in a joint target of RAPID")
            return ""
        axes = [shortest(angle, 6) for angle in angles] + ["0"] * (6 - len(angles))
        return f"MoveAbsJ [[{','.join(axes)}],{nowhere}]"
    posture = move.posture if re.fullmatch(r"\[-?\d+(,-?\d+){3}\]", move.posture) else "[0,0,0,0]"
    if move.kind == "circular" and move.via is None:
        found.problem(0, f"move {at}", "a circular move without a point on the way", "via")
    wanted = [move.via, move.pose] if move.kind == "circular" and move.via is not None else [move.pose]
    targets = [f"[{_pose_text(matrix)[1:-1]},{posture},{nowhere}]" for matrix in wanted]
    word = {"joint": "MoveJ", "linear": "MoveL", "circular": "MoveC"}[move.kind]
    return f"{word} {','.join(targets)}"


def _speed(move: Move, data: dict[str, str]) -> str:
    if move.speed_m_s is None:
        return "vmax"
    speed_mm_s = round(move.speed_m_s / M_PER_MM, 6)
    if speed_mm_s in V_TCP:
        return f"v{speed_mm_s:g}"
    text = shortest(speed_mm_s, 6)
    name = "v_" + text.replace(".", "_")
    data[name] = f"CONST speeddata {name}:=[{text},500,5000,1000];"
    return name


def _zone(move: Move, data: dict[str, str]) -> str:
    if move.blend_m <= 0.0:
        return "fine"
    radius_mm = round(move.blend_m / M_PER_MM, 6)
    if radius_mm in ZONES or radius_mm == 0.3:
        return "z0" if radius_mm == 0.3 else f"z{radius_mm:g}"
    text = shortest(radius_mm, 6)
    name = "z_" + text.replace(".", "_")
    wide = shortest(1.5 * radius_mm, 6)
    data[name] = f"CONST zonedata {name}:=[FALSE,{text},{wide},{wide},{shortest(0.15 * radius_mm, 6)},{wide},1];"
    return name
