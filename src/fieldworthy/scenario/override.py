"""Set single values of a scenario by path: `sensors.lidar.noise_m=0.1`, `obstacles.0.radius_m=3`, `trials=5`.

Overrides change the plain data before any check, so they meet the same checks as the file itself.
"""

from __future__ import annotations

import pathlib
import tomllib
from typing import Any

from fieldworthy.catalog import is_path, load_entry, vehicle_kind
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.toml_file import dotted
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.given_draws import DEVICE_HOMES, drop_below, drop_given, models_of, own_devices
from fieldworthy.scenario.schema import Control

_WITH_SET: tuple[Path, ...] = (("vehicle",), *DEVICE_HOMES)
"""Tables whose values lie in their `set`: `vehicle.mass_kg` means `vehicle.set.mass_kg`."""

_MODELS: tuple[Path, ...] = (*((*home, "model") for home in _WITH_SET), ("sensors", "lidar", "model"))

_FILES: tuple[Path, ...] = (("obstacles_geojson",), ("scene_mesh",), ("air", "grid"))
"""What else names files."""

_PAIRS = (("north_m", "east_m"), ("lon_deg", "lat_deg"))


def apply_overrides(
    data: dict[str, Any],
    overrides: list[tuple[str, str]],
    folder: pathlib.Path,
    report: Report,
    *,
    here: pathlib.Path | None = None,
    keep_draws: bool = False,
) -> None:
    """Apply (path=value, how it was given) pairs to the data of a file; what cannot be applied is reported.

    here, keep_draws: see `put`.
    """
    moved: list[Path] = []
    for text, origin in overrides:
        path_text, equals, value_text = text.partition("=")
        path = parse_path(path_text)
        if not equals or not path:
            report.places.options[(origin,)] = origin
            report.add(
                (origin,), "an override names a path and a value", "path=value, such as sensors.lidar.noise_m=0.1"
            )
            continue
        moved.extend(put(data, path, parse_value(value_text), origin, folder, report, here=here, keep_draws=keep_draws))
    _require_whole_positions(data, moved, report)


def put(
    data: dict[str, Any],
    path: Path,
    value: Any,
    origin: str,
    folder: pathlib.Path,
    report: Report,
    *,
    here: pathlib.Path | None = None,
    keep_draws: bool = False,
) -> list[Path]:
    """Set one value, creating tables on the way; another spelling of the same quantity gives way to it, and so does a
    draw of it unless that was given too.

    here: where relative paths of files start, if not at the scenario's `folder`.
    keep_draws: the value is another name of the same thing, so what is drawn stays.
    Returns the tables whose position was replaced by the other kind of coordinates.
    """
    path = _canonical(path)
    value = _from_here(path, value, folder, here)
    report.places.options[path] = origin
    if path[:1] == ("randomize",):
        report.dropped = {} if len(path) == 1 else {k: v for k, v in report.dropped.items() if k != path[1]}
    before = {} if keep_draws or path[0] not in ("vehicle", "battery", "sensors") else models_of(data, folder)
    moved = _set(data, path, value, folder, report)
    if not keep_draws:
        drop_given(data, path, value, report)
        after = models_of(data, folder) if before else {}
        for home in before:
            if after[home] != before[home]:
                drop_below(data, home, f"{home}.model is another", report)
    return moved


def _set(data: dict[str, Any], path: Path, value: Any, folder: pathlib.Path, report: Report) -> list[Path]:
    """See `put`."""
    target: Any = data
    for depth in range(len(path) - 1):
        target = _step(target, path, depth, report)
        if target is None:
            return []
    last = path[-1]
    if isinstance(target, list):
        if not isinstance(last, int) or last >= len(target):
            _report_index(path, target, report)
        else:
            target[last] = value
        return []
    if path == ("vehicle", "model"):
        _forget_old_devices(data, target.get("model"), value, folder, report)
    if path in _MODELS:
        _forget_old_model(path, target, folder)
    if path == ("control", "controller"):
        _forget_old_parameters(data, value, report)
    moved = _drop_other_spelling(target, str(last), path[:-1])
    target[str(last)] = value
    return moved


def parse_path(text: str) -> Path:
    """`obstacles.0.radius_m` as keys; quoted parts as in TOML; empty if it is no path."""
    try:
        node: Any = tomllib.loads(f"{text.strip()} = 0")
    except ValueError:  # TOMLDecodeError is one, and so are numbers of thousands of digits
        return ()
    keys: list[str | int] = []
    while isinstance(node, dict):
        if len(node) != 1:
            return ()
        key, node = next(iter(node.items()))
        keys.append(int(key) if key.isascii() and key.isdigit() else key)
    return tuple(keys)


def parse_value(text: str) -> Any:
    """The value as TOML would read it; anything else is a text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except ValueError:
        return text.strip()
    return parsed["value"] if len(parsed) == 1 else text.strip()


def _canonical(path: Path) -> Path:
    """See `_WITH_SET`; everything after `randomize` is one key."""
    for home in _WITH_SET:
        if len(path) == len(home) + 1 and path[:-1] == home and path[-1] not in ("model", "set"):
            return (*home, "set", path[-1])
    if len(path) > 1 and path[0] == "randomize":
        return ("randomize", ".".join(str(key) for key in path[1:]))
    return path


def _step(target: Any, full_path: Path, depth: int, report: Report) -> Any:
    """The table or list under the path's key at `depth`, created if absent; None (and a report) if it is neither."""
    path, key = full_path[: depth + 1], full_path[depth]
    if isinstance(target, list):
        if not isinstance(key, int) or key >= len(target):
            _report_index(path, target, report)
            return None
        found = target[key]
    else:
        found = target.setdefault(str(key), {})
    if not isinstance(found, dict | list):
        report.add(full_path, f"'{dotted(path)}' is a value, not a table", f"{dotted(path)}=...")
        return None
    return found


def _report_index(path: Path, target: list[Any], report: Report) -> None:
    count = len(target)
    valid = f"{dotted(path[:-1])}.0" + (f" to {dotted(path[:-1])}.{count - 1}" if count > 1 else "") if count else ""
    report.add(path, f"no element '{path[-1]}' in '{dotted(path[:-1])}', which has {count}", valid)


def _drop_other_spelling(table: dict[str, Any], key: str, path: Path) -> list[Path]:
    moved = []
    if key in ("current_speed_kt", "wind_speed_kt"):
        table.pop(key.removesuffix("_kt") + "_m_s", None)
    elif key in ("current_speed_m_s", "wind_speed_m_s"):
        table.pop(key.removesuffix("_m_s") + "_kt", None)
    for mine, others in (_PAIRS, _PAIRS[::-1]):
        is_position = path == ("start",) or path == ("goal",) or path[:1] == ("waypoints",)
        if key in mine and is_position and any(other in table for other in others):
            for other in others:
                table.pop(other, None)
            moved.append(path)
    return moved


def _require_whole_positions(data: dict[str, Any], moved: list[Path], report: Report) -> None:
    """After north_m replaced lon_deg and lat_deg, east_m must have come along."""
    for path in moved:
        table: Any = data
        for key in path:
            table = table[key]
        for pair in _PAIRS:
            given = [key for key in pair if key in table]
            if len(given) == 1 and pair == _PAIRS[0]:
                missing = pair[1] if given[0] == pair[0] else pair[0]
                what = f"{given[0]} replaces lon_deg and lat_deg, so {missing} is needed as well"
                report.add(
                    (*path, given[0]), what, f"set both {dotted((*path, pair[0]))} and {dotted((*path, pair[1]))}"
                )


def _from_here(path: Path, value: Any, folder: pathlib.Path, here: pathlib.Path | None) -> Any:
    """Relative paths of files below `here`, unless only the scenario's folder has such a file."""
    if here is None or path not in (*_MODELS, *_FILES):
        return value
    if isinstance(value, list):
        return [_from_here(path, item, folder, here) for item in value]
    if not isinstance(value, str) or not value or (path in _MODELS and not is_path(value)):
        return value
    return value if (folder / value).exists() and not (here / value).exists() else str(here / value)


def _forget_old_devices(data: dict[str, Any], old: Any, new: Any, folder: pathlib.Path, report: Report) -> None:
    """Another vehicle brings its own battery and devices: those that are the old one's go, with their values."""
    for kind, model in own_devices(old, folder).items() if new != old else ():
        path: Path = ("battery",) if kind == "battery" else ("sensors", kind)
        home: Any = data if kind == "battery" else data.get("sensors")
        own = home.get(kind) if isinstance(home, dict) else None
        if not isinstance(own, dict) or own.get("model") != model or (*path, "model") in report.places.options:
            continue
        _forget_old_model((*path, "model"), own, folder)
        del own["model"]
        if own in ({}, {"set": {}}):
            del home[kind]


def _forget_old_model(path: Path, table: dict[str, Any], folder: pathlib.Path) -> None:
    """A new model brings its own values: those that still are the old model's go, those that a person changed stay."""
    old = table.get("model")
    if not isinstance(old, str):
        return
    try:
        kind = vehicle_kind(old, folder) if path[0] == "vehicle" else str(path[-2])
        entry = load_entry(kind, old, folder)
    except ScenarioError:
        return  # an old model that cannot be read has left no values behind that could be told apart
    values = table if path[-2] == "lidar" else table.get("set", {})
    for name, value in entry.values.items():
        if isinstance(values, dict) and values.get(name) == value:
            del values[name]


def _forget_old_parameters(data: dict[str, Any], controller: Any, report: Report) -> None:
    """Another controller has other parameters: those of the old one go, those that an override gave stay."""
    table, given = data["control"], report.places.options
    if table.get("controller", Control().controller) == controller:
        return
    parameters = table.get("parameters")
    home = ("control", "parameters")
    if isinstance(parameters, dict) and home not in given:
        # Not `given` itself: an override of a part, such as control.parameters.sides.left, gives the whole parameter.
        kept = {path[2] for path in given if path[:2] == home and len(path) > 2}
        table["parameters"] = {name: value for name, value in parameters.items() if name in kept}
    drop_below(data, "control.parameters", "control.controller is another", report)
