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
from fieldworthy.world.sense import at_rows, naming_the_plug_in
from fieldworthy.world.state import BOAT_READINGS, RUNNING, State, World

Decision = tuple[BoatCommand, Any, dict[str, Any]]
"""Command, mode and new memory of every lane."""

ANSWERS = ("surge_m_s", "yaw_rate_rad_s", "mode")


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
    engine, controller, who = world.engine, world.controller, f"controller '{world.controller_name}'"

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
        with naming_the_plug_in(who):
            command: Command = controller.command(readings, take(parameters, row))
        surge, yaw_rate, mode = (_checked_lanes(command, name, row) for name in ANSWERS)
        new = (BoatCommand(surge, yaw_rate), mode, {**old[2], **_kept(command, old[2])})
        return where(progress.outcome == RUNNING, new, old)

    try:
        return world.kernel("decide", lambda: frozen(kernel))(  # type: ignore[no-any-return]
            engine.scalar(t_s), engine.scalar(period_s), state.row, world.trial_lanes, state.boat, state.progress,
            state.scan, (state.command, state.mode, state.memory), world.course_lanes, world.parameters,
        )  # fmt: skip
    except RuntimeError as error:
        # Dr.Jit wraps what goes wrong while a function is recorded.
        if isinstance(error.__cause__, FieldworthyError):
            raise error.__cause__ from None
        raise


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
        sensors={name: extra.heard for name, extra in state.extra.items() if extra.heard is not None},
        memory=state.memory,
    )
    with naming_the_plug_in(f"controller '{world.controller_name}'"):
        command: Command = world.controller.command(readings, at_rows(world.parameters, row))
    surge, yaw_rate, mode = (checked_answer(_field(command, name), name, state.lanes) for name in ANSWERS)
    kept = _kept(command, state.memory)
    memory = state.memory | {
        name: checked_answer(values, f"memory['{name}']", state.lanes) for name, values in kept.items()
    }
    flying = np.asarray(state.progress.outcome) == RUNNING
    old = state.command
    lanes = [
        world.engine.floats(np.where(flying, new, np.asarray(before)))
        for new, before in ((surge, old.surge_m_s), (yaw_rate, old.yaw_rate_rad_s), (mode, state.mode))
    ]
    memory = {name: np.where(flying, values, state.memory[name]) for name, values in memory.items()}
    return BoatCommand(lanes[0], lanes[1]), lanes[2], memory


def _kept(command: Any, memory: dict[str, Any]) -> dict[str, Any]:
    """What the controller wants to keep.

    Raises: FieldworthyError for names that its class does not declare.
    """
    kept: dict[str, Any] = getattr(command, "memory", {})
    for name in kept:
        if name not in memory:
            known = ", ".join(memory) or "nothing"
            raise FieldworthyError(
                f"the controller keeps '{name}', which its `memory` does not declare; it has {known}"
            )
    return kept


def _field(command: Any, name: str) -> Any:
    try:
        return getattr(command, name)
    except AttributeError:
        raise FieldworthyError(
            f"the controller's command() answered {type(command).__name__} without '{name}'; valid: a "
            "fieldworthy.Command(surge_m_s=…, yaw_rate_rad_s=…)"
        ) from None


def checked_answer(values: Any, name: str, lanes: int) -> np.ndarray[Any, Any]:
    """One part of a command as an array (lanes,) of its own.

    Raises: FieldworthyError when it has another shape. Values that are not finite end their trials.
    """
    try:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), (lanes,)).copy()
    except (TypeError, ValueError):
        raise FieldworthyError(
            f"the controller's '{name}' has shape {np.shape(values)}; valid: one number, or ({lanes},)"
        ) from None


def _checked_lanes(command: Any, name: str, row: Any) -> Any:
    """One field of a compiled controller's command: a number, or lanes as many as there are."""
    import drjit as dr

    value = _field(command, name)
    if isinstance(value, float | int) or (dr.is_array_v(value) and dr.width(value) in (1, dr.width(row))):
        return value
    what = f"{dr.width(value)} lanes" if dr.is_array_v(value) else type(value).__name__
    raise FieldworthyError(
        f"the controller's '{name}' is {what}; valid with arrays = 'lanes': a number, or a Dr.Jit array of "
        f"{dr.width(row)}"
    )
