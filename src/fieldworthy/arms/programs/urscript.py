"""URScript programs of Universal Robots: read into moves, and written.

Read: movej, movel, movep, movec, servoj with p[...] poses, joint lists and get_inverse_kin, set_tcp, sleep, variables,
pose_trans and simple arithmetic, functions of the file, while and if with known conditions. A `while True` without a
break is read for one round. Other control flow that holds motion is an error; what is no motion becomes a note.
Frames: poses are base_from_tool; where a target is a pose_trans(a, b), a is its frame and b the pose in it.
Units: metres, radians, seconds, as in the file. A move with t takes that time from the move before; `time_s` is kept as
long as every move has one.
Source: Universal Robots, The URScript Programming Language.
Verified by: tests/cases/test_arm_programs_urscript.py
Long because the statements of one language share its state.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Matrix
from fieldworthy.arms.orientation import values_of
from fieldworthy.arms.program import Move, MoveKind, Program
from fieldworthy.arms.programs.reading import (
    MANY_MOVES,
    Findings,
    Malformed,
    Unknown,
    check_units,
    fixed,
    identifier,
    matrix_rows,
    refuse_not_finite,
)
from fieldworthy.arms.programs.urscript_values import Inverse, Pose, Reader, Value, number, numbers, tokens_of, told
from fieldworthy.core.errors import FieldworthyError

MOTIONS: dict[str, tuple[str, ...]] = {
    "movej": ("q", "a", "v", "t", "r"),
    "movel": ("pose", "a", "v", "t", "r"),
    "movep": ("pose", "a", "v", "r"),
    "movec": ("pose_via", "pose_to", "a", "v", "r", "mode"),
    "servoj": ("q", "a", "v", "t", "lookahead_time", "gain"),
}
"""Names of the arguments in their order."""
NO_TARGET = ("speedj", "speedl", "servoc", "forcej", "force_mode", "freedrive_mode", "teach_mode", "path_offset_enable",
             "move_until_contact", "tool_contact", "optimovej", "optimovel", "set_conveyor_tick_count")  # fmt: skip
"""Functions that move the arm where the file does not say."""
MANY_STATEMENTS = 2_000_000


@dataclass
class _Node:
    """A statement, or a block with the statements in it."""

    line: int
    text: str
    inside: list[_Node] = field(default_factory=list)
    branches: list[_Node] = field(default_factory=list)
    """The elif and else of an if."""

    @property
    def word(self) -> str:
        found = re.match(r"\w+", self.text)
        return found.group() if found else self.text[:1]


class _Leave(Exception):
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
    top = _tree(_statements(text, found), found)
    found.stop()
    machine = _Machine(found)
    defs = {_name_of(node): node for node in top if node.word == "def"}
    machine.functions = dict(defs)
    loose = [node for node in top if node.word != "def"]
    called = set(re.findall(r"(\w+)\s*\(", " ".join(_all_text(defs.values(), heads=False))))
    mains = [name for name in defs if name not in called]
    name = mains[0] if mains else "program"
    calls = set(re.findall(r"(\w+)\s*\(", " ".join(_all_text(loose))))
    if calls & {*defs, *MOTIONS, *NO_TARGET} or not defs:
        machine.start(loose)
    elif len(mains) == 1:
        machine.start([*loose, *defs[name].inside])
    else:
        found.problem(0, "def", f"it is not clear which of {', '.join(defs)} is the program", "a call of one of them")
    found.stop()
    check_units(found, machine.moves, "millimetres")
    turns = [move for move in machine.moves if move.joints and max(map(abs, move.joints)) > 2.0 * math.pi + 1e-3]
    if turns:
        found.note(turns[0].line, "a joint position is more than a turn; is it written in degrees?")
    if not machine.moves:
        found.note(0, "no motion was found")
    return Program(name, tuple(machine.moves), found.named, (), tuple(found.notes))


def _statements(text: str, found: Findings) -> list[_Node]:
    """Statements with their first line; those that go on over several lines between brackets are joined."""
    nodes: list[_Node] = []
    pending, start, depth = "", 0, 0
    for line, raw in enumerate(text.splitlines(), 1):
        plain = _without_comment(raw).strip()
        if not plain or (not depth and plain.startswith("$")):
            continue
        outside = re.sub(r"\"[^\"]*\"|'[^']*'", "", plain)
        depth += sum(outside.count(c) for c in "([") - sum(outside.count(c) for c in ")]")
        pending, start = (f"{pending} {plain}", start) if pending else (plain, line)
        if depth < 0:
            found.problem(line, "", "a bracket is closed that was not opened", "'(' and '[' for each ')' and ']'")
            depth = 0
        if depth == 0:
            nodes.append(_Node(start, pending))
            pending = ""
    if pending:
        found.problem(start, "", "a bracket is opened and never closed", "')' and ']' for each '(' and '['")
    return nodes


def _without_comment(line: str) -> str:
    quoted = ""
    for at, letter in enumerate(line):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'":
            quoted = letter
        elif letter == "#":
            return line[:at]
    return line


def _tree(nodes: Sequence[_Node], found: Findings) -> list[_Node]:
    """Blocks put together: def, thread, while, if ... end."""
    top: list[_Node] = []
    stack: list[tuple[_Node, list[_Node]]] = []
    into = top
    for node in nodes:
        word = node.word
        if word in ("def", "thread", "while", "if", "sec") and node.text.rstrip().endswith(":"):
            into.append(node)
            stack.append((node, into))
            into = node.inside
        elif word in ("elif", "else") and node.text.rstrip().endswith(":"):
            if not stack or stack[-1][0].word != "if":
                found.problem(node.line, word, "has no if", "if ... elif ... else ... end")
                continue
            stack[-1][0].branches.append(node)
            into = node.inside
        elif node.text == "end":
            if not stack:
                found.problem(node.line, "end", "closes nothing", "def, thread, while or if before it")
                continue
            into = stack.pop()[1]
        else:
            into.append(node)
    for node, _ in stack:
        found.problem(node.line, node.word, "has no end", "a complete file")
    return top


def _name_of(node: _Node) -> str:
    found = re.match(r"\w+\s+(\w+)", node.text)
    return found.group(1) if found else ""


def _all_text(nodes: object, heads: bool = True) -> list[str]:
    texts: list[str] = []
    for node in nodes:  # type: ignore[attr-defined]
        if heads:
            texts.append(node.text)
        texts += _all_text([*node.inside, *node.branches])
    return texts


class _Machine:
    """What the controller holds while a script runs."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.variables: dict[str, Value] = {"pi": math.pi}
        self.functions: dict[str, _Node] = {}
        self.moves: list[Move] = []
        self.tool: Matrix | None = None
        self.clock: float | None = 0.0
        self.statements = 0
        self.depth = 0

    def start(self, nodes: Sequence[_Node]) -> None:
        """Run the program."""
        try:
            self.run(nodes)
        except _Leave as leave:
            if leave.word == "stop":
                what = "the program does not come to an end"
                self.found.problem(0, "", what, f"at most {MANY_MOVES} moves")

    def run(self, nodes: Sequence[_Node]) -> None:
        """Run statements in order."""
        for node in nodes:
            self.statements += 1
            if self.statements > MANY_STATEMENTS or len(self.moves) > MANY_MOVES or self.depth > 50:
                raise _Leave("stop")
            try:
                self._statement(node)
            except Malformed as error:
                self.found.problem(node.line, node.word, error.what, error.valid)
            except FieldworthyError as error:
                self.found.problem(node.line, node.word, str(error))

    def _statement(self, node: _Node) -> None:
        word = node.word
        if word == "def":
            self.functions[_name_of(node)] = node
        elif word in ("thread", "sec"):
            self._undecided(node, f"{word} {_name_of(node)}")
        elif word == "while" and node.text.endswith(":"):
            self._while(node)
        elif word == "if" and node.text.endswith(":"):
            self._if(node)
        elif word in ("break", "continue", "return", "halt"):
            raise _Leave("return" if word == "halt" else word)
        elif word in ("run", "kill", "join", "enter_critical", "exit_critical"):
            self.found.note(node.line, f"{node.text} is left out; not motion")
        else:
            self._line(node)

    def _condition(self, node: _Node) -> Value:
        text = node.text.rstrip().removesuffix(":")
        reader = Reader(tokens_of(text), self.look_up)
        reader.take()
        value = reader.expression()
        reader.finish()
        return value

    def _while(self, node: _Node) -> None:
        value = self._condition(node)
        if value is True and self._condition_is_constant(node) and "break" not in _all_text(node.inside):
            self.found.note(node.line, "while True goes round for ever; one round is read")
            self._round(node)
            return
        while value is True:
            if not self._round(node):
                return
            self.statements += 1
            if self.statements > MANY_STATEMENTS:
                raise _Leave("stop")
            value = self._condition(node)
        if value is not False:
            self._undecided(node, "while")

    def _condition_is_constant(self, node: _Node) -> bool:
        return re.fullmatch(r"while\s*\(*\s*True\s*\)*\s*:", node.text.strip()) is not None

    def _round(self, node: _Node) -> bool:
        """One round of a loop; False where it is left."""
        try:
            self.run(node.inside)
        except _Leave as leave:
            if leave.word not in ("break", "continue"):
                raise
            return leave.word == "continue"
        return True

    def _if(self, node: _Node) -> None:
        for branch in (node, *node.branches):
            value = True if branch.word == "else" else self._condition(branch)
            if value is True:
                self.run(branch.inside)
                return
            if value is not False:
                self._undecided(node, "if")
                return

    def _undecided(self, node: _Node, what: str) -> None:
        """A block whose condition only the controller knows: an error if it matters to motion, else a note."""
        inside = [*node.inside, *(each for branch in node.branches for each in branch.inside)]
        for text, line in _flat(inside):
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
        inside = set(re.findall(r"(\w+)\s*\(", " ".join(_all_text(node.inside))))
        return any(self._acts(each, seen | {name}) for each in inside)

    def look_up(self, name: str) -> Value:
        """The value of a variable; Unknown where the file does not give it."""
        return self.variables.get(name, Unknown(name))

    def _line(self, node: _Node) -> None:
        reader = Reader(tokens_of(node.text), self.look_up)
        scoped = reader.accept("global", "local")
        kind, name = reader.take()
        if kind != "name":
            raise Malformed(f"{name!r} begins no statement", "a URScript statement")
        index: Value | None = None
        if reader.peek()[1] == "[":
            reader.take()
            index = reader.expression()
            reader.take("]")
        if reader.accept("="):
            value = reader.expression()
            reader.finish()
            self._assign(node.line, name, index, value)
        elif scoped and reader.done():
            self.variables[name] = Unknown(name)
        elif reader.peek()[1] == "(" and index is None:
            values, named = reader.arguments()
            if not reader.done():
                self.found.note(node.line, f"{node.text[:40]} is left out; not motion")
                return
            self._call(node.line, name, values, named, node.text)
        elif reader.peek()[1] == ".":
            self.found.note(node.line, f"{node.text[:40]} is left out; not motion")
        else:
            raise Malformed(f"{node.text[:40]!r} is no statement that is read", "an assignment or a call")

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
            self._motion(line, name, values, named, text)
        elif name in NO_TARGET:
            raise Malformed(f"{name}() moves the arm where the file does not say", ", ".join(MOTIONS))
        elif name == "set_tcp":
            self._set_tcp(line, [*values, *named.values()])
        elif name == "sleep":
            self._sleep(line, [*values, *named.values()])
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
            raise Malformed(f"{name}() takes {len(names)} arguments", f"{name}({', '.join(names)})")
        given = {**dict(zip(names, values, strict=False)), **named}
        before = {each: self.variables.get(each) for each in names}
        self.variables.update({each: given.get(each, Unknown(each)) for each in names})
        self.depth += 1
        try:
            self.run(node.inside)
        except _Leave as leave:
            if leave.word != "return":
                raise
        finally:
            self.depth -= 1
            for each, value in before.items():
                if value is None:
                    self.variables.pop(each, None)
                else:
                    self.variables[each] = value

    def _set_tcp(self, line: int, values: list[Value]) -> None:
        value = values[0] if values else Unknown("nothing")
        if isinstance(value, Unknown):
            self.found.note(line, f"set_tcp of {value.name}, which only the controller knows; the tool is left to it")
            self.tool = None
        elif isinstance(value, Pose):
            self.tool = matrix_rows(value.matrix)
        else:
            raise Malformed(f"set_tcp of {told(value)}", "a pose p[x, y, z, rx, ry, rz]")

    def _sleep(self, line: int, values: list[Value]) -> None:
        value = values[0] if values else Unknown("nothing")
        if isinstance(value, Unknown):
            self.found.note(line, f"sleep of {value.name}, which only the controller knows, is left out")
            return
        seconds = float(number(value))
        if seconds < 0.0:
            raise Malformed(f"sleep of {seconds:g} s", "0 or more")
        if self.moves:
            self.moves[-1] = dataclasses.replace(self.moves[-1], dwell_s=self.moves[-1].dwell_s + seconds)
        elif seconds > 0.0:
            self.found.note(line, f"a wait of {seconds:g} s before the first move is left out")
            return
        if self.clock is not None:
            self.clock += seconds

    def _motion(self, line: int, name: str, values: list[Value], named: dict[str, Value], text: str) -> None:
        names = MOTIONS[name]
        if len(values) > len(names):
            raise Malformed(f"{name}() with {len(values)} arguments", f"{name}({', '.join(names)})")
        given = dict(zip(names, values, strict=False))
        # The manual's names of the target differ from version to version.
        aliases = {"pose": names[0], "q": names[0], "pose_to": names[1] if name == "movec" else names[0]}
        for key, value in named.items():
            key = key if key in names else aliases.get(key, key)
            if key not in names:
                raise Malformed(f"{name}() has no argument {key}", f"{name}({', '.join(names)})")
            if key in given:
                raise Malformed(f"{name}() has {key} twice")
            given[key] = value
        kind: MoveKind = {"movej": "joint", "servoj": "joint", "movec": "circular"}.get(name, "linear")  # type: ignore[assignment]
        wanted = names[:2] if name == "movec" else names[:1]
        for key in wanted:
            if key not in given:
                raise Malformed(f"{name}() without {key}", f"{name}({', '.join(names)})")
        optional = {key: self._optional(line, name, key, given[key]) for key in "vtr" if key in given}
        speed, lasts, blend = optional.get("v"), optional.get("t"), optional.get("r") or 0.0
        if speed is not None and speed <= 0.0 and not lasts:
            raise Malformed(f"v={speed:g}", "more than 0")
        time_s = self._due(line, name, lasts)
        speed = None if lasts else speed
        joints, frame, pose, posture = self._target(name, wanted[-1], given[wanted[-1]])
        via = None
        if name == "movec":
            _, via_frame, via, _ = self._target(name, wanted[0], given[wanted[0]])
            assert via is not None
            assert pose is not None
            if via_frame != frame:
                via = matrix_rows(np.array(via_frame) @ np.array(via))
                pose = matrix_rows(np.array(frame) @ np.array(pose))
                frame = IDENTITY
            if given.get("mode", 0) != 0:
                self.found.note(line, "movec with mode other than 0: the turning of the tool on the arc is not kept")
        label = re.match(r"\w+\((?:get_inverse_kin\()?\s*([A-Za-z_]\w*)\s*[,)]", text)
        self.moves.append(
            Move(
                kind, joints, pose, via, frame, self.tool,
                speed if kind != "joint" else None, None, speed if kind == "joint" else None, blend,
                time_s=time_s, posture=posture, label=label.group(1) if label and name != "movec" else "", line=line,
            )
        )  # fmt: skip

    def _optional(self, line: int, name: str, key: str, value: Value) -> float | None:
        if isinstance(value, Unknown):
            self.found.note(line, f"{name}() with {key}={value.name}, which only the controller knows")
            return None
        given = float(number(value))
        if given < 0.0:
            raise Malformed(f"{key}={given:g}", "0 or more")
        return given

    def _due(self, line: int, name: str, lasts: float | None) -> float | None:
        if not lasts and name == "servoj":
            lasts = 0.002
        if lasts and self.clock is not None:
            self.clock += lasts
            return self.clock
        if lasts:
            self.found.note(line, "t is not kept, since moves before it have none", "t")
        elif self.clock is not None and any(move.time_s is not None for move in self.moves):
            self.found.note(line, "from here on moves have no t and no time")
        self.clock = None
        return None

    def _target(self, name: str, key: str, value: Value) -> tuple[tuple[float, ...] | None, Matrix, Matrix | None, str]:
        """Joints, or frame and pose in it, and the posture asked for."""
        posture = ""
        if isinstance(value, Unknown):
            raise Malformed(f"{key} is {told(value)}", "a pose p[...], joints [...], or a variable with one of them")
        if isinstance(value, Inverse):
            if value.near is not None:
                posture = "qnear=[" + ", ".join(f"{each:.9g}" for each in value.near) + "]"
            value = value.pose
        if isinstance(value, list):
            if name == "movec":
                raise Malformed(f"{key} is a list of joints", "a pose p[x, y, z, rx, ry, rz]")
            return numbers(value, 6, key), IDENTITY, None, ""
        if not isinstance(value, Pose):
            raise Malformed(f"{key} is {told(value)}", "a pose p[x, y, z, rx, ry, rz] or six joint positions")
        if name == "servoj" and not posture:
            raise Malformed(f"{key} is a pose", "six joint positions, or get_inverse_kin(p[...])")
        if value.parts is not None:
            return None, matrix_rows(value.parts[0].matrix), matrix_rows(value.parts[1].matrix), posture
        return None, IDENTITY, matrix_rows(value.matrix), posture


def _flat(nodes: Sequence[_Node]) -> list[tuple[str, int]]:
    """Text and line of all statements in some."""
    flat: list[tuple[str, int]] = []
    for node in nodes:
        flat.append((node.text, node.line))
        flat += _flat([*node.inside, *node.branches])
    return flat


def write(program: Program) -> str:
    """The text of a script with one function, which the controller runs when it is sent.

    Joint speeds as a share of the largest are left out with a comment, since a script gives rad/s. Read back, it is the
    same program to 1e-7 m and 1e-8 rad.
    Raises: ScenarioError for moves that are not six joints or a pose, and tools left to the controller after one was
    named.
    """
    found = Findings(program.name)
    refuse_not_finite(found, program.moves)
    found.stop()
    lines = [f"def {identifier(program.name, 60)}():"]
    frames: dict[Matrix, str] = {}
    tool: Matrix | None = None
    clock = 0.0
    for at, move in enumerate(program.moves, 1):
        frame = ""
        if move.base_from_frame != IDENTITY:
            frame = frames.get(move.base_from_frame, "")
            if not frame:
                frame = frames[move.base_from_frame] = f"frame_{len(frames) + 1}"
                lines.append(f"  global {frame} = {_pose(move.base_from_frame)}")
        if move.flange_from_tool != tool:
            tool = move.flange_from_tool
            if tool is None:
                what = "leaves the tool to the controller after a move that named one"
                found.problem(0, f"move {at}", what, "a tool for it, or for none of the moves")
            else:
                lines.append(f"  set_tcp({_pose(tool)})")
        if move.joint_speed is not None:
            lines.append(f"  # {100.0 * move.joint_speed:.6g} % of the largest joint speed was asked for")
        clock = _move_line(move, at, frame, clock, lines, found)
    found.stop()
    return "\n".join([*lines, "end", ""])


def _move_line(move: Move, at: int, frame: str, clock: float, lines: list[str], found: Findings) -> float:
    def target(pose: Matrix) -> str:
        return f"pose_trans({frame}, {_pose(pose)})" if frame else _pose(pose)

    if move.joints is not None and len(move.joints) == 6 and move.kind != "circular":
        goal = "[" + ", ".join(fixed(angle, 9) for angle in move.joints) + "]"
    elif move.pose is not None and (move.kind != "circular" or move.via is not None):
        goal = target(move.pose)
        if move.kind == "joint":
            near = f", {move.posture}" if re.fullmatch(r"qnear=\[[-+\d., eE]*\]", move.posture) else ""
            goal = f"get_inverse_kin({goal}{near})"
        elif move.kind == "circular" and move.via is not None:
            goal = f"{target(move.via)}, {goal}"
    else:
        found.problem(0, f"move {at}", f"a {move.kind} move without a target that a UR takes", "six joints, or a pose")
        return clock
    word = {"joint": "movej", "linear": "movel", "circular": "movec"}[move.kind]
    speed = move.joint_speed_rad_s if move.kind == "joint" else move.speed_m_s
    options = [] if speed is None else [f"v={speed:.9g}"]
    if move.time_s is not None and move.kind != "circular":
        if move.time_s <= clock:
            found.problem(0, f"move {at}", f"is due at {move.time_s:g} s, not after {clock:g} s", "increasing times")
        options.append(f"t={move.time_s - clock:.9g}")
        clock = move.time_s + move.dwell_s
    if move.blend_m > 0.0:
        options.append(f"r={move.blend_m:.9g}")
    lines.append(f"  {word}({', '.join([goal, *options])})")
    if move.dwell_s > 0.0:
        lines.append(f"  sleep({move.dwell_s:.9g})")
    return clock


def _pose(pose: Matrix) -> str:
    matrix = np.array(pose)
    position = [fixed(value, 7) for value in matrix[:3, 3].tolist()]
    turn = [fixed(value, 9) for value in values_of("ur_rotvec", matrix[:3, :3]).tolist()]
    return f"p[{', '.join([*position, *turn])}]"
