"""Pictures of an arm at its work: its shapes in a standing view, and its tool's path close up from three sides.

Frames: the arm's base [m] in; orthographic views, x right and y down in drawing units out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import link_motions
from fieldworthy.arms.obstacles import Box, ConvexMesh, HalfSpace, Obstacle, Rod, Sphere
from fieldworthy.trials.arm.report_view import AXES, Fit, View, drawn_height, fit, standing
from fieldworthy.trials.report import svg

_POSTURES = 96
"""Postures that the slider of the picture goes through."""
_GHOSTS = 4
_GRID_M = 0.2
_FAR_M = 2.5
"""Obstacles that reach further from the base than this may be cut off."""
_SIGNS = 0.5 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
"""Corners of a cube of side 1."""


def joint_points(arm: Arm, q: Array) -> Array:
    """(n, dof + 3, 3): the base, a point of every joint, the flange, the tool's tip."""
    motions = link_motions(arm, q).reshape(-1, arm.dof + 1, 4, 4)
    points = [np.zeros((len(motions), 3))]
    for index, joint in enumerate(arm.joints):
        motion = motions[:, index + (joint.kind == "prismatic")]
        points.append(motion[:, :3, :3] @ np.array(joint.point_m) + motion[:, :3, 3])
    last = motions[:, -1]
    for matrix in (arm.flange, arm.home):
        points.append(last[:, :3, :3] @ np.array(matrix)[:3, 3] + last[:, :3, 3])
    return np.stack(points, axis=1)


def limbs(arm: Arm, q: Array) -> tuple[Array, Array]:
    """(ends (n, k, 2, 3), radii (k,)) of the arm's shapes; of its joint points where it has none."""
    if not arm.capsules:
        points = joint_points(arm, q)
        ends = np.stack([points[:, :-1], points[:, 1:]], axis=2)
        return ends, np.full(ends.shape[1], 0.015)
    motions = link_motions(arm, q).reshape(-1, arm.dof + 1, 4, 4)
    pieces = []
    for shape in arm.capsules:
        motion = motions[:, shape.link]
        both = np.array([shape.a_m, shape.b_m])
        pieces.append(both @ motion[:, :3, :3].transpose(0, 2, 1) + motion[:, None, :3, 3])
    return np.stack(pieces, axis=1), np.array([shape.radius_m for shape in arm.capsules])


def picture(
    arm: Arm, q: Array, t_s: Array, tool: Array, waypoints: Array, obstacles: Sequence[Obstacle], start: Array
) -> str:
    """The arm at its work, with a slider through its postures.

    q (n, dof) at times t_s (n,), tool (n, 3) its path; waypoints (w, 3), may be empty; start: (dof,) before the motion.
    """
    rows = np.unique(np.linspace(0, len(q) - 1, min(_POSTURES, len(q))).astype(int))
    ends, radii = limbs(arm, q[rows])
    view, width = standing(), 1040.0
    reach = np.concatenate([ends.reshape(-1, 3), tool, waypoints.reshape(-1, 3), np.zeros((1, 3))])
    thick = float(radii.max())
    around = np.concatenate([reach + thick * view.right, reach - thick * view.right, reach + thick * view.up,
                             reach - thick * view.up])  # fmt: skip
    floors = [_floor_corners(shape, reach) for shape in obstacles if isinstance(shape, HalfSpace)]
    around = np.concatenate([around, *(corners.reshape(-1, 3) for corners in floors), *_outlines(obstacles, view)])
    height = drawn_height(view, around, width - 40.0, 560.0)
    place = fit(view, around, width - 40.0, height - 40.0, 20.0, 20.0)
    parts = _surroundings(place, obstacles, reach)
    ghosts = np.linspace(0, len(rows) - 1, _GHOSTS + 1).astype(int)[1:]
    sticks = joint_points(arm, np.concatenate([start[None], q[rows[ghosts]]]))
    for stick in sticks[1:]:
        parts.append(f'<path class="arm-ghost" d="{svg.path_data(place.at(stick))}"/>')
    frames = [_posture(place, ends[k], radii) for k in range(len(rows))]
    body = "".join(
        f'<line class="limb rim" x1="{a}" y1="{b}" x2="{c}" y2="{d}" stroke-width="{w + 2}"/>'
        f'<line class="limb" x1="{a}" y1="{b}" x2="{c}" y2="{d}" stroke-width="{w}"/>'
        for a, b, c, d, w in frames[0]
    )
    stick_frames = [
        [round(float(value), 1) for point in place.at(stick).tolist() for value in point]
        for stick in joint_points(arm, q[rows])
    ]
    bones = " ".join(f"{x},{y}" for x, y in zip(stick_frames[0][::2], stick_frames[0][1::2], strict=True))
    parts.append(f'<g id="arm-body">{body}</g><polyline id="arm-bones" class="arm-bones" points="{bones}"/>')
    parts += _base_axes(place)
    parts.append(f'<path class="arm-path" d="{place.path(tool)}"/>')
    if len(waypoints):
        dots = "".join(svg.circle_data(x, y, 2.1) for x, y in place.at(waypoints).tolist())
        parts.append(f'<path class="arm-way" d="{dots}"/>')
    (x0, y0), (x1, y1) = place.at(tool[[0, -1]]).tolist()
    apart = math.hypot(x1 - x0, y1 - y0) > 30.0
    parts.append(svg.text(x0, y0 - 9.0, "start" if apart else "start, end", "t strong halo", "middle"))
    if apart:
        parts.append(svg.text(x1, y1 - 9.0, "end", "t strong halo", "middle"))
    drawing = svg.drawing(width, height, f"{arm.title or arm.name} along its path", parts)
    data = {"t": [round(float(t), 2) for t in t_s[rows]], "body": frames, "bones": stick_frames}
    return drawing + _slider(data, len(rows))


def _posture(place: Fit, ends: Array, radii: Array) -> list[list[float]]:
    """Lines of one posture from back to front: x1, y1, x2, y2, width."""
    depth = (ends.mean(axis=1)) @ place.view.out
    flat = place.at(ends)
    lines = []
    for k in np.argsort(depth).tolist():
        (a, b), (c, d) = flat[k].tolist()
        # A line of no length has round caps too, but not in every viewer.
        c += 0.1 * (math.hypot(c - a, d - b) < 0.1)
        lines.append([round(v, 1) for v in (a, b, c, d, max(2.0 * radii[k] * place.scale, 2.0))])
    return lines


def _slider(data: dict[str, object], count: int) -> str:
    return (
        '<p class="pick noprint"><label for="arm-time">Posture</label>'
        f'<input id="arm-time" class="arm-slider" type="range" min="0" max="{count - 1}" value="0"/>'
        '<button type="button" id="arm-play">Play</button><output id="arm-told"></output></p>'
        f'<script type="application/json" id="arm-data">{json.dumps(data, separators=(",", ":"))}</script>'
        f"<script>{files(__package__).joinpath('slider.js').read_text(encoding='utf-8')}</script>"
    )


def _surroundings(place: Fit, obstacles: Sequence[Obstacle], reach: Array) -> list[str]:
    """Obstacles as what of them helps the eye: floors as grids, boxes and meshes by their edges, round ones filled."""
    parts = []
    for shape in obstacles:
        if isinstance(shape, HalfSpace):
            parts += _floor(place, shape, reach)
        elif isinstance(shape, Box):
            corners = _corners(shape)
            pairs = [(a, b) for a in range(8) for b in range(a + 1, 8) if (_SIGNS[a] != _SIGNS[b]).sum() == 1]
            parts += [_wires(place, corners, np.array(pairs)), _label(place, corners.mean(axis=0), shape.name)]
        elif isinstance(shape, ConvexMesh):
            hull = shape.hull()
            parts += [_wires(place, hull.corners_m, hull.edges), _label(place, hull.corners_m.mean(axis=0), shape.name)]
        elif isinstance(shape, Sphere | Rod):
            a, b = (shape.centre_m, shape.centre_m) if isinstance(shape, Sphere) else (shape.a_m, shape.b_m)
            (x1, y1), (x2, y2) = place.at(np.array([a, b])).tolist()
            wide = f' stroke-width="{2.0 * shape.radius_m * place.scale:.1f}"'
            parts.append(f'<path class="arm-solid" d="M{x1:.1f} {y1:.1f}L{x2 + 0.1:.1f} {y2:.1f}"{wide}/>')
            parts.append(_label(place, 0.5 * (np.array(a) + np.array(b)), shape.name))
    return parts


def _outlines(obstacles: Sequence[Obstacle], view: View) -> list[Array]:
    """Points around each obstacle that belongs into the picture: those that are not far and have an end."""
    found = []
    for shape in obstacles:
        if isinstance(shape, HalfSpace):
            continue
        centre, radius = shape.ball()
        if isinstance(shape, Rod):
            points, wide = np.array([shape.a_m, shape.b_m]), shape.radius_m
        elif isinstance(shape, Box):
            points, wide = _corners(shape), 0.0
        elif isinstance(shape, ConvexMesh):
            points, wide = shape.hull().corners_m, 0.0
        else:
            points, wide = centre[None], radius
        if float(np.linalg.norm(centre)) + radius < _FAR_M:
            found += [points + wide * way for way in (view.right, -view.right, view.up, -view.up)]
    return found


def _corners(box: Box) -> Array:
    return np.asarray(np.array(box.centre_m) + (_SIGNS * np.array(box.size_m)) @ np.array(box.turn).T)


def _wires(place: Fit, corners: Array, pairs: Any) -> str:
    flat = place.at(corners)
    data = "".join(f"M{flat[a][0]:.1f} {flat[a][1]:.1f}L{flat[b][0]:.1f} {flat[b][1]:.1f}" for a, b in pairs.tolist())
    return f'<path class="arm-wires" d="{data}"/>'


def _label(place: Fit, point: Array, name: str) -> str:
    x, y = place.at(point).tolist()
    return svg.text(x, y, name, "t halo", "middle")


def _floor_corners(plane: HalfSpace, reach: Array) -> Array:
    """(2, 2, 3): corners of the part of a plane that is below what is drawn, in steps of 0.2 m."""
    normal = np.array(plane.normal)
    first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    origin = np.array(plane.point_m)
    spans = []
    for way in (first, second):
        along = (reach - origin) @ way
        spans.append((math.floor(along.min() / _GRID_M) * _GRID_M, math.ceil(along.max() / _GRID_M) * _GRID_M))
    return np.array([[origin + first * a + second * b for b in spans[1]] for a in spans[0]])


def _floor(place: Fit, plane: HalfSpace, reach: Array) -> list[str]:
    """A grid on a plane."""
    corners, data = _floor_corners(plane, reach), []
    for (a, b), (c, d) in (corners, corners.transpose(1, 0, 2)):
        count = round(float(np.linalg.norm(c - a)) / _GRID_M)
        for share in np.linspace(0.0, 1.0, count + 1):
            (x1, y1), (x2, y2) = place.at(np.array([a + share * (c - a), b + share * (d - b)])).tolist()
            data.append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
    return [f'<path class="arm-floor" d="{"".join(data)}"/>']


def _base_axes(place: Fit) -> list[str]:
    parts = []
    for name, axis in zip("xyz", np.eye(3), strict=True):
        (x0, y0), (x1, y1) = place.at(np.array([np.zeros(3), 0.32 * axis])).tolist()
        parts.append(f'<line class="arm-axis {name}" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>')
        away = 1.0 + 12.0 / max(math.hypot(x1 - x0, y1 - y0), 1.0)
        parts.append(svg.text(x0 + away * (x1 - x0), y0 + away * (y1 - y0) + 4.0, name, "t strong halo", "middle"))
    return parts


def close_up(view: View, paths: Sequence[tuple[str, str, Array]], waypoints: Array, number: int) -> str:
    """One side's view of the tool's paths (name, class, (n, 3)) around the waypoints; what leaves the view is cut "
    "off."""
    width, height, left, top = 330.0, 280.0, 14.0, 14.0
    span = max(float(np.ptp(waypoints, axis=0).max()), 0.02)
    corners = np.concatenate([waypoints + 0.1 * span * axis for axis in (view.right, -view.right, view.up, -view.up)])
    place = fit(view, corners, width - 2.0 * left, height - 60.0, left, top)
    clip = f"arm-clip-{number}"
    parts = [
        f'<clipPath id="{clip}">{svg.rect(left, top, width - 2.0 * left, height - 60.0, "plain")}</clipPath>',
        svg.rect(left, top, width - 2.0 * left, height - 60.0, "water"),
        f'<g clip-path="url(#{clip})">',
    ]
    for name, css, points in paths:
        parts.append(f'<g><path class="line arm-trace {css}" d="{place.path(points)}"/>{svg.title(name)}</g>')
    dots = "".join(svg.circle_data(x, y, 1.8) for x, y in place.at(waypoints).tolist())
    parts.append(f'<path class="arm-way" d="{dots}"/></g>')
    bar = svg.nice_step(0.6 * (width - 2.0 * left) / place.scale, 2)
    x0, y0 = width - left - bar * place.scale, height - 26.0
    parts.append(f'<path class="bar" d="M{x0:.1f} {y0 - 4:.1f}v8M{x0:.1f} {y0:.1f}H{width - left:.1f}m0 -4v8"/>')
    text = f"{bar * 1e3:g} mm" if bar < 1.0 else f"{bar:g} m"
    parts.append(svg.text(width - left, y0 + 18.0, text, "t", "end"))
    right, up = AXES[view.name]
    parts.append(f'<path class="bar" d="M{left + 10} {y0 + 4:.1f}v-20m-3 5l3 -5l3 5m-3 15h20m-5 -3l5 3l-5 3"/>')
    parts += [svg.text(left + 34, y0 + 9, right, "t"), svg.text(left + 16, y0 - 8, up, "t")]
    return svg.drawing(width, height, f"Paths of the tool {view.name}", parts)
