"""Suggestions for misspelt names: every error says what would have been valid."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_UNITS = (
    "_n_m_s_rad", "_kg_m2", "_rad_s2", "_m_s2", "_rad_s", "_deg_s", "_km_h", "_m_s", "_kmh", "_kph", "_mph", "_kt",
    "_kts", "_knots", "_fps", "_rpm", "_rad", "_deg", "_khz", "_hz", "_min", "_ms", "_us", "_km", "_cm", "_mm", "_nm",
    "_ft", "_kg", "_lb", "_kn", "_m", "_s", "_h", "_g", "_t", "_n",
)  # fmt: skip


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that most resembles the word, or None if none does."""
    found = difflib.get_close_matches(word, list(candidates), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Text to append to an error: `; did you mean 'x'?`, or nothing."""
    found = closest(word, candidates)
    return f"; did you mean '{found}'?" if found is not None else ""


def stem(name: str) -> str:
    """The name without its unit: `speed` for `speed_kt`."""
    for unit in sorted(_UNITS, key=len, reverse=True):
        if name.endswith(unit) and len(name) > len(unit):
            return name[: -len(unit)]
    return name


def same_quantity(word: str, candidates: Iterable[str]) -> list[str]:
    """Candidates that name the same quantity in another unit (or with its unit, if the word has none)."""
    return [name for name in candidates if name != word and stem(name) == stem(word) and stem(name) != name]
