"""Faults of devices that ArduPilot makes up itself: they are told to it as parameters of its own simulation.

ArduPilot in SITL makes its GNSS, barometer and compass from the true position, so that ours do not reach it. What it
can break itself is broken there, at the time that the scenario says; what it cannot is refused.

Source: ArduPilot, libraries/SITL (SIM_GPS1_ENABLE of 4.6 and later, SIM_GPS_DISABLE before; SIM_BARO_FREEZE).
Limits: a parameter takes effect when the ground station's message has come, some milliseconds of simulated time later.
Verified by: tests/verification/test_pilot.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.vehicle import NOT_TOLD
from fieldworthy.scenario.build_faults import fault_numbers
from fieldworthy.scenario.flight_schema import Fault
from fieldworthy.scenario.schema import Scenario

_TOLD: dict[tuple[str, str], tuple[dict[str, float], dict[str, float]]] = {
    ("sensor-loss", "gnss"): (
        {"SIM_GPS1_ENABLE": 0, "SIM_GPS_DISABLE": 1},
        {"SIM_GPS1_ENABLE": 1, "SIM_GPS_DISABLE": 0},
    ),
    ("sensor-freeze", "barometer"): (
        {"SIM_BARO_FREEZE": 1, "SIM_BAR2_FREEZE": 1},
        {"SIM_BARO_FREEZE": 0, "SIM_BAR2_FREEZE": 0},
    ),
}
"""Kind of fault and device to what breaks it, and what mends it."""

_VALID = "sensor-loss of gnss, sensor-freeze of barometer; or PX4, which hears ours"


@dataclass(frozen=True)
class Switch:
    """Parameters to be told at a time."""

    t_s: float
    parameters: dict[str, float]


def unheard(scenario: Scenario, kind: AutopilotKind) -> list[str]:
    """A sentence for each fault of a device that the autopilot makes up itself: it does not reach the autopilot."""
    return [_sentence(fault) for fault in scenario.faults if _is_unheard(fault, kind)]


def _is_unheard(fault: Fault, kind: AutopilotKind) -> bool:
    return fault.kind.startswith("sensor-") and _device(fault) in NOT_TOLD[kind]


def _device(fault: Fault) -> str:
    return fault.part.partition(".")[0]


def _sentence(fault: Fault) -> str:
    return f"{fault.kind} of the {_device(fault)} does not reach ArduPilot, which makes its own"


def refuse_unheard(scenario: Scenario, kind: AutopilotKind) -> None:
    """Raise: ScenarioError for faults and outages of devices that the autopilot makes up itself and cannot break."""
    found = []
    for i, fault in enumerate(scenario.faults):
        if _is_unheard(fault, kind) and (fault.kind, _device(fault)) not in _TOLD:
            found.append(Problem(f"faults.{i}", _sentence(fault), _VALID))
    receiver = scenario.sensors.gnss
    drawn = [path for path in scenario.randomize if path.startswith("sensors.gnss.outage")]
    if kind == "ardupilot" and receiver is not None and drawn:
        what = "a drawn outage does not reach ArduPilot"
        found.append(Problem(drawn[0], what, "a sensor-loss of gnss in [[faults]]"))
    if found:
        raise ScenarioError(found)


def switches(scenario: Scenario, kind: AutopilotKind, trial: int) -> list[Switch]:
    """What is told to the autopilot in a trial and when, in order."""
    found = []
    numbers = fault_numbers(scenario, np.array([trial], np.uint32))
    for fault, number in zip(scenario.faults, numbers, strict=True):
        if fault.part in NOT_TOLD[kind] and (fault.kind, fault.part) in _TOLD:
            found += _between((fault.kind, fault.part), float(number.onset_s[0]), float(number.end_s[0]))
    receiver = scenario.sensors.gnss
    if "gnss" in NOT_TOLD[kind] and receiver is not None and "outage_start_s" in receiver.values:
        end = receiver.values.get("outage_end_s", np.inf)
        found += _between(("sensor-loss", "gnss"), float(receiver.values["outage_start_s"]), float(end))
    return sorted((s for s in found if s.t_s <= scenario.duration_s), key=lambda switch: switch.t_s)


def _between(fault: tuple[str, str], onset_s: float, end_s: float) -> list[Switch]:
    broken, mended = _TOLD[fault]
    return [Switch(onset_s, broken), Switch(end_s, mended)] if onset_s < end_s else []
