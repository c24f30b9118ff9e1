"""Feet that suit a vehicle and a step: stiffness from its weight, and friction no stiffer than RK4 can follow.

On the host, before a run: NumPy, floats.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.vec import Vec3
from fieldworthy.vehicles.contact import ContactPoint

RK4_REAL_LIMIT = 2.785
"""RK4 is stable on the negative real axis down to -2.785 (Hairer and Wanner, Solving ODEs II, section IV.2)."""

Matrix = npt.NDArray[np.float64]


def landing_gear(
    feet_frd_m: tuple[Vec3, ...],
    mass_kg: float,
    inertia_kg_m2: Vec3,
    dt_s: float,
    *,
    deflection_m: float = 0.005,
    damping_ratio: float = 0.4,
    friction: float = 0.6,
    load_factor: float = 3.0,
    gravity_m_s2: float = STANDARD_GRAVITY_M_S2,
) -> tuple[ContactPoint, ...]:
    """Contact points under a vehicle that stands on all feet.

    Equation: k = m g / (n d),  c = 2 zeta sqrt(k m / n),  v_s = dt lambda / 2.785 * 1.4, lambda the fastest decay rate
        (at v_s = 1) that friction under `load_factor` times the weight gives the body on its feet
    Source: static deflection; the linear stability limit of RK4 on the real axis, with a margin of 1.4.
    Limits: equal loads. A landing harder than `load_factor` weights lets the feet chatter until the load falls; their
        force stays within mu N.
    Verified by: tests/verification/test_contact.py
    """
    n = len(feet_frd_m)
    load = mass_kg * gravity_m_s2 / n
    stiffness = load / deflection_m
    damping = 2.0 * damping_ratio * (stiffness * mass_kg / n) ** 0.5
    drag = friction * load * load_factor
    inverse = 1.0 / np.sqrt(_mass_diagonal(mass_kg, inertia_kg_m2))
    sliding = sum((drag * row.T @ row for row in (_velocity_map(foot)[:2] for foot in feet_frd_m)), np.zeros((6, 6)))
    fastest = float(np.linalg.eigvalsh(inverse[:, None] * sliding * inverse)[-1])
    slip_speed = max(dt_s * fastest * 1.4 / RK4_REAL_LIMIT, 1e-4)
    return tuple(ContactPoint(foot, stiffness, damping, friction, slip_speed) for foot in feet_frd_m)


def ground_contact(mass_kg: float, dt_s: float) -> ContactPoint:
    """How a body that may lie on the ground in any way, a slung load, meets it: one foot in its middle.

    Equation: as `landing_gear`, the body without rotation
    Source: see `landing_gear`.      Limits: laid out for one mass; a lighter one is stiffer and swings faster.
    Verified by: tests/verification/test_review_slung_load.py
    """
    return landing_gear((Vec3(0.0, 0.0, 0.0),), mass_kg, Vec3(1.0, 1.0, 1.0), dt_s)[0]


def rk4_growth(
    points: tuple[ContactPoint, ...],
    mass_kg: float,
    inertia_kg_m2: Vec3,
    dt_s: float,
    gravity_m_s2: float = STANDARD_GRAVITY_M_S2,
) -> float:
    """Largest factor by which RK4 multiplies a small motion of the standing vehicle in one step; above 1 it shakes.

    Equation: max |1 + z + z^2/2 + z^3/6 + z^4/24| over z = lambda dt, lambda the eigenvalues of the body on its
        springs, dampers and friction mu N / v_s
    Source: linear stability of Runge-Kutta methods (Hairer and Wanner, Solving ODEs II, section IV.2)
    Limits: all feet loaded alike, upright; the neutral sideways modes have the factor 1.
    Verified by: tests/verification/test_contact.py
    """
    stiffness, damping = np.zeros((6, 6)), np.zeros((6, 6))
    load = mass_kg * gravity_m_s2 / len(points)
    for point in points:
        north, east, down = _velocity_map(point.pos_frd_m)
        stiffness += point.stiffness_n_m * np.outer(down, down)
        damping += point.damping_n_s_m * np.outer(down, down)
        damping += point.friction * load / point.slip_speed_m_s * (np.outer(north, north) + np.outer(east, east))
    inverse = (1.0 / _mass_diagonal(mass_kg, inertia_kg_m2))[:, None]
    system = np.block([[np.zeros((6, 6)), np.eye(6)], [-inverse * stiffness, -inverse * damping]])
    z = np.linalg.eigvals(system) * dt_s
    return float(np.abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))).max())


def _velocity_map(foot: Vec3) -> Matrix:
    """Velocity of the foot from velocity and turn rate of an upright body: (v + w x r) as a 3 x 6 matrix."""
    x, y, z = float(foot.x), float(foot.y), float(foot.z)
    return np.array([[1.0, 0, 0, 0, z, -y], [0, 1.0, 0, -z, 0, x], [0, 0, 1.0, y, -x, 0]])


def _mass_diagonal(mass_kg: float, inertia_kg_m2: Vec3) -> Matrix:
    return np.array([mass_kg] * 3 + [inertia_kg_m2.x, inertia_kg_m2.y, inertia_kg_m2.z])
