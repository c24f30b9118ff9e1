"""APT cutter location files (APT-CL), as CAM systems write them before any post processor.

Read: GOTO, GODLTA, FROM, HOME, GOHOME, RAPID, FEDRAT, UNITS, TLAXIS, MULTAX, DELAY, CIRCLE before a list of points,
FINI.
Frames: points are of the tool's tip in the workpiece, which stands at `base_from_frame`. The tool axis (i, j, k) points
from the tip to the holder, so the tool's z, which points into the material, is its opposite. Without an axis it is (0,
0, 1). The turn about the tool axis is free in APT. Rule: the first tool x is the frame's x less its part along the axis
(the frame's y where those two are parallel); every later one is the one before, turned by the smallest rotation between
the two axes. So the tool never spins about its own axis, and a path with a continuous axis has a continuous
orientation.
Source: ISO 4343 (the words of cutter location data). CIRCLE is in `apt_circle.py`.
Verified by: tests/cases/test_arm_programs_apt.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix, as_matrix
from fieldworthy.arms.program import Move, Program
from fieldworthy.arms.programs.apt_circle import Circle
from fieldworthy.arms.programs.checks import check_units
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import M_PER_INCH, M_PER_MM, placed, rigid, tool_along
from fieldworthy.arms.programs.running import add_dwell
from fieldworthy.arms.programs.words import finite, require_text
from fieldworthy.core.errors import FieldworthyError

SPEEDS = {"MMPM": M_PER_MM / 60.0, "IPM": M_PER_INCH / 60.0, "MPM": 1.0 / 60.0, "FPM": 0.3048 / 60.0}
"""Metres a second of one unit of feed."""
REFUSED = {
    **dict.fromkeys(("TRACUT", "ORIGIN", "ROTATE", "MODE", "COPY", "INDEX", "REFSYS", "MATRIX"), "changes coordinates"),
    **dict.fromkeys(
        ("GO", "GOFWD", "GOBACK", "GOLFT", "GORGT", "GOUP", "GODOWN", "INDIRP", "INDIRV"), "needs geometry"
    ),
    **dict.fromkeys(("MACRO", "CALL", "LOOPST", "JUMPTO", "IF", "DO", "TRANTO"), "is control flow"),
}
"""Words that move the tool, or change where points are, in a way that is not read."""


def read(
    text: str,
    source: str = "",
    *,
    base_from_frame: Matrix | Array = IDENTITY,
    circle: Literal["clockwise", "counterclockwise"] | None = None,
) -> Program:
    """The moves of an APT-CL file; all linear, or circular where `circle` says how.

    `base_from_frame`: where the workpiece stands. `circle`: the way CAM systems count a CIRCLE that is followed by its
    end point alone, seen against (i, j, k); Siemens NX counts clockwise. Without it such a circle is refused, since the
    chord is no arc. RAPID moves have the label RAPID and no speed. Units are millimetres until UNITS says otherwise.
    Raises: ScenarioError with all problems of the file, FieldworthyError for a wrong option.
    """
    require_text(text, source)
    if circle not in (None, "clockwise", "counterclockwise"):
        raise FieldworthyError(f"circle is {circle!r}; valid: 'clockwise', 'counterclockwise' or None")
    reader = _Reader(Findings(source), rigid(base_from_frame, "base_from_frame"), circle)
    for line, word, arguments in _statements(text, reader.findings):
        if word == "FINI":
            break
        try:
            reader.statement(line, word, arguments)
        except (StatementError, FieldworthyError) as error:
            reader.findings.failure(line, word, error)
    reader.end_of_circle()
    if not reader.moves and not reader.findings.problems:
        reader.findings.problem(0, "", "no GOTO in the file", "one or more GOTO/x,y,z")
    reader.findings.stop()
    check_units(reader.findings, reader.moves, "mm")
    name = reader.name or PurePath(source).stem
    return Program(name, tuple(reader.moves), source=source, notes=tuple(reader.findings.notes))


def _statements(text: str, findings: Findings) -> Iterator[tuple[int, str, list[str]]]:
    """Line, major word and arguments of each statement; `$` at a line's end goes on in the next, `$$` is a comment."""
    start, joined = 0, ""
    for line, raw in enumerate(text.splitlines(), 1):
        bare = raw.split("$$", 1)[0].rstrip()
        start = start or line
        if bare.endswith("$"):
            joined += bare[:-1]
            continue
        joined, statement = "", (joined + bare).strip()
        if statement:
            word, _, rest = statement.partition("/")
            arguments = [part.strip() for part in rest.split(",")] if rest.strip() else []
            yield start, re.sub(r"^\w+\)\s*", "", word).strip().upper(), arguments
        start = 0
    if joined.strip():
        findings.problem(start, "", "the file ends within a statement that `$` continues", "the rest of the statement")


class _Reader:
    """What is in force while the statements are read in order."""

    def __init__(self, findings: Findings, base_from_frame: Matrix, circle: str | None) -> None:
        self.findings, self.base_from_frame, self.circle_way = findings, base_from_frame, circle
        self.moves: list[Move] = []
        self.name = ""
        self.unit_m, self.feed_unit = M_PER_MM, "MMPM"
        self.feed_m_s: float | None = None
        self.rapid = False
        self.axis: Array = np.array([0.0, 0.0, 1.0])
        self.turn: Array | None = None
        self.at_m: Array | None = None
        self.home_m: Array | None = None
        self.circle: Circle | None = None
        self.circle_points: list[Array] = []

    def statement(self, line: int, word: str, arguments: list[str]) -> None:
        if word not in ("GOTO", "FEDRAT", "FEED"):
            self.end_of_circle()
        if word in ("GOTO", "GODLTA"):
            self.goto(line, word, arguments)
        elif word in ("FROM", "HOME"):
            self.home(line, word, arguments)
        elif word == "GOHOME":
            if self.home_m is None:
                raise StatementError("GOHOME without a HOME or FROM before it", "HOME/x,y,z")
            self.rapid = True
            self.move(line, self.home_m, "GOHOME")
        elif word == "RAPID":
            self.rapid = True
        elif word in ("FEDRAT", "FEED"):
            self.feed(arguments)
        elif word == "UNITS":
            self.units(arguments)
        elif word == "TLAXIS":
            self.axis = _axis(_numbers(arguments, ("i", "j", "k"), "TLAXIS"))
        elif word == "CIRCLE":
            values = _numbers(arguments[:7], ("x", "y", "z", "i", "j", "k", "radius"), "CIRCLE")
            if "TIMES" in (argument.upper() for argument in arguments):
                raise StatementError("CIRCLE with TIMES is a helix, which is not read", "the helix as points")
            if values[6] <= 0.0:
                raise StatementError(f"CIRCLE radius is {arguments[6]}", "a positive length")
            centre_m, axis = np.array(values[:3]) * self.unit_m, _axis(values[3:6])
            self.circle = Circle(line, centre_m, axis, values[6] * self.unit_m, self.at_m)
            self.circle_points = []
        elif word == "DELAY":
            if len(arguments) != 1:
                raise StatementError(f"DELAY has {len(arguments)} arguments", "DELAY/seconds")
            seconds = finite(arguments[0])
            if seconds < 0.0:
                raise StatementError(f"DELAY is {seconds:g} s", "0 or more")
            add_dwell(self.moves, seconds, line, self.findings)
        elif word == "CYCLE" and [a.upper() for a in arguments[:1]] not in (["OFF"], ["NOMORE"]):
            raise StatementError("CYCLE is a canned cycle, which is not read", "the motion written as GOTO")
        elif word in REFUSED or "=" in word:
            why = REFUSED.get(word, "defines geometry, which only an APT processor can follow")
            raise StatementError(f"{word} {why}; it is not read", "cutter location data: GOTO/x,y,z,i,j,k")
        elif word == "PARTNO" or word.startswith("PARTNO "):
            self.name = word.removeprefix("PARTNO").strip() or ",".join(arguments) or self.name
        elif word != "MULTAX":
            told = "/".join((word, ",".join(arguments))).rstrip("/")
            self.findings.note(line, f"{told} is not motion and is left out")

    def goto(self, line: int, word: str, arguments: list[str]) -> None:
        if word == "GODLTA":
            step = np.array(_numbers(arguments, ("dx", "dy", "dz"), word)) * self.unit_m
            if self.at_m is None:
                raise StatementError("GODLTA before the tool is anywhere", "a GOTO or FROM before it")
            self.move(line, self.at_m + step, "")
            return
        names = ("x", "y", "z", "i", "j", "k") if len(arguments) > 3 else ("x", "y", "z")
        values = _numbers(arguments, names, word)
        if len(values) == 6:
            self.axis = _axis(values[3:])
        point_m = np.array(values[:3]) * self.unit_m
        on = self.circle is not None and not self.circle.off_m(point_m)
        if self.circle_points and not on:
            self.end_of_circle()
        if self.circle is not None:
            self.circle_points.append(point_m)
        self.move(line, point_m, "")
        if not on:
            self.end_of_circle()

    def move(self, line: int, point_m: Array, label: str) -> None:
        """Add the linear move to a point, with the tool axis in force."""
        self.turn = _turned(self.turn, -self.axis)
        self.moves.append(
            Move(
                "linear",
                pose=as_matrix(placed(self.turn, point_m)),
                base_from_frame=self.base_from_frame,
                speed_m_s=None if self.rapid else self.feed_m_s,
                label=label or ("RAPID" if self.rapid else ""),
                line=line,
            )
        )
        self.rapid, self.at_m = False, point_m

    def home(self, line: int, word: str, arguments: list[str]) -> None:
        names = ("x", "y", "z", "i", "j", "k") if len(arguments) > 3 else ("x", "y", "z")
        values = _numbers(arguments, names, word)
        if len(values) == 6:
            self.axis = _axis(values[3:])
        if word == "HOME" or self.home_m is None:
            self.home_m = np.array(values[:3]) * self.unit_m
        if word == "FROM":
            self.at_m = np.array(values[:3]) * self.unit_m
            self.findings.note(line, "FROM says where the tool is before the program; no move to it is made")

    def feed(self, arguments: list[str]) -> None:
        for argument in arguments:
            if argument.upper() in ("MMPR", "IPR", "PERREV", "PERTOOTH"):
                raise StatementError(f"FEDRAT in {argument}, a length for each turn, is not read", ", ".join(SPEEDS))
        units = [argument.upper() for argument in arguments if argument.upper() in SPEEDS]
        values = [argument for argument in arguments if argument.upper() not in SPEEDS]
        if len(units) > 1 or len(values) > 1 or not arguments:
            raise StatementError(f"FEDRAT/{','.join(arguments)} is not understood", f"a number and {', '.join(SPEEDS)}")
        self.feed_unit = units[0] if units else self.feed_unit
        if values:
            value = finite(values[0])
            if value <= 0.0:
                raise StatementError(f"FEDRAT is {value:g}", "a positive feed rate")
            self.feed_m_s = value * SPEEDS[self.feed_unit]

    def units(self, arguments: list[str]) -> None:
        unit = arguments[0].upper() if len(arguments) == 1 else ""
        lengths = {"MM": M_PER_MM, "INCHES": M_PER_INCH, "INCH": M_PER_INCH, "CM": 0.01, "FEET": 0.3048}
        if unit not in lengths:
            raise StatementError(f"UNITS/{','.join(arguments)} is not known", ", ".join(lengths))
        self.unit_m = lengths[unit]
        self.feed_unit = "IPM" if unit.startswith("INCH") else "MMPM"

    def end_of_circle(self) -> None:
        """A CIRCLE before several points of it is told by them; before its end alone the move to it becomes the arc."""
        circle, points, self.circle, self.circle_points = self.circle, self.circle_points, None, []
        if circle is None or not points:
            return
        if len(points) > 1:
            self.findings.note(circle.line, f"CIRCLE is followed as its {len(points)} points, on straight lines")
        elif self.circle_way is None:
            self.findings.problem(
                circle.line,
                "CIRCLE",
                "CIRCLE is followed by its end point alone and the way round is not told",
                "option circle='clockwise' (as Siemens NX counts, seen against i, j, k) or 'counterclockwise'",
            )
        else:
            try:
                self.replace_by_arcs(circle.line, circle.arcs(points[0], self.circle_way == "counterclockwise"))
            except StatementError as error:
                self.findings.failure(circle.line, "CIRCLE", error)

    def replace_by_arcs(self, line: int, points: list[Array]) -> None:
        """The last move, a chord, becomes arcs; the tool keeps the orientation of the end."""
        chord = self.moves.pop()
        turn = np.array(chord.pose)[:3, :3]
        for via, target in zip(points[::2], points[1::2], strict=True):
            self.moves.append(
                Move(
                    "circular",
                    pose=as_matrix(placed(turn, target)),
                    via=as_matrix(placed(turn, via)),
                    base_from_frame=chord.base_from_frame,
                    speed_m_s=chord.speed_m_s,
                    label="CIRCLE",
                    line=line,
                )
            )


def _numbers(arguments: list[str], names: tuple[str, ...], word: str) -> list[float]:
    if len(arguments) != len(names):
        many = f"{word} has {len(arguments)} numbers"
        raise StatementError(many, f"{word}/{','.join(names)}" + (" or with i,j,k" if names == ("x", "y", "z") else ""))
    return [finite(text, f"{word}.{name}") for text, name in zip(arguments, names, strict=True)]


def _axis(values: list[float]) -> Array:
    axis = np.array(values)
    length = float(np.linalg.norm(axis))
    if abs(length - 1.0) > 0.01:
        raise StatementError(f"the axis i,j,k has the length {length:g}", "a unit vector, to within 0.01")
    return axis / length


def _turned(before: Array | None, z: Array) -> Array:
    """frame_from_tool, (3, 3), with the tool's z along a unit vector, by the smallest turn from the one before.

    Equation: Rodrigues about z_before x z; I + K + K^2 / (1 + c), c = z_before . z. Half a turn is made about the
    tool's x.
    """
    if before is None:
        return tool_along(z)
    cross, cosine = np.cross(before[:, 2], z), float(before[:, 2] @ z)
    if cosine < -1.0 + 1e-9:
        return tool_along(z, before[:, 0])
    k = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    turned = (np.eye(3) + k + k @ k / (1.0 + cosine)) @ before
    # A long path multiplies thousands of these: the exact axis is put back and x made square to it.
    return tool_along(z, turned[:, 0])
