"""What a flight leaves behind: figures, reasons, files that replay elsewhere, and what the command line prints."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from flights import LOST, SCENARIO

from fieldworthy.catalog import FOLDERS
from fieldworthy.cli import main as cli_main
from fieldworthy.cli.show import FIGURES, FLIGHT_FIGURES, columns_for, figures
from fieldworthy.scenario import load
from fieldworthy.trials import inputs
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.metric import METRICS
from fieldworthy.trials.notes import nothing_varies
from fieldworthy.trials.replay import replay
from fieldworthy.trials.result import Result
from fieldworthy.trials.save import save

CATALOG = Path(inputs.__file__).parents[1] / "catalog"
WIND = "x,y,z,u,v\n" + "".join(f"{x},{y},{z},2.0,0.0\n" for z in (0, 50) for y in (-100, 100) for x in (-100, 100))


def flown(folder: Path, text: str) -> Result:
    (folder / "hop.toml").write_text(text)
    return fly(load(folder / "hop.toml"))


@pytest.fixture(scope="module", name="sound")
def sound_flights(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Three trials that reach the goal."""
    return flown(tmp_path_factory.mktemp("sound"), SCENARIO)


@pytest.fixture(scope="module", name="lost")
def flights_that_lose_a_rotor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Three trials that come down, and their run folder."""
    folder = tmp_path_factory.mktemp("lost")
    result = flown(folder, SCENARIO + LOST)
    return result, save(result, folder / "run", "a test")


def test_figures_agree_with_the_tracks(sound: Result) -> None:
    """Each again from the tracks by NumPy alone."""
    assert sound.outcome.tolist() == ["goal"] * 3
    assert set(sound.metrics) == set(METRICS) - {"swing_max_deg"}
    assert sound.crash.tolist() == ["", "", ""]
    for row, count in enumerate(sound.length.tolist()):
        at = {name: values[row, :count].astype(float) for name, values in sound.tracks.items()}
        figure = {name: values[row] for name, values in sound.metrics.items()}
        assert figure["energy_wh"] == pytest.approx(at["energy_j"][-1] / 3600.0)
        assert figure["overshoot_m"] == pytest.approx(max(at["up_m"].max() - 3.0, 0.0), abs=1e-6)
        assert figure["charge_least"] == pytest.approx(at["charge"][-1])
        assert figure["voltage_least_v"] == pytest.approx(at["voltage_v"][1:].min())
        assert figure["margin_least"] <= at["margin"].min()
        # It is held for 3 s at the end, so it has settled before.
        assert 0.0 < figure["settling_s"] <= sound.time_s[row] - 3.0 + 0.02
        # The power drawn, summed over the samples, is the energy: two roads to one number.
        power = at["voltage_v"] * at["current_a"]
        assert np.trapezoid(power, sound.t_s[:count]) / 3600.0 == pytest.approx(figure["energy_wh"], rel=0.01)


def test_the_target_is_a_track_of_flights_alone(sound: Result) -> None:
    assert sound.tracks["target"].dtype == np.int16
    for row, count in enumerate(sound.length.tolist()):
        own = sound.tracks["target"][row, :count].tolist()
        assert own == [0] * (count - 1) + [1]
    boat = fly(load("boat-buoy", ["trials=1", "duration_s=1.0"]))
    assert "target" not in boat.tracks
    assert boat.metrics == {}
    assert boat.crash.size == 0
    assert boat.summary()["metrics"] == {}


def test_a_crash_says_what_had_broken(lost: tuple[Result, Path]) -> None:
    result, _ = lost
    assert result.outcome.tolist() == ["collision"] * 3
    assert set(result.crash.tolist()) <= {"impact", "tip-over", "belly-landing"}
    for why in result.why:
        assert why.startswith(("hit the ground", "came to lie"))
        assert why.endswith("; rotor 1 had lost its thrust at 4.0 s")


def test_faults_that_a_trial_is_spared_are_not_told(tmp_path: Path) -> None:
    rare = LOST + 'probability = 0.0\n[[faults]]\nkind = "sensor-bias"\npart = "gnss"\nat_s = 1.0\nsize = 50.0\n'
    result = flown(tmp_path, SCENARIO.replace("hold_s = 3.0", "hold_s = 30.0") + rare)
    for why in result.why:
        assert "rotor" not in why
        assert "the GNSS had taken on a bias at 1.0 s" in why
        assert why.startswith("still ")


def test_a_battery_that_gives_up_is_told(tmp_path: Path) -> None:
    empty = SCENARIO.replace("[air]\n", "charge = 0.02\n[air]\n", 1)
    result = flown(tmp_path, empty)
    assert result.outcome.tolist() != ["goal"] * 3
    failed = [why for why, outcome in zip(result.why, result.outcome, strict=True) if outcome != "goal"]
    assert all("the battery" in why for why in failed)


def test_summary_and_table_of_trials(lost: tuple[Result, Path]) -> None:
    result, run = lost
    summary: dict[str, Any] = json.loads((run / "summary.json").read_text())
    for name, values in result.metrics.items():
        told = summary["metrics"][name]
        known = values[np.isfinite(values)]
        assert told["mean"] == (pytest.approx(known.mean(), abs=1e-5) if len(known) else None)
        assert told["max"] == (pytest.approx(known.max(), abs=1e-5) if len(known) else None)
    assert sum(summary["crashes"].values()) == 3
    with (run / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["crash"] for row in rows] == result.crash.tolist()
    for name, values in result.metrics.items():
        told_rows = [float(row[name]) if row[name] else np.nan for row in rows]
        np.testing.assert_allclose(told_rows, values, rtol=1e-5)


def test_over_open_ground_there_is_no_clearance(lost: tuple[Result, Path], tmp_path: Path) -> None:
    """Empty in the table, null in JSON; a flight with a mast has one."""
    result, run = lost
    assert np.isnan(result.clearance_m).all()
    with (run / "trials.csv").open(encoding="utf-8") as file:
        assert [row["clearance_m"] for row in csv.DictReader(file)] == [""] * 3
    assert json.loads((run / "summary.json").read_text())["clearance_m"] == {"min": None, "mean": None}
    again = CliRunner().invoke(cli_main.cli, ["replay", str(run), "--trial", "1", "--json"])
    assert json.loads(again.output)["clearance_m"] is None
    mast = '[[obstacles]]\nkind = "cylinder"\nnorth_m = 6.0\nradius_m = 0.5\ntop_up_m = 9.0\nbottom_up_m = 0.0\n'
    near = fly(load(_written(tmp_path, SCENARIO + mast), ["trials=1"]))
    # A start at the origin, and a vehicle that reaches 0.34 m to its side.
    assert 4.0 < near.clearance_m[0] < 5.5


def _written(folder: Path, text: str) -> Path:
    (folder / "hop.toml").write_text(text)
    return folder / "hop.toml"


FAILS = """
import fieldworthy as fw

class Fails:
    reads_deg = None

    def command(self, readings, parameters):
        if readings.t_s > 1.0:
            raise ValueError("lost the plot")
        return fw.FlightCommand(north_m=0.0, east_m=0.0, up_m=3.0)
"""


def test_a_controller_that_fails_leaves_a_flights_table(tmp_path: Path) -> None:
    """With no trial finished there is no figure, and it is a flight all the same."""
    (tmp_path / "fails.py").write_text(FAILS)
    path = _written(tmp_path, SCENARIO + '[control]\ncontroller = "fails:Fails"\n')
    done = CliRunner().invoke(cli_main.cli, ["run", str(path), "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    assert "lost the plot" in done.output
    assert "tracking RMS" in done.output
    assert "clearance" not in done.output


def test_a_flight_replays_bit_for_bit(lost: tuple[Result, Path]) -> None:
    again = replay(lost[1], 2)
    assert again.agrees, again.differences
    assert again.result.why[0] == lost[0].why[2]


def test_a_flight_from_files_of_ones_own_replays_where_they_are_gone(tmp_path: Path) -> None:
    """Vehicle, battery, device and wind field by path, some from outside of the scenario's folder, two of one name."""
    home, shelf, other = tmp_path / "home", tmp_path / "shelf", tmp_path / "other"
    for folder in (home, shelf, other):
        folder.mkdir()
    for kind, name, target in (
        ("aircraft", "x500", home / "mine.toml"),
        ("battery", "lipo-4s-5000mah", shelf / "part.toml"),
        ("gnss", "neo-m8n", other / "part.toml"),
    ):
        shutil.copy(CATALOG / FOLDERS[kind] / f"{name}.toml", target)
    (shelf / "wind.csv").write_text(WIND)
    text = SCENARIO.replace('model = "x500"', 'model = "mine.toml"').replace(
        "[air]\n", '[battery]\nmodel = "../shelf/part.toml"\n[sensors.gnss]\nmodel = "../other/part.toml"\n[air]\n'
        'grid = "../shelf/wind.csv"\n', 1,
    )  # fmt: skip
    run = save(flown(home, text), tmp_path / "run", "a test")
    names = {"mine.toml", "../shelf/part.toml", "../other/part.toml", "../shelf/wind.csv"}
    facts = json.loads((run / "run.json").read_text())
    assert set(facts["files_sha256"]) == names
    assert all(facts["files_sha256"].values())
    kept = facts["inputs"]
    assert set(kept) == names
    assert len(set(kept.values())) == 4
    for folder in (home, shelf, other):
        shutil.rmtree(folder)
    again = replay(run, 1)
    assert again.agrees, again.differences
    path = run / "inputs" / kept["../shelf/wind.csv"]
    path.write_text(WIND.replace("2.0", "3.0"))
    assert any("wind.csv is another one than then" in line for line in replay(run, 1).differences)


def test_what_varies_in_a_flight(tmp_path: Path) -> None:
    still = SCENARIO.replace("spread_heading_deg = 180.0", "").replace(
        '[air.turbulence]\nmodel = "von-karman"\nspecification = "mil-hdbk-1797"\n', '[control]\nnavigation = "truth"\n'
    )
    path = tmp_path / "still.toml"
    for text, same in (
        (still, True),
        (still.replace('"truth"', '"estimate"'), False),
        (still + LOST, True),
        (still + LOST + "probability = 0.5\n", False),
        (still + LOST + "spread_s = 1.0\n", False),
        (SCENARIO, False),
    ):
        path.write_text(text)
        assert nothing_varies(load(path)) is same


def test_the_tables_of_the_command_line(sound: Result, tmp_path: Path) -> None:
    """A flight has its own columns; a boat's stay as they were."""
    summary = sound.summary()
    assert columns_for([summary]) == FLIGHT_FIGURES
    assert columns_for([summary, {**summary, "vehicle": "boat"}]) == FIGURES
    cells = figures(summary)
    assert set(FLIGHT_FIGURES) <= set(cells)
    assert cells["energy"] == f"{sound.metrics['energy_wh'].mean():.2f} Wh"
    (tmp_path / "hop.toml").write_text(SCENARIO)
    out = str(tmp_path / "sweep")
    done = CliRunner().invoke(
        cli_main.cli,
        ["sweep", str(tmp_path / "hop.toml"), "--vary", "air.wind_speed_m_s=0,5", "--trials", "2", "--out", out],
    )
    assert done.exit_code == 0, done.output
    assert "tracking RMS" in done.output
    with (tmp_path / "sweep" / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert all(float(row["mean_energy_wh"]) > 0.0 for row in rows)
    page = (tmp_path / "sweep" / "report.html").read_text()
    assert "Tracking error, RMS" in page
    assert "Least clearance" not in page
