"""A sensor of the user's own: named in the scenario, read when due, heard late, the same alone and in a batch."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.sensors.sensor import Noise
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.contract import check_scenario
from fieldworthy.trials.record.csv_file import columns
from fieldworthy.trials.recorder import record
from fieldworthy.world import start, step

SENSOR = """
import numpy as np
import fieldworthy as fw

class LogParameters(fw.Parameters):
    noise_m_s: float = 0.1

class Log:
    Parameters = LogParameters
    memory = {"count": 0.0}

    def read(self, truth, noise, parameters):
        count = truth.memory["count"] + 1
        speed = truth.surge_m_s + parameters.noise_m_s * noise.normal(0)
        return fw.Reading({"speed_m_s": speed, "true_m_s": truth.surge_m_s, "count": count}, memory={"count": count})
"""

CONTROLLER = """
import numpy as np
import fieldworthy as fw

class Follow:
    reads_deg = None
    arrays = "numpy"

    def command(self, readings, parameters):
        heard = readings.sensors.get("log")
        speed = 2.0 if heard is None else np.where(heard.values["speed_m_s"] > 1.0, 4.0, 2.0)
        return fw.Command(speed, 0.0 * readings.north_m)
"""

SCENARIO = """
schema = 1
name = "logged"
trials = 6
duration_s = 30.0
[goal]
north_m = 60.0
east_m = 0.0
[vehicle]
model = "boat-5m"
[start]
spread_east_m = 2.0
[sensors.extra.log]
sensor = "MODULE:Log"
rate_hz = 2.0
latency_s = 0.3
[sensors.extra.log.parameters]
noise_m_s = 0.2
[control]
controller = "MODULE:Follow"
[randomize]
"sensors.extra.log.parameters.noise_m_s" = [0.0, 0.4]
"""

_names = (f"plugged_{number}" for number in itertools.count())


def written(folder: Path, sensor: str = SENSOR, scenario: str = SCENARIO) -> Path:
    """A scenario beside a module of its own that has sensor and controller."""
    module = next(_names)
    (folder / f"{module}.py").write_text(sensor + CONTROLLER, encoding="utf-8")
    (folder / "logged.toml").write_text(scenario.replace("MODULE", module), encoding="utf-8")
    return folder / "logged.toml"


def test_readings_come_at_their_rate_and_after_their_latency(tmp_path: Path) -> None:
    world = fw.build(fw.load(written(tmp_path)), 3).world
    state, seen = start(world), []
    for _ in range(20):
        state, frame = step(world, state)
        heard = state.extra["log"].heard
        seen.append((frame.t_s, frame.values.get("log.count", np.zeros(3))[0], None if heard is None else heard.t_s))
    counts = {round(t, 3): count for t, count, _ in seen}
    # Read at 0.0, 0.5, 1.0 …; heard 0.3 s later, so by the command at 0.3, 0.8, 1.3 …
    assert [counts[t] for t in (0.2, 0.3, 0.7, 0.8, 1.2, 1.3)] == [0, 1, 1, 2, 2, 3]


def test_a_reading_is_the_truth_of_its_own_time_plus_its_noise(tmp_path: Path) -> None:
    result = fly(fw.load(written(tmp_path), ["randomize={}", "sensors.extra.log.parameters.noise_m_s=0"]), 3)
    true, read = result.tracks["surge_m_s"], result.tracks["log.true_m_s"]
    at = 30  # the command at 3.0 s has heard the reading of 2.5 s
    assert np.array_equal(read[:, at].astype(np.float32), true[:, 25])
    assert np.array_equal(result.tracks["log.speed_m_s"][:, at], read[:, at])


def test_every_trial_hears_the_same_alone_and_in_a_batch(tmp_path: Path) -> None:
    scenario = fw.load(written(tmp_path))
    together = fly(scenario, 6)
    alone = fly(scenario, [4])
    for name in ("log.speed_m_s", "log.count", "north_m", "cmd_surge_m_s"):
        length = int(alone.length[0])
        assert np.array_equal(together.tracks[name][4, :length], alone.tracks[name][0, :length], equal_nan=True), name
    assert len(set(together.parameters["sensors.extra.log.parameters.noise_m_s"])) == 6
    assert check_scenario(scenario)


def test_noise_is_standard_normal_and_depends_on_all_that_names_it() -> None:
    trials = np.arange(20_000, dtype=np.uint32)
    base = Noise(1, "a", trials, 3)
    numbers = base.normal(0)
    assert abs(numbers.mean()) < 4 / 20_000**0.5
    assert abs(numbers.std() - 1.0) < 4 / 40_000**0.5
    others = [base.normal(1), Noise(2, "a", trials, 3).normal(0), Noise(1, "b", trials, 3).normal(0)]
    others += [Noise(1, "a", trials, 4).normal(0), base.uniform(0) - 0.5]
    for other in others:
        assert abs(np.corrcoef(numbers, other)[0, 1]) < 4 / 20_000**0.5
    assert np.array_equal(Noise(1, "a", trials[7:8], 3).normal(0), numbers[7:8])


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("def read(self, truth, noise, parameters)", "def reed(self, truth, noise, parameters)", "no method 'read'"),
        ("def read(self, truth, noise, parameters)", "def read(self, truth)", "takes other arguments"),
        ("return fw.Reading(", "return dict(a=", "without values"),
        ('"speed_m_s": speed,', '"speed_m_s": [1.0, 2.0],', "shape"),
        ('memory={"count": count}', 'memory={"counts": count}', "does not declare"),
        ('memory = {"count": 0.0}', 'memory = {"count": "none"}', "first values"),
    ],
)
def test_what_a_sensor_breaks_is_told_in_a_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    sensor = SENSOR.replace(old, new)
    assert sensor != SENSOR
    if "dict(a=" in new:
        sensor = sensor.replace(', memory={"count": count})', ")")
    with pytest.raises(fw.FieldworthyError, match=sentence):
        check_scenario(fw.load(written(tmp_path, sensor)))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('sensor = "MODULE:Log"', 'sensor = "nowhere:Log"', "no module 'nowhere'"),
        ('sensor = "MODULE:Log"', 'sensor = "MODULE:Lag"', "did you mean 'Log'"),
        ('sensor = "MODULE:Log"', 'sensor = "Log"', "names no class"),
        ("noise_m_s = 0.2", "nose_m_s = 0.2", "did you mean 'noise_m_s'"),
        ("latency_s = 0.3", "latency_s = 0.31", "whole"),
        ("rate_hz = 2.0", "rate_hz = 3.0", "rate_hz"),
    ],
)
def test_what_a_scenario_says_wrong_of_a_sensor_is_told(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    text = SCENARIO.replace(old, new)
    if "nose" in new:
        text = text[: text.index("[randomize]")]
    with pytest.raises(fw.FieldworthyError, match=sentence):
        check_scenario(fw.load(written(tmp_path, scenario=text)))


def test_a_drawn_parameter_that_a_sensors_constructor_reads_is_refused(tmp_path: Path) -> None:
    made_once = SENSOR.replace(
        "    def read(self",
        "    def __init__(self, parameters):\n        self.noise = parameters.noise_m_s\n\n    def read(self",
    )
    with pytest.raises(fw.FieldworthyError, match="the constructor of Log reads it once for all trials"):
        fly(fw.load(written(tmp_path, made_once)))


def test_check_finds_what_a_sensor_keeps_in_itself(tmp_path: Path) -> None:
    sensor = SENSOR.replace('count = truth.memory["count"] + 1', "self.n = getattr(self, 'n', 0.0) + 1; count = self.n")
    with pytest.raises(
        fw.FieldworthyError, match=r"sensor 'log' reads otherwise when asked twice .*`memory`.*\(count\)"
    ):
        check_scenario(fw.load(written(tmp_path, sensor)))


def test_a_recording_has_the_sensors_and_the_end(tmp_path: Path) -> None:
    scenario = fw.load(written(tmp_path))
    result, recording = fly(scenario, [2]), record(scenario, 2, {})
    length = int(result.length[0])
    assert len(recording.t_s) == length
    assert recording.t_s[-1] == pytest.approx(result.time_s[0], abs=1e-9)
    assert (recording.outcome, recording.why) == (result.outcome[0], result.why[0])
    assert set(recording.sensors) == {"log.speed_m_s", "log.true_m_s", "log.count"}
    for name, values in recording.sensors.items():
        assert np.array_equal(values, result.tracks[name][0, :length], equal_nan=True)
    assert np.isnan(recording.sensors["log.count"][0])
    assert list(columns(recording))[-3:] == list(recording.sensors)
