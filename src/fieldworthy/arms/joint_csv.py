"""Joint positions over time, in CSV.

    # angle: deg
    t_s; j1; j2; j3; j4; j5; j6
    0.0; 0; -90; 90; 0; 45; 0
    0.8; 5; -85; 88; 0; 47; 10

- One line a sample: a time `t_s` (or `time_s`, evenly spaced or not) and a column a joint, by its name or j1 .. jn.
  Without a time column the rate is given, by the caller or in a comment `# rate_hz: 50`.
- A column says its unit: `j1_deg`, `j1_rad`, `rail_m`, `rail_mm`. One without is an angle, in the unit that a comment
  `# angle: deg` names.
- Separated by `,` or `;`; with `;` a number may have a decimal comma. `#` starts a comment. UTF-8.
Inside: seconds, radians, metres.
Verified by: tests/cases/test_arm_joint_csv.py
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.dataset import builtin_sets, data_path, look_like_radians
from fieldworthy.arms.interpolate import at_times
from fieldworthy.arms.json_lines import raise_all
from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError
from fieldworthy.core.toml_file import read_text
from fieldworthy.core.whole_file import write_whole_text

PositionUnit = Literal["rad", "m"]

_ANGLE: PositionUnit = "rad"
_TIMES = ("t_s", "time_s")
_DEG = math.pi / 180.0
_SCALES: dict[str, tuple[float, PositionUnit]]
_SCALES = {"deg": (_DEG, "rad"), "rad": (1.0, "rad"), "mm": (1e-3, "m"), "m": (1.0, "m")}
_COLUMNS = "t_s and one column a joint: j1_deg, j1_rad, rail_m or rail_mm"
_TOLD = re.compile(r"\s*(angle|rate_hz)\s*:\s*(.*?)\s*", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class JointSet:
    """Joint positions at times: n samples (1 or more) of dof joints.

    Raises: FieldworthyError for other shapes, numbers that are not finite, or times that do not increase.
    """

    t_s: Array
    """Shape (n,), increasing."""
    q: Array
    """Shape (n, dof) [rad, or m where `kinds` says so]."""
    names: tuple[str, ...]
    """Of the joints, as the file has them."""
    kinds: tuple[PositionUnit, ...] = ()
    """Unit of each joint's position; () for angles throughout."""
    name: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    """What looks wrong but is no error."""

    def __post_init__(self) -> None:
        if self.t_s.ndim != 1 or self.q.ndim != 2 or not 0 < len(self.t_s) == len(self.q):
            shapes = f"{self.t_s.shape} and {self.q.shape}"
            raise FieldworthyError(f"joints: shapes {shapes}; valid: (n,) and (n, dof), n >= 1")
        if len(self.names) != self.dof or len(self.kinds) not in (0, self.dof):
            raise FieldworthyError(f"joints: {len(self.names)} names of {self.dof} joints; valid: one a joint")
        if not (np.isfinite(self.t_s).all() and np.isfinite(self.q).all()):
            raise FieldworthyError("joints: a time or position is not finite; valid: numbers")
        if (np.diff(self.t_s) <= 0.0).any():
            at = int(np.argmax(np.diff(self.t_s) <= 0.0)) + 1
            raise FieldworthyError(f"joints: sample {at} at {self.t_s[at]:g} s is no later; valid: increasing times")

    def __len__(self) -> int:
        return len(self.t_s)

    @property
    def dof(self) -> int:
        """How many joints there are."""
        return int(self.q.shape[1])

    def at(self, t_s: ArrayLike) -> Array:
        """Positions at times () or (m,): (dof,) or (m, dof), linear in time, held before the first and after the last.

        Angles are taken as given: from 170 to 190 deg the joint turns 20 deg, from 170 to -170 deg it turns 340.
        """
        return at_times(self.t_s, self.q, t_s)

    def for_arm(self, arm: Arm) -> JointSet:
        """The same in the order of the arm's joints: by name where all names are known, else as the columns stand.

        Raises: FieldworthyError for another number of joints, or angles for prismatic joints and the other way round.
        """
        if self.dof != arm.dof:
            raise FieldworthyError(f"{self.source or 'joints'}: {self.dof} joints; valid: the {arm.dof} of {arm.name}")
        wanted = tuple(joint.name for joint in arm.joints)
        order = [self.names.index(name) for name in wanted] if set(wanted) == set(self.names) else list(range(self.dof))
        given: tuple[PositionUnit, ...] = self.kinds or (_ANGLE,) * self.dof
        kinds = tuple(given[i] for i in order)
        for joint, kind in zip(arm.joints, kinds, strict=True):
            if (joint.kind == "prismatic") != (kind == "m"):
                unit = "m or mm" if joint.kind == "prismatic" else "deg or rad"
                place = f"{self.source or 'joints'}: joint {joint.name} of {arm.name}"
                raise FieldworthyError(f"{place} is {joint.kind} and given in {kind}; valid: {unit}")
        names = tuple(self.names[i] for i in order)
        return JointSet(self.t_s, self.q[:, order], names, kinds, self.name, self.source, self.notes)


@dataclass(frozen=True)
class _Column:
    name: str
    scale: float
    kind: PositionUnit


def read_joint_csv(path_or_name: str | Path, rate_hz: float | None = None) -> JointSet:
    """Read joint positions over time, or a built-in set by its name; rate_hz where the file has no times.

    Raises: ScenarioError with everything that is wrong in the file: `file:line column: what; valid: ...`.
    """
    path = data_path(path_or_name, ".csv")
    name = str(path_or_name)
    text = read_text(path, name, f"a CSV of joints, or one of {', '.join(builtin_sets('.csv'))}")
    return _Table(name, text, rate_hz).read(path.stem)


class _Table:
    """One file in the reading."""

    def __init__(self, name: str, text: str, rate_hz: float | None) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.rate_hz = rate_hz
        self.angle: str | None = None
        self.rows: list[tuple[int, str]] = []
        """Lines that are neither blank nor comments, with their numbers."""
        self.separator = ","
        for number, line in enumerate(text.splitlines(), start=1):
            content, mark, comment = line.partition("#")
            if content.strip():
                self.rows.append((number, content))
            elif mark:
                self._comment(number, comment)

    def read(self, name: str) -> JointSet:
        if not self.rows:
            raise ScenarioError(Problem(self.name, "the file has no header and no samples", _COLUMNS))
        header_line, header = self.rows[0]
        self.separator = ";" if ";" in header else ","
        titles = self._cells(header)
        time, columns = self._header(header_line, titles)
        t_s: list[float] = []
        table: list[list[float]] = []
        for number, line in self.rows[1:]:
            cells = self._cells(line)
            if len(cells) != len(titles):
                valid = f"{len(titles)}, as in the header in line {header_line}"
                self._wrong(number, "", f"{len(cells)} values", valid)
                continue
            values = [self._number(number, title, cell) for title, cell in zip(titles, cells, strict=True)]
            if time is not None and not math.isnan(values[time]):
                self._later(number, t_s, values[time])
            t_s.append(len(t_s) / (self.rate_hz or 1.0) if time is None else values[time])
            table.append([value for index, value in enumerate(values) if index != time])
        if not table and not self.problems:
            self._wrong(header_line, "", "a header and no samples", "one line a sample below it")
        raise_all(self.problems, self.name)
        raw = np.array(table)
        q = raw * np.array([column.scale for column in columns])
        names, kinds = tuple(column.name for column in columns), tuple(column.kind for column in columns)
        return JointSet(np.array(t_s), q, names, kinds, name, self.name, self._notes(raw, columns))

    def _wrong(self, line: int, column: str, what: str, valid: str) -> None:
        self.problems.append(Problem(f"{self.name}:{line} {column}".strip(), what, valid))

    def _cells(self, line: str) -> list[str]:
        return [cell.strip().strip('"').strip() for cell in line.split(self.separator)]

    def _comment(self, line: int, comment: str) -> None:
        told = _TOLD.fullmatch(comment)
        if told is None:
            return
        key, value = told.group(1).lower(), told.group(2)
        if key == "angle":
            if value not in ("deg", "rad") or self.angle not in (None, value):
                what = f"'{value}'" if self.angle is None else f"'{value}' after '{self.angle}'"
                self._wrong(line, "# angle", what, "deg or rad, once")
                value = "deg"
            self.angle = value
        elif self.rate_hz is None:
            rate = _float(value)
            if rate is None or not (math.isfinite(rate) and rate > 0.0):
                self._wrong(line, "# rate_hz", f"'{value}'", "a number of samples a second > 0")
                rate = 1.0
            self.rate_hz = rate

    def _header(self, line: int, titles: list[str]) -> tuple[int | None, list[_Column]]:
        if all(_float(title) is not None for title in titles):
            self._wrong(line, "", "numbers in the first line, where the names of the columns belong", _COLUMNS)
            raise_all(self.problems, self.name)
        times = [index for index, title in enumerate(titles) if title in _TIMES]
        columns: list[_Column] = []
        for index, title in enumerate(titles):
            where = title or f"column {index + 1}"
            if index in times:
                if index != times[0]:
                    self._wrong(line, where, "a second column of times", "one of t_s, time_s")
                continue
            column = self._column(line, where, title)
            if column.name and any(column.name == other.name for other in columns):
                self._wrong(line, where, f"joint '{column.name}' has two columns", "one column a joint")
            columns.append(column)
        if not times and self.rate_hz is None:
            self._wrong(line, "", "no column of times", "a column t_s, or `# rate_hz: 50` above the header")
        if times and self.rate_hz is not None:
            self._wrong(line, titles[times[0]], "a column of times and a rate as well", "one of the two")
        if not columns:
            self._wrong(line, "", "no column of a joint", _COLUMNS)
        if self.rate_hz is not None and not (math.isfinite(self.rate_hz) and self.rate_hz > 0.0):
            self._wrong(line, "", f"a rate of {self.rate_hz:g} Hz", "> 0")
            self.rate_hz = 1.0
        return (times[0] if times else None), columns

    def _column(self, line: int, where: str, title: str) -> _Column:
        stem, _, unit = title.rpartition("_")
        if not title:
            self._wrong(line, where, "a column without a name", _COLUMNS)
        elif re.search(r"_s2?$|_ms$|_min$", title) or title.lower() in ("t", "time", "timestamp", "t_ms", "time_ms"):
            self._wrong(line, where, "neither a joint's position nor a time in seconds", _COLUMNS)
        elif stem and unit in _SCALES:
            return _Column(stem, *_SCALES[unit])
        elif self.angle is None:
            valid = f"{title}_deg or {title}_rad, or a line `# angle: deg` above the header"
            self._wrong(line, where, "no unit", valid)
        else:
            return _Column(title, *_SCALES[self.angle])
        return _Column("", 1.0, "rad")

    def _number(self, line: int, column: str, cell: str) -> float:
        """The cell's number; NaN, and a problem told, where it is none."""
        number = _float(cell.replace(",", ".") if self.separator == ";" else cell)
        if number is not None and math.isfinite(number):
            return number
        what = (
            "no value"
            if not cell
            else f"'{cell[:40]}' is no number"
            if number is None
            else f"{cell[:40]} is not finite"
        )
        self._wrong(line, column, what, "a number")
        return math.nan

    def _later(self, line: int, t_s: Sequence[float], now: float) -> None:
        before = next((t for t in reversed(t_s) if not math.isnan(t)), -math.inf)
        if now <= before:
            what = "stands here a second time" if now == before else f"comes after {before:g} s"
            self._wrong(line, "", f"time {now:g} s {what}", "times that increase")

    def _notes(self, raw: Array, columns: Sequence[_Column]) -> tuple[str, ...]:
        degrees = [index for index, column in enumerate(columns) if column.scale == _DEG]
        radians = [index for index, c in enumerate(columns) if c.kind == "rad" and c.scale == 1.0]
        notes = []
        given = raw[:, degrees]
        odd = (np.abs(given) > 1.6) & (given != np.round(given))
        if degrees and np.abs(given).max() <= 6.3 and (odd.sum() >= 3 or look_like_radians(given.ravel())):
            notes.append("all angles in degrees are below 6.3: radians?")
        if radians and np.abs(raw[:, radians]).max() > 4.0 * math.pi:
            notes.append("an angle in radians is more than two turns: degrees?")
        return tuple(notes)


def write_joint_csv(path: str | Path, joints: JointSet, angle: Literal["deg", "rad"] = "deg") -> None:
    """Write a set as CSV; `read_joint_csv` reads it again, to the bit in radians and to rounding in degrees.

    Raises: FieldworthyError where the file cannot be written, or for names that a header cannot hold.
    """
    kinds = joints.kinds or (_ANGLE,) * joints.dof
    for name in joints.names:
        if not name or re.search(r"[,;#\"\s]", name):
            raise FieldworthyError(f"{path}: joint name '{name}'; valid: no separators, quotes, spaces or #")
    units = [angle if kind == "rad" else "m" for kind in kinds]
    q = joints.q / np.array([_SCALES[unit][0] for unit in units])
    lines = [",".join(["t_s", *(f"{name}_{unit}" for name, unit in zip(joints.names, units, strict=True))])]
    lines += [",".join(map(repr, row)) for row in np.column_stack((joints.t_s, q)).tolist()]
    write_whole_text(Path(path), "\n".join(lines) + "\n")


def _float(text: str) -> float | None:
    # Python reads 1_000 as a number, and so do few others.
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
