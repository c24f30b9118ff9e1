"""An airplane, or with four lifting rotors a quadplane, for tests of autopilots: the Aerosonde and a pusher."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import drjit as dr
import numpy as np
from drjit.llvm.ad import Float64, UInt32

from fieldworthy.control.fixed_wing_gains import AirplaneNumbers, fixed_wing_gains
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import WING, Setpoint
from fieldworthy.core.integrate import rk4
from fieldworthy.core.lanes import clip
from fieldworthy.core.rigid_body import RigidBodyState, normalised_step, rigid_body_rates
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Mat3, Vec3, cross, norm, quat_from_euler_zyx, rotate, rotate_inverse
from fieldworthy.vehicles.aerodynamics import AeroOptions, AeroParameters, Surfaces, aero_parameters, aero_wrench

_FILE = resources.files("fieldworthy.catalog") / "aircraft" / "aerosonde.toml"
_VALUES = {name: item["value"] for name, item in tomllib.loads(_FILE.read_text("utf-8"))["values"].items()}
AERO = aero_parameters(_VALUES)
MASS, GRAVITY, DENSITY = 11.0, 9.80665, 1.225
JX, JY, JZ, JXZ = 0.8244, 1.135, 1.759, 0.1204
INERTIA = Vec3(JX, JY, JZ)
DEFLECTION, SURFACE_LAG = math.radians(25.0), 0.05
THRUST_MAX, THRUST_LAG, ROTOR_LAG = 60.0, 0.1, 0.05
NUMBERS = AirplaneNumbers(
    mass_kg=MASS, inertia_kg_m2=INERTIA, aileron_max_rad=DEFLECTION, elevator_max_rad=DEFLECTION,
    rudder_max_rad=DEFLECTION, thrust_max_n=THRUST_MAX, cruise_airspeed_m_s=25.0, airspeed_min_m_s=17.0,
    airspeed_max_m_s=35.0, surface_lag_s=SURFACE_LAG,
)  # fmt: skip
GAINS = fixed_wing_gains(AERO, NUMBERS)


@dataclass
class LiftRotor:
    pos_frd_m: Vec3
    axis_frd: Vec3
    spin: float
    torque_ratio_m: float = 0.02
    thrust_coefficient_n_s2: float = 1.2e-4
    speed_min_rad_s: float = 0.0
    speed_max_rad_s: float = 700.0
    lag_up_s: float = ROTOR_LAG
    lag_down_s: float = ROTOR_LAG


_UP = Vec3(0.0, 0.0, -1.0)
LIFT_ROTORS = tuple(
    LiftRotor(Vec3(x, y, 0.0), _UP, spin) for x, y, spin in ((0.6, 0.6, 1.0), (-0.6, -0.6, 1.0), (0.6, -0.6, -1.0),
                                                             (-0.6, 0.6, -1.0))
)  # fmt: skip


@dataclass
class PlaneState:
    body: RigidBodyState
    aileron: Any
    elevator: Any
    rudder: Any
    thrust: Any
    lift: tuple[Any, ...]


@dataclass
class PlaneCommand:
    aileron: Any
    elevator: Any
    rudder: Any
    throttle: Any
    lift: tuple[Any, ...] = ()


Autopilot = Callable[[Any, Estimate, Any], tuple[PlaneCommand, Any, tuple[Any, ...]]]
"""(time, estimate, memory) -> (command, memory, numbers to log)."""


def start(
    airspeed: Any = 25.0, up: Any = 100.0, heading: Any = 0.0, wind: Vec3 | None = None, rotors: int = 0
) -> PlaneState:
    """Level through the air; at rest in hover when there are rotors."""
    w = wind or Vec3(0.0, 0.0, 0.0)
    pitch = 0.0 if rotors else 0.05
    vel = Vec3(airspeed * math.cos(heading), airspeed * math.sin(heading), 0.0) + w
    body = RigidBodyState(Vec3(0.0, 0.0, -up), quat_from_euler_zyx(0.0, pitch, heading), vel, Vec3(0.0, 0.0, 0.0))
    lift = (MASS * GRAVITY / rotors,) * rotors if rotors else ()
    return PlaneState(body, 0.0, 0.0, 0.0, 0.0 if rotors else 12.0, lift)


def rates(s: PlaneState, c: PlaneCommand, aero: AeroParameters, wind: Vec3) -> PlaneState:
    b = s.body
    through = rotate_inverse(b.quat_ned_from_frd, b.vel_ned_m_s - wind)
    air = aero_wrench(
        AeroOptions(), aero, through, b.rate_frd_rad_s, Surfaces(s.aileron, s.elevator, s.rudder), DENSITY
    )
    force, moment = air.force_frd_n + Vec3(s.thrust, 0.0, 0.0), air.moment_frd_n_m
    for rotor, thrust in zip(LIFT_ROTORS, s.lift, strict=False):
        push = rotor.axis_frd * thrust
        force, moment = force + push, moment + cross(rotor.pos_frd_m, push)
        moment = moment - push * (rotor.spin * rotor.torque_ratio_m)
    weight = Vec3(0.0, 0.0, MASS * GRAVITY)
    inertia = Mat3(JX, 0.0, -JXZ, 0.0, JY, 0.0, -JXZ, 0.0, JZ)
    body = rigid_body_rates(b, rotate(b.quat_ned_from_frd, force) + weight, moment, MASS, inertia)
    lag = lambda wanted, got, tau: (wanted - got) / tau  # noqa: E731
    return PlaneState(
        body,
        lag(c.aileron * DEFLECTION, s.aileron, SURFACE_LAG),
        lag(c.elevator * DEFLECTION, s.elevator, SURFACE_LAG),
        lag(c.rudder * DEFLECTION, s.rudder, SURFACE_LAG),
        lag(clip(c.throttle, 0.0, 1.0) * THRUST_MAX, s.thrust, THRUST_LAG),
        tuple(lag(a, b, ROTOR_LAG) for a, b in zip(c.lift, s.lift, strict=True)),
    )


def truth(s: PlaneState, wind: Vec3) -> Estimate:
    b = s.body
    return Estimate(b.pos_ned_m, b.vel_ned_m_s, b.quat_ned_from_frd, b.rate_frd_rad_s, norm(b.vel_ned_m_s - wind))


def fly(
    autopilot: Autopilot,
    memory: Callable[[Estimate], Any],
    begin: PlaneState,
    duration_s: float,
    aero: AeroParameters = AERO,
    wind: Vec3 | None = None,
    dt_s: float = 0.01,
    lanes: int = 1,
    extra: tuple[str, ...] = (),
) -> dict[str, np.ndarray]:
    """Closed loop, compiled. Arrays (steps, lanes) by name; angles in degrees."""
    w = wind or Vec3(0.0, 0.0, 0.0)
    steps = round(duration_s / dt_s)
    wide = lambda tree: map_leaves(lambda x: dr.zeros(Float64, lanes) + x, tree)  # noqa: E731
    state = wide(begin)
    kept = wide(memory(truth(state, w)))
    names = ("n", "e", "d", "qw", "qx", "qy", "qz", "vn", "ve", "vd", "u", "v", "w", "airspeed", "throttle", "aileron",
             "elevator", "rudder", *extra)  # fmt: skip
    log = {name: dr.zeros(Float64, steps * lanes) for name in names}
    lane = dr.arange(UInt32, lanes)

    def body(tick: Any, state: PlaneState, kept: Any) -> tuple[Any, PlaneState, Any]:
        estimate = truth(state, w)
        command, kept, numbers = autopilot(Float64(tick) * dt_s, estimate, kept)
        b = state.body
        through = rotate_inverse(b.quat_ned_from_frd, b.vel_ned_m_s - w)
        values = (*b.pos_ned_m, *b.quat_ned_from_frd, *b.vel_ned_m_s, *through, estimate.airspeed_m_s)
        inputs = (command.throttle, command.aileron, command.elevator, command.rudder)
        for name, value in zip(names, (*values, *inputs, *numbers), strict=True):
            dr.scatter(log[name], Float64(value), tick * lanes + lane)
        state = normalised_step(rk4, lambda s: rates(s, command, aero, w), state, dt_s)
        return tick + 1, wide(state), wide(kept)

    dr.while_loop((dr.zeros(UInt32, lanes), state, kept), lambda tick, *_: tick < steps, body)
    r = {name: np.asarray(values).reshape(steps, lanes) for name, values in log.items()}
    qw, qx, qy, qz = (r[name] for name in ("qw", "qx", "qy", "qz"))
    r["roll"] = np.degrees(np.arctan2(2 * (qw * qx + qy * qz), 1 - 2 * (qx * qx + qy * qy)))
    r["pitch"] = np.degrees(np.arcsin(np.clip(2 * (qw * qy - qx * qz), -1, 1)))
    r["yaw"] = np.degrees(np.arctan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)))
    r["beta"] = np.degrees(np.arctan2(r["v"], np.hypot(r["u"], r["w"])))
    r["alpha"] = np.degrees(np.arctan2(r["w"], r["u"]))
    r["up"] = -r["d"]
    r["t"] = np.arange(steps)[:, None] * dt_s
    return r


def wing_setpoint(**values: Any) -> Setpoint:
    """Along the line to due north at 100 m unless said otherwise."""
    base = Setpoint(
        north_m=1e5, east_m=0.0, up_m=100.0, north_m_s=0.0, east_m_s=0.0, up_m_s=0.0, heading_rad=0.0,
        airspeed_m_s=0.0, from_north_m=0.0, from_east_m=0.0, speed_max_m_s=0.0, way=WING,
    )  # fmt: skip
    return replace(base, **values)
