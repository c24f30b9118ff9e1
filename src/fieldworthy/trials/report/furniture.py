"""What makes a drawing a map: water, grid with metres, scale bar, north arrow."""

from __future__ import annotations

import numpy as np

from fieldworthy.trials.report import svg
from fieldworthy.trials.report.mapping import MapFrame
from fieldworthy.trials.report.text import short


def map_axes(frame: MapFrame, ticks: int = 8, labels: bool = True) -> list[str]:
    """Water, light grid and metres along both edges: goes under everything else."""
    x0, y0 = frame.left, frame.top
    x1, y1 = x0 + frame.width, y0 + frame.height
    view = frame.view
    step = svg.nice_step(max(frame.width, frame.height) / frame.scale, ticks)
    across = (view.south_m, view.north_m) if frame.turned else (view.west_m, view.east_m)
    upright = (view.west_m, view.east_m) if frame.turned else (view.south_m, view.north_m)
    parts = [svg.rect(x0, y0, frame.width, frame.height, "water")]
    for value in _multiples(*across, step):
        x = frame.xy(value, view.west_m)[0] if frame.turned else frame.xy(view.south_m, value)[0]
        parts += [svg.line(x, y0, x, y1, "grid"), svg.text(x, y1 + 15, short(value), "t", "middle")]
    for value in _multiples(*upright, step):
        y = frame.xy(view.south_m, value)[1] if frame.turned else frame.xy(value, view.west_m)[1]
        parts += [svg.line(x0, y, x1, y, "grid"), svg.text(x0 - 6, y + 4, short(value), "t", "end")]
    if labels:
        names = ("north [m]", "east [m]") if frame.turned else ("east [m]", "north [m]")
        parts.append(svg.text(0.5 * (x0 + x1), y1 + 33, names[0], "t label", "middle"))
        parts.append(svg.text(x0 - 44, 0.5 * (y0 + y1), names[1], "t label", "middle", turned=True))
    return parts


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [i * step for i in range(first, last + 1)]


def scale_bar(frame: MapFrame, right: float, y: float, most: float = 130.0) -> list[str]:
    """A bar of a round length that ends at `right`, with its length above."""
    length_m = svg.nice_step(most / frame.scale, 1)
    if length_m * frame.scale > most:
        length_m = svg.nice_step(most / frame.scale / 2.5, 1)
    left = right - length_m * frame.scale
    return [
        f'<path class="bar" d="M{left:.1f} {y - 4:.1f}v4H{right:.1f}v-4"/>',
        svg.text(0.5 * (left + right), y - 5, f"{short(length_m)}\u202fm", "t", "middle"),
    ]


def north_arrow(x: float, y: float, turned: bool) -> str:
    """An arrow with an N, centred on (x, y), about 20 units long."""
    turn = 90 if turned else 0
    letter = svg.text(x + (15 if turned else 9), y + 4, "N", "t strong")
    return (
        f'<path class="arrow" transform="translate({x:.1f} {y:.1f}) rotate({turn})" d="M0 -11L5 9L0 5L-5 9z"/>{letter}'
    )
