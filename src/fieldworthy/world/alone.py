"""One trial by itself, many steps a second: for autopilots in lockstep and in real time.

The same laws in the same order as `walk.advance`, so a trial alone is, bit for bit, its row of a batch under the same
commands; only what goes in and comes out is laid out otherwise (see `core.parcel`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import frozen
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.host_floats import HostFloats
from fieldworthy.core.parcel import Parcel
from fieldworthy.environment.primitives import Table
from fieldworthy.world.course import RUNNING
from fieldworthy.world.motion import Moving, Surroundings, move, near_masks
from fieldworthy.world.one_trial import OneTrial
from fieldworthy.world.state import Frame, World
from fieldworthy.world.walk import longest_move_s, solid, start


class Alone(OneTrial):
    """A world of one trial, moved tick by tick under commands from outside.

    Raises: FieldworthyError for a world of several trials, with a LiDAR, or with sensors of the user's own.
    """

    def __init__(self, world: World) -> None:
        if len(world.trials) != 1 or world.lidar is not None or world.extra:
            raise FieldworthyError("Alone moves one trial without LiDAR and sensors of the user's own")
        super().__init__(world)
        engine, begun = world.engine, start(world)
        state = (world.vehicle_shape().tree(begun.vehicle), begun.standing, engine.counter(0))
        lasting = (world.vehicle_parameters, world.medium, world.course_lanes, world.trial_lanes)
        seen = (begun.standing.outcome, begun.sights)
        self._state = Parcel(engine, state, separate=True)
        self._lasting = Parcel(engine, lasting)
        self._seen = Parcel(engine, seen, separate=True, floats_only=True)
        self._fixed = self._lasting.arrays(lasting)
        self._begun = self._now = self._state.arrays(state)[:2]
        self._begun_seen = self._told = self._seen.arrays(seen)[0]
        self._given = HostFloats(engine, len(self.names))
        self._counters: dict[int, Any] = {}
        self._kernel = frozen(self._moved)
        self._kept = tuple(begun.sights.seen)
        self._devices = {device: tuple(values) for device, values in begun.sights.heard.items()}
        names = [f"{device}.{name}" for device, values in self._devices.items() for name in values]
        known = [f"known.{name}" for name in begun.sights.known]
        self.place = {name: i for i, name in enumerate(["outcome", *self._kept, *known, *names])}
        self._read()

    def move(self, command: Sequence[float], ticks: int) -> None:
        """Go on for `ticks` ticks under one command, in the order of `names`; nothing moves after the end."""
        world = self.world
        given, tables = self._given.holding(command), solid(world)
        counts = tuple(world.counting(table.word_count) for table in tables)
        stop, most = self.tick + ticks, max(1, round(longest_move_s(world) / world.timing.dt_s))
        while self.tick < stop:
            now = min(stop - self.tick, most, *(period - self.tick % period for period in world.periods))
            *self._now, self._told = self._kernel(
                *self._fixed, tables, counts, world.counting(1), *self._now, given, self._counter(now)
            )
            self.tick += now
        self.command = command
        self._read()

    def rewind(self) -> None:
        """Back to tick 0, as if nothing had been; what has been compiled stays."""
        self.tick, self.command = 0, (0.0,) * len(self.names)
        self._now, self._told = self._begun, self._begun_seen
        self._read()

    @property
    def numbers(self) -> list[float]:
        """What `place` names, at this tick."""
        return self._numbers

    @property
    def standing(self) -> dict[str, float]:
        """How far the trial has come, by the names of `course.Standing`."""
        outcome, end_tick, target, held, _ = np.asarray(self._now[1]).tolist()
        clearance, path, rest = np.asarray(self._now[0])[-3:].tolist()
        return {
            "outcome": outcome, "end_tick": end_tick, "target": target, "held": held,
            "clearance_m": clearance, "path_m": path, "path_rest_m": rest,
        }  # fmt: skip

    @property
    def running(self) -> bool:
        """Whether the trial goes on."""
        return self._numbers[0] == RUNNING

    def frame(self, command: Sequence[float]) -> Frame:
        """What records see at this tick, where `command` is given, by the names of the run folder."""
        standing = self.standing
        values: dict[str, NDArray[Any]] = {name: np.array([self.value(name)]) for name in self._kept}
        values.update({f"cmd_{name}": np.array([float(v)]) for name, v in zip(self.names, command, strict=True)})
        values["clearance_m"], values["mode"] = np.array([standing["clearance_m"]]), np.zeros(1, np.int8)
        if self.world.course.up_m is not None:
            values["target"] = np.array([standing["target"]], np.int16)
        return Frame(self.tick, self.t_s, np.zeros(1, np.uint32), values, None)

    def _counter(self, ticks: int) -> Any:
        if ticks not in self._counters:
            self._counters[ticks] = self.world.engine.counter(ticks)
        return self._counters[ticks]

    def _read(self) -> None:
        self._numbers: list[float] = np.asarray(self._told).tolist()

    def _moved(
        self, fixed: Any, fixed_words: Any, wide: tuple[Any, ...], tables: tuple[Table, ...], counts: tuple[Any, ...],
        lane: Any, floats: Any, words: Any, given: Any, ticks: Any,
    ) -> tuple[Any, Any, Any]:  # fmt: skip
        """The kernel: floats and words of the state in, and out again some ticks later with what is seen of it."""
        import drjit as dr

        world = self.world
        engine, hull, laws = world.engine, world.hull, world.vehicle
        p, medium, course, trial = self._lasting.tree(fixed, fixed_words, wide)
        vehicle, standing, tick = self._state.tree(floats, words)
        command = laws.command(
            **{name: dr.gather(engine.Float, given, engine.UInt32(i)) for i, name in enumerate(self.names)}
        )
        dt_s, horizon_s, end = world.timing.dt_s, longest_move_s(world), engine.UInt32(world.timing.end)
        masks: tuple[Any, ...] = ()
        if tables:
            now_s = engine.Float(tick) * dt_s
            pose = laws.pose(vehicle, medium, now_s, p)
            dr.eval(pose)
            masks = tuple(
                near_masks(engine, hull, table, pose, lane, now_s, horizon_s, index)
                for table, index in zip(tables, counts, strict=True)
            )
            dr.eval(masks)
        around = Surroundings(p, medium, tables, masks, course, lane, trial, lane, end)
        moved, found = move(engine, laws, hull, dt_s, around, Moving(vehicle, standing, None), command, tick, ticks)
        then = self._state.put((moved.vehicle, moved.standing, tick + ticks))
        return *then, self._seen.put((moved.standing.outcome, found))[0]
