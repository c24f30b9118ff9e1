"""How scenarios become flights: links sized for what is drawn, values that nothing reads, parts that break, loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldworthy.core.errors import ScenarioError
from fieldworthy.scenario import Scenario, load
from fieldworthy.scenario.build import build
from fieldworthy.scenario.build_faults import fault_shapes
from fieldworthy.trials.campaign import fly
from fieldworthy.vehicles.tether import LoadState

HOP = """
schema = 1
name = "hop"
trials = 4
seed = 2
duration_s = 6.0
dt_s = 0.002
[vehicle]
model = "x500"
[goal]
north_m = 0.0
east_m = 0.0
up_m = 3.0
radius_m = 1.5
hold_s = 60.0
[area]
north_m = [-50.0, 50.0]
east_m = [-50.0, 50.0]
"""


def scenario(folder: Path, text: str = "", *overrides: str) -> Scenario:
    path = folder / "case.toml"
    path.write_text(HOP + text)
    return load(path, overrides)


def first_state(case: Scenario, trials: int = 2) -> Any:
    """Of its flight, before the first tick."""
    world = build(case, trials).world
    from fieldworthy.vehicles.vehicle import Clock

    clock = Clock(world.engine.counter(0), 0.0, case.dt_s, case.dt_s, world.trial_lanes)
    start = type(world.start)(**{
        name: tuple(map(world.engine.floats, value)) if isinstance(value, tuple) else world.engine.floats(value)
        for name, value in vars(world.start).items()
    })  # fmt: skip
    return world.vehicle.first(start, world.medium, world.vehicle_parameters, clock)


def letters(state: Any, device: str) -> int:
    return len(state.devices[device].mailbox.letters)


def test_a_link_has_room_for_the_slowest_that_is_drawn(tmp_path: Path) -> None:
    """A receiver at 5 Hz that takes up to 1.1 s: six letters are under way at once."""
    usual = letters(first_state(scenario(tmp_path)), "gnss")
    slow = scenario(tmp_path, '[randomize]\n"sensors.gnss.latency_s" = [0.0, 1.1]\n', "sensors.gnss.set.rate_hz=5.0")
    alone = [letters(first_state(slow, trials), "gnss") for trials in (1, 4)]
    assert alone[0] == alone[1] >= 1 + 6
    assert usual < 4


@pytest.mark.parametrize("path", ["sensors.gnss.rate_hz", "vehicle.gear_friction", "vehicle.tilt_max_deg"])
def test_what_would_change_nothing_may_not_be_drawn(tmp_path: Path, path: str) -> None:
    values = {"sensors.gnss.rate_hz": "[4.0, 5.0]", "vehicle.gear_friction": "[0.3, 0.9]"}
    text = "[vehicle.set]\ngear_friction = 0.6\ntilt_max_deg = 35.0\n"
    text += f'[randomize]\n"{path}" = {values.get(path, "[20.0, 40.0]")}\n'
    with pytest.raises(ScenarioError, match=r"cannot differ|unknown key"):
        build(scenario(tmp_path, text), 2)


def test_the_lowest_part_may_be_drawn(tmp_path: Path) -> None:
    text = '[randomize]\n"vehicle.reach_down_m" = [0.1, 0.2]\n'
    world = build(scenario(tmp_path, text), 4).world
    reach = np.asarray(world.vehicle_parameters.reach_down_m)
    assert reach.shape == (4,)
    assert np.unique(reach).size == 4
    assert reach.min() > 0.1
    assert reach.max() < 0.2


@pytest.mark.parametrize(
    ("part", "kind", "struck"),
    [
        ("imu", "sensor-bias", ("rate_frd_rad_s",)),
        ("imu.gyro", "sensor-bias", ("rate_frd_rad_s",)),
        ("imu.accelerometer", "sensor-noise", ("specific_force_frd_m_s2",)),
        ("imu.accelerometer", "sensor-freeze", ("specific_force_frd_m_s2",)),
        ("imu", "sensor-freeze", ()),
    ],
)
def test_halves_of_the_inertial_unit_break_alone(tmp_path: Path, part: str, kind: str, struck: tuple[str]) -> None:
    shape = fault_shapes(scenario(tmp_path, f'[[faults]]\nkind = "{kind}"\npart = "{part}"\n'))[0]
    assert shape.part == "imu"
    assert shape.sensor is not None
    assert shape.sensor.leaves == struck


def test_a_half_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"imu\.accelerometer"):
        scenario(tmp_path, '[[faults]]\nkind = "sensor-bias"\npart = "imu.gyros"\n')


@pytest.mark.slow
def test_a_broken_accelerometer_deceives_the_height(tmp_path: Path) -> None:
    """0.5 m/s^2 downwards that is not there; a broken gyroscope of that size would turn it over."""
    text = '[[faults]]\nkind = "sensor-bias"\npart = "imu.accelerometer"\nat_s = 3.0\nsize = 0.5\n'
    sound, broken = (fly(scenario(tmp_path, more), trials=1) for more in ("", text))
    assert set(broken.outcome) == {"timeout"}
    change = np.abs(np.asarray(sound.tracks["up_m"][0]) - np.asarray(broken.tracks["up_m"][0]))
    assert np.nanmax(change) > 0.02


LOADED = "[load]\nmass_kg = 0.5\ncable_length_m = 1.5\n"


def test_a_load_starts_on_the_ground_below_a_standing_vehicle(tmp_path: Path) -> None:
    load_state = first_state(scenario(tmp_path, LOADED)).motion.load
    assert isinstance(load_state, LoadState)
    assert np.asarray(load_state.pos_ned_m.z)[0] == pytest.approx(0.005, abs=1e-6)


def test_take_off_lifts_the_load(tmp_path: Path) -> None:
    """It ends on its cable, 1.5 m and the hook's 0.05 m below a vehicle at 3 m, and was never below the ground."""
    case = scenario(tmp_path, LOADED, "duration_s=15.0", "control.navigation=truth")
    result = fly(case, trials=2)
    assert set(result.outcome) == {"timeout"}, list(result.why)
    for trial in range(2):
        up = np.asarray(result.tracks["up_m"][trial])[: result.length[trial]]
        assert up[-1] == pytest.approx(3.0, abs=0.2)
        hung = np.asarray(result.tracks["load_up_m"][trial])[: result.length[trial]]
        assert hung.min() > -0.02
        assert hung[0] == pytest.approx(-0.005, abs=2e-3)
        assert up[-1] - hung[-1] == pytest.approx(1.55, abs=0.02)
