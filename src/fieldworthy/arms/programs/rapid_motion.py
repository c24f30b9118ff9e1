"""The motion instructions of RAPID: targets, tools, work objects, speeds and zones as moves.

Source: ABB, Technical reference manual: RAPID instructions, functions and data types, 3HAC050917.
Verified by: tests/cases/test_arm_programs_rapid.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from fieldworthy.arms.chain import IDENTITY, Matrix, as_matrix
from fieldworthy.arms.program import Move, MoveKind
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import M_PER_MM
from fieldworthy.arms.programs.rapid_data import RECORDS, UNUSED_AXIS, VMAX, UnknownError, pose_of_values, shaped
from fieldworthy.arms.programs.rapid_tree import Argument, Expression
from fieldworthy.arms.programs.rapid_values import Values
from fieldworthy.arms.programs.running import speed_for

MOVES: dict[str, tuple[MoveKind, int]] = {
    "MOVEJ": ("joint", 1), "MOVEL": ("linear", 1), "MOVEC": ("circular", 2), "MOVEABSJ": ("joint", 1),
    "MOVEJDO": ("joint", 1), "MOVELDO": ("linear", 1), "MOVECDO": ("circular", 2),
    "MOVEJSYNC": ("joint", 1), "MOVELSYNC": ("linear", 1), "MOVECSYNC": ("circular", 2),
}  # fmt: skip
"""Kind of the move and how many targets it has."""


class Motions:
    """The moves so far, and the limits of speed in force."""

    def __init__(self, values: Values, findings: Findings, frames: dict[str, Matrix], tools: dict[str, Matrix]) -> None:
        self.values, self.findings = values, findings
        self.frames, self.tools = frames, tools
        """By name in lower case: those that the caller gave."""
        self.moves: list[Move] = []
        self.share, self.speed_limit_m_s = 1.0, math.inf
        self.told_external = False

    def add(self, line: int, name: str, arguments: tuple[Argument, ...]) -> None:
        """Add the move of an instruction. Raises: StatementError for what it cannot be."""
        key = name.upper()
        kind, targets = MOVES[key]
        given = [argument.value for argument in arguments if argument.name is None and argument.value is not None]
        by_name = {argument.name: argument.value for argument in arguments if argument.name is not None}
        if len(given) < targets + 3:
            wanted = "two targets" if targets == 2 else "a target"
            raise StatementError(f"{name} has {len(given)} arguments", f"{wanted}, a speed, a zone and a tool")
        if len(given) > targets + 3:
            self.findings.note(line, f"what {name} does beside the motion is left out")
        move = Move(kind, line=line, label=_label(given[targets - 1]))
        move = replace(move, flange_from_tool=self.tool(given[targets + 2]))
        wobj = by_name.get("wobj")
        move = replace(move, base_from_frame=IDENTITY if wobj is None else self.frame(line, wobj))
        if key == "MOVEABSJ":
            target = shaped(self.values.value(given[0]), "jointtarget", "the target of MoveAbsJ")
            if any(abs(angle) > UNUSED_AXIS for angle in target[0]):
                raise StatementError("a joint target with an axis that is not there (9E9)", "six angles in degrees")
            self.external(line, target[1])
            move = replace(move, joints=tuple(math.radians(angle) for angle in target[0]), base_from_frame=IDENTITY)
        else:
            values = [shaped(self.values.value(part), "robtarget", f"the target of {name}") for part in given[:targets]]
            self.external(line, values[-1][3])
            poses = [as_matrix(pose_of_values(value[:2], name)) for value in values]
            posture = "[" + ",".join(f"{turn:g}" for turn in values[-1][2]) + "]"
            move = replace(move, pose=poses[-1], via=poses[0] if targets == 2 else None, posture=posture)
        move = self.ending(move, given[targets + 1], by_name.get("z"))
        self.moves.append(self.at_speed(line, move, given[targets], by_name))

    def ending(self, move: Move, zone: Expression, own: Expression | None) -> Move:
        """The move with the blend of its zone; `own` is \\Z."""
        values = shaped(self.values.value(zone), "zonedata", "the zone")
        radius = 0.0 if values[0] else float(values[1])
        if own is not None:
            radius = self.values.number(own, "\\Z")
        if radius < 0.0:
            raise StatementError(f"the zone is {radius:g} mm", "0 or more")
        return replace(move, blend_m=radius * M_PER_MM)

    def at_speed(self, line: int, move: Move, speed: Expression, by_name: Mapping[str, Expression | None]) -> Move:
        """The move with its speed, by \\V or \\T where they are given."""
        v_tcp = float(shaped(self.values.value(speed), "speeddata", "the speed")[0])
        own, time = by_name.get("v"), by_name.get("t")
        if own is not None:
            v_tcp = self.values.number(own, "\\V")
        if time is not None:
            seconds = self.values.number(time, "\\T")
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
        """Tell once that external axes are not kept."""
        used = [name for name, value in zip(RECORDS["extjoint"], axes, strict=True) if abs(value) < UNUSED_AXIS]
        if used and not self.told_external:
            self.told_external = True
            names = ", ".join(used)
            self.findings.note(
                line, f"external axes ({names}) are left out here and later: the base is taken to stand still"
            )

    def tool(self, expression: Expression) -> Matrix | None:
        """flange_from_tool; None where it is left to the controller."""
        if expression.op == "name" and expression.parts[0].lower() in self.tools:
            return self.tools[expression.parts[0].lower()]
        try:
            values = shaped(self.values.value(expression), "tooldata", "the tool")
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
        """base_from_frame of a work object: uframe times oframe."""
        name = expression.parts[0] if expression.op == "name" else "the work object"
        if name.lower() in self.frames:
            return self.frames[name.lower()]
        try:
            values = shaped(self.values.value(expression), "wobjdata", f"the work object {name}")
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
