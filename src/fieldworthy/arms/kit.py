"""What the numeric solvers need to know of an arm, prepared once: limits, error scale, laws; and honest answers.

Every error that a solver reports is measured here by forward kinematics, and every failure gets its reason.
A goal is a pose base_from_tool as twelve numbers, its upper three rows one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from fieldworthy.arms.chain import Arm
from fieldworthy.arms.kinematics import forward, forward_and_jacobian, pose_error
from fieldworthy.arms.posture import poses, postures
from fieldworthy.arms.solver import Attempt
from fieldworthy.arms.starts import Starts
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.lanes import Scalar, sqrt
from fieldworthy.core.straight import written
from fieldworthy.core.vec import Mat3, Vec3, dot

TURN = 2.0 * math.pi


def goal_of(numbers: Sequence[Scalar]) -> tuple[Mat3, Vec3]:
    """(rotation, position [m]) of the twelve numbers of a goal."""
    a, b, c, x, d, e, f, y, g, h, i, z = numbers
    return Mat3(a, b, c, d, e, f, g, h, i), Vec3(x, y, z)


def goal_numbers(base_from_tool: Any) -> list[float]:
    """The twelve numbers of a pose (4, 4). Raises: FieldworthyError for what is no pose."""
    pose = np.asarray(base_from_tool, float)
    if pose.shape != (4, 4):
        raise FieldworthyError(f"pose: shape {pose.shape}; valid: (4, 4), base_from_tool")
    found: list[float] = pose[:3].ravel().tolist()
    a, b, c, x, d, e, f, y, g, h, i, z = found
    # NaN fails every comparison, so that what is doubtful is told by the slower function with words.
    unit = abs(a * a + d * d + g * g - 1.0) < 1e-7 and abs(b * b + e * e + h * h - 1.0) < 1e-7
    square = abs(a * b + d * e + g * h) < 1e-7
    third = abs(d * h - g * e - c) + abs(g * b - a * h - f) + abs(a * e - d * b - i) < 1e-7
    if not (unit and square and third and math.isfinite(x + y + z) and pose[3].tolist() == [0.0, 0.0, 0.0, 1.0]):
        poses(pose)
    return found


class Kit:
    """An arm as numeric solvers use it. Positions are plain lists of floats, (dof,)."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.dof = arm.dof
        self.lower: list[float] = arm.lower.tolist()
        self.upper: list[float] = arm.upper.tolist()
        self.speed: list[float] = arm.speed.tolist()
        self.turning = [joint.kind == "revolute" for joint in arm.joints]
        self.shoulder, self.reach_m = _reach(arm)
        self.length_m = max(0.3 * self.reach_m, 1e-3)
        """A turn of one radian counts as much as this distance, where one number must stand for both."""
        self._laws: dict[Any, Callable[..., Any]] = {}
        self._starts: dict[int, Starts] = {}
        self.lanes: dict[Any, Any] = {}
        """Kernels of the compiled engines, by engine; filled where they are used."""

    def law(
        self, make: Callable[[Kit], Callable[..., Any]], count: int, engine: Literal["float", "numpy"] = "float"
    ) -> Callable[..., Any]:
        """The law that `make` makes for this arm, of `count` numbers, written out at its first use."""
        key = (make, engine)
        if key not in self._laws:
            self._laws[key] = written(make(self), count, engine)
        return self._laws[key]

    @cached_property
    def errors(self) -> Callable[..., tuple[float, float]]:
        """errors(*q, *goal) -> (distance [m], angle [rad])."""
        return self.law(errors_law, self.dof + 12)

    @cached_property
    def normals(self) -> Callable[..., Any]:
        """normals(*q, *goal) -> (lower triangle of J^T J by rows, J^T e, squared distance, squared angle)."""
        return self.law(normals_law, self.dof + 12)

    @cached_property
    def solve(self) -> Callable[..., Any]:
        """solve(*lower triangle, *added to the diagonal, *right side) -> x, by an LDL^T factorisation."""
        size = self.dof
        return self.law(solve_law, size * (size + 1) // 2 + 2 * size)

    def starts(self, draw: int = 0) -> Starts:
        """The library of random postures of a number `draw`."""
        if draw not in self._starts:
            self._starts[draw] = Starts(self.arm, draw, 1.5 * self.length_m)
        return self._starts[draw]

    def cost(self, distance_m: float, angle_rad: float) -> float:
        """One number for both errors [rad^2]."""
        away = distance_m / self.length_m
        return away * away + angle_rad * angle_rad

    def inside(self, q: Sequence[float]) -> list[float]:
        """Within the limits: by whole turns where that is possible, else at the nearest limit."""
        found = []
        for x, low, high, turning in zip(q, self.lower, self.upper, self.turning, strict=True):
            if low <= x <= high:
                found.append(x)
                continue
            turned = x + TURN * round(((low + high) * 0.5 - x) / TURN) if turning else x
            found.append(turned if low <= turned <= high else low if x < low else high)
        return found

    def wound(self, q: Sequence[float], near: Sequence[float]) -> list[float]:
        """The same posture by whole turns, each joint as near to `near` as its limits allow; q is within them."""
        found = []
        for x, goal, low, high, turning in zip(q, near, self.lower, self.upper, self.turning, strict=True):
            if turning:
                turns = round((goal - x) / TURN)
                turns = min(max(turns, math.ceil((low - x) / TURN)), math.floor((high - x) / TURN))
                x = min(max(x + TURN * turns, low), high)
            found.append(x)
        return found

    def attempt(
        self,
        goal: Sequence[float],
        q: Sequence[float],
        iterations: int,
        tolerance: tuple[float, float],
        why: str | None = None,
    ) -> Attempt:
        """The answer for a posture, measured; `why` replaces the reason that is found from the posture."""
        distance, angle = self.errors(*q, *goal)
        reached = distance <= tolerance[0] and angle <= tolerance[1]
        if reached:
            why = ""
        elif why is None:
            why = self.why_not(goal, q, distance, angle, iterations)
        return Attempt(np.array(q, float), reached, distance, angle, iterations, why)

    def why_not(
        self, goal: Sequence[float], q: Sequence[float], distance_m: float, angle_rad: float, iterations: int
    ) -> str:
        """Why a solver ended at a posture that is not the goal."""
        away = math.dist((goal[3], goal[7], goal[11]), self.shoulder)
        if away > self.reach_m:
            return f"out of reach: target is {away:.3f} m from the shoulder, reach is {self.reach_m:.3f} m"
        left = rest(distance_m, angle_rad)
        stuck = [self.arm.joints[index].name for index in self.pushed(goal, q)]
        if stuck:
            names = ", ".join(stuck)
            return f"stuck at {'a limit of joint' if len(stuck) == 1 else 'limits of joints'} {names}, {left}"
        return f"no progress after {iterations} iterations, {left}"

    def pushed(self, goal: Sequence[float], q: Sequence[float]) -> list[int]:
        """The joints that stand at a limit and would go on past it."""
        count = self.dof * (self.dof + 1) // 2
        pull = self.normals(*q, *goal)[count : count + self.dof]
        return [
            index
            for index, (x, g, low, high) in enumerate(zip(q, pull, self.lower, self.upper, strict=True))
            if (x >= high - 1e-9 and g > 0.0) or (x <= low + 1e-9 and g < 0.0)
        ]


def rest(distance_m: float, angle_rad: float) -> str:
    """What is left of the way, in words."""
    return f"{distance_m * 1000.0:.3g} mm and {math.degrees(angle_rad):.3g} deg left"


@lru_cache(maxsize=64)
def kit(arm: Arm) -> Kit:
    """The kit of an arm, made once."""
    return Kit(arm)


def posture(arm: Arm, q: Any, name: str = "seed") -> list[float]:
    """One posture as a list. Raises: FieldworthyError for another shape or numbers that are not finite."""
    row = postures(arm, q, name)
    if row.ndim != 1:
        raise FieldworthyError(f"{name}: shape {row.shape}; valid: ({arm.dof},)")
    found: list[float] = row.tolist()
    return found


def _reach(arm: Arm) -> tuple[tuple[float, float, float], float]:
    """(shoulder, bound of the tool's distance from it [m]): the chain's links laid in one line.

    The shoulder is the foot of the second joint's point on the first joint's axis; the bound: triangle inequality.
    """
    points = [np.array(joint.point_m) for joint in arm.joints]
    points.append(np.array(arm.home)[:3, 3])
    first = arm.joints[0]
    if first.kind == "revolute":
        axis = np.array(first.axis)
        points[0] = points[0] + axis * float(axis @ (points[1] - points[0]))
    reach = sum(float(np.linalg.norm(b - a)) for a, b in zip(points, points[1:], strict=False))
    reach += sum(max(abs(j.lower), abs(j.upper)) for j in arm.joints if j.kind == "prismatic")
    x, y, z = (float(value) for value in points[0])
    return (x, y, z), reach


def errors_law(of: Kit) -> Callable[..., Any]:
    def law(*numbers: Scalar) -> Any:
        offset, turn = pose_error(*forward(of.arm, numbers[: of.dof]), *goal_of(numbers[of.dof :]))
        return sqrt(dot(offset, offset)), sqrt(dot(turn, turn))

    return law


def normals_law(of: Kit) -> Callable[..., Any]:
    """Equation: J^T J and J^T e with e = ((p_goal - p)/l, log(R_goal R^T)), l the length that counts as a radian."""

    def law(*numbers: Scalar) -> Any:
        rotation, position, columns = forward_and_jacobian(of.arm, numbers[: of.dof])
        offset, turn = pose_error(rotation, position, *goal_of(numbers[of.dof :]))
        scale = 1.0 / of.length_m
        away = offset * scale
        scaled = [(velocity * scale, spin) for velocity, spin in columns]
        squares = [dot(v, u) + dot(w, s) for i, (v, w) in enumerate(scaled) for u, s in scaled[: i + 1]]
        return (*squares, *(dot(v, away) + dot(w, turn) for v, w in scaled), dot(offset, offset), dot(turn, turn))

    return law


def solve_law(of: Kit) -> Callable[..., Any]:
    size = of.dof

    def law(*numbers: Scalar) -> Any:
        count = size * (size + 1) // 2
        rows = [numbers[i * (i + 1) // 2 : i * (i + 1) // 2 + i + 1] for i in range(size)]
        return solve_symmetric(rows, numbers[count : count + size], numbers[count + size :])

    return law


def solve_symmetric(rows: Sequence[Sequence[Scalar]], added: Sequence[Scalar], right: Sequence[Scalar]) -> list[Scalar]:
    """x of (A + diagonal(added)) x = right, A symmetric and positive, given by the rows of its lower triangle.

    Equation: A = L D L^T without square roots. Source: Golub & Van Loan, Matrix Computations, 2013, section 4.1
    Limits: a pivot of zero divides by zero; something positive on the diagonal keeps it away.
    """
    size = len(rows)
    pivots: list[Scalar] = []
    below: dict[tuple[int, int], Scalar] = {}
    for i in range(size):
        raw: list[Scalar] = []
        for j in range(i):
            value = rows[i][j]
            for k in range(j):
                value = value - below[j, k] * raw[k]
            raw.append(value)
            below[i, j] = value / pivots[j]
        pivot = rows[i][i] + added[i]
        for j in range(i):
            pivot = pivot - below[i, j] * raw[j]
        pivots.append(pivot)
    found = list(right)
    for i in range(size):
        for j in range(i):
            found[i] = found[i] - below[i, j] * found[j]
    for i in reversed(range(size)):
        found[i] = found[i] / pivots[i]
        for j in range(i + 1, size):
            found[i] = found[i] - below[j, i] * found[j]
    return found
