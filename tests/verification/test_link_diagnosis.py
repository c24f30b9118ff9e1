"""What `fieldworthy doctor link` says: each finding from facts that only one fault explains, and whole looks at fakes.

The facts are those seen with real autopilots (PX4 main of 2025-08-18, ArduPilot master of 2025-07-21), or the opposite
of what their sources want.

Long because every fault has its test here.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastcrc")

from fieldworthy.links import diagnosis_gather, diagnosis_px4
from fieldworthy.links.diagnosis import Finding, nobody_finding, port_finding
from fieldworthy.links.diagnosis_ardupilot import ArdupilotFacts, ardupilot_findings, datagram_finding
from fieldworthy.links.diagnosis_gather import Request, diagnose
from fieldworthy.links.diagnosis_machine import Process, autopilots, holder_of
from fieldworthy.links.diagnosis_px4 import MANY_SENSORS, Px4Facts, px4_findings
from fieldworthy.links.diagnosis_said import SETTLED_S, Heard, Text, meaning_of, said_findings, sick_of
from fieldworthy.links.diagnosis_senses import Tally, ardupilot_senses_findings, px4_senses_findings
from fieldworthy.links.fake_ardupilot import FakeArdupilot
from fieldworthy.links.fake_ardupilot import Misbehaviour as ArdupilotMisbehaviour
from fieldworthy.links.fake_px4 import FakePx4, Misbehaviour
from fieldworthy.links.lost import Loss
from fieldworthy.links.mavlink import FieldsUpdated
from fieldworthy.links.mavlink_messages import HilGps, HilSensor
from fieldworthy.scenario import load

START = "PX4_SIM_MODEL=none_iris BUILD/bin/px4 -i 0 -d BUILD/etc"


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    """The findings, the first one of each name."""
    return {finding.name: finding for finding in reversed(findings)}


def wrong(findings: list[Finding]) -> list[str]:
    """Names of what is a problem."""
    return [finding.name for finding in findings if finding.ok is False]


# Ports and processes.


def test_a_taken_port_names_its_holder() -> None:
    finding = port_finding("", "TCP 127.0.0.1:4560: taken by another program", Process(42, "gazebo world"))
    assert finding.ok is False
    assert "process 42: gazebo world" in finding.sentence
    assert port_finding("TCP 127.0.0.1:4560", "", None).ok is True


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="no /proc")
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_the_holder_of_a_port_is_found(protocol: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        if protocol == "tcp":
            held.listen(1)
        holder = holder_of(protocol, held.getsockname()[1])
    assert holder is not None
    assert holder.pid == os.getpid()


def test_processes_tell_their_instance_and_model(tmp_path: Path) -> None:
    """A made-up /proc: PX4 says its model in the environment, ArduPilot on its command line."""
    (tmp_path / "self").mkdir()
    for pid, words, environment in (
        (7, ["/build/bin/px4", "-i", "3", "-d", "etc"], ["A=B", "PX4_SIM_MODEL=sihsim_quadx"]),
        (8, ["px4-commander", "--instance", "1"], []),
        (9, ["./arducopter", "--model", "JSON", "-I12"], []),
        (10, ["ardurover", "--model=rover"], []),
    ):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "cmdline").write_bytes("".join(f"{word}\0" for word in words).encode())
        (folder / "environ").write_bytes("".join(f"{word}\0" for word in environment).encode())
    assert autopilots("px4", tmp_path) == [Process(7, "/build/bin/px4 -i 3 -d etc", 3, "sihsim_quadx")]
    found = autopilots("ardupilot", tmp_path)
    assert found is not None
    assert [(process.pid, process.instance, process.model) for process in found] == [(9, 12, "JSON"), (10, 0, "rover")]
    assert autopilots("px4", tmp_path / "none") is None


# Nobody.

NOBODY: dict[str, tuple[Any, str]] = {
    "nothing runs": (("px4", 0, []), "no PX4 runs on this machine; start PX4_SIM_MODEL=none_iris"),
    "container": (("px4", 0, []), "needs --host 0.0.0.0 here and PX4_SIM_HOSTNAME=ADDRESS there"),
    "cannot see": (("px4", 0, None), "is PX4 running with number 0?"),
    "other number": (("px4", 0, [Process(7, "px4", 3, "none_iris")]), "give --instance 3 here"),
    "own simulator": (("px4", 0, [Process(7, "px4", 0, "none")]), "PX4_SIM_MODEL=none of process 7 starts another"),
    "SIH": (("px4", 0, [Process(7, "px4", 0, "sihsim_quadx")]), "never looks for ours"),
    "Gazebo": (("px4", 0, [Process(7, "px4", 0, "gz_x500")]), "PX4_SIM_MODEL=gz_x500 of process 7"),
    "was left": (("px4", 0, [Process(7, "px4", 0, "none_iris")]), "never connects again, so end it"),
    "ArduPilot's own": (("ardupilot", 0, [Process(7, "a", 0, "quad")]), "--model quad of process 7 is ArduPilot's own"),
    "elsewhere": (("ardupilot", 0, [Process(7, "a", 0, "JSON")]), "its --sim-address"),
    "waits for serial0": (("ardupilot", 1, [], True), "TCP 5770, where ArduPilot waits for a ground station"),
}


@pytest.mark.parametrize("name", NOBODY)
def test_nobody_is_explained(name: str) -> None:
    (kind, instance, running, *serial0), sentence = NOBODY[name]
    address = f"TCP 127.0.0.1:{4560 + instance}" if kind == "px4" else f"UDP 127.0.0.1:{9002 + 10 * instance}"
    finding = nobody_finding(kind, instance, address, 30.0, START, running, *serial0)
    assert finding.ok is False
    assert sentence in finding.sentence
    assert "30 s" in finding.sentence
    assert "unless told otherwise" not in finding.sentence
    assert "unless told otherwise" in nobody_finding(kind, instance, "TCP 1.2.3.4:99", 30.0, START, running).sentence


# PX4, gate by gate.

WELL = Px4Facts(
    rate_hz=250.0, sensors=5016, freewheeled=16, answers=5000, heartbeats=1, commands=1, received_bytes=1000,
    lockstep=True, t_s=20.0, wall_s=4.0,
)  # fmt: skip
SILENT = replace(WELL, answers=0, lockstep=None)

PX4_FAULTS: dict[str, tuple[Px4Facts, str, str]] = {
    "closed at once": (replace(SILENT, sensors=3, loss=Loss.CLOSED), "greeting", "closed the connection after 3"),
    "closed often": (replace(SILENT, loss=Loss.CLOSED, closed_early=2), "greeting", "(3 times)"),
    "no MAVLink": (replace(SILENT, heartbeats=0, commands=0, received_bytes=9), "greeting", "9 bytes"),
    "says nothing": (replace(SILENT, heartbeats=0, commands=0, received_bytes=0), "greeting", "has said nothing"),
    "freewheel": (replace(SILENT, sensors=MANY_SENSORS), "answers", f"after {MANY_SENSORS} HIL_SENSOR messages"),
    "no lockstep": (replace(WELL, lockstep=False), "lockstep", "px4_sitl_nolockstep"),
    "clock ahead": (replace(WELL, foreign=5, foreign_us=2_000_000, loss=Loss.CLOCK), "clock", "2.000 s ahead of ours"),
    "clock behind": (replace(WELL, foreign=5, foreign_us=-50_000, loss=Loss.SILENT), "clock", "0.050 s behind ours"),
    "clock a few steps behind": (
        replace(WELL, loss=Loss.SILENT, probed=100, probed_others=100),
        "clock",
        "got answers with older time stamps only",
    ),
    "a share": (
        replace(WELL, rate_hz=1000.0, loss=Loss.SILENT, probed=100, probed_answers=32),
        "one to one",
        "only 32 % of 100 HIL_SENSOR messages at 1000 Hz, and a simulator in lockstep hangs: set IMU_GYRO_RATEMAX = "
        "IMU_INTEG_RATE = 1000",
    ),
    "hangs": (replace(WELL, loss=Loss.SILENT, probed=100), "one to one", "fell silent after 5000 answers"),
    "died": (replace(WELL, loss=Loss.CLOSED), "one to one", "closed the connection after 5000 answers"),
}


@pytest.mark.parametrize("name", PX4_FAULTS)
def test_px4_faults_are_told_apart(name: str) -> None:
    """One problem each, the last that is looked at: what lies behind a closed gate is not known."""
    facts, gate, sentence = PX4_FAULTS[name]
    findings = px4_findings(facts)
    assert wrong(findings) == [gate]
    assert sentence in by_name(findings)[gate].sentence


def test_a_good_px4_has_no_fault() -> None:
    assert all(finding.ok for finding in px4_findings(WELL))
    assert "5.0 times real time" in px4_findings(WELL)[-1].sentence


def test_what_is_not_sure_is_said() -> None:
    early = px4_findings(replace(SILENT, sensors=40))
    assert (early[-1].name, early[-1].ok) == ("answers", False)
    assert "too few to judge" in early[-1].sentence
    paused = px4_findings(replace(WELL, loss=Loss.SILENT, probed=100, probed_answers=100))
    assert (paused[-1].name, paused[-1].ok) == ("one to one", None)


# Our own senses.


def tally(
    seconds: float = 2.0, mag_hz: float = 50.0, baro_hz: float = 50.0, gps_hz: float = 5.0, **change: Any
) -> Tally:
    """Of a sound simulator at 250 Hz. change: fields of HIL_SENSOR, gps: of HIL_GPS, …_bits: of a group."""
    found = Tally()
    steps = round(250 * seconds)
    for n in range(1, steps + 1):
        bits = int(FieldsUpdated.IMU)
        bits |= change.get("mag_bits", FieldsUpdated.MAG) if mag_hz and n % round(250 / mag_hz) == 0 else 0
        bits |= change.get("baro_bits", FieldsUpdated.BARO) if baro_hz and n % round(250 / baro_hz) == 0 else 0
        noise = (n * 7919 % 1013) / 1013.0 - 0.5
        given = {
            "xacc": noise, "xgyro": 0.1 * noise, "xmag": 0.2 + 0.01 * noise, "abs_pressure": 960.0 + noise,
            "pressure_alt": 450.0, "temperature": 20.0,
        } | {name: value for name, value in change.items() if name in HilSensor._fields}  # fmt: skip
        told = dict.fromkeys(HilSensor._fields, 0) | given | {"time_usec": 4000 * n, "fields_updated": bits}
        if gps_hz and n % round(250 / gps_hz) == 0:
            fix = {"eph": 90, "epv": 140, "fix_type": 3, "satellites_visible": 12} | change.get("gps", {})
            found.see(HilGps(**(dict.fromkeys(HilGps._fields, 0) | fix)))
        found.see(HilSensor(**told))
    return found


SENSES: dict[str, tuple[dict[str, Any], str, str]] = {
    "no mag": ({"mag_hz": 0}, "our magnetometer", "add a table [sensors.magnetometer]"),
    "baro at 2 Hz": ({"baro_hz": 2}, "our barometer", "comes at 2 Hz, and PX4 wants 10 to 50 Hz"),
    "mag at 125 Hz": ({"mag_hz": 125}, "our magnetometer", "comes at 125 Hz"),
    "baro with 0x200": ({"baro_bits": 0x200}, "our barometer", "0x200 of the bits 0x1A00"),
    "constant accel": ({"xacc": 0.0}, "our accelerometer", "STALE after 100"),
    "gyro below its last bit": ({"xgyro": 4e-4}, "our gyroscope", "STALE after 100"),
    "constant mag": ({"xmag": 0.2}, "our magnetometer", "100 readings in a row are the same"),
    "constant baro": ({"abs_pressure": 960.0}, "our barometer", "give [sensors.barometer] its noise"),
    "no GNSS": ({"gps_hz": 0}, "our GNSS", "denies take-off"),
    "GNSS at 25 Hz": ({"gps_hz": 25}, "our GNSS", "comes at 25 Hz"),
    "eph": ({"gps": {"eph": 301}}, "our GNSS", "eph 3.01 m, above 3"),
    "epv": ({"gps": {"epv": 501}}, "our GNSS", "epv 5.01 m, above 5"),
    "no fix": ({"gps": {"fix_type": 0, "satellites_visible": 0}}, "our GNSS", "fix type 0, not 3, 0 satellites, not 6"),
}


@pytest.mark.parametrize("name", SENSES)
def test_faults_of_our_senses_are_told_apart(name: str) -> None:
    change, finding, sentence = SENSES[name]
    findings = px4_senses_findings(tally(**change), plane=False, referenced=True)
    assert wrong(findings) == [finding]
    assert sentence in by_name(findings)[finding].sentence


def test_good_senses_have_no_fault() -> None:
    findings = px4_senses_findings(tally(), plane=False, referenced=True)
    assert all(finding.ok for finding in findings)
    assert by_name(findings)["our accelerometer"].sentence.startswith("250 Hz")


def test_a_gap_longer_than_the_timeout_is_seen() -> None:
    """50 Hz for 2 s and nothing for 0.4 s: the mean rate is right and PX4 reports TIMEOUT."""
    found = tally()
    last = replace_time(found, 2.4)
    findings = px4_senses_findings(last, plane=False, referenced=True)
    assert "our barometer" in wrong(findings)
    assert "400 ms go by without one" in by_name(findings)["our barometer"].sentence


def replace_time(found: Tally, t_s: float) -> Tally:
    """One HIL_SENSOR more, with the inertial unit only."""
    told = dict.fromkeys(HilSensor._fields, 0) | {"time_usec": round(1e6 * t_s), "fields_updated": FieldsUpdated.IMU}
    found.see(HilSensor(**told))
    return found


def test_planes_need_airspeed_and_a_missing_reference_is_said() -> None:
    findings = px4_senses_findings(tally(), plane=True, referenced=False)
    assert wrong(findings) == ["our airspeed"]
    assert by_name(findings)["our reference"].ok is None


def test_our_lines_for_ardupilot() -> None:
    assert ardupilot_senses_findings([], 0.00125)[0].ok is True
    assert "keep pace from 100 ms" in ardupilot_senses_findings([], 0.1)[0].sentence
    assert "gyro is missing" in ardupilot_senses_findings(["frame 0: imu/gyro is missing"], 0.01)[0].sentence


# PX4's own word.


def test_px4s_words_are_quoted_with_their_meaning() -> None:
    """STATUSTEXT as PX4 sends them: seen, but for the accelerometer's."""
    heard = Heard(
        [
            Text(2.5, 6, "[logger] ./log/2026-01-01/00_00_01.ulg"),
            Text(3.3, 0, "BARO #0 failed:  TIMEOUT!"),
            Text(6.7, 0, "Accel #0 fail: STALE"),
            Text(6.8, 0, "BARO #0 failed:  TIMEOUT!"),
            Text(15.0, 2, "Preflight Fail: barometer 0 missing"),
        ],
        statuses=90,
    )
    findings = said_findings(heard, 20.0, 14540)
    assert [finding.ok for finding in findings] == [False] * 3
    told = " / ".join(finding.sentence for finding in findings)
    assert "“BARO #0 failed:  TIMEOUT!” at 6.8 s: no reading for" in told
    assert "“Accel #0 fail: STALE” at 6.7 s: its values do not change" in told
    assert "“Preflight Fail: barometer 0 missing” at 15.0 s: PX4 has never got it" in told
    assert "logger" not in told


def test_sick_sensors_are_named_when_px4_has_settled() -> None:
    """Bits of SYS_STATUS: enabled 0x301C02F as seen, of which the barometer (8) is not healthy."""
    sick = sick_of(0x301C02F, 0x301C027)
    assert sick == ("barometer",)
    assert wrong(said_findings(Heard(statuses=9, sick=sick), SETTLED_S, 14540)) == ["PX4 says"]
    assert [f.ok for f in said_findings(Heard(statuses=9, sick=sick), 1.0, 14540)] == [None]
    assert [f.ok for f in said_findings(Heard(statuses=9), 20.0, 14540)] == [True]


def test_px4s_silence_is_no_fault() -> None:
    assert [f.ok for f in said_findings(Heard(), 20.0, 14540)] == [None]
    not_looked = said_findings(Heard(), 20.0, 14540, "pymavlink is not installed")
    assert [(f.ok, f.sentence) for f in not_looked] == [(None, "not looked at: pymavlink is not installed")]
    early = said_findings(Heard([Text(2.0, 2, "Preflight Fail: ekf2 missing data")], 20), 20.0, 14540)
    assert [f.ok for f in early] == [None]
    assert meaning_of("something new") == ""


# ArduPilot, gate by gate.

COPTER = ArdupilotFacts(
    rate_hz=800.0, copter=True, frames=8000, last_count=8000, frame_rate_hz=801, t_s=10.0, wall_s=2.0
)

ARDUPILOT_FAULTS: dict[str, tuple[ArdupilotFacts, str, str]] = {
    "strangers": (replace(COPTER, strangers=3, stranger="a MAVLink message"), "datagrams", "3 datagrams have come"),
    "first line": (
        replace(COPTER, frames=1, last_count=0, repeats_in_a_row=8, loss=Loss.REPEATING),
        "replies",
        "stays at 0, 9 times now: ArduPilot has rejected our first line",
    ),
    "repeating": (
        replace(COPTER, last_count=70, repeats_in_a_row=8, loss=Loss.REPEATING),
        "replies",
        "frame_count stays at 70",
    ),
    "silent": (replace(COPTER, loss=Loss.SILENT), "replies", "fell silent after 8000 frames"),
    "restarts": (replace(COPTER, restarts=2), "restarts", "frame_count fell 2 times"),
    "losses": (replace(COPTER, lost_frames=400), "packets", "400 frames of 8400 never came here"),
}


@pytest.mark.parametrize("name", ARDUPILOT_FAULTS)
def test_ardupilot_faults_are_told_apart(name: str) -> None:
    facts, gate, sentence = ARDUPILOT_FAULTS[name]
    findings = ardupilot_findings(facts)
    assert wrong(findings) == [gate]
    assert sentence in by_name(findings)[gate].sentence


def test_a_good_ardupilot_has_no_fault() -> None:
    assert all(finding.ok for finding in ardupilot_findings(COPTER))
    assert datagram_finding(2, "JSON text", False).sentence.startswith("2 datagrams have come and no servo packet")


def test_what_ardupilot_may_stumble_over_is_said() -> None:
    """ArduCopter arms from 1.8 times its loop on: "Gyro 0 rate 400Hz < loop ratex1.8 720Hz" (seen)."""
    slow = by_name(ardupilot_findings(replace(COPTER, rate_hz=400.0, frame_rate_hz=1200, first_count=50)))
    assert slow["arming rate"].ok is None
    assert "SCHED_LOOP_RATE up to 222" in slow["arming rate"].sentence
    assert (slow["frame rate"].ok, slow["restarts"].ok) == (None, None)
    assert "at frame 50 when we met" in slow["restarts"].sentence
    assert by_name(ardupilot_findings(replace(COPTER, rate_hz=720.0)))["arming rate"].ok is True
    assert "arming rate" not in by_name(ardupilot_findings(replace(COPTER, copter=False)))


# Whole looks, with fakes through sockets.


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less patience, no real autopilots in sight, and no port but the one under test."""
    monkeypatch.setattr(diagnosis_gather, "ENOUGH_S", {"px4": 0.5, "ardupilot": 0.5})
    monkeypatch.setattr(diagnosis_gather, "PATIENCE_S", 0.4)
    monkeypatch.setattr(diagnosis_gather, "PROBES", 40)
    monkeypatch.setattr(diagnosis_gather, "PROBE_S", 0.015)
    monkeypatch.setattr(diagnosis_gather, "AGAIN_S", 0.3)
    monkeypatch.setattr(diagnosis_gather, "LAST_WORDS_S", 0.0)
    monkeypatch.setattr(diagnosis_gather, "autopilots", lambda kind: [])
    monkeypatch.setattr(diagnosis_gather, "connected", lambda port: None)
    monkeypatch.setattr(diagnosis_gather, "Listener", Deaf)
    monkeypatch.setattr(diagnosis_px4, "MANY_SENSORS", 250)


class Deaf:
    """Hears no PX4."""

    def __init__(self, instance: int) -> None:
        self.heard, self.why_not, self.port = Heard(), "a test", 14540

    def poll(self, t_s: float) -> None:
        pass

    def close(self) -> None:
        pass


def look(kind: Any, come: Callable[[int], Any], for_s: float = 10.0, scenario: str = "quad-x500") -> list[Finding]:
    """All findings on whoever `come` starts for a port; it is stopped in the end."""
    come_here: list[Any] = []

    def tell(line: str) -> None:
        port = re.search(r"waiting .* on .*:(\d+);", line)
        if port:
            come_here.append(come(int(port[1])))

    request = Request(kind, load(scenario), port=0, for_s=for_s)
    try:
        return list(diagnose(request, tell))
    finally:
        for guest in come_here:
            if guest is not None:
                guest.stop()


@pytest.mark.usefixtures("_quick")
def test_a_good_px4_is_found_well() -> None:
    findings = look("px4", lambda port: FakePx4(port=port).start())
    assert wrong(findings) == []
    assert [f.name for f in findings if f.ok is None] == ["PX4 says"]


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(
    ("misbehaviour", "gate", "sentence"),
    [
        (Misbehaviour(never_answers=True), "answers", "no HIL_ACTUATOR_CONTROLS after 250"),
        (Misbehaviour(answered_share=0.5), "one to one", "answers only "),
        (Misbehaviour(silent_from=50), "one to one", "fell silent after 34 answers"),
        (Misbehaviour(closes_at=3), "greeting", "closed the connection after"),
        (Misbehaviour(clock_steps_at=30, clock_step_us=-50_001), "clock", "behind ours"),
        (Misbehaviour(clock_steps_at=30, clock_step_us=-8_000), "clock", "older time stamps only"),
        (Misbehaviour(clock_steps_at=30, clock_step_us=50_000), "clock", "ahead of ours"),
    ],
)
@pytest.mark.slow
def test_a_bad_px4_is_seen_through(misbehaviour: Misbehaviour, gate: str, sentence: str) -> None:
    findings = look("px4", lambda port: FakePx4(port=port, misbehaviour=misbehaviour).start())
    assert wrong(findings) == [gate]
    assert sentence in by_name(findings)[gate].sentence


@pytest.mark.usefixtures("_quick")
def test_a_good_ardupilot_is_found_well() -> None:
    findings = look("ardupilot", lambda port: FakeArdupilot(port).start())
    assert wrong(findings) == []


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(
    ("misbehaviour", "gate", "sentence"),
    [
        (ArdupilotMisbehaviour(rejects_from=0), "replies", "frame_count stays at 0"),
        (ArdupilotMisbehaviour(rejects_from=70), "replies", "frame_count stays at 70"),
        (ArdupilotMisbehaviour(silent_from=70), "replies", "fell silent after 70 frames"),
        (ArdupilotMisbehaviour(restarts_at=70), "restarts", "frame_count fell 1 times"),
        (ArdupilotMisbehaviour(strangers_every=50), "datagrams", "beside ArduPilot's that are none"),
    ],
)
@pytest.mark.slow
def test_a_bad_ardupilot_is_seen_through(misbehaviour: ArdupilotMisbehaviour, gate: str, sentence: str) -> None:
    findings = look("ardupilot", lambda port: FakeArdupilot(port, misbehaviour=misbehaviour).start())
    assert wrong(findings) == [gate]
    assert sentence in by_name(findings)[gate].sentence


class Sender:
    """Sends MAVLink to a port where servo packets are wanted."""

    def __init__(self, port: int) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(port,), daemon=True)
        self._thread.start()

    def _run(self, port: int) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            while not self._stopping.wait(0.05):
                with suppress(OSError):
                    out.sendto(b"\xfd" + bytes(20), ("127.0.0.1", port))

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()


@pytest.mark.usefixtures("_quick")
def test_wrong_datagrams_and_nobody() -> None:
    findings = look("ardupilot", Sender, for_s=0.5)
    assert wrong(findings) == ["datagrams", "connection"]
    assert "a MAVLink message" in by_name(findings)["datagrams"].sentence
    assert wrong(look("px4", lambda port: None, for_s=0.3)) == ["connection"]


@pytest.mark.usefixtures("_quick")
def test_a_flight_that_nobody_flies_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plane that starts in the air comes down: what PX4 says of its sensors then is no fault of the link."""
    monkeypatch.setattr(diagnosis_gather, "ENOUGH_S", {"px4": 60.0, "ardupilot": 60.0})
    findings = look("px4", lambda port: FakePx4(port=port).start(), for_s=30.0, scenario="plane-circuit")
    assert wrong(findings) == []
    assert "starts in the air" in by_name(findings)["flight"].sentence


@pytest.mark.usefixtures("_quick")
def test_whoever_wants_to_stop_gets_no_verdict() -> None:
    request = Request("px4", load("quad-x500"), port=0, for_s=60.0)
    assert wrong(list(diagnose(request, stopped=lambda: True))) == []


@pytest.fixture
def taken() -> Iterator[int]:
    """A port of PX4's kind that somebody has."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen(1)
        yield held.getsockname()[1]


def test_the_command_line_says_so_with_exit_code_3(taken: int) -> None:
    command = [sys.executable, "-m", "fieldworthy.cli.main", "doctor", "link", "px4", "--port", str(taken), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["ok"], answer["complete"], answer["scenario"]) == (False, True, "quad-x500")
    last = answer["findings"][-1]
    assert (last["name"], last["ok"]) == ("port", False)
    assert "taken by another program" in last["sentence"]
    if Path("/proc/self/net/tcp").exists():
        assert f"held by process {os.getpid()}" in last["sentence"]


def test_doctor_alone_is_still_about_the_machine() -> None:
    command = [sys.executable, "-m", "fieldworthy.cli.main", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "kernel" in json.loads(done.stdout)
