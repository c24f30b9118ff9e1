"""Small pieces of SVG: path data, scales with round ticks, axes, text. Positions are in drawing units (CSS pixels).

Colours are never written here: elements carry classes that style.py gives colours for light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fieldworthy.trials.report.text import esc, short


def path_data(points: NDArray[np.float64], closed: bool = False) -> str:
    """Path through (n, 2) points, in steps of 0.1 unit, relative so that it stays short."""
    tenths = np.rint(points * 10.0).astype(np.int64)
    steps = np.diff(tenths, axis=0)
    steps = steps[(steps != 0).any(axis=1)]
    x, y = tenths[0].tolist()
    body = " ".join(f"{_tenth(dx)} {_tenth(dy)}" for dx, dy in steps.tolist())
    # A path of no length still shows as a dot with round caps, if it has a segment.
    return f"M{_tenth(x)} {_tenth(y)}l{body or '0 0'}{'z' if closed else ''}"


def _tenth(value: int) -> str:
    whole, part = divmod(abs(value), 10)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


def circle_data(x: float, y: float, radius: float) -> str:
    """Circle as path data, so that many shapes can share one path."""
    r = max(radius, 0.05)
    return f"M{x - r:.1f} {y:.1f}a{r:.2f} {r:.2f} 0 1 0 {2 * r:.2f} 0a{r:.2f} {r:.2f} 0 1 0 {-2 * r:.2f} 0z"


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """One straight line."""
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def rect(x: float, y: float, width: float, height: float, css: str, extra: str = "") -> str:
    """One rectangle."""
    size = f'width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect class="{css}" x="{x:.1f}" y="{y:.1f}" {size}{extra}/>'


def text(x: float, y: float, content: object, css: str = "t", anchor: str = "start", turned: bool = False) -> str:
    """Text, escaped; `turned` reads upwards."""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{esc(content)}</text>'


def title(content: object) -> str:
    """Tooltip of the element around it."""
    return f"<title>{esc(content)}</title>"


def drawing(width: float, height: float, label: str, parts: Iterable[str], css: str = "chart") -> str:
    """A whole drawing that scales with the page; `label` is what a screen reader says."""
    return (
        f'<svg class="{css}" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{esc(label)}">{"".join(parts)}</svg>'
    )


def nice_step(span: float, count: int) -> float:
    """The 1, 2, 2.5 or 5 times a power of ten that cuts `span` in about `count` parts."""
    if not (span > 0.0 and math.isfinite(span)):
        return 1.0
    rough = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in (1.0, 2.0, 2.5, 5.0) if factor * power >= rough * 0.999), 10.0 * power)


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round values inside [low, high]."""
    step = nice_step(high - low, count)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


@dataclass(frozen=True)
class Scale:
    """A linear map from values to drawing units."""

    low: float
    high: float
    start: float
    """Drawing position of `low`."""
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def padded(values: Sequence[float], share: float = 0.06, floor: float | None = None) -> tuple[float, float]:
    """Range of the finite values with a margin; never empty; not below `floor`."""
    finite = [v for v in values if math.isfinite(v)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    margin = share * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - margin, high + margin
    return (max(low, floor) if floor is not None and high > floor else low), high


def axis_x(scale: Scale, y: float, top: float, label: str, marks: Sequence[float] | None = None) -> list[str]:
    """Horizontal axis at `y` with grid lines up to `top`."""
    values = ticks(scale.low, scale.high) if marks is None else marks
    parts = [line(scale(v), top, scale(v), y, "grid") + text(scale(v), y + 16, short(v), "t", "middle") for v in values]
    parts.append(line(scale.start, y, scale.end, y, "axis"))
    parts.append(text(0.5 * (scale.start + scale.end), y + 36, label, "t label", "middle"))
    return parts


def axis_y(scale: Scale, x: float, right: float, label: str, names: dict[float, str] | None = None) -> list[str]:
    """Vertical axis at `x` with grid lines to `right`; `names` replaces the ticks and their texts."""
    marks = names if names is not None else {v: short(v) for v in ticks(scale.low, scale.high, 5)}
    parts = []
    for value, name in marks.items():
        parts.append(line(x, scale(value), right, scale(value), "grid"))
        parts.append(text(x - 8, scale(value) + 4, name, "t", "end"))
    parts.append(text(x - 44, 0.5 * (scale.start + scale.end), label, "t label", "middle", turned=True))
    return parts
