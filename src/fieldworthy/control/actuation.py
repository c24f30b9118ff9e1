"""Commands below the autopilot: throttles and surfaces themselves, for whoever brings an autopilot along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from typing import Any

import numpy as np

from fieldworthy.control.fixed_wing import SurfaceCommand
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.lanes import abs as magnitude
from fieldworthy.core.lanes import clip, maximum, minimum
from fieldworthy.vehicles.aircraft import SURFACES, Actuators

_STEM = "throttle_"


@dataclass
class Actuation:
    """What a controller with `control.commands = "actuators"` answers: arrays (trials,) or plain numbers.

    `throttle_0`, `throttle_1`, … are the parts of `throttle`, as the command's own fields are called.
    """

    throttle: tuple[Any, ...]
    """0 to 1, one a rotor in the order of the vehicle's file."""
    aileron: Any = 0.0
    """-1 to 1 of the largest deflection; so are the next two."""
    elevator: Any = 0.0
    rudder: Any = 0.0
    mode: Any = 0
    """A small whole number for plots."""
    memory: dict[str, Any] = field(default_factory=dict)
    """New values of what the controller keeps; names left out keep their values."""

    def __getattr__(self, name: str) -> Any:
        number = name.removeprefix(_STEM)
        if name.startswith(_STEM) and number.isdigit() and int(number) < (_count(self.throttle) or 0):
            return self.throttle[int(number)]
        raise AttributeError(name)


def _count(throttle: Any) -> int | None:
    """How many throttles; None for what is no list of them, such as a number or the lanes of one rotor."""
    listed = isinstance(throttle, tuple | list) or (isinstance(throttle, np.ndarray) and throttle.ndim > 0)
    return len(throttle) if listed else None


def refuse_misfit(command: Any, names: Sequence[str]) -> None:
    """Raise: FieldworthyError for an answer that is not the `Actuation` which a vehicle's command consists of.

    names: of the fields of the vehicle's own command; nothing is checked where they are no actuators.
    """
    rotors = sum(name.startswith(_STEM) for name in names)
    if not set(SURFACES) <= set(names):
        return
    numbers = f"{rotors} throttles" if rotors != 1 else "1 throttle"
    order = ", ".join(f"rotor {i}" for i in range(rotors)) if rotors <= 8 else f"rotor 0 to rotor {rotors - 1}"
    comma = "," if rotors == 1 else ""
    valid = f"fieldworthy.Actuation(throttle=({order}{comma})), in the order of rotor_position_m in the vehicle's file"
    if not isinstance(command, Actuation):
        what = f"the controller's command() answered {type(command).__name__}; with commands = 'actuators' it needs"
        raise FieldworthyError(f"{what} {numbers}; valid: {valid}")
    count = _count(command.throttle)
    if count != rotors:
        one = f"throttle = one {type(command.throttle).__name__}"
        shown = one if count is None else f"{count} throttle{'' if count == 1 else 's'}"
        raise FieldworthyError(
            f"the controller's Actuation has {shown}, and this vehicle needs {numbers}; valid: {valid}"
        )


@cache
def actuator_command(rotors: int) -> type:
    """The command of a vehicle with so many rotors: a dataclass of `throttle_0` … and the surfaces."""
    names = [*(f"{_STEM}{i}" for i in range(rotors)), *SURFACES]
    return make_dataclass("ActuatorCommand", [(name, Any) for name in names])


def actuators_of(command: Any, rotors: int) -> Actuators:
    """The command as the vehicle takes it, throttles held between 0 and 1."""
    throttle = tuple(clip(getattr(command, f"{_STEM}{i}"), 0.0, 1.0) for i in range(rotors))
    return Actuators(throttle, *(getattr(command, surface) for surface in SURFACES))


def actuation_margin(actuators: Actuators, *, surfaces: bool) -> Any:
    """Least distance of a throttle to 0 or 1, and of a surface to its stop over two: 0.5 in mid range, 0 at a limit."""
    margin: Any = 0.5
    for u in actuators.throttle:
        margin = minimum(margin, minimum(u, 1.0 - u))
    return minimum(margin, surface_margin(actuators)) if surfaces else margin


def surface_margin(actuators: Actuators | SurfaceCommand) -> Any:
    """Half of what is left of the surface that is deflected most."""
    aileron, elevator, rudder = (magnitude(getattr(actuators, surface)) for surface in SURFACES)
    return 0.5 - 0.5 * maximum(maximum(aileron, elevator), rudder)
