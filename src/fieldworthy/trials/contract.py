"""Check what a scenario needs beyond its file: layouts that can be sailed, and a controller that keeps its contract."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.build import build
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world import start, step

COMMANDS = ("cmd_surge_m_s", "cmd_yaw_rate_rad_s", "mode")

TRIALS = 3
DURATION_S = 2.0


def check_scenario(scenario: Scenario) -> list[str]:
    """What was checked, in sentences.

    Raises: FieldworthyError with the first promise that is broken: layouts (all trials are drawn), the controller's
    class and parameters, the shapes of its answers, the same answers when asked again, the same answers alone.
    """
    built = build(scenario)
    count = len(built.world.trials)
    redrawn = int(built.redrawn.sum())
    notes = [f"{count} layouts drawn, each with a way to the goal" + (f" ({redrawn} redrawn)" if redrawn else "")]
    numbers = [int(t) for t in built.world.trials[:TRIALS]]
    together, again = _answers(scenario, numbers), _answers(scenario, numbers)
    name = scenario.control.controller
    _same(
        together,
        again,
        f"controller '{name}' answered otherwise when the same trials were flown again; valid: answers that depend on "
        "readings and memory only (no counters of its own, no global random numbers)",
    )
    for row, trial in enumerate(numbers):
        alone = _answers(scenario, [trial])
        _same(
            {key: values[:, row : row + 1] for key, values in together.items()},
            alone,
            f"controller '{name}' steers trial {trial} otherwise alone than in a batch; valid: each entry of the "
            "answer from that entry of the readings only",
        )
    notes.append(f"controller '{name}': {len(numbers)} trials flown for {DURATION_S:g} s, together, again and alone")
    return notes


def _answers(scenario: Scenario, trials: list[int]) -> dict[str, np.ndarray[Any, Any]]:
    """Commands and modes of the first seconds, (samples, trials)."""
    world = build(scenario, trials).world
    state, rows = start(world), []
    while state.tick * world.timing.dt_s < DURATION_S and state.tick < world.timing.end:
        state, frame = step(world, state)
        rows.append(frame.values)
    watched = [key for key in rows[-1] if key in COMMANDS or "." in key]
    # A sensor that is heard late is missing from the first rows.
    found = {key: np.stack([row[key] for row in rows if key in row]) for key in watched}
    for key, values in found.items():
        if key in COMMANDS and not np.isfinite(values).all():
            raise FieldworthyError(
                f"controller '{scenario.control.controller}' answers {key} = {values[~np.isfinite(values)][0]}; "
                "valid: finite numbers"
            )
    return found


def _same(a: dict[str, np.ndarray[Any, Any]], b: dict[str, np.ndarray[Any, Any]], sentence: str) -> None:
    for key in a:
        if not np.array_equal(a[key], b[key], equal_nan=True):
            raise FieldworthyError(f"{sentence} ({key})")
