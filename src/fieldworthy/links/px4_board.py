"""A PX4 board in HITL mode on a serial line or over UDP: nobody waits for anybody, the wall clock paces both.

The board runs by its own clock and takes HIL_SENSOR as it comes; its newest HIL_ACTUATOR_CONTROLS is the command. What
is late is late: how well the ticks were kept is for the report of the pace.

Source: PX4 user guide, "Hardware in the Loop Simulation" (SYS_HITL = 1, USB or telemetry link).
Limits: written against the protocol and a stand-in; not tried on a board. A line of 921600 baud carries 250 HIL_SENSOR
a second (77 bytes each) with a quarter of its room; one of 57600 does not.
Verified by: tests/verification/test_px4_board.py
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any, Protocol

from fieldworthy.core.errors import FieldworthyError, require_extra
from fieldworthy.links.airframe import Airframe
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.mavlink import Reader, Writer
from fieldworthy.links.mavlink_messages import HilActuatorControls
from fieldworthy.links.px4_senses import Px4Senses
from fieldworthy.links.px4_session import Px4Session
from fieldworthy.links.unsent import WholeMessages

USUAL_BAUD = 921600
HEARTBEAT_S = 1.0

MOST_AT_ONCE = 100
"""Datagrams that are read in one go, so that a flood cannot hold us."""


class Line(Protocol):
    """A way for bytes that never waits."""

    name: str

    def read(self) -> bytes:
        """What has come, perhaps nothing."""
        ...

    def write(self, data: bytes) -> None:
        """Send whole frames, or drop them all where there is no room."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class SerialLine:
    """A serial port, such as /dev/ttyACM0 or COM3, with a baud rate behind a colon.

    Raises: FieldworthyError where it cannot be opened, MissingExtraError without pyserial.
    """

    def __init__(self, address: str) -> None:
        serial = require_extra("serial", "link", "a board on a serial line")
        port, _, baud = address.rpartition(":") if address.rpartition(":")[2].isdigit() else (address, "", "")
        self.name = port or address
        try:
            self._port: Any = serial.Serial(self.name, int(baud or USUAL_BAUD), timeout=0, write_timeout=0)
        except (serial.SerialException, ValueError, OSError) as error:
            raise FieldworthyError(
                f"serial port {self.name}: {getattr(error, 'strerror', None) or error}; valid: PORT or PORT:BAUD, such "
                "as /dev/ttyACM0:921600 or COM3"
            ) from None
        self._lost: tuple[type[Exception], ...] = (serial.SerialException, OSError)
        self._out = WholeMessages(self._put)

    @property
    def dropped(self) -> int:
        """Writes for which the line had no room: too many frames a second for its baud rate, or nobody reads."""
        return self._out.dropped

    def read(self) -> bytes:
        """What has come. Raises: LinkLost when the port has gone."""
        try:
            data: bytes = self._port.read(4096)
        except self._lost as error:
            raise LinkLost(Loss.CLOSED, f"the board on {self.name} has gone ({error})") from None
        return data

    def write(self, data: bytes) -> None:
        """Send whole frames, or drop them all where there is no room. Raises: LinkLost when the port has gone."""
        try:
            self._out.write(data)
        except self._lost as error:
            raise LinkLost(Loss.CLOSED, f"the board on {self.name} has gone ({error})") from None

    def _put(self, data: bytes) -> int:
        if os.name != "posix":  # the driver takes all of it, and sends it while we go on
            return int(self._port.write(data))
        try:  # pyserial's own write looks again and again while there is no room
            return os.write(self._port.fileno(), data)
        except BlockingIOError:
            return 0

    def close(self) -> None:
        """Close the port."""
        self._port.close()


class UdpLine:
    """A board at HOST:PORT, which answers to whoever speaks to it.

    Raises: FieldworthyError for an address that is none.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.name = address
        try:
            if not (host and 0 < int(port) < 65536):
                raise ValueError(port)
            self._peer = socket.getaddrinfo(host, int(port), socket.AF_INET, socket.SOCK_DGRAM)[0][4]
        except (OSError, ValueError, IndexError):
            what = f"UDP {address}: no such address; valid: HOST:PORT, such as 192.168.0.3:14540"
            raise FieldworthyError(what) from None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def read(self) -> bytes:
        """What has come from the board, MOST_AT_ONCE datagrams at most."""
        found = []
        for _ in range(MOST_AT_ONCE):
            try:
                data, peer = self._socket.recvfrom(4096)
            except OSError:  # nothing more, or word that nobody listens yet
                break
            if peer == self._peer:
                found.append(data)
        return b"".join(found)

    def write(self, data: bytes) -> None:
        """Send; what cannot be sent is lost, as any datagram may be."""
        try:
            self._socket.sendto(data, self._peer)
        except OSError:
            return

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


class Board:
    """Waits for a board on a line, as `Px4Server` waits for a PX4."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._reader, self._writer = Reader(), Writer()

    def wait(self, wait_s: float) -> bool:
        """Whether the board has spoken; says hello until then."""
        until = time.perf_counter() + wait_s
        self.line.write(self._writer.heartbeat())
        while time.perf_counter() < until:
            if self._reader.feed(self.line.read()):
                return True
            time.sleep(0.01)
        return False


class Px4BoardLink(Px4Session):
    """One session with one board."""

    def __init__(
        self,
        line: Line,
        senses: Px4Senses,
        airframe: Airframe,
        patience_s: float = 10.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """patience_s: wall time that the board may be silent."""
        super().__init__(senses, airframe, patience_s)
        self._line, self._clock, self._writer = line, clock, Writer()
        self._heard_s = self._hello_s = clock()

    def exchange(self) -> list[float]:
        """Tell what is sensed at the vehicle's tick; returns the newest command.

        Raises: LinkLost when the board has been silent for too long, or its port has gone.
        """
        now = self._clock()
        data = self._senses.frames()
        self.sensors += 1
        if now >= self._hello_s:
            self._hello_s = now + HEARTBEAT_S
            data += self._writer.heartbeat()
        self._line.write(data)
        for message in self._reader.feed(self._line.read()):
            if isinstance(message, HilActuatorControls):
                self._newest, self._heard_s = message, now
                self.answers += 1
        if now - self._heard_s > self._patience_s:
            raise LinkLost(Loss.SILENT, self._silent())
        return self._command()

    def _silent(self) -> str:
        if self._newest is None:
            return (
                f"the board on {self._line.name} has sent no HIL_ACTUATOR_CONTROLS in {self._patience_s:g} s; valid: a "
                "board with SYS_HITL = 1 and an HIL airframe (such as 1001), started again after that was set"
            )
        return (
            f"the board on {self._line.name} has been silent for {self._patience_s:g} s, after {self.answers} commands"
        )
