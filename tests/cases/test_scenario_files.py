"""Scenario and catalogue files: what they load into, and files that cannot be read."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import msgspec
import pytest
from scenario_texts import BOAT, GOAL, HEAD, folder_with_boat, loads, problems_of  # noqa: F401

from fieldworthy.catalog import load_entry, names
from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import check_parameters, load


def test_defaults_and_units_are_resolved(folder: Path) -> None:
    scenario = loads(folder, HEAD + GOAL + "[sea]\ncurrent_speed_kt = 1.0\nwind_speed_m_s = 3\n[[scatter]]\ncount = 4\n"
                     "north_m = [0, 10]\neast_m = [0, 10]\n")  # fmt: skip
    assert (scenario.trials, scenario.seed, scenario.dt_s, scenario.precision) == (10, 1, 0.02, "f32")
    assert math.isclose(scenario.sea.current_speed_m_s, 1852.0 / 3600.0, rel_tol=1e-12)  # 1 knot: 1852 m an hour
    assert scenario.sea.wind_speed_m_s == 3.0
    assert scenario.scatter[0].count == (4, 4)
    assert scenario.area is None
    assert scenario.reference is None
    assert scenario.source_path == str(folder / "good.toml")


def test_vehicle_values_are_the_catalogues_with_the_scenarios_on_top(folder: Path) -> None:
    scenario = loads(folder, HEAD + "vehicle.set.mass_kg = 1100\n" + GOAL)
    assert scenario.vehicle.values["mass_kg"] == 1100.0
    assert scenario.vehicle.values["surge_drag_n_s_m"] == 80.0
    assert isinstance(scenario.vehicle.values["surge_drag_n_s_m"], float)
    assert len(scenario.vehicle.values["outline_m"]) == 3


def test_lidar_is_complete_and_own_keys_win(folder: Path) -> None:
    lidar = loads(folder, HEAD + GOAL + "[sensors.lidar]\nnoise_m = 0.1\n").sensors.lidar
    assert (lidar.model, lidar.noise_m, lidar.range_max_m) == ("vlp16-uniform", 0.1, 100.0)
    rows = round((lidar.elevation_max_deg - lidar.elevation_min_deg) / lidar.elevation_step_deg) + 1
    assert rows * round(360.0 / lidar.azimuth_step_deg) == 28_800


def test_real_vlp16_has_the_makers_order_and_times(folder: Path) -> None:
    lidar = loads(folder, HEAD + GOAL, "sensors.lidar.model=vlp16").sensors.lidar
    assert lidar.pattern == "firing"
    assert lidar.laser_elevation_deg[:4] == (-15.0, 1.0, -13.0, 3.0)
    assert sorted(lidar.laser_elevation_deg) == [float(e) for e in range(-15, 16, 2)]
    # 24 firings make one packet of 1327.104 us (VLP-16 User Manual)
    assert math.isclose(24 * lidar.firing_period_s, 1327.104e-6)
    assert math.isclose(lidar.laser_spacing_s, 2.304e-6)


def test_positions_in_longitude_and_latitude(folder: Path) -> None:
    # One minute of latitude at 45 deg is 1852.2 m on WGS 84 (within a metre); 0.01 deg of longitude 788.5 m there.
    text = HEAD + "[reference]\nlon_deg = 10.0\nlat_deg = 45.0\n[start]\nlon_deg = 10.0\nlat_deg = 45.0\n"
    scenario = loads(folder, text + f"[goal]\nlon_deg = 10.01\nlat_deg = {45 + 1 / 60!r}\n")
    assert (scenario.start.north_m, scenario.start.east_m) == (0.0, 0.0)
    assert abs(scenario.goal.north_m - 1852.2) < 1.0
    assert abs(scenario.goal.east_m - 788.5) < 1.0


def test_all_obstacle_kinds_load(folder: Path) -> None:
    text = """
[[obstacles]]
kind = "sphere"
radius_m = 1
up_m = 0.5
[[obstacles]]
kind = "box"
length_m = 2
width_m = 1
heading_deg = 30
[[obstacles]]
kind = "polygon"
points_ne_m = [[0, 0], [1, 0], [0, 1]]
[[obstacles]]
kind = "polyline"
points_ne_m = [[0, 0], [1, 0]]
[[obstacles]]
kind = "channel"
length_m = 100
width_m = 12
amplitude_m = 5
"""
    kinds = [type(item).__name__ for item in loads(folder, HEAD + GOAL + text).obstacles]
    assert kinds == ["SphereObstacle", "BoxObstacle", "PolygonObstacle", "PolylineObstacle", "ChannelObstacle"]


def test_windows_text_with_mark_and_crlf_loads(folder: Path) -> None:
    (folder / "win.toml").write_bytes(b"\xef\xbb\xbf" + (HEAD + GOAL).replace("\n", "\r\n").encode())
    assert load(folder / "win.toml").goal.north_m == 100.0


def test_unreadable_files(folder: Path) -> None:
    (folder / "latin.toml").write_bytes(b'schema = 1\nname = "caf\xe9"\n')
    (folder / "syntax.toml").write_text("schema = 1\nname = \n")
    (folder / "open.toml").write_text('schema = 1\nname = "x')
    cases = {
        "latin.toml": ("latin.toml:2", "byte 22 is not UTF-8", "UTF-8"),
        "syntax.toml": ("syntax.toml:2", "not valid TOML: invalid value in `name =`", "toml.io"),
        "open.toml": ("open.toml:2", "not valid TOML", "toml.io"),
        "boad.toml": ("boad.toml", "no such file; did you mean", "a scenario file"),
        "nowhere/x.toml": ("x.toml", "there is no folder", "a scenario file"),
        "": (folder.name, "this is a directory", "a scenario file"),
    }
    for name, (where, what, valid) in cases.items():
        with pytest.raises(ScenarioError) as caught:
            load(folder / name)
        (problem,) = caught.value.problems
        assert problem.where.endswith(where)
        assert what in problem.what
        assert valid in problem.valid


def test_unknown_built_in_name_lists_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["fieldworthy.scenario.load"], "built_in_names", lambda: ["boat-buoy", "boat-field"])
    with pytest.raises(ScenarioError, match=r"did you mean 'boat-buoy'\?.*boat-buoy, boat-field; or the path"):
        load("boat-bouy")


def test_every_lidar_of_the_catalogue_loads_and_has_sources(folder: Path) -> None:
    assert names("lidar") == ["vlp16", "vlp16-uniform"]
    for name in names("lidar"):
        entry = load_entry("lidar", name)
        assert set(entry.sources) == set(entry.values)
        assert loads(folder, HEAD + GOAL, f"sensors.lidar.model={name}").sensors.lidar.model == name


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        (', source = "test", min = 0', "", "bad.toml:7 [values]", "'surge_drag_n_s_m' has no source"),
        ('{ value = 1000.0, source = "test" }', "1000.0", "bad.toml:5 [values]", "'mass_kg' has no value and source"),
        ("value = 1000.0", "value = nan", "bad.toml:5 [values]", "'mass_kg' has value = nan"),
        ("min = 0", "minimum = 0", "bad.toml:7", "unknown key 'minimum'"),
        ("min = 0", 'min = "0"', "bad.toml:7", "'surge_drag_n_s_m' has min = '0'"),
        ('kind = "boat"', 'kind = "lidar"', "bad.toml:2", "a boat is wanted here"),
        ('title = "a boat for tests"', 'tilte = "x"\ntitle = "y"', "bad.toml:3", "did you mean 'title'?"),
        ('title = "a boat for tests"', "", "bad.toml", "missing 'title'"),
    ],
)
def test_bad_catalogue_files(folder: Path, old: str, new: str, where: str, what: str) -> None:
    (folder / "bad.toml").write_text(BOAT.replace(old, new))
    (problem,) = problems_of(folder, HEAD.replace("boat.toml", "bad.toml") + GOAL)
    assert where in problem.where
    assert what in problem.what
    assert problem.valid


class Gains(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters as a controller declares them."""

    safe_distance_m: float = 15.0
    side: str = "starboard"


def test_controllers_parameters_get_the_same_errors() -> None:
    assert check_parameters(Gains, {"safe_distance_m": 3}, "[control.parameters]").safe_distance_m == 3.0
    with pytest.raises(ScenarioError) as caught:
        check_parameters(Gains, {"safe_distnce_m": 3, "side": 4}, "[control.parameters]")
    assert [str(problem) for problem in caught.value.problems] == [
        "[control.parameters]: unknown key 'safe_distnce_m'; did you mean 'safe_distance_m'?; "
        "valid: safe_distance_m, side",
        "[control.parameters]: side = 4 is a whole number; valid: a text",
    ]
