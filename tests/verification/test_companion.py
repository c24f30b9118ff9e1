"""The companion computer against a small TCP server in ArduPilot's place, its frames decoded by pymavlink."""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastcrc")
pytest.importorskip("pymavlink")

from pymavlink.dialects.v20 import ardupilotmega as m

from fieldworthy.links.companion import PORT, Companion
from fieldworthy.links.unsent import WholeMessages
from fieldworthy.sensors.scan import ScanArrays

RANGE_M = (0.5, 100.0)


class Server:
    """SERIAL1 of an ArduPilot."""

    def __init__(self, port: int = 0, receive_bytes: int | None = None) -> None:
        self._listening = socket.create_server(("127.0.0.1", port))
        self._listening.settimeout(5.0)
        if receive_bytes is not None:
            self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.port = self._listening.getsockname()[1]
        self._mav = m.MAVLink(None)
        self._mav.robust_parsing = True  # a frame that was cut off is none, and no error
        self._stream: socket.socket | None = None

    def accept(self) -> socket.socket:
        self._stream, _ = self._listening.accept()
        self._stream.setblocking(False)
        return self._stream

    def heard(self) -> list[Any]:
        """Messages that have come."""
        assert self._stream is not None
        data = b""
        try:
            while more := self._stream.recv(65536):
                data += more
        except BlockingIOError:
            pass
        return self._mav.parse_buffer(bytearray(data)) or []

    def hang_up(self) -> None:
        assert self._stream is not None
        self._stream.close()

    def close(self) -> None:
        self._listening.close()
        if self._stream is not None:
            self._stream.close()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


def sweep(*rays: tuple[float, float]) -> ScanArrays:
    """(bearing [deg], range [m])."""
    azimuth = np.radians([[ray[0]] for ray in rays])
    return ScanArrays(np.array([[[ray[1]] for ray in rays]]), azimuth, np.zeros(1), np.zeros_like(azimuth), 0.0)


def test_a_heartbeat_every_simulated_second(server: Server) -> None:
    """As MAV_TYPE_ONBOARD_CONTROLLER 18 from component 196 (obstacle avoidance): ArduPilot takes it for no vehicle."""
    companion = Companion(0, RANGE_M, server.port)
    companion.tell(0.0, None)
    server.accept()
    for tick in range(1, 351):
        companion.tell(0.01 * tick, None)
    beats = server.heard()
    assert [beat.get_type() for beat in beats] == ["HEARTBEAT"] * 4  # at 0, 1, 2 and 3 s
    assert {(beat.type, beat.autopilot) for beat in beats} == {(18, m.MAV_AUTOPILOT_INVALID)}
    assert {(beat.get_srcSystem(), beat.get_srcComponent()) for beat in beats} == {(1, 196)}
    companion.close()


def test_one_obstacle_distance_a_sweep_in_centimetres(server: Server) -> None:
    companion = Companion(0, RANGE_M, server.port)
    companion.tell(0.0, None)
    server.accept()
    companion.tell(0.25, sweep((0.0, 12.346), (90.0, 99.0), (-90.0, 0.75), (180.0, 100.0), (45.0, math.inf)))
    companion.tell(0.30, None)
    companion.tell(0.35, sweep((10.0, 3.0)))
    first, second = [message for message in server.heard() if message.get_type() == "OBSTACLE_DISTANCE"]
    assert companion.sent == 2
    assert (first.time_usec, second.time_usec) == (250_000, 350_000)
    free = 10_001  # the greatest distance and a centimetre, says common.xml
    expected = [free] * 72
    expected[0], expected[18], expected[54] = 1235, 9900, 75
    assert list(first.distances) == expected
    assert (first.min_distance, first.max_distance) == (50, 10_000)
    assert (first.increment, first.increment_f) == (5, pytest.approx(5.0))
    assert (first.angle_offset, first.frame) == (0.0, m.MAV_FRAME_BODY_FRD)
    assert [i for i, distance in enumerate(second.distances) if distance != free] == [2]
    companion.close()


def test_it_calls_again_after_the_other_side_has_hung_up(server: Server) -> None:
    companion = Companion(0, RANGE_M, server.port)
    companion.tell(0.0, None)
    server.accept()
    server.hang_up()
    t_s = 0.0
    for _ in range(500):  # the end of a stream is news that may take a moment
        t_s += 0.01
        companion.tell(t_s, sweep((0.0, 5.0)))
        time.sleep(1e-4)
    server.accept()
    assert server.heard()[0].get_type() == "HEARTBEAT"  # it presents itself anew, at once
    before = companion.sent
    companion.tell(t_s + 0.01, sweep((0.0, 5.0)))
    assert companion.sent == before + 1
    assert [message.get_type() for message in server.heard()][-1] == "OBSTACLE_DISTANCE"
    companion.close()


def test_nobody_there_costs_nothing() -> None:
    """A port where nobody listens: it asks once a simulated second, and waits for no answer."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        companion = Companion(0, RANGE_M, taken.getsockname()[1])
        began = time.perf_counter()
        for tick in range(1000):
            companion.tell(0.01 * tick, sweep((0.0, 5.0)))
        # Ten calls, refused at once; were each waited for, 2 s.
        assert time.perf_counter() - began < 1.0
    assert companion.sent == 0
    companion.close()


def test_one_that_comes_late_is_found() -> None:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    companion = Companion(0, RANGE_M, port)
    companion.tell(0.0, None)
    server = Server(port)
    companion.tell(0.5, None)  # not yet: it calls once a second
    companion.tell(1.0, sweep((0.0, 5.0)))
    server.accept()
    assert [message.get_type() for message in server.heard()] == ["HEARTBEAT", "OBSTACLE_DISTANCE"]
    companion.close()
    server.close()


def test_one_that_does_not_read_holds_nothing_up_and_loses_whole_messages() -> None:
    """ArduPilot halted in a debugger: a message without room is lost and counted, and none is cut: a cut one would hide
    the next from ArduPilot's parser."""
    server = Server(receive_bytes=4096)
    companion = Companion(0, RANGE_M, server.port)
    companion.tell(0.0, None)
    server.accept()
    assert companion._socket is not None
    companion._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    began, scan = time.perf_counter(), sweep((0.0, 5.0))
    for tick in range(2000):  # 0.4 MB, more than this line holds
        companion.tell(1e-4 * tick, scan)
    assert time.perf_counter() - began < 5.0
    assert (companion.sent + companion.dropped, companion.dropped > 100) == (2000, True)
    heard = server.heard()
    for tick in range(3):
        companion.tell(2.0 + 0.1 * tick, sweep((0.0, 7.0 + tick)))
    time.sleep(0.01)
    heard += server.heard()
    assert {message.get_type() for message in heard} == {"HEARTBEAT", "OBSTACLE_DISTANCE"}  # no BAD_DATA
    assert sum(message.get_type() == "OBSTACLE_DISTANCE" for message in heard) == companion.sent
    assert heard[-1].distances[0] == 900
    companion.close()
    server.close()


def test_a_line_cut_off_anywhere_is_gone_on_with() -> None:
    """A stream that takes 7 bytes, then none, then 100: nothing is ever in it but whole messages."""
    room, went = [7, 0, 3, 100, 0, 100, 100, 1000], b""

    def put(data: bytes) -> int:
        nonlocal went
        taken = data[: room.pop(0)]
        went += taken
        return len(taken)

    out = WholeMessages(put)
    assert [out.write(b"first " * 5), out.write(b"second"), out.write(b"third")] == [True, False, False]
    assert [out.write(b"fourth"), out.write(b"fifth"), out.write(b"sixth")] == [False, True, True]
    assert (went, out.dropped) == (b"first " * 5 + b"fifthsixth", 3)


def test_it_says_whether_it_is_connected(server: Server) -> None:
    companion = Companion(0, RANGE_M, server.port)
    assert not companion.connected
    companion.tell(0.0, None)
    assert companion.connected
    assert companion.address == f"TCP 127.0.0.1:{server.port}"
    companion.close()
    assert not companion.connected


def test_one_on_another_machine_that_does_not_answer_is_not_waited_for() -> None:
    """TEST-NET-1 of RFC 5737 is nobody's: a call there is neither taken nor refused."""
    companion = Companion(0, RANGE_M, host="192.0.2.1")
    began = time.perf_counter()
    for tick in range(2000):
        companion.tell(0.01 * tick, sweep((0.0, 5.0)))
    assert time.perf_counter() - began < 2.0  # twenty calls; waited for, 4 s
    assert not companion.connected
    companion.close()


def test_what_the_autopilot_says_is_taken_off_the_line(server: Server) -> None:
    """A sender whose words nobody takes would be held up in the end: 8 MB go through."""
    companion = Companion(0, RANGE_M, server.port)
    companion.tell(0.0, None)
    stream = server.accept()
    left, t_s, until = 8_000_000, 0.0, time.monotonic() + 20.0
    while left > 0:
        assert time.monotonic() < until, f"{left} bytes are left"
        with contextlib.suppress(BlockingIOError):
            left -= stream.send(bytes(65536))
        t_s += 0.01
        companion.tell(t_s, None)
    assert {message.get_type() for message in server.heard()} == {"HEARTBEAT"}
    companion.close()


def test_instances_are_ten_ports_apart() -> None:
    """SERIAL1 of instance 3 is 5762 + 30."""
    assert PORT == 5762
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 5762 + 10 * 47))
        listening.listen()
        listening.settimeout(5.0)
        companion = Companion(47, RANGE_M)
        companion.tell(0.0, None)
        client, _ = listening.accept()
        client.close()
        companion.close()
