"""What a flying robot's control laws see of its motion: the truth, or what a filter makes of the sensors."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Quat, Vec3


@dataclass
class Estimate:
    """Motion of the centre of mass as the autopilot believes it; world NED, body FRD."""

    pos_ned_m: Vec3
    vel_ned_m_s: Vec3
    quat_ned_from_frd: Quat
    rate_frd_rad_s: Vec3
    airspeed_m_s: Scalar
