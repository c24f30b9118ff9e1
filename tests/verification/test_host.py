"""Where autopilots are waited for: what is refused before anybody comes, and who is taken for the next vehicle.

With stand-ins of both autopilots over real sockets, and a vehicle that costs nothing.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

pytest.importorskip("fastcrc")

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links import host as host_module
from fieldworthy.links.airframe import AutopilotKind
from fieldworthy.links.ardupilot_json import encode_state
from fieldworthy.links.ardupilot_senses import stamp_s
from fieldworthy.links.fake_ardupilot import FakeArdupilot
from fieldworthy.links.fake_px4 import FakePx4
from fieldworthy.links.host import Flown, Host, Options, check, companion_of, flight, ready
from fieldworthy.links.lockstep import Log
from fieldworthy.links.lost import Loss
from fieldworthy.links.mavlink import Writer
from fieldworthy.links.vehicle import for_autopilot
from fieldworthy.scenario import load
from fieldworthy.scenario.schema import Scenario

BOTH: tuple[AutopilotKind, ...] = ("px4", "ardupilot")
QUAD = ("throttle_0", "throttle_1", "throttle_2", "throttle_3", "aileron", "elevator", "rudder")


# What is refused before anybody comes.


@pytest.mark.parametrize("kind", BOTH)
def test_what_flies_without_inertial_unit_is_refused_before_anybody_waits(kind: AutopilotKind) -> None:
    scenario = for_autopilot(load("quad-hover"), kind)
    blind = msgspec.structs.replace(scenario, sensors=msgspec.structs.replace(scenario.sensors, imu=None))
    told = r"quad-hover has no inertial unit, and .* needs one; valid: a table \[sensors.imu\]"
    for refuse in (lambda: check(kind, blind), lambda: ready(blind, kind, 0)):
        with pytest.raises(FieldworthyError, match=told):
            refuse()
    assert check(kind, scenario).title == "quad x"


@pytest.mark.parametrize("kind", BOTH)
def test_what_no_frame_fits_is_refused_before_anybody_waits(kind: AutopilotKind) -> None:
    scenario = load("vtol-transition")
    for refuse in (lambda: check(kind, scenario), lambda: ready(scenario, kind, 0)):
        with pytest.raises(FieldworthyError, match=f"no frame of {kind}"):
            refuse()


def test_a_boat_has_its_inertial_unit_from_its_motion() -> None:
    assert check("ardupilot", load("rover-boat")).title == "rover"
    assert check("ardupilot", load("rover-boat"), skid=True).title == "rover skid"


def test_a_tick_of_no_whole_microseconds_is_refused_for_px4() -> None:
    odd = msgspec.structs.replace(load("quad-hover"), dt_s=1.0 / 900.0)
    with pytest.raises(FieldworthyError, match=r"dt_s = 0\.00111111 of quad-hover is no whole number of microseconds"):
        check("px4", odd)
    check("ardupilot", odd)


@pytest.mark.parametrize(
    ("rate_hz", "near"), [(300.0, "250 or 320"), (60.0, "50 or 64"), (333.0, "320 or 400"), (1.5, "1 or 2")]
)
def test_a_rate_that_px4s_clock_cannot_count_names_those_that_it_can(rate_hz: float, near: str) -> None:
    """A period of 10^6/rate microseconds is a whole number for the divisors of 10^6 only, among whole rates."""
    with pytest.raises(FieldworthyError, match=rf"rate {rate_hz:g} Hz: .*; valid: such as {near} Hz"):
        for_autopilot(load("quad-hover"), "px4", rate_hz)
    for good in near.split(" or "):
        for_autopilot(load("quad-hover"), "px4", float(good))


def test_ardupilot_takes_the_same_rate() -> None:
    """Its clock follows time stamps of any step."""
    assert for_autopilot(load("quad-hover"), "ardupilot", 300.0).dt_s == pytest.approx(1.0 / 900.0)


@pytest.mark.parametrize("rate_hz", [50.0, 100.0, 125.0, 160.0, 200.0, 250.0, 400.0, 500.0, 1000.0])
def test_rates_that_px4_takes_have_steps_of_whole_microseconds(rate_hz: float) -> None:
    scenario = for_autopilot(load("quad-hover"), "px4", rate_hz)
    us = scenario.dt_s * 1e6
    assert us == pytest.approx(round(us), abs=1e-9)
    assert 1.0 / scenario.dt_s >= 800.0 - 1e-6
    steps = 1.0 / (rate_hz * scenario.dt_s)
    assert steps == pytest.approx(round(steps), abs=1e-9)


# Who is taken. The vehicle only grows older.


class Still:
    """Stands, and is told as such."""

    names = QUAD

    def __init__(self, until: int) -> None:
        self.world = SimpleNamespace(timing=SimpleNamespace(control=1, dt_s=0.00125))
        self.until, self.tick = until, 0
        self.command: Sequence[float] = (0.0,) * 7

    running = property(lambda self: self.tick < self.until)
    t_s = property(lambda self: self.tick * 0.00125)

    def move(self, command: Sequence[float], ticks: int) -> None:
        self.tick, self.command = self.tick + ticks, command

    def frame(self, command: Sequence[float]) -> Any:
        return SimpleNamespace(tick=self.tick)

    def line(self) -> bytes:
        return encode_state(
            time_s=stamp_s(self.t_s), rate_frd_rad_s=(0.0, 0.0, 0.0), specific_force_frd_m_s2=(0.0, 0.0, -9.80665),
            pos_ned_m=(0.0, 0.0, 0.0), vel_ned_m_s=(0.0, 0.0, 0.0), quat_ned_from_frd=(1.0, 0.0, 0.0, 0.0),
        )  # fmt: skip


class Px4Still:
    """Noise for PX4, until a number is not finite."""

    period_s = 0.00125

    def __init__(self, vehicle: Still, scenario: Scenario, rc_us: Sequence[float], breaks_at: int) -> None:
        self._vehicle, self._breaks_at, self._writer = vehicle, breaks_at, Writer()

    time_us = property(lambda self: self._vehicle.tick * 1250)

    def set_truth_rate(self, rate_hz: float) -> None:
        pass

    def frames(self) -> bytes:
        noise = 0.1 if self._vehicle.tick % 2 else -0.1
        bad = math.nan if self._vehicle.tick == self._breaks_at else 0.0
        return self._writer.hil_sensor(
            time_us=self.time_us, accel_frd_m_s2=(noise, bad, -9.8), gyro_frd_rad_s=(noise, 0.0, 0.0), fields_updated=63
        )


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "FlightSenses", lambda vehicle, scenario, version: vehicle)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load("quad-hover")


@pytest.fixture
def host(still: None) -> Iterator[Host]:
    made = Host("ardupilot", port=0)
    yield made
    made.close()


def turning(t_s: float, state: Any) -> Sequence[int]:
    """Armed from its first moment: nothing tells by its pulses that it has just started."""
    return (1200,) * 4


def waited(host: Host, wait_s: float = 10.0) -> str:
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        if peer := host.wait(0.1):
            return peer
    return ""


def flown(host: Host, scenario: Scenario, until: int) -> Flown:
    vehicle: Any = Still(until)
    return flight(host, vehicle, scenario, Log(every=10), options=Options(patience_s=5.0))


def test_an_error_of_our_side_ends_the_flight_and_keeps_its_log(
    monkeypatch: pytest.MonkeyPatch, scenario: Scenario
) -> None:
    """A reading that is not finite cannot be told; what was flown until then is kept."""
    monkeypatch.setattr(host_module, "Px4Senses", lambda v, s, rc: Px4Still(v, s, rc, breaks_at=115))
    host = Host("px4", port=0)
    with FakePx4(port=host.port, gyro_ratemax_hz=800.0):
        assert host.wait(10.0)
        over = flown(host, scenario, 1000)
    host.close()
    assert over.lost is not None
    assert over.lost.loss is Loss.OURS
    assert str(over.lost).startswith("our side: ")
    assert [frame.tick for frame in over.log.frames] == [*range(0, 111, 10), 115]


def test_an_ardupilot_that_still_flies_the_old_vehicle_is_not_taken_for_a_new_one(
    host: Host, scenario: Scenario
) -> None:
    with FakeArdupilot(host.port, turning, resend_s=0.1) as old:
        assert waited(host)
        assert flown(host, scenario, 200).lost is None
        answered = old.accepted
        assert waited(host, 0.5) == ""
        assert host.still_flying == "{}:{}".format(*host._ardupilot.peer)  # type: ignore[union-attr]
        with FakeArdupilot(host.port, turning, resend_s=0.1) as new:  # beside the old one, which calls on
            peer = waited(host)
            assert peer
            assert host.still_flying != peer
            assert flown(host, scenario, 300).lost is None
            assert new.accepted == 300
        assert old.accepted == answered
        assert new.complaints == []


def test_one_that_was_started_anew_is_taken_at_once(host: Host, scenario: Scenario) -> None:
    for life in range(2):
        with FakeArdupilot(host.port, turning, resend_s=0.1) as fake:
            assert waited(host), life
            assert flown(host, scenario, 100).lost is None
            assert fake.accepted == 100
    assert host.still_flying == ""


def test_a_boot_frame_is_a_new_one_whatever_its_count(host: Host, scenario: Scenario) -> None:
    """Its outputs are not set yet, so it flies nothing."""
    with FakeArdupilot(host.port, turning, boot_frames=1000, resend_s=0.1):
        assert waited(host)
        assert flown(host, scenario, 200).lost is None
        assert waited(host)


def test_a_second_ardupilot_is_named_and_left_alone(host: Host, scenario: Scenario) -> None:
    """It calls from before to after a session of two seconds, and the first is served all the same, step by step."""
    with FakeArdupilot(host.port, turning, resend_s=5.0) as first:
        peer = waited(host)
        seen: list[str] = []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as second:
            vehicle: Any = Still(500)
            packet = FakeArdupilot().packet(0)

            def beside(link: Any, t_s: float) -> None:
                if vehicle.tick % 20 == 0:
                    second.sendto(packet, ("127.0.0.1", host.port))
                    seen.append(host.stranger)

            over = flight(host, vehicle, scenario, Log(every=0), beside=beside)
        assert over.lost is None
        assert first.accepted == 500
        assert first.complaints == []
    assert any("a second ArduPilot at 127.0.0.1:" in told for told in seen)
    assert "{}:{}".format(*host._ardupilot.peer) == peer  # type: ignore[union-attr]


def test_a_companion_calls_where_ardupilot_is(host: Host, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another machine its SERIAL1 is not on this one's loopback."""
    monkeypatch.setattr(host_module, "Steered", Still)
    boat, vehicle = load("rover-boat"), Still(1)
    found = companion_of(host, vehicle, boat)  # type: ignore[arg-type]
    assert found is not None
    assert found.address == "TCP 127.0.0.1:5762"  # nobody has come yet
    assert host._ardupilot is not None
    host._ardupilot.peer = ("192.0.2.7", 50000)
    found = companion_of(host, vehicle, boat)  # type: ignore[arg-type]
    assert found is not None
    assert (found.address, found.connected) == ("TCP 192.0.2.7:5762", False)
    assert companion_of(host, vehicle, scenario) is None  # type: ignore[arg-type]


def test_a_scanned_port_is_told_by_the_host() -> None:
    host = Host("px4", port=0)
    socket.create_connection(("127.0.0.1", host.port)).close()
    assert host.wait(0.1) == ""
    assert "has hung up without a word of MAVLink" in host.stranger
    host.close()
