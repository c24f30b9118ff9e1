"""Faults of sensors, over any tree of readings: frozen, shifted, noisy, lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fieldworthy.core.lanes import Scalar, logical_and, select
from fieldworthy.core.struct import children, map_leaves, rebuild, where

Kind = Literal["freeze", "bias", "noise", "loss"]


@dataclass(frozen=True)
class SensorFaultOptions:
    """Fixed for a run."""

    kind: Kind
    leaves: tuple[str, ...] = ()
    """Dotted names of the numbers it strikes, such as "rate_frd_rad_s.x"; a name of a part strikes all of it; empty:
    all. A loss sets them to 0, so name what says whether there is a reading: "fix", "valid"."""


@dataclass
class SensorFault:
    """When and how much."""

    onset_s: Scalar
    end_s: Scalar
    """Large: for the rest of the trial."""
    magnitude: Scalar = 0.0
    """The step of a bias, the standard deviation of added noise, in the unit of the numbers struck."""


def fault_normals(options: SensorFaultOptions, reading: Any) -> int:
    """Normal numbers that `apply_fault` takes."""
    return len(_struck(options, reading)) if options.kind == "noise" else 0


def apply_fault(
    options: SensorFaultOptions,
    fault: SensorFault,
    reading: Any,
    held: Any,
    t_s: Scalar,
    normals: tuple[Scalar, ...] = (),
) -> tuple[Any, Any]:
    """(the reading as it is heard, what a freeze holds on to), from onset to end.

    Equation: freeze y = y(last before the onset);   bias y + m;   noise y + m n;   loss 0.
    `held` is the last answer's second part; at the start, any reading.
    Shapes: any tree.      Limits: one fault a call; chain calls for more. Stamps stay fresh in a freeze.
    Verified by: tests/verification/test_sensor_faults.py
    """
    active = logical_and(t_s >= fault.onset_s, t_s < fault.end_s)
    struck = _struck(options, reading)
    if options.kind == "freeze":
        held = where(active, held, reading)
        return _replaced(reading, struck, dict(_named(held))), held
    numbers = dict(_named(reading))
    if options.kind == "loss":
        changed = {name: select(active, 0.0, numbers[name]) for name in struck}
    else:
        size = select(active, fault.magnitude, 0.0)
        steps = [size * n for n in normals] if options.kind == "noise" else [size] * len(struck)
        changed = {name: numbers[name] + step for name, step in zip(struck, steps, strict=True)}
    return _replaced(reading, struck, changed), held


def first_held(reading: Any) -> Any:
    """Something for a freeze to hold before the first reading."""
    return map_leaves(lambda leaf: leaf, reading)


def _struck(options: SensorFaultOptions, reading: Any) -> list[str]:
    names = [name for name, _ in _named(reading)]
    if not options.leaves:
        return names
    for wanted in options.leaves:
        if not any(_within(name, wanted) for name in names):
            raise ValueError(f"a fault strikes '{wanted}', which the reading has not; valid: {', '.join(names)}")
    return [name for name in names if any(_within(name, wanted) for wanted in options.leaves)]


def _within(name: str, wanted: str) -> bool:
    return name == wanted or name.startswith(wanted + ".")


def _named(tree: Any, prefix: str = "") -> list[tuple[str, Scalar]]:
    """Dotted name and value of every leaf."""
    nodes = children(tree)
    if nodes is None:
        return [(prefix, tree)]
    return [pair for name, child in nodes for pair in _named(child, f"{prefix}.{name}" if prefix else name)]


def _replaced(tree: Any, struck: list[str], values: dict[str, Scalar], prefix: str = "") -> Any:
    """The tree with the struck leaves taken from `values`."""
    nodes = children(tree)
    if nodes is None:
        return values[prefix] if prefix in struck else tree
    dotted = {name: f"{prefix}.{name}" if prefix else name for name, _ in nodes}
    return rebuild(tree, [_replaced(child, struck, values, dotted[name]) for name, child in nodes])
