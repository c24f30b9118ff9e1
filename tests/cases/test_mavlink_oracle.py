"""Our MAVLink against pymavlink in both directions, and against the bytes of a real PX4 take-off."""

from __future__ import annotations

import lzma
import math
import os
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links import mavlink_messages as wire
from fieldworthy.links.mavlink import FieldsUpdated, Reader, WireValueError, Writer

pytest.importorskip("fastcrc")
os.environ.setdefault("MAVLINK20", "1")
common = pytest.importorskip("pymavlink.dialects.v20.common")

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FIELDWORTHY_SHARED", ROOT.parent / "shared"))
TAKEOFF = SHARED / "recordings" / "px4_takeoff_250hz.raw.xz"
NAN, INF = math.nan, math.inf


def parsed(frame: bytes) -> Any:
    """What pymavlink reads in one frame; it checks length, checksum and crc_extra."""
    link = common.MAVLink(None)
    messages = link.parse_buffer(frame)
    assert messages is not None
    assert len(messages) == 1
    assert messages[0].get_type() != "BAD_DATA"
    return messages[0]


Encode = Callable[[Writer], bytes]

KNOWN: dict[str, tuple[Encode, dict[str, Any]]] = {
    "HEARTBEAT": (
        lambda w: w.heartbeat(vehicle_type=2, autopilot=12, base_mode=0x81, custom_mode=0x01020304, system_status=3),
        {
            "type": 2, "autopilot": 12, "base_mode": 129, "custom_mode": 16909060, "system_status": 3,
            "mavlink_version": 3,
        },
    ),
    "SYSTEM_TIME": (
        lambda w: w.system_time(time_unix_us=1_700_000_000_000_001, time_boot_ms=4_000_000_000),
        {"time_unix_usec": 1_700_000_000_000_001, "time_boot_ms": 4_000_000_000},
    ),
    "RC_CHANNELS": (
        lambda w: w.rc_channels(time_boot_ms=1234, pulses_us=[1000.4, 1500, NAN, -3, 1e9], rssi=80),
        {
            "time_boot_ms": 1234, "chancount": 5, "rssi": 80, "chan1_raw": 1000, "chan2_raw": 1500, "chan3_raw": 65535,
            "chan4_raw": 0, "chan5_raw": 65534, **{f"chan{i}_raw": 65535 for i in range(6, 19)},
        },
    ),
    "COMMAND_LONG": (
        lambda w: w.command_long(command=511, params=[115, 5000], target_system=7, target_component=9, confirmation=2),
        {
            "command": 511, "param1": 115.0, "param2": 5000.0, "param3": 0.0, "param4": 0.0, "param5": 0.0,
            "param6": 0.0, "param7": 0.0, "target_system": 7, "target_component": 9, "confirmation": 2,
        },
    ),
    "HIL_ACTUATOR_CONTROLS": (
        lambda w: w.hil_actuator_controls(time_us=4000, controls=[0.25, -1.0, 0.5], mode=129),
        {"time_usec": 4000, "controls": [0.25, -1.0, 0.5] + [0.0] * 13, "mode": 129, "flags": 1},
    ),
    # A sea-level standard day: 101325 Pa are 1013.25 hPa; 125 Pa of dynamic pressure are 1.25 hPa.
    "HIL_SENSOR": (
        lambda w: w.hil_sensor(
            time_us=5_000_000_004_000, accel_frd_m_s2=(0.5, -0.25, -9.75), gyro_frd_rad_s=(0.125, -1.5, 2.0),
            mag_frd_gauss=(0.25, 0.03125, 0.5), abs_pressure_hpa=1013.25, diff_pressure_hpa=1.25, pressure_alt_m=488.5,
            temperature_degc=-12.5, fields_updated=FieldsUpdated.ALL, sensor_id=2,
        ),
        {
            "time_usec": 5_000_000_004_000, "xacc": 0.5, "yacc": -0.25, "zacc": -9.75, "xgyro": 0.125, "ygyro": -1.5,
            "zgyro": 2.0, "xmag": 0.25, "ymag": 0.03125, "zmag": 0.5, "abs_pressure": 1013.25, "diff_pressure": 1.25,
            "pressure_alt": 488.5, "temperature": -12.5, "fields_updated": 0x1FFF, "id": 2,
        },
    ),
    # 47.397742 deg = 473977420e-7 deg, 0.55 m = 55 cm, 3.21 m/s = 321 cm/s, pi/2 = 9000 cdeg, -pi/2 = 27000 cdeg.
    "HIL_GPS": (
        lambda w: w.hil_gps(
            time_us=1_700_000_000_000_000, lat_deg=47.397742, lon_deg=-8.545594, alt_m=488.123, eph_m=0.55, epv_m=1.25,
            ground_speed_m_s=3.21, vel_ned_m_s=(3.0, -1.14, 0.256), course_rad=-math.pi / 2, fix_type=3, satellites=11,
            gps_id=1, yaw_rad=math.pi / 2,
        ),
        {
            "time_usec": 1_700_000_000_000_000, "lat": 473977420, "lon": -85455940, "alt": 488123, "eph": 55,
            "epv": 125,
            "vel": 321, "vn": 300, "ve": -114, "vd": 26, "cog": 27000, "fix_type": 3, "satellites_visible": 11, "id": 1,
            "yaw": 9000,
        },
    ),
    "HIL_OPTICAL_FLOW": (
        lambda w: w.hil_optical_flow(
            time_us=20_000, integration_time_us=10_000, flow_rad=(0.25, -0.5), gyro_rad=(0.125, 1.0, -2.0),
            distance_m=1.75, distance_age_us=900, temperature_degc=21.37, quality=200, sensor_id=3,
        ),
        {
            "time_usec": 20_000, "integration_time_us": 10_000, "integrated_x": 0.25, "integrated_y": -0.5,
            "integrated_xgyro": 0.125, "integrated_ygyro": 1.0, "integrated_zgyro": -2.0, "time_delta_distance_us": 900,
            "distance": 1.75, "temperature": 2137, "sensor_id": 3, "quality": 200,
        },
    ),
    # One g upwards is -9.80665 m/s^2 down: -9807 mm/s^2 for PX4 (SimulatorMavlink.cpp: zacc / 1000).
    "HIL_STATE_QUATERNION": (
        lambda w: w.hil_state_quaternion(
            time_us=77, quat_ned_from_frd=(0.5, -0.5, 0.5, 0.25), rate_frd_rad_s=(1.0, 2.0, -3.0), lat_deg=-33.8567844,
            lon_deg=151.2152967, alt_m=-0.25, vel_ned_m_s=(1.0, -2.5, 0.014), indicated_airspeed_m_s=15.0,
            true_airspeed_m_s=15.5, accel_ned_m_s2=(0.1, -0.2, -9.80665),
        ),
        {
            "time_usec": 77, "attitude_quaternion": [0.5, -0.5, 0.5, 0.25], "rollspeed": 1.0, "pitchspeed": 2.0,
            "yawspeed": -3.0, "lat": -338567844, "lon": 1512152967, "alt": -250, "vx": 100, "vy": -250, "vz": 1,
            "ind_airspeed": 1500, "true_airspeed": 1550, "xacc": 100, "yacc": -200, "zacc": -9807,
        },
    ),
    # A standard deviation of 5 cm is a variance of 25 cm^2.
    "DISTANCE_SENSOR": (
        lambda w: w.distance_sensor(
            time_boot_ms=40, distance_m=2.344, min_m=0.1, max_m=40.0, std_m=0.05, sensor_type=1, sensor_id=4,
            horizontal_fov_rad=0.25, vertical_fov_rad=0.5, quat_frd_from_sensor=(1.0, 0.0, -0.5, 0.25),
            signal_quality=90,
        ),
        {
            "time_boot_ms": 40, "current_distance": 234, "min_distance": 10, "max_distance": 4000, "covariance": 25,
            "type": 1, "id": 4, "orientation": 25, "horizontal_fov": 0.25, "vertical_fov": 0.5,
            "quaternion": [1.0, 0.0, -0.5, 0.25], "signal_quality": 90,
        },
    ),
    # Sectors of pi/36 = 5 deg from -pi/4 = -45 deg; 12 m are seen, 20.01 m and more are free, NaN is not looked at.
    "OBSTACLE_DISTANCE": (
        lambda w: w.obstacle_distance(
            time_us=99, distances_m=[12.0, 0.0, 21.0, INF, NAN], increment_rad=math.pi / 36, offset_rad=-math.pi / 4,
            min_m=0.2, max_m=20.0, sensor_type=0,
        ),
        {
            "time_usec": 99, "distances": [1200, 0, 2001, 2001, 65535] + [65535] * 67, "min_distance": 20,
            "max_distance": 2000, "increment": 5, "increment_f": 5.0, "angle_offset": -45.0, "frame": 12,
            "sensor_type": 0,
        },
    ),
    "ODOMETRY": (
        lambda w: w.odometry(
            time_us=1_000_000, pos_ned_m=(1.5, -2.5, -10.0), quat_ned_from_frd=(0.5, 0.5, -0.5, 0.25),
            vel_frd_m_s=(4.0, 0.5, -0.25), rate_frd_rad_s=(0.125, 0.25, -0.5),
            pose_covariance=[0.5 * i for i in range(21)],
            velocity_covariance=[-0.25 * i for i in range(21)], reset_counter=3, estimator_type=6, quality=-1,
        ),
        {
            "time_usec": 1_000_000, "x": 1.5, "y": -2.5, "z": -10.0, "q": [0.5, 0.5, -0.5, 0.25], "vx": 4.0, "vy": 0.5,
            "vz": -0.25, "rollspeed": 0.125, "pitchspeed": 0.25, "yawspeed": -0.5,
            "pose_covariance": [0.5 * i for i in range(21)], "velocity_covariance": [-0.25 * i for i in range(21)],
            "frame_id": 1, "child_frame_id": 12, "reset_counter": 3, "estimator_type": 6, "quality": -1,
        },
    ),
}  # fmt: skip
"""MAVLink's name: a frame of ours in SI, and every field that common.xml says must then be on the wire.

All floats are exact in 32 bits, so equality is exact; whole numbers are worked out by hand in the wire's units.
"""


@pytest.mark.parametrize("name", KNOWN)
def test_pymavlink_reads_what_we_write(name: str) -> None:
    encode, fields = KNOWN[name]
    writer = Writer(system_id=42, component_id=190)
    writer.sequence = 250
    message = parsed(encode(writer))
    assert message.get_type() == name
    assert (message.get_srcSystem(), message.get_srcComponent(), message.get_seq()) == (42, 190, 250)
    told = message.to_dict()
    del told["mavpackettype"]
    assert told == fields


def as_ours(fields: dict[str, Any]) -> dict[str, Any]:
    """MAVLink's fields with our two differences: arrays are tuples, and the channels of RC are one array."""
    ours = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    if "chan1_raw" in ours:
        ours["chan_raw"] = tuple(ours.pop(f"chan{i}_raw") for i in range(1, 19))
    return ours


def kind_of(name: str, dialect: Any = common) -> Any:
    return next(kind for kind in dialect.mavlink_map.values() if kind.msgname == name)


def read(frame: bytes) -> Any:
    """What our reader finds in one frame, and nothing else."""
    reader = Reader()
    (message,) = reader.feed(frame)
    assert (reader.messages, reader.unknown, reader.bad_crc, reader.garbage_bytes) == (1, 0, 0, 0)
    assert reader.waiting_bytes == 0
    return message


@pytest.mark.parametrize("how", ["MAVLink 2", "signed", "MAVLink 1"])
@pytest.mark.parametrize("name", KNOWN)
def test_we_read_what_pymavlink_writes(name: str, how: str) -> None:
    kind, fields = kind_of(name), KNOWN[name][1]
    if how == "MAVLink 1" and kind.id > 255:
        pytest.skip("MAVLink 1 has ids up to 255")
    link = common.MAVLink(None, srcSystem=3, srcComponent=1)
    if how == "signed":
        link.signing.secret_key = b"k" * 32
        link.signing.sign_outgoing = True
        link.signing.timestamp = 1
    frame = kind(**fields).pack(link, force_mavlink1=how == "MAVLink 1")
    assert frame[0] == (0xFE if how == "MAVLink 1" else 0xFD)
    message = read(frame)
    assert type(message) is wire.LAYOUT_BY_ID[kind.id].kind
    assert message._asdict() == as_ours(fields)


def test_extensions_that_an_old_sender_does_not_know_are_zero() -> None:
    """The MAVLink 1 dialect writes HIL_GPS in the 36 bytes it had before `id` and `yaw` came."""
    old = pytest.importorskip("pymavlink.dialects.v10.common")
    kind, fields = kind_of("HIL_GPS", old), dict(KNOWN["HIL_GPS"][1])
    if kind.unpacker.size != 36:
        pytest.skip("this pymavlink writes extensions in MAVLink 1 too")
    del fields["id"], fields["yaw"]
    assert read(kind(**fields).pack(old.MAVLink(None)))._asdict() == {**fields, "id": 0, "yaw": 0}


def test_the_table_is_common_xml() -> None:
    """Id, crc_extra, length and order of every message, against the dialect pymavlink made from common.xml."""
    assert sorted(KNOWN) == sorted(common.mavlink_map[layout.message_id].msgname for layout in wire.LAYOUTS)
    for layout in wire.LAYOUTS:
        kind = common.mavlink_map[layout.message_id]
        assert layout.crc_extra == bytes([kind.crc_extra]), kind.msgname
        assert layout.wire.size == kind.unpacker.size, kind.msgname
        assert layout.wire.format == struct.Struct("<" + _written_out(kind.unpacker.format)).format, kind.msgname
        ours = list(layout.kind._fields)
        if "chan_raw" in ours:
            at = ours.index("chan_raw")
            ours[at : at + 1] = [f"chan{i}_raw" for i in range(1, 19)]
        assert ours == kind.ordered_fieldnames, kind.msgname


def _written_out(codes: str) -> str:
    return re.sub(r"(\d+)([a-zA-Z])", lambda found: found[2] * int(found[1]), codes.lstrip("<"))


def gps(**changed: Any) -> Any:
    values: dict[str, Any] = {
        "time_us": 1,
        "lat_deg": 0.0,
        "lon_deg": 0.0,
        "alt_m": 0.0,
        "vel_ned_m_s": (0.0, 0.0, 0.0),
    }
    return parsed(Writer().hil_gps(**(values | changed)))


def test_what_is_beyond_the_wire_is_cut_to_it() -> None:
    """int16 of cm/s ends at 327.67 m/s, uint16 at 655.35 m (which says unknown: 655.34 m), int32 of mm at 2147 km."""
    message = gps(
        vel_ned_m_s=(400.0, -INF, 1e30), eph_m=1e4, epv_m=-1.0, ground_speed_m_s=INF, alt_m=1e9, satellites=999
    )
    assert (message.vn, message.ve, message.vd) == (32767, -32768, 32767)
    assert (message.eph, message.epv, message.vel) == (65534, 0, 65534)
    assert (message.alt, message.satellites_visible) == (2**31 - 1, 255)
    truth = Writer().hil_state_quaternion(
        time_us=-5, quat_ned_from_frd=(1e300, -1e300, INF, 0.0), rate_frd_rad_s=(0.0, 0.0, 0.0), lat_deg=0.0,
        lon_deg=0.0,
        alt_m=0.0, vel_ned_m_s=(0.0, 0.0, 0.0), true_airspeed_m_s=-1.0, accel_ned_m_s2=(33.0, -33.0, 0.0),
    )  # fmt: skip
    message = parsed(truth)
    largest = struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]
    assert message.attitude_quaternion == [largest, -largest, INF, 0.0]
    assert (message.time_usec, message.true_airspeed, message.xacc, message.yacc) == (0, 0, 32767, -32768)


def test_unknown_has_its_own_numbers() -> None:
    message = gps()
    assert (message.eph, message.epv, message.vel, message.cog, message.yaw) == (65535, 65535, 65535, 65535, 0)
    assert message.satellites_visible == 255
    parsed_range = parsed(Writer().distance_sensor(time_boot_ms=0, distance_m=INF, min_m=0.0, max_m=10.0))
    assert (parsed_range.covariance, parsed_range.current_distance) == (255, 65535)
    flow = parsed(Writer().hil_optical_flow(time_us=0, integration_time_us=1, flow_rad=(0.0, 0.0)))
    assert math.isnan(flow.integrated_xgyro)
    assert flow.distance < 0.0
    pose = parsed(
        Writer().odometry(
            time_us=0,
            pos_ned_m=(0, 0, 0),
            quat_ned_from_frd=(1, 0, 0, 0),
            vel_frd_m_s=(0, 0, 0),
            rate_frd_rad_s=(0, 0, 0),
        )
    )
    assert all(math.isnan(entry) for entry in pose.pose_covariance + pose.velocity_covariance)


@pytest.mark.parametrize(
    ("course_deg", "cog", "yaw"),
    [(0.0, 0, 36000), (-0.001, 0, 36000), (90.0, 9000, 9000), (359.99, 35999, 35999),
     (-90.0, 27000, 27000), (725.0, 500, 500)],
)  # fmt: skip
def test_courses_go_round(course_deg: float, cog: int, yaw: int) -> None:
    """MAVLink: cog 0 to 359.99 deg; yaw 0 is "not available" and north is 36000."""
    message = gps(course_rad=math.radians(course_deg), yaw_rad=math.radians(course_deg))
    assert (message.cog, message.yaw) == (cog, yaw)


def sensor(**changed: Any) -> bytes:
    values: dict[str, Any] = {
        "time_us": 1, "accel_frd_m_s2": (0.0, 0.0, -9.8), "gyro_frd_rad_s": (0.0, 0.0, 0.0),
        "fields_updated": FieldsUpdated.IMU,
    }  # fmt: skip
    return Writer().hil_sensor(**(values | changed))


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_what_is_no_reading_is_not_sent(bad: float) -> None:
    with pytest.raises(
        FieldworthyError, match=r"HIL_SENSOR accel_frd_m_s2\[1\]: -?(nan|inf) is no reading; valid: a finite"
    ):
        sensor(accel_frd_m_s2=(0.0, bad, 0.0), fields_updated=0)
    with pytest.raises(ValueError, match=r"HIL_SENSOR gyro_frd_rad_s\[2\]"):
        sensor(gyro_frd_rad_s=(0.0, 0.0, bad))
    with pytest.raises(WireValueError, match="HIL_SENSOR temperature_degc"):
        sensor(temperature_degc=bad, fields_updated=FieldsUpdated.BARO)
    with pytest.raises(WireValueError, match="HIL_SENSOR diff_pressure_hpa"):
        sensor(diff_pressure_hpa=bad, fields_updated=FieldsUpdated.DIFF_PRESSURE)
    message = parsed(sensor(mag_frd_gauss=(bad, bad, bad)))  # not announced, so nobody reads it
    assert message.xmag == bad or math.isnan(message.xmag)


def test_a_place_that_is_no_number_is_refused() -> None:
    with pytest.raises(WireValueError, match="HIL_GPS lat_deg: nan has no number on the wire; valid: a finite number"):
        gps(lat_deg=NAN)
    with pytest.raises(WireValueError, match="19 values do not fit; valid: up to 18"):
        Writer().rc_channels(time_boot_ms=0, pulses_us=[1500.0] * 19)
    with pytest.raises(WireValueError, match="system_id: 256 is no sender; valid: 1 to 255"):
        Writer(system_id=256)


def test_groups_of_fields_updated_are_those_px4_asks_for() -> None:
    """SimulatorMavlink.hpp, enum SensorSource; BARO with abs_pressure alone is ignored."""
    assert [int(group) for group in (FieldsUpdated.ACCEL, FieldsUpdated.GYRO, FieldsUpdated.MAG)] == [0x7, 0x38, 0x1C0]
    assert [int(group) for group in (FieldsUpdated.BARO, FieldsUpdated.DIFF_PRESSURE)] == [0x1A00, 0x400]
    assert int(FieldsUpdated.ALL) == 0b1_1111_1111_1111


def test_zeros_at_the_end_are_cut_but_one_byte_stays() -> None:
    frame = Writer().system_time(time_unix_us=0, time_boot_ms=0)
    assert len(frame) == 10 + 1 + 2
    assert parsed(frame).time_boot_ms == 0
    assert read(frame) == wire.SystemTime(0, 0)


def test_the_sequence_goes_round() -> None:
    writer = Writer()
    numbers = [writer.heartbeat()[4] for _ in range(258)]
    assert numbers == [*range(256), 0, 1]


needs_takeoff = pytest.mark.skipif(not TAKEOFF.is_file(), reason=f"no {TAKEOFF}: set FIELDWORTHY_SHARED")


def recorded() -> Iterator[tuple[str, bytes]]:
    """(A autopilot or S simulator, bytes of one piece) of a take-off of PX4 v1.17-alpha at 250 Hz, in order."""
    data = lzma.decompress(TAKEOFF.read_bytes())
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<H", data, at + 1)
        yield chr(data[at]), data[at + 3 : at + 3 + length]
        at += 3 + length


@needs_takeoff
def test_every_byte_of_a_real_takeoff_is_read() -> None:
    readers = {"A": Reader(), "S": Reader()}
    seen: dict[str, int] = {}
    sent_us: set[int] = set()
    answered_us = [-1]
    for side, piece in recorded():
        for message in readers[side].feed(piece):
            seen[f"{side} {type(message).__name__}"] = seen.get(f"{side} {type(message).__name__}", 0) + 1
            if isinstance(message, wire.HilSensor):
                sent_us.add(message.time_usec)
            elif isinstance(message, wire.HilActuatorControls):
                assert message.time_usec > answered_us[-1]
                assert message.time_usec in sent_us
                assert message.flags & wire.FLAG_LOCKSTEP
                answered_us.append(message.time_usec)
    for reader in readers.values():
        assert (reader.bad_crc, reader.unknown, reader.garbage_bytes, reader.waiting_bytes) == (0, 0, 0, 0)
    # Counted by hand with a walk over ids and lengths, without checksums.
    assert seen == {
        "A Heartbeat": 1, "A CommandLong": 1, "A HilActuatorControls": 8980, "S HilSensor": 9000, "S HilGps": 360,
        "S HilStateQuaternion": 360,
    }  # fmt: skip


@needs_takeoff
def test_the_autopilots_first_words() -> None:
    """PX4 opens with a heartbeat (autopilot 12) and asks for HIL_STATE_QUATERNION every 5 ms (SimulatorMavlink.cpp)."""
    reader = Reader()
    first = [message for side, piece in recorded() if side == "A" for message in reader.feed(piece)][:2]
    heartbeat = next(message for message in first if isinstance(message, wire.Heartbeat))
    command = next(message for message in first if isinstance(message, wire.CommandLong))
    assert heartbeat.autopilot == wire.AUTOPILOT_PX4
    assert (command.command, command.param1, command.param2) == (511, 115.0, 5000.0)


@needs_takeoff
def test_the_recorded_frames_come_back_byte_for_byte() -> None:
    """From the wire to SI by hand, and through the writer; the sender of the recording was not written by us."""
    count = 0
    for side, piece in recorded():
        if side != "S":
            continue
        while piece:
            length = 12 + piece[1]
            frame, piece = piece[:length], piece[length:]
            writer = Writer(system_id=frame[5], component_id=frame[6])
            writer.sequence = frame[4]
            message = read(frame)
            assert (again := encoded_again(writer, message)) == frame, f"{message}: {again.hex()}"
            count += 1
    assert count == 9000 + 360 + 360


def encoded_again(writer: Writer, message: Any) -> bytes:
    m = message
    if isinstance(m, wire.HilSensor):
        return writer.hil_sensor(
            time_us=m.time_usec, accel_frd_m_s2=(m.xacc, m.yacc, m.zacc), gyro_frd_rad_s=(m.xgyro, m.ygyro, m.zgyro),
            mag_frd_gauss=(m.xmag, m.ymag, m.zmag), abs_pressure_hpa=m.abs_pressure, diff_pressure_hpa=m.diff_pressure,
            pressure_alt_m=m.pressure_alt, temperature_degc=m.temperature, fields_updated=m.fields_updated,
            sensor_id=m.id,
        )  # fmt: skip
    if isinstance(m, wire.HilGps):
        return writer.hil_gps(
            time_us=m.time_usec, lat_deg=m.lat / 1e7, lon_deg=m.lon / 1e7, alt_m=m.alt / 1e3, eph_m=m.eph / 1e2,
            epv_m=m.epv / 1e2, ground_speed_m_s=m.vel / 1e2, vel_ned_m_s=(m.vn / 1e2, m.ve / 1e2, m.vd / 1e2),
            course_rad=NAN if m.cog == 65535 else math.radians(m.cog / 1e2), fix_type=m.fix_type,
            satellites=m.satellites_visible, gps_id=m.id, yaw_rad=math.radians(m.yaw / 1e2) if m.yaw else NAN,
        )  # fmt: skip
    assert isinstance(m, wire.HilStateQuaternion)
    return writer.hil_state_quaternion(
        time_us=m.time_usec, quat_ned_from_frd=m.attitude_quaternion, lat_deg=m.lat / 1e7, lon_deg=m.lon / 1e7,
        rate_frd_rad_s=(m.rollspeed, m.pitchspeed, m.yawspeed), alt_m=m.alt / 1e3,
        vel_ned_m_s=(m.vx / 1e2, m.vy / 1e2, m.vz / 1e2), indicated_airspeed_m_s=m.ind_airspeed / 1e2,
        true_airspeed_m_s=m.true_airspeed / 1e2, accel_ned_m_s2=(m.xacc / 1e3, m.yacc / 1e3, m.zacc / 1e3),
    )  # fmt: skip
