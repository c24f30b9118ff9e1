"""KUKA KRL programs (.src with its .dat): read into moves, and written.

Read: DEF ... END with declarations, PTP, LIN, CIRC, their _REL and S forms (SLIN ... WITH), partial targets, $BASE,
$TOOL, $VEL, $APO, BAS(), WAIT SEC, FOR with known bounds, IF with a known condition, calls of routines in the same
file. LOOP is read for one round. Other control flow that holds motion is an error; what is no motion becomes a note.
Frames: $BASE is base_from_frame with $ROBROOT at the world's origin, $TOOL is flange_from_tool. BASE_DATA and
TOOL_DATA are the controller's own: without them the pose stays in its frame, which a note tells.
Units: mm, degrees and m/s in the file. External axes are degrees, or with external="m" millimetres of a track.
Source: KUKA System Software 8.x, Programming Instructions for System Integrators.
Verified by: tests/cases/test_arm_programs_krl.py
Long because the statements of one language share its state.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix
from fieldworthy.arms.program import Move, MoveKind, Program
from fieldworthy.arms.programs.krl_values import (
    FRAME_KEYS,
    Reader,
    Value,
    number,
    pose,
    struct_of,
    tokens_of,
)
from fieldworthy.arms.programs.krl_write import write as write
from fieldworthy.arms.programs.reading import (
    MANY_MOVES,
    Findings,
    Malformed,
    Unknown,
    check_degrees,
    check_units,
    matrix_rows,
)
from fieldworthy.core.errors import FieldworthyError

AXIS_KEYS = ("A1", "A2", "A3", "A4", "A5", "A6")
EXTERNAL_KEYS = ("E1", "E2", "E3", "E4", "E5", "E6")
MOTIONS: dict[str, MoveKind] = {
    **{word: "joint" for word in ("PTP", "PTP_REL", "SPTP", "SPTP_REL")},
    **{word: "linear" for word in ("LIN", "LIN_REL", "SLIN", "SLIN_REL")},
    **{word: "circular" for word in ("CIRC", "CIRC_REL", "SCIRC", "SCIRC_REL")},
}
SPLINES = ("SPL", "SPLINE", "PTP_SPLINE", "SPL_REL")
OPENERS = {"FOR": "ENDFOR", "IF": "ENDIF", "LOOP": "ENDLOOP", "WHILE": "ENDWHILE", "REPEAT": "UNTIL",
           "SWITCH": "ENDSWITCH", "SPLINE": "ENDSPLINE", "PTP_SPLINE": "ENDSPLINE"}  # fmt: skip
CLOSERS = (*OPENERS.values(), "ELSE", "CASE", "DEFAULT", "ENDSPLINE")
SILENT = ("CONTINUE", "INI", "IMPORT", "EXT", "EXTFCT", "STRUC", "ENUM", "SIGNAL")
"""Statements without effect on where the robot goes, and without interest."""
TOLD = ("INTERRUPT", "TRIGGER", "ANOUT", "ANIN", "DIGIN", "PULSE", "BRAKE", "RESUME", "HALT", "CWRITE", "CREAD")
ACTUAL = (
    "$AXIS_ACT",
    "$AXIS_ACT_MEAS",
    "$POS_ACT_MES",
    "$POS_ACT",
    "$AXIS_RET",
    "$POS_RET",
    "$AXIS_INT",
    "$POS_INT",
    "$POS_FOR",
    "$AXIS_FOR",
)
HOMES = ("HOME", "XHOME", *(f"{x}HOME{i}" for x in ("", "X") for i in range(1, 6)), "$H_POS")
MANY_STATEMENTS = 2_000_000
NULL_FRAME: Mapping[str, Value] = {key: 0.0 for key in FRAME_KEYS}

Line = tuple[int, list[tuple[str, str]]]


def read(
    text: str, source: str = "", data: Sequence[tuple[str, str]] = (), external: Literal["rad", "m"] = "rad"
) -> Program:
    """The moves of the first routine of a .src.

    `data` are (text, file name) of .dat files whose declarations are known, later ones winning. `external` is what E1
    to E6 are, turntables or tracks; they follow the six axes in `joints` where any of them is not 0.
    Raises: ScenarioError with all problems of the files; FieldworthyError for an unknown `external`.
    """
    if external not in ("rad", "m"):
        raise FieldworthyError(f"external {external!r}; valid: 'rad', 'm'")
    found = Findings(source)
    try:
        return _read(text, found, data, external)
    except RecursionError:
        found.problem(0, "", "brackets or blocks are nested too deeply", "a program that people can read")
    found.stop()
    raise AssertionError  # stop() has raised


def _read(text: str, found: Findings, data: Sequence[tuple[str, str]], external: str) -> Program:
    machine = _Machine(found, external)
    for data_text, data_source in data:
        machine.declare(data_text, data_source)
    routines = machine.routines_of(_lines(text, found))
    found.stop()
    name = next(iter(routines))
    written = re.search(rf"(?i)\bDEF\s+({re.escape(name)})\b", text)
    machine.routines = routines
    try:
        machine.run(routines[name])
    except _Return:
        pass
    except _Stop as stop:
        found.problem(stop.line, "", "the program does not come to an end", f"at most {MANY_MOVES} moves")
    found.stop()
    moves = machine.finished()
    if not moves:
        found.note(0, "no motion was found")
    return Program(written.group(1) if written else name, moves, found.named, (), tuple(found.notes))


class _Return(Exception):
    """RETURN, or the end of the routine."""


class _Exit(Exception):
    """EXIT from a loop."""


class _Stop(Exception):
    """More statements than any program has."""

    def __init__(self, line: int) -> None:
        self.line = line


def _lines(text: str, found: Findings) -> list[Line]:
    """The statements with their line numbers, without comments, FOLD lines and & attributes."""
    lines: list[Line] = []
    for at, raw in enumerate(text.splitlines(), 1):
        if raw.lstrip().startswith("&"):
            continue
        parts = raw.split('"')
        # Only the even parts are outside of strings, so a ';' counts there.
        for i in range(0, len(parts), 2):
            if ";" in parts[i]:
                parts = [*parts[:i], parts[i].split(";")[0]]
                break
        try:
            tokens = tokens_of('"'.join(parts))
        except Malformed as error:
            found.problem(at, raw.split()[0], error.what, error.valid or "a KRL statement")
            continue
        if tokens:
            lines.append((at, tokens))
    return lines


class _Machine:
    """What the controller holds while a program runs: variables, frames in force, the last target."""

    def __init__(self, found: Findings, external: str) -> None:
        self.found = found
        self.external = external
        self.variables: dict[str, Value] = {"$NULLFRAME": NULL_FRAME, "$WORLD": NULL_FRAME}
        self.types: dict[str, str] = {}
        self.routines: dict[str, list[Line]] = {}
        self.moves: list[Move] = []
        self.external_deg: list[list[float]] = []
        self.angles: list[tuple[int, float]] = []
        self.base: Matrix | None = None
        self.base_key: object = "none"
        self.tool: Matrix | None = None
        self.tool_key: object = "none"
        self.six: list[float] | None = None
        self.six_frames: tuple[object, object, Matrix | None, Matrix | None] = ("", "", None, None)
        self.axes: list[float] | None = None
        self.outer: list[float] = [0.0] * 6
        self.ptp_share: float | None = None
        self.axis_shares: dict[str, float] = {}
        self.own_distance: Value | None = None
        self.statements = 0
        self.depth = 0

    def declare(self, text: str, source: str) -> None:
        """Take the declarations of a .dat file."""
        own = Findings(source)
        for line, tokens in _lines(text, own):
            if tokens[0][1] in ("DEFDAT", "ENDDAT", *SILENT):
                continue
            self._guard(line, tokens, own)
        self.found.problems += own.problems

    def routines_of(self, lines: list[Line]) -> dict[str, list[Line]]:
        """Statements of each DEF ... END of the file."""
        routines: dict[str, list[Line]] = {}
        now: list[Line] | None = None
        opened = 0
        for line, tokens in lines:
            words = [word for _, word in tokens]
            if words[0] == "GLOBAL" and len(words) > 1 and words[1] in ("DEF", "DEFFCT"):
                words = words[1:]
            if words[0] in ("DEF", "DEFFCT"):
                if now is not None:
                    self.found.problem(opened, "DEF", "has no END", "END before the next DEF")
                name = words[1] if words[0] == "DEF" and len(words) > 1 else words[2] if len(words) > 2 else ""
                if name in routines:
                    self.found.problem(line, "DEF", f"{name} is there twice")
                now, opened = [], line
                routines[name] = now
            elif words[0] in ("END", "ENDFCT"):
                if now is None:
                    self.found.problem(line, "END", "has no DEF")
                now = None
            elif now is not None:
                now.append((line, tokens))
            elif words[0] not in SILENT and words[0] not in ("DEFDAT", "ENDDAT", "DECL", "GLOBAL"):
                self.found.problem(line, words[0], "stands outside of a routine", "DEF name() ... END around it")
        if now is not None:
            self.found.problem(opened, "DEF", "has no END", "a complete file")
        if not routines:
            self.found.problem(0, "", "no routine in this file", "DEF name() ... END")
        return routines

    def run(self, lines: list[Line]) -> None:
        """Run a routine or the inside of a block."""
        at = 0
        while at < len(lines):
            line, tokens = lines[at]
            self.statements += 1
            if self.statements > MANY_STATEMENTS or len(self.moves) > MANY_MOVES:
                raise _Stop(line)
            word = tokens[0][1]
            if word in OPENERS:
                end = _end_of(lines, at)
                if end is None:
                    self.found.problem(line, word, f"has no {OPENERS[word]}", f"{word} ... {OPENERS[word]}")
                    return
                self._block(word, lines, at, end)
                at = end + 1
                continue
            if word in CLOSERS:
                self.found.problem(line, word, "belongs to nothing", "the statement that opens its block before it")
            else:
                self._guard(line, tokens, self.found)
            at += 1

    def _guard(self, line: int, tokens: list[tuple[str, str]], found: Findings) -> None:
        try:
            self._statement(line, tokens)
        except Malformed as error:
            found.problem(line, tokens[0][1], error.what, error.valid)
        except FieldworthyError as error:
            found.problem(line, tokens[0][1], str(error))

    def _block(self, word: str, lines: list[Line], at: int, end: int) -> None:
        line, tokens = lines[at]
        inside = lines[at + 1 : end]
        reader = Reader(tokens, self.look_up, self._forget)
        reader.take()
        try:
            if word == "FOR":
                self._for(reader, inside, line)
                return
            if word == "LOOP":
                self.found.note(line, "LOOP goes round for ever; one round is read")
                self.run(inside)
                return
            if word == "IF":
                condition = reader.expression()
                reader.take("THEN")
                middle = _else_of(inside)
                if isinstance(condition, bool):
                    self.run(inside[:middle] if condition else inside[middle + 1 :])
                    return
        except _Exit:
            if word != "IF":
                return
            raise
        except Malformed as error:
            self.found.problem(line, word, error.what, error.valid)
            return
        if word in ("SPLINE", "PTP_SPLINE"):
            self.found.problem(
                line, word, "spline blocks are not read", "LIN, CIRC and PTP, or SLIN outside of a block"
            )
            return
        self._undecided(word, line, inside)

    def _for(self, reader: Reader, inside: list[Line], line: int) -> None:
        name = reader.place(reader.take()[1])
        reader.take("=")
        first = reader.expression()
        reader.take("TO")
        last = reader.expression()
        step: Value = reader.expression() if reader.accept("STEP") else 1
        reader.finish()
        if any(isinstance(value, Unknown) for value in (first, last, step)):
            self._undecided("FOR", line, inside)
            return
        count, stop, by = (number(value) for value in (first, last, step))
        if by == 0:
            raise Malformed("STEP 0", "a step that is not 0")
        while (count <= stop) if by > 0 else (count >= stop):
            self.variables[name] = count
            self.run(inside)
            count += by
            self.statements += 1
            if self.statements > MANY_STATEMENTS:
                raise _Stop(line)

    def _undecided(self, word: str, line: int, inside: list[Line]) -> None:
        """A block whose condition only the controller knows: an error if it matters to motion, else a note."""
        matters = []
        for where, tokens in inside:
            words = [word for _, word in tokens]
            first = words[0]
            sets = "=" in words and first not in OPENERS
            leaves = first in ("GOTO", "EXIT", "RETURN")
            if leaves or self._acts(words, set()):
                matters.append(f"{first} in line {where}")
            elif sets:
                self.variables[Reader(tokens, self.look_up, self._forget).place(first)] = Unknown(
                    f"{first} after {word}"
                )
        if matters:
            self.found.problem(
                line, word, f"depends on what only the controller knows and holds {matters[0]}",
                "FOR with constant bounds, IF with a condition that the file decides, or the moves without it",
            )  # fmt: skip
        else:
            self.found.note(line, f"{word} block without motion is left out")

    def _acts(self, words: list[str], seen: set[str]) -> bool:
        """Whether a statement moves the arm or sets how it moves, itself or in the routines that it calls."""
        first = words[0]
        if first in (*MOTIONS, *SPLINES, "BAS") or (first in ("$BASE", "$TOOL", "$VEL", "$APO") and "=" in words):
            return True
        if first not in self.routines or first in seen:
            return False
        inside = self.routines[first]
        return any(self._acts([word for _, word in tokens], seen | {first}) for _, tokens in inside)

    def look_up(self, name: str) -> Value:
        """The value of a variable, component or field element; Unknown where the file does not give it."""
        if name in self.variables:
            return self.variables[name]
        parent, _, component = name.rpartition(".")
        if parent:
            whole = self.look_up(parent)
            if isinstance(whole, Mapping):
                return whole.get(component, Unknown(name))
        return Unknown(name)

    def _forget(self, name: str, function: str) -> None:
        """A variable that a routine outside of this file was given: it may be set there (parameters with OUT)."""
        for each in [each for each in self.variables if each == name or each.startswith((f"{name}[", f"{name}."))]:
            if not each.startswith("$"):
                self.variables[each] = Unknown(f"{name} after {function}()")

    def _assign(self, name: str, value: Value, line: int) -> None:
        kind = self.types.get(name)
        if kind == "REAL" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        elif kind == "INT" and isinstance(value, float):
            value = math.floor(number(value) + 0.5)
        parent, _, component = name.rpartition(".")
        whole = self.look_up(parent) if parent else None
        if isinstance(whole, Mapping):
            self._assign(parent, {**whole, component: value}, line)
            return
        self.variables[name] = value
        if name in ("$BASE", "$TOOL"):
            self._frame(name, value, line)
        elif name == "$VEL" and isinstance(value, Mapping):
            for key, each in value.items():
                self._assign(f"$VEL.{key}", each, line)
        elif name == "$VEL.CP":
            self._path_speed(value)
        elif name.startswith("$VEL_AXIS[") and not isinstance(value, Unknown):
            self.axis_shares[name] = _share(value, name)
            self.ptp_share = min(self.axis_shares.values())
        elif name.startswith("$APO.CDIS") and not isinstance(value, Unknown) and number(value) < 0:
            raise Malformed(f"{name} is {value}", "0 or more millimetres")
        elif name.startswith(("$OUT[", "$ANOUT[", "$CYCFLAG[", "$FLAG[", "$TIMER")):
            self.found.note(line, f"{name} is set; not motion")
        elif name == "$ROBROOT":
            self.found.note(line, "$ROBROOT is set; frames are kept as if it stood at the origin of the world")

    def _path_speed(self, value: Value) -> None:
        if not isinstance(value, Unknown) and number(value) <= 0.0:
            raise Malformed(f"$VEL.CP is {value}", "more than 0 m/s")

    def _frame(self, name: str, value: Value, line: int) -> None:
        unknown = value.name if isinstance(value, Unknown) else None
        matrix = None if unknown else matrix_rows(pose(value))
        if unknown:
            kept = "targets stay in that frame" if name == "$BASE" else "the tool is left to it"
            self.found.note(line, f"{name} is {unknown}, which only the controller has; {kept}", f"{name} {unknown}")
        if name == "$BASE":
            self.base, self.base_key = matrix, unknown or matrix
        else:
            self.tool, self.tool_key = matrix, unknown or matrix

    def _numbered(self, name: str, index: Value, line: int) -> None:
        """$BASE or $TOOL by its number in the controller's table; 0 is none."""
        if isinstance(index, Unknown):
            self._frame(name, index, line)
            return
        table = f"{name[1:]}_DATA[{int(number(index))}]"
        value = NULL_FRAME if number(index) == 0 else self.look_up(table)
        self.variables[name] = value
        self._frame(name, value, line)

    def _statement(self, line: int, tokens: list[tuple[str, str]]) -> None:
        kind, word = tokens[0]
        if word in MOTIONS:
            self._motion(line, tokens)
        elif word in SPLINES:
            raise Malformed("splines are not read", "LIN, CIRC and PTP, or SLIN outside of a block")
        elif word == "WAIT":
            self._wait(line, tokens)
        elif word == "EXIT":
            raise _Exit
        elif word == "RETURN":
            raise _Return
        elif word == "GOTO":
            raise Malformed("jumps are not read", "FOR with constant bounds, or the moves in order")
        elif word in SILENT or (len(tokens) == 2 and tokens[1][1] == ":"):
            pass
        elif word in TOLD or (word == "GLOBAL" and len(tokens) > 1 and tokens[1][1] == "INTERRUPT"):
            self.found.note(line, f"{word} is left out; not motion")
        elif kind == "name":
            self._named(line, tokens)
        else:
            raise Malformed(f"{word!r} begins no statement", "a KRL statement")

    def _named(self, line: int, tokens: list[tuple[str, str]]) -> None:
        words = [word for _, word in tokens]
        reader = Reader(tokens, self.look_up, self._forget)
        declared = ""
        while reader.peek()[1] in ("DECL", "GLOBAL", "CONST"):
            reader.take()
        if reader.peek()[1] in SILENT:
            return
        if reader.at or (len(tokens) > 1 and tokens[1][0] == "name"):
            declared = reader.take()[1]
        name = reader.place(reader.take()[1])
        if not declared and reader.peek()[1] == "(":
            self._call(line, name, reader)
            return
        while True:
            if declared:
                self.types[name] = declared
                self.variables.setdefault(name, Unknown(name))
            if reader.accept("="):
                value = reader.expression()
                self._assign(name, value, line)
                if isinstance(value, Unknown) and name not in ("$BASE", "$TOOL"):
                    self.found.note(line, f"{name} = {value.name}: only the controller knows it")
            elif not declared:
                raise Malformed(f"{' '.join(words[:6])} is no statement that is read", "PTP, LIN, CIRC, an assignment")
            if not (declared and reader.accept(",")):
                break
            name = reader.place(reader.take()[1])
        reader.finish()

    def _call(self, line: int, name: str, reader: Reader) -> None:
        start = reader.at
        values = reader.arguments()
        reader.finish()
        if name == "BAS":
            self._bas(line, values)
        elif name in self.routines:
            if values:
                raise Malformed(f"{name}() is called with arguments", "routines without arguments")
            self.depth += 1
            if self.depth > 50:
                raise _Stop(line)
            try:
                self.run(self.routines[name])
            except _Return:
                pass
            finally:
                self.depth -= 1
        else:
            reader.given_away(start, name)
            self.found.note(line, f"{name}() is not in this file and is left out, with any motion in it")

    def _bas(self, line: int, values: list[Value]) -> None:
        command = values[0] if values else ""
        value = values[1] if len(values) > 1 else Unknown("left out")
        if command == "#VEL_PTP" or (command == "#PTP_PARAMS" and not isinstance(value, Unknown)):
            self.ptp_share = None if isinstance(value, Unknown) else _share(value, f"BAS({command})")
            self.axis_shares.clear()
        elif command in ("#VEL_CP", "#CP_PARAMS"):
            self._assign("$VEL.CP", value, line)
        elif command in ("#TOOL", "#BASE"):
            self._numbered(f"${command[1:]}", value, line)
        if command in ("#PTP_PARAMS", "#CP_PARAMS", "#FRAMES"):
            for name in ("TOOL", "BASE"):
                index = self.look_up(f"FDAT_ACT.{name}_NO")
                if "FDAT_ACT" in self.variables:
                    self._numbered(f"${name}", index, line)
        if command == "#CP_PARAMS":
            distance = self.look_up("LDAT_ACT.APO_DIST")
            if not isinstance(distance, Unknown):
                self.variables["$APO.CDIS"] = distance

    def _wait(self, line: int, tokens: list[tuple[str, str]]) -> None:
        reader = Reader(tokens, self.look_up, self._forget)
        reader.take()
        if not reader.accept("SEC"):
            self.found.note(line, "WAIT FOR is left out; not motion")
            return
        value = reader.expression()
        reader.finish()
        if isinstance(value, Unknown):
            self.found.note(line, f"WAIT SEC of {value.name}, which only the controller knows, is left out")
        elif number(value) > 0:
            if self.moves:
                waited = self.moves[-1].dwell_s + number(value)
                self.moves[-1] = dataclasses.replace(self.moves[-1], dwell_s=waited)
            else:
                self.found.note(line, f"a wait of {number(value):g} s before the first move is left out")

    def _motion(self, line: int, tokens: list[tuple[str, str]]) -> None:
        word = tokens[0][1]
        kind = MOTIONS[word]
        reader = Reader(tokens, self.look_up, self._forget)
        reader.take()
        relative = word.endswith("_REL")
        targets: list[Value] = []
        label = ""
        for _ in range(2 if kind == "circular" else 1):
            if targets:
                reader.take(",")
            label = reader.peek()[1] if reader.peek()[0] == "name" else ""
            targets.append(reader.expression())
        if reader.accept(","):
            raise Malformed("a circular angle CA is not read", "an auxiliary point and an end point")
        label = label if reader.tokens[reader.at - 1][1] == label else ""
        reference = reader.accept("#TOOL", "#BASE") or "#BASE"
        blends = []
        while reader.peek()[1].startswith("C_"):
            blends.append(reader.take()[1])
        self.own_distance = None
        kept = (self.base, self.base_key, self.tool, self.tool_key)
        speed, share = self.variables.get("$VEL.CP"), self.ptp_share
        if reader.accept("WITH"):
            speed, share = self._with(reader, line, speed, share)
        while reader.peek()[1].startswith("C_"):
            blends.append(reader.take()[1])
        reader.finish()
        target = targets[-1]
        if isinstance(target, Unknown) and target.name in (*ACTUAL, *HOMES):
            if target.name in HOMES:
                self.six = self.axes = None
                self.found.note(line, f"{word} {target.name} is left out: only the controller has that position")
            else:
                self.found.note(line, f"{word} {target.name} stays where the robot is")
        else:
            share = share if kind == "joint" else None
            metres = None if kind == "joint" or isinstance(speed, Unknown) or speed is None else float(number(speed))
            blend = self._blend(line, kind, blends)
            how = _How(line, kind, label, relative, reference, metres, share, blend)
            self._go(how, targets)
        self.base, self.base_key, self.tool, self.tool_key = kept

    def _with(self, reader: Reader, line: int, speed: Value | None, share: float | None) -> Any:
        """The settings of one spline motion: SLIN P1 WITH $VEL=SVEL_CP(0.5,,LCPDAT1), $TOOL=STOOL2(FP1), ..."""
        while True:
            name = reader.place(reader.take()[1])
            reader.take("=")
            function = reader.peek()[1]
            values: list[Value] = []
            if reader.peek()[0] == "name" and reader.peek(1)[1] == "(":
                reader.take()
                values = reader.arguments()
            else:
                function = ""
                values = [reader.expression()]
            value = values[0] if values else Unknown(function)
            if name in ("$VEL", "$VEL.CP"):
                if not function and isinstance(value, Mapping):
                    value = value.get("CP", Unknown("$VEL.CP"))
                self._path_speed(value)
                speed = value
            elif name.startswith("$VEL_AXIS"):
                share = None if isinstance(value, Unknown) else _share(value, name)
            elif name in ("$TOOL", "$BASE") and not function:
                self._frame(name, value, line)
            elif name in ("$TOOL", "$BASE"):
                table = value.get(f"{name[1:]}_NO", Unknown(function)) if isinstance(value, Mapping) else value
                self._numbered(name, table, line)
            elif name == "$APO" and isinstance(value, Mapping) and "APO_DIST" in value:
                self.own_distance = value["APO_DIST"]
            if not reader.accept(","):
                return speed, share

    def _blend(self, line: int, kind: MoveKind, words: list[str]) -> float:
        """Distance to the target [m] at which the next move may begin."""
        if not words:
            return 0.0
        distance = self.look_up("$APO.CDIS") if self.own_distance is None else self.own_distance
        if "C_DIS" in words or "C_SPL" in words:
            if not isinstance(distance, Unknown):
                return number(distance) / 1000.0
            self.found.note(line, "C_DIS without $APO.CDIS in this file: taken as an exact stop", "C_DIS")
        else:
            told = f"{words[0]} blends by another measure than distance: taken as an exact stop"
            self.found.note(line, told, words[0])
        return 0.0

    def _go(self, how: _How, targets: list[Value]) -> None:
        for target in targets:
            if isinstance(target, Unknown):
                known = "a position declared in the .src, its .dat or given in braces"
                raise Malformed(f"target {target.name} has no value here", known)
            if not isinstance(target, Mapping):
                raise Malformed(f"target {target!r} is no position", "{X.., Y.., ...} or {A1 .., A2 .., ...}")
            strange = [key for key in target if key not in (*FRAME_KEYS, *AXIS_KEYS, *EXTERNAL_KEYS, "S", "T")]
            if strange:
                raise Malformed(f"target has a component {strange[0]}", "X Y Z A B C S T, A1 to A6, E1 to E6")
        target = targets[-1]
        assert isinstance(target, Mapping)
        before = list(self.outer)
        for i, key in enumerate(EXTERNAL_KEYS):
            if key in target:
                moved = float(number(target[key]))
                self.outer[i] = before[i] + moved if how.relative else moved
        joints, matrix, via = None, None, None
        if any(key in target for key in AXIS_KEYS):
            if how.kind != "joint":
                raise Malformed(f"a {how.kind} move to axis positions", "a target with X, Y, Z, A, B, C")
            joints = self._axes(target, how)
            self.axes, self.six = joints, None
        else:
            if how.kind == "circular":
                assert isinstance(targets[0], Mapping)
                via = matrix_rows(self._pose(targets[0], how)[1])
            self.six, turned = self._pose(target, how)
            self.six_frames = (self.base_key, self.tool_key, self.base, self.tool)
            self.axes = None
            matrix = matrix_rows(turned)
            if any(self.outer):
                told = "external axes of a target with a pose are not kept"
                self.found.note(how.line, told, told)
        posture = [f"{key} {number(target[key]):g}" for key in ("S", "T") if key in target]
        self.external_deg.append(list(self.outer))
        self.moves.append(
            Move(
                how.kind, None if joints is None else tuple(math.radians(a) for a in joints), matrix, via,
                self.base or IDENTITY, self.tool, how.speed_m_s, how.share, None, how.blend_m,
                posture=",".join(posture), label=how.label, line=how.line,
            )
        )  # fmt: skip

    def _axes(self, target: Mapping[str, Value], how: _How) -> list[float]:
        missing = [key for key in AXIS_KEYS if key not in target]
        if (missing or how.relative) and self.axes is None:
            told = f"{', '.join(missing)} left out" if missing else "a relative move"
            raise Malformed(f"{told}, and the axes before it are not known", "a target with A1 to A6")
        before = self.axes or [0.0] * 6
        given = [number(target[key]) if key in target else None for key in AXIS_KEYS]
        self.angles += [(how.line, value) for value in given if value is not None]
        if how.relative:
            return [old + (new or 0.0) for old, new in zip(before, given, strict=True)]
        return [old if new is None else float(new) for old, new in zip(before, given, strict=True)]

    def _pose(self, target: Mapping[str, Value], how: _How) -> tuple[list[float], Array]:
        """X, Y, Z [mm], A, B, C [deg] of a target and its matrix; what is left out stays as it was."""
        missing = [key for key in FRAME_KEYS if key not in target]
        given = {key: number(target[key]) for key in FRAME_KEYS if key in target}
        self.angles += [(how.line, given[key]) for key in "ABC" if key in given]
        before = self._where([] if how.relative else missing) if missing or how.relative else [0.0] * 6
        if how.relative and how.reference == "#TOOL":
            matrix = pose(dict(zip(FRAME_KEYS, before, strict=True))) @ pose({**NULL_FRAME, **given})
            struct = struct_of(matrix)
            return [number(struct[key]) for key in FRAME_KEYS], matrix
        if how.relative:
            if any(given.get(key, 0.0) != 0.0 for key in "ABC"):
                raise Malformed("a relative move that turns in the base is not read", "A, B, C with #TOOL, or X, Y, Z")
            six = [old + given.get(key, 0.0) for key, old in zip(FRAME_KEYS, before, strict=True)]
        else:
            six = [float(given.get(key, old)) for key, old in zip(FRAME_KEYS, before, strict=True)]
        return six, pose(dict(zip(FRAME_KEYS, six, strict=True)))

    def _where(self, missing: list[str]) -> list[float]:
        """The last target in the frame and with the tool in force now."""
        told = f"{', '.join(missing)} left out" if missing else "a relative move"
        if self.six is None:
            raise Malformed(f"{told}, and the pose before it is not known", "all of X, Y, Z, A, B, C")
        base_key, tool_key, base, tool = self.six_frames
        if (base_key, tool_key) == (self.base_key, self.tool_key):
            return self.six
        if (base_key != self.base_key and None in (base, self.base)) or (
            tool_key != self.tool_key and None in (tool, self.tool)
        ):
            raise Malformed(f"{told} after a change to or from a frame or tool that only the controller has",
                           "all of X, Y, Z, A, B, C")  # fmt: skip
        matrix = pose(dict(zip(FRAME_KEYS, self.six, strict=True)))
        if base_key != self.base_key:
            matrix = np.linalg.inv(np.array(self.base)) @ np.array(base) @ matrix
        if tool_key != self.tool_key:
            matrix = matrix @ np.linalg.inv(np.array(tool)) @ np.array(self.tool)
        struct = struct_of(matrix)
        return [float(number(struct[key])) for key in FRAME_KEYS]

    def finished(self) -> tuple[Move, ...]:
        """The moves, with the external axes that any of them moves behind the joints; doubts about units as notes."""
        used = max((i + 1 for row in self.external_deg for i in range(6) if row[i] != 0.0), default=0)
        moves = self.moves
        if used and any(move.joints for move in moves):
            scale = math.pi / 180.0 if self.external == "rad" else 0.001
            self.found.note(0, f"E1 to E{used} are read as {'degrees' if self.external == 'rad' else 'millimetres'}")
            moves = [
                move if move.joints is None
                else dataclasses.replace(move, joints=(*move.joints, *(scale * value for value in row[:used])))
                for move, row in zip(moves, self.external_deg, strict=True)
            ]  # fmt: skip
        check_units(self.found, moves, "", "metres" if self.base_key == "none" or self.base is not None else "")
        check_degrees(self.found, self.angles)
        return tuple(moves)


@dataclasses.dataclass(frozen=True)
class _How:
    """What a motion statement says besides its targets."""

    line: int
    kind: MoveKind
    label: str
    relative: bool
    reference: str
    speed_m_s: float | None
    share: float | None
    blend_m: float


def _share(value: Value, name: str) -> float:
    share = number(value) / 100.0
    if not 0.0 < share <= 1.0:
        raise Malformed(f"{name} is {value}", "more than 0 and at most 100 percent")
    return share


def _end_of(lines: list[Line], at: int) -> int | None:
    """Index of the statement that closes the block opened at `at`."""
    waiting: list[str] = []
    for index in range(at, len(lines)):
        word = lines[index][1][0][1]
        if word in OPENERS:
            waiting.append(OPENERS[word])
        elif waiting and word == waiting[-1]:
            waiting.pop()
            if not waiting:
                return index
    return None


def _else_of(inside: list[Line]) -> int:
    """Index of the ELSE of an IF in its inside, or its length."""
    depth = 0
    for index, (_, tokens) in enumerate(inside):
        word = tokens[0][1]
        if word in OPENERS:
            depth += 1
        elif word in OPENERS.values():
            depth -= 1
        elif word == "ELSE" and depth == 0:
            return index
    return len(inside)
