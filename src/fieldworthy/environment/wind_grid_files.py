"""Wind fields from files: NetCDF by xarray, or CSV with one node a line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy.core.errors import Problem, ScenarioError, require_extra
from fieldworthy.environment.wind_grid import GridAxis, GridShape, WindGrid

AXES = ("t", "z", "y", "x")
"""Coordinates in a file: time [s], up, north, east [m] from the origin of the world. t may be missing."""
WINDS = ("u", "v", "w")
"""Velocity of the air towards east, north, up [m/s], as in climate and weather files. w may be missing."""

_VALID = (
    "coordinates x (east), y (north), z (up) [m], optional t [s]; variables u (east), v (north), optional w (up) [m/s]"
)
_SPACING_TOLERANCE = 1e-3
"""Of a step: coordinates in files are often written in 32 bits."""


def read_wind_grid(path: str | Path) -> tuple[GridShape, WindGrid]:
    """The wind field of a .nc file (NetCDF 3 or 4) or a .csv file (a heading line x,y,z[,t],u,v[,w], any order).

    Limits: evenly spaced nodes, all of them present; a mean wind from another source is added to it.
    Verified by: tests/verification/test_wind_grid.py
    """
    path = Path(path)
    if not path.is_file():
        raise ScenarioError(Problem(str(path), "no such file", "a NetCDF (.nc) or CSV (.csv) file"))
    suffix = path.suffix.lower()
    if suffix not in (".nc", ".csv"):
        raise ScenarioError(Problem(str(path), f"{suffix or 'no ending'} is not a wind field", ".nc or .csv"))
    axes, winds = _read_csv(path) if suffix == ".csv" else _read_netcdf(path)
    return _grid(str(path), axes, winds)


def _read_netcdf(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axes, and winds of shape (t, z, y, x)."""
    xarray = require_extra("xarray", "wind", "Reading a NetCDF wind field")
    require_extra("netCDF4", "wind", "Reading a NetCDF wind field")
    try:
        with xarray.open_dataset(path, engine="netcdf4", decode_times=False) as data:
            data.load()
    except (OSError, ValueError) as error:
        raise ScenarioError(Problem(str(path), f"not readable as NetCDF ({error})", _VALID)) from error
    names = {str(name) for name in (*data.coords, *data.data_vars)}
    missing = [name for name in ("x", "y", "z", "u", "v") if name not in names]
    if missing:
        raise ScenarioError(Problem(str(path), f"no {', '.join(missing)} among {', '.join(sorted(names))}", _VALID))
    axes = {name: np.asarray(data[name], float).reshape(-1) if name in names else np.zeros(1) for name in AXES}
    winds = {}
    for name in WINDS:
        if name not in names:
            winds[name] = np.zeros([len(axes[axis]) for axis in AXES])
            continue
        field = data[name]
        if extra := [str(dim) for dim in field.dims if dim not in AXES]:
            raise ScenarioError(Problem(f"{path} [{name}]", f"has the dimension {', '.join(extra)}", _VALID))
        field = field.expand_dims([axis for axis in AXES if axis not in field.dims]).transpose(*AXES)
        winds[name] = np.broadcast_to(np.asarray(field, float), [len(axes[axis]) for axis in AXES])
    return axes, winds


def _read_csv(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axes, and winds of shape (t, z, y, x)."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        names = [name.strip() for name in next(rows, [])]
        table: list[list[float]] = []
        for row in rows:
            if not row:
                continue
            try:
                table.append([float(cell) for cell in row])
            except ValueError as error:
                raise ScenarioError(Problem(f"{path}:{rows.line_num}", str(error), "numbers")) from error
            if len(row) != len(names):
                raise ScenarioError(
                    Problem(f"{path}:{rows.line_num}", f"{len(row)} numbers under {len(names)} names", ", ".join(names))
                )
    missing = [name for name in ("x", "y", "z", "u", "v") if name not in names]
    if missing or not table:
        what = f"no {', '.join(missing)} in the heading line" if missing else "no lines under the heading"
        raise ScenarioError(Problem(str(path), what, _VALID))
    columns = dict(zip(names, np.array(table).T, strict=True))
    still = np.zeros(len(table))
    nodes = {name: np.unique(columns.get(name, still), return_inverse=True) for name in AXES}
    axes = {name: places for name, (places, _) in nodes.items()}
    counts = [len(axes[name]) for name in AXES]
    index = np.ravel_multi_index([nodes[name][1] for name in AXES], counts)
    if len(table) != np.prod(counts) or len(np.unique(index)) != len(table):
        sizes = " x ".join(str(count) for count in counts if count > 1)
        what = f"{len(table)} lines ({len(np.unique(index))} different nodes) do not fill a grid of {sizes}"
        raise ScenarioError(Problem(str(path), what, "each node of the grid once"))
    winds = {}
    for name in WINDS:
        flat = np.full(len(table), np.nan)
        flat[index] = columns.get(name, still)
        winds[name] = flat.reshape(counts)
    return axes, winds


def _grid(path: str, axes: dict[str, Any], winds: dict[str, Any]) -> tuple[GridShape, WindGrid]:
    problems = []
    for name in WINDS:
        if bad := int((~np.isfinite(winds[name])).sum()):
            problems.append(Problem(f"{path} [{name}]", f"{bad} values are not numbers", "a finite speed at each node"))
    found = {}
    for name in AXES:
        places = axes[name]
        step = (places[-1] - places[0]) / max(len(places) - 1, 1)
        if len(places) > 1 and not (step != 0.0 and np.all(np.abs(np.diff(places) / step - 1.0) < _SPACING_TOLERANCE)):
            problems.append(
                Problem(
                    f"{path} [{name}]", "the nodes are not evenly spaced", f"resample, as by xarray's interp({name}=…)"
                )
            )
        found[name] = GridAxis(float(places[0]), float(step) or 1.0)
    if problems:
        raise ScenarioError(problems)
    east, north, up = (np.ascontiguousarray(winds[name], float).reshape(-1) for name in WINDS)
    shape = GridShape(*(len(axes[name]) for name in AXES))
    return shape, WindGrid(found["t"], found["z"], found["y"], found["x"], north, east, -up)
