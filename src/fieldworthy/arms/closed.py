"""The closed form of one arm, written out for one pose and for many, with the whole turns that limits allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.arms.closed_form import branches
from fieldworthy.arms.shape import Shape, recognised
from fieldworthy.core.lanes import Scalar, clip, floor, logical_and
from fieldworthy.core.straight import written
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Mat3, Vec3

EDGE = 1e-7
"""Slack [m or 1] and sine within which a branch is checked by forward kinematics before it is believed."""
SPARE_RAD = 1e-10
"""By how much an angle may miss a limit and still be put on it."""
TURN = 2.0 * math.pi
_SPARE_TURNS = SPARE_RAD / TURN
_MANY = 4096
"""Poses from which a compiled kernel is quicker than NumPy, its loading (0.7 s) left out."""
_SOME = 256
"""The same once that kernel is loaded."""
MOST_TURNS = 64
"""A joint without limits turns no further than this either way."""


class Closed:
    """The closed form of one arm. Values are the pose's 12 numbers, six angles to be near to, and the held joint's
    position."""

    def __init__(self, arm: Arm, shape: Shape) -> None:
        self.arm = arm
        self.shape = shape
        self.count = 18 + (shape.held is not None)
        self.limits = [
            (max(joint.lower, -MOST_TURNS * TURN), min(joint.upper, MOST_TURNS * TURN))
            for joint in (arm.joints[index] for index in shape.joints)
        ]
        self._one = written(self._answers, self.count)
        self._fit = _fitting(self.limits)
        self._many: Any = None
        self._lanes: Any = None

    def _answers(self, *v: Scalar) -> Any:
        rotation, position = Mat3(v[0], v[1], v[2], v[4], v[5], v[6], v[8], v[9], v[10]), Vec3(v[3], v[7], v[11])
        return branches(self.arm, self.shape, rotation, position, tuple(v[12:18]), *v[18:])

    def _answers_within(self, *v: Scalar) -> Any:
        """Per branch: six angles in the whole turns nearest to v[12:18] that limits allow; whether they fit; slack;
        sine."""
        found = []
        for branch in self._answers(*v):
            fits: Scalar = True
            angles = []
            for angle, near, (low, high) in zip(branch.angles, v[12:18], self.limits, strict=True):
                least = -floor((angle - low) * (1.0 / TURN) + _SPARE_TURNS)
                most = floor((high - angle) * (1.0 / TURN) + _SPARE_TURNS)
                turns = clip(floor((near - angle) * (1.0 / TURN) + 0.5), least, most)
                fits = logical_and(fits, least <= most)
                angles.append(clip(angle + turns * TURN, low, high))
            found.append((*angles, fits, branch.slack, branch.sine))
        return found

    def one(
        self, values: Sequence[float], every: bool = False
    ) -> list[tuple[list[float] | None, tuple[float, ...], float, float]]:
        """(angles within limits or None, angles as they came, slack, sine) of branches in reach, for one pose.

        every: also of branches out of reach, and of those that break a limit.
        """
        answer, nears = self._one(*values), values[12:18]
        if not every:
            return self._fit(answer, *nears)  # type: ignore[no-any-return]
        found = []
        for first in range(0, 64, 8):
            raw = answer[first : first + 6]
            angles = [fitted(x, near, *limit) for x, near, limit in zip(raw, nears, self.limits, strict=True)]
            whole = [x for x in angles if x is not None]
            found.append((whole if len(whole) == 6 else None, raw, answer[first + 6], answer[first + 7]))
        return found

    def many(self, columns: list[Array]) -> Array:
        """(8, 9, n): six angles, whether they fit (1 or 0), slack, sine of each branch, for columns of n values."""
        count = len(columns[0])
        if count >= (_MANY if self._lanes is None else _SOME):
            self._lanes = self._lanes or _on_lanes(self._answers_within)
            values = self._lanes(columns)
        else:
            self._many = self._many or written(self._answers_within, self.count, "numpy")
            with np.errstate(invalid="ignore", divide="ignore"):
                values = self._many(*columns)
        found = np.empty((72, count))
        for row, value in zip(found, values, strict=True):
            row[:] = value
        return found.reshape(8, 9, count)


def fitted(angle: float, near: float, low: float, high: float) -> float | None:
    """The angle in the whole turn nearest to `near` that limits allow, or None."""
    least = math.ceil((low - angle) / TURN - _SPARE_TURNS)
    most = math.floor((high - angle) / TURN + _SPARE_TURNS)
    if least > most:
        return None
    turns = min(max(math.floor((near - angle) / TURN + 0.5), least), most)
    return min(max(angle + turns * TURN, low), high)


def _fitting(limits: Sequence[tuple[float, float]]) -> Any:
    """`fitted` for the six angles of eight branches, written out: loops over them would take half of a solution's time.

    An angle that is within its limits and within half a turn of where it should be near needs no look.
    """
    lines = ["def fit(answer, n0, n1, n2, n3, n4, n5):", "    found = []"]
    names = ", ".join(f"q{k}" for k in range(6))
    for first in range(0, 64, 8):
        slack, sine = f"answer[{first + 6}]", f"answer[{first + 7}]"
        lines += [f"    if {slack} >= {-EDGE!r}:", f"        {names} = raw = answer[{first}:{first + 6}]"]
        for k, (low, high) in enumerate(limits):
            lines += [
                f"        away = q{k} - n{k}",
                f"        if not ({-math.pi!r} <= away <= {math.pi!r} and {low!r} <= q{k} <= {high!r}):",
                f"            turned = q{k} - {TURN!r} if away > 0.0 else q{k} + {TURN!r}",
                f"            if {-math.pi!r} <= turned - n{k} <= {math.pi!r} and {low!r} <= turned <= {high!r}:",
                f"                q{k} = turned",
                "            else:",
                f"                q{k} = fitted(q{k}, n{k}, {low!r}, {high!r})",
            ]
        lines.append("        if " + " and ".join(f"q{k} is not None" for k in range(6)) + ":")
        lines.append(f"            found.append(([{names}], raw, {slack}, {sine}))")
    lines.append("    return found")
    space: dict[str, Any] = {"fitted": fitted}
    exec(compile("\n".join(lines), "<limits, written out>", "exec"), space)
    return space["fit"]


def _on_lanes(law: Any) -> Any:
    """The law as one kernel over lanes of 64 bits, from arrays to arrays."""
    import drjit as dr

    from fieldworthy.core.engine import frozen, load_engine

    engine = load_engine("f64")

    def compute(values: list[Any]) -> list[Any]:
        one = values[0] * 0.0 + 1.0
        return [
            dr.select(value, one, 0.0) if dr.is_mask_v(value) else value + 0.0 * one for value in leaves(law(*values))
        ]

    recorded = frozen(compute)

    def call(columns: list[Array]) -> list[Array]:
        found = recorded([engine.floats(column) for column in columns])
        dr.eval(found)
        return [value.numpy() for value in found]

    return call


@lru_cache(maxsize=64)
def closed_of(arm: Arm) -> Closed | None:
    """The closed form of an arm, or None where none is known."""
    shape = recognised(arm)
    return None if shape is None else Closed(arm, shape)


def wound(angle: float, low: float, high: float) -> list[float]:
    """The angle in every whole turn within limits (at most 64 either way)."""
    first = max(math.ceil((low - angle) / TURN - _SPARE_TURNS), -MOST_TURNS)
    last = min(math.floor((high - angle) / TURN + _SPARE_TURNS), MOST_TURNS)
    return [min(max(angle + turn * TURN, low), high) for turn in range(first, last + 1)]


def broken_limit(form: Closed, values: Sequence[float]) -> str:
    """Which limit stands in the way of the branch that breaks its limits least."""
    least, sentence = math.inf, ""
    for angles, raw, slack, _ in form.one(values, every=True):
        if angles is not None or slack < -EDGE:
            continue
        worst, text = 0.0, ""
        for angle, (low, high), index in zip(raw, form.limits, form.shape.joints, strict=True):
            over, at = min((max(low - x, x - high, 0.0), x) for x in (angle + k * TURN for k in (-1, 0, 1)))
            if over > worst:
                name, limits = form.arm.joints[index].name, f"{math.degrees(low):.4g} to {math.degrees(high):.4g} deg"
                worst, text = over, f"joint {name} at {math.degrees(at):.1f} deg (limits {limits})"
        if worst < least:
            least, sentence = worst, text
    return f"within reach, but every branch breaks a limit; the nearest one needs {sentence}" if sentence else ""
