"""A peer that keeps to ArduPilot's side of its JSON interface, strictly, and breaks it where it is told to.

It sends its pulses, stands still until a line has come, moves its clock by the difference of the lines' time stamps,
and sends the next pulses. What a simulator does that ArduPilot would refuse, report or be misled by is a sentence in
`complaints`. It flies nothing: the pulses are a function of time and state that the caller gives.

Source: ArduPilot, libraries/SITL/SIM_JSON.cpp and .h of 2025-07-21: `recv_fdm` (the text between the last two newlines,
kept and lost pieces of it, the clock of whole microseconds), `parse_sensors` (plain search for keys), `output_servos`.
Limits: stricter than ArduPilot of that day where a number is not right behind its colon; knows the keys of the motion,
the finders and the airspeed only.
Verified by: tests/verification/test_ardupilot_link.py

Long because the order of keys, the clock and the misbehaviour all act on one loop of sending and hearing.
"""

from __future__ import annotations

import math
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeAlias

from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.links.ports import LOOPBACK

FIRST_RATE_HZ = 1200
LONGEST_STEP_S = 0.1
"""Steps from here on don't set the pace."""

REST_M_S, REST_S, REST_FORCE_M_S2 = 0.05, 0.25, 0.6
"""Slower than this for so long is at rest; its mean force is then within this of what holds it up: the change of speed
that is overlooked takes 0.4 m/s2, the rest is for biases."""

NEUTRAL = {"copter": (), "plane": (1, 2, 4), "rover": (1, 2, 3, 4), "sub": (1, 2, 3, 4, 5, 6, 7, 8)}
"""Channels with 1500 us before the vehicle has started; the others have 1000."""

_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_KEYS = (
    ("", "timestamp", 1, True),
    ("imu", "gyro", 3, True),
    ("imu", "accel_body", 3, True),
    ("", "position", 3, True),
    ("", "attitude", 3, False),
    ("", "quaternion", 4, False),
    ("", "velocity", 3, True),
    *(("", f"rng_{i}", 1, False) for i in range(1, 7)),
    ("", "airspeed", 1, False),
    ("", "no_time_sync", 1, False),
)
"""Section, key, how many numbers, required."""

State: TypeAlias = dict[str, tuple[float, ...]]
"""What a line has told, by ArduPilot's keys; without those that it doesn't have."""

Pulses: TypeAlias = Callable[[float, State], Sequence[int]]
"""(ArduPilot's clock [s], the newest state) to pulses [us] from channel 1 on; channels without are 0."""


def standing(t_s: float, state: State) -> Sequence[int]:
    """A disarmed quadcopter."""
    return (1000,) * 4


@dataclass(frozen=True)
class Misbehaviour:
    """What a fake ArduPilot does wrong, and when; counted in frames of its life, from 0."""

    queues_at: tuple[int, ...] = ()
    """Frames that are in the socket five times when they are looked at, as after a pause of the simulator."""
    crosses_at: tuple[int, ...] = ()
    """Frames that are sent again when the answer is on its way already: it's taken, and the next one is sent late."""
    loses_at: tuple[int, ...] = ()
    """Frames whose first answer is lost on the way."""
    late_every: int = 0
    """Every so manieth frame is followed by the one before, which was overtaken on the way."""
    halves_every: int = 0
    """Ahead of every so manieth frame comes half of it."""
    garbage_every: int = 0
    """The same with bytes that mean nothing."""
    strangers_every: int = 0
    """The same with MAVLink, and with a line of a simulator, from a socket of somebody else."""
    restarts_at: int | None = None
    """Starts anew in place of this frame: from 0, with a socket of its own. Once only."""
    silent_from: int | None = None
    """Sends no more."""
    rejects_from: int | None = None
    """Takes no answer any more and asks again at once."""
    wide_from: int | None = None
    """32 channels from there on."""


class FakeArdupilot:
    """Talks to a simulator as ArduPilot does, in a thread: `with FakeArdupilot(server.port) as ardupilot: ...`.

    `packet` and `hear` are the same without a socket.
    """

    def __init__(
        self,
        port: int = 9002,
        pulses: Pulses = standing,
        *,
        host: str = LOOPBACK,
        boot_frames: int = 0,
        vehicle: str = "copter",
        rate_hz: int = 800,
        resend_s: float = 0.05,
        misbehaviour: Misbehaviour | None = None,
    ) -> None:
        """boot_frames: with no command. rate_hz: SIM_RATE_HZ. resend_s: without an answer; of the real one 1.1."""
        self.address, self.pulses, self.resend_s = (host, port), pulses, resend_s
        self.boot_frames, self.rate_hz, self.wrong = boot_frames, rate_hz, misbehaviour or Misbehaviour()
        self._neutral = tuple(1500 if i in NEUTRAL[vehicle] else 1000 for i in range(1, 33))
        self.lives = 0
        self.sent = self.accepted = self.rejected = 0
        """Packets and answers of all lives."""
        self.taken: list[tuple[int, bytes]] = []
        """The newest 1000 answers that were accepted, with the frame that they were for."""
        self._told: dict[str, str] = {}
        self._restarts = self.wrong.restarts_at is not None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self.begin()

    @property
    def complaints(self) -> list[str]:
        """What ArduPilot would have refused, reported or been misled by, in sentences, each rule once."""
        return list(self._told.values())

    @property
    def clock_s(self) -> float:
        """ArduPilot's own time: whole microseconds."""
        return self.clock_us * 1e-6

    def begin(self) -> None:
        """A life begins: all that was known is gone."""
        self.lives += 1
        self.frame_count, self.clock_us, self.frame_rate_hz = 0, 0, FIRST_RATE_HZ
        self.state: State = {}
        self._buffer, self._last_s = b"", 0.0
        self._still: list[tuple[float, ...]] = []
        self._still_s = 0.0

    def packet(self, count: int | None = None) -> bytes:
        """The pulses of this frame, or of another one."""
        count = self.frame_count if count is None else count
        wide = self.wrong.wide_from is not None and count >= self.wrong.wide_from
        channels, mark = (32, 29569) if wide else (16, 18458)
        if count < self.boot_frames // 3:
            pulses: Sequence[int] = ()
        else:
            pulses = self._neutral if count < self.boot_frames else self.pulses(self.clock_s, self.state)
        padded = (*pulses, *(0,) * channels)[:channels]
        return struct.pack(f"<HHI{channels}H", mark, self.frame_rate_hz, count, *padded)

    def hear(self, datagram: bytes) -> bool:
        """Take one datagram for the answer to this frame; whether it was accepted, and the next frame is due."""
        self._buffer += datagram
        end = self._buffer.rfind(b"\n")
        start = self._buffer.rfind(b"\n", 0, max(end, 0))
        if end <= 0 or start < 0:
            first = "" if self.frame_count else "the first line needs a newline ahead of it and one behind"
            self._complain("newline", first or "no newline ends the line")
            return self._reject()
        state = self._parse(self._buffer[start + 1 : end].decode("ascii", "replace"))
        if state is None:
            return self._reject()
        if "attitude" not in state and "quaternion" not in state:
            self._complain("no attitude", "neither attitude nor quaternion")
            return self._reject()
        if self.wrong.rejects_from is not None and self.frame_count >= self.wrong.rejects_from:
            return self._reject()
        self._buffer = self._buffer[end:]
        self.taken.append((self.frame_count, datagram))
        if len(self.taken) > 2000:
            del self.taken[:1000]
        self._advance(state)
        self.accepted += 1
        self.frame_count += 1
        self.frame_rate_hz += (self.rate_hz > self.frame_rate_hz) - (self.rate_hz < self.frame_rate_hz)
        return True

    def start(self) -> FakeArdupilot:
        """Begin to send."""
        self._thread = threading.Thread(target=self._run, name="fake ArduPilot", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End.

        Raises: what `pulses` raised, if it did.
        """
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> FakeArdupilot:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _reject(self) -> bool:
        self.rejected += 1
        return False

    def _complain(self, rule: str, sentence: str) -> None:
        self._told.setdefault(rule, f"frame {self.frame_count}: {sentence}")

    def _parse(self, text: str) -> State | None:
        """What a line tells; None where ArduPilot would refuse it or end."""
        state: State = {}
        for section, key, count, required in _KEYS:
            at = text.find(section)
            at = text.find(key, at + len(section) + 1) if at >= 0 else -1
            if at < 0:
                if required:
                    self._complain(f"no {key}", f"{section + '/' if section else ''}{key} is missing")
                    return None
                continue
            numbers = self._numbers(text, at, key, count)
            if numbers is None:
                return None
            state[key] = numbers
        if "no_time_sync" in state:
            self._complain("no_time_sync", "no_time_sync swaps the estimator for a fake one")
        return state

    def _numbers(self, text: str, at: int, key: str, count: int) -> tuple[float, ...] | None:
        place = at + len(key)
        if text[at - 1] != '"' or text[place : place + 2] != '":':
            around = text[max(at - 9, 0) : place + 2]
            self._complain(f"inside {key}", f"{key} was found inside another name or not as a key: {around}")
            return None
        place += 2
        numbers: list[float] = []
        for i in range(count):
            if count > 1:
                opener = "[" if i == 0 else ","
                if text[place : place + 1] != opener:
                    self._complain(f"array {key}", f"{key}: no {opener!r} at {text[place : place + 20]!r}")
                    return None
                place += 1
            found = _NUMBER.match(text, place)
            if found is None or not math.isfinite(float(found[0])):
                which = "NaN or infinite, which ends ArduPilot" if _is_nan(text, place) else "not right behind"
                self._complain(f"number {key}", f"{key}: a number is {which}: {text[place : place + 20]!r}")
                return None
            numbers.append(float(found[0]))
            place = found.end()
        return tuple(numbers)

    def _advance(self, state: State) -> None:
        """The clock, as `recv_fdm` moves it, and what must fit together."""
        now_s = state["timestamp"][0]
        if now_s < self._last_s:
            self._complain("back", f"the time stamp goes back, from {self._last_s:.9g} to {now_s:.9g} s")
        elif now_s == self._last_s and self.frame_count:
            self._complain("equal", f"the time stamp stays at {now_s:.9g} s: an old answer")
        elif now_s - self._last_s >= LONGEST_STEP_S:
            self._complain("step", f"a step of {now_s - self._last_s:.9g} s; from {LONGEST_STEP_S} s on it isn't paced")
        step_s = max(now_s - self._last_s, 0.0)
        self.clock_us = int(self.clock_us + step_s * 1e6)
        self._last_s, self.state = now_s, state
        matrix = _matrix(state["quaternion"]) if "quaternion" in state else _matrix_of_angles(*state["attitude"])
        if "quaternion" in state and "attitude" in state:
            other = _matrix_of_angles(*state["attitude"])
            apart = max(abs(a - b) for a, b in zip(matrix, other, strict=True))
            if apart > 1e-6:
                self._complain("attitude", f"attitude and quaternion are {apart:.2g} apart")
        self._rest(state, matrix, step_s)

    def _rest(self, state: State, matrix: tuple[float, ...], step_s: float) -> None:
        """Who doesn't move is held up against gravity; over a time, for noise and shaking."""
        if math.hypot(*state["velocity"]) > REST_M_S:
            self._still, self._still_s = [], 0.0
            return
        up = (-STANDARD_GRAVITY_M_S2 * matrix[i] for i in (6, 7, 8))  # the last row is down, in the body's axes
        self._still.append(tuple(f - u for f, u in zip(state["accel_body"], up, strict=True)))
        self._still_s += step_s
        if self._still_s >= REST_S:
            off = [sum(axis) / len(self._still) for axis in zip(*self._still, strict=True)]
            if math.hypot(*off) > REST_FORCE_M_S2:
                told = ", ".join(f"{value:.2f}" for value in off)
                self._complain("rest", f"at rest the specific force is ({told}) m/s2 away from what holds it up")
            self._still, self._still_s = [], 0.0

    def _run(self) -> None:
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                while not self._stopping.is_set():
                    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
                        self._live(link, stranger)
                    self._restarts = False
                    if not self._stopping.is_set():
                        self.begin()
        except BaseException as error:
            self._failure = error

    def _live(self, link: socket.socket, stranger: socket.socket) -> None:
        """From a start to the next."""
        before, lost = b"", 0
        while not self._stopping.is_set():
            count, wrong = self.frame_count, self.wrong
            if self._restarts and count == wrong.restarts_at:
                return
            if wrong.silent_from is not None and count >= wrong.silent_from:
                self._stopping.wait()
                return
            if select.select([link], [], [], 0.0)[0]:
                self._complain("second", f"a second answer to frame {count - 1} is there before the next was sent")
            packet = self.packet()
            self._beside(link, stranger, packet, count)
            for _ in range(5 if count in wrong.queues_at else 1):
                self._send(link, packet)
            if before and _due(wrong.late_every, count):
                self._send(link, before)
            lost = 1 if count in wrong.loses_at else 0
            if not self._await(link, packet, lost):
                return
            if count in wrong.crosses_at:
                self._send(link, packet)
                self._stopping.wait(0.02)
            before = packet

    def _await(self, link: socket.socket, packet: bytes, lost: int) -> bool:
        """Until an answer is accepted; False when told to stop. lost: so many answers aren't heard."""
        due = time.perf_counter() + self.resend_s
        while not self._stopping.is_set():
            left = due - time.perf_counter()
            if left <= 0.0 or not select.select([link], [], [], min(left, 0.05))[0]:
                if time.perf_counter() >= due:
                    self._send(link, packet)
                    due = time.perf_counter() + self.resend_s
                continue
            try:
                data, peer = link.recvfrom(65536)
            except OSError:  # nobody listens yet
                self._stopping.wait(0.005)
                continue
            if peer != self.address:
                self._complain("elsewhere", f"an answer comes from {peer}, not from {self.address}")
            elif lost:
                lost -= 1
            elif self.hear(data):
                return True
            else:  # the loop goes on and sends again at once
                self._send(link, self.packet())
                due = time.perf_counter() + self.resend_s
        return False

    def _beside(self, link: socket.socket, stranger: socket.socket, packet: bytes, count: int) -> None:
        """What comes to the port ahead of a frame and is none."""
        if _due(self.wrong.halves_every, count):
            link.sendto(packet[: len(packet) // 2], self.address)
        if _due(self.wrong.garbage_every, count):
            link.sendto(bytes((count + 7 * i) % 256 for i in range(count % 90)), self.address)
        if _due(self.wrong.strangers_every, count):
            stranger.sendto(b'\n{"timestamp":1.0,"imu":{"gyro":[0,0,0]}}\n', self.address)
            stranger.sendto(b"\xfd\x09\x00\x00\x00\x01\x01\x00\x00\x00" + bytes(11), self.address)

    def _send(self, link: socket.socket, packet: bytes) -> None:
        try:
            link.sendto(packet, self.address)
            self.sent += 1
        except OSError:  # nobody listens yet
            self._stopping.wait(0.005)


def _due(every: int, count: int) -> bool:
    return every > 0 and count > 0 and count % every == 0


def _is_nan(text: str, place: int) -> bool:
    found = _NUMBER.match(text, place)
    return found is not None or text[place : place + 9].lower().lstrip("-").startswith(("nan", "inf"))


def _matrix(quat: tuple[float, ...]) -> tuple[float, ...]:
    """Of NED from FRD, row by row, from a quaternion."""
    w, x, y, z = quat
    return (
        w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z,
    )  # fmt: skip


def _matrix_of_angles(roll: float, pitch: float, yaw: float) -> tuple[float, ...]:
    """The same from angles, as Matrix3::from_euler does."""
    cr, sr, cp, sp, cy, sy = *_both(roll), *_both(pitch), *_both(yaw)
    return (
        cp * cy, sr * sp * cy - cr * sy, cr * sp * cy + sr * sy,
        cp * sy, sr * sp * sy + cr * cy, cr * sp * sy - sr * cy,
        -sp, sr * cp, cr * cp,
    )  # fmt: skip


def _both(angle: float) -> tuple[float, float]:
    return math.cos(angle), math.sin(angle)
