"""FANUC teach pendant programs as text (.ls), as the controller and its PC software print them.

Read: J, L and C motions to P[n]; /POS in Cartesian and in joint form; UFRAME_NUM, UTOOL_NUM, WAIT with seconds, FOR
with plain numbers. Position registers, offsets and jumps change the motion by values that are not in the file: errors
with their line.
Frames: UF and UT are numbers whose values are not in the file, so `frames` and `tools` bring them. UF 0 is the
controller's world, which lies on the J1 axis at the height of the J2 axis and not in the robot's foot:
`base_from_world` says where. J3: the pendant shows the forearm's angle to the ground, so moving J2 alone keeps the
forearm's direction. The joint of a description whose positive J3 lifts the forearm while positive J2 leans forward (as
ROS-Industrial draws them) is J3 + J2. CNT n is a share of speed and no distance: it becomes n / 100 of `cnt_full_m`, a
guess that the notes tell.
Parts: fanuc_positions (/POS), fanuc_motion (J, L, C), fanuc_write; the other instructions are here.
Source: FANUC HandlingTool operator's manual (motion instructions, position data, CNT, CONFIG); the J2/J3 sum:
ROS-Industrial fanuc driver, J23_factor.
Verified by: tests/cases/test_arm_programs_fanuc.py
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix
from fieldworthy.arms.program import Program
from fieldworthy.arms.programs.checks import check_units
from fieldworthy.arms.programs.fanuc_motion import Motions
from fieldworthy.arms.programs.fanuc_positions import positions_of, remarked
from fieldworthy.arms.programs.fanuc_write import write as write
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import rigid
from fieldworthy.arms.programs.running import EndlessError, Steps, add_dwell, endless
from fieldworthy.arms.programs.words import finite, require_text
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError


def read(
    text: str,
    source: str = "",
    *,
    frames: Mapping[int, Matrix | Array] | None = None,
    tools: Mapping[int, Matrix | Array] | None = None,
    base_from_world: Matrix | Array | None = None,
    coupled: bool = True,
    cnt_full_m: float = 0.05,
) -> Program:
    """The moves of a .ls file.

    `frames`: world_from_frame by number of the user frame; `tools`: flange_from_tool by number; a tool that is not
    given is left to the controller (None in the moves), a frame that is not given is an error. `base_from_world`: where
    the controller's world stands in the robot's base; without it the two are taken as one. `coupled`: J3 of joint
    positions is counted from the horizontal, as FANUC pendants show it; False takes it as the angle between the links.
    `cnt_full_m`: what CNT100 is taken for.
    Raises: ScenarioError with all problems of the file, FieldworthyError for a wrong option.
    """
    require_text(text, source)
    if not (math.isfinite(cnt_full_m) and cnt_full_m >= 0.0):
        raise FieldworthyError(f"cnt_full_m is {cnt_full_m}; valid: a length in metres, 0 or more")
    findings = Findings(source)
    world = rigid(IDENTITY if base_from_world is None else base_from_world, "base_from_world")
    placed = remarked(text, "UF") | {n: rigid(frame, f"frames[{n}]") for n, frame in (frames or {}).items()}
    held = remarked(text, "UT") | {n: rigid(tool, f"tools[{n}]") for n, tool in (tools or {}).items()}
    name = re.search(r"^\s*/PROG\s+(\S+)", text, re.MULTILINE)
    start = re.search(r"^\s*/MN\b.*$", text, re.MULTILINE)
    if start is None:
        raise ScenarioError(Problem(findings.where(0), "no /MN section", "a program with /PROG, /MN, /POS and /END"))
    after = re.search(r"^\s*/POS\b.*$", text[start.end() :], re.MULTILINE)
    until = start.end() + after.start() if after else len(text)
    statements = _statements(text[start.end() : until], text.count("\n", 0, start.end()) + 1, findings)
    positions = positions_of(text, until, coupled, findings)
    motions = Motions(findings, positions, placed, held, np.array(world), cnt_full_m)
    _Reader(findings, motions).run(statements)
    if not motions.moves and not findings.problems:
        findings.problem(0, "/MN", "no motion instruction", "J, L or C to P[n]")
    findings.stop()
    if base_from_world is None and any(move.pose is not None for move in motions.moves):
        findings.note(
            0, "the controller's world is taken as the robot's base; base_from_world says where else it stands"
        )
    check_units(findings, motions.moves, "mm")
    title = name[1] if name else PurePath(source).stem
    return Program(title, tuple(motions.moves), source=source, notes=tuple(findings.notes))


def _statements(text: str, first_line: int, findings: Findings) -> list[tuple[int, str]]:
    """Line and text of each instruction of /MN, without its number; it ends with a semicolon, perhaps lines later."""
    found, joined, start = [], "", 0
    for line, raw in enumerate(text.splitlines(), first_line):
        if raw.strip().startswith("/"):
            break
        part = re.sub(r"^\s*\d*\s*:", "", raw).strip()
        if not part:
            continue
        start = start if joined else line
        joined = f"{joined} {part}".strip()
        if joined.endswith(";"):
            body = joined[:-1].strip()
            if body and not body.startswith(("!", "//", "--eg:")):
                found.append((start, body))
            joined = ""
    if joined:
        findings.problem(start, "", "the instruction does not end", "a semicolon at its end")
    return found


class _Reader:
    """What is in force while the instructions are carried out in order."""

    def __init__(self, findings: Findings, motions: Motions) -> None:
        self.findings, self.motions = findings, motions
        self.depth = 0
        self.loops: list[tuple[int, int]] = []

    def run(self, statements: Sequence[tuple[int, str]]) -> None:
        at, steps = 0, Steps()
        try:
            while at < len(statements):
                line, body = statements[at]
                steps.step(line, len(self.motions.moves))
                at = self.guarded(at, line, body, statements)
        except EndlessError as error:
            endless(self.findings, error)

    def guarded(self, at: int, line: int, body: str, statements: Sequence[tuple[int, str]]) -> int:
        """Carry out one instruction; what is wrong with it becomes a problem of its line. The index of the next."""
        try:
            return self.statement(at, line, body, statements)
        except (StatementError, FieldworthyError) as error:
            word = re.match(r"[A-Z_]+", body.upper())
            self.findings.failure(line, word[0] if word else "", error)
            return at + 1

    def statement(self, at: int, line: int, body: str, statements: Sequence[tuple[int, str]]) -> int:
        """Carry out one instruction; the index of the next."""
        word = re.match(r"[A-Z_]+", body.upper())
        key = word[0] if word else ""
        if re.match(r"[JLCAS]\s+P", body):
            if self.depth:
                raise StatementError(
                    "a motion that depends on a condition is not read", "motions outside IF and SELECT"
                )
            self.motions.add(line, body)
        elif key == "JMP" or re.search(r"\bJMP\s+LBL\b", body):
            label = re.search(r"LBL\[\s*(\d+)", body)
            earlier = [
                n
                for n, (_, other) in enumerate(statements[:at])
                if label and other.startswith("LBL[") and re.match(rf"LBL\[\s*{label[1]}\b", other)
            ]
            if key != "JMP" or not earlier or at != len(statements) - 1:
                raise StatementError("a jump is not read", "instructions in the order they are carried out")
            self.findings.note(line, f"the program repeats from line {statements[earlier[0]][0]}; it is read once")
        elif key == "FOR":
            return self.loop(at, line, body, statements)
        elif key == "ENDFOR":
            start, left = self.loops.pop() if self.loops else (at, 0)
            if left > 1:
                self.loops.append((start, left - 1))
                return start + 1
        elif key == "IF" and re.search(r"\bTHEN$", body):
            self.depth += 1
            self.findings.note(line, f"{body} is not followed")
        elif key == "ENDIF":
            self.depth = max(0, self.depth - 1)
        elif key in ("END", "ABORT") and not self.depth:
            return len(statements)
        elif key in ("UFRAME_NUM", "UTOOL_NUM"):
            number = re.fullmatch(r"\w+\s*=\s*(\d+)", body)
            if number is None:
                raise StatementError(f"{body} takes its number from elsewhere", f"{key}= and a plain number")
            if key == "UFRAME_NUM":
                self.motions.uframe = number[1]
            else:
                self.motions.utool = number[1]
        elif key == "WAIT" and re.search(r"\(\s*sec\s*\)", body):
            seconds = finite(re.sub(r"(?i)^WAIT|\(\s*sec\s*\)", "", body), "WAIT")
            if seconds < 0.0:
                raise StatementError(f"WAIT is {seconds:g} s", "0 or more")
            add_dwell(self.motions.moves, seconds, line, self.findings)
        elif key in ("OFFSET", "TOOL_OFFSET"):
            raise StatementError(f"{body} sets an offset by a register, which is not read", "positions that hold it")
        elif key != "LBL":
            elsewhere = "; its motions are in another file" if key in ("CALL", "RUN") else ""
            self.findings.note(line, f"{body} is not motion and is left out{elsewhere}")
        return at + 1

    def loop(self, at: int, line: int, body: str, statements: Sequence[tuple[int, str]]) -> int:
        bounds = re.fullmatch(r"FOR\s+R\[[^\]]*\]\s*=\s*\(?(-?\d+)\)?\s+(TO|DOWNTO)\s+\(?(-?\d+)\)?", body)
        if bounds is None:
            raise StatementError(f"{body}: bounds that are no plain numbers", "FOR R[n]=1 TO 3")
        times = (int(bounds[3]) - int(bounds[1])) * (1 if bounds[2] == "TO" else -1) + 1
        depth, end = 0, at
        while end < len(statements):
            depth += (statements[end][1].startswith("FOR ")) - (statements[end][1].startswith("ENDFOR"))
            if not depth:
                break
            end += 1
        if end == len(statements):
            raise StatementError("FOR without ENDFOR", "ENDFOR after the loop")
        if times < 1:
            return end + 1
        self.loops.append((at, times))
        return at + 1
