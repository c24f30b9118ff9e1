"""What we send to ArduPilot, read the way ArduPilot reads it, and a recorded session read and sent again.

The reader below is written after the description of SIM_JSON.cpp (libraries/SITL, versions of 2025-07 and 2025-11): a
plain search for the section, from there a plain search for the key, the number right behind `":`. It is stricter than
theirs: a hit inside a longer name, which ArduPilot would take, is a failure here.
"""

from __future__ import annotations

import json
import lzma
import math
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.ardupilot_json import Battery, Extras, JsonVersion, Place, Windvane, encode_state, fields_of

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("FIELDWORTHY_SHARED", ROOT.parent / "shared"))
RECORDING = SHARED / "recordings" / "arducopter_guided_takeoff_800hz.raw.xz"

# Section, key and count of numbers, in the order of ArduPilot's table.
MOTION = [
    ("", "timestamp", 1),
    ("imu", "gyro", 3),
    ("imu", "accel_body", 3),
    ("", "position", 3),
    ("", "attitude", 3),
    ("", "quaternion", 4),
    ("", "velocity", 3),
]
TABLES: dict[str, list[tuple[str, str, int]]] = {
    "4.5": [
        *MOTION,
        *(("", f"rng_{i}", 1) for i in range(1, 7)),
        ("windvane", "direction", 1),
        ("windvane", "speed", 1),
        ("", "airspeed", 1),
        ("", "no_time_sync", 1),
    ]
}
TABLES["2025-07"] = [
    *TABLES["4.5"],
    ("", "velocity_wind", 3),
    *(("rc", f"rc_{i}", 1) for i in range(1, 13)),
    ("battery", "voltage", 1),
    ("battery", "current", 1),
]
TABLES["2025-11"] = [
    *TABLES["2025-07"],
    ("", "latitude", 1),
    ("", "longitude", 1),
    ("", "altitude", 1),
    ("", "no_lockstep", 1),
]

NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?=[,\]}])")
"""What both C's atof and their search for the first digit or minus sign take, up to the end of the value."""

FLOAT32_MAX = 3.4028234663852886e38  # IEEE 754: (2 - 2^-23) 2^127
AT_REST: dict[str, Any] = {
    "time_s": 12.5,
    "rate_frd_rad_s": (0.01, -0.02, 0.03),
    "specific_force_frd_m_s2": (0.1, 0.2, -9.7),
    "pos_ned_m": (1.5, -2.5, -10.25),
    "vel_ned_m_s": (3.5, 4.5, -0.5),
    "quat_ned_from_frd": (1.0, 0.0, 0.0, 0.0),
}
ALL_EXTRAS = Extras(
    rng_m=(1.1, 2.2, 3.3, 4.4, 5.5, 6.6),
    airspeed_m_s=17.25,
    windvane=Windvane(0.75, 8.125),
    wind_ned_m_s=(-5.5, 6.5, 0.25),
    rc_us=tuple(1101.0 + 10.0 * i for i in range(12)),
    battery=Battery(12.6, 31.5),
    place=Place(47.2612345678, -122.4412345678, 12.75),
    no_lockstep=False,
)


def line_of(datagram: bytes) -> str:
    """The text between the last two newlines."""
    end = datagram.rindex(b"\n")
    start = datagram.rindex(b"\n", 0, end)
    return datagram[start + 1 : end].decode("ascii")


def find(text: str, section: str, key: str, count: int) -> list[float] | None:
    """Numbers of a key, None where it is not in the text."""
    at = text.find(section)
    if at < 0:
        return None
    at = text.find(key, at + len(section) + 1)
    if at < 0:
        return None
    after = at + len(key) + 2
    assert text[at - 1] == '"', f"{key} was found inside another name: {text[at - 9 : after]}"
    assert text[after - 2 : after] == '":', f"{key} was found inside another name: {text[at - 9 : after]}"
    if count > 1:
        assert text[after] == "["
    numbers = []
    for index in range(count):
        match = NUMBER.match(text, after + 1 if count > 1 else after)
        assert match, f"{key} {index}: no number at {text[after : after + 20]}"
        numbers.append(float(match[0]))
        after = match.end()
        assert text[after] in (",]"[index == count - 1] if count > 1 else ",}")
    return numbers


def parse(datagram: bytes, version: str = "4.5") -> dict[str, list[float]]:
    text = line_of(datagram)
    found = {f"{section}/{key}": find(text, section, key, count) for section, key, count in TABLES[version]}
    return {name: numbers for name, numbers in found.items() if numbers is not None}


def expected(motion: dict[str, Any], extras: Extras | None = None) -> dict[str, list[float]]:
    """What ArduPilot must find; the roll, pitch and yaw have their own tests."""
    keys = {
        "/timestamp": [motion["time_s"]],
        "imu/gyro": motion["rate_frd_rad_s"],
        "imu/accel_body": motion["specific_force_frd_m_s2"],
        "/position": motion["pos_ned_m"],
        "/quaternion": motion["quat_ned_from_frd"],
        "/velocity": motion["vel_ned_m_s"],
    }
    if extras is not None:
        keys |= {f"/rng_{i}": [value] for i, value in enumerate(extras.rng_m or (), start=1)}
        keys |= {f"rc/rc_{i}": [value] for i, value in enumerate(extras.rc_us or (), start=1)}
        if extras.airspeed_m_s is not None:
            keys["/airspeed"] = [extras.airspeed_m_s]
        if extras.windvane is not None:
            keys |= {"windvane/direction": [extras.windvane[0]], "windvane/speed": [extras.windvane[1]]}
        if extras.wind_ned_m_s is not None:
            keys["/velocity_wind"] = list(extras.wind_ned_m_s)
        if extras.battery is not None:
            keys |= {"battery/voltage": [extras.battery[0]], "battery/current": [extras.battery[1]]}
        if extras.place is not None:
            keys |= {f"/{key}": [v] for key, v in zip(("latitude", "longitude", "altitude"), extras.place, strict=True)}
        if extras.no_lockstep is not None:
            keys["/no_lockstep"] = [float(extras.no_lockstep)]
    return {key: list(numbers) for key, numbers in keys.items()}


def check(datagram: bytes, motion: dict[str, Any], extras: Extras | None = None, version: str = "4.5") -> None:
    found = parse(datagram, version)
    assert len(found.pop("/attitude")) == 3
    wanted = expected(motion, extras)
    assert found.keys() == wanted.keys()
    for key, numbers in wanted.items():
        for got, sent in zip(found[key], numbers, strict=True):
            assert math.isclose(got, sent, rel_tol=1e-9), (key, got, sent)
    # The same line is JSON for everybody else, with the same numbers under the same names.
    text = line_of(datagram)
    tree = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is in the line"))
    for section, key, count in TABLES[version]:
        value = (tree.get(section, {}) if section else tree).get(key)
        numbers = None if value is None else value if count > 1 else [value]
        assert numbers == (found | {"/attitude": tree["attitude"]}).get(f"{section}/{key}")
    assert datagram.startswith(b"\n{")
    assert datagram.endswith(b"}\n")
    assert datagram.count(b"\n") == 2
    assert b" " not in datagram
    assert b"no_time_sync" not in datagram


numbers = st.floats(-FLOAT32_MAX, FLOAT32_MAX)
triples = st.tuples(numbers, numbers, numbers)


@st.composite
def attitudes(draw: st.DrawFn) -> tuple[float, ...]:
    raw = draw(st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 1e-3))
    return tuple(part / math.hypot(*raw) for part in raw)


@st.composite
def motions(draw: st.DrawFn) -> dict[str, Any]:
    names = ("rate_frd_rad_s", "specific_force_frd_m_s2", "pos_ned_m", "vel_ned_m_s")
    return {"time_s": draw(numbers), "quat_ned_from_frd": draw(attitudes())} | {name: draw(triples) for name in names}


@st.composite
def extras_of(draw: st.DrawFn, version: JsonVersion) -> Extras:
    every = {
        "rng_m": st.lists(numbers, min_size=1, max_size=6),
        "airspeed_m_s": numbers,
        "windvane": st.builds(Windvane, numbers, numbers),
        "wind_ned_m_s": triples,
        "rc_us": st.lists(numbers, min_size=1, max_size=12),
        "battery": st.builds(Battery, numbers, numbers),
        "place": st.builds(Place, numbers, numbers, numbers),
        "no_lockstep": st.booleans(),
    }
    return Extras(**{name: draw(st.none() | every[name]) for name in fields_of(version)})


@given(motions())
def test_any_motion_comes_out_as_it_went_in(motion: dict[str, Any]) -> None:
    check(encode_state(**motion), motion)


@pytest.mark.parametrize("version", TABLES)
@given(data=st.data(), motion=motions())
def test_any_extras_come_out_as_they_went_in(version: JsonVersion, data: st.DataObject, motion: dict[str, Any]) -> None:
    extras = data.draw(extras_of(version))
    check(encode_state(**motion, extras=extras, version=version), motion, extras, version)


def test_every_extra_at_once() -> None:
    check(encode_state(**AT_REST, extras=ALL_EXTRAS, version="2025-11"), AT_REST, ALL_EXTRAS, "2025-11")


@pytest.mark.parametrize("channels", range(1, 13))
def test_remote_control_channels_are_not_mixed_up(channels: int) -> None:
    """The name rc_1 is also found in rc_10, rc_11 and rc_12 (ArduPilot pull request 32718)."""
    rc_us = tuple(1001.0 + i for i in range(channels))
    found = parse(encode_state(**AT_REST, extras=Extras(rc_us=rc_us), version="2025-07"), "2025-07")
    assert [found[f"rc/rc_{i + 1}"] for i in range(channels)] == [[value] for value in rc_us]
    assert f"rc/rc_{channels + 1}" not in found


def test_wind_is_not_taken_for_the_velocity() -> None:
    found = parse(encode_state(**AT_REST, extras=Extras(wind_ned_m_s=(7.0, 8.0, 9.0)), version="2025-07"), "2025-07")
    assert found["/velocity"] == [3.5, 4.5, -0.5]
    assert found["/velocity_wind"] == [7.0, 8.0, 9.0]


def test_the_vane_is_not_taken_for_the_airspeed() -> None:
    found = parse(encode_state(**AT_REST, extras=Extras(airspeed_m_s=17.0, windvane=Windvane(0.5, 4.0))))
    assert (found["/airspeed"], found["windvane/speed"], found["windvane/direction"]) == ([17.0], [4.0], [0.5])


@pytest.mark.parametrize("days", [0.0, 1.0, 10.0, 100.0])
def test_time_keeps_its_nanoseconds(days: float) -> None:
    """ArduPilot steps by the difference of two timestamps: 1e-9 s is 8e-7 of a step at 800 Hz."""
    for tick in range(3):
        time_s = days * 86400.0 + tick / 800.0 + 1.23456789e-4
        (sent,) = parse(encode_state(**AT_REST | {"time_s": time_s}))["/timestamp"]
        assert abs(sent - time_s) <= 1e-9


def test_place_is_finer_than_what_arducopter_keeps() -> None:
    """Latitude and longitude are kept in steps of 1e-7 deg."""
    found = parse(encode_state(**AT_REST, extras=ALL_EXTRAS, version="2025-11"), "2025-11")
    assert found["/longitude"][0] == pytest.approx(-122.4412345678, abs=1e-9, rel=0.0)


def wrong_numbers() -> Iterator[tuple[dict[str, Any], Extras | None, str]]:
    """One bad number in each place of each field, and what the error must name."""
    for bad in (math.nan, math.inf, -math.inf, 1e39, -1e300):
        for name, value in AT_REST.items():
            if isinstance(value, tuple):
                for i in range(len(value)):
                    yield AT_REST | {name: (*value[:i], bad, *value[i + 1 :])}, None, f"{name}[{i}]: "
            else:
                yield AT_REST | {name: bad}, None, f"{name}: "
        for name, value in zip(Extras._fields, ALL_EXTRAS, strict=True):
            if name == "no_lockstep":
                continue
            if name == "airspeed_m_s":
                yield AT_REST, Extras(airspeed_m_s=bad), "airspeed_m_s: "
                continue
            for i in range(len(value)):
                parts = (*value[:i], bad, *value[i + 1 :])
                whole = parts if type(value) is tuple else type(value)(*parts)
                yield AT_REST, ALL_EXTRAS._replace(**{name: whole}), f"{name}[{i}]: "


def test_no_number_that_ends_arducopter_is_sent() -> None:
    """A NaN among the rates ends SITL with a dump; 32-bit floats have infinities from 3.4e38 on."""
    cases = list(wrong_numbers())
    assert len(cases) == 5 * (17 + 6 + 1 + 2 + 3 + 12 + 2 + 3)
    for motion, extras, start in cases:
        with pytest.raises(FieldworthyError) as caught:
            encode_state(**motion, extras=extras, version="2025-11")
        assert str(caught.value).startswith(start)
        assert "valid: " in str(caught.value)


@pytest.mark.parametrize("quat", [(0.0, 0.0, 0.0, 0.0), (1.0, 0.2, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0)])
def test_what_is_no_rotation_is_refused(quat: tuple[float, ...]) -> None:
    with pytest.raises(FieldworthyError, match=r"^quat_ned_from_frd: .*valid: a norm of 1"):
        encode_state(**AT_REST | {"quat_ned_from_frd": quat})


@pytest.mark.parametrize("version", TABLES)
@pytest.mark.parametrize("name", Extras._fields)
def test_only_fields_that_the_version_knows(version: JsonVersion, name: str) -> None:
    extras = Extras(**{name: getattr(ALL_EXTRAS, name)})
    known = {f"{section}/{key}" for section, key, _ in TABLES[version]}
    if set(expected(AT_REST, extras)) <= known:
        check(encode_state(**AT_REST, extras=extras, version=version), AT_REST, extras, version)
        assert name in fields_of(version)
        return
    with pytest.raises(
        FieldworthyError, match=rf"^{name}: .* {re.escape(version)} has no key .*valid: rng_m, "
    ) as caught:
        encode_state(**AT_REST, extras=extras, version=version)
    needed = re.search(r"or version (\S+)", str(caught.value))
    assert needed
    assert set(expected(AT_REST, extras)) <= {f"{section}/{key}" for section, key, _ in TABLES[needed[1]]}


def test_mistakes_are_sentences() -> None:
    with pytest.raises(FieldworthyError, match=r"'4\.9' is not known; valid: 4\.5, 2025-07, 2025-11"):
        encode_state(**AT_REST, extras=Extras(), version="4.9")  # type: ignore[arg-type]
    with pytest.raises(FieldworthyError, match=r"rng_m: 7 values are given; valid: 1 to 6"):
        encode_state(**AT_REST, extras=Extras(rng_m=[1.0] * 7))
    with pytest.raises(FieldworthyError, match=r"rc_us: 0 values are given; valid: 1 to 12"):
        encode_state(**AT_REST, extras=Extras(rc_us=[]), version="2025-11")


SQRT_HALF = math.sqrt(0.5)


@pytest.mark.parametrize(
    ("quat", "roll_pitch_yaw"),
    [
        ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((SQRT_HALF, 0.0, 0.0, SQRT_HALF), (0.0, 0.0, math.pi / 2)),  # nose east
        ((SQRT_HALF, SQRT_HALF, 0.0, 0.0), (math.pi / 2, 0.0, 0.0)),  # right wing down
        ((math.cos(0.15), 0.0, math.sin(0.15), 0.0), (0.0, 0.3, 0.0)),  # nose up
        ((0.5, 0.5, 0.5, 0.5), None),
    ],
)
def test_known_attitudes(quat: tuple[float, ...], roll_pitch_yaw: tuple[float, ...] | None) -> None:
    found = parse(encode_state(**AT_REST | {"quat_ned_from_frd": quat}))["/attitude"]
    if roll_pitch_yaw is not None:
        assert found == pytest.approx(roll_pitch_yaw, abs=1e-9)
    else:  # (1, 1, 1, 1) / 2 takes forward to east, right to down, down to north: the nose east, then right wing down
        assert found == pytest.approx((math.pi / 2, 0.0, math.pi / 2), abs=1e-9)


@given(attitudes().filter(lambda q: abs(q[0] * q[2] - q[1] * q[3]) < 0.499))
def test_both_attitudes_are_the_same_rotation(quat: tuple[float, ...]) -> None:
    """Quaternions of the three turns multiplied, yaw first, give the one that was sent, up to its sign.

    Within 2 deg of straight up or down roll and yaw are not separate and rounding grows: left out.
    """

    def product(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
        return (
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        )

    roll, pitch, yaw = parse(encode_state(**AT_REST | {"quat_ned_from_frd": quat}))["/attitude"]
    again = product(
        product((math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)), (math.cos(pitch / 2), 0.0, math.sin(pitch / 2), 0.0)),
        (math.cos(roll / 2), math.sin(roll / 2), 0.0, 0.0),
    )
    assert abs(sum(a * b for a, b in zip(again, quat, strict=True))) == pytest.approx(1.0, abs=1e-12)


def recorded_lines() -> list[bytes]:
    """Datagrams from simulator to autopilot: records b'A' or b'S', uint16 length, bytes."""
    data, at, lines = lzma.decompress(RECORDING.read_bytes()), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<H", data, at + 1)
        if data[at : at + 1] == b"S":
            lines.append(data[at + 3 : at + 3 + size])
        at += 3 + size
    return lines


@pytest.mark.skipif(not RECORDING.is_file(), reason=f"no {RECORDING}: set FIELDWORTHY_SHARED")
def test_recorded_lines_are_sent_again_with_the_same_numbers() -> None:
    """Real ArduCopter took off on these lines. Their decimals have fewer digits than ours: equal to the bit."""
    lines = recorded_lines()
    assert len(lines) == 31_700
    for line in [*lines[:500:7], *lines[500::29], lines[-1]]:
        theirs = parse(line)
        assert theirs.keys() == {f"{section}/{key}" for section, key, _ in MOTION} - {"/attitude"}
        ours = parse(
            encode_state(
                time_s=theirs["/timestamp"][0],
                rate_frd_rad_s=theirs["imu/gyro"],
                specific_force_frd_m_s2=theirs["imu/accel_body"],
                pos_ned_m=theirs["/position"],
                vel_ned_m_s=theirs["/velocity"],
                quat_ned_from_frd=theirs["/quaternion"],
            )
        )
        assert ours.pop("/attitude")
        assert ours == theirs
