"""A run on disk: what its files hold, read back with errors that name the file.

Files: scenario.toml, run.json (provenance), summary.json, trials.csv, trajectories.npz, layouts.json, report.html, and
inputs/ with copies of maps and modules; docs/run-folder.md says what each holds.
"""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import subprocess
import sys
import time
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from fieldworthy import __version__
from fieldworthy.core.engine import engine_facts, load_engine
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.environment.shapes import KIND_FROM_TYPE, Layout
from fieldworthy.scenario import Scenario, load, to_toml
from fieldworthy.trials import inputs
from fieldworthy.trials.notes import campaign_notes
from fieldworthy.trials.result import Result
from fieldworthy.trials.vehicle_facts import vehicle_facts
from fieldworthy.trials.whole_folder import check_free, new_folder, write_whole

__all__ = ["check_free", "command_line", "cpu_name", "default_folder", "git_commit", "new_folder", "provenance",
           "read_run", "write_json", "write_run", "write_whole"]  # fmt: skip


def default_folder(name: str) -> Path:
    """runs/NAME-DATE-TIME, with a number behind it if that is taken."""
    base = Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = [base, *(Path(f"{base}-{i}") for i in range(2, 1000))]
    # Another run that began in this second has no folder yet, only the hidden one that it fills.
    return next(p for p in names if not p.exists() and not any(p.parent.glob(f".{p.name}.*.part")))


def write_run(folder: Path, result: Result, command: str) -> None:
    """The files of a run, without its report, into an existing folder."""
    scenario = result.scenario
    (folder / "scenario.toml").write_text(to_toml(scenario), encoding="utf-8")
    used = inputs.inputs_of(scenario)
    copies = inputs.copy_inputs(used, folder)
    facts = {**provenance(result, command), "vehicle": vehicle_facts(scenario)}
    write_json(folder / "run.json", {**facts, "inputs": copies, "notes": campaign_notes(result)})
    write_json(folder / "summary.json", result.summary())
    _write_trials(folder / "trials.csv", result)
    np.savez_compressed(
        folder / "trajectories.npz",
        **{"t_s": result.t_s, "length": result.length, "trial": result.trial, **result.tracks},  # type: ignore[arg-type]
    )
    _write_layouts(folder / "layouts.json", result.layouts)
    if result.pilot:
        write_commands(folder, result)


def write_commands(folder: Path, result: Result) -> None:
    """What a real autopilot commanded and said: commands.npz, an array a trial, and autopilot.json."""
    given = {f"trial_{k}": commands for k, commands in zip(result.trial.tolist(), result.commands, strict=True)}
    np.savez_compressed(folder / "commands.npz", **given)  # type: ignore[arg-type]
    said = {
        str(k): [{"t_s": round(t_s, 3), "severity": severity, "text": text} for t_s, severity, text in texts]
        for k, texts in zip(result.trial.tolist(), result.texts, strict=True)
    }
    ends = zip(result.outcome.tolist(), result.why, strict=True)
    trials = {
        k: {"outcome": outcome, "why": why, "texts": texts}
        for (k, texts), (outcome, why) in zip(said.items(), ends, strict=True)
    }
    write_json(folder / "autopilot.json", {"pilot": result.pilot, "trials": trials})


def read_commands(folder: Path, trial: int) -> tuple[NDArray[np.float64], str, str]:
    """What the autopilot commanded in a trial of a run, and how the trial ended: its outcome, and in a sentence.

    Raises: FieldworthyError where it is not there.
    """
    try:
        with np.load(folder / "commands.npz") as given:
            commands = given[f"trial_{trial}"]
        end = json.loads((folder / "autopilot.json").read_text(encoding="utf-8"))["trials"][str(trial)]
        return commands, str(end["outcome"]), str(end["why"])
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise FieldworthyError(
            f"{folder}: commands.npz and autopilot.json do not have trial {trial} whole ({error})"
        ) from None


def write_json(path: Path, data: Any) -> None:
    """Plain data as indented JSON."""
    path.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def provenance(result: Result, command: str) -> dict[str, Any]:
    """Everything that pins down how a run was made."""
    scenario = result.scenario
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
        **versions(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "wall_s": round(result.wall_s, 3),
        "sim_s": round(result.sim_s, 3),
        "redrawn": int(result.redrawn.sum()),
        "rays": result.rays,
        "git": git_commit(),
        "scenario_sha256": hashlib.sha256(to_toml(scenario).encode()).hexdigest(),
        "scenario_folder": str(Path(scenario.source_path).parent),
        **inputs.provenance(inputs.inputs_of(scenario)),
        **({"pilot": result.pilot} if result.pilot else {}),
    }


def versions() -> dict[str, str]:
    """Of what else has a say in the numbers: layouts are judged with shapely and its GEOS."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "shapely": shapely.__version__,
        "geos": shapely.geos_version_string,
    }


def read_run(folder: Path) -> tuple[Scenario, dict[str, Any], dict[str, NDArray[Any]]]:
    """The scenario, provenance and trajectories of a run folder.

    Maps and modules are the run's own copies, where it has them, so that a run may be moved.
    Raises: FieldworthyError when it is no run folder or a file is damaged; ScenarioError from its scenario.
    """
    if not (folder / "run.json").is_file():
        raise FieldworthyError(f"{folder}: no run folder (it has no run.json); valid: a folder that `run` wrote")
    if (folder / "task.toml").is_file():
        again = f"`fieldworthy run {folder / 'task.toml'}` plays it again"
        what = "a run of an arm's task, which has no trials; valid: a run of a vehicle"
        raise FieldworthyError(f"{folder}: {what}; {again}")
    facts = _read_facts(folder / "run.json")
    tracks = _read_tracks(folder / "trajectories.npz")
    copies = facts.get("inputs")
    if isinstance(copies, dict):
        file = folder / "scenario.toml"
        moved = inputs.overrides_to_copies(file, copies)
        scenario = load(file, moved, folder=folder.absolute() / inputs.FOLDER, copies=copies)
    else:
        scenario = load(folder / "scenario.toml", folder=facts["scenario_folder"])
    return scenario, facts, tracks


def _read_facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("scenario_folder"), str):
        raise _damaged(path, "it is no object with 'scenario_folder'")
    return facts


def _read_tracks(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path) as file:
            tracks = {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    missing = [name for name in ("t_s", "length", "trial") if name not in tracks]
    if missing:
        raise _damaged(path, f"it has no {', '.join(missing)}")
    rows, samples = tracks["trial"].shape, tracks["t_s"].shape
    odd = [name for name, values in tracks.items() if name not in ("t_s", "length", "trial")
           and values.shape != (*rows, *samples)]  # fmt: skip
    if odd or len(rows) != 1 or len(samples) != 1 or tracks["length"].shape != rows:
        raise _damaged(path, f"arrays of other shapes than (trials, samples): {', '.join(odd) or 'length, trial, t_s'}")
    return tracks


def _damaged(path: Path, what: str) -> FieldworthyError:
    return FieldworthyError(f"{path}: damaged ({what}); valid: the file as `run` wrote it")


def _write_trials(path: Path, result: Result) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["trial", "outcome", "why", "time_s", "clearance_m", "path_m", "start_north_m", "start_east_m",
             "start_heading_deg", "redrawn", *result.parameters, *(["crash"] if len(result.crash) else []),
             *result.metrics]
        )  # fmt: skip
        for row in range(len(result.trial)):
            start = [result.tracks[name][row, 0] for name in ("north_m", "east_m", "heading_rad")]
            table.writerow(
                [
                    result.trial[row],
                    result.outcome[row],
                    result.why[row],
                    f"{result.time_s[row]:.4f}",
                    f"{result.clearance_m[row]:.4f}" if np.isfinite(result.clearance_m[row]) else "",
                    f"{result.path_m[row]:.3f}",
                    f"{start[0]:.4f}",
                    f"{start[1]:.4f}",
                    f"{np.degrees(start[2]):.4f}",
                    result.redrawn[row],
                    *(f"{values[row]:.9g}" for values in result.parameters.values()),
                    *result.crash[row : row + 1],
                    *(f"{values[row]:.6g}" if np.isfinite(values[row]) else "" for values in result.metrics.values()),
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


def cpu_name() -> str:
    """Of this machine, as its system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def git_commit() -> str | None:
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
