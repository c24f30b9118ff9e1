"""The tracks of a flight that the charts over time show, read from the run folder one name at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.trials.flight_metrics import Place
from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.files import damaged

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FlightTracks:
    """Some trials of a run, all names; NaN after a trial's own end."""

    trials: list[int]
    t_s: Array
    values: dict[str, Array]
    """(trials, samples)"""

    def of(self, trial: int) -> dict[str, Array]:
        """One trial, without the samples after its end."""
        row = self.trials.index(trial)
        count = int(np.isfinite(self.values["north_m"][row]).sum())
        return {name: values[row, :count] for name, values in self.values.items()}


def read_flight_tracks(folder: Path, trials: Sequence[int]) -> FlightTracks:
    """All tracks of the given trials.

    Raises: FieldworthyError where the file is damaged.
    """
    path = folder / "trajectories.npz"
    try:
        with np.load(path, allow_pickle=False) as archive:
            number = archive["trial"].tolist()
            rows = [number.index(trial) for trial in trials]
            length = np.asarray(archive["length"])[rows]
            t_s = np.asarray(archive["t_s"], np.float64)
            past = np.arange(len(t_s)) >= length[:, None]
            values = {}
            for name in archive.files:
                if name in ("t_s", "length", "trial"):
                    continue
                some = np.asarray(archive[name][rows], np.float64)
                values[name] = np.where(past, np.nan, some)
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise damaged(path, f"it cannot be read ({error})") from error
    return FlightTracks(list(trials), t_s, values)


def read_saturation_s(folder: Path) -> tuple[float, dict[int, float]]:
    """Time between samples, and by trial the time that its margin was below 0 at the samples [s].

    Raises: FieldworthyError where the file is damaged.
    """
    path = folder / "trajectories.npz"
    try:
        with np.load(path, allow_pickle=False) as archive:
            t_s, margin = np.asarray(archive["t_s"], np.float64), np.asarray(archive["margin"])
            numbers = archive["trial"].tolist()
            period_s = float(t_s[1] - t_s[0]) if len(t_s) > 1 else 0.0
            # Past a trial's own end there is NaN, which is below nothing.
            below = np.sum(margin < 0.0, axis=1).tolist()
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise damaged(path, f"it cannot be read ({error})") from error
    return period_s, {trial: period_s * count for trial, count in zip(numbers, below, strict=True)}


def places_of(run: RunData) -> list[Place]:
    """Waypoints in order, the goal last, from the scenario's file."""
    waypoints = run.scenario.get("waypoints")
    items = [*(waypoints if isinstance(waypoints, list) else ()), run.table("goal")]
    return [
        Place(*(_number(item, key) for key in ("north_m", "east_m", "up_m", "radius_m", "hold_s")))
        for item in items
        if isinstance(item, dict)
    ]


def _number(item: dict[str, Any], key: str) -> float:
    value = item.get(key, 0.0)
    return float(value) if isinstance(value, (int, float)) else 0.0
