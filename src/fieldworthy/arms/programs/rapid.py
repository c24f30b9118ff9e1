"""ABB RAPID modules: read by carrying out `main`, and written.

Read: MoveJ, MoveL, MoveC, MoveAbsJ (also their DO and Sync forms) with targets, tools, work objects, speeds and zones
as data or in place; Offs, RelTool; data that is set, FOR, IF and WHILE whose conditions are known from the file,
procedures of the module; WaitTime, VelSet. What hangs on signals, other modules or the operator and moves the robot is
an error with its line.
Frames: a work object is uframe times oframe in the robot's base (the controller's world is taken as the base). A work
object that the robot holds, or a tool that it does not, is refused: its poses mean something else.
Speeds: v_tcp, for joint moves too (ABB has no other); vmax says nothing (None), and on joint moves under VelSet a
share.
Parts: rapid_expressions and rapid_syntax (text to rapid_tree), rapid_data and rapid_values (data), rapid_motion
(moves), rapid_write; the flow from statement to statement is here.
Source: ABB, Technical reference manual: RAPID instructions, functions and data types, 3HAC050917.
Verified by: tests/cases/test_arm_programs_rapid.py
Long because the statements share one state.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from pathlib import PurePath

from fieldworthy.arms.chain import Array, Matrix
from fieldworthy.arms.program import Program
from fieldworthy.arms.programs.checks import check_units
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import M_PER_MM, rigid
from fieldworthy.arms.programs.rapid_data import UnknownError
from fieldworthy.arms.programs.rapid_motion import MOVES, Motions
from fieldworthy.arms.programs.rapid_syntax import parse
from fieldworthy.arms.programs.rapid_tree import (
    Argument,
    Assign,
    Call,
    Declare,
    Expression,
    For,
    If,
    Module,
    Procedure,
    Refused,
    Statement,
    While,
)
from fieldworthy.arms.programs.rapid_values import Values
from fieldworthy.arms.programs.rapid_write import write as write
from fieldworthy.arms.programs.running import EndlessError, Steps, add_dwell, endless
from fieldworthy.arms.programs.words import require_text
from fieldworthy.core.errors import FieldworthyError

OTHER_MOTION = re.compile(
    r"(Trigg[LJC](IOs)?|Arc[LC]\w*|Search[LC]|SpotM?[LJ]|Disp[LC]|Paint[LC]|Cap[LC]\w*|Ind[ARDC]Move|Step(Fwd|Bwd)Path|MovePnP"
    r"|PathRecMove\w*|EGM(Move|Run)\w*|PDisp(On|Set)|EOffs(On|Set)|CorrCon)$",
    re.IGNORECASE,
)
"""Instructions that move the robot, or shift where it goes, and are not read."""


class _ReturnError(Exception):
    """RETURN: leave the procedure."""


class _ExitError(Exception):
    """EXIT: leave the program."""


def read(
    text: str,
    source: str = "",
    *,
    proc: str | None = None,
    frames: Mapping[str, Matrix | Array] | None = None,
    tools: Mapping[str, Matrix | Array] | None = None,
) -> Program:
    """The moves of a RAPID module, of the procedure `proc`, or of main, or of the only one.

    `frames`: base_from_frame of work objects by name, `tools`: flange_from_tool by name, for data of other modules. A
    tool that is nowhere is left to the controller (None in the moves) with a note; a work object that is nowhere is an
    error.
    Raises: ScenarioError with all problems of the file, FieldworthyError for a wrong option.
    """
    require_text(text, source)
    findings = Findings(source)
    module = parse(text, findings)
    start = _start(module, proc, findings)
    values = Values()
    motions = Motions(
        values,
        findings,
        {name.lower(): rigid(frame, f"frames[{name!r}]") for name, frame in (frames or {}).items()},
        {name.lower(): rigid(tool, f"tools[{name!r}]") for name, tool in (tools or {}).items()},
    )
    _Runner(findings, module, values, motions).program(start)
    if not motions.moves and not findings.problems:
        findings.problem(start.line, "PROC", f"{start.name} moves nothing", "MoveJ, MoveL, MoveC or MoveAbsJ")
    findings.stop()
    check_units(findings, motions.moves, "mm")
    name = module.name or PurePath(source).stem
    return Program(name, tuple(motions.moves), source=source, notes=tuple(findings.notes))


def _start(module: Module, proc: str | None, findings: Findings) -> Procedure:
    known = ", ".join(procedure.name for procedure in module.procedures.values())
    if proc is not None:
        if proc.upper() not in module.procedures:
            raise FieldworthyError(f"{findings.source}: no procedure {proc!r}; valid: {known or 'a file with PROC'}")
        return module.procedures[proc.upper()]
    if "MAIN" in module.procedures:
        return module.procedures["MAIN"]
    if len(module.procedures) == 1:
        return next(iter(module.procedures.values()))
    if module.procedures:
        findings.problem(0, "PROC", "several procedures and none is main", f"option proc, one of {known}")
    else:
        findings.problem(0, "PROC", "no procedure", "MODULE with PROC main() ... ENDPROC")
    findings.stop()
    raise AssertionError  # stop() has raised


class _Runner:
    """Carries out statements in order."""

    def __init__(self, findings: Findings, module: Module, values: Values, motions: Motions) -> None:
        self.findings, self.module, self.values, self.motions = findings, module, values, motions
        self.steps, self.calls = Steps(), 0

    def program(self, start: Procedure) -> None:
        for declaration in self.module.data:
            self.guarded(declaration)
        try:
            self.procedure(start, ())
        except _ExitError:
            pass
        except EndlessError as error:
            endless(self.findings, error)
        except StatementError as error:
            self.findings.failure(start.line, "PROC", error)

    def guarded(self, statement: Statement) -> None:
        """Carry out a statement; what is wrong with it becomes a problem of its line, and reading goes on."""
        self.steps.step(statement.line, len(self.motions.moves), self.calls)
        try:
            self.statement(statement)
        except (StatementError, FieldworthyError) as error:
            self.findings.failure(statement.line, _name_of(statement), error)

    def turn(self, line: int, body: tuple[Statement, ...]) -> bool:
        """One turn of a loop; False where something is wrong in it, which further turns would only repeat."""
        known = len(self.findings.problems)
        self.steps.step(line, len(self.motions.moves))
        self.block(body)
        return len(self.findings.problems) == known

    def block(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self.guarded(statement)

    def statement(self, statement: Statement) -> None:
        if isinstance(statement, Declare):
            self.values.declare(statement)
        elif isinstance(statement, Assign):
            self.values.assign(statement)
        elif isinstance(statement, Call):
            self.call(statement)
        elif isinstance(statement, If):
            self.condition(statement)
        elif isinstance(statement, For):
            self.loop(statement)
        elif isinstance(statement, While):
            self.repeat(statement)
        else:
            raise StatementError(statement.what, statement.valid)

    # Flow.

    def condition(self, statement: If) -> None:
        try:
            for condition, body in statement.branches:
                if condition is None or self.true(condition):
                    self.block(body)
                    return
        except UnknownError as error:
            if any(self.matters(body) for _, body in statement.branches):
                raise StatementError(
                    f"motion hangs on a condition: {error.what}", "conditions known from the file"
                ) from None
            self.findings.note(statement.line, f"IF is not followed: {error.what}")

    def true(self, condition: Expression) -> bool:
        value = self.values.value(condition)
        if not isinstance(value, bool):
            raise StatementError("a condition that is not true or false", "TRUE, FALSE or a comparison")
        return value

    def matters(self, body: tuple[Statement, ...]) -> bool:
        """Whether statements move the robot or set what may."""
        for statement in body:
            if isinstance(statement, Call):
                name = statement.name.upper()
                moves = (
                    name in MOVES or bool(OTHER_MOTION.match(name)) or name in ("RETURN", "EXIT", "VELSET", "WAITTIME")
                )
                if moves or name in self.module.procedures:
                    return True
            elif isinstance(statement, If):
                if any(self.matters(inner) for _, inner in statement.branches):
                    return True
            elif isinstance(statement, For | While):
                if self.matters(statement.body):
                    return True
            elif isinstance(statement, Assign | Refused):
                return True
        return False

    def loop(self, statement: For) -> None:
        try:
            first, last = self.values.number(statement.first, "FROM"), self.values.number(statement.last, "TO")
            step = (
                math.copysign(1.0, last - first)
                if statement.step is None
                else self.values.number(statement.step, "STEP")
            )
        except UnknownError as error:
            if not self.matters(statement.body):
                self.findings.note(statement.line, f"FOR is not followed: {error.what}")
                return
            raise StatementError(
                f"FOR with a bound that is not known: {error.what}", "bounds known from the file"
            ) from None
        if step == 0.0:
            raise StatementError("FOR with a step of 0", "another step")
        self.values.scopes.append({})
        try:
            for n in range(max(0, math.floor((last - first) / step + 1e-9) + 1)):
                self.values.scopes[-1][statement.name.lower()] = ("num", first + n * step)
                if not self.turn(statement.line, statement.body):
                    return
        finally:
            self.values.scopes.pop()

    def repeat(self, statement: While) -> None:
        condition = statement.condition
        endless = condition.op == "name" and condition.parts[0].upper() == "TRUE"
        if endless:
            self.findings.note(statement.line, "WHILE TRUE repeats for ever; it is read once")
            self.block(statement.body)
            return
        try:
            while self.true(statement.condition) and self.turn(statement.line, statement.body):
                pass
        except UnknownError as error:
            if self.matters(statement.body):
                raise StatementError(
                    f"motion hangs on a condition: {error.what}", "conditions known from the file"
                ) from None
            self.findings.note(statement.line, f"WHILE is not followed: {error.what}")

    def procedure(self, procedure: Procedure, arguments: tuple[Argument, ...]) -> None:
        given = [argument.value for argument in arguments if argument.value is not None and argument.name is None]
        if len(given) != len(procedure.parameters):
            needs = ", ".join(f"{kind} {name}" for kind, name in procedure.parameters) or "no arguments"
            raise StatementError(f"{procedure.name} is called with {len(given)} arguments", needs)
        values = {}
        for (kind, name), expression in zip(procedure.parameters, given, strict=True):
            values[name.lower()] = (kind, copy.deepcopy(self.values.value(expression)))
        scopes, self.values.scopes = self.values.scopes, [self.values.scopes[0], values]
        self.calls += 1
        try:
            self.block(procedure.body)
        except _ReturnError:
            pass
        finally:
            self.values.scopes, self.calls = scopes, self.calls - 1

    def call(self, statement: Call) -> None:
        name, line = statement.name, statement.line
        key = name.upper()
        if key in MOVES:
            self.motions.add(line, name, statement.arguments)
        elif key in self.module.procedures:
            self.procedure(self.module.procedures[key], statement.arguments)
        elif key == "WAITTIME":
            given = [part.value for part in statement.arguments if part.name is None and part.value is not None]
            if len(given) != 1:
                raise StatementError("WaitTime without one time", "WaitTime seconds")
            seconds = self.values.number(given[0], "WaitTime")
            if seconds < 0.0:
                raise StatementError(f"WaitTime is {seconds:g} s", "0 or more")
            add_dwell(self.motions.moves, seconds, line, self.findings)
        elif key == "VELSET":
            given = [argument.value for argument in statement.arguments if argument.value is not None]
            if len(given) != 2:
                raise StatementError("VelSet without two numbers", "VelSet percent, mm/s")
            percent, limit = (
                self.values.number(given[0], "VelSet percent"),
                self.values.number(given[1], "VelSet limit"),
            )
            if not 0.0 < percent <= 100.0 or limit <= 0.0:
                raise StatementError(f"VelSet {percent:g}, {limit:g}", "more than 0 to 100 percent, and mm/s above 0")
            self.motions.share, self.motions.speed_limit_m_s = percent / 100.0, limit * M_PER_MM
        elif key == "RETURN":
            raise _ReturnError
        elif key == "EXIT":
            raise _ExitError
        elif OTHER_MOTION.match(name):
            raise StatementError(
                f"{name} moves or shifts the robot in a way that is not read", "MoveJ, MoveL, MoveC, MoveAbsJ"
            )
        else:
            self.findings.note(line, f"{name} is not motion of this file and is left out")


def _name_of(statement: Statement) -> str:
    """What a statement is called in a problem."""
    if isinstance(statement, Call | Declare):
        return statement.name
    if isinstance(statement, Assign):
        target = statement.target
        while target.op != "name" and target.parts and isinstance(target.parts[0], Expression):
            target = target.parts[0]
        return str(target.parts[0]) if target.op == "name" else ""
    return "" if isinstance(statement, Refused) else type(statement).__name__.upper()
