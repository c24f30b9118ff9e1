"""Which vehicle a run had, and which values of its catalogue file the scenario has overridden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fieldworthy.catalog import load_entry
from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import Scenario


def vehicle_facts(scenario: Scenario) -> dict[str, Any]:
    """The model, its file's title, and by name [the file's value, the scenario's] of what differs, as plain data.

    A value that the file does not have is null there. Of a file that cannot be read any more only the model is told.
    """
    vehicle = scenario.vehicle
    try:
        entry = load_entry(vehicle.kind, vehicle.model, Path(scenario.source_path).parent)
    except ScenarioError:
        return {"model": vehicle.model, "title": "", "overridden": {}}
    pairs = {name: (_plain(entry.values.get(name)), _plain(value)) for name, value in vehicle.values.items()}
    differs = {name: list(pair) for name, pair in pairs.items() if pair[0] != pair[1]}
    return {"model": vehicle.model, "title": entry.title, "overridden": differs}


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
