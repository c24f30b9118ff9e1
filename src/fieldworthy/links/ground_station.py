"""A ground station that never waits: it brings a mission to PX4 or ArduPilot, arms, starts it and follows it.

`poll` is called between two lockstep steps; it reads what has come, answers, and moves at most one phase on. Time is
simulated time, which runs at any pace against the wall: a question is asked again after a simulated second, but not
before a tenth of a real one, for the answer needs the time of the other process's threads.

Source: MAVLink guide, "Mission Protocol", "Parameter Protocol", "Command Protocol"; PX4, mavlink_mission.cpp,
mavlink_parameters.cpp, px4_custom_mode.h; ArduPilot, AP_Mission.cpp, MissionItemProtocol.cpp, GCS_MAVLink_Copter.cpp.
Frames: north and east [m] as the caller's `geodetic` takes them, up above the place of arming (the autopilot's home).
Limits: one vehicle a link; no fences, no rally points, no camera. Real time enters where an answer is late, so the tick
at which an autopilot hears something may differ from run to run.
Verified by: tests/verification/test_ground_station.py
Long because it is one conversation: each phase is a few lines and needs what the others have heard.
"""

from __future__ import annotations

import enum
import math
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fieldworthy.core.errors import FieldworthyError, Problem, ScenarioError, require_extra
from fieldworthy.core.frames import ne_from_lonlat
from fieldworthy.core.subnormal import kept
from fieldworthy.links.mavlink_sockets import Channel, Link

Autopilot = Literal["px4", "ardupilot"]
Vehicle = Literal["copter", "plane", "rover"]
Kind = Literal["takeoff", "waypoint", "loiter", "land", "rtl"]
Geodetic = Callable[[float, float, float], tuple[float, float, float]]
"""(latitude [deg], longitude [deg], height above the sea [m]) of north, east, up [m]: `Place.geodetic`."""

_NAMES = {"px4": "PX4", "ardupilot": "ArduPilot"}
_HEARTBEAT_S = 1.0
_AGAIN_S, _AGAIN_WALL_S = 1.0, 0.1
_UPLOAD_AGAIN_S = 3.0
"""The autopilot itself asks again for an item that is late, within a second; this is for when it does not."""
_DENIED_S = 2.0
"""After a refusal: what was wrong needs time to come right."""
_SILENCE_S = 10.0
_MOST_RESTARTS = 2
_MOST_ASKED = 6
_LEFT_S = 3.0
_LANDED_S = 2.0
"""The news of having landed may come after those of having disarmed."""
_WALL_FLOOR_S = 2.0
"""No deadline is over before this much real time: at a hundred times real time 10 s are an instant."""


class Phase(enum.Enum):
    """What the ground station is doing."""

    HEARTBEAT = "waiting for a heartbeat"
    PARAMETERS = "setting the parameters"
    ESTIMATE = "waiting for the position estimate"
    UPLOAD = "uploading the mission"
    ARM = "arming"
    FLIGHT = "taking off / flying the mission"
    DONE = "done"
    FAILED = "failed"


DEADLINES_S: Mapping[Phase, float] = {
    Phase.HEARTBEAT: 60.0,
    Phase.PARAMETERS: 60.0,
    Phase.ESTIMATE: 120.0,
    Phase.UPLOAD: 30.0,
    Phase.ARM: 60.0,
    Phase.FLIGHT: 1800.0,
}
"""Simulated seconds a phase may last."""


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


@dataclass(frozen=True)
class _Step:
    """One thing to ask between a mission on board and its start, and how to see that it is so."""

    words: str
    command: int
    params: tuple[float, ...]
    mode: int | None = None
    """The mode that must be seen in a heartbeat; None: armed must be seen."""


class GroundStation:
    """See the module. Never raises for what an autopilot does: `phase` becomes FAILED, and `problem` says why."""

    def __init__(
        self,
        link: Link,
        autopilot: Autopilot,
        vehicle: Vehicle,
        mission: Sequence[MissionItem],
        *,
        geodetic: Geodetic,
        parameters: Mapping[str, float] | None = None,
        deadlines_s: Mapping[Phase, float] | None = None,
        arm_after_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`parameters` are set and confirmed before arming; those that an autopilot reads at its start only go to
        `px4_command` or `ardupilot_command`. `deadlines_s` replaces single values of DEADLINES_S. Nothing is
        armed before `arm_after_s` of simulated time.

        Raises: ScenarioError for a mission that this vehicle cannot fly, MissingExtraError without pymavlink.
        """
        _check(autopilot, vehicle, mission)
        dialect = "ardupilotmega" if autopilot == "ardupilot" else "common"
        self._m = require_extra(f"pymavlink.dialects.v20.{dialect}", "link", "a mission for an autopilot")
        self.autopilot, self.vehicle, self.mission = autopilot, vehicle, tuple(mission)
        self._px4 = autopilot == "px4"
        self._geodetic = geodetic
        self._clock = clock
        self._parameters = dict(parameters or {})
        self._arm_after_s = arm_after_s
        self._deadlines_s = {**DEADLINES_S, **(deadlines_s or {})}
        self._hear: dict[int, Callable[[Any], None]] = self._ears()
        self._channel = Channel(link, self._m, self._hear)
        self._run: dict[Phase, Callable[[], None]] = {
            Phase.HEARTBEAT: self._await_heartbeat,
            Phase.PARAMETERS: self._set_parameters,
            Phase.ESTIMATE: self._await_estimate,
            Phase.UPLOAD: self._upload,
            Phase.ARM: self._arm,
            Phase.FLIGHT: self._follow,
        }
        self._wire, self._item_of = self._encoded_mission()
        self._steps = self._steps_to_start()
        self._mission_mode = next(step.mode for step in reversed(self._steps) if step.mode is not None)

        self.phase = Phase.HEARTBEAT
        self.armed = False
        self.mode = ""
        """In the autopilot's own word, such as AUTO.MISSION or GUIDED; empty before the first heartbeat."""
        self.current: int | None = None
        """The item of `mission` that is being flown."""
        self.reached: int | None = None
        """The last item of `mission` that was reached, by the autopilot's word."""
        self.in_air: bool | None = None
        """What the autopilot believes (EXTENDED_SYS_STATE); None before it has said so."""
        self.texts: list[tuple[float, int, str]] = []
        """(t_s, severity, text) of every STATUSTEXT; a lower severity is graver, 4 is a warning."""
        self.problem = ""
        """Why it failed: what, and the autopilot's own last words."""
        self.restarts = 0
        self._t_s = self._wall_s = 0.0
        self._phase_t_s, self._phase_wall_s = 0.0, clock()
        self._beat_t_s, self._beat_wall_s = -math.inf, -math.inf
        self._system = self._component = 0
        self._forget()

    def _forget(self) -> None:
        """Nothing is known of the autopilot: before the first heartbeat, and after it has started again."""
        self._system = self._component = 0
        self._heard_t_s, self._heard_wall_s = self._t_s, self._clock()
        self._boot_ms = 0
        self._connections = self._channel.link.connections
        self._custom_mode = -1
        self._has_position = self._has_home = False
        self._seen: set[int] = set()
        self._streams_t_s = -math.inf
        self._pending = list(self._parameters.items())
        self._types: dict[str, int] = {}
        self._asked_t_s, self._asked_wall_s, self._asked = -math.inf, -math.inf, 0
        self._step = 0
        self._answer: tuple[int, int] | None = None
        self._not_before_s = -math.inf
        self._refused = ""
        self._position: tuple[float, float] | None = None
        self._complete = False
        self._left_t_s: float | None = None
        self._left_for = ""
        self._disarmed_t_s: float | None = None
        self._at_last = self._crashed = False
        self._parts: dict[int, str] = {}
        self.armed, self.mode, self.current, self.reached, self.in_air = False, "", None, None, None

    # ------------------------------------------------------------------------------------------------ the outside

    @kept()
    def poll(self, t_s: float) -> None:
        """Take what has come and go on. `t_s` is the simulated time, and never runs back."""
        self._t_s, self._wall_s = t_s, self._clock()
        for message in self._channel.receive():
            self._take(message)
        self._keep_alive()
        step = self._run.get(self.phase)
        if step is None:
            return
        step()
        if self.phase in self._run:
            self._watch()

    def close(self) -> None:
        """Hang up."""
        self._channel.link.close()

    @property
    def finished(self) -> bool:
        """Whether it is done or has failed. `poll` goes on to keep the link alive and the state fresh."""
        return self.phase not in self._run

    # ------------------------------------------------------------------------------------------------ what is heard

    def _ears(self) -> dict[int, Callable[[Any], None]]:
        m = self._m
        ears: dict[int, Callable[[Any], None]] = {
            m.MAVLINK_MSG_ID_HEARTBEAT: self._on_heartbeat,
            m.MAVLINK_MSG_ID_SYSTEM_TIME: self._on_system_time,
            m.MAVLINK_MSG_ID_PARAM_VALUE: self._on_param_value,
            m.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: self._on_position,
            m.MAVLINK_MSG_ID_MISSION_REQUEST: self._on_mission_request,
            m.MAVLINK_MSG_ID_MISSION_REQUEST_INT: self._on_mission_request,
            m.MAVLINK_MSG_ID_MISSION_ACK: self._on_mission_ack,
            m.MAVLINK_MSG_ID_MISSION_CURRENT: self._on_mission_current,
            m.MAVLINK_MSG_ID_MISSION_ITEM_REACHED: self._on_item_reached,
            m.MAVLINK_MSG_ID_COMMAND_ACK: self._on_command_ack,
            m.MAVLINK_MSG_ID_HOME_POSITION: self._on_home,
            m.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: self._on_extended_state,
            m.MAVLINK_MSG_ID_STATUSTEXT: self._on_text,
        }
        if self._px4:
            ears[m.MAVLINK_MSG_ID_ESTIMATOR_STATUS] = self._on_estimator
        else:
            ears[m.MAVLINK_MSG_ID_EKF_STATUS_REPORT] = self._on_estimator
        return ears

    def _take(self, message: Any) -> None:
        number = message.get_msgId()
        if number == self._m.MAVLINK_MSG_ID_HEARTBEAT:
            if message.autopilot == self._m.MAV_AUTOPILOT_INVALID or message.type == self._m.MAV_TYPE_GCS:
                return
            if not self._system:
                self._system, self._component = message.get_srcSystem(), message.get_srcComponent()
        if self._system != message.get_srcSystem() or self._component != message.get_srcComponent():
            return
        self._seen.add(number)
        self._hear[number](message)

    def _on_heartbeat(self, message: Any) -> None:
        self._heard_t_s, self._heard_wall_s = self._t_s, self._wall_s
        self.armed = bool(message.base_mode & self._m.MAV_MODE_FLAG_SAFETY_ARMED)
        self._custom_mode = message.custom_mode
        self.mode = mode_name(self.autopilot, self.vehicle, message.custom_mode)
        if self.phase is not Phase.HEARTBEAT:
            return
        wanted = self._m.MAV_AUTOPILOT_PX4 if self._px4 else self._m.MAV_AUTOPILOT_ARDUPILOTMEGA
        if message.autopilot != wanted:
            other = {3: "ArduPilot", 12: "PX4"}.get(message.autopilot, f"autopilot {message.autopilot}")
            self._fail(f"{other} answers where {_NAMES[self.autopilot]} was named")
        elif (other := _VEHICLE_OF_TYPE.get(message.type, self.vehicle)) != self.vehicle:
            self._fail(f"the autopilot flies a {other} (MAV_TYPE {message.type}) where a {self.vehicle} was named")

    def _on_system_time(self, message: Any) -> None:
        before_ms, self._boot_ms = self._boot_ms, message.time_boot_ms
        if message.time_boot_ms < before_ms:
            self._started_again()

    def _on_estimator(self, message: Any) -> None:
        # The bits of both messages are the same: 16 is a known position, 128 a constant one that is only assumed. PX4
        # sets the latter while it stands on the ground, whatever it knows.
        self._has_position = bool(message.flags & 16) and (self._px4 or not message.flags & 128)

    def _on_home(self, message: Any) -> None:
        self._has_home = True

    def _on_position(self, message: Any) -> None:
        if message.lat or message.lon:
            self._position = message.lat * 1e-7, message.lon * 1e-7

    def _on_extended_state(self, message: Any) -> None:
        self.in_air = {1: False, 2: True, 3: True, 4: True}.get(message.landed_state, self.in_air)

    def _on_text(self, message: Any) -> None:
        text = message.text if isinstance(message.text, str) else bytes(message.text).decode("utf-8", "replace")
        text = text.split("\0")[0]
        if message.id:  # a long text in parts of 50 characters, the last one shorter
            text = self._parts.pop(message.id, "") + text
            if len(text) % 50 == 0 and text:
                self._parts[message.id] = text
                return
        if text.strip():
            self.texts.append((self._t_s, message.severity, text.strip()))
            self._crashed |= text.startswith("Crash")  # ArduPilot's "Crash: Disarming …"

    def _on_command_ack(self, message: Any) -> None:
        if message.command != self._m.MAV_CMD_SET_MESSAGE_INTERVAL:
            self._answer = message.command, message.result

    # ------------------------------------------------------------------------------------------------ the link

    def _send(self, message: Any) -> None:
        self._channel.send(message)

    def _command(self, command: int, *params: float) -> None:
        seven = (*params, *[0.0] * (7 - len(params)))
        self._send(self._m.MAVLink_command_long_message(self._system, self._component, command, 0, *seven))

    def _keep_alive(self) -> None:
        """A heartbeat a simulated second, since autopilots count in that, and a real one, while time stands still."""
        if self._t_s - self._beat_t_s < _HEARTBEAT_S and self._wall_s - self._beat_wall_s < _HEARTBEAT_S:
            return
        self._beat_t_s, self._beat_wall_s = self._t_s, self._wall_s
        m = self._m
        self._send(m.MAVLink_heartbeat_message(m.MAV_TYPE_GCS, m.MAV_AUTOPILOT_INVALID, 0, 0, m.MAV_STATE_ACTIVE, 3))
        if self._system:
            self._request_streams()

    def _request_streams(self) -> None:
        """Ask for what is missing, and have PX4 be silent about what nobody reads here."""
        if self._channel.link.connections != self._connections:
            self._connections = self._channel.link.connections
            self._seen.clear()
        streams = _STREAMS_PX4 if self._px4 else _STREAMS_ARDUPILOT
        first = self._streams_t_s == -math.inf
        missing = [name for name in streams if first or getattr(self._m, f"MAVLINK_MSG_ID_{name}") not in self._seen]
        if not missing or self._t_s - self._streams_t_s < 3.0:
            return
        if self._px4 and first:
            for name in _SILENT_PX4:
                self._interval(name, -1.0)
        self._streams_t_s = self._t_s
        for name in missing:
            self._interval(name, 1e6 / streams[name])

    def _interval(self, name: str, interval_us: float) -> None:
        self._command(self._m.MAV_CMD_SET_MESSAGE_INTERVAL, getattr(self._m, f"MAVLINK_MSG_ID_{name}"), interval_us)

    def _may_ask(self, again_s: float = _AGAIN_S) -> bool:
        """Whether it is time to ask (again), which counts as having done so."""
        if self._t_s - self._asked_t_s < again_s or self._wall_s - self._asked_wall_s < _AGAIN_WALL_S:
            return False
        self._asked_t_s, self._asked_wall_s = self._t_s, self._wall_s
        self._asked += 1
        return True

    def _answered(self) -> None:
        self._asked_t_s, self._asked_wall_s, self._asked = -math.inf, -math.inf, 0

    def _watch(self) -> None:
        """Fail where a phase lasts too long or the autopilot has fallen silent."""
        lasted_s = self._t_s - self._phase_t_s
        limit_s = self._deadlines_s[self.phase]
        if lasted_s > limit_s and self._wall_s - self._phase_wall_s > min(_WALL_FLOOR_S, limit_s):
            self._fail(f"not over after {limit_s:g} s of simulated time{self._so_far()}")
        elif (
            self.phase is not Phase.HEARTBEAT
            and self._t_s - self._heard_t_s > _SILENCE_S
            and self._wall_s - self._heard_wall_s > _WALL_FLOOR_S
        ):
            self._fail(f"no heartbeat for {_SILENCE_S:g} s of simulated time: the autopilot has ended or hangs")

    def _so_far(self) -> str:
        if self.phase is Phase.HEARTBEAT:
            return (
                ": nothing was heard; valid: an autopilot whose MAVLink port this is, with the instance that was named"
            )
        if self.phase is Phase.ARM:
            step = self._steps[min(self._step, len(self._steps) - 1)]
            return f": {step.words} was asked {self._asked} times" + (f", {self._refused}" if self._refused else "")
        if self.phase is Phase.FLIGHT:
            at = "no item" if self.reached is None else self._named(self.reached)
            return f": {at} of {len(self.mission)} was the last one reached, in mode {self.mode}"
        return ""

    def _named(self, index: int) -> str:
        return f"item {index + 1} ({self.mission[index].kind})"

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._phase_t_s, self._phase_wall_s = self._t_s, self._wall_s
        self._answered()

    def _fail(self, what: str) -> None:
        grave = [text for _, severity, text in self.texts if severity <= 4] or [text for _, _, text in self.texts]
        last = list(dict.fromkeys(reversed(grave)))[:3][::-1]
        words = "; ".join(f"'{text}'" for text in last)
        said = f"the autopilot's last words: {words}" if words else "the autopilot has said nothing"
        self.problem = f"{self.phase.value}: {what}; {said}"
        self._enter(Phase.FAILED)

    def _started_again(self) -> None:
        """The autopilot's own clock has run back."""
        self.restarts += 1
        if self.finished:
            return
        if self.phase is Phase.FLIGHT or self.armed:
            self._fail("the autopilot has started again in flight")
        elif self.restarts > _MOST_RESTARTS:
            self._fail(f"the autopilot has started again {self.restarts} times")
        else:
            self._forget()
            self._enter(Phase.HEARTBEAT)

    # ------------------------------------------------------------------------------------------------ before arming

    def _await_heartbeat(self) -> None:
        if self._system:
            self._enter(Phase.PARAMETERS)

    def _set_parameters(self) -> None:
        """Ask for the type, then set, then see it confirmed; one after the other."""
        if not self._pending:
            self._enter(Phase.ESTIMATE)
            return
        name, value = self._pending[0]
        if self._asked >= _MOST_ASKED and self._t_s - self._asked_t_s > _AGAIN_S:
            does = "does not take a value for" if name in self._types else "does not know"
            self._fail(f"{_NAMES[self.autopilot]} {does} the parameter {name}")
        elif self._may_ask():
            key = name.encode()
            if name not in self._types:
                ask = self._m.MAVLink_param_request_read_message(self._system, self._component, key, -1)
            else:
                kind = self._types[name]
                sent = _wire_value(value, kind, bytewise=self._px4)
                ask = self._m.MAVLink_param_set_message(self._system, self._component, key, sent, kind)
            self._send(ask)

    def _on_param_value(self, message: Any) -> None:
        if self.phase is not Phase.PARAMETERS or not self._pending or message.param_id != self._pending[0][0]:
            return
        name, value = self._pending[0]
        whole = message.param_type < 9
        if whole and value != int(value):
            self._fail(f"the parameter {name} takes whole numbers, and {value:g} was given")
            return
        first = name not in self._types
        self._types[name] = message.param_type
        has = _plain_value(message.param_value, message.param_type, bytewise=self._px4)
        if math.isclose(has, value, rel_tol=1e-6, abs_tol=1e-9):
            self._pending.pop(0)
            self._answered()
        elif first:
            self._answered()
        elif self._asked >= _MOST_ASKED:
            self._fail(f"the parameter {name} stays at {has:g} and does not become {value:g}")

    def _await_estimate(self) -> None:
        """A position is known. Other checks before arming may still be on: then arming is asked again, and says why.

        ArduPilot's bit for "ready to arm" in SYS_STATUS is for its present mode, and STABILIZE needs no position.
        """
        if self._has_position and (self._has_home or not self._px4):
            self._enter(Phase.UPLOAD)

    # ------------------------------------------------------------------------------------------------ the mission

    def _encoded_mission(self) -> tuple[list[Any], list[int | None]]:
        """MISSION_ITEM_INT by sequence number, without addresses, and the item of `mission` that each belongs to."""
        m = self._m
        rows: list[tuple[int | None, int, int, tuple[float, ...], tuple[float, float, float]]] = []
        any_yaw = math.nan if self._px4 else 0.0
        nowhere = (0.0, 0.0, 0.0)
        if not self._px4:  # ArduPilot's item 0 is home, and is replaced by it
            rows.append((None, m.MAV_FRAME_GLOBAL, m.MAV_CMD_NAV_WAYPOINT, (0, 0, 0, 0), self._geodetic(0.0, 0.0, 0.0)))
        for index, item in enumerate(self.mission):
            lat_deg, lon_deg, _ = self._geodetic(item.north_m, item.east_m, item.up_m)
            at = (lat_deg, lon_deg, item.up_m)
            near_m = item.acceptance_radius_m or 0.0
            climb_deg = 15.0 if self.vehicle == "plane" else 0.0
            frame, command, params = {
                "takeoff": (m.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, m.MAV_CMD_NAV_TAKEOFF, (climb_deg, 0, 0, any_yaw)),
                "waypoint": (
                    m.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT,
                    m.MAV_CMD_NAV_WAYPOINT,
                    (item.hold_s, near_m, 0, any_yaw),
                ),
                "loiter": (m.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, m.MAV_CMD_NAV_LOITER_UNLIM, (0, 0, 0, any_yaw)),
                "land": (m.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT, m.MAV_CMD_NAV_LAND, (0, 0, 0, any_yaw)),
                "rtl": (m.MAV_FRAME_MISSION, m.MAV_CMD_NAV_RETURN_TO_LAUNCH, (0, 0, 0, 0)),
            }[item.kind]
            new = [(index, frame, command, params, nowhere if item.kind == "rtl" else at)]
            if item.speed_m_s is not None:
                kind = 0 if self.vehicle == "plane" else 1  # through the air, over ground
                speed = (m.MAV_FRAME_MISSION, m.MAV_CMD_DO_CHANGE_SPEED, (kind, item.speed_m_s, -1, 0), nowhere)
                # Before the item, and obeyed when the way to it begins; but a takeoff must come first.
                new.insert(1 if item.kind == "takeoff" else 0, (index, *speed))
            rows += new
        wire = [
            m.MAVLink_mission_item_int_message(
                0, 0, seq, frame, command, 0, 1, *params, round(at[0] * 1e7), round(at[1] * 1e7), at[2], 0
            )
            for seq, (_, frame, command, params, at) in enumerate(rows)
        ]
        return wire, [row[0] for row in rows]

    def _upload(self) -> None:
        """Say how many; the items go out as they are asked for. After silence, from the start."""
        if self._may_ask(_UPLOAD_AGAIN_S):
            self._send(self._m.MAVLink_mission_count_message(self._system, self._component, len(self._wire), 0))

    def _on_mission_request(self, message: Any) -> None:
        if self.phase is not Phase.UPLOAD or message.mission_type or message.seq >= len(self._wire):
            return
        item = self._wire[message.seq]
        item.target_system, item.target_component = self._system, self._component
        self._asked_t_s, self._asked_wall_s = self._t_s, self._wall_s
        self._send(item)

    def _on_mission_ack(self, message: Any) -> None:
        m = self._m
        if self.phase is not Phase.UPLOAD or message.mission_type:
            return
        if message.type == m.MAV_MISSION_ACCEPTED:
            self._step = 0
            self._enter(Phase.ARM)
        elif message.type not in (m.MAV_MISSION_INVALID_SEQUENCE, m.MAV_MISSION_OPERATION_CANCELLED):
            result = m.enums["MAV_MISSION_RESULT"].get(message.type)
            self._fail(f"the mission is refused with {result.name if result else message.type}")

    # ------------------------------------------------------------------------------------------------ arming

    def _steps_to_start(self) -> tuple[_Step, ...]:
        m = self._m
        arm = _Step("arming", m.MAV_CMD_COMPONENT_ARM_DISARM, (1.0,))

        def enter(mode: int) -> _Step:
            name = mode_name(self.autopilot, self.vehicle, mode)
            params = (1.0, mode >> 16 & 0xFF, mode >> 24) if self._px4 else (1.0, mode)
            return _Step(f"mode {name}", m.MAV_CMD_DO_SET_MODE, params, mode)

        if self._px4:
            return enter(_PX4_MISSION), arm
        if self.vehicle == "copter":  # does not arm in AUTO, and waits there for a raised throttle or this command
            return enter(4), arm, _Step("the start of the mission", m.MAV_CMD_MISSION_START, (), 3)
        return enter(10), arm

    def _arm(self) -> None:
        if self._t_s < self._arm_after_s:
            self._phase_t_s, self._phase_wall_s = self._t_s, self._wall_s
            return
        step = self._steps[self._step]
        if self._answer is not None and self._answer[0] == step.command:
            result = self._answer[1]
            self._answer = None
            if result not in (self._m.MAV_RESULT_ACCEPTED, self._m.MAV_RESULT_IN_PROGRESS):
                name = self._m.enums["MAV_RESULT"].get(result)
                self._refused = f"and refused with {name.name if name else result}"
                self._not_before_s = self._t_s + _DENIED_S
        if self.armed if step.mode is None else self._custom_mode == step.mode:
            self._step += 1
            self._not_before_s = -math.inf
            self._answered()
            if self._step == len(self._steps):
                self._enter(Phase.FLIGHT)
            return
        if not self.armed and any(earlier.mode is None for earlier in self._steps[: self._step]):
            self._step = 0  # it has disarmed by itself, as after ten seconds on the ground
            return
        if self._t_s >= self._not_before_s and self._may_ask(_DENIED_S):
            self._answer = None
            self._command(step.command, *step.params)

    # ------------------------------------------------------------------------------------------------ flying

    def _on_mission_current(self, message: Any) -> None:
        if self.phase is not Phase.FLIGHT:
            return
        if message.mission_state == 5:  # MISSION_STATE_COMPLETE
            self._complete = True
        index = self._item_of[message.seq] if message.seq < len(self._item_of) else None
        if index is None:
            return
        self.current = index if self.current is None else max(self.current, index)
        self._has_reached(index - 1)

    def _on_item_reached(self, message: Any) -> None:
        if self.phase is not Phase.FLIGHT or message.seq >= len(self._item_of):
            return
        is_speed = self._wire[message.seq].command == self._m.MAV_CMD_DO_CHANGE_SPEED
        index = self._item_of[message.seq]
        if index is not None:
            self._has_reached(index - 1 if is_speed and self.mission[index].kind != "takeoff" else index)

    def _has_reached(self, index: int) -> None:
        if index >= 0:
            self.reached = index if self.reached is None else max(self.reached, index)

    def _follow(self) -> None:
        last = len(self.mission) - 1
        at_last = self.current == last or (self.reached is not None and self.reached >= last - 1)
        if at_last and not self._at_last:
            self._at_last, self._position = True, None  # an older position is not yet where the last item leads
        if self._crashed:
            self._fail("the autopilot believes that it has crashed")
        elif self._ends(last, at_last):
            self.reached = last
            self._enter(Phase.DONE)
        elif not self.armed:
            self._disarmed_t_s = self._t_s if self._disarmed_t_s is None else self._disarmed_t_s
            if self._t_s - self._disarmed_t_s > _LANDED_S:
                where = " and believes to be in the air" if self.in_air else ""
                self._fail(f"disarmed before the end{where}{self._so_far()}")
        elif at_last or self._custom_mode == self._mission_mode:
            self._left_t_s = None
        elif self._left_t_s is None or self.mode != self._left_for:
            self._left_t_s, self._left_for = self._t_s, self.mode
        elif self._t_s - self._left_t_s > _LEFT_S:
            self._fail(f"the autopilot has left the mission for mode {self.mode}{self._so_far()}")

    def _ends(self, last: int, at_last: bool) -> bool:
        """Down and disarmed after a landing; at the place where the last item stays; else reached."""
        item = self.mission[last]
        if item.kind == "land" or (item.kind == "rtl" and self.vehicle == "copter"):
            return at_last and not self.armed and not self.in_air
        if item.kind in ("loiter", "rtl"):
            return at_last and self._near(item)
        return self.reached == last or (self._complete and at_last)

    def _near(self, item: MissionItem) -> bool:
        """Within its radius of the item's place, or of home; a plane circles there."""
        if self._position is None:
            return False
        north_m, east_m = (0.0, 0.0) if item.kind == "rtl" else (item.north_m, item.east_m)
        lat_deg, lon_deg, _ = self._geodetic(north_m, east_m, 0.0)
        near_m = item.acceptance_radius_m or (150.0 if self.vehicle == "plane" else 5.0)
        return math.hypot(*ne_from_lonlat(self._position[1], self._position[0], lon_deg, lat_deg)) <= near_m


_STREAMS_PX4 = {
    "HEARTBEAT": 4.0, "SYSTEM_TIME": 1.0, "EXTENDED_SYS_STATE": 2.0, "ESTIMATOR_STATUS": 2.0,
    "HOME_POSITION": 1.0, "GLOBAL_POSITION_INT": 2.0, "MISSION_CURRENT": 2.0,
}  # fmt: skip
_STREAMS_ARDUPILOT = {
    "HEARTBEAT": 4.0, "SYSTEM_TIME": 1.0, "EXTENDED_SYS_STATE": 2.0, "EKF_STATUS_REPORT": 2.0,
    "GLOBAL_POSITION_INT": 2.0, "MISSION_CURRENT": 2.0,
}  # fmt: skip
"""Hz of simulated time."""
_SILENT_PX4 = (
    "TIMESYNC", "HIGHRES_IMU", "LOCAL_POSITION_NED", "ATTITUDE", "ATTITUDE_QUATERNION", "ATTITUDE_TARGET", "ALTITUDE",
    "ODOMETRY", "GPS_RAW_INT", "NAV_CONTROLLER_OUTPUT", "POSITION_TARGET_GLOBAL_INT", "POSITION_TARGET_LOCAL_NED",
    "SERVO_OUTPUT_RAW", "VFR_HUD", "WIND_COV", "RC_CHANNELS", "SCALED_PRESSURE",
)  # fmt: skip
_VEHICLE_OF_TYPE = {
    **dict.fromkeys((2, 3, 4, 13, 14, 15, 29, 35), "copter"),
    **dict.fromkeys((1, 19, 20, 21, 22, 23, 24, 25), "plane"),
    **dict.fromkeys((10, 11), "rover"),
}
"""By MAV_TYPE; tail-sitters and tilt-rotors are planes, boats are rovers."""

_PX4_MISSION = 4 << 16 | 4 << 24
_PX4_MAIN = {
    1: "MANUAL",
    2: "ALTCTL",
    3: "POSCTL",
    4: "AUTO",
    5: "ACRO",
    6: "OFFBOARD",
    7: "STABILIZED",
    8: "RATTITUDE",
}
_PX4_AUTO = {
    1: "READY", 2: "TAKEOFF", 3: "LOITER", 4: "MISSION", 5: "RTL", 6: "LAND", 8: "FOLLOW_TARGET", 9: "PRECLAND",
    10: "VTOL_TAKEOFF",
}  # fmt: skip
_ARDUPILOT_MODES: Mapping[str, Mapping[int, str]] = {
    "copter": {
        0: "STABILIZE", 1: "ACRO", 2: "ALT_HOLD", 3: "AUTO", 4: "GUIDED", 5: "LOITER", 6: "RTL", 7: "CIRCLE", 9: "LAND",
        11: "DRIFT", 13: "SPORT", 16: "POSHOLD", 17: "BRAKE", 18: "THROW", 20: "GUIDED_NOGPS", 21: "SMART_RTL",
        27: "AUTO_RTL",
    },
    "plane": {
        0: "MANUAL", 1: "CIRCLE", 2: "STABILIZE", 3: "TRAINING", 4: "ACRO", 5: "FBWA", 6: "FBWB", 7: "CRUISE",
        8: "AUTOTUNE", 10: "AUTO", 11: "RTL", 12: "LOITER", 13: "TAKEOFF", 15: "GUIDED", 16: "INITIALISING",
        17: "QSTABILIZE", 18: "QHOVER", 19: "QLOITER", 20: "QLAND", 21: "QRTL",
    },
    "rover": {
        0: "MANUAL", 1: "ACRO", 3: "STEERING", 4: "HOLD", 5: "LOITER", 6: "FOLLOW", 7: "SIMPLE", 8: "DOCK", 9: "CIRCLE",
        10: "AUTO", 11: "RTL", 12: "SMART_RTL", 15: "GUIDED", 16: "INITIALISING",
    },
}  # fmt: skip


def mode_name(autopilot: Autopilot, vehicle: Vehicle, custom_mode: int) -> str:
    """The autopilot's own word for the `custom_mode` of a heartbeat.

    Source: PX4, px4_custom_mode.h (main mode in bits 16 to 23, submode above); ArduPilot, mode.h of each vehicle.
    """
    if autopilot == "ardupilot":
        return _ARDUPILOT_MODES[vehicle].get(custom_mode, f"mode {custom_mode}")
    main, sub = custom_mode >> 16 & 0xFF, custom_mode >> 24 & 0xFF
    name = _PX4_MAIN.get(main, f"mode {main}")
    return f"{name}.{_PX4_AUTO.get(sub, sub)}" if main == 4 else name


def _wire_value(value: float, kind: int, *, bytewise: bool) -> float:
    """PARAM_SET's float: PX4 keeps the 32 bits of an integer in it, ArduPilot its value."""
    if bytewise and kind < 9:
        return float(struct.unpack("<f", struct.pack("<i" if kind % 2 == 0 else "<I", int(value)))[0])
    return float(value)


def _plain_value(sent: float, kind: int, *, bytewise: bool) -> float:
    """The number that PARAM_VALUE's float means."""
    if bytewise and kind < 9:
        return float(struct.unpack("<i" if kind % 2 == 0 else "<I", struct.pack("<f", sent))[0])
    return sent


def _check(autopilot: str, vehicle: str, mission: Sequence[MissionItem]) -> None:
    if autopilot not in _NAMES:
        raise FieldworthyError(f"autopilot: {autopilot!r} is not known; valid: {', '.join(_NAMES)}")
    if vehicle not in _ARDUPILOT_MODES:
        raise FieldworthyError(f"vehicle: {vehicle!r} is not known; valid: {', '.join(_ARDUPILOT_MODES)}")
    problems = [] if mission else [Problem("mission", "is empty", "at least one item")]
    for index, item in enumerate(mission):
        where = f"mission[{index}]"
        kinds = (
            ("waypoint", "loiter", "rtl") if vehicle == "rover" else ("takeoff", "waypoint", "loiter", "land", "rtl")
        )
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
