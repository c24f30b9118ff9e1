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
Source: FANUC HandlingTool operator's manual (motion instructions, position data, CNT, CONFIG); the J2/J3 sum:
ROS-Industrial fanuc driver, J23_factor.
Verified by: tests/cases/test_arm_programs_fanuc.py
Long because reading and writing share the layout of the file.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix, as_matrix
from fieldworthy.arms.orientation import matrix_of, pose_of, values_of
from fieldworthy.arms.program import Move, MoveKind, Program
from fieldworthy.arms.programs.text_lines import (
    M_PER_INCH,
    M_PER_MM,
    Findings,
    StatementError,
    add_dwell,
    doubt_units,
    finite,
    pose,
    require_text,
    rigid,
    speed_for,
)
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError

POSITION = re.compile(r"P\[\s*(\d+)\s*(?::\s*\"?([^\"\]]*)\"?)?\s*\]\s*\{([^}]*)\}")
FIELD = re.compile(r"([XYZWPR]|[JE]\d)\s*=\s*([^\s,]+)(?:\s+([a-z]+))?")
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
LOOP_LIMIT = 100_000
"""Statements carried out in all; more is taken for an endless loop."""


@dataclass(frozen=True)
class _Position:
    """One entry of /POS: joints [rad or m] as printed, or a pose in the frame of UF."""

    line: int
    uf: str
    ut: str
    label: str = ""
    joints: tuple[float, ...] | None = None
    pose: Matrix | None = None
    config: str = ""


def read(
    text: str,
    source: str,
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
    placed = _remarked(text, "UF") | {n: rigid(frame, f"frames[{n}]") for n, frame in (frames or {}).items()}
    held = _remarked(text, "UT") | {n: rigid(tool, f"tools[{n}]") for n, tool in (tools or {}).items()}
    name = re.search(r"^\s*/PROG\s+(\S+)", text, re.MULTILINE)
    start = re.search(r"^\s*/MN\b.*$", text, re.MULTILINE)
    if start is None:
        raise ScenarioError(Problem(source, "no /MN section", "a program with /PROG, /MN, /POS and /END"))
    after = re.search(r"^\s*/POS\b.*$", text[start.end() :], re.MULTILINE)
    until = start.end() + after.start() if after else len(text)
    statements = _statements(text[start.end() : until], text.count("\n", 0, start.end()) + 1, findings)
    positions = _positions(text, until, coupled, findings)
    reader = _Reader(findings, positions, placed, held, np.array(world), cnt_full_m)
    reader.run(statements)
    if not reader.moves and not findings.problems:
        findings.problem(0, "no motion instruction", "J, L or C to P[n]")
    findings.raise_if_any()
    if base_from_world is None and any(move.pose is not None for move in reader.moves):
        findings.note(
            0, "the controller's world is taken as the robot's base; base_from_world says where else it stands"
        )
    doubt_units(reader.moves, findings)
    title = name[1] if name else PurePath(source).stem
    return Program(title, tuple(reader.moves), source=source, notes=tuple(findings.notes))


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
        findings.problem(start, "the instruction does not end", "a semicolon at its end")
    return found


def _positions(text: str, offset: int, coupled: bool, findings: Findings) -> dict[int, _Position]:
    """The entries of /POS by number."""
    found: dict[int, _Position] = {}
    section = text[offset:]
    line, before = text.count("\n", 0, offset) + 1, 0
    for entry in POSITION.finditer(section):
        line += section.count("\n", before, entry.start())
        before = entry.start()
        number = int(entry[1])
        try:
            if number in found:
                raise StatementError(f"P[{number}] is given twice", "each position once")
            found[number] = _position(number, entry[2] or "", entry[3], line, coupled, findings)
        except (StatementError, FieldworthyError) as error:
            findings.failure(line, error)
            found.setdefault(number, _Position(line, "0", "0"))
    return found


def _position(number: int, label: str, body: str, line: int, coupled: bool, findings: Findings) -> _Position:
    name = f"P[{number}]"
    groups = re.split(r"GP(\d+)\s*:", body)
    by_group = dict(zip(groups[1::2], groups[2::2], strict=True))
    if "1" not in by_group:
        raise StatementError(f"{name} has no motion group 1", "GP1: with UF, UT and coordinates")
    if len(by_group) > 1:
        findings.note(line, f"{name}: groups other than GP1 are left out")
    group = by_group["1"]
    uf, ut = (re.search(rf"{key}\s*:\s*(\w+)", group) for key in ("UF", "UT"))
    for key, found in (("UF", uf), ("UT", ut)):
        if found is not None and found[1] != "F" and not found[1].isdecimal():
            raise StatementError(f"{name} {key} is {found[1]!r}", "a number, or F")
    config = re.search(r"CONFIG\s*:\s*'([^']*)'", group)
    bare = re.sub(r"CONFIG\s*:\s*'[^']*'", "", group)
    fields = {key: (value, unit) for key, value, unit in FIELD.findall(bare)}
    extra = [key for key in fields if key.startswith("E") and finite(fields[key][0], f"{name} {key}") != 0.0]
    if extra:
        findings.note(line, f"{name}: external axes {', '.join(extra)} are left out")
    common = {"line": line, "uf": uf[1] if uf else "0", "ut": ut[1] if ut else "0", "label": label.strip()}
    joint_names = [key for key in fields if key.startswith("J")]
    if joint_names:
        if joint_names != [f"J{n}" for n in range(1, len(joint_names) + 1)]:
            raise StatementError(f"{name} has {', '.join(joint_names)}", "J1, J2, ... without a gap")
        joints = [_with_unit(name, key, *fields[key]) for key in joint_names]
        if coupled and len(joints) >= 3:
            joints[2] += joints[1]
        return _Position(**common, joints=tuple(joints))  # type: ignore[arg-type]
    missing = [key for key in "XYZWPR" if key not in fields]
    if missing:
        raise StatementError(f"{name} lacks {', '.join(missing)}", "X, Y, Z, W, P, R, or J1 to J6")
    values = [_with_unit(name, key, *fields[key]) for key in "XYZWPR"]
    matrix = pose(matrix_of("fanuc_wpr", values[3:]), values[:3])
    return _Position(**common, pose=matrix, config=config[1].strip() if config else "")  # type: ignore[arg-type]


def _with_unit(name: str, key: str, value: str, unit: str) -> float:
    """A coordinate in metres or radians."""
    lengths, angles = {"mm": M_PER_MM}, {"deg": math.pi / 180.0}
    scales = lengths if key in "XYZ" else angles if key in "WPR" else lengths | angles
    unit = unit or ("mm" if key in "XYZ" else "deg")
    if unit not in scales:
        raise StatementError(f"{name} {key} is in {unit!r}", " or ".join(scales))
    return finite(value, f"{name} {key}") * scales[unit]


class _Reader:
    """What is in force while the instructions are carried out in order."""

    def __init__(
        self,
        findings: Findings,
        positions: dict[int, _Position],
        frames: dict[int, Matrix],
        tools: dict[int, Matrix],
        base_from_world: Array,
        cnt_full_m: float,
    ) -> None:
        self.findings, self.positions, self.frames, self.tools = findings, positions, frames, tools
        self.base_from_world, self.cnt_full_m = base_from_world, cnt_full_m
        self.moves: list[Move] = []
        self.uframe: str | None = None
        self.utool: str | None = None
        self.depth = 0
        self.loops: list[tuple[int, int]] = []

    def run(self, statements: Sequence[tuple[int, str]]) -> None:
        at, count = 0, 0
        while at < len(statements) and count < LOOP_LIMIT:
            line, body = statements[at]
            count += 1
            try:
                at = self.statement(at, line, body, statements)
            except (StatementError, FieldworthyError) as error:
                self.findings.failure(line, error)
                at += 1
        if count >= LOOP_LIMIT:
            self.findings.problem(0, f"more than {LOOP_LIMIT} instructions are carried out", "shorter loops")

    def statement(self, at: int, line: int, body: str, statements: Sequence[tuple[int, str]]) -> int:
        """Carry out one instruction; the index of the next."""
        word = re.match(r"[A-Z_]+", body.upper())
        key = word[0] if word else ""
        if re.match(r"[JLCAS]\s+P", body):
            if self.depth:
                raise StatementError(
                    "a motion that depends on a condition is not read", "motions outside IF and SELECT"
                )
            self.motion(line, body)
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
                self.uframe = number[1]
            else:
                self.utool = number[1]
        elif key == "WAIT" and re.search(r"\(\s*sec\s*\)", body):
            seconds = finite(re.sub(r"(?i)^WAIT|\(\s*sec\s*\)", "", body), "WAIT")
            if seconds < 0.0:
                raise StatementError(f"WAIT is {seconds:g} s", "0 or more")
            add_dwell(self.moves, seconds, line, self.findings)
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

    def motion(self, line: int, body: str) -> None:
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

    def tool(self, position: _Position, number: int) -> Matrix | None:
        ut = self.utool if position.ut == "F" else position.ut
        if ut is not None and ut.isdigit() and (int(ut) == 0 or int(ut) in self.tools):
            return self.tools.get(int(ut), IDENTITY)
        which = f"UT {ut}" if ut is not None else "the tool of UTOOL_NUM"
        self.findings.note(0, f"{which} is left to the controller; option tools={{{ut or 1}: matrix}} gives its values")
        return None


def _remarked(text: str, letters: Literal["UF", "UT"]) -> dict[int, Matrix]:
    """Frames or tools whose values stand in remarks, as `write` puts them there: `! UF1 XYZ 1 2 3`, then `WPR`."""
    values: dict[tuple[int, str], list[float]] = {}
    for number, kind, rest in re.findall(rf"!\s*{letters}(\d+)\s+(XYZ|WPR)\s+([-+.\deE \t]+?)\s*;", text):
        with contextlib.suppress(ValueError):
            values[int(number), kind] = [float(word) for word in rest.split()]
    found = {}
    for number in {number for number, _ in values}:
        place, turn = values.get((number, "XYZ"), []), values.get((number, "WPR"), [])
        if len(place) == len(turn) == 3 and np.isfinite([*place, *turn]).all():
            matrix = pose_of(np.array(place) * 1e-3, "fanuc_wpr", np.radians(turn))
            found[number] = as_matrix(matrix)
    return found


def _some(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    return (
        "P[n] with n of " + ", ".join(map(str, listed[:12])) + (", ..." if len(listed) > 12 else "") if listed else ""
    )


def write(program: Program, *, coupled: bool = True, cnt_full_m: float = 0.05) -> str:
    """The program as a .ls file; the values of its user frames and tools are told in remarks, to be set on the
    controller.

    UF 0 is the robot's base, further frames are numbered in order; UT 0 is the flange, and a move that leaves its tool
    to the controller has UT F. What FANUC cannot say is left out with a remark: due times, joint speeds in rad/s.
    A posture in another maker's words becomes 'N U T, 0, 0, 0'; a joint move without a share of speed has 100%.
    Raises: FieldworthyError for targets with more than nine joints, or frames and tools more than nine.
    """
    frames, tools = _Numbers("user frames"), _Numbers("tools")
    lines: list[str] = []
    entries: list[str] = []
    remarks: list[str] = []
    for move in program.moves:
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
    told = [f"  {remark} ;" for remark in (*frames.remarks("UF"), *tools.remarks("UT"), *dict.fromkeys(remarks))]
    body = [f"{number:4d}:{line}" for number, line in enumerate(told + lines, 1)]
    name = re.sub(r"\W", "_", program.name).upper()[:32] or "PROGRAM"
    attributes = [f"LINE_COUNT = {len(body)};", "DEFAULT_GROUP = 1,*,*,*,*;"]
    return "\n".join([f"/PROG  {name}", "/ATTR", *attributes, "/MN", *body, "/POS", *entries, "/END", ""])


class _Numbers:
    """Numbers for the different frames or tools of a program; 0 is the identity."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.known: list[Matrix] = [IDENTITY]

    def of(self, matrix: Matrix) -> int:
        if matrix not in self.known:
            self.known.append(matrix)
        if len(self.known) > 10:
            raise FieldworthyError(
                f"the program has more than nine {self.what}; valid: nine, the number of a controller"
            )
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
        if len(joints) > 9:
            raise FieldworthyError(f"a target has {len(joints)} joints; valid: up to 9 in a motion group")
        if coupled and len(joints) >= 3:
            joints[2] -= joints[1]
        rows = [f"J{n}= {value:.6f} deg" for n, value in enumerate(joints, 1)]
        return f"{head}\tUF : {uf}, UT : {ut},\t\n\t" + ",\t".join(rows) + "\n};"
    x, y, z, w, p, r = _xyzwpr(target)
    config = move.posture if re.fullmatch(r"[NF]\s+[UDLR]\s+.*", move.posture) else "N U T, 0, 0, 0"
    place = f"\tX = {x:.6f}  mm,\tY = {y:.6f}  mm,\tZ = {z:.6f}  mm,\n"
    turn = f"\tW = {w:.6f} deg,\tP = {p:.6f} deg,\tR = {r:.6f} deg\n"
    return f"{head}\tUF : {uf}, UT : {ut},\t\tCONFIG : '{config}',\n{place}{turn}}};"
