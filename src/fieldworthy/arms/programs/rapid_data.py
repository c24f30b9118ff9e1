"""The data types of ABB RAPID and the data that every controller has.

Source: ABB, Technical reference manual: RAPID instructions, functions and data types, 3HAC050917 (components of the
types, predefined v5 to v7000 and z0 to z200; z0 is 0.3 mm).
Verified by: tests/cases/test_arm_programs_rapid.py
"""

from __future__ import annotations

import math
from typing import Any

from fieldworthy.arms.chain import Array
from fieldworthy.arms.orientation import matrix_of, values_of
from fieldworthy.arms.programs.findings import StatementError
from fieldworthy.arms.programs.frames import M_PER_MM, placed

RECORDS: dict[str, dict[str, str]] = {
    "pos": dict.fromkeys(("x", "y", "z"), "num"),
    "orient": dict.fromkeys(("q1", "q2", "q3", "q4"), "num"),
    "pose": {"trans": "pos", "rot": "orient"},
    "confdata": dict.fromkeys(("cf1", "cf4", "cf6", "cfx"), "num"),
    "extjoint": dict.fromkeys(("eax_a", "eax_b", "eax_c", "eax_d", "eax_e", "eax_f"), "num"),
    "robjoint": dict.fromkeys(("rax_1", "rax_2", "rax_3", "rax_4", "rax_5", "rax_6"), "num"),
    "robtarget": {"trans": "pos", "rot": "orient", "robconf": "confdata", "extax": "extjoint"},
    "jointtarget": {"robax": "robjoint", "extax": "extjoint"},
    "loaddata": {"mass": "num", "cog": "pos", "aom": "orient", "ix": "num", "iy": "num", "iz": "num"},
    "tooldata": {"robhold": "bool", "tframe": "pose", "tload": "loaddata"},
    "wobjdata": {"robhold": "bool", "ufprog": "bool", "ufmec": "string", "uframe": "pose", "oframe": "pose"},
    "speeddata": dict.fromkeys(("v_tcp", "v_ori", "v_leax", "v_reax"), "num"),
    "zonedata": {"finep": "bool"}
    | dict.fromkeys(("pzone_tcp", "pzone_ori", "pzone_eax", "zone_ori", "zone_leax", "zone_reax"), "num"),
}
"""The components of each data type, in order, and their types."""

_SLOW, _FAST = "5 10 20 30 40 50 60 80 100 150 200 300 400 500 600 800", "1000 1500 2000 2500 3000 4000 5000 6000 7000"
V_TCP = tuple(int(v) for v in f"{_SLOW} {_FAST}".split())
ZONES = (1, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200)
VMAX = math.inf
"""Stands for the v_tcp of vmax, which is another one on each robot."""
AT_ORIGIN = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
PREDEFINED: dict[str, tuple[str, Any]] = {
    **{f"v{v}": ("speeddata", [float(v), 500.0, 5000.0, 1000.0]) for v in V_TCP},
    "vmax": ("speeddata", [VMAX, 500.0, 5000.0, 1000.0]),
    **{f"z{z}": ("zonedata", [False, float(z), 0.0, 0.0, 0.0, 0.0, 0.0]) for z in ZONES},
    "z0": ("zonedata", [False, 0.3, 0.3, 0.3, 0.03, 0.3, 0.03]),
    "fine": ("zonedata", [True, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    "tool0": ("tooldata", [True, AT_ORIGIN, [0.001, [0.0, 0.0, 0.001], [1.0, 0.0, 0.0, 0.0], 0.0, 0.0, 0.0]]),
    "wobj0": ("wobjdata", [False, True, "", AT_ORIGIN, AT_ORIGIN]),
    "pi": ("num", math.pi),
    "true": ("bool", True),
    "false": ("bool", False),
    "high": ("num", 1.0),
    "low": ("num", 0.0),
    **{f"reg{n}": ("num", 0.0) for n in range(1, 6)},
}
UNUSED_AXIS = 8.9e8
"""An external axis that is not there has 9E9; anything of this size or more is taken for it."""


class UnknownError(StatementError):
    """A value that is not in the file."""


def nothing(type_name: str) -> Any:
    """What data holds before it is set: zeros."""
    if type_name in RECORDS:
        return [nothing(kind) for kind in RECORDS[type_name].values()]
    if type_name == "bool":
        return False
    return "" if type_name == "string" else 0.0


def shaped(value: Any, type_name: str, what: str) -> Any:
    """The value, if it is built as its data type. Raises: StatementError naming the component that is not."""
    if type_name in RECORDS:
        names = RECORDS[type_name]
        if not isinstance(value, list) or len(value) != len(names):
            many = f"{len(value)} values" if isinstance(value, list) else "no list"
            raise StatementError(f"{what} is {many} and no {type_name}", "[" + ",".join(names) + "]")
        for part, (name, kind) in zip(value, names.items(), strict=True):
            shaped(part, kind, f"{what}: {name}")
    elif isinstance(value, UnknownError):
        raise UnknownError(value.what, value.valid)
    elif type_name == "num" and (isinstance(value, bool) or not isinstance(value, float | int)):
        raise StatementError(f"{what} is {value!r}", "a number")
    elif type_name == "bool" and not isinstance(value, bool):
        raise StatementError(f"{what} is {value!r}", "TRUE or FALSE")
    elif type_name == "string" and not isinstance(value, str):
        raise StatementError(f"{what} is {value!r}", 'a text in " "')
    return value


def pose_of_values(value: Any, what: str) -> Array:
    """4x4 of [[x,y,z],[q1,q2,q3,q4]] in mm. Raises: StatementError for a quaternion whose length is not 1 to 0.01."""
    position, quaternion = shaped(value, "pose", what)
    length = math.sqrt(sum(part * part for part in quaternion))
    if abs(length - 1.0) > 0.01:
        raise StatementError(f"{what}: the quaternion has the length {length:.4g}", "1, to within 0.01")
    turn = matrix_of("abb_quat", [part / length for part in quaternion])
    return placed(turn, [part * M_PER_MM for part in position])


def as_values(matrix: Array) -> list[list[float]]:
    """[[x,y,z],[q1,q2,q3,q4]] in mm."""
    return [(matrix[:3, 3] / M_PER_MM).tolist(), values_of("abb_quat", matrix[:3, :3]).tolist()]
