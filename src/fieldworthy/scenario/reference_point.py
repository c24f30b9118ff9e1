"""Longitude and latitude in a scenario become north and east; where north = east = 0 lies is decided here."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.frames import ne_from_lonlat
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report, describe, number_problem
from fieldworthy.scenario.quantities import LatitudeDeg, LongitudeDeg
from fieldworthy.scenario.resolve import table
from fieldworthy.scenario.schema import GeojsonOptions
from fieldworthy.scenario.wording import shown

_TYPES = {"lon_deg": inspect.type_info(LongitudeDeg), "lat_deg": inspect.type_info(LatitudeDeg)}


def place(data: dict[str, Any], folder: pathlib.Path, report: Report) -> None:
    """Set [reference] where it is needed, check the map, and convert start, goal and waypoints, in place."""
    map_centre = _check_map(data, folder, report)
    if "reference" not in data and map_centre is not None:
        data["reference"] = {"lon_deg": map_centre[0], "lat_deg": map_centre[1]}
    reference = _reference(data)
    for path, position in _positions(data):
        if "lon_deg" in position or "lat_deg" in position:
            _convert(path, position, reference, "obstacles_geojson" in data or "reference" in data, report)


def _positions(data: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for name in ("start", "goal"):
        yield (name,), table(data, name)
    waypoints = data.get("waypoints")
    for index, item in enumerate(waypoints if isinstance(waypoints, list) else ()):
        if isinstance(item, dict):
            yield ("waypoints", index), item


def _convert(
    path: Path, position: dict[str, Any], reference: tuple[float, float] | None, reference_is_due: bool, report: Report
) -> None:
    given = {key: position.pop(key) for key in ("lon_deg", "lat_deg") if key in position}
    one_of = "north_m and east_m, or lon_deg and lat_deg"
    metres = [key for key in ("north_m", "east_m") if key in position]
    if metres:
        report.add(
            (*path, next(iter(given))), f"both {' and '.join(given)} and {' and '.join(metres)} are given", one_of
        )
    position.setdefault("north_m", 0.0)  # so that no second problem says that they are missing
    position.setdefault("east_m", 0.0)
    if len(given) == 1:
        missing = "lat_deg" if "lon_deg" in given else "lon_deg"
        report.add((*path, next(iter(given))), f"{next(iter(given))} without {missing}", one_of)
    wrong = {key: number_problem(value, _TYPES[key]) for key, value in given.items()}  # type: ignore[arg-type]
    for key, what in wrong.items():
        if what:
            report.add((*path, key), f"{shown(key, given[key])}{what}", describe(_TYPES[key]))
    if metres or len(given) == 1 or any(wrong.values()):
        return
    if reference is not None:
        north, east = ne_from_lonlat(float(given["lon_deg"]), float(given["lat_deg"]), *reference)
        position["north_m"], position["east_m"] = float(north), float(east)
    elif not reference_is_due:
        valid = "a table [reference] with lon_deg and lat_deg, or obstacles_geojson"
        report.add((*path, "lon_deg"), "longitude and latitude need a reference point", valid)


def _reference(data: dict[str, Any]) -> tuple[float, float] | None:
    given = table(data, "reference")
    lon, lat = given.get("lon_deg"), given.get("lat_deg")
    if number_problem(lon, _TYPES["lon_deg"]) or number_problem(lat, _TYPES["lat_deg"]):  # type: ignore[arg-type]
        return None  # absent, or reported by the type check
    return float(lon), float(lat)  # type: ignore[arg-type]


def _check_map(data: dict[str, Any], folder: pathlib.Path, report: Report) -> tuple[float, float] | None:
    """Read the map once, so that its problems come with the scenario's; returns the reference (default: its centre)."""
    name = data.get("obstacles_geojson")
    if not isinstance(name, str):
        return None
    from fieldworthy.scenario.geojson import read_geojson  # here, because shapely is slow to import and rarely needed

    try:
        options = msgspec.convert(data.get("geojson", {}), GeojsonOptions)
    except msgspec.ValidationError:
        options = GeojsonOptions()  # the type check reports it
    try:
        layout = read_geojson(folder / name, _reference(data), options.kinds, kind_property=options.kind_property)
    except ScenarioError as error:
        report.extend(error.problems, ("obstacles_geojson",))
        return None
    return layout.reference_lon_deg, layout.reference_lat_deg
