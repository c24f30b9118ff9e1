"""Blade flapping: how far the disc of a rotor tips away from its shaft in forward flight and while the body turns."""

from __future__ import annotations

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3, cross


def disc_tilt_speed(
    velocity_across_frd_m_s: Vec3,
    rate_across_frd_rad_s: Vec3,
    axis_frd: Vec3,
    spin: Scalar,
    radius_m: Scalar,
    flapping_gain: Scalar,
    flapping_cross_gain: Scalar,
    lock_number: Scalar,
) -> Vec3:
    """Tilt of the thrust away from the shaft times the rotor speed, w d [rad/s], across the shaft.

    Equation: w d = -(A1 v + A2 s a x v)/R - (16/gamma) W x a - s W
        v, W: velocity through the air and turn rate, their parts across the shaft a; s: sense of spin; A1, A2: tilt
        backwards and to the advancing side per advance ratio v/(w R); gamma: Lock number.
        The term in W x a is the lag of the disc behind the shaft, the last one the gyroscopic cross-coupling.
    Source: form of Mahony, Kumar, Corke (2012), IEEE RAM 19(3), section on blade flapping; rate terms as for a
        centrally hinged blade (Leishman 2006, "Principles of Helicopter Aerodynamics", chapter 4).
    Frames: body FRD.      Shapes: scalars.
    Limits: first harmonic, quasi-steady (the disc answers within a turn), small advance ratio. Stiff propellers flap
        less than hinged blades: give measured or reduced gains. Finite at zero rotor speed, because the tilt is always
        used times a thrust over a speed.
    Verified by: tests/verification/test_rotor_effects.py
    """
    v, rate = velocity_across_frd_m_s, rate_across_frd_rad_s
    inverse_radius = 1.0 / radius_m
    tilt_speed: Vec3 = (
        -(v * (flapping_gain * inverse_radius))
        - cross(axis_frd, v) * (flapping_cross_gain * spin * inverse_radius)
        - cross(rate, axis_frd) * (16.0 / lock_number)
        - rate * spin
    )
    return tilt_speed
