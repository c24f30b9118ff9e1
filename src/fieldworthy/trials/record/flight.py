"""What a recording of a flight has besides pose and velocity: tracks by their names, and devices' readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Flight:
    """All arrays are (S,), a number a sample."""

    tracks: Mapping[str, Floats]
    """By the names of the run folder: commands, rotors, surfaces, supply, air, load, what the autopilot believes."""
    devices: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    """By device, then by value: its newest reading that had been heard, as it came; NaN before the first. `stamp_s` is
    the time of measurement by the device's own clock."""
    elevation_m: float = 0.0
    """Height of the ground above the sea."""

    def rotors(self) -> dict[str, Floats]:
        """Speeds of the rotors, rad/s, by `rotor_0`, …"""
        return {
            name.removesuffix("_rad_s"): values
            for name, values in self.tracks.items()
            if name.startswith("rotor_") and name.endswith("_rad_s")
        }

    def surfaces(self) -> dict[str, Floats]:
        """Deflections, rad, by `aileron`, …"""
        names = ("aileron", "elevator", "rudder")
        return {name: self.tracks[f"{name}_rad"] for name in names if f"{name}_rad" in self.tracks}


def flight_problems(flight: Flight, samples: int) -> list[str]:
    """What is wrong with the shapes of its arrays."""
    named = {f"tracks['{name}']": values for name, values in flight.tracks.items()}
    for device, values in flight.devices.items():
        named.update({f"devices['{device}']['{name}']": column for name, column in values.items()})
    return [
        f"flight.{name} has shape {np.shape(values)}; valid: {(samples,)}"
        for name, values in named.items()
        if np.shape(values) != (samples,)
    ]
