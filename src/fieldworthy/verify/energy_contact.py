"""What battery, landing gear and cables owe to closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

from fieldworthy.core.integrate import rk4
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3, norm, quat_identity
from fieldworthy.vehicles.battery import (
    BatteryOptions,
    BatteryParameters,
    battery_rates,
    current_from_power,
    first_battery,
    terminal_v,
)
from fieldworthy.vehicles.contact import ContactPoint, ground_force
from fieldworthy.vehicles.landing_gear import landing_gear, rk4_growth
from fieldworthy.vehicles.tether import LoadParameters, LoadState, load_forces
from fieldworthy.verify.check import Check

_G = 9.80665
_STILL = Vec3(0.0, 0.0, 0.0)
_OPTIONS = BatteryOptions(soc_knots=(0.0, 1.0), thermal=True)
_PACK = BatteryParameters(
    cells=4.0,
    capacity_c=18000.0,
    open_circuit_v=(3.8, 3.8),
    resistance_ohm=((0.005, 0.005),),
    transient_resistance_ohm=0.004,
    transient_capacitance_f=5000.0,
    cut_off_v=3.0,
    low_v=3.5,
    heat_capacity_j_k=450.0,
)
_FEET = tuple(Vec3(x, y, 0.15) for x in (0.15, -0.15) for y in (0.15, -0.15))
_INERTIA = Vec3(0.0143, 0.0143, 0.025)
_LOAD = LoadParameters(0.5, 2.0, 2e4, 0.0, 0.0, _STILL)


def _after(current_a: float, seconds: int) -> tuple[float, float]:
    """Terminal voltage, and energy that is not accounted for, after a constant current."""
    state = first_battery(1.0)
    for _ in range(seconds):
        state = rk4(lambda s: battery_rates(_OPTIONS, _PACK, s, current_a), state, 1.0)
    stored = 4.0 * 0.5 * 5000.0 * state.rc_v**2 + 450.0 * (state.temperature_k - 298.15)
    return terminal_v(_OPTIONS, _PACK, state, current_a), state.energy_j + stored - 15.2 * current_a * seconds


def _bounce(damping_n_s_m: float) -> float:
    """Restitution of 2 kg that meet the ground at 1.5 m/s, without gravity."""
    point = ContactPoint(_STILL, 4000.0, damping_n_s_m, 0.6)

    def push(s: tuple[Scalar, Scalar]) -> Scalar:
        return ground_force(point, s[0], Vec3(0.0, 0.0, s[1])).z

    state: tuple[Scalar, Scalar] = (0.0, 1.5)
    for _ in range(1000):
        state = rk4(lambda s: (s[1], push(s) / 2.0), state, 1e-4)
    return float(-state[1] / 1.5)


def _slide(force: Callable[[Vec3], Vec3]) -> float:
    """Distance of a foot with 0.5 kg on it from 2 m/s to rest."""
    state: tuple[Scalar, Scalar] = (0.0, 2.0)
    for _ in range(1000):
        state = rk4(lambda s: (s[1], force(Vec3(s[1], 0.0, 0.0)).x / 0.5), state, 1e-3)
    return float(state[0])


def _slide_on_ground() -> float:
    point = ContactPoint(_STILL, 1000.0, 0.0, 0.3, slip_speed_m_s=0.005)
    return _slide(lambda v: ground_force(point, 0.5 * _G / 1000.0, v))


def _pendulum_period_s() -> float:
    """From release at 2 degrees to the first crossing of the vertical, times four."""
    angle = math.radians(2.0)
    length = 2.0 + 0.5 * _G / 2e4
    state = LoadState(Vec3(length * math.sin(angle), 0.0, length * math.cos(angle)), _STILL)

    def rate(s: LoadState) -> LoadState:
        _, acceleration = load_forces(_LOAD, s, _STILL, quat_identity(), _STILL, _STILL, _STILL, 1.225, _G)
        return LoadState(s.vel_ned_m_s, acceleration)

    tick, before = 0, state
    while state.pos_ned_m.x > 0.0:
        before, state, tick = state, rk4(rate, state, 2e-3), tick + 1
    past = state.pos_ned_m.x / (state.pos_ned_m.x - before.pos_ned_m.x)
    return float(4.0 * 2e-3 * (tick - past))


def _slack_fall() -> float:
    below = LoadState(Vec3(0.3, 0.0, 0.5), _STILL)
    _, acceleration = load_forces(_LOAD, below, _STILL, quat_identity(), _STILL, _STILL, _STILL, 0.0, _G)
    return float(norm(acceleration))


_DAMPING = 2.0 * 0.3 * math.sqrt(4000.0 * 2.0)
_BETA = 0.3 * math.sqrt(4000.0 / 2.0)
_OMEGA = math.sqrt(4000.0 / 2.0 - _BETA**2)

CHECKS: tuple[Check, ...] = (
    Check(
        "battery", "voltage 20 s after a step to 30 A, R1 C1 = 20 s", "RC circuit",
        15.2 - 0.6 - 0.48 * (1.0 - math.exp(-1.0)), lambda: _after(30.0, 20)[0], 1e-6, "V",
    ),
    Check(
        "battery", "chemical energy = load + heat + capacitor, 60 s at 40 A", "conservation of energy",
        0.0, lambda: _after(40.0, 60)[1], 1e-3, "J",
    ),
    Check(
        "battery", "power at the plug when 300 W are asked", "definition: P = V I",
        300.0, lambda: _power(300.0), 1e-9, "W",
    ),
    Check(
        "battery", "power when more is asked than 15.2 V behind 20 mohm can give", "maximum power transfer, E^2/4R",
        2888.0, lambda: _power(1e5), 0.01, "W",
    ),
    Check(
        "landing gear", "restitution of spring and dashpot, damping ratio 0.3", "Schwager and Poeschel 2007",
        math.exp(-_BETA / _OMEGA * (math.pi - math.atan2(2.0 * _BETA * _OMEGA, _OMEGA**2 - _BETA**2))),
        lambda: _bounce(_DAMPING), 3e-3,
    ),
    Check(
        "landing gear", "slide from 2 m/s with mu = 0.3", "Coulomb: v^2 / (2 mu g)",
        4.0 / (0.6 * _G), _slide_on_ground, 1e-3, "m",
    ),
    Check(
        "landing gear", "largest growth a step of the standing 2 kg quadrotor, RK4 at 1 ms", "stable: at most 1",
        1.0, lambda: rk4_growth(landing_gear(_FEET, 2.0, _INERTIA, 1e-3), 2.0, _INERTIA, 1e-3), 1e-9,
    ),
    Check(
        "slung load", "period of small swings, 2 m", "2 pi sqrt(l/g)",
        2.0 * math.pi * math.sqrt(2.0 / _G), _pendulum_period_s, 1e-3, "s",
    ),
    Check("slung load", "acceleration with a slack cable", "free fall", _G, _slack_fall, 1e-9, "m/s2"),
)  # fmt: skip


def _power(power_w: float) -> float:
    state = first_battery(0.5)
    current = current_from_power(_OPTIONS, _PACK, state, power_w)
    return float(terminal_v(_OPTIONS, _PACK, state, current) * current)
