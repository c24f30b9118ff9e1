"""Obstacles as a scenario file writes them: fixed shapes, shapes that vary per trial, channels and random fields.

Units and frames: metres, metres per second, degrees clockwise from north; planar points are (north, east);
heights are up-positive above still water. `spread_*` is a uniform +/- that every trial draws for itself.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from fieldworthy.scenario.quantities import Interval, NonNegative, PointNorthEast, Positive, PositiveInterval


class _Placed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """What every single obstacle has: a place, its spread per trial, a velocity and a label."""

    north_m: float = 0.0
    east_m: float = 0.0
    spread_north_m: NonNegative = 0.0
    spread_east_m: NonNegative = 0.0
    vel_north_m_s: float = 0.0
    vel_east_m_s: float = 0.0
    label: str = ""


class CylinderObstacle(_Placed, frozen=True, kw_only=True, tag="cylinder"):
    """An upright cylinder: a buoy, a pile, a tree."""

    radius_m: Positive
    top_up_m: float = 3.0
    bottom_up_m: float = -1.0


class SphereObstacle(_Placed, frozen=True, kw_only=True, tag="sphere"):
    """A sphere whose centre is `up_m` above still water."""

    radius_m: Positive
    up_m: float = 0.0


class BoxObstacle(_Placed, frozen=True, kw_only=True, tag="box"):
    """A box centred on its place, `length_m` along its heading."""

    length_m: Positive
    width_m: Positive
    heading_deg: float = 0.0
    top_up_m: float = 3.0
    bottom_up_m: float = -1.0


class PolygonObstacle(_Placed, frozen=True, kw_only=True, tag="polygon"):
    """A filled, extruded polygon; `north_m`/`east_m` shift its points."""

    points_ne_m: Annotated[tuple[PointNorthEast, ...], Meta(min_length=3)]
    top_up_m: float = 3.0
    bottom_up_m: float = -1.0


class PolylineObstacle(_Placed, frozen=True, kw_only=True, tag="polyline"):
    """A thin wall along a line; `north_m`/`east_m` shift its points."""

    points_ne_m: Annotated[tuple[PointNorthEast, ...], Meta(min_length=2)]
    top_up_m: float = 3.0
    bottom_up_m: float = -1.0


class ChannelObstacle(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="channel"
):
    """Two walls `width_m` apart, either side of east = east_m + amplitude_m sin(2 pi (north - north_m) / wavelength_m).

    It runs from `north_m` to `north_m + length_m`; `points` samples make each wall.
    """

    north_m: float = 0.0
    east_m: float = 0.0
    length_m: Positive
    width_m: Positive
    amplitude_m: NonNegative = 0.0
    wavelength_m: Positive = 100.0
    spread_amplitude_m: NonNegative = 0.0
    spread_width_m: NonNegative = 0.0
    points: Annotated[int, Meta(ge=2, le=10_000)] = 41
    top_up_m: float = 3.0
    bottom_up_m: float = -1.0
    label: str = ""


Obstacle = CylinderObstacle | SphereObstacle | BoxObstacle | PolygonObstacle | PolylineObstacle | ChannelObstacle


class Scatter(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A random field of shapes inside a rectangle, drawn anew for every trial."""

    count: Annotated[tuple[Annotated[int, Meta(ge=0)], Annotated[int, Meta(ge=0)]], Meta(extra={"interval": True})]
    """Least and greatest number of shapes; a single integer in the file means both."""
    kinds: Annotated[tuple[Literal["cylinder", "sphere", "box"], ...], Meta(min_length=1)] = ("cylinder",)
    north_m: Interval
    east_m: Interval
    radius_m: PositiveInterval = (0.5, 1.5)
    """Radius of cylinders and spheres, half diagonal of boxes [m]."""
    top_up_m: Interval = (1.5, 3.0)
    bottom_up_m: float = -1.0
    gap_m: NonNegative = 8.0
    """Least free width between two shapes [m]."""
    clear_start_m: NonNegative = 12.0
    clear_goal_m: NonNegative = 10.0
    label: str = ""
