"""What PX4 refuses or reports of the messages that a simulator sends it, in sentences.

Source: PX4, SimulatorMavlink.cpp (time, groups of `fields_updated`), DataValidator.cpp (constant readings, timeouts),
PX4Accelerometer and PX4Gyroscope (16-bit numbers), EKF2_REQ_* (GPS); seen with main of 2025-08-18.
Limits: one inertial unit, magnetometer, barometer and receiver; what a reading's value should be is not judged.
Verified by: tests/verification/test_fake_px4.py
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from fieldworthy.core.constants import STANDARD_GRAVITY_M_S2
from fieldworthy.links.mavlink_messages import (
    FieldsUpdated,
    HilGps,
    HilOpticalFlow,
    HilSensor,
    HilStateQuaternion,
    Message,
)

MOST_EQUAL = 100
"""Samples in a row that may be the same."""

EQUAL = 1e-6
"""Samples are the same that differ by less on every axis."""

ACCEL_LSB_M_S2, GYRO_LSB_RAD_S = STANDARD_GRAVITY_M_S2 / 2048.0, math.radians(2000.0) / 32768.0
"""The inertial unit's numbers have 16 bits: 16 g, 2000 deg/s."""

IMU_TIMEOUT_US, FIELD_TIMEOUT_US, GPS_TIMEOUT_US = 40_000, 300_000, 1_000_000
MISSING_US, GPS_MISSING_US = 1_000_000, 3_000_000
"""After the first HIL_SENSOR; arming is refused without."""

LEAST_FIX, LEAST_SATELLITES, MOST_EPH_CM, MOST_EPV_CM = 3, 6, 300, 500


@dataclass
class _Group:
    """Fields of HIL_SENSOR that count together."""

    name: str
    bits: int
    fields: tuple[int, ...]
    """Places in the message whose values must change."""
    unit: float
    """Steps of the numbers in PX4, 0 where they are floats."""
    timeout_us: int
    needed: bool = True
    heard_us: int | None = None
    newest: tuple[float, ...] = ()
    equal: int = 0

    def values(self, message: HilSensor) -> tuple[float, ...]:
        """What PX4 holds of a message."""
        found = tuple(float(message[field]) for field in self.fields)
        return tuple(self.unit * round(value / self.unit) for value in found) if self.unit else found


def _groups() -> list[_Group]:
    return [
        _Group("accelerometer", FieldsUpdated.ACCEL, (1, 2, 3), ACCEL_LSB_M_S2, IMU_TIMEOUT_US),
        _Group("gyroscope", FieldsUpdated.GYRO, (4, 5, 6), GYRO_LSB_RAD_S, IMU_TIMEOUT_US),
        _Group("magnetometer", FieldsUpdated.MAG, (7, 8, 9), 0.0, FIELD_TIMEOUT_US),
        _Group("barometer", FieldsUpdated.BARO, (10, 13), 0.0, FIELD_TIMEOUT_US),
        _Group("differential pressure", FieldsUpdated.DIFF_PRESSURE, (11,), 0.0, FIELD_TIMEOUT_US, needed=False),
    ]


class Rules:
    """Looks at what one session brings, in its order."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        """The first sentence of every rule that was broken."""
        self.breaches: Counter[str] = Counter()
        """How often each was."""
        self.step_us: int | None = None
        """From the first HIL_SENSOR to the second."""
        self._begun_us: int | None = None
        self._time_us = 0
        self._groups = _groups()
        self._gps_us: int | None = None
        self._utc_us = 0
        self._truth_us: int | None = None

    def sensor(self, message: HilSensor) -> bool:
        """A HIL_SENSOR of the first unit; whether PX4's clock moves on with it."""
        now, before = message.time_usec, self._time_us
        if self._begun_us is None:
            self._begun_us = now
            if now == 0:
                self._complain("time", "HIL_SENSOR at 0 us: PX4 takes no 0 for a time")
                return False
        elif now <= before:
            self._complain("time", f"timestamp error: HIL_SENSOR at {now} us after one at {before} us")
            return False
        elif self.step_us is None:
            self.step_us = now - before
        elif now - before != self.step_us:
            self._complain(
                "step", f"HIL_SENSOR {now - before} us after the one before, not {self.step_us} us, at {now}"
            )
        self._time_us = now
        if self._truth_us is not None and self._truth_us != now:
            self._complain("truth time", f"HIL_STATE_QUATERNION of {self._truth_us} us before HIL_SENSOR of {now} us")
        self._truth_us = None
        if not all(math.isfinite(number) for number in message[1:14]):
            self._complain("finite", f"HIL_SENSOR at {now} us has a number that is not finite")
        if message.fields_updated & ~int(FieldsUpdated.ALL):
            self._complain("bits", f"fields_updated 0x{message.fields_updated:X} has bits of no field")
        for group in self._groups:
            self._group(group, message)
        self._timeouts(now, now - self._begun_us)
        return True

    def beside(self, message: Message) -> None:
        """Anything else that arrives, before the HIL_SENSOR of its step."""
        if isinstance(message, HilGps):
            self._gps(message)
        elif isinstance(message, HilStateQuaternion):
            self._truth_us = message.time_usec
            if message.time_usec <= self._time_us:
                self.behind(message)
                self._truth_us = None

    def behind(self, message: Message) -> None:
        """Something that has come after the HIL_SENSOR of its step, and before the answer."""
        if isinstance(message, HilGps | HilStateQuaternion | HilOpticalFlow):
            name = type(message).__name__
            self._complain("order", f"{name} came after the HIL_SENSOR of {self._time_us} us: it races with the answer")

    def _group(self, group: _Group, message: HilSensor) -> None:
        told = message.fields_updated & group.bits
        if not told:
            return
        if told != group.bits:
            part = f"fields_updated 0x{message.fields_updated:X} has 0x{told:X} of 0x{group.bits:X}"
            self._complain(f"{group.name} bits", f"{group.name}: {part}: ignored")
            return
        values = group.values(message)
        same = bool(group.newest) and all(abs(v - w) < EQUAL for v, w in zip(values, group.newest, strict=True))
        group.equal = group.equal + 1 if same else 0
        group.newest, group.heard_us = values, message.time_usec
        if group.equal > MOST_EQUAL and group.needed:
            constant = f"{group.equal} samples within {EQUAL:g} of each other at {message.time_usec} us"
            self._complain(f"{group.name} stale", f"{group.name} STALE: {constant}")

    def _timeouts(self, now_us: int, since_us: int) -> None:
        for group in self._groups:
            if group.heard_us is None:
                if group.needed and since_us > MISSING_US:
                    self._complain(f"{group.name} missing", f"{group.name} 0 missing")
            elif now_us - group.heard_us > group.timeout_us:
                gone = f"nothing for {(now_us - group.heard_us) / 1e3:g} ms at {now_us} us"
                self._complain(f"{group.name} timeout", f"{group.name} TIMEOUT: {gone}")
        if self._gps_us is None:
            if since_us > GPS_MISSING_US:
                self._complain("gps missing", "no HIL_GPS: take-off denied")
        elif now_us - self._gps_us > GPS_TIMEOUT_US:
            self._complain("gps timeout", f"no HIL_GPS for {(now_us - self._gps_us) / 1e6:g} s at {now_us} us")

    def _gps(self, message: HilGps) -> None:
        self._gps_us = self._time_us
        if message.time_usec <= self._utc_us:
            self._complain("gps time", f"HIL_GPS at {message.time_usec} us after one at {self._utc_us} us")
        self._utc_us = message.time_usec
        wrong = [
            sentence
            for good, sentence in (
                (message.fix_type >= LEAST_FIX, f"fix {message.fix_type}, not {LEAST_FIX} or better"),
                (message.satellites_visible >= LEAST_SATELLITES, f"{message.satellites_visible} satellites"),
                (message.eph <= MOST_EPH_CM, f"eph {message.eph} cm above {MOST_EPH_CM}"),
                (message.epv <= MOST_EPV_CM, f"epv {message.epv} cm above {MOST_EPV_CM}"),
            )
            if not good
        ]
        if wrong:
            self._complain("gps", f"GPS not usable: {', '.join(wrong)}")

    def _complain(self, rule: str, sentence: str) -> None:
        self.breaches[rule] += 1
        if self.breaches[rule] == 1:
            self.complaints.append(sentence)
