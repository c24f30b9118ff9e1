"""Setpoint and estimate in, actuators out: the autopilot that suits the vehicle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from fieldworthy.control.actuation import surface_margin
from fieldworthy.control.allocation import rotor_speed_for
from fieldworthy.control.fixed_wing import FixedWingParameters, first_fixed_wing, fixed_wing_control
from fieldworthy.control.flight_estimate import Estimate
from fieldworthy.control.multirotor import (
    MultirotorOptions,
    MultirotorParameters,
    first_multirotor_state,
    multirotor_control,
)
from fieldworthy.control.setpoint import Setpoint
from fieldworthy.control.vtol_autopilot import VtolAutopilotParameters, first_vtol_autopilot, vtol_control
from fieldworthy.core.lanes import Scalar, maximum, minimum, sqrt
from fieldworthy.vehicles.aircraft import Actuators
from fieldworthy.vehicles.motor import MotorOptions, MotorParameters, throttle_for_speed
from fieldworthy.vehicles.rotor import RotorParameters

Kind = Literal["multirotor", "fixed-wing", "vtol"]
KINDS: tuple[Kind, ...] = ("multirotor", "fixed-wing", "vtol")


@dataclass(frozen=True)
class AutopilotOptions:
    """Which autopilot, and which of the vehicle's rotors do what."""

    kind: Kind
    lifters: tuple[int, ...] = ()
    """Rotors that hold the vehicle up in hover."""
    pushers: tuple[int, ...] = ()
    """Rotors that push it forward."""
    motor: MotorOptions = field(default_factory=MotorOptions)
    multirotor: MultirotorOptions = field(default_factory=MultirotorOptions)


@dataclass
class AutopilotParameters:
    """Gains, and the rotors as the autopilot believes them to be: the catalogue's, whatever a trial has drawn."""

    laws: MultirotorParameters | FixedWingParameters | VtolAutopilotParameters
    rotors: tuple[RotorParameters, ...]
    motors: tuple[MotorParameters, ...]


def first_autopilot(options: AutopilotOptions, estimate: Estimate, lifted: Scalar = 1.0) -> Any:
    """Nothing integrated; filters settled at the present motion; in the air (1.0) or standing on the ground (0.0)."""
    if options.kind == "multirotor":
        return first_multirotor_state(options.multirotor, estimate, lifted)
    if options.kind == "fixed-wing":
        return first_fixed_wing(estimate)
    return first_vtol_autopilot(options.multirotor, estimate, lifted)


def steer(
    options: AutopilotOptions, p: AutopilotParameters, setpoint: Setpoint, estimate: Estimate, state: Any, dt_s: Scalar
) -> tuple[Actuators, Any, Scalar]:
    """Actuators, the memory after this step, and the margin to saturation (0.5 in mid range, negative: too much).

    Equation: throttles by `motor.throttle_for_speed` of sqrt(T/k_f); a pusher's thrust is proportional to its throttle.
    Frames: world NED, body FRD.      Shapes: scalars.
    Limits: those of `multirotor_control`, `fixed_wing_control` and `vtol_control`. Voltage and density are not known to
        it: a sagging battery is made up for by its integrals.
    Verified by: tests/verification/test_autopilot.py
    """
    throttle: list[Scalar] = [0.0] * len(p.rotors)
    if options.kind == "multirotor":
        assert isinstance(p.laws, MultirotorParameters)
        thrusts, state, report = multirotor_control(options.multirotor, p.laws, setpoint, estimate, state, dt_s)
        _lift(options, p, thrusts, throttle)
        return Actuators(tuple(throttle)), state, report.saturation_margin
    if options.kind == "fixed-wing":
        assert isinstance(p.laws, FixedWingParameters)
        surfaces, push, state = fixed_wing_control(p.laws, setpoint, estimate, state, dt_s)
        margin = surface_margin(surfaces)
    else:
        assert isinstance(p.laws, VtolAutopilotParameters)
        command, state, report = vtol_control(options.multirotor, p.laws, setpoint, estimate, state, dt_s)
        _lift(options, p, command.rotor_thrust_n, throttle)
        surfaces, push = command.surfaces, command.pusher_throttle
        share = state.change.rotor_share
        margin = minimum(surface_margin(surfaces), report.saturation_margin + (1.0 - share))
    for i in options.pushers:
        rotor = p.rotors[i]
        speed = sqrt(maximum(push, 0.0) + 1e-9) * rotor.speed_max_rad_s
        throttle[i] = throttle_for_speed(options.motor, p.motors[i], rotor, speed)
    return Actuators(tuple(throttle), surfaces.aileron, surfaces.elevator, surfaces.rudder), state, margin


def _lift(options: AutopilotOptions, p: AutopilotParameters, thrusts: Any, throttle: list[Scalar]) -> None:
    for i, thrust in zip(options.lifters, thrusts, strict=True):
        rotor = p.rotors[i]
        speed = rotor_speed_for(thrust, rotor.thrust_coefficient_n_s2)
        throttle[i] = throttle_for_speed(options.motor, p.motors[i], rotor, speed)
