"""A peer that keeps to PX4's side of its simulator API, strictly, and breaks it where it is told to.

It connects, asks for the truth at 200 Hz, says nothing until its modules run (freewheel), and from then on answers each
HIL_SENSOR with one HIL_ACTUATOR_CONTROLS of the same time. What a simulator does that PX4 would refuse or report is a
sentence in `complaints`. It flies nothing: the actuators are a function of time that the caller gives.

Source: PX4, SimulatorMavlink.cpp; a recorded session with main of 2025-08-18.
Limits: no estimator and no controller; one unit of each device.
Verified by: tests/verification/test_fake_px4.py, tests/verification/test_px4_link.py
"""

from __future__ import annotations

import math
import select
import socket
import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeAlias

from fieldworthy.links.fake_px4_rules import Rules
from fieldworthy.links.mavlink import Reader, Writer
from fieldworthy.links.mavlink_messages import (
    AUTOPILOT_PX4,
    LAYOUT_OF,
    MODE_ARMED,
    SET_MESSAGE_INTERVAL,
    HilSensor,
    HilStateQuaternion,
    Message,
)
from fieldworthy.links.ports import LOOPBACK

CONNECT_AGAIN_S = 5e-4
TRUTH_INTERVAL_US = 5000
_MODE_ENABLED = 1
_MOTORS = 4

ANSWERED = ((250.0, 1.0), (400.0, 0.57), (500.0, 0.56), (1000.0, 0.32))
"""(rate of HIL_SENSOR, share that is answered) with IMU_GYRO_RATEMAX as it comes."""

Controls: TypeAlias = Callable[[float, HilSensor], Sequence[float]]
"""(time [s], what was sensed) to actuators from 0, or from -1 for surfaces; all zero while disarmed."""


def disarmed(t_s: float, sensed: HilSensor) -> Sequence[float]:
    """Nothing turns."""
    return ()


def armed_from(t_s: float, throttle: float, motors: int = _MOTORS) -> Controls:
    """Disarmed until then, and from then on one throttle for all motors."""
    return lambda now_s, sensed: (throttle,) * motors if now_s >= t_s else ()


@dataclass(frozen=True)
class Misbehaviour:
    """What a fake PX4 does wrong, and when; counted in HIL_SENSOR messages of a session, from 1."""

    never_answers: bool = False
    """Freewheels for ever: its start script hangs."""
    silent_from: int | None = None
    """Answers no more: one of its modules waits for another."""
    closes_at: int | None = None
    """Closes the connection instead of answering."""
    restarts_at: int | None = None
    """The same, and connects anew; it knows no time and freewheels again. Once only."""
    late_every: int = 0
    """Answers the message before once more, ahead of every so manieth answer."""
    disorder_every: int = 0
    """The same, but behind it: the older answer comes last."""
    twice_every: int = 0
    """Gives every so manieth answer twice."""
    halves_every: int = 0
    """Sends half of every so manieth answer, waits, and sends the rest."""
    pause_s: float = 0.002
    """Wall time between halves."""
    garbage_every: int = 0
    """A frame cut off, a damaged one and stray bytes ahead of every so manieth answer."""
    clock_steps_at: int | None = None
    """From there on the times in its answers are another clock's."""
    clock_step_us: int = 0
    answered_share: float = 1.0
    """Of the messages after the freewheel."""


Pieces: TypeAlias = list[bytes | float]
"""What is sent, bytes, and for how long nothing is, seconds."""


class FakePx4:
    """Connects to a simulator and behaves as PX4 does, in a thread: `with FakePx4(port=server.port) as px4: ...`.

    `hear` is the same without a socket: bytes in, bytes out.
    """

    def __init__(
        self,
        host: str = LOOPBACK,
        port: int = 4560,
        controls: Controls = disarmed,
        freewheel: int = 15,
        gyro_ratemax_hz: float = 250.0,
        misbehaviour: Misbehaviour | None = None,
    ) -> None:
        """freewheel: HIL_SENSOR messages before it answers. gyro_ratemax_hz: of IMU_GYRO_RATEMAX and IMU_INTEG_RATE."""
        self.host, self.port, self.controls, self.freewheel = host, port, controls, freewheel
        self.gyro_ratemax_hz, self.wrong = gyro_ratemax_hz, misbehaviour or Misbehaviour()
        self.sessions = 0
        """Connections made so far."""
        self.heard: list[Message] = []
        """All messages but HIL_SENSOR, in their order."""
        self.broken: list[Rules] = []
        """What each session has shown, oldest first."""
        self.sensors = self.answers = 0
        """Of all sessions; an answer given twice counts once."""
        self._writer = Writer(component_id=1)
        self._restarts = self.wrong.restarts_at is not None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._reader, self._rules = Reader(), Rules()
        self._count, self._answering = 0, False
        self._before: HilSensor | None = None
        self.broken.append(self._rules)

    @property
    def complaints(self) -> list[str]:
        """What PX4 would have refused or reported, in sentences, each rule once a session."""
        return [sentence for rules in self.broken for sentence in rules.complaints]

    def start(self) -> FakePx4:
        """Connect, as soon as somebody listens."""
        self._thread = threading.Thread(target=self._run, name="fake PX4", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close the connection and end.

        Raises: what `controls` raised, if it did.
        """
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> FakePx4:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def hello(self) -> bytes:
        """What a new connection begins with."""
        self._begin()
        interval = (float(LAYOUT_OF[HilStateQuaternion].message_id), float(TRUTH_INTERVAL_US))
        asked = self._writer.command_long(command=SET_MESSAGE_INTERVAL, params=interval)
        return asked + self._writer.heartbeat(vehicle_type=2, autopilot=AUTOPILOT_PX4, system_status=0)

    def hear(self, data: bytes) -> Pieces | None:
        """What comes back for what has arrived; None: it closes the connection."""
        out: Pieces = []
        messages = self._reader.feed(data)
        for i, message in enumerate(messages):
            if not isinstance(message, HilSensor):
                self.heard.append(message)
                self._rules.beside(message)
            elif message.id == 0 and self._rules.sensor(message):
                if self._answering:  # in lockstep nobody goes on before the answer
                    for late in messages[i + 1 :]:
                        self._rules.behind(late)
                self.sensors += 1
                self._count += 1
                if self._count in (self.wrong.closes_at, self.wrong.restarts_at if self._restarts else None):
                    return None
                if self._answers(self._count):
                    self._answering = True
                    self.answers += 1
                    out += self._answer(message, self._count)
                self._before = message
        return out

    def _begin(self) -> None:
        """A session begins: what the one before knew is gone."""
        if self._count:
            self._rules = Rules()
            self.broken.append(self._rules)
        self._reader, self._count, self._answering, self._before = Reader(), 0, False, None

    def _answers(self, count: int) -> bool:
        wrong, after = self.wrong, count - self.freewheel
        if after <= 0 or wrong.never_answers or (wrong.silent_from is not None and count >= wrong.silent_from):
            return False
        share = wrong.answered_share
        rate_hz = 1e6 / self._rules.step_us if self._rules.step_us else 0.0
        if rate_hz > max(self.gyro_ratemax_hz, ANSWERED[0][0]):
            share = min(share, _share_answered(rate_hz))
        return math.floor(after * share + 1e-9) > math.floor((after - 1) * share + 1e-9)

    def _answer(self, message: HilSensor, count: int) -> Pieces:
        wrong, frame = self.wrong, self._frame(message, count)
        out: Pieces = [frame]
        if _due(wrong.halves_every, count):
            out = [frame[: len(frame) // 2], wrong.pause_s, frame[len(frame) // 2 :]]
        if _due(wrong.twice_every, count):
            out.append(frame)
        if self._before is not None and _due(wrong.late_every, count):
            out.insert(0, self._frame(self._before, count - 1))
        if self._before is not None and _due(wrong.disorder_every, count):
            out.append(self._frame(self._before, count - 1))
        if _due(wrong.garbage_every, count):
            # Stray bytes hold both of MAVLink's first bytes, but no header that would claim more than follows.
            damaged = frame[:20] + bytes([frame[20] ^ 0x55]) + frame[21:]
            out.insert(0, frame[: count % len(frame)] + b"\x00\xff\xfd\x07\xfe\x01" + damaged)
        return out

    def _frame(self, message: HilSensor, count: int) -> bytes:
        controls = self.controls(message.time_usec / 1e6, message)
        stepped = self.wrong.clock_steps_at is not None and count >= self.wrong.clock_steps_at
        return self._writer.hil_actuator_controls(
            time_us=message.time_usec + (self.wrong.clock_step_us if stepped else 0),
            controls=controls,
            mode=_MODE_ENABLED | (MODE_ARMED if any(controls) else 0),
        )

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                stream = self._connect()
                if stream is None:
                    return
                with stream:
                    self.sessions += 1
                    self._talk(stream)
                if not self._restarts or self._count != self.wrong.restarts_at:
                    return
                self._restarts = False
        except BaseException as error:
            self._failure = error

    def _connect(self) -> socket.socket | None:
        while not self._stopping.is_set():
            stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            # Where nobody listens, TCP may connect a socket to itself.
            if stream.connect_ex((self.host, self.port)) == 0 and stream.getsockname() != stream.getpeername():
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return stream
            stream.close()
            self._stopping.wait(CONNECT_AGAIN_S)
        return None

    def _talk(self, stream: socket.socket) -> None:
        """One session, until either side closes it."""
        try:
            stream.sendall(self.hello())
            while not self._stopping.is_set():
                if not select.select([stream], [], [], 0.05)[0]:
                    continue
                data = stream.recv(4096)
                pieces = self.hear(data) if data else None
                if pieces is None:
                    return
                for piece in pieces:
                    if isinstance(piece, bytes):
                        stream.sendall(piece)
                    else:
                        self._stopping.wait(piece)
        except OSError:
            return  # the simulator has gone


def _due(every: int, count: int) -> bool:
    return every > 0 and count % every == 0


def _share_answered(rate_hz: float) -> float:
    """Between the rates that were tried, linearly; beyond the last, as there."""
    at = bisect_left(ANSWERED, (rate_hz, 0.0))
    if at == len(ANSWERED):
        return ANSWERED[-1][1]
    (x, u), (y, v) = ANSWERED[max(at - 1, 0)], ANSWERED[at]
    return u + (v - u) * (rate_hz - x) / (y - x) if y > x else v
