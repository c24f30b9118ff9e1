"""Check what a scenario needs beyond its file: layouts that can be sailed, and plug-ins that keep their contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario.build import build
from fieldworthy.scenario.plug_in import load_controller
from fieldworthy.scenario.schema import Scenario
from fieldworthy.vehicles.aircraft import SURFACES
from fieldworthy.world import State, World, advance, compact, decide, start
from fieldworthy.world.decide import Decision

TRIALS = 3
DURATION_S = 2.0

Answers = dict[str, np.ndarray[Any, Any]]
"""Commands, modes and readings of own sensors by name, (samples, trials); NaN for trials that were dropped."""

_KEEP = "valid: answers from readings and memory only; keep values in `memory`, not in self"


def check_scenario(scenario: Scenario, progress: Callable[[str], None] = lambda _: None) -> list[str]:
    """What was checked, in sentences. progress: told what comes next, in a few words.

    Raises: FieldworthyError with the first promise that is broken: layouts (all trials are drawn), the controller's
    class and parameters, the shapes of its answers, the same answers when asked twice, by an object made anew, when
    flown again, alone, and after another trial has left the batch.
    """
    progress(f"drawing {scenario.trials} layouts, then flying some of the trials")
    built = build(scenario)
    count = len(built.world.trials)
    redrawn = int(built.redrawn.sum())
    # Of what flies no way is looked for: it may pass above what stands there.
    way = "" if scenario.vehicle.kind == "aircraft" else ", each with a way to the goal"
    drawn = "1 layout" if count == 1 else f"{count} layouts"
    notes = [f"{drawn} drawn{way}" + (f" ({redrawn} redrawn)" if redrawn else "")]
    numbers = [int(t) for t in built.world.trials[:TRIALS]]
    progress(f"flying {len(numbers)} trials for {DURATION_S:g} s, twice")
    together, again = _answers(scenario, numbers), _answers(scenario, numbers)
    name = scenario.control.controller
    notes += _beyond(together, name)
    _same(
        together,
        again,
        f"controller '{name}' answered otherwise when the same trials were flown again; valid: answers that depend on "
        "readings and memory only (no counters of its own, no global random numbers)",
    )
    if len(numbers) > 1:
        progress("flying them again, one leaving half way")
        dropped = _answers(scenario, numbers, drop_first=True)
        _same(
            {key: np.where(np.isnan(dropped[key]), np.nan, values) for key, values in together.items()},
            dropped,
            f"controller '{name}' steers the others otherwise once trial {numbers[0]} has left the batch; {_KEEP}",
        )
    for row, trial in enumerate(numbers):
        progress(f"flying trial {trial} alone")
        alone = _answers(scenario, [trial])
        _same(
            {key: values[:, row : row + 1] for key, values in together.items()},
            alone,
            f"controller '{name}' steers trial {trial} otherwise alone than in a batch; valid: each entry of the "
            "answer from that entry of the readings only",
        )
    ways = "together, again, with one dropped half way, and alone" if len(numbers) > 1 else "again and again"
    notes.append(f"controller '{name}': {len(numbers)} trials flown for {DURATION_S:g} s, {ways}; all asked twice")
    return notes


def _beyond(answers: Answers, controller: str) -> list[str]:
    """Actuators that were asked for more than there is, in one sentence."""
    found = []
    for key, values in answers.items():
        name, least = key.removeprefix("cmd_"), -1.0 if key.removeprefix("cmd_") in SURFACES else 0.0
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if (name in SURFACES or name.startswith("throttle_")) and (low < least or high > 1.0):
            found.append(f"{name} from {low:.3g} to {high:.3g}")
    if not found:
        return []
    limits = "held within 0 to 1 (throttles) and -1 to 1 (surfaces)"
    return [f"controller '{controller}' asks for {', '.join(found)}: {limits}"]


def _answers(scenario: Scenario, trials: list[int], drop_first: bool = False) -> Answers:
    """Commands and modes of the first seconds; every question is asked twice, which must not matter.

    drop_first: the first trial leaves the batch half way, as if it had ended.
    """
    world = build(scenario, trials).world
    world = replace(world, extra=tuple(replace(e, sensor=_ReadTwice(e.name, e.sensor)) for e in world.extra))
    end = min(round(DURATION_S / world.timing.dt_s), world.timing.end)
    state, rows, anew = start(world), [], False
    while state.tick < end:
        decision = _asked_twice(world, state)
        if state.tick >= end / 2 and not anew:
            anew = True
            _asked_anew(scenario, world, state, decision)
            if drop_first:
                state = compact(world, state, np.arange(1, len(trials)))
                decision = _asked_twice(world, state)
        state, frame = advance(world, state, decision)
        rows.append(frame)
    watched = [key for key in rows[-1].values if _is_command(key) or "." in key]
    found = {}
    for key in watched:
        # A sensor that is heard late is missing from the first rows.
        heard = [frame for frame in rows if key in frame.values]
        found[key] = np.full((len(heard), len(trials)), np.nan)
        for sample, frame in enumerate(heard):
            found[key][sample, frame.row] = frame.values[key]
            if _is_command(key) and not np.isfinite(frame.values[key]).all():
                odd = frame.values[key][~np.isfinite(frame.values[key])][0]
                raise FieldworthyError(
                    f"controller '{scenario.control.controller}' answers {key} = {odd}; valid: finite numbers"
                )
    return found


def _asked_twice(world: World, state: State) -> Decision:
    """The answer at this tick.

    Raises: FieldworthyError when the same object, asked again with the same readings, answers something else.
    """
    first = decide(world, state)
    _same(_plain(first), _plain(decide(world, state)), _hidden(world, state, "when asked twice with the same readings"))
    return first


def _asked_anew(scenario: Scenario, world: World, state: State, decision: Decision) -> None:
    """Raises: FieldworthyError when a controller made just now answers otherwise than the one that has flown so far."""
    fresh = replace(world, controller=load_controller(scenario)[0], _made={})
    sentence = _hidden(world, state, "than one that was made anew and got the same readings")
    _same(_plain(decision), _plain(decide(fresh, state)), sentence)


def _hidden(world: World, state: State, when: str) -> str:
    t_s = state.tick * world.timing.dt_s
    return f"controller '{world.controller_name}' answers otherwise {when} (t = {t_s:g} s): a hidden state; {_KEEP}"


def _plain(decision: Decision) -> Answers:
    command, mode, memory = decision
    named = {f"cmd_{f.name}": getattr(command, f.name) for f in fields(command)}
    named |= {"mode": mode, **{f"memory['{name}']": values for name, values in memory.items()}}
    return {name: np.array(values) for name, values in named.items()}


class _ReadTwice:
    """A sensor of the user's own that is asked twice for each reading, which must not matter."""

    def __init__(self, name: str, sensor: Any) -> None:
        self.name, self.sensor = name, sensor
        self.memory = getattr(sensor, "memory", {})

    def read(self, truth: Any, noise: Any, parameters: Any) -> Any:
        # The truth is a copy of this reading's own; a sensor may work in place.
        again = replace(truth, **{f.name: _copied(getattr(truth, f.name)) for f in fields(truth)})
        first, second = (self.sensor.read(given, noise, parameters) for given in (truth, again))
        for part in ("values", "memory"):
            one, two = getattr(first, part, None), getattr(second, part, None)
            if isinstance(one, dict) and isinstance(two, dict):
                _same(
                    {name: np.asarray(values) for name, values in one.items()},
                    {name: np.asarray(values) for name, values in two.items()},
                    f"sensor '{self.name}' reads otherwise when asked twice for the same moment: hidden state; valid: "
                    "readings from truth, noise and memory only; keep values in `memory`, not in self",
                )
        return first


def _is_command(key: str) -> bool:
    """Whether a track is a part of the controller's answer, whatever the vehicle."""
    return key.startswith("cmd_") or key == "mode"


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _same(a: Answers, b: Answers, sentence: str) -> None:
    for key, values in a.items():
        other = b.get(key)
        if other is None or not np.array_equal(values, other, equal_nan=values.dtype.kind == "f"):
            raise FieldworthyError(f"{sentence} ({key})")
