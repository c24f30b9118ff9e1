"""Checks of lift, drag, stall, slipstream, body drag and tables against published numbers and closed forms."""

from __future__ import annotations

import dataclasses
import functools
import math
import pathlib
from collections.abc import Callable
from importlib import resources
from typing import Any

from fieldworthy.catalog import load_entry
from fieldworthy.core.integrate import rk4
from fieldworthy.core.rigid_body import RigidBodyState, rigid_body_rates
from fieldworthy.core.table import interpolate_2d, weights
from fieldworthy.core.vec import Mat3, Vec3, quat_identity
from fieldworthy.core.wrench import Wrench
from fieldworthy.vehicles.aerodynamics import AeroOptions, AeroParameters, Surfaces, aero_parameters, aero_wrench
from fieldworthy.vehicles.body_drag import isotropic_drag
from fieldworthy.vehicles.propwash import PropwashParameters, slipstream, wash_pressure_pa
from fieldworthy.verify.check import Check

COURSE_DENSITY_KG_M3 = 1.2682
"""Air of the published Aerosonde numbers."""
TRIM_VELOCITY_FRD_M_S = Vec3(24.968743, 0.0, 1.249755)
"""Published trim at 25 m/s, level."""
_COURSE = "Beard, McLain: mavsim_public, chap04/chap4_check.py"
_COURSE_5 = "Beard, McLain: mavsim_public, chap05/chap5_check.py"


@functools.cache
def aerosonde_values() -> dict[str, Any]:
    """Values of the catalogue's Aerosonde by name."""
    path = pathlib.Path(str(resources.files("fieldworthy.catalog") / "aircraft" / "aerosonde.toml"))
    return load_entry("aircraft", str(path)).values


def aerosonde(**changes: float) -> AeroParameters:
    """Aerodynamics of the catalogue's Aerosonde, with changes.

    The course's check numbers were made with C_D_p = 0, which `cd0=0.0` reproduces.
    """
    return dataclasses.replace(aero_parameters(aerosonde_values()), **changes)


def aerosonde_inertia_kg_m2() -> Mat3:
    """Inertia matrix of the catalogue's Aerosonde about the centre of mass."""
    values = aerosonde_values()
    xx, yy, zz, xz = (values[f"inertia_{axes}_kg_m2"] for axes in ("xx", "yy", "zz", "xz"))
    return Mat3(xx, 0.0, -xz, 0.0, yy, 0.0, -xz, 0.0, zz)


def course_wrench(velocity: Vec3, rate: Vec3, surfaces: Surfaces) -> Wrench:
    """Wrench on the Aerosonde in the course's air and with its drag."""
    return aero_wrench(AeroOptions(), aerosonde(cd0=0.0), velocity, rate, surfaces, COURSE_DENSITY_KG_M3)


def course_rate_dot(velocity: Vec3, rate: Vec3, surfaces: Surfaces) -> Vec3:
    """Angular acceleration by aerodynamics alone."""
    moment = course_wrench(velocity, rate, surfaces).moment_frd_n_m
    still = Vec3(0.0, 0.0, 0.0)
    state = RigidBodyState(still, quat_identity(), still, rate)
    return rigid_body_rates(state, still, moment, 1.0, aerosonde_inertia_kg_m2()).rate_frd_rad_s


def zero_of(f: Callable[[float], float], x: float, y: float) -> float:
    """Root of a nearly linear function by the secant method."""
    at_x, at_y = f(x), f(y)
    for _ in range(8):
        if at_x == at_y:
            break
        x, y, at_x = y, y - at_y * (y - x) / (at_y - at_x), at_y
        at_y = f(y)
    return y


def level_trim(speed_m_s: float) -> tuple[float, float]:
    """(angle of attack, elevator) [rad] of the Aerosonde where neither lift nor moment is left over in level flight."""
    weight_n = float(aerosonde_values()["mass_kg"]) * 9.81

    def at(alpha: float, elevator: float) -> Wrench:
        velocity = Vec3(speed_m_s * math.cos(alpha), 0.0, speed_m_s * math.sin(alpha))
        return course_wrench(velocity, Vec3(0.0, 0.0, 0.0), Surfaces(0.0, elevator, 0.0))

    def elevator_for(alpha: float) -> float:
        return zero_of(lambda elevator: float(at(alpha, elevator).moment_frd_n_m.y), -0.1, 0.1)

    def down_n(alpha: float) -> float:
        return float(at(alpha, elevator_for(alpha)).force_frd_n.z) + weight_n * math.cos(alpha)

    alpha = zero_of(down_n, 0.0, 0.1)
    return alpha, elevator_for(alpha)


def best_glide() -> float:
    """Largest lift over drag, searched over the angle of attack."""
    p = aerosonde()
    best = 0.0
    for step in range(1, 3000):
        alpha = 1e-4 * step
        velocity = Vec3(20.0 * math.cos(alpha), 0.0, 20.0 * math.sin(alpha))
        f = aero_wrench(AeroOptions(), p, velocity, Vec3(0.0, 0.0, 0.0), Surfaces(0.0, 0.0, 0.0), 1.225).force_frd_n
        drag = -(f.x * velocity.x + f.z * velocity.z)
        best = max(best, float((f.x * velocity.z - f.z * velocity.x) / drag))
    return best


def fall_m_s(duration_s: float) -> float:
    """Speed of the 2 kg reference quadrotor with dead rotors after a fall from rest."""

    def rate(speed: float) -> float:
        return 9.80665 + float(isotropic_drag(0.05, Vec3(0.0, 0.0, speed), 1.225).z) / 2.0

    speed = 0.0
    for _ in range(200):
        speed = rk4(rate, speed, duration_s / 200)
    return speed


def _roll_damping() -> float:
    plus, minus = (
        course_rate_dot(TRIM_VELOCITY_FRD_M_S, Vec3(p, 0.0, 0.0), Surfaces(0.0, 0.0, 0.0)).x for p in (0.01, -0.01)
    )
    return float(minus - plus) / 0.02


def _surface_power(axis: str, aileron: float, elevator: float, rudder: float) -> float:
    still = Vec3(0.0, 0.0, 0.0)
    plus = course_rate_dot(TRIM_VELOCITY_FRD_M_S, still, Surfaces(aileron, elevator, rudder))
    minus = course_rate_dot(TRIM_VELOCITY_FRD_M_S, still, Surfaces(-aileron, -elevator, -rudder))
    return float(getattr(plus, axis) - getattr(minus, axis)) / 2.0


def _far_wash() -> float:
    p = PropwashParameters(0.254, 1e6, 0.0, 0.1)
    return float(wash_pressure_pa(p, 40.0, 18.0, 1.225))


def _static_tube() -> float:
    tube = slipstream(PropwashParameters(0.254, 1e6, 0.0, 0.1), 40.0, 0.0, 1.225)
    return float(tube.radius_m) / 0.254


def _bilinear() -> float:
    rows, columns = (-3.0, -1.0, 0.5, 4.0), (0.0, 2.0, 3.0)
    table = [[2.0 + 3.0 * r - c + 0.5 * r * c for c in columns] for r in rows]
    return float(interpolate_2d(weights(rows, 1.7), weights(columns, 2.4), table))


_CASE_1 = (Vec3(25.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), Surfaces(0.0, -0.2, 0.005))
_POLAR = "largest lift over drag = 1/(2 sqrt(C_D0/(pi e AR)))"

CHECKS: tuple[Check, ...] = (
    Check("aircraft", "force up, 25 m/s, elevator -0.2 rad", _COURSE, 11.0 * 9.81 - 63.44373750624077,
          lambda: -float(course_wrench(*_CASE_1).force_frd_n.z), 1e-6, "N"),
    Check("aircraft", "pitching moment there", _COURSE, 8.75643373378125,
          lambda: float(course_wrench(*_CASE_1).moment_frd_n_m.y), 1e-6, "N m"),
    # The published trim is a minimiser's: it leaves 0.010 m/s2, which is 1e-4 rad of angle of attack.
    Check("aircraft", "angle of attack in level trim, 25 m/s", _COURSE_5, 0.05001104395,
          lambda: level_trim(25.0)[0], 1.5e-4, "rad"),
    Check("aircraft", "elevator in level trim, 25 m/s", _COURSE_5, -0.124778, lambda: level_trim(25.0)[1], 4e-4, "rad"),
    Check("aircraft", "roll damping a_phi1", _COURSE_5, 22.62885095684, _roll_damping, 1e-5, "1/s"),
    Check("aircraft", "aileron power a_phi2", _COURSE_5, 130.88368124853,
          lambda: _surface_power("x", 1.0, 0.0, 0.0), 1e-4, "1/s2"),
    Check("aircraft", "elevator power a_theta3", _COURSE_5, -36.11239040791,
          lambda: _surface_power("y", 0.0, 1.0, 0.0), 1e-4, "1/s2"),
    Check("aircraft", "rudder power in yaw", _COURSE_5, -24.88134191,
          lambda: _surface_power("z", 0.0, 0.0, 1.0), 1e-5, "1/s2"),
    Check("aircraft", _POLAR, "closed form of the parabolic polar",
          0.5 * math.sqrt(math.pi * 0.9 * (2.8956**2 / 0.55) / 0.043), best_glide, 1e-3),
    Check("slipstream", "pressure far behind the disc = T/A, 40 N at 18 m/s", "momentum theory, closed form",
          40.0 / (math.pi * 0.254**2), _far_wash, 1e-6, "Pa"),
    Check("slipstream", "radius far behind a disc at rest over its own", "momentum theory: 1/sqrt(2)",
          1.0 / math.sqrt(2.0), _static_tube, 1e-6),
    Check("body drag", "fall of the 2 kg quadrotor, 5 s", "closed form v_t tanh(g t/v_t)",
          math.sqrt(2.0 * 2.0 * 9.80665 / (1.225 * 0.05))
          * math.tanh(5.0 * 9.80665 / math.sqrt(2.0 * 2.0 * 9.80665 / (1.225 * 0.05))),
          lambda: fall_m_s(5.0), 1e-6, "m/s"),
    Check("table", "a bilinear function between its knots", "closed form", 2.0 + 3.0 * 1.7 - 2.4 + 0.5 * 1.7 * 2.4,
          _bilinear, 1e-12),
)  # fmt: skip
"""Shown by `fieldworthy verify` and run as tests."""
