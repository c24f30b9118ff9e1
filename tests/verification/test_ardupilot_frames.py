"""What ArduPilot sends: packets by their published layout, the order of frames, and a recorded session.

Layout: libraries/SITL/examples/JSON/readme.md of ArduPilot: uint16 magic (18458, or 29569 with 32 channels), uint16
frame_rate, uint32 frame_count, uint16 pwm[16] or [32], little-endian.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import struct
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.links.ardupilot_json import (
    FrameCounter,
    FrameNews,
    ServoFrame,
    decode_servos,
    is_no_command,
    why_not_servos,
)

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FIELDWORTHY_SHARED", ROOT.parent / "shared"))
RECORDING = SHARED / "recordings" / "arducopter_guided_takeoff_800hz.raw.xz"
needs_recording = pytest.mark.skipif(not RECORDING.is_file(), reason=f"no {RECORDING}: set FIELDWORTHY_SHARED")

MAGIC = {16: 18458, 32: 29569}
CUT = 499
"""The recording holds the first 499 frames (of the boot) and then the time from 36 s on."""


def packet(pwm_us: list[int], rate_hz: int = 1200, count: int = 0) -> bytes:
    """Byte by byte, so that it does not share its format string with what is tested."""
    words = [(MAGIC[len(pwm_us)], 2), (rate_hz, 2), (count, 4), *((pulse, 2) for pulse in pwm_us)]
    return b"".join(value.to_bytes(size, "little") for value, size in words)


def frame(count: int, pwm_us: tuple[int, ...] = (1500,) * 16) -> ServoFrame:
    return ServoFrame(800, count, pwm_us)


@given(
    st.sampled_from((16, 32)).flatmap(lambda n: st.lists(st.integers(0, 65535), min_size=n, max_size=n)),
    st.integers(0, 65535),
    st.integers(0, 2**32 - 1),
)
def test_packets_come_out_as_they_went_in(pwm_us: list[int], rate_hz: int, count: int) -> None:
    datagram = packet(pwm_us, rate_hz, count)
    assert len(datagram) == {16: 40, 32: 72}[len(pwm_us)]
    assert decode_servos(datagram) == (rate_hz, count, tuple(pwm_us))
    assert why_not_servos(datagram) == ""


@given(st.binary(max_size=100) | st.binary(min_size=40, max_size=40) | st.binary(min_size=72, max_size=72))
def test_any_bytes_are_taken_or_told_about(datagram: bytes) -> None:
    is_packet = any(len(datagram) == 8 + 2 * n and datagram[:2] == MAGIC[n].to_bytes(2, "little") for n in MAGIC)
    assert (decode_servos(datagram) is not None) == is_packet
    assert (why_not_servos(datagram) == "") == is_packet


@pytest.mark.parametrize(
    ("datagram", "told"),
    [
        (b"", "0 bytes"),
        (packet([1500] * 16)[:-1], "39 bytes .* of 40 bytes: cut or joined"),
        (packet([1500] * 16) * 2, "80 bytes .* of 40 bytes: cut or joined"),
        (packet([1500] * 32)[:40], "40 bytes .* of 72 bytes: cut or joined"),
        (b"\x1a\x49" + packet([1500] * 16)[2:], "40 bytes that begin with 0x1a49: valid are 40 bytes with 0x1a48"),
        (struct.pack("<16f", *[0.5] * 16), "--model gazebo.*--model JSON"),
        (b'\n{"timestamp":0}\n', "second simulator"),
        (b"\xfd" + bytes(20), "MAVLink"),
        (b"\xfe" + bytes(20), "MAVLink"),
    ],
    ids=["empty", "cut", "joined", "cut-32", "other-mark", "gazebo", "json", "mavlink-2", "mavlink-1"],
)
def test_a_user_who_sees_nothing_is_told_why(datagram: bytes, told: str) -> None:
    assert decode_servos(datagram) is None
    assert re.search(told, why_not_servos(datagram)), why_not_servos(datagram)


def test_the_marks_in_the_sentence_are_those_of_the_packets() -> None:
    told = why_not_servos(b"\0" * 40)
    for channels, mark in MAGIC.items():
        assert f"0x{packet([0] * channels)[:2].hex()} ({mark})" in told


def news(*counts: int) -> tuple[list[str], FrameCounter]:
    counter = FrameCounter()
    return [counter.see(frame(count)).value for count in counts], counter


def test_frames_in_order() -> None:
    told, counter = news(7, 8, 9)
    assert told == ["new", "new", "new"]
    assert (counter.new, counter.repeated, counter.lost, counter.restarts, counter.last) == (3, 0, 0, 0, 9)


def test_a_resent_frame_is_repeated_until_a_reply_is_taken() -> None:
    told, counter = news(0, 0, 0, 1, 1)
    assert told == ["new", "repeated", "repeated", "new", "repeated"]
    assert (counter.new, counter.repeated, counter.repeated_in_a_row) == (2, 3, 1)


def test_a_lower_count_is_a_restart() -> None:
    told, counter = news(500, 0, 1, 2, 1)
    assert told == ["new", "restarted", "new", "new", "restarted"]
    assert (counter.restarts, counter.lost, counter.last) == (2, 0, 1)


def test_lost_frames_are_counted() -> None:
    told, counter = news(0, 1, 5, 6)
    assert told == ["new", "new", "skipped", "new"]
    assert counter.lost == 3


def test_the_count_wraps_after_32_bits() -> None:
    """4 294 967 296 frames at 1200 Hz are 41 days."""
    told, counter = news(2**32 - 2, 2**32 - 1, 0, 1)
    assert told == ["new"] * 4
    assert (counter.restarts, counter.lost) == (0, 0)
    told, counter = news(2**32 - 2, 3)
    assert told == ["new", "skipped"]
    assert counter.lost == 4  # 2^32 - 1, 0, 1, 2
    assert news(3_000_000_000, 0)[0] == ["new", "restarted"]


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20))
def test_every_frame_is_one_of_four(counts: list[int]) -> None:
    told, counter = news(*counts)
    assert len(told) == len(counts)
    assert (told.count("new"), told.count("repeated"), told.count("restarted")) == (
        counter.new,
        counter.repeated,
        counter.restarts,
    )
    assert (counter.lost > 0) == (FrameNews.SKIPPED.value in told)


@pytest.mark.parametrize("channels", [16, 32])
@pytest.mark.parametrize(
    "neutral", [(), (1, 2, 4), (1, 2, 3, 4), (1, 2, 3, 4, 5, 6, 7, 8)], ids=["copter", "plane", "rover", "sub"]
)
def test_what_a_starting_autopilot_sends_is_no_command(channels: int, neutral: tuple[int, ...]) -> None:
    """ArduPilot pull request 20403 for Sub; Plane and Rover as seen with SITL of 2025-07-21."""
    pwm_us = [1000] * channels
    for channel in neutral:
        pwm_us[channel - 1] = 1500
    assert is_no_command(frame(0, tuple(pwm_us)))
    for index in range(channels):
        moved = list(pwm_us)
        moved[index] += 1
        assert not is_no_command(frame(0, tuple(moved)))


def test_no_pulse_anywhere_is_no_command() -> None:
    assert is_no_command(frame(0, (0,) * 16))
    assert is_no_command(frame(0, (0,) * 32))
    assert not is_no_command(frame(0, (1000,) * 4 + (0,) * 12))  # a disarmed quadcopter: motors are told to stand


@cache
def recorded() -> tuple[list[bytes], list[bytes]]:
    """(from the autopilot, from the simulator): records b'A' or b'S', uint16 length, bytes."""
    data, at = lzma.decompress(RECORDING.read_bytes()), 0
    sides: dict[bytes, list[bytes]] = {b"A": [], b"S": []}
    while at < len(data):
        (size,) = struct.unpack_from("<H", data, at + 1)
        sides[data[at : at + 1]].append(data[at + 3 : at + 3 + size])
        at += 3 + size
    return sides[b"A"], sides[b"S"]


def recorded_frames() -> list[ServoFrame]:
    frames = [decode_servos(datagram) for datagram in recorded()[0]]
    assert None not in frames
    return [frame for frame in frames if frame is not None]


@needs_recording
def test_every_recorded_reply_moves_the_count_by_one() -> None:
    frames = recorded_frames()
    assert len(frames) == len(recorded()[1]) == 31_700
    counter = FrameCounter()
    told = [counter.see(frame) for frame in frames]
    assert frames[0].frame_count == 0
    assert [index for index, what in enumerate(told) if what is not FrameNews.NEW] == [CUT]
    assert told[CUT] is FrameNews.SKIPPED
    # What was cut out of the recording, told by the other side: 1.25 ms of simulated time a frame.
    before_s, after_s = (json.loads(line)["timestamp"] for line in recorded()[1][CUT - 1 : CUT + 1])
    assert counter.lost == round((after_s - before_s) / 0.00125) - 1


@needs_recording
def test_recorded_frame_rate_slews_to_what_was_asked_for() -> None:
    """From the built-in 1200 Hz to SIM_RATE_HZ = 800, by 1 Hz a frame and at most 2 more.

    The extra comes from the peer, which stepped by 1 / frame_rate in whole microseconds, and from the whole hertz of
    the packet: at 1200 Hz a microsecond is 1.4 Hz.
    """
    rates_hz = [frame.frame_rate_hz for frame in recorded_frames()]
    assert rates_hz[0] == 1200
    assert all(0 <= before - after <= 3 for before, after in zip(rates_hz, rates_hz[1:], strict=False))
    reached = rates_hz.index(800)
    assert 400 / 3 <= reached <= 400
    assert set(rates_hz[reached:]) == {800}


@needs_recording
def test_recorded_boot_is_no_command_and_the_flight_is() -> None:
    silent = [is_no_command(frame) for frame in recorded_frames()]
    assert all(silent[:CUT])
    assert not any(silent[CUT:])
    assert any(max(frame.pwm_us) > 1400 for frame in recorded_frames()[CUT:])  # it did take off
