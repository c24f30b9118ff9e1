"""A world of one trial moved by `walk.advance` under commands from outside: with LiDAR and sensors of the user's own.

It has the names of `Alone`, which is quicker and knows neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.sensors.scan import Scan, ScanArrays, to_numpy
from fieldworthy.world.course import RUNNING
from fieldworthy.world.decide import Decision
from fieldworthy.world.one_trial import OneTrial
from fieldworthy.world.state import Frame, World
from fieldworthy.world.walk import advance, frame_of, start


class Steered(OneTrial):
    """One trial, a command at a time.

    Raises: FieldworthyError for a world of several trials.
    """

    def __init__(self, world: World) -> None:
        if len(world.trials) != 1:
            raise FieldworthyError("Steered moves one trial; valid: `advance` for more")
        super().__init__(world)
        self._begun = self._state = start(world)
        self._swept: Scan | None = None
        self._numbers: list[float] | None = None
        sights = self._begun.sights
        self._devices = {device: tuple(values) for device, values in sights.heard.items()}
        told = [f"{device}.{name}" for device, names in self._devices.items() for name in names]
        self.place = {name: i for i, name in enumerate([*sights.seen, *told])}

    def move(self, command: Sequence[float], ticks: int) -> None:
        """Go on for `ticks` ticks, a whole number of the world's control periods; nothing moves after the end."""
        period = self.world.timing.control
        if ticks % period:
            raise FieldworthyError(f"{ticks} ticks are no whole number of periods of {period}; valid: a multiple")
        for _ in range(ticks // period):
            self._state, _ = advance(self.world, self._state, self._decision(command))
        self.tick, self.command, self._numbers = self._state.tick, command, None

    def rewind(self) -> None:
        """Back to tick 0, as if nothing had been."""
        self._state, self._swept, self._numbers = self._begun, None, None
        self.tick, self.command = self._state.tick, (0.0,) * len(self.names)

    @property
    def numbers(self) -> list[float]:
        """What `place` names, at this tick."""
        if self._numbers is None:
            sights = self._state.sights
            told = [value for values in sights.heard.values() for value in values.values()]
            self._numbers = [float(np.asarray(value)[0]) for value in (*sights.seen.values(), *told)]
        return self._numbers

    @property
    def standing(self) -> dict[str, float]:
        """How far the trial has come, by the names of `course.Standing`."""
        return {name: float(np.asarray(lanes)[0]) for name, lanes in vars(self._state.standing).items()}

    @property
    def running(self) -> bool:
        """Whether the trial goes on."""
        return int(np.asarray(self._state.standing.outcome)[0]) == RUNNING

    def sweep(self) -> ScanArrays | None:
        """The LiDAR's sweep that has been delivered since this was last asked; None without one."""
        scan = self._state.scan
        if scan is None or scan is self._swept:
            return None
        self._swept = scan
        return to_numpy(scan)

    def frame(self, command: Sequence[float]) -> Frame:
        """What records see at this tick, where `command` is given, by the names of the run folder."""
        frame = frame_of(self.world, self._state)
        values = {
            **frame.values,
            **{f"cmd_{n}": np.array([float(v)]) for n, v in zip(self.names, command, strict=True)},
        }
        return replace(frame, values=values, scan=None)

    def _decision(self, command: Sequence[float]) -> Decision:
        engine, state = self.world.engine, self._state
        given = {name: engine.floats(value) for name, value in zip(self.names, command, strict=True)}
        return self.world.vehicle.command(**given), engine.floats(0.0), state.memory
