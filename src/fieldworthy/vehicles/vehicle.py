"""What a world needs to know of a kind of vehicle: its types and its laws, one object a kind.

A second kind of vehicle is a file with its state, command and parameter structs, its law of motion, and one object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.track import Pose


@dataclass(frozen=True)
class Vehicle:
    """The laws of one kind of vehicle, on scalars of any engine. `medium` is the water and air around it."""

    kind: str
    """Also the folder of its catalogue files."""
    command: type
    """Dataclass of numbers that a controller gives; controllers' answers have fields of the same names."""
    parameters: type
    """Dataclass of numbers that may differ per trial; a catalogue file gives each."""
    rates: Callable[[Any, Any, Any, Any], Any]
    """(state, command, medium, parameters) -> time derivatives in the form of the state."""
    slope: Callable[..., Any]
    """The mean slope of a step by an integrator of `core.integrate`: (rate, state, dt_s) -> derivatives."""
    pose: Callable[[Any, Any, Scalar, Any], Pose]
    """(state, medium, t_s, parameters) -> where it is and how it lies."""
    speed_m_s: Callable[[Any], Scalar]
    """(state) -> speed over ground."""
    observe: Callable[[Any], dict[str, Scalar]]
    """(state) -> what controllers and records see of it, by name with unit."""
