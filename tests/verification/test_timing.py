"""Durations and rates become whole ticks, or an error that names the neighbours that would."""

import math

import pytest

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds


@pytest.mark.parametrize(
    ("duration_s", "dt_s", "ticks"),
    [(0.0, 0.02, 0), (0.02, 0.02, 1), (0.1, 0.02, 5), (0.3, 0.1, 3), (3600.0, 0.001, 3_600_000), (120.0, 1 / 60, 7200)],
)
def test_whole_multiples(duration_s, dt_s, ticks):
    assert ticks_from_seconds(duration_s, dt_s, "x") == ticks


@pytest.mark.parametrize(
    ("rate_hz", "dt_s", "ticks"), [(10.0, 0.02, 5), (50.0, 0.02, 1), (1000.0, 0.00025, 4), (60.0, 1 / 240, 4)]
)
def test_whole_periods(rate_hz, dt_s, ticks):
    assert ticks_from_rate(rate_hz, dt_s, "x") == ticks


def test_errors_name_place_and_neighbours():
    with pytest.raises(ScenarioError) as caught:
        ticks_from_seconds(0.05, 0.02, "sensors.lidar.latency_s")
    assert str(caught.value) == (
        "sensors.lidar.latency_s: 0.05 s is not a whole number of steps of dt_s = 0.02 s; "
        "valid: multiples of dt_s, next 0.04 or 0.06"
    )
    with pytest.raises(ScenarioError) as caught:
        ticks_from_rate(15.0, 0.02, "control.rate_hz")
    assert "control.rate_hz: 15 Hz" in str(caught.value)
    assert str(caught.value).endswith("next 12.5 or 16.6666667 Hz")


def test_the_named_neighbours_are_valid():
    assert ticks_from_seconds(0.04, 0.02, "x") == 2
    assert ticks_from_seconds(0.06, 0.02, "x") == 3
    assert ticks_from_rate(12.5, 0.02, "x") == 4
    assert ticks_from_rate(16.6666667, 0.02, "x") == 3


def test_a_rate_above_the_step_names_the_step_s_own():
    with pytest.raises(ScenarioError, match="next 50 Hz"):
        ticks_from_rate(100.0, 0.02, "x")


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf])
def test_what_is_no_duration_rate_or_step(bad):
    with pytest.raises(ScenarioError, match="is not a duration"):
        ticks_from_seconds(bad, 0.02, "x")
    with pytest.raises(ScenarioError, match="is not a rate"):
        ticks_from_rate(bad, 0.02, "x")
    with pytest.raises(ScenarioError, match=r"dt_s: .* is not a step"):
        ticks_from_seconds(1.0, bad, "x")
    with pytest.raises(ScenarioError, match="is not a step"):
        ticks_from_rate(1.0, 0.0, "x")
