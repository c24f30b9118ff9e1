"""Bring the plain data of a scenario file into the one spelling of `schema.py`, reporting what cannot be.

Knots become m/s, a single count a pair, catalogue values fill in what the scenario leaves open. Longitude and latitude
are done by `reference_point.py`.
"""

from __future__ import annotations

import math
import pathlib
from dataclasses import replace
from typing import Any

from msgspec import inspect

from fieldworthy.catalog import DEVICES, CatalogEntry, load_entry, own_model, vehicle_kind
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.toml_lines import Path
from fieldworthy.core.units import m_s_from_kt
from fieldworthy.scenario.aircraft_values import WORDS, check_aircraft, check_set, same_form
from fieldworthy.scenario.boat_values import check_boat, check_size, is_outline
from fieldworthy.scenario.check import Report, number_problem, unknown_key
from fieldworthy.scenario.kinds import OF_AIRCRAFT
from fieldworthy.scenario.schema import LidarConfig, Vehicle
from fieldworthy.scenario.wording import shown
from fieldworthy.sensors.suite import usual_device_limits, usual_device_values

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
    """Convert knots to m/s, one scatter count to a pair, one file to a list and a rotor's number to text, in place."""
    if isinstance(data.get("scene_mesh"), str):
        data["scene_mesh"] = [data["scene_mesh"]]
    for name, stem in (("sea", "current_speed"), ("sea", "wind_speed"), ("air", "wind_speed")):
        _knots_to_m_s(table(data, name), name, stem, report)
    faults = data.get("faults")
    for item in faults if isinstance(faults, list) else ():
        if isinstance(item, dict) and type(item.get("part")) is int:
            item["part"] = str(item["part"])
    fields = data.get("scatter")
    for item in fields if isinstance(fields, list) else ():
        if isinstance(item, dict) and type(item.get("count")) is int:
            item["count"] = [item["count"], item["count"]]


def _knots_to_m_s(sea: dict[str, Any], name: str, stem: str, report: Report) -> None:
    knots, m_s = f"{stem}_kt", f"{stem}_m_s"
    if knots not in sea:
        return
    value = sea.pop(knots)
    wrong = number_problem(value, _NON_NEGATIVE)
    if m_s in sea:
        report.add((name, knots), f"both {knots} and {m_s} are given", f"one of {m_s}, {knots}")
    elif wrong:
        report.add((name, knots), f"{shown(knots, value)}{wrong}", "a finite number >= 0")
    else:
        sea[m_s] = float(m_s_from_kt(float(value)))


def fill_lidar(data: dict[str, Any], kind: str, folder: pathlib.Path, report: Report) -> None:
    """Put the catalogue's values under the scenario's own in [sensors.lidar], in place. Every boat has a LiDAR."""
    sensors = data.setdefault("sensors", {})
    if not isinstance(sensors, dict) or (kind != "boat" and "lidar" not in sensors):
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


def kind_of(data: dict[str, Any], folder: pathlib.Path) -> str:
    """The kind of the scenario's vehicle. Where the model does not tell, which is reported elsewhere: by the rest."""
    model = table(data, "vehicle").get("model", Vehicle().model)
    try:
        if isinstance(model, str):
            return vehicle_kind(model, folder)
    except ScenarioError:
        pass
    return "aircraft" if any(key in data for key in OF_AIRCRAFT) or "up_m" in table(data, "goal") else "boat"


def fill_usual(data: dict[str, Any], kind: str) -> None:
    """Put what is usual for what flies where the scenario says nothing, in place; a boat's is in the schema."""
    if kind == "boat":
        return
    data.setdefault("dt_s", 0.002)
    control = data.setdefault("control", {})
    if isinstance(control, dict):
        control.setdefault("controller", "mission")
        control.setdefault("rate_hz", 50.0)


def fill_vehicle(data: dict[str, Any], kind: str, folder: pathlib.Path, report: Report) -> CatalogEntry | None:
    """Put the catalogue's values under the scenario's own in [vehicle.set], in place; returns the catalogue entry."""
    vehicle = data.setdefault("vehicle", {})
    if not isinstance(vehicle, dict):
        return None
    own = vehicle.setdefault("set", {})
    model = vehicle.setdefault("model", Vehicle().model)
    entry = _entry(kind, model, folder, ("vehicle", "model"), report)
    if entry is None and isinstance(model, str):
        _say_every_vehicle(model, folder, report)
    if entry is not None and not (check_boat(entry, report) if kind == "boat" else check_aircraft(entry, report)):
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
    if kind == "boat":
        check_size(vehicle["set"], table(data, "randomize"), report)
    else:
        check_set(vehicle["set"], own, report)
    return entry


def _say_every_vehicle(model: str, folder: pathlib.Path, report: Report) -> None:
    """Say of an unknown model what vehicles of every kind there are."""
    try:
        vehicle_kind(model, folder)
    except ScenarioError as error:
        path: Path = ("vehicle", "model")
        where = report.places.where(path)
        if any(problem.where == "catalogue" for problem in error.problems):
            report.found = [item for item in report.found if item[1].where != where]
            report.add(path, error.problems[0].what, error.problems[0].valid)


def fill_devices(
    data: dict[str, Any], kind: str, vehicle: CatalogEntry | None, folder: pathlib.Path, report: Report
) -> dict[str, CatalogEntry]:
    """Put the catalogue's values under the scenario's own in [battery] and [sensors.imu] and so on, in place.

    What the scenario does not name, the vehicle's file does. Returns the catalogue entries by "battery", "imu", ….
    """
    found: dict[str, CatalogEntry] = {}
    sensors = table(data, "sensors")
    for name in ("battery", *DEVICES):
        home, path = (data, (name,)) if name == "battery" else (sensors, ("sensors", name))
        usual = vehicle.values.get(name) if vehicle is not None and kind == "aircraft" else None
        if name not in home and usual is None:
            continue
        own = home.setdefault(name, {})
        if not isinstance(own, dict):
            continue  # the type check reports it
        if "model" not in own and usual is not None:
            own["model"] = own_model(str(table(data, "vehicle").get("model")), usual, folder)
        entry = _entry(name, own.get("model"), folder, (*path, "model"), report)
        given = own.setdefault("set", {})
        if entry is None or not isinstance(given, dict):
            continue
        filled, usual_values = dict(entry.values), usual_device_values(name)
        limits = {**usual_device_limits(), **entry.limits}
        entry = found[name] = replace(entry, values={**usual_values, **entry.values}, limits=limits)
        for key, value in given.items():
            if key not in entry.values:
                unknown_key((*path, "set", key), list(entry.values), report, "the catalogue file")
                continue
            wrong, valid = vehicle_value_problem(entry, key, value)
            if wrong:
                report.add((*path, "set", key), f"{shown(key, value)}{wrong}", valid)
            else:
                filled[key] = value
        own["set"] = {key: as_floats(value) for key, value in filled.items()}
    return found


def vehicle_value_problem(entry: CatalogEntry, name: str, value: Any) -> tuple[str, str]:
    """(what is wrong, what would be valid) for a value that replaces one of the catalogue; ("", "") if it may.

    The new value has the old one's form; masses and inertias stay above 0; the entry's own limits hold.
    """
    old = entry.values[name]
    of_rotor = "rotor_position_m" in entry.values and name.startswith(("rotor_", "motor_"))
    if isinstance(old, list):
        if name == "outline_m":
            fits, what = is_outline(value), " is not a list of [forward, right] points"
        else:
            for_all = of_rotor and same_form(0.0, value) and same_form(0.0, old[0])
            fits, what = for_all or same_form(old, value), " has another form than the catalogue's"
        return ("", "") if fits else (what, f"a list such as {old}")
    if isinstance(old, str):
        return ("", "") if isinstance(value, str) and name in WORDS else (" is not a name", f"a text such as '{old}'")
    if isinstance(value, list) and of_rotor:
        count = len(entry.values["rotor_position_m"])
        fits = len(value) == count and all(same_form(0.0, v) for v in value)
        return ("", "") if fits else (" has another form", f"a number, or a list of {count} numbers")
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
