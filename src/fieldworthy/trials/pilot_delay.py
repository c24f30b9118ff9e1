"""A scenario whose clock begins on the ground: an autopilot finds itself before it flies.

Verified by: tests/verification/test_pilot.py
"""

from __future__ import annotations

from typing import Any

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.load import set_values
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.pilot_parameters import vehicle_of


def delayed(scenario: Scenario, by_s: float) -> Scenario:
    """The scenario with everything that it dates so much later: a time on the ground comes first.

    Faults, gusts, outages of the receiver and the time limit keep their distance from the start of the mission.
    """
    if scenario.start.up_m is not None and by_s > 0.0:
        what = f"start.up_m = {scenario.start.up_m:g}: an autopilot boots at rest, and this vehicle starts in the air"
        valid = "[start.catapult]" if vehicle_of(scenario) == "plane" else "no up_m: a start from the ground"
        raise FieldworthyError(f"{what}; valid: {valid}")
    values: dict[str, Any] = {"duration_s": scenario.duration_s + by_s}
    for i, fault in enumerate(scenario.faults):
        values[f"faults.{i}.at_s"] = fault.at_s + by_s
        if fault.until_s is not None:
            values[f"faults.{i}.until_s"] = fault.until_s + by_s
    for i, gust in enumerate(scenario.air.gusts):
        values[f"air.gusts.{i}.start_s"] = gust.start_s + by_s
    receiver = scenario.sensors.gnss
    for name in ("outage_start_s", "outage_end_s"):
        if receiver is not None and name in receiver.values:
            values[f"sensors.gnss.{name}"] = float(receiver.values[name]) + by_s
    drawn = [path for path in scenario.randomize if path.endswith(("_start_s", "_end_s", "at_s", "until_s"))]
    if drawn:
        raise FieldworthyError(f"{drawn[0]}: a drawn time cannot wait for an autopilot; valid: a time, or spread_s")
    return set_values(scenario, values)
