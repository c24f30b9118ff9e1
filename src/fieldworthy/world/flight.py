"""One tick of a flying robot: devices, filter, autopilot, what breaks, and the step of the vehicle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fieldworthy.control import complementary
from fieldworthy.control.alignment import aligned
from fieldworthy.control.autopilot import first_autopilot, steer
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.integrate import add_compensated, rk4_slope
from fieldworthy.core.lanes import Scalar, cos, logical_and, maximum, minimum, select, sin, sqrt
from fieldworthy.core.random import normals
from fieldworthy.core.rigid_body import RigidBodyState, rigid_body_rates
from fieldworthy.core.struct import add_scaled, map_leaves, where
from fieldworthy.core.track import Pose
from fieldworthy.core.vec import (
    Vec3,
    dot,
    mat3_apply,
    quat_from_euler_zyx,
    rotate_inverse,
)
from fieldworthy.environment.air import AirParameters, AirSample, sample
from fieldworthy.environment.turbulence import (
    convection_m_s,
    first,
    gust_axes,
    gust_m_s,
    gust_ned,
    gust_rate_rad_s,
    normals_needed,
    step,
)
from fieldworthy.environment.wind import mean_wind_ned_m_s
from fieldworthy.vehicles.aerodynamics import Surfaces
from fieldworthy.vehicles.aircraft import (
    Actuators,
    AircraftParameters,
    AircraftState,
    aircraft_loads,
    aircraft_rates,
    normalised,
    supply,
)
from fieldworthy.vehicles.battery import first_battery
from fieldworthy.vehicles.rotor_vibration import advance_phase_rad
from fieldworthy.vehicles.tether import hanging_load
from fieldworthy.vehicles.vehicle import Clock, Vehicle
from fieldworthy.world.flight_sensing import (
    first_devices,
    first_held,
    first_inertial,
    hear,
    inertial_reading,
    read_devices,
    resting_reading,
    truth_of,
)
from fieldworthy.world.flight_state import FlightParameters, FlightShape, FlightStart, FlightState
from fieldworthy.world.flight_watch import observe, read, watched


def flight_vehicle(shape: FlightShape) -> Vehicle:
    """The laws of a flying robot of this shape."""
    return Vehicle(
        kind="aircraft",
        command=Setpoint,
        step=lambda state, command, air, p, clock: flight_step(shape, state, command, air, p, clock),
        pose=lambda state, air, t_s, p: _pose(state),
        earlier=lambda state, air, t_s, p: _earlier(state, t_s),
        speed_m_s=lambda state: sqrt(dot(state.motion.body.vel_ned_m_s, state.motion.body.vel_ned_m_s) + 1e-12),
        observe=lambda state: observe(shape, state),
        read=read,
        broken=lambda state: state.crash > 0.5,
        prepare=lambda state, command, air, p, clock: flight_prepare(shape, state, command, air, p, clock),
        first=lambda start, air, p, clock: first_flight(shape, start, air, p, clock),
    )


def _pose(state: FlightState) -> Pose:
    return Pose(state.motion.body.pos_ned_m, state.motion.body.quat_ned_from_frd)


def _earlier(state: FlightState, t_s: Scalar) -> Pose:
    body = state.motion.body
    return Pose(body.pos_ned_m + body.vel_ned_m_s * t_s, body.quat_ned_from_frd)


def first_flight(
    shape: FlightShape, start: FlightStart, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """At the start: standing or in level flight, place and heading known, the filter levelled by its own sensors."""
    zero = Vec3(0.0, 0.0, 0.0)
    pos = Vec3(start.north_m, start.east_m, -start.up_m)
    quat = quat_from_euler_zyx(0.0 * start.pitch_rad, start.pitch_rad, start.heading_rad)
    here = sample(shape.air, air, pos, 0.0)
    wind = here.wind_ned_m_s
    ahead = Vec3(cos(start.heading_rad), sin(start.heading_rad), 0.0)
    # What hovers holds its place in the wind; what flies on wings is carried along by it.
    vel = ahead * start.airspeed_m_s + wind * select(start.airspeed_m_s > 0.0, 1.0, 0.0)
    body = RigidBodyState(pos, quat, vel, zero)
    motion = AircraftState(
        body,
        tuple(speed * start.flying for speed in start.rotor_speed_rad_s),
        Surfaces(0.0, start.elevator_rad, 0.0) if shape.aircraft.aero is not None else None,
        first_battery(start.charge) if shape.aircraft.battery is not None else None,
        hanging_load(p.aircraft.load, pos, quat, air.gravity_m_s2)
        if shape.aircraft.load and p.aircraft.load is not None
        else None,
    )
    kind = type(start.north_m)
    believed = Estimate(pos, vel, quat, zero, start.airspeed_m_s)
    imu, belief = first_inertial(shape, p, clock, kind), None
    if shape.estimated:
        rest = resting_reading(shape, p, imu, quat, here)
        belief = aligned(
            pos, vel, start.heading_rad, rest.rate_frd_rad_s, rest.specific_force_frd_m_s2, here.gravity_m_s2,
            start.airspeed_m_s,
        )  # fmt: skip
        believed = complementary.estimate(belief)
    turbulence = None
    count = normals_needed(shape.air.turbulence)
    if count:
        turbulence = first(shape.air.turbulence, normals(p.turbulence_key, clock.trial, 0xFFFFFFFF, count, kind))
    return FlightState(
        motion=motion,
        rest=map_leaves(lambda leaf: leaf * 0.0, motion) if shape.compensated else None,
        actuators=Actuators(tuple(0.0 for _ in p.aircraft.rotors)),
        autopilot=first_autopilot(shape.autopilot, believed, start.flying),
        turbulence=turbulence,
        imu=imu,
        imu_held=first_held(shape),
        filter=belief,
        origin_ned_m=zero,
        devices=first_devices(shape, p, clock, kind),
        phase_rad=tuple(0.0 for _ in p.aircraft.rotors) if shape.aircraft.rotor.vibration else (),
        delayed=tuple(_hold(start) for _ in range(max((f.commands for f in shape.faults), default=0))),
        margin=0.5,
        margin_least=0.5,
        voltage_v=0.0,
        current_a=0.0,
        energy_j=0.0,
        crash=0.0,
        impact_m_s=0.0,
        believed=believed,
        wind_ned_m_s=wind,
        airspeed_m_s=start.airspeed_m_s,
    )


def _hold(start: FlightStart) -> Setpoint:
    """Stay at the start: what a link that delays has to say at first."""
    s = start
    return Setpoint(
        s.north_m, s.east_m, s.up_m, 0.0, 0.0, 0.0, s.heading_rad, s.airspeed_m_s, s.north_m, s.east_m, 0.0, 0.0
    )


def flight_prepare(
    shape: FlightShape, state: FlightState, command: Setpoint, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """What happens at the tick at which a command begins: slow devices read, the command goes on its way."""
    if state.delayed:
        state = replace(state, delayed=(command, *state.delayed[:-1]))
    if not shape.devices:
        return state
    here = _air_at(shape, state, air, clock)
    loads, rate_dot = _motion_now(shape, p.aircraft, state.motion, here, _air_rate(shape, state, air))
    truth = truth_of(
        shape.aircraft, p.aircraft, state.motion, loads, rate_dot, here, state.current_a, state.phase_rad, clock.t_s
    )
    return replace(state, devices=read_devices(shape, p, state, truth, clock))


def flight_step(
    shape: FlightShape, state: FlightState, command: Setpoint, air: AirParameters, p: FlightParameters, clock: Clock
) -> FlightState:
    """One tick: sense, believe, steer, break what breaks, move.

    Equation: devices and filter at the start of the tick; air, actuators and faults held over it; motion by RK4.
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: the autopilot runs at every physics tick; its command comes at the control rate.
    Verified by: tests/consistency/test_flight.py
    """
    dt_s = clock.dt_s
    here = _air_at(shape, state, air, clock)
    craft = _with_faults(shape, p, clock)
    loads, rate_dot = _motion_now(shape, craft, state.motion, here, _air_rate(shape, state, air))
    through_air = loads.air_velocity_frd_m_s
    airspeed = sqrt(dot(through_air, through_air) + 1e-12)
    body = state.motion.body

    belief, imu, held, devices, origin = state.filter, state.imu, state.imu_held, state.devices, state.origin_ned_m
    if shape.imu is not None and imu is not None:
        truth = truth_of(
            shape.aircraft, craft, state.motion, loads, rate_dot, here, state.current_a, state.phase_rad, clock.t_s
        )
        reading, imu, held = inertial_reading(shape, p, state, truth, clock)
        if belief is not None and p.filter is not None:
            belief = complementary.predict(
                shape.filter, p.filter, belief, reading.rate_frd_rad_s, reading.specific_force_frd_m_s2, dt_s
            )
            belief, devices, origin = hear(shape, p, belief, devices, origin, clock)
    if belief is not None:
        believed = complementary.estimate(belief)
    else:
        believed = Estimate(body.pos_ned_m, body.vel_ned_m_s, body.quat_ned_from_frd, body.rate_frd_rad_s, airspeed)

    asked = _through_link(shape, p, state, command, clock)
    actuators, autopilot, margin = steer(shape.autopilot, p.autopilot, asked, believed, state.autopilot, dt_s)
    driven = _stuck(shape, p, actuators, clock)

    swirl = _air_rate(shape, state, air)
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
    moved = replace(
        state,
        motion=motion,
        rest=rest,
        actuators=driven,
        autopilot=autopilot,
        turbulence=_next_turbulence(shape, state, air, p, clock, airspeed),
        imu=imu,
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


def _air_at(shape: FlightShape, state: FlightState, air: AirParameters, clock: Clock) -> AirSample:
    """The air where the vehicle is, turbulence included."""
    pos = state.motion.body.pos_ned_m
    gust = None
    if state.turbulence is not None:
        mean = _mean_wind(shape, air, pos)
        axes = gust_axes(state.motion.body.vel_ned_m_s - mean, mean)
        gust = gust_ned(gust_m_s(shape.air.turbulence, air.turbulence, state.turbulence, maximum(-pos.z, 0.0)), axes)
    return sample(shape.air, air, pos, clock.t_s, gust)


def _air_rate(shape: FlightShape, state: FlightState, air: AirParameters) -> Vec3 | None:
    """How turbulence turns the air around the wings, FRD; None without wings or turbulence."""
    if state.turbulence is None or not shape.air.turbulence.rates:
        return None
    body = state.motion.body
    mean = _mean_wind(shape, air, body.pos_ned_m)
    height = maximum(-body.pos_ned_m.z, 0.0)
    rate = gust_rate_rad_s(shape.air.turbulence, air.turbulence, state.turbulence, height, shape.span_m)
    return rotate_inverse(body.quat_ned_from_frd, gust_ned(rate, gust_axes(body.vel_ned_m_s - mean, mean)))


def _mean_wind(shape: FlightShape, air: AirParameters, pos_ned_m: Vec3) -> Vec3:
    if shape.air.wind is None:
        return Vec3(0.0, 0.0, 0.0)
    return mean_wind_ned_m_s(shape.air.wind, air.wind, maximum(-pos_ned_m.z, 0.0))


def _next_turbulence(
    shape: FlightShape, state: FlightState, air: AirParameters, p: FlightParameters, clock: Clock, airspeed: Scalar
) -> Any:
    if state.turbulence is None:
        return None
    options, pos = shape.air.turbulence, state.motion.body.pos_ned_m
    mean = _mean_wind(shape, air, pos)
    drawn = normals(p.turbulence_key, clock.trial, clock.tick, normals_needed(options), type(pos.x))
    passing = convection_m_s(airspeed, sqrt(dot(mean, mean) + 1e-12))
    return step(
        options, air.turbulence, state.turbulence, maximum(-pos.z, 0.0), passing, shape.span_m, clock.dt_s, drawn
    )


def _motion_now(
    shape: FlightShape, craft: AircraftParameters, motion: AircraftState, here: AirSample, swirl: Vec3 | None
) -> tuple[Any, Vec3]:
    """What acts on the vehicle, and its angular acceleration without the rotors' spin reaction."""
    loads = aircraft_loads(shape.aircraft, craft, motion, here, swirl)
    force = mat3_apply(loads.ned_from_frd, loads.force_frd_n)
    rates = rigid_body_rates(motion.body, force, loads.moment_frd_n_m, craft.mass_kg, craft.inertia_kg_m2)
    return loads, rates.rate_frd_rad_s


def _active(p: FlightParameters, number: int, clock: Clock) -> Scalar:
    fault = p.faults[number]
    return logical_and(clock.t_s >= fault.onset_s, clock.t_s < fault.end_s)


def _with_faults(shape: FlightShape, p: FlightParameters, clock: Clock) -> AircraftParameters:
    """The vehicle's numbers with lost rotors and failed cells of this moment."""
    craft = p.aircraft
    for number, fault in enumerate(shape.faults):
        size = select(_active(p, number, clock), p.faults[number].size, 0.0)
        if fault.kind == "rotor-loss":
            i = int(fault.part)
            lost = replace(craft.rotors[i], effectiveness=craft.rotors[i].effectiveness * (1.0 - size))
            craft = replace(craft, rotors=(*craft.rotors[:i], lost, *craft.rotors[i + 1 :]))
        elif fault.kind == "cell-failure" and craft.battery is not None:
            craft = replace(craft, battery=replace(craft.battery, shorted_cells=craft.battery.shorted_cells + size))
    return craft


def _stuck(shape: FlightShape, p: FlightParameters, actuators: Actuators, clock: Clock) -> Actuators:
    """The actuators with the surfaces that do not obey."""
    for number, fault in enumerate(shape.faults):
        if fault.kind == "surface-stuck":
            asked = getattr(actuators, fault.part)
            actuators = replace(
                actuators, **{fault.part: select(_active(p, number, clock), p.faults[number].size, asked)}
            )
    return actuators


def _through_link(
    shape: FlightShape, p: FlightParameters, state: FlightState, command: Setpoint, clock: Clock
) -> Setpoint:
    """The command as it arrives over links that may delay it."""
    for number, fault in enumerate(shape.faults):
        if fault.kind == "link-delay" and fault.commands > 1:
            command = where(_active(p, number, clock), state.delayed[fault.commands - 1], command)
    return command
