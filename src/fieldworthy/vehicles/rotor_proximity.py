"""What the ground below, a ceiling above and a wall beside a rotor do to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3
from fieldworthy.core.lanes import Scalar, exp, log, maximum, sqrt
from fieldworthy.core.vec import Vec3

REFERENCE_DENSITY_KG_M3 = SEA_LEVEL_DENSITY_KG_M3
"""The density at which rotor coefficients are given."""

FAR_M = 1.0e6
"""Distance at which nothing is felt: the value for "none there"."""

LEAST_HEIGHT_IN_RADII = 0.5
"""Below half a radius Cheeseman and Bennett's law runs into its pole at a quarter radius; the height is held there."""

LEAST_CEILING_IN_RADII = 0.1
"""Nearer than this the inflow law has left what was measured; the distance is held there."""

LEAST_WALL_IN_RADII = 1.0
"""A wall cannot be nearer to the hub than the blade tip."""


@dataclass
class RotorSurroundings:
    """Distances from one hub, in metres, and where the wall is; FAR_M is "none"."""

    height_m: Scalar = FAR_M
    """To the ground, along the shaft."""
    ceiling_m: Scalar = FAR_M
    """To the ceiling, along the shaft."""
    wall_m: Scalar = FAR_M
    """To the nearest wall, across the shaft."""
    wall_direction_frd: Vec3 = field(default_factory=lambda: Vec3(1.0, 0.0, 0.0))
    """Unit vector from the hub to the nearest wall."""


def induced_velocity_per_speed_m(thrust_coefficient_n_s2: Scalar, radius_m: Scalar) -> Scalar:
    """Hover's induced velocity over the rotor speed, v_i/w [m]: the same at every density.

    Equation: v_i = sqrt(T/(2 rho A)),  T = k_f w^2 rho/rho_0,  A = pi R^2
    Source: Rankine-Froude momentum theory (Leishman 2006, section 2.3).
    Limits: hover; the thrust coefficient is that at 1.225 kg/m3.
    Verified by: tests/verification/test_rotor_effects.py
    """
    return sqrt(thrust_coefficient_n_s2 * (1.0 / (2.0 * math.pi * REFERENCE_DENSITY_KG_M3))) / radius_m


def ground_gain(
    height_m: Scalar, radius_m: Scalar, induced_velocity_m_s: Scalar, speed_across_sq_m2_s2: Scalar
) -> Scalar:
    """Thrust near the ground over thrust far from it, at the same power.

    Equation: 1 / (1 - (R/4z)^2 / (1 + (V/v_i)^2)),  z >= R/2
    Source: Cheeseman and Bennett (1955), ARC R&M 3021: a source image below the ground; forward speed V blows it away.
    Frames: z along the shaft.      Shapes: scalars.
    Limits: one rotor alone, level, thin disc. Held at z = R/2 below that (gain 4/3): the pole at R/4 is not physics.
        The rotor turns at the same speed and takes the same power, as multirotor simulators apply it.
    Verified by: tests/verification/test_rotor_effects.py
    """
    ratio = radius_m / (4.0 * maximum(height_m, LEAST_HEIGHT_IN_RADII * radius_m))
    inflow = induced_velocity_m_s * induced_velocity_m_s
    # A rotor at rest in still air has neither inflow nor speed: 0/0 without the small number.
    share = inflow / (inflow + speed_across_sq_m2_s2 + 1e-12)
    return 1.0 / (1.0 - ratio * ratio * share)


def ceiling_gain(ceiling_m: Scalar, radius_m: Scalar) -> Scalar:
    """Thrust near a ceiling over thrust far from it, at the same power.

    Equation: gamma^(2/3),  gamma = 1/2 + 1/2 sqrt(1 + R^2/(8 d^2)),  d >= R/10
    Source: Hsiao and Chirarattananon (2019), IEEE/ASME Trans. Mechatronics 24(5), "Ceiling effects for hybrid
        aerial-surface locomotion of small rotorcraft": momentum theory with the suction on the ceiling, T = 2 rho A
        gamma^2 v_i^2 and P = T v_i.
    Frames: d along the shaft.      Shapes: scalars.
    Limits: one rotor alone, ceiling across the shaft; rotors side by side feel it from farther. Empirical fits for
        whole vehicles (Jimenez-Cano et al. 2019, RA-L) are larger; same rotor speed and power, as `ground_gain`.
    Verified by: tests/verification/test_rotor_effects.py
    """
    ratio = radius_m / maximum(ceiling_m, LEAST_CEILING_IN_RADII * radius_m)
    gamma = 0.5 + 0.5 * sqrt(1.0 + ratio * ratio * 0.125)
    return exp(log(gamma) * (2.0 / 3.0))


def wall_flow_m_s(wall_m: Scalar, radius_m: Scalar, induced_velocity_m_s: Scalar) -> Scalar:
    """Speed of the air at the hub towards a wall beside it.

    Equation: u = v_i (R/4d)^2,  d >= R
    Source: method of images with the point strength pi R^2 v_i of Cheeseman and Bennett (1955). Beside a disc air is
        drawn in, so the image is a sink and the flow goes towards the wall.
    Frames: d across the shaft.      Shapes: scalars.
    Limits: no published closed law for walls has been confirmed by measurement; this one has the reported direction
        (vehicles drift to the wall) and fades with the square of the distance. It acts through rotor drag and flapping.
    Verified by: tests/verification/test_rotor_effects.py
    """
    ratio = radius_m / (4.0 * maximum(wall_m, LEAST_WALL_IN_RADII * radius_m))
    return induced_velocity_m_s * ratio * ratio
