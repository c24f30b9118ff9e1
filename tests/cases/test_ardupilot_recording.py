"""A recorded session with real ArduCopter goes through the link again: its datagrams in, the lines of that day out.

The recording: ArduCopter master of 2025-07-21, GUIDED take-off at 800 Hz against another simulator; 499 first frames
of the boot, then from 36 s on. Records are b'A' (autopilot) or b'S' (simulator), uint16 length, bytes.
"""

from __future__ import annotations

import lzma
import os
import socket
import struct
from functools import cache
from pathlib import Path

import pytest

from fieldworthy.links.airframe import airframe_of
from fieldworthy.links.ardupilot import ArdupilotLink, ArdupilotServer
from fieldworthy.links.fake_ardupilot import LONGEST_STEP_S, FakeArdupilot
from fieldworthy.scenario import load

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FIELDWORTHY_SHARED", ROOT.parent / "shared"))
RECORDING = SHARED / "recordings" / "arducopter_guided_takeoff_800hz.raw.xz"
pytestmark = pytest.mark.skipif(not RECORDING.is_file(), reason=f"no {RECORDING}: set FIELDWORTHY_SHARED")

CUT = 499
QUAD = ("throttle_0", "throttle_1", "throttle_2", "throttle_3", "aileron", "elevator", "rudder")


@cache
def recorded() -> tuple[list[bytes], list[bytes]]:
    """(from the autopilot, from the simulator)."""
    data, at = lzma.decompress(RECORDING.read_bytes()), 0
    sides: dict[bytes, list[bytes]] = {b"A": [], b"S": []}
    while at < len(data):
        (size,) = struct.unpack_from("<H", data, at + 1)
        sides[data[at : at + 1]].append(data[at + 3 : at + 3 + size])
        at += 3 + size
    return sides[b"A"], sides[b"S"]


class Playback(ArdupilotServer):
    """A server whose client gets each answer from the socket before it sends the next recorded frame."""

    def __init__(self, frames: list[bytes]) -> None:
        super().__init__(port=0)
        self.frames, self.heard = frames, list[bytes]()
        self.client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.client.settimeout(10.0)
        self.client.connect(("127.0.0.1", self.port))
        self.client.send(frames[0])

    @property
    def over(self) -> bool:
        return len(self.heard) == len(self.frames)

    def answer(self, line: bytes) -> None:
        super().answer(line)
        self.heard.append(self.client.recv(65536))
        if not self.over:
            self.client.send(self.frames[len(self.heard)])

    def close(self) -> None:
        super().close()
        self.client.close()


class Lines:
    """Says what was said that day, line by line."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines, self.said = lines, 0

    def line(self) -> bytes:
        self.said += 1
        return self.lines[self.said - 1]


def test_each_recorded_frame_is_answered_once_with_its_line_and_read_as_what_it_is() -> None:
    frames, lines = recorded()
    server, senses = Playback(frames), Lines(lines)
    first = server.newest(10.0)
    assert first is not None
    airframe = airframe_of("ardupilot", load("quad-hover"), QUAD)
    link = ArdupilotLink(server, senses, airframe, first, patience_s=10.0, stopped=lambda: server.over)
    commands, ready = [], []
    for _ in frames:
        commands.append(link.exchange())
        ready.append(link.ready)
    link.exchange()  # the last line
    assert not select_ready(server.client), "nothing was answered twice"
    server.close()
    assert server.heard == lines
    assert (link.frames.new, link.frames.repeated, link.frames.restarts) == (len(frames) - 1, 0, 0)
    assert link.frames.lost > 0  # what was cut out of the recording
    assert (server.strangers, server.late) == (0, 0)
    # Boot is no command; then each motor's pulse is a share of its range, and it took off.
    assert ready == [False] * CUT + [True] * (len(frames) - CUT)
    assert commands[:CUT] == [[0.0] * 7] * CUT
    for frame, command in zip(frames[CUT:], commands[CUT:], strict=True):
        pulses = struct.unpack_from("<4H", frame, 8)
        assert command == pytest.approx([(pulse - 1000) / 1000 for pulse in pulses] + [0.0] * 3, abs=1e-12)
        assert all(0.0 <= part <= 1.0 for part in command)
    assert max(max(command) for command in commands) > 0.4


def test_the_strict_fake_takes_the_lines_that_real_arducopter_took() -> None:
    frames, lines = recorded()
    fake = FakeArdupilot(boot_frames=CUT)
    for index, (frame, line) in enumerate(zip(frames, lines, strict=True)):
        count = struct.unpack_from("<I", frame, 4)[0]
        if index < CUT:
            assert struct.unpack_from("<I", fake.packet(), 4)[0] == count
            assert len(fake.packet()) == len(frame)
        assert fake.hear(line)
    assert fake.accepted == len(lines)
    assert len(fake.complaints) == 1, fake.complaints
    assert f"from {LONGEST_STEP_S} s on" in fake.complaints[0]  # the cut, and nothing else


def select_ready(client: socket.socket) -> bool:
    """Whether something waits in the socket."""
    client.settimeout(0.05)
    try:
        return bool(client.recv(65536))
    except TimeoutError:
        return False
