"""Which tables of a scenario belong to which kind of vehicle."""

from __future__ import annotations

from typing import Any

from fieldworthy.catalog import DEVICES
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report
from fieldworthy.scenario.schema import Control

OF_BOATS = ("sea",)
OF_AIRCRAFT = ("air", "effects", "load", "tether", "faults", "battery")
"""Top-level tables; the rest is for all."""

CONTROLLERS_OF = {"boat": ("sector", "straight"), "aircraft": ("mission",)}
"""Kind of vehicle to the built-in controllers that steer it."""

TARGET_KEYS = ("up_m", "hold_s", "speed_m_s", "heading_deg", "way")
"""Of [goal] and [[waypoints]], for what flies."""


FLIGHT_KEYS = (
    ("start", "up_m"),
    ("start", "charge"),
    ("start", "catapult"),
    ("area", "ceiling_m"),
    ("control", "navigation"),
    ("control", "commands"),
)
"""Keys of tables that all have, for what flies."""


def belongs(key: str, kind: str) -> bool:
    """Whether a top-level table is for vehicles of this kind."""
    return key not in (OF_AIRCRAFT if kind == "boat" else OF_BOATS)


def check_kind(data: dict[str, Any], kind: str, report: Report) -> None:
    """Report tables and keys that the scenario's vehicle knows nothing of."""
    who = "a boat" if kind == "boat" else "what flies"
    other = "for what flies" if kind == "boat" else "for boats"
    for key in OF_AIRCRAFT if kind == "boat" else OF_BOATS:
        if key in data:
            report.add((key,), f"[{key}] is {other}, and this vehicle is {who}", "no such table")
    _check_controller(data, kind, report)
    if kind != "boat":
        return
    sensors = data.get("sensors")
    for name in DEVICES:
        if isinstance(sensors, dict) and name in sensors:
            report.add(("sensors", name), f"[sensors.{name}] is {other}", "a LiDAR, or [sensors.extra.NAME]")
    waypoints = data.get("waypoints")
    places: list[tuple[Path, Any]] = [(("goal",), data.get("goal"))]
    places += [(("waypoints", i), item) for i, item in enumerate(waypoints if isinstance(waypoints, list) else ())]
    for path, item in places:
        for key in TARGET_KEYS:
            if isinstance(item, dict) and key in item:
                report.add((*path, key), f"{key} of a target is {other}", "north_m, east_m, radius_m")
    for home, key in FLIGHT_KEYS:
        item = data.get(home)
        if isinstance(item, dict) and key in item:
            report.add((home, key), f"{key} is {other}", "no such key")


def _check_controller(data: dict[str, Any], kind: str, report: Report) -> None:
    """A built-in controller steers one kind of vehicle; unknown names are reported where they are looked up."""
    control = data.get("control")
    name = control.get("controller", Control().controller) if isinstance(control, dict) else None
    for other, names in CONTROLLERS_OF.items():
        if other != kind and name in names:
            whom = "boats" if other == "boat" else "what flies"
            what = f"the built-in controller '{name}' is for {whom}"
            valid = f"{', '.join(CONTROLLERS_OF[kind])}; or module:Class"
            report.add(("control", "controller"), what, valid)
