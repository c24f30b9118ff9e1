"""How far a posture is from where an arm loses a direction: by kind for the usual shapes, and by singular values for
any.

Equation: the Jacobian's determinant of the usual six-axis shapes is a product of three factors, one for each kind:
wrist, the sine of the middle wrist angle; elbow, the sine of the bend between upper arm and forearm; shoulder, the
distance of the wrist from the plane through axis 1 that holds the direction of axis 2. Each is 0 at its singularity.
Source: Hayes, Husty & Zsombor-Murray, Singular configurations of wrist-partitioned 6R serial robots, Trans. CSME
26(1), 2002
Limits: by kind only for arms whose closed form is known; seven axes can pass such postures with the help of the
seventh.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed import closed_of
from fieldworthy.arms.kinematics import carried, jacobian, link_motions
from fieldworthy.arms.posture import postures
from fieldworthy.core.lanes import Scalar, sqrt
from fieldworthy.core.straight import written
from fieldworthy.core.vec import cross, dot


@dataclass(frozen=True)
class Singularities:
    """Measures of n postures. NaN where the arm has no such kind."""

    wrist: Array
    """(n,) sine of the middle wrist angle, 0 to 1."""
    elbow: Array
    """(n,) sine of the bend between upper arm and forearm, 0 to 1: 0 is stretched (or folded) out."""
    shoulder_m: Array
    """(n,) distance of the wrist from the plane of axis 1 along axis 2 [m]."""
    least_gain: Array
    """(n,) smallest singular value of the Jacobian with lengths in units of the arm's reach: the slowest direction."""

    @property
    def nearest(self) -> tuple[str, ...]:
        """Which kind is nearest in each posture, the shoulder counted in units of 0.5 m; "" where none is known."""
        rows = np.stack([self.wrist, self.elbow, self.shoulder_m / 0.5])
        rows = np.where(np.isnan(rows), np.inf, rows)
        names = ("wrist", "elbow", "shoulder")
        return tuple("" if np.isinf(column).all() else names[int(column.argmin())] for column in rows.T)


def singularities(arm: Arm, q: Any) -> Singularities:
    """The measures of postures (dof,) or (n, dof).

    Raises: FieldworthyError for what are no postures.
    """
    rows = np.atleast_2d(postures(arm, q))
    j = jacobian(arm, rows)
    scale = np.ones((6, 1))
    scale[:3] = 1.0 / reach_m(arm)
    gains = np.asarray(np.linalg.svd(j * scale, compute_uv=False), float)
    form = closed_of(arm)
    if form is None:
        nothing = np.full(len(rows), np.nan)
        return Singularities(nothing, nothing, nothing, gains[:, -1])
    motions = link_motions(arm, rows)
    kept = form.shape.joints
    axes, points = [], []
    for place, index in enumerate(kept):
        motion = motions[:, index]
        axes.append(motion[:, :3, :3] @ np.array(arm.joints[index].axis))
        points.append(motion[:, :3, :3] @ np.array(form.shape.points[place]) + motion[:, :3, 3])
    parallel = form.shape.kind == "2, 3 and 4 parallel"
    first, last = (axes[1] if parallel else axes[3]), axes[5]
    wrist = np.linalg.norm(np.cross(first, last), axis=1)
    centre = points[5]
    tip = points[3] if parallel else centre
    upper, fore = points[2] - points[1], tip - points[2]
    upper, fore = (v - axes[2] * (v * axes[2]).sum(axis=1, keepdims=True) for v in (upper, fore))
    lengths = np.linalg.norm(upper, axis=1) * np.linalg.norm(fore, axis=1)
    elbow = np.linalg.norm(np.cross(upper, fore), axis=1) / np.maximum(lengths, 1e-300)
    normal = np.cross(axes[0], axes[1])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    shoulder = np.abs((normal * (centre - points[0])).sum(axis=1))
    return Singularities(wrist, elbow, shoulder, gains[:, -1])


@lru_cache(maxsize=64)
def _wrist_law(arm: Arm, first: int) -> Any:
    def law(*q: Scalar) -> Scalar:
        _, _, axes = carried(arm.joints, q)
        off = cross(axes[first], axes[-1])
        return sqrt(dot(off, off))

    return written(law, arm.dof, "numpy")


def wrist_sine(arm: Arm, q: Array) -> Array:
    """(n,) sine of the middle wrist angle of postures (n, dof); NaN where the arm has no such measure."""
    form = closed_of(arm)
    if form is None:
        return np.full(len(q), np.nan)
    first = form.shape.joints[1 if form.shape.kind == "2, 3 and 4 parallel" else 3]
    return np.broadcast_to(_wrist_law(arm, first)(*q.T.copy())[0], len(q)).astype(float)


def reach_m(arm: Arm) -> float:
    """Length of the arm when every link is laid end to end, from the first joint to the tool [m]."""
    points = [np.array(joint.point_m) for joint in arm.joints] + [np.array(arm.home)[:3, 3]]
    return float(sum(np.linalg.norm(b - a) for a, b in zip(points, points[1:], strict=False))) or 1.0
