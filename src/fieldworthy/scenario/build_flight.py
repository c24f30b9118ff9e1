"""A flying robot of a scenario: vehicle, devices, filter and autopilot in lanes, the air, and where it starts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.catalog import DEVICES as DEVICE_KINDS
from fieldworthy.control.complementary import FilterOptions, FilterParameters
from fieldworthy.control.flight_readings import FlightReadings
from fieldworthy.core.engine import Engine
from fieldworthy.core.random import stream_key
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds
from fieldworthy.core.vec import Vec3
from fieldworthy.scenario.build_air import air_options, air_parameters
from fieldworthy.scenario.build_autopilot import autopilot, level_flight
from fieldworthy.scenario.build_faults import fault_numbers, fault_shapes
from fieldworthy.scenario.draw import StartPose
from fieldworthy.scenario.mover import Mover
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values
from fieldworthy.sensors.delivery import DeliveryOptions, DeliveryParameters, slots_needed
from fieldworthy.sensors.devices import imu_device, is_on
from fieldworthy.sensors.earth_field import DEFAULT_FIELD_NED_T, declination_rad, earth_field_ned_t
from fieldworthy.sensors.suite import DEVICES
from fieldworthy.vehicles.compose import EffectSwitches, Parts, compose
from fieldworthy.vehicles.tether import LoadParameters, TetherParameters
from fieldworthy.world.flight import flight_vehicle
from fieldworthy.world.flight_state import (
    DeviceNumbers,
    DeviceShape,
    FlightParameters,
    FlightShape,
    FlightStart,
)


def build_flight(
    engine: Engine, scenario: Scenario, values: Values, trials: NDArray[np.uint32], starts: list[StartPose]
) -> Mover:
    """What a world needs of a flying robot."""
    nominal: dict[str, Any] = dict(scenario.vehicle.values)
    drawn = {name: _drawn(engine, values, f"vehicle.{name}", value) for name, value in nominal.items()}
    parts = _parts(engine, scenario, values)
    wanted = {name: getattr(scenario.effects, name) for name in scenario.effects.__struct_fields__}
    effects = EffectSwitches(**wanted, gear=True)
    shape, craft = compose(drawn, effects, parts, scenario.dt_s, nominal)
    plain_shape, plain = compose(nominal, effects, _parts(engine, scenario, None), scenario.dt_s)
    pilot_options, pilot = None, None
    if scenario.control.commands != "actuators":
        pilot_options, pilot = autopilot(scenario, plain_shape, plain)
    estimated = scenario.control.navigation != "truth"
    field = _earth_field(scenario)
    imu_options, imu, imu_link = None, None, DeliveryParameters()
    if scenario.sensors.imu is not None:
        given = _device_values(engine, values, "sensors.imu", scenario.sensors.imu.values)
        # Vibration is felt by the unit only where the vehicle makes any.
        imu_options, imu = imu_device({**given, "vibration": float(shape.rotor.vibration)}, scenario.dt_s)
        imu_link = _link(given, given.get("dropout", 0.0))
    devices, numbers = _devices(engine, scenario, values, field)
    faults = fault_shapes(scenario)
    level = level_flight(scenario, plain_shape, plain)
    flight = FlightShape(
        aircraft=shape,
        air=air_options(engine, scenario),
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
        imu_delay=_imu_delay(scenario),
        imu_drops=is_on(imu_link.dropout),
        span_m=float(nominal.get("aero_span_m", 0.0)),
    )
    reach_side = max(math.hypot(*point) for point in nominal["outline_m"])
    parameters = FlightParameters(
        aircraft=craft,
        autopilot=pilot,
        filter=_filter(scenario) if estimated else None,
        imu=imu,
        imu_link=imu_link,
        imu_key=_key(engine, scenario, "imu"),
        turbulence_key=_key(engine, scenario, "turbulence"),
        devices=numbers,
        faults=fault_numbers(scenario, trials),
        fault_key=_key(engine, scenario, "sensor faults"),
        origin_altitude_m=scenario.air.elevation_m,
        declination_rad=declination_rad(field),
        reach_down_m=float(nominal["reach_down_m"]),
        reach_side_m=reach_side,
        crash_speed_m_s=drawn["crash_speed_m_s"],
    )
    start = _start(scenario, plain, starts, level)
    period = tuple(sorted({device.delivery.period_ticks for device in devices}))
    return Mover(
        vehicle=flight_vehicle(flight),
        parameters=as_lanes(engine, parameters),
        medium=as_lanes(engine, air_parameters(engine, scenario, values)),
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


def _drawn(engine: Engine, values: Values, path: str, value: Any) -> Any:
    """A number of a catalogue file, or the lanes that a trial has drawn for it."""
    if not isinstance(value, float):
        return value
    found = values.numbers(path, value)
    return engine.floats(found) if isinstance(found, np.ndarray) else found


def _device_values(engine: Engine, values: Values, home: str, given: dict[str, Any]) -> dict[str, Any]:
    return {name: _drawn(engine, values, f"{home}.{name}", value) for name, value in given.items()}


def _parts(engine: Engine, scenario: Scenario, values: Values | None) -> Parts:
    """Battery and slung load; plain numbers without `values`."""
    battery = dict(scenario.battery.values) if scenario.battery is not None else {}
    if values is not None:
        battery = _device_values(engine, values, "battery", battery)
    load = None
    if scenario.load is not None:
        config = scenario.load
        names = ("mass_kg", "cable_length_m", "stiffness_n_m", "damping_n_s_m", "drag_area_m2")
        numbers = {name: getattr(config, name) for name in names}
        if values is not None:
            numbers = _device_values(engine, values, "load", numbers)
        load = LoadParameters(**numbers, attach_frd_m=Vec3(config.forward_m, config.right_m, config.down_m))
    return Parts(battery, load, _tether(engine, scenario, values), scenario.air.roof_up_m, scenario.air.wall_north_m)


def _tether(engine: Engine, scenario: Scenario, values: Values | None) -> TetherParameters | None:
    config = scenario.tether
    if config is None:
        return None
    numbers = {name: getattr(config, name) for name in ("cable_length_m", "stiffness_n_m", "damping_n_s_m")}
    if values is not None:
        numbers = _device_values(engine, values, "tether", numbers)
    hook = Vec3(config.forward_m, config.right_m, config.down_m)
    return TetherParameters(
        **numbers, attach_frd_m=hook, anchor_ned_m=Vec3(config.north_m, config.east_m, -config.up_m)
    )


def _devices(
    engine: Engine, scenario: Scenario, values: Values, field: Vec3
) -> tuple[tuple[DeviceShape, ...], dict[str, DeviceNumbers]]:
    shapes, numbers = [], {}
    dt_s = scenario.dt_s
    for name in DEVICE_KINDS:
        config = getattr(scenario.sensors, name)
        if name == "imu" or config is None:
            continue
        given = _device_values(engine, values, f"sensors.{name}", config.values)
        period = ticks_from_rate(float(config.values["rate_hz"]), dt_s, f"sensors.{name}.rate_hz")
        options, parameters = DEVICES[name].make(given, period * dt_s, field)
        latency, jitter = float(config.values.get("latency_s", 0.0)), float(config.values.get("jitter_s", 0.0))
        # A range finder's own dropout is a missing echo; a link's is a letter lost.
        lost = 0.0 if name == "rangefinder" else given.get("dropout", 0.0)
        delivery = _link(given, lost)
        shapes.append(
            DeviceShape(
                name,
                options,
                DeliveryOptions(
                    period_ticks=period,
                    slots=slots_needed(latency, jitter, period * dt_s),
                    jitter=is_on(delivery.jitter_s),
                    dropout=is_on(delivery.dropout),
                    clock=is_on(delivery.clock_offset_s) or is_on(delivery.clock_drift),
                ),
            )
        )
        numbers[name] = DeviceNumbers(parameters, delivery, _key(engine, scenario, name))
    return tuple(shapes), numbers


def _link(given: dict[str, Any], lost: Any) -> DeliveryParameters:
    """What happens to the readings of a device on their way."""
    return DeliveryParameters(
        latency_s=given.get("latency_s", 0.0),
        jitter_s=given.get("jitter_s", 0.0),
        clock_offset_s=given.get("clock_offset_s", 0.0),
        clock_drift=given.get("clock_drift_ppm", 0.0) * 1e-6,
        dropout=lost,
    )


def _imu_delay(scenario: Scenario) -> int:
    """Ticks from a sample of the inertial unit to its being heard."""
    if scenario.sensors.imu is None:
        return 0
    latency = float(scenario.sensors.imu.values.get("latency_s", 0.0))
    return ticks_from_seconds(latency, scenario.dt_s, "sensors.imu.latency_s")


def _key(engine: Engine, scenario: Scenario, stream: str) -> tuple[Any, Any]:
    first, second = stream_key(scenario.seed, stream)
    return engine.counter(first), engine.counter(second)


def _filter(scenario: Scenario) -> FilterParameters:
    def period(name: str) -> float:
        config = getattr(scenario.sensors, name)
        return 1.0 / float(config.values["rate_hz"]) if config is not None else 0.1

    return FilterParameters(
        gravity_m_s2=9.80665,
        gnss_period_s=period("gnss"),
        barometer_period_s=period("barometer"),
        magnetometer_period_s=period("magnetometer"),
        airspeed_period_s=period("airspeed"),
    )


def _start(scenario: Scenario, plain: Any, starts: list[StartPose], level: Any) -> FlightStart:
    rows = len(starts)
    full = np.full
    config = scenario.start
    flying = config.up_m is not None
    standing = _standing_up_m(plain, scenario)
    return FlightStart(
        north_m=np.array([s.north_m for s in starts]),
        east_m=np.array([s.east_m for s in starts]),
        up_m=full(rows, config.up_m if flying else standing),
        heading_rad=np.array([s.heading_rad for s in starts]),
        airspeed_m_s=full(rows, config.speed_m_s),
        pitch_rad=full(rows, level.pitch_rad if flying else 0.0),
        flying=full(rows, 1.0 if flying else 0.0),
        rotor_speed_rad_s=tuple(full(rows, speed) for speed in level.rotor_speed_rad_s),
        elevator_rad=full(rows, level.elevator_rad if flying else 0.0),
        charge=full(rows, 1.0 if config.charge is None else config.charge),
    )


def _standing_up_m(plain: Any, scenario: Scenario) -> float:
    """Height of the centre of mass on the gear: the feet sink in until they carry the weight."""
    if not plain.gear:
        return float(scenario.vehicle.values["reach_down_m"])  # type: ignore[arg-type]
    stiffness = sum(point.stiffness_n_m for point in plain.gear)
    foot = sum(point.pos_frd_m.z for point in plain.gear) / len(plain.gear)
    return float(foot - plain.mass_kg * 9.80665 / stiffness)
