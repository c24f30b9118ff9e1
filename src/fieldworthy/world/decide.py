"""Ask the controller: readings of all lanes in, commands of all lanes out."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from fieldworthy.control.actuation import refuse_misfit
from fieldworthy.control.controller import Command
from fieldworthy.core.engine import frozen, own_copy, take
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.struct import where
from fieldworthy.sensors.scan import to_numpy
from fieldworthy.sensors.sensor import Delivered
from fieldworthy.world.course import RUNNING, Standing, target_of
from fieldworthy.world.sense import at_rows, checked_answer, copied, naming_the_plug_in, refuse_undeclared
from fieldworthy.world.state import State, World

Decision = tuple[Any, Any, dict[str, Any]]
"""Command of the vehicle, mode and new memory of every lane."""

MODE_MAX = 127
"""Modes are kept as whole numbers of 8 bits."""


def first_memory(world: World) -> dict[str, Any]:
    """What the controller keeps, with its first values, one a row."""
    first: dict[str, float] = getattr(world.controller, "memory", {})
    filled = {name: np.full(len(world.trials), float(value)) for name, value in first.items()}
    if world.controller.arrays == "numpy":
        return filled
    return {name: world.engine.floats(values) for name, values in filled.items()}


def decide(world: World, state: State) -> Decision:
    """The answer of the world's own controller at this tick; lanes that have ended keep what they had."""
    who = f"controller '{world.controller_name}'"
    if world.controller.arrays == "numpy":
        readings = readings_of(world, state)
        with naming_the_plug_in(who):
            command = world.controller.command(readings, at_rows(world.parameters, np.asarray(state.row)))
        return decision_of(world, state, command)
    engine, controller, vehicle = world.engine, world.controller, world.vehicle
    names = command_names(world)

    def kernel(
        t_s: Any, period_s: Any, row: Any, trials: Any, seen: dict[str, Any], standing: Standing, scan: Any,
        old: Decision, course: Any, parameters: Any,
    ) -> Decision:  # fmt: skip
        import drjit as dr

        readings = _readings(
            world,
            {**seen, **target_of(engine, course, standing, row)},
            t_s=t_s,
            period_s=period_s,
            trial=dr.gather(engine.UInt32, trials, row),
            scan=scan,
            memory=old[2],
        )
        with naming_the_plug_in(who):
            command: Command = controller.command(readings, take(parameters, row))
        refuse_misfit(command, names)
        given = vehicle.command(**{name: _checked_lanes(command, name, row) for name in names})
        kept = {k: _checked_lane_values(v, f"memory['{k}']", row) for k, v in _kept(command, old[2]).items()}
        new = (given, _checked_lanes(command, "mode", row), {**old[2], **kept})
        return where(standing.outcome == RUNNING, new, old)

    try:
        return world.kernel("decide", lambda: frozen(kernel))(  # type: ignore[no-any-return]
            engine.scalar(state.tick * world.timing.dt_s), engine.scalar(world.timing.control * world.timing.dt_s),
            state.row, world.trial_lanes, state.sights.known, state.standing, state.scan,
            (state.command, state.mode, state.memory), world.course_lanes, world.parameters,
        )  # fmt: skip
    except RuntimeError as error:
        # Dr.Jit wraps what goes wrong while a function is recorded.
        if isinstance(error.__cause__, FieldworthyError):
            raise error.__cause__ from None
        raise


def readings_of(world: World, state: State) -> Any:
    """What a controller knows now, in NumPy: for whoever steers from outside."""
    engine = world.engine

    def kernel(standing: Standing, course: Any, row: Any) -> Any:
        return target_of(engine, course, standing, row)

    target = world.kernel("target", lambda: frozen(kernel))(state.standing, world.course_lanes, state.row)
    return _readings(
        world,
        # Copies: a controller may work in place, and these would be the kernels' own memory.
        {name: own_copy(values) for name, values in {**state.sights.known, **target}.items()},
        t_s=state.tick * world.timing.dt_s,
        period_s=world.timing.control * world.timing.dt_s,
        trial=world.trials[np.asarray(state.row)],
        scan=to_numpy(state.scan) if state.scan is not None else None,
        sensors=_heard(state),
        memory={name: np.array(values) for name, values in state.memory.items()},
    )


def decision_of(world: World, state: State, command: Command) -> Decision:
    """A command given in NumPy or plain numbers, as `advance` takes it; lanes that have ended keep what they had.

    Raises: FieldworthyError when a part is missing, has another shape, or keeps what was not declared.
    """
    flying, names = np.asarray(state.standing.outcome) == RUNNING, command_names(world)
    refuse_misfit(command, names)

    def held(name: str, before: Any) -> Any:
        new = checked_answer("the controller", name, _field(command, name), state.lanes)
        return world.engine.floats(np.where(flying, new, np.asarray(before)))

    given = world.vehicle.command(**{name: held(name, getattr(state.command, name)) for name in names})
    mode = held("mode", state.mode)
    if not (np.abs(np.asarray(mode)) <= MODE_MAX).all():
        raise FieldworthyError(f"the controller's 'mode' does not fit; valid: -{MODE_MAX} to {MODE_MAX}")
    memory = dict(state.memory)
    for name, values in _kept(command, state.memory).items():
        new = checked_answer("the controller", f"memory['{name}']", values, state.lanes)
        memory[name] = np.where(flying, new, state.memory[name])
    return given, mode, memory


def _heard(state: State) -> dict[str, Delivered]:
    """Newest readings of the vehicle's own devices and of the user's own sensors; stamps are a number each lane."""
    own = {}
    for name, values in state.sights.heard.items():
        copies = {key: own_copy(value) for key, value in values.items()}
        own[name] = Delivered(copies.pop("stamp_s"), copies)
    mine = {name: copied(extra.heard) for name, extra in state.extra.items() if extra.heard is not None}
    return {**own, **mine}


def _readings(world: World, known: dict[str, Any], **rest: Any) -> Any:
    """What the world's controllers read, from all that is known."""
    wanted = {f.name for f in fields(world.readings)}
    return world.readings(**{name: value for name, value in known.items() if name in wanted}, **rest)


def command_names(world: World) -> list[str]:
    """Names of the numbers that this vehicle's command consists of."""
    return [f.name for f in fields(world.vehicle.command)]


def _kept(command: Any, memory: dict[str, Any]) -> dict[str, Any]:
    """What the controller wants to keep.

    Raises: FieldworthyError for names that its class does not declare.
    """
    kept = getattr(command, "memory", {})
    if not isinstance(kept, dict):
        raise FieldworthyError(
            f"the controller's 'memory' is {type(kept).__name__}; valid: a dictionary of names and values, or nothing"
        )
    return refuse_undeclared("the controller", kept, memory)


def _field(command: Any, name: str) -> Any:
    try:
        return getattr(command, name)
    except AttributeError:
        raise FieldworthyError(
            f"the controller's command() answered {type(command).__name__} without '{name}'; valid: a "
            "fieldworthy.Command(surge_m_s=…, yaw_rate_rad_s=…), or for what flies a fieldworthy.FlightCommand(…)"
        ) from None


def _checked_lanes(command: Any, name: str, row: Any) -> Any:
    """One field of a compiled controller's command: a number, or lanes as many as there are."""
    return _checked_lane_values(_field(command, name), name, row)


def _checked_lane_values(value: Any, name: str, row: Any) -> Any:
    import drjit as dr

    if isinstance(value, float | int) or (dr.is_array_v(value) and dr.width(value) in (1, dr.width(row))):
        return value
    what = f"{dr.width(value)} lanes" if dr.is_array_v(value) else type(value).__name__
    raise FieldworthyError(
        f"the controller's '{name}' is {what}; valid with arrays = 'lanes': a number, or a Dr.Jit array of "
        f"{dr.width(row)}"
    )
