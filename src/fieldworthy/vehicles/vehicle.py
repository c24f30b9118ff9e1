"""What a world needs to know of a kind of vehicle: its types and its laws, one object a kind.

A second kind of vehicle is a file with its state, command and parameter structs, its law of motion, and one object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.lanes import Scalar
from fieldworthy.core.track import Pose


@dataclass
class Clock:
    """The step that a vehicle is about to make."""

    tick: Any
    """UInt32, the tick that it starts from."""
    t_s: Scalar
    """Time of that tick."""
    next_s: Scalar
    """Time of the tick after it."""
    dt_s: float
    trial: Any
    """UInt32 (lanes), the number of each lane's trial, for its own random numbers."""


@dataclass(frozen=True)
class Vehicle:
    """The laws of one kind of vehicle, on scalars of any engine. `medium` is the water and air around it."""

    kind: str
    """Also the folder of its catalogue files."""
    command: type
    """Dataclass of numbers that a controller gives; controllers' answers have fields of the same names."""
    step: Callable[[Any, Any, Any, Any, Clock], Any]
    """(state, command, medium, parameters, clock) -> the state one tick later."""
    pose: Callable[[Any, Any, Scalar, Any], Pose]
    """(state, medium, t_s, parameters) -> where it is and how it lies."""
    earlier: Callable[[Any, Any, Scalar, Any], Pose]
    """(state at the start, medium, t_s, parameters) -> where it was at a time t_s <= 0 before the start."""
    speed_m_s: Callable[[Any], Scalar]
    """(state) -> speed over ground."""
    observe: Callable[[Any], dict[str, Scalar]]
    """(state) -> what records see of it, by name with unit."""
    read: Callable[[Any], dict[str, Scalar]]
    """(state) -> what controllers see of it, by the names of their readings."""
    tell: Callable[[Any], dict[str, dict[str, Scalar]]] | None = None
    """(state) -> newest readings of its own devices as they have arrived, by device and name, with `stamp_s`; None: it
    has none."""
    broken: Callable[[Any], Scalar] | None = None
    """(state) -> whether it has broken by itself, such as by a hard landing; None: it cannot."""
    prepare: Callable[[Any, Any, Any, Any, Clock], Any] | None = None
    """As `step`, but without time passing: what is due at the tick at which a command begins. None: nothing."""
    first: Callable[[Any, Any, Any, Clock], Any] | None = None
    """(start, medium, parameters, clock) -> the whole state, of the start that a scenario gives. None: they are one."""
