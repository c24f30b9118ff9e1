"""A program as a FANUC .ls file."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Matrix
from fieldworthy.arms.orientation import values_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.checks import check_finite
from fieldworthy.arms.programs.findings import Findings
from fieldworthy.arms.programs.words import identifier


def write(program: Program, *, coupled: bool = True, cnt_full_m: float = 0.05) -> str:
    """The program as a .ls file; the values of its user frames and tools are told in remarks, to be set on the
    controller.

    UF 0 is the robot's base, further frames are numbered in order; UT 0 is the flange, and a move that leaves its tool
    to the controller has UT F. What FANUC cannot say is left out with a remark: due times, joint speeds in rad/s.
    A posture in another maker's words becomes 'N U T, 0, 0, 0'; a joint move without a share of speed has 100%.
    Raises: ScenarioError for targets with more than nine joints, more than nine frames or tools, circular moves without
    a point on the way, and numbers that are not finite.
    """
    found = Findings(program.name)
    check_finite(found, program.moves)
    found.stop()
    frames, tools = _Numbers("user frames", found), _Numbers("tools", found)
    lines: list[str] = []
    entries: list[str] = []
    remarks: list[str] = []
    for at, move in enumerate(program.moves, 1):
        if move.kind == "circular" and (move.via is None or move.pose is None):
            found.problem(0, f"move {at}", "a circular move without a point on the way or an end", "via and pose")
            continue
        if move.pose is None and len(move.joints or ()) > 9:
            found.problem(0, f"move {at}", f"{len(move.joints or ())} joint positions", "up to 9 in a motion group")
            continue
        uf, ut = frames.of(move.base_from_frame), "F"
        if move.flange_from_tool is not None:
            ut = str(tools.of(move.flange_from_tool))
        numbers = []
        for target in (move.via, move.pose) if move.kind == "circular" else (move.pose,):
            entries.append(_entry(len(entries) + 1, target, move, uf, ut, coupled))
            numbers.append(len(entries))
        if move.time_s is not None or move.joint_speed_rad_s is not None:
            remarks.append("! due times, rad/s left out")
        if move.kind == "joint":
            speed = f"{max(1, round(100.0 * (1.0 if move.joint_speed is None else move.joint_speed)))}%"
        else:
            speed = "max_speed" if move.speed_m_s is None else f"{move.speed_m_s * 1000.0:.6g}mm/sec"
        share = round(100.0 * move.blend_m / cnt_full_m) if cnt_full_m > 0.0 else 0
        ending = "FINE" if move.blend_m <= 0.0 or not share else f"CNT{min(share, 100)}"
        letter = {"joint": "J", "linear": "L", "circular": "C"}[move.kind]
        lines.append(
            "".join(
                (
                    letter,
                    *(f" P[{number}]\n    : " if number != numbers[-1] else f" P[{number}]" for number in numbers),
                    f" {speed} {ending}    ;",
                )
            )
        )
        if move.dwell_s > 0.0:
            lines.append(f"  WAIT {move.dwell_s:.2f}(sec) ;")
    found.stop()
    told = [f"  {remark} ;" for remark in (*frames.remarks("UF"), *tools.remarks("UT"), *dict.fromkeys(remarks))]
    body = [f"{number:4d}:{line}" for number, line in enumerate(told + lines, 1)]
    name = identifier(program.name, 32).upper()
    attributes = [f"LINE_COUNT = {len(body)};", "DEFAULT_GROUP = 1,*,*,*,*;"]
    return "\n".join([f"/PROG  {name}", "/ATTR", *attributes, "/MN", *body, "/POS", *entries, "/END", ""])


class _Numbers:
    """Numbers for the different frames or tools of a program; 0 is the identity."""

    def __init__(self, what: str, found: Findings) -> None:
        self.what, self.found = what, found
        self.known: list[Matrix] = [IDENTITY]

    def of(self, matrix: Matrix) -> int:
        if matrix not in self.known:
            self.known.append(matrix)
        if len(self.known) > 10:
            self.found.problem(0, "", f"more than nine {self.what}", "nine, the number of a controller")
        return self.known.index(matrix)

    def remarks(self, letters: Literal["UF", "UT"]) -> list[str]:
        """Two remarks for each, as its values stand on the pendant [mm, deg]."""
        told = []
        for number, matrix in enumerate(self.known[1:], 1):
            x, y, z, w, p, r = _xyzwpr(matrix)
            told += [
                f"! {letters}{number} XYZ {x:.3f} {y:.3f} {z:.3f}",
                f"! {letters}{number} WPR {w:.4f} {p:.4f} {r:.4f}",
            ]
        return told


def _xyzwpr(matrix: Matrix) -> tuple[float, ...]:
    """X, Y, Z [mm], W, P, R [deg]."""
    array = np.array(matrix)
    angles = np.degrees(values_of("fanuc_wpr", array[:3, :3]))
    return (*(array[:3, 3] * 1000.0), *angles)


def _entry(number: int, target: Matrix | None, move: Move, uf: int, ut: str, coupled: bool) -> str:
    """One entry of /POS."""
    head = f"P[{number}]{{\n   GP1:\n"
    if target is None:
        joints = np.degrees(np.array(move.joints, np.float64))
        if coupled and len(joints) >= 3:
            joints[2] -= joints[1]
        rows = [f"J{n}= {value:.6f} deg" for n, value in enumerate(joints, 1)]
        return f"{head}\tUF : {uf}, UT : {ut},\t\n\t" + ",\t".join(rows) + "\n};"
    x, y, z, w, p, r = _xyzwpr(target)
    config = move.posture if re.fullmatch(r"[NF]\s+[UDLR]\s+.*", move.posture) else "N U T, 0, 0, 0"
    place = f"\tX = {x:.6f}  mm,\tY = {y:.6f}  mm,\tZ = {z:.6f}  mm,\n"
    turn = f"\tW = {w:.6f} deg,\tP = {p:.6f} deg,\tR = {r:.6f} deg\n"
    return f"{head}\tUF : {uf}, UT : {ut},\t\tCONFIG : '{config}',\n{place}{turn}}};"
