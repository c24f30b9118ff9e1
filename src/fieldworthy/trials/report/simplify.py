"""Fewer points for the same line on screen: Douglas-Peucker over many lines at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def simplify(lines: list[NDArray[np.float64]], tolerance: float) -> list[NDArray[np.float64]]:
    """Each (n, 2) line with points left out that lie within `tolerance` of the line that remains (same unit).

    Source: Douglas and Peucker, Cartographica 10 (1973) 112, breadth first: every pass splits all the segments of all
        lines that are still too coarse, so a thousand tracks cost a dozen NumPy passes instead of a recursion each.
    Limits: distance to the chord's segment; first and last point of a line always stay.
    """
    lines = [line for line in lines if len(line)]
    if not lines:
        return []
    points = np.concatenate(lines)
    ends = np.cumsum([len(line) for line in lines])
    keep = np.zeros(len(points), dtype=bool)
    keep[ends - 1] = True
    keep[ends[:-1]] = True
    keep[0] = True
    # The gap between the end of one line and the start of the next holds no points, so it needs no special case.
    active = np.arange(len(points))
    while True:
        kept = np.flatnonzero(keep)
        active = active[~keep[active]]
        if not len(active):
            break
        segment = np.searchsorted(kept, active)
        distance = _distance(points[active], points[kept[segment - 1]], points[kept[segment]])
        starts = np.flatnonzero(np.diff(segment, prepend=-1))
        worst = np.maximum.reduceat(distance, starts)
        counts = np.diff(starts, append=len(active))
        # One point a coarse segment: the first that attains the segment's largest distance.
        at_worst = np.flatnonzero(distance == np.repeat(worst, counts))
        owner, first = np.unique(segment[at_worst], return_index=True)
        coarse = worst > tolerance
        keep[active[at_worst[first[coarse]]]] = True
        active = active[np.repeat(coarse, counts)]
        assert len(owner) == len(worst)
    begin = np.concatenate(([0], ends[:-1]))
    return [points[a:b][keep[a:b]] for a, b in zip(begin, ends, strict=True)]


def _distance(p: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of each point to its own segment ab (zero-length segments are points)."""
    ab = b - a
    ap = p - a
    squared = np.einsum("ij,ij->i", ab, ab)
    along = np.einsum("ij,ij->i", ap, ab) / np.where(squared > 0.0, squared, 1.0)
    off = ap - np.clip(along, 0.0, 1.0)[:, None] * ab
    return np.asarray(np.hypot(off[:, 0], off[:, 1]), dtype=np.float64)
