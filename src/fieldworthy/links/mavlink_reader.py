"""From a stream of bytes in pieces of any size to MAVLink messages; damaged bytes cost the frames they are in."""

from __future__ import annotations

import re

from fieldworthy.core.errors import require_extra
from fieldworthy.links.mavlink_messages import LAYOUT_BY_ID, Message

LONGEST_FRAME = 280
"""Bytes: header 10, payload 255, checksum 2, signature 13."""
MAGIC_1, MAGIC_2 = 0xFE, 0xFD
SIGNED = 0x01
"""The one incompatibility flag that is understood: 13 bytes of signature follow the checksum."""

_MAGIC = re.compile(b"[\xfd\xfe]")


class Reader:
    """Finds MAVLink 1 and 2 frames in a stream. Nothing that arrives makes it raise or hold more than one frame.

    After a byte that starts no sound frame it looks for the next one, byte by byte. A frame with an id that is not in
    the table is passed over by its length, where it follows on a sound frame (or opens the stream) and some `crc_extra`
    explains its checksum; elsewhere its "length" may be any byte of garbage and would swallow sound frames.

    Source: MAVLink guide, "Packet Serialization".
    Limits: signatures are not verified. A false start can hold back the frames behind it until 280 more bytes are here.
    Neither the messages nor the counters depend on how the stream was cut into pieces.
    Verified by: tests/verification/test_mavlink_reader.py, tests/cases/test_mavlink_oracle.py
    """

    def __init__(self) -> None:
        self._crc = require_extra("fastcrc", "link", "a MAVLink link").crc16.mcrf4xx
        # The checksum's own steps: whether any last byte leads from one checksum to another.
        self._steps = frozenset(self._crc(bytes([byte]), 0) for byte in range(256))
        self._rest = b""
        self._in_place = True
        self.messages = 0
        """Frames that became messages."""
        self.unknown = 0
        """Frames passed over because their id is not in the table."""
        self.bad_crc = 0
        """What looked like a frame and had a wrong checksum; one damaged frame may be counted more than once."""
        self.garbage_bytes = 0
        """Bytes outside of every frame, those of damaged frames among them."""

    @property
    def waiting_bytes(self) -> int:
        """Bytes of a frame that is not complete yet, fewer than `LONGEST_FRAME`."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[Message]:
        """The messages that `data`, after all bytes fed before, completes; in the order of the stream."""
        stream = self._rest + data
        found: list[Message] = []
        at, end = 0, len(stream)
        while at < end:
            magic = stream[at]
            if magic == MAGIC_2:
                if end - at < 10:
                    break
                flags, message_id, body = stream[at + 2], int.from_bytes(stream[at + 7 : at + 10], "little"), at + 10
            elif magic == MAGIC_1:
                if end - at < 6:
                    break
                flags, message_id, body = 0, stream[at + 5], at + 6
            else:
                start = _MAGIC.search(stream, at)
                self._skip((start.start() if start else end) - at)
                at = start.start() if start else end
                continue
            layout = LAYOUT_BY_ID.get(message_id)
            if flags not in (0, SIGNED) or (layout is None and not self._in_place):
                self._skip(1)
                at += 1
                continue
            tail = body + stream[at + 1]
            after = tail + (15 if flags else 2)
            if after > end:
                break
            told = stream[tail] | stream[tail + 1] << 8
            covered = stream[at + 1 : tail]
            if layout is None:
                sound = (told ^ (self._crc(covered) >> 8)) in self._steps
            else:
                sound = self._crc(covered + layout.crc_extra) == told
            if not sound:
                self.bad_crc += 1
                self._skip(1)
                at += 1
                continue
            if layout is None:
                self.unknown += 1
            else:
                self.messages += 1
                found.append(layout.decode(stream[body:tail]))
            self._in_place = True
            at = after
        self._rest = stream[at:]
        return found

    def _skip(self, count: int) -> None:
        self.garbage_bytes += count
        self._in_place = False
