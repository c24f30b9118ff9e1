"""A PX4 board in HITL mode: nothing waits, the newest command counts; silence or a pulled plug ends it in a sentence."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator

import pytest

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.airframe import Airframe, Output
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.px4_board import Board, Px4BoardLink, SerialLine, UdpLine

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


@pytest.mark.parametrize("address", ["/dev/no-such-port", "/dev/no-such-port:921600"])
def test_a_port_that_is_not_there(address: str) -> None:
    pytest.importorskip("serial")
    with pytest.raises(FieldworthyError, match="/dev/no-such-port"):
        SerialLine(address)


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:", ":x", "127.0.0.1:99999999"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(FieldworthyError, match="HOST:PORT"):
        UdpLine(address)
