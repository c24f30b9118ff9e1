"""The catalogue: one vehicle or device a TOML file, every value with its source.

A file looks like this (`kind` and `title` first, then values; a value without a source is an error):

    kind = "lidar"
    title = "Velodyne VLP-16 at 10 Hz"
    [values]
    rate_hz = { value = 10.0, source = "VLP-16 User Manual 63-9243 Rev D" }

`min` and `max` beside a value limit what a scenario may set it to; `note` is for people.
"""

from __future__ import annotations

import math
import pathlib
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_file import Places, TomlFile, read_toml

VEHICLES = ("boat", "aircraft")
"""Kinds of vehicle."""

DEVICES = ("imu", "gnss", "barometer", "magnetometer", "airspeed", "rangefinder", "optical_flow", "odometry")
"""Kinds of device that what flies may carry."""

FOLDERS = {
    "boat": "boats", "aircraft": "aircraft", "lidar": "lidars", "battery": "batteries", "imu": "imus", "gnss": "gnss",
    "barometer": "barometers", "magnetometer": "magnetometers", "airspeed": "airspeeds", "rangefinder": "rangefinders",
    "optical_flow": "optical_flows", "odometry": "odometries", "arm": "arms",
}  # fmt: skip
"""Kind of thing to the folder of this package that holds its files."""

_TOP_KEYS = ("kind", "title", "description", "values")
_VALUE_KEYS = ("value", "source", "note", "min", "max")


@dataclass(frozen=True)
class CatalogEntry:
    """One catalogue file: its values by name (the unit is in the name), and where each came from."""

    name: str
    title: str
    kind: str
    values: dict[str, Any]
    sources: dict[str, str]
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """[least, greatest] for values that give them; infinite where one side is open."""
    description: str = ""


def names(kind: str) -> list[str]:
    """Names of the catalogue's own entries of a kind ("boat", "lidar", …)."""
    folder = resources.files(__name__) / FOLDERS[kind]
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def vehicle_kind(name_or_path: str, folder: pathlib.Path | None = None) -> str:
    """Which of VEHICLES a model is: by its catalogue name, or by what its file says.

    Raises: ScenarioError when there is no such model, or the file is of another kind.
    """
    if is_path(name_or_path):
        path = (folder or pathlib.Path()) / name_or_path
        file = read_toml(path, str(path), "a catalogue file of a vehicle", _is_catalogue_file)
        kind = file.data.get("kind")
        if kind in VEHICLES:
            return str(kind)
        found = f"kind = {kind!r}" if "kind" in file.data else "missing 'kind'"
        raise ScenarioError([Problem(file.places.where(("kind",)), f"{found}: no vehicle", " or ".join(VEHICLES))])
    for kind in VEHICLES:
        if name_or_path in names(kind):
            return kind
    known = [name for kind in VEHICLES for name in names(kind)]
    valid = f"{', '.join(known)}, or the path of a TOML file"
    what = f"no vehicle named '{name_or_path}'{did_you_mean(name_or_path, known)}"
    raise ScenarioError([Problem("catalogue", what, valid)])


def is_path(name: str) -> bool:
    """Whether a model is the path of a file, not a name of the catalogue."""
    return name.endswith(".toml") or "/" in name or "\\" in name


def own_model(vehicle: str, model: str, folder: pathlib.Path) -> str:
    """A device that a vehicle's file names, as the scenario would: a file beside the vehicle's, else in `folder`."""
    if not is_path(vehicle) or not is_path(model):
        return model
    beside = pathlib.Path(vehicle).parent / model
    return model if (folder / model).exists() and not (folder / beside).exists() else beside.as_posix()


def load_entry(kind: str, name_or_path: str, folder: pathlib.Path | None = None) -> CatalogEntry:
    """Read an entry by its catalogue name, or by the path of a file (relative to `folder`, else to here).

    Something is a path if it ends in `.toml` or contains a slash.
    """
    if is_path(name_or_path):
        path = (folder or pathlib.Path()) / name_or_path
        return _entry(kind, path.stem, _read(path, str(path), kind))
    known = names(kind)
    if name_or_path not in known:
        hint = did_you_mean(name_or_path, known)
        valid = f"{', '.join(known)}, or the path of a TOML file"
        raise ScenarioError([Problem("catalogue", f"no {kind} named '{name_or_path}'{hint}", valid)])
    path = pathlib.Path(str(resources.files(__name__) / FOLDERS[kind] / f"{name_or_path}.toml"))
    return _entry(kind, name_or_path, _read(path, path.name, kind))


def _read(path: pathlib.Path, shown: str, kind: str) -> TomlFile:
    return read_toml(path, shown, f"a catalogue file of kind '{kind}'", _is_catalogue_file)


def _is_catalogue_file(path: pathlib.Path) -> bool:
    """Whether to suggest a file for a misspelt one: scenarios often lie beside."""
    try:
        return path.suffix == ".toml" and tomllib.loads(path.read_text(encoding="utf-8")).get("kind") in FOLDERS
    except (OSError, ValueError):
        return False


def _entry(kind: str, name: str, file: TomlFile) -> CatalogEntry:
    places, problems = file.places, [*_top_problems(kind, file)]
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    limits: dict[str, tuple[float, float]] = {}
    table = file.data.get("values", {})
    for key, item in table.items() if isinstance(table, dict) else ():
        wrong = _value_problems(key, item, places)
        problems.extend(wrong)
        if not wrong:
            values[key], sources[key] = item["value"], item["source"]
            if "min" in item or "max" in item:
                limits[key] = (float(item.get("min", -math.inf)), float(item.get("max", math.inf)))
    if problems:
        raise ScenarioError(problems)
    title, description = file.data["title"], file.data.get("description", "")
    return CatalogEntry(name, title, kind, values, sources, limits, description)


def _top_problems(kind: str, file: TomlFile) -> list[Problem]:
    where, data = file.places.where, file.data
    problems = [
        Problem(where((key,)), f"unknown key '{key}'{did_you_mean(key, _TOP_KEYS)}", ", ".join(_TOP_KEYS))
        for key in data
        if key not in _TOP_KEYS
    ]
    if data.get("kind") != kind:
        found = f"kind = {data['kind']!r}" if "kind" in data else "missing 'kind'"
        article = "an" if kind[0] in "aeiou" else "a"
        problems.append(Problem(where(("kind",)), f"{found}: {article} {kind} is wanted here", f'kind = "{kind}"'))
    if not isinstance(data.get("title"), str) or not data["title"]:
        problems.append(Problem(where(("title",)), "missing 'title'", "title = a text"))
    if not isinstance(data.get("description", ""), str):
        problems.append(Problem(where(("description",)), "'description' is not a text", "description = a text"))
    if not isinstance(data.get("values"), dict) or not data["values"]:
        problems.append(Problem(where(("values",)), "no values", "a table [values] with at least one value"))
    return problems


def _value_problems(key: str, item: Any, places: Places) -> list[Problem]:
    example = f'{key} = {{ value = ..., source = "..." }}'
    where = places.where(("values", key))
    if not isinstance(item, dict) or "value" not in item:
        return [Problem(where, f"'{key}' has no value and source", example)]
    problems = [
        Problem(where, f"unknown key '{name}' in '{key}'{did_you_mean(name, _VALUE_KEYS)}", ", ".join(_VALUE_KEYS))
        for name in item
        if name not in _VALUE_KEYS
    ]
    if not isinstance(item.get("source"), str) or not item["source"].strip():
        problems.append(Problem(where, f"'{key}' has no source", example))
    if not _is_value(item["value"]):
        shown = f"'{key}' has value = {item['value']!r}"
        problems.append(Problem(where, shown, "a finite number, a list of finite numbers, or a text"))
    for side in ("min", "max"):
        limit = item.get(side, 0.0)
        if not _is_finite(limit):
            problems.append(Problem(where, f"'{key}' has {side} = {limit!r}", "a finite number"))
    return problems


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_value(item) and not isinstance(item, str) for item in value)
    return isinstance(value, str) or _is_finite(value)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else -(2**63) <= value < 2**63
