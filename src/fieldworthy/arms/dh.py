"""Arms from Denavit-Hartenberg tables of either convention, as axes and points of the product of exponentials.

Equation: standard (Denavit & Hartenberg): A_i = Rz(s q + theta) Tz(d) Tx(a) Rx(alpha), and the joint turns about z of
    the frame before; modified (Craig): A_i = Rx(alpha) Tx(a) Rz(s q + theta) Tz(d), with the alpha_{i-1} and a_{i-1} of
    a textbook, and the joint turns about z of its own frame. A prismatic joint adds s q to d instead of theta.
Source: Denavit & Hartenberg, J. Applied Mechanics 22, 1955; Craig, Introduction to Robotics, 2005, ch. 3
Frames: the base is frame 0 of the table (or `base` of it), the flange its last frame (or `flange` of it).
Verified by: tests/verification/test_arm_dh.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fieldworthy.arms.chain import IDENTITY, Arm, Array, Capsule, Joint, Matrix, Triple, as_matrix
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean

CONVENTIONS = ("standard", "modified")


@dataclass(frozen=True)
class DhRow:
    """One joint of a table; metres and radians."""

    a_m: float = 0.0
    """Length along x. Modified: of the row before in a textbook's numbering (a_{i-1}), as such tables are printed."""
    alpha_rad: float = 0.0
    """Twist about x; modified: alpha_{i-1}."""
    d_m: float = 0.0
    """Offset along z; of a prismatic joint at position 0."""
    theta_rad: float = 0.0
    """Angle about z at position 0, which tables call the offset of the joint."""
    sign: int = 1
    """-1 where a positive position turns, or moves, against z."""
    lower: float = -math.pi
    upper: float = math.pi
    speed: float = math.inf
    acceleration: float = math.inf
    kind: Literal["revolute", "prismatic"] = "revolute"
    name: str = ""
    """Empty: joint_1, joint_2, ..."""


def arm_from_dh(
    name: str,
    rows: Sequence[DhRow],
    convention: str = "standard",
    *,
    base: Array | Matrix = IDENTITY,
    flange: Array | Matrix = IDENTITY,
    tool: Array | Matrix = IDENTITY,
    capsules: Sequence[Capsule] = (),
    near: Sequence[tuple[int, int]] = (),
    title: str = "",
) -> Arm:
    """An arm from the rows of a table.

    base: base_from_frame0, where a maker's base is not frame 0 of the table.
    flange: last_from_flange, where the flange is not the table's last frame (Franka's joint 8, KUKA's flange).
    Raises: ScenarioError naming rows for unknown conventions, signs and numbers that are not finite.
    """
    problems = _problems(name, rows, convention)
    if problems:
        raise ScenarioError(problems)
    pose = np.array(base, float)
    joints = []
    for number, row in enumerate(rows, 1):
        turn = _about_z(row.theta_rad, row.d_m)
        twist = _along_x(row.a_m, row.alpha_rad)
        if convention == "modified":
            pose = pose @ twist
        joints.append(
            Joint(
                row.name or f"joint_{number}", unit_axis(row.sign * pose[:3, 2]), triple(pose[:3, 3]),
                row.lower, row.upper, row.speed, row.acceleration, row.kind,
            )
        )  # fmt: skip
        pose = pose @ turn
        if convention == "standard":
            pose = pose @ twist
    last = as_matrix(tidy(pose @ np.array(flange, float)))
    return Arm(name, tuple(joints), last, as_matrix(np.array(tool, float)), tuple(capsules), tuple(near), title)


def tidy(values: Array) -> Array:
    """Numbers within 1e-14 of -1, 0 and 1 made exactly these: the cosine of a right angle is 6e-17 in floats.

    The laws fold exact zeros and ones away.
    """
    nearest = np.round(values)
    return np.where((np.abs(values - nearest) < 1e-14) & (np.abs(nearest) <= 1.0), nearest + 0.0, values)


def triple(values: Array) -> Triple:
    """Three floats, tidied."""
    x, y, z = (float(value) for value in tidy(np.asarray(values, float)))
    return x, y, z


def unit_axis(values: Array) -> Triple:
    """A direction scaled to length 1 and tidied; the caller has seen that it is not zero."""
    x, y, z = (float(value) for value in values)
    length = math.hypot(x, y, z)
    return triple(np.array([x / length, y / length, z / length]))


def _about_z(theta_rad: float, d_m: float) -> Array:
    c, s = math.cos(theta_rad), math.sin(theta_rad)
    return np.array([[c, -s, 0.0, 0.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, d_m], [0.0, 0.0, 0.0, 1.0]])


def _along_x(a_m: float, alpha_rad: float) -> Array:
    c, s = math.cos(alpha_rad), math.sin(alpha_rad)
    return np.array([[1.0, 0.0, 0.0, a_m], [0.0, c, -s, 0.0], [0.0, s, c, 0.0], [0.0, 0.0, 0.0, 1.0]])


def _problems(name: str, rows: Sequence[DhRow], convention: str) -> list[Problem]:
    problems = []
    if convention not in CONVENTIONS:
        what = f"no convention of tables named '{convention}'{did_you_mean(convention, CONVENTIONS)}"
        problems.append(Problem(f"arm {name}", what, " or ".join(CONVENTIONS)))
    for number, row in enumerate(rows, 1):
        where = f"arm {name}, row {number} of the table"
        for field in ("a_m", "alpha_rad", "d_m", "theta_rad"):
            if not math.isfinite(getattr(row, field)):
                problems.append(Problem(where, f"{field} = {getattr(row, field)}", "a finite number"))
        if row.sign not in (1, -1):
            problems.append(Problem(where, f"sign = {row.sign}", "1, or -1 where the joint turns the other way"))
    return problems
