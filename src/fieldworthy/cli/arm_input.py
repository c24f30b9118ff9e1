"""What the commands on arms read: programs, waypoint sets, obstacles."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fieldworthy.arms.chain import Arm, Array
    from fieldworthy.arms.waypoints import WaypointSet

_BASE = "--base"


def read_motion(program: str, arm: Arm, frames: dict[str, Array]) -> WaypointSet:
    """The waypoints of a program, a JSON set or a built-in set.

    frames: base_from_frame by name; that of --base goes to formats that know no frames at all.
    Raises: FieldworthyError of what cannot be read; click.BadParameter for a frame that the format has no use for.
    """
    from fieldworthy.arms.dataset import builtin_sets, read_waypoints
    from fieldworthy.arms.program_waypoints import waypoints_of
    from fieldworthy.arms.programs import format_of, read_program
    from fieldworthy.core.errors import FieldworthyError

    place = Path(program)
    is_set = program in builtin_sets() or (place.suffix.lower() == ".json" and not is_trajectory(place))
    kind = None if is_set else format_of(place)
    options = _frame_options(kind, frames)
    if is_set:
        return read_waypoints(program)
    if kind == "joint_trajectory":
        raise FieldworthyError(
            f"{program}: joint positions over time are played, not planned; valid: fieldworthy arm convert to CSV, and "
            "a task with motion.joints"
        )
    return waypoints_of(read_program(place, **options), arm)


def _frame_options(kind: str | None, frames: dict[str, Array]) -> dict[str, Any]:
    if not frames:
        return {}
    from fieldworthy.arms.chain import as_matrix

    matrices = {name: as_matrix(matrix) for name, matrix in frames.items()}
    names = [name for name in frames if name != _BASE]
    if kind in ("gcode", "apt", "poses_csv"):
        if names:
            raise click.BadParameter(f"--frame {names[0]}=...: this format has no named frames; valid: --base POSE")
        return {"base_from_frame": matrices[_BASE]}
    if _BASE in frames:
        raise click.BadParameter("--base goes with G-code, APT and CSV of poses; others have frames of their own")
    if kind == "rapid":
        return {"frames": matrices}
    if kind == "fanuc_ls" and all(name.isdigit() for name in names):
        return {"frames": {int(name): matrix for name, matrix in matrices.items()}}
    what = "FANUC frames are numbers" if kind == "fanuc_ls" else "this file says all of its frames itself"
    raise click.BadParameter(f"--frame {names[0]}=...: {what}; valid: FANUC and RAPID programs")


def is_trajectory(place: Path) -> bool:
    """Whether a JSON file is a JointTrajectory and no waypoint set."""
    try:
        return '"joint_names"' in place.read_text(encoding="utf-8")[:10_000]
    except (OSError, UnicodeDecodeError):
        return False


def has_joints(place: Path) -> bool:
    """Whether a CSV has joint positions and not poses: by a time column or units of angle in its header."""
    from fieldworthy.arms.programs import read_text

    for line in read_text(place).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return any(word in line.lower() for word in ("t_s", "time", "_rad", "_deg"))
    return False


def read_obstacles(file: Path | None) -> tuple[Any, ...]:
    """The shapes of a TOML file with [[obstacles]] tables.

    Raises: FieldworthyError of what cannot be read.
    """
    if file is None:
        return ()
    from fieldworthy.arms.obstacle_tables import obstacles_from
    from fieldworthy.core.errors import FieldworthyError

    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FieldworthyError(f"{file}: {error}; valid: a TOML file with [[obstacles]]") from None
    return obstacles_from(data, str(file), folder=file.parent)


_LANGUAGE = {".src": "KUKA", ".script": "Universal Robots", ".urscript": "Universal Robots", ".mod": "ABB",
             ".prg": "ABB", ".modx": "ABB", ".ls": "FANUC"}  # fmt: skip


def other_makers(arm: Arm, program: str, has_joints: bool, out: Path | None) -> list[str]:
    """Notes where joint positions cross from one maker's arm to another's: the same numbers are another place there."""
    notes = []
    told, written = (
        _LANGUAGE.get(Path(program).suffix.lower()),
        _LANGUAGE.get("" if out is None else out.suffix.lower()),
    )
    if has_joints and told is not None and told not in arm.title:
        notes.append(f"joint targets of a {told} program are taken as those of {arm.name}, as they stand")
    if written is not None and written not in arm.title:
        notes.append(
            f"the first posture is written in joints of {arm.name}: on an arm of {written} it is another place"
        )
    return notes
