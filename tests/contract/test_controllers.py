"""The contract with a user's controller: what it gets, what it may answer, a sentence for each way to break it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldworthy.core.errors import FieldworthyError, ScenarioError
from fieldworthy.scenario import Scenario, load
from fieldworthy.scenario.build import build
from fieldworthy.scenario.plug_in import contract_problems, controller_class, load_controller
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.contract import check_scenario
from fieldworthy.trials.inputs import inputs_of
from fieldworthy.world import start, step

SCENARIO = """
schema = 1
name = "own controller"
trials = 5
duration_s = 30.0
vehicle.model = "boat-5m"
[start]
spread_heading_deg = 30.0
spread_north_m = 15.0
[goal]
north_m = 40.0
east_m = 0.0
radius_m = 4.0
[area]
north_m = [-30.0, 70.0]
east_m = [-40.0, 40.0]
[sensors.lidar]
model = "vlp16-uniform"
azimuth_step_deg = 1.0
elevation_step_deg = 10.0
[[obstacles]]
kind = "cylinder"
north_m = 28.0
radius_m = 1.0
top_up_m = 3.0
"""

numbers = itertools.count()


def own(folder: Path, body: str, more: str = "", name: str = "Mine") -> Scenario:
    """A scenario with a controller module of its own beside it. Module names are new each time, as files would be."""
    module = f"own_controller_{next(numbers)}"
    (folder / f"{module}.py").write_text("import numpy as np\nimport fieldworthy as fw\n\n\n" + body)
    path = folder / "scenario.toml"
    path.write_text(f'{SCENARIO}\n[control]\ncontroller = "{module}:{name}"\n{more}')
    return load(path)


def one_step(case: Scenario) -> Any:
    """The state and frame after the controller was asked once."""
    world = build(case).world
    return step(world, start(world))


def refused(case: Scenario) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_controller(case)
    return str(caught.value)


CLASS = "class Mine:\n    reads_deg = None\n"
COMMAND = "    def command(self, readings, parameters):\n"


# --- what is promised works ------------------------------------------------------------------------------------------

HOMING = '''
class Parameters(fw.Parameters):
    speed_m_s: float = 3.0
    gain: float = 1.0
    words: str = "some"


class Mine:
    """Goes for the target, counts its calls in memory, and notes what it was given."""

    reads_deg = (-60.0, 60.0)
    Parameters = Parameters
    memory = {"calls": 0.0, "trial": -1.0, "slow_m_s": 7.0}
    seen = []

    def command(self, r, p):
        n = len(r.north_m)
        assert r.scan.range_m.shape == (n, len(r.scan.azimuth_rad), len(r.scan.elevation_rad))
        assert np.abs(np.degrees(r.scan.azimuth_rad)).max() < 63.0
        assert all(np.shape(v) == (n,) for v in (r.trial, r.east_m, r.heading_rad, r.surge_m_s, r.target_north_m))
        assert all(np.shape(v) == (n,) for v in r.memory.values())
        first = r.t_s == 0.0
        # Memory follows its trial when others leave the batch.
        assert first or (r.memory["trial"] == r.trial).all()
        # Trials that have ended may stay in the batch for a while; they are not asked any more.
        assert r.memory["calls"].max() == round(r.t_s / r.period_s)
        speed = np.broadcast_to(p.speed_m_s, (n,))
        assert first or (r.memory["slow_m_s"] == speed).all()
        Mine.seen.append((r.t_s, n, p.words))
        bearing = np.arctan2(r.target_east_m - r.east_m, r.target_north_m - r.north_m)
        error = (bearing - r.heading_rad + np.pi) % (2 * np.pi) - np.pi
        mode = np.where(np.abs(error) > 0.1, 3, 0)
        kept = {"calls": r.memory["calls"] + 1, "trial": r.trial, "slow_m_s": speed}
        return fw.Command(surge_m_s=p.speed_m_s, yaw_rate_rad_s=p.gain * error, mode=mode, memory=kept)
'''


def test_a_controller_of_ones_own_steers_to_the_goal_and_its_memory_follows_its_trial(tmp_path: Path) -> None:
    speeds = '[control.parameters]\nspeed_m_s = 3.0\ngain = 1.5\nwords = "other"\n'
    speeds += '[randomize]\n"control.parameters.speed_m_s" = [2.0, 5.0]\n'
    case = own(tmp_path, HOMING, speeds)
    # Nothing in the way.
    case = load(tmp_path / "scenario.toml", ["obstacles.0.east_m=30.0"])
    result = fly(case)
    assert not result.stopped_by
    assert set(result.outcome.tolist()) == {"goal"}
    assert len(set(result.length.tolist())) > 2  # trials left the batch one after another
    seen = controller_class(case.control.controller, tmp_path).seen
    assert [t for t, _, _ in seen] == pytest.approx(np.arange(len(seen)) * 0.1)
    assert seen[0][1] == 5
    assert seen[-1][1] < 5
    assert {words for _, _, words in seen} == {"other"}
    # Per-trial parameters reached their trials.
    asked = result.tracks["cmd_surge_m_s"][:, 5]
    assert asked == pytest.approx(result.parameters["control.parameters.speed_m_s"], rel=1e-6)
    assert set(np.unique(result.tracks["mode"])) == {0, 3}


SECTOR_TWIN = '''
from fieldworthy.guidance.sector import SectorParameters


class Mine:
    """The paper's rule once more, in NumPy, from the text and not from the law."""

    Parameters = SectorParameters
    memory = {"timer_s": 0.0, "side": 1.0}

    def __init__(self, p):
        self.reads_deg = (-p.half_angle_deg, p.half_angle_deg)

    def command(self, r, p):
        azimuth, ranges = r.scan.azimuth_rad, r.scan.range_m.astype(float)
        assert np.array_equal(azimuth, r.scan.bearing_rad)
        ahead = np.abs(azimuth) <= np.radians(p.half_angle_deg)
        left, right = ahead & (azimuth < 0), ahead & (azimuth > 0)
        blocked = ranges[:, ahead].min(axis=1) < p.safe_distance_m
        freer_left = ranges[:, left].mean(axis=1) > ranges[:, right].mean(axis=1)
        turning = r.memory["timer_s"] > 0.5 * r.period_s
        start = blocked & ~turning
        side = np.where(start, np.where(freer_left, -1.0, 1.0), r.memory["side"])
        timer = np.where(start, p.turn_time_s, r.memory["timer_s"])
        avoiding = start | turning
        bearing = np.arctan2(r.target_east_m - r.east_m, r.target_north_m - r.north_m)
        error = (bearing - r.heading_rad + np.pi) % (2 * np.pi) - np.pi
        limit = np.radians(p.course_rate_max_deg_s)
        back = np.clip(p.course_gain_1_s * error, -limit, limit)
        return fw.Command(
            surge_m_s=np.where(avoiding, p.avoid_speed_m_s, p.cruise_speed_m_s),
            yaw_rate_rad_s=np.where(avoiding, side * np.radians(p.turn_rate_deg_s), back),
            mode=np.where(avoiding, np.where(side > 0, 1, 2), 0),
            memory={"timer_s": np.where(avoiding, timer - r.period_s, 0.0), "side": side},
        )
'''


def test_the_sector_rule_written_in_numpy_flies_the_same_trials(tmp_path: Path) -> None:
    # 35.5 degrees: no column lies on the sector's very edge, where 32 and 64 bits may differ.
    # 64 bits: a difference of rounding must not grow into another turn.
    numbers = "[control.parameters]\nhalf_angle_deg = 35.5\nsafe_distance_m = 12.0\n"
    own(tmp_path, SECTOR_TWIN, numbers)
    twin = fly(load(tmp_path / "scenario.toml", ["precision=f64"]))
    rule = fly(load(tmp_path / "scenario.toml", ["precision=f64", "control.controller=sector"]))
    assert not twin.stopped_by
    assert (rule.tracks["mode"] > 0).any()
    assert twin.outcome.tolist() == rule.outcome.tolist()
    assert twin.time_s.tolist() == rule.time_s.tolist()
    assert np.array_equal(twin.tracks["mode"], rule.tracks["mode"])
    assert twin.tracks["north_m"] == pytest.approx(rule.tracks["north_m"], abs=1e-6, nan_ok=True)
    assert twin.tracks["east_m"] == pytest.approx(rule.tracks["east_m"], abs=1e-6, nan_ok=True)


def test_lanes_controllers_are_compiled_and_keep_memory(tmp_path: Path) -> None:
    body = f"""{CLASS}    arrays = "lanes"
    memory = {{"t_s": 0.0}}
    calls = 0
{COMMAND}        Mine.calls += 1
        later = readings.memory["t_s"] + readings.period_s
        return fw.Command(2.0 + 0.0 * readings.north_m, 0.0 * readings.north_m, memory={{"t_s": later}})
"""
    case = own(tmp_path, body)
    world = build(case).world
    state = start(world)
    for _ in range(6):
        state, _ = step(world, state)
    assert np.asarray(state.memory["t_s"]) == pytest.approx(np.full(5, 0.6))
    assert controller_class(case.control.controller, tmp_path).calls <= 2  # recorded, then replayed


@pytest.mark.parametrize(
    "answer",
    [
        "fw.Command(2.0, 0.1)",
        "fw.Command(np.full(n, 2.0), np.float32(0.1))",
        "fw.Command(2, 0.1, mode=np.ones(n, int))",
    ],
)
def test_answers_may_be_numbers_or_arrays(tmp_path: Path, answer: str) -> None:
    state, _ = one_step(own(tmp_path, f"{CLASS}{COMMAND}        n = len(readings.north_m)\n        return {answer}\n"))
    assert np.asarray(state.command.surge_m_s).tolist() == [2.0] * 5
    assert np.asarray(state.command.yaw_rate_rad_s) == pytest.approx(np.full(5, 0.1))


def test_a_controller_that_reads_no_lidar_gets_none(tmp_path: Path) -> None:
    one_step(
        own(tmp_path, f"{CLASS}{COMMAND}        assert readings.scan is None\n        return fw.Command(1.0, 0.0)\n")
    )


def test_a_command_that_is_not_finite_ends_its_trial_and_no_other(tmp_path: Path) -> None:
    body = f"{CLASS}{COMMAND}        return fw.Command(2.0, np.where(readings.trial == 3, np.nan, 0.0))\n"
    result = fly(own(tmp_path, body))
    assert result.outcome[3] == "non-finite"
    assert "non-finite" not in np.delete(result.outcome, 3).tolist()
    assert "not finite" in result.why[3]
    for values in result.tracks.values():
        if values.dtype.kind == "f" and values is not result.tracks["cmd_yaw_rate_rad_s"]:
            assert np.isfinite(values[3, : result.length[3]]).all()


# --- every broken promise in a sentence ------------------------------------------------------------------------------

BROKEN_CLASSES = {
    "nothing said of what it reads": ("class Mine:\n" + COMMAND + "        pass\n", "it does not say what it reads"),
    "a sector the wrong way round": (
        f"class Mine:\n    reads_deg = (35.0, -35.0)\n{COMMAND}        pass\n",
        "is not a sector",
    ),
    "one number for a sector": (f"class Mine:\n    reads_deg = 35.0\n{COMMAND}        pass\n", "is not a sector"),
    "a sector past astern": (f"class Mine:\n    reads_deg = (-190.0, 0.0)\n{COMMAND}        pass\n", "is not a sector"),
    "no such arrays": (f"{CLASS}    arrays = 'torch'\n{COMMAND}        pass\n", "arrays = 'torch'.*'numpy' or 'lanes'"),
    "no command": (CLASS, "no method 'command'"),
    "too few arguments": (f"{CLASS}    def command(self, readings):\n        pass\n", "takes other arguments"),
    "command is a number": (f"{CLASS}    command = 3\n", "no method 'command'"),
    "parameters are a dictionary": (
        f"{CLASS}    Parameters = {{'a': 1}}\n{COMMAND}        pass\n",
        "no parameter class",
    ),
    "memory of words": (f"{CLASS}    memory = {{'side': 'left'}}\n{COMMAND}        pass\n", "memory = .*first values"),
    "memory is a list": (f"{CLASS}    memory = [1.0]\n{COMMAND}        pass\n", "memory = "),
}


@pytest.mark.parametrize("name", BROKEN_CLASSES)
def test_broken_classes_are_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    body, sentence = BROKEN_CLASSES[name]
    told = refused(own(tmp_path, body))
    assert re.search(sentence, told), told
    assert "valid:" in told
    assert "Traceback" not in told


def test_all_faults_of_a_class_are_told_at_once() -> None:
    class Nothing:
        arrays = "torch"
        memory = 3

    told = [what for what, _ in contract_problems(Nothing)]
    assert len(told) == 4
    assert all(valid for _, valid in contract_problems(Nothing))


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    case = own(tmp_path, f"{CLASS}{COMMAND}        pass\n")
    path = tmp_path / "scenario.toml"
    module = case.control.controller.partition(":")[0]

    def with_name(name: str) -> str:
        return refused(load(path, [f"control.controller={name}"]))

    assert "did you mean 'sector'" in with_name("secotr")
    assert "sector, straight" in with_name("nothing-like-it")
    assert "no module 'not_there'" in with_name("not_there:Mine")
    assert f"{module} has no class 'Mien'; did you mean 'Mine'" in with_name(f"{module}:Mien")
    assert "names no class" in with_name(f"{module}:")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("raise RuntimeError('no licence')\n", "importing own_controller_[0-9]+ failed: RuntimeError: no licence"),
        ("import numpi\n", "importing own_controller_[0-9]+ failed: No module named 'numpi'"),
        ("class Mine\n", "importing own_controller_[0-9]+ failed: SyntaxError"),
    ],
)
def test_modules_that_cannot_be_imported(tmp_path: Path, body: str, sentence: str) -> None:
    assert re.search(sentence, refused(own(tmp_path, body)))


def test_parameters_are_checked(tmp_path: Path) -> None:
    assert "gian" in refused(own(tmp_path, HOMING, "[control.parameters]\ngian = 1.0\n"))
    assert "did you mean 'gain'" in refused(own(tmp_path, HOMING, "[control.parameters]\ngian = 1.0\n"))
    assert "gain" in refused(own(tmp_path, HOMING, "[control.parameters]\ngain = 'much'\n"))
    told = refused(own(tmp_path, f"{CLASS}{COMMAND}        pass\n", "[control.parameters]\ngain = 1.0\n"))
    assert "has no parameters, but gain given" in told


BROKEN_ANSWERS = {
    "nothing": ("None", "answered NoneType without 'surge_m_s'; valid: a fieldworthy.Command"),
    "a pair": ("(1.0, 2.0)", "answered tuple without 'surge_m_s'"),
    "too long": ("fw.Command(np.zeros(7), 0.0)", r"'surge_m_s' has shape \(7,\); valid: one number, or \(5,\)"),
    "a column": ("fw.Command(1.0, np.zeros((5, 1)))", r"'yaw_rate_rad_s' has shape \(5, 1\)"),
    "words": ("fw.Command('fast', 0.0)", "'surge_m_s'"),
    "mode too long": ("fw.Command(1.0, 0.0, mode=np.zeros(4))", r"'mode' has shape \(4,\)"),
    "memory that it has not": (
        "fw.Command(1.0, 0.0, memory={'x': 1.0})",
        "keeps 'x', which its `memory` does not declare",
    ),
    "memory too long": ("fw.Command(1.0, 0.0, memory={'kept': np.zeros(3)})", r"'memory\['kept'\]' has shape \(3,\)"),
}


@pytest.mark.parametrize("name", BROKEN_ANSWERS)
def test_broken_answers_are_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    answer, sentence = BROKEN_ANSWERS[name]
    case = own(tmp_path, f"{CLASS}    memory = {{'kept': 0.0}}\n{COMMAND}        return {answer}\n")
    with pytest.raises(FieldworthyError, match=sentence):
        one_step(case)
    # A campaign ends with the same sentence.
    assert re.search(sentence, fly(case).stopped_by)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("None", "answered NoneType without 'surge_m_s'"),
        ("fw.Command(readings.north_m, np.zeros(5))", "'yaw_rate_rad_s' is ndarray; valid with arrays = 'lanes'"),
        ("fw.Command(type(readings.north_m)([1.0, 2.0]), 0.0)", "'surge_m_s' is 2 lanes; valid .* of 5"),
        ("fw.Command(1.0, 0.0, memory={'x': 1.0})", "keeps 'x'"),
    ],
)
def test_broken_answers_of_compiled_controllers_too(tmp_path: Path, answer: str, sentence: str) -> None:
    case = own(tmp_path, f"{CLASS}    arrays = 'lanes'\n{COMMAND}        return {answer}\n")
    with pytest.raises(FieldworthyError, match=sentence):
        one_step(case)


@pytest.mark.parametrize("arrays", ["numpy", "lanes"])
def test_exceptions_in_a_controller_are_told_with_their_line(tmp_path: Path, arrays: str) -> None:
    case = own(tmp_path, f"{CLASS}    arrays = '{arrays}'\n{COMMAND}        return fw.Command(1.0 / (2 - 2), 0.0)\n")
    module = case.control.controller.partition(":")[0]
    with pytest.raises(
        FieldworthyError, match=rf"'{module}:Mine' failed: ZeroDivisionError: .*division by zero .*{module}.py, line 9"
    ):
        one_step(case)
    assert "ZeroDivisionError" in fly(case).stopped_by


def test_an_error_late_in_a_campaign_keeps_the_trials_that_have_finished(tmp_path: Path) -> None:
    body = f"""{CLASS}{COMMAND}        if len(readings.north_m) < 5 and readings.t_s > 9.0:
            raise RuntimeError("had enough")
        return fw.Command(6.0, 0.0)
"""
    result = fly(own(tmp_path, body))
    assert "RuntimeError: had enough" in result.stopped_by
    assert 0 < len(result.trial) < 5
    assert result.asked == 5


# --- what the constructor does ----------------------------------------------------------------------------------------

READS = """
class Parameters(fw.Parameters):
    wide_deg: float = 30.0
    speed_m_s: float = 2.0


class Mine:
    Parameters = Parameters

    def __init__(self, p):
        BODY

    def command(self, r, p):
        return fw.Command(p.speed_m_s, 0.0 * r.north_m)
"""
SECTOR = "self.reads_deg = (-p.wide_deg, p.wide_deg)"


@pytest.mark.parametrize(
    ("body", "more", "sentence"),
    [
        (SECTOR, "[control.parameters]\nwide_deg = -5.0\n", "the constructor of Mine left reads_deg = (5.0, -5.0)"),
        (SECTOR, "[control.parameters]\nwide_deg = 200.0\n", "-180 <= low < high <= 180"),
        ("pass", "", "it does not say what it reads"),
        ("self.reads_deg = 1 / 0", "", "Mine() failed: ZeroDivisionError"),
    ],
)
def test_what_a_constructor_makes_of_the_sector_is_checked(tmp_path: Path, body: str, more: str, sentence: str) -> None:
    assert sentence in refused(own(tmp_path, READS.replace("BODY", body), more))


DRAWN = '[control.parameters]\nwide_deg = 20.0\nspeed_m_s = 3.0\n[randomize]\n"control.parameters.{name}" = {ends}\n'


@pytest.mark.parametrize(
    ("body", "name", "ends", "sentence"),
    [
        (SECTOR, "wide_deg", [10.0, 20.0], '"control.parameters.wide_deg": the constructor of Mine reads it once'),
        (SECTOR + "; self.p = p", "speed_m_s", [1.0, 2.0], '"control.parameters.speed_m_s": the constructor of Mine'),
    ],
)
def test_a_drawn_parameter_that_the_constructor_reads_is_refused(
    tmp_path: Path, body: str, name: str, ends: list[float], sentence: str
) -> None:
    assert sentence in refused(own(tmp_path, READS.replace("BODY", body), DRAWN.format(name=name, ends=ends)))


def test_a_drawn_parameter_that_only_the_method_reads_is_flown(tmp_path: Path) -> None:
    case = own(tmp_path, READS.replace("BODY", SECTOR), DRAWN.format(name="speed_m_s", ends=[1.0, 2.0]))
    result = fly(case)
    assert len(set(result.tracks["cmd_surge_m_s"][:, 5].tolist())) == 5


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("half_angle_deg=-10", "half_angle_deg = -10 is too small; valid: a finite number > 0 and <= 180"),
        ("half_angle_deg=181", "half_angle_deg = 181 is too large"),
        ("cruise_speed_m_s=0", "cruise_speed_m_s = 0 is too small"),
        ("safe_distance_m=-1", "safe_distance_m = -1 is too small"),
        ("turn_rate_deg_s=-1", "turn_rate_deg_s = -1 is too small"),
        ("course_gain_1_s=-1", "course_gain_1_s = -1 is too small"),
    ],
)
def test_the_built_in_rules_have_limits(setting: str, sentence: str) -> None:
    names = ["sector"] if setting[0] not in "c" else ["sector", "straight"]
    for name in names:
        changes = [f"control.controller={name}", "control.parameters={}", f"control.parameters.{setting}"]
        assert sentence in refused(load("boat-buoy", changes))


def test_a_drawn_parameter_of_a_built_in_rule_keeps_its_limits() -> None:
    drawn = "randomize.control.parameters."
    assert "cannot differ" in refused(
        load("boat-buoy", ["control.parameters.half_angle_deg=30", f"{drawn}half_angle_deg=[10, 30]"])
    )
    assert "safe_distance_m = -1.0 is too small" in refused(load("boat-buoy", [f"{drawn}safe_distance_m=[-1, 30]"]))


# --- what `check` finds of a hidden state -----------------------------------------------------------------------------

INIT = "    def __init__(self):\n        "
HIDDEN = {
    "a counter of calls": (
        "self.calls = 0",
        "self.calls += 1\n        return fw.Command(2.0, 0.01 * self.calls)",
        "when asked twice with the same readings.*hidden state.*keep values in `memory`.*cmd_yaw_rate_rad_s",
    ),
    "a filter": (
        "self.speed = 0.0",
        "self.speed = 0.9 * self.speed + 0.3\n        return fw.Command(self.speed, 0.0)",
        r"when asked twice .* \(t = 0 s\).*`memory`, not in self \(cmd_surge_m_s\)",
    ),
    "what the first call saw": (
        "self.first_s = None",
        "self.first_s = readings.t_s if self.first_s is None else self.first_s\n"
        "        return fw.Command(2.0 + self.first_s - readings.t_s, 0.0)",
        r"than one that was made anew .* \(t = 1 s\)",
    ),
    "an array of the first call": (
        "self.start_m = None",
        "self.start_m = readings.north_m if self.start_m is None else self.start_m\n"
        "        return fw.Command(2.0, 0.01 * (readings.north_m - self.start_m) ** 2)",
        "made anew",
    ),
    "an array that says nothing yet": (
        "self.old_m = None",
        "self.old_m = readings.north_m if self.old_m is None else self.old_m\n"
        "        return fw.Command(2.0, 0.0 * (readings.north_m - self.old_m))",
        r"ValueError: operands could not be broadcast .*trials that have ended leave the batch.*`memory`",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_check_finds_what_a_controller_keeps_in_itself(tmp_path: Path, name: str) -> None:
    first, body, sentence = HIDDEN[name]
    with pytest.raises(FieldworthyError) as raised:
        check_scenario(own(tmp_path, f"{CLASS}{INIT}{first}\n\n{COMMAND}        {body}\n"))
    assert re.search(sentence, str(raised.value)), str(raised.value)


def test_check_finds_entries_taken_by_their_place(tmp_path: Path) -> None:
    body = f"{CLASS}{COMMAND}        return fw.Command(2.0, 0.1 * np.arange(len(readings.north_m)))\n"
    with pytest.raises(FieldworthyError, match="steers the others otherwise once trial 0 has left the batch"):
        check_scenario(own(tmp_path, body))


@pytest.mark.parametrize("changes", [[], ["trials=1"]])
def test_check_lets_a_table_and_declared_memory_pass(tmp_path: Path, changes: list[str]) -> None:
    body = f"""{CLASS}    memory = {{"calls": 0.0}}
{INIT}self.table = None

{COMMAND}        if self.table is None:
            self.table = np.cos(np.arange(5.0))
        calls = readings.memory["calls"] + 1
        return fw.Command(2.0 + self.table[1], 0.001 * calls, memory={{"calls": calls}})
"""
    case = own(tmp_path, body)
    notes = check_scenario(load(case.source_path, changes))
    assert "asked twice" in notes[-1]


# --- where plug-ins are looked for ------------------------------------------------------------------------------------


def test_a_built_in_scenario_takes_plug_ins_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = own(tmp_path, f"{CLASS}{COMMAND}        return fw.Command(2.0, 0.0)\n").control.controller.partition(":")[
        0
    ]
    monkeypatch.chdir(tmp_path)
    case = load("boat-buoy", [f"control.controller={module}:Mine"])
    assert type(load_controller(case)[0]).__name__ == "Mine"
    assert str(tmp_path) in refused(load("boat-buoy", ["control.controller=not_there:Mine"]))
    assert list(inputs_of(case).modules) == [f"{module}.py"]  # so that the run folder keeps a copy


@pytest.mark.parametrize("name", ["mine.py", "./mine.py"])
def test_a_file_in_the_place_of_a_module_is_told(name: str) -> None:
    assert "did you mean 'mine:Mine'?" in refused(load("boat-buoy", [f"control.controller={name}:Mine"]))
