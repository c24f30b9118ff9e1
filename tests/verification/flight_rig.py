"""A quadrotor for tests of control laws: rigid body, thrust k_f w^2, motor lag; nothing of `fieldworthy.vehicles`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import drjit as dr
import numpy as np
from drjit.llvm.ad import Float64, UInt32

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor import MultirotorOptions, first_multirotor_state, multirotor_control
from fieldworthy.control.setpoint import HOVER, Setpoint
from fieldworthy.core.integrate import rk4
from fieldworthy.core.lanes import maximum, sqrt
from fieldworthy.core.rigid_body import RigidBodyState, normalised_step, rigid_body_rates
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.vec import Quat, Vec3, quat_identity, rotate

GRAVITY = 9.80665
MASS = 2.0
INERTIA = Vec3(0.0143, 0.0143, 0.026)
ARM = 0.174
KAPPA = 0.016
K_F = 1.0811e-5
LAG = 0.030


@dataclass
class RigRotor:
    pos_frd_m: Vec3
    axis_frd: Vec3
    spin: float
    torque_ratio_m: float = KAPPA
    thrust_coefficient_n_s2: float = K_F
    speed_min_rad_s: float = 80.0
    speed_max_rad_s: float = 1000.0
    lag_up_s: float = LAG
    lag_down_s: float = LAG


UP = Vec3(0.0, 0.0, -1.0)
ROTORS = (
    RigRotor(Vec3(ARM, ARM, 0.0), UP, 1.0),
    RigRotor(Vec3(-ARM, -ARM, 0.0), UP, 1.0),
    RigRotor(Vec3(ARM, -ARM, 0.0), UP, -1.0),
    RigRotor(Vec3(-ARM, ARM, 0.0), UP, -1.0),
)
"""Positive spin is about the axis of thrust, which points up: anticlockwise from above."""


@dataclass
class RigState:
    body: RigidBodyState
    speeds: tuple[Any, ...]


def push(speeds: tuple[Any, ...], quat: Quat) -> tuple[Vec3, Vec3]:
    """Force NED with the weight, and moment FRD, of four rotors by hand: right ones roll left, front ones pitch up."""
    fr, bl, fl, br = (K_F * w * w for w in speeds)
    force = rotate(quat, Vec3(0.0, 0.0, -(fr + bl + fl + br))) + Vec3(0.0, 0.0, MASS * GRAVITY)
    # Front right and back left turn counter-clockwise seen from above, so their drag turns the body clockwise: + yaw.
    moment = Vec3(ARM * (bl + fl - fr - br), ARM * (fr + fl - bl - br), KAPPA * (fr + bl - fl - br))
    return force, moment


def rig_rates(state: RigState, commands: tuple[Any, ...], disturbance: tuple[Vec3, Vec3]) -> RigState:
    force, moment = push(state.speeds, state.body.quat_ned_from_frd)
    body = rigid_body_rates(state.body, force + disturbance[0], moment + disturbance[1], MASS, INERTIA)
    return RigState(body, tuple((c - w) * (1.0 / LAG) for c, w in zip(commands, state.speeds, strict=True)))


def truth(state: RigState) -> Estimate:
    b = state.body
    return Estimate(b.pos_ned_m, b.vel_ned_m_s, b.quat_ned_from_frd, b.rate_frd_rad_s, 0.0)


def start_state(height_m: float = 10.0, quat: Quat | None = None) -> RigState:
    still = Vec3(0.0, 0.0, 0.0)
    body = RigidBodyState(Vec3(0.0, 0.0, -height_m), quat or quat_identity(), still, still)
    return RigState(body, (math.sqrt(MASS * GRAVITY / 4.0 / K_F),) * 4)


def setpoint(**values: Any) -> Setpoint:
    base = dict.fromkeys((f.name for f in fields(Setpoint)), 0.0) | {"up_m": 10.0, "way": HOVER}
    return Setpoint(**(base | values))


def fly(
    parameters: Any,
    target: Setpoint,
    duration_s: float,
    dt_s: float = 0.002,
    start: RigState | None = None,
    disturbance: tuple[Vec3, Vec3] = (Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)),
    options: MultirotorOptions | None = None,
    lanes: int = 1,
    see: Callable[[RigState], Estimate] = truth,
) -> dict[str, np.ndarray]:
    """Closed loop, one control step a physics step, compiled. Arrays (steps, lanes) by name."""
    options = options or MultirotorOptions()
    steps = round(duration_s / dt_s)
    wide = lambda tree: map_leaves(lambda x: dr.zeros(Float64, lanes) + x, tree)  # noqa: E731
    state = wide(start or start_state())
    memory = wide(first_multirotor_state(options, see(state)))
    names = ("north", "east", "down", "qw", "qx", "qy", "qz", "p", "q", "r", "vn", "ve", "vd", "margin", "thrust")
    log = {name: dr.zeros(Float64, steps * lanes) for name in names}
    lane = dr.arange(UInt32, lanes)

    def body(tick: Any, state: RigState, memory: Any) -> tuple[Any, RigState, Any]:
        thrusts, memory, report = multirotor_control(options, parameters, target, see(state), memory, dt_s)
        commands = tuple(sqrt(maximum(t, 0.0) / K_F) for t in thrusts)
        state = normalised_step(rk4, lambda s: rig_rates(s, commands, disturbance), state, dt_s)
        b = state.body
        values = (*b.pos_ned_m, *b.quat_ned_from_frd, *b.rate_frd_rad_s, *b.vel_ned_m_s)
        for name, value in zip(names, (*values, report.saturation_margin, report.thrust_n), strict=True):
            dr.scatter(log[name], Float64(value), tick * lanes + lane)
        return tick + 1, state, wide(memory)

    dr.while_loop((dr.zeros(UInt32, lanes), state, memory), lambda tick, *_: tick < steps, body)
    arrays = {name: np.asarray(values).reshape(steps, lanes) for name, values in log.items()}
    w, x, y, z = (arrays[name] for name in ("qw", "qx", "qy", "qz"))
    arrays["yaw"] = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    arrays["tilt"] = np.arccos(np.clip(1 - 2 * (x * x + y * y), -1, 1))
    arrays["up"] = -arrays["down"]
    return arrays
