"""How obstacles look on a map: by their kind on a chart, and apart from it those that the scenario adds.

A map's shapes are labelled `kind` or `kind: name`; everything else on a chart is the scenario's own. Shapes that the
hull passes over or under, whatever their place, are "deep": pale and dashed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fieldworthy.environment.shapes import Box, Cylinder, Shape, Sphere
from fieldworthy.trials.report.data import RunData

OURS, DEEP = "ours", "deep"
NOT_CHARTED = "not on the chart"
_KINDS_FROM_CSS = {
    "shore": ("shore", "land", "coast", "coastline", "island"),
    "quay": ("wall", "pier", "quay", "breakwater", "mole", "jetty", "bridge", "dam"),
    "pontoon": ("pontoon", "dock", "float"),
    "pile": ("pile", "post", "dolphin"),
    "rock": ("obstruction", "rock", "wreck", "default"),
    "buoy": ("buoy", "beacon", "light"),
}
_CSS_FROM_KIND = {kind: css for css, kinds in _KINDS_FROM_CSS.items() for kind in kinds}
ORDER = ("", "shore", DEEP, "quay", "pontoon", "rock", "pile", "buoy", OURS)
"""Classes in painting order."""
_LEAST_HALF = {"buoy": 3.0, "pile": 1.2, "rock": 1.5, OURS: 4.0}
"""Half the least extent of a shape on the page, in drawing units, so that it is seen."""


@dataclass(frozen=True)
class Look:
    """What decides how a shape is drawn."""

    chart: bool = False
    keel_up_m: float = -math.inf
    """Height of the keel above still water; shapes that end below it are passed over."""
    mast_up_m: float = math.inf
    """Height of the highest part; shapes that begin above it are passed under."""
    own: frozenset[tuple[str, float, float]] = frozenset()
    """Label, north and east [m] of the scenario's own obstacles that are the same in every trial."""
    own_labels: frozenset[str] = frozenset()
    """Labels of its own obstacles that have no single place, such as walls."""

    def css(self, shape: Shape) -> str:
        """Class of a shape: one of ORDER."""
        top, bottom = heights_m(shape)
        if top < self.keel_up_m or bottom > self.mast_up_m:
            return DEEP
        return self._kind_css(shape) if self.chart else ""

    def own_css(self, shape: Shape) -> str:
        """Class of a shape that only one trial has: never the map's."""
        css = self.css(shape)
        return OURS if self.chart and css != DEEP else css

    def _kind_css(self, shape: Shape) -> str:
        if isinstance(shape, (Cylinder, Sphere, Box)):
            ours = (shape.label, shape.north_m, shape.east_m) in self.own
        else:
            ours = shape.label in self.own_labels
        return OURS if ours else _CSS_FROM_KIND.get(kind_of(shape), "rock" if kind_of(shape) else OURS)


def least_half(css: str) -> float:
    """Half the least extent that shapes of this class have on the page, in drawing units."""
    return _LEAST_HALF.get(css, 0.0)


def kind_of(shape: Shape) -> str:
    """The map's word for a shape."""
    return shape.label.partition(":")[0].strip()


def heights_m(shape: Shape) -> tuple[float, float]:
    """Top and bottom of a shape above still water [m]."""
    if isinstance(shape, Sphere):
        return shape.up_m + shape.radius_m, shape.up_m - shape.radius_m
    return shape.top_up_m, shape.bottom_up_m


def is_chart(run: RunData) -> bool:
    """Whether the obstacles come from a chart: then north stays up and shapes are coloured by kind."""
    return bool(run.scenario.get("obstacles_geojson"))


def look_of(run: RunData) -> Look:
    """The look of a run's shapes, from its scenario."""
    hull = run.table("vehicle", "set")
    draft, air = (hull.get(key) for key in ("draft_m", "air_draft_m"))
    entries = [item for item in _list(run.scenario.get("obstacles")) if isinstance(item, dict)]
    labels = [str(item.get("label") or "") for item in entries]
    places = [
        (label, float(item["north_m"]), float(item["east_m"]))
        for label, item in zip(labels, entries, strict=True)
        if all(isinstance(item.get(key), (int, float)) for key in ("north_m", "east_m"))
    ]
    walls = [label for label, item in zip(labels, entries, strict=True) if item.get("kind") in ("polygon", "polyline")]
    sides = [f"{item.get('label') or 'channel'} ({side} side)" for item in entries for side in ("port", "starboard")]
    return Look(
        is_chart(run),
        -float(draft) if isinstance(draft, (int, float)) else -math.inf,
        float(air) if isinstance(air, (int, float)) else math.inf,
        frozenset(places),
        frozenset((*walls, *sides)),
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def kinds_by_class(look: Look, shapes: Iterable[Shape]) -> list[tuple[str, str]]:
    """For a legend: the classes that occur, in painting order, each with the words for what it holds."""
    found: dict[str, dict[str, None]] = {}
    for shape in shapes:
        found.setdefault(look.css(shape), {})[kind_of(shape)] = None
    named = []
    for css in ORDER:
        if css not in found:
            continue
        kinds = [kind for kind in found[css] if kind]
        words = ", ".join(kinds[:3]) + (" …" if len(kinds) > 3 else "")
        if css == DEEP:
            words = f"{words or 'shape'} above or below the hull"
        named.append((css, NOT_CHARTED if css == OURS else words.replace("default", "other")))
    return named
