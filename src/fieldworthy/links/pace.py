"""Simulated time held to the wall clock, and how well that went.

Limits: the operating system decides when a sleeper wakes: the last part of each wait is spent awake (`SPIN_S`), and a
busy machine is late all the same, which the report tells.
Verified by: tests/verification/test_pace.py
"""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

SPIN_S = 2e-4
"""Waits end awake: a sleep of Linux, macOS or Windows may take this much longer than asked for."""

OVERRUN_S = 1e-3
"""A tick later than this after its time is an overrun."""

WANTED = 0.999
"""Share of the ticks that must be in time for real time to be kept."""


@dataclass(frozen=True)
class Lateness:
    """How late ticks were, against the wall clock."""

    ticks: int
    overruns: int
    """Later than OVERRUN_S."""
    worst_s: float
    p999_s: float
    """Which 99.9 % of the ticks were not later than."""
    slipped_s: float
    """By how much the clock was set back where we could not keep up."""

    @property
    def kept(self) -> bool:
        """Whether real time was kept: at least `WANTED` of the ticks were within `OVERRUN_S` of their time."""
        return self.overruns <= (1.0 - WANTED) * self.ticks

    def sentence(self) -> str:
        """For a report, with its verdict."""
        if not self.ticks:
            return "0 ticks: nothing was paced"
        # Rounded down: 100.00 % is without a single overrun.
        share = math.floor(1e4 * (self.ticks - self.overruns) / self.ticks) / 100.0
        kept = f"{'kept' if self.kept else 'NOT kept'}: {share:.2f} % of {self.ticks} ticks within "
        limit = f"{OVERRUN_S * 1e3:g} ms of their time ({100.0 * WANTED:g} % wanted)"
        tail = f"; 99.9 % within {self.p999_s * 1e3:.2f} ms, worst {self.worst_s * 1e3:.2f} ms"
        slipped = f"; {self.slipped_s:.2f} s behind the wall clock in the end" if self.slipped_s > 0.0 else ""
        return kept + limit + tail + slipped


class Pace:
    """Waits until simulated time is due. speed: simulated over wall time; None: as fast as it goes."""

    CATCH_UP_S = 0.1
    """Lateness that is made up for by going faster; beyond it the clock is set back, so that a pause is a pause."""

    def __init__(
        self,
        speed: float | None,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.speed, self._clock, self._sleep = speed, clock, sleep
        self._zero: float | None = None
        self._late: list[float] = []
        self._slipped = 0.0

    def wait(self, t_s: float) -> None:
        """Return when simulated time `t_s` is due, at once where it is over."""
        if self.speed is None:
            return
        now = self._clock()
        if self._zero is None:
            self._zero = now - t_s / self.speed
        due = self._zero + t_s / self.speed
        if due - now > SPIN_S:
            self._sleep(due - now - SPIN_S)
        now = self._clock()
        while now < due:
            now = self._clock()
        late = now - due
        self._late.append(late)
        if late > self.CATCH_UP_S:
            self._zero += late
            self._slipped += late

    def lateness(self) -> Lateness:
        """Of all ticks so far."""
        late = np.array(self._late or [0.0])
        return Lateness(
            ticks=len(self._late),
            overruns=int(np.sum(late > OVERRUN_S)),
            worst_s=float(late.max()),
            p999_s=float(np.quantile(late, 0.999)),
            slipped_s=self._slipped,
        )


@contextmanager
def undisturbed(*, first: bool = False) -> Iterator[None]:
    """No garbage collection in here: one takes tens of milliseconds with all that is loaded.

    first: before all ordinary programs too, where the system allows it (Linux: SCHED_FIFO, which takes a privilege).
    """
    before = _put_first() if first else None
    gc.collect()
    gc.freeze()
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
        gc.unfreeze()
        if before is not None:
            os.sched_setscheduler(0, *before)


def _put_first() -> tuple[int, os.sched_param] | None:
    """The calling thread's old place in the schedule; None where it may not have another."""
    if sys.platform != "linux":
        return None
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return None
    return before
