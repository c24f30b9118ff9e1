"""All slow devices of a flying robot behind one form: options, parameters, memory, reading, by the device's name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fieldworthy.core.constants import NEVER_S
from fieldworthy.core.lanes import Scalar
from fieldworthy.core.vec import Vec3
from fieldworthy.sensors import airspeed, barometer, gnss, magnetometer, odometry, optical_flow, rangefinder
from fieldworthy.sensors.devices import (
    airspeed_device,
    barometer_device,
    gnss_device,
    magnetometer_device,
    odometry_device,
    optical_flow_device,
    rangefinder_device,
)
from fieldworthy.sensors.truth import SensorTruth


@dataclass(frozen=True)
class DeviceLaws:
    """The laws of one kind of device; each takes the device's own options and parameters."""

    make: Callable[[Mapping[str, Any], float, Vec3], tuple[Any, Any]]
    """(values of a catalogue file, period [s], Earth's field NED [T]) -> options, parameters."""
    normals: Callable[[Any], int]
    first_normals: Callable[[Any], int]
    first: Callable[[Any, Any, tuple[Scalar, ...]], Any]
    read: Callable[[Any, Any, SensorTruth, Any, tuple[Scalar, ...]], tuple[Any, Any]]
    blank: Callable[[Any], Any]
    """options -> a reading of zeros, for before the first one."""
    watch: Callable[[Any, Any, SensorTruth, Any], Any] | None = None
    """(options, parameters, truth, memory) -> memory, at every physics tick; None: it looks only when it reads."""


def _nowhere() -> Vec3:
    return Vec3(0.0, 0.0, 0.0)


DEVICES: dict[str, DeviceLaws] = {
    "gnss": DeviceLaws(
        lambda values, dt_s, field: gnss_device(values, dt_s),
        gnss.gnss_normals, gnss.first_gnss_normals, gnss.first_gnss, gnss.read_gnss,
        lambda options: gnss.GnssReading(_nowhere(), _nowhere(), 0.0, 0.0, 0.0),
    ),
    "barometer": DeviceLaws(
        lambda values, dt_s, field: barometer_device(values, dt_s),
        barometer.barometer_normals, barometer.first_barometer_normals, barometer.first_barometer,
        barometer.read_barometer, lambda options: barometer.BarometerReading(0.0, 0.0),
    ),
    "magnetometer": DeviceLaws(
        magnetometer_device,
        magnetometer.magnetometer_normals, magnetometer.first_magnetometer_normals, magnetometer.first_magnetometer,
        magnetometer.read_magnetometer, lambda options: magnetometer.MagnetometerReading(_nowhere()),
    ),
    "airspeed": DeviceLaws(
        lambda values, dt_s, field: airspeed_device(values, dt_s),
        airspeed.airspeed_normals, airspeed.first_airspeed_normals, airspeed.first_airspeed, airspeed.read_airspeed,
        lambda options: airspeed.AirspeedReading(0.0, 0.0),
    ),
    "rangefinder": DeviceLaws(
        lambda values, dt_s, field: rangefinder_device(values, dt_s),
        rangefinder.rangefinder_normals, rangefinder.first_rangefinder_normals, rangefinder.first_rangefinder,
        rangefinder.read_rangefinder, lambda options: rangefinder.RangefinderReading(0.0, 0.0),
    ),
    "optical_flow": DeviceLaws(
        lambda values, dt_s, field: optical_flow_device(values, dt_s),
        optical_flow.optical_flow_normals, optical_flow.first_optical_flow_normals, optical_flow.first_optical_flow,
        optical_flow.read_optical_flow, optical_flow.blank_optical_flow, optical_flow.watch_optical_flow,
    ),
    "odometry": DeviceLaws(
        lambda values, dt_s, field: odometry_device(values, dt_s),
        odometry.odometry_normals, odometry.first_odometry_normals, odometry.first_odometry, odometry.read_odometry,
        odometry.blank_odometry,
    ),
}  # fmt: skip
"""Every slow device. The inertial unit is not one: it is read at every physics tick, inside the kernel."""

_LINK = {"latency_s": 0.0, "jitter_s": 0.0, "clock_offset_s": 0.0, "clock_drift_ppm": 0.0, "dropout": 0.0}
_PLACE = {"pos_frd_m": [0.0, 0.0, 0.0]}
_TURNED = {"mounting_deg": [0.0, 0.0, 0.0]}
_USUAL: dict[str, dict[str, Any]] = {
    "battery": {"capacity_factor": 1.0, "resistance_factor": 1.0, "weak_cell_factor": 1.0, "ambient_k": 298.15},
    "imu": {**_PLACE, **_TURNED, **{name: 0.0 for name in _LINK if name != "jitter_s"}},
    "gnss": {**_LINK, **_PLACE, "outage_start_s": NEVER_S, "outage_end_s": NEVER_S, "sky_hidden": 1.0},
    "barometer": {**_LINK, "wash_coefficient": 0.0},
    "magnetometer": {**_LINK, **_TURNED, "soft_iron": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
    "airspeed": {**_LINK, **_PLACE},
    "rangefinder": {**_LINK, **_PLACE},
    "optical_flow": {**_LINK, **_PLACE},
    "odometry": {**_LINK, **_PLACE},
}


_SHARE = (0.0, 1.0)
_LIMITS = {"latency_s": (0.0, math.inf), "jitter_s": (0.0, math.inf), "dropout": _SHARE, "sky_hidden": _SHARE}


def usual_device_limits() -> dict[str, tuple[float, float]]:
    """(lowest, highest) of what may be set of any device, where its catalogue file says nothing else."""
    return _LIMITS


def usual_device_values(kind: str) -> dict[str, Any]:
    """What may be set of a device or battery although its catalogue file says nothing of it: link, place, age."""
    return _USUAL.get(kind, {})
