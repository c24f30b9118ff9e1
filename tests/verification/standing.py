"""The reference quadrotor (2 kg) on four feet, stepped by RK4."""

from fieldworthy.core.integrate import rk4
from fieldworthy.core.rigid_body import RigidBodyState, normalised_step, rigid_body_rates
from fieldworthy.core.vec import Quat, Vec3, quat_from_euler_zyx, quat_identity, rotate
from fieldworthy.vehicles.contact import contact_wrench
from fieldworthy.vehicles.landing_gear import landing_gear

G = 9.80665
MASS_KG = 2.0
INERTIA_KG_M2 = Vec3(0.0143, 0.0143, 0.0250)
FEET_FRD_M = tuple(Vec3(x, y, 0.15) for x in (0.15, -0.15) for y in (0.15, -0.15))
REST_Z_M = -0.145
"""Feet 0.15 m below the centre of mass, 5 mm of static deflection."""


def gear(dt_s=1e-3, **changes):
    return landing_gear(FEET_FRD_M, MASS_KG, INERTIA_KG_M2, dt_s, **changes)


def body(z_m=REST_Z_M, quat=None, vel=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0)):
    return RigidBodyState(Vec3(0.0, 0.0, z_m), quat or quat_identity(), Vec3(*vel), Vec3(*rate))


def stand(points, state, seconds, side_n=0.0, dt_s=1e-3, gravity=G):
    """The body after a time on its feet, a steady force pushing it north."""

    def rate(s):
        wrench = contact_wrench(points, s.pos_ned_m, s.quat_ned_from_frd, s.vel_ned_m_s, s.rate_frd_rad_s, 0.0)
        force = rotate(s.quat_ned_from_frd, wrench.force_frd_n) + Vec3(side_n, 0.0, MASS_KG * gravity)
        return rigid_body_rates(s, force, wrench.moment_frd_n_m, MASS_KG, INERTIA_KG_M2)

    for _ in range(round(seconds / dt_s)):
        state = normalised_step(rk4, rate, state, dt_s)
    return state


def tilted() -> Quat:
    return quat_from_euler_zyx(0.08, -0.05, 0.4)
