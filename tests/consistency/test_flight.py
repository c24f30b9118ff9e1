"""Flights the same two ways: alone and in a batch, in 32 and 64 bits, with one step and another, and as configured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import drjit as dr
import numpy as np
import pytest
from small_flights import ROUGH, flight
from test_alone_is_batch import assert_same_row
from test_kernels import kernels_of

from fieldworthy.catalog import load_entry
from fieldworthy.core.engine import KernelCounter
from fieldworthy.scenario import Scenario
from fieldworthy.scenario.build import build
from fieldworthy.trials import campaign
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.folder import write_run, write_whole
from fieldworthy.trials.replay import replay
from fieldworthy.trials.result import Result
from fieldworthy.world import World, compact, start, step

TRIALS = 7
PRECISIONS = ("f32", "f64")
NOT_YET = "battery_low_s"  # NaN until the battery is low


@pytest.fixture(scope="module", name="folder")
def scenario_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flights")


@pytest.fixture(scope="module", name="flown")
def flown_batches(folder: Path) -> dict[str, Result]:
    return {bits: fly(flight(folder, ROUGH, overrides=(f"precision={bits}",))) for bits in PRECISIONS}


@pytest.fixture
def threads() -> Iterator[None]:
    before = dr.thread_count()
    yield
    dr.set_thread_count(before)


# A row of a batch ----------------------------------------------------------------------------------------------------


def test_the_flights_put_everything_to_the_test(flown: dict[str, Result]) -> None:
    # Ends at different times, so that lanes were compacted; rotors lost, links slowed, beliefs off the truth.
    for result in flown.values():
        assert len(result.trial) == TRIALS
        assert len(set(result.length.tolist())) >= 4
        assert {"timeout", "collision"} <= set(result.outcome.tolist())
        assert any("rotor 1 had lost its thrust" in why for why in result.why)
        assert any("a battery cell had failed" in why for why in result.why)
        for name, values in result.tracks.items():
            if name != NOT_YET:
                assert all(np.isfinite(values[i, :n]).all() for i, n in enumerate(result.length)), name
        off = np.abs(result.tracks["believed_north_m"] - result.tracks["north_m"])
        assert 0.05 < np.nanmax(off) < 10.0
        assert np.nanstd(result.tracks["wind_up_m_s"][:, :100]) > 0.01


@pytest.mark.parametrize("bits", PRECISIONS)
def test_alone_is_its_row_of_the_batch(flown: dict[str, Result], bits: str) -> None:
    batch = flown[bits]
    for trial in (int(np.argmax(batch.length)), int(np.argmin(batch.length))):
        assert_same_row(fly(batch.scenario, [trial]), 0, batch, trial)


@pytest.mark.parametrize("count", [1, 2])
def test_on_any_number_of_threads(flown: dict[str, Result], threads: None, count: int) -> None:
    dr.set_thread_count(count)
    again = fly(flown["f32"].scenario)
    for trial in range(TRIALS):
        assert_same_row(again, trial, flown["f32"], trial)


def test_in_any_order_and_company(flown: dict[str, Result]) -> None:
    some = fly(flown["f32"].scenario, [5, 1, 3])
    for row, trial in enumerate(some.trial):
        assert_same_row(some, row, flown["f32"], int(trial))


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_compaction_changes_nothing(flown: dict[str, Result], monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    # Never compacted, and whenever a lane has ended.
    monkeypatch.setattr(campaign, "THIN_BELOW", share)
    again = fly(flown["f32"].scenario)
    for trial in range(TRIALS):
        assert_same_row(again, trial, flown["f32"], trial)


WINGS = """
schema = 1
name = "wings"
trials = 5
duration_s = 4.0
dt_s = 0.004
precision = "f32"
[vehicle]
model = "aerosonde"
[start]
up_m = 120.0
speed_m_s = 25.0
spread_heading_deg = 20.0
[air]
wind_speed_m_s = 5.0
[air.turbulence]
model = "von-karman"
specification = "mil-hdbk-1797"
[goal]
north_m = 1000.0
east_m = 30.0
up_m = 120.0
[randomize]
"vehicle.aero_cl_alpha" = [5.0, 6.0]
[[faults]]
kind = "surface-stuck"
part = "rudder"
at_s = 1.0
probability = 0.5
size = 0.4
"""


def test_wings_alone_and_in_a_batch(folder: Path) -> None:
    from fieldworthy.scenario import load

    (folder / "wings.toml").write_text(WINGS)
    batch = fly(load(folder / "wings.toml"))
    assert np.ptp(batch.tracks["rudder_rad"][:, -1]) > 0.01
    for trial in (0, 3):
        assert_same_row(fly(batch.scenario, [trial]), 0, batch, trial)


def test_replay_from_a_run_folder(flown: dict[str, Result], tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_whole(run, lambda part: write_run(part, flown["f32"], "a test"))
    again = replay(run, 4)
    assert again.agrees, again.differences


def test_another_seed_is_another_flight(flown: dict[str, Result], folder: Path) -> None:
    first = flown["f32"]
    other = fly(flight(folder, ROUGH, overrides=("seed=6", "duration_s=1.0")), [0])
    for name in ("wind_north_m_s", "believed_north_m", "north_m", "pitch_rate_rad_s"):
        assert not np.array_equal(other.tracks[name][0, 5:40], first.tracks[name][0, 5:40]), name
    assert other.parameters["vehicle.mass_kg"][0] != first.parameters["vehicle.mass_kg"][0]
    # And trials differ from one another.
    starts = first.tracks["believed_roll_rad"][:, 40]
    assert len(set(starts.tolist())) == TRIALS


# Kernels -------------------------------------------------------------------------------------------------------------


def a_second(case: Scenario) -> None:
    """Build, start, step, compact, step."""
    world = build(case, TRIALS).world
    state = start(world)
    for _ in range(6):
        state, _ = step(world, state)
    state = compact(world, state, np.array([0, 2, 3, 5]))
    for _ in range(6):
        state, _ = step(world, state)


@pytest.fixture(scope="module", name="first")
def kernels_of_the_first_world(folder: Path) -> set[Any]:
    return kernels_of(lambda: a_second(flight(folder, ROUGH)))


OTHER_NUMBERS = {
    "seed": ("seed=1234",),
    "vehicle": ("vehicle.inertia_xx_kg_m2=0.015", "vehicle.drag_area_m2=0.06", "vehicle.rotor_lag_up_s=0.025"),
    "randomize": ('randomize={"vehicle.mass_kg"=[1.5,2.5],"air.wind_speed_m_s"=[1.0,3.0],'
                  '"sensors.imu.gyro_noise_density_deg_s_rthz"=[0.001,0.02],"sensors.gnss.horizontal_sigma_m"=[1,2],'
                  '"battery.capacity_c"=[8000.0,9000.0]}',),
    "wind": ("air.wind_from_deg=75.0", "air.roughness_m=0.1", "air.gusts.0.east_m_s=3.5", "air.gusts.0.start_s=2.5"),
    "sensors": ("sensors.gnss.latency_s=0.1", "sensors.barometer.noise_pa=3.3", "sensors.magnetometer.dropout=0.1",
                "sensors.imu.accelerometer_noise_density_ug_rthz=111.0"),
    "battery": ("battery.transient_resistance_ohm=0.002", "battery.cut_off_v=3.1"),
    "faults": ("faults.0.at_s=3.3", "faults.0.probability=0.2", "faults.2.size=1.7"),
    "course": ("goal.up_m=4.0", "goal.hold_s=33.0", "start.heading_deg=40.0", "duration_s=7.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_NUMBERS)
def test_other_numbers_launch_no_other_kernel(first: set[Any], folder: Path, name: str) -> None:
    other = flight(folder, ROUGH, overrides=OTHER_NUMBERS[name])
    with KernelCounter() as counter:
        a_second(other)
    assert counter.launched > 20
    assert counter.compiled == 0
    new = kernels_of(lambda: a_second(other)) - first
    assert not new, f"{len(new)} kernels of {name} are new: a number became part of the code"


def test_a_sweep_over_the_mass_compiles_once(folder: Path) -> None:
    def of(mass: float) -> set[Any]:
        return kernels_of(lambda: a_second(flight(folder, overrides=(f"vehicle.mass_kg={mass}",))))

    kernels = of(1.7)
    for mass in (1.9, 2.3):
        assert of(mass) <= kernels


def test_more_steps_compile_nothing(folder: Path) -> None:
    world = build(flight(folder, ROUGH), TRIALS).world
    state = start(world)
    for _ in range(12):  # the slowest device has been read twice
        state, _ = step(world, state)
    with KernelCounter() as counter:
        for _ in range(12):
            state, _ = step(world, state)
    assert counter.compiled == 0
    assert counter.launched > 0


# Other steps, other bits ---------------------------------------------------------------------------------------------


def ends(result: Result, sample: int = -1) -> np.ndarray[Any, Any]:
    return np.array([result.tracks[name][:, sample] for name in ("north_m", "east_m", "up_m")], dtype=np.float64)


PLACES = ("north_m", "east_m", "up_m")


def test_32_and_64_bits_fly_the_same_rough_flight(flown: dict[str, Result]) -> None:
    """The same noise, wind and faults, on the estimate; rounding of 1e-7 is fed back, not summed. To the first end."""
    single, double = (flown[bits] for bits in PRECISIONS)
    length = int(min(single.length.min(), double.length.min())) - 5
    assert length > 150
    for name in PLACES:
        assert np.abs(single.tracks[name][:, :length] - double.tracks[name][:, :length]).max() < 0.02, name
    assert single.outcome.tolist() == double.outcome.tolist()


@pytest.mark.slow
def test_32_and_64_bits_stay_close_for_half_a_minute(folder: Path) -> None:
    wind = "[air]\nwind_speed_m_s = 4.0\nwind_from_deg = 300.0\n"
    results = [fly(flight(folder, wind, overrides=(f"precision={bits}", "duration_s=30.0")), 3) for bits in PRECISIONS]
    single, double = (np.array([r.tracks[n] for n in PLACES], np.float64) for r in results)
    assert single.shape[-1] == 1501
    assert np.ptp(double[2]) > 2.5
    assert np.abs(single - double).max() < 0.02


def with_steps_of(folder: Path, *steps: float) -> list[np.ndarray[Any, Any]]:
    """Places of flights by the truth and without noise, with a gust from the side."""
    gust = "[air]\nwind_speed_m_s = 3.0\n[[air.gusts]]\nstart_s = 2.0\neast_m_s = 4.0\n"
    left_out = ("battery", "ground_effect", "inflow", "gyroscopic", "rotor_drag")  # they take time to compile
    common = ("control.navigation=truth", "duration_s=4.0", *(f"effects.{name}=false" for name in left_out))
    found = []
    for dt_s in steps:
        result = fly(flight(folder, gust, overrides=(*common, f"dt_s={dt_s}"), name=f"dt{dt_s}"), 1)
        found.append(np.array([result.tracks[name][0] for name in PLACES], np.float64))
    assert np.ptp(found[0][1]) > 0.05, "the gust must move it"
    return found


def test_half_the_step_is_nearly_the_same_flight(folder: Path) -> None:
    """5 cm of the climb to 3 m at 2 m/s are 25 ms: what the gains allow for the step, and the step itself."""
    whole, half = with_steps_of(folder, 0.002, 0.001)
    assert np.abs(whole - half).max() < 0.08


@pytest.mark.slow
def test_the_closed_loop_converges_in_the_first_order(folder: Path) -> None:
    """The autopilot holds its output for a step, and its gains allow for that: half the step, half the difference."""
    whole, half, quarter = with_steps_of(folder, 0.002, 0.001, 0.0005)
    assert np.abs(whole - half).max() / np.abs(half - quarter).max() == pytest.approx(2.0, abs=0.3)


# Devices as configured -----------------------------------------------------------------------------------------------


def flown_state(world: World, state: Any) -> Any:
    return world.vehicle_shape().tree(state.vehicle)


def walk(case: Scenario, trials: int, steps: int, see: Callable[[Any, Any], Any]) -> list[Any]:
    """What `see(world, state)` answers after each step."""
    world = build(case, trials).world
    state, found = start(world), []
    for _ in range(steps):
        state, _ = step(world, state)
        found.append(see(world, state))
    return found


EXACT_GNSS = tuple(
    f"sensors.gnss.{name}=0.0"
    for name in ("horizontal_sigma_m", "vertical_sigma_m", "white_horizontal_sigma_m", "white_vertical_sigma_m",
                 "multipath_sigma_m", "velocity_horizontal_sigma_m_s", "velocity_vertical_sigma_m_s", "jitter_s")
)  # fmt: skip


LINKS = (
    "sensors.gnss.latency_s=0.12",
    *(f"sensors.barometer.{text}" for text in ("dropout=0.3", "jitter_s=0.001", "latency_s=0.008",
                                               "clock_offset_s=0.25", "clock_drift_ppm=200.0")),
)  # fmt: skip


@pytest.fixture(scope="module", name="heard")
def what_is_heard(folder: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Of 64 vehicles that climb, after each of 200 steps of 20 ms."""
    case = flight(folder, overrides=(*EXACT_GNSS, *LINKS, "precision=f64"), name="links")

    def see(world: World, state: Any) -> tuple[Any, ...]:
        flying = flown_state(world, state)
        gnss, barometer = (flying.devices[name].mailbox.newest for name in ("gnss", "barometer"))
        numbers = (gnss.stamp_s, gnss.due_s, gnss.value.pos_ned_m.z, flying.motion.body.pos_ned_m.z, barometer.stamp_s,
                   barometer.due_s)  # fmt: skip
        return tuple(np.array(number) for number in numbers)

    rows = np.array(walk(case, 64, 200, see))
    names = ("fix_stamp_s", "fix_due_s", "fix_down_m", "down_m", "barometer_stamp_s", "barometer_due_s")
    return dict(zip(names, rows.transpose(1, 0, 2), strict=True))


def test_fixes_arrive_with_their_latency_and_tell_of_the_time_of_their_stamp(heard: dict[str, Any]) -> None:
    """5 Hz, 0.12 s late: heard at the first tick from stamp + 0.12 s on; the fix is where it was at the stamp."""
    stamp, due, fix, down = (heard[name][:, 0] for name in ("fix_stamp_s", "fix_due_s", "fix_down_m", "down_m"))
    t = np.arange(1, 201) * 0.02
    there = t >= 0.12 - 1e-9
    expected = np.floor((t[there] - 0.12) / 0.2 + 1e-9) * 0.2
    assert stamp[there] == pytest.approx(expected, abs=1e-9)
    assert due[there] == pytest.approx(expected + 0.12, abs=1e-9)
    assert (stamp[~there] < -1.0).all()
    then = np.interp(stamp[there], np.concatenate([[0.0], t]), np.concatenate([[down[0]], down]))
    assert np.abs(fix[there] - then).max() < 1e-3  # stamps fall on samples; the first sample is one step late
    assert np.ptp(fix[there]) > 1.0, "it must have climbed"


def test_dropouts_jitter_and_clocks_are_those_of_the_scenario(heard: dict[str, Any]) -> None:
    """64 vehicles, 200 readings each: 12,800 draws of dropout 0.3 (sigma 0.004); of the jitter's mean, 1 ms, 1.1 %.

    Short, so that letters hardly ever (exp(-12)) wait for the next one.
    """
    stamps, dues = heard["barometer_stamp_s"], heard["barometer_due_s"]
    new = np.diff(stamps, axis=0) > 1e-6
    assert np.mean(new) == pytest.approx(0.7, abs=4 * 0.004)
    # Drops of one vehicle say nothing of another's: counts of 199 are binomial, sigma sqrt(0.21 * 199) = 6.5.
    assert np.std(new.sum(axis=0)) == pytest.approx(6.5, rel=0.35)
    measured = (stamps[1:][new] - 0.25) / (1.0 + 200e-6)
    assert np.abs(measured / 0.02 - np.round(measured / 0.02)).max() < 1e-6
    late = dues[1:][new] - measured - 0.008
    assert late.min() >= -1e-9
    assert late.mean() == pytest.approx(0.001, rel=0.05)
    assert late.std() == pytest.approx(0.001, rel=0.1)


def test_a_first_fix_that_comes_late_does_not_move_the_vehicle(folder: Path) -> None:
    """The filter takes its first fix for where it stands, whose error is 2 m, also when there was none at first."""
    lost = '[[faults]]\nkind = "sensor-loss"\npart = "gnss"\nuntil_s = 1.1\n'
    result = fly(flight(folder, lost, overrides=("duration_s=3.0",), name="lost"), TRIALS)
    for name in ("north_m", "east_m", "up_m"):
        off = result.tracks[f"believed_{name}"] - result.tracks[name]
        assert np.abs(np.diff(off, axis=1)).max() < 0.2, name
        assert np.abs(off).max() < 1.0, name
    # Noise of one fix to the next is 0.3 m, of which the filter takes a share.
    assert np.abs(result.tracks["believed_north_m"][:, 70:] - result.tracks["north_m"][:, 70:]).max() > 0.005


STANDING = "".join(f'[[faults]]\nkind = "rotor-loss"\npart = {i}\n' for i in range(4))
"""All rotors without effect: it stays on the ground."""

WHITE_IMU = tuple(
    f"sensors.imu.{name}=0.0"
    for name in load_entry("imu", "icm-42688-p").values
    if name not in ("rate_hz", "gyro_noise_density_deg_s_rthz", "accelerometer_noise_density_ug_rthz", "pos_frd_m")
)


@pytest.mark.parametrize("dt_s", [0.002, 0.001])
def test_noise_of_a_standing_imu_is_the_catalogue_s_at_any_step(folder: Path, dt_s: float) -> None:
    """White noise of density N has the deviation N/sqrt(dt) in samples every dt: 0.0028 deg/s/rtHz, 70 ug/rtHz.

    The turn rate that the filter believes is the sample less a slow bias; its velocity over the ground is the sum of
    the accelerometer's until the first fix is heard. Differences of successive samples: 60 x 128 x 3, 1 %.
    """
    case = flight(
        folder, STANDING, overrides=(*WHITE_IMU, "precision=f64", f"dt_s={dt_s}", f"control.rate_hz={1 / dt_s}")
    )
    steps = round(0.1 / dt_s)

    def see(world: World, state: Any) -> Any:
        flying = flown_state(world, state)
        rate, vel = flying.filter.rate_frd_rad_s, flying.filter.vel_ned_m_s
        return np.array(
            [np.asarray(x) for x in (rate.x, rate.y, rate.z, vel.x, vel.y, flying.motion.body.rate_frd_rad_s.x)]
        )

    seen = np.array(walk(case, 128, steps, see))
    assert np.abs(seen[:, 5]).max() < 1e-3, "it must stand"
    gyro = np.diff(seen[:, :3], axis=0).std() / math.sqrt(2.0)
    assert math.degrees(gyro) * math.sqrt(dt_s) == pytest.approx(0.0028, rel=0.03)
    force = np.diff(seen[:, 3:5], axis=0) / dt_s
    felt = np.diff(force, axis=0).std() / math.sqrt(2.0)
    assert felt * math.sqrt(dt_s) / 9.80665e-6 == pytest.approx(70.0, rel=0.03)


def test_a_slow_link_delays_commands_by_whole_periods(folder: Path) -> None:
    """Commands at 10 Hz over a link that takes 0.5 s from 2 s on: the move to a new height begins half a second late.

    Devices are read between commands; the link counts commands, not readings.
    """
    fault = '[[faults]]\nkind = "link-delay"\nat_s = 2.0\nsize = 0.5\nprobability = 0.5\n'
    (folder / "stepper.py").write_text(STEPPER)
    common = ("control.controller=stepper:Stepper", "control.rate_hz=10.0", "control.navigation=truth",
              "start.up_m=3.0", "duration_s=6.0")  # fmt: skip
    result = fly(flight(folder, fault, overrides=common, name="link"), TRIALS)
    slow = np.array(["the link had slowed by 0.5 s" in why for why in result.why])
    assert 0 < slow.sum() < TRIALS
    settled = result.t_s > 2.5  # with a full battery it rises at first, until the autopilot has learnt that
    onset = result.t_s[np.argmax(settled & (result.tracks["up_m_s"] > 0.1), axis=1)]
    assert result.tracks["up_m"][~slow].max(axis=1).min() > 4.5
    assert np.ptp(onset[slow]) == np.ptp(onset[~slow]) == 0.0
    assert onset[slow][0] - onset[~slow][0] == pytest.approx(0.5, abs=1e-6)


STEPPER = """
from fieldworthy import FlightCommand
import numpy as np


class Stepper:
    arrays = "numpy"
    reads_deg = None

    def command(self, readings, parameters):
        up = np.full(len(readings.up_m), 5.0 if readings.t_s > 2.95 else 3.0)
        still = 0.0 * up
        return FlightCommand(still, still, up, still, still, still, still, still, still, still, still, still)
"""


# What is not finite --------------------------------------------------------------------------------------------------

SICK = """
from fieldworthy import FlightCommand
import numpy as np


class Sick:
    arrays = "numpy"
    reads_deg = None

    def command(self, readings, parameters):
        still = 0.0 * readings.up_m
        north = np.where((readings.trial == 2) & (readings.t_s > 0.99), np.nan, still)
        return FlightCommand(north, still, still + 3.0, *(still,) * 9)
"""


def test_a_lane_that_is_not_finite_ends_alone(folder: Path) -> None:
    (folder / "sick.py").write_text(SICK)
    case = flight(folder, overrides=("control.controller=sick:Sick", "duration_s=2.0"), name="sick")
    result = fly(case, 4)
    assert result.outcome.tolist() == ["timeout", "timeout", "non-finite", "timeout"]
    assert result.time_s[2] == pytest.approx(1.002)
    assert "not finite" in result.why[2]
    for name, values in result.tracks.items():
        assert name == NOT_YET or np.isfinite(values[[0, 1, 3]]).all(), name
    without = fly(case, [0, 1, 3])
    for row, trial in enumerate((0, 1, 3)):
        assert_same_row(without, row, result, trial)
