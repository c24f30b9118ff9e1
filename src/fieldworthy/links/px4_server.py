"""Where PX4 is waited for: a TCP port, and only who greets in MAVLink is taken for one.

Source: PX4, SimulatorMavlink.cpp: once connected it sends a heartbeat and asks for HIL_STATE_QUATERNION, unasked.
Limits: whoever speaks MAVLink is taken for PX4, also a ground station on the wrong port.
Verified by: tests/verification/test_px4_link.py
"""

from __future__ import annotations

import os
import select
import socket
import time
from typing import Any, NamedTuple

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.mavlink_reader import LONGEST_FRAME, Reader
from fieldworthy.links.ports import LOOPBACK, taken

PORT = 4560
"""Of instance 0; the others count on."""

MOST_PORT = 65535

LOOK_UP_S = 0.2
"""Who waits looks so often whether somebody wants to stop."""

HELLO_S = 5.0
"""Wall time in which a client must have sent a MAVLink frame; PX4 greets as soon as it is connected."""

MOST_CALLERS = 64
"""Clients that may be about to greet; more have to wait in line."""

HELLO_BYTES = 4 * LONGEST_FRAME
"""A client that has sent so many without any frame is none."""


class Px4Server:
    """Listens for PX4, one client at a time; a new one is served when an old one has gone.

    Only who greets in MAVLink is handed out: a port scan or a browser costs nobody a flight. The greeting stays in the
    socket, for the session to read.

    Raises: FieldworthyError where the port is taken.
    """

    def __init__(self, host: str = LOOPBACK, instance: int = 0, port: int | None = None) -> None:
        self.host, self.port = host, PORT + instance if port is None else port
        if not 0 <= self.port <= MOST_PORT:
            raise FieldworthyError(f"TCP port {self.port}: there is none; valid: up to {MOST_PORT}")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let two programs share the port
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, self.port))
        except OSError as error:
            self._socket.close()
            raise FieldworthyError(f"TCP {host}:{self.port}: {taken(error)}") from None
        self.port = self._socket.getsockname()[1]
        self._socket.listen(8)
        self._socket.setblocking(False)
        self._callers: list[_Caller] = []
        """Clients that have not greeted yet."""
        self.peer: Any = None
        """Address of the client that was handed out last."""
        self.stranger = ""
        """The last client that was none, in words."""
        self.strangers = 0

    def accept(self, wait_s: float) -> socket.socket | None:
        """The next client's socket; None if nobody came in that time."""
        deadline = time.perf_counter() + wait_s
        while True:
            self._take_calls()
            quiet, began = [], False
            for caller in list(self._callers):
                said, greeted, why_not = caller.greeting()
                if greeted or why_not:
                    self._callers.remove(caller)
                if greeted:
                    self.peer = caller.peer
                    return caller.stream
                if why_not:
                    caller.stream.close()
                    self.stranger, self.strangers = "{}:{} {}".format(*caller.peer, why_not), self.strangers + 1
                elif said:
                    began = True
                else:
                    quiet.append(caller.stream)
            left = deadline - time.perf_counter()
            if left <= 0.0:
                return None
            # Who has begun and not ended is readable all the time: looked at now and then.
            look_s = min(left, 0.01 if began else LOOK_UP_S if quiet else left)
            room = [self._socket] if len(self._callers) < MOST_CALLERS else []
            select.select([*room, *quiet], [], [], look_s)

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()
        for caller in self._callers:
            caller.stream.close()
        self._callers.clear()

    def _take_calls(self) -> None:
        while len(self._callers) < MOST_CALLERS:
            try:
                client, peer = self._socket.accept()
            except OSError:  # no more, or one that has gone before it was taken
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.setblocking(False)
            self._callers.append(_Caller(client, peer, time.perf_counter() + HELLO_S))


class _Caller(NamedTuple):
    """A client that has not greeted yet."""

    stream: socket.socket
    peer: Any
    until: float
    """Wall time."""

    def greeting(self) -> tuple[int, bool, str]:
        """(bytes that it has sent, whether it has greeted in MAVLink, why it never will); they stay where they are."""
        try:
            data = self.stream.recv(HELLO_BYTES, socket.MSG_PEEK)
            if not data:
                return 0, False, "has hung up without a word of MAVLink"
        except BlockingIOError:
            data = b""
        except OSError as error:
            return 0, False, f"has gone ({error.strerror or error})"
        if data and Reader().feed(data + bytes(LONGEST_FRAME)):
            return len(data), True, ""
        if len(data) >= HELLO_BYTES or time.perf_counter() > self.until:
            said = f"{len(data)} bytes that begin with 0x{data[:4].hex()}" if data else "nothing"
            return len(data), False, f"has sent {said}, and no MAVLink"
        return len(data), False, ""
