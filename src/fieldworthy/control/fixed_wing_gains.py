"""An autopilot for an airplane that nobody has tuned: every gain from its mass and its coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fieldworthy.control.fixed_wing import FixedWingParameters
from fieldworthy.control.l1 import L1Parameters
from fieldworthy.control.tecs import TecsParameters
from fieldworthy.core.constants import SEA_LEVEL_DENSITY_KG_M3, STANDARD_GRAVITY_M_S2
from fieldworthy.core.lanes import Scalar, maximum, minimum, tan
from fieldworthy.core.vec import Vec3
from fieldworthy.vehicles.aerodynamics import AeroParameters


@dataclass
class AirplaneNumbers:
    """What the gains need beside the coefficients."""

    mass_kg: Scalar
    inertia_kg_m2: Vec3
    """Diagonal of the inertia, about forward, right and down."""
    aileron_max_rad: Scalar
    elevator_max_rad: Scalar
    rudder_max_rad: Scalar
    thrust_max_n: Scalar
    """At cruise airspeed."""
    cruise_airspeed_m_s: Scalar
    airspeed_min_m_s: Scalar
    airspeed_max_m_s: Scalar
    density_kg_m3: Scalar = SEA_LEVEL_DENSITY_KG_M3
    gravity_m_s2: Scalar = STANDARD_GRAVITY_M_S2
    surface_lag_s: Scalar = 0.05
    """Time constant of the servos; rate loops are kept slower."""
    bank_max_rad: Scalar = 0.785
    """45 degrees."""
    pitch_max_rad: Scalar = 0.35
    """20 degrees."""


def fixed_wing_gains(aero: AeroParameters, a: AirplaneNumbers) -> FixedWingParameters:
    """Gains and limits with which an airplane of these numbers flies.

    Equation: q = rho V0^2 / 2; effectiveness = q S l C_delta delta_max / I; damping = -q S l^2 C_w / (2 V0 I);
        lift's angle of attack = m g / (q S CL_alpha); drag D = q S (CD0 + CL^2 / (pi e A)), A = b^2 / S;
        power range = (T_max - D) V0/m down to -D V0/m; rate loops at 0.4 / servo lag; attitude at a third of that;
        height and speed ten times slower; L1's period 28 times the bank's time constant and at least 8 s.
    Source: small-disturbance derivatives and loops closed one after the other with bandwidths apart: R. W. Beard,
        T. W. McLain, Small Unmanned Aircraft (2012), chapters 5 and 6; parabolic polar.
    Limits: thrust taken as in proportion to throttle; no surface without effect (its derivative not 0); principal axes;
        lift of elevator and flap, and wash, left out: the integrals have to find them.
    Verified by: tests/verification/test_fixed_wing.py
    """
    v, g, m = a.cruise_airspeed_m_s, a.gravity_m_s2, a.mass_kg
    qs = 0.5 * a.density_kg_m3 * v * v * aero.area_m2
    cl = m * g / qs
    induced_n = qs * cl * cl / (math.pi * aero.oswald * aero.span_m * aero.span_m / aero.area_m2)
    drag_n = qs * aero.cd0 + induced_n
    power_max, power_min = (a.thrust_max_n - drag_n) * v / m, -drag_n * v / m
    roll = qs * aero.span_m / a.inertia_kg_m2.x
    pitch = qs * aero.chord_m / a.inertia_kg_m2.y
    yaw = qs * aero.span_m / a.inertia_kg_m2.z
    rate_gain = 0.4 / a.surface_lag_s
    attitude_s = 3.0 / rate_gain
    return FixedWingParameters(
        cruise_airspeed_m_s=v,
        gravity_m_s2=g,
        bank_max_rad=a.bank_max_rad,
        # Half of the largest bank's acceleration on the circle, the rest for the wind.
        circle_radius_m=v * v / (0.5 * g * tan(a.bank_max_rad)),
        roll_time_s=attitude_s,
        pitch_time_s=attitude_s,
        roll_rate_max_rad_s=math.radians(90.0),
        # One g more or less than the weight.
        pitch_rate_max_rad_s=g / v,
        roll_gain_1_s=rate_gain,
        pitch_gain_1_s=rate_gain,
        yaw_gain_1_s=0.25 * rate_gain,
        roll_integral_1_s2=0.5 * rate_gain / attitude_s,
        pitch_integral_1_s2=2.0 * rate_gain / attitude_s,
        roll_damping_1_s=-roll * aero.cell_p * aero.span_m / (2.0 * v),
        pitch_damping_1_s=-pitch * aero.cm_q * aero.chord_m / (2.0 * v),
        yaw_damping_1_s=-yaw * aero.cn_r * aero.span_m / (2.0 * v),
        aileron_rad_s2=roll * aero.cell_aileron * a.aileron_max_rad,
        elevator_rad_s2=pitch * aero.cm_elevator * a.elevator_max_rad,
        rudder_rad_s2=yaw * aero.cn_rudder * a.rudder_max_rad,
        pitch_rest_rad_s2=pitch * aero.cm0,
        pitch_stiffness_1_s2=-pitch * aero.cm_alpha,
        zero_lift_rad=-aero.cl0 / aero.cl_alpha,
        lift_rad=cl / aero.cl_alpha,
        tecs=TecsParameters(
            height_time_s=10.0 * attitude_s,
            speed_time_s=10.0 * attitude_s,
            # A fifth of the power is kept for the airspeed, and climbs are kept where sine and angle are alike.
            climb_max_m_s=minimum(0.8 * power_max / g, 0.2 * v),
            sink_max_m_s=minimum(-0.8 * power_min / g, 0.2 * v),
            power_max_m2_s3=power_max,
            power_min_m2_s3=power_min,
            throttle_trim=drag_n / a.thrust_max_n,
            throttle_gain=0.5,
            throttle_integral_1_s=0.2,
            pitch_gain=0.5,
            pitch_integral_1_s=0.3,
            pitch_min_rad=-a.pitch_max_rad,
            pitch_max_rad=a.pitch_max_rad,
            airspeed_min_m_s=a.airspeed_min_m_s,
            airspeed_max_m_s=a.airspeed_max_m_s,
            turn_power_m2_s3=induced_n * v / m,
            rate_filter_s=0.5,
        ),
        l1=L1Parameters(
            period_s=maximum(28.0 * attitude_s, 8.0),
            damping=0.75,
            distance_min_m=0.2 * v,
            capture_rad=math.radians(45.0),
        ),
    )
