"""The place of results: known to be writable before anything is flown, whole or not there afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fieldworthy.cli import main as cli_main
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.trials import campaign, whole_folder
from fieldworthy.trials.whole_folder import new_folder, write_whole

SCENARIO = """
schema = 1
name = "short"
trials = 2
duration_s = 1.0
control.controller = "straight"
[vehicle]
model = "boat-5m"
[goal]
north_m = 50.0
east_m = 0.0
"""


@pytest.fixture(name="here")
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "short.toml").write_text(SCENARIO)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return tmp_path / "empty"


def command(*arguments: str) -> Result:
    return CliRunner().invoke(cli_main.cli, list(arguments))


def no_flying(monkeypatch: pytest.MonkeyPatch) -> None:
    def fly(*_: Any, **__: Any) -> None:
        raise AssertionError("it was flown")

    # The sweep first: were it imported only now, it would take the stand-in for the real one, for ever.
    monkeypatch.setattr("fieldworthy.trials.sweep.fly", fly)
    monkeypatch.setattr(campaign, "fly", fly)


def full(_: Path) -> None:
    raise OSError(28, "No space left on device")


COMMANDS = (
    ("run", "../short.toml"),
    ("sweep", "../short.toml", "--vary", "seed=1,2"),
    ("demo", "--trials", "1"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_full_disk_is_told_before_anything_is_flown(
    here: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    no_flying(monkeypatch)
    monkeypatch.setattr(whole_folder, "_try_to_write", full)
    for place in ([], ["--out", "new/results"], ["--out", "."]):
        done = command(*words, *place)
        assert isinstance(done.exception, FieldworthyError), done.output
        assert "cannot write" in str(done.exception)
        assert "No space left on device" in str(done.exception)
        assert not list(here.iterdir()), "the folders that were made for it are gone"


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_place_below_a_file_is_told_before_anything_is_flown(
    here: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    no_flying(monkeypatch)
    (here / "file").write_text("")
    for place in ("file/results", "file", "x" * 300):
        done = command(*words, "--out", place)
        assert isinstance(done.exception, FieldworthyError), done.output


def test_an_empty_folder_that_one_stands_in_is_filled(here: Path) -> None:
    done = command("run", "../short.toml", "--out", ".")
    assert done.exit_code == 0, done.output
    assert {"run.json", "report.html", "trajectories.npz"} <= {path.name for path in here.iterdir()}
    assert not (here / ".part").exists()
    assert isinstance(command("run", "../short.toml", "--out", ".").exception, FieldworthyError)


def test_nothing_put_in_leaves_nothing(here: Path) -> None:
    with new_folder(here / "a" / "b") as part:
        assert part.is_dir()
    assert not list(here.iterdir())
    (here / "a").mkdir()
    with new_folder(here / "a" / "b" / "c"):
        pass
    assert [path.name for path in here.iterdir()] == ["a"], "what was there stays"


def half(part: Path) -> None:
    (part / "half.txt").write_text("half")
    raise OSError(5, "disk gone")


def test_what_goes_wrong_half_way_leaves_nothing(here: Path) -> None:
    for target in (here, here / "new"):
        with pytest.raises(FieldworthyError, match="disk gone"):
            write_whole(target, half)
        assert not list(here.iterdir())


def test_figures_that_cannot_be_written_are_still_shown(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldworthy.trials.save.write_report", lambda part, shown_as: full(part))
    done = command("run", "../short.toml", "--json")
    assert isinstance(done.exception, FieldworthyError)
    assert '"finished": 2' in done.output
    assert not list(here.iterdir())


def test_a_report_that_fails_costs_nothing_else(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(part: Path, shown_as: Path) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("fieldworthy.trials.save.write_report", broken)
    done = command("run", "../short.toml", "--out", "kept")
    assert done.exception is None
    assert "the report could not be drawn (ZeroDivisionError" in done.output + capsys.readouterr().err
    assert (here / "kept" / "trials.csv").is_file()
    assert not (here / "kept" / "report.html").exists()


def stop_at(number: int, how: str) -> Callable[..., Any]:
    """A `fly` that is interrupted at the given call, inside (as `stopped_by`) or outside of it."""
    fly, calls = campaign.fly, [0]

    def flying(*arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] < number:
            return fly(*arguments, **options)
        if how == "outside":
            raise KeyboardInterrupt
        result = fly(*arguments, **options)
        object.__setattr__(result, "stopped_by", how)
        return result

    return flying


@pytest.mark.slow
@pytest.mark.parametrize("how", ["Ctrl-C", "outside"])
def test_ctrl_c_in_the_demo_keeps_the_scenarios_that_are_finished(
    here: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(campaign, "fly", stop_at(3, how))
    done = command("demo", "--trials", "1", "--out", "results")
    assert done.exit_code == 130, done.output
    assert "missing: boat-field-35, boat-channel" in done.stderr
    kept = sorted(path.name for path in (here / "results").iterdir())
    assert kept == ["boat-buoy", "boat-field", "report.html"]
    page = (here / "results" / "report.html").read_text(encoding="utf-8")
    assert "boat-buoy" in page


def test_ctrl_c_at_once_in_the_demo_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "fly", stop_at(1, "Ctrl-C"))
    done = command("demo", "--trials", "1", "--out", "results")
    assert done.exit_code == 130
    assert "nothing is written; missing: boat-buoy, boat-field, boat-field-35, boat-channel" in done.stderr
    assert not list(here.iterdir())
