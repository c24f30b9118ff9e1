"""One tick of a flying robot: devices, filter, autopilot, what breaks, and the step of the vehicle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fieldworthy.control import complementary
from fieldworthy.control.actuation import actuator_command, actuators_of, throttle_margin
from fieldworthy.control.autopilot import steer
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.integrate import add_compensated, rk4_slope
from fieldworthy.core.lanes import Scalar, minimum, select, sqrt
from fieldworthy.core.rigid_body import rigid_body_rates
from fieldworthy.core.struct import add_scaled, map_leaves, where
from fieldworthy.core.track import Pose
from fieldworthy.core.vec import (
    Vec3,
    dot,
    mat3_apply,
)
from fieldworthy.environment.air import AirParameters, AirSample
from fieldworthy.vehicles.aircraft import (
    AircraftParameters,
    AircraftState,
    aircraft_loads,
    aircraft_rates,
    normalised,
    supply,
)
from fieldworthy.vehicles.rotor_vibration import advance_phase_rad
from fieldworthy.vehicles.vehicle import Clock, Vehicle
from fieldworthy.world.flight_air import air_at, air_rate, next_turbulence
from fieldworthy.world.flight_faults import stuck, supply_events, through_link, with_faults
from fieldworthy.world.flight_sensing import (
    hear,
    inertial_reading,
    read_devices,
    truth_of,
)
from fieldworthy.world.flight_start import first_flight
from fieldworthy.world.flight_state import FlightParameters, FlightShape, FlightState
from fieldworthy.world.flight_watch import heard, observe, read, watched


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
        hear=heard,
        broken=lambda state: state.crash > 0.5,
        prepare=lambda state, command, air, p, clock: flight_prepare(shape, state, command, air, p, clock),
        first=lambda start, air, p, clock: first_flight(shape, start, air, p, clock),
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
    if state.delayed:
        # Devices are read between commands as well.
        begins = clock.tick % shape.command_ticks == 0
        state = replace(state, delayed=where(begins, (command, *state.delayed[:-1]), state.delayed))
    if not shape.devices:
        return state
    here = air_at(shape, state, air, clock)
    craft = with_faults(shape, p, clock)
    loads, rate_dot = _motion_now(shape, craft, state.motion, here, air_rate(shape, state, air))
    truth = truth_of(
        shape.aircraft, craft, state.motion, loads, rate_dot, here, state.current_a, state.phase_rad, clock.t_s
    )
    return replace(state, devices=read_devices(shape, p, state, truth, clock))


def flight_step(
    shape: FlightShape, state: FlightState, command: Any, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """One tick: sense, believe, steer, break what breaks, move.

    Equation: devices and filter at the start of the tick; air, actuators and faults held over it; motion by RK4.
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: the autopilot runs at every physics tick; its command comes at the control rate.
    Verified by: tests/consistency/test_flight.py
    """
    dt_s = clock.dt_s
    here = air_at(shape, state, air, clock)
    craft = with_faults(shape, p, clock)
    loads, rate_dot = _motion_now(shape, craft, state.motion, here, air_rate(shape, state, air))
    through_air = loads.air_velocity_frd_m_s
    airspeed = sqrt(dot(through_air, through_air) + 1e-12)
    body = state.motion.body

    inertial = state.inertial
    belief, imu, held, devices, origin = state.filter, state.imu, state.imu_held, state.devices, state.origin_ned_m
    if shape.imu is not None and imu is not None:
        truth = truth_of(
            shape.aircraft, craft, state.motion, loads, rate_dot, here, state.current_a, state.phase_rad, clock.t_s
        )
        inertial, imu, held = inertial_reading(shape, p, state, truth, clock)
        if belief is not None and p.filter is not None:
            belief = complementary.predict(
                shape.filter, p.filter, belief, inertial.rate_frd_rad_s, inertial.specific_force_frd_m_s2, dt_s
            )
    belief, devices, origin = hear(shape, p, belief, devices, origin, clock)
    if belief is not None:
        believed = complementary.estimate(belief)
    else:
        believed = Estimate(body.pos_ned_m, body.vel_ned_m_s, body.quat_ned_from_frd, body.rate_frd_rad_s, airspeed)

    asked = through_link(shape, p, state, command, clock)
    if shape.autopilot is not None and p.autopilot is not None:
        actuators, autopilot, margin = steer(shape.autopilot, p.autopilot, asked, believed, state.autopilot, dt_s)
    else:
        actuators, autopilot = actuators_of(asked, shape.rotors), None
        margin = throttle_margin(actuators.throttle)
    driven = stuck(shape, p, actuators, clock)
    if shape.aircraft.battery is not None:
        driven = replace(driven, throttle=tuple(select(state.dead > 0.5, 0.0 * u, u) for u in driven.throttle))

    swirl = air_rate(shape, state, air)
    slope = rk4_slope(lambda s: aircraft_rates(shape.aircraft, craft, s, driven, here, swirl), state.motion, dt_s)
    rest = state.rest
    if rest is not None:
        motion, rest = add_compensated(state.motion, rest, dt_s, slope)
        # Scaling back to norm one changes more than the sum has left over.
        rest.body.quat_ned_from_frd = map_leaves(lambda leaf: leaf * 0.0, rest.body.quat_ned_from_frd)
    else:
        motion = add_scaled(state.motion, dt_s, slope)
    motion = normalised(motion)
    phase = tuple(
        advance_phase_rad(angle, speed, dt_s)
        for angle, speed in zip(state.phase_rad, state.motion.rotor_speed_rad_s, strict=False)
    )
    voltage, current = supply(shape.aircraft, craft, motion, here)
    if voltage is None:
        voltage = craft.motors[0].nominal_voltage_v
    low_s, dead = supply_events(shape, craft, state, motion, voltage, clock)
    moved = replace(
        state,
        low_s=low_s,
        dead=dead,
        motion=motion,
        rest=rest,
        actuators=driven,
        autopilot=autopilot,
        turbulence=next_turbulence(shape, state, air, p, clock, airspeed),
        imu=imu,
        inertial=inertial,
        sensed_s=clock.t_s + 0.0 * airspeed,
        imu_held=held,
        filter=belief,
        origin_ned_m=origin,
        devices=devices,
        phase_rad=phase,
        margin=margin,
        margin_least=minimum(state.margin_least, margin),
        voltage_v=voltage,
        current_a=current,
        energy_j=state.energy_j + voltage * current * dt_s,
        believed=believed,
        wind_ned_m_s=here.wind_ned_m_s,
        airspeed_m_s=airspeed,
    )
    return watched(shape, p, moved)


def _motion_now(
    shape: FlightShape, craft: AircraftParameters, motion: AircraftState, here: AirSample, swirl: Vec3 | None
) -> tuple[Any, Vec3]:
    """What acts on the vehicle, and its angular acceleration without the rotors' spin reaction."""
    loads = aircraft_loads(shape.aircraft, craft, motion, here, swirl)
    force = mat3_apply(loads.ned_from_frd, loads.force_frd_n)
    rates = rigid_body_rates(motion.body, force, loads.moment_frd_n_m, craft.mass_kg, craft.inertia_kg_m2)
    return loads, rates.rate_frd_rad_s
