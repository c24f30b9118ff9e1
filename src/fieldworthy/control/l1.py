"""Sideways guidance of an airplane: the acceleration that leads onto a line or a circle."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar, atan2, clip, maximum, minimum, select, sin, sqrt

_POINT_M = 1.0
"""A line shorter than this has no direction: the target is circled."""


@dataclass
class L1Parameters:
    """Numbers of the guidance law."""

    period_s: Scalar
    """Period T of the motion back to the line; longer is softer."""
    damping: Scalar
    """Its damping ratio."""
    distance_min_m: Scalar
    """Shortest look-ahead distance: keeps the law finite when the wind holds the airplane over one spot."""
    capture_rad: Scalar
    """Steepest angle at which a far line is met."""


@dataclass
class PlaneMotion:
    """Position and velocity over ground in the (north, east) plane."""

    north_m: Scalar
    east_m: Scalar
    north_m_s: Scalar
    east_m_s: Scalar


def l1_distance_m(p: L1Parameters, speed_m_s: Scalar) -> Scalar:
    """Look-ahead distance at a speed over ground.

    Equation: L1 = zeta T V / pi, which gives the line law below the damping zeta and the period T
    Source: R. Curry, M. Lizarraga, B. Mairs, G. Elkaim, L2+, an improved line of sight guidance law for UAVs
        (American Control Conference 2013).
    Shapes: scalars.      Limits: never under `distance_min_m`.
    Verified by: tests/verification/test_l1.py
    """
    return maximum(p.damping * p.period_s / math.pi * speed_m_s, p.distance_min_m)


def l1_line(
    p: L1Parameters,
    motion: PlaneMotion,
    from_north_m: Scalar,
    from_east_m: Scalar,
    to_north_m: Scalar,
    to_east_m: Scalar,
) -> Scalar:
    """Acceleration [m/s^2] to the right of the velocity that leads onto the straight line from one point to another.

    Equation: a = 4 zeta^2 V^2 / L1 sin(eta),  eta = angle from the velocity to the point of the line L1 ahead:
        eta = chi_line - chi - asin(d / L1), d the distance to the right of the line, the last term limited.
        About the line d'' + 2 zeta w d' + w^2 d = 0 with w = 2 pi / T.
    Source: S. Park, J. Deyst, J. P. How, A New Nonlinear Guidance Logic for Trajectory Tracking, AIAA 2004-4900 (their
        law is zeta = 0.707: a = 2 V^2 / L1 sin(eta)); look-ahead in proportion to the ground speed as in R. Curry et
        al., L2+, an Improved Line of Sight Guidance Law for UAVs, ACC 2013.
    Frames: (north, east).      Shapes: scalars.
    Limits: the line has no ends. Turned away by more than 90 deg, the full acceleration is asked. A line shorter than
        1 m has no direction: the answer leads along due north.
    Verified by: tests/verification/test_l1.py
    """
    along_n, along_e = to_north_m - from_north_m, to_east_m - from_east_m
    length2 = along_n * along_n + along_e * along_e
    a_line = length2 > _POINT_M * _POINT_M
    along_n, along_e = select(a_line, along_n, 1.0), select(a_line, along_e, 0.0)
    length = sqrt(select(a_line, length2, 1.0))
    right_m = ((motion.east_m - from_east_m) * along_n - (motion.north_m - from_north_m) * along_e) / length
    speed = sqrt(motion.north_m_s * motion.north_m_s + motion.east_m_s * motion.east_m_s + 1e-6)
    ahead = l1_distance_m(p, speed)
    steepest = sin(p.capture_rad)
    sine = clip(right_m / ahead, -steepest, steepest)
    cosine = sqrt(1.0 - sine * sine)
    aim_n, aim_e = (along_n * cosine + along_e * sine) / length, (along_e * cosine - along_n * sine) / length
    return _turn(motion, speed, 4.0 * p.damping * p.damping / ahead, aim_n, aim_e)


def l1_circle(
    p: L1Parameters, motion: PlaneMotion, centre_north_m: Scalar, centre_east_m: Scalar, radius_m: Scalar
) -> Scalar:
    """Acceleration [m/s^2] to the right of the velocity that leads onto a circle, clockwise for a positive radius.

    Equation: a = 2 V^2 / L1 sin(eta), eta = angle from the velocity to the point of the circle L1 ahead, seen from the
        airplane at gamma beside the centre: cos(gamma) = (d^2 + L1^2 - R^2) / (2 d L1). On the circle a = V^2 / R.
        Where no point of the circle is L1 away: straight to the centre from outside, away from it from inside.
    Source: Park, Deyst, How, AIAA 2004-4900.
    Frames: (north, east).      Shapes: scalars.
    Limits: L1 is shortened to R; damping 0.707 whatever `damping` says. In wind the circle stays one over ground.
    Verified by: tests/verification/test_l1.py
    """
    to_n, to_e = centre_north_m - motion.north_m, centre_east_m - motion.east_m
    size = sqrt(radius_m * radius_m + 1e-6)
    speed = sqrt(motion.north_m_s * motion.north_m_s + motion.east_m_s * motion.east_m_s + 1e-6)
    ahead = minimum(l1_distance_m(p, speed), size)
    distance = sqrt(to_n * to_n + to_e * to_e + 1e-6)
    cosine = clip((distance * distance + ahead * ahead - size * size) / (2.0 * distance * ahead), -1.0, 1.0)
    beside = sqrt(maximum(1.0 - cosine * cosine, 1e-12))
    sine = select(radius_m < 0.0, -beside, beside)
    aim_n, aim_e = (to_n * cosine + to_e * sine) / distance, (to_e * cosine - to_n * sine) / distance
    return _turn(motion, speed, 2.0 / ahead, aim_n, aim_e)


def l1_steer(
    p: L1Parameters,
    motion: PlaneMotion,
    from_north_m: Scalar,
    from_east_m: Scalar,
    to_north_m: Scalar,
    to_east_m: Scalar,
    circle_radius_m: Scalar,
) -> Scalar:
    """`l1_line`, or `l1_circle` about the target where the line's two points are one (closer than 1 m)."""
    along_n, along_e = to_north_m - from_north_m, to_east_m - from_east_m
    return select(
        along_n * along_n + along_e * along_e > _POINT_M * _POINT_M,
        l1_line(p, motion, from_north_m, from_east_m, to_north_m, to_east_m),
        l1_circle(p, motion, to_north_m, to_east_m, circle_radius_m),
    )


def bank_of_acceleration(acceleration_m_s2: Scalar, gravity_m_s2: Scalar, bank_max_rad: Scalar) -> Scalar:
    """Bank angle of a level coordinated turn with this sideways acceleration.

    Equation: tan(phi) = a / g      Limits: clipped to the largest bank
    """
    return clip(atan2(acceleration_m_s2, gravity_m_s2), -bank_max_rad, bank_max_rad)


def _turn(motion: PlaneMotion, speed_m_s: Scalar, gain_1_m: Scalar, aim_north: Scalar, aim_east: Scalar) -> Scalar:
    """gain V^2 sin(eta) for a unit vector to aim along, with the sine kept at its limit when that is behind."""
    along = motion.north_m_s * aim_north + motion.east_m_s * aim_east
    across = motion.north_m_s * aim_east - motion.east_m_s * aim_north
    limit = select(across < 0.0, -speed_m_s, speed_m_s)
    return gain_1_m * speed_m_s * select(along < 0.0, limit, across)
