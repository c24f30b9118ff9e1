"""How far a scenario reaches: everything that a trial can have, wherever its spreads put it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fieldworthy.environment.shapes import Box, Cylinder, Layout, Shape, Sphere, box_corners
from fieldworthy.scenario.draw import fixed_shapes
from fieldworthy.scenario.obstacles import ChannelObstacle, Obstacle
from fieldworthy.scenario.schema import Scenario

Span = tuple[float, float]
Box2 = tuple[Span, Span]
"""[least, greatest] north, and east [m]."""


def bounds(scenario: Scenario, charted: Layout, margin_m: float) -> Box2:
    """Bounding box of starts, targets and all obstacles of any trial, widened by the margin.

    charted: what files bring. Obstacles that move count where they are at the start.
    """
    boxes = [*_places(scenario), *_obstacles(scenario), *(_of_shape(shape) for shape in charted)]
    for field in scenario.scatter:
        boxes.append(_widened((field.north_m, field.east_m), field.radius_m[1], field.radius_m[1]))
    spans = (tuple(zip(*(box[axis] for box in boxes), strict=True)) for axis in (0, 1))
    north, east = ((min(low) - margin_m, max(high) + margin_m) for low, high in spans)
    return north, east


def _places(scenario: Scenario) -> Iterator[Box2]:
    start = scenario.start
    place = ((start.north_m, start.north_m), (start.east_m, start.east_m))
    yield _widened(place, start.spread_north_m, start.spread_east_m)
    for target in (*scenario.waypoints, scenario.goal):
        yield (target.north_m, target.north_m), (target.east_m, target.east_m)


def _obstacles(scenario: Scenario) -> Iterator[Box2]:
    """Every obstacle without its spread, widened by it."""
    middle = msgspec.structs.replace(scenario, obstacles=tuple(_without_spread(o) for o in scenario.obstacles))
    for place, shapes in fixed_shapes(middle).items():
        north, east = _spread(scenario.obstacles[place])
        for shape in shapes:
            yield _widened(_of_shape(shape), north, east)


def _without_spread(obstacle: Obstacle) -> Obstacle:
    names = ("spread_north_m", "spread_east_m", "spread_amplitude_m", "spread_width_m")
    return msgspec.structs.replace(obstacle, **{name: 0.0 for name in names if hasattr(obstacle, name)})


def _spread(obstacle: Obstacle) -> tuple[float, float]:
    if isinstance(obstacle, ChannelObstacle):
        half = obstacle.spread_width_m / 2
        return half, obstacle.spread_amplitude_m + half
    return obstacle.spread_north_m, obstacle.spread_east_m


def _of_shape(shape: Shape) -> Box2:
    if isinstance(shape, Cylinder | Sphere):
        place = ((shape.north_m, shape.north_m), (shape.east_m, shape.east_m))
        return _widened(place, shape.radius_m, shape.radius_m)
    points = box_corners(shape) if isinstance(shape, Box) else shape.points_ne_m
    north, east = zip(*points, strict=True)
    return (min(north), max(north)), (min(east), max(east))


def _widened(box: Box2, north_m: float, east_m: float) -> Box2:
    (low_n, high_n), (low_e, high_e) = box
    return (low_n - north_m, high_n + north_m), (low_e - east_m, high_e + east_m)
