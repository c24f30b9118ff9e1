"""The autopilot of a scenario's vehicle, with gains from the vehicle's own numbers, and level flight for its start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fieldworthy.control.autopilot import AutopilotOptions, AutopilotParameters
from fieldworthy.control.fixed_wing import FixedWingParameters
from fieldworthy.control.fixed_wing_gains import AirplaneNumbers, fixed_wing_gains
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.control.vtol import VtolParameters
from fieldworthy.control.vtol_autopilot import VtolAutopilotParameters
from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3, STANDARD_GRAVITY_M_S2
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.vec import Mat3, Vec3
from fieldworthy.environment.atmosphere import isa
from fieldworthy.scenario.schema import Scenario
from fieldworthy.vehicles.aerodynamics import aero_parameters
from fieldworthy.vehicles.aircraft import AircraftParameters, AircraftShape


@dataclass(frozen=True)
class Level:
    """How a vehicle must be to fly level, in still air at the height of its start."""

    pitch_rad: float
    elevator_rad: float
    rotor_speed_rad_s: tuple[float, ...]


def autopilot(
    scenario: Scenario, shape: AircraftShape, p: AircraftParameters
) -> tuple[AutopilotOptions, AutopilotParameters]:
    """Options and gains for the vehicle as its catalogue file has it."""
    values: dict[str, Any] = dict(scenario.vehicle.values)
    kind = values["autopilot"]
    lifters, pushers = _groups(values, p)
    if kind == "multirotor":
        laws: Any = _rotor_gains(scenario, values, p, lifters)
    elif kind == "fixed-wing":
        laws = _wing_gains(scenario, values, p, pushers, shape)
    else:
        rotors = _rotor_gains(scenario, values, p, lifters)
        wings = _wing_gains(scenario, values, p, pushers, shape)
        laws = VtolAutopilotParameters(rotors, wings, _change(values))
    options = AutopilotOptions(kind, lifters, pushers, shape.motor)
    return options, AutopilotParameters(laws, p.rotors, p.motors)


def _change(values: dict[str, Any]) -> VtolParameters:
    """When a quadplane changes between rotors and wings: by the airspeeds of its file.

    The wings take over at `airspeed_min_m_s`; the rotors fade out from three quarters of it, unless the file says.
    """
    least = float(values["airspeed_min_m_s"])
    return VtolParameters(
        blend_airspeed_m_s=float(values.get("blend_airspeed_m_s", 0.75 * least)),
        wing_airspeed_m_s=least,
        hover_airspeed_m_s=0.4 * least,
        pusher_throttle=float(values.get("transition_throttle", 1.0)),
        speed_up_limit_s=20.0,
        slow_down_limit_s=40.0,
        fade_s=1.0,
        aligned_rad=0.3,
    )


def _groups(values: dict[str, Any], p: AircraftParameters) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rotors that lift, and rotors that push: by where their thrust goes."""
    lifters = tuple(i for i, rotor in enumerate(p.rotors) if rotor.axis_frd.z < -0.5)
    pushers = tuple(i for i, rotor in enumerate(p.rotors) if rotor.axis_frd.x > 0.5)
    if values["autopilot"] == "fixed-wing":
        return (), pushers
    return lifters, pushers if values["autopilot"] == "vtol" else ()


def _diagonal(p: AircraftParameters) -> Vec3:
    inertia = p.inertia_kg_m2
    return Vec3(inertia.xx, inertia.yy, inertia.zz) if isinstance(inertia, Mat3) else inertia


def _rotor_gains(scenario: Scenario, values: dict[str, Any], p: AircraftParameters, lifters: tuple[int, ...]) -> Any:
    where = f"[vehicle] of {scenario.name}"
    if not lifters:
        raise ScenarioError(Problem(where, "no rotor lifts", "rotor_axis = [0, 0, -1] for rotors that lift"))
    names = ("speed_max_m_s", "climb_max_m_s", "descent_max_m_s")
    limits: dict[str, Any] = {name: float(values[name]) for name in names if name in values}
    if "tilt_max_deg" in values:
        limits["tilt_max_rad"] = math.radians(float(values["tilt_max_deg"]))
    load_kg = scenario.load.mass_kg if scenario.load is not None else 0.0
    rotors = [p.rotors[i] for i in lifters]
    thin = _density_kg_m3(scenario) / SEA_LEVEL_DENSITY_KG_M3
    most = thin * sum(r.thrust_coefficient_n_s2 * r.speed_max_rad_s**2 * -r.axis_frd.z for r in rotors)
    weight = (float(p.mass_kg) + load_kg) * STANDARD_GRAVITY_M_S2
    if most < 1.1 * weight:
        high = f" at {scenario.air.elevation_m:g} m above the sea" if scenario.air.elevation_m else ""
        what = f"the rotors lift {most:.1f} N at most{high}, and it weighs {weight:.1f} N"
        what += " with its load" if load_kg else ""
        need = f"at least {1.1 * weight:.1f} N: a lighter load, more or faster rotors"
        raise ScenarioError(Problem(where, what, need))
    return default_gains(
        float(p.mass_kg) + load_kg,
        _diagonal(p),
        rotors,
        scenario.dt_s,
        load_kg=load_kg,
        softness=float(values.get("autopilot_softness", 1.0)),
        # A tail turns the nose into the wind with more than the rotors have: let it, and keep roll and pitch.
        yaw_share=0.5 if values["autopilot"] == "vtol" else 1.0,
        **limits,
    )


def _wing_gains(
    scenario: Scenario, values: dict[str, Any], p: AircraftParameters, pushers: tuple[int, ...], shape: AircraftShape
) -> FixedWingParameters:
    density = _density_kg_m3(scenario)
    aero = aero_parameters(values)
    cruise = float(values["cruise_airspeed_m_s"])
    angles = [name for name in ("bank", "pitch") if f"{name}_max_deg" in values]
    limits = {f"{name}_max_rad": math.radians(float(values[f"{name}_max_deg"])) for name in angles}
    return fixed_wing_gains(
        aero,
        AirplaneNumbers(
            mass_kg=float(p.mass_kg),
            inertia_kg_m2=_diagonal(p),
            aileron_max_rad=p.surface_max_rad.x,
            elevator_max_rad=p.surface_max_rad.y,
            rudder_max_rad=p.surface_max_rad.z,
            thrust_max_n=density
            / SEA_LEVEL_DENSITY_KG_M3
            * sum(_thrust_n(p, i, p.rotors[i].speed_max_rad_s, cruise, shape) for i in pushers),
            density_kg_m3=density,
            cruise_airspeed_m_s=cruise,
            airspeed_min_m_s=float(values["airspeed_min_m_s"]),
            airspeed_max_m_s=float(values["airspeed_max_m_s"]),
            surface_lag_s=float(p.surface_lag_s),
            **limits,
        ),
    )


def _density_kg_m3(scenario: Scenario, up_m: float = 0.0) -> float:
    """Of the scenario's air at a height above its ground."""
    air = scenario.air
    return float(isa(air.elevation_m + up_m, air.temperature_offset_k, air.sea_level_pressure_pa).density_kg_m3)


def _thrust_n(p: AircraftParameters, i: int, speed_rad_s: float, axial_m_s: float, shape: AircraftShape) -> float:
    rotor = p.rotors[i]
    lost = rotor.inflow_coefficient_n_s2_m * axial_m_s if shape.rotor.inflow else 0.0
    return float((rotor.thrust_coefficient_n_s2 * speed_rad_s - lost) * speed_rad_s)


def catapult_speed_m_s(scenario: Scenario) -> float:
    """At which the scenario's catapult lets its plane go."""
    catapult = scenario.start.catapult
    given = catapult.speed_m_s if catapult is not None else None
    return float(scenario.vehicle.values["cruise_airspeed_m_s"]) if given is None else given  # type: ignore[arg-type]


def level_flight(scenario: Scenario, shape: AircraftShape, p: AircraftParameters) -> Level:
    """Pitch, elevator and rotor speeds of level flight at the start's airspeed; of hover for what hovers.

    Wings: lift and pitching moment balanced at small angles, thrust against drag along the path.
    """
    values: dict[str, Any] = dict(scenario.vehicle.values)
    lifters, pushers = _groups(values, p)
    load_kg = scenario.load.mass_kg if scenario.load is not None else 0.0
    weight = (float(p.mass_kg) + load_kg) * STANDARD_GRAVITY_M_S2
    speeds = [0.0] * len(p.rotors)
    start = scenario.start
    v = catapult_speed_m_s(scenario) if start.catapult is not None else start.speed_m_s
    density = _density_kg_m3(scenario, start.up_m or 0.0)
    thin = density / SEA_LEVEL_DENSITY_KG_M3
    if values["autopilot"] != "fixed-wing":
        lift = thin * sum(p.rotors[i].thrust_coefficient_n_s2 for i in lifters)
        for i in lifters:
            speeds[i] = math.sqrt(weight / lift)
        return Level(0.0, 0.0, tuple(speeds))
    a = aero_parameters(values)
    qs = 0.5 * density * v * v * float(a.area_m2)
    # Two linear equations: lift carries the weight, the pitching moment is nothing.
    det = a.cl_alpha * a.cm_elevator - a.cl_elevator * a.cm_alpha
    lift = weight / qs - a.cl0
    alpha = float((lift * a.cm_elevator + a.cl_elevator * a.cm0) / det)
    elevator = float((-a.cm0 * a.cl_alpha - a.cm_alpha * lift) / det)
    cl = a.cl0 + a.cl_alpha * alpha
    drag = qs * float(a.cd0 + cl * cl * a.area_m2 / (math.pi * a.oswald * a.span_m * a.span_m))
    for i in pushers:
        rotor, share = p.rotors[i], drag / len(pushers) / thin
        kf = float(rotor.thrust_coefficient_n_s2)
        lost = float(rotor.inflow_coefficient_n_s2_m) * v if shape.rotor.inflow else 0.0
        speeds[i] = min((lost + math.sqrt(lost * lost + 4.0 * kf * share)) / (2.0 * kf), float(rotor.speed_max_rad_s))
    return Level(alpha, elevator, tuple(speeds))
