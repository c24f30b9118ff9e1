"""A plane on a catapult: held at rest, let go by its autopilot's throttle, hurled along its nose, then in the air."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drjit.llvm.ad import Float64

from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.rigid_body import RigidBodyState
from fieldworthy.core.struct import leaves, map_leaves
from fieldworthy.core.subnormal import flushed
from fieldworthy.core.vec import Vec3, quat_from_euler_zyx
from fieldworthy.scenario import Scenario, load, to_toml
from fieldworthy.scenario.build import build
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.pilot_mission import mission_of
from fieldworthy.trials.plane_tuning import plane_parameters
from fieldworthy.vehicles.catapult import (
    TRIGGER_S,
    CatapultParameters,
    catapult_specific_force,
    catapult_step,
    first_catapult,
)
from fieldworthy.world import start
from fieldworthy.world.alone import Alone

DT = 0.002
PITCH = math.radians(12.0)
SPEED, ACCEL = 25.0, 50.0
G = 9.80665
NUMBERS = CatapultParameters(SPEED, ACCEL, 0.5, 150.0)
REST = RigidBodyState(
    Vec3(0.0, 0.0, -1.5), quat_from_euler_zyx(0.0, PITCH, 0.7), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
)
ELSEWHERE = RigidBodyState(Vec3(9.0, 9.0, 9.0), REST.quat_ned_from_frd, Vec3(1.0, 2.0, 3.0), Vec3(4.0, 5.0, 6.0))
NOSE = np.array([math.cos(PITCH) * math.cos(0.7), math.cos(PITCH) * math.sin(0.7), -math.sin(PITCH)])
BARE = ("control.controller=external", "control.commands=actuators", "control.navigation=truth", "control.rate_hz=500",
        "precision=f64")  # fmt: skip
CALM = ("air.wind_speed_m_s=0", "air.turbulence.wind_20ft_m_s=0")
EXACT = tuple(
    f"sensors.imu.{name}=0"
    for name in (
        "gyro_noise_density_deg_s_rthz", "gyro_walk_deg_s_rts", "gyro_instability_deg_h", "gyro_turn_on_deg_s",
        "gyro_scale_sigma", "gyro_misalignment_deg", "gyro_temperature_deg_s_k", "gyro_resolution_deg_s",
        "gyro_bandwidth_hz", "g_sensitivity_deg_s_g", "accelerometer_noise_density_ug_rthz",
        "accelerometer_walk_ug_rts", "accelerometer_instability_ug", "accelerometer_turn_on_mg",
        "accelerometer_scale_sigma", "accelerometer_misalignment_deg", "accelerometer_temperature_mg_k",
        "accelerometer_resolution_mg", "accelerometer_bandwidth_hz", "rectification_ug_g2",
    )
)  # fmt: skip


def launched(
    ticks: int, throttle: Any = 1.0, kind: Any = float, numbers: CatapultParameters = NUMBERS
) -> tuple[list[RigidBodyState], list[Any]]:
    """Bodies and launches, tick by tick, with a throttle that may depend on the tick."""
    # Of two plain numbers a choice between lanes would be made in 32 bits.
    body, elsewhere = (map_leaves(kind, motion) for motion in (REST, ELSEWHERE))
    state, bodies, states = first_catapult(), [body], [first_catapult()]
    for tick in range(ticks):
        u = throttle(tick) if callable(throttle) else throttle
        body, state = catapult_step(numbers, state, body, elsewhere, (kind(u),), DT)
        bodies.append(body)
        states.append(state)
    return bodies, states


def along(body: RigidBodyState) -> tuple[float, float]:
    """Way from the place of rest, and speed, both along the nose; what is across must be nothing."""
    way = np.array([*body.pos_ned_m], float) - np.array([0.0, 0.0, -1.5])
    velocity = np.array([*body.vel_ned_m_s], float)
    for vector in (way, velocity):
        assert np.linalg.norm(vector - NOSE * (vector @ NOSE)) < 1e-12
    return float(way @ NOSE), float(velocity @ NOSE)


# The laws ------------------------------------------------------------------------------------------------------------


def test_it_is_held_until_the_throttle_has_been_high_for_long_enough() -> None:
    # High for 149 ticks, low for one, and again: 150 on end are needed.
    bodies, states = launched(310, lambda tick: 0.0 if tick == 149 else 0.5)
    moved = [tick for tick, body in enumerate(bodies) if along(body)[0] > 0.0]
    assert moved[0] == 150 + 150 + 1
    assert all(body == REST for body in bodies[:300])
    assert states[200].free == 0.0


def test_once_let_go_it_goes_whatever_the_throttle_does() -> None:
    bodies, _ = launched(300, lambda tick: 1.0 if tick < 150 else 0.0)
    assert along(bodies[300])[1] == pytest.approx(ACCEL * 150 * DT)


def test_speed_and_way_are_those_of_uniform_acceleration() -> None:
    """v = a t, s = a t^2 / 2 and v^2 = 2 a s at every tick, to the rounding of sums of 250 terms."""
    bodies, _ = launched(399)
    for tick in range(151, 399):
        (way, speed), t = along(bodies[tick]), (tick - 150) * DT
        assert speed == pytest.approx(ACCEL * t, rel=1e-12)
        assert way == pytest.approx(0.5 * ACCEL * t * t, rel=1e-12)
        assert speed * speed == pytest.approx(2.0 * ACCEL * way, rel=1e-12)
        assert bodies[tick].quat_ned_from_frd == REST.quat_ned_from_frd
        assert bodies[tick].rate_frd_rad_s == Vec3(0.0, 0.0, 0.0)


@pytest.mark.parametrize("speed", [25.0, 25.03, 24.97])
def test_it_leaves_at_the_release_speed_exactly_and_is_then_left_alone(speed: float) -> None:
    p = CatapultParameters(speed, ACCEL, 0.5, 0.0)
    body, state, ticks = REST, first_catapult(), 0
    while state.free < 0.5:
        body, state = catapult_step(p, state, body, ELSEWHERE, (1.0,), DT)
        ticks += 1
    assert along(body)[1] == pytest.approx(speed, rel=1e-15)
    assert ticks == math.ceil(speed / (ACCEL * DT) - 1e-9)
    assert catapult_step(p, state, body, ELSEWHERE, (1.0,), DT)[0] == ELSEWHERE


def test_the_accelerometer_feels_the_rail() -> None:
    """At rest g sin(pitch) ahead and -g cos(pitch) down; the launch adds its acceleration ahead."""
    held = catapult_specific_force(NUMBERS, first_catapult(), REST.quat_ned_from_frd, G)
    assert (held.x, held.y, held.z) == pytest.approx((G * math.sin(PITCH), 0.0, -G * math.cos(PITCH)), abs=1e-12)
    _, states = launched(160)
    going = catapult_specific_force(NUMBERS, states[-1], REST.quat_ned_from_frd, G)
    assert (going.x - held.x, going.y, going.z) == pytest.approx((ACCEL, 0.0, held.z), abs=1e-12)


def test_the_work_of_the_rail_is_the_energy_of_the_plane() -> None:
    """The specific force times the way is v^2/2 + g h: what is felt and how it moves are one motion."""
    bodies, states = launched(399)
    work = 0.0
    for tick in range(399):
        felt = catapult_specific_force(NUMBERS, states[tick], REST.quat_ned_from_frd, G)
        work += felt.x * (along(bodies[tick + 1])[0] - along(bodies[tick])[0])
    speed, height = along(bodies[399])[1], -1.5 - bodies[399].pos_ned_m.z
    assert work == pytest.approx(0.5 * speed**2 + G * height, rel=1e-12)


def test_every_lane_is_let_go_in_its_own_time() -> None:
    """Lanes whose motors run up at other times: each is, bit for bit, the launch of that throttle alone."""
    first, soon = np.array([0, 7, 20, 1000]), CatapultParameters(SPEED, ACCEL, 0.5, 5.0)
    together, _ = launched(40, lambda tick: np.where(tick >= first, 1.0, 0.2), Float64, soon)
    for lane, begins in enumerate(first.tolist()):
        alone, _ = launched(40, lambda tick, begins=begins: 1.0 if tick >= begins else 0.2, Float64, soon)
        for name in "xyz":
            many, one = (np.asarray(getattr(bodies[-1].vel_ned_m_s, name)) for bodies in (together, alone))
            assert np.broadcast_to(many, 4)[lane] == one[0]
    speeds = np.linalg.norm([np.asarray(v) for v in together[-1].vel_ned_m_s], axis=0)
    assert speeds == pytest.approx([ACCEL * DT * max(0, 35 - int(begins)) for begins in first], rel=1e-12)


# In a world ----------------------------------------------------------------------------------------------------------


def held(*settings: str) -> Alone:
    return Alone(build(load("plane", [*BARE, *settings]), [0]).world)


def test_the_propeller_turns_the_inertial_unit_feels_gravity_and_nothing_moves() -> None:
    plane = held(*CALM, *EXACT)
    with flushed():
        plane.move([0.4, 0.3, -0.2, 0.1], 500)
    assert (plane.value("north_m"), plane.value("east_m"), plane.value("up_m")) == (0.0, 0.0, 1.5)
    assert plane.value("pitch_rad") == pytest.approx(PITCH, abs=1e-12)
    assert plane.value("rotor_0_rad_s") > 200.0
    assert plane.value("aileron_rad") == pytest.approx(0.3 * 0.5236, rel=1e-3)  # 20 lags of the servo
    felt = [plane.value(f"imu.specific_force_{axis}_m_s2") for axis in "xyz"]
    # Gravity at 47 deg north in the scenario's air is the standard one.
    assert felt == pytest.approx([G * math.sin(PITCH), 0.0, -G * math.cos(PITCH)], abs=1e-9)
    assert [plane.value(f"imu.rate_{axis}_rad_s") for axis in "xyz"] == pytest.approx([0.0] * 3, abs=1e-12)


def test_it_flies_on_from_where_the_rail_ends() -> None:
    """Release speed along the nose after 0.3 s and v/a; then what moves it is the air: no jump of speed or attitude."""
    plane, before = held(*CALM, *EXACT), 0.0
    with flushed():
        while plane.tick * DT < TRIGGER_S + SPEED / ACCEL:
            plane.move([1.0, 0.0, -0.25, 0.0], 1)
            speed = math.hypot(plane.value("north_m_s"), plane.value("up_m_s"))
            if before > 0.0:
                # The speed changes by the launch's acceleration a tick, and so does what is felt.
                assert speed - before == pytest.approx(ACCEL * DT, abs=1e-9)
            before = speed
        assert speed == pytest.approx(SPEED, abs=1e-9)
        assert plane.value("up_m") == pytest.approx(1.5 + SPEED**2 / (2.0 * ACCEL) * math.sin(PITCH), abs=1e-6)
        assert plane.value("north_m") == pytest.approx(SPEED**2 / (2.0 * ACCEL) * math.cos(PITCH), abs=1e-6)
        plane.move([1.0, 0.0, -0.25, 0.0], 1)
    # Thrust and drag of an 11 kg plane are less than 10 m/s^2, turn rates begin with nothing.
    assert math.hypot(plane.value("north_m_s"), plane.value("up_m_s")) == pytest.approx(speed, abs=10.0 * DT)
    assert plane.value("pitch_rad") == pytest.approx(PITCH, abs=1e-3)
    assert plane.value("pitch_rate_rad_s") != 0.0


def test_nothing_breaks_on_the_rail_and_everything_after_it() -> None:
    plane = held(*CALM, "start.catapult.up_m=0.25", "start.catapult.pitch_deg=0")  # the belly is on the ground
    with flushed():
        plane.move([0.0] * 4, 500)
        assert plane.running
        plane.move([1.0, 0.0, 0.0, 0.0], 1000)
    assert not plane.running
    assert plane.value("crash") == 1.0
    # Where the level rail ends it lies on its belly.
    assert plane.standing["end_tick"] * DT == pytest.approx(1.0 + TRIGGER_S + SPEED / ACCEL)


@pytest.mark.parametrize("precision", ["f32", pytest.param("f64", marks=pytest.mark.slow)])
def test_a_launch_alone_is_its_row_of_a_batch(precision: str) -> None:
    scenario = load("plane", [f"precision={precision}", "duration_s=2.5"])
    batch, alone = fly(scenario, 3), fly(scenario, [2])
    for name, values in batch.tracks.items():
        assert alone.tracks[name][0].tobytes() == values[2].tobytes(), name
    assert np.ptp(batch.tracks["north_m"][:, -1]) > 1e-3
    assert (batch.tracks["up_m"][:, -1] > 5.0).all()


@pytest.mark.slow
def test_the_built_in_autopilot_flies_the_circuit() -> None:
    result = fly(load("plane", ["precision=f32"]), 4)
    assert result.success_rate == 1.0
    # Every launch leaves the same rail at the same speed over ground.
    speeds = np.hypot(result.tracks["north_m_s"], result.tracks["up_m_s"])
    assert np.ptp(speeds[:, 39]) < 1e-6
    assert (result.tracks["north_m"][:, 0] == 0.0).all()


def test_without_a_catapult_there_is_none_of_it() -> None:
    without, on = (build(load(name), [0, 1]).world for name in ("plane-circuit", "plane"))
    assert without.vehicle_parameters.catapult is None
    state = start(without).vehicle
    assert without.vehicle_shape().tree(state).catapult is None
    state = start(on).vehicle
    launch = on.vehicle_shape().tree(state).catapult
    assert [float(np.asarray(leaf)[1]) for leaf in leaves(launch)] == [0.0, 0.0, 0.0]


# Scenario files ------------------------------------------------------------------------------------------------------

TEXT = """
schema = 1
name = "thrown"
vehicle.model = "{model}"
{start}
[goal]
north_m = 500.0
east_m = 0.0
up_m = 60.0
"""


def text(tmp_path: Path, start: str, model: str = "aerosonde", more: str = "") -> Scenario:
    path = tmp_path / "thrown.toml"
    path.write_text(TEXT.format(model=model, start=start) + more)
    return load(path)


def test_an_empty_table_is_enough_and_is_written_back(tmp_path: Path) -> None:
    scenario = text(tmp_path, "[start.catapult]")
    catapult = scenario.start.catapult
    assert catapult is not None
    assert (catapult.up_m, catapult.pitch_deg, catapult.speed_m_s, catapult.accel_m_s2, catapult.throttle) == (
        1.5, 12.0, None, 50.0, 0.5,
    )  # fmt: skip
    (tmp_path / "again.toml").write_text(to_toml(scenario))
    assert load(tmp_path / "again.toml").start == scenario.start
    built = build(scenario, [0]).world.vehicle_parameters.catapult
    assert float(np.asarray(built.speed_m_s)[0]) == 25.0  # the plane's cruise airspeed


@pytest.mark.parametrize(
    ("start", "model", "more", "said"),
    [
        ("[start.catapult]", "x500", "", "[start.catapult] is for a fixed wing, and this vehicle is a multirotor"),
        ("[start.catapult]", "quadplane", "", "is for a fixed wing, and this vehicle is a vtol"),
        ("[start.catapult]", "boat-5m", "", "catapult is for what flies"),
        ("[start]\nup_m = 50.0\n[start.catapult]", "aerosonde", "", "up_m with a catapult"),
        ("[start]\nspeed_m_s = 20.0\n[start.catapult]", "aerosonde", "", "valid: speed_m_s of [start.catapult]"),
        ("[start.catapult]\nspeed_m_s = 9.0", "aerosonde", "", "below the vehicle's airspeed_min_m_s = 17"),
        ("[start.catapult]\nup_m = 0.1", "aerosonde", "", "valid: at least 0.25"),
        ("[start.catapult]\npitch_deg = 70", "aerosonde", "", "pitch_deg"),
        ("[start.catapult]\nthrottle = 0", "aerosonde", "", "throttle"),
        ("[start.catapult]\nacel_m_s2 = 40", "aerosonde", "", "did you mean 'accel_m_s2'"),
        ("[start.catapult]", "aerosonde", "[load]\nmass_kg = 1.0\ncable_length_m = 2.0\n", "no plane on a cable"),
        ("", "aerosonde", "", "or [start.catapult]"),
    ],
)  # fmt: skip
def test_what_cannot_be_launched_is_told(tmp_path: Path, start: str, model: str, more: str, said: str) -> None:
    with pytest.raises(ScenarioError) as error:
        text(tmp_path, start, model, more)
    assert said in str(error.value)


# For real autopilots -------------------------------------------------------------------------------------------------


def test_a_take_off_leads_straight_ahead_and_a_copters_up() -> None:
    item = mission_of(load("plane", ["start.heading_deg=90"]))[0]
    assert (item.kind, item.up_m) == ("takeoff", 40.0)
    assert (item.north_m, item.east_m) == pytest.approx((0.0, 300.0), abs=1e-9)
    item = mission_of(load("quad-mission"))[0]
    assert (item.north_m, item.east_m, item.up_m) == (0.0, 0.0, 10.0)


def test_autopilots_are_told_how_the_plane_flies_level() -> None:
    """Open-loop with the throttle, the pitch and the elevator that PX4 is told, the plane flies level at its cruise.

    Within what a phugoid makes of small errors in 2 s: 0.5 m/s of speed and 0.6 m/s of climb.
    """
    px4 = plane_parameters("px4", load("plane"))
    level = load("plane-circuit", [*BARE, "air.elevation_m=488", "air.wind_speed_m_s=0", "dt_s=0.002",
                                   "air.turbulence.wind_20ft_m_s=0", "effects.battery=false", "randomize={}",
                                   "start.up_m=10"])  # fmt: skip
    plane = Alone(build(level, [0]).world)
    assert plane.value("pitch_rad") == pytest.approx(math.radians(px4["FW_PSP_OFF"]), abs=1e-4)
    with flushed():
        plane.move([px4["FW_THR_TRIM"], 0.0, -px4["TRIM_PITCH"], 0.0], 1000)
    assert plane.value("airspeed_m_s") == pytest.approx(25.0, abs=0.5)
    assert plane.value("up_m_s") == pytest.approx(0.0, abs=0.6)
    ardupilot = plane_parameters("ardupilot", load("plane"))
    assert ardupilot["TRIM_THROTTLE"] == pytest.approx(100.0 * px4["FW_THR_TRIM"], abs=0.1)


def test_autopilots_are_told_the_glide() -> None:
    """Sink without thrust: D V / (m g), with the polar of the vehicle's file."""
    values: dict[str, Any] = dict(load("plane").vehicle.values)
    density = 1.225 * (1.0 - 0.0065 * 488.0 / 288.15) ** 4.2559  # standard atmosphere
    qs = 0.5 * density * 25.0**2 * values["aero_area_m2"]
    lift = 11.0 * G / qs
    aspect = values["aero_span_m"] ** 2 / values["aero_area_m2"]
    drag = qs * (values["aero_cd0"] + lift**2 / (math.pi * values["aero_oswald"] * aspect))
    told = plane_parameters("ardupilot", load("plane"))
    assert told["TECS_SINK_MIN"] == pytest.approx(drag * 25.0 / (11.0 * G), rel=1e-3)
    assert 0.0 < told["TECS_CLMB_MAX"] < 25.0 * 35.0 / (11.0 * G)  # all the thrust there is
