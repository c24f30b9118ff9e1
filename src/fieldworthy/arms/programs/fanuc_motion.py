"""The motion instructions of FANUC's language: J, L and C to positions of the file, with frames, tools and speeds.

Source: FANUC HandlingTool operator's manual (motion instructions, CNT).
Verified by: tests/cases/test_arm_programs_fanuc.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix, as_matrix
from fieldworthy.arms.program import Move, MoveKind
from fieldworthy.arms.programs.fanuc_positions import Position
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import M_PER_INCH, M_PER_MM
from fieldworthy.arms.programs.running import speed_for
from fieldworthy.arms.programs.words import finite

TARGET = re.compile(r"P\[\s*(\d+)\s*(?::[^\]]*)?\]\s*")
SPEED = re.compile(r"([0-9.]+)\s*(%|mm/sec|cm/min|inch/min|deg/sec|sec|msec)\s*")
END = re.compile(r"(FINE|CNT\s*(\d+)|(?:CD|CR)\s*(\d+))\s*")
SPEEDS_M_S = {"mm/sec": M_PER_MM, "cm/min": 0.01 / 60.0, "inch/min": M_PER_INCH / 60.0}
REFUSED_OPTIONS = {
    "Offset": "an offset by a register",
    "Tool_Offset": "an offset by a register",
    "VOFFSET": "an offset by a camera",
    "INC": "an incremental motion",
    "Skip": "a motion that a signal ends",
    "COORD": "a motion coordinated with another group",
    "RTCP": "a motion of the part about a fixed tool",
}


class Motions:
    """The moves so far, and the frame and tool in force."""

    def __init__(
        self,
        findings: Findings,
        positions: dict[int, Position],
        frames: dict[int, Matrix],
        tools: dict[int, Matrix],
        base_from_world: Array,
        cnt_full_m: float,
    ) -> None:
        self.findings, self.positions, self.frames, self.tools = findings, positions, frames, tools
        self.base_from_world, self.cnt_full_m = base_from_world, cnt_full_m
        self.moves: list[Move] = []
        self.uframe: str | None = None
        """Number of UFRAME_NUM; None before it is set."""
        self.utool: str | None = None

    def add(self, line: int, body: str) -> None:
        """Add the move of an instruction. Raises: StatementError for what it cannot be."""
        letter, rest = body[0], body[1:].strip()
        if letter not in "JLC":
            raise StatementError(f"{letter} motions are not read", "J, L or C")
        targets = []
        for _ in range(2 if letter == "C" else 1):
            target = TARGET.match(rest)
            if target is None:
                registers = " (PR[n] is not in the file)" if rest.startswith("PR") else ""
                raise StatementError(f"{rest[:16]!r} is no position of the file{registers}", "P[n] of the section /POS")
            if int(target[1]) not in self.positions:
                raise StatementError(f"P[{target[1]}] is not in /POS", _some(self.positions))
            targets.append(int(target[1]))
            rest = rest[target.end() :]
        kind: MoveKind = {"J": "joint", "L": "linear", "C": "circular"}[letter]  # type: ignore[assignment]
        end = self.positions[targets[-1]]
        move = self.placed(Move(kind, label=end.label or f"P[{targets[-1]}]", line=line), targets[-1])
        if kind == "circular":
            via = self.placed(Move(kind), targets[0])
            if via.pose is None or move.pose is None:
                raise StatementError("a circular motion to joint positions", "Cartesian positions")
            if via.base_from_frame != move.base_from_frame or via.flange_from_tool != move.flange_from_tool:
                raise StatementError("the two positions of a circular motion differ in UF or UT", "the same UF and UT")
            move = replace(move, via=via.pose)
        move, rest = self.at_speed(line, move, rest)
        ending = END.match(rest)
        if ending is None:
            raise StatementError(f"{rest[:16]!r} says not how the motion ends", "FINE or CNT0 to CNT100")
        if ending[2] is not None:
            share = int(ending[2])
            if share > 100:
                raise StatementError(f"CNT{share}", "CNT0 to CNT100")
            move = replace(move, blend_m=share / 100.0 * self.cnt_full_m)
            if share:
                self.findings.note(
                    0, f"CNT is no distance; CNT100 is taken for {self.cnt_full_m * 1000.0:g} mm (cnt_full_m)"
                )
        elif ending[3] is not None:
            move = replace(move, blend_m=int(ending[3]) * M_PER_MM)
        self.options(line, rest[ending.end() :])
        self.moves.append(move)

    def at_speed(self, line: int, move: Move, rest: str) -> tuple[Move, str]:
        """The move with its speed, and the text behind it."""
        if rest.startswith("max_speed"):
            return move, rest.removeprefix("max_speed").strip()
        speed = SPEED.match(rest)
        if speed is None:
            raise StatementError(f"{rest[:16]!r} is no speed of the file", "such as 50%, 250mm/sec, max_speed")
        value, unit = finite(speed[1], "speed"), speed[2]
        if value <= 0.0:
            raise StatementError(f"the speed is {value:g}{unit}", "more than 0")
        if (unit == "%") != (move.kind == "joint") and unit not in ("sec", "msec"):
            raise StatementError(
                f"a {move.kind} motion at {value:g}{unit}", "% for J; mm/sec, cm/min, inch/min for L and C"
            )
        if unit == "%":
            if value > 100.0:
                raise StatementError(f"the speed is {value:g}%", "up to 100%")
            move = replace(move, joint_speed=value / 100.0)
        elif unit in SPEEDS_M_S:
            move = replace(move, speed_m_s=value * SPEEDS_M_S[unit])
        elif unit == "deg/sec":
            self.findings.note(line, f"{value:g}deg/sec is a speed of turning; the move has no speed of its own")
        else:
            move = replace(move, speed_m_s=speed_for(self.moves, move, value * (0.001 if unit == "msec" else 1.0)))
            if move.speed_m_s is None:
                self.findings.note(line, f"the time of {value:g}{unit} is left out: the length of the way is not known")
        return move, rest[speed.end() :]

    def options(self, line: int, rest: str) -> None:
        """What stands behind the ending: refused where it changes the target."""
        for option, why in REFUSED_OPTIONS.items():
            if re.search(rf"(?i)\b{option}\b", rest):
                raise StatementError(f"{rest.strip()!r} is {why}, which is not read", "positions that hold it")
        told = re.sub(r"\b(ACC\s*\d+|Wjnt|PTH)\b", "", rest).strip()
        if told:
            self.findings.note(line, f"{told} of the motion is left out")

    def placed(self, move: Move, number: int) -> Move:
        """A move with the target of a position, and the frame and tool of its UF and UT."""
        position = self.positions[number]
        if position.joints is not None:
            return replace(move, joints=position.joints, flange_from_tool=self.tool(position, number))
        if position.pose is None:
            raise StatementError(f"P[{number}] could not be read", "see the problem in its own line")
        uf = self.uframe if position.uf == "F" else position.uf
        if uf is None:
            raise StatementError(f"P[{number}] follows UFRAME_NUM, which is not set before it", "UFRAME_NUM=n")
        if position.uf != "F" and self.uframe not in (None, position.uf):
            self.findings.note(move.line or position.line, f"P[{number}] has UF {uf} while UFRAME_NUM is {self.uframe}")
        if int(uf) and int(uf) not in self.frames:
            self.frames[int(uf)] = IDENTITY  # told once; the file is refused in the end
            self.findings.problem(
                move.line or position.line,
                f"P[{number}].UF",
                f"P[{number}] is in user frame UF {uf}, whose values are not in the file",
                f"option frames={{{uf}: matrix}}, or remarks ! UF{uf} XYZ x y z and ! UF{uf} WPR w p r in the file",
            )
        frame = np.array(self.frames.get(int(uf), IDENTITY))
        return replace(
            move,
            pose=position.pose,
            base_from_frame=as_matrix(self.base_from_world @ frame),
            flange_from_tool=self.tool(position, number),
            posture=position.config,
        )

    def tool(self, position: Position, number: int) -> Matrix | None:
        """flange_from_tool of a position; None where it is left to the controller."""
        ut = self.utool if position.ut == "F" else position.ut
        if ut is not None and ut.isdigit() and (int(ut) == 0 or int(ut) in self.tools):
            return self.tools.get(int(ut), IDENTITY)
        which = f"UT {ut}" if ut is not None else "the tool of UTOOL_NUM"
        self.findings.note(0, f"{which} is left to the controller; option tools={{{ut or 1}: matrix}} gives its values")
        return None


def _some(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    return (
        "P[n] with n of " + ", ".join(map(str, listed[:12])) + (", ..." if len(listed) > 12 else "") if listed else ""
    )
