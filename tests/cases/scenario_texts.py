"""A small vehicle and the beginning of a scenario, for tests that write scenario files."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldworthy.catalog import load_entry
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.scenario import Scenario, load

_OWN = {"mass_kg": 1000.0, "length_m": 2.0, "surge_drag_n_s_m": 80, "beam_m": 2.0,
        "outline_m": [[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]]}  # fmt: skip
VALUES = {**_OWN, **{name: v for name, v in load_entry("boat", "boat-5m").values.items() if name not in _OWN}}
BOAT = '\nkind = "boat"\ntitle = "a boat for tests"\n[values]\n' + "".join(
    f'{name} = {{ value = {value}, source = "test"{", min = 0" if name == "surge_drag_n_s_m" else ""} }}\n'
    for name, value in VALUES.items()
)

HEAD = 'schema = 1\nname = "x"\nvehicle.model = "boat.toml"\n'
GOAL = "[goal]\nnorth_m = 100.0\neast_m = 0.0\n"


@pytest.fixture(name="folder")
def folder_with_boat(tmp_path: Path) -> Path:
    (tmp_path / "boat.toml").write_text(BOAT)
    return tmp_path


def problems_of(folder: Path, text: str, *overrides: str) -> list[Problem]:
    path = folder / "case.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load(path, overrides)
    return caught.value.problems


def only_problem(folder: Path, text: str, *overrides: str) -> Problem:
    problems = problems_of(folder, text, *overrides)
    assert len(problems) == 1, "\n".join(map(str, problems))
    return problems[0]


def loads(folder: Path, text: str, *overrides: str) -> Scenario:
    path = folder / "good.toml"
    path.write_text(text)
    return load(path, overrides)
