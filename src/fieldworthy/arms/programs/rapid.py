"""ABB RAPID modules: read by carrying out `main`, and written.

Read: MoveJ, MoveL, MoveC, MoveAbsJ (also their DO and Sync forms) with targets, tools, work objects, speeds and zones
as data or in place; Offs, RelTool; data that is set, FOR, IF and WHILE whose conditions are known from the file,
procedures of the module; WaitTime, VelSet. What hangs on signals, other modules or the operator and moves the robot is
an error with its line.
Frames: a work object is uframe times oframe in the robot's base (the controller's world is taken as the base). A work
object that the robot holds, or a tool that it does not, is refused: its poses mean something else.
Speeds: v_tcp, for joint moves too (ABB has no other); vmax says nothing (None), and on joint moves under VelSet a
share.
Source: ABB, Technical reference manual: RAPID instructions, functions and data types, 3HAC050917.
Verified by: tests/cases/test_arm_programs_rapid.py
Long because the statements share one state.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from fieldworthy.arms.chain import IDENTITY, Array, Matrix, as_matrix
from fieldworthy.arms.program import Move, MoveKind, Program
from fieldworthy.arms.programs.rapid_data import (
    RECORDS,
    UNUSED_AXIS,
    VMAX,
    UnknownError,
    pose_of_values,
    shaped,
)
from fieldworthy.arms.programs.rapid_syntax import (
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
    parse,
)
from fieldworthy.arms.programs.rapid_values import Values
from fieldworthy.arms.programs.rapid_write import write
from fieldworthy.arms.programs.text_lines import (
    M_PER_MM,
    Findings,
    StatementError,
    add_dwell,
    doubt_units,
    require_text,
    rigid,
    speed_for,
)
from fieldworthy.core.errors import FieldworthyError, ScenarioError

MOVES: dict[str, tuple[MoveKind, int]] = {
    "MOVEJ": ("joint", 1), "MOVEL": ("linear", 1), "MOVEC": ("circular", 2), "MOVEABSJ": ("joint", 1),
    "MOVEJDO": ("joint", 1), "MOVELDO": ("linear", 1), "MOVECDO": ("circular", 2),
    "MOVEJSYNC": ("joint", 1), "MOVELSYNC": ("linear", 1), "MOVECSYNC": ("circular", 2),
}  # fmt: skip
"""Kind of the move and how many targets it has."""
OTHER_MOTION = re.compile(
    r"(Trigg[LJC](IOs)?|Arc[LC]\w*|Search[LC]|SpotM?[LJ]|Disp[LC]|Paint[LC]|Cap[LC]\w*|Ind[ARDC]Move|Step(Fwd|Bwd)Path|MovePnP"
    r"|PathRecMove\w*|EGM(Move|Run)\w*|PDisp(On|Set)|EOffs(On|Set)|CorrCon)$",
    re.IGNORECASE,
)
"""Instructions that move the robot, or shift where it goes, and are not read."""
__all__ = ["read", "write"]

STATEMENT_LIMIT = 100_000


class _ReturnError(Exception):
    """RETURN: leave the procedure."""


class _ExitError(Exception):
    """EXIT: leave the program."""


def read(
    text: str,
    source: str,
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
    runner = _Runner(findings, module)
    for name, frame in (frames or {}).items():
        runner.frames[name.lower()] = rigid(frame, f"frames[{name!r}]")
    for name, tool in (tools or {}).items():
        runner.tools[name.lower()] = rigid(tool, f"tools[{name!r}]")
    runner.program(start)
    if not runner.moves and not findings.problems:
        findings.problem(start.line, f"{start.name} moves nothing", "MoveJ, MoveL, MoveC or MoveAbsJ")
    findings.raise_if_any()
    doubt_units(runner.moves, findings)
    name = module.name or PurePath(source).stem
    return Program(name, tuple(runner.moves), source=source, notes=tuple(findings.notes))


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
        findings.problem(0, "several procedures and none is main", f"option proc, one of {known}")
    else:
        findings.problem(0, "no procedure", "MODULE with PROC main() ... ENDPROC")
    raise ScenarioError(findings.problems)


class _Runner(Values):
    """Carries out statements in order."""

    def __init__(self, findings: Findings, module: Module) -> None:
        super().__init__()
        self.findings, self.module = findings, module
        self.moves: list[Move] = []
        self.frames: dict[str, Matrix] = {}
        self.tools: dict[str, Matrix] = {}
        self.share, self.speed_limit_m_s = 1.0, math.inf
        self.count, self.calls, self.line = 0, 0, 0
        self.told_external = False

    def program(self, start: Procedure) -> None:
        for declaration in self.module.data:
            self.guarded(declaration)
        try:
            self.procedure(start, ())
        except _ExitError:
            pass
        except StatementError as error:
            self.findings.failure(self.line, error)

    def guarded(self, statement: Statement) -> None:
        """Carry out a statement; what is wrong with it becomes a problem of its line, and reading goes on."""
        self.tick(statement.line)
        self.line = statement.line
        try:
            self.statement(statement)
        except (StatementError, FieldworthyError) as error:
            self.findings.failure(statement.line, error)

    def tick(self, line: int) -> None:
        """Count a statement or a turn of a loop. Raises: _ExitError at the limit."""
        self.count += 1
        if self.count == STATEMENT_LIMIT:
            self.findings.problem(line, f"more than {STATEMENT_LIMIT} statements in all", "shorter loops")
        if self.count >= STATEMENT_LIMIT:
            raise _ExitError

    def turn(self, line: int, body: tuple[Statement, ...]) -> bool:
        """One turn of a loop; False where something is wrong in it, which further turns would only repeat."""
        known = len(self.findings.problems)
        self.tick(line)
        self.block(body)
        return len(self.findings.problems) == known

    def block(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self.guarded(statement)

    def statement(self, statement: Statement) -> None:
        if isinstance(statement, Declare):
            self.declare(statement)
        elif isinstance(statement, Assign):
            self.assign(statement)
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
        value = self.value(condition)
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
            first, last = self.number(statement.first, "FROM"), self.number(statement.last, "TO")
            step = math.copysign(1.0, last - first) if statement.step is None else self.number(statement.step, "STEP")
        except UnknownError as error:
            if not self.matters(statement.body):
                self.findings.note(statement.line, f"FOR is not followed: {error.what}")
                return
            raise StatementError(
                f"FOR with a bound that is not known: {error.what}", "bounds known from the file"
            ) from None
        if step == 0.0:
            raise StatementError("FOR with a step of 0", "another step")
        self.scopes.append({})
        try:
            for n in range(max(0, math.floor((last - first) / step + 1e-9) + 1)):
                self.scopes[-1][statement.name.lower()] = ("num", first + n * step)
                if not self.turn(statement.line, statement.body):
                    return
        finally:
            self.scopes.pop()

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
        if self.calls > 50:
            raise StatementError(
                f"{procedure.name} calls itself without an end", "at most 50 procedures within each other"
            )
        values = {}
        for (kind, name), expression in zip(procedure.parameters, given, strict=True):
            values[name.lower()] = (kind, copy.deepcopy(self.value(expression)))
        scopes, self.scopes = self.scopes, [self.scopes[0], values]
        self.calls += 1
        try:
            self.block(procedure.body)
        except _ReturnError:
            pass
        finally:
            self.scopes, self.calls = scopes, self.calls - 1

    def call(self, statement: Call) -> None:
        name, line = statement.name, statement.line
        key = name.upper()
        if key in MOVES:
            self.motion(line, key, name, statement.arguments)
        elif key in self.module.procedures:
            self.procedure(self.module.procedures[key], statement.arguments)
        elif key == "WAITTIME":
            given = [part.value for part in statement.arguments if part.name is None and part.value is not None]
            if len(given) != 1:
                raise StatementError("WaitTime without one time", "WaitTime seconds")
            seconds = self.number(given[0], "WaitTime")
            if seconds < 0.0:
                raise StatementError(f"WaitTime is {seconds:g} s", "0 or more")
            add_dwell(self.moves, seconds, line, self.findings)
        elif key == "VELSET":
            given = [argument.value for argument in statement.arguments if argument.value is not None]
            if len(given) != 2:
                raise StatementError("VelSet without two numbers", "VelSet percent, mm/s")
            percent, limit = self.number(given[0], "VelSet percent"), self.number(given[1], "VelSet limit")
            if not 0.0 < percent <= 100.0 or limit <= 0.0:
                raise StatementError(f"VelSet {percent:g}, {limit:g}", "more than 0 to 100 percent, and mm/s above 0")
            self.share, self.speed_limit_m_s = percent / 100.0, limit * M_PER_MM
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

    # Motion.

    def motion(self, line: int, key: str, name: str, arguments: tuple[Argument, ...]) -> None:
        kind, targets = MOVES[key]
        given = [argument.value for argument in arguments if argument.name is None and argument.value is not None]
        by_name = {argument.name: argument.value for argument in arguments if argument.name is not None}
        if len(given) < targets + 3:
            wanted = "two targets" if targets == 2 else "a target"
            raise StatementError(f"{name} has {len(given)} arguments", f"{wanted}, a speed, a zone and a tool")
        if len(given) > targets + 3:
            self.findings.note(line, f"what {name} does beside the motion is left out")
        move = Move(kind, line=line, label=_label(given[targets - 1]))
        move = replace(move, flange_from_tool=self.tool(line, given[targets + 2]))
        wobj = by_name.get("wobj")
        move = replace(move, base_from_frame=IDENTITY if wobj is None else self.frame(line, wobj))
        if key == "MOVEABSJ":
            target = shaped(self.value(given[0]), "jointtarget", "the target of MoveAbsJ")
            if any(abs(angle) > UNUSED_AXIS for angle in target[0]):
                raise StatementError("a joint target with an axis that is not there (9E9)", "six angles in degrees")
            self.external(line, target[1])
            move = replace(move, joints=tuple(math.radians(angle) for angle in target[0]), base_from_frame=IDENTITY)
        else:
            values = [shaped(self.value(part), "robtarget", f"the target of {name}") for part in given[:targets]]
            self.external(line, values[-1][3])
            poses = [as_matrix(pose_of_values(value[:2], name)) for value in values]
            posture = "[" + ",".join(f"{turn:g}" for turn in values[-1][2]) + "]"
            move = replace(move, pose=poses[-1], via=poses[0] if targets == 2 else None, posture=posture)
        move = self.ending(move, given[targets + 1], by_name.get("z"))
        self.moves.append(self.at_speed(line, move, given[targets], by_name))

    def ending(self, move: Move, zone: Expression, own: Expression | None) -> Move:
        values = shaped(self.value(zone), "zonedata", "the zone")
        radius = 0.0 if values[0] else float(values[1])
        if own is not None:
            radius = self.number(own, "\\Z")
        if radius < 0.0:
            raise StatementError(f"the zone is {radius:g} mm", "0 or more")
        return replace(move, blend_m=radius * M_PER_MM)

    def at_speed(self, line: int, move: Move, speed: Expression, by_name: Mapping[str, Expression | None]) -> Move:
        v_tcp = float(shaped(self.value(speed), "speeddata", "the speed")[0])
        own, time = by_name.get("v"), by_name.get("t")
        if own is not None:
            v_tcp = self.number(own, "\\V")
        if time is not None:
            seconds = self.number(time, "\\T")
            if seconds <= 0.0:
                raise StatementError(f"\\T is {seconds:g} s", "more than 0")
            move = replace(move, speed_m_s=speed_for(self.moves, move, seconds))
            if move.speed_m_s is None:
                self.findings.note(line, f"the time \\T:={seconds:g} is left out: the length of the way is not known")
            return move
        if v_tcp <= 0.0:
            raise StatementError(f"the speed is {v_tcp:g} mm/s", "more than 0")
        if v_tcp == VMAX:
            return replace(move, joint_speed=self.share) if move.kind == "joint" else move
        return replace(move, speed_m_s=min(v_tcp * M_PER_MM * self.share, self.speed_limit_m_s))

    def external(self, line: int, axes: list[float]) -> None:
        used = [name for name, value in zip(RECORDS["extjoint"], axes, strict=True) if abs(value) < UNUSED_AXIS]
        if used and not self.told_external:
            self.told_external = True
            names = ", ".join(used)
            self.findings.note(
                line, f"external axes ({names}) are left out here and later: the base is taken to stand still"
            )

    def tool(self, line: int, expression: Expression) -> Matrix | None:
        if expression.op == "name" and expression.parts[0].lower() in self.tools:
            return self.tools[expression.parts[0].lower()]
        try:
            values = shaped(self.value(expression), "tooldata", "the tool")
        except UnknownError:
            if expression.op != "name":
                raise
            name = expression.parts[0]
            self.findings.note(
                0, f"the tool {name} is left to the controller; option tools={{{name!r}: matrix}} gives it"
            )
            return None
        if values[0] is False:
            raise StatementError(
                "a tool that the robot does not hold (robhold FALSE) is not read", "a tool on the flange"
            )
        return as_matrix(pose_of_values(values[1], "tframe"))

    def frame(self, line: int, expression: Expression) -> Matrix:
        name = expression.parts[0] if expression.op == "name" else "the work object"
        if name.lower() in self.frames:
            return self.frames[name.lower()]
        try:
            values = shaped(self.value(expression), "wobjdata", f"the work object {name}")
        except UnknownError:
            raise StatementError(f"{name} is not in the file", f"option frames={{{name!r}: base_from_frame}}") from None
        if values[0] is True:
            raise StatementError(
                f"{name} is held by the robot (robhold TRUE), which is not read", "a work object that stands"
            )
        if values[1] is False:
            self.findings.note(line, f"{name} is moved by {values[2]!r}; it is read as standing where uframe says")
        return as_matrix(pose_of_values(values[3], "uframe") @ pose_of_values(values[4], "oframe"))


def _label(expression: Expression) -> str:
    if expression.op == "name":
        return str(expression.parts[0])
    if expression.op == "call" and expression.parts[1] and expression.parts[1][0].value is not None:
        inner = _label(expression.parts[1][0].value)
        return f"{expression.parts[0]}({inner})" if inner else ""
    return ""
