"""A step with its rest carried is the step, better summed; slipstreams blow with the thrust that pushes."""

from __future__ import annotations

from dataclasses import replace

import drjit as dr
import numpy as np
import pytest
from drjit.llvm.ad import Float, Float64

from fieldworthy.core.struct import leaves, map_leaves
from fieldworthy.core.vec import Vec3
from fieldworthy.vehicles.aerodynamics import Surfaces
from fieldworthy.vehicles.aircraft import (
    AircraftParameters,
    AircraftShape,
    AircraftState,
    aircraft_loads,
    aircraft_step,
    aircraft_step_compensated,
)
from fieldworthy.vehicles.propwash import PropwashParameters, wash_pressure_pa
from fieldworthy.vehicles.rotor import RotorOptions, hub_velocity_frd_m_s, rotor_wrench, thrust_per_speed_n_s
from fieldworthy.vehicles.rotor_proximity import RotorSurroundings
from fieldworthy.verify.composed import air, at_rest, holding, vehicle

DT_S, STEPS, SPEED_RAD_S = 0.001, 400, 680.0
Craft = tuple[AircraftShape, AircraftParameters]


def drifting(craft: Craft, kind: type) -> AircraftState:
    """10 km from the origin, where a 32-bit number has steps of 1 mm, at 0.3 mm a step."""
    state = at_rest(*craft, SPEED_RAD_S, vel=Vec3(0.3, 0.0, 0.0))
    state.body.pos_ned_m = Vec3(10000.0, 0.0, -100.0)
    start: AircraftState = map_leaves(kind, state)
    return start


def flown(craft: Craft, kind: type, compensated: bool) -> float:
    """How far it has come north [m]."""
    shape, p = craft
    state = drifting(craft, kind)
    rest = map_leaves(lambda leaf: leaf * 0.0, state) if compensated else None
    for _ in range(STEPS):
        state, rest = aircraft_step_compensated(shape, p, state, rest, holding(p, SPEED_RAD_S), air(), DT_S)
        dr.eval(state, rest)
    return float(state.body.pos_ned_m.x[0]) - 10000.0


def test_carrying_the_rest_keeps_what_32_bits_lose() -> None:
    craft = vehicle("x500")
    right = flown(craft, Float64, False)
    plain, carried = (abs(flown(craft, Float, carry) - right) for carry in (False, True))
    assert right > 0.1
    assert carried < 1e-3, "one step of the number"
    assert plain > 0.9 * right, "every step is rounded away"


def test_the_plain_step_is_the_same_law() -> None:
    shape, p = vehicle("x500")
    state = at_rest(shape, p, SPEED_RAD_S)
    plain = aircraft_step(shape, p, state, holding(p, SPEED_RAD_S), air(), DT_S)
    nothing = map_leaves(lambda leaf: leaf * 0.0, state)
    same, none = aircraft_step_compensated(shape, p, state, None, holding(p, SPEED_RAD_S), air(), DT_S)
    carried, rest = aircraft_step_compensated(shape, p, state, nothing, holding(p, SPEED_RAD_S), air(), DT_S)
    assert none is None
    assert leaves(same) == leaves(plain)
    assert leaves(carried) == pytest.approx(leaves(plain), rel=1e-15)
    assert list(rest.body.quat_ned_from_frd) == [0.0] * 4


def test_thrust_along_the_shaft_is_that_of_the_wrench() -> None:
    """In hover without drag and flapping the force is the thrust: by every effect that changes it."""
    _, p = vehicle("x500")
    rotor = replace(p.rotors[0], inflow_coefficient_n_s2_m=1e-4, effectiveness=0.7)
    near = RotorSurroundings(height_m=0.2, ceiling_m=0.3)
    options = RotorOptions(inflow=True, ground_effect=True, ceiling_effect=True)
    velocity = Vec3(0.0, 0.0, -3.0)
    wrench = rotor_wrench(options, rotor, 700.0, velocity, Vec3(0.0, 0.0, 0.0), 1.1, near)
    along = thrust_per_speed_n_s(options, rotor, 700.0, velocity, 1.1, near) * 700.0
    assert along == pytest.approx(-wrench.force_frd_n.z, rel=1e-12)
    free = thrust_per_speed_n_s(RotorOptions(inflow=True), rotor, 700.0, velocity, 1.1) * 700.0
    assert along > free, "so near to ground and ceiling it gains"


def test_hub_moves_with_the_body_where_it_matters() -> None:
    _, p = vehicle("x500")
    rotor, rate = p.rotors[0], Vec3(0.0, 0.0, 2.0)
    still = Vec3(0.0, 0.0, 0.0)
    assert hub_velocity_frd_m_s(RotorOptions(), rotor, still, rate) == still
    turned = hub_velocity_frd_m_s(RotorOptions(inflow=True), rotor, still, rate)
    r = rotor.pos_frd_m
    assert list(turned) == pytest.approx(list(np.cross([0.0, 0.0, 2.0], [r.x, r.y, r.z])))


def test_the_slipstream_knows_the_ground() -> None:
    """A propeller that gains near the ground blows the more on its elevator: dq follows from its whole thrust."""
    shape, p = vehicle("aerosonde", inflow=True, propwash=True)
    rotor = replace(p.rotors[0], axis_frd=Vec3(0.0, 0.0, -1.0), pos_frd_m=Vec3(0.0, 0.0, 0.0))
    wash = PropwashParameters(0.25, 0.5, -0.1, 0.1)
    p = replace(p, rotors=(rotor,), washes=(wash,), gear=())
    shape = replace(shape, washes=((0, "elevator"),), gear=False, rotor=RotorOptions(ground_effect=True))
    height = 0.6 * float(rotor.radius_m)
    state = replace(at_rest(shape, p, 400.0, up_m=height), surfaces=Surfaces(0.0, 0.3, 0.0))

    def moment(s: AircraftShape, body: AircraftState) -> float:
        return float(aircraft_loads(s, p, body, air()).moment_frd_n_m.y)

    def blown_pa(options: RotorOptions, height_m: float) -> float:
        still = Vec3(0.0, 0.0, 0.0)
        around = RotorSurroundings(height_m=height_m)
        thrust = thrust_per_speed_n_s(options, rotor, 400.0, still, 1.225, around) * 400.0
        return float(wash_pressure_pa(wash, thrust, 0.0, 1.225))

    near, far = moment(shape, state), moment(replace(shape, rotor=RotorOptions()), state)
    expected = blown_pa(RotorOptions(ground_effect=True), height) / blown_pa(RotorOptions(), height)
    assert expected > 1.05
    assert near / far == pytest.approx(expected, rel=1e-9)
