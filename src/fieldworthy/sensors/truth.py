"""What is so at the moment of measuring: the one input of every sensor law of a flying robot."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Quat, Vec3


@dataclass(slots=True)
class SensorTruth:
    """One number each, any engine; world NED, body FRD, about the centre of mass."""

    t_s: Scalar
    pos_ned_m: Vec3
    quat_ned_from_frd: Quat
    vel_ned_m_s: Vec3
    rate_frd_rad_s: Vec3
    rate_dot_frd_rad_s2: Vec3
    specific_force_frd_m_s2: Vec3
    """Acceleration minus gravity: (0, 0, -g) at rest on level ground."""
    air_velocity_frd_m_s: Vec3
    """Of the vehicle through the air: forward flight in still air has a positive x."""
    density_kg_m3: Scalar
    pressure_pa: Scalar
    temperature_k: Scalar
    current_a: Scalar
    """What the motors draw."""
    height_above_ground_m: Scalar
    rotor_wash_pa: Scalar
    """Pressure that the rotors' wash adds where the static port is."""
    vibration_frd_m_s2: Vec3
    """Acceleration of the structure that the rigid body does not have."""
