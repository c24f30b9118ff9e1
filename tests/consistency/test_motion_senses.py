"""Optical flow and odometry in flight: they read what the flight does, break when told to, and change nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fieldworthy as fw
from fieldworthy.world import start, step

FLOW = [f"sensors.optical_flow.{name}" for name in (
    "model=px4flow", "rate_hz=50", "latency_s=0", "noise_rad_s=0", "poor_noise_rad_s=0", "resolution_rad=0",
    "gyro_noise_density_deg_s_rthz=0", "gyro_turn_on_deg_s=0", "distance_noise_m=0", "range_min_m=0.01")]  # fmt: skip
"""A perfect camera with gyroscopes and a range finder of its own."""
POSE = [f"sensors.odometry.{name}" for name in (
    "model=t265", "latency_s=0", "jitter_s=0", "noise_horizontal_m=0", "noise_vertical_m=0",
    "velocity_noise_m_s=0", "tilt_noise_deg=0", "heading_noise_deg=0", "drift_m_rts=0", "drift_m_rtm=0",
    "heading_drift_deg_rts=0")]  # fmt: skip
"""Perfect odometry."""
MOVING = ["goal.north_m=6", "goal.up_m=3", "goal.heading_deg=60"]


def heard(overrides: list[str], steps: int, trials: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    """(readings, what is so) at every command, by name: arrays [command, trial].

    What is read at the tick of a command is told to the next one: readings are a period behind what is so.
    """
    world = fw.build(fw.load("quad-hover", [*overrides, "precision=f64"]), trials).world
    state = start(world)
    told, so = [], []
    for _ in range(steps):
        state, _ = step(world, state)
        sensors = fw.readings_of(world, state).sensors
        names = [name for name in ("optical_flow", "odometry") if name in sensors]
        told.append({f"{name}.{key}": value for name in names for key, value in sensors[name].values.items()}
                    | {f"{name}.t_s": sensors[name].t_s for name in names})  # fmt: skip
        so.append({key: np.asarray(value) for key, value in state.sights.seen.items()})
    return columns(told), columns(so)


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def level(told: dict[str, Any], so: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both at the same times, after the first period."""
    return {name: values[1:] for name, values in told.items()}, {name: values[:-1] for name, values in so.items()}


@pytest.fixture(scope="module", name="flown")
def one_flight() -> tuple[dict[str, Any], dict[str, Any]]:
    return heard([*FLOW, *POSE, *MOVING], 200)


def test_flow_less_turn_times_distance_is_the_way_flown(flown: tuple[dict[str, Any], dict[str, Any]]) -> None:
    told, so = ({name: values[:, 0] for name, values in table.items()} for table in level(*flown))
    assert np.diff(told["optical_flow.t_s"]) == pytest.approx(0.02)
    late = slice(100, 199)
    assert (told["optical_flow.quality"][late] == 200.0).all()
    distance = told["optical_flow.distance_m"][late]
    cosine = np.cos(so["roll_rad"][late]) * np.cos(so["pitch_rad"][late])
    assert distance == pytest.approx(so["up_m"][late] / cosine, rel=1e-9)
    turned = {axis: told[f"optical_flow.gyro_{axis}_rad"][late] for axis in "xy"}
    forward = (told["optical_flow.integrated_y_rad"][late] - turned["y"]) * distance / 0.02
    right = -(told["optical_flow.integrated_x_rad"][late] - turned["x"]) * distance / 0.02
    # Means over a period against values at its end: half a period of acceleration, some 3 m/s2 here.
    assert forward == pytest.approx(told["odometry.vel_x_m_s"][late], abs=0.05)
    assert right == pytest.approx(told["odometry.vel_y_m_s"][late], abs=0.05)
    assert np.abs(forward).max() > 0.8
    # The turn of a whole flight; the trapezoid of 20 ms is 1 mrad off where the turn begins within one period.
    rate = so["yaw_rate_rad_s"]
    expected = 0.01 * (rate[1:] + rate[:-1]).sum()
    assert told["optical_flow.gyro_z_rad"][1:].sum() == pytest.approx(expected, abs=2e-3)
    assert abs(expected) > 1.0


def test_odometry_is_the_motion_that_is_so(flown: tuple[dict[str, Any], dict[str, Any]]) -> None:
    told, so = level(*flown)
    assert told["odometry.t_s"][:, 0] == pytest.approx(0.02 * np.arange(1, 200), abs=1e-9)
    for name in ("north_m", "east_m", "up_m"):
        assert told[f"odometry.{name}"] == pytest.approx(so[name], abs=1e-9), name
    heading = so["heading_rad"]
    east = told["odometry.quat_w"] * told["odometry.quat_z"] + told["odometry.quat_x"] * told["odometry.quat_y"]
    north = 1.0 - 2.0 * (told["odometry.quat_y"] ** 2 + told["odometry.quat_z"] ** 2)
    assert np.unwrap(np.arctan2(2.0 * east, north) - heading, axis=0) == pytest.approx(0.0 * heading, abs=1e-9)
    squares = sum(told[f"odometry.vel_{axis}_m_s"] ** 2 for axis in "xyz")
    assert squares == pytest.approx(sum(so[f"{axis}_m_s"] ** 2 for axis in ("north", "east", "up")), abs=1e-9)


def test_they_change_nothing_of_a_flight() -> None:
    both = ["sensors.optical_flow.model=pmw3901", "sensors.odometry.model=mocap"]
    bare, more = (fw.fly(fw.load("quad-hover", ["duration_s=5", *extra]), 3) for extra in ([], both))
    # On its own estimate, with wind and noise: a random number that another device took would show.
    for name, values in bare.tracks.items():
        assert np.array_equal(values, more.tracks[name], equal_nan=True), name


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_a_trial_alone_hears_what_it_hears_in_a_batch(precision: str) -> None:
    extra = ["sensors.optical_flow.model=pmw3901", "sensors.odometry.model=t265", f"precision={precision}"]
    said = []
    for trials in ([0, 1, 2], [2]):
        world = fw.build(fw.load("quad-hover", extra), trials).world
        state = start(world)
        for _ in range(80):
            state, _ = step(world, state)
        sensors = fw.readings_of(world, state).sensors
        said.append({
            f"{name}.{key}": np.asarray(value)[-1]
            for name in ("optical_flow", "odometry") for key, value in sensors[name].values.items()
        })  # fmt: skip
    batch, alone = said
    assert batch.keys() == alone.keys()
    for name, value in batch.items():
        assert np.array_equal(value, alone[name], equal_nan=True), name
    missing = {name for name, value in batch.items() if np.isnan(value)}
    assert missing == {f"optical_flow.gyro_{axis}_rad" for axis in "xyz"}


BREAKS = (("sensor-loss", 1.0, 1.0), ("sensor-bias", 1.5, 0.5), ("sensor-freeze", 2.0, 1.0), ("sensor-noise", 2.5, 0.4))
"""Kind, onset and size: each lasts for 0.3 s."""


def test_sensors_break_as_they_are_told(flown: tuple[dict[str, Any], dict[str, Any]]) -> None:
    faults = ", ".join(
        f'{{kind = "{kind}", part = "{part}", at_s = {at_s}, until_s = {at_s + 0.3}, size = {size}}}'
        for part in ("optical_flow", "odometry") for kind, at_s, size in BREAKS
    )  # fmt: skip
    told, _ = heard([*FLOW, *POSE, *MOVING, f"faults=[{faults}]"], 200)
    stamps = told["odometry.t_s"][:, 0]
    struck = {kind: (stamps > at_s - 0.001) & (stamps < at_s + 0.299) for kind, at_s, _ in BREAKS}
    whole = ~np.any(list(struck.values()), axis=0)
    off = {name: values - flown[0][name] for name, values in told.items()}
    for name, error in off.items():
        assert (error[whole] == 0.0).all(), name
        assert (error == 0.0).all() or name in (
            "optical_flow.quality", "odometry.valid", "optical_flow.integrated_x_rad",
            "optical_flow.integrated_y_rad", "odometry.north_m", "odometry.east_m", "odometry.up_m",
        ) or np.any(error[struck["sensor-freeze"]]), name  # fmt: skip
    assert (told["optical_flow.quality"][struck["sensor-loss"]] == 0.0).all()
    assert (told["odometry.valid"][struck["sensor-loss"]] == 0.0).all()
    for name, sign in (("optical_flow.integrated_x_rad", 1.0), ("odometry.east_m", 1.0), ("odometry.up_m", -1.0)):
        assert off[name][struck["sensor-bias"]] == pytest.approx(sign * 0.5 * np.ones((15, 1)), abs=1e-12), name
        assert np.ptp(told[name][struck["sensor-freeze"]]) == 0.0
        # 15 numbers: a standard deviation of theirs is 0.4 (1 +- 0.19).
        assert 0.2 < off[name][struck["sensor-noise"]].std() < 0.65, name
    assert (off["odometry.t_s"] == 0.0).all(), "stamps stay fresh in a freeze"


def test_a_late_pose_tells_when_it_was_so() -> None:
    told, so = heard([*POSE, "sensors.odometry.latency_s=0.06"], 100)
    assert told["odometry.t_s"][50:, 0] == pytest.approx(0.02 * np.arange(51, 101) - 0.06, abs=1e-9)
    assert told["odometry.up_m"][53:] == pytest.approx(so["up_m"][50:97], abs=1e-9)
