"""The ground station against a scripted autopilot that keeps to MAVLink's rules, in simulated time and without waiting.

The autopilot here is pymavlink's on the other side of the wire, and does what the MAVLink guide says of the mission,
parameter and command protocols; what the real ones do beyond that was seen with PX4 1.17-alpha and ArduCopter 4.7-dev.
"""

from __future__ import annotations

import itertools
import math
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from fieldworthy.core.errors import FieldworthyError, MissingExtraError, ScenarioError
from fieldworthy.core.subnormal import flushed
from fieldworthy.links.autopilot_modes import mode_name
from fieldworthy.links.ground_station import GroundStation, Phase
from fieldworthy.links.mavlink_sockets import Channel, TcpLink, UdpLink, ardupilot_link, px4_link
from fieldworthy.links.mission import MissionItem

pytest.importorskip("fastcrc")
mav = pytest.importorskip("pymavlink.dialects.v20.ardupilotmega")

PX4_MISSION, PX4_LOITER = 4 << 16 | 4 << 24, 4 << 16 | 3 << 24
AUTO = {"copter": 3, "plane": 10, "rover": 10}
TYPE = {"copter": 2, "plane": 1, "rover": 10}
STEP_S = 0.02
FLIGHT = (
    MissionItem("takeoff", up_m=10.0),
    MissionItem("waypoint", 100.0, 50.0, 20.0, acceptance_radius_m=3.0, hold_s=2.0, speed_m_s=7.0),
    MissionItem("waypoint", 0.0, 50.0, 20.0),
    MissionItem("land", 0.0, 0.0, 0.0),
)


def geodetic(north_m: float, east_m: float, up_m: float) -> tuple[float, float, float]:
    """A world where 1e-5 deg is a metre, so that numbers can be read."""
    return 47.0 + north_m * 1e-5, 8.0 + east_m * 1e-5, 500.0 + up_m


class Wire:
    """Both directions of a link, and a place to lose things."""

    def __init__(self) -> None:
        self.connections = 1
        self.to_ground = b""
        self.to_pilot = b""

    def read(self) -> bytes:
        data, self.to_ground = self.to_ground, b""
        return data

    def write(self, data: bytes) -> None:
        self.to_pilot += data

    def close(self) -> None:
        pass


class Pilot:
    """An autopilot that does everything right, unless a test has told it otherwise."""

    def __init__(self, wire: Wire, autopilot: str, vehicle: str = "copter") -> None:
        self.wire, self.px4, self.vehicle = wire, autopilot == "px4", vehicle
        self.parameters: dict[str, tuple[int, float]] = {"AN_INT": (6, -3.0), "A_FLOAT": (9, 1.5)}
        self.ready_s = 5.0
        self.denials: list[str] = []
        """One for each request to arm that is refused."""
        self.lost: set[tuple[str, int]] = set()
        """(message type, how many of it went before) that never leaves the autopilot."""
        self.sent: dict[str, int] = {}
        self.heard: list[tuple[float, Any]] = []
        self.heartbeats_s: list[float] = []
        self.mute = False
        self.ack = mav.MAV_MISSION_ACCEPTED
        self.autopilot_id = mav.MAV_AUTOPILOT_PX4 if self.px4 else mav.MAV_AUTOPILOT_ARDUPILOTMEGA
        self.item_s = 5.0
        self.start(0.0)

    def start(self, t_s: float) -> None:
        """Boot, or boot again."""
        self.boot_s = t_s
        self.mav = mav.MAVLink(None, srcSystem=1, srcComponent=1)
        self.reader = mav.MAVLink(None)
        self.mode = PX4_LOITER if self.px4 else 0
        self.armed = self.flying = False
        self.mission: list[Any] = []
        self.expected: int | None = None
        self.count = 0
        self.asked_s = self.beat_s = -math.inf
        self.current, self.arrival_s = 0, math.inf
        self.place = (47.0, 8.0)
        self.landed_state = 1

    def say(self, message: Any) -> None:
        kind = message.get_type()
        before = self.sent.get(kind, 0)
        self.sent[kind] = before + 1
        frame = message.pack(self.mav)
        self.mav.seq = (self.mav.seq + 1) % 256
        if not self.mute and (kind, before) not in self.lost:
            self.wire.to_ground += frame

    def text(self, text: str, severity: int = 2) -> None:
        self.say(mav.MAVLink_statustext_message(severity, text.encode()))

    def step(self, t_s: float) -> None:
        self.t_s = t_s
        data, self.wire.to_pilot = self.wire.to_pilot, b""
        for message in self.reader.parse_buffer(data) or []:
            assert message.get_type() != "BAD_DATA"
            self.heard.append((t_s, message))
            handler = getattr(self, "on_" + message.get_type().lower(), None)
            if handler is not None:
                handler(message)
        if self.expected is not None and t_s - self.asked_s > 0.25:
            self.ask()
        if t_s - self.beat_s >= 1.0:
            self.beat_s = t_s
            self.status()
        if self.flying and t_s >= self.arrival_s:
            self.arrive()

    def status(self) -> None:
        base = 1 | (128 if self.armed else 0)
        self.say(mav.MAVLink_heartbeat_message(TYPE[self.vehicle], self.autopilot_id, base, self.mode, 3, 3))
        up_ms = round((self.t_s - self.boot_s) * 1000)
        self.say(mav.MAVLink_system_time_message(0, up_ms))
        self.say(mav.MAVLink_extended_sys_state_message(0, self.landed_state))
        known = self.t_s - self.boot_s >= self.ready_s
        lat, lon = round(self.place[0] * 1e7), round(self.place[1] * 1e7)
        if self.px4:
            # EKF2 on the ground: 128 whatever it knows.
            self.say(mav.MAVLink_estimator_status_message(0, 959 if known else 167, *[0.0] * 8))
        else:
            self.say(mav.MAVLink_ekf_status_report_message(831 if known else 167, *[0.0] * 5))
        if known:
            if self.px4:
                self.say(mav.MAVLink_home_position_message(lat, lon, 0, 0, 0, 0, [1, 0, 0, 0], 0, 0, 0))
            self.say(mav.MAVLink_global_position_int_message(up_ms, lat, lon, 0, 0, 0, 0, 0, 0))
        self.say(mav.MAVLink_mission_current_message(self.current, 0, 3 if self.flying else 2, 1))

    def on_heartbeat(self, message: Any) -> None:
        assert message.type == mav.MAV_TYPE_GCS
        self.heartbeats_s.append(self.t_s)

    def on_param_request_read(self, message: Any) -> None:
        self.tell_parameter(message.param_id)

    def on_param_set(self, message: Any) -> None:
        if message.param_id not in self.parameters:
            return
        kind, _ = self.parameters[message.param_id]
        if self.px4 and message.param_type != kind:
            return  # "param types mismatch"
        value = message.param_value
        if self.px4 and kind == 6:
            value = float(struct.unpack("<i", struct.pack("<f", value))[0])
        self.parameters[message.param_id] = kind, value
        self.tell_parameter(message.param_id)

    def tell_parameter(self, name: str) -> None:
        if name in self.parameters:
            kind, value = self.parameters[name]
            if self.px4 and kind == 6:
                value = struct.unpack("<f", struct.pack("<i", int(value)))[0]
            self.say(mav.MAVLink_param_value_message(name.encode(), value, kind, len(self.parameters), 0))

    def on_mission_count(self, message: Any) -> None:
        self.count, self.expected, self.mission = message.count, 0, []
        self.ask()

    def ask(self) -> None:
        self.asked_s = self.t_s
        self.say(mav.MAVLink_mission_request_int_message(255, 190, self.expected, 0))

    def on_mission_item_int(self, message: Any) -> None:
        if message.seq != self.expected:
            return
        self.mission.append(message)
        self.expected = message.seq + 1
        if self.expected == self.count:
            self.expected = None
            self.say(mav.MAVLink_mission_ack_message(255, 190, self.ack, 0))
        else:
            self.ask()

    def on_command_long(self, message: Any) -> None:
        result = mav.MAV_RESULT_ACCEPTED
        if message.command == mav.MAV_CMD_DO_SET_MODE:
            assert int(message.param1) & 1, "MAV_MODE_FLAG_CUSTOM_MODE_ENABLED"
            self.mode = int(message.param2) << 16 | int(message.param3) << 24 if self.px4 else int(message.param2)
        elif message.command == mav.MAV_CMD_COMPONENT_ARM_DISARM:
            if self.denials:
                self.text(self.denials.pop(0))
                result = mav.MAV_RESULT_FAILED
            elif not self.px4 and self.vehicle == "copter" and self.mode == AUTO["copter"]:
                self.text("Arm: Auto mode is not armable")
                result = mav.MAV_RESULT_FAILED
            else:
                self.armed = True
        elif message.command == mav.MAV_CMD_MISSION_START:
            self.mode = AUTO[self.vehicle]
        self.say(mav.MAVLink_command_ack_message(message.command, result))
        in_mission = self.mode == (PX4_MISSION if self.px4 else AUTO[self.vehicle])
        started = self.px4 or self.vehicle != "copter" or message.command == mav.MAV_CMD_MISSION_START
        if self.armed and in_mission and started and not self.flying:
            self.flying, self.landed_state = True, 2
            self.current, self.arrival_s = 0 if self.px4 else 1, self.t_s + self.item_s

    def arrive(self) -> None:
        item = self.mission[self.current]
        self.say(mav.MAVLink_mission_item_reached_message(self.current))
        self.place = item.x * 1e-7, item.y * 1e-7
        self.arrival_s = self.t_s + self.item_s
        if self.current == len(self.mission) - 1:
            self.arrival_s = math.inf
            if item.command == mav.MAV_CMD_NAV_LAND:
                self.armed, self.landed_state = False, 1
        else:
            self.current += 1


class Flight:
    """A ground station and an autopilot on a wire, with both clocks."""

    def __init__(
        self, autopilot: str = "px4", vehicle: str = "copter", mission: tuple[MissionItem, ...] = FLIGHT,
        *, pace: float = 5.0, **more: Any,
    ) -> None:  # fmt: skip
        self.wire = Wire()
        self.pilot = Pilot(self.wire, autopilot, vehicle)
        self.pace = pace
        self.t_s = 0.0
        self.wall_s = 100.0
        self.ground = GroundStation(
            self.wire, autopilot, vehicle, mission,  # type: ignore[arg-type]
            geodetic=geodetic, clock=lambda: self.wall_s, **more,
        )  # fmt: skip
        self.phases = [self.ground.phase]

    def run(self, until: Callable[[], bool] | None = None, limit_s: float = 300.0) -> GroundStation:
        """Step both until it is over, or `until`."""
        for tick in itertools.count(round(self.t_s / STEP_S) + 1):
            self.t_s = tick * STEP_S
            if self.t_s > limit_s:
                break
            self.wall_s += STEP_S / self.pace
            self.pilot.step(self.t_s)
            self.ground.poll(self.t_s)
            if self.phases[-1] is not self.ground.phase:
                self.phases.append(self.ground.phase)
            if self.ground.finished if until is None else until():
                break
        return self.ground

    def commands(self) -> list[int]:
        """What was commanded, streams aside."""
        stream = mav.MAV_CMD_SET_MESSAGE_INTERVAL
        heard = [m for _, m in self.pilot.heard if m.get_type() == "COMMAND_LONG" and m.command != stream]
        return [message.command for message in heard]


def test_px4_flies_a_mission_from_boot_to_landing() -> None:
    flight = Flight()
    ground = flight.run()
    assert ground.problem == ""
    assert flight.phases == [p for p in Phase if p is not Phase.FAILED]
    assert flight.commands() == [mav.MAV_CMD_DO_SET_MODE, mav.MAV_CMD_COMPONENT_ARM_DISARM]
    assert (ground.mode, ground.armed, ground.reached, ground.in_air) == ("AUTO.MISSION", False, 3, False)
    sent = [(m.command, m.frame, m.x, m.y, m.z) for m in flight.pilot.mission]
    over_home = mav.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT
    assert sent == [
        (mav.MAV_CMD_NAV_TAKEOFF, over_home, 470000000, 80000000, 10.0),
        (mav.MAV_CMD_DO_CHANGE_SPEED, mav.MAV_FRAME_MISSION, 0, 0, 0.0),
        (mav.MAV_CMD_NAV_WAYPOINT, over_home, 470010000, 80005000, 20.0),
        (mav.MAV_CMD_NAV_WAYPOINT, over_home, 470000000, 80005000, 20.0),
        (mav.MAV_CMD_NAV_LAND, over_home, 470000000, 80000000, 0.0),
    ]
    speed, way = flight.pilot.mission[1:3]
    assert (speed.param1, speed.param2) == (1.0, 7.0)
    assert (way.param1, way.param2) == (2.0, 3.0)
    assert math.isnan(way.param4), "PX4 takes 0 for a heading of north"


@pytest.mark.parametrize(
    ("vehicle", "mission", "order"),
    [
        (
            "copter",
            FLIGHT,
            [mav.MAV_CMD_DO_SET_MODE, mav.MAV_CMD_COMPONENT_ARM_DISARM, mav.MAV_CMD_MISSION_START],
        ),
        ("plane", FLIGHT, [mav.MAV_CMD_DO_SET_MODE, mav.MAV_CMD_COMPONENT_ARM_DISARM]),
        ("rover", FLIGHT[1:3], [mav.MAV_CMD_DO_SET_MODE, mav.MAV_CMD_COMPONENT_ARM_DISARM]),
    ],
)
def test_ardupilot_flies_a_mission(vehicle: str, mission: tuple[MissionItem, ...], order: list[int]) -> None:
    flight = Flight("ardupilot", vehicle, mission)
    ground = flight.run()
    assert ground.problem == ""
    assert ground.phase is Phase.DONE
    assert flight.commands() == order
    assert (ground.mode, ground.reached) == ("AUTO", len(mission) - 1)
    home = flight.pilot.mission[0]
    assert (home.frame, home.x, home.y, home.z) == (mav.MAV_FRAME_GLOBAL, 470000000, 80000000, 500.0)
    if vehicle == "plane":
        assert flight.pilot.mission[1].param1 > 0.0, "the pitch of the climb"
        assert flight.pilot.mission[2].param1 == 0.0, "a plane's speed is through the air"


@pytest.mark.parametrize("pace", [0.2, 1.0, 10.0, 100.0])
def test_the_pace_of_simulated_time_does_not_matter(pace: float) -> None:
    """Autopilots count the gaps between heartbeats in their own time; 5 s is ArduPilot's limit, 10 s PX4's."""
    flight = Flight("ardupilot", pace=pace)
    assert flight.run().phase is Phase.DONE
    gaps = [b - a for a, b in itertools.pairwise(flight.pilot.heartbeats_s)]
    assert max(gaps) < 1.0 + 3.0 * STEP_S
    assert len(flight.pilot.mission) == 6


def test_heartbeats_go_on_while_simulated_time_stands_still() -> None:
    """An autopilot that waits for its ground station before it boots must hear one."""
    flight = Flight()
    for _ in range(100):
        flight.wall_s += 0.1
        flight.ground.poll(0.0)
    reader = mav.MAVLink(None)
    beats = reader.parse_buffer(flight.wire.to_pilot)
    assert beats is not None
    assert [beat.get_type() for beat in beats] == ["HEARTBEAT"] * 10


def test_arming_is_asked_again_and_the_reasons_are_kept() -> None:
    flight = Flight("ardupilot")
    flight.pilot.denials = ["PreArm: Gyros inconsistent", "PreArm: Need Position Estimate"]
    ground = flight.run()
    assert ground.phase is Phase.DONE
    assert [text for _, _, text in ground.texts] == ["PreArm: Gyros inconsistent", "PreArm: Need Position Estimate"]
    asked = [t for t, m in flight.pilot.heard if m.get_type() == "COMMAND_LONG" and m.command == 400]
    assert len(asked) == 3
    assert min(b - a for a, b in itertools.pairwise(asked)) >= 2.0 - STEP_S, "time to get right"


def test_an_autopilot_that_never_arms_is_quoted() -> None:
    flight = Flight("ardupilot", deadlines_s={Phase.ARM: 10.0})
    flight.pilot.denials = ["PreArm: Compass not calibrated"] * 100
    ground = flight.run()
    assert ground.phase is Phase.FAILED
    for part in ("arming: not over after 10 s", "MAV_RESULT_FAILED", "'PreArm: Compass not calibrated'"):
        assert part in ground.problem
    assert ground.problem.count("Compass") == 1


def test_a_copter_that_disarms_by_itself_is_armed_again() -> None:
    flight = Flight("ardupilot")
    pilot = flight.pilot
    original = pilot.on_command_long
    given_up: list[bool] = []

    def once_deaf(message: Any) -> None:
        if message.command == mav.MAV_CMD_MISSION_START and not given_up:
            given_up.append(True)
            pilot.armed = False  # DISARM_DELAY
            return
        original(message)

    pilot.on_command_long = once_deaf  # type: ignore[method-assign]
    assert flight.run().phase is Phase.DONE
    assert flight.commands().count(mav.MAV_CMD_COMPONENT_ARM_DISARM) == 2


@pytest.mark.parametrize(
    "lost",
    [
        {("MISSION_REQUEST_INT", 0)},
        {("MISSION_REQUEST_INT", 3)},
        {("MISSION_ACK", 0)},
        {("COMMAND_ACK", n) for n in range(40)},
        {("HEARTBEAT", 0), ("MISSION_ITEM_REACHED", 1)},
        {("PARAM_VALUE", 0), ("PARAM_VALUE", 2)},
    ],
)
@pytest.mark.parametrize("autopilot", ["px4", "ardupilot"])
def test_a_lost_message_is_made_up_for(autopilot: str, lost: set[tuple[str, int]]) -> None:
    flight = Flight(autopilot, parameters={"AN_INT": 7, "A_FLOAT": 2.5})
    flight.pilot.lost = lost
    ground = flight.run()
    assert ground.problem == ""
    assert ground.phase is Phase.DONE
    assert [item.seq for item in flight.pilot.mission] == list(range(len(flight.pilot.mission)))


def test_whole_numbers_reach_px4_where_small_floats_count_as_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    # PX4's integers are the bits of a float, and those of small ones are subnormal, which a vehicle's loop flushes.
    flight = Flight("px4", parameters={"AN_INT": 7})
    monkeypatch.setattr(flight.ground, "poll", flushed()(flight.ground.poll))
    assert flight.run().phase is Phase.DONE
    assert flight.pilot.parameters["AN_INT"] == (6, 7.0)


def test_an_upload_that_nobody_answers_is_asked_again_and_given_up() -> None:
    flight = Flight(deadlines_s={Phase.UPLOAD: 20.0})
    flight.pilot.lost = {("MISSION_REQUEST_INT", n) for n in range(1000)}
    ground = flight.run()
    assert ground.phase is Phase.FAILED
    assert "uploading the mission: not over after 20 s of simulated time" in ground.problem
    counts = [t for t, m in flight.pilot.heard if m.get_type() == "MISSION_COUNT"]
    assert 5 <= len(counts) <= 8


def test_a_refused_mission_is_told_by_its_name() -> None:
    flight = Flight()
    flight.pilot.ack = mav.MAV_MISSION_NO_SPACE
    assert "refused with MAV_MISSION_NO_SPACE" in flight.run().problem


def test_an_autopilot_that_never_answers() -> None:
    flight = Flight(deadlines_s={Phase.HEARTBEAT: 30.0})
    flight.pilot.mute = True
    ground = flight.run()
    assert ground.phase is Phase.FAILED
    assert flight.t_s == pytest.approx(30.0, abs=0.1)
    assert "waiting for a heartbeat: not over after 30 s of simulated time: nothing was heard" in ground.problem
    assert "said nothing" in ground.problem


@pytest.mark.slow
def test_a_deadline_leaves_real_time_for_the_answer() -> None:
    """At 1000 times real time thirty seconds are 30 ms, in which no process has woken up."""
    flight = Flight(pace=1000.0, deadlines_s={Phase.HEARTBEAT: 30.0})
    flight.pilot.mute = True
    flight.run(lambda: flight.t_s > 1500.0, limit_s=3000.0)
    assert flight.ground.phase is Phase.HEARTBEAT
    assert flight.run(limit_s=3000.0).phase is Phase.FAILED


def test_silence_in_flight_is_noticed() -> None:
    flight = Flight()
    flight.run(lambda: flight.ground.phase is Phase.FLIGHT)
    flight.pilot.mute = True
    at = flight.t_s
    assert "no heartbeat for 10 s" in flight.run().problem
    assert flight.t_s - at < 12.0


@pytest.mark.parametrize("phase", [Phase.PARAMETERS, Phase.ESTIMATE, Phase.UPLOAD, Phase.ARM])
def test_an_autopilot_that_starts_again_is_brought_up_again(phase: Phase) -> None:
    flight = Flight("ardupilot", parameters={"AN_INT": 7})
    flight.pilot.lost = {
        ("MISSION_ACK", 0),
        ("PARAM_VALUE", 0),
        ("PARAM_VALUE", 1),
    }  # each phase lasts long enough to be met
    flight.pilot.denials = ["PreArm: Logging failed"] * 2
    flight.run(lambda: flight.ground.phase is phase and flight.t_s > 1.5)
    assert flight.ground.phase is phase
    flight.wire.to_ground = flight.wire.to_pilot = b""
    flight.wire.connections += 1
    flight.pilot.start(flight.t_s)
    ground = flight.run()
    assert ground.problem == ""
    assert (ground.phase, ground.restarts) == (Phase.DONE, 1)


def test_starting_again_in_flight_is_the_end() -> None:
    flight = Flight()
    flight.run(lambda: flight.ground.reached == 1)
    flight.pilot.start(flight.t_s)
    assert "has started again in flight" in flight.run().problem
    flight.run(lambda: flight.t_s > 100.0)
    assert flight.ground.restarts == 1
    assert not flight.ground.armed, "the state stays fresh"


@pytest.mark.parametrize("autopilot", ["px4", "ardupilot"])
def test_parameters_are_set_and_confirmed(autopilot: str) -> None:
    """PX4 wants the bits of an integer in the float, ArduPilot its value: the same call means the same."""
    flight = Flight(autopilot, parameters={"AN_INT": -70000, "A_FLOAT": 0.1})
    assert flight.run().phase is Phase.DONE
    assert flight.pilot.parameters["AN_INT"] == (6, -70000.0)
    assert flight.pilot.parameters["A_FLOAT"][1] == pytest.approx(0.1, rel=1e-7)  # 24 bits
    sets = [m for _, m in flight.pilot.heard if m.get_type() == "PARAM_SET"]
    assert [(m.param_id, m.param_type) for m in sets] == [("AN_INT", 6), ("A_FLOAT", 9)]
    if autopilot == "px4":
        assert struct.pack("<f", sets[0].param_value) == struct.pack("<i", -70000)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"NO_SUCH": 1.0}, "PX4 does not know the parameter NO_SUCH"),
        ({"AN_INT": 1.5}, "AN_INT takes whole numbers, and 1.5 was given"),
        ({"STUBBORN": 4.0}, "STUBBORN stays at 0 and does not become 4"),
    ],
)
def test_a_parameter_that_is_not_taken_is_named(parameters: dict[str, float], sentence: str) -> None:
    flight = Flight(parameters=parameters)
    flight.pilot.parameters["STUBBORN"] = (9, 0.0)
    original = flight.pilot.on_param_set

    def stubborn(message: Any) -> None:
        original(message) if message.param_id != "STUBBORN" else flight.pilot.tell_parameter("STUBBORN")

    flight.pilot.on_param_set = stubborn  # type: ignore[method-assign]
    assert sentence in flight.run().problem


def asked(flight: Flight, kind: str) -> list[tuple[float, str]]:
    """When the autopilot heard these messages, and of which parameter."""
    return [(t_s, m.param_id) for t_s, m in flight.pilot.heard if m.get_type() == kind]


@pytest.mark.parametrize("autopilot", ["px4", "ardupilot"])
@pytest.mark.parametrize("phase", [Phase.PARAMETERS, Phase.ESTIMATE, Phase.FLIGHT, Phase.DONE])
def test_a_parameter_is_set_at_once_in_any_phase(autopilot: str, phase: Phase) -> None:
    flight = Flight(autopilot, parameters={"A_FLOAT": 2.5})
    flight.pilot.lost = {("PARAM_VALUE", 0)}  # so that the phase of parameters lasts
    flight.run(lambda: flight.ground.phase is phase)
    before_s = flight.t_s
    for value in (7.0, -70000.0):
        flight.ground.set_parameter("AN_INT", value)
        at_s = flight.t_s
        flight.run(lambda end_s=at_s + 1.5: flight.t_s > end_s)  # type: ignore[misc]
        assert flight.pilot.parameters["AN_INT"] == (6, value)
    sets = [t_s for t_s, name in asked(flight, "PARAM_SET") if name == "AN_INT"]
    # Whoever goes by the sender's type is asked for it, once: a step there and a step back.
    late_s = STEP_S if autopilot == "px4" else 0.0
    if phase is not Phase.PARAMETERS:  # an answer is lost there
        assert sets == pytest.approx([before_s + late_s + STEP_S, at_s + STEP_S])
        reads = [name for _, name in asked(flight, "PARAM_REQUEST_READ") if name == "AN_INT"]
        assert reads == (["AN_INT"] if autopilot == "px4" else [])
    assert flight.run().phase is Phase.DONE
    assert flight.pilot.parameters["A_FLOAT"] == (9, 2.5)
    assert flight.ground.texts == []


@pytest.mark.parametrize("autopilot", ["px4", "ardupilot"])
def test_a_type_that_is_known_is_not_asked_for(autopilot: str) -> None:
    """The start's parameters, as a switch in flight may change them; and the last word counts after a new start too."""
    flight = Flight(autopilot, parameters={"AN_INT": 7})
    flight.run(lambda: flight.ground.phase is Phase.ESTIMATE)
    flight.ground.set_parameter("AN_INT", 8.0)
    at_s = flight.t_s
    flight.run(lambda: flight.t_s > 3.0)
    assert asked(flight, "PARAM_SET")[-1][0] == pytest.approx(at_s + STEP_S)
    flight.wire.to_ground = flight.wire.to_pilot = b""
    flight.pilot.start(flight.t_s)
    flight.pilot.parameters["AN_INT"] = (6, 0.0)
    assert flight.run().phase is Phase.DONE
    assert flight.ground.restarts == 1
    assert flight.pilot.parameters["AN_INT"] == (6, 8.0)


def test_a_parameter_told_before_the_first_heartbeat_comes_with_it() -> None:
    flight = Flight("ardupilot")
    flight.pilot.mute = True
    flight.ground.set_parameter("AN_INT", 7.0)
    flight.run(lambda: flight.t_s > 5.0)
    flight.pilot.mute = False
    flight.run(lambda: flight.t_s > 7.0)
    assert [name for _, name in asked(flight, "PARAM_SET")] == ["AN_INT"]
    assert flight.pilot.parameters["AN_INT"] == (6, 7.0)


@pytest.mark.parametrize("autopilot", ["px4", "ardupilot"])
def test_a_parameter_is_asked_again_each_simulated_second_until_it_is_confirmed(autopilot: str) -> None:
    flight = Flight(autopilot, parameters={"AN_INT": 1})
    flight.run(lambda: flight.ground.phase is Phase.FLIGHT)
    heard = flight.pilot.sent["PARAM_VALUE"]
    flight.pilot.lost = {("PARAM_VALUE", heard), ("PARAM_VALUE", heard + 1)}
    at_s = flight.t_s
    flight.ground.set_parameter("AN_INT", 7.0)
    assert flight.run().phase is Phase.DONE
    sets = [t_s - at_s for t_s, _ in asked(flight, "PARAM_SET") if t_s > at_s]
    assert sets == pytest.approx([0.0, 1.0, 2.0], abs=3.0 * STEP_S)
    assert flight.ground.texts == []


@pytest.mark.parametrize(("autopilot", "question"), [("px4", "PARAM_REQUEST_READ"), ("ardupilot", "PARAM_SET")])
def test_a_parameter_that_is_never_confirmed_leaves_a_note_and_the_flight_goes_on(
    autopilot: str, question: str
) -> None:
    flight = Flight(autopilot)
    flight.run(lambda: flight.ground.phase is Phase.FLIGHT)
    flight.ground.set_parameter("NO_SUCH", 1.0)
    flight.ground.set_parameter("AN_INT", 7.0)
    flight.run(lambda: flight.t_s > 25.0)
    assert flight.ground.phase is Phase.FLIGHT
    name = {"px4": "PX4", "ardupilot": "ArduPilot"}[autopilot]
    ((_, severity, text),) = flight.ground.texts
    assert (severity, text) == (5, f"ground station: {name} has not confirmed the parameter NO_SUCH as 1")
    assert [name for _, name in asked(flight, question)].count("NO_SUCH") == 6  # once, and five times again
    assert flight.pilot.parameters["AN_INT"] == (6, 7.0)
    flight.pilot.mute = True
    assert flight.run().phase is Phase.FAILED
    assert flight.ground.problem.endswith("the autopilot has said nothing"), "the note is not its word"


def test_whole_numbers_are_switched_in_flight_where_small_floats_count_as_zero() -> None:
    flight = Flight("px4", parameters={"AN_INT": 1})
    flight.run(lambda: flight.ground.phase is Phase.FLIGHT)
    with flushed():
        flight.ground.set_parameter("AN_INT", 7.0)
    assert flight.run().phase is Phase.DONE
    assert flight.pilot.parameters["AN_INT"] == (6, 7.0)


MISFITS = [
    ("px4", "AN_INT", math.nan, "AN_INT takes a finite number, and nan was given"),
    ("px4", "A_FLOAT", -math.inf, "A_FLOAT takes a finite number, and -inf was given"),
    ("ardupilot", "AN_INT", math.inf, "AN_INT takes a finite number, and inf was given"),
    ("ardupilot", "A_FLOAT", 10**400, "A_FLOAT takes a finite number, and inf was given"),
    ("px4", "A_FLOAT", 1e39, "A_FLOAT takes a number of 32 bits, within 3.4e38 of 0, and 1e+39 was given"),
    ("px4", "AN_INT", 2.0**31, "AN_INT takes -2147483648 to 2147483647, and 2.14748e+09 was given"),
    ("ardupilot", "A_BYTE", 300.0, "A_BYTE takes -128 to 127, and 300 was given"),
    ("ardupilot", "A_COUNT", -1.0, "A_COUNT takes 0 to 4294967295, and -1 was given"),
    ("ardupilot", "AN_INT", 1.5, "AN_INT takes whole numbers, and 1.5 was given"),
    # 0xffb3b4c0 is a signalling NaN, and comes out of a float as 0xfff3b4c0.
    ("px4", "AN_INT", -5000000.0, "AN_INT takes a number whose bits are no signalling NaN, and -5e+06 was given"),
]


@pytest.mark.parametrize("when", ["at the start", "in flight", "after the end"])
@pytest.mark.parametrize(("autopilot", "name", "value", "sentence"), MISFITS)
def test_a_value_that_a_parameter_cannot_hold_is_refused(
    when: str, autopilot: str, name: str, value: float, sentence: str
) -> None:
    flight = Flight(autopilot, parameters={name: value} if when == "at the start" else {})
    flight.pilot.parameters |= {"A_BYTE": (2, 0.0), "A_COUNT": (5, 0.0)}
    if when != "at the start":
        phase = Phase.FLIGHT if when == "in flight" else Phase.DONE
        flight.run(lambda: flight.ground.phase is phase)
        flight.ground.set_parameter(name, value)
        flight.run(lambda at_s=flight.t_s: flight.t_s > at_s + 0.5)  # type: ignore[misc]
    ground = flight.run()
    if when == "after the end":
        assert (ground.phase, ground.problem) == (Phase.DONE, "")
        assert [text for *_, text in ground.texts] == [f"ground station: the parameter {sentence}"]
        return
    assert ground.phase is Phase.FAILED
    during = "setting the parameters" if when == "at the start" else "taking off / flying the mission"
    assert ground.problem.startswith(f"{during}: the parameter {sentence};")


@pytest.mark.parametrize("value", [-(2**31), -1, 0, 1, 2**24 + 1, 2**31 - 1])
def test_whole_numbers_of_px4_keep_all_their_bits(value: int) -> None:
    """Also those that are NaN as floats, and more than the 24 bits that a float has for a number."""
    flight = Flight("px4", parameters={"AN_INT": value})
    assert flight.run().phase is Phase.DONE
    assert flight.pilot.parameters["AN_INT"] == (6, float(value))


def test_the_wrong_autopilot_and_the_wrong_vehicle() -> None:
    flight = Flight("px4")
    flight.pilot.autopilot_id = mav.MAV_AUTOPILOT_ARDUPILOTMEGA
    assert "ArduPilot answers where PX4 was named" in flight.run().problem
    flight = Flight("px4")
    flight.pilot.vehicle = "plane"
    assert "flies a plane (MAV_TYPE 1) where a copter was named" in flight.run().problem


def test_other_systems_on_the_link_are_not_listened_to() -> None:
    flight = Flight()
    other = mav.MAVLink(None, srcSystem=7, srcComponent=1)
    gcs = mav.MAVLink_heartbeat_message(mav.MAV_TYPE_GCS, mav.MAV_AUTOPILOT_INVALID, 0, 0, 4, 3).pack(other)
    flight.wire.to_ground += gcs
    flight.run(lambda: flight.ground.phase is Phase.FLIGHT)
    flight.wire.to_ground += mav.MAVLink_heartbeat_message(2, 12, 1, 0, 3, 3).pack(other)
    flight.wire.to_ground += mav.MAVLink_mission_item_reached_message(4).pack(other)
    flight.ground.poll(flight.t_s)
    assert (flight.ground.armed, flight.ground.reached) == (True, None)


def test_leaving_the_mission_is_told_with_the_mode() -> None:
    flight = Flight()
    flight.run(lambda: flight.ground.reached == 1)
    flight.pilot.mode = 4 << 16 | 5 << 24
    flight.pilot.arrival_s = math.inf
    flight.pilot.text("Failsafe activated: low battery", 1)
    ground = flight.run()
    assert "has left the mission for mode AUTO.RTL" in ground.problem
    assert "item 2 (waypoint) of 4 was the last one reached" in ground.problem
    assert "'Failsafe activated: low battery'" in ground.problem


def test_disarming_in_the_air_is_no_landing() -> None:
    flight = Flight()
    flight.run(lambda: flight.ground.reached == 2)
    flight.pilot.armed, flight.pilot.flying = False, False
    assert "disarmed before the end and believes to be in the air" in flight.run().problem


def test_a_crash_that_the_autopilot_reports_is_no_landing() -> None:
    """ArduCopter's crash check disarms: "Crash: Disarming: AngErr=…"."""
    flight = Flight("ardupilot")
    flight.run(lambda: flight.ground.reached == 2)
    flight.pilot.text("Crash: Disarming: AngErr=77>30", 0)
    flight.pilot.armed, flight.pilot.landed_state = False, 1
    assert "believes that it has crashed" in flight.run().problem


@pytest.mark.parametrize(
    ("autopilot", "vehicle", "last"),
    [("px4", "copter", "loiter"), ("ardupilot", "plane", "rtl"), ("ardupilot", "rover", "loiter")],
)
def test_a_mission_that_ends_staying_somewhere_is_done_when_there(autopilot: str, vehicle: str, last: Any) -> None:
    """No autopilot ever calls these items reached."""
    start = (FLIGHT[0], FLIGHT[1], MissionItem("waypoint", 400.0, 0.0, 20.0))
    mission = (
        *(start[1:] if vehicle == "rover" else start),
        MissionItem(last, 0.0 if last == "rtl" else 500.0, 0.0, 20.0),
    )
    flight = Flight(autopilot, vehicle, mission)
    pilot = flight.pilot
    last_seq = len(mission) + (1 if autopilot == "ardupilot" else 0)
    flight.run(lambda: pilot.flying and pilot.current == last_seq)
    pilot.arrival_s = math.inf
    pilot.place = (47.0 + 400e-5, 8.0)
    flight.run(lambda: flight.t_s > 60.0)
    assert flight.ground.phase is Phase.FLIGHT
    pilot.place = (47.0 + (0.0 if last == "rtl" else 500e-5), 8.0)
    assert flight.run().phase is Phase.DONE


def test_long_texts_come_in_parts() -> None:
    """STATUSTEXT: 50 characters a part under one id, the last one shorter or with a null."""
    flight = Flight()
    flight.run(lambda: flight.ground.phase is Phase.ESTIMATE)
    long = "Preflight Fail: " + "x" * 40 + " y" * 5
    for chunk in range(2):
        part = long[50 * chunk : 50 * chunk + 50].encode()
        flight.pilot.say(mav.MAVLink_statustext_message(2, part, 9, chunk))
    flight.pilot.text("short\t", 6)
    flight.ground.poll(flight.t_s)
    assert flight.ground.texts == [(flight.t_s, 2, long), (flight.t_s, 6, "short")]


def test_a_mission_that_cannot_be_flown_is_refused_with_all_its_problems() -> None:
    mission = (
        MissionItem("takeoff"), MissionItem("waypoint", math.nan), MissionItem("rtl"),
        MissionItem("waypoint", speed_m_s=0.0),
    )  # fmt: skip
    with pytest.raises(ScenarioError) as caught:
        Flight("ardupilot", "rover", mission)
    assert [problem.where for problem in caught.value.problems] == [
        "mission[0]", "mission[1]", "mission[2]", "mission[3].speed_m_s",
    ]  # fmt: skip
    with pytest.raises(ScenarioError, match="is empty"):
        Flight(mission=())
    with pytest.raises(ScenarioError, match="takeoff first"):
        Flight(mission=FLIGHT[1:])
    with pytest.raises(FieldworthyError, match="valid: px4, ardupilot"):
        Flight("betaflight")
    with pytest.raises(FieldworthyError, match="valid: copter, plane, rover"):
        Flight("px4", "submarine")


def test_without_pymavlink_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymavlink.dialects.v20.common", None)
    with pytest.raises(MissingExtraError, match=r"fieldworthy\[link\]"):
        Flight("px4")


def test_modes_have_the_autopilots_own_words() -> None:
    """PX4: px4_custom_mode.h; ArduPilot: ArduCopter/mode.h, ArduPlane/mode.h, Rover/mode.h."""
    assert mode_name("px4", "copter", PX4_MISSION) == "AUTO.MISSION"
    assert mode_name("px4", "copter", 3 << 16) == "POSCTL"
    assert mode_name("ardupilot", "copter", 9) == "LAND"
    assert mode_name("ardupilot", "plane", 11) == mode_name("ardupilot", "rover", 11) == "RTL"
    assert mode_name("ardupilot", "rover", 99) == "mode 99"


def test_frames_are_found_among_others_and_in_pieces() -> None:
    wire = Wire()
    channel = Channel(wire, mav, {mav.MAVLINK_MSG_ID_HEARTBEAT, mav.MAVLINK_MSG_ID_STATUSTEXT})
    sender = mav.MAVLink(None, srcSystem=1, srcComponent=1)
    beat = mav.MAVLink_heartbeat_message(2, 12, 1, 0, 3, 3)
    old = beat.pack(sender, force_mavlink1=True)
    beat, text = beat.pack(sender), mav.MAVLink_statustext_message(4, b"\xfd\xfe hello").pack(sender)
    other = mav.MAVLink_attitude_message(0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0).pack(sender)
    damaged = bytearray(beat)
    damaged[-1] ^= 1
    stream = b"noise" + beat + other + bytes(damaged) + text + old + other + beat[:9]
    found = []
    for byte in stream:
        wire.to_ground += bytes([byte])
        found += channel.receive()
    wire.to_ground += beat[9:]
    found += channel.receive()
    assert [message.get_type() for message in found] == ["HEARTBEAT", "STATUSTEXT", "HEARTBEAT", "HEARTBEAT"]
    assert channel.bad_frames == 1
    wire.to_ground = beat[:9]
    assert channel.receive() == []
    wire.connections += 1
    wire.to_ground = beat
    assert len(channel.receive()) == 1, "half a frame of the connection before is not joined to this one"


def wait_for(link: Any, size: int) -> bytes:
    """What a loopback socket brings; it may need a moment, and no more than a second."""
    data, end = b"", time.monotonic() + 1.0
    while len(data) < size and time.monotonic() < end:
        data += link.read()
    return data


def test_udp_talks_to_whoever_answers() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pilot,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as b,
    ):
        for end in (pilot, b):
            end.bind(("127.0.0.1", 0))
            end.settimeout(1.0)
        link = UdpLink(0, pilot.getsockname()[1])
        try:
            assert link.read() == b""
            link.write(b"first")
            data, address = pilot.recvfrom(100)
            assert (data, address) == (b"first", ("127.0.0.1", link.port))
            b.sendto(b"abc", address)
            b.sendto(b"def", address)
            assert wait_for(link, 6) == b"abcdef"
            link.write(b"second")
            assert b.recv(100) == b"second"
            with pytest.raises(FieldworthyError, match=f"UDP 127.0.0.1:{link.port} cannot be taken"):
                UdpLink(link.port, 1)
        finally:
            link.close()


def test_tcp_connects_late_and_again() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(1.0)
        now = [0.0]
        link = TcpLink(listener.getsockname()[1], clock=lambda: now[0])
        try:
            assert link.read() == b""  # bound, and not listening yet
            link.write(b"lost")
            listener.listen(1)
            for connection in (1, 2):
                end = time.monotonic() + 3.0
                while link.connections < connection and time.monotonic() < end:
                    link.read()
                    now[0] += 0.01
                peer, _ = listener.accept()
                with peer:
                    peer.settimeout(1.0)
                    link.write(b"hello")
                    assert peer.recv(100) == b"hello"
                    peer.sendall(b"there")
                    assert wait_for(link, 5) == b"there"
        finally:
            link.close()
        now[0] += 1.0
        assert link.read() == b""


def test_the_ports_of_an_instance() -> None:
    """PX4: px4-rc.mavlink; from the tenth instance on all send to one port, which only one could have."""
    for instance, port in ((3, 14543), (9, 14549)):
        try:
            link = px4_link(instance)
        except FieldworthyError:
            continue  # in use on this machine: an autopilot of somebody else is flying
        assert link.port == port
        link.close()
    links = [px4_link(instance) for instance in (10, 11)]
    assert links[0].port != links[1].port
    for link in links:
        link.close()
    assert ardupilot_link(2).port == 5780
