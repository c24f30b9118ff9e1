"""Single values set by path: on the command line, and by sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_texts import GOAL, HEAD, folder_with_boat, loads, only_problem  # noqa: F401

from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import set_value
from fieldworthy.trials.sweep import points_of


def test_overrides_reach_every_kind_of_place(folder: Path) -> None:
    text = HEAD + GOAL + '[[obstacles]]\nkind = "cylinder"\nradius_m = 1\n[sea]\nwind_speed_kt = 4\n'
    scenario = loads(
        folder, text, "trials=5", "sensors.lidar.noise_m=0.1", "control.parameters.safe_distance_m=12",
        "randomize.control.parameters.safe_distance_m=[10, 14]",
        "obstacles.0.radius_m=3", "vehicle.mass_kg=900", "name=renamed boat", "sea.wind_speed_m_s=2",
        "randomize.vehicle.mass_kg=[900, 1000]", "sea.waves.height_m=0.5", "geojson.kinds.pile.radius_m=0.4",
    )  # fmt: skip
    assert scenario.trials == 5
    assert scenario.sensors.lidar.noise_m == 0.1
    assert scenario.control.parameters == {"safe_distance_m": 12}
    assert scenario.obstacles[0].radius_m == 3.0
    assert scenario.vehicle.values["mass_kg"] == 900.0
    assert scenario.name == "renamed boat"
    assert scenario.sea.wind_speed_m_s == 2.0
    assert scenario.sea.waves.height_m == 0.5
    assert scenario.randomize == {
        "control.parameters.safe_distance_m": (10.0, 14.0),
        "vehicle.mass_kg": (900.0, 1000.0),
    }
    assert scenario.geojson.kinds["pile"].radius_m == 0.4


@pytest.mark.parametrize(
    ("override", "what", "valid"),
    [
        ("sensors.lidar.nose_m=1", "unknown key 'nose_m'; did you mean 'noise_m'?", "noise_m"),
        ("sensrs.lidar.noise_m=1", "unknown key 'sensrs'; did you mean 'sensors'?", "sensors"),
        ("obstacles.3.radius_m=1", "no element '3' in 'obstacles', which has 1", "obstacles.0"),
        ("obstacles.x.radius_m=1", "no element 'x' in 'obstacles'", "obstacles.0"),
        ("trials.x=1", "'trials' is a value, not a table", "trials=..."),
        ("trials=-1", "trials = -1 is too small", "a whole number >= 1"),
        ("trials=many", "trials = 'many' is a text", "a whole number >= 1"),
        ("vehicle.mas_kg=1", "did you mean 'mass_kg'?", "mass_kg"),
        ("vehicle.mass_kg=nan", "mass_kg = nan is not a finite number", "> 0"),
        ("trials", "names a path and a value", "path=value"),
        ("a b=1", "names a path and a value", "path=value"),
        ("", "names a path and a value", "path=value"),
        ("sea=3", "sea = 3 is a whole number", "a table"),
        ("goal.lon_deg=3", "lon_deg without lat_deg", "lon_deg and lat_deg"),
    ],
)
def test_bad_overrides(folder: Path, override: str, what: str, valid: str) -> None:
    text = HEAD + "trials = 3\n" + GOAL + '[[obstacles]]\nkind = "cylinder"\nradius_m = 1\n'
    problem = only_problem(folder, text, override)
    assert problem.where == f"--set {override}"
    assert what in problem.what, str(problem)
    assert valid in problem.valid, str(problem)


def test_metres_may_replace_degrees_only_as_a_pair(folder: Path) -> None:
    text = HEAD + GOAL + "[reference]\nlon_deg = 3\nlat_deg = 4\n[start]\nlon_deg = 3\nlat_deg = 4\n"
    assert "east_m is needed as well" in only_problem(folder, text, "start.north_m=1").what
    scenario = loads(folder, text, "start.north_m=1", "start.east_m=2")
    assert (scenario.start.north_m, scenario.start.east_m) == (1.0, 2.0)


def test_set_value_checks_like_a_file_and_leaves_the_rest(folder: Path) -> None:
    scenario = loads(folder, HEAD + GOAL + "[sensors.lidar]\nup_m = 3.0\n")
    changed = set_value(scenario, "sensors.lidar.noise_m", 0.1)
    assert changed.sensors.lidar.noise_m == 0.1
    assert set_value(changed, "sensors.lidar.noise_m", scenario.sensors.lidar.noise_m) == scenario
    assert changed.source_path == scenario.source_path
    with pytest.raises(ScenarioError, match=r"sensors.lidar.noise_m = -1.*too small"):
        set_value(scenario, "sensors.lidar.noise_m", -1)
    # Another model brings its own values; what the person had changed stays.
    other = set_value(scenario, "sensors.lidar.model", "vlp16").sensors.lidar
    assert (other.pattern, other.noise_m, other.up_m) == ("firing", 0.008, 3.0)


def test_another_controller_takes_the_parameters_of_the_old_one_with_it(folder: Path) -> None:
    text = (
        HEAD + GOAL + "[control.parameters]\nsafe_distance_m = 9.0\ncruise_speed_m_s = 3.0\nturn_time_s = 1.0\n"
        '[randomize]\n"control.parameters.turn_time_s" = [1.0, 2.0]\n"vehicle.mass_kg" = [900.0, 1000.0]\n'
    )
    other = loads(folder, text, "control.parameters.cruise_speed_m_s=4", "control.controller=straight")
    assert other.control.parameters == {"cruise_speed_m_s": 4}
    assert list(other.randomize) == ["vehicle.mass_kg"]
    same = loads(folder, text, "control.controller=sector")
    assert same.control.parameters == {"safe_distance_m": 9.0, "cruise_speed_m_s": 3.0, "turn_time_s": 1.0}
    assert list(same.randomize) == ["control.parameters.turn_time_s", "vehicle.mass_kg"]
    whole = loads(folder, text, "control.parameters={cruise_speed_m_s=2.0}", "control.controller=straight")
    assert whole.control.parameters == {"cruise_speed_m_s": 2.0}
    assert set_value(same, "control.controller", "straight").control.parameters == {}
    # A sweep sets the controller first, so that a varied parameter stays, whichever was named first.
    points = points_of(
        same, {"control.parameters.cruise_speed_m_s": [4.0], "control.controller": ["sector", "straight"]}
    )
    assert [point.control.parameters for _, point in points] == [
        {"safe_distance_m": 9.0, "cruise_speed_m_s": 4.0, "turn_time_s": 1.0},
        {"cruise_speed_m_s": 4.0},
    ]
