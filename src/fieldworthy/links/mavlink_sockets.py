"""Between a ground station and an autopilot's MAVLink port: sockets that never wait, and the frames in their bytes.

PX4 talks UDP with whoever sits at 127.0.0.1:14540 + instance; ArduPilot listens on TCP 5760 + 10 * instance.

Source: PX4, ROMFS/px4fmu_common/init.d-posix/px4-rc.mavlink (ports; from the tenth instance on all share 14549) and
mavlink_receiver.cpp (who speaks first becomes the partner); ArduPilot, libraries/AP_HAL_SITL/UARTDriver.cpp; MAVLink
guide, "Packet Serialization".
Limits: this machine only (127.0.0.1). Frames are not signed. One link, one thread.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from collections.abc import Callable, Collection, Iterator
from types import ModuleType
from typing import Any, Protocol

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.ports import LOOPBACK

_MOST_BYTES = 65536
_MOST_READS = 64
"""Datagrams taken in one call: a peer that never stops cannot hold up the step."""
_RECONNECT_S = 0.02
_STALLED_BYTES = 1 << 18
"""So much unsent: the other side has stopped reading, and what is old is worth nothing."""


class Link(Protocol):
    """Bytes to and from one autopilot. No call waits."""

    connections: int
    """How often a new connection was made: a second one means that the autopilot, or its port, has started again."""

    def read(self) -> bytes:
        """What has come since the last call; empty where nothing has."""

    def write(self, data: bytes) -> None:
        """Send whole frames, or drop them where nobody is there yet."""

    def close(self) -> None:
        """Let go of the port."""


class UdpLink:
    """Datagrams with one partner on this machine: the one named, and whoever answers from then on."""

    def __init__(self, port: int, partner_port: int) -> None:
        """Bind 127.0.0.1:`port` (0: any free one) and speak first to `partner_port`."""
        self.connections = 1
        self._partner: tuple[str, int] = (LOOPBACK, partner_port)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((LOOPBACK, port))
            self._socket.setblocking(False)
        except OSError as error:
            self._socket.close()
            raise FieldworthyError(
                f"UDP {LOOPBACK}:{port} cannot be taken ({error.strerror}): another ground station or another run of "
                "the same instance has it; valid: stop that one, or take another instance"
            ) from error
        self.port: int = self._socket.getsockname()[1]

    def read(self) -> bytes:
        parts = []
        for _ in range(_MOST_READS):
            try:
                data, self._partner = self._socket.recvfrom(_MOST_BYTES)
            except BlockingIOError:
                break
            except ConnectionError:  # an earlier datagram of ours found nobody: Windows tells it here
                continue
            parts.append(data)
        return b"".join(parts)

    def write(self, data: bytes) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            self._socket.sendto(data, self._partner)

    def close(self) -> None:
        self._socket.close()


class TcpLink:
    """A stream to a port of this machine; made again whenever it breaks, since autopilots start late and restart."""

    def __init__(self, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.port = port
        self.connections = 0
        self._clock = clock
        self._socket: socket.socket | None = None
        self._connected = False
        self._next_try_s = -1.0
        self._unsent = b""

    def read(self) -> bytes:
        if not self._ready():
            return b""
        assert self._socket is not None
        parts = []
        for _ in range(_MOST_READS):
            try:
                data = self._socket.recv(_MOST_BYTES)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self._break()
                break
            parts.append(data)
        if self._unsent:
            self.write(b"")
        return b"".join(parts)

    def write(self, data: bytes) -> None:
        if not self._ready():
            return
        assert self._socket is not None
        self._unsent += data
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            if len(self._unsent) > _STALLED_BYTES:
                self._break()
        except OSError:
            self._break()

    def close(self) -> None:
        self._break()
        self._next_try_s = float("inf")

    def _ready(self) -> bool:
        """Whether there is a connection; begins or goes on with making one."""
        if self._connected:
            return True
        now_s = self._clock()
        if now_s < self._next_try_s:
            return False
        if self._socket is None:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        state = self._socket.connect_ex((LOOPBACK, self.port))
        if state in (0, errno.EISCONN):
            self._connected = True
            self.connections += 1
        elif state not in (errno.EINPROGRESS, errno.EALREADY, errno.EWOULDBLOCK):
            self._break()
            self._next_try_s = now_s + _RECONNECT_S
        return self._connected

    def _break(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._connected, self._unsent = None, False, b""


def px4_link(instance: int = 0) -> UdpLink:
    """PX4's link for companion computers. From the tenth instance on they share 14549, so we speak first instead."""
    return UdpLink(14540 + instance if instance < 10 else 0, 14580 + instance)


def ardupilot_link(instance: int = 0) -> TcpLink:
    """ArduPilot's SERIAL0."""
    return TcpLink(5760 + 10 * instance)


class Channel:
    """Messages on a link. Only the ids in `wanted` are decoded: PX4 sends some hundred others in a second."""

    def __init__(self, link: Link, dialect: ModuleType, wanted: Collection[int]) -> None:
        """System 255 and component 190 are those of a ground station; autopilots obey these without further settings.

        `dialect` is one of pymavlink's modules for MAVLink 2, `wanted` holds message ids.
        """
        self.link = link
        self._mav = dialect.MAVLink(None, srcSystem=255, srcComponent=190)
        self._error: type[Exception] = dialect.MAVError
        self._wanted = frozenset(wanted)
        self._rest = b""
        self._connections = link.connections
        self.bad_frames = 0
        """Frames with a wanted id that pymavlink has refused (checksum, length)."""

    def send(self, message: Any) -> None:
        """Send one of pymavlink's messages."""
        self.link.write(message.pack(self._mav))
        self._mav.seq = (self._mav.seq + 1) % 256

    def receive(self) -> list[Any]:
        """The wanted messages that have come."""
        data = self.link.read()
        if self.link.connections != self._connections:
            self._connections, self._rest = self.link.connections, b""
        if not data:
            return []
        return list(self._messages(self._rest + data))

    def _messages(self, stream: bytes) -> Iterator[Any]:
        at, end = 0, len(stream)
        while at < end:
            mark = stream[at]
            if mark not in (0xFD, 0xFE):
                at += 1
                continue
            if end - at < 10:
                break
            if mark == 0xFD:
                size = stream[at + 1] + (25 if stream[at + 2] & 1 else 12)
                number = int.from_bytes(stream[at + 7 : at + 10], "little")
            else:
                size, number = stream[at + 1] + 8, stream[at + 5]
            if end - at < size:
                break
            if number in self._wanted:
                try:
                    yield self._mav.decode(bytearray(stream[at : at + size]))
                except self._error:
                    self.bad_frames += 1
                    at += 1
                    continue
            at += size
        self._rest = stream[at:]
