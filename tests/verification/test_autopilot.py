"""The three autopilots on composed vehicles of the catalogue: the right rotors and surfaces, the right way, there."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import drjit as dr
import numpy as np
import pytest
from aircraft_bench import (
    GRAVITY,
    HOVER_RAD_S,
    STILL,
    air,
    at_rest,
    catalogue,
    piloted,
    rates,
    setpoint,
    truth,
    vehicle,
)
from drjit.llvm.ad import Float64

from fieldworthy.control.autopilot import first_autopilot, steer
from fieldworthy.control.fixed_wing import fixed_wing_control
from fieldworthy.control.setpoint import HOVER, WING
from fieldworthy.control.vtol import CRUISING, HOVERING
from fieldworthy.core.lanes import select
from fieldworthy.core.struct import leaves, map_leaves
from fieldworthy.core.vec import Vec3, norm, quat_from_euler_zyx, quat_from_yaw
from fieldworthy.scenario import load
from fieldworthy.scenario.build_autopilot import autopilot, level_flight
from fieldworthy.vehicles.aerodynamics import Surfaces
from fieldworthy.vehicles.aircraft import aircraft_loads
from fieldworthy.vehicles.motor import MotorOptions, commanded_speed_rad_s

DT = 0.002
EFFECTS = {"x500": {"rotor_drag": True, "inflow": True, "gyroscopic": True}, "aerosonde": {"inflow": True},
           "quadplane": {"rotor_drag": True, "inflow": True}}  # fmt: skip
NAMES = tuple(EFFECTS)


@cache
def piloting(name, tmp):
    """Shape, parameters, (options, gains), and level flight of a vehicle of the catalogue."""
    path = tmp / f"{name}.toml"
    flying = "[start]\nup_m = 100.0\nspeed_m_s = 25.0\n" if name == "aerosonde" else ""
    path.write_text(
        f'schema = 1\nname = "x"\nvehicle.model = "{name}"\n{flying}[goal]\nnorth_m = 200.0\neast_m = 0.0\n'
        "up_m = 100.0\n"
    )
    case = load(path)
    shape, p = vehicle(name, DT, **EFFECTS[name])
    return shape, p, autopilot(case, shape, p), level_flight(case, shape, p)


@pytest.fixture(scope="module", name="tmp")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("autopilot")


def start_of(name, tmp, heading=0.0):
    """In level flight at 100 m."""
    shape, p, _, level = piloting(name, tmp)
    quat = quat_from_euler_zyx(heading * 0.0, heading * 0.0 + level.pitch_rad, heading)
    vel = Vec3(25.0, 0.0, 0.0) if name == "aerosonde" else STILL
    state = at_rest(shape, p, level.rotor_speed_rad_s, vel=vel, quat=quat)
    return state if shape.aero is None else replace(state, surfaces=Surfaces(0.0, level.elevator_rad, 0.0))


def answer(name, tmp, asked, state=None):
    """(actuators, memory, margin) of the first step."""
    _, _, pilot, _ = piloting(name, tmp)
    believed = truth(state or start_of(name, tmp), air())
    return steer(*pilot, asked, believed, first_autopilot(pilot[0], believed), DT)


def turn_of(name, tmp, actuators, state, tau=0.05):
    """Angular acceleration that the actuators lead to: rotors and surfaces taken to where they are sent."""
    shape, p, _, _ = piloting(name, tmp)
    speeds = tuple(
        commanded_speed_rad_s(shape.motor, motor, rotor, u, motor.nominal_voltage_v)
        for motor, rotor, u in zip(p.motors, p.rotors, actuators.throttle, strict=True)
    )
    there = replace(state, rotor_speed_rad_s=speeds)
    if shape.aero is not None:
        most = p.surface_max_rad
        there.surfaces = Surfaces(actuators.aileron * most.x, actuators.elevator * most.y, actuators.rudder * most.z)
    return rates(shape, p, there, actuators, air()).body.rate_frd_rad_s


# Statics -------------------------------------------------------------------------------------------------------------


def test_quadrotor_at_its_place_asks_for_hover(tmp):
    """Four equal throttles of 6,432 rpm over the fullest speed; the margin is that of the thrust within its range."""
    actuators, _, margin = answer("x500", tmp, setpoint())
    assert actuators.throttle == pytest.approx((HOVER_RAD_S / 1000.0,) * 4, rel=1e-4)
    assert (actuators.aileron, actuators.elevator, actuators.rudder) == (0.0, 0.0, 0.0)
    thrust, low, high = 0.5 * GRAVITY, 1.08079e-5 * 93.7**2, 1.08079e-5 * 1000.0**2
    assert margin == pytest.approx(min(thrust - low, high - thrust) / (high - low), rel=1e-4)


@pytest.mark.parametrize("curve", ["speed", "thrust-linear", "polynomial", "dc-motor"])
def test_throttles_suit_the_curve_of_the_motors(tmp, curve):
    """Whatever the speed controllers' curve, the rotors settle at the speed of hover."""
    _, p, (options, gains), _ = piloting("x500", tmp)
    numbers = {"speed_constant_rad_s_v": 96.3, "resistance_ohm": 0.1, "idle_current_a": 0.5, "curve_1": 0.6,
               "curve_2": 0.4}  # fmt: skip
    motors = tuple(replace(motor, **numbers) for motor in p.motors)
    believed = truth(start_of("x500", tmp), air())
    options = replace(options, motor=MotorOptions(curve))
    first = first_autopilot(options, believed)
    actuators, _, _ = steer(options, replace(gains, motors=motors), setpoint(), believed, first, DT)
    for u, motor, rotor in zip(actuators.throttle, motors, p.rotors, strict=True):
        assert commanded_speed_rad_s(options.motor, motor, rotor, u, 14.8) == pytest.approx(HOVER_RAD_S, rel=1e-4)
    if curve == "thrust-linear":
        assert actuators.throttle[0] == pytest.approx((HOVER_RAD_S / 1000.0) ** 2, rel=1e-4)


def test_pusher_thrust_is_in_proportion_to_what_the_energy_loop_asks(tmp):
    """TECS counts on that. Through the vehicle, at rest: thrust over full thrust is the loop's throttle."""
    shape, p, (options, gains), _ = piloting("aerosonde", tmp)
    state = start_of("aerosonde", tmp)
    believed = truth(state, air())
    resting = replace(state, body=replace(state.body, vel_ned_m_s=STILL))

    def thrust_n(u):
        speed = commanded_speed_rad_s(shape.motor, p.motors[0], p.rotors[0], u, None)
        return float(aircraft_loads(shape, p, replace(resting, rotor_speed_rad_s=(speed,)), air()).force_frd_n.x)

    shares = []
    for airspeed, up in ((18.0, 80.0), (24.0, 100.0), (25.0, 100.0), (26.0, 102.0), (34.0, 150.0)):
        asked = setpoint(north_m=1e5, up_m=up, airspeed_m_s=airspeed, way=WING)
        first = first_autopilot(options, believed)
        _, wanted, _ = fixed_wing_control(gains.laws, asked, believed, first, DT)
        actuators, _, _ = steer(options, gains, asked, believed, first, DT)
        shares.append(float(wanted))
        # The root has 1e-9 added, for its slope at nothing.
        assert thrust_n(actuators.throttle[0]) / thrust_n(1.0) == pytest.approx(wanted, abs=1e-6)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert len(set(shares)) == 5


def test_quadplane_in_hover_leaves_pusher_and_surfaces_alone(tmp):
    actuators, memory, margin = answer("quadplane", tmp, setpoint())
    assert memory.change.phase == HOVERING
    hover = math.sqrt(14.0 * GRAVITY / 4.0 / 1.6e-4)
    assert actuators.throttle[:4] == pytest.approx((hover / 720.0,) * 4, rel=1e-4)
    assert actuators.throttle[4] == pytest.approx(0.0, abs=1e-4)
    assert (actuators.aileron, actuators.elevator, actuators.rudder) == (0.0, 0.0, 0.0)
    assert 0.2 < margin <= 0.5


# Signs, through the vehicle ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x500", "quadplane"])
@pytest.mark.parametrize("heading", [0.0, 0.8, 2.5, -1.6])
def test_hovering_vehicles_lean_towards_the_target_at_any_heading(tmp, name, heading):
    """Ahead: nose down (negative pitch acceleration). To the right: right side down. Nose to the right: yaw right."""
    state = start_of(name, tmp, heading)
    ahead, right = (math.cos(heading), math.sin(heading)), (-math.sin(heading), math.cos(heading))

    def turn(north, east, nose):
        asked = setpoint(north_m=north, east_m=east, heading_rad=nose)
        return turn_of(name, tmp, answer(name, tmp, asked, state)[0], state)

    still = turn(0.0, 0.0, heading)
    w = turn(5.0 * ahead[0], 5.0 * ahead[1], heading)
    assert w.y - still.y < -0.5
    assert abs(w.x - still.x) < 0.01
    w = turn(5.0 * right[0], 5.0 * right[1], heading)
    assert w.x - still.x > 0.5
    assert abs(w.y - still.y) < 0.01
    assert turn(0.0, 0.0, heading + 0.5).z - still.z > 0.05


def test_airplane_rolls_towards_the_target_and_raises_its_nose_to_climb(tmp):
    state = start_of("aerosonde", tmp)
    line = {"north_m": 1000.0, "airspeed_m_s": 25.0, "way": WING}

    def turn(**asked):
        return turn_of("aerosonde", tmp, answer("aerosonde", tmp, setpoint(**(line | asked)), state)[0], state)

    still = turn()
    assert turn(east_m=800.0).x - still.x > 0.5
    assert turn(east_m=-800.0).x - still.x < -0.5
    assert turn(up_m=120.0).y - still.y > 0.1
    assert turn(up_m=80.0).y - still.y < -0.1


def test_surface_margin_is_half_of_what_is_left(tmp):
    """A deflection of all there is leaves nothing; none leaves a half, as a rotor in mid range has."""
    state = start_of("aerosonde", tmp)
    spun = replace(state, body=replace(state.body, rate_frd_rad_s=Vec3(-12.0, 0.0, 0.0)))
    actuators, _, margin = answer("aerosonde", tmp, setpoint(north_m=1e4, way=WING), spun)
    assert actuators.aileron == 1.0
    assert margin == 0.0
    actuators, _, margin = answer("aerosonde", tmp, setpoint(north_m=1e4, airspeed_m_s=25.0, way=WING), state)
    most = max(abs(actuators.aileron), abs(actuators.elevator), abs(actuators.rudder))
    assert margin == pytest.approx(0.5 - 0.5 * most)
    assert most < 0.5


# Engines -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_floats_and_lanes_steer_alike(tmp, name):
    _, _, pilot, _ = piloting(name, tmp)
    state = start_of(name, tmp, 0.3)
    tilted = replace(
        state.body, quat_ned_from_frd=quat_from_euler_zyx(0.1, -0.05, 0.4), rate_frd_rad_s=Vec3(0.1, 0.2, -0.1)
    )
    state = replace(state, body=tilted)
    asked = setpoint(north_m=30.0, east_m=-20.0, up_m=103.0, heading_rad=0.5, way=HOVER if name == "x500" else WING)
    wide = lambda tree: map_leaves(lambda x: Float64([x] * 3), tree)  # noqa: E731
    believed = truth(state, air())
    memory = first_autopilot(pilot[0], believed)
    lanes_believed, lanes_asked, in_lanes = wide(believed), wide(asked), wide(memory)
    for _ in range(2):
        dr.eval(in_lanes)
        alone, memory, margin = steer(*pilot, asked, believed, memory, DT)
        lanes, in_lanes, lanes_margin = steer(*pilot, lanes_asked, lanes_believed, in_lanes, DT)
    for x, row in zip(leaves((alone, memory, margin)), leaves((lanes, in_lanes, lanes_margin)), strict=True):
        assert np.asarray(row + 0.0 * lanes_margin) == pytest.approx(np.full(3, x), rel=1e-10, abs=1e-11)


# Whole flights -------------------------------------------------------------------------------------------------------


def seen_of(state, memory, actuators, margin):
    b = state.body
    return {"north": b.pos_ned_m.x, "east": b.pos_ned_m.y, "up": -b.pos_ned_m.z, "v": norm(b.vel_ned_m_s),
            "margin": margin, "least": actuators.throttle[0]}  # fmt: skip


def test_quadrotor_flies_to_its_place_in_wind_and_stays(tmp):
    """4 m away in 5 m/s of wind, eight headings: no overshoot beyond 5 %, and the wind's push is learnt away."""
    shape, p, pilot, _ = piloting("x500", tmp)
    headings = Float64(np.arange(8) * math.pi / 4.0)
    start = at_rest(shape, p, HOVER_RAD_S, quat=quat_from_yaw(headings))
    asked = setpoint(north_m=4.0, heading_rad=headings)
    seen = piloted(shape, p, pilot, start, lambda _: asked, air(Vec3(0.0, 5.0, 0.0)), 15.0, DT, every=50,
                   watch=seen_of, lanes=8)  # fmt: skip
    assert seen["north"].max() < 4.2
    assert np.abs(seen["east"]).max() < 1.5
    late = slice(-30, None)
    for name, at in (("north", 4.0), ("east", 0.0), ("up", 100.0)):
        assert np.abs(seen[name][late] - at).max() < 0.05, name
    assert seen["margin"].min() > 0.0


def test_airplane_follows_its_line_through_a_side_wind(tmp):
    """A line 60 m to the right, 10 m higher, in 6 m/s from the left: on it at its airspeed."""
    shape, p, pilot, _ = piloting("aerosonde", tmp)
    asked = setpoint(north_m=1e5, east_m=60.0, from_east_m=60.0, up_m=110.0, airspeed_m_s=25.0, way=WING)
    start = start_of("aerosonde", tmp)
    wind = Vec3(0.0, 6.0, 0.0)
    start = replace(start, body=replace(start.body, vel_ned_m_s=start.body.vel_ned_m_s + wind))

    def watch(state, memory, actuators, margin):
        speed = norm(state.body.vel_ned_m_s - wind)
        return {**seen_of(state, memory, actuators, margin), "airspeed": speed}

    seen = piloted(shape, p, pilot, start, lambda _: asked, air(wind), 60.0, 0.005, every=100, watch=watch)
    late = slice(-20, None)
    assert np.abs(seen["east"][late] - 60.0).max() < 1.0
    assert np.abs(seen["up"][late] - 110.0).max() < 0.5
    assert np.abs(seen["airspeed"][late] - 25.0).max() < 0.3
    assert seen["margin"].min() > 0.0


def test_quadplane_goes_over_to_its_wings_and_back(tmp):
    """From hover along a leg of 900 m on wings, then back to hovering over its place."""
    shape, p, pilot, _ = piloting("quadplane", tmp)
    values = catalogue("aircraft", "quadplane")

    def asked(t_s):
        leg = setpoint(north_m=900.0, way=WING, airspeed_m_s=26.0)
        return replace(leg, way=select(t_s < 40.0, WING, HOVER) + 0.0 * t_s)

    def watch(state, memory, actuators, margin):
        return {**seen_of(state, memory, actuators, margin), "phase": memory.change.phase,
                "share": memory.change.rotor_share, "pusher": actuators.throttle[4]}  # fmt: skip

    seen = piloted(shape, p, pilot, start_of("quadplane", tmp), asked, air(), 120.0, 0.005, every=100, watch=watch)
    phase = seen["phase"][:, 0]
    assert list(dict.fromkeys(phase.tolist())) == [1.0, 2.0, 3.0, 0.0]
    cruising = phase == CRUISING
    assert seen["share"][cruising][4:].max() == 0.0
    assert seen["least"][cruising][4:].max() < 1e-4
    assert seen["v"][cruising][-1] == pytest.approx(26.0, abs=0.5)
    assert values["airspeed_min_m_s"] < seen["v"][cruising].min() + 0.5
    assert np.abs(seen["up"] - 100.0).max() < 6.0
    assert phase[-1] == HOVERING
    assert seen["pusher"][phase == HOVERING].max() < 1e-4
    assert seen["v"][-1] < 0.3
    assert math.hypot(float(seen["north"][-1, 0]) - 900.0, float(seen["east"][-1, 0])) < 0.5
