"""When to ask an autopilot again: after simulated time, and never before the other process has had real time to answer.

Limits: one question a clock; what is asked is the caller's business.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import math
from typing import NamedTuple

AGAIN_S, AGAIN_WALL_S = 1.0, 0.1
MOST_ASKED = 6
"""Once, and five times again."""
WALL_FLOOR_S = 2.0
"""No deadline is over before this much real time: at a hundred times real time 10 s are an instant."""


class Now(NamedTuple):
    """A moment on both clocks."""

    t_s: float
    """Simulated time."""
    wall_s: float
    """Real time, from any start."""


NEVER = Now(-math.inf, -math.inf)


class Asking:
    """How often a question was asked, and when last."""

    def __init__(self) -> None:
        self.times = 0
        self._last = NEVER

    def due(self, now: Now, again_s: float = AGAIN_S) -> bool:
        """Whether it is time to ask (again), which counts as having done so."""
        if now.t_s - self._last.t_s < again_s or now.wall_s - self._last.wall_s < AGAIN_WALL_S:
            return False
        self._last = now
        self.times += 1
        return True

    def in_vain(self, now: Now) -> bool:
        """Whether it was asked often enough, and the last time has gone unanswered too."""
        waited = now.t_s - self._last.t_s >= AGAIN_S and now.wall_s - self._last.wall_s >= AGAIN_WALL_S
        return self.times >= MOST_ASKED and waited

    def worked_on(self, now: Now) -> None:
        """Part of an answer has come: the rest has its time anew."""
        self._last = now

    def answered(self) -> None:
        """The next question may be asked at once."""
        self.times, self._last = 0, NEVER
