"""Degrees and knots, on load and on screens only, and the wrap of an angle. Any engine."""

from __future__ import annotations

import math

from fieldworthy.core.lanes import Scalar, floor

M_S_PER_KT = 1852.0 / 3600.0
"""One knot is one international nautical mile (1852 m exactly) an hour."""


def rad_from_deg(angle_deg: Scalar) -> Scalar:
    """Radians from degrees."""
    return angle_deg * (math.pi / 180.0)


def m_s_from_kt(speed_kt: Scalar) -> Scalar:
    """Metres per second from knots."""
    return speed_kt * M_S_PER_KT


def wrap_pi(angle_rad: Scalar) -> Scalar:
    """The same direction in [-pi, pi)."""
    return angle_rad - 2.0 * math.pi * floor((angle_rad + math.pi) * (0.5 / math.pi))
