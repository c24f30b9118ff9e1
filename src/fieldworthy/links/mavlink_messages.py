"""The MAVLink messages of PX4's simulator API as they lie on the wire: one row a message, for both directions.

A message holds what the wire holds: MAVLink's field names, in wire order, in MAVLink's units (`vn` in cm/s, `lat` in
1e-7 deg). Values in SI are turned into these by `mavlink.Writer`.

Source: common.xml of MAVLink 2.0; which fields PX4 reads, and as what, from its SimulatorMavlink.cpp.
Frames: body FRD, world NED; quaternions w, x, y, z turn body into world; latitude and longitude on WGS 84.
Limits: fields after the extension mark of common.xml are 0 where a sender leaves them out, as MAVLink wants it.
Verified by: tests/cases/test_mavlink_oracle.py
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntFlag
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

FRAME_LOCAL_NED, FRAME_BODY_FRD, FRAME_LOCAL_FRD = 1, 12, 20
"""MAV_FRAME: earth-fixed with north known, fixed to the body, earth-fixed with an arbitrary heading."""
ORIENTATION_FORWARD, ORIENTATION_DOWN = 0, 25
"""MAV_SENSOR_ORIENTATION."""
AUTOPILOT_NONE, AUTOPILOT_PX4 = 8, 12
"""MAV_AUTOPILOT of a heartbeat: `NONE` says that its sender flies nothing."""
SET_MESSAGE_INTERVAL = 511
"""MAV_CMD: how often a message is wanted."""
MODE_ARMED = 128
"""Bit of `base_mode` and of HIL_ACTUATOR_CONTROLS' `mode`."""
FLAG_LOCKSTEP = 1
"""Bit of HIL_ACTUATOR_CONTROLS' `flags`: its sender waits for the next HIL_SENSOR."""
RC_CHANNEL_COUNT, CONTROL_COUNT, OBSTACLE_COUNT, COVARIANCE_COUNT = 18, 16, 72, 21
"""Lengths of the arrays on the wire; a covariance is the upper triangle of a 6x6 matrix, row by row."""


class FieldsUpdated(IntFlag):
    """`fields_updated` of HIL_SENSOR. PX4 ignores a group unless all of its bits are set."""

    ACCEL = 0x0007
    GYRO = 0x0038
    IMU = 0x003F
    MAG = 0x01C0
    DIFF_PRESSURE = 0x0400
    BARO = 0x1A00
    ALL = 0x1FFF


class Heartbeat(NamedTuple):
    custom_mode: int
    type: int
    autopilot: int
    base_mode: int
    system_status: int
    mavlink_version: int


class SystemTime(NamedTuple):
    time_unix_usec: int
    time_boot_ms: int


class RcChannels(NamedTuple):
    """Pulses in us; 65535 is an unused channel. `chan_raw[0]` is MAVLink's chan1_raw."""

    time_boot_ms: int
    chan_raw: tuple[int, ...]
    chancount: int
    rssi: int


class CommandLong(NamedTuple):
    param1: float
    param2: float
    param3: float
    param4: float
    param5: float
    param6: float
    param7: float
    command: int
    target_system: int
    target_component: int
    confirmation: int


class HilActuatorControls(NamedTuple):
    """Motors 0 to 1, reversible motors and surfaces -1 to 1; all zero while disarmed."""

    time_usec: int
    flags: int
    controls: tuple[float, ...]
    mode: int


class HilSensor(NamedTuple):
    """Specific force m/s^2, rates rad/s, field gauss (all FRD); pressures hPa, altitude m, temperature degC."""

    time_usec: int
    xacc: float
    yacc: float
    zacc: float
    xgyro: float
    ygyro: float
    zgyro: float
    xmag: float
    ymag: float
    zmag: float
    abs_pressure: float
    diff_pressure: float
    pressure_alt: float
    temperature: float
    fields_updated: int
    id: int


class HilGps(NamedTuple):
    """Position 1e-7 deg and mm above the sea; eph and epv, for PX4, cm of one sigma; speeds cm/s; angles 0.01 deg."""

    time_usec: int
    lat: int
    lon: int
    alt: int
    eph: int
    epv: int
    vel: int
    vn: int
    ve: int
    vd: int
    cog: int
    fix_type: int
    satellites_visible: int
    id: int
    yaw: int


class HilOpticalFlow(NamedTuple):
    """Integrals in rad about the sensor's axes; temperature 0.01 degC; distance m, below zero where unknown."""

    time_usec: int
    integration_time_us: int
    integrated_x: float
    integrated_y: float
    integrated_xgyro: float
    integrated_ygyro: float
    integrated_zgyro: float
    time_delta_distance_us: int
    distance: float
    temperature: int
    sensor_id: int
    quality: int


class HilStateQuaternion(NamedTuple):
    """Truth: position 1e-7 deg and mm, speeds cm/s, rates rad/s, accelerations (as PX4 reads them) mm/s^2."""

    time_usec: int
    attitude_quaternion: tuple[float, ...]
    rollspeed: float
    pitchspeed: float
    yawspeed: float
    lat: int
    lon: int
    alt: int
    vx: int
    vy: int
    vz: int
    ind_airspeed: int
    true_airspeed: int
    xacc: int
    yacc: int
    zacc: int


class DistanceSensor(NamedTuple):
    """Distances cm, covariance cm^2 (255 unknown), fields of view rad, quality 1 (invalid) to 100 (0 unknown)."""

    time_boot_ms: int
    min_distance: int
    max_distance: int
    current_distance: int
    type: int
    id: int
    orientation: int
    covariance: int
    horizontal_fov: float
    vertical_fov: float
    quaternion: tuple[float, ...]
    signal_quality: int


class ObstacleDistance(NamedTuple):
    """Distances cm, clockwise (max_distance + 1 is free, 65535 unused); increments and offset deg."""

    time_usec: int
    distances: tuple[int, ...]
    min_distance: int
    max_distance: int
    sensor_type: int
    increment: int
    increment_f: float
    angle_offset: float
    frame: int


class Odometry(NamedTuple):
    """Pose in `frame_id`, velocities in `child_frame_id`; m, m/s, rad/s; a covariance starting with NaN is unknown."""

    time_usec: int
    x: float
    y: float
    z: float
    q: tuple[float, ...]
    vx: float
    vy: float
    vz: float
    rollspeed: float
    pitchspeed: float
    yawspeed: float
    pose_covariance: tuple[float, ...]
    velocity_covariance: tuple[float, ...]
    frame_id: int
    child_frame_id: int
    reset_counter: int
    estimator_type: int
    quality: int


Message: TypeAlias = (
    Heartbeat | SystemTime | RcChannels | CommandLong | HilActuatorControls | HilSensor | HilGps | HilOpticalFlow
    | HilStateQuaternion | DistanceSensor | ObstacleDistance | Odometry
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """How one message lies on the wire."""

    kind: type[Any]
    message_id: int
    crc_extra: bytes
    """The byte that both sides append before the checksum, a hash of the message's definition."""
    codes: str
    """The `struct` code of every number, arrays written out."""
    wire: struct.Struct
    pack: Callable[..., bytes]
    group: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None
    """Numbers to fields, where some of them are arrays."""

    def decode(self, payload: bytes) -> Message:
        """Zeros cut off by the sender come back; what a later version of the message appends is left out."""
        if len(payload) != self.wire.size:
            payload = payload[: self.wire.size].ljust(self.wire.size, b"\0")
        numbers = self.wire.unpack(payload)
        message: Message = self.kind._make(numbers if self.group is None else self.group(numbers))
        return message

    def numbers(self, message: Iterable[Any]) -> list[Any]:
        """Fields to numbers."""
        flat: list[Any] = []
        for field in message:
            flat.extend(field) if isinstance(field, tuple) else flat.append(field)
        return flat


def _layout(kind: type[Any], message_id: int, crc_extra: int, fields: str) -> Layout:
    """`fields` has one word a field: a `struct` code, with a count before it for an array."""
    words = fields.split()
    assert len(words) == len(kind._fields), kind.__name__
    codes, places = "", []
    for word in words:
        count = int(word[:-1] or 0)
        places.append(slice(len(codes), len(codes) + count) if count else len(codes))
        codes += word[-1] * (count or 1)
    wire = struct.Struct("<" + codes)
    group = itemgetter(*places) if len(codes) > len(words) else None
    return Layout(kind, message_id, bytes([crc_extra]), codes, wire, wire.pack, group)


LAYOUTS = (
    _layout(Heartbeat, 0, 50, "I B B B B B"),
    _layout(SystemTime, 2, 137, "Q I"),
    _layout(RcChannels, 65, 118, "I 18H B B"),
    _layout(CommandLong, 76, 152, "f f f f f f f H B B B"),
    _layout(HilActuatorControls, 93, 47, "Q Q 16f B"),
    _layout(HilSensor, 107, 108, "Q f f f f f f f f f f f f f I B"),
    _layout(HilGps, 113, 124, "Q i i i H H H h h h H B B B H"),
    _layout(HilOpticalFlow, 114, 237, "Q I f f f f f I f h B B"),
    _layout(HilStateQuaternion, 115, 4, "Q 4f f f f i i i h h h H H h h h"),
    _layout(DistanceSensor, 132, 85, "I H H H B B B B f f 4f B"),
    _layout(ObstacleDistance, 330, 23, "Q 72H H H B B f f B"),
    _layout(Odometry, 331, 91, "Q f f f 4f f f f f f f 21f 21f B B B B b"),
)
LAYOUT_BY_ID = {layout.message_id: layout for layout in LAYOUTS}
LAYOUT_OF = {layout.kind: layout for layout in LAYOUTS}
