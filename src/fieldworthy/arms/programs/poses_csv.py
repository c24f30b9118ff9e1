"""Tables of poses: X, Y, Z and an orientation a row, in any of the conventions of `arms/orientation.py`.

A first row of names says which: `X Y Z A B C`, `x_m, y_m, z_m, qw, qx, qy, qz`, `X [mm]`. Without one, and without
options, it is what RoboDK writes as XYZWPR: millimetres, degrees, FANUC's W, P, R. One more column may hold a number of
the point, which is not read. Separators are commas, semicolons, tabs or spaces; `#` comments are passed over.
Frames: poses are frame_from_tool in the frame given, the robot's base where none is.
Source: RoboDK-API, Example-Import-CSV-XYZWPR.csv (the shape of the file).
Verified by: tests/cases/test_arm_poses_csv.py
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Matrix, as_matrix
from fieldworthy.arms.orientation import CONVENTIONS, pose_of, values_of
from fieldworthy.arms.program import Move, MoveKind, Program
from fieldworthy.arms.programs.checks import check_degrees, check_finite, check_units
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.words import finite, fixed, identifier
from fieldworthy.core.errors import FieldworthyError

LENGTHS = {"mm": 0.001, "m": 1.0}
ANGLES = {"deg": math.pi / 180.0, "rad": 1.0}
NAMES = {
    "euler_zyx": ("RZ", "RY", "RX"),
    "euler_xyz": ("RX", "RY", "RZ"),
    "rpy": ("ROLL", "PITCH", "YAW"),
    "kuka_abc": ("A", "B", "C"),
    "fanuc_wpr": ("W", "P", "R"),
    "ur_rotvec": ("RX", "RY", "RZ"),
    "abb_quat": ("Q1", "Q2", "Q3", "Q4"),
    "quat_wxyz": ("QW", "QX", "QY", "QZ"),
    "quat_xyzw": ("QX", "QY", "QZ", "QW"),
}
"""Names of the columns of each convention, as they are written."""


def read(
    text: str,
    source: str = "",
    convention: str | None = None,
    length: Literal["mm", "m"] | None = None,
    angle: Literal["deg", "rad"] | None = None,
    kind: MoveKind = "linear",
    base_from_frame: Matrix = IDENTITY,
) -> Program:
    """A move of the given kind to each row. What is None goes by the row of names, then by the default.

    Raises: ScenarioError with all problems of the file; FieldworthyError for an unknown option.
    """
    given = _Form(convention, length, angle)
    _units(*given.filled())
    if kind not in ("linear", "joint"):
        raise FieldworthyError(f"kind {kind!r}; valid: 'linear', 'joint'")
    found = Findings(source or "poses")
    form = given
    moves: list[Move] = []
    angles: list[tuple[int, float]] = []
    started = False
    for line, raw in enumerate(text.splitlines(), 1):
        plain = raw.split("#")[0].strip()
        if not plain:
            continue
        cells = _cells(plain)
        if not started and all(re.fullmatch(r"[\"']?[A-Za-z][^,;]*", cell) for cell in cells):
            form = _named(cells, given, line, found)
            started = True
            continue
        started = True
        convention, length, angle = form.filled()
        metres, radians = _units(convention, length, angle)
        columns = ("X", "Y", "Z", *NAMES[convention])
        values = _numbers(cells, columns, line, found)
        if values is None:
            continue
        turn = values[3:] if len(columns) == 7 else [radians * value for value in values[3:]]
        try:
            pose = pose_of([metres * value for value in values[:3]], convention, turn)
        except FieldworthyError as error:
            found.problem(line, ",".join(columns[3:]), str(error))
            continue
        angles += [(line, value) for value in values[3:]]
        moves.append(Move(kind, pose=as_matrix(pose), base_from_frame=base_from_frame, line=line))
    convention, length, angle = form.filled()
    if not moves and not found.problems:
        found.problem(0, "", "no poses", f"rows of X, Y, Z, {', '.join(NAMES[convention])}")
    found.stop()
    check_units(found, moves, length)
    if angle == "deg" and len(NAMES[convention]) == 3:
        check_degrees(found, angles)
    name = identifier(re.sub(r".*[/\\]|\.\w*$", "", source), 60, "poses")
    return Program(name, tuple(moves), source, (), tuple(found.notes))


def write(
    program: Program,
    convention: str = "fanuc_wpr",
    length: Literal["mm", "m"] = "mm",
    angle: Literal["deg", "rad"] = "deg",
) -> str:
    """The targets as rows, in the robot's base, under a row of names. Read back, they are the same to 1e-9 m and rad.

    Speeds, blends, waits and tools have no place in such a table and are left out.
    Raises: ScenarioError for joint targets and circular moves; FieldworthyError for an unknown option.
    """
    metres, radians = _units(convention, length, angle)
    columns = ("X", "Y", "Z", *NAMES[convention])
    found = Findings(program.name)
    check_finite(found, program.moves)
    found.stop()
    names = [f"{name}_{length}" for name in columns[:3]]
    names += columns[3:] if len(columns) == 7 else [f"{name}_{angle}" for name in columns[3:]]
    rows = [", ".join(names)]
    for at, move in enumerate(program.moves, 1):
        if move.pose is None:
            found.problem(move.line, f"move {at}", "goes to joint positions", "poses")
            continue
        if move.kind == "circular":
            found.problem(move.line, f"move {at}", "is circular", "linear and joint moves")
            continue
        matrix = np.array(move.base_from_frame) @ np.array(move.pose)
        turn = values_of(convention, matrix[:3, :3]) / (1.0 if len(columns) == 7 else radians)
        rows.append(", ".join(fixed(value, 9) for value in [*(matrix[:3, 3] / metres).tolist(), *turn.tolist()]))
    found.stop()
    return "\n".join([*rows, ""])


def _units(convention: str, length: str, angle: str) -> tuple[float, float]:
    for what, given, known in (
        ("convention", convention, tuple(CONVENTIONS)),
        ("length", length, tuple(LENGTHS)),
        ("angle", angle, tuple(ANGLES)),
    ):
        if given not in known:
            raise FieldworthyError(f"{what} {given!r}; valid: {', '.join(known)}")
    return LENGTHS[length], ANGLES[angle]


def _cells(plain: str) -> list[str]:
    """The fields of a row. With semicolons or tabs between them, a comma may be the decimal point."""
    for separator in (";", "\t"):
        if separator in plain:
            cells = [cell.strip() for cell in plain.strip(separator).split(separator)]
            return [cell.replace(",", ".") if re.fullmatch(r"[-+]?\d+,\d+", cell) else cell for cell in cells]
    return [cell.strip() for cell in plain.split(",")] if "," in plain else plain.split()


@dataclass(frozen=True)
class _Form:
    """Convention and units of a table, as far as they are known."""

    convention: str | None = None
    length: Literal["mm", "m"] | None = None
    angle: Literal["deg", "rad"] | None = None

    def filled(self) -> tuple[str, Literal["mm", "m"], Literal["deg", "rad"]]:
        """With the defaults for what is not known."""
        return self.convention or "fanuc_wpr", self.length or "mm", self.angle or "deg"


def _named(cells: list[str], given: _Form, line: int, found: Findings) -> _Form:
    """What a row of names says, beside what was asked for. Names that say nothing of a pose are passed over.

    A row that begins with X, Y, Z and goes on in no known way, or otherwise than asked for, is an error.
    """
    plain = [cell.strip("\"' ") for cell in cells]
    names = [re.split(r"[\s(\[_]", cell)[0].upper() for cell in plain]
    if names[:3] != ["X", "Y", "Z"]:
        if set(names[:3]) == {"X", "Y", "Z"}:
            found.problem(line, "names", f"columns in the order {', '.join(names)}", "X, Y, Z first")
        return given
    known = [name for name, columns in NAMES.items() if tuple(names[3 : 3 + len(columns)]) == columns]
    fits = [name for name in known if given.convention in (None, name)]
    if not fits:
        orders = "; ".join(", ".join(columns) for columns in NAMES.values())
        wanted = ", ".join(NAMES[given.convention]) if given.convention else orders
        found.problem(line, "names", f"X, Y, Z and then {', '.join(names[3:]) or 'nothing'}", wanted)
        return given
    # RX, RY, RZ are a rotation vector and Euler angles alike: which of them has to be said.
    if len(fits) > 1:
        found.problem(line, "names", f"{', '.join(NAMES[fits[0]])} may be {' or '.join(fits)}", "the option convention")
        return given
    units = [re.findall(r"[A-Za-z]+", re.split(r"[\s(\[_]", cell, maxsplit=1)[-1].lower()) for cell in plain]
    lengths = {unit for words in units[:3] for unit in words if unit in LENGTHS and words != ["x"]}
    angles = {unit for words in units[3 : 3 + len(NAMES[fits[0]])] for unit in words if unit in ANGLES}
    for what, told, asked in (("length", lengths, given.length), ("angle", angles, given.angle)):
        if len(told) > 1 or (asked is not None and told and told != {asked}):
            found.problem(line, "names", f"{what} in {' and '.join(sorted(told))}", asked or "one unit")
    length, angle = given.length or next(iter(lengths), None), given.angle or next(iter(angles), None)
    return _Form(fits[0], length, angle)


def _numbers(cells: list[str], columns: tuple[str, ...], line: int, found: Findings) -> list[float] | None:
    if len(cells) not in (len(columns), len(columns) + 1):
        what = f"{len(cells)} values in the row"
        found.problem(line, "row", what, f"{', '.join(columns)}, and at most a number of the point behind them")
        return None
    values: list[float] = []
    for name, cell in zip(columns, cells, strict=False):
        try:
            values.append(finite(cell))
        except StatementError as error:
            found.failure(line, name, error)
    return values if len(values) == len(columns) else None
