"""The motion functions of URScript: movej, movel, movep, movec and servoj as moves, set_tcp and sleep."""

from __future__ import annotations

import re

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Matrix, as_matrix
from fieldworthy.arms.program import Move, MoveKind
from fieldworthy.arms.programs.expressions import Unknown, number, told
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.running import add_dwell
from fieldworthy.arms.programs.urscript_values import Inverse, Pose, Value, numbers

MOTIONS: dict[str, tuple[str, ...]] = {
    "movej": ("q", "a", "v", "t", "r"),
    "movel": ("pose", "a", "v", "t", "r"),
    "movep": ("pose", "a", "v", "r"),
    "movec": ("pose_via", "pose_to", "a", "v", "r", "mode"),
    "servoj": ("q", "a", "v", "t", "lookahead_time", "gain"),
}
"""Names of the arguments in their order."""


class Motions:
    """The moves so far, and the tool and the time that the next one has."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.moves: list[Move] = []
        self.tool: Matrix | None = None
        self.clock: float | None = 0.0
        """Time since the start [s]; None once a move did not tell its own."""

    def add(self, line: int, name: str, values: list[Value], named: dict[str, Value], text: str) -> None:
        """Add the move of a call. `text` is the statement, for the name of its target."""
        names = MOTIONS[name]
        if len(values) > len(names):
            raise StatementError(f"{name}() with {len(values)} arguments", f"{name}({', '.join(names)})")
        given = dict(zip(names, values, strict=False))
        # The manual's names of the target differ from version to version.
        aliases = {"pose": names[0], "q": names[0], "pose_to": names[1] if name == "movec" else names[0]}
        for key, value in named.items():
            key = key if key in names else aliases.get(key, key)
            if key not in names:
                raise StatementError(f"{name}() has no argument {key}", f"{name}({', '.join(names)})")
            if key in given:
                raise StatementError(f"{name}() has {key} twice")
            given[key] = value
        kind: MoveKind = {"movej": "joint", "servoj": "joint", "movec": "circular"}.get(name, "linear")  # type: ignore[assignment]
        wanted = names[:2] if name == "movec" else names[:1]
        for key in wanted:
            if key not in given:
                raise StatementError(f"{name}() without {key}", f"{name}({', '.join(names)})")
        optional = {key: self._optional(line, name, key, given[key]) for key in "vtr" if key in given}
        speed, lasts, blend = optional.get("v"), optional.get("t"), optional.get("r") or 0.0
        if speed is not None and speed <= 0.0 and not lasts:
            raise StatementError(f"v={speed:g}", "more than 0")
        time_s = self._due(line, name, lasts)
        speed = None if lasts else speed
        joints, frame, pose, posture = self._target(name, wanted[-1], given[wanted[-1]])
        via = None
        if name == "movec":
            _, via_frame, via, _ = self._target(name, wanted[0], given[wanted[0]])
            assert via is not None
            assert pose is not None
            if via_frame != frame:
                via = as_matrix(np.array(via_frame) @ np.array(via))
                pose = as_matrix(np.array(frame) @ np.array(pose))
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

    def set_tcp(self, line: int, values: list[Value]) -> None:
        """The tool of the moves that follow."""
        value = values[0] if values else Unknown("nothing")
        if isinstance(value, Unknown):
            self.found.note(line, f"set_tcp of {value.name}, which only the controller knows; the tool is left to it")
            self.tool = None
        elif isinstance(value, Pose):
            self.tool = as_matrix(value.matrix)
        else:
            raise StatementError(f"set_tcp of {told(value)}", "a pose p[x, y, z, rx, ry, rz]")

    def sleep(self, line: int, values: list[Value]) -> None:
        """A wait at the last target."""
        value = values[0] if values else Unknown("nothing")
        if isinstance(value, Unknown):
            self.found.note(line, f"sleep of {value.name}, which only the controller knows, is left out")
            return
        seconds = float(number(value))
        if seconds < 0.0:
            raise StatementError(f"sleep of {seconds:g} s", "0 or more")
        placed = add_dwell(self.moves, seconds, line, self.found)
        if placed and self.clock is not None:
            self.clock += seconds

    def _optional(self, line: int, name: str, key: str, value: Value) -> float | None:
        if isinstance(value, Unknown):
            self.found.note(line, f"{name}() with {key}={value.name}, which only the controller knows")
            return None
        given = float(number(value))
        if given < 0.0:
            raise StatementError(f"{key}={given:g}", "0 or more")
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
            raise StatementError(
                f"{key} is {told(value)}", "a pose p[...], joints [...], or a variable with one of them"
            )
        if isinstance(value, Inverse):
            if value.near is not None:
                posture = "qnear=[" + ", ".join(f"{each:.9g}" for each in value.near) + "]"
            value = value.pose
        if isinstance(value, list):
            if name == "movec":
                raise StatementError(f"{key} is a list of joints", "a pose p[x, y, z, rx, ry, rz]")
            return numbers(value, 6, key), IDENTITY, None, ""
        if not isinstance(value, Pose):
            raise StatementError(f"{key} is {told(value)}", "a pose p[x, y, z, rx, ry, rz] or six joint positions")
        if name == "servoj" and not posture:
            raise StatementError(f"{key} is a pose", "six joint positions, or get_inverse_kin(p[...])")
        if value.parts is not None:
            return None, as_matrix(value.parts[0].matrix), as_matrix(value.parts[1].matrix), posture
        return None, IDENTITY, as_matrix(value.matrix), posture
