"""Sensors of the user's own: read when due, delivered when their latency has passed."""

from __future__ import annotations

import copy
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.sensors.sensor import Delivered, Floats, Noise, Truth


@dataclass(frozen=True)
class ExtraSensor:
    """One sensor of a world."""

    name: str
    sensor: Any
    parameters: Any
    """Plain values, or arrays (rows,) where they differ per trial."""
    period: int
    """Ticks from reading to reading."""
    latency: int
    """Ticks from reading to delivery."""
    seed: int


@dataclass(frozen=True)
class ExtraState:
    """Where one sensor stands; arrays (lanes,)."""

    memory: dict[str, Floats]
    heard: Delivered | None = None
    waiting: tuple[tuple[int, Delivered], ...] = field(default=())
    """(tick of delivery, reading)"""


def first_extra(extra: ExtraSensor, rows: int) -> ExtraState:
    """Before the first reading."""
    first: Mapping[str, float] = getattr(extra.sensor, "memory", {})
    return ExtraState({name: np.full(rows, float(value)) for name, value in first.items()})


def sense(extra: ExtraSensor, state: ExtraState, truth: Truth, tick: int, row: NDArray[Any]) -> ExtraState:
    """Take a reading if one is due at `tick`, and hand over what has arrived.

    Raises: FieldworthyError when the sensor's answer has the wrong shape or names.
    """
    waiting = state.waiting
    memory = state.memory
    if tick % extra.period == 0:
        noise = Noise(extra.seed, extra.name, truth.trial, tick)
        with naming_the_plug_in(f"sensor '{extra.name}'"):
            # A copy: a sensor may work in place, and the next one reads the same truth.
            mine = copy.deepcopy(replace(truth, memory=memory))
            answer = extra.sensor.read(mine, noise, at_rows(extra.parameters, row))
        lanes, who = len(row), f"sensor '{extra.name}'"
        values = _checked_all(who, _part(extra, answer, "values"), lanes)
        kept = _checked_all(who, refuse_undeclared(who, _part(extra, answer, "memory"), memory), lanes)
        memory = {**memory, **kept}
        waiting = (*waiting, (tick + extra.latency, Delivered(truth.t_s, values)))
    arrived = [reading for due, reading in waiting if due <= tick]
    heard = arrived[-1] if arrived else state.heard
    return ExtraState(memory, heard, tuple(item for item in waiting if item[0] > tick))


@contextmanager
def naming_the_plug_in(what: str) -> Iterator[None]:
    """Turn any exception of a user's code into one sentence with its file and line.

    Raises: FieldworthyError, the user's own exception being its cause.
    """
    try:
        yield
    except FieldworthyError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise FieldworthyError(
            f"{what} failed: {type(error).__name__}: {error} ({last.filename}, line {last.lineno}){_hint(error)}"
        ) from error


def _hint(error: Exception) -> str:
    """What arrays of different lengths most often mean in a plug-in (the wordings are NumPy's)."""
    if not any(words in str(error) for words in ("broadcast", "boolean index did not match", "same shape")):
        return ""
    return "; trials that have ended leave the batch, so arrays get shorter: keep what must last in `memory`"


def copied(reading: Delivered) -> Delivered:
    """The reading with arrays of its own."""
    return replace(reading, values={name: values.copy() for name, values in reading.values.items()})


def thinned_extra(state: ExtraState, lanes: NDArray[np.intp]) -> ExtraState:
    """The state of the given lanes only."""

    def thin(reading: Delivered) -> Delivered:
        return replace(reading, values={name: values[lanes] for name, values in reading.values.items()})

    return ExtraState(
        memory={name: values[lanes] for name, values in state.memory.items()},
        heard=thin(state.heard) if state.heard is not None else None,
        waiting=tuple((due, thin(reading)) for due, reading in state.waiting),
    )


def at_rows(parameters: Any, row: NDArray[Any]) -> Any:
    """Parameters as the lanes see them: arrays (rows,) become (lanes,), everything else stays."""
    if parameters is None:
        return None
    values = vars(parameters)
    if not any(isinstance(value, np.ndarray) for value in values.values()):
        return parameters
    return SimpleNamespace(
        **{name: value[row] if isinstance(value, np.ndarray) else value for name, value in values.items()}
    )


def _part(extra: ExtraSensor, answer: Any, name: str) -> dict[str, Any]:
    part = getattr(answer, name, None)
    if not isinstance(part, dict):
        raise FieldworthyError(
            f"sensor '{extra.name}' answered {type(answer).__name__} without {name}; valid: "
            "fieldworthy.Reading({'name_unit': array, …})"
        )
    return part


def _checked_all(who: str, answers: dict[str, Any], lanes: int) -> dict[str, Floats]:
    return {name: checked_answer(who, name, values, lanes) for name, values in answers.items()}


def checked_answer(who: str, name: str, values: Any, lanes: int) -> Floats:
    """One part of a plug-in's answer as an array (lanes,) of its own.

    Raises: FieldworthyError when it has another shape or is no number.
    """
    try:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), (lanes,)).copy()
    except OverflowError:
        raise FieldworthyError(f"{who}: '{name}' is too large for a number of 64 bits") from None
    except (TypeError, ValueError):
        raise FieldworthyError(
            f"{who}: '{name}' has shape {np.shape(values)}; valid: one number, or ({lanes},)"
        ) from None


def refuse_undeclared(who: str, kept: dict[str, Any], memory: Mapping[str, Any]) -> dict[str, Any]:
    """What a plug-in wants to keep, if its class declares it.

    Raises: FieldworthyError for other names.
    """
    unknown = [name for name in kept if name not in memory]
    if unknown:
        raise FieldworthyError(
            f"{who} keeps '{unknown[0]}', which its `memory` does not declare; it has {', '.join(memory) or 'nothing'}"
        )
    return kept
