"""What a flight's autopilot and controllers are told: of the right time, from the right devices, or nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.world import start, step

PILOT = '''
import numpy as np

import fieldworthy as fw


class Pilot:
    """Height and attitude by hand, straight to the four rotors."""

    reads_deg = None
    arrays = "numpy"

    def command(self, readings, parameters):
        r = readings
        lift = 0.675 + 0.08 * (5.0 - r.up_m) - 0.06 * r.up_m_s
        pitch = np.clip(0.05 * r.north_m + 0.08 * r.north_m_s, -0.3, 0.3)
        roll = np.clip(-0.05 * r.east_m - 0.08 * r.east_m_s, -0.3, 0.3)
        c, s = np.cos(r.heading_rad), np.sin(r.heading_rad)
        x = 0.15 * (c * roll + s * pitch - r.roll_rad) - 0.04 * r.roll_rate_rad_s
        y = 0.15 * (c * pitch - s * roll - r.pitch_rad) - 0.04 * r.pitch_rate_rad_s
        z = -0.05 * r.yaw_rate_rad_s
        return fw.Actuation((lift - x + y + z, lift + x - y + z, lift + x + y - z, lift - x - y - z))
'''

HOVER = """
schema = 1
name = "by-hand"
trials = 3
duration_s = 20.0
[vehicle]
model = "x500"
[start]
up_m = 4.0
spread_heading_deg = 180.0
[goal]
north_m = 0.0
east_m = 0.0
up_m = 5.0
radius_m = 2.0
hold_s = 8.0
[control]
controller = "pilot:Pilot"
commands = "actuators"
rate_hz = 250.0
"""


def told(name: str, overrides: list[str], steps: int, trials: int = 1) -> Any:
    """The readings after so many commands, and what is so."""
    world = fw.build(fw.load(name, overrides), trials).world
    state = start(world)
    for _ in range(steps):
        state, _ = step(world, state)
    return fw.readings_of(world, state), {key: np.asarray(value) for key, value in state.sights.seen.items()}


def test_with_the_truth_what_is_known_is_what_is_so() -> None:
    readings, so = told("plane-circuit", ["control.navigation=truth"], 40)
    for name in ("north_m", "east_m", "up_m", "heading_rad", "airspeed_m_s"):
        assert np.asarray(getattr(readings, name)) == pytest.approx(so[name], abs=1e-12), name
    assert readings.t_s == pytest.approx(40 * readings.period_s)


def test_before_time_begins_the_inertial_unit_has_felt_the_ground_and_nothing_else_has_spoken() -> None:
    readings, _ = told("quad-hover", [], 0)
    force = readings.sensors["imu"].values["specific_force_z_m_s2"]
    assert force == pytest.approx(-9.81, abs=1.5)  # turn-on bias 0.2 m/s2, noise
    assert math.isnan(readings.sensors["gnss"].t_s[0])
    assert np.isnan(readings.sensors["barometer"].values["pressure_pa"]).all()


def test_who_hears_the_inertial_unit_more_rarely_hears_the_mean() -> None:
    """White noise N heard every 20 ms has the deviation N/sqrt(0.02), whatever the step; 30 x 64 x 3 numbers."""
    white = [f"sensors.imu.{name}=0" for name in (
        "gyro_walk_deg_s_rts", "gyro_instability_deg_h", "gyro_turn_on_deg_s", "gyro_resolution_deg_s",
        "gyro_bandwidth_hz", "g_sensitivity_deg_s_g", "gyro_misalignment_deg", "gyro_scale_sigma")]  # fmt: skip
    world = fw.build(fw.load("quad-hover", [*white, "goal.up_m=0.23", "air.wind_speed_m_s=0"]), 64).world
    state, heard = start(world), []
    for _ in range(31):
        state, _ = step(world, state)
        imu = fw.readings_of(world, state).sensors["imu"].values
        heard.append([imu[f"rate_{axis}_rad_s"] for axis in "xyz"])
    deviation = np.diff(np.array(heard), axis=0).std() / math.sqrt(2.0)
    assert math.degrees(deviation) * math.sqrt(0.02) == pytest.approx(0.0028, rel=0.06)


def test_a_late_inertial_unit_tells_the_time_of_its_sample() -> None:
    overrides = ["sensors.imu.latency_s=0.004", "sensors.imu.clock_offset_s=1.5"]
    readings, _ = told("quad-hover", overrides, 10)
    assert readings.sensors["imu"].t_s == pytest.approx(0.2 - 0.004 + 1.5, abs=1e-6)


def test_lost_inertial_samples_leave_the_last_one_standing() -> None:
    whole = told("quad-hover", ["control.rate_hz=500"], 30)[0]
    lossy = told("quad-hover", ["control.rate_hz=500", "sensors.imu.dropout=1.0"], 30)[0]
    assert whole.sensors["imu"].values["rate_x_rad_s"] != pytest.approx(0.0, abs=1e-6)
    assert lossy.sensors["imu"].values["rate_x_rad_s"] == pytest.approx(0.0, abs=1e-12), "as before the start"


@pytest.mark.slow
def test_letters_are_heard_at_their_tick_in_32_bits() -> None:
    """A minute of the built-in hover: every barometer letter is heard 10 ms after its stamp, to the tick."""
    world = fw.build(fw.load("quad-hover", ["control.rate_hz=500", "duration_s=20"]), 1).world
    state = start(world)
    late = []
    for _ in range(2500):
        state, _ = step(world, state)
        t = state.tick * world.timing.dt_s
        stamp = float(np.asarray(state.sights.heard["barometer"]["stamp_s"])[0])
        late.append(t - stamp)
    # Read every 20 ms and heard 10 ms later: the age runs from 10 to 28 ms and never reaches 30.
    heard = np.array(late[10:])
    assert heard.min() == pytest.approx(0.010, abs=1e-4)
    assert heard.max() == pytest.approx(0.028, abs=1e-4)


def test_a_flight_that_begins_without_a_fix_takes_its_first_one_for_its_origin() -> None:
    fault = 'faults=[{kind = "sensor-loss", part = "gnss", at_s = 0.0, until_s = 3.0}]'
    result = fw.fly(fw.load("quad-hover", [fault]), 4)
    assert result.success_rate == 1.0


def test_true_airspeed_is_right_on_a_plateau() -> None:
    readings, so = told("plane-circuit", ["air.elevation_m=2000"], 500, 4)
    assert np.asarray(readings.airspeed_m_s) / so["airspeed_m_s"] == pytest.approx(1.0, abs=0.05)


def test_a_battery_that_has_given_up_turns_no_motor() -> None:
    result = fw.fly(fw.load("quad-hover", ["start.charge=0.02", "start.up_m=6", "control.navigation=truth"]), 1)
    end = result.length[0] - 1
    assert result.outcome[0] == "collision"
    assert result.tracks["battery_dead"][0, end] == 1.0
    assert result.tracks["rotor_0_rad_s"][0, end] < 93.7, "below idle: it runs down"


@pytest.mark.slow
def test_a_controller_may_command_the_rotors_themselves(tmp_path: Path) -> None:
    (tmp_path / "pilot.py").write_text(PILOT)
    (tmp_path / "hover.toml").write_text(HOVER)
    result = fw.fly(fw.load(tmp_path / "hover.toml", ["control.navigation=truth"]))
    assert result.success_rate == 1.0
    assert 0.0 < result.tracks["cmd_throttle_0"][0, 10] < 1.0


def test_the_built_in_mission_cannot_command_rotors() -> None:
    with pytest.raises(fw.ScenarioError, match="says where to be, not what each rotor does"):
        fw.load("quad-hover", ["control.commands=actuators"])
