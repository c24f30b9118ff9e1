"""Checks that concern more than one value: ranges and steps, tops and bottoms, meshes, randomised paths.

Periods and sizes are checked in `size_limits`, speeds and places in `motion_limits`.
"""

from __future__ import annotations

import math
from typing import Any

from msgspec import inspect

from fieldworthy.catalog import DEVICES, CatalogEntry
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report, describe, number_problem, unknown_key
from fieldworthy.scenario.flight_limits import check_flight
from fieldworthy.scenario.flight_schema import Air, Load, Tether
from fieldworthy.scenario.kinds import check_kind
from fieldworthy.scenario.motion_limits import check_motion, number
from fieldworthy.scenario.resolve import PATTERN_KEYS, table, vehicle_value_problem
from fieldworthy.scenario.schema import Control, LidarConfig, Scenario, Sea
from fieldworthy.scenario.size_limits import check_sizes, check_times

_SAME_FOR_ALL = ("rate_hz", "latency_s", *PATTERN_KEYS["uniform"], *PATTERN_KEYS["firing"])
"""LiDAR values that decide which rays there are and when: they cannot differ between trials that run together."""

_WHOLE_TOLERANCE = 1e-6

SCENARIO_TYPE = inspect.type_info(Scenario)


def _floats_of(struct: type, prefix: str) -> dict[str, inspect.Type | None]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return {f"{prefix}.{field.name}": field.type for field in info.fields if isinstance(field.type, inspect.FloatType)}


_SEA_LEAVES = _floats_of(Sea, "sea")
_AIR_LEAVES = {**_floats_of(Air, "air"), **_floats_of(Load, "load"), **_floats_of(Tether, "tether")}
_LIDAR_LEAVES = {
    name: kind
    for name, kind in _floats_of(LidarConfig, "sensors.lidar").items()
    if name.rpartition(".")[2] not in _SAME_FOR_ALL
}


def check_limits(
    data: dict[str, Any], kind: str, entry: CatalogEntry | None, devices: dict[str, CatalogEntry], report: Report
) -> None:
    """Report contradictions between values that are each fine alone; values that are not are skipped here."""
    check_kind(data, kind, report)
    check_times(data, report)
    check_sizes(data, report)
    if kind == "boat":
        check_motion(data, report)
    else:
        check_flight(data, entry, report)
    _check_lidar(table(data, "sensors", "lidar"), report)
    _check_rule(data, report)
    _check_rays(data, report)
    for name, default_top, default_bottom in (("obstacles", 3.0, -1.0), ("scatter", 1.5, -1.0)):
        items = data.get(name)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                _check_height(item, (name, index), default_top, default_bottom, report)
                _check_channel(item, (name, index), report)
    for name, item in table(data, "geojson", "kinds").items():
        if isinstance(item, dict) and "top_up_m" in item and "bottom_up_m" in item:
            _check_height(item, ("geojson", "kinds", name), 0.0, 0.0, report)
    area = table(data, "area")
    for key in ("north_m", "east_m"):
        low, high = _pair(area.get(key))
        if low is not None and low == high:
            report.add(("area", key), f"{key} = {area[key]!r} encloses nothing", "[low, high] with low < high")
    _check_randomize(data, kind, entry, devices, report)


def _check_lidar(lidar: dict[str, Any], report: Report) -> None:
    path: Path = ("sensors", "lidar")
    low, high = number(lidar.get("range_min_m")), number(lidar.get("range_max_m"))
    if low is not None and high is not None and 0 < high <= low:
        where = "range_min_m" if (*path, "range_min_m") in report.places.lines else "range_max_m"
        report.add(
            (*path, where),
            f"range_min_m = {low:g} is not below range_max_m = {high:g}",
            "0 <= range_min_m < range_max_m",
        )
    low, high = number(lidar.get("elevation_min_deg")), number(lidar.get("elevation_max_deg"))
    if low is not None and high is not None:
        if low > high:
            what = f"elevation_min_deg = {low:g} is above elevation_max_deg = {high:g}"
            report.add((*path, "elevation_min_deg"), what, "min <= max")
        else:
            _check_whole(high - low, lidar, "elevation_step_deg", "elevation_max_deg - elevation_min_deg", report)
    _check_whole(360.0, lidar, "azimuth_step_deg", "360 deg", report)
    lasers, spacing = lidar.get("laser_elevation_deg"), number(lidar.get("laser_spacing_s"))
    period = number(lidar.get("firing_period_s"))
    if isinstance(lasers, list) and spacing is not None and period is not None and spacing * (len(lasers) - 1) > period:
        what = f"{len(lasers)} lasers {spacing:g} s apart take longer than firing_period_s = {period:g}"
        report.add((*path, "firing_period_s"), what, f"at least {spacing * (len(lasers) - 1):g}")


def _check_rays(data: dict[str, Any], report: Report) -> None:
    """One mesh serves all trials, so it cannot be had where layouts differ; triangles can only be part of a mesh."""
    if table(data, "sensors", "lidar").get("rays") != "mesh":
        if data.get("scene_mesh"):
            what = 'the LiDAR would not see the triangles of scene_mesh with sensors.lidar.rays = "shapes"'
            report.add(("scene_mesh",), what, 'sensors.lidar.rays = "mesh"')
        return
    obstacles = data.get("obstacles")
    varied = [
        f"{key} of [[obstacles]] {index + 1}"
        for index, item in enumerate(obstacles if isinstance(obstacles, list) else ())
        for key, value in (item.items() if isinstance(item, dict) else ())
        if key.startswith("spread_") and value
    ]
    if data.get("scatter"):
        varied.append("[[scatter]]")
    if varied:
        what = f'rays = "mesh" needs the same layout in all trials, but {varied[0]} makes them differ'
        report.add(
            ("sensors", "lidar", "rays"), what, 'rays = "shapes", or no [[scatter]] and no spread_* of obstacles'
        )


def _check_whole(span: float, lidar: dict[str, Any], key: str, span_name: str, report: Report) -> None:
    step = number(lidar.get(key))
    if step is not None and step > 0:
        ratio = span / step
        if math.isfinite(ratio) and abs(ratio - round(ratio)) > _WHOLE_TOLERANCE * max(1.0, ratio):
            near = " or ".join(f"{span / n:.6g}" for n in (int(ratio) + 1, int(ratio)) if n)
            what = f"{key} = {step:g} does not divide {span_name} ({span:g} deg) into whole steps"
            report.add(("sensors", "lidar", key), what, f"next {near}")


def _check_rule(data: dict[str, Any], report: Report) -> None:
    """Points are counted only where rays without a return are left out."""
    control = table(data, "control")
    compares = table(data, "control", "parameters").get("compare")
    if control.get("controller", Control().controller) != "sector" or compares != "points":
        return
    if table(data, "sensors", "lidar").get("no_hit", "max") == "max":
        what = 'compare = "points" counts returns, but no_hit = "max" makes every ray a point: both sides always tie'
        report.add(
            ("control", "parameters", "compare"), what, 'sensors.lidar.no_hit = "omit", or compare = "mean_range"'
        )


def _check_channel(item: dict[str, Any], path: Path, report: Report) -> None:
    width, spread = number(item.get("width_m")), number(item.get("spread_width_m", 0.0))
    if item.get("kind") == "channel" and width is not None and spread is not None and 0 < width <= spread:
        what = f"spread_width_m = {spread:g} is wider than the channel, width_m = {width:g}"
        report.add((*path, "spread_width_m"), what, "spread_width_m < width_m")


def _check_height(item: dict[str, Any], path: Path, top: float, bottom: float, report: Report) -> None:
    tops = item.get("top_up_m", top)
    top_up = _pair(tops)[0] if isinstance(tops, list) else number(tops)
    bottom_up = number(item.get("bottom_up_m", bottom))
    if top_up is not None and bottom_up is not None and bottom_up >= top_up and item.get("kind") != "sphere":
        key = "top_up_m" if "top_up_m" in item else "bottom_up_m"
        report.add((*path, key), f"top_up_m = {top_up:g} is not above bottom_up_m = {bottom_up:g}", "bottom < top")


def _check_randomize(
    data: dict[str, Any], kind: str, entry: CatalogEntry | None, devices: dict[str, CatalogEntry], report: Report
) -> None:
    leaves = numeric_leaves(data, kind)
    for name, interval in table(data, "randomize").items():
        path: Path = ("randomize", name)
        low, high = _pair(interval)
        last = name.rpartition(".")[2]
        if name.startswith("sensors.lidar.") and last in _SAME_FOR_ALL and last in LidarConfig.__struct_fields__:
            what = f"'{name}' decides which rays there are and when, so it is the same for all trials"
            report.add(path, what, ", ".join(leaf for leaf in leaves if leaf.startswith("sensors.")))
        elif name.startswith("sea.waves."):
            what = f"'{name}': the sea state is the same for all trials; each draws its own phases only"
            report.add(path, what, ", ".join(leaf for leaf in leaves if leaf.startswith("sea.")))
        elif name.startswith("vehicle.") and entry is None:
            continue  # the vehicle itself is reported
        elif name not in leaves:
            unknown_key(path, list(leaves), report)
        else:
            for end in (low, high):
                if end is not None:
                    _check_end(name, leaves[name], end, _entry_of(name, entry, devices), report)


def _check_end(name: str, kind: inspect.Type | None, end: float, entry: CatalogEntry | None, report: Report) -> None:
    path: Path = ("randomize", name)
    if isinstance(kind, inspect.FloatType):
        wrong, valid = number_problem(end, kind), describe(kind)
    elif entry is not None:
        wrong, valid = vehicle_value_problem(entry, name.rpartition(".")[2], end)
    if wrong:
        report.add(path, f"{end:g}{wrong} for '{name}'", valid)


def _entry_of(name: str, vehicle: CatalogEntry | None, devices: dict[str, CatalogEntry]) -> CatalogEntry | None:
    """The catalogue file that a path's value comes from."""
    parts = name.split(".")
    return devices.get(parts[1] if parts[0] == "sensors" else parts[0], vehicle)


def numeric_leaves(data: dict[str, Any], kind: str = "boat") -> dict[str, inspect.Type | None]:
    """Paths that may differ per trial, with their type (None for values of a catalogue file)."""
    values = table(data, "vehicle", "set")
    leaves: dict[str, inspect.Type | None] = {
        f"vehicle.{name}": None for name, value in values.items() if isinstance(value, float)
    }
    for name, value in table(data, "control", "parameters").items():
        if number(value) is not None:
            leaves[f"control.parameters.{name}"] = inspect.FloatType()
    for sensor in table(data, "sensors", "extra"):
        for name, value in table(data, "sensors", "extra", sensor, "parameters").items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                leaves[f"sensors.extra.{sensor}.parameters.{name}"] = inspect.FloatType()
    if kind == "boat":
        return {**leaves, **_SEA_LEAVES, **_LIDAR_LEAVES}
    for home in ("battery", *(f"sensors.{name}" for name in DEVICES)):
        for name, value in table(data, *home.split("."), "set").items():
            if isinstance(value, float) and name != "rate_hz":
                leaves[f"{home}.{name}"] = None
    return {**leaves, **_AIR_LEAVES, **(_LIDAR_LEAVES if "lidar" in table(data, "sensors") else {})}


def _pair(value: Any) -> tuple[float | None, float | None]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None, None
    return number(value[0]), number(value[1])
