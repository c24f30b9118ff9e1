"""Whatever arrives, the reader of a MAVLink stream never raises, hangs or grows, and it finds the next sound frame.

The expectation is counted in frames that were built whole: which were left alone must arrive, in order, and no other.
"""

from __future__ import annotations

import importlib
import random
import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.core.errors import MissingExtraError
from fieldworthy.links import mavlink_messages as wire
from fieldworthy.links.mavlink import FieldsUpdated, Reader, Writer
from fieldworthy.links.mavlink_reader import LONGEST_FRAME

mcrf4xx = pytest.importorskip("fastcrc").crc16.mcrf4xx

FLUSH = bytes(LONGEST_FRAME)
"""After so many zeros no frame is waiting for its end."""


def frame_of(number: int, kind: int) -> bytes:
    """A frame of one of four messages whose content tells which it is."""
    writer = Writer()
    writer.sequence = number
    if kind == 0:
        return writer.hil_actuator_controls(time_us=number, controls=[0.001 * number - 0.5] * 16, mode=129)
    if kind == 1:
        return writer.hil_sensor(
            time_us=number, accel_frd_m_s2=(-253.0, 0.1, -9.8), gyro_frd_rad_s=(1e-3, number, 0.0),
            abs_pressure_hpa=1013.25, fields_updated=FieldsUpdated.ALL,
        )  # fmt: skip
    if kind == 2:
        return writer.command_long(command=511, params=[number, 5e3])
    return writer.heartbeat(custom_mode=number)


def assembled(magic: bytes, header: bytes, payload: bytes, crc_extra: int, *, signature: bytes = b"") -> bytes:
    """A frame by the rules of the MAVLink guide, for what `Writer` does not make."""
    covered = header + payload
    return magic + covered + struct.pack("<H", mcrf4xx(covered + bytes([crc_extra]))) + signature


def version_2(
    message_id: int, payload: bytes, crc_extra: int, *, incompatible: int = 0, signature: bytes = b"", sequence: int = 0
) -> bytes:
    header = bytes([len(payload), incompatible, 0, sequence, 1, 1]) + message_id.to_bytes(3, "little")
    return assembled(b"\xfd", header, payload, crc_extra, signature=signature)


def version_1(message_id: int, payload: bytes, crc_extra: int) -> bytes:
    return assembled(b"\xfe", bytes([len(payload), 7, 1, 1, message_id]), payload, crc_extra)


def alone(frame: bytes) -> Any:
    (message,) = Reader().feed(frame)
    return message


numbered = st.lists(st.tuples(st.integers(0, 255), st.integers(0, 3)), min_size=1, max_size=8)
quiet = st.binary(max_size=40).map(lambda junk: junk.replace(b"\xfd", b"\x00").replace(b"\xfe", b"\x01"))
"""Garbage without a start byte: it cannot be mistaken for the head of a frame."""


@given(data=st.binary(max_size=3000))
def test_random_bytes_do_no_harm(data: bytes) -> None:
    reader = Reader()
    messages = reader.feed(data)
    assert reader.waiting_bytes < LONGEST_FRAME
    assert len(messages) == reader.messages


@given(
    data=st.lists(st.sampled_from([b"\xfd", b"\xfe", b"\0", b"\x01", b"\x5d", b"\x6b\0\0", b"\xff"]), max_size=400),
    cuts=st.lists(st.integers(1, 50), min_size=1),
)  # fmt: skip
def test_bytes_that_look_like_heads_do_no_harm(data: list[bytes], cuts: list[int]) -> None:
    stream, reader, at, turn = b"".join(data), Reader(), 0, 0
    while at < len(stream):
        reader.feed(stream[at : at + cuts[turn % len(cuts)]])
        at += cuts[turn % len(cuts)]
        turn += 1
        assert reader.waiting_bytes < LONGEST_FRAME


@given(frames=numbered, gaps=st.lists(quiet, min_size=9, max_size=9), cuts=st.lists(st.integers(1, 300), min_size=1))
def test_frames_arrive_however_they_are_cut(frames: list[tuple[int, int]], gaps: list[bytes], cuts: list[int]) -> None:
    sent = [frame_of(*which) for which in frames]
    stream = b"".join(gap + frame for gap, frame in zip(gaps, sent, strict=False))
    reader, found, at, turn = Reader(), [], 0, 0
    while at < len(stream):
        found += reader.feed(stream[at : at + cuts[turn % len(cuts)]])
        at += cuts[turn % len(cuts)]
        turn += 1
    assert found == [alone(frame) for frame in sent]
    assert reader.garbage_bytes == sum(map(len, gaps[: len(sent)]))
    assert (reader.bad_crc, reader.unknown, reader.waiting_bytes) == (0, 0, 0)


@given(
    data=st.binary(max_size=200), frames=numbered, at=st.integers(0, 199), cuts=st.lists(st.integers(1, 40), min_size=1)
)
def test_pieces_and_the_whole_are_the_same(
    data: bytes, frames: list[tuple[int, int]], at: int, cuts: list[int]
) -> None:  # fmt: skip
    stream = data[:at] + b"".join(frame_of(*which) for which in frames) + data[at:]
    whole, pieces = Reader(), Reader()
    expected, found = whole.feed(stream), []
    position, turn = 0, 0
    while position < len(stream):
        found += pieces.feed(stream[position : position + cuts[turn % len(cuts)]])
        position += cuts[turn % len(cuts)]
        turn += 1
    assert found == expected
    for name in ("messages", "unknown", "bad_crc", "garbage_bytes", "waiting_bytes"):
        assert getattr(pieces, name) == getattr(whole, name), name


@given(frames=numbered, which=st.integers(0, 7))
def test_a_frame_twice_is_two_messages(frames: list[tuple[int, int]], which: int) -> None:
    sent = [frame_of(*one) for one in frames]
    sent.insert(which % len(sent), sent[which % len(sent)])
    assert Reader().feed(b"".join(sent)) == [alone(frame) for frame in sent]


@given(frames=numbered, which=st.integers(0, 7), bit=st.integers(0, 10_000))
def test_one_flipped_bit_costs_one_frame(frames: list[tuple[int, int]], which: int, bit: int) -> None:
    """A checksum of 16 bits finds every single flipped bit; the message is lost or, with another id, passed over."""
    sent = [frame_of(*one) for one in frames]
    which %= len(sent)
    damaged = bytearray(sent[which])
    bit %= 8 * len(damaged)
    damaged[bit // 8] ^= 1 << bit % 8
    reader = Reader()
    found = reader.feed(b"".join([*sent[:which], bytes(damaged), *sent[which + 1 :], FLUSH]))
    assert found == [alone(frame) for position, frame in enumerate(sent) if position != which]
    assert reader.garbage_bytes == len(FLUSH) + (0 if reader.unknown else len(damaged))


def test_every_bit_of_a_frame_matters() -> None:
    """The same for each bit of one frame between two others, one after the other."""
    before, middle, after = (frame_of(number, 0) for number in (1, 2, 3))
    for bit in range(8 * len(middle)):
        damaged = bytearray(middle)
        damaged[bit // 8] ^= 1 << bit % 8
        assert Reader().feed(before + bytes(damaged) + after + FLUSH) == [alone(before), alone(after)], f"bit {bit}"


@given(frames=numbered, which=st.integers(0, 7), kept=st.integers(0, 10_000))
def test_a_frame_without_its_end_costs_itself_alone(frames: list[tuple[int, int]], which: int, kept: int) -> None:
    sent = [frame_of(*one) for one in frames]
    which %= len(sent)
    kept %= len(sent[which])
    found = Reader().feed(b"".join([*sent[:which], sent[which][:kept], *sent[which + 1 :], FLUSH]))
    assert found == [alone(frame) for position, frame in enumerate(sent) if position != which]


def test_signed_frames_are_read_with_their_signature() -> None:
    """MAVLink guide, "Message Signing": flag 0x01, and 13 bytes after the checksum that it does not cover."""
    payload = struct.pack("<IBBBBB", 7, 2, 12, 81, 4, 3)
    signed = version_2(0, payload, 50, incompatible=1, signature=b"\xfd" * 13)
    reader = Reader()
    assert reader.feed(signed + frame_of(9, 0)) == [wire.Heartbeat(7, 2, 12, 81, 4, 3), alone(frame_of(9, 0))]
    assert reader.garbage_bytes == 0
    for cut in range(1, len(signed)):
        reader = Reader()
        assert reader.feed(signed[:cut]) == []
        assert len(reader.feed(signed[cut:])) == 1


@pytest.mark.parametrize("flags", [0x02, 0x03, 0x80, 0xFF])
def test_flags_that_nobody_has_explained_are_refused(flags: int) -> None:
    """MAVLink guide: a frame with an incompatibility flag that is not understood must be dropped."""
    strange = version_2(0, struct.pack("<IBBBBB", 7, 2, 12, 81, 4, 3), 50, incompatible=flags)
    reader = Reader()
    assert reader.feed(strange + frame_of(9, 0)) == [alone(frame_of(9, 0))]
    assert reader.garbage_bytes == len(strange)


def test_mavlink_1_between_mavlink_2() -> None:
    """MAVLink 1 has a header of 6 bytes and does not cut zeros: this heartbeat ends in some."""
    old = version_1(0, struct.pack("<IBBBBB", 0, 6, 8, 0, 0, 0), 50)
    assert len(old) == 6 + 9 + 2
    reader = Reader()
    found = reader.feed(frame_of(1, 0) + old + old + frame_of(2, 1) + b"\xfe")
    assert found == [alone(frame_of(1, 0)), *[wire.Heartbeat(0, 6, 8, 0, 0, 0)] * 2, alone(frame_of(2, 1))]
    assert (reader.garbage_bytes, reader.waiting_bytes) == (0, 1)


def test_unknown_messages_are_counted_and_passed_over() -> None:
    """ATTITUDE (30, crc_extra 39) and, of MAVLink 1, SYS_STATUS (1, crc_extra 124) are not in the table.

    What lies in them is not looked at, even if it is a frame itself, as in the payload of a TUNNEL.
    """
    inner = frame_of(5, 3)
    reader = Reader()
    stream = version_2(30, inner, 39) + frame_of(1, 0) + version_1(1, bytes(31), 124) + version_2(0x123456, inner, 200)
    assert reader.feed(stream + frame_of(2, 0)) == [alone(frame_of(1, 0)), alone(frame_of(2, 0))]
    assert (reader.unknown, reader.bad_crc, reader.garbage_bytes) == (3, 0, 0)
    # After garbage, the next sound frame gives back the trust in what follows it.
    assert reader.feed(b"\x00" + frame_of(3, 0) + version_2(30, inner, 39)) == [alone(frame_of(3, 0))]
    assert (reader.unknown, reader.bad_crc, reader.garbage_bytes) == (4, 0, 1)


def test_an_unknown_id_in_garbage_swallows_nothing() -> None:
    """A start byte by chance, with an id that is not known and a length of 255, before three sound frames."""
    sent = [frame_of(number, 0) for number in (1, 2, 3)]
    reader = Reader()
    assert reader.feed(b"\x00\xfd\xff" + b"".join(sent)) == [alone(frame) for frame in sent]


def test_what_opens_a_stream_is_told_by_its_checksum() -> None:
    """The same as the first bytes of all, where an unknown message is believed if any crc_extra explains its checksum.

    Of 65536 checksums 256 do, so 400 tries lose frames 1.6 times on average (binomial); more than 9 times: 1 in 50 000.
    """
    lost = 0
    for first in range(400):
        sent = [frame_of((7 * first + number) % 256, 0) for number in range(3)]
        lost += Reader().feed(b"\xfd\xff\x00" + b"".join(sent) + FLUSH) != [alone(frame) for frame in sent]
    assert lost <= 9


def test_a_longer_message_of_a_later_version_is_read() -> None:
    """MAVLink 2 lets a message grow at its end: the fields that are known are where they were."""
    payload = struct.pack("<QI", 5, 6) + b"new fields"
    assert Reader().feed(version_2(2, payload, 137)) == [wire.SystemTime(5, 6)]


def test_no_time_is_lost_in_garbage() -> None:
    """A megabyte of the worst: every byte a start byte, or a head of a known message that claims 255 bytes.

    The work is bounded by one checksum of at most 280 bytes for every byte; 60 s is far beyond that on any machine.
    """
    head = b"\xfd\xff\x00\x00\x00\x01\x01\x6b\x00\x00"
    noise = random.Random(1).randbytes(200_000)
    begin = time.perf_counter()
    for stream in (
        b"\xfe" * 1_000_000,
        b"\xfd" * 1_000_000,
        head * 100_000,
        b"\xfe\xff\x00\x00\x00\x5d" * 100_000,
        noise,
    ):
        reader = Reader()
        reader.feed(stream)
        assert reader.waiting_bytes < LONGEST_FRAME
        (last,) = reader.feed(FLUSH + frame_of(1, 0))[-1:]
        assert last == alone(frame_of(1, 0))
    assert time.perf_counter() - begin < 60.0


def test_without_the_extra_one_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    for make in (Reader, Writer):
        with pytest.raises(MissingExtraError, match=r"pip install 'fieldworthy\[link\]'"):
            make()
