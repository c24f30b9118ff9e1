"""A trial that a real autopilot flew, once more without it: under the commands that the run folder keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.subnormal import flushed
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.host import ready
from fieldworthy.links.lockstep import Log
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.campaign import result_of
from fieldworthy.trials.folder import read_commands
from fieldworthy.trials.piloted_trial import Trial, as_flight, sample_ticks
from fieldworthy.trials.record import Recording
from fieldworthy.trials.recorder import recording_of
from fieldworthy.trials.result import Result
from fieldworthy.world import OUTCOMES
from fieldworthy.world.one_trial import OneTrial


def fly_again(
    scenario: Scenario, kind: AutopilotKind, number: int, commands: NDArray[np.float64], *, with_devices: bool = False
) -> tuple[OneTrial, Log]:
    """A trial once more, without the autopilot, under the commands that it gave: the same, bit for bit."""
    vehicle = ready(scenario, kind, number)
    log = Log(every=sample_ticks(scenario), with_devices=with_devices)
    with flushed():
        for command in commands.tolist():
            if not vehicle.running:
                break
            log.see(vehicle, command)
            vehicle.move(command, vehicle.world.timing.control)
    log.keep(vehicle, vehicle.command)
    return vehicle, log


def result_again(run: Path, scenario: Scenario, facts: dict[str, Any], trial: int) -> Result:
    """The trial's result. facts: of the run's provenance.

    Raises: FieldworthyError where the run folder has no commands of it.
    """
    commands, outcome, why = read_commands(run, trial)
    vehicle, log = fly_again(scenario, facts["pilot"]["kind"], trial, commands)
    if not vehicle.running:
        outcome = OUTCOMES[int(vehicle.standing["outcome"])]
    flown = Trial(trial, outcome, why, vehicle.standing, log.frames, vehicle.t_s, commands, ())
    return result_of(scenario, 1, [as_flight(scenario, flown)], "", 0.0)


def record_again(run: Path, scenario: Scenario, facts: dict[str, Any], trial: int) -> Recording:
    """The trial with everything kept."""
    commands, outcome, why = read_commands(run, trial)
    vehicle, log = fly_again(scenario, facts["pilot"]["kind"], trial, commands, with_devices=True)
    return recording_of(scenario, vehicle.world, trial, facts, log.frames, log.said, outcome=outcome, why=why)
