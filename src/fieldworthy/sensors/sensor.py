"""The contract of a sensor of one's own: a class in one file that turns the truth into readings, for a batch of trials.

    class Compass:
        Parameters = CompassParameters     # optional subclass of fieldworthy.Parameters
        memory = {"bias_rad": 0.0}         # optional: numbers kept per trial from reading to reading

        def read(self, truth: Truth, noise: Noise, parameters: CompassParameters) -> Reading:
            bias = truth.memory["bias_rad"] + parameters.walk_rad * noise.normal(0)
            heading = truth.heading_rad + bias + parameters.noise_rad * noise.normal(1)
            return Reading({"heading_rad": heading}, memory={"bias_rad": bias})

The scenario names it, says how often it reads and how late it is heard:

    [sensors.extra.compass]
    sensor = "my_sensors:Compass"
    rate_hz = 5.0
    latency_s = 0.1
    [sensors.extra.compass.parameters]
    noise_rad = 0.02

Controllers find the newest reading delivered in `readings.sensors["compass"]`; runs keep every number as a track named
`compass.heading_rad`. Arrays are NumPy, one entry a trial.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.random import normal_pair, stream_key, stream_words, unit_uniform

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """What is so, at the moment of measuring. Arrays (trials,); NED and FRD, as in `vehicles.boat` and `core.track`."""

    t_s: float
    period_s: float
    """Time since the last reading."""
    trial: NDArray[np.uint32]
    north_m: Floats
    east_m: Floats
    up_m: Floats
    roll_rad: Floats
    pitch_rad: Floats
    heading_rad: Floats
    surge_m_s: Floats
    sway_m_s: Floats
    yaw_rate_rad_s: Floats
    memory: dict[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Noise:
    """Random numbers of one reading: a function of (seed, sensor, trial, tick, number), never of the order of calls."""

    seed: int
    sensor: str
    trial: NDArray[np.uint32]
    tick: int

    def normal(self, number: int) -> Floats:
        """Standard normal numbers (trials,); each `number` (0, 1, …) is independent of the others."""
        words = self._words(number)
        found: Floats = normal_pair(words[0], words[1])[0]
        return found

    def uniform(self, number: int) -> Floats:
        """Numbers between 0 and 1 (trials,); independent of `normal` of the same number."""
        found: Floats = unit_uniform(self._words(number)[2])
        return found

    def _words(self, number: int) -> tuple[Any, Any, Any, Any]:
        key = stream_key(self.seed, f"sensor {self.sensor}")
        return stream_words(key, self.trial, self.tick, number)


@dataclass(frozen=True)
class Reading:
    """What a sensor says: named arrays (trials,), NaN where it has nothing to say, and what it keeps."""

    values: dict[str, Any]
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Delivered:
    """A reading as a controller gets it, `latency_s` after it was taken."""

    t_s: Any
    """When it was taken: one number, or one a trial by the clock of a device of the vehicle's own (large and negative:
    nothing has arrived yet)."""
    values: dict[str, Floats]


class Sensor(Protocol):
    """What a world needs of a sensor; a class needs not inherit from it."""

    def read(self, truth: Truth, noise: Noise, parameters: Any) -> Reading:
        """One reading of every trial."""
        ...
