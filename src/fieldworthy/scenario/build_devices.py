"""The devices of a flying robot of a scenario: what of them is computed, their numbers in lanes, and their links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fieldworthy.catalog import DEVICES as DEVICE_KINDS
from fieldworthy.control.complementary import FilterParameters
from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.core.engine import Engine
from fieldworthy.core.random import stream_key
from fieldworthy.core.timing import ticks_from_rate, ticks_from_seconds
from fieldworthy.core.vec import Vec3
from fieldworthy.scenario.schema import Scenario
from fieldworthy.scenario.values import Values
from fieldworthy.sensors.delivery import DeliveryOptions, DeliveryParameters, slots_needed
from fieldworthy.sensors.devices import is_on
from fieldworthy.sensors.suite import DEVICES
from fieldworthy.world.flight_state import DeviceNumbers, DeviceShape

FIXED = ("rate_hz",)
"""Values of a device that lay out the kernel: the same in all trials, and never asked for as drawn ones."""
IMU_FIXED = (*FIXED, "latency_s")
"""The inertial unit's samples wait for whole ticks."""


class DrawnValues(Mapping[str, Any]):
    """Values of a file, each drawn when it is first read: what nothing reads stays unread, and may not be drawn."""

    def __init__(self, engine: Engine, values: Values, home: str, given: Mapping[str, Any]) -> None:
        self._engine, self._values, self._home, self._given = engine, values, home, given
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            self._found[name] = drawn(self._engine, self._values, f"{self._home}.{name}", self._given[name])
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


def drawn(engine: Engine, values: Values, path: str, value: Any) -> Any:
    """A number of a catalogue file, or the lanes that a trial has drawn for it."""
    if not isinstance(value, float):
        return value
    found = values.numbers(path, value)
    return engine.floats(found) if isinstance(found, np.ndarray) else found


def device_values(
    engine: Engine, values: Values, home: str, given: Mapping[str, Any], fixed: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Values of a file with those that trials draw as lanes; `fixed` ones stay as they are."""
    return {
        name: value if name in fixed else drawn(engine, values, f"{home}.{name}", value)
        for name, value in given.items()
    }


def devices_of(
    engine: Engine, scenario: Scenario, values: Values, field: Vec3
) -> tuple[tuple[DeviceShape, ...], dict[str, DeviceNumbers]]:
    """Shapes and numbers of all devices but the inertial unit."""
    shapes, numbers = [], {}
    dt_s = scenario.dt_s
    for name in DEVICE_KINDS:
        config = getattr(scenario.sensors, name)
        if name == "imu" or config is None:
            continue
        home = f"sensors.{name}"
        given = device_values(engine, values, home, config.values, FIXED)
        period = ticks_from_rate(float(config.values["rate_hz"]), dt_s, f"{home}.rate_hz")
        options, parameters = DEVICES[name].make(given, period * dt_s, field)
        # Room for the slowest link that any trial may draw, so that a trial has the same room in every batch.
        latency, jitter = (
            values.highest(f"{home}.{of}", float(config.values.get(of, 0.0))) for of in ("latency_s", "jitter_s")
        )
        # A range finder's own dropout is a missing echo; a link's is a letter lost.
        lost = 0.0 if name == "rangefinder" else given.get("dropout", 0.0)
        delivery = link(given, lost)
        shapes.append(
            DeviceShape(
                name,
                options,
                DeliveryOptions(
                    period_ticks=period,
                    slots=slots_needed(latency, jitter, period * dt_s),
                    jitter=is_on(delivery.jitter_s),
                    dropout=is_on(delivery.dropout),
                    clock=is_on(delivery.clock_offset_s) or is_on(delivery.clock_drift),
                ),
            )
        )
        numbers[name] = DeviceNumbers(parameters, delivery, key_of(engine, scenario, name))
    return tuple(shapes), numbers


def link(given: dict[str, Any], lost: Any) -> DeliveryParameters:
    """What happens to the readings of a device on their way."""
    return DeliveryParameters(
        latency_s=given.get("latency_s", 0.0),
        jitter_s=given.get("jitter_s", 0.0),
        clock_offset_s=given.get("clock_offset_s", 0.0),
        clock_drift=given.get("clock_drift_ppm", 0.0) * 1e-6,
        dropout=lost,
    )


def imu_delay(scenario: Scenario) -> int:
    """Ticks from a sample of the inertial unit to its being heard."""
    if scenario.sensors.imu is None:
        return 0
    latency = float(scenario.sensors.imu.values.get("latency_s", 0.0))
    return ticks_from_seconds(latency, scenario.dt_s, "sensors.imu.latency_s")


def key_of(engine: Engine, scenario: Scenario, stream: str) -> tuple[Any, Any]:
    """The key of a stream of random numbers, for lanes."""
    first, second = stream_key(scenario.seed, stream)
    return engine.counter(first), engine.counter(second)


def filter_of(scenario: Scenario) -> FilterParameters:
    """The filter's numbers: how often each device of the scenario reads."""

    def period(name: str) -> float:
        config = getattr(scenario.sensors, name)
        return 1.0 / float(config.values["rate_hz"]) if config is not None else 0.1

    return FilterParameters(
        gravity_m_s2=STANDARD_GRAVITY_M_S2,
        gnss_period_s=period("gnss"),
        barometer_period_s=period("barometer"),
        magnetometer_period_s=period("magnetometer"),
        airspeed_period_s=period("airspeed"),
    )
