"""What the whole flying robot owes to mechanics, composed of its catalogue file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from fieldworthy.core.integrate import euler, rk4, semi_implicit_euler
from fieldworthy.core.struct import leaves
from fieldworthy.core.vec import Mat3, Vec3, dot, mat3_apply, norm, quat_from_euler_zyx, rotate
from fieldworthy.scenario import load
from fieldworthy.scenario.build_autopilot import level_flight
from fieldworthy.vehicles.aerodynamics import Surfaces
from fieldworthy.vehicles.aircraft import (
    Actuators,
    AircraftParameters,
    AircraftShape,
    AircraftState,
    aircraft_loads,
    aircraft_rates,
    aircraft_step,
)
from fieldworthy.vehicles.motor import MotorOptions
from fieldworthy.vehicles.tether import LoadParameters, LoadState, hanging_load
from fieldworthy.verify.check import Check
from fieldworthy.verify.composed import (
    DENSITY,
    GRAVITY,
    HOVER_RAD_S,
    SMOOTH,
    STILL,
    air,
    at_rest,
    flown,
    holding,
    root,
    vehicle,
)

_DOCUMENT = "flight-robot simulation document, section 8.28.5.1"

MANOEUVRE_S = 0.2
FIRST_MOVED = ("vel_ned_m_s", "rate_frd_rad_s", "rotor_speed_rad_s")
METHODS: dict[str, Callable[..., Any]] = {
    "Euler": euler,
    "semi-implicit Euler": partial(semi_implicit_euler, velocity_fields=FIRST_MOVED),
    "RK4": rk4,
}


@cache
def manoeuvre(method: str, count: int) -> Any:
    """End of a tumbling climb out of sideways flight in wind, all effects on: body and rotor speeds in hundreds."""
    shape, p = vehicle(**SMOOTH)
    state = at_rest(
        shape, p, (640.0, 690.0, 660.0, 700.0), vel=Vec3(4.0, -2.0, 1.0), rate=Vec3(0.8, -0.5, 0.4),
        quat=quat_from_euler_zyx(0.3, -0.2, 1.0),
    )  # fmt: skip
    command, around = Actuators((0.71, 0.75, 0.70, 0.69)), air(Vec3(2.0, 1.0, -0.5))
    for _ in range(count):
        state = METHODS[method](lambda s: aircraft_rates(shape, p, s, command, around), state, MANOEUVRE_S / count)
    return np.array([float(x) for x in leaves((state.body, state.rotor_speed_rad_s))]) / ([1.0] * 13 + [100.0] * 4)


def _order(method: str, count: int) -> float:
    """Twice as many steps, 2^order times less error."""
    a, b, c = (manoeuvre(method, count * many) for many in (1, 2, 4))
    return math.log2(float(np.linalg.norm(b - a) / np.linalg.norm(c - b)))


def hover_rad_s(load: LoadParameters | None = None) -> float:
    """Rotor speed at which nothing is left over of thrust and weight."""
    shape, p = vehicle(load=load, **SMOOTH)

    def up_m_s2(speed: float) -> float:
        state = at_rest(shape, p, speed)
        if load is not None:
            hung = hanging_load(load, state.body.pos_ned_m, state.body.quat_ned_from_frd, GRAVITY)
            state = replace(state, load=hung)
        return -float(aircraft_rates(shape, p, state, holding(p, speed), air()).body.vel_ned_m_s.z)

    return root(up_m_s2, 400.0, 950.0)


DEAD = {"rotor_speed_min_rad_s": 0.0}
TERMINAL_M_S = math.sqrt(2.0 * 2.0 * GRAVITY / (DENSITY * 0.05))


def _fall(wind_north_m_s: float) -> Vec3:
    """Velocity after 4 s with dead rotors, from rest in the air that moves with it."""
    shape, p = vehicle(values=DEAD, **SMOOTH)
    wind = Vec3(wind_north_m_s, 0.0, 0.0)
    end = flown(shape, p, at_rest(shape, p, vel=wind), holding(p, 0.0), air(wind), 4.0, 0.04)
    return end.body.vel_ned_m_s


def momentum_and_energy(p: AircraftParameters, state: AircraftState) -> tuple[Vec3, Any]:
    """Angular momentum of body and rotors [N m s, NED], and the energy of the body's turning [J]."""
    w = state.body.rate_frd_rad_s
    assert isinstance(p.inertia_kg_m2, Mat3)
    total = mat3_apply(p.inertia_kg_m2, w)
    energy = 0.5 * dot(total, w)
    for rotor, speed in zip(p.rotors, state.rotor_speed_rad_s, strict=True):
        total = total + rotor.axis_frd * (rotor.axial_inertia_kg_m2 * rotor.spin * speed)
    return rotate(state.body.quat_ned_from_frd, total), energy


def tumbling(speeds: tuple[float, ...]) -> tuple[AircraftShape, AircraftParameters, AircraftState]:
    """In empty space, about no principal axis, all axes of inertia unlike, rotors turning."""
    unlike = {"drag_area_m2": 0.0, "inertia_yy_kg_m2": 0.02, "inertia_xz_kg_m2": 0.004}
    shape, p = vehicle(values=unlike, gyroscopic=True)
    p = replace(p, rotors=tuple(replace(rotor, effectiveness=0.0) for rotor in p.rotors))
    return shape, p, at_rest(shape, p, speeds, rate=Vec3(3.0, -2.0, 1.5), quat=quat_from_euler_zyx(0.4, 0.3, -1.0))


@cache
def _tumbled() -> tuple[float, float]:
    """Share of angular momentum and of energy that 2 s of tumbling have changed."""
    speeds = (900.0, 700.0, 300.0, 200.0)
    shape, p, start = tumbling(speeds)
    end = flown(shape, p, start, holding(p, speeds), air(gravity=0.0), 2.0, 0.005)
    (h0, e0), (h1, e1) = momentum_and_energy(p, start), momentum_and_energy(p, end)
    return float(norm(h1 - h0) / norm(h0)), float(abs(e1 - e0) / e0)


def _spun_up() -> float:
    """Share of angular momentum that is lost while motors speed up unequally."""
    shape, p, start = tumbling((100.0,) * 4)
    end = flown(shape, p, start, Actuators((0.9, 0.6, 0.3, 0.2)), air(gravity=0.0), 0.3, 0.001)
    h0, h1 = momentum_and_energy(p, start)[0], momentum_and_energy(p, end)[0]
    return float(norm(h1 - h0) / norm(h0))


def _motor_step() -> float:
    """Share of a step of speed that is done after one lag."""
    shape, p = vehicle()
    end = flown(shape, p, at_rest(shape, p, 500.0), holding(p, 800.0), air(), 0.03, 0.001)
    return (float(end.rotor_speed_rad_s[0]) - 500.0) / 300.0


def _hover_energy() -> float:
    """Mean power taken from the battery in 10 s of hover, with speeds that the sag does not change [W]."""
    shape, p = vehicle(battery=True)
    shape = replace(shape, motor=MotorOptions("speed", voltage=False))
    end = flown(shape, p, at_rest(shape, p, HOVER_RAD_S), holding(p, HOVER_RAD_S), air(), 10.0, 0.05)
    assert end.battery is not None
    return float(end.battery.energy_j) / 10.0


def _swing_s() -> float:
    """Half a period of a 0.5 kg load 2 m below the quadrotor, which carries both and does not turn."""
    cable = LoadParameters(0.5, 2.0, 5e4, 0.0, 0.0, STILL)
    stiff = dict.fromkeys(("inertia_xx_kg_m2", "inertia_yy_kg_m2", "inertia_zz_kg_m2"), 1e9)
    thrust = {"rotor_thrust_coefficient_n_s2": 2.5 * GRAVITY / 4.0 / 700.0**2, "drag_area_m2": 0.0}
    shape, p = vehicle(load=cable, values={**stiff, **thrust})
    length, angle, dt_s = _swing_length_m(), math.radians(1.0), 0.004
    hung = LoadState(Vec3(length * math.sin(angle), 0.0, length * math.cos(angle) - 100.0), STILL)
    state, before, t = replace(at_rest(shape, p, 700.0), load=hung), 0.0, 0.0
    while True:
        assert state.load is not None
        # From one side to the other the load's speed against the vehicle is below zero.
        speed = float(state.load.vel_ned_m_s.x - state.body.vel_ned_m_s.x)
        if t > 0.5 and speed >= 0.0:
            return t - dt_s * speed / (speed - before)
        before, t = speed, t + dt_s
        state = aircraft_step(shape, p, state, holding(p, 700.0), air(), dt_s)


def _swing_length_m() -> float:
    return 2.0 + 0.5 * GRAVITY / 5e4


def _standing_sink_m() -> float:
    """How far the gear gives way under the vehicle that stands with dead rotors."""
    shape, p = vehicle(values=DEAD, gear=True)

    def left_over(sink_m: float) -> float:
        return float(aircraft_loads(shape, p, at_rest(shape, p, up_m=0.235 - sink_m), air()).force_frd_n.z)

    return root(lambda sink: -left_over(sink) - 2.0 * GRAVITY, 1e-4, 0.02)


def _blown_elevator() -> float:
    """Moment of the elevator with the propeller at 600 rad/s over that without, less 1, times q A over the thrust."""
    far = {"wash_distance_m": 1e3, "wash_inner_m": 0.0, "wash_outer_m": 0.05}
    shape, p = vehicle("aerosonde", values=far, inflow=True, propwash=True)

    def loads(elevator: float, speed: float) -> tuple[float, float]:
        state = replace(at_rest(shape, p, speed, vel=Vec3(20.0, 0.0, 0.0)), surfaces=Surfaces(0.0, elevator, 0.0))
        found = aircraft_loads(shape, p, state, air())
        return float(found.moment_frd_n_m.y), float(found.force_frd_n.x)

    blown, still = (loads(0.1, speed)[0] - loads(-0.1, speed)[0] for speed in (600.0, 0.0))
    thrust = loads(0.0, 600.0)[1] - loads(0.0, 0.0)[1]
    return (blown / still - 1.0) * (0.5 * DENSITY * 400.0) * math.pi * 0.254**2 / thrust


def _level_alpha() -> float:
    """Pitch that level flight of the Aerosonde starts with, in the air of the published trim: 362 m below the sea."""
    case = load("plane-circuit", ("start.speed_m_s=25", "air.elevation_m=-462.5"))
    shape, p = vehicle("aerosonde", inflow=True)
    return level_flight(case, shape, p).pitch_rad


_SELF = "self-convergence: twice the steps, 2^p times less difference"

CHECKS: tuple[Check, ...] = (
    Check("x500", "rotor speed that carries 2 kg", _DOCUMENT, 6432.0,
          lambda: hover_rad_s() * 60.0 / (2.0 * math.pi), 0.5, "rpm"),
    Check("x500", "order of Euler in a tumbling climb, all effects on", _SELF, 1.0, lambda: _order("Euler", 50), 0.1),
    Check("x500", "order of semi-implicit Euler there", _SELF, 1.0, lambda: _order("semi-implicit Euler", 50), 0.1),
    Check("x500", "order of RK4 there", _SELF, 4.0, lambda: _order("RK4", 50), 0.1),
    Check("x500", "speed of fall after 4 s with dead rotors", "closed form v_t tanh(g t/v_t)",
          TERMINAL_M_S * math.tanh(4.0 * GRAVITY / TERMINAL_M_S), lambda: float(_fall(0.0).z), 1e-5, "m/s"),
    Check("x500", "that fall in a wind of 9 m/s: speed along the wind", "Galileo: the wind is added", 9.0,
          lambda: float(_fall(9.0).x), 1e-9, "m/s"),
    Check("x500", "angular momentum of body and rotors changed by 2 s of tumbling, share", "conservation", 0.0,
          lambda: _tumbled()[0], 1e-6),
    Check("x500", "energy of turning changed by it, share", "gyroscopic moments do no work", 0.0,
          lambda: _tumbled()[1], 1e-6),
    Check("x500", "angular momentum changed by motors that speed up, share", "conservation", 0.0, _spun_up, 1e-6),
    Check("x500", "share of a step of rotor speed after one lag", "1 - 1/e", 1.0 - math.exp(-1.0), _motor_step, 1e-6),
    # 6,432 rpm is rounded: 1e-4 of the power.
    Check("x500", "power from the battery in hover", "T w kappa of four rotors over efficiency, plus avionics",
          2.0 * GRAVITY * HOVER_RAD_S * 0.016 / 0.72 + 8.0, _hover_energy, 0.05, "W"),
    Check("x500", "hover speed with 0.5 kg slung below over that without", "thrust carries both: sqrt(2.5/2)",
          math.sqrt(1.25), lambda: hover_rad_s(LoadParameters(0.5, 1.5, 2e3, 10.0, 0.01, STILL)) / hover_rad_s(), 1e-9),
    Check("x500", "half a swing of that load on 2 m", "pi sqrt(L/g M/(M + m)): both ends swing",
          math.pi * math.sqrt(_swing_length_m() / GRAVITY * 2.0 / 2.5), _swing_s, 5e-4, "s"),
    Check("x500", "how far the gear gives way, standing", "static deflection of the catalogue", 0.005,
          _standing_sink_m, 1e-9, "m"),
    Check("Aerosonde", "elevator in a far slipstream: gain of moment times q A/T", "momentum theory: dq = T/A", 1.0,
          _blown_elevator, 1e-4),
    # Thrust along the nose carries 0.5 % of the weight, which the start leaves out.
    Check("Aerosonde", "angle of attack that level flight starts with",
          "mavsim_public trim at 25 m/s, 1.2682 kg/m³", 0.0500, _level_alpha, 7e-4, "rad"),
)  # fmt: skip
"""Shown by `fieldworthy verify` and run as tests."""
