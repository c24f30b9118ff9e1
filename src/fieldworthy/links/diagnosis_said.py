"""What PX4 itself says is wrong, heard on its MAVLink link for companion computers, and what it means for a simulator.

Source: PX4, HealthAndArmingChecks (messages, bits of SYS_STATUS), voted_sensors_update.cpp; common.xml (STATUSTEXT,
MAV_SYS_STATUS_SENSOR); seen with main of 2025-08-18.
Limits: to hear it we are a ground station for PX4, so that it does not miss one. Messages that PX4 sends as events only
need its own table of them, and are not read.
Verified by: tests/verification/test_link_diagnosis.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldworthy.core.errors import FieldworthyError, require_extra
from fieldworthy.links.diagnosis import Finding
from fieldworthy.links.mavlink_sockets import Channel, px4_link

SETTLED_S = 12.0
"""Simulated time from which on PX4 should be content: it takes off from 8 s on."""

ERROR = 3
"""MAV_SEVERITY: worse have lower numbers."""
_WARNING = 4
_MOST_QUOTED = 6
_SYS_STATUS, _STATUSTEXT = 1, 253
_GROUND_STATION, _NO_AUTOPILOT, _ACTIVE = 6, 8, 4
_RUN_PREARM_CHECKS = 401

SENSORS = {
    0x1: "gyroscope", 0x2: "accelerometer", 0x4: "magnetometer", 0x8: "barometer", 0x10: "airspeed", 0x20: "GNSS",
    0x40: "optical flow", 0x80: "vision", 0x200000: "estimator",
}  # fmt: skip
"""Bits of SYS_STATUS that a simulator answers for."""

MEANINGS = (
    (r"STALE", "its values do not change: a sensor without noise"),
    (r"TIMEOUT", "no reading for 40 ms (IMU) or 300 ms of simulated time: its rate is too low"),
    (
        r"\b(accel\w*|gyro\w*|mag\w*|compass|baro\w*|airspeed\w*)( sensor)? #?\d* ?missing",
        "PX4 has never got it: no such device in the scenario, or fields_updated is not complete (baro needs 0x1A00)",
    ),
    (r"mag\w* .*(strength|inclination|field)|magnetic", "the field is not that of the place: look at [reference]"),
    (r"ground (control )?station|GCS", "PX4 wants a ground station connected, on UDP 14550"),
    (r"manual control|\bRC\b|remote", "no remote control: give --rc to `fieldworthy link`, or set COM_RC_IN_MODE 4"),
    (
        r"GPS|GNSS|position estimate|global position|home position",
        "GNSS must be good for a while: fix 3, eph 3, epv 5 m",
    ),
    (r"heading|yaw", "the estimator has no heading: look at the magnetometer"),
    (r"bias", "the sensor's offset is larger than PX4 believes: look at the biases of its device"),
    (r"ekf2|estimator|attitude|velocity|height", "the estimator lacks a sensor, or two of them contradict each other"),
    (r"battery|power", "PX4 simulates its battery itself: look at SIM_BAT_*"),
    (r"timestamp", "simulated time went back or stood: end PX4 and start it anew"),
    (r"preflight fail|arming denied", "PX4 would refuse to arm"),
)
"""Patterns of messages, the more telling first, and what they mean here."""


@dataclass(frozen=True)
class Text:
    """A STATUSTEXT."""

    t_s: float
    """Simulated time at which it came."""
    severity: int
    text: str


@dataclass
class Heard:
    """What has come on the link."""

    texts: list[Text] = field(default_factory=list)
    statuses: int = 0
    sick: tuple[str, ...] = ()
    """Sensors that the newest SYS_STATUS wants and finds unhealthy."""


def meaning_of(text: str) -> str:
    """What a message means for a simulator; empty where we do not know."""
    return next((meaning for pattern, meaning in MEANINGS if re.search(pattern, text, re.IGNORECASE)), "")


def sick_of(enabled: int, health: int) -> tuple[str, ...]:
    """Sensors that are wanted and unhealthy."""
    return tuple(name for bit, name in SENSORS.items() if enabled & ~health & bit)


def said_findings(heard: Heard, t_s: float, port: int, why_not: str = "") -> list[Finding]:
    """PX4's own word, by the simulated time at which we stopped. why_not: why nobody has listened."""
    name = "PX4 says"
    if why_not:
        return [Finding(name, None, f"not looked at: {why_not}")]
    if not heard.statuses and not heard.texts:
        return [
            Finding(
                name,
                None,
                f"nothing came from PX4's UDP port {port} in {t_s:.1f} s; its console (or a ground station) has more",
            )
        ]
    settled = t_s >= SETTLED_S
    found = []
    if heard.sick and settled:
        what = ", ".join(heard.sick)
        found.append(
            Finding(name, False, f"its status names as unhealthy after {t_s:.0f} s: {what}; see the checks above")
        )
    for text in _quoted(heard.texts):
        meaning = meaning_of(text.text)
        told = f"“{text.text}” at {text.t_s:.1f} s" + (f": {meaning}" if meaning else "; see PX4's console")
        early = "preflight fail" in text.text.lower() and text.t_s < SETTLED_S  # asked again after that
        bad = text.severity <= ERROR and not early
        found.append(Finding(name, False if bad else None, told))
    if not found and not settled:
        return [Finding(name, None, f"no fault in {t_s:.1f} s; it is content or not from about {SETTLED_S:g} s on")]
    return found or [Finding(name, True, f"no fault in {t_s:.0f} s, all sensors healthy")]


def _quoted(texts: Sequence[Text]) -> list[Text]:
    """The messages that matter, each once, when it came last."""
    newest = {text.text: text for text in texts if text.severity <= _WARNING}
    return sorted(newest.values(), key=lambda text: text.severity)[:_MOST_QUOTED]


class Listener:
    """Listens to one PX4 beside its simulator link, and asks it once what would keep it from arming."""

    def __init__(self, instance: int) -> None:
        self.heard, self.why_not, self.port = Heard(), "", 14580 + instance
        self._system, self._asked, self._spoke_s = instance + 1, False, -1.0
        self._channel: Channel | None = None
        try:
            self._m = require_extra("pymavlink.dialects.v20.common", "link", "PX4's own messages")
            self._channel = Channel(px4_link(instance), self._m, {_SYS_STATUS, _STATUSTEXT})
        except FieldworthyError as error:
            self.why_not = str(error)

    def poll(self, t_s: float) -> None:
        """Take what has come until this simulated time."""
        if self._channel is None:
            return
        if t_s >= self._spoke_s + 1.0:  # PX4 sends STATUSTEXT only where it hears a ground station
            self._spoke_s = t_s
            self._channel.send(self._m.MAVLink_heartbeat_message(_GROUND_STATION, _NO_AUTOPILOT, 0, 0, _ACTIVE, 3))
        if t_s >= SETTLED_S and not self._asked:
            self._asked = True
            self._channel.send(
                self._m.MAVLink_command_long_message(self._system, 1, _RUN_PREARM_CHECKS, 0, *(0.0,) * 7)
            )
        for message in self._channel.receive():
            self._take(message, t_s)

    def close(self) -> None:
        """Let go of the port."""
        if self._channel is not None:
            self._channel.link.close()

    def _take(self, message: Any, t_s: float) -> None:
        heard = self.heard
        if message.get_type() == "SYS_STATUS":
            heard.statuses += 1
            heard.sick = sick_of(message.onboard_control_sensors_enabled, message.onboard_control_sensors_health)
        elif message.get_type() == "STATUSTEXT":
            if getattr(message, "chunk_seq", 0) and heard.texts:
                last = heard.texts.pop()
                heard.texts.append(Text(last.t_s, last.severity, last.text + message.text))
            else:
                heard.texts.append(Text(t_s, message.severity, message.text.strip()))
