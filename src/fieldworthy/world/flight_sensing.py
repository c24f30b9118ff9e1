"""What the devices of a flying robot read, when their readings are heard, and what a filter makes of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fieldworthy.control import complementary
from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3
from fieldworthy.core.lanes import Scalar, logical_and, maximum, select, sqrt
from fieldworthy.core.random import normals, stream_words, unit_uniform
from fieldworthy.core.struct import add_scaled, map_leaves, where
from fieldworthy.core.vec import Quat, Vec3, rotate_inverse
from fieldworthy.environment.air import AirSample
from fieldworthy.environment.atmosphere import isa, pressure_altitude_m
from fieldworthy.sensors.delivery import collect, delivery_uniforms, first_mailbox, post
from fieldworthy.sensors.imu import ImuReading, first_imu, first_imu_normals, imu_normals, read_imu
from fieldworthy.sensors.sensor_faults import SensorFault, apply_fault, fault_normals
from fieldworthy.sensors.suite import DEVICES
from fieldworthy.sensors.truth import SensorTruth
from fieldworthy.vehicles.aircraft import AircraftParameters, AircraftShape, AircraftState, Loads
from fieldworthy.vehicles.rotor import rotor_thrust_n
from fieldworthy.vehicles.rotor_vibration import vibration_force
from fieldworthy.vehicles.vehicle import Clock
from fieldworthy.world.flight_state import DeviceState, FlightParameters, FlightShape, FlightState

_FIRST_TICK = 0xFFFFFFFF
"""Place in the random streams of what is drawn once, before time begins."""

_BLOCKS = 16
"""Blocks of random words kept for one fault."""

_UNIFORM_BLOCK = 1000
"""Where the uniform numbers of a stream lie, beyond all its normal ones."""


def truth_of(
    shape: AircraftShape,
    p: AircraftParameters,
    state: AircraftState,
    loads: Loads,
    rate_dot: Vec3,
    air: AirSample,
    current_a: Scalar,
    phase_rad: tuple[Scalar, ...],
    t_s: Scalar,
) -> SensorTruth:
    """Everything that the laws of the sensors want to know."""
    body = state.body
    wash, disc = 0.0, 0.0
    vibration = Vec3(0.0, 0.0, 0.0)
    for i, (rotor, speed) in enumerate(zip(p.rotors, state.rotor_speed_rad_s, strict=True)):
        thrust = rotor_thrust_n(rotor, speed, air.density_kg_m3)
        wash, disc = wash + thrust, disc + math.pi * rotor.radius_m * rotor.radius_m
        if phase_rad:
            vibration = vibration + vibration_force(shape.rotor, rotor, phase_rad[i], speed, thrust) / p.mass_kg
    return SensorTruth(
        t_s=t_s,
        pos_ned_m=body.pos_ned_m,
        quat_ned_from_frd=body.quat_ned_from_frd,
        vel_ned_m_s=body.vel_ned_m_s,
        rate_frd_rad_s=body.rate_frd_rad_s,
        rate_dot_frd_rad_s2=rate_dot,
        specific_force_frd_m_s2=loads.force_frd_n / p.mass_kg,
        air_velocity_frd_m_s=loads.air_velocity_frd_m_s,
        density_kg_m3=air.density_kg_m3,
        pressure_pa=air.pressure_pa,
        temperature_k=air.temperature_k,
        current_a=current_a,
        height_above_ground_m=-body.pos_ned_m.z,
        rotor_wash_pa=wash / disc,
        vibration_frd_m_s2=vibration,
    )


def feel(
    shape: FlightShape, p: FlightParameters, state: FlightState, truth: SensorTruth, clock: Clock, first: bool = False
) -> FlightState:
    """The state after the inertial unit's sample of this tick, and with the one that is heard now.

    Limits: the unit is read at every physics tick; who hears it more rarely hears the mean of what came (`tell`), as
        units that sum angles and velocities give it. Its latency is whole ticks, without jitter.
    """
    assert shape.imu is not None
    assert p.imu is not None
    assert state.imu is not None
    scalar_type = type(truth.pos_ned_m.x)
    if first:  # outside of the loop of ticks
        numbers = _drawn_once(p.imu_key, clock.trial, imu_normals(shape.imu), scalar_type, clock.tick)
    else:
        numbers = normals(p.imu_key, clock.trial, clock.tick, imu_normals(shape.imu), scalar_type)
    sample, memory = read_imu(shape.imu, p.imu, truth, state.imu, numbers)
    sample, held = _struck(shape, p, "imu", sample, state.imu_held, clock)
    line = (sample, *state.imu_line)
    arrived, line = line[shape.imu_delay], line[: shape.imu_delay]
    if shape.imu_drops:
        word = stream_words(p.imu_key, clock.trial, clock.tick, _UNIFORM_BLOCK)[0]
        lost = unit_uniform(word, scalar_type) < p.imu_link.dropout
        arrived = where(lost, state.inertial, arrived)
    taken_s = clock.t_s - shape.imu_delay * clock.dt_s
    return replace(
        state,
        imu=memory,
        imu_held=held,
        imu_line=line,
        inertial=arrived,
        inertial_sum=add_scaled(state.inertial_sum, 1.0, arrived),
        inertial_count=state.inertial_count + 1.0,
        inertial_stamp_s=taken_s * (1.0 + p.imu_link.clock_drift) + p.imu_link.clock_offset_s,
    )


def _drawn_once(
    key: tuple[Any, Any], trial: Any, count: int, scalar_type: Any, tick: Any = _FIRST_TICK
) -> tuple[Scalar, ...]:
    """The numbers that `normals` gives, by default before time begins, all blocks side by side: a small kernel, not a
    long one."""
    if not count or not hasattr(trial, "index"):
        return normals(key, trial, tick, count, scalar_type)
    import drjit as dr

    word, blocks = type(trial), -(-count // 4)
    place = dr.arange(word, dr.width(trial) * blocks)
    four = normals(key, dr.gather(word, trial, place // blocks), tick, 4, scalar_type, place % blocks)
    dr.eval(four)
    first = dr.arange(word, dr.width(trial)) * blocks
    return tuple(dr.gather(scalar_type, four[i % 4], first + i // 4) for i in range(count))


def first_inertial(shape: FlightShape, p: FlightParameters, clock: Clock, scalar_type: Any) -> Any:
    """The inertial unit at switch-on; None without one."""
    if shape.imu is None or p.imu is None:
        return None
    count = first_imu_normals(shape.imu)
    return first_imu(shape.imu, p.imu, _drawn_once(p.imu_key, clock.trial, count, scalar_type))


def resting_reading(shape: FlightShape, p: FlightParameters, memory: Any, quat: Quat, air: AirSample) -> ImuReading:
    """What the inertial unit reads on average while the vehicle does not accelerate."""
    assert shape.imu is not None
    assert p.imu is not None
    options, still = shape.imu, Vec3(0.0, 0.0, 0.0)
    slow: dict[str, Any] = {"noise": False, "low_pass": False, "quantisation": False}
    options = replace(options, gyro=replace(options.gyro, **slow), accelerometer=replace(options.accelerometer, **slow))
    held = rotate_inverse(quat, Vec3(0.0, 0.0, -air.gravity_m_s2))
    truth = SensorTruth(
        0.0, still, quat, still, still, still, held, still, air.density_kg_m3, air.pressure_pa, air.temperature_k,
        0.0, 0.0, 0.0, still,
    )  # fmt: skip
    return read_imu(options, p.imu, truth, memory, (0.0,) * imu_normals(options))[0]


def first_devices(shape: FlightShape, p: FlightParameters, clock: Clock, scalar_type: Any) -> dict[str, DeviceState]:
    """All slow devices at switch-on, nothing read."""
    found = {}
    for device in shape.devices:
        laws, numbers = DEVICES[device.name], p.devices[device.name]
        drawn = _drawn_once(numbers.key, clock.trial, laws.first_normals(device.options), scalar_type)
        blank = map_leaves(lambda leaf: leaf, laws.blank(device.options))
        found[device.name] = DeviceState(
            laws.first(device.options, numbers.parameters, drawn),
            first_mailbox(device.delivery, blank),
            {name: map_leaves(lambda leaf: leaf, blank) for name in _freezes(shape, device.name)},
        )
    return found


def first_held(shape: FlightShape) -> dict[str, ImuReading]:
    """What faults of the inertial unit hold on to before the first sample."""
    still = Vec3(0.0, 0.0, 0.0)
    return {name: ImuReading(still, still) for name in _freezes(shape, "imu")}


def watches(shape: FlightShape) -> bool:
    """Whether a device looks at every tick, not only when it reads."""
    return any(DEVICES[device.name].watch is not None for device in shape.devices)


def watch(shape: FlightShape, p: FlightParameters, state: FlightState, truth: SensorTruth) -> dict[str, DeviceState]:
    """All slow devices after this tick's look of those that sum up until they read."""
    found = dict(state.devices)
    for device in shape.devices:
        look, before = DEVICES[device.name].watch, state.devices[device.name]
        if look is not None:
            memory = look(device.options, p.devices[device.name].parameters, truth, before.memory)
            found[device.name] = DeviceState(memory, before.mailbox, before.held)
    return found


def read_devices(
    shape: FlightShape, p: FlightParameters, state: FlightState, truth: SensorTruth, clock: Clock
) -> dict[str, DeviceState]:
    """Let every slow device read that is due at this tick, and send its reading on its way."""
    found = dict(state.devices)
    scalar_type = type(truth.pos_ned_m.x)
    for device in shape.devices:
        laws, numbers, before = DEVICES[device.name], p.devices[device.name], state.devices[device.name]
        due = clock.tick % device.delivery.period_ticks == 0
        drawn = normals(numbers.key, clock.trial, clock.tick, laws.normals(device.options), scalar_type)
        reading, memory = laws.read(device.options, numbers.parameters, truth, before.memory, drawn)
        reading, held = _struck(shape, p, device.name, reading, before.held, clock)
        count = delivery_uniforms(device.delivery)
        uniforms: tuple[Scalar, ...] = ()
        if count:
            words = stream_words(numbers.key, clock.trial, clock.tick, _UNIFORM_BLOCK)
            uniforms = tuple(unit_uniform(word, scalar_type) for word in words[:count])
        mailbox = post(device.delivery, numbers.delivery, before.mailbox, reading, clock.t_s, due, uniforms)
        found[device.name] = DeviceState(where(due, memory, before.memory), mailbox, where(due, held, before.held))
    return found


def hear(shape: FlightShape, p: FlightParameters, state: FlightState, clock: Clock) -> FlightState:
    """Take in what has arrived at this tick: the mailboxes, the filter after it, and where its origin lies."""
    belief, devices, origin, origin_set = state.filter, dict(state.devices), state.origin_ned_m, state.origin_set
    # Half a tick on: sums of seconds in 32 bits must not be late by their last digit.
    now_s = clock.t_s + 0.5 * clock.dt_s
    for name, device in devices.items():
        before = device.mailbox.arrived
        mailbox, fresh = collect(device.mailbox, now_s)
        devices[name] = DeviceState(device.memory, mailbox, device.held)
        if belief is None or p.filter is None:
            continue
        value = mailbox.newest.value
        if name == "gnss":
            fixed = logical_and(fresh, value.fix > 0.5)
            age = select(fixed, clock.t_s - mailbox.newest.stamp_s, 0.0)
            offset = value.pos_ned_m + value.vel_ned_m_s * age - belief.pos_ned_m
            origin = where(logical_and(fixed, origin_set < 0.5), offset, origin)
            origin_set = maximum(origin_set, select(fixed, 1.0, 0.0 * origin_set))
            belief = complementary.correct_gnss(
                shape.filter, p.filter, belief, value.pos_ned_m - origin, value.vel_ned_m_s, age, fixed
            )
        elif name == "barometer":
            height = pressure_altitude_m(select(fresh, value.pressure_pa, 1e5))
            first = logical_and(fresh, before < 0.5)
            zero = select(first, height + belief.pos_ned_m.z, belief.barometer_zero_m)
            belief = complementary.correct_baro(p.filter, replace(belief, barometer_zero_m=zero), height, fresh)
        elif name == "magnetometer":
            belief = complementary.correct_mag(p.filter, belief, value.field_frd_t, p.declination_rad, fresh)
        elif name == "airspeed":
            density = isa(p.origin_altitude_m - belief.pos_ned_m.z).density_kg_m3
            true_speed = value.airspeed_m_s * sqrt(SEA_LEVEL_DENSITY_KG_M3 / density)
            belief = complementary.correct_airspeed(p.filter, belief, true_speed, fresh)
    return replace(state, filter=belief, devices=devices, origin_ned_m=origin, origin_set=origin_set)


def _freezes(shape: FlightShape, device: str) -> list[str]:
    """Numbers of the faults of a device, as text."""
    return [str(i) for i, fault in enumerate(shape.faults) if fault.kind == "sensor" and fault.part == device]


def _struck(
    shape: FlightShape, p: FlightParameters, device: str, reading: Any, held: dict[str, Any], clock: Clock
) -> tuple[Any, dict[str, Any]]:
    """A reading after all faults of its device."""
    kept = {}
    for name in _freezes(shape, device):
        options, numbers = shape.faults[int(name)].sensor, p.faults[int(name)]
        assert options is not None
        fault = SensorFault(numbers.onset_s, numbers.end_s, numbers.size)
        count = fault_normals(options, reading)
        drawn = normals(p.fault_key, clock.trial, clock.tick, count, type(numbers.onset_s), _BLOCKS * int(name))
        reading, kept[name] = apply_fault(options, fault, reading, held[name], clock.t_s + 0.5 * clock.dt_s, drawn)
    return reading, kept
