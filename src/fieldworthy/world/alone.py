"""One trial by itself, many steps a second: for autopilots in lockstep and in real time.

The same laws in the same order as `walk.advance`, so a trial alone is, bit for bit, its row of a batch under the same
commands; only what goes in and comes out is laid out otherwise (see `core.parcel`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine, frozen
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.parcel import Parcel
from fieldworthy.environment.primitives import Table
from fieldworthy.world.course import RUNNING
from fieldworthy.world.decide import command_names
from fieldworthy.world.motion import Moving, Surroundings, move, near_masks
from fieldworthy.world.state import Frame, Sights, World
from fieldworthy.world.walk import longest_move_s, solid, start


class Alone:
    """A world of one trial, moved tick by tick under commands from outside.

    Raises: FieldworthyError for a world of several trials, with a LiDAR, or with sensors of the user's own.
    """

    def __init__(self, world: World) -> None:
        if len(world.trials) != 1 or world.lidar is not None or world.extra:
            raise FieldworthyError("Alone moves one trial without LiDAR and sensors of the user's own")
        engine, begun = world.engine, start(world)
        self.world = world
        self.names = command_names(world)
        """Of the numbers that a command consists of, in their order."""
        self.tick = 0
        self.command: Sequence[float] = (0.0,) * len(self.names)
        """The last one."""
        state = (world.vehicle_shape().tree(begun.vehicle), begun.standing)
        constants = (world.vehicle_parameters, world.medium)
        self._state = Parcel(engine, state, separate=True)
        self._sights = Parcel(engine, begun.sights, separate=True)
        self._constants = Parcel(engine, constants)
        floats, words = self._state.numbers(state)
        seen, _ = self._sights.numbers(begun.sights)
        self._floats, self._words = engine.floats(np.concatenate([floats, seen])), engine.integers(words)
        self._begun = self._floats, self._words
        self._lasting = _lasting(engine, self._constants, constants)
        self._kernel = frozen(self._moved)
        self.place = {name: self._state.floats + i for i, name in enumerate(_sight_names(begun.sights))}
        """Where each number of `numbers` lies: `up_m`, `rotor_0_rad_s`, `imu.rate_x_rad_s`, `gnss.stamp_s`."""
        self._seen = tuple(begun.sights.seen)
        self._told = {device: tuple(values) for device, values in begun.sights.heard.items()}
        self._read()

    def move(self, command: Sequence[float], ticks: int) -> None:
        """Go on for `ticks` ticks under one command, in the order of `names`; nothing moves after the end."""
        world, engine = self.world, self.world.engine
        given, tables = engine.floats(command), solid(world)
        stop, most = self.tick + ticks, max(1, round(longest_move_s(world) / world.timing.dt_s))
        while self.tick < stop:
            now = min(stop - self.tick, most, *(period - self.tick % period for period in world.periods))
            self._floats, self._words = self._kernel(
                *self._lasting, tables, world.course_lanes, world.trial_lanes, world.counting(1),
                tuple(world.counting(table.word_count) for table in tables),
                self._floats, self._words, given, engine.integers((self.tick, now, world.timing.end)),
            )  # fmt: skip
            self.tick += now
        self.command = command
        self._read()

    def rewind(self) -> None:
        """Back to tick 0, as if nothing had been; what has been compiled stays."""
        self.tick, self.command = 0, (0.0,) * len(self.names)
        self._floats, self._words = self._begun
        self._read()

    @property
    def t_s(self) -> float:
        """Time since the start."""
        return self.tick * self.world.timing.dt_s

    @property
    def standing(self) -> dict[str, float]:
        """How far the trial has come, by the names of `course.Standing`."""
        outcome, end_tick, target, held = np.asarray(self._words).tolist()
        clearance, path, rest = self.numbers[self._state.floats - 3 : self._state.floats]
        return {
            "outcome": outcome, "end_tick": end_tick, "target": target, "held": held,
            "clearance_m": clearance, "path_m": path, "path_rest_m": rest,
        }  # fmt: skip

    @property
    def running(self) -> bool:
        """Whether the trial goes on."""
        return int(np.asarray(self._words)[0]) == RUNNING

    def value(self, name: str) -> float:
        """A number that is seen of the vehicle or has arrived from its devices (`place` has all names)."""
        return self.numbers[self.place[name]]

    def heard(self) -> dict[str, dict[str, float]]:
        """Each device's newest reading that has arrived, by device and name; without devices not heard so far."""
        found: dict[str, dict[str, float]] = {}
        for device, names in self._told.items():
            stamp = self.value(f"{device}.stamp_s")
            # Before anything arrives a stamp lies before all time, but for the inertial unit: it has nothing at tick 0.
            if stamp >= -1e5 and self.tick > 0:
                found[device] = {name: self.value(f"{device}.{name}") for name in names}
        return found

    def frame(self, command: Sequence[float]) -> Frame:
        """What records see at this tick, where `command` is given, by the names of the run folder."""
        standing = self.standing
        values: dict[str, NDArray[Any]] = {name: np.array([self.value(name)]) for name in self._seen}
        values.update({f"cmd_{name}": np.array([float(v)]) for name, v in zip(self.names, command, strict=True)})
        values["clearance_m"], values["mode"] = np.array([standing["clearance_m"]]), np.zeros(1, np.int8)
        if self.world.course.up_m is not None:
            values["target"] = np.array([standing["target"]], np.int16)
        return Frame(self.tick, self.t_s, np.zeros(1, np.uint32), values, None)

    def _read(self) -> None:
        self.numbers: list[float] = np.asarray(self._floats).tolist()
        """All of the vehicle's state, and from there on what `place` names."""

    def _moved(
        self, constants: Any, words: Any, wide: tuple[Any, ...], tables: tuple[Table, ...], course: Any, trials: Any,
        lane: Any, counts: tuple[Any, ...], floats: Any, state_words: Any, given: Any, clock: Any,
    ) -> tuple[Any, Any]:  # fmt: skip
        """The kernel: floats and words of the state in, and out again some ticks later."""
        import drjit as dr

        world = self.world
        engine, hull, laws = world.engine, world.hull, world.vehicle
        tick, ticks, end = (dr.gather(engine.UInt32, clock, engine.UInt32(i)) for i in range(3))
        p, medium = self._constants.tree(constants, words, wide)
        vehicle, standing = self._state.tree(floats, state_words)
        command = laws.command(
            **{name: dr.gather(engine.Float, given, engine.UInt32(i)) for i, name in enumerate(self.names)}
        )
        dt_s, horizon_s = world.timing.dt_s, longest_move_s(world)
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
        around = Surroundings(p, medium, tables, masks, course, lane, trials, lane, end)
        moved, found = move(engine, laws, hull, dt_s, around, Moving(vehicle, standing, None), command, tick, ticks)
        new = dr.empty(engine.Float, self._state.floats + self._sights.floats)
        new_words = dr.empty(engine.UInt32, self._state.words)
        self._state.put((moved.vehicle, moved.standing), new, new_words)
        self._sights.put(found, new, new_words, first=(self._state.floats, self._state.words))
        return new, new_words


def _lasting(engine: Engine, parcel: Parcel, tree: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    floats, words = parcel.numbers(tree)
    return engine.floats(floats), engine.integers(words), parcel.wide(tree)


def _sight_names(sights: Sights) -> list[str]:
    """Names of the leaves of what is seen, known and heard, in their order; a device's are DEVICE.NAME."""
    told = [f"{device}.{name}" for device, values in sights.heard.items() for name in values]
    return [*sights.seen, *(f"known.{name}" for name in sights.known), *told]
