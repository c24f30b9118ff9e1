"""A finished run as the report sees it: only what the files of its folder say.

Frames: positions north and east [m] of the world origin; headings clockwise from north [rad].
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.environment.shapes import KIND_FROM_TYPE, Shape
from fieldworthy.trials.metric import METRICS
from fieldworthy.trials.report.files import damaged, read_csv, read_json, read_text, read_toml

FIXED_COLUMNS = (
    "trial",
    "outcome",
    "why",
    "time_s",
    "clearance_m",
    "path_m",
    "start_north_m",
    "start_east_m",
    "start_heading_deg",
    "redrawn",
)
CRASH = "crash"
"""Column of flights beside those of METRICS."""
OUTCOMES = ("goal", "collision", "timeout", "left area", "non-finite")
_TYPE_FROM_KIND = {kind: shape_type for shape_type, kind in KIND_FROM_TYPE.items()}
_CHANNELS = ("north_m", "east_m", "heading_rad", "clearance_m")


@dataclass(frozen=True)
class Trial:
    """One row of trials.csv; numbers that the file leaves empty are NaN."""

    trial: int
    outcome: str
    why: str
    time_s: float
    clearance_m: float
    path_m: float
    start_north_m: float
    start_east_m: float
    start_heading_deg: float
    redrawn: int
    parameters: dict[str, float]
    metrics: dict[str, float] = field(default_factory=dict)
    """Of a flight, by the names of `trials.metric.METRICS`."""
    crash: str = ""
    """What a flight crashed by, in a word."""

    @property
    def succeeded(self) -> bool:
        """Whether the goal was reached."""
        return self.outcome == "goal"


@dataclass(frozen=True)
class Track:
    """Where one trial's vehicle was, sample by sample (each array one value a sample)."""

    t_s: NDArray[np.float64]
    north_m: NDArray[np.float64]
    east_m: NDArray[np.float64]
    heading_rad: NDArray[np.float64]
    clearance_m: NDArray[np.float64]

    @property
    def closest(self) -> int:
        """Sample with the smallest clearance; the last one where no clearance is known."""
        known = np.isfinite(self.clearance_m)
        return int(np.nanargmin(np.where(known, self.clearance_m, np.inf))) if known.any() else len(self.t_s) - 1


@dataclass(frozen=True)
class RunData:
    """Everything that a report needs from a run folder."""

    folder: Path
    scenario: dict[str, Any]
    scenario_text: str
    run: dict[str, Any]
    summary: dict[str, Any]
    trials: list[Trial]
    parameter_names: list[str]
    tracks: dict[int, Track]
    """By trial number; a trial without samples has none."""
    shared: tuple[Shape, ...]
    layouts: dict[int, tuple[Shape, ...]] = field(default_factory=dict)
    """Shapes that only this trial has, by trial number."""

    @property
    def title(self) -> str:
        """What to call the run on a page."""
        return str(self.summary.get("title") or self.scenario.get("title") or self.name)

    @property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.summary.get("scenario") or self.scenario.get("name") or self.folder.name)

    @property
    def flies(self) -> bool:
        """Whether the vehicle is an aircraft: only these have air."""
        return "air" in self.scenario

    @property
    def has_shapes(self) -> bool:
        """Whether there is anything to keep clear of."""
        return bool(self.shared) or any(self.layouts.values())

    @property
    def successes(self) -> int:
        """How many trials reached the goal."""
        return sum(trial.succeeded for trial in self.trials)

    def table(self, *keys: str) -> dict[str, Any]:
        """A table of the scenario by its path; empty where the scenario does not have it."""
        node: Any = self.scenario
        for key in keys:
            node = node.get(key) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else {}


def read_run(folder: Path) -> RunData:
    """The run in `folder`; raises FieldworthyError where a file is missing or damaged."""
    scenario_text, scenario = read_toml(folder, "scenario.toml")
    run = read_json(folder, "run.json")
    summary = read_json(folder, "summary.json")
    trials, parameter_names = read_trials(folder)
    shared, layouts = _read_layouts(folder, [trial.trial for trial in trials])
    tracks = _read_tracks(folder, {trial.trial for trial in trials}) if trials else {}
    return RunData(folder, scenario, scenario_text, run, summary, trials, parameter_names, tracks, shared, layouts)


def read_trials(folder: Path) -> tuple[list[Trial], list[str]]:
    """The rows of trials.csv, and the names of the randomised parameters among its columns."""
    path = folder / "trials.csv"
    columns, rows = read_csv(folder, "trials.csv")
    missing = [name for name in FIXED_COLUMNS if name not in columns]
    if missing:
        raise damaged(path, f"the column {missing[0]} is missing")
    names = [name for name in columns if name not in (*FIXED_COLUMNS, *METRICS, CRASH)]
    figures = [name for name in METRICS if name in columns]
    trials = []
    for line, row in enumerate(rows, start=2):
        try:
            numbers = {name: _number(row[name]) for name in (*FIXED_COLUMNS[3:9], *names)}
            metrics = {name: _number(row[name]) for name in figures}
            trial, redrawn = int(row["trial"]), int(row["redrawn"] or 0)
        except ValueError as error:
            raise damaged(path, f"line {line}: {error}") from error
        parameters = {name: numbers.pop(name) for name in names}
        trials.append(
            Trial(
                trial,
                row["outcome"],
                row["why"],
                redrawn=redrawn,
                parameters=parameters,
                metrics=metrics,
                crash=row.get(CRASH, ""),
                **numbers,
            )
        )
    return trials, names


def _number(text: str) -> float:
    return float(text) if text.strip() else math.nan


def _read_tracks(folder: Path, wanted: set[int]) -> dict[int, Track]:
    path = folder / "trajectories.npz"
    try:
        with np.load(path, allow_pickle=False) as archive:
            t_s = np.asarray(archive["t_s"], dtype=np.float64)
            length = np.asarray(archive["length"], dtype=np.int64)
            number = np.asarray(archive["trial"], dtype=np.int64)
            channels = [np.asarray(archive[name]) for name in _CHANNELS]
    except FileNotFoundError:
        read_text(folder, path.name)  # says that the file is missing
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise damaged(path, f"it cannot be read ({error})") from error
    shape = (len(number), len(t_s))
    flat = t_s.ndim == number.ndim == 1
    if not flat or length.shape != number.shape or any(channel.shape != shape for channel in channels):
        raise damaged(path, "its arrays do not have one row a trial and one column a sample")
    tracks = {}
    for row, trial in enumerate(number.tolist()):
        n = int(min(length[row], len(t_s)))
        if trial in wanted and n > 0:
            north, east, heading, clearance = (c[row, :n].astype(np.float64) for c in channels)
            # A trial that ends non-finite has NaN in its last samples: the track is what was finite before.
            finite = np.isfinite(north) & np.isfinite(east)
            if finite.any():
                tracks[trial] = Track(t_s[:n][finite], north[finite], east[finite], heading[finite], clearance[finite])
    return tracks


def _read_layouts(folder: Path, trials: list[int]) -> tuple[tuple[Shape, ...], dict[int, tuple[Shape, ...]]]:
    content = read_json(folder, "layouts.json")
    path = folder / "layouts.json"
    try:
        shared = tuple(_shape(item) for item in content["shared"])
        own = [tuple(_shape(item) for item in items) for items in content["trials"]]
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, f"a shape or list in it is not valid ({error})") from error
    if own and len(own) != len(trials):
        raise damaged(path, f"it has {len(own)} layouts for {len(trials)} trials")
    return shared, dict(zip(trials, own, strict=False))


def _shape(item: dict[str, Any]) -> Shape:
    values = dict(item)
    kind = values.pop("kind")
    if kind not in _TYPE_FROM_KIND:
        raise ValueError(f"kind {kind!r}; valid: {', '.join(_TYPE_FROM_KIND)}")
    for key in ("points_ne_m", "holes_ne_m"):
        if key in values:
            values[key] = _tuples(values[key])
    shape: Shape = _TYPE_FROM_KIND[kind](**values)
    return shape


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else float(value)


def hull_outline(run: RunData) -> tuple[NDArray[np.float64], bool]:
    """The hull seen from above as (n, 2) points forward and right [m], and whether the run folder gives it.

    The scenario's vehicle values are looked at for an outline, then for length and beam; a run without either gets a
    5 m dart that only shows the heading.
    """
    values = run.table("vehicle", "set")
    for key in ("outline_m", "hull_outline_m"):
        try:
            flat = np.asarray(values.get(key, ()), dtype=np.float64).ravel()
        except (TypeError, ValueError):
            continue
        if len(flat) >= 6 and len(flat) % 2 == 0 and np.isfinite(flat).all():
            return flat.reshape(-1, 2), True
    length = _first(values, "length_m", "hull_length_m")
    beam = _first(values, "beam_m", "hull_beam_m", "width_m")
    known = length is not None and beam is not None
    half_length, half_beam = 0.5 * (length or 5.0), 0.5 * (beam or 2.0)
    shape = np.array([[1.0, 0.0], [0.45, 0.8], [0.1, 1.0], [-1.0, 1.0], [-1.0, -1.0], [0.1, -1.0], [0.45, -0.8]])
    return shape * (half_length, half_beam), known


def _first(values: dict[str, Any], *keys: str) -> float | None:
    found = [values[key] for key in keys if isinstance(values.get(key), (int, float))]
    return float(found[0]) if found and found[0] > 0 else None


def replay_folder(folder: Path) -> str:
    """The run folder as a user would type it: below the current folder where that holds."""
    try:
        return folder.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except (ValueError, OSError):
        return str(folder)
