"""What breaks in a scenario: when, in which trials, and how much."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.constants import NEVER_S
from fieldworthy.core.random import Stream
from fieldworthy.scenario.flight_schema import Fault
from fieldworthy.scenario.schema import Scenario
from fieldworthy.sensors.sensor_faults import SensorFaultOptions
from fieldworthy.world.flight_state import FaultNumbers, FaultShape

LOST = {"gnss": ("fix",), "rangefinder": ("valid",), "optical_flow": ("quality",), "odometry": ("valid",)}
"""What says of a device that it has nothing to say."""

STRUCK = {
    "imu": ("rate_frd_rad_s",),
    "imu.gyro": ("rate_frd_rad_s",),
    "imu.accelerometer": ("specific_force_frd_m_s2",),
    "gnss": ("pos_ned_m",),
    "barometer": ("pressure_pa",),
    "magnetometer": ("field_frd_t",),
    "airspeed": ("airspeed_m_s",),
    "rangefinder": ("range_m",),
    "optical_flow": ("integrated_x_rad", "integrated_y_rad"),
    "odometry": ("pos_ned_m",),
}
"""What a bias or noise of a device, or of a part of it, strikes."""


def fault_shapes(scenario: Scenario) -> tuple[FaultShape, ...]:
    """What may break, the same in all trials."""
    return tuple(_shape(fault, scenario) for fault in scenario.faults)


def _shape(fault: Fault, scenario: Scenario) -> FaultShape:
    if fault.kind == "link-delay":
        # A command waits for whole periods of the controller.
        return FaultShape("link-delay", commands=1 + max(1, math.ceil(fault.size * scenario.control.rate_hz - 1e-9)))
    if not fault.kind.startswith("sensor-"):
        return FaultShape(fault.kind, str(fault.part))  # type: ignore[arg-type]
    how, part = fault.kind.removeprefix("sensor-"), str(fault.part)
    device, _, half = part.partition(".")
    # A device freezes as a whole, unless a part of it is named.
    leaves = LOST.get(part, ()) if how == "loss" else () if how == "freeze" and not half else STRUCK[part]
    return FaultShape("sensor", device, SensorFaultOptions(how, leaves))  # type: ignore[arg-type]


def fault_numbers(scenario: Scenario, trials: NDArray[np.uint32]) -> tuple[FaultNumbers, ...]:
    """When each trial has each fault; a trial that is spared has it after all time."""
    return tuple(_numbers(fault, f"fault {i}", scenario, trials) for i, fault in enumerate(scenario.faults))


def _numbers(fault: Fault, stream: str, scenario: Scenario, trials: NDArray[np.uint32]) -> FaultNumbers:
    source = Stream(scenario.seed, stream)
    drawn = np.array([source.uniform(int(trial), 0, 2) for trial in trials])
    onset = np.where(drawn[:, 0] < fault.probability, fault.at_s + fault.spread_s * drawn[:, 1], NEVER_S)
    end = np.full(len(trials), NEVER_S if fault.until_s is None else fault.until_s)
    return FaultNumbers(onset, end, np.full(len(trials), fault.size))
