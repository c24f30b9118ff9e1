"""The motion statements of KRL: targets, frames and speeds of PTP, LIN and CIRC as moves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Array, Matrix, as_matrix
from fieldworthy.arms.program import Move, MoveKind
from fieldworthy.arms.programs.checks import check_degrees, check_units
from fieldworthy.arms.programs.expressions import Token, Unknown, number
from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.arms.programs.frames import M_PER_MM
from fieldworthy.arms.programs.krl_state import NULL_FRAME, State, require_speed, share_of
from fieldworthy.arms.programs.krl_values import FRAME_KEYS, Reader, Value, pose, struct_of

AXIS_KEYS = ("A1", "A2", "A3", "A4", "A5", "A6")
EXTERNAL_KEYS = ("E1", "E2", "E3", "E4", "E5", "E6")
MOTIONS: dict[str, MoveKind] = {
    **{word: "joint" for word in ("PTP", "PTP_REL", "SPTP", "SPTP_REL")},
    **{word: "linear" for word in ("LIN", "LIN_REL", "SLIN", "SLIN_REL")},
    **{word: "circular" for word in ("CIRC", "CIRC_REL", "SCIRC", "SCIRC_REL")},
}
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


class Motions:
    """The moves so far, and the last target: what a partial or relative one goes on from."""

    def __init__(self, state: State, external: Literal["rad", "m"]) -> None:
        self.state = state
        self.found = state.found
        self.external: Literal["rad", "m"] = external
        self.moves: list[Move] = []
        self.external_deg: list[list[float]] = []
        """E1 to E6 of each move, as written."""
        self.angles: list[tuple[int, float]] = []
        self.six: list[float] | None = None
        """X, Y, Z [mm], A, B, C [deg] of the last target, in `six_frames`."""
        self.six_frames: tuple[object, object, Matrix | None, Matrix | None] = ("", "", None, None)
        self.axes: list[float] | None = None
        self.outer: list[float] = [0.0] * 6
        self.own_distance: Value | None = None

    def add(self, line: int, tokens: list[Token]) -> None:
        """Read a motion statement and add its move. Raises: StatementError for what it cannot be."""
        word = tokens[0][1]
        kind = MOTIONS[word]
        reader = self.state.reader(tokens)
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
            raise StatementError("a circular angle CA is not read", "an auxiliary point and an end point")
        label = label if reader.tokens[reader.at - 1][1] == label else ""
        reference = reader.accept("#TOOL", "#BASE") or "#BASE"
        blends = []
        while reader.peek()[1].startswith("C_"):
            blends.append(reader.take()[1])
        self.own_distance = None
        kept = (self.state.base, self.state.base_key, self.state.tool, self.state.tool_key)
        speed, share = self.state.look_up("$VEL.CP"), self.state.ptp_share
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
            metres = None if kind == "joint" or isinstance(speed, Unknown) else float(number(speed))
            blend = self._blend(line, kind, blends)
            how = _How(line, kind, label, relative, reference, metres, share, blend)
            self._go(how, targets)
        self.state.base, self.state.base_key, self.state.tool, self.state.tool_key = kept

    def _with(self, reader: Reader, line: int, speed: Value, share: float | None) -> tuple[Value, float | None]:
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
                require_speed(value)
                speed = value
            elif name.startswith("$VEL_AXIS"):
                share = None if isinstance(value, Unknown) else share_of(value, name)
            elif name in ("$TOOL", "$BASE") and not function:
                self.state.frame(name, value, line)
            elif name in ("$TOOL", "$BASE"):
                table = value.get(f"{name[1:]}_NO", Unknown(function)) if isinstance(value, Mapping) else value
                self.state.numbered(name, table, line)
            elif name == "$APO" and isinstance(value, Mapping) and "APO_DIST" in value:
                self.own_distance = value["APO_DIST"]
            if not reader.accept(","):
                return speed, share

    def _blend(self, line: int, kind: MoveKind, words: list[str]) -> float:
        """Distance to the target [m] at which the next move may begin."""
        if not words:
            return 0.0
        distance = self.state.look_up("$APO.CDIS") if self.own_distance is None else self.own_distance
        if "C_DIS" in words or "C_SPL" in words:
            if not isinstance(distance, Unknown):
                return number(distance) * M_PER_MM
            self.found.note(line, "C_DIS without $APO.CDIS in this file: taken as an exact stop", "C_DIS")
        else:
            told = f"{words[0]} blends by another measure than distance: taken as an exact stop"
            self.found.note(line, told, words[0])
        return 0.0

    def _go(self, how: _How, targets: list[Value]) -> None:
        for target in targets:
            if isinstance(target, Unknown):
                known = "a position declared in the .src, its .dat or given in braces"
                raise StatementError(f"target {target.name} has no value here", known)
            if not isinstance(target, Mapping):
                raise StatementError(f"target {target!r} is no position", "{X.., Y.., ...} or {A1 .., A2 .., ...}")
            strange = [key for key in target if key not in (*FRAME_KEYS, *AXIS_KEYS, *EXTERNAL_KEYS, "S", "T")]
            if strange:
                raise StatementError(f"target has a component {strange[0]}", "X Y Z A B C S T, A1 to A6, E1 to E6")
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
                raise StatementError(f"a {how.kind} move to axis positions", "a target with X, Y, Z, A, B, C")
            joints = self._axes(target, how)
            self.axes, self.six = joints, None
        else:
            if how.kind == "circular":
                assert isinstance(targets[0], Mapping)
                via = as_matrix(self._pose(targets[0], how)[1])
            self.six, turned = self._pose(target, how)
            self.six_frames = (self.state.base_key, self.state.tool_key, self.state.base, self.state.tool)
            self.axes = None
            matrix = as_matrix(turned)
            if any(self.outer):
                told = "external axes of a target with a pose are not kept"
                self.found.note(how.line, told, told)
        posture = [f"{key} {number(target[key]):g}" for key in ("S", "T") if key in target]
        self.external_deg.append(list(self.outer))
        self.moves.append(
            Move(
                how.kind, None if joints is None else tuple(math.radians(a) for a in joints), matrix, via,
                self.state.base or IDENTITY, self.state.tool, how.speed_m_s, how.share, None, how.blend_m,
                posture=",".join(posture), label=how.label, line=how.line,
            )
        )  # fmt: skip

    def _axes(self, target: Mapping[str, Value], how: _How) -> list[float]:
        missing = [key for key in AXIS_KEYS if key not in target]
        if (missing or how.relative) and self.axes is None:
            told = f"{', '.join(missing)} left out" if missing else "a relative move"
            raise StatementError(f"{told}, and the axes before it are not known", "a target with A1 to A6")
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
                raise StatementError(
                    "a relative move that turns in the base is not read", "A, B, C with #TOOL, or X, Y, Z"
                )
            six = [old + given.get(key, 0.0) for key, old in zip(FRAME_KEYS, before, strict=True)]
        else:
            six = [float(given.get(key, old)) for key, old in zip(FRAME_KEYS, before, strict=True)]
        return six, pose(dict(zip(FRAME_KEYS, six, strict=True)))

    def _where(self, missing: list[str]) -> list[float]:
        """The last target in the frame and with the tool in force now."""
        told = f"{', '.join(missing)} left out" if missing else "a relative move"
        if self.six is None:
            raise StatementError(f"{told}, and the pose before it is not known", "all of X, Y, Z, A, B, C")
        base_key, tool_key, base, tool = self.six_frames
        if (base_key, tool_key) == (self.state.base_key, self.state.tool_key):
            return self.six
        if (base_key != self.state.base_key and None in (base, self.state.base)) or (
            tool_key != self.state.tool_key and None in (tool, self.state.tool)
        ):
            raise StatementError(f"{told} after a change to or from a frame or tool that only the controller has",
                           "all of X, Y, Z, A, B, C")  # fmt: skip
        matrix = pose(dict(zip(FRAME_KEYS, self.six, strict=True)))
        if base_key != self.state.base_key:
            matrix = np.linalg.inv(np.array(self.state.base)) @ np.array(base) @ matrix
        if tool_key != self.state.tool_key:
            matrix = matrix @ np.linalg.inv(np.array(tool)) @ np.array(self.state.tool)
        struct = struct_of(matrix)
        return [float(number(struct[key])) for key in FRAME_KEYS]

    def finished(self) -> tuple[Move, ...]:
        """The moves, with the external axes that any of them moves behind the joints; doubts about units as notes."""
        used = max((i + 1 for row in self.external_deg for i in range(6) if row[i] != 0.0), default=0)
        moves = self.moves
        if used and any(move.joints for move in moves):
            scale = math.pi / 180.0 if self.external == "rad" else M_PER_MM
            self.found.note(0, f"E1 to E{used} are read as {'degrees' if self.external == 'rad' else 'millimetres'}")
            moves = [
                move if move.joints is None
                else dataclasses.replace(move, joints=(*move.joints, *(scale * value for value in row[:used])))
                for move, row in zip(moves, self.external_deg, strict=True)
            ]  # fmt: skip
        check_units(self.found, moves, "mm")
        check_degrees(self.found, self.angles)
        return tuple(moves)
