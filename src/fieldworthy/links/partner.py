"""The one autopilot that a ground station talks with: its address, messages to it, and what it is to send by itself.

Source: MAVLink guide, "Routing", "Command Protocol", "Requesting Messages"; names of messages from common.xml.
Limits: the first autopilot whose heartbeat comes is the partner until it is forgotten.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from fieldworthy.links.asking import NEVER, Now
from fieldworthy.links.autopilot_modes import Autopilot
from fieldworthy.links.mavlink_sockets import Channel

_HEARTBEAT_S = 1.0
_STREAMS_AGAIN_S = 3.0

_STREAMS: dict[Autopilot, dict[str, float]] = {
    "px4": {
        "HEARTBEAT": 4.0, "SYSTEM_TIME": 1.0, "EXTENDED_SYS_STATE": 2.0, "ESTIMATOR_STATUS": 2.0,
        "HOME_POSITION": 1.0, "GLOBAL_POSITION_INT": 2.0, "MISSION_CURRENT": 2.0,
    },
    "ardupilot": {
        "HEARTBEAT": 4.0, "SYSTEM_TIME": 1.0, "EXTENDED_SYS_STATE": 2.0, "EKF_STATUS_REPORT": 2.0,
        "GLOBAL_POSITION_INT": 2.0, "MISSION_CURRENT": 2.0,
    },
}  # fmt: skip
"""Hz of simulated time."""
_SILENT_PX4 = (
    "TIMESYNC", "HIGHRES_IMU", "LOCAL_POSITION_NED", "ATTITUDE", "ATTITUDE_QUATERNION", "ATTITUDE_TARGET", "ALTITUDE",
    "ODOMETRY", "GPS_RAW_INT", "NAV_CONTROLLER_OUTPUT", "POSITION_TARGET_GLOBAL_INT", "POSITION_TARGET_LOCAL_NED",
    "SERVO_OUTPUT_RAW", "VFR_HUD", "WIND_COV", "RC_CHANNELS", "SCALED_PRESSURE",
)  # fmt: skip


class Partner:
    """See the module. `system` is 0 before the first heartbeat of an autopilot."""

    def __init__(self, channel: Channel, dialect: ModuleType, autopilot: Autopilot) -> None:
        self.autopilot = autopilot
        self._channel, self._m = channel, dialect
        self._beat = NEVER
        self.forget()

    def forget(self) -> None:
        """Nobody is known."""
        self.system = self.component = 0
        self._connections = self._channel.link.connections
        self._seen: set[int] = set()
        self._asked_t_s: float | None = None

    def sent(self, message: Any) -> bool:
        """Whether the partner has sent this. The first autopilot that sends a heartbeat becomes the partner."""
        if message.get_msgId() == self._m.MAVLINK_MSG_ID_HEARTBEAT:
            if message.autopilot == self._m.MAV_AUTOPILOT_INVALID or message.type == self._m.MAV_TYPE_GCS:
                return False
            if not self.system:
                self.system, self.component = message.get_srcSystem(), message.get_srcComponent()
        if self.system != message.get_srcSystem() or self.component != message.get_srcComponent():
            return False
        self._seen.add(message.get_msgId())
        return True

    def tell(self, kind: str, *fields: Any) -> None:
        """Send a message, such as "param_set", whose first two fields are the address."""
        make = getattr(self._m, f"MAVLink_{kind}_message")
        self._channel.send(make(self.system, self.component, *fields))

    def command(self, command: int, *params: float) -> None:
        """COMMAND_LONG; parameters that are left out are 0."""
        self.tell("command_long", command, 0, *params, *[0.0] * (7 - len(params)))

    def keep_alive(self, now: Now) -> None:
        """A heartbeat a simulated second, since autopilots count in that, and a real one, while time stands still."""
        if now.t_s - self._beat.t_s < _HEARTBEAT_S and now.wall_s - self._beat.wall_s < _HEARTBEAT_S:
            return
        self._beat = now
        m = self._m
        beat = m.MAVLink_heartbeat_message(m.MAV_TYPE_GCS, m.MAV_AUTOPILOT_INVALID, 0, 0, m.MAV_STATE_ACTIVE, 3)
        self._channel.send(beat)
        if self.system:
            self._request_streams(now.t_s)

    def _request_streams(self, t_s: float) -> None:
        """Ask for what is missing, and have PX4 be silent about what nobody reads here."""
        if self._channel.link.connections != self._connections:
            self._connections = self._channel.link.connections
            self._seen.clear()
        streams, first = _STREAMS[self.autopilot], self._asked_t_s is None
        missing = [name for name in streams if first or self._number(name) not in self._seen]
        if not missing or (self._asked_t_s is not None and t_s - self._asked_t_s < _STREAMS_AGAIN_S):
            return
        if self.autopilot == "px4" and first:
            for name in _SILENT_PX4:
                self._request(name, -1.0)
        self._asked_t_s = t_s
        for name in missing:
            self._request(name, 1e6 / streams[name])

    def _request(self, name: str, interval_us: float) -> None:
        self.command(self._m.MAV_CMD_SET_MESSAGE_INTERVAL, self._number(name), interval_us)

    def _number(self, name: str) -> int:
        return int(getattr(self._m, f"MAVLINK_MSG_ID_{name}"))
