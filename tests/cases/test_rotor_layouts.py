"""Rotors must make thrust and all three moments apart from one another; a layout that cannot is told which."""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fieldworthy.catalog import load_entry, names
from fieldworthy.cli import main as cli_main
from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import load
from fieldworthy.scenario.aircraft_sense import sense_problems

X500 = load_entry("aircraft", "x500").values
BOTH_WAYS = "rotors that spin both ways, neighbours opposite"


def ring(count: int, spins: list[int]) -> dict[str, Any]:
    """Rotors on a circle, one ahead."""
    angles = [2.0 * math.pi * i / count for i in range(count)]
    return {
        "rotor_position_m": [[0.4 * math.cos(a), 0.4 * math.sin(a), 0.0] for a in angles],
        "rotor_spin": spins,
    }


# The order of the x500 is front right, rear left, front left, rear right: the first two share a diagonal.
@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"rotor_spin": [1, 1, 1, 1]}, "no yaw without thrust"),
        ({"rotor_spin": [1, -1, 1, -1]}, "no yaw without pitch"),  # both in front turn one way
        ({"rotor_spin": [1, -1, -1, 1]}, "no yaw without roll"),  # both on the right turn one way
        ({"rotor_torque_ratio_m": 0.0}, "no yaw"),
        (ring(6, [1] * 6), "no yaw without thrust"),
        (ring(6, [1, 1, 1, -1, -1, -1]), None),
    ],
)
def test_moments_that_a_layout_cannot_make(values: dict[str, Any], what: str | None) -> None:
    problems = sense_problems({**X500, **values})
    assert len(problems) == (what is not None)
    if what is not None:
        assert problems[0].what.endswith(what)
        assert BOTH_WAYS in problems[0].valid


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"rotor_position_m": [[x, 0.0, 0.0] for x in (0.3, -0.3, 0.1, -0.1)]}, "no roll"),
        ({"rotor_position_m": [[0.0, y, 0.0] for y in (0.3, -0.3, 0.1, -0.1)]}, "no pitch"),
        ({"rotor_position_m": [[x, x, 0.0] for x in (0.3, -0.3, 0.1, -0.1)]}, "no pitch without roll"),
    ],
)
def test_rotors_in_one_line(values: dict[str, Any], what: str) -> None:
    (problem,) = sense_problems({**X500, **values})
    assert problem.what.endswith(what)
    assert "rotors on all sides of the centre of mass" in problem.valid


def test_three_rotors_are_too_few() -> None:
    (problem,) = sense_problems({**X500, **ring(3, [1, -1, 1])})
    assert "at least 4 rotors" in problem.valid


@pytest.mark.parametrize("count", [4, 6, 8, 12])
def test_rings_with_neighbours_opposite_are_sound(count: int) -> None:
    assert sense_problems({**X500, **ring(count, [1, -1] * (count // 2))}) == []


def test_pairs_on_one_shaft_are_sound() -> None:
    above_one_another = {"rotor_position_m": X500["rotor_position_m"] * 2, "rotor_spin": [1, 1, -1, -1, -1, -1, 1, 1]}
    assert sense_problems({**X500, **above_one_another}) == []


@pytest.mark.parametrize("name", names("aircraft"))
def test_the_catalogue_is_sound(name: str) -> None:
    assert sense_problems(load_entry("aircraft", name).values) == []


def test_a_scenario_with_such_rotors_is_refused() -> None:
    with pytest.raises(ScenarioError, match="no yaw without thrust") as caught:
        load("quad-hover", ["vehicle.rotor_spin=[1, 1, 1, 1]"])
    assert caught.value.problems[0].where == "--set vehicle.rotor_spin=[1, 1, 1, 1]"


# A scenario for a vehicle of one's own --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["x500", "boat-5m"])
def test_no_scenario_is_written_for_a_vehicle_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = resources.files("fieldworthy") / "catalog" / ("boats" if model == "boat-5m" else "aircraft")
    lines = (folder / f"{model}.toml").read_text(encoding="utf-8").splitlines()
    (tmp_path / "mine.toml").write_text("\n".join(text for text in lines if not text.startswith("mass_kg ")))
    done = CliRunner().invoke(cli_main.cli, ["new", "s.toml", "--vehicle", "mine.toml"])
    assert isinstance(done.exception, ScenarioError)
    assert "lacks mass_kg" in str(done.exception)
    assert "mine.toml" in str(done.exception)
    assert not (tmp_path / "s.toml").exists()
