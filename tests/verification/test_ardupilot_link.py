"""The ArduPilot link against a strict fake ArduPilot that misbehaves on demand, over real sockets.

What must hold comes from SIM_JSON.cpp: one answer a frame, its time stamp a step on from that of the frame before; so
each accepted line must be the one of its own frame (`assert_in_step`), or the autopilot flies by old news.
"""

from __future__ import annotations

import math
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links import ardupilot as ardupilot_module
from fieldworthy.links.airframe import Airframe, airframe_of
from fieldworthy.links.ardupilot import MOST_REPEATS, PORT, ArdupilotLink, ArdupilotServer
from fieldworthy.links.ardupilot_json import ServoFrame, encode_state
from fieldworthy.links.ardupilot_senses import FlightSenses, stamp_s
from fieldworthy.links.fake_ardupilot import FakeArdupilot, Misbehaviour, Pulses, State
from fieldworthy.links.lockstep import Log, fly
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.pace import Pace
from fieldworthy.links.vehicle import build_for, for_autopilot
from fieldworthy.scenario import load
from fieldworthy.world.alone import Alone

RATE_HZ = 800
DT_S = 1.0 / RATE_HZ
AT_REST: dict[str, Any] = {
    "rate_frd_rad_s": (0.0, 0.0, 0.0),
    "specific_force_frd_m_s2": (0.0, 0.0, -9.80665),
    "pos_ned_m": (0.0, 0.0, 0.0),
    "vel_ned_m_s": (0.0, 0.0, 0.0),
    "quat_ned_from_frd": (1.0, 0.0, 0.0, 0.0),
}
QUAD = ("throttle_0", "throttle_1", "throttle_2", "throttle_3", "aileron", "elevator", "rudder")


class Still:
    """A vehicle that costs nothing and its senses: it stands still, and time goes by."""

    def __init__(self, until: int, rate_hz: float = RATE_HZ, pause_at: int = -1, pause_s: float = 0.0) -> None:
        """until: tick at which its trial ends. pause_at: tick at which it takes so long to be told."""
        self.world = SimpleNamespace(timing=SimpleNamespace(control=1, dt_s=1.0 / rate_hz))
        self.until, self.tick, self.pause_at, self.pause_s = until, 0, pause_at, pause_s
        self.rate_hz = rate_hz
        self.command: Sequence[float] = ()
        self.commands: list[Sequence[float]] = []

    def move(self, command: Sequence[float], ticks: int) -> None:
        self.tick += ticks
        self.command = command
        if len(self.commands) < 10_000:
            self.commands.append(command)

    @property
    def running(self) -> bool:
        return self.tick < self.until

    @property
    def t_s(self) -> float:
        return self.tick / self.rate_hz

    def frame(self, command: Sequence[float]) -> Any:
        return SimpleNamespace(tick=self.tick)

    def line(self) -> bytes:
        if self.tick == self.pause_at:
            time.sleep(self.pause_s)
        return encode_state(time_s=stamp_s(self.t_s), **AT_REST)


class Telling(ArdupilotServer):
    """A server that keeps what it has answered."""

    def __init__(self) -> None:
        super().__init__(port=0)
        self.answered: list[bytes] = []

    def answer(self, line: bytes) -> None:
        self.answered.append(line)
        super().answer(line)


@pytest.fixture
def server() -> Iterator[Telling]:
    made = Telling()
    yield made
    made.close()


@pytest.fixture(scope="module")
def quad() -> Airframe:
    return airframe_of("ardupilot", load("quad-hover"), QUAD)


def first(server: ArdupilotServer) -> ServoFrame:
    frame = server.newest(10.0)
    assert frame is not None
    return frame


def flown(
    server: ArdupilotServer,
    airframe: Airframe,
    vehicle: Any,
    senses: Any = None,
    *,
    begin: ServoFrame | None = None,
    patience_s: float = 5.0,
    stopped: Callable[[], bool] = lambda: False,
) -> ArdupilotLink:
    """A session until the vehicle's trial ends; `lost` is an attribute of the answer if the link ended it."""
    link = ArdupilotLink(server, senses or vehicle, airframe, begin or first(server), patience_s, stopped)
    link.lost = None  # type: ignore[attr-defined]
    try:
        fly(vehicle, link, Pace(None), Log(every=0), stopped)
    except LinkLost as error:
        link.lost = error  # type: ignore[attr-defined]
    return link


def time_of(line: bytes) -> float:
    found = re.search(rb'"timestamp":([^,]+),', line)
    assert found
    return float(found[1])


def assert_in_step(fake: FakeArdupilot) -> None:
    """Each frame got the line of its own step, and ArduPilot has nothing to say about any."""
    assert fake.complaints == []
    for count, line in fake.taken:
        assert time_of(line) == pytest.approx((count + 1) * DT_S, rel=2e-7), f"frame {count} got {line!r}"


def test_each_frame_is_answered_once(server: Telling, quad: Airframe) -> None:
    still = Still(until=2000)
    with FakeArdupilot(server.port, resend_s=5.0) as fake:
        link = flown(server, quad, still)
    assert_in_step(fake)
    assert fake.accepted == len(server.answered) == still.tick == 2000
    assert (fake.lives, fake.rejected, fake.sent) == (1, 0, 2001)
    assert (link.frames.new, link.frames.repeated, link.frames.lost) == (2001, 0, 0)
    assert [count for count, _ in fake.taken][-1000:] == list(range(1000, 2000))


@pytest.mark.parametrize("frames", [(0,), (5, 6, 50)])
def test_a_lost_answer_is_given_again_and_the_vehicle_stays(
    server: Telling, quad: Airframe, frames: tuple[int, ...]
) -> None:
    still = Still(until=100)
    with FakeArdupilot(server.port, resend_s=0.3, misbehaviour=Misbehaviour(loses_at=frames)) as fake:
        link = flown(server, quad, still)
    assert_in_step(fake)
    assert fake.accepted == still.tick == 100
    assert link.frames.repeated == len(frames)
    again = [b for a, b in zip(server.answered, server.answered[1:], strict=False) if a == b]
    assert again == [line for count, line in fake.taken if count in frames]


@pytest.mark.parametrize(
    "wrong",
    [Misbehaviour(queues_at=(0, 7, 100, 101)), Misbehaviour(crosses_at=(0, 10, 20, 21)), Misbehaviour(late_every=7)],
    ids=["queued", "crossed", "overtaken"],
)
def test_frames_that_come_again_are_not_answered_again(server: Telling, quad: Airframe, wrong: Misbehaviour) -> None:
    still = Still(until=200)
    with FakeArdupilot(server.port, misbehaviour=wrong, resend_s=1.1) as fake:
        link = flown(server, quad, still)
    assert_in_step(fake)
    assert fake.accepted == len(server.answered) == still.tick == 200
    assert link.frames.restarts == 0


@pytest.mark.parametrize("tick", [1, 20])
def test_after_a_pause_only_the_newest_of_the_queue_is_answered(server: Telling, quad: Airframe, tick: int) -> None:
    """Here 0.28 s and a frame each 0.05 s; real ones come each 1.1 s."""
    still = Still(until=200, pause_at=tick, pause_s=0.28)
    with FakeArdupilot(server.port) as fake:
        flown(server, quad, still)
    assert fake.sent >= 200 + 4
    assert_in_step(fake)
    assert fake.accepted == len(server.answered) == 200


def test_out_of_step_it_finds_its_way_back(server: Telling, quad: Airframe) -> None:
    """Somebody else's answer came in between: ArduPilot is a frame further than we when we want to answer.

    Were the older frame answered, ArduPilot would take it for the answer to the newer one, and the next frame would
    come too late again, for ever: here it comes while the next line is made, which is as bad as it can be.
    """
    still, wants, owed, in_step = Still(until=50), [0], list[bytes](), list[bool]()
    ardupilot = FakeArdupilot(server.port)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", server.port))
        client.send(ardupilot.packet(0))

        def line() -> bytes:
            if still.tick == 5:  # the stray answer
                wants[0] += 1
                owed.append(ardupilot.packet(wants[0]))
            while owed:
                client.send(owed.pop())
            return still.line()

        def answer(line: bytes) -> None:
            in_step.append(link.frame.frame_count == wants[0])
            wants[0] += 1
            owed.append(ardupilot.packet(wants[0]))
            if in_step[-1]:
                client.send(owed.pop())

        server.answer = answer  # type: ignore[method-assign]
        link = ArdupilotLink(server, SimpleNamespace(line=line), quad, first(server), patience_s=2.0)
        fly(still, link, Pace(None), Log(every=0))  # type: ignore[arg-type]
    assert in_step == [True] * 50


def test_a_restart_is_told_and_its_first_frame_begins_the_next_session(server: Telling, quad: Airframe) -> None:
    with FakeArdupilot(server.port, resend_s=60.0, misbehaviour=Misbehaviour(restarts_at=40)) as fake:
        before = flown(server, quad, Still(until=200))
        lost, answered, peer = before.lost, len(server.answered), server.peer  # type: ignore[attr-defined]
        assert lost is not None
        assert lost.loss is Loss.RESTARTED
        assert before.restarted
        assert before.frame.frame_count == 0
        assert answered == 40
        still = Still(until=100)
        flown(server, quad, still, begin=before.frame)
    assert fake.lives == 2
    assert fake.complaints == []
    assert fake.accepted == len(server.answered) == 140
    assert server.peer == peer
    assert [count for count, _ in fake.taken[40:]] == list(range(100))
    assert time_of(fake.taken[40][1]) == pytest.approx(DT_S)


def test_a_younger_one_is_ours_started_again_only_when_ours_is_silent(
    server: Telling, quad: Airframe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame 0 from another socket comes all the time; the session ends when ours has fallen silent, not before."""
    monkeypatch.setattr(ardupilot_module, "RESTART_S", 0.3)
    still, zero = Still(until=10_000), FakeArdupilot().packet(0)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as second,
        FakeArdupilot(server.port, misbehaviour=Misbehaviour(silent_from=400)) as fake,
    ):

        def call() -> bool:
            second.sendto(zero, ("127.0.0.1", server.port))
            return False

        link = flown(server, quad, still, stopped=call)
        address = second.getsockname()[1]
    assert fake.accepted == still.tick == 400
    assert link.lost.loss is Loss.RESTARTED  # type: ignore[attr-defined]
    assert server.peer[1] == address


def test_one_whose_address_changes_on_the_way_goes_on(
    server: Telling, quad: Airframe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A router may forget a flow: the same frames come from another port, and count on."""
    monkeypatch.setattr(ardupilot_module, "RESTART_S", 0.1)
    still, ardupilot = Still(until=6), FakeArdupilot()
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as before,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as after,
    ):
        before.sendto(ardupilot.packet(0), ("127.0.0.1", server.port))
        link = ArdupilotLink(server, still, quad, first(server), patience_s=5.0)
        send = server.answer

        def answer(line: bytes) -> None:
            send(line)
            number = len(server.answered)
            (before if number < 3 else after).sendto(ardupilot.packet(number), ("127.0.0.1", server.port))

        server.answer = answer  # type: ignore[method-assign]
        fly(still, link, Pace(None), Log(every=0))  # type: ignore[arg-type]
        assert server.peer[1] == after.getsockname()[1]
    assert (still.tick, link.frames.new) == (6, 7)


def test_silence_ends_a_session_in_the_time_that_was_given(server: Telling, quad: Airframe) -> None:
    still = Still(until=100)
    with FakeArdupilot(server.port, misbehaviour=Misbehaviour(silent_from=30)) as fake:
        lost = flown(server, quad, still, patience_s=0.2).lost  # type: ignore[attr-defined]
    assert lost.loss is Loss.SILENT
    assert str(lost) == "ArduPilot has been silent for 0.2 s after 30 frames"
    assert (still.tick, fake.accepted) == (30, 30)


@pytest.mark.parametrize("frame", [0, 25])
def test_an_autopilot_that_takes_no_answer_is_told_about(server: Telling, quad: Airframe, frame: int) -> None:
    still = Still(until=100)
    with FakeArdupilot(server.port, misbehaviour=Misbehaviour(rejects_from=frame)) as fake:
        lost = flown(server, quad, still).lost  # type: ignore[attr-defined]
    assert lost.loss is Loss.REPEATING
    asked = f"asked {MOST_REPEATS} times for the answer to frame {frame}: our replies do not reach"
    assert asked in str(lost)
    assert fake.accepted == frame
    assert still.tick == frame + 1
    assert len(set(server.answered)) == frame + 1


def test_channels_may_become_32_on_the_way(server: Telling, quad: Airframe) -> None:
    still = Still(until=60)
    with FakeArdupilot(server.port, lambda *_: (1100, 1200, 1300, 1400), misbehaviour=Misbehaviour(wide_from=20)) as f:
        link = flown(server, quad, still)
    assert_in_step(f)
    assert len(link.frame.pwm_us) == 32
    assert [list(command) for command in still.commands] == [pytest.approx([0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0])] * 60


BOATS = ("surge_m_s", "yaw_rate_rad_s")


@pytest.mark.parametrize(
    ("vehicle", "scenario", "names"),
    [
        ("copter", "quad-hover", QUAD),
        ("plane", "plane-circuit", ("throttle_0", "aileron", "elevator", "rudder")),
        ("rover", "boat-buoy", BOATS),
        ("sub", "boat-buoy", BOATS),
        ("copter", "boat-buoy", BOATS),
        ("copter", "plane-circuit", ("throttle_0", "aileron", "elevator", "rudder")),
    ],
)
def test_what_a_starting_autopilot_sends_moves_nothing(
    server: Telling, vehicle: str, scenario: str, names: tuple[str, ...]
) -> None:
    """1000 us would be full astern for a boat, and the stop of each surface."""
    airframe, still = airframe_of("ardupilot", load(scenario), names), Still(until=90)
    with FakeArdupilot(server.port, lambda *_: (1950,) * 4, boot_frames=60, vehicle=vehicle) as fake:
        link = ArdupilotLink(server, still, airframe, first(server))
        assert not link.ready
        fly(still, link, Pace(None), Log(every=0))  # type: ignore[arg-type]
    assert link.ready
    assert_in_step(fake)
    assert [list(command) for command in still.commands[:60]] == [[0.0] * len(names)] * 60
    assert all(any(command) for command in still.commands[60:])


def test_what_is_no_frame_is_survived(server: Telling, quad: Airframe) -> None:
    still = Still(until=300)
    wrong = Misbehaviour(halves_every=3, garbage_every=5, strangers_every=7)
    with FakeArdupilot(server.port, misbehaviour=wrong) as fake:
        flown(server, quad, still)
    assert_in_step(fake)
    assert fake.accepted == len(server.answered) == 300
    assert server.strangers == 100 + 60 + 2 * 42  # multiples of 3, 5 and 7 in 1 to 300


@pytest.mark.parametrize(
    ("datagram", "told"),
    [
        (b"\xfd\x09" + bytes(19), "what came instead: a MAVLink message"),
        (b'\n{"timestamp":1.0}\n', "what came instead: JSON text: a second simulator"),
        (b"\x1a\x48" + bytes(18), "what came instead: 20 bytes that begin like"),
        (b"hello", "what came instead: 5 bytes that begin with 0x6865"),
    ],
    ids=["mavlink", "json", "half", "garbage"],
)
def test_silence_says_what_came_instead(server: Telling, quad: Airframe, datagram: bytes, told: str) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
        FakeArdupilot(server.port, misbehaviour=Misbehaviour(silent_from=3)),
    ):

        def call() -> bool:
            stranger.sendto(datagram, ("127.0.0.1", server.port))
            return False

        lost = flown(server, quad, Still(until=9), patience_s=0.1, stopped=call).lost  # type: ignore[attr-defined]
    assert lost.loss is Loss.SILENT
    assert told in str(lost)


def test_silence_does_not_speak_of_what_came_long_before(server: Telling, quad: Airframe) -> None:
    with FakeArdupilot(server.port, misbehaviour=Misbehaviour(silent_from=9, strangers_every=5)):
        lost = flown(server, quad, Still(until=20), patience_s=0.1).lost  # type: ignore[attr-defined]
    assert server.strangers == 2
    assert str(lost) == "ArduPilot has been silent for 0.1 s after 9 frames"


def test_nobody_there_is_none_and_a_flood_is_no_prison(server: Telling) -> None:
    assert server.newest(0.01) is None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for _ in range(50):
            stranger.sendto(b"x", ("127.0.0.1", server.port))
        assert server.newest(0.01) is None
    assert server.strangers == 50
    assert "1 bytes" in server.stranger


def test_a_taken_port_is_named(server: Telling) -> None:
    with pytest.raises(FieldworthyError, match=rf"^UDP 127\.0\.0\.1:{server.port}: taken by another program; valid: "):
        ArdupilotServer(port=server.port)


def test_only_this_machine_unless_told(server: Telling) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert PORT == 9002
    everywhere = ArdupilotServer(host="0.0.0.0", port=0)
    assert everywhere.socket.getsockname()[0] == "0.0.0.0"
    everywhere.close()


def test_a_wait_ends_when_somebody_wants_to_stop(server: Telling, quad: Airframe) -> None:
    asked: list[float] = []

    def enough() -> bool:
        asked.append(time.perf_counter())
        return still.tick == 10 and len(server.answered) == 10 and len(asked) > 24

    still = Still(until=100)
    with FakeArdupilot(server.port, misbehaviour=Misbehaviour(silent_from=10)):
        link = flown(server, quad, still, patience_s=3600.0, stopped=enough)
    assert link.lost is None  # type: ignore[attr-defined]
    assert still.tick == 10


def hold_5_m() -> Pulses:
    """Keeps a quadrotor of x shape level over its place: gains by hand; 0.674 of the speed carries 2 kg.

    Motors: front right, rear left (anticlockwise), front left, rear right (clockwise), as ArduPilot numbers them. It
    flies only if each motor turns the rotor that it should and each sign of what is told is right.
    """
    place: list[tuple[float, ...]] = []

    def pulses(t_s: float, state: State) -> Sequence[int]:
        if not state:
            return (1000,) * 4
        place[:] = place or [state["position"]]
        roll, pitch, yaw = state["attitude"]
        (p, q, r), (vn, ve, vd) = state["gyro"], state["velocity"]
        n, e, d = (a - b for a, b in zip(state["position"], place[0], strict=True))
        c, s = math.cos(yaw), math.sin(yaw)
        ahead, right = (
            0.08 * (n * c + e * s) + 0.12 * (vn * c + ve * s),
            0.08 * (e * c - n * s) + 0.12 * (ve * c - vn * s),
        )
        lift = 0.674 + 0.1 * max(-1.0, min(1.0, d + 5.0)) + 0.15 * vd
        left_up = 0.08 * (max(-0.3, min(0.3, -right)) - roll) - 0.02 * p
        nose_up = 0.08 * (max(-0.3, min(0.3, ahead)) - pitch) - 0.02 * q
        clockwise = -0.05 * r
        motors = (
            lift - left_up + nose_up + clockwise,
            lift + left_up - nose_up + clockwise,
            lift + left_up + nose_up - clockwise,
            lift - left_up - nose_up - clockwise,
        )
        return [round(1000.0 + 1000.0 * min(max(motor, 0.0), 1.0)) for motor in motors]

    return pulses


@pytest.mark.slow
def test_a_quadrotor_takes_off_and_stays_and_the_autopilot_has_no_complaint(server: Telling) -> None:
    scenario = for_autopilot(load("quad-hover"), "ardupilot")
    alone = Alone(build_for(scenario, "ardupilot", 0, endless=True).world)
    senses = FlightSenses(alone, scenario)
    with FakeArdupilot(server.port, hold_5_m(), boot_frames=30) as fake:
        link = ArdupilotLink(server, senses, airframe_of("ardupilot", scenario, alone.names), first(server))
        fly(alone, link, Pace(None), Log(every=0), stopped=lambda: alone.t_s >= 20.0)
    assert alone.running
    assert_in_step(fake)
    assert fake.clock_s == pytest.approx(20.0, abs=1e-9)
    assert fake.frame_rate_hz == RATE_HZ  # 400 frames after it began at 1200
    assert abs(alone.value("up_m") - 5.0) < 1.5
    assert math.hypot(alone.value("north_m"), alone.value("east_m")) < 3.0


def minutes_flown(server: Telling, quad: Airframe, minutes: float, rate_hz: float) -> None:
    ticks = round(minutes * 60.0 * rate_hz)
    still = Still(until=ticks, rate_hz=rate_hz)
    server.answer = lambda line: ArdupilotServer.answer(server, line)  # type: ignore[method-assign]
    with FakeArdupilot(server.port) as fake:
        flown(server, quad, still)
    assert still.tick == fake.accepted == ticks
    assert fake.complaints == []
    assert fake.clock_s == pytest.approx(minutes * 60.0, abs=1e-9)
    assert time_of(fake.taken[-1][1]) == pytest.approx(minutes * 60.0, rel=2e-7)


@pytest.mark.slow
@pytest.mark.parametrize("rate_hz", [800.0, 1200.0])
def test_the_clocks_agree_after_a_quarter_of_a_minute(server: Telling, quad: Airframe, rate_hz: float) -> None:
    """ArduPilot's drops what is below a microsecond at every step; at 1200 Hz a step is no whole number of them."""
    minutes_flown(server, quad, 0.25, rate_hz)


@pytest.mark.slow
def test_the_clocks_agree_after_half_an_hour(server: Telling, quad: Airframe) -> None:
    minutes_flown(server, quad, 30.0, 800.0)


@pytest.mark.parametrize(
    ("rate_hz", "hours"), [(50.0, 24), (100.0, 24), (400.0, 24), (800.0, 24), (1000.0, 24), (1200.0, 24), (4000.0, 2)]
)
def test_time_stamps_keep_the_microsecond(rate_hz: float, hours: int) -> None:
    """Read with the 16 digits that a line has, anywhere in a day, the whole microseconds of a step survive."""
    for start_s in (0, 450 * hours, 1800 * hours, 3599 * hours):
        first_tick = round(start_s * rate_hz)
        before = float(f"{stamp_s(first_tick / rate_hz):.16g}")
        clock_us = round(first_tick / rate_hz * 1e6)
        for tick in range(first_tick + 1, first_tick + 500):
            now = float(f"{stamp_s(tick / rate_hz):.16g}")
            clock_us, before = int(clock_us + (now - before) * 1e6), now
            assert clock_us == round(tick / rate_hz * 1e6)


GOOD = encode_state(time_s=0.00125, **AT_REST)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (GOOD[1:], "first line needs a newline ahead"),
        (GOOD[:-1], "newline"),
        (GOOD.replace(b'"gyro"', b'"giro"'), "imu/gyro is missing"),
        (GOOD.replace(b'"velocity"', b'"speed"'), "velocity is missing"),
        (GOOD.replace(b'"position"', b'"my_position"'), "inside another name"),
        (GOOD.replace(b'"gyro":[', b'"gyro": ['), "no '\\['"),
        (GOOD.replace(b'"timestamp":', b'"timestamp": '), "not right behind"),
        (GOOD.replace(b"-9.80665", b"NaN"), "NaN"),
        (GOOD.replace(b"0.00125", b"1e999"), "NaN or infinite"),
        (GOOD.replace(b'"attitude"', b'"a"').replace(b'"quaternion"', b'"q"'), "neither attitude nor quaternion"),
        (GOOD.replace(b'"attitude":[0,', b'"attitude":[0.1,'), "apart"),
        (GOOD.replace(b"0.00125", b"0.1"), "a step of 0.1 s"),
        (GOOD.replace(b"0.00125", b"-0.1"), "goes back"),
        (GOOD.replace(b"}\n", b',"no_time_sync":1}\n'), "fake one"),
    ],
)
def test_the_fake_sees_what_is_wrong_with_a_line(line: bytes, told: str) -> None:
    fake = FakeArdupilot()
    assert fake.hear(GOOD)
    assert fake.complaints == []
    fake = FakeArdupilot()
    fake.hear(line)
    assert len(fake.complaints) == 1
    assert re.search(told, fake.complaints[0]), fake.complaints


def test_the_fake_sees_old_time_and_weight_that_is_not_there() -> None:
    fake = FakeArdupilot()
    assert fake.hear(GOOD)
    assert fake.hear(GOOD)
    assert "old answer" in fake.complaints[0]
    falls = FakeArdupilot()
    for tick in range(1, 300):
        falls.hear(encode_state(time_s=tick * DT_S, **AT_REST | {"specific_force_frd_m_s2": (0.0, 0.0, 9.80665)}))
    assert len(falls.complaints) == 1
    assert "(0.00, 0.00, 19.61)" in falls.complaints[0]


def test_the_fake_sees_answers_twice_and_from_elsewhere(server: Telling, quad: Airframe) -> None:
    send = server.answer
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:

        def twice(line: bytes) -> None:
            if still.tick == 5:
                stranger.sendto(line, server.peer)
            if still.tick == 9:
                send(line)
            send(line)

        still = Still(until=20)
        server.answer = twice  # type: ignore[method-assign]
        with FakeArdupilot(server.port) as fake:
            flown(server, quad, still)
    assert any("comes from" in told for told in fake.complaints)
    assert any("second answer" in told or "old answer" in told for told in fake.complaints)
