"""What the boat owes: balances of forces, closed forms of coasting, a free body that goes straight, a hull on waves."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache

from fieldworthy.catalog import load_entry
from fieldworthy.core.integrate import rk4
from fieldworthy.environment.sea import Ride, Sea, WaveComponent, ride
from fieldworthy.vehicles.boat import BoatCommand, BoatParameters, BoatState, boat_rates
from fieldworthy.verify.check import Check

CALM = Sea(0.0, 0.0, 0.0, 0.0)
REST = BoatState(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
IDLE = BoatCommand(0.0, 0.0)


@cache
def _boat() -> BoatParameters:
    """The catalogue's boat, in air that does not resist: a moving boat makes its own wind."""
    values = load_entry("boat", "boat-5m").values
    numbers = {field.name: values[field.name] for field in fields(BoatParameters)}
    return replace(BoatParameters(**numbers), wind_front_area_m2=0.0, wind_side_area_m2=0.0)


@cache
def _free_body() -> BoatParameters:
    """900 kg and 1,000 kg m² that nothing holds: no drag, and controllers too weak to matter."""
    zeros = dict.fromkeys((field.name for field in fields(BoatParameters)), 0.0)
    limits = dict.fromkeys(("surge_force_max_n", "yaw_moment_max_n_m", "speed_max_m_s", "yaw_rate_max_rad_s"), 1e9)
    gains = dict.fromkeys(("surge_gain_n_s_m", "yaw_gain_n_m_s_rad"), 1e-30)
    size = {"mass_kg": 900.0, "yaw_inertia_kg_m2": 1000.0, "length_m": 5.0, "beam_m": 2.0}
    return BoatParameters(**{**zeros, **limits, **gains, **size, "surge_force_min_n": -1e9})


def _sail(
    state: BoatState, command: BoatCommand, sea: Sea, p: BoatParameters, duration_s: float, dt_s: float = 0.1
) -> BoatState:
    for _ in range(round(duration_s / dt_s)):
        state = rk4(lambda s: boat_rates(s, command, sea, p), state, dt_s)
    return state


def _full_ahead_m_s() -> float:
    """Speed at full thrust without the limit on the command."""
    p = replace(_boat(), speed_max_m_s=1e9)
    return _sail(REST, BoatCommand(50.0, 0.0), CALM, p, 60.0).surge_m_s  # type: ignore[no-any-return]


def _coasting_m_s() -> float:
    """Surge after 10 s from 3 m/s against quadratic drag only."""
    p = replace(_free_body(), surge_drag_n_s2_m2=200.0)
    return _sail(replace(REST, surge_m_s=3.0), IDLE, CALM, p, 10.0).surge_m_s  # type: ignore[no-any-return]


def _first_order_m() -> float:
    """Way made in 3 s from rest under the proportional law at 2 m/s with linear drag."""
    p = replace(_free_body(), surge_gain_n_s_m=1500.0, surge_drag_n_s_m=300.0)
    return _sail(REST, BoatCommand(2.0, 0.0), CALM, p, 3.0, 0.02).north_m  # type: ignore[no-any-return]


def _off_the_line_m() -> float:
    """How far from (12, -4) m a free body is after 4 s at (3, -1) m/s from heading 0, spinning at 1.5 rad/s."""
    start = replace(REST, surge_m_s=3.0, sway_m_s=-1.0, yaw_rate_rad_s=1.5)
    end = _sail(start, IDLE, CALM, _free_body(), 4.0, 0.02)
    return math.hypot(end.north_m - 12.0, end.east_m + 4.0)


@cache
def _turning() -> BoatState:
    """A steady turn at 4 m/s and 0.4 rad/s."""
    return _sail(REST, BoatCommand(4.0, 0.4), CALM, _boat(), 60.0)


def _centripetal_n() -> float:
    """m u r less the drag of the drift, in a steady turn."""
    p, end = _boat(), _turning()
    drag = (p.sway_drag_n_s_m + p.sway_drag_n_s2_m2 * abs(end.sway_m_s)) * -end.sway_m_s
    return p.mass_kg * end.surge_m_s * end.yaw_rate_rad_s - drag  # type: ignore[no-any-return]


def _circle() -> float:
    """Diameter of the steady turn, by where the boat is after half of it, over twice the speed by the turn rate."""
    start = _turning()
    half_turn_s = math.pi / start.yaw_rate_rad_s
    end = _sail(start, BoatCommand(4.0, 0.4), CALM, _boat(), half_turn_s, half_turn_s / 200)
    diameter_m = math.hypot(end.north_m - start.north_m, end.east_m - start.east_m)
    return diameter_m * start.yaw_rate_rad_s / (2.0 * math.hypot(start.surge_m_s, start.sway_m_s))  # type: ignore[no-any-return]


def _set_m_s() -> float:
    """Speed to the north-west of an idle boat that heads elsewhere, long after it met a current of 0.7 m/s there."""
    part = 0.7 / math.sqrt(2.0)
    end = _sail(replace(REST, heading_rad=0.9), IDLE, Sea(part, -part, 0.0, 0.0), _boat(), 200.0, 0.2)
    c, s = math.cos(end.heading_rad), math.sin(end.heading_rad)
    north, east = end.surge_m_s * c - end.sway_m_s * s, end.surge_m_s * s + end.sway_m_s * c
    return (north - east) / math.sqrt(2.0)  # type: ignore[no-any-return]


def _leeway_m_s() -> float:
    """Drift of a hull that does not weathervane in a beam wind of 10 m/s."""
    p = replace(_boat(), wind_side_area_m2=3.5, wind_yaw_coefficient=0.0)
    return _sail(REST, IDLE, Sea(0.0, 0.0, 0.0, 10.0), p, 60.0).sway_m_s  # type: ignore[no-any-return]


def _leeway_expected_m_s() -> float:
    """Positive root of rho/2 C A (10 - v)^2 = d1 v + d2 v^2."""
    air = 0.5 * 1.225 * 0.9 * 3.5
    a, b, c = 900.0 - air, 800.0 + 20.0 * air, -100.0 * air
    return (-b + math.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)


def _ridden(wave_length_m: float, phase_rad: float = 0.0) -> Ride:
    """How a 5 m hull rides a wave of 0.1 m amplitude that runs its way; phase 0 is the crest."""
    k = 2.0 * math.pi / wave_length_m
    wave = WaveComponent(0.1, k, 0.0, math.sqrt(9.80665 * k), phase_rad)
    return ride((wave,), 0.0, 0.0, 0.0, 0.0, 5.0, 2.0)


NEWTON = "balance of forces (Newton)"
# Full ahead: the positive root of 34 u^2 + 40 u = 2500.
FULL_AHEAD_M_S = (-40.0 + math.sqrt(40.0**2 + 4.0 * 34.0 * 2500.0)) / (2.0 * 34.0)
# First order: time constant m / (K + d) = 0.5 s, final speed K 2 / (K + d).
FIRST_ORDER_M = 1500.0 * 2.0 / 1800.0 * (3.0 - 0.5 * (1.0 - math.exp(-6.0)))

CHECKS: tuple[Check, ...] = (
    Check("boat", "speed at full thrust", f"{NEWTON}: 2500 N = 40 u + 34 u²", FULL_AHEAD_M_S, _full_ahead_m_s, 1e-6,
          "m/s"),
    Check("boat", "coasting from 3 m/s for 10 s against quadratic drag", "v₀ / (1 + d v₀ t / m)",
          3.0 / (1.0 + 200.0 / 900.0 * 3.0 * 10.0), _coasting_m_s, 1e-5, "m/s"),
    Check("boat", "way made in 3 s from rest, proportional law and linear drag",
          "first-order lag: u (t - τ (1 - e^(-t/τ)))", FIRST_ORDER_M, _first_order_m, 1e-7, "m"),
    Check("boat", "distance of a spinning free body from the straight line's end, after 4 s at (3, -1) m/s",
          "Newton's first law (Coriolis terms); error of RK4 at 20 ms", 0.0, _off_the_line_m, 1e-5, "m"),
    Check("boat", "steady turn: m u r less the drag of the drift", NEWTON, 0.0, _centripetal_n, 1e-3, "N"),
    Check("boat", "steady turn: diameter of its circle over 2 |v| / r", "kinematics of a circle", 1.0, _circle, 1e-5),
    Check("boat", "idle in a current of 0.7 m/s", "a body without other forces goes with the water", 0.7, _set_m_s,
          1e-4, "m/s"),
    Check("boat", "leeway in a beam wind of 10 m/s", f"{NEWTON}: ρ/2 C A (10 - v)² = 800 v + 900 v²",
          _leeway_expected_m_s(), _leeway_m_s, 1e-6, "m/s"),
    Check("hull on waves", "heave at the crest of a wave as long as the hull", "mean of a cosine over its period", 0.0,
          lambda: _ridden(5.0).heave_up_m, 1e-12, "m"),
    Check("hull on waves", "heave at the crest of a wave a hundred hulls long", "the wave's amplitude", 0.1,
          lambda: _ridden(500.0).heave_up_m, 1e-4, "m"),
    Check("hull on waves", "pitch a quarter wave from that crest", "the wave's slope a k",
          0.1 * 2.0 * math.pi / 500.0, lambda: _ridden(500.0, -math.pi / 2).pitch_rad, 1e-6, "rad"),
)  # fmt: skip
