"""Ask the controller: readings of all lanes in, commands of all lanes out."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.control.controller import Command, Readings
from fieldworthy.core.engine import frozen, take
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.struct import where
from fieldworthy.sensors.scan import to_numpy
from fieldworthy.vehicles.boat import BoatCommand
from fieldworthy.world.state import BOAT_READINGS, RUNNING, State, World

Decision = tuple[BoatCommand, Any, dict[str, Any]]
"""Command, mode and new memory of every lane."""


def first_memory(world: World) -> dict[str, Any]:
    """What the controller keeps, with its first values, one a row."""
    first: dict[str, float] = getattr(world.controller, "memory", {})
    filled = {name: np.full(len(world.trials), float(value)) for name, value in first.items()}
    if world.controller.arrays == "numpy":
        return filled
    return {name: world.engine.floats(values) for name, values in filled.items()}


def decide(world: World, state: State) -> Decision:
    """The controller's answer at this tick; lanes that have ended keep what they had."""
    t_s, period_s = state.tick * world.timing.dt_s, world.timing.control * world.timing.dt_s
    if world.controller.arrays == "numpy":
        return _decide_in_numpy(world, state, t_s, period_s)
    engine, controller = world.engine, world.controller

    def kernel(
        t_s: Any, period_s: Any, row: Any, trials: Any, boat: Any, progress: Any, scan: Any, old: Decision,
        course: Any, parameters: Any,
    ) -> Decision:  # fmt: skip
        import drjit as dr

        target = dr.minimum(progress.target, course.count - 1)
        readings = Readings(
            t_s=t_s,
            period_s=period_s,
            trial=dr.gather(engine.UInt32, trials, row),
            **{name: getattr(boat, name) for name in BOAT_READINGS},
            target_north_m=dr.gather(engine.Float, course.north_m, target),
            target_east_m=dr.gather(engine.Float, course.east_m, target),
            scan=scan,
            memory=old[2],
        )
        command: Command = controller.command(readings, take(parameters, row))
        new = (BoatCommand(command.surge_m_s, command.yaw_rate_rad_s), command.mode, {**old[2], **command.memory})
        return where(progress.outcome == RUNNING, new, old)

    return world.kernel("decide", lambda: frozen(kernel))(  # type: ignore[no-any-return]
        engine.scalar(t_s), engine.scalar(period_s), state.row, world.trial_lanes, state.boat, state.progress,
        state.scan, (state.command, state.mode, state.memory), world.course_lanes, world.parameters,
    )  # fmt: skip


def _decide_in_numpy(world: World, state: State, t_s: float, period_s: float) -> Decision:
    row = np.asarray(state.row)
    target = np.minimum(np.asarray(state.progress.target), len(world.course.north_m) - 1)
    readings = Readings(
        t_s=t_s,
        period_s=period_s,
        trial=world.trials[row],
        **{name: np.asarray(getattr(state.boat, name)) for name in BOAT_READINGS},
        target_north_m=np.asarray(world.course.north_m)[target],
        target_east_m=np.asarray(world.course.east_m)[target],
        scan=to_numpy(state.scan) if state.scan is not None else None,
        memory=state.memory,
    )
    command = world.controller.command(readings, world.parameters)
    surge = checked_answer(command, "surge_m_s", state.lanes)
    yaw_rate = checked_answer(command, "yaw_rate_rad_s", state.lanes)
    mode = checked_answer(command, "mode", state.lanes)
    memory = dict(state.memory)
    for name, values in command.memory.items():
        if name not in memory:
            known = ", ".join(memory) or "nothing"
            raise FieldworthyError(
                f"the controller keeps '{name}', which its `memory` does not declare; it has {known}"
            )
        memory[name] = np.broadcast_to(np.asarray(values, dtype=np.float64), (state.lanes,)).copy()
    flying = np.asarray(state.progress.outcome) == RUNNING
    old = state.command
    lanes = [
        world.engine.floats(np.where(flying, new, np.asarray(before)))
        for new, before in ((surge, old.surge_m_s), (yaw_rate, old.yaw_rate_rad_s), (mode, state.mode))
    ]
    memory = {name: np.where(flying, values, state.memory[name]) for name, values in memory.items()}
    return BoatCommand(lanes[0], lanes[1]), lanes[2], memory


def checked_answer(command: Any, name: str, lanes: int) -> np.ndarray[Any, Any]:
    """One field of a command as an array (lanes,).

    Raises: FieldworthyError when it is missing or has another shape. Values that are not finite end their trials.
    """
    try:
        values = np.asarray(getattr(command, name), dtype=np.float64)
        return np.broadcast_to(values, (lanes,))
    except AttributeError:
        raise FieldworthyError(
            f"the controller's command() answered {type(command).__name__} without '{name}'; valid: a "
            "fieldworthy.Command(surge_m_s=…, yaw_rate_rad_s=…)"
        ) from None
    except (TypeError, ValueError):
        raise FieldworthyError(
            f"the controller's '{name}' has shape {np.shape(getattr(command, name))}; valid: one number, or ({lanes},)"
        ) from None
