"""Aerodynamics of a whole aircraft from coefficients: attached flow, stall, and a flat plate at any other angle.

The coefficients of the static part come from derivatives (this file) or from tables (`vehicles/aero_table.py`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.lanes import Scalar, atan2, exp, minimum, sqrt
from fieldworthy.core.lanes import abs as magnitude
from fieldworthy.core.vec import Vec3
from fieldworthy.core.wrench import Wrench

_AHEAD_M_S = 1e-6
_TINY = 1e-18
"""Added to the squares of speeds [m2/s2], so that their roots are never zero."""


@dataclass(frozen=True)
class AeroOptions:
    """Which effects are traced."""

    stall: bool = True
    """Blend into a flat plate; without it attached flow at every angle."""
    induced_drag: bool = True
    """Add the drag due to lift of a wing with this aspect ratio and Oswald factor."""


@dataclass
class Surfaces:
    """Deflections of the control surfaces. Positive: elevator and flap with the trailing edge down, ailerons that
    roll the aircraft to the right (mean of left down and right up), rudder with the trailing edge to the left (nose
    to the left)."""

    aileron_rad: Scalar
    elevator_rad: Scalar
    rudder_rad: Scalar
    flap_rad: Scalar = 0.0


@dataclass
class Wash:
    """Dynamic pressure that propellers add on each surface (`propwash.wash_pressure_pa`)."""

    aileron_pa: Scalar
    elevator_pa: Scalar
    rudder_pa: Scalar


@dataclass
class AeroParameters:
    """Coefficients of one aircraft: `cl` lift, `cd` drag, `cm` pitch, `cy` side force, `cell` roll, `cn` yaw; each
    per radian of an angle, or per p b/(2V), q c/(2V), r b/(2V). Catalogue names are these with `aero_` before them."""

    area_m2: Scalar
    span_m: Scalar
    chord_m: Scalar
    oswald: Scalar
    stall_alpha_rad: Scalar
    """Angle of attack at which attached flow and flat plate count half each."""
    stall_sharpness: Scalar
    """M: the blend takes about 4/M rad."""
    cn_plate: Scalar
    """Normal force coefficient of the stalled aircraft broadside to the flow."""
    cm_plate: Scalar
    """Pitching moment coefficient of the stalled aircraft broadside to the flow, negative: nose into the wind."""
    cl0: Scalar
    cl_alpha: Scalar
    cl_q: Scalar
    cl_elevator: Scalar
    cd0: Scalar
    """Drag without lift."""
    cd_alpha: Scalar
    cd_q: Scalar
    cd_elevator: Scalar
    cm0: Scalar
    cm_alpha: Scalar
    cm_q: Scalar
    cm_elevator: Scalar
    cy0: Scalar
    cy_beta: Scalar
    cy_p: Scalar
    cy_r: Scalar
    cy_aileron: Scalar
    cy_rudder: Scalar
    cell0: Scalar
    cell_beta: Scalar
    cell_p: Scalar
    cell_r: Scalar
    cell_aileron: Scalar
    cell_rudder: Scalar
    cn0: Scalar
    cn_beta: Scalar
    cn_p: Scalar
    cn_r: Scalar
    cn_aileron: Scalar
    cn_rudder: Scalar
    cl_flap: Scalar = 0.0
    cd_flap: Scalar = 0.0
    cm_flap: Scalar = 0.0


@dataclass
class Flow:
    """The air as the aircraft meets it."""

    alpha_rad: Scalar
    """Angle of attack in [-pi, pi]."""
    beta_rad: Scalar
    """Sideslip in [-pi/2, pi/2]; flying backwards is an angle of attack beyond pi/2."""
    cos_alpha: Scalar
    sin_alpha: Scalar
    speed_m_s: Scalar
    pressure_pa: Scalar
    """Dynamic pressure of the whole speed."""
    plane_pressure_pa: Scalar
    """Dynamic pressure of the part of the speed in the plane of symmetry."""


def aero_parameters(values: Mapping[str, Any]) -> AeroParameters:
    """Parameters from a catalogue entry's values: each field by its name with `aero_` before it.

    Raises KeyError with the names that are missing.
    """
    fields = dataclasses.fields(AeroParameters)
    missing = [f"aero_{f.name}" for f in fields if f.default is dataclasses.MISSING and f"aero_{f.name}" not in values]
    if missing:
        raise KeyError(f"values missing for the aerodynamics: {', '.join(missing)}")
    return AeroParameters(**{f.name: values[f"aero_{f.name}"] for f in fields if f"aero_{f.name}" in values})


def air_flow(air_velocity_frd_m_s: Vec3, density_kg_m3: Scalar) -> Flow:
    """Angles and dynamic pressures of a velocity through the air.

    Equation: alpha = atan2(w, u),  beta = atan2(v, sqrt(u^2 + w^2)),  q = 1/2 rho V^2
    Source: Beard and McLain, Small Unmanned Aircraft (2012), section 2.3
    Frames: body FRD; the velocity is that of the aircraft through the air.
    """
    u, v, w = air_velocity_frd_m_s
    # At rest the air comes from ahead: angles, their cosines and gradients have values there, and 1 um/s is no wind.
    ahead = u + _AHEAD_M_S
    plane = sqrt(ahead * ahead + w * w + _TINY)
    plane2 = u * u + w * w
    speed2 = plane2 + v * v
    half_density = density_kg_m3 * 0.5
    return Flow(
        alpha_rad=atan2(w, ahead),
        beta_rad=atan2(v, plane),
        cos_alpha=ahead / plane,
        sin_alpha=w / plane,
        speed_m_s=sqrt(speed2 + _TINY),
        pressure_pa=half_density * speed2,
        plane_pressure_pa=half_density * plane2,
    )


def attached_share(alpha_rad: Scalar, stall_alpha_rad: Scalar, sharpness: Scalar) -> Scalar:
    """1 in attached flow, 0 when stalled: a smooth step at plus and minus the stall angle.

    Equation: 1 - sigma = 1/((1 + exp(M (alpha - alpha_0))) (1 + exp(-M (alpha + alpha_0))))
    Source: Beard and McLain (2012), equation 4.10, multiplied out so that nothing overflows
    Verified by: tests/verification/test_aerodynamics.py
    """
    # exp(40) squared still is a 32-bit number: the gradient of the quotient stays finite at 180 degrees.
    above = exp(minimum(sharpness * (alpha_rad - stall_alpha_rad), 40.0))
    below = exp(minimum(-sharpness * (alpha_rad + stall_alpha_rad), 40.0))
    return 1.0 / ((1.0 + above) * (1.0 + below))


def aero_wrench(
    options: AeroOptions,
    p: AeroParameters,
    air_velocity_frd_m_s: Vec3,
    rate_frd_rad_s: Vec3,
    surfaces: Surfaces,
    density_kg_m3: Scalar,
    wash: Wash | None = None,
) -> Wrench:
    """Force and moment of the air on the whole aircraft, about the centre of mass, body FRD.

    Equation: L = q_s S (C_L(alpha) + C_Lde de) + 1/4 rho V S c C_Lq q, and D, m likewise;
        Y = q S (C_Y0 + C_Yb beta + C_Yda da + C_Ydr dr) + 1/4 rho V S b (C_Yp p + C_Yr r), and l, n likewise times b;
        X = L sin(alpha) - D cos(alpha),  Z = -L cos(alpha) - D sin(alpha);  q_s is the pressure in the plane of
        symmetry.
        C_L = (1-s)(C_L0 + C_La alpha) + s C_N |sin a| sin a cos a,
        C_D = C_D0 + (1-s)(C_Da alpha + (C_L0 + C_La alpha)^2/(pi e AR)) + s C_N |sin a|^3,
        C_m = (1-s)(C_m0 + C_ma alpha) + s C_mp |sin a| sin a,  s = 1 - `attached_share`.
        Surfaces work with the factor (1-s) + s cos(alpha); wash adds its pressure to theirs with the factor 1.
    Source: Beard and McLain, Small Unmanned Aircraft (2012), chapter 4. Added here: drag and moment of the plate
        (Newton's normal force C_N sin^2(alpha) gives both lift and drag; the book blends lift alone), the pressure
        of the plane of symmetry for L, D and m (independence principle of a swept wing), surfaces that lose and
        reverse effect.
    Frames: body FRD; the velocity is that of the aircraft through the air.      Shapes: scalars.
    Limits: finite and continuous at every angle and at rest; derivatives in beta are straight lines up to 90 degrees;
        no unsteady effects (alpha rate, dynamic stall), no Mach or Reynolds number, no autorotation of a stalled wing.
    Verified by: tests/verification/test_aerodynamics.py
    """
    flow = air_flow(air_velocity_frd_m_s, density_kg_m3)
    alpha, beta, sin_a = flow.alpha_rad, flow.beta_rad, flow.sin_alpha

    lift_attached = p.cl0 + p.cl_alpha * alpha
    drag_attached = p.cd_alpha * alpha
    if options.induced_drag:
        drag_attached = drag_attached + lift_attached * lift_attached * (
            p.area_m2 / (p.span_m * p.span_m * p.oswald * math.pi)
        )
    pitch_attached = p.cm0 + p.cm_alpha * alpha
    grip: Scalar = 1.0
    c_lift, c_drag, c_pitch = lift_attached, p.cd0 + drag_attached, pitch_attached
    if options.stall:
        attached = attached_share(alpha, p.stall_alpha_rad, p.stall_sharpness)
        stalled = 1.0 - attached
        normal = stalled * magnitude(sin_a) * sin_a
        c_lift = attached * lift_attached + p.cn_plate * normal * flow.cos_alpha
        c_drag = p.cd0 + attached * drag_attached + p.cn_plate * normal * sin_a
        c_pitch = attached * pitch_attached + p.cm_plate * normal
        grip = attached + stalled * flow.cos_alpha

    q, q_plane = flow.pressure_pa, flow.plane_pressure_pa
    aileron, rudder = q * grip * surfaces.aileron_rad, q * grip * surfaces.rudder_rad
    elevator, flap = q_plane * grip * surfaces.elevator_rad, q_plane * grip * surfaces.flap_rad
    blown: Scalar = 0.0
    if wash is not None:
        aileron = aileron + wash.aileron_pa * surfaces.aileron_rad
        rudder = rudder + wash.rudder_pa * surfaces.rudder_rad
        blown = wash.elevator_pa * surfaces.elevator_rad

    # q c/(2V) times 1/2 rho V^2, without the division by V; likewise for p and r with the span.
    swirl = density_kg_m3 * flow.speed_m_s * 0.25
    roll_rate, yaw_rate = rate_frd_rad_s.x * (swirl * p.span_m), rate_frd_rad_s.z * (swirl * p.span_m)
    pitch_rate = rate_frd_rad_s.y * (swirl * p.chord_m)

    lift = q_plane * c_lift + p.cl_q * pitch_rate + p.cl_elevator * elevator + p.cl_flap * flap
    drag = q_plane * c_drag + p.cd_q * pitch_rate + p.cd_elevator * elevator + p.cd_flap * flap
    pitch = q_plane * c_pitch + p.cm_q * pitch_rate + p.cm_elevator * (elevator + blown) + p.cm_flap * flap
    side = (
        q * (p.cy0 + p.cy_beta * beta)
        + (p.cy_p * roll_rate + p.cy_r * yaw_rate)
        + (p.cy_aileron * aileron + p.cy_rudder * rudder)
    )
    roll = (
        q * (p.cell0 + p.cell_beta * beta)
        + (p.cell_p * roll_rate + p.cell_r * yaw_rate)
        + (p.cell_aileron * aileron + p.cell_rudder * rudder)
    )
    yaw = (
        q * (p.cn0 + p.cn_beta * beta)
        + (p.cn_p * roll_rate + p.cn_r * yaw_rate)
        + (p.cn_aileron * aileron + p.cn_rudder * rudder)
    )
    wrench = wrench_of_loads(flow, p.area_m2, p.span_m, p.chord_m, (lift, drag, side), (roll, pitch, yaw))
    if wash is not None:
        # The slipstream comes along the body, whatever the angle of attack of the aircraft.
        force, push = wrench.force_frd_n, blown * p.area_m2
        wrench.force_frd_n = Vec3(force.x - p.cd_elevator * push, force.y, force.z - p.cl_elevator * push)
    return wrench


def wrench_of_loads(
    flow: Flow,
    area_m2: Scalar,
    span_m: Scalar,
    chord_m: Scalar,
    force_pa: tuple[Scalar, Scalar, Scalar],
    moment_pa: tuple[Scalar, Scalar, Scalar],
) -> Wrench:
    """(lift, drag, side force) and (roll, pitch, yaw moment), all as coefficient times pressure, in body FRD.

    Equation: X = L sin(alpha) - D cos(alpha),  Z = -L cos(alpha) - D sin(alpha)
    Source: Beard and McLain, Small Unmanned Aircraft (2012), section 4.2: stability axes turned into the body.
    Frames: body FRD.      Shapes: scalars.      Limits: side force along the body's y axis.
    Verified by: tests/verification/test_aerodynamics.py
    """
    lift, drag, side = force_pa
    roll, pitch, yaw = moment_pa
    c, s = flow.cos_alpha, flow.sin_alpha
    return Wrench(
        Vec3((lift * s - drag * c) * area_m2, side * area_m2, (lift * c + drag * s) * -area_m2),
        Vec3(roll * (area_m2 * span_m), pitch * (area_m2 * chord_m), yaw * (area_m2 * span_m)),
    )
