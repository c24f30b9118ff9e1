"""The autopilot of a quadplane: rotors' and wings' autopilots side by side, each with its share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fieldworthy.control.fixed_wing import (
    FixedWingParameters,
    FixedWingState,
    SurfaceCommand,
    attitude_surfaces,
    first_fixed_wing,
    fixed_wing_control,
)
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor import (
    MultirotorControlState,
    MultirotorOptions,
    MultirotorParameters,
    MultirotorReport,
    first_multirotor_state,
    multirotor_control,
)
from fieldworthy.control.position import PositionState
from fieldworthy.control.setpoint import HOVER, Setpoint
from fieldworthy.control.vtol import (
    CRUISING,
    HOVERING,
    SLOWING_DOWN,
    SPEEDING_UP,
    VtolParameters,
    VtolState,
    first_vtol,
    next_vtol,
    rotor_setpoint,
    surface_share,
)
from fieldworthy.core.lanes import Scalar, clip, maximum, minimum, select
from fieldworthy.core.struct import where
from fieldworthy.core.vec import Vec3, euler_zyx_from_quat

_NO_LIMIT_M_S = 1e3
_SLOWING_DESCENT_M_S = 0.5


@dataclass
class VtolAutopilotParameters:
    """Numbers of the three parts."""

    rotors: MultirotorParameters
    """Of the lifting rotors alone."""
    wings: FixedWingParameters
    change: VtolParameters


@dataclass
class VtolAutopilotState:
    """Memory of the three parts."""

    rotors: MultirotorControlState
    wings: FixedWingState
    change: VtolState


@dataclass
class VtolCommand:
    """What the quadplane's actuators are asked for."""

    rotor_thrust_n: tuple[Scalar, ...]
    surfaces: SurfaceCommand
    pusher_throttle: Scalar


def first_vtol_autopilot(options: MultirotorOptions, estimate: Estimate, lifted: Scalar = 1.0) -> VtolAutopilotState:
    """Hovering (1.0) or standing on the ground (0.0), nothing integrated."""
    return VtolAutopilotState(
        first_multirotor_state(options, estimate, lifted), first_fixed_wing(estimate), first_vtol(estimate.airspeed_m_s)
    )


def vtol_control(
    options: MultirotorOptions,
    p: VtolAutopilotParameters,
    setpoint: Setpoint,
    estimate: Estimate,
    state: VtolAutopilotState,
    dt_s: Scalar,
) -> tuple[VtolCommand, VtolAutopilotState, MultirotorReport]:
    """Rotor thrusts, surfaces and pusher for the phase that the vehicle is in, the new memory, the rotors' report.

    Rule: `next_vtol` chooses the phase. Rotors: `multirotor_control` on `rotor_setpoint`, times the rotor share.
        Surfaces: `fixed_wing_control` when cruising, the rotors' attitude when slowing down, otherwise level wings at
        the pitch that carries the weight at cruise airspeed; times the surface share. Pusher: the wings' throttle when
        cruising, a fixed one when speeding up, else off. What an autopilot integrates is forgotten while it has no
        share; of what the rotors' autopilot takes for a disturbance only the vertical part is kept outside of
        hovering: the rest is the pusher.
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: those of the three parts; a quadplane, not a tailsitter.
    Verified by: tests/verification/test_vtol.py
    """
    # On the ground the pusher would make a ground run of it.
    setpoint = replace(setpoint, way=select(state.rotors.ground.lifted > 0.5, setpoint.way, HOVER))
    change = next_vtol(p.change, setpoint, estimate, state.change, dt_s)
    thrusts, rotors, report = multirotor_control(
        options,
        _rotors_of_phase(p, change, estimate.airspeed_m_s),
        rotor_setpoint(setpoint, estimate, change),
        estimate,
        state.rotors,
        dt_s,
    )
    cruise, throttle, wings = fixed_wing_control(p.wings, setpoint, estimate, state.wings, dt_s)
    slowing, cruising = change.phase == SLOWING_DOWN, change.phase == CRUISING
    roll, pitch, _ = euler_zyx_from_quat(report.quat_setpoint)
    level, roll_integral, pitch_integral = attitude_surfaces(
        p.wings,
        select(slowing, roll, 0.0),
        select(slowing, pitch, p.wings.zero_lift_rad + p.wings.lift_rad),
        estimate,
        state.wings,
        dt_s,
    )
    held = surface_share(p.change, change, estimate.airspeed_m_s)
    surfaces = SurfaceCommand(
        *(
            held * select(cruising, a, b)
            for a, b in (
                (cruise.aileron, level.aileron),
                (cruise.elevator, level.elevator),
                (cruise.rudder, level.rudder),
            )
        )
    )
    fresh = first_fixed_wing(estimate)
    wings = where(
        cruising,
        wings,
        FixedWingState(fresh.tecs, select(held < 1.0, 0.0, roll_integral), select(held < 1.0, 0.0, pitch_integral)),
    )
    rotors = _kept(change, rotors, first_multirotor_state(options, estimate))
    pusher = select(cruising, throttle, select(change.phase == SPEEDING_UP, p.change.pusher_throttle, 0.0))
    command = VtolCommand(tuple(thrust * change.rotor_share for thrust in thrusts), surfaces, pusher)
    return command, VtolAutopilotState(rotors, wings, change), report


def _rotors_of_phase(p: VtolAutopilotParameters, change: VtolState, airspeed_m_s: Scalar) -> MultirotorParameters:
    """The rotors' numbers with the limits of the phase.

    Rule: outside of hovering no limit on the speed, which would brake. Slowing down, no more tilt than the angle of
        attack at which the wings carry half of the weight: the rotors brake by leaning back with what is left to them,
        best with half, and at more the wings would stall on the way. Hardly any descent then: in a glide the wings
        keep the speed.
    """
    hovering, slowing = change.phase == HOVERING, change.phase == SLOWING_DOWN
    place, wings = p.rotors.position, p.wings
    slowness = wings.cruise_airspeed_m_s / maximum(airspeed_m_s, 1.0)
    carrying = wings.zero_lift_rad + 0.5 * wings.lift_rad * slowness * slowness
    tilt = select(slowing, clip(carrying, 0.01, place.tilt_max_rad), place.tilt_max_rad)
    return replace(
        p.rotors,
        position=replace(
            place,
            tilt_max_rad=tilt,
            speed_max_m_s=select(hovering, place.speed_max_m_s, _NO_LIMIT_M_S),
            descent_max_m_s=select(
                slowing, minimum(_SLOWING_DESCENT_M_S, place.descent_max_m_s), place.descent_max_m_s
            ),
        ),
    )


def _kept(change: VtolState, rotors: MultirotorControlState, fresh: MultirotorControlState) -> MultirotorControlState:
    """What the rotors' autopilot may remember in this phase."""
    old, new = rotors.position, fresh.position
    between = PositionState(
        Vec3(new.velocity_model_m_s.x, new.velocity_model_m_s.y, old.velocity_model_m_s.z),
        Vec3(0.0, 0.0, old.disturbance_ned_m_s2.z),
        old.velocity_slow_m_s,
    )
    position = where(change.phase == HOVERING, old, between)
    return where(change.rotor_share > 0.0, replace(rotors, position=position), fresh)
