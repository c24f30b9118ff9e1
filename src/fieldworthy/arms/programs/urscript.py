"""URScript programs of Universal Robots: read into moves, and written.

Read: movej, movel, movep, movec, servoj with p[...] poses, joint lists and get_inverse_kin, set_tcp, sleep, variables,
pose_trans and simple arithmetic, functions of the file, while and if with known conditions. A `while True` without a
break is read for one round. Other control flow that holds motion is an error; what is no motion becomes a note.
Frames: poses are base_from_tool; where a target is a pose_trans(a, b), a is its frame and b the pose in it.
Units: metres, radians, seconds, as in the file. A move with t takes that time from the move before; `time_s` is kept as
long as every move has one.
Parts: urscript_blocks (text to a tree of statements), urscript_values (expressions), urscript_motion (moves),
urscript_write; the flow from statement to statement is here.
Source: Universal Robots, The URScript Programming Language.
Verified by: tests/cases/test_arm_programs_urscript.py
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from fieldworthy.arms.program import Program
from fieldworthy.arms.programs.checks import check_units
from fieldworthy.arms.programs.expressions import Unknown, tokens_of
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.running import EndlessError, Steps, endless
from fieldworthy.arms.programs.urscript_blocks import Node, calls_of, flat, name_of, statements_of, texts_of, tree_of
from fieldworthy.arms.programs.urscript_motion import MOTIONS, Motions
from fieldworthy.arms.programs.urscript_values import TOKEN, Pose, Reader, Value, numbers
from fieldworthy.arms.programs.urscript_write import write as write
from fieldworthy.core.errors import FieldworthyError

NO_TARGET = ("speedj", "speedl", "servoc", "forcej", "force_mode", "freedrive_mode", "teach_mode", "path_offset_enable",
             "move_until_contact", "tool_contact", "optimovej", "optimovel", "set_conveyor_tick_count")  # fmt: skip
"""Functions that move the arm where the file does not say."""


class _LeaveError(Exception):
    """break, continue, return or halt; `word` says which."""

    def __init__(self, word: str) -> None:
        self.word = word


def read(text: str, source: str = "") -> Program:
    """The moves of a script: of its statements outside of functions, or of its only function that no other one calls.

    Raises: ScenarioError with all problems of the file.
    """
    found = Findings(source)
    try:
        return _read(text, found)
    except RecursionError:
        found.problem(0, "", "brackets or blocks are nested too deeply", "a program that people can read")
    found.stop()
    raise AssertionError  # stop() has raised


def _read(text: str, found: Findings) -> Program:
    top = tree_of(statements_of(text, found), found)
    found.stop()
    machine = _Machine(found)
    defs = {name_of(node): node for node in top if node.word == "def"}
    machine.functions = dict(defs)
    loose = [node for node in top if node.word != "def"]
    called = calls_of(inside for node in defs.values() for inside in node.inside)
    mains = [name for name in defs if name not in called]
    name = mains[0] if mains else "program"
    calls = calls_of(loose)
    if calls & {*defs, *MOTIONS, *NO_TARGET} or not defs:
        machine.start(loose)
    elif len(mains) == 1:
        machine.start([*loose, *defs[name].inside])
    else:
        found.problem(0, "def", f"it is not clear which of {', '.join(defs)} is the program", "a call of one of them")
    found.stop()
    check_units(found, machine.motions.moves, "m")
    turns = [
        move for move in machine.motions.moves if move.joints and max(map(abs, move.joints)) > 2.0 * math.pi + 1e-3
    ]
    if turns:
        found.note(turns[0].line, "a joint position is more than a turn; is it written in degrees?")
    if not machine.motions.moves:
        found.note(0, "no motion was found")
    return Program(name, tuple(machine.motions.moves), found.source, (), tuple(found.notes))


class _Machine:
    """What the controller holds while a script runs."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.motions = Motions(found)
        self.variables: dict[str, Value] = {"pi": math.pi}
        self.functions: dict[str, Node] = {}
        self.steps = Steps()
        self.depth = 0

    def start(self, nodes: Sequence[Node]) -> None:
        """Run the program."""
        try:
            self.run(nodes)
        except _LeaveError:
            pass
        except EndlessError as error:
            endless(self.found, error)

    def run(self, nodes: Sequence[Node]) -> None:
        """Run statements in order."""
        for node in nodes:
            self.steps.step(node.line, len(self.motions.moves), self.depth)
            try:
                self._statement(node)
            except (StatementError, FieldworthyError) as error:
                self.found.failure(node.line, node.word, error)

    def _statement(self, node: Node) -> None:
        word = node.word
        if word == "def":
            self.functions[name_of(node)] = node
        elif word in ("thread", "sec"):
            self._undecided(node, f"{word} {name_of(node)}")
        elif word == "while" and node.text.endswith(":"):
            self._while(node)
        elif word == "if" and node.text.endswith(":"):
            self._if(node)
        elif word in ("break", "continue", "return", "halt"):
            raise _LeaveError("return" if word == "halt" else word)
        elif word in ("run", "kill", "join", "enter_critical", "exit_critical"):
            self.found.note(node.line, f"{node.text} is left out; not motion")
        else:
            self._line(node)

    def _condition(self, node: Node) -> Value:
        text = node.text.rstrip().removesuffix(":")
        self._refuse_motion_within(text)
        reader = Reader(tokens_of(text, TOKEN, "URScript"), self.look_up)
        reader.take()
        value: Value = reader.expression()
        reader.finish()
        return value

    def _while(self, node: Node) -> None:
        value = self._condition(node)
        if value is True and self._condition_is_constant(node) and "break" not in texts_of(node.inside):
            self.found.note(node.line, "while True goes round for ever; one round is read")
            self._round(node)
            return
        while value is True:
            if not self._round(node):
                return
            self.steps.step(node.line, len(self.motions.moves))
            value = self._condition(node)
        if value is not False:
            self._undecided(node, "while")

    def _condition_is_constant(self, node: Node) -> bool:
        return re.fullmatch(r"while\s*\(*\s*True\s*\)*\s*:", node.text.strip()) is not None

    def _round(self, node: Node) -> bool:
        """One round of a loop; False where it is left."""
        try:
            self.run(node.inside)
        except _LeaveError as leave:
            if leave.word not in ("break", "continue"):
                raise
            return leave.word == "continue"
        return True

    def _if(self, node: Node) -> None:
        for branch in (node, *node.branches):
            value = True if branch.word == "else" else self._condition(branch)
            if value is True:
                self.run(branch.inside)
                return
            if value is not False:
                self._undecided(node, "if")
                return

    def _undecided(self, node: Node, what: str) -> None:
        """A block whose condition only the controller knows: an error if it matters to motion, else a note."""
        inside = [*node.inside, *(each for branch in node.branches for each in branch.inside)]
        for text, line in flat(inside):
            names = set(re.findall(r"(\w+)\s*\(", text))
            matters = {name for name in names if self._acts(name, set())}
            leaves = {text.split()[0]} & {"break", "continue", "return", "halt"} if node.word == "if" else set()
            if matters or leaves:
                self.found.problem(
                    node.line, what, "depends on what only the controller knows and holds "
                    f"{sorted(matters | leaves)[0]} in line {line}",
                    "conditions that the file decides, or the moves without them",
                )  # fmt: skip
                return
            assigned = re.match(r"(?:global|local)?\s*(\w+)\s*(?:\[[^\]]*\]\s*)?=(?!=)", text)
            if assigned:
                self.variables[assigned.group(1)] = Unknown(f"{assigned.group(1)} after {what}")
        self.found.note(node.line, f"{what} block without motion is left out")

    def _acts(self, name: str, seen: set[str]) -> bool:
        """Whether a function moves the arm or changes its tool, itself or in those that it calls."""
        if name in MOTIONS or name in NO_TARGET or name == "set_tcp":
            return True
        node = self.functions.get(name)
        if node is None or name in seen:
            return False
        return any(self._acts(each, seen | {name}) for each in calls_of(node.inside))

    def look_up(self, name: str) -> Value:
        """The value of a variable; Unknown where the file does not give it."""
        return self.variables.get(name, Unknown(name))

    def _refuse_motion_within(self, text: str) -> None:
        """Raises: StatementError where a function of the file that moves the arm is called for its value."""
        for name in re.findall(r"(\w+)\s*\(", text):
            if name in self.functions and self._acts(name, set()):
                raise StatementError(f"{name}() moves the arm within another statement", "a call that stands alone")

    def _line(self, node: Node) -> None:
        reader = Reader(tokens_of(node.text, TOKEN, "URScript"), self.look_up)
        scoped = reader.accept("global", "local")
        kind, name = reader.take()
        if kind != "name":
            raise StatementError(f"{name!r} begins no statement", "a URScript statement")
        index: Value | None = None
        if reader.peek()[1] == "[":
            reader.take()
            index = reader.expression()
            reader.take("]")
        if reader.accept("="):
            self._refuse_motion_within(node.text)
            value = reader.expression()
            reader.finish()
            self._assign(node.line, name, index, value)
        elif scoped and reader.done():
            self.variables[name] = Unknown(name)
        elif reader.peek()[1] == "(" and index is None:
            self._refuse_motion_within(node.text.partition("(")[2])
            values, named = reader.arguments()
            if not reader.done():
                self.found.note(node.line, f"{node.text[:40]} is left out; not motion")
                return
            self._call(node.line, name, values, named, node.text)
        elif reader.peek()[1] == ".":
            self.found.note(node.line, f"{node.text[:40]} is left out; not motion")
        else:
            raise StatementError(f"{node.text[:40]!r} is no statement that is read", "an assignment or a call")

    def _assign(self, line: int, name: str, index: Value | None, value: Value) -> None:
        if index is not None:
            whole, at = self.look_up(name), index
            items: list[Value] | None = (
                list(whole.numbers) if isinstance(whole, Pose) else list(whole) if isinstance(whole, list) else None
            )
            if items is None or not isinstance(at, int) or not 0 <= at < len(items) or isinstance(value, Unknown):
                self.variables[name] = Unknown(name)
                return
            items[at] = value
            self.variables[name] = Pose(numbers(items, 6, name)) if isinstance(whole, Pose) else items
            return
        self.variables[name] = value
        if isinstance(value, Unknown) and value.name.endswith("()"):
            self.found.note(line, f"{name} = {value.name}: only the controller knows it")

    def _call(self, line: int, name: str, values: list[Value], named: dict[str, Value], text: str) -> None:
        if name in MOTIONS:
            self.motions.add(line, name, values, named, text)
        elif name in NO_TARGET:
            raise StatementError(f"{name}() moves the arm where the file does not say", ", ".join(MOTIONS))
        elif name == "set_tcp":
            self.motions.set_tcp(line, [*values, *named.values()])
        elif name == "sleep":
            self.motions.sleep(line, [*values, *named.values()])
        elif name in self.functions:
            self._run_function(name, values, named)
        else:
            self.found.note(line, f"{name}() is left out; not motion")

    def _run_function(self, name: str, values: list[Value], named: dict[str, Value]) -> None:
        node = self.functions[name]
        inside = re.search(r"\((.*)\)", node.text)
        names = [each.split("=")[0].strip() for each in inside.group(1).split(",")] if inside else []
        names = [each for each in names if each]
        if len(values) > len(names) or set(named) - set(names):
            raise StatementError(f"{name}() takes {len(names)} arguments", f"{name}({', '.join(names)})")
        given = {**dict(zip(names, values, strict=False)), **named}
        before = {each: self.variables.get(each) for each in names}
        self.variables.update({each: given.get(each, Unknown(each)) for each in names})
        self.depth += 1
        try:
            self.run(node.inside)
        except _LeaveError as leave:
            if leave.word != "return":
                raise
        finally:
            self.depth -= 1
            for each, value in before.items():
                if value is None:
                    self.variables.pop(each, None)
                else:
                    self.variables[each] = value
