"""One tick of a flying robot: devices, filter, autopilot, what breaks, and the step of the vehicle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fieldworthy.control import complementary
from fieldworthy.control.actuation import actuation_margin, actuator_command, actuators_of
from fieldworthy.control.autopilot import steer
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.lanes import Scalar, minimum, select, sqrt
from fieldworthy.core.rigid_body import rigid_body_rates
from fieldworthy.core.struct import map_leaves, where
from fieldworthy.core.track import Pose
from fieldworthy.core.vec import (
    Vec3,
    dot,
    mat3_apply,
)
from fieldworthy.environment.air import AirParameters, AirSample
from fieldworthy.sensors.imu import ImuReading
from fieldworthy.vehicles.aircraft import (
    AircraftParameters,
    aircraft_loads,
    aircraft_step_compensated,
    supply,
)
from fieldworthy.vehicles.catapult import catapult_specific_force, catapult_step
from fieldworthy.vehicles.rotor_vibration import advance_phase_rad
from fieldworthy.vehicles.vehicle import Clock, Vehicle
from fieldworthy.world.flight_air import air_at, air_rate, next_turbulence
from fieldworthy.world.flight_faults import stuck, supply_events, through_link, with_faults
from fieldworthy.world.flight_sensing import (
    feel,
    hear,
    read_devices,
    truth_of,
    watch,
    watches,
)
from fieldworthy.world.flight_start import first_flight
from fieldworthy.world.flight_state import FlightParameters, FlightShape, FlightState
from fieldworthy.world.flight_watch import believed_of, observe, read, tell, watched


def flight_vehicle(shape: FlightShape) -> Vehicle:
    """The laws of a flying robot of this shape."""
    return Vehicle(
        kind="aircraft",
        command=Setpoint if shape.autopilot is not None else actuator_command(shape.rotors),
        step=lambda state, command, air, p, clock: flight_step(shape, state, command, air, p, clock),
        pose=lambda state, air, t_s, p: _pose(state),
        earlier=lambda state, air, t_s, p: _earlier(state, t_s),
        speed_m_s=lambda state: sqrt(dot(state.motion.body.vel_ned_m_s, state.motion.body.vel_ned_m_s) + 1e-12),
        observe=lambda state: observe(shape, state),
        read=read,
        tell=tell,
        broken=lambda state: state.crash > 0.5,
        prepare=lambda state, command, air, p, clock: flight_prepare(shape, state, command, air, p, clock),
        first=lambda start, air, p, clock: sense(
            shape, first_flight(shape, start, air, p, clock), air, p, clock, moved=False
        ),
    )


def _pose(state: FlightState) -> Pose:
    return Pose(state.motion.body.pos_ned_m, state.motion.body.quat_ned_from_frd)


def _earlier(state: FlightState, t_s: Scalar) -> Pose:
    body = state.motion.body
    return Pose(body.pos_ned_m + body.vel_ned_m_s * t_s, body.quat_ned_from_frd)


def flight_prepare(
    shape: FlightShape, state: FlightState, command: Any, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """What happens before a tick at which a command begins or a device is due: it reads, the command goes its way."""
    # Devices are read between commands as well.
    begins = clock.tick % shape.command_ticks == 0
    still = Vec3(0.0, 0.0, 0.0)
    state = replace(
        state,
        delayed=where(begins, (command, *state.delayed[:-1]), state.delayed) if state.delayed else (),
        inertial_sum=where(begins, ImuReading(still, still), state.inertial_sum),
        inertial_count=select(begins, 0.0 * state.inertial_count, state.inertial_count),
    )
    if not shape.devices:
        return state
    here = air_at(shape, state, air, clock)
    craft = with_faults(shape, p, clock)
    loads, rate_dot = _motion_now(shape, p, craft, state, here, air_rate(shape, state, air, clock))
    truth = truth_of(
        shape.aircraft, craft, state.motion, loads, rate_dot, here, state.current_a, state.phase_rad, clock.t_s
    )
    # What has no latency is heard at once.
    return hear(shape, p, replace(state, devices=read_devices(shape, p, state, truth, clock)), clock)


def flight_step(
    shape: FlightShape, state: FlightState, command: Any, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """One tick: act on what is believed, and sense where that has led.

    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: the autopilot runs at every physics tick; its command comes at the control rate.
    Verified by: tests/consistency/test_flight.py
    """
    moved = act(shape, state, command, air, p, clock)
    return watched(shape, p, sense(shape, moved, air, p, replace(clock, tick=clock.tick + 1, t_s=clock.next_s)))


def act(
    shape: FlightShape, state: FlightState, command: Any, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """Steer, break what breaks, and move for one tick.

    Equation: air, actuators and faults held over the tick; motion by RK4.
    Frames: world NED, body FRD.      Shapes: scalars.
    Verified by: tests/consistency/test_flight.py
    """
    dt_s = clock.dt_s
    here = air_at(shape, state, air, clock)
    craft = with_faults(shape, p, clock)
    asked = through_link(shape, p, state, command, clock)
    if shape.autopilot is not None and p.autopilot is not None:
        believed = believed_of(state)
        actuators, autopilot, margin = steer(shape.autopilot, p.autopilot, asked, believed, state.autopilot, dt_s)
    else:
        actuators, autopilot = actuators_of(asked, shape.rotors), None
        margin = actuation_margin(actuators, surfaces=shape.aircraft.aero is not None)
    driven = stuck(shape, p, actuators, clock)
    if shape.aircraft.battery is not None:
        driven = replace(driven, throttle=tuple(select(state.dead > 0.5, 0.0 * u, u) for u in driven.throttle))

    swirl = air_rate(shape, state, air, clock)
    motion, rest = aircraft_step_compensated(shape.aircraft, craft, state.motion, state.rest, driven, here, dt_s, swirl)
    catapult = state.catapult
    if catapult is not None and p.catapult is not None:
        # Motors, surfaces and battery do not depend on the body's motion: on the rail they go on as in the air.
        begun, held = state.motion.body, catapult.free < 0.5
        body, catapult = catapult_step(p.catapult, catapult, begun, motion.body, driven.throttle, dt_s)
        motion = replace(motion, body=body)
        if rest is not None:
            rest = replace(rest, body=where(held, map_leaves(lambda leaf: leaf * 0.0, rest.body), rest.body))
    phase = tuple(
        advance_phase_rad(angle, speed, dt_s)
        for angle, speed in zip(state.phase_rad, state.motion.rotor_speed_rad_s, strict=False)
    )
    voltage, current = supply(shape.aircraft, craft, motion, here)
    if voltage is None:
        voltage = craft.motors[0].nominal_voltage_v
    low_s, dead = supply_events(shape, craft, state, motion, voltage, clock)
    turbulence, convection = next_turbulence(shape, state, air, p, clock)
    return replace(
        state,
        motion=motion,
        rest=rest,
        actuators=driven,
        autopilot=autopilot,
        turbulence=turbulence,
        convection_m_s=convection,
        phase_rad=phase,
        margin=margin,
        margin_least=minimum(state.margin_least, margin),
        voltage_v=voltage,
        current_a=current,
        energy_j=state.energy_j + voltage * current * dt_s if state.energy_j is not None else None,
        low_s=low_s,
        dead=dead,
        catapult=catapult,
    )


def sense(
    shape: FlightShape,
    state: FlightState,
    air: AirParameters,
    p: FlightParameters,
    clock: Clock,
    moved: bool = True,
) -> FlightState:
    """Where the vehicle is now: the air there, what the inertial unit reads, what arrives, and what the filter makes.

    moved: a tick has passed, which the filter follows; False at the start.
    Frames: world NED, body FRD.      Shapes: scalars.
    Verified by: tests/consistency/test_flight.py
    """
    here = air_at(shape, state, air, clock)
    craft = with_faults(shape, p, clock)
    loads, rate_dot = _motion_now(shape, p, craft, state, here, air_rate(shape, state, air, clock))
    through_air = loads.air_velocity_frd_m_s
    state = replace(state, wind_ned_m_s=here.wind_ned_m_s, airspeed_m_s=sqrt(dot(through_air, through_air) + 1e-12))
    if shape.imu is not None or watches(shape):
        truth = truth_of(
            shape.aircraft, craft, state.motion, loads, rate_dot, here, state.current_a, state.phase_rad, clock.t_s
        )
    if moved and watches(shape):
        state = replace(state, devices=watch(shape, p, state, truth))
    if shape.imu is not None and state.imu is not None:
        state = feel(shape, p, state, truth, clock, first=not moved)
        if moved and state.filter is not None and p.filter is not None:
            rate, force = state.inertial.rate_frd_rad_s, state.inertial.specific_force_frd_m_s2
            state = replace(
                state, filter=complementary.predict(shape.filter, p.filter, state.filter, rate, force, clock.dt_s)
            )
    return hear(shape, p, state, clock)


def _motion_now(
    shape: FlightShape,
    p: FlightParameters,
    craft: AircraftParameters,
    state: FlightState,
    here: AirSample,
    swirl: Vec3 | None,
) -> tuple[Any, Vec3]:
    """What acts on the vehicle, and its angular acceleration without the rotors' spin reaction."""
    motion = state.motion
    loads = aircraft_loads(shape.aircraft, craft, motion, here, swirl)
    force = mat3_apply(loads.ned_from_frd, loads.force_frd_n)
    rates = rigid_body_rates(motion.body, force, loads.moment_frd_n_m, craft.mass_kg, craft.inertia_kg_m2)
    rate_dot = rates.rate_frd_rad_s
    if state.catapult is not None and p.catapult is not None:
        held, quat = state.catapult.free < 0.5, motion.body.quat_ned_from_frd
        felt = catapult_specific_force(p.catapult, state.catapult, quat, here.gravity_m_s2)
        loads = replace(loads, force_frd_n=where(held, felt * craft.mass_kg, loads.force_frd_n))
        rate_dot = where(held, rate_dot * 0.0, rate_dot)
    return loads, rate_dot
