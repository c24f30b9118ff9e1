"""A program as a KRL .src for a KR C4. Read back, it is the same program to 0.0001 mm and 0.00001 deg."""

from __future__ import annotations

import math
import re

import numpy as np

from fieldworthy.arms.chain import Matrix
from fieldworthy.arms.orientation import values_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.checks import check_finite
from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.words import fixed, identifier

_POSTURE = re.compile(r"S (\d+)(?:,T (\d+))?")


def write(program: Program) -> str:
    """The text of a .src with inline targets.

    Speeds that KRL cannot say (rad/s of joint moves) and due times are left out with a comment. A speed, frame or tool
    that a move leaves open keeps the one before, as on the controller.
    Raises: ScenarioError for joint positions that are not 6 to 12, linear or circular moves to joint positions, and
    tools left to the controller after one was named.
    """
    found = Findings(program.name)
    check_finite(found, program.moves)
    found.stop()
    lines = [
        "&ACCESS RVP",
        "&REL 1",
        f"DEF {identifier(program.name, 24)} ( )",
        ";FOLD INI",
        "BAS (#INITMOV,0)",
        ";ENDFOLD (INI)",
        "",
    ]
    base: Matrix | None = None
    tool: Matrix | None = None
    speed: float | None = None
    share: float | None = None
    blend = 0.0
    for at, move in enumerate(program.moves, 1):
        if move.base_from_frame != base:
            base = move.base_from_frame
            lines.append(f"$BASE = {{{_frame(base)}}}")
        if move.flange_from_tool != tool:
            if move.flange_from_tool is None:
                what = "leaves the tool to the controller after a move that named one"
                found.problem(0, f"move {at}", what, "a tool for it, or for none of the moves")
            else:
                lines.append(f"$TOOL = {{{_frame(move.flange_from_tool)}}}")
            tool = move.flange_from_tool
        if move.kind == "joint" and move.joint_speed is not None and move.joint_speed != share:
            share = move.joint_speed
            lines.append(f"BAS (#VEL_PTP,{100.0 * share:.9g})")
        if move.kind != "joint" and move.speed_m_s is not None and move.speed_m_s != speed:
            speed = move.speed_m_s
            lines.append(f"$VEL.CP = {speed:.9g}")
        if move.blend_m > 0.0 and move.blend_m != blend:
            blend = move.blend_m
            lines.append(f"$APO.CDIS = {1000.0 * blend:.9g}")
        if move.joint_speed_rad_s is not None:
            lines.append(f"; {move.joint_speed_rad_s:.6g} rad/s was asked for; KRL takes a share of the largest speed")
        if move.time_s is not None:
            lines.append(f"; due at {move.time_s:.6g} s")
        lines.append(_motion(move, at, found))
        if move.dwell_s > 0.0:
            lines.append(f"WAIT SEC {move.dwell_s:.9g}")
    found.stop()
    return "\n".join([*lines, "", "END", ""])


def _motion(move: Move, at: int, found: Findings) -> str:
    word = {"joint": "PTP", "linear": "LIN", "circular": "CIRC"}[move.kind]
    if move.joints is not None:
        if move.kind != "joint":
            found.problem(0, f"move {at}", f"a {move.kind} move to joint positions", "a pose for its target")
        if not 6 <= len(move.joints) <= 12:
            found.problem(
                0, f"move {at}", f"{len(move.joints)} joint positions", "A1 to A6 and up to six external axes"
            )
        names = [*(f"A{i}" for i in range(1, 7)), *(f"E{i}" for i in range(1, 7))]
        target = ",".join(
            f"{name} {fixed(math.degrees(angle), 5)}" for name, angle in zip(names, move.joints, strict=False)
        )
    elif move.pose is not None:
        posture = _POSTURE.fullmatch(move.posture)
        target = _frame(move.pose) + (f",{move.posture}" if posture else "")
    else:
        found.problem(0, f"move {at}", "no target", "joints or a pose")
        return ""
    blend = "" if move.blend_m <= 0.0 else " C_PTP C_DIS" if move.kind == "joint" else " C_DIS"
    if move.kind == "circular":
        if move.via is None:
            found.problem(0, f"move {at}", "a circular move without a point on the way", "via")
            return ""
        return f"CIRC {{{_frame(move.via)}}},{{{target}}}{blend}"
    return f"{word} {{{target}}}{blend}"


def _frame(pose: Matrix) -> str:
    matrix = np.array(pose)
    angles = np.degrees(values_of("kuka_abc", matrix[:3, :3])).tolist()
    lengths = [f"{key} {fixed(1000.0 * value, 4)}" for key, value in zip("XYZ", matrix[:3, 3].tolist(), strict=True)]
    return ",".join([*lengths, *(f"{key} {fixed(value, 5)}" for key, value in zip("ABC", angles, strict=True))])
