"""A run on disk: written whole or not at all, read back with errors that name the file.

Files: scenario.toml, run.json (provenance), summary.json, trials.csv, trajectories.npz, layouts.json, report.html;
docs/run-folder.md says what each holds.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy import __version__
from fieldworthy.core.engine import engine_facts, load_engine
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.environment.shapes import KIND_FROM_TYPE, Layout
from fieldworthy.scenario import Scenario, load, to_toml
from fieldworthy.trials.result import Result


def default_folder(name: str) -> Path:
    """runs/NAME-DATE-TIME, with a number behind it if that is taken."""
    base = Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    return next(p for p in [base, *(Path(f"{base}-{i}") for i in range(2, 1000))] if not p.exists())


def check_free(folder: Path) -> None:
    """Refuse a folder that has something in it, before any work is done.

    Raises: FieldworthyError
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FieldworthyError(f"{folder}: is there already; valid for --out: a new folder or an empty one")


def write_whole(folder: Path, write: Callable[[Path], None]) -> Path:
    """Let `write` fill a folder beside the target, then rename it: a run folder is complete or not there.

    Raises: FieldworthyError when the disk is full or the place cannot be written.
    """
    check_free(folder)
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True)
        write(part)
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    except OSError as error:
        raise FieldworthyError(f"cannot write {folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def write_run(folder: Path, result: Result, command: str) -> None:
    """The files of a run, without its report, into an existing folder."""
    scenario = result.scenario
    (folder / "scenario.toml").write_text(to_toml(scenario), encoding="utf-8")
    write_json(folder / "run.json", provenance(result, command))
    write_json(folder / "summary.json", result.summary())
    _write_trials(folder / "trials.csv", result)
    np.savez_compressed(
        folder / "trajectories.npz",
        **{"t_s": result.t_s, "length": result.length, "trial": result.trial, **result.tracks},  # type: ignore[arg-type]
    )
    _write_layouts(folder / "layouts.json", result.layouts)


def write_json(path: Path, data: Any) -> None:
    """Plain data as indented JSON."""
    path.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def provenance(result: Result, command: str) -> dict[str, Any]:
    """Everything that pins down how a run was made."""
    scenario = result.scenario
    folder = Path(scenario.source_path).parent
    files = {}
    maps = (scenario.obstacles_geojson,) if scenario.obstacles_geojson is not None else ()
    for name in (*maps, *scenario.scene_mesh):
        files[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    return {
        "schema": 1,
        "fieldworthy": __version__,
        "command": command,
        "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - result.wall_s)),
        "seed": scenario.seed,
        "trials": result.asked,
        "finished": len(result.trial),
        "interrupted": bool(result.stopped_by),
        "stopped_by": result.stopped_by or None,
        "engine": engine_facts(load_engine(scenario.precision)),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "wall_s": round(result.wall_s, 3),
        "sim_s": round(result.sim_s, 3),
        "redrawn": int(result.redrawn.sum()),
        "rays": result.rays,
        "git": _git_commit(),
        "scenario_sha256": hashlib.sha256(to_toml(scenario).encode()).hexdigest(),
        "scenario_folder": str(folder),
        "files_sha256": files,
    }


def read_run(folder: Path) -> tuple[Scenario, dict[str, Any], dict[str, Any]]:
    """The scenario, provenance and trajectories of a run folder.

    Raises: FieldworthyError when it is no run folder or a file is damaged; ScenarioError from its scenario.
    """
    if not (folder / "run.json").is_file():
        raise FieldworthyError(f"{folder}: no run folder (it has no run.json); valid: a folder that `run` wrote")
    try:
        facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        with np.load(folder / "trajectories.npz") as file:
            tracks = {name: file[name] for name in file.files}
        source = facts["scenario_folder"]
    except (OSError, ValueError, KeyError) as error:
        raise FieldworthyError(f"{folder}: damaged run folder ({type(error).__name__}: {error})") from error
    return load(folder / "scenario.toml", folder=source), facts, tracks


def _write_trials(path: Path, result: Result) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["trial", "outcome", "why", "time_s", "clearance_m", "path_m", "start_north_m", "start_east_m",
             "start_heading_deg", "redrawn", *result.parameters]
        )  # fmt: skip
        for row in range(len(result.trial)):
            start = [result.tracks[name][row, 0] for name in ("north_m", "east_m", "heading_rad")]
            table.writerow(
                [
                    result.trial[row],
                    result.outcome[row],
                    result.why[row],
                    f"{result.time_s[row]:.4f}",
                    f"{result.clearance_m[row]:.4f}",
                    f"{result.path_m[row]:.3f}",
                    f"{start[0]:.4f}",
                    f"{start[1]:.4f}",
                    f"{np.degrees(start[2]):.4f}",
                    result.redrawn[row],
                    *(f"{values[row]:.9g}" for values in result.parameters.values()),
                ]
            )


def _write_layouts(path: Path, layouts: tuple[Layout, ...]) -> None:
    """Shapes that all trials have once, and each trial's own."""
    common = set.intersection(*(set(layout) for layout in layouts)) if layouts else set()
    shared = [shape for shape in (layouts[0] if layouts else ()) if shape in common]

    def plain(layout: Any) -> list[dict[str, Any]]:
        return [{"kind": KIND_FROM_TYPE[type(shape)], **asdict(shape)} for shape in layout]

    own = [plain(shape for shape in layout if shape not in common) for layout in layouts]
    path.write_text(json.dumps({"shared": plain(shared), "trials": own}), encoding="utf-8")


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _git_commit() -> str | None:
    """Commit of the source tree that this package runs from; None for an installed package."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return None
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def command_line() -> str:
    """The command as the user gave it."""
    return " ".join(["fieldworthy", *sys.argv[1:]])
