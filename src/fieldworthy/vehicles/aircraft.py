"""A flying robot put together: body, rotors, wings, battery, landing gear and slung load as one law of motion.

Long because what a vehicle consists of and how it adds up are read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldworthy.core.integrate import add_compensated, rk4_slope
from fieldworthy.core.lanes import Scalar, clip
from fieldworthy.core.rigid_body import RigidBodyState, rigid_body_rates
from fieldworthy.core.struct import add_scaled, map_leaves
from fieldworthy.core.vec import (
    Mat3,
    Vec3,
    mat3_apply,
    mat3_from_quat,
    mat3_transpose,
    quat_normalize,
)
from fieldworthy.core.wrench import Wrench
from fieldworthy.environment.air import AirSample
from fieldworthy.vehicles.aero_table import AeroTableOptions, AeroTables, aero_table_wrench
from fieldworthy.vehicles.aerodynamics import AeroOptions, AeroParameters, Surfaces, Wash, aero_wrench
from fieldworthy.vehicles.battery import (
    BatteryOptions,
    BatteryParameters,
    BatteryState,
    battery_rates,
    current_from_power,
    terminal_v,
)
from fieldworthy.vehicles.body_drag import BodyDragParameters, body_drag, isotropic_drag
from fieldworthy.vehicles.contact import ContactPoint, contact_wrench
from fieldworthy.vehicles.motor import (
    MotorOptions,
    MotorParameters,
    commanded_speed_rad_s,
    electrical_power_w,
    speed_rate,
)
from fieldworthy.vehicles.propwash import PropwashParameters, wash_pressure_pa
from fieldworthy.vehicles.rotor import (
    RotorOptions,
    RotorParameters,
    along,
    hub_velocity_frd_m_s,
    thrust_per_speed_n_s,
)
from fieldworthy.vehicles.rotor_proximity import FAR_M, RotorSurroundings
from fieldworthy.vehicles.rotor_set import rotors_wrench, spin_reaction
from fieldworthy.vehicles.tether import LoadParameters, LoadState, TetherParameters, load_forces, tether_wrench

SURFACES = ("aileron", "elevator", "rudder")


@dataclass(frozen=True)
class AircraftShape:
    """What a vehicle consists of, and which effects are computed; all lanes share it. What is off costs nothing."""

    rotor: RotorOptions = field(default_factory=RotorOptions)
    motor: MotorOptions = field(default_factory=MotorOptions)
    same_drag_all_round: bool = True
    """Body drag from `drag_area_m2.x` alone."""
    aero: AeroOptions | AeroTableOptions | None = None
    """Wings: by coefficients, by tables, or none."""
    washes: tuple[tuple[int, str], ...] = ()
    """(rotor, surface of SURFACES) pairs: the rotor's slipstream blows on the surface."""
    battery: BatteryOptions | None = None
    """None: the motors have their nominal voltage for ever."""
    load: bool = False
    tether: bool = False
    gear: bool = False


@dataclass
class AircraftParameters:
    """Numbers of one vehicle; every field may differ from lane to lane. About the centre of mass, body FRD."""

    mass_kg: Scalar
    inertia_kg_m2: Vec3 | Mat3
    """Of the whole vehicle without its slung load; the rotors' spin is their own."""
    rotors: tuple[RotorParameters, ...]
    motors: tuple[MotorParameters, ...]
    """One a rotor."""
    drag: BodyDragParameters
    aero: AeroParameters | AeroTables | None = None
    washes: tuple[PropwashParameters, ...] = ()
    """As `AircraftShape.washes`."""
    surface_max_rad: Vec3 = field(default_factory=lambda: Vec3(0.0, 0.0, 0.0))
    """Largest deflection of aileron, elevator and rudder."""
    surface_lag_s: Scalar = 0.05
    battery: BatteryParameters | None = None
    avionics_power_w: Scalar = 0.0
    gear: tuple[ContactPoint, ...] = ()
    load: LoadParameters | None = None
    tether: TetherParameters | None = None
    roof_up_m: Scalar = FAR_M
    """Height of a level roof above the world's origin."""
    wall_north_m: Scalar = FAR_M
    """Where an upright wall stands, square to north."""


@dataclass
class AircraftState:
    """Everything that a step of the vehicle needs."""

    body: RigidBodyState
    rotor_speed_rad_s: tuple[Scalar, ...]
    """Never negative; the sense is `RotorParameters.spin`."""
    surfaces: Surfaces | None = None
    """Deflections; None without wings."""
    battery: BatteryState | None = None
    load: LoadState | None = None


@dataclass
class Actuators:
    """What an autopilot commands: throttles 0 to 1, surfaces -1 to 1 of their largest deflection."""

    throttle: tuple[Scalar, ...]
    aileron: Scalar = 0.0
    elevator: Scalar = 0.0
    rudder: Scalar = 0.0


@dataclass
class Loads:
    """What acts on the vehicle at one state."""

    force_frd_n: Vec3
    """All but the weight: what an accelerometer at the centre of mass feels, times mass."""
    moment_frd_n_m: Vec3
    """Without the reaction to the rotors' spin acceleration."""
    air_velocity_frd_m_s: Vec3
    load_acceleration_ned_m_s2: Vec3 | None
    ned_from_frd: Mat3


def aircraft_loads(
    shape: AircraftShape,
    p: AircraftParameters,
    state: AircraftState,
    air: AirSample,
    air_rate_frd_rad_s: Vec3 | None = None,
) -> Loads:
    """Forces and moments of air, ground and cable on the vehicle.

    air_rate_frd_rad_s: how turbulence rotates the air around the wings; None: not.

    Equation: sums of `rotors_wrench`, body drag, `aero_wrench`, `contact_wrench` and `load_forces`.
    Frames: body FRD about the centre of mass.      Shapes: scalars.
    Limits: those of the parts; parts do not disturb each other's air, but for `AircraftShape.washes`.
    Verified by: tests/verification/test_aircraft.py
    """
    body, density = state.body, air.density_kg_m3
    ned_from_frd = mat3_from_quat(body.quat_ned_from_frd)
    frd_from_ned = mat3_transpose(ned_from_frd)
    through_air = mat3_apply(frd_from_ned, body.vel_ned_m_s - air.wind_ned_m_s)
    near = surroundings(p, body, ned_from_frd) if shape.rotor.proximity else None
    total = rotors_wrench(
        shape.rotor, p.rotors, state.rotor_speed_rad_s, through_air, body.rate_frd_rad_s, density, near
    )
    if shape.same_drag_all_round:
        drag = isotropic_drag(p.drag.drag_area_m2.x, through_air, density)
    else:
        drag = body_drag(p.drag, through_air, density)
    force, moment = total.force_frd_n + drag, total.moment_frd_n_m
    if shape.aero is not None and state.surfaces is not None:
        wing = _wing(shape, p, state, through_air, density, air_rate_frd_rad_s, near)
        force, moment = force + wing.force_frd_n, moment + wing.moment_frd_n_m
    if shape.gear:
        ground = contact_wrench(
            p.gear, body.pos_ned_m, body.quat_ned_from_frd, body.vel_ned_m_s, body.rate_frd_rad_s, 0.0
        )
        force, moment = force + ground.force_frd_n, moment + ground.moment_frd_n_m
    load_acceleration = None
    if shape.load and state.load is not None and p.load is not None:
        cable, load_acceleration = load_forces(
            p.load, state.load, body.pos_ned_m, body.quat_ned_from_frd, body.vel_ned_m_s, body.rate_frd_rad_s,
            air.wind_ned_m_s, density, air.gravity_m_s2,
        )  # fmt: skip
        force, moment = force + cable.force_frd_n, moment + cable.moment_frd_n_m
    if shape.tether and p.tether is not None:
        pull = tether_wrench(p.tether, body.pos_ned_m, body.quat_ned_from_frd, body.vel_ned_m_s, body.rate_frd_rad_s)
        force, moment = force + pull.force_frd_n, moment + pull.moment_frd_n_m
    return Loads(force, moment, through_air, load_acceleration, ned_from_frd)


def _wing(
    shape: AircraftShape,
    p: AircraftParameters,
    state: AircraftState,
    through_air: Vec3,
    density: Scalar,
    air_rate: Vec3 | None,
    near: Sequence[RotorSurroundings] | None,
) -> Wrench:
    """The wings' wrench, with slipstreams on the surfaces that stand in them."""
    assert state.surfaces is not None
    rate, wash = state.body.rate_frd_rad_s, None
    if shape.washes:
        added: dict[str, Scalar] = dict.fromkeys(SURFACES, 0.0)
        for (rotor, surface), numbers in zip(shape.washes, p.washes, strict=True):
            r, speed = p.rotors[rotor], state.rotor_speed_rad_s[rotor]
            hub = hub_velocity_frd_m_s(shape.rotor, r, through_air, rate)
            around = None if near is None else near[rotor]
            thrust = thrust_per_speed_n_s(shape.rotor, r, speed, hub, density, around) * speed
            added[surface] = added[surface] + wash_pressure_pa(numbers, thrust, along(hub, r.axis_frd), density)
        wash = Wash(added["aileron"], added["elevator"], added["rudder"])
    if air_rate is not None:
        rate = rate - air_rate
    if isinstance(shape.aero, AeroTableOptions):
        assert isinstance(p.aero, AeroTables)
        return aero_table_wrench(shape.aero, p.aero, through_air, rate, state.surfaces, density, wash)
    assert isinstance(shape.aero, AeroOptions)
    assert isinstance(p.aero, AeroParameters)
    return aero_wrench(shape.aero, p.aero, through_air, rate, state.surfaces, density, wash)


def surroundings(p: AircraftParameters, body: RigidBodyState, ned_from_frd: Mat3) -> Sequence[RotorSurroundings]:
    """How far each hub is from level ground at height 0, from the ceiling and from the wall.

    Limits: distances along a shaft grow with 1/cos of its tilt, which is taken as at least 0.1.
    """
    frd_from_ned = mat3_transpose(ned_from_frd)
    wall_direction = mat3_apply(frd_from_ned, Vec3(1.0, 0.0, 0.0))
    found = []
    for rotor in p.rotors:
        arm = mat3_apply(ned_from_frd, rotor.pos_frd_m)
        lean = clip(-mat3_apply(ned_from_frd, rotor.axis_frd).z, 0.1, 1.0)
        up = -(body.pos_ned_m.z + arm.z)
        found.append(
            RotorSurroundings(
                height_m=up / lean,
                ceiling_m=(p.roof_up_m - up) / lean,
                wall_m=p.wall_north_m - (body.pos_ned_m.x + arm.x),
                wall_direction_frd=wall_direction,
            )
        )
    return found


def supply(shape: AircraftShape, p: AircraftParameters, state: AircraftState, air: AirSample) -> tuple[Any, Any]:
    """(voltage [V], current [A]) of the battery under the power that motors and avionics take now.

    Without a battery the voltage is None (motors take their nominal one) and the current follows from it.
    """
    power = p.avionics_power_w
    for rotor, motor, speed in zip(p.rotors, p.motors, state.rotor_speed_rad_s, strict=True):
        power = power + electrical_power_w(shape.motor, motor, rotor, speed, air.density_kg_m3)
    if shape.battery is None or p.battery is None or state.battery is None:
        return None, power / p.motors[0].nominal_voltage_v
    current = current_from_power(shape.battery, p.battery, state.battery, power)
    return terminal_v(shape.battery, p.battery, state.battery, current), current


def aircraft_rates(
    shape: AircraftShape,
    p: AircraftParameters,
    state: AircraftState,
    command: Actuators,
    air: AirSample,
    air_rate_frd_rad_s: Vec3 | None = None,
) -> AircraftState:
    """Time derivatives of the state, field by field.

    Equation: `rigid_body_rates` under `aircraft_loads` and weight; motors by `speed_rate`, surfaces by a first-order
        lag; battery by `battery_rates` under the motors' power; load by `load_forces`.
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: the air is held over a step; a battery without voltage to give sags before the motors know, at the same
        instant (no supply inductance).
    Verified by: tests/verification/test_aircraft.py
    """
    loads = aircraft_loads(shape, p, state, air, air_rate_frd_rad_s)
    voltage, current = None, None
    if shape.battery is not None or shape.motor.voltage:
        voltage, current = supply(shape, p, state, air)
    speed_dots = tuple(
        speed_rate(rotor, speed, commanded_speed_rad_s(shape.motor, motor, rotor, throttle, voltage))
        for rotor, motor, speed, throttle in zip(
            p.rotors, p.motors, state.rotor_speed_rad_s, command.throttle, strict=True
        )
    )
    moment = loads.moment_frd_n_m
    if shape.rotor.gyroscopic:
        moment = moment + spin_reaction(p.rotors, speed_dots)
    force_ned = mat3_apply(loads.ned_from_frd, loads.force_frd_n)
    body = rigid_body_rates(state.body, force_ned, moment, p.mass_kg, p.inertia_kg_m2)
    body.vel_ned_m_s = body.vel_ned_m_s + Vec3(0.0, 0.0, air.gravity_m_s2)
    battery = load = surfaces = None
    if shape.battery is not None and state.battery is not None and p.battery is not None:
        battery = battery_rates(shape.battery, p.battery, state.battery, current)
    if state.load is not None and loads.load_acceleration_ned_m_s2 is not None:
        load = LoadState(state.load.vel_ned_m_s, loads.load_acceleration_ned_m_s2)
    if state.surfaces is not None:
        s, most, lag = state.surfaces, p.surface_max_rad, p.surface_lag_s
        surfaces = Surfaces(
            (clip(command.aileron, -1.0, 1.0) * most.x - s.aileron_rad) / lag,
            (clip(command.elevator, -1.0, 1.0) * most.y - s.elevator_rad) / lag,
            (clip(command.rudder, -1.0, 1.0) * most.z - s.rudder_rad) / lag,
            s.flap_rad * 0.0,
        )
    return AircraftState(body, speed_dots, surfaces, battery, load)


def aircraft_step(
    shape: AircraftShape, p: AircraftParameters, state: AircraftState, command: Actuators, air: AirSample, dt_s: float
) -> AircraftState:
    """One step by `aircraft_step_compensated`, its sum taken as it is."""
    return aircraft_step_compensated(shape, p, state, None, command, air, dt_s)[0]


def aircraft_step_compensated(
    shape: AircraftShape,
    p: AircraftParameters,
    state: AircraftState,
    rest: AircraftState | None,
    command: Actuators,
    air: AirSample,
    dt_s: float,
    air_rate_frd_rad_s: Vec3 | None = None,
) -> tuple[AircraftState, AircraftState | None]:
    """One step by RK4 with air and command held: (the state after it, what its sums have not taken up yet).

    rest: what earlier sums have not taken up; None: sums as they are, for numbers of 64 bits.

    Equation: Runge and Kutta's fourth-order step of `aircraft_rates`, added by `add_compensated`; the quaternion scaled
        back to norm one
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: `aircraft_rates`; dt_s within what motors, gear and cables bear.
    Verified by: tests/verification/test_aircraft.py, tests/verification/test_review_aircraft_step.py
    """
    slope = rk4_slope(lambda s: aircraft_rates(shape, p, s, command, air, air_rate_frd_rad_s), state, dt_s)
    if rest is None:
        return normalised(add_scaled(state, dt_s, slope)), None
    moved, rest = add_compensated(state, rest, dt_s, slope)
    # Scaling back to norm one changes more than the sum has left over.
    rest.body.quat_ned_from_frd = map_leaves(lambda leaf: leaf * 0.0, rest.body.quat_ned_from_frd)
    return normalised(moved), rest


def normalised(state: AircraftState) -> AircraftState:
    """The state with its attitude scaled back to norm one."""
    body = state.body
    unit = RigidBodyState(body.pos_ned_m, quat_normalize(body.quat_ned_from_frd), body.vel_ned_m_s, body.rate_frd_rad_s)
    return AircraftState(unit, state.rotor_speed_rad_s, state.surfaces, state.battery, state.load)
