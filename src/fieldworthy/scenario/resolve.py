"""Bring the plain data of a scenario file into the one spelling of `schema.py`, reporting what cannot be.

Knots become m/s, a single count a pair, catalogue values fill in what the scenario leaves open. Longitude and latitude
are done by `reference_point.py`.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

from msgspec import inspect

from fieldworthy.catalog import CatalogEntry, load_entry
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.toml_lines import Path
from fieldworthy.core.units import m_s_from_kt
from fieldworthy.scenario.boat_values import check_boat, check_size, is_outline
from fieldworthy.scenario.check import Report, number_problem, unknown_key
from fieldworthy.scenario.schema import LidarConfig, Vehicle
from fieldworthy.scenario.wording import shown

UNIFORM_KEYS = ("elevation_min_deg", "elevation_max_deg", "elevation_step_deg", "azimuth_step_deg")
FIRING_KEYS = ("laser_elevation_deg", "firing_period_s", "laser_spacing_s")
PATTERN_KEYS = {"uniform": UNIFORM_KEYS, "firing": FIRING_KEYS}

_NON_NEGATIVE = inspect.FloatType(ge=0)


def table(data: dict[str, Any], *path: str) -> dict[str, Any]:
    """The table at a path; an empty one if it is absent or something else."""
    node: Any = data
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def use_one_spelling(data: dict[str, Any], report: Report) -> None:
    """Convert knots to m/s, a single scatter count to a pair and a single file to a list, in place."""
    if isinstance(data.get("scene_mesh"), str):
        data["scene_mesh"] = [data["scene_mesh"]]
    sea = table(data, "sea")
    for stem in ("current_speed", "wind_speed"):
        _knots_to_m_s(sea, stem, report)
    fields = data.get("scatter")
    for item in fields if isinstance(fields, list) else ():
        if isinstance(item, dict) and type(item.get("count")) is int:
            item["count"] = [item["count"], item["count"]]


def _knots_to_m_s(sea: dict[str, Any], stem: str, report: Report) -> None:
    knots, m_s = f"{stem}_kt", f"{stem}_m_s"
    if knots not in sea:
        return
    value = sea.pop(knots)
    wrong = number_problem(value, _NON_NEGATIVE)
    if m_s in sea:
        report.add(("sea", knots), f"both {knots} and {m_s} are given", f"one of {m_s}, {knots}")
    elif wrong:
        report.add(("sea", knots), f"{shown(knots, value)}{wrong}", "a finite number >= 0")
    else:
        sea[m_s] = float(m_s_from_kt(float(value)))


def fill_lidar(data: dict[str, Any], folder: pathlib.Path, report: Report) -> None:
    """Put the catalogue's values under the scenario's own in [sensors.lidar], in place."""
    sensors = data.setdefault("sensors", {})
    if not isinstance(sensors, dict):
        return
    own = sensors.setdefault("lidar", {})
    if not isinstance(own, dict):
        return
    path: Path = ("sensors", "lidar")
    entry = _entry("lidar", own.setdefault("model", "vlp16-uniform"), folder, (*path, "model"), report)
    if entry is None:  # reported; neutral values keep the rest of the table checkable
        neutral = {"rate_hz": 10.0, "range_min_m": 0.0, "range_max_m": 1e9, "noise_m": 0.0, "pattern": "uniform"}
        sensors["lidar"] = {**neutral, **own}
        return
    valid = [name for name in LidarConfig.__struct_fields__ if name != "model"]
    for name in entry.values:
        if name not in valid:
            report.add(
                (*path, "model"), f"catalogue entry '{entry.name}' has an unknown value '{name}'", ", ".join(valid)
            )
    pattern = own.get("pattern", entry.values.get("pattern"))
    foreign = [name for other, names in PATTERN_KEYS.items() if other != pattern for name in names]
    values = {name: value for name, value in entry.values.items() if name in valid and name not in foreign}
    sensors["lidar"] = {**values, **own}
    _check_pattern(sensors["lidar"], own, pattern, report)


def _check_pattern(lidar: dict[str, Any], own: dict[str, Any], pattern: Any, report: Report) -> None:
    if pattern not in PATTERN_KEYS:
        return  # the choice itself is reported by the type check
    path: Path = ("sensors", "lidar")
    needed = PATTERN_KEYS[pattern]
    for other, names in PATTERN_KEYS.items():
        for name in names if other != pattern else ():
            if name in own:
                what = f"{name} belongs to pattern = '{other}', but this LiDAR has pattern = '{pattern}'"
                report.add((*path, name), what, ", ".join(needed))
    missing = [name for name in needed if name not in lidar]
    if missing:
        what = f"pattern = '{pattern}' needs {', '.join(missing)}"
        report.add((*path, "pattern"), what, "these keys in [sensors.lidar], or a model that has them")
    for name in needed:
        if name in lidar and name not in ("elevation_min_deg", "elevation_max_deg") and lidar[name] in (0, []):
            what = "the list is empty" if lidar[name] == [] else f"{name} = 0 is too small"
            report.add((*path, name), what, "at least one elevation" if lidar[name] == [] else "a number > 0")


def fill_vehicle(data: dict[str, Any], folder: pathlib.Path, report: Report) -> CatalogEntry | None:
    """Put the catalogue's values under the scenario's own in [vehicle.set], in place; returns the catalogue entry."""
    vehicle = data.setdefault("vehicle", {})
    if not isinstance(vehicle, dict):
        return None
    own = vehicle.setdefault("set", {})
    entry = _entry("boat", vehicle.setdefault("model", Vehicle().model), folder, ("vehicle", "model"), report)
    if entry is not None and not check_boat(entry, report):
        return None
    if entry is None or not isinstance(own, dict):
        return entry
    filled = dict(entry.values)
    for name, value in own.items():
        if name not in entry.values:
            unknown_key(("vehicle", "set", name), list(entry.values), report, "the catalogue file")
            continue
        wrong, valid = vehicle_value_problem(entry, name, value)
        if wrong:
            report.add(("vehicle", "set", name), f"{shown(name, value)}{wrong}", valid)
        else:
            filled[name] = value
    vehicle["set"] = {name: as_floats(value) for name, value in filled.items()}
    check_size(vehicle["set"], table(data, "randomize"), report)
    return entry


def vehicle_value_problem(entry: CatalogEntry, name: str, value: Any) -> tuple[str, str]:
    """(what is wrong, what would be valid) for a value that replaces one of the catalogue; ("", "") if it may.

    The new value has the old one's form; masses and inertias stay above 0; the entry's own limits hold.
    """
    old = entry.values[name]
    if isinstance(old, list):  # outline_m: `check_boat` has seen to it that nothing else is a list
        return ("", "") if is_outline(value) else (" is not a list of [forward, right] points", f"a list such as {old}")
    low, high = entry.limits.get(name, (-math.inf, math.inf))
    is_mass = name.endswith(("_kg", "_kg_m2")) and old > 0
    kind = inspect.FloatType(
        gt=0 if is_mass else None,
        ge=low if math.isfinite(low) else None,
        le=high if math.isfinite(high) else None,
    )
    bounds = ["> 0"] if is_mass else []
    bounds += [f">= {low:g}"] if low > -math.inf else []
    bounds += [f"<= {high:g}"] if high < math.inf else []
    return number_problem(value, kind), " ".join(["a finite number", " and ".join(bounds)]).strip()


def as_floats(value: Any) -> Any:
    """Whole numbers as floats, also inside lists, so that 1100 and 1100.0 are the same value."""
    if isinstance(value, list | tuple):
        return [as_floats(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
        return float(value)
    return value


def _entry(kind: str, model: Any, folder: pathlib.Path, path: Path, report: Report) -> CatalogEntry | None:
    if not isinstance(model, str):
        return None  # the type check reports it
    try:
        return load_entry(kind, model, folder)
    except ScenarioError as error:
        for problem in error.problems:
            if problem.where == "catalogue":
                report.add(path, problem.what, problem.valid)
            else:
                report.extend([problem], path)
        return None
