"""What a KRL controller holds while a program runs: variables, and the frames and speeds in force."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fieldworthy.arms.chain import Matrix, as_matrix
from fieldworthy.arms.programs.expressions import Token, Unknown, number
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.krl_values import FRAME_KEYS, Reader, Value, pose

NULL_FRAME: Mapping[str, Value] = {key: 0.0 for key in FRAME_KEYS}


class State:
    """Variables by their full name in upper case; $BASE and $TOOL as matrices."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.variables: dict[str, Value] = {"$NULLFRAME": NULL_FRAME, "$WORLD": NULL_FRAME}
        self.types: dict[str, str] = {}
        self.base: Matrix | None = None
        """None where none was named, or only the controller has it; `base_key` tells such frames apart."""
        self.base_key: object = "none"
        self.tool: Matrix | None = None
        self.tool_key: object = "none"
        self.ptp_share: float | None = None
        """Speed of joint moves, as a share of the largest."""
        self.axis_shares: dict[str, float] = {}

    def reader(self, tokens: list[Token]) -> Reader:
        """A reader of a statement's expressions."""
        return Reader(tokens, self.look_up, self.forget)

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

    def forget(self, name: str, function: str) -> None:
        """A variable that a routine outside of this file was given: it may be set there (parameters with OUT)."""
        for each in [each for each in self.variables if each == name or each.startswith((f"{name}[", f"{name}."))]:
            if not each.startswith("$"):
                self.variables[each] = Unknown(f"{name} after {function}()")

    def assign(self, name: str, value: Value, line: int) -> None:
        """Set a variable or a component, and what follows from it for frames and speeds."""
        kind = self.types.get(name)
        if kind == "REAL" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        elif kind == "INT" and isinstance(value, float):
            value = math.floor(number(value) + 0.5)
        parent, _, component = name.rpartition(".")
        whole = self.look_up(parent) if parent else None
        if isinstance(whole, Mapping):
            self.assign(parent, {**whole, component: value}, line)
            return
        for part in [each for each in self.variables if each.startswith(f"{name}.")]:
            del self.variables[part]
        self.variables[name] = value
        self._take_effect(name, value, line)
        if name in ("$VEL", "$APO") and isinstance(value, Mapping):
            for key, each in value.items():
                self._take_effect(f"{name}.{key}", each, line)

    def _take_effect(self, name: str, value: Value, line: int) -> None:
        if name in ("$BASE", "$TOOL"):
            self.frame(name, value, line)
        elif name == "$VEL.CP":
            require_speed(value)
        elif name.startswith("$VEL_AXIS[") and not isinstance(value, Unknown):
            self.axis_shares[name] = share_of(value, name)
            self.ptp_share = min(self.axis_shares.values())
        elif name == "$APO.CDIS" and not isinstance(value, Unknown) and number(value) < 0:
            raise StatementError(f"{name} is {value}", "0 or more millimetres")
        elif name.startswith(("$OUT[", "$ANOUT[", "$CYCFLAG[", "$FLAG[", "$TIMER")):
            self.found.note(line, f"{name} is set; not motion")
        elif name == "$ROBROOT":
            self.found.note(line, "$ROBROOT is set; frames are kept as if it stood at the origin of the world")

    def frame(self, name: str, value: Value, line: int) -> None:
        """Put a frame in force; one that only the controller has is told."""
        unknown = value.name if isinstance(value, Unknown) else None
        matrix = None if unknown else as_matrix(pose(value))
        if unknown:
            kept = "targets stay in that frame" if name == "$BASE" else "the tool is left to it"
            self.found.note(line, f"{name} is {unknown}, which only the controller has; {kept}", f"{name} {unknown}")
        if name == "$BASE":
            self.base, self.base_key = matrix, unknown or matrix
        else:
            self.tool, self.tool_key = matrix, unknown or matrix

    def numbered(self, name: str, index: Value, line: int) -> None:
        """$BASE or $TOOL by its number in the controller's table; 0 is none."""
        if isinstance(index, Unknown):
            self.frame(name, index, line)
            return
        table = f"{name[1:]}_DATA[{int(number(index))}]"
        value = NULL_FRAME if number(index) == 0 else self.look_up(table)
        self.variables[name] = value
        self.frame(name, value, line)

    def bas(self, line: int, values: list[Value]) -> None:
        """BAS(command, value): the speeds, frames and blends that inline forms set."""
        command = values[0] if values else ""
        value = values[1] if len(values) > 1 else Unknown("left out")
        if command == "#VEL_PTP" or (command == "#PTP_PARAMS" and not isinstance(value, Unknown)):
            self.ptp_share = None if isinstance(value, Unknown) else share_of(value, f"BAS({command})")
            self.axis_shares.clear()
        elif command in ("#VEL_CP", "#CP_PARAMS"):
            self.assign("$VEL.CP", value, line)
        elif command in ("#TOOL", "#BASE"):
            self.numbered(f"${command[1:]}", value, line)
        if command in ("#PTP_PARAMS", "#CP_PARAMS", "#FRAMES"):
            for name in ("TOOL", "BASE"):
                index = self.look_up(f"FDAT_ACT.{name}_NO")
                if "FDAT_ACT" in self.variables:
                    self.numbered(f"${name}", index, line)
        if command == "#CP_PARAMS":
            distance = self.look_up("LDAT_ACT.APO_DIST")
            if not isinstance(distance, Unknown):
                self.assign("$APO.CDIS", distance, line)


def share_of(value: Value, name: str) -> float:
    """A percentage as a share. Raises: StatementError outside of 0 to 100."""
    share = number(value) / 100.0
    if not 0.0 < share <= 1.0:
        raise StatementError(f"{name} is {value}", "more than 0 and at most 100 percent")
    return share


def require_speed(value: Value) -> None:
    """Raises: StatementError for a speed on the path that is not above 0."""
    if not isinstance(value, Unknown) and number(value) <= 0.0:
        raise StatementError(f"$VEL.CP is {value}", "more than 0 m/s")
