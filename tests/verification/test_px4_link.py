"""PX4's link against a strict fake of PX4, well and badly behaved; real PX4s are not on every machine.

The laws: a command belongs to the tick whose stamp its answer bears; simulated time is a whole number of microseconds
that only rises; whatever goes wrong ends in a sentence and not in a hang. No test looks at how long anything took.

Long because every way in which a peer misbehaves has its test here.
"""

from __future__ import annotations

import itertools
import math
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

pytest.importorskip("fastcrc")

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.subnormal import flushed
from fieldworthy.links import px4 as px4_module
from fieldworthy.links import px4_server as px4_server_module
from fieldworthy.links.airframe import Airframe, Output, airframe_of
from fieldworthy.links.fake_px4 import FakePx4, Misbehaviour
from fieldworthy.links.lockstep import Log, fly
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.mavlink import FieldsUpdated, Reader, Writer
from fieldworthy.links.mavlink_messages import (
    CommandLong,
    DistanceSensor,
    HilGps,
    HilSensor,
    HilStateQuaternion,
    RcChannels,
)
from fieldworthy.links.pace import Pace
from fieldworthy.links.px4 import Px4Link
from fieldworthy.links.px4_senses import TRUTH_HZ, Px4Senses
from fieldworthy.links.px4_server import Px4Server
from fieldworthy.links.vehicle import build_for, for_autopilot
from fieldworthy.scenario import load
from fieldworthy.world.alone import Alone

PATIENCE_S = 0.3
AIRFRAME = Airframe("any", (Output(0, "count"), Output(3, "armed")), ("count", "armed"))


# A vehicle and senses that cost nothing: what is tested is the link.


class Sample(NamedTuple):
    """Of a vehicle of which nothing is seen."""

    tick: int
    command: tuple[float, ...]


class Still:
    """Something that only grows older."""

    def __init__(self, rate_hz: float = 250.0, end_s: float = math.inf, dt_s: float = 0.001) -> None:
        control = round(1.0 / (rate_hz * dt_s))
        self.world = SimpleNamespace(timing=SimpleNamespace(control=control, dt_s=dt_s))
        self.tick, self.end = 0, end_s / dt_s
        self.command: tuple[float, ...] = (0.0, 0.0)
        self.moved: list[tuple[int, tuple[float, ...]]] = []
        """(tick at which, command with which) it was moved."""

    running = property(lambda self: self.tick < self.end)
    t_s = property(lambda self: self.tick * self.world.timing.dt_s)

    def move(self, command: Sequence[float], ticks: int) -> None:
        self.command = tuple(command)
        self.moved.append((self.tick, self.command))
        self.tick += ticks

    def frame(self, command: Sequence[float]) -> Any:
        return Sample(self.tick, tuple(command))


class StillSenses:
    """Noise in time for PX4: mag and baro at 50 Hz or less, GPS at 5 Hz."""

    def __init__(self, vehicle: Still) -> None:
        self._vehicle, self._writer = vehicle, Writer()
        self.period_s = vehicle.world.timing.control * vehicle.world.timing.dt_s
        self._tick_us = round(vehicle.world.timing.dt_s * 1e6)
        self.truth_hz: list[float] = []

    @property
    def time_us(self) -> int:
        return int(self._vehicle.tick * self._tick_us)

    def set_truth_rate(self, rate_hz: float) -> None:
        self.truth_hz.append(rate_hz)

    def frames(self) -> bytes:
        now = self.time_us
        noise = (now // 1000 * 7919 % 1013) / 1013.0 - 0.5
        before, fields = b"", FieldsUpdated.IMU
        if now % 20_000 == 0:
            fields |= FieldsUpdated.MAG | FieldsUpdated.BARO
        if now % 200_000 == 0:
            before = self._writer.hil_gps(
                time_us=1_700_000_000_000_000 + now, lat_deg=47.4, lon_deg=8.5, alt_m=488.0, eph_m=0.9, epv_m=1.4,
                vel_ned_m_s=(0.0, 0.0, 0.0), satellites=12,
            )  # fmt: skip
        return before + self._writer.hil_sensor(
            time_us=now, accel_frd_m_s2=(noise, -noise, noise - 9.8), gyro_frd_rad_s=(0.1 * noise, 0.0, -0.1 * noise),
            mag_frd_gauss=(0.2 + 1e-2 * noise, 0.0, 0.4), abs_pressure_hpa=960.0 + noise, pressure_alt_m=450.0,
            temperature_degc=20.0, fields_updated=fields,
        )  # fmt: skip


class Wire:
    """A stream socket without a network: the fake answers in the same thread."""

    def __init__(self, px4: FakePx4) -> None:
        self._px4, self._coming = px4, px4.hello()
        self.closed = False

    def settimeout(self, wait_s: float) -> None:
        pass

    def sendall(self, data: bytes) -> None:
        if self.closed:
            raise BrokenPipeError(32, "Broken pipe")
        pieces = self._px4.hear(data)
        self.closed = pieces is None
        self._coming += b"".join(piece for piece in pieces or () if isinstance(piece, bytes))

    def recv(self, size: int) -> bytes:
        if not self._coming and not self.closed:
            raise TimeoutError
        data, self._coming = self._coming[:size], self._coming[size:]
        return data

    def close(self) -> None:
        self.closed = True


def number_of(time_us: int, step_us: int) -> float:
    """The number of a step as a number that floats of 32 bits hold: unlike that of any other within an hour."""
    return (time_us // step_us) % 2**23 / 2**23


def numbered(step_us: int) -> Any:
    """Actuators that say which step they are for."""
    return lambda t_s, sensed: (number_of(sensed.time_usec, step_us), 0.0, 0.0, 1.0)


def check_commands(vehicle: Still, link: Px4Link, step_us: int) -> None:
    """Every command was the one for its very tick; before lockstep there is none, or one for a tick that is over."""
    control = vehicle.world.timing.control
    tick_us = step_us // control
    for step, (tick, command) in enumerate(vehicle.moved):
        assert tick == step * control
        told = (number_of(tick * tick_us, step_us), 1.0)
        if step < link.freewheeled:
            assert command == (0.0, 0.0) or command < told
        else:
            assert command == told, f"step {step}"


def late_at_first(px4: FakePx4, link: Px4Link) -> int:
    """Answers that a busy machine brings too late while we freewheel, which is nobody's fault."""
    return link.freewheeled - px4.freewheel - 1


def linked(px4: FakePx4, vehicle: Still, patience_s: float = PATIENCE_S) -> tuple[Px4Link, StillSenses]:
    """A link in this thread."""
    senses: Any = StillSenses(vehicle)
    wire: Any = Wire(px4)
    return Px4Link(wire, senses, AIRFRAME, patience_s), senses


@pytest.mark.slow
@pytest.mark.parametrize("rate_hz", [50, 250])
def test_lockstep_holds_for_half_an_hour(rate_hz: int) -> None:
    """Nothing late, nothing lost, and at its end the clock is the number of steps times their microseconds."""
    minutes, step_us = 30, 1_000_000 // rate_hz
    vehicle: Any = Still(rate_hz, end_s=60.0 * minutes)
    px4 = FakePx4(controls=numbered(step_us))
    link, senses = linked(px4, vehicle)
    fly(vehicle, link, Pace(None), Log(every=0))
    steps = 60 * minutes * rate_hz
    assert (vehicle.tick, senses.time_us) == (60_000 * minutes, 60_000_000 * minutes)
    assert (link.sensors, link.freewheeled) == (steps, px4.freewheel + 1)  # the first answer comes to a freewheeler
    assert (link.answers, link.late) == (steps - px4.freewheel, 0)
    assert px4.complaints == []
    assert px4.sensors == steps
    check_commands(vehicle, link, step_us)


# Through real sockets, with the fake in a thread.


@dataclass
class Session:
    """A server, a fake that has connected to it, and the link between them."""

    vehicle: Any
    patience_s: float = PATIENCE_S
    fake: dict[str, Any] = field(default_factory=dict)
    stopped: Any = lambda: False

    def __enter__(self) -> Session:
        self.server = Px4Server(port=0)
        self.px4 = FakePx4(port=self.server.port, **self.fake).start()
        self.again()
        return self

    def again(self) -> None:
        """The next connection."""
        stream = self.server.accept(10.0)
        assert stream is not None
        senses: Any = StillSenses(self.vehicle)
        self.link = Px4Link(stream, senses, AIRFRAME, self.patience_s, self.stopped)

    def fly(self) -> Log:
        """Until the end; what the log holds is kept also when the link is lost."""
        self.log = Log(every=self.vehicle.world.timing.control)
        fly(self.vehicle, self.link, Pace(None), self.log)
        return self.log

    def __exit__(self, *_: object) -> None:
        self.link.close()
        self.server.close()
        self.px4.stop()


STEP_US = 4000
HARMLESS = {
    "well": Misbehaviour(),
    "late": Misbehaviour(late_every=1),
    "twice": Misbehaviour(twice_every=1),
    "out of order": Misbehaviour(disorder_every=1),
    "in halves": Misbehaviour(halves_every=7),
    "garbage": Misbehaviour(garbage_every=1),
    "all of it": Misbehaviour(late_every=2, twice_every=3, disorder_every=5, halves_every=11, garbage_every=7),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_no_command_reaches_another_tick(name: str) -> None:
    """Stamps decide, and neither the order nor the number of messages: late, double and damaged ones change nothing."""
    with Session(Still(end_s=2.0), fake={"controls": numbered(STEP_US), "misbehaviour": HARMLESS[name]}) as it:
        it.fly()
        check_commands(it.vehicle, it.link, STEP_US)
        assert it.link.sensors == 500
        assert it.px4.complaints == []
        late = it.link.late - late_at_first(it.px4, it.link)
        assert (late > 0) == (name not in ("well", "in halves", "garbage"))


def test_what_looks_like_a_frame_and_never_ends_does_not_hide_the_answer() -> None:
    """A first byte of MAVLink 1 before the answer claims 253 bytes of HEARTBEAT, more than the answer has."""

    class Stray(FakePx4):
        def hear(self, data: bytes) -> Any:
            pieces = super().hear(data)
            return [b"\xfe", *pieces] if pieces and self.sensors in (100, 200) else pieces

    vehicle: Any = Still(end_s=1.0)
    link, _ = linked(Stray(controls=numbered(STEP_US)), vehicle, 0.1)
    fly(vehicle, link, Pace(None), Log(every=0))
    assert link.late == 0
    check_commands(vehicle, link, STEP_US)


def test_an_answer_that_is_there_counts_however_late_we_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """We may have been halted, in a debugger or by Ctrl-Z: on this clock an hour goes by between any two looks."""
    vehicle: Any = Still(end_s=1.0)
    px4 = FakePx4(freewheel=0, controls=numbered(STEP_US))
    link, _ = linked(px4, vehicle)
    hours = itertools.count(0.0, 3600.0)
    monkeypatch.setattr(px4_module, "time", SimpleNamespace(perf_counter=lambda: next(hours)))
    fly(vehicle, link, Pace(None), Log(every=0))
    assert (link.answers, link.late) == (250, 0)


def test_the_first_answer_may_be_late() -> None:
    """While it freewheels the simulator goes on; an answer to a tick that is over begins the lockstep all the same."""

    class Slow(FakePx4):
        """Its first answer is on its way until the next HIL_SENSOR comes."""

        kept: Any = None

        def hear(self, data: bytes) -> Any:
            pieces = super().hear(data)
            if pieces and self.kept is None:
                self.kept = pieces
                return []
            if pieces and self.kept:
                pieces, self.kept = [*self.kept, *pieces], []
            return pieces

    vehicle: Any = Still(end_s=1.0)
    px4 = Slow(controls=numbered(STEP_US))
    link, _ = linked(px4, vehicle)
    fly(vehicle, link, Pace(None), Log(every=0))
    assert (link.late, link.freewheeled) == (1, px4.freewheel + 2)
    check_commands(vehicle, link, STEP_US)


LOST: dict[str, tuple[Misbehaviour, Loss, str, int]] = {
    "silent": (Misbehaviour(silent_from=100), Loss.SILENT, "has not answered the HIL_SENSOR of 0.400 s for 0.3 s", 100),
    "closed": (Misbehaviour(closes_at=100), Loss.CLOSED, "PX4 has", 100),
    "future": (
        Misbehaviour(clock_steps_at=100, clock_step_us=5_000_000),
        Loss.CLOCK,
        "speaks of 5.400 s and we are at 0.400 s",
        100,
    ),
    "past": (Misbehaviour(clock_steps_at=100, clock_step_us=-50_000), Loss.SILENT, "has not answered", 100),
    "half of them": (Misbehaviour(answered_share=0.5), Loss.SILENT, "console says which of its modules waits", 0),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_autopilot_ends_with_a_sentence_and_what_was_flown(name: str) -> None:
    wrong, loss, sentence, step = LOST[name]
    with Session(Still(), fake={"controls": numbered(STEP_US), "misbehaviour": wrong}) as it:
        with pytest.raises(LinkLost) as lost:
            it.fly()
        assert lost.value.loss is loss
        assert sentence in str(lost.value)
        assert it.vehicle.tick == 4 * step if step else it.vehicle.tick >= 4 * it.px4.freewheel
        check_commands(it.vehicle, it.link, STEP_US)
        assert it.log.frames == it.vehicle.moved  # a frame a step, with the command that was given


def test_an_autopilot_that_never_answers_freewheels_until_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(px4_module, "FREEWHEEL_S", 0.2)
    with Session(Still(), fake={"misbehaviour": Misbehaviour(never_answers=True)}) as it:
        with pytest.raises(LinkLost) as lost:
            it.fly()
        assert lost.value.loss is Loss.FREEWHEEL
        assert "answered none of 51 HIL_SENSOR messages in 0 s (1 heartbeats have come)" in str(lost.value)
        assert {command for _, command in it.vehicle.moved} == {(0.0, 0.0)}
        assert not it.link.ready
        assert not it.link.armed


def test_too_fast_a_rate_is_named() -> None:
    """At 1000 Hz PX4 answers a third with its parameters as they come (seen); with IMU_GYRO_RATEMAX it answers all."""
    with (
        Session(Still(1000.0, end_s=1.0)) as it,
        pytest.raises(LinkLost, match="at 1000 Hz it answers each only with IMU_GYRO_RATEMAX = IMU_INTEG_RATE"),
    ):
        it.fly()
    with Session(Still(1000.0, end_s=1.0), fake={"gyro_ratemax_hz": 1000.0}) as it:
        it.fly()
        assert it.link.answers == 1000 - it.px4.freewheel


def test_a_restarted_autopilot_is_served_anew() -> None:
    """It closes, connects again and knows no time; the server takes it, and a new session with it is in lockstep."""
    with Session(Still(), fake={"misbehaviour": Misbehaviour(restarts_at=50), "controls": numbered(STEP_US)}) as it:
        with pytest.raises(LinkLost) as lost:
            it.fly()
        assert lost.value.loss is Loss.CLOSED
        it.link.close()
        it.vehicle = Still(end_s=1.0)
        it.again()
        it.fly()
        check_commands(it.vehicle, it.link, STEP_US)
        assert it.px4.sessions == 2
        assert it.px4.complaints == []


def test_another_client_waits_until_the_first_has_gone() -> None:
    with (
        Session(Still(end_s=0.5), fake={"controls": numbered(STEP_US)}) as it,
        FakePx4(port=it.server.port, controls=numbered(STEP_US)) as second,
    ):
        it.fly()
        assert second.sensors == 0
        it.link.close()
        it.vehicle = Still(end_s=0.5)
        it.again()
        it.fly()
        check_commands(it.vehicle, it.link, STEP_US)
        assert second.sensors == 125


def test_a_dead_autopilot_is_seen_at_the_next_step_and_not_only_after_a_while() -> None:
    """Its socket is reset, as when the process is killed with data unread."""
    vehicle: Any = Still()
    senses: Any = StillSenses(vehicle)
    with Px4Server(port=0)._socket as listening, socket.create_connection(listening.getsockname()) as client:
        stream, _ = listening.accept()
        link = Px4Link(stream, senses, AIRFRAME, 30.0)
        vehicle.move((0.0, 0.0), 4)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        link.exchange()
        client.close()
        with pytest.raises(LinkLost) as lost:
            fly(vehicle, link, Pace(None), Log(every=4))
        assert vehicle.tick <= 12
        assert lost.value.loss is Loss.CLOSED
        link.close()


def test_a_peer_that_reads_nothing_is_silent() -> None:
    """The wire's buffers fill, and a write waits no longer than patience."""
    vehicle: Any = Still()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        senses: Any = SimpleNamespace(time_us=4000, period_s=0.004, frames=lambda: bytes(50_000_000))
        with pytest.raises(LinkLost, match="has read nothing") as lost:
            Px4Link(ours, senses, AIRFRAME, PATIENCE_S).exchange()
        assert lost.value.loss is Loss.SILENT
    assert vehicle.tick == 0


def test_somebody_who_stops_waits_for_no_autopilot() -> None:
    """patience is an hour here: only `stopped` can end this."""
    halt = threading.Event()
    session = Session(Still(), 3600.0, {"misbehaviour": Misbehaviour(silent_from=100)}, halt.is_set)
    with session as it:
        log, timer = Log(every=4), threading.Timer(0.3, halt.set)
        timer.start()
        fly(it.vehicle, it.link, Pace(None), log, halt.is_set)
        timer.join()
        assert it.vehicle.tick == 400
        assert len(log.frames) == 101


@pytest.mark.parametrize(
    ("params", "rates"),
    [
        ((115.0, 5000.0), [200.0]),
        ((115.0, 0.0), [TRUTH_HZ]),  # MAV_CMD_SET_MESSAGE_INTERVAL: 0 is the default rate
        ((115.0, -1.0), [0.0]),  # and -1 is never
        ((32.0, 5000.0), []),
        ((math.nan, 5000.0), []),
        ((math.inf, 5000.0), []),
        ((115.0, math.nan), [0.0]),
    ],
)
def test_the_truth_comes_as_often_as_it_is_asked_for(params: tuple[float, float], rates: list[float]) -> None:
    vehicle: Any = Still(end_s=0.1)
    px4 = FakePx4()
    link, senses = linked(px4, vehicle)
    stream: Any = link._stream
    stream._coming = Writer().command_long(command=511, params=params)
    fly(vehicle, link, Pace(None), Log(every=4))
    assert senses.truth_hz == rates


def test_a_port_that_is_taken_is_named() -> None:
    first = Px4Server(port=0)
    with pytest.raises(FieldworthyError, match=rf"TCP 127.0.0.1:{first.port}: taken by another program; valid: "):
        Px4Server(port=first.port)
    first.close()
    Px4Server(port=first.port).close()  # and is free again when it is closed


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ({"port": 70_000}, "70000"),
        ({"instance": 70_000}, "74560"),
        ({"host": "192.0.2.1", "port": 0}, "no such address"),  # TEST-NET-1 of RFC 5737: nobody's
    ],
)
def test_a_place_that_is_none_is_named(where: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FieldworthyError, match=sentence):
        Px4Server(**where)


def test_a_server_without_clients_says_so() -> None:
    server = Px4Server(port=0)
    assert server.accept(0.01) is None
    server.close()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (None, "has hung up without a word of MAVLink"),  # a port scan
        (b"", "has sent nothing, and no MAVLink"),
        (b"\xfd\x09", "has sent 2 bytes that begin with 0xfd09, and no MAVLink"),
        (b"GET / HTTP/1.1\r\n" * 100, "has sent 1120 bytes that begin with 0x47455420, and no MAVLink"),
    ],
    ids=["scan", "silent", "half", "browser"],
)
def test_a_stray_connection_costs_nobody_a_flight(
    monkeypatch: pytest.MonkeyPatch, said: bytes | None, told: str
) -> None:
    """It is named, and PX4, which comes behind it, is handed out with its greeting still to be read."""
    monkeypatch.setattr(px4_server_module, "HELLO_S", 0.1)
    server = Px4Server(port=0)
    with socket.create_connection(("127.0.0.1", server.port)) as stray:
        if said is None:
            stray.close()
        else:
            stray.sendall(said)
        assert server.accept(0.02) is None
        with FakePx4(port=server.port):
            stream = server.accept(10.0)
            assert stream is not None
            stream.settimeout(5.0)
            kinds = {type(message).__name__ for message in Reader().feed(stream.recv(4096))}
            assert kinds & {"CommandLong", "Heartbeat"}
            stream.close()
        assert server.accept(0.3) is None
    assert server.strangers == 1
    assert server.stranger.endswith(told)
    server.close()


def test_a_greeting_in_pieces_is_one() -> None:
    server = Px4Server(port=0)
    hello = FakePx4().hello()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        for place in range(0, 20, 5):
            client.sendall(hello[place : place + 5])
            assert server.accept(0.02) is None
        client.sendall(hello[20:])
        stream = server.accept(5.0)
        assert stream is not None
        assert stream.recv(4096) == hello
        stream.close()
    server.close()


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="Linux tells where a socket listens")  # noqa: PTH110
def test_it_listens_on_this_machine_only_unless_told_otherwise() -> None:
    server = Px4Server(port=0)
    assert (server.host, server._socket.getsockname()[0]) == ("127.0.0.1", "127.0.0.1")
    server.close()
    everywhere = Px4Server("0.0.0.0", port=0)
    assert everywhere._socket.getsockname()[0] == "0.0.0.0"
    everywhere.close()


# With a real vehicle: quad-hover and its own devices.


@dataclass
class Quad:
    """quad-hover as PX4 has it, back at its start."""

    alone: Alone
    scenario: Any

    def senses(self) -> Px4Senses:
        return Px4Senses(self.alone, self.scenario)


@pytest.fixture(scope="module")
def built() -> tuple[Alone, Any]:
    scenario = for_autopilot(load("quad-hover"), "px4")
    return Alone(build_for(scenario, "px4", 0, endless=True).world), scenario


@pytest.fixture
def quad(built: tuple[Alone, Any]) -> Quad:
    built[0].rewind()
    return Quad(*built)


class Hover:
    """Keeps a quadrotor level at a height by the truth that PX4 is told; no estimator."""

    def __init__(self) -> None:
        self.px4: FakePx4 | None = None

    def __call__(self, t_s: float, sensed: HilSensor) -> Sequence[float]:
        assert self.px4 is not None
        truth = next((m for m in reversed(self.px4.heard) if isinstance(m, HilStateQuaternion)), None)
        if t_s < 2.0 or truth is None:
            return ()
        w, x, y, z = truth.attitude_quaternion
        sink, up = 0.01 * truth.vz, 0.001 * truth.alt - 0.23
        lift = 0.6 + 0.05 * (5.0 - up) + 0.1 * sink
        # The vertical seen from the body says how it leans: roll and pitch for small angles.
        roll = -0.15 * 2.0 * (w * x + y * z) - 0.05 * sensed.xgyro
        pitch = -0.15 * 2.0 * (w * y - x * z) - 0.05 * sensed.ygyro
        yaw = -0.05 * sensed.zgyro
        # Motors 1 and 2 are front right and rear left and turn the body clockwise, 3 and 4 front left and rear right.
        mixed = (-roll + pitch + yaw, roll - pitch + yaw, roll + pitch - yaw, -roll - pitch - yaw)
        return [min(max(lift + part, 0.0), 1.0) for part in mixed]


@contextmanager
def flown(quad: Quad, end_s: float, every_s: float = 0.1, **fake: Any) -> Iterator[Any]:
    """A flight of the real vehicle: (log, link, fake, how the link was lost)."""
    server = Px4Server(port=0)
    hover = Hover()
    with FakePx4(port=server.port, controls=hover, **fake) as px4:
        hover.px4 = px4
        stream = server.accept(10.0)
        assert stream is not None
        airframe = airframe_of("px4", quad.scenario, quad.alone.names)
        link = Px4Link(stream, quad.senses(), airframe, 5.0)
        log = Log(every=round(1000 * every_s))
        lost = None
        try:
            fly(quad.alone, link, Pace(None), log, lambda: quad.alone.t_s >= end_s)
        except LinkLost as error:
            lost = error
        link.close()
        server.close()
        yield log, link, px4, lost


def test_the_strict_fake_has_no_complaint_of_a_flight(quad: Quad) -> None:
    with flown(quad, 20.0) as (log, link, px4, lost):
        assert lost is None
        assert px4.complaints == []
        up = [frame.values["up_m"][0] for frame in log.frames]
        assert max(up[:20]) < 0.5  # stands until it is armed
        assert abs(up[-1] - 5.0) < 2.0, up[-1]  # and flew: a proportional law alone has an offset
        assert link.armed
        assert (link.sensors, link.answers) == (5000, 5000 - px4.freewheel)
        assert link.late == late_at_first(px4, link)
        kinds = {type(message).__name__ for message in px4.heard}
        assert kinds == {"HilGps", "HilStateQuaternion"}


def test_a_badly_behaved_autopilot_flies_the_same_flight_bit_for_bit(quad: Quad) -> None:
    flights = []
    for wrong in (HARMLESS["well"], HARMLESS["all of it"]):
        quad.alone.rewind()
        with flown(quad, 4.0, misbehaviour=wrong) as (log, _, _, lost):
            assert lost is None
            flights.append([{k: v.tobytes() for k, v in frame.values.items()} for frame in log.frames])
    assert len(flights[0]) > 40
    assert flights[0] == flights[1]


def test_a_flight_that_is_cut_short_is_in_the_log(quad: Quad) -> None:
    with flown(quad, 20.0, misbehaviour=Misbehaviour(closes_at=750)) as (log, _, _, lost):
        assert lost is not None
        assert lost.loss is Loss.CLOSED
        assert [frame.tick for frame in log.frames] == list(range(0, 3000, 100))
        assert log.frames[-1].values["up_m"][0] > 0.0


def test_every_reading_goes_out_once_and_in_the_step_in_which_it_arrives(quad: Quad) -> None:
    """Group bits, GPS messages and values against what the vehicle's devices have told."""
    alone, senses, reader = quad.alone, quad.senses(), Reader()
    stamps: dict[str, float] = {}
    groups = {"magnetometer": FieldsUpdated.MAG, "barometer": FieldsUpdated.BARO}
    sent = dict.fromkeys([*groups, "gnss"], 0)
    last_us = 0
    with flushed():
        for _ in range(1000):
            alone.move([0.0] * len(alone.names), 4)
            heard = alone.heard()
            new = {name for name in sent if name in heard and heard[name]["stamp_s"] != stamps.get(name)}
            stamps.update({name: heard[name]["stamp_s"] for name in new})
            messages = reader.feed(senses.frames())
            sensor = messages[-1]
            assert isinstance(sensor, HilSensor)
            assert not any(isinstance(message, HilSensor) for message in messages[:-1])
            assert sensor.time_usec == alone.tick * 1000 > last_us
            last_us = sensor.time_usec
            for name, bits in groups.items():
                assert sensor.fields_updated & bits == (bits if name in new else 0)
            assert not sensor.fields_updated & FieldsUpdated.DIFF_PRESSURE
            assert sum(isinstance(message, HilGps) for message in messages) == ("gnss" in new)
            for name in new:
                sent[name] += 1
            if "magnetometer" in new:
                told = heard["magnetometer"]
                assert sensor.xmag == pytest.approx(1e4 * told["field_x_t"], abs=1e-7)  # 1 T is 10 000 gauss
                assert sensor.zmag == pytest.approx(1e4 * told["field_z_t"], abs=1e-7)
            if "barometer" in new:
                assert sensor.abs_pressure == pytest.approx(heard["barometer"]["pressure_pa"] / 100.0, rel=1e-6)
            assert sensor.zacc == pytest.approx(heard["imu"]["specific_force_z_m_s2"], abs=1e-5)
    assert senses.sent == sent
    assert all(count > 10 for count in sent.values()), sent


@pytest.mark.parametrize(("rate_hz", "sent"), [(200.0, 800), (50.0, 200), (1000.0, 1000), (0.0, 0), (30.0, 120)])
def test_the_truth_is_sent_at_its_rate(quad: Quad, rate_hz: float, sent: int) -> None:
    """Over 4 s at 250 Hz, to a whole tick of 1 ms; what is asked for more often comes with every step."""
    senses, reader, counted = quad.senses(), Reader(), 0
    senses.set_truth_rate(rate_hz)
    for _ in range(1000):
        quad.alone.tick += 4  # nothing needs to move for this
        counted += sum(isinstance(message, HilStateQuaternion) for message in reader.feed(senses.frames()))
    assert abs(counted - sent) <= max(1, 0.02 * sent)


def test_a_remote_control_comes_with_its_own_rate(quad: Quad) -> None:
    senses, reader = Px4Senses(quad.alone, quad.scenario, rc_us=[1500.0, 1500.0, 1000.0]), Reader()
    told = []
    for _ in range(1000):
        quad.alone.tick += 4
        told += [m for m in reader.feed(senses.frames()) if isinstance(m, RcChannels | DistanceSensor | CommandLong)]
    assert len(told) in (40, 41)
    assert isinstance(told[0], RcChannels)
    assert told[0].chan_raw[:4] == (1500, 1500, 1000, 65535)
    assert told[0].chancount == 3


@pytest.mark.slow
def test_the_real_vehicle_and_px4_keep_one_clock_for_five_minutes(quad: Quad) -> None:
    """Every answer bears the stamp of its tick, and at the end time is ticks times their length, to the last bit."""
    alone, px4, ticks = quad.alone, FakePx4(), 300_000
    wire: Any = Wire(px4)
    link = Px4Link(wire, quad.senses(), airframe_of("px4", quad.scenario, alone.names), PATIENCE_S)
    apart = []

    class Watched:
        ready = True

        def exchange(self) -> list[float]:
            command = link.exchange()
            if link.ready and link._newest is not None and link._newest.time_usec != alone.tick * 1000:
                apart.append((alone.tick, link._newest.time_usec))
            return command

    fly(alone, Watched(), Pace(None), Log(every=0), lambda: alone.tick >= ticks)
    assert apart == []
    assert (alone.tick, alone.t_s) == (ticks, ticks * alone.world.timing.dt_s)
    assert alone.t_s == 300.0
    # The inertial unit's own stamp was made in the kernel, from the kernel's counter.
    assert alone.value("imu.stamp_s") == pytest.approx(300.0, abs=alone.world.timing.dt_s)
    assert (link.sensors, link.answers, link.late) == (ticks // 4, ticks // 4 - px4.freewheel, 0)
    assert px4.complaints == []
