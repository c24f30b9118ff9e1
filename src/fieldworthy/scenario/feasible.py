"""Can a layout be sailed at all: start free, targets free, and a way between them that the hull fits through.

Done with shapely on the host, which is also a second opinion on the clearance laws of the kernels.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import shapely
from shapely import affinity

from fieldworthy.environment.shapes import Box, Cylinder, Layout, Polygon, Shape, Sphere, box_corners, is_moving
from fieldworthy.scenario.draw import StartPose
from fieldworthy.vehicles.hull import Hull

Points = list[tuple[str, float, float]]
"""(name, north, east) of places that must be free and joined."""


def footprint(shape: Shape, hull: Hull) -> Any:
    """Shapely geometry, (north, east) as (x, y), of what the hull can touch; empty where it passes over or under."""
    if isinstance(shape, Sphere):
        off = max(-hull.draft_m - shape.up_m, shape.up_m - hull.air_draft_m, 0.0)
        radius = math.sqrt(max(shape.radius_m**2 - off**2, 0.0))
        return shapely.Point(shape.north_m, shape.east_m).buffer(radius, 32) if radius else shapely.Polygon()
    if shape.bottom_up_m >= hull.air_draft_m or shape.top_up_m <= -hull.draft_m:
        return shapely.Polygon()
    if isinstance(shape, Cylinder):
        return shapely.Point(shape.north_m, shape.east_m).buffer(shape.radius_m, 32)
    if isinstance(shape, Box):
        return shapely.Polygon(box_corners(shape))
    if isinstance(shape, Polygon):
        return shapely.Polygon(shape.points_ne_m, shape.holes_ne_m)
    return shapely.LineString(shape.points_ne_m)


def hull_polygon(hull: Hull, pose: StartPose) -> Any:
    """The hull's outline at a pose, (north, east) as (x, y)."""
    turned = affinity.rotate(shapely.Polygon(hull.outline), pose.heading_rad, origin=(0, 0), use_radians=True)
    return affinity.translate(turned, pose.north_m, pose.east_m)


@lru_cache(maxsize=4)
def _obstacles(layout: Layout, hull: Hull) -> Any:
    return shapely.STRtree([footprint(shape, hull) for shape in layout])


def nearest_shape(layout: Layout, hull: Hull, pose: StartPose) -> tuple[Shape, float] | None:
    """The shape nearest to the hull and its distance [m]; None in open water."""
    tree = _obstacles(layout, hull)
    if not len(tree.geometries):
        return None
    index, distance = tree.query_nearest(hull_polygon(hull, pose), return_distance=True, all_matches=False)
    return (layout[int(index[0])], float(distance[0])) if len(index) else None


def blocked_start(layout: Layout, hull: Hull, pose: StartPose) -> str:
    """What the boat would start in, in words; empty when it starts free."""
    near = nearest_shape(layout, hull, pose)
    if near is None or near[1] > 0.0:
        return ""
    return f"starts inside or touching {describe(near[0])}"


def describe(shape: Shape) -> str:
    """A shape in a few words, with its place."""
    name = type(shape).__name__.lower()
    if isinstance(shape, Cylinder | Sphere | Box):
        where = f"at north {shape.north_m:.1f} m, east {shape.east_m:.1f} m"
    else:
        where = f"of {len(shape.points_ne_m)} points"
    return f"{shape.label} ({name} {where})" if shape.label else f"{name} {where}"


def no_way(layout: Layout, hull: Hull, area: tuple[tuple[float, float], tuple[float, float]], places: Points) -> str:
    """Why the places (start, waypoints, goal in order) cannot be joined, in words; empty when they can.

    A way is a path that keeps the hull's half beam from every shape that does not move. That is necessary, not
    sufficient: corners too tight for the hull's length are not seen.
    """
    half = max(abs(y) for _, y in hull.outline)
    still = tuple(shape for shape in layout if not is_moving(shape))
    if _far_apart(still, 2.0 * half) and _outside_all(still, half, places):
        return ""
    free = _free_water(still, hull, half, area)
    regions = [region for region in shapely.get_parts(free) if not region.is_empty]
    at = []
    for name, north, east in places:
        held = next((i for i, region in enumerate(regions) if region.covers(shapely.Point(north, east))), None)
        if held is None:
            return f"the {name} at north {north:.1f} m, east {east:.1f} m is not in water wide enough for the hull"
        at.append(held)
    for (a, _, _), (b, _, _), i, j in zip(places, places[1:], at, at[1:], strict=False):
        if i != j:
            return f"no way from the {a} to the {b} that is {2 * half:.1f} m wide"
    return ""


@lru_cache(maxsize=4)
def _free_water(layout: Layout, hull: Hull, half: float, area: tuple[tuple[float, float], tuple[float, float]]) -> Any:
    shapes = shapely.buffer([footprint(shape, hull) for shape in layout], half, quad_segs=8)
    box = shapely.box(area[0][0], area[1][0], area[0][1], area[1][1])
    return shapely.difference(box, shapely.union_all(shapes))


def _rounds(layout: Layout) -> list[tuple[float, float, float]] | None:
    """Circles around convex shapes; None if some shape is not convex."""
    circles = []
    for shape in layout:
        if isinstance(shape, Cylinder | Sphere):
            circles.append((shape.north_m, shape.east_m, shape.radius_m))
        elif isinstance(shape, Box):
            circles.append((shape.north_m, shape.east_m, math.hypot(shape.length_m, shape.width_m) / 2))
        else:
            return None
    return circles


def _far_apart(layout: Layout, width: float) -> bool:
    """Whether all shapes are convex and farther apart than the width: then open water has no enclosed parts."""
    circles = _rounds(layout)
    return circles is not None and all(
        math.hypot(a[0] - b[0], a[1] - b[1]) > a[2] + b[2] + width
        for i, a in enumerate(circles)
        for b in circles[i + 1 :]
    )


def _outside_all(layout: Layout, half: float, places: Points) -> bool:
    circles = _rounds(layout) or []
    return all(math.hypot(n - north, e - east) > r + half for n, e, r in circles for _, north, east in places)
