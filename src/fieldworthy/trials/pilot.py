"""Who flies a campaign in the place of the built-in controller: a real autopilot, started anew for every trial."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.ardupilot_json import JsonVersion
from fieldworthy.links.autopilot_process import AutopilotCommand, ardupilot_command, px4_command
from fieldworthy.links.ground_station import GroundStation, MissionItem
from fieldworthy.links.mavlink_sockets import ardupilot_link, px4_link
from fieldworthy.links.place import place_of
from fieldworthy.links.vehicle import rate_of
from fieldworthy.scenario.load import set_values
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.plane_tuning import plane_parameters

WARM_UP_S: dict[AutopilotKind, float] = {"px4": 12.0, "ardupilot": 50.0}
"""Simulated time on the ground before the mission: until the estimators trust their receivers."""

REACHED_SHARE = 0.5
"""An autopilot's waypoint is done within this share of ours, so that ours is done too."""


@dataclass(frozen=True)
class Pilot:
    """A real autopilot and how it is started."""

    kind: AutopilotKind
    binary: Path
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Of the autopilot, by name."""
    defaults: tuple[Path, ...] = ()
    """Parameter files of ArduPilot."""
    model: str = ""
    """Airframe of PX4; empty: the usual one of the vehicle."""
    rate_hz: float | None = None
    version: JsonVersion = "4.5"
    patience_s: float = 20.0
    """Wall time that it may be silent."""
    warm_up_s: float | None = None
    """None: WARM_UP_S."""
    first_instance: int = 0

    @property
    def ground_s(self) -> float:
        """Simulated time on the ground before the mission."""
        return WARM_UP_S[self.kind] if self.warm_up_s is None else self.warm_up_s

    def command(self, scenario: Scenario, instance: int) -> AutopilotCommand:
        """What is started for a trial.

        Raises: AutopilotProcessError for a binary that is not there, or is another one.
        """
        vehicle = vehicle_of(scenario)
        if self.kind == "px4":
            model = self.model or ("none_iris" if vehicle == "copter" else "gazebo-classic_plane")
            return px4_command(self.binary, instance, model=model, parameters=self.told(scenario))
        place = place_of(scenario)
        home = (place.lat_deg, place.lon_deg, place.elevation_m, scenario.start.heading_deg % 360.0)
        rate = round(self.rate_hz or rate_of(self.kind, scenario))
        return ardupilot_command(
            self.binary, instance, vehicle=vehicle, home=home, defaults=self.defaults,
            parameters=self.told(scenario), rate_hz=rate,
        )  # fmt: skip

    def told(self, scenario: Scenario) -> dict[str, float]:
        """Its parameters: the usual ones of the vehicle's kind, a plane's by its file, and its own."""
        vehicle = vehicle_of(scenario)
        tuned = plane_parameters(self.kind, scenario) if vehicle == "plane" else {}
        return {**_USUAL[self.kind].get(vehicle, {}), **tuned, **self.parameters}

    def facts(self) -> dict[str, Any]:
        """For the provenance of a run."""
        return {
            "kind": self.kind,
            "binary": str(self.binary),
            "sha256": hashlib.sha256(self.binary.read_bytes()).hexdigest() if self.binary.is_file() else None,
            "parameters": dict(self.parameters),
            "defaults": [str(path) for path in self.defaults],
            "ground_s": self.ground_s,
        }

    def station(self, scenario: Scenario, instance: int) -> GroundStation:
        """The ground station of a trial, with the scenario's waypoints as its mission."""
        link = px4_link(instance) if self.kind == "px4" else ardupilot_link(instance)
        vehicle = vehicle_of(scenario)
        return GroundStation(
            link, self.kind, vehicle, mission_of(scenario), geodetic=place_of(scenario).geodetic,
            # Before its airframe file PX4 forgets what is its own default: told again, where the airframe has another.
            parameters=self.told(scenario) if self.kind == "px4" else None, arm_after_s=self.ground_s,
        )  # fmt: skip


_USUAL: dict[AutopilotKind, dict[str, dict[str, float]]] = {
    "px4": {
        "copter": {},
        # From a catapult, not a runway, and without waiting for the shove: the catapult waits for the motor. All of the
        # throttle, where airframe 1030 allows 60 per cent. A mission may end in the air.
        "plane": {"RWTO_TKOFF": 0, "FW_LAUN_DETCN_ON": 0, "FW_THR_MAX": 1.0, "MIS_TKO_LAND_REQ": 0},
    },
    "ardupilot": {
        "copter": {"FRAME_CLASS": 1, "FRAME_TYPE": 1},
        # The motor runs at once in a take-off, without waiting for a shove or a speed: the catapult waits for it. Pulses
        # of the throttle as `links.airframe` reads them; plane.parm has others, and banks to 65 deg.
        "plane": {
            "TKOFF_THR_MINACC": 0,
            "TKOFF_THR_MINSPD": 0,
            "SERVO3_MIN": 1100,
            "SERVO3_MAX": 1900,
            "ROLL_LIMIT_DEG": 45,
        },
        "rover": {
            "FRAME_CLASS": 2,
            "PRX1_TYPE": 2,
            "OA_TYPE": 1,
            "SERVO1_MIN": 1000,
            "SERVO1_MAX": 2000,
            "SERVO3_MIN": 1000,
            "SERVO3_MAX": 2000,
        },
    },
}
"""What autopilots are told of vehicles: a quad X, a plane on a catapult, a boat that looks where it goes."""

TAKEOFF_UP_M, TAKEOFF_AHEAD_M = 40.0, 300.0
"""Where a plane's take-off leads to: straight ahead, high enough to turn."""


def vehicle_of(scenario: Scenario) -> Any:
    """The vehicle as ground stations call it."""
    if scenario.vehicle.kind == "boat":
        return "rover"
    return "plane" if scenario.vehicle.values["autopilot"] == "fixed-wing" else "copter"


def _takeoff(scenario: Scenario, up_m: float) -> MissionItem:
    start = scenario.start
    if vehicle_of(scenario) != "plane":
        return MissionItem("takeoff", start.north_m, start.east_m, up_m)
    heading = math.radians(start.heading_deg)
    north, east = TAKEOFF_AHEAD_M * math.cos(heading), TAKEOFF_AHEAD_M * math.sin(heading)
    return MissionItem("takeoff", start.north_m + north, start.east_m + east, min(up_m, TAKEOFF_UP_M))


def mission_of(scenario: Scenario) -> list[MissionItem]:
    """The scenario's way as a mission: take off, the waypoints in their order, and stay at the goal."""
    targets = (*scenario.waypoints, scenario.goal)
    flies = scenario.vehicle.kind != "boat"
    items = []
    if flies:
        items.append(_takeoff(scenario, targets[0].up_m or 10.0))
    for target in targets:
        items.append(
            MissionItem(
                "waypoint", target.north_m, target.east_m, (target.up_m or 0.0) if flies else 0.0,
                acceptance_radius_m=REACHED_SHARE * target.radius_m,
                hold_s=(target.hold_s or 0.0) if target is not scenario.goal else 0.0, speed_m_s=target.speed_m_s,
            )
        )  # fmt: skip
    goal = scenario.goal
    items.append(MissionItem("loiter", goal.north_m, goal.east_m, (goal.up_m or 0.0) if flies else 0.0))
    return items


def delayed(scenario: Scenario, by_s: float) -> Scenario:
    """The scenario with everything that it dates so much later: a time on the ground comes first.

    Faults, gusts, outages of the receiver and the time limit keep their distance from the start of the mission.
    """
    if scenario.start.up_m is not None and by_s > 0.0:
        what = f"start.up_m = {scenario.start.up_m:g}: an autopilot boots at rest, and this vehicle starts in the air"
        valid = "[start.catapult]" if vehicle_of(scenario) == "plane" else "no up_m: a start from the ground"
        raise FieldworthyError(f"{what}; valid: {valid}")
    values: dict[str, Any] = {"duration_s": scenario.duration_s + by_s}
    for i, fault in enumerate(scenario.faults):
        values[f"faults.{i}.at_s"] = fault.at_s + by_s
        if fault.until_s is not None:
            values[f"faults.{i}.until_s"] = fault.until_s + by_s
    for i, gust in enumerate(scenario.air.gusts):
        values[f"air.gusts.{i}.start_s"] = gust.start_s + by_s
    receiver = scenario.sensors.gnss
    for name in ("outage_start_s", "outage_end_s"):
        if receiver is not None and name in receiver.values:
            values[f"sensors.gnss.{name}"] = float(receiver.values[name]) + by_s
    drawn = [path for path in scenario.randomize if path.endswith(("_start_s", "_end_s", "at_s", "until_s"))]
    if drawn:
        raise FieldworthyError(f"{drawn[0]}: a drawn time cannot wait for an autopilot; valid: a time, or spread_s")
    return set_values(scenario, values)
