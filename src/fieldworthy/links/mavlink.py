"""MAVLink 2 frames of PX4's simulator API: SI in, bytes out; the way back is `Reader`.

One method of `Writer` a message, from values in SI to a complete frame in the wire's units. A value outside the wire's
range is sent as the nearest that fits; where MAVLink has a number for "unknown", NaN becomes that number, and no value
does.

Source: MAVLink guide, "Packet Serialization" (CRC-16/MCRF4XX over all after the first byte, then crc_extra; zeros at
the end of a payload are cut off); layouts in `mavlink_messages`. What PX4 takes otherwise than common.xml is named.
Frames: body FRD, world NED, positions on WGS 84 with heights above mean sea level; quaternions w, x, y, z.
Limits: frames are not signed; encoding is one link's, in one thread (the sequence number is a count).
Verified by: tests/cases/test_mavlink_oracle.py
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from fieldworthy.core.errors import FieldworthyError, Problem, require_extra
from fieldworthy.links import mavlink_messages as wire
from fieldworthy.links.mavlink_messages import FieldsUpdated, Layout, Message
from fieldworthy.links.mavlink_reader import Reader

__all__ = ["FieldsUpdated", "Message", "Reader", "WireValueError", "Writer"]

NAN = math.nan
_HEADER = struct.Struct("<BBBBBBHB")
_RANGES = {
    "B": (0, 2**8 - 1), "b": (-(2**7), 2**7 - 1), "H": (0, 2**16 - 1), "h": (-(2**15), 2**15 - 1),
    "I": (0, 2**32 - 1), "i": (-(2**31), 2**31 - 1), "Q": (0, 2**64 - 1),
}  # fmt: skip
_LARGEST_FLOAT = (2.0 - 2.0**-23) * 2.0**127


class WireValueError(FieldworthyError, ValueError):
    """A value that has no place on the wire, or that an autopilot would take for a reading."""

    def __init__(self, where: str, what: str, valid: str) -> None:
        self.problem = Problem(where, what, valid)
        super().__init__(where, what, valid)

    def __str__(self) -> str:
        return str(self.problem)


class Writer:
    """Makes the frames of one sender."""

    def __init__(self, system_id: int = 1, component_id: int = 200) -> None:
        for name, value in (("system_id", system_id), ("component_id", component_id)):
            if not 1 <= value <= 255:
                raise WireValueError(name, f"{value!r} is no sender", "1 to 255")
        self.system_id, self.component_id = system_id, component_id
        self.sequence = 0
        """Number of the next frame, 0 to 255 and round again; receivers see lost frames by it."""
        self._crc = require_extra("fastcrc", "link", "a MAVLink link").crc16.mcrf4xx

    def frame(self, message: Message) -> bytes:
        """The frame of a message that is in the wire's units already, as `Reader` gives them."""
        return self._frame(type(message), *message)

    def _frame(self, kind: type[Any], *fields: Any) -> bytes:
        layout = wire.LAYOUT_OF[kind]
        numbers = fields if layout.group is None else layout.numbers(fields)
        try:
            payload = layout.pack(*numbers)
        except (struct.error, OverflowError):
            payload = layout.pack(*_saturated(layout, numbers))
        payload = payload.rstrip(b"\0") or b"\0"
        sequence, number = self.sequence & 0xFF, layout.message_id
        self.sequence = (sequence + 1) & 0xFF
        covered = _HEADER.pack(
            len(payload), 0, 0, sequence, self.system_id, self.component_id, number & 0xFFFF, number >> 16
        )
        covered += payload
        checksum: int = self._crc(covered + layout.crc_extra)
        return b"\xfd" + covered + checksum.to_bytes(2, "little")

    def heartbeat(
        self, *, vehicle_type: int = 0, autopilot: int = wire.AUTOPILOT_NONE, base_mode: int = 0, custom_mode: int = 0,
        system_status: int = 4,
    ) -> bytes:  # fmt: skip
        """Once a second. MAV_TYPE, MAV_AUTOPILOT, MAV_MODE_FLAG and MAV_STATE (4: active)."""
        return self._frame(wire.Heartbeat, custom_mode, vehicle_type, autopilot, base_mode, system_status, 3)

    def system_time(self, *, time_unix_us: int, time_boot_ms: int) -> bytes:
        return self._frame(wire.SystemTime, time_unix_us, time_boot_ms)

    def command_long(
        self, *, command: int, params: Sequence[float] = (), target_system: int = 1, target_component: int = 1,
        confirmation: int = 0,
    ) -> bytes:  # fmt: skip
        """`params` in the units of the command (MAV_CMD); those left out at the end are 0."""
        filled = _filled("COMMAND_LONG params", params, 7, 0.0)
        return self._frame(wire.CommandLong, *filled, command, target_system, target_component, confirmation)

    def hil_actuator_controls(
        self, *, time_us: int, controls: Sequence[float], mode: int = 1, flags: int = wire.FLAG_LOCKSTEP
    ) -> bytes:
        """What an autopilot answers; controls that are left out at the end are 0."""
        filled = _filled("HIL_ACTUATOR_CONTROLS controls", controls, wire.CONTROL_COUNT, 0.0)
        return self._frame(wire.HilActuatorControls, time_us, flags, filled, mode)

    def hil_sensor(
        self, *, time_us: int, accel_frd_m_s2: Iterable[float], gyro_frd_rad_s: Iterable[float],
        mag_frd_gauss: Iterable[float] = (0.0, 0.0, 0.0), abs_pressure_hpa: float = 0.0, diff_pressure_hpa: float = 0.0,
        pressure_alt_m: float = 0.0, temperature_degc: float = 0.0, fields_updated: int, sensor_id: int = 0,
    ) -> bytes:  # fmt: skip
        """Readings of one moment; with `sensor_id` 0, `time_us` is PX4's clock.

        Raises: WireValueError for NaN or infinity in a reading that `fields_updated` announces, and in accel and gyro
        always.
        """
        ax, ay, az = accel_frd_m_s2
        gx, gy, gz = gyro_frd_rad_s
        mx, my, mz = mag_frd_gauss
        numbers = (
            ax, ay, az, gx, gy, gz, mx, my, mz, abs_pressure_hpa, diff_pressure_hpa, pressure_alt_m, temperature_degc
        )  # fmt: skip
        if not math.isfinite(sum(numbers)):
            _refuse_no_reading(numbers, fields_updated)
        return self._frame(wire.HilSensor, time_us, *numbers, fields_updated, sensor_id)

    def hil_gps(
        self, *, time_us: int, lat_deg: float, lon_deg: float, alt_m: float, vel_ned_m_s: Iterable[float],
        ground_speed_m_s: float = NAN, course_rad: float = NAN, eph_m: float = NAN, epv_m: float = NAN,
        fix_type: int = 3, satellites: int = 255, gps_id: int = 0, yaw_rad: float = NAN,
    ) -> bytes:  # fmt: skip
        """`eph_m`, `epv_m`: one sigma, sent in cm as PX4 takes them (common.xml: HDOP * 100). PX4 ignores `yaw_rad`."""
        north, east, down = (_whole("HIL_GPS vel_ned_m_s", v, 1e2) for v in vel_ned_m_s)
        return self._frame(
            wire.HilGps, time_us, _whole("HIL_GPS lat_deg", lat_deg, 1e7), _whole("HIL_GPS lon_deg", lon_deg, 1e7),
            _whole("HIL_GPS alt_m", alt_m, 1e3), _u16_or_unknown(eph_m), _u16_or_unknown(epv_m),
            _u16_or_unknown(ground_speed_m_s), north, east, down, _centidegrees(course_rad, north=0, unknown=65535),
            fix_type, satellites, gps_id, _centidegrees(yaw_rad, north=36000, unknown=0),
        )  # fmt: skip

    def hil_state_quaternion(
        self, *, time_us: int, quat_ned_from_frd: Iterable[float], rate_frd_rad_s: Iterable[float], lat_deg: float,
        lon_deg: float, alt_m: float, vel_ned_m_s: Iterable[float], indicated_airspeed_m_s: float = 0.0,
        true_airspeed_m_s: float = 0.0, accel_ned_m_s2: Iterable[float] = (0.0, 0.0, 0.0),
    ) -> bytes:  # fmt: skip
        """Truth, for the autopilot's log. Acceleration goes in mm/s^2 as PX4 reads it; common.xml has milli-g."""
        name = "HIL_STATE_QUATERNION"
        north, east, down = (_whole(f"{name} vel_ned_m_s", v, 1e2) for v in vel_ned_m_s)
        accel_n, accel_e, accel_d = (_whole(f"{name} accel_ned_m_s2", a, 1e3) for a in accel_ned_m_s2)
        return self._frame(
            wire.HilStateQuaternion, time_us, tuple(quat_ned_from_frd), *rate_frd_rad_s,
            _whole(f"{name} lat_deg", lat_deg, 1e7), _whole(f"{name} lon_deg", lon_deg, 1e7),
            _whole(f"{name} alt_m", alt_m, 1e3), north, east, down,
            _whole(f"{name} indicated_airspeed_m_s", indicated_airspeed_m_s, 1e2),
            _whole(f"{name} true_airspeed_m_s", true_airspeed_m_s, 1e2), accel_n, accel_e, accel_d,
        )  # fmt: skip

    def hil_optical_flow(
        self, *, time_us: int, integration_time_us: int, flow_rad: Iterable[float],
        gyro_rad: Iterable[float] = (NAN, NAN, NAN), distance_m: float = -1.0, distance_age_us: int = 0,
        temperature_degc: float = 0.0, quality: int = 255, sensor_id: int = 0,
    ) -> bytes:  # fmt: skip
        """Integrals about the sensor's axes: motion along +x is a positive flow about y, along +y a negative about x.

        `gyro_rad` NaN: the sensor has no gyro. `distance_m` below zero: not known. `quality`: 0 no flow, 255 best.
        """
        flow_x, flow_y = flow_rad
        gyro_x, gyro_y, gyro_z = gyro_rad
        return self._frame(
            wire.HilOpticalFlow, time_us, integration_time_us, flow_x, flow_y, gyro_x, gyro_y, gyro_z, distance_age_us,
            distance_m, _whole("HIL_OPTICAL_FLOW temperature_degc", temperature_degc, 1e2), sensor_id, quality,
        )  # fmt: skip

    def rc_channels(self, *, time_boot_ms: int, pulses_us: Sequence[float], rssi: int = 255) -> bytes:
        """Pulses of up to 18 channels; NaN is a channel without one. `rssi` 0 to 254, 255 unknown."""
        pulses = [_u16_or_unknown(pulse, 1.0) for pulse in pulses_us]
        filled = _filled("RC_CHANNELS pulses_us", pulses, wire.RC_CHANNEL_COUNT, 65535)
        return self._frame(wire.RcChannels, time_boot_ms, filled, len(pulses), rssi)

    def distance_sensor(
        self, *, time_boot_ms: int, distance_m: float, min_m: float, max_m: float, std_m: float = NAN,
        sensor_type: int = 0, sensor_id: int = 0, orientation: int = wire.ORIENTATION_DOWN,
        horizontal_fov_rad: float = 0.0, vertical_fov_rad: float = 0.0,
        quat_frd_from_sensor: Iterable[float] = (0.0, 0.0, 0.0, 0.0), signal_quality: int = 0,
    ) -> bytes:  # fmt: skip
        """`signal_quality`: 1 no valid signal, 100 perfect, 0 not told. The quaternion counts with orientation 100."""
        name = "DISTANCE_SENSOR"
        variance_cm2 = 255 if std_m != std_m else min(254, _whole(f"{name} std_m", std_m * std_m, 1e4))
        return self._frame(
            wire.DistanceSensor, time_boot_ms, _whole(f"{name} min_m", min_m, 1e2), _whole(f"{name} max_m", max_m, 1e2),
            _whole(f"{name} distance_m", distance_m, 1e2), sensor_type, sensor_id, orientation, variance_cm2,
            horizontal_fov_rad, vertical_fov_rad, tuple(quat_frd_from_sensor), signal_quality,
        )  # fmt: skip

    def obstacle_distance(
        self, *, time_us: int, distances_m: Sequence[float], increment_rad: float, min_m: float, max_m: float,
        offset_rad: float = 0.0, frame: int = wire.FRAME_BODY_FRD, sensor_type: int = 0,
    ) -> bytes:  # fmt: skip
        """Up to 72 sectors, clockwise from `offset_rad`; beyond `max_m` (or infinite) is free, NaN is not looked at."""
        name = "OBSTACLE_DISTANCE"
        low_cm, high_cm = _whole(f"{name} min_m", min_m, 1e2), min(_whole(f"{name} max_m", max_m, 1e2), 65533)
        sectors_cm = [min(_u16_or_unknown(d), high_cm + 1) if d == d else 65535 for d in distances_m]
        filled = _filled(f"{name} distances_m", sectors_cm, wire.OBSTACLE_COUNT, 65535)
        step_deg = math.degrees(increment_rad)
        whole_deg = abs(_whole(f"{name} increment_rad", step_deg, 1.0))
        return self._frame(
            wire.ObstacleDistance, time_us, filled, low_cm, high_cm, sensor_type, whole_deg, step_deg,
            math.degrees(offset_rad), frame,
        )  # fmt: skip

    def odometry(
        self, *, time_us: int, pos_ned_m: Iterable[float], quat_ned_from_frd: Iterable[float],
        vel_frd_m_s: Iterable[float], rate_frd_rad_s: Iterable[float], pose_covariance: Sequence[float] = (),
        velocity_covariance: Sequence[float] = (), frame_id: int = wire.FRAME_LOCAL_NED,
        child_frame_id: int = wire.FRAME_BODY_FRD, reset_counter: int = 0, estimator_type: int = 2, quality: int = 0,
    ) -> bytes:  # fmt: skip
        """Pose and velocity as a camera or a tracker sees them; estimator 2 vision, 3 visual-inertial, 6 mocap.

        `FRAME_LOCAL_FRD` is for a pose whose heading has no north. Covariances that are left out are NaN: not known.
        """
        pose = _filled("ODOMETRY pose_covariance", pose_covariance, wire.COVARIANCE_COUNT, NAN)
        velocity = _filled("ODOMETRY velocity_covariance", velocity_covariance, wire.COVARIANCE_COUNT, NAN)
        north, east, down = pos_ned_m
        vx, vy, vz = vel_frd_m_s
        return self._frame(
            wire.Odometry, time_us, north, east, down, tuple(quat_ned_from_frd), vx, vy, vz, *rate_frd_rad_s,
            pose, velocity, frame_id, child_frame_id, reset_counter, estimator_type, quality,
        )  # fmt: skip


def _saturated(layout: Layout, numbers: Sequence[Any]) -> list[float]:
    """Every number as the nearest one that its place on the wire holds; infinities and NaN of floats stay."""
    if len(numbers) != len(layout.codes):
        raise WireValueError(
            layout.kind.__name__, f"{len(numbers)} numbers", f"{len(layout.codes)}, arrays written out"
        )
    fitting: list[float] = []
    for code, number in zip(layout.codes, numbers, strict=True):
        if code == "f":
            large = math.isfinite(number) and abs(number) > _LARGEST_FLOAT
            fitting.append(math.copysign(_LARGEST_FLOAT, number) if large else number)
        else:
            low, high = _RANGES[code]
            fitting.append(min(max(operator.index(number), low), high))
    return fitting


def _whole(where: str, value: float, scale: float) -> int:
    """A whole number of wire units. Infinity is beyond every range, and is cut to it with all that is too large."""
    try:
        return round(value * scale)
    except OverflowError:
        return 2**63 if value > 0.0 else -(2**63)
    except ValueError:
        raise WireValueError(where, f"{value!r} has no number on the wire", "a finite number") from None


def _u16_or_unknown(value: float, scale: float = 1e2) -> int:
    """65535 says unknown: NaN is sent as that, and a value as at most 65534."""
    return 65535 if value != value else min(max(_whole("", value, scale), 0), 65534)


def _centidegrees(angle_rad: float, north: int, unknown: int) -> int:
    """0 to 359.99 deg, clockwise; `north` stands for 0."""
    return round(math.degrees(angle_rad) * 1e2) % 36000 or north if math.isfinite(angle_rad) else unknown


def _filled(where: str, values: Sequence[float], count: int, rest: float) -> tuple[float, ...]:
    if len(values) > count:
        raise WireValueError(where, f"{len(values)} values do not fit", f"up to {count}")
    return (*values, *[rest] * (count - len(values)))


_SENSOR_FIELDS = (
    *(f"accel_frd_m_s2[{i}]" for i in range(3)), *(f"gyro_frd_rad_s[{i}]" for i in range(3)),
    *(f"mag_frd_gauss[{i}]" for i in range(3)), "abs_pressure_hpa", "diff_pressure_hpa", "pressure_alt_m",
    "temperature_degc",
)  # fmt: skip
"""In wire order, which is also that of the bits of `fields_updated`."""


def _refuse_no_reading(numbers: Sequence[float], fields_updated: int) -> None:
    for bit, (name, number) in enumerate(zip(_SENSOR_FIELDS, numbers, strict=True)):
        if not math.isfinite(number) and (FieldsUpdated.IMU | fields_updated) >> bit & 1:
            raise WireValueError(f"HIL_SENSOR {name}", f"{number!r} is no reading", "a finite number")
