"""How a link ends that should have gone on."""

from __future__ import annotations

import enum

from fieldworthy.core.errors import FieldworthyError


class Loss(enum.Enum):
    """What is known of why."""

    CLOSED = "closed"
    """The autopilot has closed its end, or died."""
    FREEWHEEL = "freewheel"
    """Connected, and has never answered."""
    SILENT = "silent"
    """Has answered before, and does no more."""
    CLOCK = "clock"
    """Speaks of a time that is not ours."""
    RESTARTED = "restarted"
    """Has been started anew in the middle."""
    REPEATING = "repeating"
    """Asks the same thing again and again: it does not take our answers."""
    OURS = "ours"
    """Our side could not go on: it had nothing sound to tell."""
    NOBODY = "nobody"
    """Nobody has come."""


class LinkLost(FieldworthyError):
    """The autopilot is no longer there; the sentence says what is known and what to do."""

    def __init__(self, loss: Loss, sentence: str) -> None:
        super().__init__(sentence)
        self.loss = loss
