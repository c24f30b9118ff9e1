"""What a command tells beside its figures: other outcomes, trials that are all the same, unfair samples."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from scenario_texts import GOAL, HEAD, folder_with_boat, only_problem  # noqa: F401

from fieldworthy.cli import main as cli_main
from fieldworthy.cli.show import FIGURES, figures, other_outcomes, stop_sentence, summary_table
from fieldworthy.cli.sweep import parse_vary
from fieldworthy.scenario import load
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.notes import all_the_same, nothing_varies, sameness_notes, scenario_notes
from fieldworthy.trials.replay import _known

STILL = """schema = 1
name = "still"
trials = 3
duration_s = 1.0
[vehicle]
model = "boat-5m"
[goal]
north_m = 100.0
east_m = 0.0
[sensors.lidar]
noise_m = 0.0
[control]
controller = "straight"
"""


@pytest.fixture(name="still")
def scenario_of_one_trial_thrice(tmp_path: Path) -> Path:
    path = tmp_path / "still.toml"
    path.write_text(STILL)
    return path


def told(*arguments: str) -> Result:
    done = CliRunner().invoke(cli_main.cli, list(arguments))
    assert done.exit_code == 0, done.output
    return done


SUMMARY: dict[str, Any] = {
    "scenario": "x", "vehicle": "boat", "trials": 200, "finished": 200, "collisions": 1, "wall_s": 2.0, "sim_s": 100.0,
    "success": {"rate": 0.97, "ci95": [0.936, 0.986]}, "time_s": {"mean": None},
    "clearance_m": {"min": 0.0, "mean": 4.1},
    "outcomes": {"goal": 193, "collision": 1, "timeout": 5, "left area": 0, "non-finite": 1},
}  # fmt: skip


def test_every_outcome_is_in_the_table() -> None:
    row = figures(SUMMARY)
    assert tuple(row) == FIGURES
    assert row["other"] == "5 timeout, 1 non-finite"
    assert row["95 % interval"] == "94 to 99 %"
    assert row["mean time"] == "–"
    assert other_outcomes({"outcomes": {"goal": 3, "collision": 2, "timeout": 0}}) == "0"


@pytest.mark.parametrize("width", [80, 140])
def test_no_word_of_the_table_is_cut(width: int) -> None:
    console = Console(width=width, file=io.StringIO())
    console.print(summary_table({"sensors.lidar.noise_m": ["0.05"]}, [SUMMARY], width))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text
    for word in ("success", "interval", "collisions", "other", "94 to 99 %", "timeout", "97.0 %"):
        assert word in text, text


def test_run_and_sweep_have_the_same_columns(still: Path, tmp_path: Path) -> None:
    run = told("run", str(still), "--out", str(tmp_path / "r"))
    sweep = told("sweep", str(still), "--vary", "seed=1,2", "--out", str(tmp_path / "s"))
    head = " ".join(run.stdout.splitlines()[0].split())
    assert head == " ".join(("scenario", *FIGURES))
    assert " ".join(sweep.stdout.splitlines()[0].split()) == " ".join(("seed", *FIGURES))
    assert "3 timeout" in run.stdout
    assert sweep.stdout.count("3 timeout") == 2


def test_trials_that_are_all_the_same_are_told(still: Path, tmp_path: Path) -> None:
    sentence = (
        "All 3 trials are the same: nothing in the scenario varies; add spread_* or [randomize]. "
        "The interval means nothing here."
    )
    run = told("run", str(still), "--out", str(tmp_path / "r"))
    assert f"note: {sentence}\n" in run.stderr
    assert json.loads((tmp_path / "r" / "run.json").read_text(encoding="utf-8"))["notes"] == [sentence]
    assert (tmp_path / "r" / "report.html").read_text(encoding="utf-8").count(sentence) == 1
    assert "note: all 3 trials will be the same: nothing in the scenario varies" in told("check", str(still)).stdout
    sweep = told("sweep", str(still), "--vary", "start.spread_east_m=0,2", "--out", str(tmp_path / "s"))
    assert f"note: {sentence} (1 of 2 points)" in sweep.stderr


def test_one_trial_or_one_other_track_is_not_the_same(still: Path) -> None:
    assert sameness_notes(fly(load(still, ["trials=1"]))) == []
    assert scenario_notes(load(still, ["trials=1"])) == []
    result = fly(load(still))
    assert all_the_same(result)
    east = result.tracks["east_m"].copy()
    east[2, 3] = np.nextafter(east[2, 3], np.float32(9.0))
    assert not all_the_same(replace(result, tracks={**result.tracks, "east_m": east}))
    # Noise that the controller does not listen to.
    assert "what varies makes no difference" in sameness_notes(fly(load(still, ["sensors.lidar.noise_m=0.1"])))[0]


@pytest.mark.parametrize(
    "setting",
    ["start.spread_heading_deg=1", "sensors.lidar.noise_m=0.1", "sensors.lidar.dropout=0.1", "sea.waves.height_m=0.3",
     "randomize.vehicle.mass_kg=[900, 1000]"],
)  # fmt: skip
def test_what_varies(still: Path, setting: str) -> None:
    assert nothing_varies(load(still))
    assert not nothing_varies(load(still, [setting]))


def test_built_in_scenarios_vary() -> None:
    assert not nothing_varies(load("boat-buoy"))
    assert not nothing_varies(load("boat-field"))


def test_an_interrupted_run_says_that_its_sample_is_not_fair() -> None:
    text = stop_sentence("Ctrl-C", "3 of 9 trials had finished and are kept", unfair=True)
    assert text.startswith("stopped by Ctrl-C: 3 of 9 trials had finished and are kept; ")
    assert "not a fair sample" in text
    assert "fair" not in stop_sentence("Ctrl-C", "3 of 4 points are kept", unfair=False)


def test_an_unknown_key_shows_a_dozen_names_and_where_the_rest_is(folder: Path) -> None:
    valid = only_problem(folder, HEAD + GOAL + "[sensors.lidar]\nnose_m = 1\n").valid
    assert valid.startswith("noise_m, ")
    names, _, rest = valid.partition(", … and ")
    assert len(names.split(", ")) == 12
    assert rest.endswith(" more: docs/scenario-file.md")


@pytest.mark.parametrize("name", ["obstacles", "waypoints", "scatter"])
def test_a_value_of_a_list_that_the_scenario_has_not(folder: Path, name: str) -> None:
    problem = only_problem(folder, HEAD + GOAL, f"{name}.0.radius_m=3")
    assert problem.where == f"--set {name}.0.radius_m=3"
    assert problem.what == f"this scenario has no [[{name}]]"
    assert len(str(problem)) < 150


def test_a_wrong_list_of_obstacles_is_not_told_with_every_schema(folder: Path) -> None:
    assert len(only_problem(folder, "obstacles = 3\n" + HEAD + GOAL).valid) < 150


@pytest.mark.parametrize("text", ["x=0:1:0.5", "x=0:1", "x = -1:1:1e-1"])
def test_a_range_is_told_to_list_its_values(text: str) -> None:
    with pytest.raises(click.UsageError, match=r"list the values with commas, such as x=0,0\.5,1"):
        parse_vary(text)


def test_which_trials_there_are() -> None:
    assert _known(np.arange(6)) == "6 trials finished, numbered 0 to 5"
    assert _known(np.array([3, 9, 296])) == "3 trials finished, numbered between 3 and 296"
    assert _known(np.array([4])) == "1 trial finished, number 4"
    assert _known(np.array([])) == "none finished"


@pytest.mark.parametrize(
    ("command", "text"),
    [("run", "default: the scenario's"), ("sweep", "per point"), ("check", "may be given again")],
)
def test_help_says_what_the_options_mean(command: str, text: str) -> None:
    assert text in " ".join(told(command, "--help").stdout.split())
