"""From a mission on board to its start: the modes and commands that each autopilot wants, asked until they are seen.

Source: MAVLink guide, "Command Protocol"; PX4, Commander.cpp; ArduPilot, GCS_MAVLink_Copter.cpp.
Limits: arming is never forced; checks that refuse it are asked again until they pass.
Verified by: tests/verification/test_ground_station.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType

from fieldworthy.links.asking import Asking, Now
from fieldworthy.links.autopilot_modes import (
    COPTER_AUTO,
    COPTER_GUIDED,
    PLANE_AUTO,
    PX4_MISSION,
    ROVER_AUTO,
    Autopilot,
    Vehicle,
    mode_name,
)
from fieldworthy.links.heard import Heard
from fieldworthy.links.partner import Partner

_DENIED_S = 2.0
"""After a refusal: what was wrong needs time to come right."""


@dataclass(frozen=True)
class Step:
    """One thing to ask, and how to see that it is so."""

    words: str
    command: int
    params: tuple[float, ...]
    mode: int | None = None
    """The mode that must be seen in a heartbeat; None: armed must be seen."""

    def seen(self, heard: Heard) -> bool:
        """Whether it is so."""
        return heard.armed if self.mode is None else heard.custom_mode == self.mode


def steps_to_start(dialect: ModuleType, autopilot: Autopilot, vehicle: Vehicle) -> tuple[Step, ...]:
    """What is asked for, in order. The last step with a mode leads into the mission."""
    arm = Step("arming", dialect.MAV_CMD_COMPONENT_ARM_DISARM, (1.0,))

    def enter(mode: int) -> Step:
        params = (1.0, mode >> 16 & 0xFF, mode >> 24) if autopilot == "px4" else (1.0, mode)
        return Step(f"mode {mode_name(autopilot, vehicle, mode)}", dialect.MAV_CMD_DO_SET_MODE, params, mode)

    if autopilot == "px4":
        return enter(PX4_MISSION), arm
    if vehicle == "copter":  # does not arm in AUTO, and waits there for a raised throttle or this command
        start = Step("the start of the mission", dialect.MAV_CMD_MISSION_START, (), COPTER_AUTO)
        return enter(COPTER_GUIDED), arm, start
    return enter(PLANE_AUTO if vehicle == "plane" else ROVER_AUTO), arm


class Start:
    """How far the steps are."""

    def __init__(self, dialect: ModuleType, partner: Partner, heard: Heard, vehicle: Vehicle) -> None:
        self._m, self._partner, self._heard = dialect, partner, heard
        self._steps = steps_to_start(dialect, partner.autopilot, vehicle)
        self.mission_mode = next(step.mode for step in reversed(self._steps) if step.mode is not None)
        """`custom_mode` in which the mission is flown."""
        self.forget()

    def forget(self) -> None:
        """The autopilot has started again."""
        self._not_before_s, self._refused = -math.inf, ""
        self.begin()

    def begin(self) -> None:
        """From the first step on."""
        self._at, self._asking = 0, Asking()

    def started(self, now: Now) -> bool:
        """Whether all steps are seen; asks for the first that is not."""
        step = self._steps[self._at]
        self._hear_refusal(step, now)
        if step.seen(self._heard):
            self._at += 1
            self._not_before_s, self._asking = -math.inf, Asking()
            return self._at == len(self._steps)
        if not self._heard.armed and any(earlier.mode is None for earlier in self._steps[: self._at]):
            self._at = 0  # it has disarmed by itself, as after ten seconds on the ground
        elif now.t_s >= self._not_before_s and self._asking.due(now, _DENIED_S):
            self._heard.answer = None
            self._partner.command(step.command, *step.params)
        return False

    def so_far(self) -> str:
        """What was asked for last, for a sentence."""
        step = self._steps[min(self._at, len(self._steps) - 1)]
        return f": {step.words} was asked {self._asking.times} times" + (f", {self._refused}" if self._refused else "")

    def _hear_refusal(self, step: Step, now: Now) -> None:
        if self._heard.answer is None or self._heard.answer[0] != step.command:
            return
        result = self._heard.answer[1]
        self._heard.answer = None
        if result not in (self._m.MAV_RESULT_ACCEPTED, self._m.MAV_RESULT_IN_PROGRESS):
            name = self._m.enums["MAV_RESULT"].get(result)
            self._refused = f"and refused with {name.name if name else result}"
            self._not_before_s = now.t_s + _DENIED_S
