"""A value given from outside is that value: what [randomize] draws of it gives way, and a note says so."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scenario_texts import GOAL, HEAD, folder_with_boat, loads  # noqa: F401

from fieldworthy.cli import main as cli_main
from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import load, set_value
from fieldworthy.scenario.build import build
from fieldworthy.trials.folder import read_run
from fieldworthy.trials.sweep import points_of

WIND, MASS = "air.wind_speed_m_s", "vehicle.mass_kg"
QUAD = resources.files("fieldworthy") / "catalog" / "aircraft" / "x500.toml"
DRAWS = '[randomize]\n"vehicle.mass_kg" = [900.0, 1000.0]\n"sea.current_speed_m_s" = [0.0, 0.3]\n'


def drawn(*overrides: str) -> tuple[list[str], list[str]]:
    """(what quad-waypoints still draws, notes)"""
    notes: list[str] = []
    return list(load("quad-waypoints", overrides, notes=notes).randomize), notes


def test_a_given_value_is_not_drawn_and_a_note_says_so() -> None:
    assert drawn() == ([MASS, WIND], [])
    assert drawn(f"{WIND}=20") == ([MASS], [f"{WIND} is given, so it is no longer drawn from [2, 7]"])
    assert drawn("air.wind_speed_kt=20")[0] == [MASS]
    assert drawn(f"{MASS}=2") == ([WIND], [f"{MASS} is given, so it is no longer drawn from [1.9, 2.2]"])
    assert drawn("vehicle.set.mass_kg=2")[0] == [WIND]
    assert drawn("vehicle.set={mass_kg=2.0}")[0] == [WIND]
    assert drawn("air.wind_from_deg=20") == ([MASS, WIND], [])


def test_the_value_is_that_of_every_trial() -> None:
    world = build(load("quad-waypoints", [f"{MASS}=2.5", "trials=3"])).world
    assert np.asarray(world.vehicle_parameters.aircraft.mass_kg) == pytest.approx(2.5)


def test_a_draw_that_is_given_too_stays_in_either_order() -> None:
    both = [f"{WIND}=3", f"randomize.{WIND}=[1, 4]"]
    for given in (both, both[::-1]):
        assert drawn(*given) == ([MASS, WIND], [])
        assert load("quad-waypoints", given).randomize[WIND] == (1.0, 4.0)
    assert drawn("randomize={'air.wind_speed_m_s'=[1, 4]}", f"{WIND}=3") == ([WIND], [])


def test_another_vehicle_takes_the_draws_of_the_old_one_with_it() -> None:
    why = "vehicle.model is another, so vehicle.mass_kg is no longer drawn from [1.9, 2.2]"
    assert drawn("vehicle.model=hexa-f550") == ([WIND], [why])
    assert drawn("vehicle.model=x500") == ([MASS, WIND], [])
    kept = drawn("vehicle.model=hexa-f550", f"randomize.{MASS}=[2, 2.1]")
    assert sorted(kept[0]) == [WIND, MASS]
    assert kept[1] == []


def test_another_battery_or_device_takes_its_own_draws_with_it() -> None:
    case = load("quad-waypoints", ["randomize.sensors.gnss.latency_s=[0.1, 0.2]"])
    assert len(case.randomize) == 3
    notes: list[str] = []
    assert list(set_value(case, "sensors.gnss.model", "zed-f9p-rtk", notes).randomize) == [MASS, WIND]
    assert list(set_value(case, "sensors.gnss.model", "neo-m8n").randomize) == list(case.randomize)
    assert notes == ["sensors.gnss.model is another, so sensors.gnss.latency_s is no longer drawn from [0.1, 0.2]"]
    # Another vehicle may have the same battery, or none.
    battery = set_value(load("quad-waypoints"), "randomize", {"battery.capacity_c": [15000.0, 16000.0]})
    assert list(set_value(battery, "vehicle.model", "hexa-f550").randomize) == ["battery.capacity_c"]
    assert list(set_value(battery, "vehicle.model", "quadplane").randomize) == []


def test_another_vehicle_has_the_same_devices_from_a_file_and_from_a_sweep() -> None:
    swept = set_value(load("quad-waypoints"), "vehicle.model", "quadplane")
    loaded = load("quad-waypoints", ["vehicle.model=quadplane"])
    assert swept == loaded
    assert loaded.battery is None
    assert load("quad-waypoints").battery is not None
    small = load("quad-waypoints", ["battery.model=lipo-3s-2200mah", "vehicle.model=quadplane"]).battery
    assert small is not None
    assert small.model == "lipo-3s-2200mah"


def test_it_holds_for_boats(folder: Path) -> None:
    notes: list[str] = []
    given = loads(folder, HEAD + GOAL + DRAWS, f"{MASS}=950")
    assert list(given.randomize) == ["sea.current_speed_m_s"]
    changed = set_value(loads(folder, HEAD + GOAL + DRAWS), "sea.current_speed_kt", 1.0, notes)
    assert list(changed.randomize) == [MASS]
    assert notes == ["sea.current_speed_m_s is given, so it is no longer drawn from [0, 0.3]"]
    other = set_value(loads(folder, HEAD + GOAL + DRAWS), "vehicle.model", "boat-5m")
    assert list(other.randomize) == ["sea.current_speed_m_s"]


def test_a_sweep_flies_what_it_is_given_and_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, notes = load("quad-waypoints"), []
    points = points_of(case, {f"randomize.{MASS}": [[2.0, 2.1]], MASS: [2.0], WIND: [1.0, 20.0]}, notes)
    assert [point.air.wind_speed_m_s for _, point in points] == [1.0, 20.0]
    assert [point.randomize for _, point in points] == [{MASS: (2.0, 2.1)}] * 2
    assert len([note for note in notes if WIND in note]) == 1
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(
        cli_main.cli,
        ["sweep", "quad-waypoints", "--vary", f"{WIND}=1,14", "--trials", "2", "--set", "duration_s=3", "--json"],
    )
    assert done.exit_code == 0, done.output
    note = f"{WIND} is given, so it is no longer drawn from [2, 7]"
    assert len(re.findall(re.escape(note), " ".join(done.stderr.split()))) == 1
    first, second = json.loads(done.stdout)["points"]
    assert first != second


def test_check_and_run_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["boat-field", *(f"--set={text}" for text in ("trials=1", "duration_s=2", f"randomize.{MASS}=[900, 1000]"))]
    note = "control.controller is another, so control.parameters.turn_time_s is no longer drawn from [1, 2]"
    (tmp_path / "s.toml").write_text(
        HEAD.replace("boat.toml", "boat-5m") + "trials = 1\nduration_s = 2.0\n" + GOAL
        + '[randomize]\n"control.parameters.turn_time_s" = [1.0, 2.0]\n'
    )  # fmt: skip
    for command in ("check", "run"):
        done = CliRunner().invoke(cli_main.cli, [command, "s.toml", "--set", "control.controller=straight"])
        assert done.exit_code == 0, done.output
        assert note in " ".join(done.output.split())
        assert "no longer drawn" not in CliRunner().invoke(cli_main.cli, [command, *given]).output


def test_a_replayed_run_draws_what_it_drew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run reads its own copy of a battery's file, under another name: the same battery."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    catalog = resources.files("fieldworthy") / "catalog" / "batteries"
    model = load("quad-waypoints").battery.model
    (tmp_path / "home" / "own.toml").write_text((catalog / f"{model}.toml").read_text())
    given = ["battery.model=home/own.toml", 'randomize."battery.capacity_c"=[15000, 16000]', "duration_s=1", "trials=1"]
    run = ["run", "quad-waypoints", "--out", "run", *(part for text in given for part in ("--set", text))]
    done = CliRunner().invoke(cli_main.cli, run)
    assert done.exit_code == 0, done.output
    assert read_run(Path("run"))[0].randomize == load("quad-waypoints", given).randomize
    assert "battery.capacity_c" in load("quad-waypoints", given).randomize


# Files given from outside --------------------------------------------------------------------------------------------


def test_a_file_given_to_a_built_in_scenario_is_looked_for_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-quad.toml").write_text(QUAD.read_text(encoding="utf-8").replace("value = 2.0,", "value = 2.1,", 1))
    given = load("quad-waypoints", ["vehicle.model=my-quad.toml"])
    assert given.vehicle.model == str(tmp_path / "my-quad.toml")
    assert set_value(load("quad-waypoints"), "vehicle.model", "my-quad.toml").vehicle == given.vehicle
    imu = load("quad-waypoints").sensors.imu
    own = resources.files("fieldworthy") / "catalog" / "imus" / f"{imu.model}.toml"
    (tmp_path / "imu.toml").write_text(own.read_text(encoding="utf-8"))
    assert load("quad-waypoints", ["sensors.imu.model=imu.toml"]).sensors.imu.values == imu.values
    # What only the package's folder has is that.
    assert load("boat-harbour", ["obstacles_geojson=harbour-small.geojson"]) == load("boat-harbour")


def test_no_scenario_is_suggested_for_a_catalogue_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-quad.toml").write_text(HEAD + GOAL)
    with pytest.raises(ScenarioError) as caught:
        load("quad-step", ["vehicle.model=my-quat.toml"])
    assert "did you mean" not in str(caught.value)
    assert str(tmp_path / "my-quat.toml") in str(caught.value)
    (tmp_path / "my-quad.toml").write_text(QUAD.read_text(encoding="utf-8"))
    with pytest.raises(ScenarioError, match=r"did you mean '.*my-quad.toml'"):
        load("quad-step", ["vehicle.model=my-quat.toml"])
