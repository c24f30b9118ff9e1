"""The topics that only a flight has: setpoint, actuators, supply, air, load, estimate, and what its devices read.

Frames: `map` is the world in ENU, `base_link` the body in FLU. Device readings are stamped by the device's own clock
and logged when they were heard; of a device that reads more often than commands are given, the newest of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fieldworthy.core.vec import quat_from_euler_zyx
from fieldworthy.trials.record import motion_streams, ros_axes
from fieldworthy.trials.record.flight import Flight
from fieldworthy.trials.record.messages import Messages
from fieldworthy.trials.record.recording import Floats, Recording, nanoseconds
from fieldworthy.trials.record.topic import BODY, MAP, Entry, Topic

Make = Callable[[int, int], Any]
"""(sample, time of the stamp [ns]) -> message."""

_INFRARED = 1
_DISCHARGING, _UNKNOWN, _LIPO = 2, 0, 3


def flight_topics(recording: Recording, messages: Messages) -> list[Topic]:
    """All topics of the flight; those of which it has nothing to say are left out."""
    flight = recording.flight
    if flight is None:
        return []
    tracks = flight.tracks
    wind = [tracks[f"wind_{axis}_m_s"] for axis in ("north", "east", "up")]
    out = [
        *_commands(recording, flight, messages),
        _always(recording, "/wind", "geometry_msgs/Vector3Stamped", _vector(messages, *wind)),
        _always(recording, "/margin", "std_msgs/Float64", _number(messages, tracks["margin"])),
        _always(recording, "/rotors", "sensor_msgs/JointState", _joints(messages, velocity=flight.rotors())),
    ]
    if flight.surfaces():
        joints = _joints(messages, position=flight.surfaces())
        out.append(_always(recording, "/surfaces", "sensor_msgs/JointState", joints))
    if "charge" in tracks:
        out.append(_always(recording, "/battery", "sensor_msgs/BatteryState", _battery(flight, messages)))
    if "load_north_m" in tracks:
        points = [tracks[f"load_{axis}_m"] for axis in ("north", "east", "up")]
        out.append(_always(recording, "/load", "geometry_msgs/PointStamped", _point(messages, *points)))
    if "believed_north_m" in tracks:
        out.append(_always(recording, "/estimate", "geometry_msgs/PoseStamped", _estimate(flight, messages)))
    return out + [topic for name in flight.devices for topic in _device(recording, flight, messages, name)]


def _commands(recording: Recording, flight: Flight, messages: Messages) -> list[Topic]:
    """What the controller asks for: a setpoint, or numbers for the actuators, each on a topic of its own."""
    tracks = flight.tracks
    if "cmd_north_m" not in tracks:
        names = [name for name in tracks if name.startswith("cmd_")]
        return [
            _always(recording, f"/command/{name.removeprefix('cmd_')}", "std_msgs/Float64",
                    _number(messages, tracks[name]))
            for name in names
        ]  # fmt: skip
    velocity = [tracks[f"cmd_{axis}_m_s"] for axis in ("north", "east", "up")]
    return [
        _always(recording, "/setpoint/pose", "geometry_msgs/PoseStamped", _setpoint(flight, messages)),
        _always(recording, "/setpoint/velocity", "geometry_msgs/Vector3Stamped", _vector(messages, *velocity)),
    ]


def _device(recording: Recording, flight: Flight, messages: Messages, name: str) -> list[Topic]:
    """The topics of one device."""
    values = flight.devices[name]

    def heard(topic: str, kind: str, make: Make, last: Floats | None = None) -> Topic:
        return Topic(topic, kind, False, _heard(recording, values, make, last))

    if name == "gnss":
        fix = values["fix"]
        position = [values[f"{axis}_m"] for axis in ("north", "east", "up")]
        velocity = [values[f"{axis}_m_s"] for axis in ("north", "east", "up")]
        out = [
            heard("/gnss/position", "geometry_msgs/PointStamped", _point(messages, *position), fix),
            heard("/gnss/velocity", "geometry_msgs/Vector3Stamped", _vector(messages, *velocity), fix),
        ]
        if recording.reference_lon_lat_deg is not None:
            out.append(heard("/gps", "sensor_msgs/NavSatFix", _fix(recording, flight, messages, values), fix))
        return out
    if name == "imu":
        return [heard("/imu", "sensor_msgs/Imu", _inertial(messages, values))]
    if name == "barometer":
        pressure = values["pressure_pa"]

        def barometer(i: int, ns: int) -> Any:
            return messages.make(
                "sensor_msgs/FluidPressure", header=messages.header(ns, BODY), fluid_pressure=float(pressure[i]),
                variance=0.0,
            )  # fmt: skip

        return [heard("/barometer", "sensor_msgs/FluidPressure", barometer)]
    if name == "magnetometer":
        forward, right, down = (values[f"field_{axis}_t"] for axis in "xyz")

        def magnetometer(i: int, ns: int) -> Any:
            return messages.make(
                "sensor_msgs/MagneticField", header=messages.header(ns, BODY),
                magnetic_field=messages.vector((forward[i], -right[i], -down[i])),
                magnetic_field_covariance=np.zeros(9),
            )  # fmt: skip

        return [heard("/magnetometer", "sensor_msgs/MagneticField", magnetometer)]
    if name == "rangefinder":
        return [heard("/rangefinder", "sensor_msgs/Range", _range(messages, values))]
    if name == "optical_flow":
        return [
            heard("/optical_flow", "geometry_msgs/Vector3Stamped", motion_streams.flow(messages, values)),
            heard("/optical_flow/quality", "std_msgs/Float64", _number(messages, values["quality"])),
        ]
    if name == "odometry":
        return [heard("/odometry", "nav_msgs/Odometry", motion_streams.odometry(messages, values), values["valid"])]
    return [heard(f"/{name}", "std_msgs/Float64", _number(messages, values[f"{name}_m_s"]))]


def _always(recording: Recording, name: str, kind: str, make: Make) -> Topic:
    def entries() -> Iterator[Entry]:
        for i, t_s in enumerate(recording.t_s):
            yield Entry(nanoseconds(t_s), make(i, nanoseconds(t_s)))

    return Topic(name, kind, False, entries())


def _heard(recording: Recording, values: Mapping[str, Floats], make: Make, good: Floats | None) -> Iterator[Entry]:
    """Each reading once, at the command by which it had been heard; `good`: 0 where a reading says nothing."""
    last = math.nan
    for i, (t_s, stamp_s) in enumerate(zip(recording.t_s, values["stamp_s"], strict=True)):
        if math.isnan(stamp_s) or stamp_s == last:
            continue
        last = float(stamp_s)
        if good is None or good[i] > 0.5:
            # A clock that is ahead or behind at the start may say less than 0, which no stamp can.
            yield Entry(nanoseconds(t_s), make(i, max(0, nanoseconds(stamp_s))))


def _vector(messages: Messages, north: Floats, east: Floats, up: Floats) -> Make:
    def make(i: int, ns: int) -> Any:
        vector = messages.vector(ros_axes.enu(north[i], east[i], up[i]))
        return messages.make("geometry_msgs/Vector3Stamped", header=messages.header(ns, MAP), vector=vector)

    return make


def _point(messages: Messages, north: Floats, east: Floats, up: Floats) -> Make:
    def make(i: int, ns: int) -> Any:
        point = messages.point(ros_axes.enu(north[i], east[i], up[i]))
        return messages.make("geometry_msgs/PointStamped", header=messages.header(ns, MAP), point=point)

    return make


def _number(messages: Messages, values: Floats) -> Make:
    return lambda i, ns: messages.make("std_msgs/Float64", data=float(values[i]))


def _setpoint(flight: Flight, messages: Messages) -> Make:
    north, east, up, heading = (flight.tracks[f"cmd_{name}"] for name in ("north_m", "east_m", "up_m", "heading_rad"))

    def make(i: int, ns: int) -> Any:
        turn = ros_axes.quat_enu_from_heading(float(heading[i]))
        pose = messages.pose(ros_axes.enu(north[i], east[i], up[i]), turn)
        return messages.make("geometry_msgs/PoseStamped", header=messages.header(ns, MAP), pose=pose)

    return make


def _estimate(flight: Flight, messages: Messages) -> Make:
    north, east, up, roll, pitch, heading = (
        flight.tracks[f"believed_{name}"]
        for name in ("north_m", "east_m", "up_m", "roll_rad", "pitch_rad", "heading_rad")
    )

    def make(i: int, ns: int) -> Any:
        turn = ros_axes.quat_enu(quat_from_euler_zyx(float(roll[i]), float(pitch[i]), float(heading[i])))
        pose = messages.pose(ros_axes.enu(north[i], east[i], up[i]), turn)
        return messages.make("geometry_msgs/PoseStamped", header=messages.header(ns, MAP), pose=pose)

    return make


def _joints(
    messages: Messages, position: Mapping[str, Floats] | None = None, velocity: Mapping[str, Floats] | None = None
) -> Make:
    names = list(position or velocity or {})

    def column(values: Mapping[str, Floats] | None, i: int) -> Any:
        return np.array([float(series[i]) for series in (values or {}).values()])

    return lambda i, ns: messages.make(
        "sensor_msgs/JointState", header=messages.header(ns, BODY), name=names, position=column(position, i),
        velocity=column(velocity, i), effort=np.zeros(0),
    )  # fmt: skip


def _battery(flight: Flight, messages: Messages) -> Make:
    """Current is negative while the battery gives it, as the message wants; what the model has no number for is NaN."""
    voltage, current, charge = (flight.tracks[name] for name in ("voltage_v", "current_a", "charge"))

    def make(i: int, ns: int) -> Any:
        return messages.make(
            "sensor_msgs/BatteryState", header=messages.header(ns, BODY), voltage=float(voltage[i]),
            temperature=math.nan, current=-float(current[i]), charge=math.nan, capacity=math.nan,
            design_capacity=math.nan, percentage=float(charge[i]), power_supply_status=_DISCHARGING,
            power_supply_health=_UNKNOWN, power_supply_technology=_LIPO, present=True,
            cell_voltage=np.zeros(0, np.float32), cell_temperature=np.zeros(0, np.float32), location="",
            serial_number="",
        )  # fmt: skip

    return make


def _inertial(messages: Messages, values: Mapping[str, Floats]) -> Make:
    """The newest sample at each command; a first covariance of -1: the unit says nothing of its attitude."""
    rate = np.column_stack([values[f"rate_{axis}_rad_s"] for axis in "xyz"])
    force = np.column_stack([values[f"specific_force_{axis}_m_s2"] for axis in "xyz"])
    rate_flu, force_flu = ros_axes.flu(rate), ros_axes.flu(force)
    nothing = np.array([-1.0, *[0.0] * 8])

    def make(i: int, ns: int) -> Any:
        return messages.make(
            "sensor_msgs/Imu", header=messages.header(ns, BODY), orientation=messages.quaternion((1.0, 0.0, 0.0, 0.0)),
            orientation_covariance=nothing, angular_velocity=messages.vector(rate_flu[i]),
            angular_velocity_covariance=np.zeros(9), linear_acceleration=messages.vector(force_flu[i]),
            linear_acceleration_covariance=np.zeros(9),
        )  # fmt: skip

    return make


def _fix(recording: Recording, flight: Flight, messages: Messages, values: Mapping[str, Floats]) -> Make:
    """Altitude is above the sea: the height of the sea above the ellipsoid is not known."""
    assert recording.reference_lon_lat_deg is not None
    known = np.isfinite(values["north_m"])
    north, east = (np.where(known, values[f"{axis}_m"], 0.0) for axis in ("north", "east"))
    lon, lat = ros_axes.lon_lat_deg(north, east, recording.reference_lon_lat_deg)
    altitude = flight.elevation_m + values["up_m"]
    return lambda i, ns: messages.navsatfix(ns, BODY, lon[i], lat[i], altitude[i])


def _range(messages: Messages, values: Mapping[str, Floats]) -> Make:
    """A reading without a return is +inf, as REP 117 has it."""
    distance, valid = values["range_m"], values["valid"]

    def make(i: int, ns: int) -> Any:
        return messages.make(
            "sensor_msgs/Range", header=messages.header(ns, BODY), radiation_type=_INFRARED, field_of_view=0.0,
            min_range=0.0, max_range=float(np.nanmax(distance)),
            range=float(distance[i]) if valid[i] > 0.5 else math.inf, variance=0.0,
        )  # fmt: skip

    return make
