"""What guidance of airplanes and missions owes: L1's second-order system, circles, energy balances, uniform braking."""

from __future__ import annotations

import math
from functools import cache

from fieldworthy.control.l1 import L1Parameters, PlaneMotion, l1_circle, l1_line
from fieldworthy.control.position import approach_speed_per_m
from fieldworthy.control.tecs import TecsAnswer, TecsParameters, first_tecs, tecs_control
from fieldworthy.core.integrate import rk4
from fieldworthy.core.lanes import Scalar
from fieldworthy.verify.check import Check

SPEED_M_S, RADIUS_M = 20.0, 80.0
L1 = L1Parameters(period_s=10.0, damping=0.7, distance_min_m=1.0, capture_rad=0.785)
MASS_KG, THRUST_N, DRAG_N, GRAVITY_M_S2 = 10.0, 50.0, 12.0, 9.80665
TECS = TecsParameters(
    height_time_s=4.0, speed_time_s=4.0, climb_max_m_s=4.0, sink_max_m_s=2.0,
    power_max_m2_s3=(THRUST_N - DRAG_N) * SPEED_M_S / MASS_KG, power_min_m2_s3=-DRAG_N * SPEED_M_S / MASS_KG,
    throttle_trim=DRAG_N / THRUST_N, throttle_gain=0.5, throttle_integral_1_s=0.2, pitch_gain=0.5,
    pitch_integral_1_s=0.3, pitch_min_rad=-0.35, pitch_max_rad=0.35, airspeed_min_m_s=14.0, airspeed_max_m_s=28.0,
    turn_power_m2_s3=3.0, rate_filter_s=0.5,
)  # fmt: skip


def _turned(motion: PlaneMotion, acceleration_m_s2: Scalar) -> PlaneMotion:
    """Rates of a point whose velocity turns with an acceleration to its right."""
    speed = math.hypot(motion.north_m_s, motion.east_m_s)
    a_n, a_e = -motion.east_m_s / speed, motion.north_m_s / speed
    return PlaneMotion(motion.north_m_s, motion.east_m_s, acceleration_m_s2 * a_n, acceleration_m_s2 * a_e)


@cache
def _back_to_the_line() -> tuple[float, ...]:
    """Distance to the right of a line every 20 ms, from 0.5 m at rest."""
    motion, path = PlaneMotion(0.0, 0.5, SPEED_M_S, 0.0), []
    for _ in range(600):
        path.append(motion.east_m)
        motion = rk4(lambda m: _turned(m, l1_line(L1, m, 0.0, 0.0, 1e4, 0.0)), motion, 0.02)
    return tuple(path)


def _first_crossing_s() -> float:
    path = _back_to_the_line()
    k = next(k for k, d in enumerate(path) if d < 0.0)
    return 0.02 * (k - 1 + path[k - 1] / (path[k - 1] - path[k]))


@cache
def _circled() -> PlaneMotion:
    """60 s after flying off from the centre of a circle."""
    motion = PlaneMotion(3.0, 2.0, 0.0, SPEED_M_S)
    for _ in range(600):
        motion = rk4(lambda m: _turned(m, l1_circle(L1, m, 0.0, 0.0, RADIUS_M)), motion, 0.1)
    return motion


def _energy(height_error_m: float, airspeed_m_s: float, bank_cos: float = 1.0) -> TecsAnswer:
    answer, _ = tecs_control(
        TECS, height_error_m, 0.0, SPEED_M_S, 0.0, airspeed_m_s, 0.04, bank_cos, GRAVITY_M_S2,
        first_tecs(airspeed_m_s), 0.02,
    )  # fmt: skip
    return answer


@cache
def _climbing() -> tuple[float, float]:
    """(throttle, airspeed) of a steady climb of a point mass whose path follows the pitch within 0.3 s."""
    height, speed, path, throttle, state, dt = 0.0, SPEED_M_S, 0.0, 0.0, first_tecs(SPEED_M_S), 0.05
    for _ in range(600):
        answer, state = tecs_control(
            TECS, 1e3 - height, 0.0, SPEED_M_S, speed * math.sin(path), speed, 0.04, 1.0, GRAVITY_M_S2, state, dt
        )
        throttle = answer.throttle
        path += dt * (answer.pitch_rad - 0.04 - path) / 0.3
        speed += dt * ((throttle * THRUST_N - DRAG_N) / MASS_KG - GRAVITY_M_S2 * math.sin(path))
        height += dt * speed * math.sin(path)
    return throttle, speed


def _exchange() -> float:
    """Throttle beyond its trim for a point that is 1 m/s too fast and too low by the same energy."""
    fast = SPEED_M_S + 1.0
    # Errors of equal time constants ask for g dh and V dV.
    return _energy(fast / GRAVITY_M_S2, fast).throttle - DRAG_N / THRUST_N  # type: ignore[no-any-return]


def _bank_power_ratio() -> float:
    """Extra power in a bank of 60 degrees over the induced power of level flight."""
    more = _energy(0.0, SPEED_M_S, 0.5).throttle - _energy(0.0, SPEED_M_S).throttle
    return more * THRUST_N * SPEED_M_S / MASS_KG / TECS.turn_power_m2_s3  # type: ignore[no-any-return]


def _greatest_deceleration_m_s2() -> float:
    """Of a point that moves at the braking speed, from 60 m."""
    distance, dt, before, most = 60.0, 2e-3, math.nan, 0.0
    for _ in range(10000):
        speed = distance * approach_speed_per_m(distance, 0.8, 1.5)
        most = max(most, (before - speed) / dt) if math.isfinite(before) else most
        distance, before = distance - dt * speed, speed
    return most


DAMPED_RAD_S = 2.0 * math.pi / L1.period_s * math.sqrt(1.0 - L1.damping**2)

CHECKS: tuple[Check, ...] = (
    Check("L1 guidance", "overshoot over a line, T = 10 s, ζ = 0.7", "second-order system: e^(-π ζ / √(1 - ζ²))",
          math.exp(-math.pi * L1.damping / math.sqrt(1.0 - L1.damping**2)), lambda: -min(_back_to_the_line()) / 0.5,
          1e-3),
    Check("L1 guidance", "first crossing of the line", "second-order system: (π - arccos ζ) / (ω √(1 - ζ²))",
          (math.pi - math.acos(L1.damping)) / DAMPED_RAD_S, _first_crossing_s, 0.01, "s"),
    Check("L1 guidance", "radius of the circle flown, from its inside", "geometry of the reference point", RADIUS_M,
          lambda: math.hypot(_circled().north_m, _circled().east_m), 0.1, "m"),
    Check("L1 guidance", "acceleration on the circle", "V² / R", SPEED_M_S**2 / RADIUS_M,
          lambda: float(l1_circle(L1, _circled(), 0.0, 0.0, RADIUS_M)), 0.02, "m/s²"),
    Check("total energy control", "throttle beyond trim, too fast and too low by the same energy",
          "m g h + m V²/2 is right as it is", 0.0, _exchange, 1e-12),
    Check("total energy control", "thrust of a steady climb of 4 m/s", "D + m g h' / V",
          DRAG_N + MASS_KG * GRAVITY_M_S2 * 4.0 / SPEED_M_S, lambda: _climbing()[0] * THRUST_N, 0.3, "N"),
    Check("total energy control", "airspeed of a steady climb", "the airspeed asked for", SPEED_M_S,
          lambda: _climbing()[1], 0.1, "m/s"),
    Check("total energy control", "extra power in a bank of 60 deg over the induced power of level flight",
          "induced drag goes with lift squared: 1/cos² - 1", 3.0, _bank_power_ratio, 1e-9),
    Check("mission", "greatest deceleration at the end of a leg, limit 1.5 m/s²", "uniform deceleration, v² = 2 a d",
          1.5, _greatest_deceleration_m_s2, 0.01, "m/s²"),
)  # fmt: skip
