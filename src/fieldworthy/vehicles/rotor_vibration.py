"""What an imbalanced rotor and its passing blades do to the body: forces at rotor and blade-pass frequency."""

from __future__ import annotations

import math

from fieldworthy.core.lanes import Scalar, cos, floor, select, sin
from fieldworthy.core.vec import Vec3, cross
from fieldworthy.vehicles.rotor import RotorOptions, RotorParameters

TURN_RAD = 2.0 * math.pi


def advance_phase_rad(phase_rad: Scalar, speed_rad_s: Scalar, dt_s: Scalar) -> Scalar:
    """Angle of a rotor after dt, in [0, 2 pi).

    Equation: phi + w dt - 2 pi floor((phi + w dt)/(2 pi))      Source: kinematics.      Shapes: scalars.
    Limits: constant speed over dt. Wrapped, because a growing angle loses its digits in 32 bits within minutes.
    Verified by: tests/verification/test_rotor_effects.py
    """
    angle = phase_rad + speed_rad_s * dt_s
    wrapped = angle - TURN_RAD * floor(angle * (1.0 / TURN_RAD))
    # Rounding can leave a whole turn, or a hair less than nothing.
    wrapped = select(wrapped < TURN_RAD, wrapped, wrapped - TURN_RAD)
    return select(wrapped >= 0.0, wrapped, 0.0)


def vibration_force(
    options: RotorOptions, p: RotorParameters, phase_rad: Scalar, speed_rad_s: Scalar, thrust_n: Scalar
) -> Vec3:
    """Oscillating force of one rotor on the body at its hub, body FRD [N]; its mean is zero.

    Equation: U w^2 (e1 cos phi + s e2 sin phi) + c T cos(N phi) a
        U: imbalance; phi: angle of the rotor; (e1, e2, a) right-handed; s: spin; c: ripple; N: blades.
    Source: centripetal force of an offset mass; blade-pass ripple as first harmonic of the thrust at N times the rotor
        frequency (Leishman 2006, chapter 4: a rotor passes on the harmonics that are multiples of N).
    Frames: body FRD.      Shapes: scalars.
    Limits: rigid frame, so divide by the mass for the acceleration at any place (an isolated IMU feels less); first
        harmonics only. The phase is a state: `advance_phase_rad`. Needs steps well below the blade-pass period: at
        6,432 rpm with two blades 214.4 Hz, 4.7 ms.
    Verified by: tests/verification/test_rotor_effects.py
    """
    if not options.vibration:
        return Vec3(0.0, 0.0, 0.0)
    e1, e2 = shaft_frame(p.axis_frd)
    whirl = p.imbalance_kg_m * speed_rad_s * speed_rad_s
    ripple = p.blade_pass_ratio * thrust_n * cos(p.blades * phase_rad)
    force: Vec3 = e1 * (whirl * cos(phase_rad)) + e2 * (whirl * p.spin * sin(phase_rad)) + p.axis_frd * ripple
    return force


def shaft_frame(axis_frd: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors that make a right-handed frame with the axis.

    Equation: e1 = (1 - s x^2 k, -s x y k, -s x),  e2 = cross(a, e1),  s = sign(z),  k = 1/(s + z)
    Source: Duff et al. (2017), "Building an orthonormal basis, revisited", JCGT 6(1).
    Limits: unit axis; no direction is singular, but e1 jumps where z changes sign.
    Verified by: tests/verification/test_rotor_effects.py
    """
    x, y, z = axis_frd
    s = select(z >= 0.0, 1.0, -1.0)
    k = 1.0 / (s + z)
    e1 = Vec3(1.0 - s * x * x * k, -(s * x * y * k), -(s * x))
    return e1, cross(axis_frd, e1)
