"""What the commands on arms have in common: numbers in a row, poses, tools."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fieldworthy.arms.chain import Arm, Array

CONVENTIONS = ("rpy", "euler_zyx", "euler_xyz", "kuka_abc", "fanuc_wpr", "ur_rotvec", "abb_quat", "quat_wxyz",
               "quat_xyzw")  # fmt: skip
"""As arms/orientation.py has them; a test holds the two together."""
QUATERNIONS = ("abb_quat", "quat_wxyz", "quat_xyzw")


def numbers(text: str, option: str, counts: tuple[int, ...]) -> list[float]:
    """Numbers with commas or spaces between them.

    Raises: click.BadParameter for another count, or what is no finite number.
    """
    words = [word for word in re.split(r"[,;\s]+", text.strip().strip("[]()")) if word]
    wanted = " or ".join(str(count) for count in counts)
    try:
        found = [float(word) for word in words]
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise click.BadParameter(f"{option}: '{wrong}' is no number; valid: {wanted} numbers") from None
    if len(found) not in counts:
        raise click.BadParameter(f"{option}: {len(found)} numbers; valid: {wanted}")
    if not all(map(math.isfinite, found)):
        raise click.BadParameter(f"{option}: a number is not finite; valid: {wanted} finite numbers")
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def pose(text: str, option: str, convention: str, millimetres: bool) -> Array:
    """A pose (4, 4) from `x y z` (with no turn) or `x y z` and an orientation in degrees (rotation vectors:
    radians)."""
    import numpy as np

    from fieldworthy.arms.orientation import pose_of

    turn = 4 if convention in QUATERNIONS else 3
    found = numbers(text, option, (3, 3 + turn))
    position = np.array(found[:3]) * (1e-3 if millimetres else 1.0)
    if len(found) == 3:
        return pose_of(position, "rpy", np.zeros(3))
    values = np.array(found[3:])
    if turn == 4 or convention == "ur_rotvec":
        return pose_of(position, convention, values)
    _doubt_degrees(found[3:], option)
    return pose_of(position, convention, np.radians(values))


def unit_doubts(arm: Arm, goal: Array, millimetres: bool) -> list[str]:
    """Sentences about a pose that looks as if it were given in another unit."""
    from fieldworthy.arms.singularity import reach_m

    away = float((goal[:3, 3] ** 2).sum() ** 0.5)
    reach = reach_m(arm)
    if not millimetres and away > 50.0 * reach:
        return [f"the pose is {away:.4g} m from the base and the arm reaches {reach:.2f} m: given in mm? Then add --mm"]
    if millimetres and 0.0 < away < 0.02 * reach:
        return [f"the pose is {away * 1e3:.3g} mm from the base: given in m? Then leave out --mm"]
    return []


def joints(text: str, option: str, arm: Arm) -> Array:
    """Joint positions from degrees (metres of prismatic joints), (dof,)."""
    import numpy as np

    found = np.array(numbers(text, option, (arm.dof,)))
    turning = np.array([joint.kind == "revolute" for joint in arm.joints])
    _doubt_degrees(found[turning], option)
    return np.where(turning, np.radians(found), found)


def _doubt_degrees(angles: Iterable[float], option: str) -> None:
    """Note on standard error where angles look like radians."""
    from fieldworthy.arms.dataset import look_like_radians

    if look_like_radians(angles):
        click.echo(f"note: {option}: quarter turns in radians are among the angles; they are read as degrees", err=True)


def shown_joints(arm: Arm, q: Array) -> list[float]:
    """Joint positions in degrees (metres of prismatic joints)."""
    return [math.degrees(x) if joint.kind == "revolute" else float(x) for x, joint in zip(q, arm.joints, strict=True)]


def arm_and_tool(name: str, tool: str | None, convention: str, millimetres: bool) -> Arm:
    """The arm of a name or file, with a tool given as a pose from flange to tool."""
    from fieldworthy.arms.catalogue import load_arm

    arm = load_arm(name)
    if tool is None:
        return arm
    from fieldworthy.arms.singularity import reach_m

    flange_from_tool = pose(tool, "--tool", convention, millimetres)
    length = float((flange_from_tool[:3, 3] ** 2).sum() ** 0.5)
    if length > 5.0 * reach_m(arm) and not millimetres:
        click.echo(f"note: the tool is {length:.4g} m long: given in mm? Then add --mm", err=True)
    return arm.with_tool(flange_from_tool)


convention_options = [
    click.option("--convention", type=click.Choice(CONVENTIONS), default="rpy", show_default=True,
                 help="How the orientation is written; degrees, but radians for ur_rotvec."),
    click.option("--mm", "millimetres", is_flag=True, help="Lengths are in millimetres."),
    click.option("--tool", metavar="POSE", help="The tool on the flange, as a pose; default: the flange itself."),
]  # fmt: skip
