"""The companion computer of a vehicle: tells ArduPilot by MAVLink what its LiDAR sees, so that its own avoidance works.

It calls at ArduPilot's SERIAL1, sends a heartbeat a second and an OBSTACLE_DISTANCE a sweep, and never waits.

Limits: ArduPilot takes them only with PRX1_TYPE 2 (MAVLink), and acts on them with OA_TYPE or AVOID_ENABLE. A sweep
for which the line has no room is lost.
Verified by: tests/verification/test_companion.py
"""

from __future__ import annotations

import select
import socket

from fieldworthy.links.mavlink import Writer
from fieldworthy.links.obstacles import SECTOR_RAD, sectors_m
from fieldworthy.links.ports import LOOPBACK
from fieldworthy.links.unsent import WholeMessages
from fieldworthy.sensors.scan import ScanArrays

PORT = 5762
"""SERIAL1 of instance 0; the others are 10 apart."""

ONBOARD_CONTROLLER, AVOIDANCE_COMPONENT = 18, 196
"""MAV_TYPE and MAV_COMP_ID."""

ANSWERS_S = 1e-3
"""Wall time in which this machine itself takes a call; elsewhere it is looked for at later steps."""


class Companion:
    """Connects when ArduPilot is there, and again after it has gone."""

    def __init__(
        self, instance: int, range_m: tuple[float, float], port: int | None = None, host: str = LOOPBACK
    ) -> None:
        """range_m: least and greatest of the LiDAR. host: where ArduPilot runs, an address in numbers."""
        self._address = (host, PORT + 10 * instance if port is None else port)
        self._range_m = range_m
        self._writer = Writer(1, AVOIDANCE_COMPONENT)
        self._socket: socket.socket | None = None
        self._calling: socket.socket | None = None
        self._out = WholeMessages(self._put)
        self._next_heartbeat_s = self._next_call_s = 0.0
        self.sent = 0
        """OBSTACLE_DISTANCE messages that have gone out."""
        self.dropped = 0
        """Those for which there was no room."""

    @property
    def connected(self) -> bool:
        """Whether ArduPilot's SERIAL1 has taken the call."""
        return self._socket is not None

    @property
    def address(self) -> str:
        """Where it calls."""
        return "TCP {}:{}".format(*self._address)

    def tell(self, t_s: float, sweep: ScanArrays | None) -> None:
        """Called at every step with the simulated time, and with a sweep that is new."""
        if self._socket is None:
            self._call(t_s)
        if self._socket is None:
            return
        data = b""
        if t_s >= self._next_heartbeat_s:
            self._next_heartbeat_s = t_s + 1.0
            data += self._writer.heartbeat(vehicle_type=ONBOARD_CONTROLLER)
        if sweep is not None:
            least, most = self._range_m
            data += self._writer.obstacle_distance(
                time_us=round(t_s * 1e6), distances_m=sectors_m(sweep, most).tolist(), increment_rad=SECTOR_RAD,
                min_m=least, max_m=most,
            )  # fmt: skip
        gone = self._send(data)
        if sweep is not None:
            self.sent, self.dropped = self.sent + gone, self.dropped + (not gone)

    def close(self) -> None:
        """Hang up."""
        for stream in (self._socket, self._calling):
            if stream is not None:
                stream.close()
        self._socket = self._calling = None

    def _call(self, t_s: float) -> None:
        """Call once a second, and see whether the call has been taken."""
        wait_s = 0.0
        if t_s >= self._next_call_s:
            self._next_call_s, wait_s = t_s + 1.0, ANSWERS_S
            self.close()
            self._calling = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._calling.setblocking(False)
            self._calling.connect_ex(self._address)
        if self._calling is None or not select.select([], [self._calling], [], wait_s)[1]:
            return
        refused = self._calling.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        try:
            # Where nobody listens, TCP may connect a socket to itself.
            refused = refused or self._calling.getpeername() == self._calling.getsockname()
        except OSError:
            refused = True
        if refused:
            self.close()
            return
        self._calling.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket, self._calling = self._calling, None
        self._out, self._next_heartbeat_s = WholeMessages(self._put), t_s

    def _send(self, data: bytes) -> bool:
        assert self._socket is not None
        gone = False
        try:
            gone = self._out.write(data)
            while self._socket.recv(65536):  # nobody here wants it, and ArduPilot must not have to keep it
                pass
            self.close()
        except BlockingIOError:
            pass
        except OSError:
            self.close()
        return gone

    def _put(self, data: bytes) -> int:
        assert self._socket is not None
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
