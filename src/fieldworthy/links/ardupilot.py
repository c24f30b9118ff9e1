"""The simulator's end of ArduPilot's JSON interface: UDP, lockstep by request and reply.

ArduPilot sends its servo pulses and stands still until one reply has come; its time moves on by the difference of the
replies' time stamps. So each frame is answered once, the newest only, and a frame that comes again is answered with the
same reply: it was lost, or ArduPilot could not read it.

Source: ArduPilot, libraries/SITL/SIM_JSON.cpp; a recorded session with master of 2025-07-21.
Limits: ArduPilot makes GNSS, barometer, compass and battery itself, so that faults of ours reach it through the
inertial unit, the airspeed sensor and the range finder only. It adds noise of its own to our inertial unit's: 0.01
m/s^2 and 0.04 deg/s at rest, more with SIM_ACC1_RND and SIM_GYR1_RND (and 2, 3). A second ArduPilot on the port is
heard and left alone; another socket counts as a restart only once the own one has been silent (`RESTART_S`).
Verified by: tests/verification/test_ardupilot_link.py
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections.abc import Callable
from typing import Any, Protocol

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.airframe import Airframe
from fieldworthy.links.ardupilot_json import (
    FrameCounter,
    FrameNews,
    ServoFrame,
    decode_servos,
    is_no_command,
    why_not_servos,
)
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.ports import LOOPBACK, taken

PORT = 9002
"""Of instance 0; the others are 10 apart."""

MOST_REPEATS = 8
"""A frame that comes so often is not being answered as ArduPilot wants it."""

CROSSING_S = 0.05
"""A frame that comes again may have crossed our answer on the way. ArduPilot then sends the next one within this wall
time, and a second answer would be taken for the one to that: from there on every answer would be a frame old."""

MOST_LATE = 8
"""A frame at most so many before the newest, from the same socket, was overtaken; a restart has a socket of its own."""

RESTART_S = 2.0
"""Wall time of silence after which a younger ArduPilot from another socket is taken for ours, started again. One that
is there asks again after 1.1 s."""

MOST_PARTED = 16
"""ArduPilots whose sessions are over and that are remembered."""

MOST_AT_ONCE = 1000
"""Datagrams that are read in one go, so that a flood cannot hold us."""


class Senses(Protocol):
    """What makes the reply of a tick."""

    def line(self) -> bytes:
        """The reply at the vehicle's tick."""
        ...


class ArdupilotServer:
    """Listens for ArduPilot; another one is served when an old one has gone.

    Raises: FieldworthyError where the port is taken.
    """

    def __init__(self, host: str = LOOPBACK, instance: int = 0, port: int | None = None) -> None:
        self.host, self.port = host, PORT + 10 * instance if port is None else port
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.bind((host, self.port))
        except OSError as error:
            self.socket.close()
            raise FieldworthyError(f"UDP {host}:{self.port}: {taken(error)}") from None
        self.port = self.socket.getsockname()[1]
        self.peer: Any = None
        """Address of whoever sent the newest frame."""
        self.stranger = ""
        """What came since the newest frame and is none, or of somebody else."""
        self.strangers = 0
        self.late = 0
        """Frames that were overtaken on the way."""
        self.other: tuple[ServoFrame, Any] | None = None
        """Newest frame since the own one from a second ArduPilot, and its address."""
        self.others = 0
        """Frames of a second ArduPilot."""
        self.second = ""
        """A second ArduPilot that has called in this session, in words."""
        self.still_flying = ""
        """Address of an ArduPilot that calls on from a session that is over; it must be started anew."""
        self._count = 0
        self._parted: dict[Any, int] = {}
        """Peers of sessions that are over, and the last count of each."""

    def newest(self, wait_s: float, own: bool = False) -> ServoFrame | None:
        """The newest frame that has come, waiting so long for the first; None if none came.

        After a pause frames sent again wait here, and only the last of them wants an answer.
        own: of the peer of the session only; a second one is a stranger, kept in `other`. Otherwise of anybody but who
        still flies in a session that is over.
        """
        deadline, frame = time.perf_counter() + wait_s, None
        for _ in range(MOST_AT_ONCE):
            self.socket.settimeout(0.0 if frame is not None else max(0.0, deadline - time.perf_counter()))
            try:
                data, peer = self.socket.recvfrom(2048)
            except (TimeoutError, BlockingIOError):
                break
            except OSError:  # Windows reports here that the last reply found nobody
                continue
            came = decode_servos(data)
            if came is None:
                self.stranger, self.strangers = why_not_servos(data), self.strangers + 1
            elif own and peer != self.peer:
                self.other, self.others = (came, peer), self.others + 1
                self.second = "a second ArduPilot at {}:{}; valid: an instance of its own for each".format(*peer)
                self.stranger = self.second
            elif not own and self._is_old(came, peer):
                self.still_flying = "{}:{}".format(*peer)
            elif peer == self.peer and 0 < self._count - came.frame_count <= MOST_LATE:
                self.late += 1
            else:
                frame = came
                self._follow(came, peer)
        return frame

    def turn_to_other(self) -> ServoFrame | None:
        """The second ArduPilot takes the place of the one of the session; its newest frame, None without any."""
        if self.other is None:
            return None
        frame, peer = self.other
        self.second = ""
        self._follow(frame, peer)
        return frame

    def part(self) -> None:
        """The session is over: its ArduPilot still flies the old vehicle, and only a new one will be accepted."""
        self._parted.pop(self.peer, None)
        self._parted[self.peer] = self._count
        if len(self._parted) > MOST_PARTED:
            del self._parted[next(iter(self._parted))]
        self.other, self.stranger, self.second, self.still_flying = None, "", "", ""

    def _follow(self, frame: ServoFrame, peer: Any) -> None:
        self.peer, self._count, self.stranger, self.other, self.still_flying = peer, frame.frame_count, "", None, ""

    def _is_old(self, frame: ServoFrame, peer: Any) -> bool:
        """Whether a frame is of an ArduPilot that has been flying since before the last session ended."""
        if not self._parted or frame.frame_count == 0 or is_no_command(frame):
            return False
        return frame.frame_count >= self._parted.get(peer, self._count)

    def answer(self, line: bytes) -> None:
        """Reply to whoever sent the newest frame; a peer that has gone is noticed by its silence."""
        with contextlib.suppress(OSError):
            self.socket.sendto(line, self.peer)

    def close(self) -> None:
        """Stop listening."""
        self.socket.close()


class ArdupilotLink:
    """One session with one ArduPilot."""

    def __init__(
        self,
        server: ArdupilotServer,
        senses: Senses,
        airframe: Airframe,
        first: ServoFrame,
        patience_s: float = 10.0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """first: the frame with which the session begins. patience_s: wall time that ArduPilot may be silent.
        stopped: asked while waiting, whether somebody wants to end."""
        self._server, self._senses, self._airframe = server, senses, airframe
        self._patience_s, self._stopped = patience_s, stopped
        self.frames = FrameCounter()
        self.frame = first
        """The newest."""
        self.frames.see(first)
        self.restarted = False
        """ArduPilot was started again; `frame` is then the first of its new life."""
        self._waiting = True
        """The newest frame has not been answered yet."""

    @property
    def ready(self) -> bool:
        """Whether ArduPilot has set its outputs."""
        return not is_no_command(self.frame)

    def exchange(self) -> list[float]:
        """Answer the newest frame with what is sensed at the vehicle's tick, and wait for the next one.

        The first call of a session only takes the command of the first frame.
        Raises: LinkLost when ArduPilot is silent, does not take our replies, or has been started again.
        """
        if self._waiting:  # nothing has been moved yet
            self._waiting = False
            return self._command()
        line = self._senses.line()
        self._see(self._server.newest(0.0, own=True))  # sent again while the vehicle moved: one answer will do
        self._server.answer(line)
        now = time.perf_counter()
        deadline, again = now + self._patience_s, math.inf
        elsewhere = now + min(RESTART_S, self._patience_s)
        while not self._stopped():
            if now >= deadline:
                raise LinkLost(Loss.SILENT, self._silent())
            if now >= again:
                self._server.answer(line)
                again = math.inf
            frame = self._server.newest(min(deadline - now, max(again - now, 0.0), 0.2), own=True)
            now = time.perf_counter()
            news = self._see(self._elsewhere() if frame is None and now >= elsewhere else frame)
            if news is FrameNews.REPEATED:
                if self.frames.repeated_in_a_row >= MOST_REPEATS:
                    raise LinkLost(Loss.REPEATING, self._repeats())
                deadline, again = now + self._patience_s, min(again, now + CROSSING_S)
                elsewhere = now + min(RESTART_S, self._patience_s)
            elif news is not None:
                break
        return self._command()

    def _see(self, frame: ServoFrame | None) -> FrameNews | None:
        if frame is None:
            return None
        news, self.frame = self.frames.see(frame), frame
        if news is FrameNews.RESTARTED:
            self.restarted = True
            raise LinkLost(Loss.RESTARTED, "ArduPilot has been started again")
        return news

    def _elsewhere(self) -> ServoFrame | None:
        """Ours is silent: one from another socket that is younger was started again, one as far has a new address."""
        other = self._server.other
        if other is None or other[0].frame_count > self.frame.frame_count + 1:
            return None
        return self._server.turn_to_other()

    def _command(self) -> list[float]:
        if is_no_command(self.frame):
            return self._airframe.command_of_pulses((0,) * len(self.frame.pwm_us))
        return self._airframe.command_of_pulses(self.frame.pwm_us)

    def _silent(self) -> str:
        stranger = f"; what came instead: {self._server.stranger}" if self._server.stranger else ""
        return f"ArduPilot has been silent for {self._patience_s:g} s after {self.frames.new} frames{stranger}"

    def _repeats(self) -> str:
        return (
            f"ArduPilot has asked {self.frames.repeated_in_a_row} times for the answer to frame "
            f"{self.frame.frame_count}: our replies do not reach {self._server.peer}, or it cannot read them (its "
            "console then names a missing key)"
        )
