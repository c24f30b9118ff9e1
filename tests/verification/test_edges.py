"""Edges that once gave a wrong answer that looked right: wide columns, long commands, far places, in-place work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.trials.campaign import fly
from fieldworthy.world import start, step

CROSSING = """
schema = 1
name = "crossing"
duration_s = 40.0
[vehicle]
model = "boat-5m"
[start]
spread_heading_deg = 0.0
[goal]
north_m = 400.0
east_m = 0.0
[area]
north_m = [-50.0, 700.0]
east_m = [-50.0, 50.0]
[control]
controller = "straight"
rate_hz = 0.1
[[obstacles]]
kind = "box"
north_m = {north}
east_m = 0.0
length_m = 8.0
width_m = 8.0
vel_north_m_s = -40.0
"""


def written(folder: Path, text: str, module: str = "") -> Path:
    (folder / "s.toml").write_text(text, encoding="utf-8")
    if module:
        (folder / "in_place.py").write_text(module, encoding="utf-8")
    return folder / "s.toml"


@pytest.mark.parametrize("step_deg", [5.0, 8.0, 10.0, 12.0])
def test_a_lidar_with_few_wide_columns_still_sees(step_deg: float) -> None:
    # A buoy 60 degrees wide cannot fall between rays at most 12 degrees apart: the nearest ray of the level channel
    # reads its near side.
    settings = ["sensors.lidar.azimuth_step_deg=" + str(step_deg), "sensors.lidar.noise_m=0", "start.spread_east_m=0",
                "start.spread_heading_deg=0", "obstacles.0.spread_north_m=0", "obstacles.0.spread_east_m=0",
                "obstacles.0.north_m=10.5", "obstacles.0.radius_m=5", "sensors.lidar.full_sweep=true"]  # fmt: skip
    world = fw.build(fw.load("boat-buoy", settings), 1).world
    readings = fw.readings_of(world, start(world))
    scan = readings.scan
    assert scan is not None
    nearest = scan.range_m[0].min()
    bearing = scan.bearing_rad[np.unravel_index(scan.range_m[0].argmin(), scan.range_m[0].shape)]
    # The sensor stands 0.5 m ahead of the origin; the channel nearest to level is 1 degree off it.
    off = 10.0 * np.sin(abs(bearing))
    expected = 10.0 * np.cos(bearing) - np.sqrt(25.0 - off**2)
    assert abs(bearing) <= np.radians(step_deg)
    assert nearest == pytest.approx(expected / np.cos(np.radians(1.0)), abs=1e-3)


@pytest.mark.parametrize("north", [400.0, 433.0, 450.0])
def test_what_comes_fast_is_met_however_long_a_command_lasts(tmp_path: Path, north: float) -> None:
    result = fly(fw.load(written(tmp_path, CROSSING.format(north=north))), 1)
    assert result.outcome[0] == "collision"
    # The boat's bow is 2.5 m ahead of it, the box's near side 4 m short of its middle.
    track = fly(fw.load(tmp_path / "s.toml", ["obstacles=[]", "precision=f64", "control.rate_hz=10"]), 1)
    at = np.interp(result.time_s[0], track.t_s[: track.length[0]], track.tracks["north_m"][0, : track.length[0]])
    assert at + 2.5 == pytest.approx(north - 40.0 * result.time_s[0] - 4.0, abs=1.0)


def test_clearance_counts_from_the_start(tmp_path: Path) -> None:
    text = CROSSING.format(north=-8.0).replace("vel_north_m_s = -40.0", "vel_north_m_s = 0.0")
    result = fly(fw.load(written(tmp_path, text), ["start.speed_m_s=6"]), 1)
    assert result.clearance_m[0] == pytest.approx(8.0 - 4.0 - 2.5, abs=1e-4)


IN_PLACE = """
import fieldworthy as fw
class Mine:
    reads_deg = None
    memory = {"kept": 0.0}
    def command(self, readings, parameters):
        for name in ("north_m", "east_m", "heading_rad", "surge_m_s", "target_north_m"):
            array = getattr(readings, name)
            array += 1.0
        readings.memory["kept"] += 5.0
        return fw.Command(COMMAND, 0.0)
"""

PLAIN = """
schema = 1
name = "plain"
trials = 2
duration_s = 5.0
[vehicle]
model = "boat-5m"
[goal]
north_m = 50.0
east_m = 0.0
[control]
controller = "in_place:Mine"
"""


def test_a_controller_that_works_in_place_moves_nothing(tmp_path: Path) -> None:
    mine = fly(fw.load(written(tmp_path, PLAIN, IN_PLACE.replace("COMMAND", "3.0"))), 2)
    own = fw.load(tmp_path / "s.toml", ["control.controller=straight", "control.parameters.cruise_speed_m_s=3"])
    assert np.array_equal(mine.tracks["north_m"], fly(own, 2).tracks["north_m"], equal_nan=True)


def test_a_driver_that_works_in_place_on_a_frame_changes_no_state() -> None:
    world = fw.build(fw.load("boat-buoy", ["control.controller=straight"]), 2).world
    state = start(world)
    for _ in range(2):
        state, frame = step(world, state)
    for values in (*frame.values.values(), frame.row):
        values[...] = 9
    assert np.asarray(state.row).tolist() == [0, 1]
    assert np.asarray(state.command.surge_m_s).tolist() == [5.0, 5.0]
    assert (np.asarray(state.sights.seen["north_m"]) < 3.0).all()


@pytest.mark.parametrize("value", ["float('inf')", "-float('inf')", "float('nan')", "1e39"])
def test_a_command_that_is_not_finite_ends_its_trial(tmp_path: Path, value: str) -> None:
    result = fly(fw.load(written(tmp_path, PLAIN, IN_PLACE.replace("COMMAND", value))), 1)
    assert result.outcome[0] == "non-finite"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["dt_s=0.5", "control.rate_hz=2", "sensors.lidar.rate_hz=2"], "past what it meets"),
        (["vehicle.surge_gain_n_s_m=100000", "dt_s=0.1"], "too long for this boat"),
        (["vehicle.speed_max_m_s=60"], "past what it meets"),
        (["goal.north_m=50000", "area.north_m=[-50,60000]"], "precision"),
    ],
)
def test_steps_and_places_beyond_the_numbers_are_refused(settings: list[str], sentence: str) -> None:
    with pytest.raises(FieldworthyError, match=sentence):
        fw.build(fw.load("boat-buoy", settings), 1)


def test_report_lines_of_moving_shapes_are_clipped() -> None:
    from fieldworthy.trials.report.mapping import Bounds
    from fieldworthy.trials.report.motion import _inside

    view = Bounds(south_m=0.0, north_m=10.0, west_m=0.0, east_m=10.0)
    assert _inside(view, (20.0, 1.0), (20.0, 9.0)) is None
    assert _inside(view, (5.0, -5.0), (5.0, 15.0)) == ((5.0, 0.0), (5.0, 10.0))
    assert _inside(view, (5.0, 2.0), (5.0, 4.0)) == ((5.0, 2.0), (5.0, 4.0))
    assert _inside(view, (5.0, 12.0), (5.0, 15.0)) is None


def test_every_step_of_a_resting_boat_is_the_same(tmp_path: Path) -> None:
    world = fw.build(fw.load(written(tmp_path, PLAIN, IN_PLACE.replace("COMMAND", "0.0"))), 1).world
    state = start(world)
    for _ in range(10):
        state, frame = step(world, state)
    assert frame.values["north_m"][0] == 0.0
