"""Fly one trial of a campaign again, alone, and compare every bit of its track with the campaign's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy import __version__
from fieldworthy.core.engine import engine_facts, load_engine
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.folder import read_run, versions
from fieldworthy.trials.inputs import changed
from fieldworthy.trials.piloted_again import result_again
from fieldworthy.trials.result import Result


@dataclass(frozen=True)
class Replay:
    """A trial flown again."""

    scenario: Scenario
    trial: int
    result: Result
    """Of this one trial."""
    differences: tuple[str, ...]
    """What is not the same, in sentences; empty when every bit agrees."""
    facts: dict[str, Any]
    """Provenance of the campaign."""

    @property
    def agrees(self) -> bool:
        """Whether every bit of the track agrees."""
        return not self.differences


def replay(folder: Path, trial: int) -> Replay:
    """Fly trial `trial` of the run in `folder` again.

    Raises: FieldworthyError when the run or the trial is not there.
    """
    scenario, facts, tracks = read_run(folder)
    found = np.flatnonzero(tracks["trial"] == trial)
    if not len(found):
        raise FieldworthyError(f"{folder}: trial {trial} is not in this run; {_known(tracks['trial'])}")
    row = int(found[0])
    result = fly(scenario, [trial]) if "pilot" not in facts else result_again(folder, scenario, facts, trial)
    if result.stopped_by:
        raise FieldworthyError(f"trial {trial} was stopped by {result.stopped_by}")
    return Replay(scenario, trial, result, tuple(_compare(tracks, row, result, facts)), facts)


def _known(numbers: NDArray[Any]) -> str:
    """Which trials there are: not each number in the range where a run was interrupted."""
    count = len(numbers)
    if count == 0:
        return "none finished"
    low, high = int(numbers.min()), int(numbers.max())
    if count == 1:
        return f"1 trial finished, number {low}"
    return f"{count} trials finished, numbered " + (
        f"{low} to {high}" if count == high - low + 1 else f"between {low} and {high}"
    )


def _compare(tracks: dict[str, NDArray[Any]], row: int, result: Result, facts: dict[str, Any]) -> list[str]:
    length = int(tracks["length"][row])
    found = []
    if length != int(result.length[0]):
        found.append(f"it lasted {length} samples in the campaign and {int(result.length[0])} now")
    both = min(length, int(result.length[0]))
    for name, now in result.tracks.items():
        if name not in tracks:
            found.append(f"{name} is not in the campaign's trajectories.npz")
            continue
        then = tracks[name][row, :both]
        same = then == now[0, :both]
        same |= (then != then) & (now[0, :both] != now[0, :both])
        if not same.all():
            first = int(np.argmin(same))
            found.append(
                f"{name} differs from t = {result.t_s[first]:g} s on: {then[first]!r} then, {now[0, first]!r} now"
            )
    gone = [name for name in tracks if name not in result.tracks and name not in ("t_s", "length", "trial")]
    if gone:
        found.append(f"{', '.join(gone)} in the campaign's trajectories.npz, and not now")
    return [*found, *_reasons(result, facts)] if found else []


def _reasons(result: Result, facts: dict[str, Any]) -> list[str]:
    """What is another one than in the campaign and may be why."""
    engine, then = engine_facts(load_engine(result.scenario.precision)), facts.get("engine")
    then = then if isinstance(then, dict) else {}
    other = [key for key, value in then.items() if key != "threads" and engine.get(key) != value]
    found = changed(result.scenario, facts)
    if other:
        found.append(f"the engine is another one than then: {', '.join(other)}")
    for name, version in {"fieldworthy": __version__, **versions()}.items():
        if name in facts and facts[name] != version:
            found.append(f"{name} is {version}, and was {facts[name]} then")
    return found
