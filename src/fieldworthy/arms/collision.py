"""How close an arm comes to itself and to what stands around it, in postures and on the way between them.

An arm's shapes are its capsules, its tool's among them (those of the last link). Tried are all pairs of capsules but
those of one link, of neighbours (i, i + 1) and of `arm.near`; and every capsule but the base's with every obstacle
that does not ignore its link: base and obstacles stand still, so no posture parts them.
Frames: the robot's base [m]. Distances are signed, negative where shapes overlap (see `separation`).
"""

# Long because a posture and the way between postures are asked of the same pairs.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.kinematics import link_motions
from fieldworthy.arms.obstacles import HalfSpace, Obstacle, Shape
from fieldworthy.arms.posture import postures
from fieldworthy.arms.separation import segment_distances, segment_segment
from fieldworthy.core.errors import FieldworthyError

Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

_BLOCK = 128
"""Postures worked on at once: what they need stays in the cache."""
_PIECE = 0.25
"""A motion is cut into pieces in which the joints move so much in total [rad or m]: the bound of the speed is tight
in each."""
_ROUNDS = 60
"""Intervals are halved no more often: they have no width then."""


@dataclass(frozen=True)
class Nearest:
    """Of each posture the nearest pair of one sort, n rows. Where nothing was tried or found within the horizon:
    infinite."""

    distance_m: Array
    """(n,), signed."""
    pairs: tuple[tuple[str, str], ...]
    """Names of the two, `link 3 (forearm)` or an obstacle's; empty strings where there is none."""
    first_m: Array
    """(n, 3): the point on the surface of the first, NaN where there is none."""
    second_m: Array
    """(n, 3): the point on the surface of the second; the two are |distance| apart, also where shapes overlap."""


@dataclass(frozen=True)
class Clearance:
    """Clearance of n postures (n = 1 for a single one)."""

    itself: Nearest
    """Between links."""
    environment: Nearest
    """Between links (first) and obstacles (second)."""
    margin_m: float = 0.0

    @property
    def _own(self) -> Mask:
        return self.itself.distance_m <= self.environment.distance_m

    @property
    def distance_m(self) -> Array:
        """The smaller of both, (n,)."""
        return np.minimum(self.itself.distance_m, self.environment.distance_m)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Names of the nearest pair."""
        both = zip(self._own, self.itself.pairs, self.environment.pairs, strict=True)
        return tuple(first if own else second for own, first, second in both)

    @property
    def first_m(self) -> Array:
        """The point on the first of the nearest pair, (n, 3)."""
        return np.where(self._own[:, None], self.itself.first_m, self.environment.first_m)

    @property
    def second_m(self) -> Array:
        """The point on the second of the nearest pair, (n, 3)."""
        return np.where(self._own[:, None], self.itself.second_m, self.environment.second_m)

    @property
    def in_collision(self) -> Mask:
        """Shapes touch or overlap, (n,)."""
        return self.distance_m <= 0.0

    @property
    def below_margin(self) -> Mask:
        """Nearer than the margin, (n,)."""
        return self.distance_m < self.margin_m


@dataclass(frozen=True)
class MotionClearance:
    """Clearance of n straight joint motions, each between two postures."""

    at: Clearance
    """At the nearest posture that was met on each motion."""
    q: Array
    """That posture, (n, dof)."""
    fraction: Array
    """How far along its motion that is, 0 to 1, (n,)."""
    at_least_m: Array
    """No posture of the motion is nearer than this, (n,): proven by how far the joints can move a point. Below the
    horizon it is
    within the tolerance of `at.distance_m`."""

    @property
    def distance_m(self) -> Array:
        """The smallest distance met, (n,)."""
        return self.at.distance_m

    @property
    def in_collision(self) -> Mask:
        """Shapes touch, or it could not be ruled out within the tolerance, (n,)."""
        return self.at_least_m <= 0.0

    @property
    def below_margin(self) -> Mask:
        """Nearer than the margin, or it could not be ruled out within the tolerance, (n,)."""
        return self.at_least_m < self.at.margin_m


def clearance(
    arm: Arm, q: Any, obstacles: Sequence[Obstacle] = (), margin_m: float = 0.0, horizon_m: float = math.inf
) -> Clearance:
    """Smallest distances of postures q (dof,) or (n, dof).

    What is further than `horizon_m` counts as infinitely far, which saves time where obstacles are many or have many
    faces.
    Raises: FieldworthyError for an arm without shapes or with bad ones, for bad postures and numbers.
    Verified by: tests/cases/test_arm_collision.py
    """
    scene = _scene(arm, _shapes(obstacles))
    _require_length("margin_m", margin_m, finite=True)
    _require_length("horizon_m", horizon_m, finite=False)
    motions = link_motions(arm, np.atleast_2d(postures(arm, q)))
    blocks = [motions[k : k + _BLOCK] for k in range(0, len(motions), _BLOCK)]
    starts, ends = zip(*(scene.axes(block) for block in blocks), strict=True) if blocks else ((), ())
    own = [scene.nearest_pair(a, b) for a, b in zip(starts, ends, strict=True)]
    around = [scene.nearest_obstacle(a, b, horizon_m) for a, b in zip(starts, ends, strict=True)]
    empty = np.zeros((3, 0, len(scene.link)))
    a, b = np.concatenate([empty, *starts], axis=1), np.concatenate([empty, *ends], axis=1)
    return Clearance(scene.described_pair(a, b, own, horizon_m), scene.described_obstacle(a, b, around), margin_m)


def clearance_between(
    arm: Arm,
    q_a: Any,
    q_b: Any,
    obstacles: Sequence[Obstacle] = (),
    margin_m: float = 0.0,
    tolerance_m: float = 1e-3,
    horizon_m: float = 0.1,
) -> MotionClearance:
    """Smallest distance on the straight joint motion from q_a to q_b (dof,): one row of `clearance_along`."""
    ends = postures(arm, q_a, "q_a"), postures(arm, q_b, "q_b")
    if ends[0].ndim != 1 or ends[1].ndim != 1:
        raise FieldworthyError(f"q_a, q_b: shapes {ends[0].shape}, {ends[1].shape}; valid: ({arm.dof},) each")
    return clearance_along(arm, np.stack(ends), obstacles, margin_m, tolerance_m, horizon_m)


def clearance_along(
    arm: Arm,
    path: Any,
    obstacles: Sequence[Obstacle] = (),
    margin_m: float = 0.0,
    tolerance_m: float = 1e-3,
    horizon_m: float = 0.1,
) -> MotionClearance:
    """Smallest distance on each of the n - 1 straight joint motions between the postures of a path (n, dof).

    Nothing is missed between postures: a distance changes no faster than the points of the capsules' axes move, so
    two distances at the ends of an interval bound those within from below. The interval with too low a bound is
    halved until the bound is within `tolerance_m` of the smallest distance met, or at least `horizon_m` or the
    margin, whichever is larger.

    Equation: d(s) >= (d0 + d1 - v (s1 - s0))/2 with v >= |sum_j dq_j a_j x (p - o_j)| at the middle of the piece,
    plus half of the largest second derivative sum_jk |dq_j dq_k| rho_max(j,k) (min(j,k) a turning joint), rho_k the
    furthest that a point can be from axis k.
    Raises: FieldworthyError as `clearance`, and for fewer than two postures.
    Source: Piyavskii, An algorithm for finding the absolute extremum of a function, 1972 (the bound of an interval)
    Verified by: tests/cases/test_arm_collision.py
    """
    scene = _scene(arm, _shapes(obstacles))
    rows = postures(arm, path, "path")
    if rows.ndim != 2 or len(rows) < 2:
        raise FieldworthyError(f"path: shape {rows.shape}; valid: (n, {arm.dof}) with n >= 2")
    _require_length("margin_m", margin_m, finite=True)
    _require_length("horizon_m", horizon_m, finite=False)
    _require_length("tolerance_m", tolerance_m, finite=True)
    if tolerance_m < 1e-9:
        raise FieldworthyError(f"tolerance_m = {tolerance_m:g}; valid: >= 1e-9")
    horizon_m = max(horizon_m, margin_m)
    blocks = [_search(scene, rows[k : k + _BLOCK + 1], tolerance_m, horizon_m) for k in range(0, len(rows) - 1, _BLOCK)]
    fraction, at_least = (np.concatenate(columns) for columns in zip(*blocks, strict=True))
    q = rows[:-1] + fraction[:, None] * (rows[1:] - rows[:-1])
    q[fraction == 1.0] = rows[1:][fraction == 1.0]
    return MotionClearance(clearance(arm, q, obstacles, margin_m), q, fraction, at_least)


def _search(scene: _Scene, path: Array, tolerance_m: float, horizon_m: float) -> tuple[Array, Array]:
    """(fraction of the nearest posture met, lower bound [m]) of each motion of a path."""
    steps = np.diff(path, axis=0)
    parts = np.maximum(np.ceil(np.abs(steps).sum(axis=1) / _PIECE), 1.0).astype(int)
    motion = np.repeat(np.arange(len(steps)), parts)
    first = np.concatenate([np.arange(count) / count for count in parts])
    last = first + 1.0 / parts[motion]
    travel = np.abs(path).max(axis=0)

    def at(which: Index, fraction: Array) -> Array:
        return path[which] + fraction[:, None] * steps[which]

    # Speeds are per unit of the fraction.
    middle = 0.5 * (first + last)
    speed = scene.speeds(at(motion, middle), steps[motion], 0.5 * (last - first), travel)
    low, high = (scene.distances(at(motion, edge), horizon_m) for edge in (first, last))
    met = np.full(len(steps), np.inf)
    place = np.zeros(len(steps))
    at_least = np.full(len(steps), np.inf)

    def note(which: Index, fraction: Array, values: Array) -> None:
        order = np.lexsort((fraction, values, which))
        rows, start = np.unique(which[order], return_index=True)
        best = order[start]
        closer = values[best] < met[rows]
        met[rows[closer]], place[rows[closer]] = values[best][closer], fraction[best][closer]

    note(motion, first, low.min(axis=1, initial=np.inf))
    note(motion, last, high.min(axis=1, initial=np.inf))
    for _ in range(_ROUNDS):
        bound = (0.5 * (low + high - speed * (last - first)[:, None])).min(axis=1, initial=np.inf)
        split = bound < np.minimum(met[motion] - tolerance_m, horizon_m)
        np.minimum.at(at_least, motion[~split], bound[~split])
        if not split.any():
            break
        motion, first, last, speed, low, high = (x[split] for x in (motion, first, last, speed, low, high))
        middle = 0.5 * (first + last)
        between = scene.distances(at(motion, middle), horizon_m)
        note(motion, middle, between.min(axis=1))
        motion, speed = np.concatenate([motion, motion]), np.concatenate([speed, speed])
        first, last = np.concatenate([first, middle]), np.concatenate([middle, last])
        low, high = np.concatenate([low, between]), np.concatenate([between, high])
    else:
        np.minimum.at(at_least, motion, bound)
    return place, np.minimum(at_least, met)


def _shapes(obstacles: Any) -> tuple[Obstacle, ...]:
    found = tuple(obstacles) if isinstance(obstacles, list | tuple) else (obstacles,)
    for k, obstacle in enumerate(found):
        if not isinstance(obstacle, Shape):
            what = f"obstacles[{k}] is a {type(obstacle).__name__}"
            raise FieldworthyError(
                f"{what}; valid: Sphere, Box, Rod, HalfSpace, ConvexMesh (obstacles_from reads tables)"
            )
    return found


def _require_length(name: str, value: float, finite: bool) -> None:
    good = not math.isnan(value) and value >= 0.0 and (math.isfinite(value) or not finite)
    if not good:
        raise FieldworthyError(f"{name} = {value:g}; valid: metres >= 0{'' if finite else ', or infinite'}")


@lru_cache(maxsize=64)
def _scene(arm: Arm, obstacles: tuple[Obstacle, ...]) -> _Scene:
    return _Scene(arm, obstacles)


class _Scene:
    """An arm's capsules (c of them), its pairs (p) and the obstacles as arrays. Axes are arrays (3, n, c)."""

    def __init__(self, arm: Arm, obstacles: tuple[Obstacle, ...]) -> None:
        self.arm, self.obstacles = arm, obstacles
        shapes = arm.capsules
        if not shapes:
            what = "has no shapes: without capsules no clearance can be told"
            raise FieldworthyError(f"arm {arm.name} {what}; valid: capsules of its links (and tool)")
        for k, shape in enumerate(shapes):
            where = f"arm {arm.name}, capsule {k} ({shape.name or 'no name'})"
            if not 0 <= shape.link <= arm.dof:
                raise FieldworthyError(f"{where}: link {shape.link}; valid: 0 (base) to {arm.dof}")
            numbers = (*shape.a_m, *shape.b_m, shape.radius_m)
            if len(numbers) != 7 or not all(math.isfinite(x) for x in numbers):
                raise FieldworthyError(f"{where}: an end or the radius is not finite; valid: metres")
            if shape.radius_m <= 0.0:
                raise FieldworthyError(f"{where}: radius_m = {shape.radius_m:g}; valid: > 0")
        self.link = np.array([shape.link for shape in shapes])
        self.radius = np.array([shape.radius_m for shape in shapes])
        self.ends = np.ones((2, len(shapes), 4))
        self.ends[0, :, :3] = [shape.a_m for shape in shapes]
        self.ends[1, :, :3] = [shape.b_m for shape in shapes]
        self.half = 0.5 * np.linalg.norm(self.ends[1] - self.ends[0], axis=1)
        self.names = [f"link {shape.link}" + (f" ({shape.name})" if shape.name else "") for shape in shapes]
        near = {frozenset(pair) for pair in arm.near}
        tried = [
            (i, k) if shapes[i].link < shapes[k].link else (k, i)
            for i in range(len(shapes))
            for k in range(i + 1, len(shapes))
            if abs(shapes[i].link - shapes[k].link) > 1 and frozenset((shapes[i].link, shapes[k].link)) not in near
        ]
        self.first = np.array([i for i, _ in tried], int)
        self.second = np.array([k for _, k in tried], int)
        self.touching = self.radius[self.first] + self.radius[self.second]
        self.allowed = []
        for obstacle in obstacles:
            unknown = [link for link in obstacle.ignore_links if not 0 <= link <= arm.dof]
            if unknown:
                what = f"obstacle {obstacle.name}: ignore_links names link {unknown[0]}"
                raise FieldworthyError(f"{what}, arm {arm.name} has {arm.dof}; valid: 0 to {arm.dof}")
            self.allowed.append((self.link > 0) & ~np.isin(self.link, obstacle.ignore_links))
        # Cheap ones first: what they find spares the others.
        self.order = sorted(range(len(obstacles)), key=lambda k: (type(obstacles[k]).__name__ == "ConvexMesh", k))
        self.axis = np.array([joint.axis for joint in arm.joints])
        self.point = np.ones((arm.dof, 4))
        self.point[:, :3] = [joint.point_m for joint in arm.joints]
        self.revolute = np.array([joint.kind == "revolute" for joint in arm.joints])

    def axes(self, motions: Array) -> tuple[Array, Array]:
        """The ends of the capsules' axes now, (3, n, c) twice."""
        rows = motions[:, self.link, :3, :]
        a, b = (np.ascontiguousarray(np.einsum("ncij,cj->inc", rows, ends)) for ends in self.ends)
        return a, b

    # ------------------------------------------------------------------------------------------------ single postures

    def pair_distances(self, a: Array, b: Array) -> Array:
        """Of every pair of capsules, (n, p)."""
        u = b - a
        i, k = self.first, self.second
        apart: Array = segment_distances(u[:, :, i], u[:, :, k], a[:, :, i] - a[:, :, k]) - self.touching
        return apart

    def nearest_pair(self, a: Array, b: Array) -> Index:
        """Which pair is nearest, (n,); empty rows of -1 without pairs."""
        if not len(self.first):
            return np.full(a.shape[1], -1)
        nearest: Index = self.pair_distances(a, b).argmin(axis=1)
        return nearest

    def described_pair(self, a: Array, b: Array, pairs: list[Index], horizon_m: float) -> Nearest:
        which = np.concatenate([np.zeros(0, int), *pairs])
        found = _Rows(len(which))
        row = np.flatnonzero(which >= 0)
        i, k = self.first[which[row]], self.second[which[row]]
        gap = segment_segment(a[:, row, i].T, b[:, row, i].T, a[:, row, k].T, b[:, row, k].T)
        distance = gap.distance_m - self.radius[i] - self.radius[k]
        here = gap.on_segment_m - self.radius[i][:, None] * gap.normal
        there = gap.on_other_m + self.radius[k][:, None] * gap.normal
        kept = distance < horizon_m
        names = [(self.names[x], self.names[y]) for x, y in zip(i[kept], k[kept], strict=True)]
        found.put(row[kept], distance[kept], here[kept], there[kept], names)
        return found.nearest()

    def lower_bounds(self, a: Array, b: Array, obstacle: Obstacle) -> Array:
        """No capsule is nearer to the obstacle than this, (n, c): from balls around both."""
        centre, radius = obstacle.ball()
        if isinstance(obstacle, HalfSpace):
            x, y, z = obstacle.normal
            p = centre
            heights = [(e[0] - p[0]) * x + (e[1] - p[1]) * y + (e[2] - p[2]) * z for e in (a, b)]
            bound: Array = np.minimum(*heights) - self.radius
            return bound
        offset = 0.5 * (a + b) - centre[:, None, None]
        away: Array = np.sqrt(offset[0] ** 2 + offset[1] ** 2 + offset[2] ** 2)
        spared: Array = away - (self.half + self.radius + radius)
        return spared

    def nearest_obstacle(self, a: Array, b: Array, horizon_m: float) -> tuple[Index, Index]:
        """(obstacle, capsule) nearest, (n,) each; -1 where none is within the horizon."""
        count = a.shape[1]
        best = np.full(count, horizon_m)
        which, capsule = np.full(count, -1), np.full(count, -1)
        row = np.arange(count)
        for k in self.order:
            lower = np.where(self.allowed[k], self.lower_bounds(a, b, self.obstacles[k]), np.inf)
            # The likeliest capsule first; the others only where they may be nearer.
            likeliest = lower.argmin(axis=1)
            once = np.zeros(lower.shape, bool)
            once[row, likeliest] = True
            for chosen in (once, ~once):
                rows, columns = np.nonzero(chosen & (lower < best[:, None]))
                if not len(rows):
                    continue
                gap = self.obstacles[k].gap(a[:, rows, columns].T, b[:, rows, columns].T)
                distance = np.full(lower.shape, np.inf)
                distance[rows, columns] = gap.distance_m - self.radius[columns]
                nearest = distance.argmin(axis=1)
                value = distance[row, nearest]
                closer = value < best
                best[closer], which[closer], capsule[closer] = value[closer], k, nearest[closer]
        return which, capsule

    def described_obstacle(self, a: Array, b: Array, parts: list[tuple[Index, Index]]) -> Nearest:
        which = np.concatenate([np.zeros(0, int), *(part[0] for part in parts)])
        capsule = np.concatenate([np.zeros(0, int), *(part[1] for part in parts)])
        found = _Rows(len(which))
        for k, obstacle in enumerate(self.obstacles):
            row = np.flatnonzero(which == k)
            if not len(row):
                continue
            c = capsule[row]
            gap = obstacle.gap(a[:, row, c].T, b[:, row, c].T)
            radius = self.radius[c]
            here = gap.on_segment_m - radius[:, None] * gap.normal
            names = [(self.names[x], obstacle.name) for x in c]
            found.put(row, gap.distance_m - radius, here, gap.on_other_m, names)
        return found.nearest()

    # ------------------------------------------------------------------------------------------------------- motions

    def distances(self, q: Array, horizon_m: float) -> Array:
        """Of every pair and of every capsule with every obstacle, (n, p + c obstacles); those beyond the horizon are
        only no
        further than told, those that are not tried infinite."""
        found = [np.zeros((0, len(self.first) + len(self.link) * len(self.obstacles)))]
        for start in range(0, len(q), _BLOCK):
            a, b = self.axes(link_motions(self.arm, q[start : start + _BLOCK]))
            columns = [self.pair_distances(a, b)]
            for obstacle, allowed in zip(self.obstacles, self.allowed, strict=True):
                lower = np.where(allowed, self.lower_bounds(a, b, obstacle), np.inf)
                row, c = np.nonzero(lower < horizon_m)
                if len(row) and not isinstance(obstacle, HalfSpace):  # of a half-space the bound is the distance
                    lower[row, c] = obstacle.gap(a[:, row, c].T, b[:, row, c].T).distance_m - self.radius[c]
                columns.append(lower)
            found.append(np.concatenate(columns, axis=1))
        return np.concatenate(found)

    def speeds(self, q: Array, step: Array, half_width: Array, travel: Array) -> Array:
        """Bounds of how fast the distances of `distances` change [m per unit of the fraction], within a half width of
        q.

        Shapes: q, step (n, dof), half_width (n,), travel (dof,): the largest |q| of prismatic joints.
        """
        reach = self.reaches(travel)
        found = [np.zeros((0, len(self.first) + len(self.link) * len(self.obstacles)))]
        for start in range(0, len(q), _BLOCK):
            part = slice(start, start + _BLOCK)
            found.append(self._speeds(q[part], step[part], half_width[part], reach))
        return np.concatenate(found)

    def _speeds(self, q: Array, step: Array, half_width: Array, reach: Array) -> Array:
        motions = link_motions(self.arm, q)
        axis = np.einsum("njab,jb->nja", motions[:, 1:, :3, :3], self.axis)
        point = np.einsum("njab,jb->nja", motions[:, 1:, :3, :], self.point)
        ends = np.stack(self.axes(motions), axis=-1).transpose(1, 2, 3, 0)  # (n, c, 2, 3)
        arms = ends[:, None] - point[:, :, None, None, :]
        wide = np.broadcast_to(axis[:, :, None, None, :], arms.shape)
        each = np.where(self.revolute[:, None, None, None], np.cross(wide, arms), wide)
        each = each * step[:, :, None, None, None]
        moves = self.link[None, :] > np.arange(self.arm.dof)[:, None]  # joint j (0 the first) moves link j + 1 and on
        each *= moves[None, :, :, None, None]
        # Relative to link i a point is moved by the joints after i.
        after = np.cumsum(each[:, ::-1], axis=1)[:, ::-1]
        fastest = np.sqrt((after**2).sum(axis=-1)).max(axis=-1)  # (n, dof, c)
        size = np.abs(step)
        turned = size * self.revolute  # a slide turns no later axis, so it bends no path
        for start in range(self.arm.dof):
            before = np.cumsum(turned[:, start:], axis=1) - turned[:, start:]
            bend = (size[:, start:] * (2.0 * before + turned[:, start:])) @ reach[start:]
            fastest[:, start] += half_width[:, None] * bend
        own = fastest[:, self.link[self.first], self.second]
        around = [fastest[:, 0]] * len(self.obstacles)
        return np.concatenate([own, *around], axis=1)

    def reaches(self, travel: Array) -> Array:
        """How far an axis point of a capsule can be from joint k's axis in any posture, (dof, c); 1 for a prismatic
        joint, whose direction is what turns; 0 where the joint does not move the capsule.

        Equation: along a chain of points, one on each axis: each step keeps its length.
        """
        reach = np.zeros((self.arm.dof, len(self.link)))
        anchors = self.point[:, :3].copy()
        for k in range(1, self.arm.dof):
            if self.revolute[k]:
                anchors[k] += np.dot(anchors[k - 1] - anchors[k], self.axis[k]) * self.axis[k]
            else:
                anchors[k] = anchors[k - 1]
        for c, link in enumerate(self.link):
            if link == 0:
                continue
            length = float(np.linalg.norm(self.ends[:, c, :3] - anchors[link - 1], axis=1).max())
            for k in range(link - 1, -1, -1):
                reach[k, c] = length if self.revolute[k] else 1.0
                if not self.revolute[k]:
                    length += float(travel[k])
                if k:
                    length += float(np.linalg.norm(anchors[k] - anchors[k - 1]))
        return reach


class _Rows:
    """The rows of a Nearest, none found yet."""

    def __init__(self, count: int) -> None:
        self.distance = np.full(count, np.inf)
        self.here, self.there = np.full((count, 3), np.nan), np.full((count, 3), np.nan)
        self.names = [("", "")] * count

    def put(self, row: Index, distance: Array, here: Array, there: Array, names: list[tuple[str, str]]) -> None:
        self.distance[row], self.here[row], self.there[row] = distance, here, there
        for k, pair in zip(row.tolist(), names, strict=True):
            self.names[k] = pair

    def nearest(self) -> Nearest:
        return Nearest(self.distance, tuple(self.names), self.here, self.there)
