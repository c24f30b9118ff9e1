"""One line of the verification table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A law or a published number that a model must meet."""

    model: str
    """What is checked, such as "rotor" or "Dryden turbulence"."""
    law: str
    """In a few words, such as "thrust gain at z/R = 1, same power"."""
    source: str
    """Where the expected number comes from: a publication, or the closed form."""
    expected: float
    got: Callable[[], float]
    """Runs the model; never repeats the formula that `expected` came from."""
    tolerance: float
    """Largest allowed |got - expected|, in the same unit."""
    unit: str = ""

    def holds(self, value: float) -> bool:
        """Whether a value that `got` has answered is near enough; never for NaN."""
        return math.isfinite(value) and abs(value - self.expected) <= self.tolerance
