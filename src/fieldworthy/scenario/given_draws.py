"""What [randomize] draws gives way to what a person gives from outside: a value that is named is that value.

So does what was drawn around the values of another vehicle or device: a new model has its own.
"""

from __future__ import annotations

import pathlib
from typing import Any

from fieldworthy.catalog import DEVICES, load_entry, own_model, vehicle_kind
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.schema import Vehicle

DEVICE_HOMES: tuple[Path, ...] = (("battery",), *(("sensors", name) for name in DEVICES))
"""Tables of what the vehicle's file names where the scenario does not."""


def drop_given(data: dict[str, Any], path: Path, value: Any, report: Report) -> None:
    """Drop the draws of what an override gives: of the value at the path, or of all values in a table."""
    for name in _names(path, value):
        drop(data, name, f"{name} is given", report)


def drop_below(data: dict[str, Any], home: str, why: str, report: Report) -> None:
    """Drop all draws below a table."""
    drawn = data.get("randomize")
    for name in list(drawn) if isinstance(drawn, dict) else ():
        if name.startswith(f"{home}."):
            drop(data, name, why, report)


def drop(data: dict[str, Any], name: str, why: str, report: Report) -> None:
    """Drop one draw, unless it was itself given from outside; the report keeps what a person should know."""
    drawn, given = data.get("randomize"), report.places.options
    if isinstance(drawn, dict) and name in drawn and ("randomize",) not in given and ("randomize", name) not in given:
        report.dropped[name] = (why, drawn.pop(name))


def notes_on_draws(report: Report) -> list[str]:
    """What a person should know although nothing is wrong, in sentences: one for each reason."""
    drawn: dict[str, list[str]] = {}
    for name, (why, interval) in report.dropped.items():
        own = why == f"{name} is given"
        ends = interval if isinstance(interval, list | tuple) else ()
        shown = ", ".join(f"{end:g}" if isinstance(end, int | float) else str(end) for end in ends)
        drawn.setdefault(why, []).append(f"{'it' if own else name} is no longer drawn from [{shown}]")
    return [f"{why}, so {' and '.join(parts)}" for why, parts in drawn.items()]


def models_of(data: dict[str, Any], folder: pathlib.Path) -> dict[str, Any]:
    """The model of the vehicle and of every device by the path of its table; None where the vehicle's file fails."""
    vehicle = _table(data, "vehicle").get("model", Vehicle().model)
    usual = own_devices(vehicle, folder)
    found: dict[str, Any] = {"vehicle": vehicle}
    for home in DEVICE_HOMES:
        found[".".join(map(str, home))] = _table(data, *home).get("model", usual.get(str(home[-1])))
    found["sensors.lidar"] = _table(data, "sensors", "lidar").get("model")
    return found


def own_devices(vehicle: Any, folder: pathlib.Path) -> dict[str, Any]:
    """Models of battery and devices, by kind, that a vehicle's file names, as the scenario would name them."""
    try:
        if isinstance(vehicle, str) and vehicle_kind(vehicle, folder) == "aircraft":
            values = load_entry("aircraft", vehicle, folder).values
            names = [name for name in ("battery", *DEVICES) if isinstance(values.get(name), str)]
            return {name: own_model(vehicle, values[name], folder) for name in names}
    except ScenarioError:
        pass  # said elsewhere
    return {}


def _names(path: Path, value: Any) -> list[str]:
    """Names under [randomize] of the values at a path."""
    if isinstance(value, dict):
        return [name for key, item in value.items() for name in _names((*path, key), item)]
    keys = [str(key) for key in path]
    for home in (("vehicle",), *DEVICE_HOMES):
        if path[: len(home) + 1] == (*home, "set"):
            del keys[len(home)]
    if keys[0] in ("sea", "air") and keys[-1].endswith("_kt"):
        keys[-1] = keys[-1].removesuffix("_kt") + "_m_s"
    return [".".join(keys)]


def _table(data: dict[str, Any], *path: Any) -> dict[str, Any]:
    node: Any = data
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}
