"""KUKA KRL programs (.src with its .dat): read into moves, and written.

Read: DEF ... END with declarations, PTP, LIN, CIRC, their _REL and S forms (SLIN ... WITH), partial targets, $BASE,
$TOOL, $VEL, $APO, BAS(), WAIT SEC, FOR with known bounds, IF with a known condition, calls of routines in the same
file. LOOP is read for one round. Other control flow that holds motion is an error; what is no motion becomes a note.
Frames: $BASE is base_from_frame with $ROBROOT at the world's origin, $TOOL is flange_from_tool. BASE_DATA and
TOOL_DATA are the controller's own: without them the pose stays in its frame, which a note tells.
Units: mm, degrees and m/s in the file. External axes are degrees, or with external="m" millimetres of a track.
Parts: krl_lines (text to statements), krl_values (expressions), krl_state (variables, frames), krl_motion (moves),
krl_write; the flow from statement to statement is here.
Source: KUKA System Software 8.x, Programming Instructions for System Integrators.
Verified by: tests/cases/test_arm_programs_krl.py
Long because the statements of one language share its state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from fieldworthy.arms.program import Program
from fieldworthy.arms.programs.expressions import Token, Unknown, number
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.krl_lines import CLOSERS, OPENERS, SILENT, Line, else_of, end_of, lines_of, routines_of
from fieldworthy.arms.programs.krl_motion import MOTIONS, Motions
from fieldworthy.arms.programs.krl_state import State
from fieldworthy.arms.programs.krl_values import Reader, Value
from fieldworthy.arms.programs.krl_write import write as write
from fieldworthy.arms.programs.running import EndlessError, Steps, add_dwell, endless
from fieldworthy.core.errors import FieldworthyError

SPLINES = ("SPL", "SPLINE", "PTP_SPLINE", "SPL_REL")
TOLD = ("INTERRUPT", "TRIGGER", "ANOUT", "ANIN", "DIGIN", "PULSE", "BRAKE", "RESUME", "HALT", "CWRITE", "CREAD")
"""Statements of no motion that are worth a note."""


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


def _read(text: str, found: Findings, data: Sequence[tuple[str, str]], external: Literal["rad", "m"]) -> Program:
    machine = _Machine(found, external)
    for data_text, data_source in data:
        machine.declare(data_text, data_source)
    routines = routines_of(lines_of(text, found), found)
    found.stop()
    name = next(iter(routines))
    written = re.search(rf"(?i)\bDEF\s+({re.escape(name)})\b", text)
    machine.routines = routines
    try:
        machine.run(routines[name])
    except _ReturnError:
        pass
    except EndlessError as error:
        endless(found, error)
    found.stop()
    moves = machine.motions.finished()
    if not moves:
        found.note(0, "no motion was found")
    return Program(written.group(1) if written else name, moves, found.source, (), tuple(found.notes))


class _ReturnError(Exception):
    """RETURN, or the end of the routine."""


class _ExitError(Exception):
    """EXIT from a loop."""


class _Machine:
    """Carries out statements in order."""

    def __init__(self, found: Findings, external: Literal["rad", "m"]) -> None:
        self.found = found
        self.state = State(found)
        self.motions = Motions(self.state, external)
        self.routines: dict[str, list[Line]] = {}
        self.steps = Steps()
        self.depth = 0

    def declare(self, text: str, source: str) -> None:
        """Take the declarations of a .dat file."""
        own = Findings(source)
        for line, tokens in lines_of(text, own):
            if tokens[0][1] in ("DEFDAT", "ENDDAT", *SILENT):
                continue
            self._guard(line, tokens, own)
        self.found.problems += own.problems

    def run(self, lines: list[Line]) -> None:
        """Run a routine or the inside of a block."""
        at = 0
        while at < len(lines):
            line, tokens = lines[at]
            self.steps.step(line, len(self.motions.moves), self.depth)
            word = tokens[0][1]
            if word in OPENERS:
                end = end_of(lines, at)
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

    def _guard(self, line: int, tokens: list[Token], found: Findings) -> None:
        try:
            self._statement(line, tokens)
        except (StatementError, FieldworthyError) as error:
            found.failure(line, tokens[0][1], error)

    def _block(self, word: str, lines: list[Line], at: int, end: int) -> None:
        line, tokens = lines[at]
        inside = lines[at + 1 : end]
        reader = self.state.reader(tokens)
        reader.take()
        try:
            self._refuse_motion_within(tokens)
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
                middle = else_of(inside)
                if isinstance(condition, bool):
                    self.run(inside[:middle] if condition else inside[middle + 1 :])
                    return
        except _ExitError:
            if word != "IF":
                return
            raise
        except StatementError as error:
            self.found.failure(line, word, error)
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
            raise StatementError("STEP 0", "a step that is not 0")
        while (count <= stop) if by > 0 else (count >= stop):
            self.state.variables[name] = count
            self.run(inside)
            count += by
            self.steps.step(line, len(self.motions.moves))

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
                self.state.variables[self.state.reader(tokens).place(first)] = Unknown(f"{first} after {word}")
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
        if first in (*MOTIONS, *SPLINES, "BAS") or (
            first in ("$BASE", "$TOOL", "$VEL", "$VEL_AXIS", "$APO") and "=" in words
        ):
            return True
        if first not in self.routines or first in seen:
            return False
        inside = self.routines[first]
        return any(self._acts([word for _, word in tokens], seen | {first}) for _, tokens in inside)

    def _refuse_motion_within(self, tokens: list[Token]) -> None:
        """Raises: StatementError where a function of the file that moves the arm is called for its value."""
        for (_, word), (_, after) in zip(tokens[1:], tokens[2:], strict=False):
            if after == "(" and word in self.routines and self._acts([word], set()):
                raise StatementError(f"{word}() moves the arm within another statement", "a call that stands alone")

    def _statement(self, line: int, tokens: list[Token]) -> None:
        self._refuse_motion_within(tokens)
        kind, word = tokens[0]
        if word in MOTIONS:
            self.motions.add(line, tokens)
        elif word in SPLINES:
            raise StatementError("splines are not read", "LIN, CIRC and PTP, or SLIN outside of a block")
        elif word == "WAIT":
            self._wait(line, tokens)
        elif word == "EXIT":
            raise _ExitError
        elif word == "RETURN":
            raise _ReturnError
        elif word == "GOTO":
            raise StatementError("jumps are not read", "FOR with constant bounds, or the moves in order")
        elif word in SILENT or (len(tokens) == 2 and tokens[1][1] == ":"):
            pass
        elif word in TOLD or (word == "GLOBAL" and len(tokens) > 1 and tokens[1][1] == "INTERRUPT"):
            self.found.note(line, f"{word} is left out; not motion")
        elif kind == "name":
            self._named(line, tokens)
        else:
            raise StatementError(f"{word!r} begins no statement", "a KRL statement")

    def _named(self, line: int, tokens: list[Token]) -> None:
        words = [word for _, word in tokens]
        reader = self.state.reader(tokens)
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
                self.state.types[name] = declared
                self.state.variables.setdefault(name, Unknown(name))
            if reader.accept("="):
                value = reader.expression()
                self.state.assign(name, value, line)
                if isinstance(value, Unknown) and name not in ("$BASE", "$TOOL"):
                    self.found.note(line, f"{name} = {value.name}: only the controller knows it")
            elif not declared:
                raise StatementError(
                    f"{' '.join(words[:6])} is no statement that is read", "PTP, LIN, CIRC, an assignment"
                )
            if not (declared and reader.accept(",")):
                break
            name = reader.place(reader.take()[1])
        reader.finish()

    def _call(self, line: int, name: str, reader: Reader) -> None:
        start = reader.at
        values = reader.arguments()
        reader.finish()
        if name == "BAS":
            self.state.bas(line, values)
        elif name in self.routines:
            if values:
                raise StatementError(f"{name}() is called with arguments", "routines without arguments")
            self.depth += 1
            try:
                self.run(self.routines[name])
            except _ReturnError:
                pass
            finally:
                self.depth -= 1
        else:
            reader.given_away(start, name)
            self.found.note(line, f"{name}() is not in this file and is left out, with any motion in it")

    def _wait(self, line: int, tokens: list[Token]) -> None:
        reader = self.state.reader(tokens)
        reader.take()
        if not reader.accept("SEC"):
            self.found.note(line, "WAIT FOR is left out; not motion")
            return
        value = reader.expression()
        reader.finish()
        if isinstance(value, Unknown):
            self.found.note(line, f"WAIT SEC of {value.name}, which only the controller knows, is left out")
        elif number(value) > 0:
            add_dwell(self.motions.moves, float(number(value)), line, self.found)
