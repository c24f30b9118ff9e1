"""Obstacles, goal and hull as `visualization_msgs/Marker`: what Foxglove and RViz draw. Frames: ENU, FLU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldworthy.environment.shapes import KIND_FROM_TYPE, Box, Cylinder, Point, Polygon, Polyline, Shape, Sphere
from fieldworthy.trials.record.messages import Messages, Triple, Wxyz
from fieldworthy.trials.record.prisms import Corner, prism_triangles, wall_triangles
from fieldworthy.trials.record.recording import Circle, Floats
from fieldworthy.trials.record.ros_axes import enu, quat_enu_from_heading

# Constants of visualization_msgs/Marker
CUBE, SPHERE, CYLINDER, LINE_STRIP, TRIANGLE_LIST = 1, 2, 3, 4, 11

_LEVEL: Wxyz = (1.0, 0.0, 0.0, 0.0)
_STONE = (0.55, 0.57, 0.60, 1.0)
_MOVING = (0.90, 0.45, 0.15, 1.0)
_GOAL = (0.15, 0.65, 0.30, 0.6)
_WAYPOINT = (0.20, 0.45, 0.85, 0.4)
_HULL = (0.95, 0.95, 0.95, 1.0)
_DISC_HEIGHT_M = 0.1
_LINE_WIDTH_M = 0.1


def obstacles(messages: Messages, ns: int, frame: str, shapes: Sequence[tuple[int, Shape]], moving: bool) -> Any:
    """`MarkerArray` of the numbered shapes: the number is the marker's id, the label (else the kind) its namespace.

    A polygon without area is left out, as viewers refuse a marker without corners.
    """
    colour = _MOVING if moving else _STONE
    drawn = [_obstacle(messages, ns, frame, number, shape, colour) for number, shape in shapes]
    markers = [marker for marker in drawn if marker.type != TRIANGLE_LIST or marker.points]
    return messages.make("visualization_msgs/MarkerArray", markers=markers)


def goals(
    messages: Messages,
    ns: int,
    frame: str,
    goal: Circle | None,
    waypoints: Sequence[Circle],
    up_m: Sequence[float] = (),
) -> Any:
    """`MarkerArray` at the waypoints and the goal, as large as the radius that counts as reached.

    Discs on the water, or spheres at the heights `up_m`, of the waypoints in order and then the goal.
    """
    named = [("waypoint", number, circle, _WAYPOINT) for number, circle in enumerate(waypoints)]
    named += [("goal", 0, goal, _GOAL)] if goal is not None else []
    markers = []
    heights: Sequence[float | None] = up_m or [None] * len(named)
    for (space, number, (north, east, radius), colour), up in zip(named, heights, strict=True):
        place = enu(north, east, up or 0.0)
        size = _disc(radius) if up is None else (2 * radius,) * 3
        kind = CYLINDER if up is None else SPHERE
        markers.append(_marker(messages, ns, frame, space, number, kind, place, _LEVEL, size, colour))
    return messages.make(
        "visualization_msgs/MarkerArray", markers=[*markers[len(waypoints) :], *markers[: len(waypoints)]]
    )


def hull(messages: Messages, ns: int, frame: str, outline_frd_m: Floats) -> Any:
    """`Marker`: the closed outline of the hull at the waterline, moving with the body frame `frame` (FLU)."""
    corners = [(float(forward), -float(right), 0.0) for forward, right in np.asarray(outline_frd_m)]
    scale = (_LINE_WIDTH_M, 0.0, 0.0)
    origin = (0.0, 0.0, 0.0)
    closed = [*corners, *corners[:1]]
    return _marker(messages, ns, frame, "hull", 0, LINE_STRIP, origin, _LEVEL, scale, _HULL, closed, locked=True)


def _obstacle(messages: Messages, ns: int, frame: str, number: int, shape: Shape, colour: Sequence[float]) -> Any:
    quat, points = _LEVEL, list[Corner]()
    if isinstance(shape, Sphere):
        kind, centre = SPHERE, enu(shape.north_m, shape.east_m, shape.up_m)
        scale = (2 * shape.radius_m,) * 3
    elif isinstance(shape, Cylinder):
        kind, centre = CYLINDER, enu(shape.north_m, shape.east_m, (shape.top_up_m + shape.bottom_up_m) / 2)
        scale = (2 * shape.radius_m, 2 * shape.radius_m, shape.top_up_m - shape.bottom_up_m)
    elif isinstance(shape, Box):
        kind, centre = CUBE, enu(shape.north_m, shape.east_m, (shape.top_up_m + shape.bottom_up_m) / 2)
        scale = (shape.length_m, shape.width_m, shape.top_up_m - shape.bottom_up_m)
        quat = quat_enu_from_heading(shape.heading_rad)
    else:
        kind, centre, scale = TRIANGLE_LIST, enu(*shape.points_ne_m[0], 0.0), (1.0, 1.0, 1.0)
        points = _relative(_triangles(shape), centre)
    space = shape.label or KIND_FROM_TYPE[type(shape)]
    return _marker(messages, ns, frame, space, number, kind, centre, quat, scale, colour, points)


def _triangles(shape: Polygon | Polyline) -> list[Corner]:
    outline = _flat(shape.points_ne_m)
    if isinstance(shape, Polygon):
        return prism_triangles(outline, [_flat(ring) for ring in shape.holes_ne_m], shape.top_up_m, shape.bottom_up_m)
    return wall_triangles(outline, shape.top_up_m, shape.bottom_up_m)


def _flat(points_ne_m: Sequence[Point]) -> list[Point]:
    return [enu(north, east, 0.0)[:2] for north, east in points_ne_m]


def _relative(corners: Sequence[Corner], origin: Corner) -> list[Corner]:
    # Viewers keep corners in 32 bits: they are kept near the marker's own origin.
    return [(x - origin[0], y - origin[1], z - origin[2]) for x, y, z in corners]


def _disc(radius_m: float) -> Triple:
    return (2 * radius_m, 2 * radius_m, _DISC_HEIGHT_M)


def _marker(
    messages: Messages,
    ns: int,
    frame: str,
    space: str,
    number: int,
    kind: int,
    xyz: Sequence[float],
    wxyz: Sequence[float],
    scale: Sequence[float],
    rgba: Sequence[float],
    points: Sequence[Corner] = (),
    *,
    locked: bool = False,
) -> Any:
    make = messages.make
    empty = np.zeros(0, dtype=np.uint8)
    return make(
        "visualization_msgs/Marker",
        header=messages.header(ns, frame),
        ns=space,
        id=number,
        type=kind,
        action=0,
        pose=messages.pose(xyz, wxyz),
        scale=messages.vector(scale),
        color=make("std_msgs/ColorRGBA", r=rgba[0], g=rgba[1], b=rgba[2], a=rgba[3]),
        lifetime=make("builtin_interfaces/Duration", sec=0, nanosec=0),
        frame_locked=locked,
        points=[messages.point(point) for point in points],
        colors=[],
        texture_resource="",
        texture=make("sensor_msgs/CompressedImage", header=messages.header(ns, ""), format="", data=empty),
        uv_coordinates=[],
        text="",
        mesh_resource="",
        mesh_file=make("visualization_msgs/MeshFile", filename="", data=empty),
        mesh_use_embedded_materials=False,
    )
