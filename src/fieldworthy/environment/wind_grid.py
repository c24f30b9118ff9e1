"""A wind field given at the nodes of a box of points, such as the result of a flow computation around buildings."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from fieldworthy.core.lanes import Scalar, clip, engine_name, floor
from fieldworthy.core.vec import Vec3


@dataclass(frozen=True)
class GridShape:
    """How many nodes there are on each axis; 1 means that nothing changes along it."""

    times: int
    ups: int
    norths: int
    easts: int


@dataclass
class GridAxis:
    """Evenly spaced nodes."""

    first: Scalar
    step: Scalar


@dataclass
class WindGrid:
    """Velocity of the air at the nodes, the same for all lanes.

    The arrays are flat, with east running fastest, then north, up and time: lists or NumPy arrays for floats, Dr.Jit
    arrays for lanes (`grid_for`).
    """

    shared: ClassVar[bool] = True

    time_s: GridAxis
    up_m: GridAxis
    north_m: GridAxis
    east_m: GridAxis
    wind_north_m_s: Any
    wind_east_m_s: Any
    wind_down_m_s: Any


def grid_for(grid: WindGrid, scalar_type: Any) -> WindGrid:
    """The grid for lanes of a Dr.Jit type such as drjit.llvm.ad.Float64."""
    arrays = [scalar_type(values) for values in (grid.wind_north_m_s, grid.wind_east_m_s, grid.wind_down_m_s)]
    return WindGrid(grid.time_s, grid.up_m, grid.north_m, grid.east_m, *arrays)


def grid_wind_ned_m_s(shape: GridShape, grid: WindGrid, pos_ned_m: Vec3, t_s: Scalar) -> Vec3:
    """Velocity of the air at a place and time, linear between the nodes along every axis.

    Equation: sum over the corners of the cell of value times product of (1 - d) or d, d from 0 to 1 across the cell.
    Source: trilinear interpolation.
    Frames: NED.      Shapes: scalars; the grid is one for all lanes.
    Limits: outside of the box the value at its nearest face, before and after its times the first and the last; floats
        and Dr.Jit, not CasADi (a look-up at an index has no symbol).
    Verified by: tests/verification/test_wind_grid.py
    """
    corners: list[tuple[Scalar, Scalar]] = [(0.0, 1.0)]
    for count, axis, place in (
        (shape.times, grid.time_s, t_s),
        (shape.ups, grid.up_m, -pos_ned_m.z),
        (shape.norths, grid.north_m, pos_ned_m.x),
        (shape.easts, grid.east_m, pos_ned_m.y),
    ):
        if count > 1:
            corners = _split(corners, count, clip((place - axis.first) / axis.step, 0.0, count - 1.0))
    found = [_look_up(corners, values) for values in (grid.wind_north_m_s, grid.wind_east_m_s, grid.wind_down_m_s)]
    return Vec3(*found)


def _split(corners: list[tuple[Scalar, Scalar]], count: int, place: Scalar) -> list[tuple[Scalar, Scalar]]:
    """Index and weight of the corners with one axis more."""
    low = clip(floor(place), 0.0, count - 2.0)
    far = place - low
    near = 1.0 - far
    both = [(index * count + low, weight * near) for index, weight in corners]
    return both + [(index * count + (low + 1.0), weight * far) for index, weight in corners]


def _look_up(corners: list[tuple[Scalar, Scalar]], values: Any) -> Scalar:
    total: Scalar = 0.0
    for index, weight in corners:
        total = total + _at(values, index) * weight
    return total


def _at(values: Any, index: Scalar) -> Scalar:
    engine = engine_name(index)
    if engine == "float":
        # A place that is not a number has no cell: the answer is not a number either.
        return float(values[int(index)]) if index == index else index
    if engine == "casadi":
        raise TypeError("a wind grid cannot be written as CasADi symbols; valid: floats and Dr.Jit lanes")
    drjit = sys.modules["drjit"]
    return drjit.gather(type(values), values, drjit.uint32_array_t(type(index))(index))
