"""A mission on its way to the autopilot: how many items there are, and each as it is asked for.

Source: MAVLink guide, "Mission Protocol"; PX4, mavlink_mission.cpp; ArduPilot, MissionItemProtocol.cpp.
Limits: the mission itself; no fences and rally points.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from fieldworthy.links.asking import Asking, Now
from fieldworthy.links.mission import WireItem
from fieldworthy.links.partner import Partner

_AGAIN_S = 3.0
"""The autopilot itself asks again for an item that is late, within a second; this is for when it does not."""


class Upload:
    """How far it is."""

    def __init__(self, dialect: ModuleType, partner: Partner, wire: Sequence[WireItem]) -> None:
        self._m, self._partner, self._wire = dialect, partner, wire
        self.forget()

    def forget(self) -> None:
        """From the start."""
        self.accepted = False
        self.problem = ""
        """How it was refused."""
        self._asking = Asking()

    def offer(self, now: Now) -> None:
        """Say how many; the items go out as they are asked for. After silence, from the start."""
        if self._asking.due(now, _AGAIN_S):
            self._partner.tell("mission_count", len(self._wire), 0)

    def heard(self, message: Any, now: Now) -> None:
        """Take a MISSION_REQUEST, MISSION_REQUEST_INT or MISSION_ACK."""
        if message.mission_type:
            return
        if message.get_msgId() == self._m.MAVLINK_MSG_ID_MISSION_ACK:
            self._finish(message.type)
        elif message.seq < len(self._wire):
            item = self._wire[message.seq]
            self._asking.worked_on(now)
            self._partner.tell(
                "mission_item_int", message.seq, item.frame, item.command, 0, 1, *item.params, item.x, item.y, item.z, 0
            )

    def _finish(self, result: int) -> None:
        m = self._m
        if result == m.MAV_MISSION_ACCEPTED:
            self.accepted = True
        elif result not in (m.MAV_MISSION_INVALID_SEQUENCE, m.MAV_MISSION_OPERATION_CANCELLED):
            name = m.enums["MAV_MISSION_RESULT"].get(result)
            self.problem = f"the mission is refused with {name.name if name else result}"
