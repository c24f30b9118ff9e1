"""What a world needs of its vehicle, whatever its kind, and the part of it that touches things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.scenario.schema import Scenario
from fieldworthy.vehicles.hull import Hull, hull
from fieldworthy.vehicles.vehicle import Vehicle


@dataclass(frozen=True)
class Mover:
    """A vehicle with everything of its own."""

    vehicle: Vehicle
    parameters: Any
    medium: Any
    start: Any
    """At tick 0: NumPy arrays (rows,)."""
    readings: type
    """Dataclass that its controllers read."""
    periods: tuple[int, ...] = ()
    """Ticks between the readings of its own slow sensors."""
    start_up_m: NDArray[np.float64] | None = None
    """Height at the start, of what flies."""


def vehicle_hull(scenario: Scenario) -> Hull:
    """The outline and reach of a scenario's vehicle.

    Raises: ScenarioError unless the outline is a convex polygon.
    """
    values: dict[str, Any] = dict(scenario.vehicle.values)
    where = f"[vehicle] outline_m of {scenario.vehicle.model}"
    if scenario.vehicle.kind == "boat":
        return hull(values["outline_m"], values["draft_m"], values["air_draft_m"], where)
    return hull(values["outline_m"], values["reach_down_m"], values["reach_up_m"], where, flies=True)
