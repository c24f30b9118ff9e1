"""Whether what we tell an autopilot is what it takes: our own bytes, looked at before anybody connects.

Source: PX4, SimulatorMavlink.cpp (groups of fields_updated), DataValidator.cpp (constant readings, timeouts), and
EKF2_REQ_* (GPS); rates seen with main of 2025-08-18. ArduPilot, SIM_JSON.cpp, by the fake that reads as it does.
Limits: a few seconds of a vehicle at its start; faults that a scenario plans for later are not seen.
Verified by: tests/verification/test_link_diagnosis.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fieldworthy.core.subnormal import flushed
from fieldworthy.links.ardupilot_senses import BoatSenses, FlightSenses
from fieldworthy.links.diagnosis import Finding
from fieldworthy.links.fake_ardupilot import LONGEST_STEP_S, FakeArdupilot
from fieldworthy.links.fake_px4_rules import (
    ACCEL_LSB_M_S2,
    EQUAL,
    GYRO_LSB_RAD_S,
    LEAST_FIX,
    LEAST_SATELLITES,
    MOST_EPH_CM,
    MOST_EPV_CM,
    MOST_EQUAL,
)
from fieldworthy.links.mavlink import FieldsUpdated, Reader
from fieldworthy.links.mavlink_messages import HilGps, HilSensor, Message
from fieldworthy.links.px4 import FASTEST_USUAL_HZ
from fieldworthy.links.px4_senses import Px4Senses
from fieldworthy.scenario.schema import Scenario
from fieldworthy.world.one_trial import OneTrial

LOOKED_S = 2.0
"""Simulated time that is looked at."""


@dataclass(frozen=True)
class Group:
    """Fields of HIL_SENSOR that count together, and what PX4 wants of them."""

    name: str
    table: str
    """Of the scenario that brings the device."""
    bits: int
    fields: tuple[int, ...]
    """Places in the message of what must not be constant."""
    unit: float
    """Steps of the numbers in PX4, 0 where they are floats."""
    rate_hz: tuple[float, float]
    longest_s: float
    """Silence after which PX4 reports a timeout."""


GROUPS = (
    Group("accelerometer", "imu", FieldsUpdated.ACCEL, (1, 2, 3), ACCEL_LSB_M_S2, (50.0, 4000.0), 0.04),
    Group("gyroscope", "imu", FieldsUpdated.GYRO, (4, 5, 6), GYRO_LSB_RAD_S, (50.0, 4000.0), 0.04),
    Group("magnetometer", "magnetometer", FieldsUpdated.MAG, (7, 8, 9), 0.0, (10.0, 100.0), 0.3),
    Group("barometer", "barometer", FieldsUpdated.BARO, (10, 13), 0.0, (10.0, 50.0), 0.3),
    Group("airspeed", "airspeed", FieldsUpdated.DIFF_PRESSURE, (11,), 0.0, (10.0, 100.0), 0.3),
)
GPS_RATE_HZ = (1.0, 10.0)


@dataclass
class Heard:
    """What has come of one group."""

    count: int = 0
    partial: int = 0
    """Messages with some bits of the group and not all: PX4 ignores them."""
    told_bits: int = 0
    """Of the newest of these."""
    equal: int = 0
    """Readings in a row, up to the newest, that do not differ."""
    most_equal: int = 0
    longest_us: int = 0
    """Between two readings, and from the newest to the end."""
    last_us: int | None = None
    newest: tuple[float, ...] = ()


@dataclass
class Tally:
    """What a simulator has told PX4 over some time."""

    begun_us: int = 0
    """Of the vehicle's start: the first message comes a step later."""
    now_us: int = 0
    groups: dict[str, Heard] = field(default_factory=lambda: {group.name: Heard() for group in GROUPS})
    gps: int = 0
    fix: HilGps | None = None
    """The newest."""

    @property
    def span_s(self) -> float:
        """Time that was looked at."""
        return 1e-6 * (self.now_us - self.begun_us)

    def see(self, message: Message) -> None:
        """Take the next message."""
        if isinstance(message, HilGps):
            self.gps, self.fix = self.gps + 1, message
        if not isinstance(message, HilSensor) or message.id != 0:
            return
        self.now_us = message.time_usec
        for group in GROUPS:
            self._group(group, self.groups[group.name], message)

    def _group(self, group: Group, heard: Heard, message: HilSensor) -> None:
        told = message.fields_updated & group.bits
        silent_us = message.time_usec - (self.begun_us if heard.last_us is None else heard.last_us)
        heard.longest_us = max(heard.longest_us, silent_us)
        if not told:
            return
        if told != group.bits:
            heard.partial, heard.told_bits = heard.partial + 1, told
            return
        values = tuple(float(message[place]) for place in group.fields)
        if group.unit:
            values = tuple(group.unit * round(value / group.unit) for value in values)
        same = bool(heard.newest) and all(abs(v - w) < EQUAL for v, w in zip(values, heard.newest, strict=True))
        heard.equal = heard.equal + 1 if same else 0
        heard.most_equal = max(heard.most_equal, heard.equal)
        heard.count, heard.last_us, heard.newest = heard.count + 1, message.time_usec, values


def tally_px4(vehicle: OneTrial, scenario: Scenario) -> Tally:
    """What PX4 would be told of a vehicle that nobody steers, from its start; it is rewound after that."""
    senses, reader, tally = Px4Senses(vehicle, scenario), Reader(), Tally()
    idle, ticks = (0.0,) * len(vehicle.names), vehicle.world.timing.control
    with flushed():
        while vehicle.t_s < LOOKED_S and vehicle.running:
            vehicle.move(idle, ticks)
            for message in reader.feed(senses.frames()):
                tally.see(message)
        vehicle.rewind()
    return tally


def px4_senses_findings(tally: Tally, *, plane: bool, referenced: bool) -> list[Finding]:
    """Whether PX4 can fly by what it is told. plane: it needs airspeed. referenced: the scenario says where it is."""
    found = []
    for group in GROUPS:
        if group.name != "airspeed" or plane or tally.groups["airspeed"].count:
            found.append(_group_finding(group, tally.groups[group.name], tally.span_s))
    found.append(_gps_finding(tally))
    place = "the scenario's [reference] says where on Earth it is"
    if not referenced:
        place = "no [reference] in the scenario: it lies at PX4's usual home in Zürich, and so does its magnetic field"
    return [*found, Finding("our reference", True if referenced else None, place)]


def _group_finding(group: Group, heard: Heard, span_s: float) -> Finding:
    name, table = f"our {group.name}", f"[sensors.{group.table}]"
    rate, (least, most) = (heard.count / span_s if span_s > 0.0 else 0.0), group.rate_hz
    if heard.partial:
        return Finding(
            name, False, f"{heard.partial} HIL_SENSOR messages have 0x{heard.told_bits:X} of the bits 0x{group.bits:X} "
            f"of fields_updated, and PX4 ignores a group that is not complete ('{group.name} 0 missing'); this is a "
            "fault of ours: please report it"
        )  # fmt: skip
    if not heard.count:
        return Finding(name, False, f"PX4 gets none and reports it missing; add a table {table} to the scenario")
    if rate < 0.9 * least or rate > 1.1 * most:
        high = FASTEST_USUAL_HZ if group.table == "imu" else most
        advice = f"set rate_hz of {table} to {least:g} to {high:g}"
        return Finding(name, False, f"it comes at {rate:.3g} Hz, and PX4 wants {least:g} to {most:g} Hz; {advice}")
    if heard.longest_us > 1e6 * group.longest_s:
        return Finding(
            name, False, f"{heard.longest_us / 1e3:.0f} ms go by without one, and PX4 reports TIMEOUT after "
            f"{1e3 * group.longest_s:.0f} ms; look at rate_hz and faults of {table}"
        )  # fmt: skip
    if heard.most_equal >= min(MOST_EQUAL + 1, heard.count - 1):
        return Finding(
            name, False, f"{heard.most_equal + 1} readings in a row are the same, and PX4 calls a sensor STALE after "
            f"{MOST_EQUAL}: give {table} its noise"
        )  # fmt: skip
    return Finding(name, True, f"{rate:.3g} Hz, all bits of its group, not constant")


def _gps_finding(tally: Tally) -> Finding:
    name, fix, (least, most) = "our GNSS", tally.fix, GPS_RATE_HZ
    rate = tally.gps / tally.span_s if tally.span_s > 0.0 else 0.0
    if fix is None:
        return Finding(name, False, "PX4 gets none and denies take-off; add a table [sensors.gnss] to the scenario")
    wrong = [
        what
        for good, what in (
            (fix.fix_type >= LEAST_FIX, f"fix type {fix.fix_type}, not {LEAST_FIX}"),
            (
                fix.satellites_visible >= LEAST_SATELLITES,
                f"{fix.satellites_visible} satellites, not {LEAST_SATELLITES}",
            ),
            (fix.eph <= MOST_EPH_CM, f"eph {fix.eph / 100:g} m, above {MOST_EPH_CM / 100:g}"),
            (fix.epv <= MOST_EPV_CM, f"epv {fix.epv / 100:g} m, above {MOST_EPV_CM / 100:g}"),
        )
        if not good
    ]
    if wrong:
        return Finding(name, False, f"{', '.join(wrong)}: PX4 does not use it; look at [sensors.gnss] and its faults")
    if rate < 0.9 * least or rate > 1.1 * most + 1.0 / LOOKED_S:
        return Finding(
            name,
            False,
            f"it comes at {rate:.3g} Hz, and PX4 wants {least:g} to {most:g}: set rate_hz of [sensors.gnss]",
        )
    quality = f"fix {fix.fix_type}, eph {fix.eph / 100:g} m, epv {fix.epv / 100:g} m"
    return Finding(name, True, f"{rate:.3g} Hz, {quality}")


def complaints_ardupilot(vehicle: OneTrial, scenario: Scenario, version: str = "4.5") -> list[str]:
    """What ArduPilot would say to our lines about a vehicle that nobody steers; it is rewound after that."""
    boat = scenario.vehicle.kind == "boat"
    senses = BoatSenses(vehicle) if boat else FlightSenses(vehicle, scenario, version)  # type: ignore[arg-type]
    reader = FakeArdupilot()
    idle, ticks = (0.0,) * len(vehicle.names), vehicle.world.timing.control
    with flushed():
        while vehicle.t_s < LOOKED_S and vehicle.running:
            vehicle.move(idle, ticks)
            reader.hear(senses.line())
        vehicle.rewind()
    return reader.complaints


def ardupilot_senses_findings(complaints: Sequence[str], period_s: float) -> list[Finding]:
    """Whether ArduPilot can read what it is told. period_s: from one reply to the next."""
    if period_s >= LONGEST_STEP_S:
        return [
            Finding(
                "our lines", False, f"{1e3 * period_s:g} ms from one time stamp to the next, and ArduPilot does not "
                f"keep pace from {1e3 * LONGEST_STEP_S:g} ms on; give a higher --rate"
            )
        ]  # fmt: skip
    if complaints:
        told = "; ".join(complaints[:3])
        return [Finding("our lines", False, f"ArduPilot would refuse or misread them: {told}; please report this")]
    return [Finding("our lines", True, f"all keys that ArduPilot needs, time stamps {1e3 * period_s:g} ms apart")]
