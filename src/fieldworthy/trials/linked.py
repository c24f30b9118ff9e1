"""What came of a flight with a real autopilot: its ending in a sentence, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fieldworthy import __version__
from fieldworthy.core.engine import engine_facts, load_engine
from fieldworthy.links.host import Flown
from fieldworthy.links.lost import Loss
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.folder import command_line, default_folder, versions
from fieldworthy.trials.reasons import reason
from fieldworthy.trials.recorder import recording_of, write_recording
from fieldworthy.trials.result import LINK_LOST, STOPPED
from fieldworthy.world import OUTCOMES


def ending(flown: Flown, scenario: Scenario) -> tuple[str, str]:
    """(outcome, the same in a sentence): of `course.OUTCOMES`, LINK_LOST or STOPPED."""
    vehicle = flown.vehicle
    if not vehicle.running:
        standing = vehicle.standing
        outcome, end_tick = OUTCOMES[int(standing["outcome"])], int(standing["end_tick"])
        return outcome, reason(scenario, vehicle.world, flown.log.frames[-1], 0, outcome, end_tick)
    if flown.lost is not None and flown.lost.loss is Loss.OURS:
        return STOPPED, f"stopped at {vehicle.t_s:.3f} s: {flown.lost}"
    if flown.lost is not None:
        return LINK_LOST, f"link lost at {vehicle.t_s:.3f} s: {flown.lost}"
    return STOPPED, f"stopped at {vehicle.t_s:.3f} s"


def write_flight(flown: Flown, scenario: Scenario, trial: int, folder: Path | None = None) -> tuple[Path, Path]:
    """Write trial-K.mcap and trial-K.csv of a flight into a folder, by default runs/NAME-DATE-TIME; returns both paths.

    Raises: MissingExtraError without the extra 'log'; FieldworthyError when the files cannot be written.
    """
    outcome, why = ending(flown, scenario)
    facts: dict[str, Any] = {
        "fieldworthy": __version__, "command": command_line(), "engine": engine_facts(load_engine(scenario.precision)),
        **versions(),
    }  # fmt: skip
    target = folder or default_folder(f"{scenario.name}-link")
    target.mkdir(parents=True, exist_ok=True)
    recording = recording_of(
        scenario, flown.vehicle.world, trial, facts, flown.log.frames, flown.log.said, outcome=outcome, why=why
    )
    return write_recording(recording, target)
