"""Which output of an autopilot turns which rotor or moves which surface, and over what range.

Autopilots number their motors by frame; a vehicle's file lists its rotors in an order of its own. They are matched by
where each motor sits and how it turns, so that a vehicle file in another order flies, and one that no frame of the
autopilot fits is refused.

Source: PX4 airframe reference (Quadrotor x and +, Hexarotor x; SITL airframes) and its control allocation (CA_ROTORn);
ArduPilot "Connect ESCs and Motors", AP_MotorsMatrix and AP_Motors_Class.h (FRAME_CLASS, FRAME_TYPE); ArduPlane's
default SERVOn_FUNCTION; ArduRover's steering (26) on SERVO1 and throttle (70) on SERVO3, left (73) and right (74)
throttle in their places with skid steering (rover-skid.parm).
Frames: body FRD; angles clockwise from the nose seen from above; spin +1 counter-clockwise seen from above.
Limits: of boats only these two: no sails, no omni frames, no thruster of its own for turning. Their outputs become
speed and turn rate, as the boat's model takes them.
Verified by: tests/verification/test_airframe.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.schema import Scenario

AutopilotKind = Literal["px4", "ardupilot"]

_ANGLE_MATCH_DEG = 20.0

MOTORS: dict[AutopilotKind, dict[str, tuple[tuple[float, int], ...]]] = {
    "px4": {
        "quad x": ((45.0, 1), (-135.0, 1), (-45.0, -1), (135.0, -1)),
        "quad +": ((90.0, 1), (-90.0, 1), (0.0, -1), (180.0, -1)),
        "hexa x": ((90.0, -1), (-90.0, 1), (-30.0, -1), (150.0, 1), (30.0, 1), (-150.0, -1)),
    },
    "ardupilot": {
        "quad x": ((45.0, 1), (-135.0, 1), (-45.0, -1), (135.0, -1)),
        "quad +": ((90.0, 1), (-90.0, 1), (0.0, -1), (180.0, -1)),
        "hexa x": ((90.0, -1), (-90.0, 1), (-30.0, -1), (150.0, 1), (30.0, 1), (-150.0, -1)),
    },
}
"""Frames of multirotors: (angle of the arm [deg], spin) of motor 1, 2, …"""

PARAMETERS: dict[AutopilotKind, dict[str, dict[str, float]]] = {
    "px4": {},
    "ardupilot": {
        "quad x": {"FRAME_CLASS": 1.0, "FRAME_TYPE": 1.0},
        "quad +": {"FRAME_CLASS": 1.0, "FRAME_TYPE": 0.0},
        "hexa x": {"FRAME_CLASS": 2.0, "FRAME_TYPE": 1.0},
        "plane": {"SERVO3_MIN": 1100.0, "SERVO3_MAX": 1900.0},
        "rover": {
            "FRAME_CLASS": 2.0,
            "SERVO1_MIN": 1000.0, "SERVO1_MAX": 2000.0, "SERVO3_MIN": 1000.0, "SERVO3_MAX": 2000.0,
        },
        "rover skid": {
            "FRAME_CLASS": 2.0, "SERVO1_FUNCTION": 73.0, "SERVO3_FUNCTION": 74.0,
            "SERVO1_MIN": 1000.0, "SERVO1_MAX": 2000.0, "SERVO3_MIN": 1000.0, "SERVO3_MAX": 2000.0,
        },
    },
}  # fmt: skip
"""What an autopilot must be told for each frame, beside its usual parameter file."""

PX4_MODELS: dict[str, str] = {"quad x": "none_iris", "plane": "gazebo-classic_plane"}
"""PX4_SIM_MODEL of each frame: airframes of PX4 that use its simulator API and turn these outputs. No others do."""


@dataclass(frozen=True)
class Output:
    """One output of the autopilot and what it drives."""

    channel: int
    """From 0."""
    part: str
    """Name of a number of the vehicle's command: throttle_0, aileron, surge_m_s."""
    gain: float = 1.0
    """The command at full output; negative where the autopilot's sign is the other one."""
    pulse_us: tuple[float, float] = (1000.0, 2000.0)
    """Pulses at which the output reads `low` and 1, of autopilots that send pulses."""
    low: float = 0.0
    """0 of what turns one way, -1 of surfaces and what turns both ways."""


def servo(channel: int, part: str, gain: float = 1.0) -> Output:
    """A surface with ArduPilot's usual end points (SERVOn_MIN, SERVOn_MAX)."""
    return Output(channel, part, gain, (1100.0, 1900.0), -1.0)


@dataclass(frozen=True)
class Airframe:
    """All outputs that a vehicle obeys."""

    title: str
    outputs: tuple[Output, ...]
    names: tuple[str, ...]
    """Of the numbers that the vehicle's command consists of, in their order."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """What the autopilot must be told for this frame."""
    px4_model: str = ""
    """PX4's usual model of this frame; empty where it has none, and for ArduPilot."""

    def command(self, values: Sequence[float]) -> list[float]:
        """The numbers of a command from the values of the outputs by channel; not driven is 0.

        Motors are held to 0..1, surfaces to -1..1; NaN is no output, in PX4's own meaning, and drives nothing.
        """
        made = [0.0] * len(self.names)
        for output, place in self._wiring:
            value, low = values[output.channel], output.low
            if not low <= value <= 1.0:
                value = 0.0 if value != value else min(max(value, low), 1.0)
            made[place] += output.gain * value
        return made

    def command_of_pulses(self, pulses_us: Sequence[int]) -> list[float]:
        """The numbers of a command from pulses by channel; a channel without pulse (0) drives nothing.

        A motor without pulse stands still, a surface stays in the middle.
        """
        made = [0.0] * len(self.names)
        for output, place in self._wiring:
            pulse, (least, most), low = pulses_us[output.channel], output.pulse_us, output.low
            if pulse:
                share = min(max((pulse - least) / (most - least), 0.0), 1.0)
                made[place] += output.gain * (low + (1.0 - low) * share)
        return made

    @cached_property
    def _wiring(self) -> list[tuple[Output, int]]:
        return [(output, self.names.index(output.part)) for output in self.outputs]


def airframe_of(kind: AutopilotKind, scenario: Scenario, names: Sequence[str], skid: bool = False) -> Airframe:
    """How the autopilot is wired to the scenario's vehicle.

    names: of the vehicle's command; empty where only the rest is wanted. skid: a boat steered by its left and right
    throttle (SERVO1, SERVO3).
    Raises: FieldworthyError for a vehicle that the autopilot has no frame for.
    """
    values: dict[str, Any] = dict(scenario.vehicle.values)
    boat = scenario.vehicle.kind == "boat"
    if skid and not boat:
        raise FieldworthyError(f"skid steering is for boats, and {scenario.name} has none; valid: without it")
    if boat:
        if kind == "px4":
            raise FieldworthyError("boats sail with ArduPilot Rover here; valid: fieldworthy link ardupilot")
        speed, turn = float(values["speed_max_m_s"]), float(values["yaw_rate_max_rad_s"])
        return _told(kind, "rover skid" if skid else "rover", (_skid if skid else _rover)(speed, turn), names)
    flies = values["autopilot"]
    places, spins = list(values["rotor_position_m"]), list(values["rotor_spin"])
    if flies == "multirotor":
        return _told(kind, *_multirotor(kind, places, spins), names)
    if flies == "fixed-wing" and len(places) == 1:
        return _told(kind, "plane", PLANES[kind], names)
    raise FieldworthyError(f"no frame of {kind} for a vehicle of this kind ({flies}); valid: a multirotor, a plane")


def _told(kind: AutopilotKind, title: str, outputs: tuple[Output, ...], names: Sequence[str]) -> Airframe:
    lacking = [output.part for output in outputs if names and output.part not in names]
    if lacking:
        told = ", ".join(lacking)
        raise FieldworthyError(
            f"the vehicle has no {told}, which the {title} of {kind} moves; valid: {', '.join(names)}"
        )
    model = PX4_MODELS.get(title, "") if kind == "px4" else ""
    return Airframe(title, outputs, tuple(names), PARAMETERS[kind].get(title, {}), model)


def _rover(speed_m_s: float, turn_rad_s: float) -> tuple[Output, ...]:
    """Throttle and steering, with the end points of the pulses that rover.parm has."""
    return Output(2, "surge_m_s", speed_m_s, low=-1.0), Output(0, "yaw_rate_rad_s", turn_rad_s, low=-1.0)


def _skid(speed_m_s: float, turn_rad_s: float) -> tuple[Output, ...]:
    """Left and right throttle: their mean is speed, half of their difference turns (left ahead: to starboard)."""
    speed, turn = 0.5 * speed_m_s, 0.5 * turn_rad_s
    return (
        Output(0, "surge_m_s", speed, low=-1.0),
        Output(2, "surge_m_s", speed, low=-1.0),
        Output(0, "yaw_rate_rad_s", turn, low=-1.0),
        Output(2, "yaw_rate_rad_s", -turn, low=-1.0),
    )


PLANES: dict[AutopilotKind, tuple[Output, ...]] = {
    "px4": (  # airframe 1030: both ailerons are driven, the right one as the roll goes
        Output(4, "throttle_0"),
        Output(5, "aileron", -0.5, low=-1.0),
        Output(6, "aileron", 0.5, low=-1.0),
        Output(7, "elevator", -1.0, low=-1.0),
        Output(2, "rudder", -1.0, low=-1.0),
    ),
    "ardupilot": (
        servo(0, "aileron"),
        servo(1, "elevator", -1.0),  # a high pulse lifts the trailing edge, and with it the nose
        Output(2, "throttle_0", 1.0, (1100.0, 1900.0)),
        servo(3, "rudder", -1.0),  # a high pulse turns the nose to the right
    ),
}


def _multirotor(
    kind: AutopilotKind, positions_m: Sequence[Any], spins: Sequence[float]
) -> tuple[str, tuple[Output, ...]]:
    """The frame of the autopilot that a multirotor's rotors fit, motor by motor.

    Raises: FieldworthyError naming the frames that are known.
    """
    angles = [math.degrees(math.atan2(place[1], place[0])) for place in positions_m]
    for name, motors in MOTORS[kind].items():
        if len(motors) != len(angles):
            continue
        rotors = [_rotor_at(angle, spin, angles, spins) for angle, spin in motors]
        if None not in rotors:
            return name, tuple(Output(i, f"throttle_{rotor}") for i, rotor in enumerate(rotors))
    known = ", ".join(f"{name} ({len(motors)} motors)" for name, motors in MOTORS[kind].items())
    has = ", ".join(f"{a:.0f}° {'ccw' if s > 0 else 'cw'}" for a, s in zip(angles, spins, strict=True))
    raise FieldworthyError(f"no frame of {kind} fits rotors at {has}; valid: {known}")


def _rotor_at(angle_deg: float, spin: int, angles: Sequence[float], spins: Sequence[float]) -> int | None:
    """The rotor on an arm at this angle that turns this way."""
    for rotor, (angle, turns) in enumerate(zip(angles, spins, strict=True)):
        apart = (angle - angle_deg + 180.0) % 360.0 - 180.0
        if abs(apart) <= _ANGLE_MATCH_DEG and turns * spin > 0.0:
            return rotor
    return None
