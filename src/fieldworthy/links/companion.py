"""The companion computer of a vehicle: tells ArduPilot by MAVLink what its LiDAR sees, so that its own avoidance works.

It calls at ArduPilot's SERIAL1, sends a heartbeat a second and an OBSTACLE_DISTANCE a sweep, and never waits.

Limits: ArduPilot takes them only with PRX1_TYPE 2 (MAVLink), and acts on them with OA_TYPE or AVOID_ENABLE.
Verified by: tests/verification/test_companion.py
"""

from __future__ import annotations

import socket

from fieldworthy.links.mavlink import Writer
from fieldworthy.links.obstacles import SECTOR_RAD, sectors_m
from fieldworthy.sensors.scan import ScanArrays

PORT = 5762
"""SERIAL1 of instance 0; the others are 10 apart."""

ONBOARD_CONTROLLER, AVOIDANCE_COMPONENT = 18, 196
"""MAV_TYPE and MAV_COMP_ID."""


class Companion:
    """Connects when ArduPilot is there, and again after it has gone."""

    def __init__(self, instance: int, range_m: tuple[float, float], port: int | None = None) -> None:
        """range_m: least and greatest of the LiDAR."""
        self._address = ("127.0.0.1", PORT + 10 * instance if port is None else port)
        self._range_m = range_m
        self._writer = Writer(1, AVOIDANCE_COMPONENT)
        self._socket: socket.socket | None = None
        self._next_heartbeat_s = self._next_call_s = 0.0
        self.sent = 0
        """OBSTACLE_DISTANCE messages so far."""

    def tell(self, t_s: float, sweep: ScanArrays | None) -> None:
        """Called at every step with the simulated time, and with a sweep that is new."""
        if self._socket is None and t_s >= self._next_call_s:
            self._next_call_s = t_s + 1.0
            self._call()
        if self._socket is None:
            return
        data = b""
        if t_s >= self._next_heartbeat_s:
            self._next_heartbeat_s = t_s + 1.0
            data += self._writer.heartbeat(vehicle_type=ONBOARD_CONTROLLER)
        if sweep is not None:
            least, most = self._range_m
            self.sent += 1
            data += self._writer.obstacle_distance(
                time_us=round(t_s * 1e6), distances_m=sectors_m(sweep, most).tolist(), increment_rad=SECTOR_RAD,
                min_m=least, max_m=most,
            )  # fmt: skip
        self._send(data)

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _call(self) -> None:
        try:
            self._socket = socket.create_connection(self._address, timeout=0.2)
            self._socket.setblocking(False)
        except OSError:
            self._socket = None

    def _send(self, data: bytes) -> None:
        assert self._socket is not None
        try:
            if data:
                self._socket.sendall(data)
            while self._socket.recv(65536):  # nobody here wants it, and ArduPilot must not have to keep it
                pass
            self.close()
        except BlockingIOError:
            pass
        except OSError:
            self.close()
