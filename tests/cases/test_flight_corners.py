"""Mistakes of flights that only show in a corner: drawn cables, other vehicles' controllers, files of a vehicle."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from fieldworthy import catalog
from fieldworthy.cli.main import cli
from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import load, set_value, to_toml
from fieldworthy.scenario.kinds import CONTROLLERS_OF
from fieldworthy.scenario.plug_in import CONTROLLERS
from fieldworthy.trials.inputs import inputs_of
from fieldworthy.trials.notes import scenario_notes

LOAD = "too long for this load on its cable"
TETHER = "too long for the tether"


def problems(name: str | Path, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(name, overrides)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "ends", "told"),
    [
        ("load.damping_n_s_m", "[10,1e4]", (LOAD, "load.damping_n_s_m = 10000")),
        ("load.stiffness_n_m", "[100,1e8]", (LOAD, "load.stiffness_n_m = 1e+08")),
        ("load.mass_kg", "[1e-4,0.5]", (LOAD, "load.mass_kg = 0.0001")),
    ],
)
def test_drawn_load_must_suit_the_step(name, ends, told):
    text = problems("quad-slung-load", f"randomize.{name}={ends}")
    assert all(part in text for part in (*told, f"--set randomize.{name}", "narrower interval")), text


@pytest.mark.parametrize(("name", "ends"), [("tether.stiffness_n_m", "[100,1e7]"), ("tether.damping_n_s_m", "[1,1e4]")])
def test_drawn_tether_must_suit_the_step(name, ends):
    text = problems("quad-hover", "tether.cable_length_m=5", f"randomize.{name}={ends}")
    assert TETHER in text
    assert f"{name} = " in text


def test_corner_of_draws_that_are_fine_alone():
    stiff, heavy = "randomize.tether.stiffness_n_m=[2000,2.5e6]", "randomize.vehicle.mass_kg=[1.0,2.0]"
    cable = ("tether.cable_length_m=5", "tether.damping_n_s_m=0")
    load("quad-hover", [*cable, stiff])
    load("quad-hover", [*cable, heavy])
    text = problems("quad-hover", *cable, stiff, heavy)
    assert "tether.stiffness_n_m = 2.5e+06 and vehicle.mass_kg = 1" in text


def test_gentle_draws_of_cables_pass():
    load("quad-slung-load", ["randomize.load.stiffness_n_m=[500,4000]", "randomize.load.damping_n_s_m=[5,20]"])


@pytest.mark.parametrize(
    ("name", "controller", "told"),
    [
        ("boat-field", "mission", "'mission' is for what flies; valid: sector, straight"),
        ("quad-hover", "sector", "'sector' is for boats; valid: mission"),
        ("quad-hover", "straight", "'straight' is for boats; valid: mission"),
    ],
)
def test_built_in_controller_of_the_other_kind(name, controller, told):
    assert told in problems(name, f"control.controller={controller}")


def test_every_built_in_controller_has_a_kind():
    # 'external' stands in for whoever steers any vehicle from outside.
    assert sorted(CONTROLLERS) == sorted(["external", *(name for names in CONTROLLERS_OF.values() for name in names)])
    assert set(CONTROLLERS_OF) == set(catalog.VEHICLES)


@pytest.mark.parametrize("kind", ["imu", "aircraft", "airspeed"])
def test_article_of_a_kind(tmp_path, kind):
    (tmp_path / "thing.toml").write_text('kind = "lidar"\ntitle = "x"\n[values]\na = { value = 1.0, source = "x" }\n')
    with pytest.raises(ScenarioError, match=f"an {kind} is wanted here"):
        catalog.load_entry(kind, "thing.toml", tmp_path)


def quad_with_own_battery(folder: Path, battery_folder: Path) -> None:
    """q.toml in a folder, which names bat.toml; that lies in another one."""
    source = Path(catalog.__file__).parent
    own = catalog.load_entry("aircraft", "x500").values["battery"]
    for place in (folder, battery_folder):
        place.mkdir(parents=True, exist_ok=True)
    text = (source / "aircraft" / "x500.toml").read_text()
    assert f'"{own}"' in text
    (folder / "q.toml").write_text(text.replace(f'"{own}"', '"bat.toml"'))
    shutil.copy(source / "batteries" / f"{own}.toml", battery_folder / "bat.toml")


@pytest.mark.parametrize(("place", "model"), [("mv", "mv/bat.toml"), (".", "bat.toml")])
def test_devices_of_a_vehicle_file_lie_beside_it_or_beside_the_scenario(tmp_path, monkeypatch, place, model):
    monkeypatch.chdir(tmp_path)
    quad_with_own_battery(tmp_path / "mv", tmp_path / place)
    done = CliRunner().invoke(cli, ["new", "z.toml", "--vehicle", "mv/q.toml"])
    assert done.exit_code == 0, done.output
    scenario = load("z.toml")
    assert scenario.battery is not None
    assert scenario.battery.model == model
    assert inputs_of(scenario).files[model].is_file()
    (tmp_path / "again.toml").write_text(to_toml(scenario))
    assert load("again.toml") == scenario
    # Another vehicle has its own battery, not this one's.
    other = set_value(scenario, "vehicle.model", "x500")
    assert other.battery is not None
    assert other.battery.model == catalog.load_entry("aircraft", "x500").values["battery"]


def test_missing_device_is_looked_for_beside_the_vehicle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quad_with_own_battery(tmp_path / "mv", tmp_path / "elsewhere")
    CliRunner().invoke(cli, ["new", "z.toml", "--vehicle", "mv/q.toml"])
    assert str(Path("mv", "bat.toml")) in problems("z.toml")


def test_what_comes_after_the_end_is_noted():
    assert not any("never happens" in note or "succeed" in note for note in scenario_notes(load("quad-hover")))
    fault = '[{kind="rotor-loss",part="0",at_s=7.0}]'
    notes = scenario_notes(load("quad-hover", ["duration_s=6", "goal.hold_s=6", f"faults={fault}"]))
    assert "no trial can succeed: goal.hold_s = 6 is not below duration_s = 6" in notes
    assert "faults.0 (rotor-loss) never happens: at_s = 7 is not before duration_s = 6" in notes
