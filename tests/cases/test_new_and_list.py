"""`fieldworthy new` and `fieldworthy list`: a sound scenario for every vehicle, and everything that comes along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fieldworthy.catalog import FOLDERS, VEHICLES, load_entry, names
from fieldworthy.cli import main as cli_main
from fieldworthy.scenario import load

MODELS = [model for kind in VEHICLES for model in names(kind)]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("model", MODELS)
def test_the_new_scenario_of_every_vehicle_loads(here: Path, model: str) -> None:
    done = CliRunner().invoke(cli_main.cli, ["new", "mine.toml", "--vehicle", model])
    assert done.exit_code == 0, done.output
    scenario = load(here / "mine.toml")
    assert (scenario.name, scenario.vehicle.model) == ("mine", model)
    text = (here / "mine.toml").read_text(encoding="utf-8")
    left = [word for word in ("my-vehicle", "my-scenario", "_KG]", "_KG,", "LEG_M", "FIELD_M") if word in text]
    assert not left, f"words of the template are left: {left}"


@pytest.mark.slow
@pytest.mark.parametrize("model", names("aircraft"))
def test_the_new_flight_reaches_its_goal_without_errors_of_navigation(here: Path, model: str) -> None:
    import fieldworthy as fw

    CliRunner().invoke(cli_main.cli, ["new", "mine.toml", "--vehicle", model])
    result = fw.fly(load(here / "mine.toml", ["control.navigation=truth"]), trials=10)
    assert set(result.outcome.tolist()) == {"goal"}, result.why


def test_a_new_scenario_may_have_a_vehicle_of_ones_own(here: Path) -> None:
    from importlib import resources

    own = resources.files("fieldworthy") / "catalog" / "aircraft" / "x500.toml"
    (here / "my-quad.toml").write_text(own.read_text(encoding="utf-8"), encoding="utf-8")
    done = CliRunner().invoke(cli_main.cli, ["new", "mine.toml", "--vehicle", "my-quad.toml"])
    assert done.exit_code == 0, done.output
    assert load(here / "mine.toml").vehicle.kind == "aircraft"


def test_an_unknown_vehicle_is_told_and_nothing_is_written(here: Path) -> None:
    from fieldworthy.core.errors import ScenarioError

    done = CliRunner().invoke(cli_main.cli, ["new", "mine.toml", "--vehicle", "x50"])
    assert isinstance(done.exception, ScenarioError)
    assert "did you mean 'x500'" in str(done.exception)
    assert not (here / "mine.toml").exists()


def test_list_shows_every_file_of_the_catalogue() -> None:
    done = CliRunner().invoke(cli_main.cli, ["list", "--json"])
    assert done.exit_code == 0, done.output
    listed = json.loads(done.output)
    for kind, folder in FOLDERS.items():
        assert listed[folder] == {name: load_entry(kind, name).title for name in names(kind)}, folder
    assert {"scenarios", "controllers"} <= set(listed)
    assert "mission" in listed["controllers"]


def test_list_of_one_kind_shows_no_other() -> None:
    done = CliRunner().invoke(cli_main.cli, ["list", "imus"])
    assert done.exit_code == 0, done.output
    assert "bmi088" in done.output
    assert "boat-5m" not in done.output
    wrong = CliRunner().invoke(cli_main.cli, ["list", "imu"])
    assert wrong.exit_code == 2
    assert "imus" in wrong.output
