"""Lengths and rigid motions that several languages need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldworthy.arms.chain import Array, Matrix, Triple, as_matrix, is_rigid
from fieldworthy.core.errors import FieldworthyError

M_PER_MM = 0.001
M_PER_INCH = 0.0254


def rigid(value: Matrix | Array, name: str) -> Matrix:
    """A frame given as an option. Raises: FieldworthyError when it is no rotation and offset."""
    matrix = np.asarray(value, np.float64)
    if not is_rigid(matrix):
        raise FieldworthyError(f"{name} is no rigid motion; valid: a 4x4 matrix of a rotation and an offset in metres")
    return as_matrix(matrix)


def placed(turn: Array, position_m: Sequence[float] | Array) -> Array:
    """Homogeneous matrix (4, 4) of a rotation (3, 3) and a position (3,) [m]."""
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    matrix[:3, 3] = position_m
    return matrix


def tool_along(z_axis: Triple | Array, x_before: Array | None = None) -> Array:
    """Rotation frame_from_tool, (3, 3), with the tool's z along an axis of the frame; the turn about z is chosen.

    Equation: x is `x_before`, or the frame's x, less its part along z. Where that leaves nothing, the frame's y.
    """
    z = np.asarray(z_axis, np.float64)
    z = z / np.linalg.norm(z)
    for wish in ((np.array([1.0, 0.0, 0.0]) if x_before is None else x_before), np.array([0.0, 1.0, 0.0])):
        x = wish - (wish @ z) * z
        if np.linalg.norm(x) > 1e-6:
            break
    x = x / np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))
