"""What a reader of a campaign must know and no figure says: how the map was read, and that all trials were the same."""

from __future__ import annotations

import numpy as np

from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import Scenario, map_layout
from fieldworthy.scenario.draw import varies
from fieldworthy.trials.result import Result


def map_notes(scenario: Scenario) -> list[str]:
    """What was repaired, left out or not known in the scenario's map, in sentences.

    Raises: ScenarioError when the map cannot be read.
    """
    layout = map_layout(scenario)
    return list(layout.notes) if layout is not None else []


def nothing_varies(scenario: Scenario) -> bool:
    """Whether nothing in the scenario differs from trial to trial. Sensors of the user's own may draw numbers."""
    start, lidar, waves = scenario.start, scenario.sensors.lidar, scenario.sea.waves
    flies = scenario.vehicle.kind == "aircraft"
    return not (
        start.spread_north_m
        or start.spread_east_m
        or start.spread_heading_deg
        or any(varies(obstacle) for obstacle in scenario.obstacles)
        or scenario.scatter
        or scenario.randomize
        or (waves is not None and waves.height_m > 0.0)
        or (lidar is not None and (lidar.noise_m or lidar.dropout))
        or scenario.sensors.extra
        or (flies and scenario.air.turbulence is not None)
        or (flies and scenario.control.navigation != "truth")
        or any(fault.spread_s or 0.0 < fault.probability < 1.0 for fault in scenario.faults)
    )


def all_the_same(result: Result) -> bool:
    """Whether two or more trials have ended, all with the same outcome, at the same time, after the same track."""
    if len(result.trial) < 2:
        return False
    ends = (result.outcome, result.time_s, result.path_m)
    places = (result.tracks["north_m"], result.tracks["east_m"])
    return all((values == values[0]).all() for values in ends) and all(
        np.array_equal(values, np.broadcast_to(values[0], values.shape), equal_nan=True) for values in places
    )


def sameness_notes(result: Result) -> list[str]:
    """A sentence where the trials are one trial flown again and again."""
    if not all_the_same(result):
        return []
    why = "nothing in the scenario varies" if nothing_varies(result.scenario) else "what varies makes no difference"
    return [
        f"All {len(result.trial)} trials are the same: {why}; add spread_* or [randomize]. "
        "The interval means nothing here."
    ]


def scenario_notes(scenario: Scenario) -> list[str]:
    """What can be known before anything is flown. Raises: ScenarioError when the map cannot be read."""
    notes = map_notes(scenario)
    if scenario.trials > 1 and nothing_varies(scenario):
        why = "nothing in the scenario varies; add spread_* or [randomize]"
        notes.append(f"all {scenario.trials} trials will be the same: {why}")
    return notes + _too_late(scenario)


def _too_late(scenario: Scenario) -> list[str]:
    """What cannot happen before the trials end."""
    end, hold = f"duration_s = {scenario.duration_s:g}", scenario.goal.hold_s
    notes = []
    if hold is not None and hold >= scenario.duration_s:
        notes.append(f"no trial can succeed: goal.hold_s = {hold:g} is not below {end}")
    for index, fault in enumerate(scenario.faults):
        if fault.at_s >= scenario.duration_s:
            notes.append(f"faults.{index} ({fault.kind}) never happens: at_s = {fault.at_s:g} is not before {end}")
    return notes


def campaign_notes(result: Result) -> list[str]:
    """All notes on a campaign that has been flown; a map that has gone since then is not worth losing it."""
    try:
        notes = map_notes(result.scenario)
    except ScenarioError:
        notes = []
    return [*notes, *sameness_notes(result)]
