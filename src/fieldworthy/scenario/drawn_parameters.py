"""Parameters of controllers and sensors that [randomize] draws: valid at both ends, and read where they are drawn.

A plug-in is made once for all trials, so its constructor sees one value of each parameter; only its method gets what
each trial has drawn.
"""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.scenario.check import check_parameters
from fieldworthy.scenario.schema import Scenario


def check_drawn(scenario: Scenario, path: str, kind: Any, parameters: Any) -> None:
    """Raise: ScenarioError for drawn parameters below `path` that are out of limits or that the constructor reads."""
    prefix, place = f"{path}.", f"{scenario.source_path or scenario.name} [randomize]"
    drawn = {name.removeprefix(prefix): ends for name, ends in scenario.randomize.items() if name.startswith(prefix)}
    if not drawn or parameters is None:
        return
    values = msgspec.structs.asdict(parameters)
    for name, ends in drawn.items():
        for end in ends:
            check_parameters(type(parameters), {**values, name: end}, f'{place} "{prefix}{name}"')
    fixed = [name for name in drawn if name in _read_when_made(kind, parameters)]
    if fixed:
        names = ", ".join(f'"{prefix}{name}"' for name in fixed)
        what = f"{names}: the constructor of {kind.__name__} reads it once for all trials, so it cannot differ"
        raise ScenarioError(Problem(place, what, "parameters that only its method reads; sweep this one instead"))


def _read_when_made(kind: Any, parameters: Any) -> set[str]:
    """Names of the parameters that the constructor reads: all of them where it keeps the parameters for later."""
    read: set[str] = set()

    class Watched(type(parameters)):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            read.add(name)
            return super().__getattribute__(name)

    takes = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    if not takes:
        return set()
    watched = Watched(**msgspec.structs.asdict(parameters))
    read.clear()
    try:
        made = kind(watched)
    except Exception:
        return set()  # `make` says what is wrong with the constructor
    if any(value is watched for value in getattr(made, "__dict__", {}).values()):
        return set(parameters.__struct_fields__)
    return read
