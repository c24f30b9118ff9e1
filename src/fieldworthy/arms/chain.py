"""An arm as numbers: joints with axes and limits, drawn in its base frame at the zero posture.

Frames: the base is right-handed with z up and x forward, as its maker (and ROS) draws it; metres and radians. A pose
is a 4x4 matrix named by what it makes from what: `base_from_tool` turns tool coordinates into base coordinates. Every
axis, point and shape is given in base coordinates with all joints at zero, so no link has a frame of its own: link i
is moved by the product of the screws of joints 1 to i (Source: Lynch & Park, Modern Robotics, 2017, ch. 4).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.errors import FieldworthyError

Triple: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[tuple[float, float, float, float], ...]
"""Four rows of a homogeneous matrix, hashable."""
Array: TypeAlias = NDArray[np.float64]

IDENTITY: Matrix = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Joint:
    """One moving joint. Its position is an angle [rad] or, prismatic, a length [m]; limits and rates in the same
    unit."""

    name: str
    axis: Triple
    """Unit vector, base frame, zero posture; a positive position turns (right-handed) about it or moves along it."""
    point_m: Triple
    """A point on the axis, base frame, zero posture; of no effect for a prismatic joint."""
    lower: float
    upper: float
    speed: float
    """Largest speed [1/s of the position's unit]; infinite where unknown."""
    acceleration: float = math.inf
    """Largest acceleration [1/s^2 of the position's unit]; infinite where unknown."""
    kind: Literal["revolute", "prismatic"] = "revolute"

    def __post_init__(self) -> None:
        # NumPy's scalars would leave the engines of the laws without a word (core/lanes.py).
        for name in ("lower", "upper", "speed", "acceleration"):
            object.__setattr__(self, name, float(getattr(self, name)))
        for name in ("axis", "point_m"):
            object.__setattr__(self, name, tuple(float(x) for x in getattr(self, name)))


@dataclass(frozen=True)
class Capsule:
    """All points within a radius of a segment, fixed to a link; endpoints in base coordinates at the zero posture."""

    link: int
    """0 is the base, i the link that joint i moves; the last one carries the tool."""
    a_m: Triple
    b_m: Triple
    radius_m: float
    name: str = ""


@dataclass(frozen=True)
class Arm:
    """A serial chain of moving joints from base to tool.

    Raises: FieldworthyError for axes that are no unit vectors, limits the wrong way round, or numbers that are not
    finite.
    """

    name: str
    joints: tuple[Joint, ...]
    flange: Matrix
    """base_from_flange at the zero posture."""
    tool: Matrix = IDENTITY
    """flange_from_tool."""
    capsules: tuple[Capsule, ...] = ()
    near: tuple[tuple[int, int], ...] = ()
    """Pairs of links (besides neighbours) that touch by construction and are not tried for collision."""
    title: str = ""
    dof: int = field(init=False, compare=False)
    """How many joints move."""
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.joints:
            raise FieldworthyError(f"arm {self.name}: no moving joint; valid: one or more")
        for joint in self.joints:
            where = f"arm {self.name}, joint {joint.name}"
            numbers = (*joint.axis, *joint.point_m, joint.lower, joint.upper)
            if not all(math.isfinite(x) for x in numbers):
                raise FieldworthyError(f"{where}: axis, point or limit is not finite; valid: numbers")
            if abs(math.hypot(*joint.axis) - 1.0) > 1e-9:
                raise FieldworthyError(f"{where}: axis {joint.axis} is no unit vector; valid: length 1")
            if joint.lower > joint.upper:
                raise FieldworthyError(f"{where}: limits {joint.lower:g} to {joint.upper:g}; valid: lower <= upper")
            if not joint.speed > 0.0 or not joint.acceleration > 0.0:
                raise FieldworthyError(f"{where}: speed or acceleration limit is not positive; valid: > 0, or infinite")
        for label, matrix in (("flange", self.flange), ("tool", self.tool)):
            if not is_rigid(np.array(matrix)):
                raise FieldworthyError(f"arm {self.name}: {label} is no rigid motion; valid: a 4x4 rotation and offset")

        object.__setattr__(self, "dof", len(self.joints))
        object.__setattr__(self, "_hash", hash((self.name, self.joints, self.flange, self.tool, self.capsules)))

    def __hash__(self) -> int:
        """Worked out once: arms are looked up at every call of their kinematics."""
        return self._hash

    @property
    def lower(self) -> Array:
        """Lower limits, shape (dof,) [rad or m]."""
        return np.array([joint.lower for joint in self.joints])

    @property
    def upper(self) -> Array:
        """Upper limits, shape (dof,) [rad or m]."""
        return np.array([joint.upper for joint in self.joints])

    @property
    def speed(self) -> Array:
        """Speed limits, shape (dof,) [rad/s or m/s]."""
        return np.array([joint.speed for joint in self.joints])

    @property
    def acceleration(self) -> Array:
        """Acceleration limits, shape (dof,) [rad/s^2 or m/s^2]."""
        return np.array([joint.acceleration for joint in self.joints])

    @property
    def home(self) -> Matrix:
        """base_from_tool at the zero posture."""
        return as_matrix(np.array(self.flange) @ np.array(self.tool))

    def with_tool(self, flange_from_tool: Array | Matrix) -> Arm:
        """The same arm with another tool on its flange."""
        return dataclasses.replace(self, tool=as_matrix(np.asarray(flange_from_tool, float)))


def as_matrix(array: Array) -> Matrix:
    """A 4x4 array as hashable rows."""
    return tuple(tuple(float(x) for x in row) for row in np.asarray(array, float))  # type: ignore[misc]


def is_rigid(matrix: Array, tolerance: float = 1e-6) -> bool:
    """Whether a 4x4 array is a right-handed rotation and an offset."""
    return matrix.shape == (4, 4) and bool(are_rigid(matrix[None], tolerance)[0])


def are_rigid(matrices: Array, tolerance: float = 1e-6) -> NDArray[np.bool_]:
    """(n,) the same for arrays (n, 4, 4)."""
    turn = matrices[:, :3, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(turn @ np.swapaxes(turn, 1, 2) - np.eye(3)).max(axis=(1, 2))
        good = (off <= tolerance) & (np.linalg.det(turn) > 0.0) & np.isfinite(matrices).all(axis=(1, 2))
        return np.asarray(good & (np.abs(matrices[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1) == 0.0))
