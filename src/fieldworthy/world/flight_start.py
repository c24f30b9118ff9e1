"""A flying robot at the start of a trial."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fieldworthy.control import complementary
from fieldworthy.control.actuation import actuator_command
from fieldworthy.control.alignment import aligned
from fieldworthy.control.autopilot import first_autopilot
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.core.constants import NEVER_S
from fieldworthy.core.lanes import cos, select, sin
from fieldworthy.core.random import normals
from fieldworthy.core.rigid_body import RigidBodyState
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Quat, Vec3, quat_from_euler_zyx, rotate_inverse
from fieldworthy.environment.air import AirParameters, AirSample, sample
from fieldworthy.environment.turbulence import first, normals_needed
from fieldworthy.sensors.imu import ImuReading
from fieldworthy.vehicles.aerodynamics import Surfaces
from fieldworthy.vehicles.aircraft import Actuators, AircraftState
from fieldworthy.vehicles.battery import first_battery
from fieldworthy.vehicles.catapult import first_catapult
from fieldworthy.vehicles.tether import hanging_load
from fieldworthy.vehicles.vehicle import Clock
from fieldworthy.world.flight_sensing import first_devices, first_held, first_inertial, resting_reading
from fieldworthy.world.flight_state import FlightParameters, FlightShape, FlightStart, FlightState


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
    before = _resting(zero, here, quat if shape.catapult else None)
    turbulence = None
    count = normals_needed(shape.air.turbulence)
    if count:
        turbulence = first(shape.air.turbulence, normals(p.turbulence_key, clock.trial, 0xFFFFFFFF, count, kind))
    return FlightState(
        motion=motion,
        rest=map_leaves(lambda leaf: leaf * 0.0, motion) if shape.compensated else None,
        actuators=Actuators(tuple(0.0 for _ in p.aircraft.rotors)),
        autopilot=first_autopilot(shape.autopilot, believed, start.flying) if shape.autopilot is not None else None,
        turbulence=turbulence,
        convection_m_s=0.0 if count else None,
        imu=imu,
        imu_line=tuple(map_leaves(lambda leaf: leaf, before) for _ in range(shape.imu_delay)),
        inertial=before,
        inertial_sum=ImuReading(zero, zero),
        inertial_count=0.0,
        inertial_stamp_s=0.0,
        imu_held=first_held(shape),
        filter=belief,
        origin_ned_m=zero,
        origin_set=0.0,
        devices=first_devices(shape, p, clock, kind),
        phase_rad=tuple(0.0 for _ in p.aircraft.rotors) if shape.aircraft.rotor.vibration else (),
        delayed=tuple(_hold(shape, start) for _ in range(max((f.commands for f in shape.faults), default=0))),
        margin=0.5,
        margin_least=0.5,
        voltage_v=0.0,
        current_a=0.0,
        energy_j=None if shape.aircraft.battery is not None else 0.0,
        low_s=NEVER_S,
        dead=0.0,
        crash=0.0,
        impact_m_s=0.0,
        wind_ned_m_s=wind,
        airspeed_m_s=start.airspeed_m_s,
        catapult=first_catapult() if shape.catapult else None,
    )


def _resting(zero: Vec3, here: AirSample, quat: Quat | None) -> ImuReading:
    """What a unit would have said before the start: at rest, and level unless an attitude is given."""
    force = Vec3(0.0, 0.0, -here.gravity_m_s2)
    return ImuReading(zero, force if quat is None else rotate_inverse(quat, force))


def _hold(shape: FlightShape, start: FlightStart) -> Any:
    """Stay at the start, or do nothing: what a link that delays has to say at first."""
    if shape.autopilot is None:
        kind = actuator_command(shape.rotors)
        return kind(**{f.name: 0.0 for f in fields(kind)})
    s = start
    return Setpoint(
        s.north_m, s.east_m, s.up_m, 0.0, 0.0, 0.0, s.heading_rad, s.airspeed_m_s, s.north_m, s.east_m, 0.0, 0.0
    )
