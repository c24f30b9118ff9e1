"""A vehicle that waits for commands: one trial, whatever moves it (`Alone`, or `Steered` with LiDAR)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from fieldworthy.world.decide import command_names
from fieldworthy.world.state import Frame, World

ARRIVED_FROM_S = -1e5
"""Stamps before this are of readings that have not arrived: they lie before all time."""


class OneTrial(ABC):
    """What all of them have; `move`, `rewind`, `standing`, `running` and `frame` are their own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.names = command_names(world)
        """Of the numbers that a command consists of, in their order."""
        self.tick = 0
        self.command: Sequence[float] = (0.0,) * len(self.names)
        """The last one."""
        self.place: dict[str, int] = {}
        """Where each number of `numbers` lies: `up_m`, `rotor_0_rad_s`, `imu.rate_x_rad_s`, `gnss.stamp_s`."""
        self._devices: Mapping[str, Sequence[str]] = {}
        """Names of what each device tells."""

    @property
    @abstractmethod
    def numbers(self) -> list[float]:
        """What `place` names, at this tick."""

    @property
    @abstractmethod
    def standing(self) -> dict[str, float]:
        """How far the trial has come, by the names of `course.Standing`."""

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether the trial goes on."""

    @abstractmethod
    def move(self, command: Sequence[float], ticks: int) -> None:
        """Go on for `ticks` ticks under one command, in the order of `names`; nothing moves after the end."""

    @abstractmethod
    def rewind(self) -> None:
        """Back to tick 0, as if nothing had been."""

    @abstractmethod
    def frame(self, command: Sequence[float]) -> Frame:
        """What records see at this tick, where `command` is given, by the names of the run folder."""

    @property
    def t_s(self) -> float:
        """Time since the start."""
        return self.tick * self.world.timing.dt_s

    def value(self, name: str) -> float:
        """A number that is seen of the vehicle or has arrived from its devices (`place` has all names)."""
        return self.numbers[self.place[name]]

    def heard(self) -> dict[str, dict[str, float]]:
        """Each device's newest reading that has arrived, by device and name; without devices not heard so far."""
        if self.tick == 0:  # the inertial unit's stamp says otherwise, and it has nothing yet either
            return {}
        return {
            device: {name: self.value(f"{device}.{name}") for name in names}
            for device, names in self._devices.items()
            if self.value(f"{device}.stamp_s") >= ARRIVED_FROM_S
        }
