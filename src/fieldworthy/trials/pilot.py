"""Who flies a campaign in the place of the built-in controller: a real autopilot, started anew for every trial."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.ardupilot_json import JsonVersion
from fieldworthy.links.autopilot_process import AutopilotCommand, ardupilot_command, px4_command
from fieldworthy.links.ground_station import GroundStation, Phase
from fieldworthy.links.host import check
from fieldworthy.links.mavlink_sockets import ardupilot_link, px4_link
from fieldworthy.links.place import place_of
from fieldworthy.links.vehicle import rate_of
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.pilot_mission import mission_of
from fieldworthy.trials.pilot_parameters import usual_parameters, vehicle_of

WARM_UP_S: dict[AutopilotKind, float] = {"px4": 12.0, "ardupilot": 50.0}
"""Simulated time on the ground before the mission: until the estimators trust their receivers."""


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

        Raises: FieldworthyError for a vehicle that it cannot fly; AutopilotProcessError for a binary that is not there,
            or is another one.
        """
        frame = check(self.kind, scenario)
        if self.kind == "px4":
            model = self.model or frame.px4_model
            if not model:
                what = f"PX4 has no usual airframe for a {frame.title} on this link"
                raise FieldworthyError(
                    f"{what}; valid: --airframe, with the rotors on outputs 1 to {len(frame.outputs)}"
                )
            return px4_command(self.binary, instance, model=model, parameters=self.told(scenario))
        place = place_of(scenario)
        home = (place.lat_deg, place.lon_deg, place.elevation_m, scenario.start.heading_deg % 360.0)
        rate = round(self.rate_hz or rate_of(self.kind, scenario))
        return ardupilot_command(
            self.binary, instance, vehicle=vehicle_of(scenario), home=home, defaults=self.defaults,
            parameters=self.told(scenario), rate_hz=rate,
        )  # fmt: skip

    def told(self, scenario: Scenario) -> dict[str, float]:
        """Its parameters: the usual ones of the vehicle's kind, a plane's by its file, and its own."""
        return {**usual_parameters(self.kind, scenario), **self.parameters}

    def facts(self, scenario: Scenario) -> dict[str, Any]:
        """For the provenance of a run: all that it takes to fly the scenario with it once more."""
        return {
            "kind": self.kind,
            "binary": str(self.binary),
            "sha256": _checksum(self.binary),
            "parameters": self.told(scenario),
            "defaults": {str(path): _checksum(path) for path in self.defaults},
            "model": self.model or None,
            "rate_hz": self.rate_hz or rate_of(self.kind, scenario),
            "json_version": self.version if self.kind == "ardupilot" else None,
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
            deadlines_s={Phase.FLIGHT: scenario.duration_s},  # the world keeps the time
        )  # fmt: skip


def _checksum(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
