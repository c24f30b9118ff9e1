"""The slipstream of a propeller and what it adds to the dynamic pressure on a surface that stands in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, clip, maximum, sqrt


@dataclass
class PropwashParameters:
    """One propeller and one surface behind (or before) it."""

    radius_m: Scalar
    """Of the propeller disc."""
    distance_m: Scalar
    """From the disc to the surface, positive downstream; negative for a surface ahead of a pusher."""
    inner_m: Scalar
    """Distance from the propeller's axis to the near edge of the surface, along its span."""
    outer_m: Scalar
    """Distance to the far edge; above `inner_m`."""


@dataclass
class Slipstream:
    """The stream tube at one distance behind the disc."""

    speed_m_s: Scalar
    """Axial speed of the air past the aircraft inside the tube."""
    radius_m: Scalar


def induced_velocity_m_s(thrust_n: Scalar, radius_m: Scalar, axial_speed_m_s: Scalar, density_kg_m3: Scalar) -> Scalar:
    """Speed that the disc adds to the air passing through it [m/s].

    Equation: v_i = -V/2 + sqrt(V^2/4 + T/(2 rho A))      Source: Rankine 1865, Froude 1889 (momentum theory)
    Limits: V >= 0 (flow from ahead); a disc that brakes (T < 0) is taken as one that does nothing.
    Verified by: tests/verification/test_propwash.py
    """
    half = maximum(axial_speed_m_s, 0.0) * 0.5
    loading = maximum(thrust_n, 0.0) / (density_kg_m3 * (radius_m * radius_m) * (2.0 * math.pi))
    # 1e-12 m2/s2: the root has a gradient without thrust at rest. The quotient form loses no digits where V^2 >>
    # loading.
    return loading / (half + sqrt(half * half + loading + 1e-12))


def slipstream(p: PropwashParameters, thrust_n: Scalar, axial_speed_m_s: Scalar, density_kg_m3: Scalar) -> Slipstream:
    """Speed and radius of the stream tube at the surface.

    Equation: V(x) = V + v_i (1 + x/sqrt(x^2 + R^2)),   r(x) = R sqrt((V + v_i)/V(x))
    Source: McCormick, Aerodynamics of V/STOL Flight (1967), chapter 4: axial speed of a semi-infinite vortex
        cylinder on its axis; radius by conservation of mass.
    Limits: light loading; no swirl, no mixing with the air outside (at a few diameters the real jet widens again); the
        speed on the axis stands for the whole section.
    Verified by: tests/verification/test_propwash.py
    """
    forward = maximum(axial_speed_m_s, 0.0)
    induced = induced_velocity_m_s(thrust_n, p.radius_m, axial_speed_m_s, density_kg_m3)
    growth = 1.0 + p.distance_m / sqrt(p.distance_m * p.distance_m + p.radius_m * p.radius_m)
    speed = forward + induced * growth
    # Without flow or thrust the tube keeps the radius of the disc.
    radius = p.radius_m * sqrt((forward + induced + 1e-6) / (speed + 1e-6))
    return Slipstream(speed, radius)


def wash_pressure_pa(p: PropwashParameters, thrust_n: Scalar, axial_speed_m_s: Scalar, density_kg_m3: Scalar) -> Scalar:
    """Dynamic pressure that the slipstream adds on the surface, as a mean over its span [Pa].

    Equation: dq = s 1/2 rho (V(x)^2 - V^2),   s = clip((r(x) - inner)/(outer - inner), 0, 1)
        Far behind the disc, wholly inside: dq = T/A.
    Source: definition of dynamic pressure; the share s of a surface's span in the stream as in Selig, "Modeling
        Full-Envelope Aerodynamics of Small UAVs in Realtime", AIAA 2010-7635.
    Frames: the surface lies along a radius of the propeller.      Shapes: scalars.
    Limits: those of `slipstream`; a propeller that flies backwards (V < 0) washes as if at rest.
    Verified by: tests/verification/test_propwash.py
    """
    tube = slipstream(p, thrust_n, axial_speed_m_s, density_kg_m3)
    forward = maximum(axial_speed_m_s, 0.0)
    share = clip((tube.radius_m - p.inner_m) / (p.outer_m - p.inner_m), 0.0, 1.0)
    return share * (density_kg_m3 * 0.5) * (tube.speed_m_s * tube.speed_m_s - forward * forward)
