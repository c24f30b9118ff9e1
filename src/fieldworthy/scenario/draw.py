"""The layout and start of one trial, drawn from the seed: a function of (seed, trial, attempt)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fieldworthy.core.random import Stream
from fieldworthy.environment.shapes import Box, Cylinder, Layout, Polygon, Polyline, Shape, Sphere
from fieldworthy.scenario.obstacles import (
    BoxObstacle,
    ChannelObstacle,
    CylinderObstacle,
    Obstacle,
    PolygonObstacle,
    PolylineObstacle,
    Scatter,
    SphereObstacle,
)
from fieldworthy.scenario.schema import Scenario

PLACES_TRIED = 200
"""Places tried for one shape of a random field before the whole layout is drawn again."""


@dataclass(frozen=True)
class StartPose:
    """Where one trial starts."""

    north_m: float
    east_m: float
    heading_rad: float


class Draw:
    """Uniform numbers of one (seed, trial, attempt), one after another."""

    def __init__(self, seed: int, name: str, trial: int, attempt: int) -> None:
        self._stream = Stream(seed, name)
        self._place = (trial, attempt)
        self._numbers = self._all()

    def _all(self) -> Iterator[float]:
        size, used = 256, 0
        while True:
            # Longer answers begin with the shorter ones, so asking for more keeps what was drawn.
            numbers = self._stream.uniform(*self._place, size)
            yield from (float(x) for x in numbers[used:])
            used, size = size, size * 4

    def between(self, low: float, high: float) -> float:
        """A number in [low, high]."""
        return low + (high - low) * next(self._numbers)

    def around(self, middle: float, spread: float) -> float:
        """middle +/- spread; nothing is drawn where there is no spread."""
        return self.between(middle - spread, middle + spread) if spread else middle


def draw_start(scenario: Scenario, trial: int, attempt: int) -> StartPose:
    """The start of a trial."""
    draw, start = Draw(scenario.seed, "start", trial, attempt), scenario.start
    return StartPose(
        draw.around(start.north_m, start.spread_north_m),
        draw.around(start.east_m, start.spread_east_m),
        math.radians(draw.around(start.heading_deg, start.spread_heading_deg)),
    )


def fixed_shapes(scenario: Scenario) -> dict[int, Layout]:
    """Shapes of every obstacle that is the same in all trials, by its place in the file."""
    return {
        place: tuple(_shapes_of(obstacle, Draw(scenario.seed, "none", 0, 0)))
        for place, obstacle in enumerate(scenario.obstacles)
        if not varies(obstacle)
    }


def varies(obstacle: Obstacle) -> bool:
    """Whether an obstacle differs from trial to trial."""
    names = ("spread_north_m", "spread_east_m", "spread_amplitude_m", "spread_width_m")
    return any(getattr(obstacle, name, 0.0) for name in names)


def draw_layout(
    scenario: Scenario, fixed: dict[int, Layout], chart: Layout, start: StartPose, trial: int, attempt: int
) -> Layout | None:
    """The shapes of a trial, or None when a random field had no room left.

    fixed: from `fixed_shapes`.      chart: shapes of the scenario's map.
    """
    draw = Draw(scenario.seed, "layout", trial, attempt)
    shapes: list[Shape] = list(chart)
    for place, obstacle in enumerate(scenario.obstacles):
        shapes += fixed[place] if place in fixed else _shapes_of(obstacle, draw)
    for field in scenario.scatter:
        more = _scattered(field, shapes, scenario, start, draw)
        if more is None:
            return None
        shapes += more
    return tuple(shapes)


def _shapes_of(obstacle: Obstacle, draw: Draw) -> list[Shape]:
    """The shapes of one obstacle entry."""
    if isinstance(obstacle, ChannelObstacle):
        return _channel(obstacle, draw)
    north = draw.around(obstacle.north_m, obstacle.spread_north_m)
    east = draw.around(obstacle.east_m, obstacle.spread_east_m)
    moves = (obstacle.vel_north_m_s, obstacle.vel_east_m_s)
    shape: Shape
    match obstacle:
        case CylinderObstacle(radius_m=radius, top_up_m=top, bottom_up_m=bottom):
            shape = Cylinder(north_m=north, east_m=east, radius_m=radius, top_up_m=top, bottom_up_m=bottom)
        case SphereObstacle(radius_m=radius, up_m=up):
            shape = Sphere(north_m=north, east_m=east, up_m=up, radius_m=radius)
        case BoxObstacle(length_m=length, width_m=width, top_up_m=top, bottom_up_m=bottom):
            heading = math.radians(obstacle.heading_deg)
            shape = Box(
                north_m=north, east_m=east, length_m=length, width_m=width, heading_rad=heading,
                top_up_m=top, bottom_up_m=bottom,
            )  # fmt: skip
        case PolygonObstacle(points_ne_m=points, top_up_m=top, bottom_up_m=bottom):
            shifted = tuple((n + north, e + east) for n, e in points)
            shape = Polygon(points_ne_m=shifted, top_up_m=top, bottom_up_m=bottom)
        case PolylineObstacle(points_ne_m=points, top_up_m=top, bottom_up_m=bottom):
            shifted = tuple((n + north, e + east) for n, e in points)
            shape = Polyline(points_ne_m=shifted, top_up_m=top, bottom_up_m=bottom)
    return [replace(shape, vel_north_m_s=moves[0], vel_east_m_s=moves[1], label=obstacle.label)]


def _channel(channel: ChannelObstacle, draw: Draw) -> list[Shape]:
    amplitude = draw.around(channel.amplitude_m, channel.spread_amplitude_m)
    half = draw.around(channel.width_m, channel.spread_width_m) / 2
    walls: list[Shape] = []
    for side, name in ((-1.0, "port"), (1.0, "starboard")):
        points = []
        for i in range(channel.points):
            along = channel.length_m * i / (channel.points - 1)
            phase = 2.0 * math.pi * along / channel.wavelength_m
            # The walls are set off square to the centre line, so that the width is the width.
            slope = amplitude * 2.0 * math.pi / channel.wavelength_m * math.cos(phase)
            length = math.hypot(1.0, slope)
            north = channel.north_m + along - side * half * slope / length
            east = channel.east_m + amplitude * math.sin(phase) + side * half / length
            points.append((north, east))
        label = f"{channel.label or 'channel'} ({name} side)"
        walls.append(
            Polyline(points_ne_m=tuple(points), top_up_m=channel.top_up_m, bottom_up_m=channel.bottom_up_m, label=label)
        )
    return walls


def _scattered(
    field: Scatter, shapes: list[Shape], scenario: Scenario, start: StartPose, draw: Draw
) -> list[Shape] | None:
    """A random field that keeps its gaps, or None if a shape found no place."""
    low, high = field.count
    count = low + min(int(draw.between(0.0, high - low + 1.0)), high - low) if high > low else low
    taken = [_circle(shape) for shape in shapes] + [
        (start.north_m, start.east_m, field.clear_start_m - field.gap_m),
        (scenario.goal.north_m, scenario.goal.east_m, field.clear_goal_m - field.gap_m),
    ]
    found: list[Shape] = []
    for _ in range(count):
        kind = field.kinds[min(int(draw.between(0.0, len(field.kinds))), len(field.kinds) - 1)]
        radius, top = draw.between(*field.radius_m), draw.between(*field.top_up_m)
        turn, share = draw.between(0.0, math.pi), draw.between(0.35, 0.65)
        for _ in range(PLACES_TRIED):
            north, east = draw.between(*field.north_m), draw.between(*field.east_m)
            if all(math.hypot(n - north, e - east) >= r + radius + field.gap_m for n, e, r in taken):
                break
        else:
            return None
        taken.append((north, east, radius))
        found.append(_field_shape(kind, north, east, radius, top, field, turn, share))
    return found


def _field_shape(
    kind: str, north: float, east: float, radius: float, top: float, field: Scatter, turn: float, share: float
) -> Shape:
    label = field.label
    if kind == "cylinder":
        return Cylinder(
            north_m=north, east_m=east, radius_m=radius, top_up_m=top, bottom_up_m=field.bottom_up_m, label=label
        )
    if kind == "sphere":
        return Sphere(north_m=north, east_m=east, up_m=min(0.0, top - radius), radius_m=radius, label=label)
    angle = share * math.pi / 2.0
    return Box(
        north_m=north, east_m=east, heading_rad=turn, label=label,
        length_m=2.0 * radius * math.cos(angle), width_m=2.0 * radius * math.sin(angle),
        top_up_m=top, bottom_up_m=field.bottom_up_m,
    )  # fmt: skip


def _circle(shape: Shape) -> tuple[float, float, float]:
    """Centre (north, east) and radius of a circle that holds the shape."""
    if isinstance(shape, Cylinder | Sphere):
        return shape.north_m, shape.east_m, shape.radius_m
    if isinstance(shape, Box):
        return shape.north_m, shape.east_m, math.hypot(shape.length_m, shape.width_m) / 2
    north = sum(n for n, _ in shape.points_ne_m) / len(shape.points_ne_m)
    east = sum(e for _, e in shape.points_ne_m) / len(shape.points_ne_m)
    return north, east, max(math.hypot(n - north, e - east) for n, e in shape.points_ne_m)
