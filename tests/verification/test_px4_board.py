"""A PX4 board in HITL: nothing waits, the newest command counts; silence or a pulled plug ends it in a sentence."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.airframe import Airframe, Output
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.px4_board import MOST_AT_ONCE, Board, Px4BoardLink, SerialLine, UdpLine

pytest.importorskip("fastcrc")

from fieldworthy.links.mavlink import Reader, Writer
from fieldworthy.links.mavlink_messages import Heartbeat, HilSensor

_FRAME = Airframe("one motor", (Output(0, "throttle_0"),), ("throttle_0",))


class Senses:
    """One HIL_SENSOR a tick."""

    def __init__(self) -> None:
        self.tick, self._writer = 0, Writer()

    def frames(self) -> bytes:
        self.tick += 1
        return self._writer.hil_sensor(
            time_us=4000 * self.tick, accel_frd_m_s2=(0.0, 0.0, -9.8), gyro_frd_rad_s=(0.0, 0.0, 0.0), fields_updated=63
        )


class MemoryLine:
    """Both ends in one place."""

    name = "memory"

    def __init__(self) -> None:
        self.sent, self.coming = b"", b""

    def read(self) -> bytes:
        data, self.coming = self.coming, b""
        return data

    def write(self, data: bytes) -> None:
        self.sent += data

    def close(self) -> None:
        pass


def test_the_newest_command_counts_and_nobody_waits() -> None:
    line, clock, board = MemoryLine(), [0.0], Writer()
    link = Px4BoardLink(line, Senses(), _FRAME, clock=lambda: clock[0])  # type: ignore[arg-type]
    assert link.exchange() == [0.0]
    assert not link.ready
    # The board's own clock has nothing to do with ours: only the order counts.
    line.coming = board.hil_actuator_controls(time_us=77_000_000, controls=[0.3]) + board.hil_actuator_controls(
        time_us=77_004_000, controls=[0.5], mode=129
    )
    assert link.exchange() == [pytest.approx(0.5)]
    assert link.armed
    assert link.exchange() == [pytest.approx(0.5)]
    assert (link.sensors, link.answers) == (3, 2)


def test_the_board_hears_a_heartbeat_a_second() -> None:
    line, clock = MemoryLine(), [0.0]
    link = Px4BoardLink(line, Senses(), _FRAME, clock=lambda: clock[0])  # type: ignore[arg-type]
    for step in range(750):
        clock[0] = 0.004 * step
        link.exchange()
    messages = Reader().feed(line.sent)
    assert sum(isinstance(message, HilSensor) for message in messages) == 750
    assert sum(isinstance(message, Heartbeat) for message in messages) == 3


@pytest.mark.parametrize("answered", [False, True])
def test_silence_ends_it(answered: bool) -> None:
    line, clock = MemoryLine(), [0.0]
    link = Px4BoardLink(line, Senses(), _FRAME, patience_s=2.0, clock=lambda: clock[0])  # type: ignore[arg-type]
    if answered:
        line.coming = Writer().hil_actuator_controls(time_us=1, controls=[0.1])
    link.exchange()
    clock[0] = 1.9
    link.exchange()
    clock[0] = 2.1
    with pytest.raises(LinkLost, match="silent" if answered else "SYS_HITL = 1") as lost:
        link.exchange()
    assert lost.value.loss is Loss.SILENT


@pytest.fixture
def partner() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as board:
        board.bind(("127.0.0.1", 0))
        board.settimeout(2.0)
        yield board


def test_over_udp(partner: socket.socket) -> None:
    line = UdpLine(f"127.0.0.1:{partner.getsockname()[1]}")
    waiting = Board(line)
    assert not waiting.wait(0.02)  # says hello all the same
    data, peer = partner.recvfrom(300)
    assert isinstance(Reader().feed(data)[0], Heartbeat)
    partner.sendto(Writer(1, 1).heartbeat(autopilot=12), peer)
    assert waiting.wait(2.0)
    link = Px4BoardLink(line, Senses(), _FRAME)  # type: ignore[arg-type]
    partner.sendto(Writer(1, 1).hil_actuator_controls(time_us=5, controls=[0.25]), peer)
    commands = [link.exchange() for _ in range(200)]
    assert [0.25] in commands
    line.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_on_a_serial_line() -> None:
    pytest.importorskip("serial")
    board, port = os.openpty()
    import tty

    tty.setraw(port)
    line = SerialLine(f"{os.ttyname(port)}:115200")
    link = Px4BoardLink(line, Senses(), _FRAME)  # type: ignore[arg-type]
    link.exchange()
    assert any(isinstance(message, HilSensor) for message in Reader().feed(os.read(board, 4096)))
    os.write(board, Writer(1, 1).hil_actuator_controls(time_us=5, controls=[0.75]))
    commands = [link.exchange() for _ in range(50)]
    assert [0.75] in commands
    line.close()
    os.close(board)
    os.close(port)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_a_line_whose_buffer_is_full_loses_whole_frames_and_holds_nobody_up() -> None:
    """A terminal takes a part of what is written when its buffer fills: the rest goes first when there is room again.

    Every byte that comes out belongs to a sound frame, and the clocks of these only rise.
    """
    pytest.importorskip("serial")
    board, port = os.openpty()
    import tty

    tty.setraw(port)
    tty.setraw(board)
    os.set_blocking(board, False)
    line, senses, reader = SerialLine(os.ttyname(port)), Senses(), Reader()
    came: list[Any] = []

    def taken() -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(board, 1000):
                came.extend(reader.feed(data))

    for _ in range(5):
        began, dropped = time.perf_counter(), line.dropped
        for _ in range(1000):  # 77 kB; the buffer of a pseudo terminal has a few
            line.write(senses.frames())
        assert time.perf_counter() - began < 2.0
        assert line.dropped > dropped
        taken()
    for _ in range(3):
        line.write(senses.frames())
        taken()
    assert (reader.bad_crc, reader.garbage_bytes, reader.waiting_bytes) == (0, 0, 0)
    clocks = [message.time_usec for message in came]
    assert clocks == sorted(set(clocks))
    assert len(clocks) == senses.tick - line.dropped
    assert clocks[-1] == 4000 * senses.tick
    line.close()
    os.close(board)
    os.close(port)


def test_a_flood_of_datagrams_is_read_a_part_at_a_time() -> None:
    """More come in than anybody reads: one look ends all the same."""
    line = UdpLine("127.0.0.1:9")
    peer, frame = line._peer, Writer(1, 1).hil_actuator_controls(time_us=5, controls=[0.25])
    line._socket.close()
    line._socket = SimpleNamespace(recvfrom=lambda size: (frame, peer), close=lambda: None)  # type: ignore[assignment]
    assert line.read() == frame * MOST_AT_ONCE


@pytest.mark.parametrize("address", ["/dev/no-such-port", "/dev/no-such-port:921600"])
def test_a_port_that_is_not_there(address: str) -> None:
    pytest.importorskip("serial")
    with pytest.raises(FieldworthyError, match="/dev/no-such-port"):
        SerialLine(address)


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:", ":x", "127.0.0.1:99999999"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(FieldworthyError, match="HOST:PORT"):
        UdpLine(address)
