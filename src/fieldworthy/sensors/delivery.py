"""What happens to a reading between measuring and hearing: clock, latency, jitter, loss. For any tree of scalars.

A mailbox is a shift register of letters: the newest reading goes in on the right, everything moves one to the left,
so no lane needs an index of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.lanes import Scalar, log, logical_and, logical_or, maximum, select
from fieldworthy.core.struct import map_leaves, where

_NEVER_S = -1e6

JITTERS = 7.0
"""Mean waiting times that a link has room for: one in 1000 waits longer."""


@dataclass(frozen=True)
class DeliveryOptions:
    """Fixed for a run."""

    period_ticks: int = 1
    """Ticks between readings."""
    slots: int = 1
    """Letters under way at most (`slots_needed`)."""
    jitter: bool = False
    dropout: bool = False
    clock: bool = False


@dataclass
class DeliveryParameters:
    """Numbers of one link."""

    latency_s: Scalar = 0.0
    jitter_s: Scalar = 0.0
    """Mean of the time that comes on top of the latency, exponentially distributed."""
    clock_offset_s: Scalar = 0.0
    clock_drift: Scalar = 0.0
    """Seconds gained per second by the sensor's clock."""
    dropout: Scalar = 0.0
    """Probability that a reading is never sent."""


@dataclass
class Letter:
    """A reading on its way."""

    value: Any
    stamp_s: Scalar
    """Time of measurement by the sensor's clock."""
    due_s: Scalar
    """When it is heard, true time."""
    waiting: Scalar
    """1 under way, 0 an empty place."""


@dataclass
class Mailbox:
    """Letters under way, oldest first, and the newest that has arrived."""

    letters: tuple[Letter, ...]
    newest: Letter
    """Its `stamp_s` is -1e6 until something has arrived."""
    last_due_s: Scalar
    arrived: Scalar
    """1 once anything has arrived."""


def slots_needed(latency_s: float, jitter_s: float, period_s: float) -> int:
    """Places for the letters under way, on the host: with this many, jitter overfills them in fewer than 1 of 1000."""
    return 1 + math.ceil((latency_s + JITTERS * jitter_s) / period_s - 1e-9)


def delivery_uniforms(options: DeliveryOptions) -> int:
    """Uniform numbers that `post` takes."""
    return options.jitter + options.dropout


def first_mailbox(options: DeliveryOptions, value: Any) -> Mailbox:
    """An empty mailbox for readings of the form of `value`; until something arrives, the newest is `value`."""

    def empty() -> Letter:
        return Letter(map_leaves(lambda leaf: leaf, value), _NEVER_S, _NEVER_S, 0.0)

    return Mailbox(tuple(empty() for _ in range(options.slots)), empty(), _NEVER_S, 0.0)


def post(
    options: DeliveryOptions,
    p: DeliveryParameters,
    mailbox: Mailbox,
    value: Any,
    t_s: Scalar,
    due: Scalar = True,
    uniforms: tuple[Scalar, ...] = (),
) -> Mailbox:
    """The mailbox after a reading taken at `t_s` went in, in the lanes where one is `due`.

    Equation: stamp = t (1 + drift) + offset;   heard at max(t + latency - jitter log u, the previous letter's time).
    Source: a first-in first-out link with exponential waiting.      Shapes: any tree.
    Limits: letters never overtake; a letter pushed out of a full register is lost. Give `t_s` as a scalar of the
        lanes: Dr.Jit makes 32-bit lanes of a choice between two Python floats.
    Verified by: tests/verification/test_delivery.py
    """
    heard_s, at = t_s + p.latency_s, 0
    if options.jitter:
        heard_s = heard_s - p.jitter_s * log(uniforms[at])
        at += 1
    sent = due
    if options.dropout:
        sent = logical_and(due, uniforms[at] >= p.dropout)
    stamp_s = t_s * (1.0 + p.clock_drift) + p.clock_offset_s if options.clock else t_s
    heard_s = maximum(heard_s, mailbox.last_due_s)
    letters = (*mailbox.letters[1:], Letter(value, stamp_s, heard_s, 1.0))
    if sent is True:
        return Mailbox(letters, mailbox.newest, heard_s, mailbox.arrived)
    kept = tuple(where(sent, new, old) for new, old in zip(letters, mailbox.letters, strict=True))
    return Mailbox(kept, mailbox.newest, select(sent, heard_s, mailbox.last_due_s), mailbox.arrived)


def collect(mailbox: Mailbox, t_s: Scalar) -> tuple[Mailbox, Scalar]:
    """(the mailbox after taking out what has arrived by `t_s`, whether anything new has).

    Of several that arrive together the newest stays; `mailbox.newest` holds it until a newer one comes.
    """
    newest, fresh, letters = mailbox.newest, False, []
    for letter in mailbox.letters:
        here = logical_and(letter.waiting > 0.5, letter.due_s <= t_s)
        newest = where(here, letter, newest)
        fresh = logical_or(fresh, here)
        letters.append(Letter(letter.value, letter.stamp_s, letter.due_s, select(here, 0.0, letter.waiting)))
    return Mailbox(tuple(letters), newest, mailbox.last_due_s, select(fresh, 1.0, mailbox.arrived)), fresh
