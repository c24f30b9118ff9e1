"""Fieldworthy: tells whether a robot is ready for the field, before it goes there.

import fieldworthy as fw

result = fw.fly(fw.load("boat-field"), trials=100)
print(result.success_rate, result.tracks["north_m"].shape)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldworthy.core.llvm import settle_llvm

settle_llvm()

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fieldworthy.control.actuation import Actuation
    from fieldworthy.control.controller import Command, Parameters, Readings
    from fieldworthy.control.flight_readings import FlightCommand, FlightReadings
    from fieldworthy.control.setpoint import Setpoint
    from fieldworthy.core.errors import FieldworthyError, ScenarioError
    from fieldworthy.scenario.build import build
    from fieldworthy.scenario.load import load, set_value
    from fieldworthy.sensors.sensor import Noise, Reading, Truth
    from fieldworthy.trials.campaign import fly
    from fieldworthy.trials.save import save
    from fieldworthy.world import advance, decision_of, readings_of, start, step

_HOME = {
    "Actuation": "fieldworthy.control.actuation",
    "Command": "fieldworthy.control.controller",
    "Parameters": "fieldworthy.control.controller",
    "Readings": "fieldworthy.control.controller",
    "FlightCommand": "fieldworthy.control.flight_readings",
    "FlightReadings": "fieldworthy.control.flight_readings",
    "Setpoint": "fieldworthy.control.setpoint",
    "Noise": "fieldworthy.sensors.sensor",
    "Reading": "fieldworthy.sensors.sensor",
    "Truth": "fieldworthy.sensors.sensor",
    "FieldworthyError": "fieldworthy.core.errors",
    "ScenarioError": "fieldworthy.core.errors",
    "build": "fieldworthy.scenario.build",
    "load": "fieldworthy.scenario.load",
    "set_value": "fieldworthy.scenario.load",
    "fly": "fieldworthy.trials.campaign",
    "save": "fieldworthy.trials.save",
    "advance": "fieldworthy.world",
    "decision_of": "fieldworthy.world",
    "readings_of": "fieldworthy.world",
    "start": "fieldworthy.world",
    "step": "fieldworthy.world",
}

__all__ = ["__version__", *_HOME]


def __dir__() -> list[str]:
    """The public names, for tab completion."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: `fieldworthy --help` does not wait for the compiler."""
    if name not in _HOME:
        raise AttributeError(f"module 'fieldworthy' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
