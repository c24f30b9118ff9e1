"""Scenario files in, strict structs out, with everything that is wrong said at once; and back to a file."""

from __future__ import annotations

import copy
import pathlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import msgspec
import tomli_w

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_file import Places, read_toml
from fieldworthy.scenario.check import Report, check, convert
from fieldworthy.scenario.given_draws import notes_on_draws
from fieldworthy.scenario.kinds import belongs
from fieldworthy.scenario.limits import SCENARIO_TYPE, check_limits
from fieldworthy.scenario.override import apply_overrides, parse_path, put
from fieldworthy.scenario.reference_point import place
from fieldworthy.scenario.resolve import (
    PATTERN_KEYS,
    fill_devices,
    fill_lidar,
    fill_usual,
    fill_vehicle,
    kind_of,
    table,
    use_one_spelling,
)
from fieldworthy.scenario.schema import Scenario

if TYPE_CHECKING:
    from fieldworthy.scenario.geojson import GeoLayout

_FOLDER = resources.files("fieldworthy") / "scenarios"


def built_in_names() -> list[str]:
    """Names of the scenarios that come with the package."""
    try:
        return sorted(item.name.removesuffix(".toml") for item in _FOLDER.iterdir() if item.name.endswith(".toml"))
    except FileNotFoundError:
        return []


def is_built_in(scenario: Scenario) -> bool:
    """Whether the scenario is one that comes with the package."""
    return _is_built_in_folder(pathlib.Path(scenario.source_path).parent)


def _is_built_in_folder(folder: pathlib.Path) -> bool:
    return folder.absolute() == pathlib.Path(str(_FOLDER)).absolute()


def _here(folder: pathlib.Path) -> pathlib.Path | None:
    """Where relative paths that are given from outside start, if not at the scenario's folder."""
    return pathlib.Path.cwd() if _is_built_in_folder(folder) else None


def load(
    name_or_path: str | pathlib.Path,
    overrides: Sequence[str] = (),
    *,
    folder: pathlib.Path | str | None = None,
    copies: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
) -> Scenario:
    """Read a built-in scenario by name, or a file, with `path=value` overrides on top.

    Relative paths inside start at the file's folder, or at `folder` where a copy of the file is read elsewhere; in
    overrides of a built-in scenario at the current folder.
    copies: what to read in the place of files that the scenario names, by the name that it gives.
    notes: takes sentences on what the overrides have changed besides.
    Raises ScenarioError with every problem found.
    """
    _refuse_arm_task(name_or_path)
    path, shown = _locate(name_or_path)
    file = read_toml(path, shown, "a scenario file")
    report = Report(file.places)
    if copies:
        _use_copies(file.data, copies)
    base = pathlib.Path(folder) if folder is not None else path.parent
    given = [(text, f"--set {text}") for text in overrides]
    apply_overrides(file.data, given, base, report, here=_here(base), keep_draws=bool(copies))
    scenario = _resolve(file.data, base, path, report)
    if notes is not None:
        notes.extend(notes_on_draws(report))
    return scenario


def set_value(scenario: Scenario, path: str, value: Any, notes: list[str] | None = None) -> Scenario:
    """The scenario with one value replaced, by the same paths and with the same checks as an override.

    notes: as in `load`.
    """
    return set_values(scenario, {path: value}, notes)


def set_values(scenario: Scenario, values: Mapping[str, Any], notes: list[str] | None = None) -> Scenario:
    """The scenario with several values replaced, by path; what they become together is checked."""
    folder, data = pathlib.Path(scenario.source_path).parent, to_data(scenario)
    report = Report(Places(scenario.source_path))
    for path, value in values.items():
        keys = parse_path(path)
        if not keys:
            raise ScenarioError(Problem(path, "not a path", "keys with dots between, such as sensors.lidar.noise_m"))
        put(data, keys, copy.deepcopy(_as_lists(value)), f"{path} = {value!r}", folder, report, here=_here(folder))
    changed = _resolve(data, folder, pathlib.Path(scenario.source_path), report)
    if notes is not None:
        notes.extend(notes_on_draws(report))
    return changed


def to_toml(scenario: Scenario) -> str:
    """The complete scenario as a file: loading it again gives an equal one."""
    return tomli_w.dumps(to_data(scenario), multiline_strings=True)


def to_data(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain data under the keys of the file; nothing that is unset."""
    complete = _without_none(msgspec.to_builtins(scenario))
    kind = scenario.vehicle.kind
    data = {
        key: item
        for key, item in complete.items()
        if key != "source_path" and item not in ([], {}) and belongs(key, kind)
    }
    data["vehicle"].pop("kind")
    lidar = data["sensors"].get("lidar", {})
    for pattern, names in PATTERN_KEYS.items():
        for name in names if scenario.sensors.lidar and pattern != scenario.sensors.lidar.pattern else ():
            lidar.pop(name, None)
    return data


def map_layout(scenario: Scenario) -> GeoLayout | None:
    """The obstacles of `obstacles_geojson` in the scenario's own north and east; None if it names no map."""
    if scenario.obstacles_geojson is None or scenario.reference is None:
        return None
    from fieldworthy.scenario.geojson import read_geojson  # here, because shapely is slow to import and rarely needed

    return read_geojson(
        pathlib.Path(scenario.source_path).parent / scenario.obstacles_geojson,
        (scenario.reference.lon_deg, scenario.reference.lat_deg),
        scenario.geojson.kinds,
        kind_property=scenario.geojson.kind_property,
        simplify_m=scenario.geojson.simplify_m,
    )


def _locate(name_or_path: str | pathlib.Path) -> tuple[pathlib.Path, str]:
    """(file, how messages call it) of a built-in name or a path."""
    text = str(name_or_path)
    names = built_in_names()
    if text in names:
        return pathlib.Path(str(_FOLDER / f"{text}.toml")), f"{text}.toml"
    path = pathlib.Path(text)
    if isinstance(name_or_path, pathlib.Path) or text.endswith(".toml") or "/" in text or "\\" in text or path.exists():
        return path.absolute(), text
    from fieldworthy.scenario.arm_task import built_in_tasks

    tasks = built_in_tasks()
    what = f"no built-in scenario of this name{did_you_mean(text, [*names, *tasks])}"
    valid = f"{', '.join(names)}; or the path of a TOML file; tasks of arms: {', '.join(tasks)}"
    raise ScenarioError(Problem(f"scenario '{text}'", what, valid))


def _refuse_arm_task(name_or_path: str | pathlib.Path) -> None:
    """Raises: ScenarioError where this is the task of an arm."""
    from fieldworthy.scenario.arm_task import is_arm_task  # here, because the arms are of no use to vehicles

    if is_arm_task(name_or_path):
        what = "this is the task of an arm, which has no trials"
        valid = "a vehicle's scenario here; for the task `fieldworthy run` and `fieldworthy check`"
        raise ScenarioError(Problem(str(name_or_path), what, valid))


def _use_copies(data: dict[str, Any], copies: Mapping[str, str]) -> None:
    for home, key in ((data, "obstacles_geojson"), (table(data, "vehicle"), "model"),
                       (table(data, "sensors", "lidar"), "model")):  # fmt: skip
        if isinstance(home.get(key), str):
            home[key] = copies.get(home[key], home[key])
    if isinstance(data.get("scene_mesh"), list):
        data["scene_mesh"] = [copies.get(name, name) for name in data["scene_mesh"]]


def _resolve(data: dict[str, Any], folder: pathlib.Path, source: pathlib.Path, report: Report) -> Scenario:
    use_one_spelling(data, report)
    kind = kind_of(data, folder)
    fill_usual(data, kind)
    fill_lidar(data, kind, folder, report)
    vehicle = fill_vehicle(data, kind, folder, report)
    devices = fill_devices(data, kind, vehicle, folder, report)
    place(data, folder, report)
    check(data, SCENARIO_TYPE, (), report)
    check_limits(data, kind, vehicle, devices, report)
    report.raise_if_any()
    scenario = convert(data, Scenario, report.places.file)
    return msgspec.structs.replace(
        scenario,
        source_path=str(folder.absolute() / source.name),
        vehicle=msgspec.structs.replace(scenario.vehicle, kind=kind),
    )


def _without_none(value: Any) -> Any:
    """TOML has no None; an absent key means the same."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list | tuple) else value


def _as_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, list | tuple) else value
