"""Devices and links of flights: delays that fit, rates that can be counted, values that can be computed."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.scenario import load


def problems(*overrides: str) -> list[Problem]:
    with pytest.raises(ScenarioError) as caught:
        load("quad-hover", overrides)
    return caught.value.problems


def link_delay(size: str, more: str = "") -> str:
    return f"faults=[{{kind='link-delay',size={size}{more}}}]"


@pytest.mark.parametrize(
    ("overrides", "what", "valid"),
    [
        (["sensors.imu.latency_s=5"], "latency_s = 5 keeps 2500 readings under way", "at most 0.128 s"),
        (["sensors.imu.latency_s=0.003"], "0.003 s is not a whole number of steps", "next 0.002 or 0.004"),
        (["sensors.gnss.latency_s=60"], "latency_s = 60 keeps", "at most "),
        (["sensors.gnss.latency_s=1e29"], "latency_s = 1e+29 keeps", "at most "),
        (["sensors.gnss.jitter_s=20"], "jitter_s = 20 may keep", "at most "),
        (["sensors.gnss.jitter_s=1e29"], "jitter_s = 1e+29 may keep", "at most "),
        (["sensors.gnss.latency_s=3", "duration_s=2"], "nothing is heard before the trial ends at 2 s", "duration_s"),
        (["sensors.gnss.latency_s=-1"], "latency_s = -1 is too small", ">= 0"),
        (["sensors.gnss.jitter_s=-1"], "jitter_s = -1 is too small", ">= 0"),
        (["randomize={'sensors.gnss.latency_s'=[0.1, 60.0]}"], "latency_s = 60 keeps", "at most "),
        (["sensors.gnss.jitter_s=0.1", "randomize={'sensors.gnss.jitter_s'=[0.0, 20.0]}"], "jitter_s = 20", "at most "),
        (["sensors.magnetometer.motor_frd_ut_a=0.5"], "motor_frd_ut_a = 0.5 has another form", "a list such as [0.0,"),
        (["sensors.magnetometer.motor_frd_ut_a=[1.0]"], "motor_frd_ut_a = [1.0] has another form", "a list such as"),
        (["sensors.magnetometer.hard_iron_frd_ut=0.5"], "hard_iron_frd_ut = 0.5 has another form", "a list such as"),
        (["sensors.magnetometer.soft_iron=1.0"], "soft_iron = 1.0 has another form", "a list such as"),
        (["sensors.gnss.pos_frd_m=1.0"], "pos_frd_m = 1.0 has another form", "a list such as"),
        (["sensors.imu.mounting_deg=[1.0, 2.0]"], "mounting_deg = [1.0, 2.0] has another form", "a list such as"),
        (["sensors.gnss.rate_hz=1e-7"], "rate_hz = 1e-07 makes 5e+09 steps", "at least 2.33e-07"),
        (["sensors.barometer.rate_hz=1e-300"], "rate_hz = 1e-300 makes", "at least 2.33e-07"),
        (["sensors.magnetometer.rate_hz=1e-9"], "rate_hz = 1e-09 makes", "at least 2.33e-07"),
        (["sensors.gnss.rate_hz=0"], "rate_hz", ""),
        (["sensors.imu.gyro_resolution_deg_s=1e-300"], "gyro_resolution_deg_s = 1e-300 is finer", "at least 1e-09"),
        (["sensors.imu.accelerometer_resolution_mg=1e-300"], "is finer than any reading", "0 for no rounding"),
        (["sensors.magnetometer.resolution_ut=1e-12"], "resolution_ut = 1e-12 is finer", "0 for no rounding"),
        (["sensors.gnss.sky_hidden=2.0"], "sky_hidden = 2.0 is too large", ">= 0 and <= 1"),
        (["sensors.gnss.dropout=1.5"], "dropout = 1.5 is too large", ">= 0 and <= 1"),
        (["sensors.gnss.sky_hidden=0.5", "randomize={'sensors.gnss.sky_hidden'=[0.0, 2.0]}"], "2 is too large", "<= 1"),
        ([link_delay("8")], "size = 8 s holds 400 commands at control.rate_hz = 50", "at most 1.28 s"),
        ([link_delay("1e29")], "size = 1e+29 s holds", "at most 1.28 s"),
        ([link_delay("0")], "size = 0 s is no delay", "seconds > 0"),
        ([link_delay("0.1", ",part='imu'")], "part = 'imu': link-delay strikes the one link", "no part"),
        (["faults=[{kind='sensor-noise',part='gnss',size=-1}]"], "size = -1 is no standard deviation", "0 or more"),
    ],
    ids=lambda item: item[0] if isinstance(item, list) else "",
)  # fmt: skip
def test_what_cannot_be_computed_is_refused_on_load(overrides: list[str], what: str, valid: str) -> None:
    found = problems(*overrides)
    assert len(found) == 1, "\n".join(map(str, found))
    assert what in found[0].what
    assert valid in found[0].valid


def test_a_delay_of_the_default_size_is_reported_where_the_fault_is() -> None:
    found = problems("faults=[{kind='link-delay'}]", "control.rate_hz=500")
    assert [problem.what for problem in found] == [
        "size = 1 s holds 500 commands at control.rate_hz = 500: the kernels are compiled with a place for each of "
        "them, 64 at most"
    ]


@pytest.mark.parametrize(
    "override",
    [
        "sensors.imu.latency_s=0.128",
        "sensors.gnss.jitter_s=0.1",
        "sensors.gnss.sky_hidden=1.0",
        "sensors.imu.gyro_resolution_deg_s=0",
        "sensors.magnetometer.motor_frd_ut_a=[0.0, 0.0, 0.5]",
        "vehicle.motor_efficiency=[0.7, 0.7, 0.7, 0.6]",
        "duration_s=0.1",
        link_delay("1.28"),
    ],
)
def test_what_can_be_computed_is_taken(override: str) -> None:
    load("quad-hover", [override])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("motor_frd_ut_a = { value = 0.5, source = 'x' }", "motor_frd_ut_a = 0.5 has another form"),
        ("noise_ut = { value = [0.5], source = 'x' }", "noise_ut = [0.5] is not a number"),
        ("latency_s = { value = -1.0, source = 'x' }", "latency_s = -1 is out of range"),
        ("latency_s = { value = 60.0, source = 'x' }", "latency_s = 60 keeps 3000 readings under way"),
        ("rate_hz =", "the file of this magnetometer: lacks rate_hz"),
    ],
)
def test_a_file_of_ones_own_is_held_to_the_same(tmp_path: Path, line: str, what: str) -> None:
    usual = (resources.files("fieldworthy") / "catalog" / "magnetometers" / "ist8310.toml").read_text()
    key = line.split(" =", maxsplit=1)[0]
    own = tmp_path / "own.toml"
    own.write_text(re.sub(rf"(?m)^{key} = .*$", line if "{" in line else "", usual))
    found = problems(f"sensors.magnetometer.model={own}")
    assert len(found) == 1, "\n".join(map(str, found))
    assert what in found[0].what
