"""One trial that a real autopilot has flown, and its place among the trials of any campaign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fieldworthy.scenario.build import build
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.campaign import Flight
from fieldworthy.trials.result import OUTCOME_NAMES
from fieldworthy.world import Frame

SAMPLE_HZ = 25.0
"""Samples a second that the run folder keeps."""


@dataclass
class Trial:
    """One trial that is over, as it comes back from its process."""

    trial: int
    outcome: str
    why: str
    standing: dict[str, float]
    frames: list[Frame]
    time_s: float
    commands: NDArray[np.float64]
    """(exchanges, numbers of a command): what the autopilot commanded, with which the trial can be flown again."""
    texts: tuple[tuple[float, int, str], ...]
    """What the autopilot said: (simulated time, severity, text)."""


def sample_ticks(scenario: Scenario) -> int:
    """Ticks between two samples, a whole number of exchanges."""
    exchange = round(1.0 / (scenario.control.rate_hz * scenario.dt_s))
    return exchange * max(1, round(scenario.control.rate_hz / SAMPLE_HZ))


def as_flight(scenario: Scenario, trial: Trial) -> Flight:
    """The trial as a batch of one of any campaign."""
    flight = Flight(build(scenario, [trial.trial]))
    flight.every_ticks = sample_ticks(scenario)
    flight.frames = trial.frames
    flight.outcome[0] = 1 + OUTCOME_NAMES.index(trial.outcome)
    flight.end_tick[0] = trial.standing["end_tick"]
    flight.clearance[0], flight.path[0] = trial.standing["clearance_m"], trial.standing["path_m"]
    flight.length[0] = len(trial.frames)
    flight.complete[0] = True
    flight.told[0] = trial.why
    return flight
