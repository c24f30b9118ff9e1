"""The loop of a link: move the vehicle, tell the autopilot, take its command; again until somebody has had enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fieldworthy.core.subnormal import flushed
from fieldworthy.links.pace import Pace
from fieldworthy.world.one_trial import OneTrial
from fieldworthy.world.state import Frame


class Autopilot(Protocol):
    """A session with an autopilot that flies one vehicle."""

    @property
    def ready(self) -> bool:
        """Whether it has begun to command."""
        ...

    def exchange(self) -> list[float]:
        """Tell what is sensed at the vehicle's tick; returns the command from there on.

        Raises: LinkLost when the autopilot is no longer there.
        """
        ...


@dataclass
class Log:
    """What is kept of a flight for its report."""

    every: int
    """Ticks between samples; 0: none but the last."""
    frames: list[Frame] = field(default_factory=list)
    said: list[dict[str, dict[str, float]]] = field(default_factory=list)
    """Newest readings of the devices at each frame, by device and name."""
    with_devices: bool = False
    commands: list[Sequence[float]] = field(default_factory=list)
    """All commands in their order, one an exchange."""
    with_commands: bool = False

    def see(self, vehicle: OneTrial, command: Sequence[float]) -> None:
        """Keep a sample if one is due."""
        if self.every and vehicle.tick % self.every == 0:
            self.keep(vehicle, command)

    def keep(self, vehicle: OneTrial, command: Sequence[float]) -> None:
        """Keep a sample now, unless there is one of this tick."""
        if self.frames and self.frames[-1].tick == vehicle.tick:
            return
        self.frames.append(vehicle.frame(command))
        if self.with_devices:
            self.said.append(vehicle.heard())


@flushed()
def fly(
    vehicle: OneTrial,
    autopilot: Autopilot,
    pace: Pace,
    log: Log,
    stopped: Callable[[], bool] = lambda: False,
    beside: Callable[[float], None] | None = None,
) -> None:
    """Until the trial ends or somebody wants to stop; the vehicle, the log and the pace tell the rest.

    beside: called after every step with the simulated time [s], for a ground station, say.
    Raises: LinkLost; what was flown until then is in the log.
    """
    ticks = vehicle.world.timing.control
    command = autopilot.exchange()
    while vehicle.running and not stopped():
        log.see(vehicle, command)
        if log.with_commands:
            log.commands.append(command)
        vehicle.move(command, ticks)
        command = autopilot.exchange()
        if beside is not None:
            beside(vehicle.t_s)
        pace.wait(vehicle.t_s)
    log.keep(vehicle, vehicle.command)
