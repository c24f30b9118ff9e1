"""The positions of a FANUC .ls file, its section /POS, and frames and tools that remarks bring.

Source: FANUC HandlingTool operator's manual (position data, CONFIG).
Verified by: tests/cases/test_arm_programs_fanuc.py
"""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import Matrix, as_matrix
from fieldworthy.arms.orientation import pose_of
from fieldworthy.arms.programs.findings import Findings, StatementError
from fieldworthy.arms.programs.frames import M_PER_MM
from fieldworthy.arms.programs.words import finite
from fieldworthy.core.errors import FieldworthyError

POSITION = re.compile(r"P\[\s*(\d+)\s*(?::\s*\"?([^\"\]]*)\"?)?\s*\]\s*\{([^}]*)\}")
FIELD = re.compile(r"([XYZWPR]|[JE]\d)\s*=\s*([^\s,]+)(?:\s+([a-z]+))?")


@dataclass(frozen=True)
class Position:
    """One entry of /POS: joints [rad or m] as printed, or a pose in the frame of UF."""

    line: int
    uf: str
    ut: str
    label: str = ""
    joints: tuple[float, ...] | None = None
    pose: Matrix | None = None
    config: str = ""


def positions_of(text: str, offset: int, coupled: bool, findings: Findings) -> dict[int, Position]:
    """The entries of /POS by number."""
    found: dict[int, Position] = {}
    section = text[offset:]
    line, before = text.count("\n", 0, offset) + 1, 0
    for entry in POSITION.finditer(section):
        line += section.count("\n", before, entry.start())
        before = entry.start()
        number = int(entry[1])
        try:
            if number in found:
                raise StatementError("is given twice", "each position once")
            found[number] = _position(number, entry[2] or "", entry[3], line, coupled, findings)
        except (StatementError, FieldworthyError) as error:
            findings.failure(line, f"P[{number}]", error)
            found.setdefault(number, Position(line, "0", "0"))
    return found


def _position(number: int, label: str, body: str, line: int, coupled: bool, findings: Findings) -> Position:
    name = f"P[{number}]"
    groups = re.split(r"GP(\d+)\s*:", body)
    by_group = dict(zip(groups[1::2], groups[2::2], strict=True))
    if "1" not in by_group:
        raise StatementError("has no motion group 1", "GP1: with UF, UT and coordinates")
    if len(by_group) > 1:
        findings.note(line, f"{name}: groups other than GP1 are left out")
    group = by_group["1"]
    uf, ut = (re.search(rf"{key}\s*:\s*(\w+)", group) for key in ("UF", "UT"))
    for key, found in (("UF", uf), ("UT", ut)):
        if found is not None and found[1] != "F" and not found[1].isdecimal():
            raise StatementError(f"{found[1]!r} is no number", "a number, or F", f"{name}.{key}")
    config = re.search(r"CONFIG\s*:\s*'([^']*)'", group)
    bare = re.sub(r"CONFIG\s*:\s*'[^']*'", "", group)
    fields = {key: (value, unit) for key, value, unit in FIELD.findall(bare)}
    extra = [key for key in fields if key.startswith("E") and finite(fields[key][0], f"{name}.{key}") != 0.0]
    if extra:
        findings.note(line, f"{name}: external axes {', '.join(extra)} are left out")
    common = {"line": line, "uf": uf[1] if uf else "0", "ut": ut[1] if ut else "0", "label": label.strip()}
    joint_names = [key for key in fields if key.startswith("J")]
    if joint_names:
        if joint_names != [f"J{n}" for n in range(1, len(joint_names) + 1)]:
            raise StatementError(f"has {', '.join(joint_names)}", "J1, J2, ... without a gap")
        joints = [_with_unit(name, key, *fields[key]) for key in joint_names]
        if coupled and len(joints) >= 3:
            joints[2] += joints[1]
        return Position(**common, joints=tuple(joints))  # type: ignore[arg-type]
    missing = [key for key in "XYZWPR" if key not in fields]
    if missing:
        raise StatementError(f"lacks {', '.join(missing)}", "X, Y, Z, W, P, R, or J1 to J6")
    values = [_with_unit(name, key, *fields[key]) for key in "XYZWPR"]
    matrix = as_matrix(pose_of(values[:3], "fanuc_wpr", values[3:]))
    return Position(**common, pose=matrix, config=config[1].strip() if config else "")  # type: ignore[arg-type]


def _with_unit(name: str, key: str, value: str, unit: str) -> float:
    """A coordinate in metres or radians."""
    lengths, angles = {"mm": M_PER_MM}, {"deg": math.pi / 180.0}
    scales = lengths if key in "XYZ" else angles if key in "WPR" else lengths | angles
    unit = unit or ("mm" if key in "XYZ" else "deg")
    if unit not in scales:
        raise StatementError(f"is in {unit!r}", " or ".join(scales), f"{name}.{key}")
    return finite(value, f"{name}.{key}") * scales[unit]


def remarked(text: str, letters: Literal["UF", "UT"]) -> dict[int, Matrix]:
    """Frames or tools whose values stand in remarks, as `write` puts them there: `! UF1 XYZ 1 2 3`, then `WPR`."""
    values: dict[tuple[int, str], list[float]] = {}
    for number, kind, rest in re.findall(rf"!\s*{letters}(\d+)\s+(XYZ|WPR)\s+([-+.\deE \t]+?)\s*;", text):
        with contextlib.suppress(ValueError):
            values[int(number), kind] = [float(word) for word in rest.split()]
    found = {}
    for number in {number for number, _ in values}:
        place, turn = values.get((number, "XYZ"), []), values.get((number, "WPR"), [])
        if len(place) == len(turn) == 3 and np.isfinite([*place, *turn]).all():
            matrix = pose_of(np.array(place) * 1e-3, "fanuc_wpr", np.radians(turn))
            found[number] = as_matrix(matrix)
    return found
