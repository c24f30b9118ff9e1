"""Signed distances from segments to points, segments, half-spaces, boxes and convex hulls, many at a time.

A capsule is a segment with a radius: its distance to a shape is that of its segment, less the radius. All shapes are
convex, so the signed distance of a point (outside: to the nearest point of the surface; inside: minus the depth below
the nearest face) is a convex function along a segment, and its smallest value is found exactly, not by steps.
How deep: of two segments the distance is never negative. In a half-space, box or hull the answer is minus the depth
of the segment's deepest point below the face that is nearest to that point, the least travel along a face normal
which frees that point.
Shapes: (n, 3) arrays [m] or anything that broadcasts to it; answers (n,) and (n, 3). NumPy and not lanes: these are
asked for thousands of pairs at once, outside of any compiled law.
"""

# Long because every shape that a segment may meet is here, with the hull that one of them needs.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fieldworthy.arms.chain import Array
from fieldworthy.core.errors import FieldworthyError

_TINY = 1e-280
"""Squares below this are zero: dividing by them would overflow."""
_ROWS = 200_000
"""So many distances are worked on at once where every row meets every edge of a hull (memory)."""


class Gap(NamedTuple):
    """Where a segment is nearest to a shape (or deepest in it)."""

    distance_m: Array
    """Signed, (n,)."""
    on_segment_m: Array
    """The point of the segment, (n, 3)."""
    normal: Array
    """Unit vector out of the shape towards the segment, (n, 3)."""

    @property
    def on_other_m(self) -> Array:
        """The point on the shape's surface, (n, 3)."""
        return self.on_segment_m - self.distance_m[..., None] * self.normal

    def thicker(self, radius_m: Any) -> Gap:
        """The same with the shape grown by a radius."""
        return self._replace(distance_m=self.distance_m - radius_m)


def nearest_parameters(u: Any, v: Any, w: Any) -> tuple[Array, Array]:
    """(s, t) in [0, 1] of the points a + s u and b + t v that are nearest, w = a - b; components first, shapes (3,
    ...).

    Equation: of the lines, s = (v x w).(u x v)/|u x v|^2; then t of the nearest point to that, limited to its
    segment, then s again. The cross products keep their digits for nearly parallel segments, where the usual
    determinant loses twice as many; for parallel ones any s leads to a nearest pair.
    Source: Ericson, Real-Time Collision Detection, 2005, 5.1.9 (order of the limits)
    Verified by: tests/verification/test_arm_separation.py
    """
    n = _cross(u, v)
    square = _dot(n, n)
    a, e, b = _dot(u, u), _dot(v, v), _dot(u, v)
    s = _clip(_dot(_cross(v, w), n) / np.where(square > _TINY, square, 1.0))
    t = _clip((b * s + _dot(v, w)) / np.where(e > _TINY, e, 1.0))
    s = _clip((b * t - _dot(u, w)) / np.where(a > _TINY, a, 1.0))
    return s, t


def segment_distances(u: Any, v: Any, w: Any) -> Array:
    """Distances [m] of the segments of `nearest_parameters`."""
    s, t = nearest_parameters(u, v, w)
    square: Any = 0.0
    for k in range(3):
        difference = w[k] + s * u[k] - t * v[k]
        square = square + difference * difference
    distance: Array = np.sqrt(square)
    return distance


def segment_segment(a0: Any, a1: Any, b0: Any, b1: Any) -> Gap:
    """From segments a to segments b; either may be a point. Crossing segments: distance 0, the normal square to both.

    Verified by: tests/verification/test_arm_separation.py
    """
    a0, a1, b0, b1 = np.broadcast_arrays(*(np.asarray(x, float) for x in (a0, a1, b0, b1)))
    u, v, w = a1 - a0, b1 - b0, a0 - b0
    s, t = nearest_parameters(*(np.moveaxis(x, -1, 0) for x in (u, v, w)))
    here, there = a0 + s[..., None] * u, b0 + t[..., None] * v
    across = np.cross(u, v)
    lost = _norm(across) <= 1e-12 * _norm(u) * _norm(v)
    across = np.where(lost[..., None], _square_to(np.where((_norm(u) > 0.0)[..., None], u, v)), across)
    return _gap(here, there, across, _norm(u) + _norm(v) + _norm(w))


def segment_point(a0: Any, a1: Any, point: Any) -> Gap:
    """From segments to points.

    Verified by: tests/verification/test_arm_separation.py
    """
    a0, a1, point = np.broadcast_arrays(*(np.asarray(x, float) for x in (a0, a1, point)))
    u, w = a1 - a0, point - a0
    square = np.sum(u * u, axis=-1)
    s = _clip(np.sum(u * w, axis=-1) / np.where(square > _TINY, square, 1.0))
    return _gap(a0 + s[..., None] * u, point, _square_to(u), _norm(u) + _norm(w))


def segment_half_space(a0: Any, a1: Any, point: Any, normal: Any) -> Gap:
    """From segments to everything below a plane through a point, `normal` (unit) pointing to the free side.

    Verified by: tests/verification/test_arm_separation.py
    """
    a0, a1, normal = np.broadcast_arrays(*(np.asarray(x, float) for x in (a0, a1, normal)))
    first, last = (np.sum((x - point) * normal, axis=-1) for x in (a0, a1))
    s = np.where(first == last, 0.5, np.where(last < first, 1.0, 0.0))
    return Gap(np.minimum(first, last), a0 + s[..., None] * (a1 - a0), normal)


def segment_box(a0: Any, a1: Any, centre: Any, turn: Any, half: Any) -> Gap:
    """From segments (n, 3) to a box: centre (3,), base_from_box rotation (3, 3), half sides (3,).

    Equation: outside, the derivative of the squared distance along the segment is continuous, piecewise linear and
    does not fall; it bends where the segment crosses a face's plane, so its zero is found between two of those.
    Inside, the depth is the largest of six linear functions; its smallest value is at an end or where two of them
    meet.
    Verified by: tests/verification/test_arm_separation.py
    """
    a0, a1 = np.broadcast_arrays(np.asarray(a0, float), np.asarray(a1, float))
    turn, half = np.asarray(turn, float), np.asarray(half, float)
    p, u = (a0 - centre) @ turn, (a1 - a0) @ turn
    slope = np.where(np.abs(u) > 1e-150, u, np.inf)  # a coordinate that stands still has no crossing: its quotient is 0
    bends = np.concatenate(
        [(half - p) / slope, (-half - p) / slope, np.zeros((len(p), 1)), np.ones((len(p), 1))], axis=1
    )
    bends = np.sort(_clip(bends), axis=1)
    rise = np.zeros_like(bends)
    for k in range(3):
        x = p[:, k, None] + bends * u[:, k, None]
        rise += (x - np.clip(x, -half[k], half[k])) * u[:, k, None]
    row = np.arange(len(p))
    left = np.maximum((rise <= 0.0).sum(axis=1) - 1, 0)
    right = np.minimum(left + 1, bends.shape[1] - 1)
    low, high = rise[row, left], rise[row, right]
    share = _clip(-low / np.where(high - low > _TINY, high - low, 1.0))
    t = bends[row, left] + share * (bends[row, right] - bends[row, left])
    x = p + t[:, None] * u
    outside = x - np.clip(x, -half, half)
    distance = _norm(outside)
    normal = outside / np.where(distance > _TINY, distance, 1.0)[:, None]
    # Where the distance is lost in rounding the segment meets the box, and how deep it goes is the answer.
    near = np.flatnonzero(distance <= 1e-9 * half.max())
    if len(near):
        planes = np.concatenate([np.eye(3), -np.eye(3)])
        depth, where, face = _deepest(p[near] @ planes.T - np.tile(half, 2), u[near] @ planes.T)
        met = (depth <= 0.0) | (distance[near] <= _TINY)
        deep = near[met]
        distance[deep], t[deep], normal[deep] = depth[met], where[met], planes[face[met]]
    return Gap(distance, a0 + t[:, None] * (a1 - a0), normal @ turn.T)


def _deepest(start: Array, slope: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Smallest over t in [0, 1] of the largest of lines start + t slope (n, m): (value, t, which line).

    Equation: two of the lines, one falling and one rising, meet at a bound from below; the line that is largest there
    replaces one of the two until none is larger (cutting planes; as each line comes at most once, it ends).
    """
    row = np.arange(len(start))

    def highest(t: Array) -> tuple[Array, NDArray[np.intp]]:
        values = start + t[:, None] * slope
        which = values.argmax(axis=1)
        return values[row, which], which

    zero, one = np.zeros(len(start)), np.ones(len(start))
    (at0, left), (at1, right) = highest(zero), highest(one)
    value, t, which = np.where(at1 < at0, at1, at0), np.where(at1 < at0, one, zero), np.where(at1 < at0, right, left)
    for _ in range(4 * start.shape[1]):
        fall, climb = slope[row, left], slope[row, right]
        crossing = climb - fall > _TINY
        meet = _clip((start[row, left] - start[row, right]) / np.where(crossing, climb - fall, 1.0))
        meet = np.where(crossing, meet, t)
        bound = np.maximum(start[row, left] + meet * fall, start[row, right] + meet * climb)
        found, line = highest(meet)
        better = found < value
        value, t, which = np.where(better, found, value), np.where(better, meet, t), np.where(better, line, which)
        open_ = crossing & (found > bound + 1e-15 * (1.0 + np.abs(found)))
        if not open_.any():
            break
        rising = slope[row, line] > 0.0
        left, right = np.where(open_ & ~rising, line, left), np.where(open_ & rising, line, right)
    return value, t, which


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex polyhedron of triangles, all seen counter-clockwise from outside."""

    corners_m: Array
    """(k, 3)"""
    triangles: NDArray[np.intp]
    """(m, 3) into the corners."""
    normals: Array
    """(m, 3), outward unit vectors."""
    offsets_m: Array
    """(m,): inside where normal . p <= offset for all."""
    edges: NDArray[np.intp]
    """(e, 2) into the corners, without those between triangles of one plane."""

    @property
    def sides(self) -> tuple[Array, Array]:
        """Planes through the triangles' sides, (3m, 3) and (3m,): a foot is in its triangle where normal . p >=
        offset for its 3."""
        a = self.corners_m[self.triangles]
        along = np.roll(a, -1, axis=1) - a
        inward = np.cross(self.normals[:, None, :], along / _norm(along)[..., None]).reshape(-1, 3)
        return inward, np.sum(inward * a.reshape(-1, 3), axis=1)


def segment_hull(a0: Any, a1: Any, hull: Hull) -> Gap:
    """From segments (n, 3) to a convex hull.

    Equation: inside, the smallest over the segment of the largest height above a face; outside, the nearest of
    segment to edge and of an end to a face that it stands over. Limits: time grows with rows times edges.
    Verified by: tests/verification/test_arm_separation.py
    """
    a0, a1 = np.broadcast_arrays(np.asarray(a0, float), np.asarray(a1, float))
    step = max(1, _ROWS // len(hull.triangles))
    parts = [_segment_hull(a0[k : k + step], a1[k : k + step], hull) for k in range(0, len(a0), step)]
    if not parts:
        return Gap(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)))
    return Gap(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _segment_hull(a0: Array, a1: Array, hull: Hull) -> Gap:
    u = a1 - a0
    heights = [x @ hull.normals.T - hull.offsets_m for x in (a0, a1)]
    distance, t, face = _deepest(heights[0], heights[1] - heights[0])
    normal = hull.normals[face]
    point = a0 + t[:, None] * u
    out = np.flatnonzero(distance > 0.0)
    if not len(out):
        return Gap(distance, point, normal)
    start, end = hull.corners_m[hull.edges[:, 0]], hull.corners_m[hull.edges[:, 1]]
    away = np.moveaxis(a0[out, None, :] - start, -1, 0)
    apart = segment_distances(u[out].T[:, :, None], (end - start).T[:, None, :], away)
    edge = apart.argmin(axis=1)
    gap = segment_segment(a0[out], a1[out], start[edge], end[edge])
    distance[out], point[out], normal[out] = gap
    sides, offsets = hull.sides
    slack = 1e-9 * np.ptp(hull.corners_m, axis=0).max()
    for x, height in zip((a0, a1), heights, strict=True):
        over = (x[out] @ sides.T - offsets >= -slack).reshape(len(out), -1, 3).all(axis=2) & (height[out] >= 0.0)
        standing = np.where(over, height[out], np.inf)
        face = standing.argmin(axis=1)
        value = standing[np.arange(len(out)), face]
        closer = value < distance[out]
        rows = out[closer]
        distance[rows], point[rows], normal[rows] = value[closer], x[rows], hull.normals[face[closer]]
    return Gap(distance, point, normal)


def convex_hull(points_m: Any, what: str = "hull") -> Hull:
    """The hull of points (k, 3) [m]; points within 1e-10 of the size (up to 1e-6 for rounded ones) from a face are
    left out.

    Equation: a tetrahedron grows by one outer point at a time; the faces that the point sees give way to faces from
    their rim to it.
    Raises: FieldworthyError for fewer than four points, numbers that are not finite, or points all (nearly) in one
    plane.
    Verified by: tests/verification/test_arm_separation.py
    """
    points = np.asarray(points_m, float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
        raise FieldworthyError(f"{what}: points of shape {points.shape}; valid: (k, 3) with k >= 4")
    if not np.isfinite(points).all():
        raise FieldworthyError(f"{what}: a point is not finite; valid: metres")
    points = np.unique(points, axis=0)
    size = float(np.ptp(points, axis=0).max())
    centre = points.mean(axis=0)
    flat = FieldworthyError(f"{what}: all {len(points)} points are in one plane; valid: points around a volume")
    first = int(np.argmax(_norm(points - centre)))
    second = int(np.argmax(_norm(points - points[first])))
    lines = np.cross(points - points[first], points[second] - points[first])
    third = int(np.argmax(_norm(lines)))
    if size == 0.0 or _norm(lines)[third] <= 1e-9 * size * size:
        raise flat
    plane = lines[third] / _norm(lines)[third]
    heights = (points - points[first]) @ plane
    fourth = int(np.argmax(np.abs(heights)))
    if abs(heights[fourth]) <= 1e-9 * size:
        raise flat
    corners = [first, second, third, fourth]
    for slack in (1e-10, 1e-8, 1e-6):
        triangles = _grown(points, corners, slack * size)
        hull = _finished(points, triangles)
        if hull is not None and (points @ hull.normals.T - hull.offsets_m).max() <= 4.0 * slack * size:
            return hull
    raise FieldworthyError(
        f"{what}: no convex hull found, points are too close to one plane; valid: a body with some thickness"
    )


def _planes(points: Array, triangles: NDArray[np.intp]) -> tuple[Array, Array]:
    a, b, c = points[triangles[:, 0]], points[triangles[:, 1]], points[triangles[:, 2]]
    across = np.cross(b - a, c - a)
    length = _norm(across)
    normals = across / np.where(length > 0.0, length, 1.0)[:, None]
    return normals, np.sum(normals * (a + b + c), axis=1) / 3.0


def _grown(points: Array, corners: list[int], slack: float) -> NDArray[np.intp]:
    inside = points[corners].mean(axis=0)
    faces = np.array([[corners[j] for j in range(4) if j != k] for k in range(4)])
    normals, offsets = _planes(points, faces)
    wrong = normals @ inside > offsets
    faces[wrong] = faces[wrong][:, ::-1]
    normals, offsets = _planes(points, faces)
    for k in np.argsort(-_norm(points - inside), kind="stable"):
        seen = normals @ points[k] - offsets > slack
        if not seen.any():
            continue
        directed = {(int(f[i]), int(f[(i + 1) % 3])) for f in faces[seen] for i in range(3)}
        rim = [(i, j, int(k)) for i, j in sorted(directed) if (j, i) not in directed]
        new = np.array(rim, dtype=faces.dtype).reshape(-1, 3)
        more, further = _planes(points, new)
        faces = np.concatenate([faces[~seen], new])
        normals, offsets = np.concatenate([normals[~seen], more]), np.concatenate([offsets[~seen], further])
    return faces


def _finished(points: Array, faces: NDArray[np.intp]) -> Hull | None:
    """The hull of closed faces; None where they are not closed or one has no area."""
    used, compact = np.unique(faces, return_inverse=True)
    faces, corners = compact.reshape(faces.shape), points[used]
    normals, offsets = _planes(corners, faces)
    if np.abs(_norm(normals) - 1.0).max() > 1e-9:
        return None
    beside = {(int(f[i]), int(f[(i + 1) % 3])): k for k, f in enumerate(faces) for i in range(3)}
    if len(beside) != 3 * len(faces) or any((j, i) not in beside for i, j in beside):
        return None
    edges = [
        (i, j) for (i, j), k in beside.items() if i < j and _norm(normals[k] - normals[beside[j, i]]) > 1e-11
    ]  # an edge within a plane is no nearer than the plane
    return Hull(corners, faces, normals, offsets, np.array(edges, dtype=faces.dtype))


def _gap(here: Array, there: Array, across: Array, size: Array) -> Gap:
    """Two nearest points as a Gap; `across` is the normal's direction where they are one point."""
    apart = here - there
    distance = _norm(apart)
    one = distance <= 1e-14 * size
    direction = np.where(one[..., None], across, apart)
    length = _norm(direction)
    return Gap(distance, here, direction / np.where(length > 0.0, length, 1.0)[..., None])


def _square_to(u: Array) -> Array:
    """A unit vector square to each of u (n, 3); along x for zero vectors."""
    least = np.argmin(np.abs(u), axis=-1)
    across = np.cross(u, np.eye(3)[least])
    length = _norm(across)
    return np.where((length > 0.0)[..., None], across / np.where(length > 0.0, length, 1.0)[..., None], np.eye(3)[0])


def _norm(x: Any) -> Any:
    return np.sqrt(np.einsum("...i,...i->...", x, x))


def _dot(x: Any, y: Any) -> Any:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def _cross(x: Any, y: Any) -> Any:
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]


def _clip(x: Any) -> Any:
    return np.minimum(np.maximum(x, 0.0), 1.0)
