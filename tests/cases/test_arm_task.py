"""Arm tasks from files: every mistake is told with its place and what is valid; overrides change the data."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from fieldworthy.arms.joint_csv import JointSet
from fieldworthy.arms.waypoints import WaypointSet
from fieldworthy.core.errors import FieldworthyError, ScenarioError
from fieldworthy.scenario import load
from fieldworthy.scenario.arm_task import (
    arm_scene,
    arm_task_toml,
    built_in_tasks,
    is_arm_task,
    load_arm_task,
)

HEAD = 'schema = 1\nname = "mine"\n[arm]\nmodel = "kr10-r1100"\n'
MOTION = '[motion]\nwaypoints = "arm-frames"\n'


def problems(folder: Path, text: str, *settings: str) -> list[str]:
    """What is wrong with a task of this text, a line a problem."""
    path = folder / "task.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        arm_scene(load_arm_task(path, settings))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("name", ["arm-cylinder", "arm-frames", "arm-joints", "arm-plane"])
def test_built_in_tasks_load_and_everything_they_name_is_there(name: str) -> None:
    assert name in built_in_tasks()
    assert is_arm_task(name)
    scene = arm_scene(load_arm_task(name))
    assert isinstance(scene.motion, JointSet if name == "arm-joints" else WaypointSet)
    assert (scene.start >= scene.arm.lower).all()
    assert (scene.start <= scene.arm.upper).all()
    assert [shape.name for shape in scene.obstacles] == ["floor"]


def test_the_complete_task_reads_back_the_same(tmp_path: Path) -> None:
    task = load_arm_task("arm-plane", ["play.rate_hz=50", "solver.options.iterations=4"])
    (tmp_path / "again.toml").write_text(arm_task_toml(task), encoding="utf-8")
    again = load_arm_task(tmp_path / "again.toml")
    assert arm_task_toml(again) == arm_task_toml(task)
    assert tomllib.loads(arm_task_toml(task))["play"]["settle_s"] == 2.0  # defaults are written out


def test_unknown_keys_are_told_with_the_likely_one(tmp_path: Path) -> None:
    text = HEAD + 'modell = "x"\n' + MOTION + "[play]\nrate = 50\n[path]\nmargin_mm = 5\n[solvr]\n"
    found = problems(tmp_path, text)
    assert len(found) == 4
    assert any("task.toml:5" in line and "'modell'" in line and "did you mean 'model'" in line for line in found)
    assert any("task.toml:9" in line and "'rate'" in line and "rate_hz" in line for line in found)
    assert any("task.toml:11" in line and "'margin_mm'" in line and "'margin_m'" in line for line in found)
    assert any("task.toml:12" in line and "'solvr'" in line and "did you mean 'solver'" in line for line in found)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("[play]\nrate_hz = 0.0\n", "rate_hz", "too small"),
        ("[play]\nrate_hz = 5000.0\n", "rate_hz", "too large"),
        ('[play]\nrate_hz = "fast"\n', "rate_hz", "a text"),
        ('[play]\nhold = "tremble"\n', "hold", "still"),
        ("[path]\navoid = 1\n", "avoid", "valid: true or false"),
        ("[path]\nspin_step_deg = 270.0\n", "spin_step_deg", "too large"),
    ],
)
def test_wrong_values_are_told_with_what_is_valid(tmp_path: Path, text: str, where: str, what: str) -> None:
    (line,) = problems(tmp_path, HEAD + MOTION + text)
    assert "task.toml:8" in line
    assert where in line
    assert what in line


@pytest.mark.parametrize(
    ("motion", "what"),
    [
        ('[motion]\nwaypoints = "arm-frames"\njoints = "arm-joints"\n', "waypoints and joints at once"),
        ("[motion]\nfeed_m_s = 0.1\n", "no motion"),
        ("", "motion"),
    ],
)
def test_there_is_one_motion(tmp_path: Path, motion: str, what: str) -> None:
    (line,) = problems(tmp_path, HEAD + motion)
    assert what in line


def test_a_start_outside_of_limits_is_told_joint_by_joint(tmp_path: Path) -> None:
    found = problems(tmp_path, HEAD + "start_deg = [200.0, -90.0, 90.0, 0.0, 150.0, 0.0]\n" + MOTION)
    # Limits of the KUKA KR 10 R1100 sixx: A1 +-170, A5 +-120 deg (KUKA, spec KR AGILUS sixx).
    assert len(found) == 2
    assert "A1 at 200" in found[0]
    assert "-170 to 170" in found[0]
    assert "A5 at 150" in found[1]
    assert "-120 to 120" in found[1]


def test_a_start_of_another_number_of_joints_is_told(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, HEAD + "start_deg = [0.0, -90.0]\n" + MOTION)
    assert "2 numbers for 6 joints" in line


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (HEAD + '[motion]\nwaypoints = "none.json"\n', "none.json"),
        (HEAD + '[motion]\njoints = "none.csv"\n', "none.csv"),
        (HEAD + '[motion]\nprogram = "none.src"\n', "none.src"),
        (HEAD.replace("kr10-r1100", "kr11-r1100") + MOTION, "did you mean 'kr10-r1100'"),
        (HEAD.replace("kr10-r1100", "own/arm.urdf") + MOTION, "arm.urdf"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "task.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FieldworthyError) as caught:
        arm_scene(load_arm_task(path))
    assert named in str(caught.value)


def test_a_misspelt_solver_and_a_misspelt_task_get_a_hint(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, HEAD + MOTION + '[solver]\nname = "fabrick"\n')
    assert "did you mean 'fabrik'" in line
    assert "module:Class" in line
    with pytest.raises(ScenarioError, match="did you mean 'arm-plane'"):
        load_arm_task("arm-plan")
    with pytest.raises(ScenarioError, match="did you mean 'arm-plane'"):
        load("arm-plan")


def test_obstacles_with_mistakes_are_told(tmp_path: Path) -> None:
    text = HEAD + MOTION + '[[obstacles]]\nkind = "sphere"\nname = "ball"\ncentre_m = [1.0, 0.0]\nradius_m = 0.1\n'
    (line,) = problems(tmp_path, text)
    assert "'ball'" in line
    assert "centre_m" in line


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("play.rate_hz", "an override names a path and a value"),
        ("=3", "an override names a path and a value"),
        ("arm.model.x=3", "a value, not a table"),
        ("obstacles.7.radius_m=3", "no element '7'; valid: 0 to 0"),
        ("play.rate=50", "this quantity is given as 'rate_hz'"),
        ("solver.name=dsl", "did you mean 'dls'"),
    ],
)
def test_overrides_that_cannot_be_are_told(setting: str, what: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_arm_task("arm-plane", [setting])
    assert what in str(caught.value)
    assert "--set" in str(caught.value)


def test_overrides_change_values_and_put_another_motion_in_the_place_of_the_first() -> None:
    task = load_arm_task("arm-plane", ["play.rate_hz=250", "motion.joints=arm-joints", "obstacles.0.name=table"])
    assert task.play.rate_hz == 250.0
    assert (task.motion.waypoints, task.motion.joints) == (None, "arm-joints")
    assert task.obstacles[0]["name"] == "table"


def test_files_that_an_override_names_start_where_the_user_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {
        "schema": 1, "name": "two", "units": {"length": "mm", "angle": "deg"}, "orientation": "kuka_abc",
        "waypoints": [{"position": [500, y, 400], "orientation": [0, 90, 0]} for y in (-50, 50)],
    }  # fmt: skip
    (tmp_path / "two.json").write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    scene = arm_scene(load_arm_task("arm-plane", ["motion.waypoints=two.json"]))
    assert len(scene.motion) == 2
    (tmp_path / "task.toml").write_text(HEAD + '[motion]\nwaypoints = "two.json"\n', encoding="utf-8")
    monkeypatch.chdir("/")
    assert len(arm_scene(load_arm_task(tmp_path / "task.toml")).motion) == 2


def test_the_tool_of_the_task_takes_the_place_of_the_motions_own(tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text(HEAD + MOTION + "[arm.tool]\nposition_m = [0.0, 0.0, 0.2]\nlength_m = 0.2\n", encoding="utf-8")
    scene = arm_scene(load_arm_task(path))
    assert np.array(scene.arm.tool)[:3, 3] == pytest.approx([0.0, 0.0, 0.2])
    assert isinstance(scene.motion, WaypointSet)
    assert scene.motion.flange_from_tool == pytest.approx(np.array(scene.arm.tool))
    rod = scene.arm.capsules[-1]
    assert (rod.name, rod.link) == ("tool", scene.arm.dof)
    # The capsule ends where the tool does: its axis is shorter by its radius.
    assert np.linalg.norm(np.subtract(rod.b_m, rod.a_m)) + rod.radius_m == pytest.approx(0.2)


def test_a_vehicles_loader_says_that_this_is_an_arms_task(tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text(HEAD + MOTION, encoding="utf-8")
    for name in ("arm-plane", path):
        with pytest.raises(ScenarioError, match=r"task of an arm.*valid: .*fieldworthy run"):
            load(name)


def test_what_is_no_arm_task_is_not_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / "boat.toml").write_text('schema = 1\n[vehicle]\nmodel = "boat-5m"\n', encoding="utf-8")
    (tmp_path / "broken.toml").write_text("[arm\n", encoding="utf-8")
    for name in (
        "boat-field",
        "nothing",
        tmp_path,
        tmp_path / "boat.toml",
        tmp_path / "broken.toml",
        tmp_path / "no.toml",
    ):
        assert not is_arm_task(name)


@pytest.mark.parametrize(
    ("keys", "doubted"),
    [
        ("start_deg = [0, -1.5708, 1.5708, 0, 0, 0]", ["arm.start_deg"]),
        ("start_deg = [0, -90, 90, 0, 0, 0]", []),
        ("[arm.tool]\nposition_m = [0, 0, 120]\nrpy_deg = [0, 3.1416, 0]", ["arm.tool.rpy_deg", "arm.tool.position_m"]),
        ("[arm.tool]\nlength_m = 120.0", ["arm.tool.length_m"]),
        ("[arm.tool]\nposition_m = [0, 0, 0.12]\nrpy_deg = [0, 90, 0]\nlength_m = 0.12", []),
    ],
)
def test_numbers_of_another_unit_are_doubted(tmp_path: Path, keys: str, doubted: list[str]) -> None:
    path = tmp_path / "task.toml"
    path.write_text(f"{HEAD}{keys}\n{MOTION}", encoding="utf-8")
    plain = arm_scene(load_arm_task("arm-frames")).motion.notes
    notes = arm_scene(load_arm_task(path)).motion.notes
    assert [note.partition(":")[0] for note in notes if note not in plain] == doubted
