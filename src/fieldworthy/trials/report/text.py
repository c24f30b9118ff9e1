"""Numbers and sentences as a report prints them."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fieldworthy.trials.statistics import wilson_interval

DASH = "–"
MINUS = "−"
NARROW = "\u202f"
"""Narrow no-break space, between a number and its unit."""


def esc(value: object) -> str:
    """Text from a file, safe inside HTML text and attributes."""
    return html.escape(str(value), quote=True)


def number(value: float | None, decimals: int = 1) -> str:
    """A number with a true minus sign; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return DASH
    text = f"{value:.{decimals}f}"
    return (MINUS + text[1:] if float(text) != 0 else text[1:]) if text.startswith("-") else text


def grouped(value: float) -> str:
    """A whole number in groups of three."""
    return f"{round(value):,}".replace(",", NARROW)


def short(value: float) -> str:
    """A number with up to four significant digits and no trailing zeros, for ticks and tables of mixed size."""
    if not math.isfinite(value):
        return DASH
    text = f"{value:.4g}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}·10^{int(exponent)}"
    return text.replace("-", MINUS)


def percent(fraction: float | None, decimals: int = 1) -> str:
    """A fraction as per cent."""
    return DASH if fraction is None else f"{number(100.0 * fraction, decimals)}{NARROW}%"


def percent_range(low: float, high: float, decimals: int = 1) -> str:
    """Two fractions as one range in per cent."""
    if low == high:
        return percent(low, decimals)
    return f"{number(100.0 * low, decimals)}{DASH}{number(100.0 * high, decimals)}{NARROW}%"


def with_unit(value: float | None, unit: str, decimals: int = 1) -> str:
    """A number and its unit, or a dash."""
    text = number(value, decimals)
    return text if text == DASH else f"{text}{NARROW}{unit}"


def number_range(low: float, high: float, unit: str, decimals: int = 1) -> str:
    """Two numbers as one range with its unit."""
    first, last = number(low, decimals), number(high, decimals)
    return f"{first}{NARROW}{unit}" if first == last else f"{first}{DASH}{last}{NARROW}{unit}"


def plural(count: int, noun: str) -> str:
    """1 trial, 2 trials."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


def in_words(count: int) -> str:
    """A small number in words, a larger one in digits."""
    return _WORDS[count] if 0 <= count < len(_WORDS) else str(count)


def joined(items: Sequence[str]) -> str:
    """A, B and C."""
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def duration(seconds: float) -> str:
    """A duration in the largest unit that keeps it readable."""
    if not math.isfinite(seconds):
        return DASH
    if seconds < 120.0:
        return with_unit(seconds, "s")
    if seconds < 7200.0:
        return with_unit(seconds / 60.0, "min")
    return with_unit(seconds / 3600.0, "h")


def success_sentence(successes: int, n: int) -> str:
    """The answer in one sentence, with its interval."""
    low, high = wilson_interval(successes, n)
    verb = "reached" if n != 1 or successes == 1 else "did not reach"
    rate = percent(successes / n)
    interval = f"95{NARROW}% confidence interval {percent_range(low, high)}"
    subject = f"{successes} of {plural(n, 'trial')}" if n != 1 else "The only trial"
    return f"{subject} {verb} the goal: {rate} ({interval})"


@dataclass(frozen=True)
class Reason:
    """Trials that ended with the same sentence, numbers aside."""

    sentence: str
    trials: tuple[int, ...]


_UNITS = r"(?:m/s|rad/s|deg/s|kn|kt|mm|cm|km|m|ms|s|min|h|deg|rad|Hz|N|%)"
_NUMBER = re.compile(rf"(?<![\w.])[-−+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[ \u202f]?{_UNITS}(?![\w]))")
"""Numbers with a unit; others belong to names, such as "pile 7"."""
_FORM = r"(?:cylinder|sphere|box|polygon|polyline)"
_PLACE = r"(?: at north \S+ m, east \S+ m| of \d+ points)"
_PLACE_OF_SHAPE = re.compile(rf" \({_FORM}{_PLACE}?\)|(?<=hit )(?P<form>{_FORM}){_PLACE}")


_POINTS = re.compile(r" \((?:polygon|polyline) of \d+ points\)")


def group_reasons(pairs: Iterable[tuple[int, str]]) -> list[Reason]:
    """Trials grouped by the words of their sentence, most frequent first; where only numbers differ, their range.

    "hit buoy at 3.1 m/s" and "hit buoy at 4.2 m/s" become "hit buoy at 3.1–4.2 m/s". Which of many shapes of a name
    was hit, and where it stood, says nothing about a group and is left out.
    """
    groups: dict[str, list[tuple[int, list[str]]]] = {}
    for trial, sentence in pairs:
        told = _PLACE_OF_SHAPE.sub(lambda match: match["form"] or "", sentence)
        groups.setdefault(_NUMBER.sub("\0", told), []).append((trial, _NUMBER.findall(told)))
    reasons = []
    for template, members in groups.items():
        columns = zip(*(numbers for _, numbers in members), strict=True)
        ranges = iter([_text_range(column) for column in columns])
        sentence = re.sub("\0", lambda _: next(ranges), template)  # noqa: B023  (used at once)
        reasons.append(Reason(sentence, tuple(trial for trial, _ in members)))
    return sorted(reasons, key=lambda reason: -len(reason.trials))


def without_count(sentence: str) -> str:
    """A reason without how many points an outline has."""
    return _POINTS.sub("", sentence)


def _text_range(texts: Sequence[str]) -> str:
    values = [float(text.replace(MINUS, "-")) for text in texts]
    low, high = texts[values.index(min(values))], texts[values.index(max(values))]
    if min(values) == max(values):
        return low
    return f"{low}{DASH}{high}" if min(values) >= 0 else f"{low} to {high}"


def listed(trials: Sequence[int], most: int = 12) -> str:
    """Trial numbers as a short list."""
    text = ", ".join(str(trial) for trial in trials[:most])
    return text if len(trials) <= most else f"{text} and {len(trials) - most} more"
