"""Whole messages on a line that never waits: what it has taken a part of is finished before anything else is begun.

Limits: a message that finds the line busy is lost, and the count says so; none is ever cut.
Verified by: tests/verification/test_px4_board.py, tests/verification/test_companion.py
"""

from __future__ import annotations

from collections.abc import Callable


class WholeMessages:
    """Sends by `put`, which takes as many bytes as there is room for, at once, and says how many."""

    def __init__(self, put: Callable[[bytes], int]) -> None:
        self._put, self._tail = put, b""
        self.dropped = 0
        """Messages for which there was no room."""

    def write(self, data: bytes) -> bool:
        """Send a message, or drop it whole; whether it is sent, or will be by later calls. b"" only goes on."""
        if self._tail:
            self._tail = self._tail[self._put(self._tail) :]
        if not data:
            return False
        taken = 0 if self._tail else self._put(data)
        if not taken:  # nothing of it has gone out: the next one is news, and this one would be old
            self.dropped += 1
            return False
        self._tail = data[taken:]
        return True
