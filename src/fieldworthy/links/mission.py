"""A mission: what there is to do, whether a vehicle can do it, and how it lies on the wire.

Source: MAVLink guide, "Mission Protocol"; MAVLink common.xml, MAV_CMD and MAV_FRAME; PX4, mavlink_mission.cpp;
ArduPilot, AP_Mission.cpp.
Frames: north and east [m] as the caller's `geodetic` takes them, up above the place of arming (the autopilot's home).
Limits: no fences, no rally points, no camera.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.links.autopilot_modes import Autopilot, Vehicle

Kind: TypeAlias = Literal["takeoff", "waypoint", "loiter", "land", "rtl"]
Geodetic: TypeAlias = Callable[[float, float, float], tuple[float, float, float]]
"""(latitude [deg], longitude [deg], height above the sea [m]) of north, east, up [m]: `Place.geodetic`."""

GLOBAL, MISSION, GLOBAL_RELATIVE_ALT_INT = 0, 2, 6
"""MAV_FRAME."""
WAYPOINT, LOITER_UNLIM, RETURN_TO_LAUNCH, LAND, TAKEOFF, CHANGE_SPEED = 16, 17, 20, 21, 22, 178
"""MAV_CMD."""

_COMMAND: dict[Kind, int] = {
    "takeoff": TAKEOFF, "waypoint": WAYPOINT, "loiter": LOITER_UNLIM, "land": LAND, "rtl": RETURN_TO_LAUNCH,
}  # fmt: skip
_PLANE_CLIMB_DEG = 15.0


@dataclass(frozen=True)
class MissionItem:
    """One thing to do. For `rtl` (return to launch) the place does not count."""

    kind: Kind
    north_m: float = 0.0
    east_m: float = 0.0
    up_m: float = 0.0
    """Above the place of arming."""
    acceptance_radius_m: float | None = None
    """How near is there; None leaves it to the autopilot. ArduCopter has only its own (WPNAV_RADIUS)."""
    hold_s: float = 0.0
    """How long a copter or rover stays at a waypoint."""
    speed_m_s: float | None = None
    """From the way to this item on: over ground, but a plane's through the air. None: as before.

    ArduCopter plans a leg ahead, and where it does not stop it may take a change one leg late (seen in 4.7).
    """


class WireItem(NamedTuple):
    """The fields of a MISSION_ITEM_INT, less its address and number, and what it is to the mission."""

    item: int | None
    """The item of the mission that it belongs to; None for ArduPilot's home."""
    reaches: int | None
    """The item of the mission that is behind the vehicle when this one is reached."""
    frame: int
    command: int
    params: tuple[float, float, float, float]
    x: int
    """Latitude [1e-7 deg]."""
    y: int
    """Longitude [1e-7 deg]."""
    z: float
    """Height [m] in the frame."""


def check_mission(vehicle: Vehicle, mission: Sequence[MissionItem]) -> None:
    """Raise: ScenarioError with all that keeps this vehicle from flying the mission."""
    problems = [] if mission else [Problem("mission", "is empty", "at least one item")]
    kinds = ("waypoint", "loiter", "rtl") if vehicle == "rover" else ("takeoff", "waypoint", "loiter", "land", "rtl")
    for index, item in enumerate(mission):
        where = f"mission[{index}]"
        if item.kind not in kinds:
            problems.append(Problem(where, f"a {vehicle} cannot {item.kind!r}", ", ".join(kinds)))
        if not all(map(math.isfinite, (item.north_m, item.east_m, item.up_m, item.hold_s))) or item.hold_s < 0.0:
            problems.append(Problem(where, "holds a number that no autopilot can fly", "finite numbers, hold_s >= 0"))
        if item.speed_m_s is not None and not 0.0 < item.speed_m_s < math.inf:
            problems.append(Problem(f"{where}.speed_m_s", f"{item.speed_m_s} is no speed", "> 0, or None"))
        if item.kind == "takeoff" and index:
            problems.append(Problem(where, "a takeoff after the first item", "takeoff first"))
        if item.kind in ("loiter", "rtl") and index < len(mission) - 1:
            problems.append(Problem(where, f"nothing comes after {item.kind!r}", "it as the last item"))
    if vehicle != "rover" and mission and mission[0].kind != "takeoff":
        problems.append(Problem("mission[0]", f"a {vehicle} stands on the ground", "takeoff first"))
    if problems:
        raise ScenarioError(problems)


def wire_items(
    mission: Sequence[MissionItem], autopilot: Autopilot, vehicle: Vehicle, geodetic: Geodetic
) -> tuple[WireItem, ...]:
    """The mission as the autopilot takes it, by sequence number."""
    rows = []
    if autopilot == "ardupilot":  # its item 0 is home, and is replaced by it
        lat_deg, lon_deg, height_m = geodetic(0.0, 0.0, 0.0)
        rows.append(_at(None, GLOBAL, WAYPOINT, (0.0, 0.0, 0.0, 0.0), lat_deg, lon_deg, height_m))
    for index, item in enumerate(mission):
        own = _own(index, item, autopilot, vehicle, geodetic)
        if item.speed_m_s is None:
            rows.append(own)
            continue
        kind = 0.0 if vehicle == "plane" else 1.0  # through the air, over ground
        speed = WireItem(index, index, MISSION, CHANGE_SPEED, (kind, item.speed_m_s, -1.0, 0.0), 0, 0, 0.0)
        # Before the item, and obeyed when the way to it begins; but a takeoff must come first.
        rows += [own, speed] if item.kind == "takeoff" else [speed._replace(reaches=index - 1 if index else None), own]
    return tuple(rows)


def _own(index: int, item: MissionItem, autopilot: Autopilot, vehicle: Vehicle, geodetic: Geodetic) -> WireItem:
    """The wire's item for what is to be done itself."""
    if item.kind == "rtl":
        return WireItem(index, index, MISSION, _COMMAND["rtl"], (0.0, 0.0, 0.0, 0.0), 0, 0, 0.0)
    lat_deg, lon_deg, _ = geodetic(item.north_m, item.east_m, item.up_m)
    first = second = 0.0
    if item.kind == "takeoff" and vehicle == "plane":
        first = _PLANE_CLIMB_DEG
    elif item.kind == "waypoint":
        first, second = item.hold_s, item.acceptance_radius_m or 0.0
    any_yaw = math.nan if autopilot == "px4" else 0.0  # PX4 takes 0 for a heading of north
    params = (first, second, 0.0, any_yaw)
    return _at(index, GLOBAL_RELATIVE_ALT_INT, _COMMAND[item.kind], params, lat_deg, lon_deg, item.up_m)


def _at(
    index: int | None, frame: int, command: int, params: tuple[float, float, float, float],
    lat_deg: float, lon_deg: float, height_m: float,
) -> WireItem:  # fmt: skip
    return WireItem(index, index, frame, command, params, round(lat_deg * 1e7), round(lon_deg * 1e7), height_m)
