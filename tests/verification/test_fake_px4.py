"""The fake PX4 complains of what the real one refuses or reports; a fake that takes anything would prove nothing.

Each rule is broken on purpose, alone, in a stream that is otherwise sound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("fastcrc")

from fieldworthy.links.fake_px4 import FakePx4, armed_from
from fieldworthy.links.mavlink import FieldsUpdated, Reader, Writer
from fieldworthy.links.mavlink_messages import MODE_ARMED, CommandLong, Heartbeat, HilActuatorControls

STEP_US = 4000
EPOCH_US = 1_700_000_000_000_000

Change = Callable[[int, dict[str, Any], dict[str, Any]], Any]


def session(change: Change = lambda n, sensor, gps: None, steps: int = 500, step_us: int = STEP_US, **fake: Any) -> Any:
    """A sound simulator's messages, each step changed by `change`: (complaints, answers).

    change: gets the number of the step, what HIL_SENSOR says and what HIL_GPS says (every 50th step); "skip", "behind"
    or "silent" leaves GPS out, sends it after HIL_SENSOR, or leaves the whole step out.
    """
    px4, writer, reader = FakePx4(**fake), Writer(), Reader()
    reader.feed(px4.hello())
    answers: list[HilActuatorControls] = []
    for n in range(1, steps + 1):
        wave = [math.sin(n * k) for k in range(1, 8)]
        sensor: dict[str, Any] = {
            "time_us": n * step_us,
            "accel_frd_m_s2": [0.1 * wave[0], 0.1 * wave[1], -9.8 + 0.1 * wave[2]],
            "gyro_frd_rad_s": [0.01 * w for w in wave[3:6]],
            "mag_frd_gauss": [0.2 + 1e-3 * wave[0], 0.01, 0.43],
            "abs_pressure_hpa": 960.0 + 0.05 * wave[6],
            "pressure_alt_m": 450.0,
            "temperature_degc": 20.0,
            "fields_updated": FieldsUpdated.IMU | FieldsUpdated.MAG | FieldsUpdated.BARO,
        }
        gps: dict[str, Any] = {
            "time_us": EPOCH_US + n * step_us, "lat_deg": 47.4, "lon_deg": 8.5, "alt_m": 488.0,
            "vel_ned_m_s": (0.0, 0.0, 0.0), "eph_m": 0.9, "epv_m": 1.4, "fix_type": 3, "satellites": 12,
        }  # fmt: skip
        how = change(n, sensor, gps)
        if how == "silent":
            continue
        told = writer.hil_gps(**gps) if n % 50 == 0 and how != "skip" else b""
        felt = writer.hil_sensor(**sensor)
        for piece in px4.hear(felt + told if how == "behind" else told + felt) or ():
            if isinstance(piece, bytes):
                answers += [m for m in reader.feed(piece) if isinstance(m, HilActuatorControls)]
    return px4.complaints, answers


def test_a_sound_simulator_hears_no_complaint_and_is_answered_once_a_step() -> None:
    complaints, answers = session(freewheel=15)
    assert complaints == []
    assert [a.time_usec for a in answers] == [n * STEP_US for n in range(16, 501)]
    assert {a.mode for a in answers} == {1}
    assert {a.flags for a in answers} == {1}


def test_it_opens_as_the_recorded_one_does() -> None:
    """The recording begins with SET_MESSAGE_INTERVAL (511) of HIL_STATE_QUATERNION (115) to 5000 us and a heartbeat."""
    command, heartbeat = Reader().feed(FakePx4().hello())
    assert isinstance(command, CommandLong)
    assert (command.command, command.param1, command.param2) == (511, 115.0, 5000.0)
    assert isinstance(heartbeat, Heartbeat)
    assert heartbeat.autopilot == 12


def test_it_arms_when_it_is_told_to() -> None:
    complaints, answers = session(steps=600, controls=armed_from(2.0, 0.5))
    assert complaints == []
    assert [a.time_usec for a in answers if a.mode & MODE_ARMED] == [n * STEP_US for n in range(500, 601)]
    assert answers[-1].controls[:5] == (0.5, 0.5, 0.5, 0.5, 0.0)


def _at(step: int, **sensor: Any) -> Change:
    return lambda n, told, gps: told.update(sensor) if n == step else None


def _always(**sensor: Any) -> Change:
    return lambda n, told, gps: told.update(sensor)


def _gps(**gps: Any) -> Change:
    return lambda n, told, given: given.update(gps)


ALL, IMU, MAG, BARO = FieldsUpdated.IMU | FieldsUpdated.MAG | FieldsUpdated.BARO, 0x3F, 0x1C0, 0x1A00

BROKEN: dict[str, tuple[Change, str]] = {
    "time twice": (_at(100, time_us=99 * STEP_US), "timestamp error"),
    "time back": (_at(100, time_us=50 * STEP_US), "timestamp error"),
    "time 0": (_at(1, time_us=0), "takes no 0"),
    "irregular step": (_at(100, time_us=100 * STEP_US + 1), "not 4000 us"),
    "a step left out": (lambda n, s, g: "silent" if n == 100 else None, "not 4000 us"),
    "baro without altitude and temperature": (_always(fields_updated=IMU | MAG | 0x200), "barometer: fields_updated"),
    "mag without z": (_always(fields_updated=IMU | BARO | 0xC0), "magnetometer: fields_updated"),
    "accel without x": (_always(fields_updated=ALL & ~1), "accelerometer: fields_updated"),
    "a bit of no field": (_at(9, fields_updated=ALL | 1 << 20), "bits of no field"),
    "constant accel": (_always(accel_frd_m_s2=(0.0, 0.0, -9.81)), "accelerometer STALE"),
    "gyro noise below its last bit": (_always(gyro_frd_rad_s=(1e-4, -1e-4, 0.0)), "gyroscope STALE"),
    "constant mag": (_always(mag_frd_gauss=(0.2, 0.0, 0.4)), "magnetometer STALE"),
    "constant baro": (_always(abs_pressure_hpa=960.0), "barometer STALE"),
    "no mag": (_always(fields_updated=IMU | BARO), "magnetometer 0 missing"),
    "baro at 3 Hz": (
        lambda n, s, g: s.update(fields_updated=ALL if n % 83 == 0 else IMU | MAG),
        "barometer TIMEOUT",
    ),
    "IMU at 20 Hz": (lambda n, s, g: s.update(fields_updated=ALL if n % 13 == 0 else MAG), "gyroscope TIMEOUT"),
    "no GPS": (lambda n, s, g: "skip", "no HIL_GPS: take-off denied"),
    "GPS lost": (lambda n, s, g: "skip" if n > 200 else None, "no HIL_GPS for"),
    "no fix": (_gps(fix_type=2), "fix 2"),
    "few satellites": (_gps(satellites=5), "5 satellites"),
    "eph above 3 m": (_gps(eph_m=3.01), "eph 301 cm"),
    "epv above 5 m": (_gps(epv_m=5.01), "epv 501 cm"),
    "eph unknown": (_gps(eph_m=math.nan), "eph 65535 cm"),
    "GPS time stands": (_gps(time_us=EPOCH_US), "HIL_GPS at"),
    "GPS behind HIL_SENSOR": (lambda n, s, g: "behind", "HilGps came after"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_rule_can_be_broken(name: str) -> None:
    change, sentence = BROKEN[name]
    complaints, _ = session(change, steps=800)
    assert any(sentence in complaint for complaint in complaints), complaints
    assert len(complaints) <= 2, complaints  # what is ignored is also missed


def test_a_hundred_equal_samples_are_not_yet_stale() -> None:
    """Sample 100 of a constant is the hundredth that equals the one before; PX4 wants more than 100."""

    def constant(until: int) -> Change:
        return lambda n, told, gps: told.update(mag_frd_gauss=(0.25, -0.5, 0.125)) if n <= until else None

    assert session(constant(101))[0] == []
    assert session(constant(102))[0] == ["magnetometer STALE: 101 samples within 1e-06 of each other at 408000 us"]


def test_a_time_that_goes_back_is_not_answered_until_it_has_passed() -> None:
    _, answers = session(lambda n, s, g: s.update(time_us=(n - 40) * STEP_US) if n > 100 else None, steps=200)
    assert [a.time_usec // STEP_US for a in answers if a.time_usec > 98 * STEP_US] == [99, 100, *range(101, 161)]


@pytest.mark.parametrize(
    ("rate_hz", "ratemax_hz", "share"), [(250, 250, 1.0), (400, 250, 0.57), (1000, 250, 0.32), (1000, 1000, 1.0)]
)
def test_above_250_hz_only_some_are_answered(rate_hz: int, ratemax_hz: float, share: float) -> None:
    """The shares were seen with PX4 main of 2025-08-18, with IMU_GYRO_RATEMAX as it comes and set to the rate."""
    steps = 1000
    _, answers = session(steps=steps, step_us=1_000_000 // rate_hz, freewheel=0, gyro_ratemax_hz=ratemax_hz)
    assert abs(len(answers) - share * steps) <= 2.0  # the rate is known from the second message on
