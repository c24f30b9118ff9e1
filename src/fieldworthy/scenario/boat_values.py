"""What a boat's values must be before anything is built from them: complete, of the right form, and of one size.

The catalogue file of a boat gives every field of `vehicles.boat.BoatParameters`, and the hull: its outline at the
waterline as (forward, right) points [m], its draft and its air draft [m].
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from msgspec import inspect

from fieldworthy.catalog import CatalogEntry
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.core.toml_lines import Path
from fieldworthy.scenario.check import Report, number_problem
from fieldworthy.vehicles.boat import BoatParameters

HULL_VALUES = ("outline_m", "draft_m", "air_draft_m")
BOAT_VALUES = (*(field.name for field in fields(BoatParameters)), *HULL_VALUES)
"""Every value that a boat has; it may have no other."""

SAME_SIZE = 0.01
"""How far length_m and beam_m may lie from the outline's own extent, as a share: the rounding of a data sheet."""

_OUTLINE = "a list of 3 or more [forward, right] points in metres"


def check_boat(entry: CatalogEntry, report: Report) -> bool:
    """Report what a boat's catalogue file lacks, has too much, or has in the wrong form; whether it is fit for use."""
    path: Path = ("vehicle", "model")
    problems = []
    missing = [name for name in BOAT_VALUES if name not in entry.values]
    if missing:
        example = (
            f'{missing[0]} = {{ value = ..., source = "..." }} and so on: a boat has all of {", ".join(BOAT_VALUES)}'
        )
        problems.append((f"boat '{entry.name}' lacks {', '.join(missing)}", example))
    for name, value in entry.values.items():
        if name not in BOAT_VALUES:
            what = f"boat '{entry.name}' has an unknown value '{name}'{did_you_mean(name, BOAT_VALUES)}"
            problems.append((what, ", ".join(BOAT_VALUES)))
        elif name == "outline_m":
            if not is_outline(value):
                problems.append((f"boat '{entry.name}': outline_m = {_short(value)} is no outline", _OUTLINE))
        elif isinstance(value, str | list):
            problems.append((f"boat '{entry.name}': {name} = {_short(value)} is not a number", "a finite number"))
    for what, valid in problems:
        report.add(path, what, valid)
    return not problems


def is_outline(value: Any) -> bool:
    """Whether a value is a list of three or more pairs of finite numbers."""
    return (
        isinstance(value, list | tuple)
        and len(value) >= 3
        and all(isinstance(point, list | tuple) and len(point) == 2 for point in value)
        and not any(number_problem(number, inspect.FloatType()) for point in value for number in point)
    )


def check_size(values: dict[str, Any], intervals: dict[str, Any], report: Report) -> None:
    """Report a length or beam that is not the outline's: the hull would have one size and the waves move another.

    intervals: the table [randomize].
    """
    outline = values.get("outline_m")
    if not is_outline(outline):
        return  # reported elsewhere
    for name, axis in (("length_m", 0), ("beam_m", 1)):
        along = [float(point[axis]) for point in outline]  # type: ignore[union-attr]
        extent = max(along) - min(along)
        drawn = intervals.get(f"vehicle.{name}")
        outline_path: Path = ("vehicle", "set", "outline_m")
        own_outline = outline_path in report.places.lines or outline_path in report.places.options
        path: Path = outline_path if own_outline else ("vehicle", "set", name)
        given: list[tuple[Path, Any]] = [(path, values.get(name))]
        if isinstance(drawn, list | tuple):
            given = [(("randomize", f"vehicle.{name}"), end) for end in drawn]
        for place, number in given:
            if isinstance(number, int | float) and math.isfinite(number) and not _same(float(number), extent):
                what = f"{name} = {number:g}, but outline_m extends over {extent:g} m"
                report.add(place, what, f"{name} within {SAME_SIZE:.0%} of the outline's extent: set both")
                break


def _same(number: float, extent: float) -> bool:
    return abs(number - extent) <= SAME_SIZE * extent


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
