"""What an autopilot has said of itself: filled by its messages, judged elsewhere.

Source: MAVLink common.xml and ardupilotmega.xml; what PX4 and ArduPilot put into the messages was seen with PX4
1.17-alpha and ArduCopter 4.7-dev.
Limits: words of one autopilot; whoever asks sees to it that messages of others do not come here.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from fieldworthy.links.asking import WALL_FLOOR_S, Now
from fieldworthy.links.autopilot_modes import Autopilot, Vehicle, mode_name
from fieldworthy.links.mission import WireItem

SILENCE_S = 10.0
"""Simulated time without a heartbeat that is too long."""
_PART_LENGTH = 50
"""Characters of a STATUSTEXT."""
_COMPLETE = 5
"""MISSION_STATE_COMPLETE."""
_WARNING, _NOTICE = 4, 5
"""MAV_SEVERITY; lower is graver."""
_OURS = "ground station: "


class Heard:
    """The state of the autopilot by its own word."""

    def __init__(
        self, dialect: ModuleType, autopilot: Autopilot, vehicle: Vehicle, wire: Sequence[WireItem], now: Now
    ) -> None:
        self._m, self._autopilot, self._vehicle, self._wire = dialect, autopilot, vehicle, wire
        self.texts: list[tuple[float, int, str]] = []
        """(t_s, severity, text) of every STATUSTEXT, and of every note."""
        self.now = now
        """When what is heard now has come."""
        self.handlers = self._handlers()
        """By message id."""
        self.forget()

    def forget(self) -> None:
        """Nothing is known, but for the texts: before the first heartbeat, and after a new start."""
        self.heartbeat_at = self.now
        self.armed = False
        self.mode = ""
        self.custom_mode = -1
        self.in_air: bool | None = None
        self.crashed = False
        self.has_position = self.has_home = False
        """Whether its estimator knows where it is, and whether it has taken a place as its home."""
        self.position_deg: tuple[float, float] | None = None
        """Latitude and longitude."""
        self.following = False
        """Whether it is on the mission, so that its words on items are about this one."""
        self.current: int | None = None
        self.reached: int | None = None
        self.complete = False
        self.answer: tuple[int, int] | None = None
        """Command and result of the last COMMAND_ACK."""
        self.clock_ran_back = False
        """By the last SYSTEM_TIME: it has started again."""
        self._boot_ms = 0
        self._parts: dict[int, str] = {}

    def last_words(self) -> str:
        """Up to three of its last texts, in quotes: graver ones where there are any."""
        said = [(severity, text) for _, severity, text in self.texts if not text.startswith(_OURS)]
        grave = [text for severity, text in said if severity <= _WARNING] or [text for _, text in said]
        return "; ".join(f"'{text}'" for text in list(dict.fromkeys(reversed(grave)))[:3][::-1])

    def note(self, text: str) -> None:
        """Put something among the texts that the autopilot has not said itself."""
        self.texts.append((self.now.t_s, _NOTICE, _OURS + text))

    def silent(self) -> bool:
        """Whether no heartbeat has come for too long."""
        lasted_s, lasted_wall_s = self.now.t_s - self.heartbeat_at.t_s, self.now.wall_s - self.heartbeat_at.wall_s
        return lasted_s > SILENCE_S and lasted_wall_s > WALL_FLOOR_S

    def has_reached(self, item: int | None) -> None:
        """The item is behind it, and so are those before."""
        if item is not None and item >= 0:
            self.reached = item if self.reached is None else max(self.reached, item)

    def _handlers(self) -> dict[int, Callable[[Any], None]]:
        m = self._m
        estimator = (
            m.MAVLINK_MSG_ID_ESTIMATOR_STATUS if self._autopilot == "px4" else m.MAVLINK_MSG_ID_EKF_STATUS_REPORT
        )
        return {
            m.MAVLINK_MSG_ID_HEARTBEAT: self._on_heartbeat,
            m.MAVLINK_MSG_ID_SYSTEM_TIME: self._on_system_time,
            estimator: self._on_estimator,
            m.MAVLINK_MSG_ID_HOME_POSITION: self._on_home,
            m.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: self._on_position,
            m.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: self._on_extended_state,
            m.MAVLINK_MSG_ID_MISSION_CURRENT: self._on_mission_current,
            m.MAVLINK_MSG_ID_MISSION_ITEM_REACHED: self._on_item_reached,
            m.MAVLINK_MSG_ID_COMMAND_ACK: self._on_command_ack,
            m.MAVLINK_MSG_ID_STATUSTEXT: self._on_text,
        }

    def _on_heartbeat(self, message: Any) -> None:
        self.heartbeat_at = self.now
        self.armed = bool(message.base_mode & self._m.MAV_MODE_FLAG_SAFETY_ARMED)
        self.custom_mode = message.custom_mode
        self.mode = mode_name(self._autopilot, self._vehicle, message.custom_mode)

    def _on_system_time(self, message: Any) -> None:
        self.clock_ran_back = message.time_boot_ms < self._boot_ms
        self._boot_ms = message.time_boot_ms

    def _on_estimator(self, message: Any) -> None:
        # The bits of both messages are the same: 16 is a known position, 128 a constant one that is only assumed. PX4
        # sets the latter while it stands on the ground, whatever it knows.
        assumed = self._autopilot != "px4" and message.flags & 128
        self.has_position = bool(message.flags & 16) and not assumed

    def _on_home(self, message: Any) -> None:
        self.has_home = True

    def _on_position(self, message: Any) -> None:
        if message.lat or message.lon:
            self.position_deg = message.lat * 1e-7, message.lon * 1e-7

    def _on_extended_state(self, message: Any) -> None:
        self.in_air = {1: False, 2: True, 3: True, 4: True}.get(message.landed_state, self.in_air)

    def _on_mission_current(self, message: Any) -> None:
        if not self.following:
            return
        self.complete |= message.mission_state == _COMPLETE
        item = self._wire[message.seq].item if message.seq < len(self._wire) else None
        if item is not None:
            self.current = item if self.current is None else max(self.current, item)
            self.has_reached(item - 1)

    def _on_item_reached(self, message: Any) -> None:
        if self.following and message.seq < len(self._wire):
            self.has_reached(self._wire[message.seq].reaches)

    def _on_command_ack(self, message: Any) -> None:
        if message.command != self._m.MAV_CMD_SET_MESSAGE_INTERVAL:
            self.answer = message.command, message.result

    def _on_text(self, message: Any) -> None:
        text = message.text if isinstance(message.text, str) else bytes(message.text).decode("utf-8", "replace")
        text = text.split("\0")[0]
        if message.id:  # a long text in parts, the last one shorter
            text = self._parts.pop(message.id, "") + text
            if len(text) % _PART_LENGTH == 0 and text:
                self._parts[message.id] = text
                return
        if text.strip():
            self.texts.append((self.now.t_s, message.severity, text.strip()))
            self.crashed |= text.startswith("Crash")  # ArduPilot's "Crash: Disarming …"
