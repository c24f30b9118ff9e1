"""Commands below the autopilot: throttles and surfaces themselves, for whoever brings an autopilot along."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from functools import cache
from typing import Any

from fieldworthy.control.fixed_wing import SurfaceCommand
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
        if name.startswith(_STEM) and number.isdigit() and int(number) < len(self.throttle):
            return self.throttle[int(number)]
        raise AttributeError(name)


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
