"""The axis of a varied value: linear, or logarithmic where the values span decades, with 0 set apart at its start."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fieldworthy.trials.report import svg
from fieldworthy.trials.report.text import short

DECADES = 1.3
"""Span of the positive values, as a power of ten, from which an axis is logarithmic."""


@dataclass(frozen=True)
class ValueAxis:
    """Where the values of a sweep stand on a chart."""

    values: tuple[float, ...]
    scale: svg.Scale
    log: bool
    zero_at: float
    """Place of 0 on a logarithmic axis, as a logarithm."""

    def __call__(self, value: float) -> float:
        if not self.log:
            return self.scale(value)
        return self.scale(math.log10(value) if value > 0.0 else self.zero_at)

    def drawn(self, y: float, top: float, label: str) -> list[str]:
        """The axis at `y` with the values themselves as marks where there is room, grid lines up to `top`."""
        parts, last = [], -math.inf
        for value in self.values:
            name, x = short(value), self(value)
            parts.append(svg.line(x, top, x, y, "grid"))
            if x - last > 6.0 * len(name) + 14.0:
                parts.append(svg.text(x, y + 16, name, "t", "middle"))
                last = x
        parts.append(svg.line(self.scale.start, y, self.scale.end, y, "axis"))
        if self.log and 0.0 in self.values:
            x = 0.5 * (self(0.0) + self(min(v for v in self.values if v > 0.0)))
            parts.append(f'<path class="break" d="M{x - 5:.1f} {y + 4:.1f}l4 -8m2 8l4 -8"/>')
        parts.append(svg.text(0.5 * (self.scale.start + self.scale.end), y + 36, label, "t label", "middle"))
        return parts


def value_axis(values: Sequence[float], start: float, end: float) -> ValueAxis:
    """The axis for some values (at least one) between two drawing positions."""
    ordered = tuple(sorted(set(values)))
    positive = [v for v in ordered if v > 0.0]
    log = ordered[0] >= 0.0 and len(positive) > 2 and math.log10(positive[-1] / positive[0]) >= DECADES
    if not log:
        return ValueAxis(ordered, svg.Scale(*svg.padded(ordered, 0.05), start, end), False, math.nan)
    low, high = math.log10(positive[0]), math.log10(positive[-1])
    zero_at = low - 0.22 * (high - low)
    first = zero_at if 0.0 in ordered else low
    margin = 0.05 * (high - first)
    return ValueAxis(ordered, svg.Scale(first - margin, high + margin, start, end), True, zero_at)
