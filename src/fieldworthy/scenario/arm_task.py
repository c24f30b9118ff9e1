"""Arm tasks from files, with everything that is wrong said at once, and the arm, motion and obstacles that they
name."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import msgspec
import numpy as np
import tomli_w
from msgspec import inspect

from fieldworthy.arms.catalogue import load_arm, ready_posture
from fieldworthy.arms.chain import Arm, Array, Capsule
from fieldworthy.arms.dataset import look_like_radians, read_waypoints
from fieldworthy.arms.dh import triple
from fieldworthy.arms.joint_csv import JointSet, read_joint_csv
from fieldworthy.arms.obstacle_tables import obstacles_from
from fieldworthy.arms.obstacles import Obstacle
from fieldworthy.arms.orientation import pose_of
from fieldworthy.arms.program_waypoints import waypoints_of
from fieldworthy.arms.programs import read_program
from fieldworthy.arms.singularity import reach_m
from fieldworthy.arms.solver import SEED_SOLVERS, SOLVERS
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_file import TomlFile, read_toml
from fieldworthy.scenario.arm_schema import ArmTask, ArmTool
from fieldworthy.scenario.check import Report, check, convert
from fieldworthy.scenario.override import parse_path, parse_value

_FOLDER = pathlib.Path(str(resources.files("fieldworthy") / "scenarios" / "arms"))
_TYPE = inspect.type_info(ArmTask)
_MOTIONS = ("waypoints", "joints", "program")


@dataclass(frozen=True)
class ArmScene:
    """What a task names, read and brought together."""

    task: ArmTask
    arm: Arm
    """With the task's tool, or the motion's own."""
    start: Array
    """(dof,) [rad]."""
    motion: WaypointSet | JointSet
    obstacles: tuple[Obstacle, ...]


def built_in_tasks() -> list[str]:
    """Names of the arm tasks that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def is_arm_task(name_or_path: str | pathlib.Path) -> bool:
    """Whether this names an arm's task: a built-in one, or a TOML file with a table [arm]."""
    if str(name_or_path) in built_in_tasks():
        return True
    path = pathlib.Path(name_or_path)
    try:
        return path.suffix == ".toml" and path.is_file() and "arm" in read_toml(path, str(path), "a task").data
    except (ScenarioError, OSError, ValueError):
        return False  # whoever loads it will say what is wrong


def load_arm_task(name_or_path: str | pathlib.Path, overrides: Sequence[str] = ()) -> ArmTask:
    """Read a built-in task by name, or a file, with `path=value` overrides on top.

    Raises: ScenarioError with every problem found.
    """
    names = built_in_tasks()
    if str(name_or_path) in names:
        path = _FOLDER / f"{name_or_path}.toml"
        file = read_toml(path, path.name, "an arm's task")
    else:
        path = pathlib.Path(name_or_path).absolute()
        if not path.suffix and not path.exists():
            hint = did_you_mean(str(name_or_path), names)
            valid = f"{', '.join(names)}; or the path of a TOML file"
            raise ScenarioError(Problem(f"task '{name_or_path}'", f"no built-in task of this name{hint}", valid))
        file = read_toml(path, str(name_or_path), "an arm's task")
    report = Report(file.places, documented="docs/arms.md")
    _override(file, overrides, report)
    check(file.data, _TYPE, (), report)
    _check_motion(file.data.get("motion"), report)
    _check_solver(file.data.get("solver"), report)
    report.raise_if_any()
    task = convert(file.data, ArmTask, report.places.file)
    return msgspec.structs.replace(task, source_path=str(path))


def _override(file: TomlFile, overrides: Sequence[str], report: Report) -> None:
    for text in overrides:
        path_text, equals, value = text.partition("=")
        keys, origin = parse_path(path_text), f"--set {text}"
        if not equals or not keys:
            raise ScenarioError(
                Problem(origin, "an override names a path and a value", "path=value, such as play.rate_hz=250")
            )
        table: Any = file.data
        for key in keys[:-1]:
            if isinstance(table, list):
                if not (isinstance(key, int) and key < len(table)):
                    raise ScenarioError(Problem(origin, f"no element '{key}'", _elements(table)))
                table = table[key]
            else:
                table = table.setdefault(key, {})
            if not isinstance(table, dict | list):
                raise ScenarioError(Problem(origin, f"'{key}' is a value, not a table", "a key of a table"))
        last = keys[-1]
        if isinstance(table, list) and not (isinstance(last, int) and last < len(table)):
            raise ScenarioError(Problem(origin, f"no element '{last}'", _elements(table)))
        if isinstance(table, dict) and keys[:1] == ("motion",) and last in _MOTIONS:
            for other in _MOTIONS:  # another motion takes the place of the one that is there
                table.pop(other, None)
        if keys == ("arm", "model"):
            table.pop("start_deg", None)  # it was the other arm's
        table[last if isinstance(table, list) else str(last)] = _from_here(keys, parse_value(value))
        report.places.options[keys] = origin


def _elements(table: list[Any]) -> str:
    return f"0 to {len(table) - 1}" if table else "none: the list is empty"


def _from_here(keys: tuple[str | int, ...], value: Any) -> Any:
    """Files that an override names are looked for where the user stands, not beside the task."""
    names_file = keys in (("arm", "model"), *(("motion", name) for name in _MOTIONS))
    return str(pathlib.Path(value).absolute()) if names_file and pathlib.Path(str(value)).is_file() else value


def _check_motion(motion: Any, report: Report) -> None:
    if not isinstance(motion, dict):
        return
    given = [key for key in _MOTIONS if key in motion]
    if len(given) != 1:
        what = f"{' and '.join(given)} at once" if given else "no motion"
        report.add(("motion",), what, f"one of {', '.join(_MOTIONS)}")


def _check_solver(solver: Any, report: Report) -> None:
    name = solver.get("name") if isinstance(solver, dict) else None
    names = (*SOLVERS, *SEED_SOLVERS)
    if isinstance(name, str) and name not in names and ":" not in name:
        hint = did_you_mean(name, names)
        report.add(("solver", "name"), f"no solver '{name}'{hint}", f"{', '.join(names)}, or module:Class")


def arm_task_data(task: ArmTask) -> dict[str, Any]:
    """The task as plain data under the keys of the file."""
    data: dict[str, Any] = msgspec.to_builtins(task)
    data.pop("source_path")
    return _without_none(data)  # type: ignore[no-any-return]


def arm_task_toml(task: ArmTask) -> str:
    """The complete task as a file."""
    return tomli_w.dumps(arm_task_data(task), multiline_strings=True)


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list | tuple) else value


def arm_scene(task: ArmTask) -> ArmScene:
    """Read everything that a task names: paths start at its file's folder.

    Raises: ScenarioError or FieldworthyError of whatever cannot be read or does not fit together.
    """
    folder = pathlib.Path(task.source_path).parent
    arm = load_arm(task.arm.model, folder)
    motion = _motion(task, arm, folder)
    tool = task.arm.tool
    if tool is not None:
        arm = arm.with_tool(pose_of(np.array(tool.position_m), "rpy", np.radians(np.array(tool.rpy_deg))))
        if tool.length_m:
            arm = _with_rod(arm, tool.length_m, tool.radius_m)
        if isinstance(motion, WaypointSet):
            motion = replace(motion, flange_from_tool=np.array(arm.tool))
    elif isinstance(motion, WaypointSet) and motion.flange_from_tool is not None:
        arm = arm.with_tool(motion.flange_from_tool)
    where = f"{pathlib.Path(task.source_path).name} [arm] start_deg"
    obstacles = obstacles_from(task.obstacles, pathlib.Path(task.source_path).name, folder=folder)
    motion = replace(motion, notes=(*motion.notes, *_unit_doubts(task, arm)))
    return ArmScene(task, arm, _start(task, arm, where, folder), motion, obstacles)


def _unit_doubts(task: ArmTask, arm: Arm) -> list[str]:
    """Sentences about numbers of [arm] that look as if they were given in another unit."""
    tool = ArmTool() if task.arm.tool is None else task.arm.tool
    doubts = []
    for key, angles in (("start_deg", task.arm.start_deg or []), ("tool.rpy_deg", tool.rpy_deg)):
        if look_like_radians(angles):
            doubts.append(f"arm.{key}: quarter turns in radians are among the angles; they are read as degrees")
    lengths = (("position_m", float(np.linalg.norm(tool.position_m))), ("length_m", tool.length_m or 0.0))
    reach = reach_m(arm.with_tool(np.eye(4)))
    for key, length in lengths:
        if length > 5.0 * reach:
            doubts.append(f"arm.tool.{key}: {length:.4g} m, and the arm reaches {reach:.3g} m: given in mm?")
    return doubts


def _motion(task: ArmTask, arm: Arm, folder: pathlib.Path) -> WaypointSet | JointSet:
    given = task.motion

    def place(name: str) -> str | pathlib.Path:
        here = folder / name
        return here if here.exists() or "/" in name or "." in name else name

    if given.waypoints is not None:
        return read_waypoints(place(given.waypoints))
    if given.joints is not None:
        return read_joint_csv(place(given.joints)).for_arm(arm)
    return waypoints_of(read_program(place(str(given.program))), arm)


def _with_rod(arm: Arm, length_m: float, radius_m: float) -> Arm:
    flange = np.array(arm.flange)
    tip = flange[:3, 3] + flange[:3, 2] * max(length_m - radius_m, 0.0)
    first, last = triple(flange[:3, 3]), triple(tip)
    return replace(arm, capsules=(*arm.capsules, Capsule(arm.dof, first, last, radius_m, "tool")))


def _start(task: ArmTask, arm: Arm, where: str, folder: pathlib.Path) -> Array:
    if task.arm.start_deg is None:
        ready = None if task.arm.model.lower().endswith((".urdf", ".xml")) else ready_posture(task.arm.model, folder)
        return np.clip(np.zeros(arm.dof), arm.lower, arm.upper) if ready is None else ready
    given = task.arm.start_deg
    if len(given) != arm.dof:
        raise ScenarioError(Problem(where, f"{len(given)} numbers for {arm.dof} joints", f"{arm.dof} numbers"))
    turning = np.array([joint.kind == "revolute" for joint in arm.joints])
    q = np.where(turning, np.radians(given), given)
    outside = (q < arm.lower - 1e-9) | (q > arm.upper + 1e-9)
    problems = []
    for index in np.nonzero(outside)[0]:
        joint = arm.joints[index]
        limits = np.degrees([joint.lower, joint.upper]) if turning[index] else np.array([joint.lower, joint.upper])
        valid = f"{limits[0]:.6g} to {limits[1]:.6g}"
        problems.append(Problem(where, f"joint {joint.name} at {given[index]:g} is outside its limits", valid))
    if problems:
        raise ScenarioError(problems)
    return q
