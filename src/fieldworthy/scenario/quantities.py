"""Kinds of numbers that scenario files hold, with their limits; the checks in `check.py` read these annotations."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

NonNegative = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
ElevationDeg = Annotated[float, Meta(ge=-90, le=90)]
LongitudeDeg = Annotated[float, Meta(ge=-180, le=180)]
LatitudeDeg = Annotated[float, Meta(ge=-90, le=90)]

Interval = Annotated[tuple[float, float], Meta(extra={"interval": True})]
"""[low, high] with low <= high."""
PositiveInterval = Annotated[tuple[Positive, Positive], Meta(extra={"interval": True})]
PointNorthEast = tuple[float, float]
"""(north, east) [m]."""
