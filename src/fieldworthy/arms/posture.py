"""Joint positions and poses as they come from users: shapes, numbers that are not finite, rotations that are none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.core.errors import FieldworthyError

_EXACT = 1e-13
"""How far from orthonormal a rotation may be that is taken as it is; up to 1e-6 it is straightened first."""


def postures(arm: Arm, q: Any, name: str = "q") -> Array:
    """Joint positions as an array (dof,) or (n, dof).

    Raises: FieldworthyError for another shape, or numbers that are not finite.
    """
    rows = _array(q, name, f"({arm.dof},) or (n, {arm.dof}) numbers")
    if rows.ndim not in (1, 2) or rows.shape[-1] != arm.dof:
        what = f"shape {rows.shape} for {arm.dof} joints of {arm.name}"
        raise FieldworthyError(f"{name}: {what}; valid: ({arm.dof},) or (n, {arm.dof})")
    if not np.isfinite(rows).all():
        where = np.argwhere(~np.isfinite(np.atleast_2d(rows)))[0]
        raise FieldworthyError(
            f"{name}[{where[0]}]: joint {arm.joints[where[1]].name} is not finite; valid: radians, or metres of "
            "prismatic joints"
        )
    return rows


def poses(base_from_tool: Any, name: str = "pose") -> Array:
    """Poses as an array (4, 4) or (n, 4, 4).

    Raises: FieldworthyError for another shape, numbers that are not finite, or what is no rotation (to 1e-6).
    """
    found = _array(base_from_tool, name, "(4, 4) or (n, 4, 4) numbers, base_from_tool")
    if found.ndim not in (2, 3) or found.shape[-2:] != (4, 4):
        raise FieldworthyError(f"{name}: shape {found.shape}; valid: (4, 4) or (n, 4, 4), base_from_tool")
    # Column by column: of many poses each operation is then one pass over memory.
    a, b, c, x, d, e, f, y, g, h, i, z, s, t, u, one = found.reshape(-1, 16).T.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(a * a + d * d + g * g - 1.0)
        for first, second in (((b, e, h), (b, e, h)), ((c, f, i), (c, f, i))):
            np.maximum(off, np.abs(sum(p * q for p, q in zip(first, second, strict=True)) - 1.0), out=off)
        for first, second in (((a, d, g), (b, e, h)), ((a, d, g), (c, f, i)), ((b, e, h), (c, f, i))):
            np.maximum(off, np.abs(sum(p * q for p, q in zip(first, second, strict=True))), out=off)
        volume = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
        last = np.abs(s) + np.abs(t) + np.abs(u) + np.abs(one - 1.0)
        good = (off <= 1e-6) & (volume > 0.0) & (last == 0.0) & (np.abs(x) + np.abs(y) + np.abs(z) < np.inf)
    if not good.all():
        index = int(np.argmin(good))
        if not np.isfinite(found.reshape(-1, 16)[index]).all():
            raise FieldworthyError(f"{name}[{index}]: a number is not finite; valid: metres and a rotation")
        mirrored = off[index] <= 1e-6 and volume[index] < 0.0
        what = "is a mirror image, not a rotation" if mirrored else "is no rotation and offset"
        raise FieldworthyError(f"{name}[{index}]: {what}; valid: orthonormal columns (to 1e-6), last row 0 0 0 1")
    return found if off.size and off.max() <= _EXACT else _straightened(found)


def _array(values: Any, name: str, valid: str) -> Array:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise FieldworthyError(f"{name}: {error}; valid: {valid}") from None


def _straightened(found: Array) -> Array:
    """Rotations that were rounded on their way here, brought back to orthonormal columns.

    Equation: R (3 - R^T R) / 2, Newton's iteration for the nearest rotation; it squares the error each time.
    """
    whole = found.copy()
    turn = whole[..., :3, :3]
    for _ in range(3):
        turn[...] = 0.5 * turn @ (3.0 * np.eye(3) - np.swapaxes(turn, -1, -2) @ turn)
    return whole


def pose_numbers(base_from_tool: Any, name: str = "pose") -> list[float]:
    """The 12 upper numbers of one pose (4, 4), row by row, checked as `poses` does but without an array operation.

    Raises: as `poses`.
    """
    if isinstance(base_from_tool, np.ndarray) and base_from_tool.shape == (4, 4) and base_from_tool.dtype == np.float64:
        a, b, c, x, d, e, f, y, g, h, i, z, s, t, u, one = base_from_tool.ravel().tolist()
        # Columns of length one and at right angles, the third being the product of the first two; NaN fails each of
        # these.
        if (
            abs(a * a + d * d + g * g - 1.0) < _EXACT
            and abs(b * b + e * e + h * h - 1.0) < _EXACT
            and abs(a * b + d * e + g * h) < _EXACT
            and abs(d * h - g * e - c) < _EXACT
            and abs(g * b - a * h - f) < _EXACT
            and abs(a * e - d * b - i) < _EXACT
            and abs(x) + abs(y) + abs(z) < math.inf
            and s == t == u == 0.0
            and one == 1.0
        ):
            return [a, b, c, x, d, e, f, y, g, h, i, z]
    found = poses(base_from_tool, name)
    if found.ndim != 2:
        raise FieldworthyError(f"{name}: shape {found.shape}; valid: (4, 4), base_from_tool")
    numbers: list[float] = found.ravel()[:12].tolist()
    return numbers
