"""The reference quadrotor of shared/bench/limit_quad.c with its options: what quad_step.py measures.

A case is a tree of lanes to start from and a tick that moves it by one step of RK4, with all that happens once a tick
(turbulence, inertial unit) around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fieldworthy.catalog import load_entry
from fieldworthy.core.engine import Engine
from fieldworthy.core.random import normals, stream_key
from fieldworthy.core.rigid_body import RigidBodyState
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Quat, Vec3
from fieldworthy.environment import turbulence, wind
from fieldworthy.environment.air import AirOptions, AirParameters, sample
from fieldworthy.sensors.devices import imu_device
from fieldworthy.sensors.imu import first_imu, first_imu_normals, imu_normals, read_imu
from fieldworthy.sensors.truth import SensorTruth
from fieldworthy.vehicles.aircraft import (
    Actuators,
    AircraftParameters,
    AircraftShape,
    AircraftState,
    aircraft_loads,
    aircraft_rates,
    aircraft_step,
    supply,
)
from fieldworthy.vehicles.battery import BatteryOptions, BatteryParameters, first_battery
from fieldworthy.vehicles.body_drag import BodyDragParameters
from fieldworthy.vehicles.landing_gear import landing_gear
from fieldworthy.vehicles.motor import MotorOptions, MotorParameters
from fieldworthy.vehicles.rotor import RotorOptions, RotorParameters
from fieldworthy.vehicles.tether import LoadParameters, LoadState

DT_S, ARM_M = 1e-3, 0.2
GRAVITY_M_S2, DENSITY_KG_M3 = 9.81, 1.225
START_RAD_S, COMMAND_RAD_S, FULL_RAD_S = 700.0, 705.0, 1000.0
MASS_KG, INERTIA_KG_M2 = 2.0, Vec3(0.0143, 0.0143, 0.026)

# Forward and right arm, sense of spin about the shaft (which points up): as in the C program.
LAYOUT = ((1.0, 1.0, -1.0), (-1.0, -1.0, -1.0), (1.0, -1.0, 1.0), (-1.0, 1.0, 1.0))
STILL_AIR = AirOptions(standard_atmosphere=False)
ROTOR_DRAG, PLAIN_MOTOR = RotorOptions(drag=True), MotorOptions()


@dataclass(frozen=True)
class Case:
    """Options of one measurement; those left alone are the C program's."""

    name: str
    rotor: RotorOptions = ROTOR_DRAG
    motor: MotorOptions = PLAIN_MOTOR
    drag_by_axis: bool = False
    numbers: str = "in the code"
    """Of the vehicle: "in the code", "arguments" of the kernel, or "by lane"."""
    air: AirOptions = STILL_AIR
    battery: bool = False
    gear: bool = False
    load: bool = False
    imu: bool = False


def rotors(options: RotorOptions) -> tuple[RotorParameters, ...]:
    """Four rotors; the numbers of the effects beyond the C program's are plausible for 10 inch propellers."""
    return tuple(
        RotorParameters(
            pos_frd_m=Vec3(ARM_M * forward, ARM_M * right, 0.0), axis_frd=Vec3(0.0, 0.0, -1.0), spin=spin,
            thrust_coefficient_n_s2=1e-5, torque_ratio_m=0.016, radius_m=0.127, speed_max_rad_s=FULL_RAD_S,
            lag_up_s=0.03, lag_down_s=0.03, drag_coefficient_n_s2_m=1e-4, inflow_coefficient_n_s2_m=2e-4,
            flapping_gain=0.5, flapping_cross_gain=0.1, flapping_hub_arm_m=0.01,
            axial_inertia_kg_m2=6e-5,
        )
        for forward, right, spin in LAYOUT
    )  # fmt: skip


def vehicle(case: Case, engine: Engine, lanes: int) -> tuple[AircraftShape, AircraftParameters]:
    """Shape and numbers of a case."""
    inertia, drag = INERTIA_KG_M2, BodyDragParameters(Vec3(0.05, 0.05, 0.05))
    battery_options, battery = pack() if case.battery else (None, None)
    load = LoadParameters(0.3, 2.0, 300.0, 4.0, 0.01, Vec3(0.0, 0.0, 0.05)) if case.load else None
    feet = tuple(Vec3(0.15 * forward, 0.15 * right, 0.2) for forward, right, _ in LAYOUT)
    gear = landing_gear(feet, MASS_KG, inertia, DT_S) if case.gear else ()
    shape = AircraftShape(
        rotor=case.rotor, motor=case.motor, same_drag_all_round=not case.drag_by_axis, battery=battery_options,
        gear=case.gear, load=case.load,
    )  # fmt: skip
    motors = (MotorParameters(nominal_voltage_v=14.8),) * 4
    p = AircraftParameters(
        mass_kg=MASS_KG, inertia_kg_m2=inertia, rotors=rotors(case.rotor), motors=motors, drag=drag, battery=battery,
        avionics_power_w=5.0 if case.battery else 0.0, gear=gear, load=load,
    )  # fmt: skip
    if case.numbers != "in the code":
        p = _as_data(p, engine, 1 if case.numbers == "arguments" else lanes)
    return shape, p


def _as_data(p: AircraftParameters, engine: Engine, width: int) -> AircraftParameters:
    """What a fleet differs in, 5 % around its value: mass, inertia, drag; thrust, torque, drag and lag of rotors."""
    draw = np.random.default_rng(1)

    def about(value: float) -> Any:
        return engine.floats(value * (1.0 + (0.05 * draw.standard_normal(width) if width > 1 else np.zeros(1))))

    def rotor(r: RotorParameters) -> RotorParameters:
        lag = about(r.lag_up_s)
        return replace(
            r, thrust_coefficient_n_s2=about(r.thrust_coefficient_n_s2), torque_ratio_m=about(r.torque_ratio_m),
            drag_coefficient_n_s2_m=about(r.drag_coefficient_n_s2_m), lag_up_s=lag, lag_down_s=lag,
        )  # fmt: skip

    area = about(p.drag.drag_area_m2.x)
    return replace(
        p, mass_kg=about(p.mass_kg), inertia_kg_m2=Vec3(*(about(i) for i in INERTIA_KG_M2)),
        rotors=tuple(rotor(r) for r in p.rotors), drag=BodyDragParameters(Vec3(area, area, area)),
    )  # fmt: skip


def pack() -> tuple[BatteryOptions, BatteryParameters]:
    """The catalogue's 4-cell pack, with its temperature."""
    values = load_entry("battery", "lipo-4s-5000mah").values
    options = BatteryOptions(tuple(values["soc_knots"]), tuple(values["temperature_knots_k"]), thermal=True)
    names = (
        "cells", "capacity_c", "transient_resistance_ohm", "transient_capacitance_f", "cut_off_v", "low_v",
        "heat_capacity_j_k", "cooling_w_k",
    )  # fmt: skip
    tables = {
        "open_circuit_v": tuple(values["open_circuit_v"]),
        "resistance_ohm": tuple(tuple(row) for row in values["resistance_ohm"]),
    }
    return options, BatteryParameters(**{name: float(values[name]) for name in names}, **tables)


def air_numbers(case: Case) -> AirParameters:
    """5 m/s of wind and moderate turbulence, where they are on."""
    gust = wind.Gust(1.0, 1.0, 1.0, Vec3(3.0, 0.0, 0.0))
    blowing = wind.WindParameters(5.0, 0.0, gusts=(gust,) if case.air.wind and case.air.wind.gusts else ())
    return AirParameters(
        gravity_m_s2=GRAVITY_M_S2, constant_density_kg_m3=DENSITY_KG_M3, wind=blowing,
        turbulence=turbulence.TurbulenceParameters(15.4),
    )  # fmt: skip


def prepare(case: Case, engine: Engine, lanes: int) -> tuple[Any, Any, Callable[[Any, Any, Any], Any]]:
    """(start, numbers, tick): lanes to start from, what stays as it is, and tick(state, numbers, count)."""
    shape, parameters = vehicle(case, engine, lanes)
    air_p, key = air_numbers(case), stream_key(1, "benchmark")
    throttle = tuple(engine.floats(np.full(lanes, COMMAND_RAD_S / FULL_RAD_S)) for _ in LAYOUT)
    numbers = {"vehicle": parameters, "trial": engine.indices(lanes), "command": Actuators(throttle)}
    gusty = case.air.turbulence.model != "none"
    drawn = turbulence.normals_needed(case.air.turbulence)

    def spread(tree: Any) -> Any:
        # Each leaf its own array: Dr.Jit would find equal ones to be one variable and drop work that C has to do.
        return map_leaves(lambda leaf: engine.floats(np.broadcast_to(np.asarray(leaf, engine.dtype), lanes)), tree)

    body = RigidBodyState(Vec3(0.0, 0.0, 0.0), Quat(1.0, 0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
    start: dict[str, Any] = {
        "vehicle": AircraftState(
            body, (START_RAD_S,) * 4, battery=first_battery() if case.battery else None,
            load=LoadState(Vec3(0.0, 0.0, 2.05), Vec3(0.0, 0.0, 0.0)) if case.load else None,
        )
    }  # fmt: skip
    if gusty:
        start["turbulence"] = turbulence.first(case.air.turbulence, (0.5,) * drawn)
    if case.imu:
        imu_options, imu_p = imu_device(load_entry("imu", "bmi088").values, DT_S)
        imu_key = stream_key(1, "benchmark.imu")
        start["imu"] = first_imu(imu_options, imu_p, (0.5,) * first_imu_normals(imu_options))
        start["heard"] = (Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))

    def tick(state: dict[str, Any], numbers: dict[str, Any], count: Any) -> dict[str, Any]:
        flying: AircraftState = state["vehicle"]
        p: AircraftParameters = numbers["vehicle"]
        command: Actuators = numbers["command"]
        now, t_s = dict(state), engine.Float(count) * DT_S
        height_m, gust_ned = 10.0 - flying.body.pos_ned_m.z, None
        if gusty:
            gust_ned, now["turbulence"] = _gust(state["turbulence"], flying, height_m, (numbers["trial"], count))
        at = Vec3(flying.body.pos_ned_m.x, flying.body.pos_ned_m.y, -height_m)
        air = sample(case.air, air_p, at, t_s, gust_ned)
        after = now["vehicle"] = aircraft_step(shape, p, flying, command, air, DT_S)
        if case.imu:
            reading, now["imu"] = _read(after, numbers, air, state["imu"], t_s, count)
            # Somebody listens: what nobody uses would be left out of the kernel.
            heard = state["heard"]
            now["heard"] = (heard[0] + reading.rate_frd_rad_s, heard[1] + reading.specific_force_frd_m_s2)
        return now

    def _gust(before: Any, flying: AircraftState, height_m: Any, when: Any) -> tuple[Vec3, Any]:
        options, p = case.air.turbulence, air_p.turbulence
        numbers = normals(key, *when, drawn, engine.Float)
        mean = wind.mean_wind_ned_m_s(case.air.wind, air_p.wind, height_m) if case.air.wind else Vec3(0.0, 0.0, 0.0)
        through = flying.body.vel_ned_m_s - mean
        speed = turbulence.convection_m_s(abs(through.x) + abs(through.y), 5.0)
        moved = turbulence.step(options, p, before, height_m, speed, 0.5, DT_S, numbers)
        gust = turbulence.gust_m_s(options, p, moved, height_m)
        return turbulence.gust_ned(gust, turbulence.gust_axes(through, mean)), moved

    def _read(flying: AircraftState, numbers: dict[str, Any], air: Any, memory: Any, t_s: Any, count: Any) -> Any:
        p: AircraftParameters = numbers["vehicle"]
        loads = aircraft_loads(shape, p, flying, air)
        rates = aircraft_rates(shape, p, flying, numbers["command"], air)
        current = supply(shape, p, flying, air)[1] if case.battery else 0.0
        truth = SensorTruth(
            t_s, flying.body.pos_ned_m, flying.body.quat_ned_from_frd, flying.body.vel_ned_m_s,
            flying.body.rate_frd_rad_s, rates.body.rate_frd_rad_s, loads.force_frd_n * (1.0 / p.mass_kg),
            loads.air_velocity_frd_m_s, air.density_kg_m3, air.pressure_pa, air.temperature_k, current,
            -flying.body.pos_ned_m.z, 0.0, Vec3(0.0, 0.0, 0.0),
        )  # fmt: skip
        noise = normals(imu_key, numbers["trial"], count, imu_normals(imu_options), engine.Float)
        return read_imu(imu_options, imu_p, truth, memory, noise)

    return spread(start), numbers, tick


BASE = Case("float32, numbers in the code")

_WIND = wind.WindOptions("log", gusts=1)
_ALL_ROTOR = RotorOptions(
    drag=True, drag_at_hub=True, flapping=True, inflow=True, ground_effect=True, ceiling_effect=True, wall_effect=True,
    gyroscopic=True,
)  # fmt: skip
_DRYDEN = AirOptions(_WIND, turbulence.TurbulenceOptions("dryden"))

OPTIONS = (
    Case("numbers as arguments of the kernel", numbers="arguments"),
    Case("numbers that differ in every lane", numbers="by lane"),
    Case("rotor drag at the hubs", RotorOptions(drag=True, drag_at_hub=True)),
    Case("flapping", RotorOptions(drag=True, flapping=True)),
    Case("inflow", RotorOptions(drag=True, inflow=True)),
    Case("ground effect", RotorOptions(drag=True, ground_effect=True)),
    Case("ceiling effect", RotorOptions(drag=True, ceiling_effect=True)),
    Case("wall effect", RotorOptions(drag=True, wall_effect=True)),
    Case("gyroscopic moments", RotorOptions(drag=True, gyroscopic=True)),
    Case("body drag by axis", drag_by_axis=True),
    Case("motor curve: three constants", motor=MotorOptions("dc-motor")),
    Case("battery with sag, temperature and voltage to the motors", motor=MotorOptions("speed", True), battery=True),
    Case("landing gear", gear=True),
    Case("slung load", load=True),
    Case("standard atmosphere", air=AirOptions()),
    Case("mean wind, log profile, one gust", air=AirOptions(_WIND, standard_atmosphere=False)),
    Case("Dryden turbulence in it", air=replace(_DRYDEN, standard_atmosphere=False)),
    Case("von Karman turbulence in it",
         air=AirOptions(_WIND, turbulence.TurbulenceOptions("von-karman"), standard_atmosphere=False)),
    Case("inertial unit BMI088 at every tick", imu=True),
    Case("all of the above (Dryden), numbers by lane", _ALL_ROTOR, MotorOptions("dc-motor", True), True, "by lane",
         _DRYDEN, True, True, True, True),
)  # fmt: skip
