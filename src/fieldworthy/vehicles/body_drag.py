"""Drag of a body without wings: quadratic in the speed through the air."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, sqrt
from fieldworthy.core.vec import Vec3, dot

_TINY = 1e-12
"""Added to the square of the speed [m2/s2], so that the root has a gradient at rest; 1 um/s."""


@dataclass
class BodyDragParameters:
    """Drag areas (coefficient times area) seen along each body axis."""

    drag_area_m2: Vec3


def isotropic_drag(drag_area_m2: Scalar, air_velocity_m_s: Vec3, density_kg_m3: Scalar) -> Vec3:
    """Drag force of a body that looks alike from every side [N].

    Equation: F = -1/2 rho (C_D A) |v| v
    Source: definition of the drag coefficient; the form of the reference quadrotor, C_D A = 0.05 m2 (seed document).
    Frames: any: the force comes back in the axes that the velocity was given in.      Shapes: scalars.
    Limits: turbulent flow past bluff bodies (Reynolds number above about 1e4); linear rotor drag is
        `vehicles/rotor.py`'s.
    Verified by: tests/verification/test_body_drag.py
    """
    speed = sqrt(dot(air_velocity_m_s, air_velocity_m_s) + _TINY)
    force: Vec3 = air_velocity_m_s * (speed * (density_kg_m3 * drag_area_m2 * -0.5))
    return force


def body_drag(p: BodyDragParameters, air_velocity_frd_m_s: Vec3, density_kg_m3: Scalar) -> Vec3:
    """Drag force of a body with another drag area along each axis [N], body FRD.

    Equation: F_i = -1/2 rho (C_D A)_i |v| v_i
    Source: as `isotropic_drag`; along one axis it is the definition, between the axes the usual interpolation.
    Frames: body FRD; the velocity is that of the body through the air.      Shapes: scalars.
    Limits: no lift of a body at an angle beyond what unequal areas give, no moment: put it at the centre of pressure
        with `core.wrench.wrench_at`.
    Verified by: tests/verification/test_body_drag.py
    """
    v, area = air_velocity_frd_m_s, p.drag_area_m2
    slope = sqrt(dot(v, v) + _TINY) * (density_kg_m3 * -0.5)
    return Vec3(v.x * (slope * area.x), v.y * (slope * area.y), v.z * (slope * area.z))
