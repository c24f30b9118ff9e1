"""A flying robot of a scenario: vehicle, devices, filter and autopilot in lanes, the air, and where it starts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.control.complementary import FilterOptions
from fieldworthy.control.flight_readings import FlightReadings
from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.engine import Engine
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.timing import ticks_from_rate
from fieldworthy.core.vec import Vec3
from fieldworthy.scenario.build_air import air_options, air_parameters, grid_of
from fieldworthy.scenario.build_autopilot import autopilot, catapult_speed_m_s, level_flight
from fieldworthy.scenario.build_devices import (
    IMU_FIXED,
    DrawnValues,
    device_values,
    devices_of,
    filter_of,
    imu_delay,
    key_of,
    link,
)
from fieldworthy.scenario.build_faults import fault_numbers, fault_shapes
from fieldworthy.scenario.draw import StartPose
from fieldworthy.scenario.mover import Mover
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values
from fieldworthy.sensors.delivery import DeliveryParameters
from fieldworthy.sensors.devices import imu_device, is_on
from fieldworthy.sensors.earth_field import DEFAULT_FIELD_NED_T, declination_rad, earth_field_ned_t
from fieldworthy.vehicles.catapult import TRIGGER_S, CatapultParameters
from fieldworthy.vehicles.compose import EffectSwitches, Parts, compose
from fieldworthy.vehicles.landing_gear import ground_contact
from fieldworthy.vehicles.tether import LoadParameters, TetherParameters
from fieldworthy.world.flight import flight_vehicle
from fieldworthy.world.flight_state import (
    FlightParameters,
    FlightShape,
    FlightStart,
)


def build_flight(
    engine: Engine, scenario: Scenario, values: Values, trials: NDArray[np.uint32], starts: list[StartPose]
) -> Mover:
    """What a world needs of a flying robot."""
    nominal: dict[str, Any] = dict(scenario.vehicle.values)
    drawn = DrawnValues(engine, values, "vehicle", nominal)
    parts = _parts(engine, scenario, values)
    wanted = {name: getattr(scenario.effects, name) for name in scenario.effects.__struct_fields__}
    effects = EffectSwitches(**wanted, gear=True)
    shape, craft = compose(drawn, effects, parts, scenario.dt_s, nominal)
    plain_shape, plain = compose(nominal, effects, _parts(engine, scenario, None), scenario.dt_s)
    pilot_options, pilot = None, None
    if scenario.control.commands != "actuators":
        pilot_options, pilot = autopilot(scenario, plain_shape, plain)
    estimated = scenario.control.navigation != "truth"
    field, grid = _earth_field(scenario), grid_of(engine, scenario)
    imu_options, imu, imu_link = None, None, DeliveryParameters()
    if scenario.sensors.imu is not None:
        given = device_values(engine, values, "sensors.imu", scenario.sensors.imu.values, IMU_FIXED)
        # Vibration is felt by the unit only where the vehicle makes any.
        imu_options, imu = imu_device({**given, "vibration": float(shape.rotor.vibration)}, scenario.dt_s)
        imu_link = link(given, given.get("dropout", 0.0))
    devices, numbers = devices_of(engine, scenario, values, field)
    faults = fault_shapes(scenario)
    level = level_flight(scenario, plain_shape, plain)
    flight = FlightShape(
        aircraft=shape,
        air=air_options(scenario, grid),
        autopilot=pilot_options,
        estimated=estimated,
        imu=imu_options,
        filter=FilterOptions(
            barometer=scenario.sensors.barometer is not None, airspeed=scenario.sensors.airspeed is not None
        ),
        devices=devices,
        faults=faults,
        command_ticks=ticks_from_rate(scenario.control.rate_hz, scenario.dt_s, "control.rate_hz"),
        compensated=engine.precision == "f32",
        rotors=len(craft.rotors),
        imu_delay=imu_delay(scenario),
        imu_drops=is_on(imu_link.dropout),
        span_m=float(nominal.get("aero_span_m", 0.0)),
        catapult=scenario.start.catapult is not None,
    )
    reach_side = max(math.hypot(*point) for point in nominal["outline_m"])
    parameters = FlightParameters(
        aircraft=craft,
        autopilot=pilot,
        filter=filter_of(scenario) if estimated else None,
        imu=imu,
        imu_link=imu_link,
        imu_key=key_of(engine, scenario, "imu"),
        turbulence_key=key_of(engine, scenario, "turbulence"),
        devices=numbers,
        faults=fault_numbers(scenario, trials),
        fault_key=key_of(engine, scenario, "sensor faults"),
        origin_altitude_m=scenario.air.elevation_m,
        declination_rad=declination_rad(field),
        reach_down_m=drawn["reach_down_m"],
        reach_side_m=reach_side,
        crash_speed_m_s=drawn["crash_speed_m_s"],
        catapult=_catapult(scenario),
    )
    reach = values.numbers("vehicle.reach_down_m", float(nominal["reach_down_m"]))
    start = _start(scenario, plain, starts, level, reach)
    period = tuple(sorted({device.delivery.period_ticks for device in devices}))
    return Mover(
        vehicle=flight_vehicle(flight),
        parameters=as_lanes(engine, parameters),
        medium=as_lanes(engine, air_parameters(scenario, values, grid)),
        start=start,
        readings=FlightReadings,
        periods=period,
        start_up_m=start.up_m,
    )


def _earth_field(scenario: Scenario) -> Vec3:
    """The Earth's field at the scenario's place and year [T, NED].

    Raises: FieldworthyError where the world model's library is missing.
    """
    place = scenario.reference
    if place is None or place.year is None:
        return DEFAULT_FIELD_NED_T
    return earth_field_ned_t(place.lat_deg, place.lon_deg, scenario.air.elevation_m, place.year)


def as_lanes(engine: Engine, tree: Any) -> Any:
    """The tree with every number a lane array that may change from run to run without compiling again.

    Plain 0, 1 and -1 stay as they are: they are structure, and what they are multiplied with then costs nothing. One
    number object, such as a catalogue value that all rotors share, becomes one array: handing over arrays takes time.
    """
    made: dict[int, Any] = {}

    def lane(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return engine.floats(leaf)
        if isinstance(leaf, float | int) and not isinstance(leaf, bool) and leaf not in (0.0, 1.0, -1.0):
            if id(leaf) not in made:
                made[id(leaf)] = engine.scalar(float(leaf))
            return made[id(leaf)]
        return float(leaf) if isinstance(leaf, int) else leaf

    return map_leaves(lane, tree)


def _parts(engine: Engine, scenario: Scenario, values: Values | None) -> Parts:
    """Battery and slung load; plain numbers without `values`."""
    battery = dict(scenario.battery.values) if scenario.battery is not None else {}
    if values is not None:
        battery = device_values(engine, values, "battery", battery)
    load = None
    if scenario.load is not None:
        config = scenario.load
        names = ("mass_kg", "cable_length_m", "stiffness_n_m", "damping_n_s_m", "drag_area_m2")
        numbers = {name: getattr(config, name) for name in names}
        if values is not None:
            numbers = device_values(engine, values, "load", numbers)
        load = LoadParameters(
            **numbers,
            attach_frd_m=Vec3(config.forward_m, config.right_m, config.down_m),
            contact=ground_contact(config.mass_kg, scenario.dt_s),
        )
    return Parts(battery, load, _tether(engine, scenario, values), scenario.air.roof_up_m, scenario.air.wall_north_m)


def _tether(engine: Engine, scenario: Scenario, values: Values | None) -> TetherParameters | None:
    config = scenario.tether
    if config is None:
        return None
    numbers = {name: getattr(config, name) for name in ("cable_length_m", "stiffness_n_m", "damping_n_s_m")}
    if values is not None:
        numbers = device_values(engine, values, "tether", numbers)
    hook = Vec3(config.forward_m, config.right_m, config.down_m)
    return TetherParameters(
        **numbers, attach_frd_m=hook, anchor_ned_m=Vec3(config.north_m, config.east_m, -config.up_m)
    )


def _start(scenario: Scenario, plain: Any, starts: list[StartPose], level: Any, reach_down_m: Any) -> FlightStart:
    rows = len(starts)
    full = np.full
    config, catapult = scenario.start, scenario.start.catapult
    flying = config.up_m is not None
    standing = _standing_up_m(plain, reach_down_m) if catapult is None else catapult.up_m
    leaning = math.radians(catapult.pitch_deg) if catapult is not None else 0.0
    return FlightStart(
        north_m=np.array([s.north_m for s in starts]),
        east_m=np.array([s.east_m for s in starts]),
        up_m=full(rows, config.up_m if flying else standing),
        heading_rad=np.array([s.heading_rad for s in starts]),
        airspeed_m_s=full(rows, config.speed_m_s),
        pitch_rad=full(rows, level.pitch_rad if flying else leaning),
        flying=full(rows, 1.0 if flying else 0.0),
        rotor_speed_rad_s=tuple(full(rows, speed) for speed in level.rotor_speed_rad_s),
        elevator_rad=full(rows, level.elevator_rad if flying else 0.0),
        charge=full(rows, 1.0 if config.charge is None else config.charge),
    )


def _catapult(scenario: Scenario) -> CatapultParameters | None:
    config = scenario.start.catapult
    if config is None:
        return None
    ticks = max(1, math.ceil(TRIGGER_S / scenario.dt_s - 1e-6))
    return CatapultParameters(catapult_speed_m_s(scenario), config.accel_m_s2, config.throttle, float(ticks))


def _standing_up_m(plain: Any, reach_down_m: Any) -> Any:
    """Height of the centre of mass on the gear: the feet sink in until they carry the weight."""
    if not plain.gear:
        return reach_down_m
    stiffness = sum(point.stiffness_n_m for point in plain.gear)
    foot = sum(point.pos_frd_m.z for point in plain.gear) / len(plain.gear)
    return float(foot - plain.mass_kg * STANDARD_GRAVITY_M_S2 / stiffness)
