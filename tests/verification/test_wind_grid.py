"""Wind fields from files: axes, signs, interpolation, edges, and what is said of a bad file."""

import math

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.vec import Vec3
from fieldworthy.environment.air import AirOptions, AirParameters, sample
from fieldworthy.environment.wind_grid import grid_for, grid_wind_ned_m_s
from fieldworthy.environment.wind_grid_files import read_wind_grid

X, Y, Z, T = np.linspace(-40.0, 40.0, 5), np.linspace(0.0, 90.0, 4), np.linspace(5.0, 25.0, 3), np.array([0.0, 10.0])


def east(x, y, z, t):
    """Linear in each of its arguments: what interpolation between nodes must answer exactly."""
    return 2.0 + 0.05 * x - 0.02 * y + 0.1 * z + 0.001 * x * y * z + 0.3 * t


def north(x, y, z, t):
    return -1.0 + 0.03 * y + 0.002 * x * z - 0.1 * t


def up(x, y, z, t):
    return 0.01 * z * t + 0.004 * x


def fields():
    nodes = np.meshgrid(T, Z, Y, X, indexing="ij")
    return [law(nodes[3], nodes[2], nodes[1], nodes[0]) for law in (east, north, up)]


def write_netcdf(path, axes=("t", "z", "y", "x"), **changes):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    coordinates = {"t": T, "z": Z, "y": Y, "x": X} | changes
    data = {name: (("t", "z", "y", "x"), values) for name, values in zip("uvw", fields(), strict=True)}
    xarray.Dataset(data, coordinates).transpose(*axes).to_netcdf(path, engine="netcdf4")
    return path


def write_csv(path, shuffled=False):
    u, v, w = (field.reshape(-1) for field in fields())
    t, z, y, x = (nodes.reshape(-1) for nodes in np.meshgrid(T, Z, Y, X, indexing="ij"))
    table = np.stack([x, y, z, t, u, v, w], axis=1)
    if shuffled:
        table = table[np.random.default_rng(3).permutation(len(table))]
    lines = [",".join(repr(float(cell)) for cell in row) for row in table]
    path.write_text("x,y,z,t,u,v,w\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(params=["nc", "nc, other order", "csv", "csv, shuffled"])
def grid(request, tmp_path):
    if request.param.startswith("csv"):
        return read_wind_grid(write_csv(tmp_path / "wind.csv", shuffled="shuffled" in request.param))
    order = ("x", "z", "t", "y") if "other" in request.param else ("t", "z", "y", "x")
    return read_wind_grid(write_netcdf(tmp_path / "wind.nc", order))


def test_between_the_nodes_and_on_them(grid):
    shape, data = grid
    assert (shape.times, shape.ups, shape.norths, shape.easts) == (2, 3, 4, 5)
    rng = np.random.default_rng(11)
    places = [*rng.uniform([-40, 0, 5, 0], [40, 90, 25, 10], (50, 4)), (40.0, 90.0, 25.0, 10.0), (-40.0, 0.0, 5.0, 0.0)]
    for x, y, z, t in places:
        wind = grid_wind_ned_m_s(shape, data, Vec3(float(y), float(x), -float(z)), float(t))
        expected = (north(x, y, z, t), east(x, y, z, t), -up(x, y, z, t))
        assert tuple(wind) == pytest.approx(expected, abs=1e-10)


def test_outside_the_box_its_nearest_face_answers(grid):
    shape, data = grid
    wind = grid_wind_ned_m_s(shape, data, Vec3(45.0, 1e6, -1000.0), -5.0)
    assert tuple(wind) == pytest.approx((north(40, 45, 25, 0), east(40, 45, 25, 0), -up(40, 45, 25, 0)), abs=1e-10)
    assert math.isnan(grid_wind_ned_m_s(shape, data, Vec3(math.nan, 0.0, 0.0), 0.0).x)


def test_lanes_answer_as_floats_do(grid):
    shape, data = grid
    inputs = np.random.default_rng(5).uniform([-60, -30, 0, -3], [60, 120, 30, 14], (200, 4))
    x, y, z, t = (Float64(column) for column in inputs.T)
    lanes = grid_wind_ned_m_s(shape, grid_for(data, Float64), Vec3(y, x, -z), t)
    floats = [grid_wind_ned_m_s(shape, data, Vec3(b, a, -c), d) for a, b, c, d in inputs.tolist()]
    answers = np.array([np.asarray(part) for part in lanes]).T
    assert answers == pytest.approx(np.array([tuple(wind) for wind in floats]), abs=1e-12)


def test_a_flat_field_without_time_in_a_sample(tmp_path):
    path = tmp_path / "street.csv"
    path.write_text("y,x,z,u,v\n0,0,0,1,0\n0,10,0,3,0\n20,0,0,1,4\n20,10,0,3,4\n", encoding="utf-8")
    shape, data = read_wind_grid(path)
    assert (shape.times, shape.ups) == (1, 1)
    air = sample(AirOptions(grid=shape), AirParameters(grid=data), Vec3(5.0, 2.5, -77.0), 123.0)
    assert tuple(air.wind_ned_m_s) == pytest.approx((1.0, 1.5, 0.0))


def test_falling_coordinates(tmp_path):
    path = tmp_path / "down.csv"
    path.write_text("x,y,z,u,v\n0,0,9,3,0\n0,0,0,0,0\n", encoding="utf-8")
    shape, data = read_wind_grid(path)
    assert grid_wind_ned_m_s(shape, data, Vec3(0.0, 0.0, -3.0), 0.0).y == pytest.approx(1.0)
    falling = write_netcdf(tmp_path / "falling.nc", z=Z[::-1])
    shape, data = read_wind_grid(falling)
    # The field written for 5 m is now at 25 m.
    wind = grid_wind_ned_m_s(shape, data, Vec3(30.0, 20.0, -25.0), 0.0)
    assert wind.y == pytest.approx(east(20.0, 30.0, 5.0, 0.0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y,u,v\n0,0,1,1\n", "no z"),
        ("x,y,z,u,v\n", "no lines"),
        ("x,y,z,u,v\n0,0,0,1,fast\n", "wind.csv:2"),
        ("x,y,z,u,v\n0,0,0,1\n", "4 numbers under 5 names"),
        ("x,y,z,u,v\n0,0,0,1,1\n1,0,0,1,1\n0,1,0,1,1\n", "do not fill a grid of 2 x 2"),
        ("x,y,z,u,v\n0,0,0,1,1\n0,0,0,1,1\n", "do not fill"),
        ("x,y,z,u,v\n0,0,0,1,1\n1,0,0,1,1\n5,0,0,1,1\n", "[x]: the nodes are not evenly spaced"),
        ("x,y,z,u,v\n0,0,0,1,nan\n1,0,0,1,1\n", "[v]: 1 values are not numbers"),
    ],
)
def test_bad_files_are_explained(tmp_path, text, said):
    path = tmp_path / "wind.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as found:
        read_wind_grid(path)
    assert said in str(found.value)
    assert str(path) in str(found.value)
    assert "valid" in str(found.value)


def test_other_files_are_explained(tmp_path):
    with pytest.raises(ScenarioError, match="no such file"):
        read_wind_grid(tmp_path / "none.nc")
    (tmp_path / "wind.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"\.txt is not a wind field"):
        read_wind_grid(tmp_path / "wind.txt")
    pytest.importorskip("netCDF4")
    (tmp_path / "broken.nc").write_text("this is not it", encoding="utf-8")
    with pytest.raises(ScenarioError, match="not readable as NetCDF"):
        read_wind_grid(tmp_path / "broken.nc")
