"""Whether a mission that is being flown goes on, is done, or has come to nothing: by the autopilot's own word.

Source: what PX4 1.17-alpha and ArduCopter 4.7-dev report at the end of each kind of item.
Frames: places by the caller's `geodetic`, compared on the ground.
Limits: no item of staying somewhere is ever called reached, so the last one ends where the vehicle is near its place.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from fieldworthy.core.frames import ne_from_lonlat
from fieldworthy.links.asking import Now
from fieldworthy.links.autopilot_modes import Vehicle
from fieldworthy.links.heard import Heard
from fieldworthy.links.mission import Geodetic, MissionItem

_LEFT_S = 3.0
_LANDED_S = 2.0
"""The news of having landed may come after those of having disarmed."""
_NEAR_M: dict[Vehicle, float] = {"copter": 5.0, "plane": 150.0, "rover": 5.0}
"""Where an item names no radius; a plane circles."""


class MissionWatch:
    """The state of one flight."""

    def __init__(
        self, mission: Sequence[MissionItem], vehicle: Vehicle, geodetic: Geodetic, heard: Heard, mission_mode: int
    ) -> None:
        self._mission, self._vehicle, self._geodetic = mission, vehicle, geodetic
        self._heard, self._mission_mode = heard, mission_mode
        self.forget()

    def forget(self) -> None:
        """The flight has not begun."""
        self.problem = ""
        """Why the mission cannot be flown to its end any more."""
        self._at_last = False
        self._left_t_s: float | None = None
        self._left_for = ""
        self._disarmed_t_s: float | None = None

    def done(self, now: Now) -> bool:
        """Whether it has come to its end; `problem` tells of another end."""
        heard, last = self._heard, len(self._mission) - 1
        at_last = heard.current == last or (heard.reached is not None and heard.reached >= last - 1)
        if at_last and not self._at_last:
            self._at_last, heard.position_deg = True, None  # an older position is not yet where the last item leads
        if heard.crashed:
            self.problem = "the autopilot believes that it has crashed"
        elif self._ends(last, at_last):
            heard.reached = last
            return True
        elif not heard.armed:
            self._disarmed_t_s = now.t_s if self._disarmed_t_s is None else self._disarmed_t_s
            if now.t_s - self._disarmed_t_s > _LANDED_S:
                where = " and believes to be in the air" if heard.in_air else ""
                self.problem = f"disarmed before the end{where}{self.so_far()}"
        elif at_last or heard.custom_mode == self._mission_mode:
            self._left_t_s = None
        elif self._left_t_s is None or heard.mode != self._left_for:
            self._left_t_s, self._left_for = now.t_s, heard.mode
        elif now.t_s - self._left_t_s > _LEFT_S:
            self.problem = f"the autopilot has left the mission for mode {heard.mode}{self.so_far()}"
        return False

    def so_far(self) -> str:
        """How far it has come, for a sentence."""
        reached = self._heard.reached
        at = "no item" if reached is None else f"item {reached + 1} ({self._mission[reached].kind})"
        return f": {at} of {len(self._mission)} was the last one reached, in mode {self._heard.mode}"

    def _ends(self, last: int, at_last: bool) -> bool:
        """Down and disarmed after a landing; at the place where the last item stays; else reached."""
        item, heard = self._mission[last], self._heard
        if item.kind == "land" or (item.kind == "rtl" and self._vehicle == "copter"):
            return at_last and not heard.armed and not heard.in_air
        if item.kind in ("loiter", "rtl"):
            return at_last and self._near(item)
        return heard.reached == last or (heard.complete and at_last)

    def _near(self, item: MissionItem) -> bool:
        """Within its radius of the item's place, or of home."""
        if self._heard.position_deg is None:
            return False
        north_m, east_m = (0.0, 0.0) if item.kind == "rtl" else (item.north_m, item.east_m)
        lat_deg, lon_deg, _ = self._geodetic(north_m, east_m, 0.0)
        here_lat_deg, here_lon_deg = self._heard.position_deg
        near_m = item.acceptance_radius_m or _NEAR_M[self._vehicle]
        return math.hypot(*ne_from_lonlat(here_lon_deg, here_lat_deg, lon_deg, lat_deg)) <= near_m
