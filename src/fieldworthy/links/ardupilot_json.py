"""ArduPilot's JSON interface (SITL with `--model JSON`): servo packets in, one line of JSON with the true state out.

Only what the bytes say and how frames follow each other; sockets and waiting are somebody else's work.
Source: ArduPilot, libraries/SITL/examples/JSON/readme.md and SIM_JSON.cpp, SIM_JSON.h, read in the versions of 2025-07,
2025-10 and after 2025-11 (pull requests 30732 and 31543); a recorded session with master of 2025-07-21.
Frames: world NED from the start point, body FRD. ArduPilot makes GNSS, barometer and compass itself, and adds its own
noise to the inertial values: feed it the truth.
Limits: ArduPilot looks for keys by plain search in the text, so the order of keys here is part of the protocol, and
names that contain others come later. Most of its numbers are 32-bit floats; position, time and place have 64 bits.
`no_time_sync` is never sent: it would swap ArduPilot's estimator for a fake one.
Verified by: tests/cases/test_ardupilot_json.py, tests/verification/test_ardupilot_frames.py
"""

from __future__ import annotations

import enum
import math
import operator
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal, NamedTuple

from fieldworthy.core.errors import FieldworthyError

_FORMATS = {struct.pack("<H", mark): struct.Struct(f"<HHI{n}H") for mark, n in ((18458, 16), (29569, 32))}
"""By the mark at the head: 16 channels, and 32 with SERVO_32_ENABLE = 1."""
_COUNTS = 1 << 32
_MOST_LOST_AT_WRAP = 10_000
"""A count that is lower than before is a wrap of the 32 bits if at most so many frames are missing, else a restart."""

_FLOAT32_MAX = 3.4028234663852886e38
_SURELY_FINITE = 1e30
"""A sum of squares below this has no NaN, no infinity and nothing too large for 32 bits in it."""

JsonVersion = Literal["4.5", "2025-07", "2025-11"]
"""Who listens: ArduPilot 4.5, 4.6 and master before 2025-07-28; master from then on; master with pull request 31543.

The later ones take all that the earlier do. ArduPilot prints the keys that it has found when it gets the first line.
"""


class ServoFrame(NamedTuple):
    """What ArduPilot asks of the servo outputs in one step."""

    frame_rate_hz: int
    """The rate at which ArduPilot believes to be stepped: a hint. It slews from 1200 to SIM_RATE_HZ."""
    frame_count: int
    """Replies that ArduPilot has taken since its start, modulo 2^32."""
    pwm_us: tuple[int, ...]
    """16 or 32 pulses; 0 is a channel without pulse."""


def decode_servos(datagram: bytes) -> ServoFrame | None:
    """A servo packet, or None for anything else; `why_not_servos` says why."""
    form = _FORMATS.get(datagram[:2])
    if form is None or form.size != len(datagram):
        return None
    fields = form.unpack(datagram)
    return ServoFrame(fields[1], fields[2], fields[3:])


def why_not_servos(datagram: bytes) -> str:
    """One sentence on a datagram that is no servo packet, for somebody who sees nothing happen. Empty if it is one."""
    if decode_servos(datagram) is not None:
        return ""
    size, form = len(datagram), _FORMATS.get(datagram[:2])
    if form is not None:
        return f"{size} bytes that begin like ArduPilot's servo packet of {form.size} bytes: cut or joined on the way"
    if datagram.lstrip()[:1] == b"{":
        return "JSON text: a second simulator sends to this port; ArduPilot's own packets are binary"
    if datagram[:1] in (b"\xfd", b"\xfe"):
        return "a MAVLink message: this port (UDP 9002 + 10 * instance) is for `--model JSON`; check --out and SERIALn"
    if size == 64:
        return "64 bytes, as of the 16 floats of `--model gazebo`: start SITL with `--model JSON`"
    return (
        f"{size} bytes that begin with 0x{datagram[:2].hex()}: valid are 40 bytes with 0x1a48 (18458) or 72 bytes with "
        "0x8173 (29569), from an ArduPilot SITL started with `--model JSON`"
    )


def is_no_command(frame: ServoFrame) -> bool:
    """Whether the frame comes from an autopilot that has not set its outputs yet: hold still, whatever 1000 us mean.

    All channels without pulse, or the pulses from before the vehicle has started: 1000 us, but 1500 us on channels
    1, 2, 4 (Plane), 1-4 (Rover) or 1-8 (Sub). On a thruster that turns both ways 1000 us would be full astern.
    Limits: a vehicle that assigns all 16 channels and commands exactly these pulses is taken for one that starts.
    """
    return frame.pwm_us in _NO_COMMAND


_NO_COMMAND = {(0,) * 16, (0,) * 32} | {
    tuple(1500 if channel in neutral else 1000 for channel in range(1, count + 1))
    for neutral in ((), (1, 2, 4), (1, 2, 3, 4), range(1, 9))  # Copter, Plane, Rover, Sub
    for count in (16, 32)
}


class FrameNews(enum.Enum):
    """What a servo frame tells by its count."""

    NEW = "new"
    """One step on: our last reply was taken, or this is the first frame that we see."""
    REPEATED = "repeated"
    """The same count again: no reply came for 1.1 s, or ours was not accepted. 0 again: our first line was rejected."""
    SKIPPED = "skipped"
    """Frames went by that we have not seen: packets were lost, or somebody else answers too."""
    RESTARTED = "restarted"
    """A lower count: SITL has started again. Reset the vehicle."""


class FrameCounter:
    """Follows the counts of a session: `lost` ones were never seen, `repeated_in_a_row` ends with any other frame.

    After a pause drain the socket and answer only the newest frame, or every later reply is some frames old.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self.new = self.repeated = self.repeated_in_a_row = self.lost = self.restarts = 0

    def see(self, frame: ServoFrame) -> FrameNews:
        """Take the next frame of the session."""
        last, self.last = self.last, frame.frame_count
        if last == frame.frame_count:
            self.repeated += 1
            self.repeated_in_a_row += 1
            return FrameNews.REPEATED
        self.repeated_in_a_row = 0
        missing = 0 if last is None else (frame.frame_count - last - 1) % _COUNTS
        if last is not None and frame.frame_count < last and missing > _MOST_LOST_AT_WRAP:
            self.restarts += 1
            return FrameNews.RESTARTED
        self.lost += missing
        if missing:
            return FrameNews.SKIPPED
        self.new += 1
        return FrameNews.NEW


class Windvane(NamedTuple):
    """Apparent wind at the vane."""

    from_rad: float
    """Where it comes from, clockwise from the bow; 0 is head to wind."""
    speed_m_s: float


class Battery(NamedTuple):
    """At the terminals."""

    voltage_v: float
    current_a: float


class Place(NamedTuple):
    """On WGS 84. ArduPilot takes it in place of `pos_ned_m` and rounds it to 1e-7 deg (11 mm) and 10 mm of height."""

    latitude_deg: float
    longitude_deg: float
    altitude_amsl_m: float


class Extras(NamedTuple):
    """What ArduPilot may be told besides the motion; None is not sent. `fields_of` has what a version knows."""

    rng_m: Sequence[float] | None = None
    """Rangefinders 1 to 6 (RNGFNDn_TYPE = 100), from the first without gap. Nothing in sight: say more than the reach.

    Versions from 2025-11 to 2026-06 read 0 m from the first three where they are not sent.
    """
    airspeed_m_s: float | None = None
    """True airspeed along the pitot tube. Without it ArduPilot takes still air, also where `wind_ned_m_s` is sent."""
    windvane: Windvane | None = None
    wind_ned_m_s: Iterable[float] | None = None
    """The way the air goes."""
    rc_us: Sequence[float] | None = None
    """Channels 1 to 12 of the remote control, from the first without gap."""
    battery: Battery | None = None
    place: Place | None = None
    no_lockstep: bool | None = None
    """True: ArduPilot no longer waits for replies, and flights do not repeat. It keeps this until told otherwise."""


_KNOWN = {"4.5": 3, "2025-07": 6, "2025-11": 8}
"""How many of the fields of `Extras`, from the first, a version has keys for."""


@cache
def fields_of(version: JsonVersion) -> tuple[str, ...]:
    """Names of the `Extras` that a version of ArduPilot has a key for; the others it would overlook without a word."""
    if version not in _KNOWN:
        raise FieldworthyError(f"ArduPilot JSON version {version!r} is not known; valid: {', '.join(_KNOWN)}")
    return Extras._fields[: _KNOWN[version]]


_STATE = (
    b'\n{"timestamp":%.16g,"imu":{"gyro":[%.10g,%.10g,%.10g],"accel_body":[%.10g,%.10g,%.10g]}'
    b',"position":[%.10g,%.10g,%.10g],"attitude":[%.10g,%.10g,%.10g],"quaternion":[%.10g,%.10g,%.10g,%.10g]'
    b',"velocity":[%.10g,%.10g,%.10g]'
)
_GROUPS = (
    b',"windvane":{"direction":%.10g,"speed":%.10g}',
    b',"velocity_wind":[%.10g,%.10g,%.10g]',
    b',"battery":{"voltage":%.10g,"current":%.10g}',
    b',"latitude":%.12g,"longitude":%.12g,"altitude":%.10g',
)
_RNG = tuple(b"".join(b',"rng_%d":%%.10g' % (i + 1) for i in range(count)) for count in range(7))
_RC = tuple(b"".join(b',"rc_%d":%%.10g' % (i + 1) for i in range(count)) for count in range(13))


def encode_state(
    *,
    time_s: float,
    rate_frd_rad_s: Iterable[float],
    specific_force_frd_m_s2: Iterable[float],
    pos_ned_m: Iterable[float],
    vel_ned_m_s: Iterable[float],
    quat_ned_from_frd: Iterable[float],
    extras: Extras | None = None,
    version: JsonVersion = "4.5",
) -> bytes:
    """The datagram that answers a servo frame: a line of JSON between two newlines.

    `time_s` is absolute; ArduPilot moves its clock by the difference to the line before. Specific force is (0, 0, -g)
    at rest. Position counts from home. The attitude goes out twice, as quaternion (which ArduPilot takes) and as roll,
    pitch, yaw, without which versions from 2025-11 to 2026-06 lose the first rangefinder.
    A number that is NaN, infinite or beyond 32 bits raises: ArduPilot would end with a dump (seen for a rate of NaN).
    """
    (p, q, r), (fx, fy, fz) = rate_frd_rad_s, specific_force_frd_m_s2
    (n, e, d), (vn, ve, vd), (w, x, y, z) = pos_ned_m, vel_ned_m_s, quat_ned_from_frd
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    squares = p * p + q * q + r * r + fx * fx + fy * fy + fz * fz + n * n + e * e + d * d + vn * vn + ve * ve + vd * vd
    if not squares + time_s * time_s < _SURELY_FINITE:
        _refuse("time_s", time_s)
        _refuse("rate_frd_rad_s", p, q, r)
        _refuse("specific_force_frd_m_s2", fx, fy, fz)
        _refuse("pos_ned_m", n, e, d)
        _refuse("vel_ned_m_s", vn, ve, vd)
    if not 0.99 < ww + xx + yy + zz < 1.01:
        _refuse("quat_ned_from_frd", w, x, y, z)
        raise FieldworthyError(f"quat_ned_from_frd: ({w:g}, {x:g}, {y:g}, {z:g}) is no rotation; valid: a norm of 1")
    roll_rad = math.atan2(2.0 * (w * x + y * z), ww - xx - yy + zz)
    nose_north, nose_east = ww + xx - yy - zz, 2.0 * (w * z + x * y)
    pitch_rad = math.atan2(2.0 * (w * y - x * z), math.hypot(nose_north, nose_east))
    attitude = roll_rad, pitch_rad, math.atan2(nose_east, nose_north)
    line = _STATE % (time_s, p, q, r, fx, fy, fz, n, e, d, *attitude, w, x, y, z, vn, ve, vd)
    return line + b"}\n" if extras is None else line + _encode_extras(extras, version) + b"}\n"


def _encode_extras(extras: Extras, version: JsonVersion) -> bytes:
    """The part of the line after the velocity. Names that contain another (velocity_wind, rc_10) stand after it."""
    known = fields_of(version)
    if any(value is not None for value in extras[len(known) :]):
        names = [name for name in extras._fields[len(known) :] if getattr(extras, name) is not None]
        needed = next(other for other, count in _KNOWN.items() if names[-1] in Extras._fields[:count])
        raise FieldworthyError(
            f"{', '.join(names)}: ArduPilot's JSON interface {version} has no key for this and would overlook it; "
            f"valid: {', '.join(known)}, or version {needed} where that ArduPilot runs"
        )
    rng_m, airspeed_m_s, windvane, wind_ned_m_s, rc_us, battery, place, no_lockstep = extras
    form, values = b"", []
    if rng_m is not None:
        form, values = _numbered("rng_m", _RNG, rng_m), [*rng_m]
    if airspeed_m_s is not None:
        form += b',"airspeed":%.10g'
        values.append(airspeed_m_s)
    if rc_us is not None:
        form += b',"rc":{%b}' % _numbered("rc_us", _RC, rc_us)[1:]
        values += rc_us
    for keys, group in zip(_GROUPS, (windvane, wind_ned_m_s, battery, place), strict=True):
        if group is not None:
            form += keys
            values += group
    if no_lockstep is not None:
        form += b',"no_lockstep":%d'
        values.append(no_lockstep)
    if not sum(map(operator.mul, values, values)) < _SURELY_FINITE:
        for name, value in zip(extras._fields, extras, strict=True):
            if value is not None:
                _refuse(name, *(value if isinstance(value, Iterable) else (value,)))
    return form % tuple(values)


def _numbered(name: str, forms: tuple[bytes, ...], values: Sequence[float]) -> bytes:
    """Keys numbered from 1; never one without those before it, since a lost rc_1 would be found in rc_10."""
    if not 1 <= len(values) < len(forms):
        raise FieldworthyError(f"{name}: {len(values)} values are given; valid: 1 to {len(forms) - 1}, or None")
    return forms[len(values)]


def _refuse(name: str, *values: float) -> None:
    """Raise for the first value that ArduPilot cannot hold in its numbers."""
    for index, value in enumerate(values):
        if not -_FLOAT32_MAX <= value <= _FLOAT32_MAX:
            where = f"{name}[{index}]" if len(values) > 1 else name
            raise FieldworthyError(f"{where}: {value} could end ArduPilot, so it is not sent; valid: within ±3.4e38")
