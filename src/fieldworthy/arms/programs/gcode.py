"""G-code (RS-274, ISO 6983) for three axes, and for heads that turn with A, B, C.

Read: G0 G1 G2 G3 (planes G17 G18 G19, centres by I J K or R, helices, P turns), G4, G20 G21, G90 G91, G90.1 G91.1, F,
G54 to G59.3, and the words that change nothing of the path. What bends the path or the coordinates in a way that is not
followed (canned cycles, cutter compensation, G92, splines, subprograms, parameters) is an error with its line.
Frames: X, Y, Z are of the tool's tip in the workpiece, which stands at `base_from_frame`.
Rapids (G0) are linear moves with the label G0 and no speed: a joint move could leave the line that the programmer
checked. Full circles and arcs over half a turn become moves of at most half a turn each, through the point half way. A
helix becomes arcs of at most 30 deg of turn; they leave the helix by less than 0.0003 of its pitch.
Source: NIST RS274/NGC Interpreter, version 3, Kramer, Proctor & Messina, NISTIR 6556, 2000 (modal groups, planes, arcs,
R); LinuxCNC documentation, G-codes (tolerance between the radii of an arc, P turns).
Verified by: tests/cases/test_arm_programs_gcode.py
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix, Triple, as_matrix
from fieldworthy.arms.orientation import matrix_of
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.checks import check_units
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import M_PER_INCH, M_PER_MM, placed, rigid, tool_along
from fieldworthy.arms.programs.gcode_arc import PLANES, Arc
from fieldworthy.arms.programs.running import add_dwell
from fieldworthy.arms.programs.words import finite, require_text
from fieldworthy.core.errors import FieldworthyError

WORD = re.compile(r"([A-Z])([+-]?(?:\d+\.?\d*|\.\d+))")
MOTION = {"G0", "G1", "G2", "G3"}
OFFSETS = {"G54", "G55", "G56", "G57", "G58", "G59", "G59.1", "G59.2", "G59.3"}
IDLE = {"G40", "G49", "G61", "G61.1", "G80", "G94", "G97", "G98", "G99", "G69", "G50", "G64", "G15", "G92.1", "G8"}
"""Words that cancel what is never in force here, or that leave the path as it is."""
TOLD = {"G43": "tool length compensation", "G43.4": "tool centre point control", "G96": "constant surface speed"}
REFUSED = {
    "a canned cycle": "G73 G74 G76 G81 G82 G83 G84 G85 G86 G87 G88 G89",
    "cutter compensation, which the control works out": "G41 G42 G41.1 G42.1",
    "a spline": "G5 G5.1 G5.2 G5.3 G6.2",
    "a change of coordinates": "G7 G10 G16 G51 G52 G53 G68 G68.2 G92 G92.2 G92.3",
    "a feed that is no length a minute": "G93 G95",
    "probing": "G31 G38.2 G38.3 G38.4 G38.5",
    "motion that follows the spindle": "G32 G33 G33.1",
    "a subprogram": "M97 M98 M99",
}
WHY_REFUSED = {code: why for why, codes in REFUSED.items() for code in codes.split()}


def read(
    text: str,
    source: str = "",
    *,
    base_from_frame: Matrix | Array = IDENTITY,
    frames: Mapping[str, Matrix | Array] | None = None,
    frame_from_tool_axis: Triple = (0.0, 0.0, -1.0),
    rotary: Literal["refuse", "head"] = "refuse",
    dwell_unit: Literal["s", "ms"] = "s",
    start_mm: Triple | None = None,
) -> Program:
    """The moves of a G-code file.

    `base_from_frame`: where the workpiece stands; `frames`: the same for each work offset, such as {"G55": matrix},
    needed where a file uses more than one. `frame_from_tool_axis`: the tool's z, into the material, in the workpiece;
    the tool's x is the frame's x less its part along it. `rotary`: A, B, C are refused, or with "head" turn the tool by
    Rz(C) Ry(B) Rx(A), C carrying B carrying A, about the tip (as under G43.4). `dwell_unit`: of P in G4; X and U in G4
    are seconds. `start_mm`: where the tool is before the first block; without it there is no target until X, Y and Z
    have all been given.
    Raises: ScenarioError with all problems of the file, FieldworthyError for a wrong option.
    """
    require_text(text, source)
    axis = np.asarray(frame_from_tool_axis, np.float64)
    if axis.shape != (3,) or not np.isfinite(axis).all() or np.linalg.norm(axis) < 1e-9:
        raise FieldworthyError(f"frame_from_tool_axis is {frame_from_tool_axis}; valid: three numbers, not all 0")
    for name, value, valid in (("rotary", rotary, ("refuse", "head")), ("dwell_unit", dwell_unit, ("s", "ms"))):
        if value not in valid:
            raise FieldworthyError(f"{name} is {value!r}; valid: {', '.join(valid)}")
    known = {name.upper(): rigid(frame, f"frames[{name!r}]") for name, frame in (frames or {}).items()}
    reader = _Reader(Findings(source), rigid(base_from_frame, "base_from_frame"), known, tool_along(axis))
    reader.head, reader.dwell_unit_s = rotary == "head", 1.0 if dwell_unit == "s" else 0.001
    if start_mm is not None:
        reader.at = [value * M_PER_MM for value in start_mm]
    for line, raw in enumerate(text.splitlines(), 1):
        try:
            reader.block(line, raw)
        except (StatementError, FieldworthyError) as error:
            reader.findings.failure(line, reader.motion or "", error)
        if reader.ended:
            break
    if not reader.moves and not reader.findings.problems:
        reader.findings.problem(0, "", "no motion with a known X, Y and Z", "G0 or G1 with X, Y, Z, or start_mm")
    reader.findings.stop()
    check_units(reader.findings, reader.moves, "mm")
    return Program(PurePath(source).stem, tuple(reader.moves), source=source, notes=tuple(reader.findings.notes))


def _code(letter: str, number: str) -> str:
    """G01 as G1, G59.10 as G59.1."""
    return f"{letter}{float(number):g}"


def _words(raw: str) -> list[tuple[str, str]]:
    """The words of a block without comments, N and block delete. Raises: StatementError for what is no word."""
    text = re.sub(r"\([^()]*\)", " ", raw.split(";", 1)[0])
    if "(" in text or ")" in text:
        raise StatementError("a comment is opened or closed alone", "( and ) in pairs")
    text = re.sub(r"\s+", "", text).upper().removeprefix("%").removeprefix("/")
    if re.search(r"[#\[\]=<]", text) or re.match(r"(N\d+)?O(\d|<)\S*[A-Z]{2}", text):
        raise StatementError(
            "parameters, expressions and O-words are not read", "numbers: a program without #, [ ] or O"
        )
    found, at = [], 0
    while at < len(text):
        word = WORD.match(text, at)
        if word is None:
            raise StatementError(f"{text[at : at + 12]!r} is no word", "a letter and a finite number, such as X12.5")
        found.append((word[1], word[2]))
        at = word.end()
    return [word for word in found if word[0] != "N"]


class _Reader:
    """The modal state while blocks are read in order. Positions in metres, in the workpiece; None before they are
    known."""

    def __init__(self, findings: Findings, base_from_frame: Matrix, frames: dict[str, Matrix], turn: Array) -> None:
        self.findings, self.base_from_frame, self.frames, self.turn = findings, base_from_frame, frames, turn
        self.moves: list[Move] = []
        self.at: list[float | None] = [None, None, None]
        self.angles = [0.0, 0.0, 0.0]
        self.motion: str | None = None
        self.plane = "G17"
        self.unit_m = M_PER_MM
        self.absolute, self.absolute_centre = True, False
        self.feed_m_s: float | None = None
        self.offset: str | None = None
        self.head, self.dwell_unit_s, self.ended = False, 1.0, False

    def block(self, line: int, raw: str) -> None:
        words = _words(raw)
        codes = [_code(letter, number) for letter, number in words if letter in "GM"]
        values: dict[str, float] = {}
        for letter, number in words:
            if letter in "GM":
                continue
            if letter in values:
                raise StatementError(f"{letter} is given twice in a block", "each letter once")
            values[letter] = finite(number, letter)
        motions = [code for code in codes if code in MOTION]
        if len(set(motions)) > 1:
            raise StatementError(f"{' and '.join(motions)} in one block", "one motion a block")
        self.modes(line, codes)
        if motions:
            self.motion = motions[0]
        if "F" in values and not {"G4", "M6"} & set(codes):
            if values["F"] <= 0.0:
                raise StatementError(f"F is {values['F']:g}", "a positive feed rate")
            self.feed_m_s = values["F"] * self.unit_m / 60.0
        if "G4" in codes:
            self.dwell(line, values)
        elif {"G28", "G30"} & set(codes):
            self.to_reference(line, codes, values)
        elif values.keys() & set("XYZABCUVW") or (values.keys() & set("IJK") and self.motion in ("G2", "G3")):
            self.go(line, values)
        told = [f"{letter}{number}" for letter, number in words if letter in "MTSHDO"]
        told = [word for word in told if _code(word[0], word[1:]) not in ("M2", "M30")]
        if told:
            self.findings.note(line, f"{' '.join(told)} is not motion and is left out")
        self.ended = bool({"M2", "M30"} & set(codes))

    def modes(self, line: int, codes: Iterable[str]) -> None:
        """Everything of a block that stays in force, but for motion and feed."""
        for code in codes:
            if code in PLANES:
                self.plane = code
            elif code in ("G20", "G21"):
                self.unit_m = M_PER_INCH if code == "G20" else M_PER_MM
            elif code in ("G90", "G91"):
                self.absolute = code == "G90"
            elif code in ("G90.1", "G91.1"):
                self.absolute_centre = code == "G90.1"
            elif code in OFFSETS:
                self.work_offset(line, code)
            elif code in WHY_REFUSED:
                raise StatementError(f"{code} is {WHY_REFUSED[code]}, which is not read", "plain G0, G1, G2, G3")
            elif code in TOLD:
                self.findings.note(line, f"{code}, {TOLD[code]}, is left out: positions are taken as those of the tip")
            elif code.startswith("G") and code not in MOTION | IDLE | {"G4", "G28", "G30"}:
                raise StatementError(f"{code} is not known", "G0 to G4, G17 to G21, G28, G54 to G59.3, G90, G91")

    def work_offset(self, line: int, code: str) -> None:
        if code in self.frames:
            self.into_frame(self.frames[code])
        elif self.offset not in (None, code):
            raise StatementError(
                f"{code} after {self.offset}: the file does not say where it is", f"option frames={{{code!r}: matrix}}"
            )
        else:
            self.findings.note(line, f"{code} is where base_from_frame puts the workpiece")
        self.offset = code

    def into_frame(self, base_from_frame: Matrix) -> None:
        """Put another workpiece in force. The tool stays where it is; its coordinates become those of the new one."""
        if self.moves and base_from_frame != self.base_from_frame:
            if any(value is None for value in self.at):
                self.at = [None, None, None]
            else:
                here = np.array(self.base_from_frame) @ np.array([*self.at, 1.0], np.float64)
                self.at = (np.linalg.inv(np.array(base_from_frame)) @ here)[:3].tolist()
        self.base_from_frame = base_from_frame

    def dwell(self, line: int, values: dict[str, float]) -> None:
        given = [letter for letter in "PXU" if letter in values]
        if len(given) != 1 or values[given[0]] < 0.0:
            raise StatementError("G4 without one time", "P, X or U, 0 or more")
        seconds = values[given[0]] * (self.dwell_unit_s if given[0] == "P" else 1.0)
        if seconds >= 100.0 and given[0] == "P" and self.dwell_unit_s == 1.0:
            self.findings.note(line, f"G4 waits {seconds:g} s; of a control that counts ms give dwell_unit='ms'")
        add_dwell(self.moves, seconds, line, self.findings)

    def to_reference(self, line: int, codes: list[str], values: dict[str, float]) -> None:
        """A machine's reference point means nothing to an arm: no move, and the axes that went there are unknown."""
        moved = [index for index, letter in enumerate("XYZ") if letter in values] or [0, 1, 2]
        for index in moved:
            self.at[index] = None
        names = ", ".join("XYZ"[index] for index in moved)
        code = "G28" if "G28" in codes else "G30"
        self.findings.note(line, f"{code} goes to the machine's reference and is left out; {names} must be given anew")

    def go(self, line: int, values: dict[str, float]) -> None:
        if self.motion is None:
            raise StatementError("an axis word before any of G0, G1, G2, G3", "a motion word before it")
        if values.keys() & set("UVW"):
            raise StatementError("U, V, W are axes that are not read", "X, Y, Z")
        start, end = list(self.at), list(self.at)
        for index, letter in enumerate("XYZ"):
            if letter in values:
                before = 0.0 if self.absolute else self.at[index]
                if before is None:
                    raise StatementError(
                        f"{letter} is incremental from an unknown start", "G90 first, or the option start_mm"
                    )
                end[index] = before + values[letter] * self.unit_m
        self.rotate(values)
        self.at = end
        if any(value is None for value in end):
            unknown = ", ".join("XYZ"[index] for index in range(3) if end[index] is None)
            if self.motion in ("G2", "G3"):
                raise StatementError(f"an arc while {unknown} is not known", "G0 or G1 with X, Y, Z before it")
            self.findings.note(line, f"no target yet: {unknown} is not known")
            return
        end_m = np.array(end, np.float64)
        if self.motion in ("G0", "G1"):
            self.add(line, "linear", end_m, None)
            return
        if any(value is None for value in start):
            raise StatementError("an arc while its start is not known", "G0 or G1 with X, Y, Z before it")
        arc = Arc(self.plane, self.motion == "G3", self.unit_m, self.absolute_centre)
        points = arc.points(np.array(start, np.float64), end_m, values)
        for via, target in zip(points[::2], points[1::2], strict=True):
            self.add(line, "circular", target, via)

    def rotate(self, values: dict[str, float]) -> None:
        for index, letter in enumerate("ABC"):
            if letter not in values:
                continue
            if not self.head:
                raise StatementError(
                    f"{letter} turns a head or a table; the file does not say which", "option rotary='head'"
                )
            angle = math.radians(values[letter])
            self.angles[index] = angle if self.absolute else self.angles[index] + angle

    def frame_from_tool(self, at_m: Array) -> Matrix:
        if not any(self.angles):
            return as_matrix(placed(self.turn, at_m))
        return as_matrix(placed(matrix_of("euler_zyx", self.angles[::-1]) @ self.turn, at_m))

    def add(self, line: int, kind: Literal["linear", "circular"], end_m: Array, via_m: Array | None) -> None:
        rapid = self.motion == "G0"
        if not rapid and self.feed_m_s is None:
            self.findings.note(0, f"no F before line {line}: the program gives no speed there")
        self.moves.append(
            Move(
                kind,
                pose=self.frame_from_tool(end_m),
                via=None if via_m is None else self.frame_from_tool(via_m),
                base_from_frame=self.base_from_frame,
                speed_m_s=None if rapid else self.feed_m_s,
                label=self.motion or "",
                line=line,
            )
        )
