"""A run of an arm's task on disk.

Files: task.toml (complete; playable again), run.json (provenance), summary.json, waypoints.csv, frames-SOLVER.csv of
each solver (frames-joints.csv where joint positions are played), path.csv (the planned path over time), inputs/,
report.html.
Angles are in degrees, lengths of prismatic joints in metres; the unit is in the column's name.
"""

from __future__ import annotations

import csv
import hashlib
import platform
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from fieldworthy import __version__
from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import fk
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.trials.arm.inputs import portable
from fieldworthy.trials.arm.measure import Measured
from fieldworthy.trials.arm.plan_figures import PlanFigures
from fieldworthy.trials.arm.run import ArmResult
from fieldworthy.trials.folder import cpu_name, git_commit, write_json
from fieldworthy.trials.save import without_losing


def fill(part: Path, result: ArmResult, command: str) -> None:
    """Write a run and its report into an existing folder."""
    from fieldworthy.trials.arm.report import write_report

    task = result.scene.task
    data, sums = portable(task, part)
    text = tomli_w.dumps(data, multiline_strings=True)
    (part / "task.toml").write_text(text, encoding="utf-8")
    facts = provenance(result, command, text, sums)
    write_json(part / "run.json", facts)
    write_json(part / "summary.json", result.summary())
    if isinstance(result.scene.motion, WaypointSet) and result.measured:
        _write_waypoints(part / "waypoints.csv", result.scene.motion, result.measured)
    for figures in result.measured:
        _write_frames(part / f"frames-{file_name(figures.played.solver)}.csv", result.scene.arm, figures)
    if isinstance(result.plan, PlanFigures):
        _write_path(part / "path.csv", result.plan)
    without_losing(lambda: write_report(part / "report.html", result, facts, text))


def file_name(solver: str) -> str:
    """The solver's name for use in a file's."""
    return re.sub(r"[^\w.-]+", "-", solver)


def provenance(result: ArmResult, command: str, text: str, sums: dict[str, str]) -> dict[str, Any]:
    """Everything that pins down how a run was made; `text` is its task.toml, `sums` the checksums of files read."""
    return {
        "schema": 1,
        "kind": "arm",
        "fieldworthy": __version__,
        "command": command,
        "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - result.wall_s)),
        "solvers": [figures.played.solver for figures in result.measured],
        "asked": list(result.asked),
        "interrupted": bool(result.stopped_by),
        "stopped_by": result.stopped_by or None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "wall_s": round(result.wall_s, 3),
        "git": git_commit(),
        "task_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "task_folder": str(Path(result.scene.task.source_path).parent),
        "files_sha256": sums,
    }


def joint_columns(arm: Arm) -> list[str]:
    """Names of the columns of joint positions: A1_deg, rail_m."""
    return [f"{joint.name}_{'deg' if joint.kind == 'revolute' else 'm'}" for joint in arm.joints]


def shown(arm: Arm, q: Array) -> Array:
    """Joint positions (n, dof) with angles in degrees."""
    turning = np.array([joint.kind == "revolute" for joint in arm.joints])
    return np.where(turning, np.degrees(q), q)


def _write(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows(rows)


def _cells(values: Array, form: str = ".6g") -> list[str]:
    """Numbers as text, nothing for NaN."""
    return [format(value, form) if value == value else "" for value in values.tolist()]


def _write_waypoints(path: Path, motion: WaypointSet, measured: Sequence[Measured]) -> None:
    columns = {
        "position_error_m": "position_error_m",
        "orientation_error_deg": "orientation_error_rad",
        "iterations": "iterations",
        "solve_us": "solve_us",
        "speed_ratio": "speed_ratio",
        "acceleration_ratio": "acceleration_ratio",
        "wrist_sine": "wrist",
        "clearance_m": "clearance_m",
    }
    rows: list[list[object]] = []
    for figures in measured:
        own = np.flatnonzero(motion.given)
        nothing = np.full(len(own), np.nan)
        values = {name: figures.waypoint.get(source, nothing) for name, source in columns.items()}
        values["orientation_error_deg"] = np.degrees(values["orientation_error_deg"])
        texts = [_cells(column) for column in values.values()]
        times = figures.played.t_s[figures.played.arrival]
        for index, row in enumerate(own):
            head = [figures.played.solver, index, motion.names[row], f"{times[index]:.6g}"]
            rows.append([*head, *(text[index] for text in texts)])
    _write(path, ["solver", "waypoint", "name", "t_s", *columns], rows)


def _write_frames(path: Path, arm: Arm, figures: Measured) -> None:
    played = figures.played
    stage = np.full(len(played.t_s), "motion", dtype=object)
    stage[: played.began], stage[played.ended + 1 :] = "approach", "after"
    places = played.reached[:, :3, 3]
    columns: list[Sequence[object]] = [_cells(played.t_s), stage.tolist()]
    columns += [_cells(column, ".9g") for column in shown(arm, played.q).T]
    columns += [_cells(column, ".7g") for column in places.T]
    names = ["t_s", "stage", *joint_columns(arm), "tool_x_m", "tool_y_m", "tool_z_m"]
    if played.solver != "joints":
        names += ["position_error_m", "orientation_error_deg", "iterations", "solve_us"]
        columns += [
            _cells(played.position_error_m),
            _cells(np.degrees(played.orientation_error_rad)),
            played.iterations.tolist(),
            _cells(played.solve_s * 1e6, ".4g"),
        ]
    extra = {
        "speed_ratio": figures.speed_ratio.max(axis=1),
        "acceleration_ratio": figures.acceleration_ratio.max(axis=1),
        "manipulability": figures.manipulability,
        "wrist_sine": figures.singular.wrist,
    }
    if figures.clearance_m is not None:
        extra["clearance_m"] = figures.clearance_m
    names += extra
    columns += [_cells(values) for values in extra.values()]
    _write(path, names, zip(*columns, strict=True))


def _write_path(path: Path, plan: PlanFigures) -> None:
    arm = plan.motion.arm
    tool = fk(arm, plan.q).reshape(-1, 4, 4)[:, :3, 3]
    names = [
        "t_s",
        *joint_columns(arm),
        "tool_x_m",
        "tool_y_m",
        "tool_z_m",
        "speed_ratio",
        "acceleration_ratio",
        "wrist_sine",
    ]
    columns = [_cells(plan.t_s, ".9g")]
    columns += [_cells(column, ".9g") for column in shown(arm, plan.q).T]
    columns += [_cells(column, ".7g") for column in tool.T]
    columns += [
        _cells(plan.speed_ratio.max(axis=1)), _cells(plan.acceleration_ratio.max(axis=1)), _cells(plan.singular.wrist)
    ]  # fmt: skip
    if plan.clearance_m is not None:
        names.append("clearance_m")
        columns.append(_cells(plan.clearance_m))
    _write(path, names, zip(*columns, strict=True))
