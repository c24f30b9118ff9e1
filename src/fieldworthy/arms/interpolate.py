"""Between poses and between samples: straight lines with slerp, arcs through three points, joints over time.

Poses are `frame_from_tool` matrices; the answers are in the same frame. Metres and radians.
Equation: position p0 + f (p1 - p0); rotation R0 exp(f log(R0^T R1)), the slerp of the two quaternions: it turns about
one axis, at a constant rate, by the smaller angle. At exactly half a turn both ways are as short; the one whose
axis has a positive largest component is taken, so the same two poses always give the same path.
Source: Shoemake, Animating rotation with quaternion curves, SIGGRAPH 1985; Lynch & Park, Modern Robotics, 2017, ch. 9.2
Verified by: tests/verification/test_arm_interpolate.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from fieldworthy.arms.chain import Array
from fieldworthy.arms.kinematics import rotation_vector as turn_vector
from fieldworthy.arms.orientation import matrix_of, values_of
from fieldworthy.arms.posture import pose_numbers
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.straight import written
from fieldworthy.core.vec import (
    Mat3,
    Vec3,
    mat3_from_quat,
    mat3_multiply,
    mat3_transpose,
    norm,
    quat_from_rotation_vector,
)

_FLAT_ARC = 1e-9
"""Sine of an angle of a triangle below which its corners are taken as points of one line."""


def slerp(first: ArrayLike, second: ArrayLike, fraction: ArrayLike) -> Array:
    """Rotations between two rotations, the shorter way; fractions 0 and 1 give them back exactly.

    Shapes: rotations (3, 3) or (n, 3, 3), fraction () or (n,), broadcast; the answer (3, 3) or (n, 3, 3).
    Raises: FieldworthyError for matrices that are no rotations.
    """
    a, b, f = np.asarray(first, float), np.asarray(second, float), np.asarray(fraction, float)
    between = a @ matrix_of("ur_rotvec", f[..., None] * rotation_vector(a, b))
    share = f[..., None, None]
    return np.where(share == 0.0, a, np.where(share == 1.0, b, between))


def lerp_pose(first: ArrayLike, second: ArrayLike, fraction: ArrayLike) -> Array:
    """Poses on the straight line between two poses, turning by slerp.

    Shapes: poses (4, 4) or (n, 4, 4), fraction () or (n,), broadcast; the answer (4, 4) or (n, 4, 4).
    Raises: FieldworthyError for matrices that are no rotations.
    """
    a, b, f = np.asarray(first, float), np.asarray(second, float), np.asarray(fraction, float)
    if a.shape == b.shape == (4, 4) and f.ndim == 0:
        one = _one_lerp(a, b, float(f))
        if one is not None:
            return one
    turn = slerp(a[..., :3, :3], b[..., :3, :3], f)
    share = f[..., None]
    # Not p0 + f (p1 - p0): at f = 1 that may miss p1 by a rounding, and a target that has arrived must stand still.
    place = (1.0 - share) * a[..., :3, 3] + share * b[..., :3, 3]
    return _pose(turn, place)


# One pose at a time, as a player asks for them, array operations cost a hundred times their numbers: the same
# equations once more as laws, written out.


def _parts(v: Sequence[Scalar]) -> tuple[Mat3, Vec3]:
    return Mat3(v[0], v[1], v[2], v[4], v[5], v[6], v[8], v[9], v[10]), Vec3(v[3], v[7], v[11])


@cache
def _lerp_law() -> Callable[..., tuple[float, ...]]:
    def law(*v: Scalar) -> tuple[Scalar, ...]:
        (a, p), (b, q), share = _parts(v), _parts(v[12:]), v[24]
        turn = mat3_multiply(mat3_transpose(a), b)
        between = mat3_multiply(a, mat3_from_quat(quat_from_rotation_vector(turn_vector(turn) * share)))
        place = p * (1.0 - share) + q * share
        rows = zip((0, 3, 6), place, strict=True)
        entries = tuple(between)
        return (turn.xx + turn.yy + turn.zz, *(x for k, at in rows for x in (*entries[k : k + 3], at)))

    return written(law, 25)


@cache
def _distance_law() -> Callable[..., tuple[float, float]]:
    def law(*v: Scalar) -> tuple[Scalar, Scalar]:
        (a, p), (b, q) = _parts(v), _parts(v[12:])
        return norm(q - p), norm(turn_vector(mat3_multiply(mat3_transpose(a), b)))

    return written(law, 24)


def _one_lerp(a: Array, b: Array, share: float) -> Array | None:
    """One pose on the way, or None near half a turn, where the axis is a matter of choice (see `slerp`)."""
    first, second = pose_numbers(a), pose_numbers(b)
    if not math.isfinite(share):
        return None
    if share in (0.0, 1.0):
        return np.array(b if share else a)
    trace, *entries = _lerp_law()(*first, *second, share)
    return None if trace < -0.9 else np.array((*entries, 0.0, 0.0, 0.0, 1.0)).reshape(4, 4)


def rotation_vector(first: ArrayLike, second: ArrayLike) -> Array:
    """Axis times angle [rad] of the rotation from the first to the second, in the axes of the first (the tool's).

    Shapes: (3, 3) or (n, 3, 3), broadcast; the answer (3,) or (n, 3).
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    return values_of("ur_rotvec", np.swapaxes(a, -1, -2) @ b)


def pose_distance(first: ArrayLike, second: ArrayLike) -> tuple[Array, Array]:
    """(distance [m], angle [rad] in 0 to pi) between poses (4, 4) or (n, 4, 4), broadcast; answers () or (n,)."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    if a.shape == b.shape == (4, 4):
        numbers = _distance_law()(*a.ravel()[:12].tolist(), *b.ravel()[:12].tolist())
        return np.asarray(numbers[0]), np.asarray(numbers[1])
    apart = np.sqrt(np.sum((a[..., :3, 3] - b[..., :3, 3]) ** 2, axis=-1))
    turn = rotation_vector(a[..., :3, :3], b[..., :3, :3])
    return apart, np.sqrt(np.sum(turn * turn, axis=-1))


def subdivisions(distance_m: float, angle_rad: float, step_m: float, step_rad: float) -> int:
    """Into how many equal parts a motion falls so that none is longer than a step; 1 or more.

    Raises: FieldworthyError for steps that are not positive, or more than a million parts.
    """
    if not (step_m > 0.0 and step_rad > 0.0):
        raise FieldworthyError(f"steps of {step_m:g} m and {step_rad:g} rad; valid: both > 0, infinite for no limit")
    # A step that divides the length exactly must not make one more part by rounding.
    parts = max(distance_m / step_m, angle_rad / step_rad) - 1e-9
    if parts > 1e6:
        raise FieldworthyError(f"steps of {step_m:g} m and {step_rad:g} rad cut one motion into {parts:.3g} parts")
    return max(1, math.ceil(parts))


@dataclass(frozen=True)
class Arc:
    """The arc from a start through a point to an end."""

    centre_m: Array
    """Shape (3,)."""
    radius_m: float
    axis: Array
    """Unit normal of its plane, shape (3,); the arc runs right-handed about it."""
    from_centre_m: Array
    """From the centre to the start, shape (3,)."""
    via_rad: float
    """Angle about the axis from the start to the point on the way."""
    end_rad: float
    """Angle from the start to the end, in (via_rad, 2 pi)."""

    def points(self, angle_rad: ArrayLike) -> Array:
        """Points at angles () or (n,) from the start: (3,) or (n, 3) [m]."""
        angle = np.asarray(angle_rad, float)[..., None]
        aside = np.cross(self.axis, self.from_centre_m)
        found: Array = self.centre_m + np.cos(angle) * self.from_centre_m + np.sin(angle) * aside
        return found


def arc_through(start_m: ArrayLike, via_m: ArrayLike, end_m: ArrayLike) -> Arc | None:
    """The one arc through three points (3,) [m], or None where they lie on one line, or two of them at one place.

    Equation: with a = via - start and b = end - start,
    centre = start + (|a|^2 b - |b|^2 a) x (a x b) / (2 |a x b|^2): in the plane of the three and equally far from each.
    Source: circumcentre of a triangle, vector form
    """
    start, via, end = (np.asarray(p, float) for p in (start_m, via_m, end_m))
    a, b = via - start, end - start
    normal = np.cross(a, b)
    squared = float(normal @ normal)
    sides = (float(a @ a), float(b @ b), float((b - a) @ (b - a)))
    # |a x b| over the two longer sides is the sine of the angle between them, the smallest of the triangle.
    longest = sorted(sides)[1:]
    if squared <= _FLAT_ARC**2 * longest[0] * longest[1]:
        return None
    centre = start + np.cross(normal, sides[0] * b - sides[1] * a) / (-2.0 * squared)
    axis = normal / math.sqrt(squared)
    spoke = start - centre
    radius = math.sqrt(float(spoke @ spoke))
    aside = np.cross(axis, spoke)

    def angle(point: Array) -> float:
        out = point - centre
        return math.atan2(float(out @ aside), float(out @ spoke)) % (2.0 * math.pi)

    return Arc(centre, radius, axis, spoke, angle(via), angle(end))


def arc_poses(first: ArrayLike, second: ArrayLike, arc: Arc, fraction: ArrayLike) -> Array:
    """Poses along an arc: the place on it, the rotation by slerp between the two poses (the one on the way has no say).

    Shapes: poses (4, 4), fraction () or (n,) of the arc's angle; the answer (4, 4) or (n, 4, 4).
    """
    a, b, f = np.asarray(first, float), np.asarray(second, float), np.asarray(fraction, float)
    return _pose(slerp(a[:3, :3], b[:3, :3], f), arc.points(f * arc.end_rad))


def at_times(t_s: Array, values: Array, when_s: ArrayLike) -> Array:
    """Values between samples, linear in time, and the first or last one outside of them.

    Shapes: t_s (n,) increasing, values (n, k), when_s () or (m,); the answer (k,) or (m, k). A sample's own time gives
    the sample exactly.
    """
    when = np.asarray(when_s, float)
    if len(t_s) == 1:
        return np.broadcast_to(values[0], (*when.shape, values.shape[1])).copy()
    right = np.clip(np.searchsorted(t_s, when, side="right"), 1, len(t_s) - 1)
    before, after = t_s[right - 1], t_s[right]
    share = np.clip((when - before) / (after - before), 0.0, 1.0)[..., None]
    return (1.0 - share) * values[right - 1] + share * values[right]


def _pose(turn: Array, place: Array) -> Array:
    pose = np.zeros((*turn.shape[:-2], 4, 4))
    pose[..., :3, :3] = turn
    pose[..., :3, 3] = place
    pose[..., 3, 3] = 1.0
    return pose
