"""Errors say what, where and what would be valid."""

import pickle

import pytest

from fieldworthy.core.errors import (
    EngineError,
    FieldworthyError,
    MissingExtraError,
    Problem,
    ScenarioError,
    require_extra,
)


def test_a_scenario_error_prints_every_problem():
    error = ScenarioError(
        [Problem("boat.toml:3", "unknown key 'sped_m_s'", "speed_m_s"), Problem("goal.radius_m", "-1 is negative")]
    )
    assert str(error) == "boat.toml:3: unknown key 'sped_m_s'; valid: speed_m_s\ngoal.radius_m: -1 is negative"
    assert [problem.where for problem in error.problems] == ["boat.toml:3", "goal.radius_m"]
    assert str(ScenarioError(Problem("", "the file is empty", "TOML"))) == "the file is empty; valid: TOML"
    with pytest.raises(ValueError, match="at least one"):
        ScenarioError([])


def test_one_base_class_and_copies_between_processes():
    for error in (ScenarioError(Problem("a", "b")), EngineError("no LLVM"), MissingExtraError("replay", "log")):
        assert isinstance(error, FieldworthyError)
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert str(copy) == str(error)


def test_a_missing_extra_names_the_command():
    assert require_extra("json", "log", "MCAP recording").__name__ == "json"
    with pytest.raises(MissingExtraError) as caught:
        require_extra("no_such_module_at_all.writer", "log", "MCAP recording")
    assert str(caught.value) == "MCAP recording needs the extra 'log': pip install 'fieldworthy[log]'"


def test_a_broken_module_keeps_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "present_but_broken.py").write_text("import another_module_that_is_absent\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="another_module_that_is_absent"):
        require_extra("present_but_broken", "log", "MCAP recording")
