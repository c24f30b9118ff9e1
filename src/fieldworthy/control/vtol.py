"""Between rotors and wings: when a quadplane speeds up, flies on wings, slows down, and what carries it meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.setpoint import HOVER, WING, Setpoint
from fieldworthy.core.lanes import Scalar, atan2, clip, logical_and, logical_not, logical_or, maximum, select
from fieldworthy.core.lanes import abs as magnitude
from fieldworthy.core.units import wrap_pi
from fieldworthy.core.vec import euler_zyx_from_quat

HOVERING, SPEEDING_UP, CRUISING, SLOWING_DOWN = 0.0, 1.0, 2.0, 3.0
"""Phases: numbers, so that every lane has its own."""


@dataclass
class VtolParameters:
    """Numbers of the change between the two ways to fly."""

    blend_airspeed_m_s: Scalar
    """The rotors begin to fade out here; on wings, they come back below it."""
    wing_airspeed_m_s: Scalar
    """The wings carry everything from here on."""
    hover_airspeed_m_s: Scalar
    """Slowing down ends below this."""
    pusher_throttle: Scalar
    """While speeding up."""
    speed_up_limit_s: Scalar
    """Not on wings after this time: back to hovering, where the rest of the leg is flown."""
    slow_down_limit_s: Scalar
    """Not slow after this time: hovering takes over and brakes with the rotors."""
    fade_s: Scalar
    """The rotors' share goes from 0 to 1 in no less than this."""
    aligned_rad: Scalar
    """The nose points along the leg to within this before the pusher starts."""


@dataclass
class VtolState:
    """Where in the change a vehicle is."""

    phase: Scalar
    timer_s: Scalar
    """Time in this phase."""
    rotor_share: Scalar
    """0..1: what the rotors' demands are multiplied by."""
    refused: Scalar
    """1.0 after speeding up took too long, until hovering is asked for."""


def first_vtol(like: Scalar = 0.0) -> VtolState:
    """Hovering; `like` is any scalar of the engine."""
    zero = like * 0.0
    return VtolState(zero + HOVERING, zero, zero + 1.0, zero)


def course_of_leg(setpoint: Setpoint, heading_rad: Scalar) -> Scalar:
    """Direction of the line to follow; the present heading where it has no length."""
    north, east = setpoint.north_m - setpoint.from_north_m, setpoint.east_m - setpoint.from_east_m
    long = north * north + east * east > 1.0
    return select(long, atan2(east, select(long, north, 1.0)), heading_rad)


def next_vtol(p: VtolParameters, setpoint: Setpoint, estimate: Estimate, state: VtolState, dt_s: Scalar) -> VtolState:
    """The state machine's state one tick later.

    Rule: hovering -> speeding up when wings are wanted and the nose is along the leg -> cruising at the wings'
        airspeed -> slowing down when hovering is wanted -> hovering below its airspeed, or after a time.
        From speeding up back to slowing down when wings are no longer wanted or after a time (then `refused`);
        from cruising to speeding up when the airspeed falls below the blend; from slowing down to speeding up when
        wings are wanted again.
        Rotor share wanted: 1 - (V - V_blend)/(V_wing - V_blend) while speeding up, 0 cruising, else 1.
    Source: the phases of common quadplane autopilots; no published law.
    Shapes: scalars; every lane is in a phase of its own.
    Limits: airspeed alone decides, not lift; a quadplane, whose body stays level: not a tailsitter.
    Verified by: tests/verification/test_vtol.py
    """
    phase, v = state.phase, estimate.airspeed_m_s
    timer = state.timer_s + dt_s
    _, _, heading = euler_zyx_from_quat(estimate.quat_ned_from_frd)
    asked = setpoint.way == WING
    refused_before = logical_and(state.refused > 0.5, asked)
    wanted = logical_and(asked, logical_not(refused_before))
    unwanted = logical_not(wanted)
    aligned = magnitude(wrap_pi(course_of_leg(setpoint, heading) - heading)) <= p.aligned_rad

    hovering, speeding = phase == HOVERING, phase == SPEEDING_UP
    cruising, slowing = phase == CRUISING, phase == SLOWING_DOWN
    on_wings = logical_and(speeding, v >= p.wing_airspeed_m_s)
    too_long = logical_and(logical_and(speeding, timer > p.speed_up_limit_s), logical_not(on_wings))
    slow = logical_or(v <= p.hover_airspeed_m_s, timer > p.slow_down_limit_s)

    new = select(logical_and(logical_and(hovering, wanted), aligned), SPEEDING_UP, phase)
    new = select(on_wings, CRUISING, new)
    new = select(logical_and(cruising, v < p.blend_airspeed_m_s), SPEEDING_UP, new)
    new = select(logical_and(slowing, slow), HOVERING, new)
    new = select(logical_and(slowing, wanted), SPEEDING_UP, new)
    leaving = logical_or(too_long, logical_and(logical_or(speeding, cruising), unwanted))
    new = select(leaving, SLOWING_DOWN, new)

    faded = 1.0 - (v - p.blend_airspeed_m_s) / maximum(p.wing_airspeed_m_s - p.blend_airspeed_m_s, 1e-3)
    share = select(new == SPEEDING_UP, clip(faded, 0.0, 1.0), select(new == CRUISING, 0.0, 1.0))
    step = dt_s / maximum(p.fade_s, 1e-3)
    share = clip(share, state.rotor_share - step, state.rotor_share + step)
    return VtolState(
        phase=new,
        timer_s=select(new == phase, timer, 0.0),
        rotor_share=share,
        refused=select(logical_or(refused_before, too_long), 1.0, 0.0),
    )


def surface_share(p: VtolParameters, state: VtolState, airspeed_m_s: Scalar) -> Scalar:
    """Share of the surfaces' demands: none in hover, all from the blend's airspeed on, a ramp from half of it."""
    half = 0.5 * p.blend_airspeed_m_s
    ramp = clip((airspeed_m_s - half) / maximum(half, 1e-3), 0.0, 1.0)
    return select(state.phase == HOVERING, 0.0, ramp)


def rotor_setpoint(setpoint: Setpoint, estimate: Estimate, state: VtolState) -> Setpoint:
    """What the rotors' autopilot is asked for in each phase.

    Rule: hovering by wish, or after a refusal: the setpoint itself. Waiting for the nose: no motion, nose along the
        leg. Speeding up and on wings: height alone, by asking for the place and velocity that it has; nose along the
        leg while speeding up, as it is otherwise. Slowing down: to stop where it is, whatever place that becomes.
    Verified by: tests/verification/test_vtol.py
    """
    pos, vel = estimate.pos_ned_m, estimate.vel_ned_m_s
    _, _, heading = euler_zyx_from_quat(estimate.quat_ned_from_frd)
    course = course_of_leg(setpoint, heading)
    hovering = state.phase == HOVERING
    itself = logical_and(hovering, logical_or(setpoint.way == HOVER, state.refused > 0.5))
    nose = select(logical_or(hovering, state.phase == SPEEDING_UP), course, heading)
    moving = select(logical_or(hovering, state.phase == SLOWING_DOWN), 0.0, 1.0)
    return Setpoint(
        north_m=select(itself, setpoint.north_m, pos.x),
        east_m=select(itself, setpoint.east_m, pos.y),
        up_m=setpoint.up_m,
        north_m_s=select(itself, setpoint.north_m_s, moving * vel.x),
        east_m_s=select(itself, setpoint.east_m_s, moving * vel.y),
        up_m_s=setpoint.up_m_s,
        heading_rad=select(itself, setpoint.heading_rad, nose),
        airspeed_m_s=setpoint.airspeed_m_s,
        from_north_m=setpoint.from_north_m,
        from_east_m=setpoint.from_east_m,
        speed_max_m_s=select(itself, setpoint.speed_max_m_s, 0.0),
        way=setpoint.way * 0.0 + HOVER,
    )
