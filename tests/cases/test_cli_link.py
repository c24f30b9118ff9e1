"""`fieldworthy link` as a person uses it, with strict fakes of PX4 and ArduPilot on the other side.

Instances are 41 and up: real autopilots on this machine use the first.
Long because every option and every ending of the command has its test here.
"""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastcrc")

import fieldworthy
from fieldworthy.cli import link_service
from fieldworthy.cli.main import main
from fieldworthy.links.fake_ardupilot import FakeArdupilot
from fieldworthy.links.fake_px4 import FakePx4, Misbehaviour, armed_from
from fieldworthy.links.mavlink_messages import RcChannels

Capture = pytest.CaptureFixture[str]
TCP, UDP = 4560, 9002
"""Of instance 0."""


def command(capsys: Capture, *words: object) -> tuple[int, str, str]:
    """`fieldworthy link` in this process: (exit code, stdout, stderr)."""
    code = 0
    try:
        main(["link", *(str(word) for word in words)])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def linked(capsys: Capture, instance: int, *words: object, **px4: Any) -> tuple[int, dict[str, Any], str, FakePx4]:
    """One flight of quad-x500 with a fake PX4: (exit code, what --json printed, stderr, the fake)."""
    with FakePx4(port=TCP + instance, **px4) as fake:
        options = ("--instance", instance, "--once", "--json")
        code, out, err = command(capsys, "px4", "quad-x500", *options, *words)
    return code, json.loads(out), err, fake


# ------------------------------------------------------------------------------------------- one flight


def test_a_flight_of_two_seconds_as_fast_as_it_goes(capsys: Capture) -> None:
    code, facts, err, px4 = linked(capsys, 41, "--for", 2, "--speed", "max")
    assert code == 0
    assert (facts["trial"], facts["outcome"], facts["why"]) == (0, "stopped", "stopped at 2.000 s")
    assert (facts["time_s"], facts["lateness"], facts["recordings"]) == (2.0, None, [])
    assert px4.sensors == 500  # 250 Hz; none at 0 s, PX4's clock takes no 0
    assert px4.complaints == []
    assert "quad-x500 listens on TCP 127.0.0.1:4601" in err
    assert "PX4_SIM_MODEL=none_iris BUILD/bin/px4 -i 41 -d BUILD/etc" in err
    assert "waiting on TCP 127.0.0.1:4601" in err
    assert re.search(r"127\.0\.0\.1:\d+ has come: flight 0", err)


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "seconds"), [("4", 4), ("0.5", 0.6)])
def test_speed_is_simulated_over_wall_time(capsys: Capture, speed: str, seconds: float) -> None:
    code, facts, _, _ = linked(capsys, 42, "--for", seconds, "--speed", speed)
    assert code == 0
    assert facts["wall_s"] >= seconds / float(speed) - 0.01  # never ahead of the clock
    assert facts["speed"] <= float(speed) * 1.05
    assert facts["lateness"]["ticks"] == facts["time_s"] * 250


def test_real_time_counts_late_ticks(capsys: Capture) -> None:
    with FakePx4(port=TCP + 43):
        words = ("--instance", 43, "--once", "--for", 0.5, "--realtime")
        code, out, _ = command(capsys, "px4", "quad-x500", *words)
    assert code == 0
    assert "flight 0: stopped at 0.500 s; 0.5 s in " in out
    assert re.search(r"real time: .*\d % of 125 ticks within 1 ms of their time", out)


def test_a_recording_has_what_was_told_and_commanded(capsys: Capture, tmp_path: Path) -> None:
    pytest.importorskip("mcap")
    out = tmp_path / "new" / "folder"
    code, facts, _, _ = linked(
        capsys, 44, "--for", 2, "--speed", "max", "--record", "--out", out, "--trial", 5, controls=armed_from(1.0, 0.25)
    )
    assert code == 0
    assert [Path(path).name for path in facts["recordings"]] == ["trial-5.mcap", "trial-5.csv"]
    assert sorted(path.name for path in out.iterdir()) == ["trial-5.csv", "trial-5.mcap"]
    with (out / "trial-5.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    times = [float(row["t_s"]) for row in rows]
    assert times == pytest.approx([0.02 * i for i in range(101)])  # 50 Hz, and the end
    given = [float(row["cmd_throttle_0"]) for row in rows]
    assert given[:50] == [0.0] * 50
    assert given[52:] == [0.25] * 49


def test_trial_and_seed_draw_the_trial(capsys: Capture, tmp_path: Path) -> None:
    """Another trial has other noise, the same one the same; --set changes what it flies in."""
    first: list[str] = []
    for words in ((), (), ("--trial", 3), ("--seed", 9), ("--set", "air.wind_speed_m_s=0")):
        _, _, _, px4 = linked(capsys, 45, "--for", 0.2, "--speed", "max", *words)
        gps = [repr(message) for message in px4.heard if type(message).__name__ == "HilGps"]
        first.append(repr(px4._before) + "".join(gps))
    assert first[0] == first[1]
    assert len({*first[:4]}) == 3


def test_rate_and_remote_control(capsys: Capture) -> None:
    code, _, err, px4 = linked(
        capsys, 46, "--for", 1, "--speed", "max", "--rate", 100, "--rc", "1500,1500,1000,1500,1900"
    )
    assert code == 0
    assert px4.sensors in (99, 100)  # it may have been stopped before it has read its last bytes
    pulses = [message for message in px4.heard if isinstance(message, RcChannels)]
    assert 9 <= len(pulses) <= 11  # 10 Hz
    assert pulses[0].chan_raw[:6] == (1500, 1500, 1000, 1500, 1900, 65535)
    assert pulses[0].chancount == 5
    assert "IMU_GYRO_RATEMAX" not in err


def test_another_port_and_a_crash(capsys: Capture) -> None:
    """Full throttle for a second, then none: it climbs, falls and breaks; that is an ending, and no lost link."""
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    with FakePx4(port=port, controls=lambda t_s, sensed: (0.9,) * 4 if 0.5 < t_s < 1.3 else (0.0,) * 4):
        code, out, err = command(capsys, "px4", "quad-x500", "--port", port, "--once", "--speed", "max", "--json")
    facts = json.loads(out)
    assert (code, facts["outcome"]) == (0, "collision")
    assert "hit the ground" in facts["why"]
    assert f"TCP 127.0.0.1:{port}" in err


def test_ardupilot_is_served_too(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A boat with its LiDAR, which is moved another way; 1900 us on the third channel is full ahead."""
    monkeypatch.setattr(link_service, "STATUS_EVERY_S", 0.05)
    pulses = (1500, 0, 1900)
    with FakeArdupilot(UDP + 10 * 47, lambda t_s, state: pulses, vehicle="rover", rate_hz=100) as fake:
        words = ("--instance", 47, "--once", "--for", 3, "--speed", "max", "--json")
        code, out, err = command(capsys, "ardupilot", "rover-boat", *words)
    facts = json.loads(out)
    assert (code, facts["time_s"]) == (0, 3.0)
    assert fake.accepted >= 299
    assert fake.complaints == []
    assert "ardurover --model JSON -I47 --home 47.3977000,8.5456000,0,0" in err
    north = [float(n) for n in re.findall(r"north (-?[\d.]+) m, east", err)]
    assert north
    assert north[-1] > 2.0


# ------------------------------------------------------------------------------------------- lost links


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (Misbehaviour(closes_at=250), "link lost at 1.000 s: PX4 has closed the connection"),
        (Misbehaviour(silent_from=250), "has not answered the HIL_SENSOR of 1.000 s for 1 s"),
        (Misbehaviour(clock_steps_at=250, clock_step_us=10**7), "it has flown with another simulator before"),
    ],
)
def test_a_lost_autopilot_is_exit_code_3_and_its_flight_is_kept(
    capsys: Capture, tmp_path: Path, wrong: Misbehaviour, sentence: str
) -> None:
    pytest.importorskip("mcap")
    words = ("--speed", "max", "--record", "--out", tmp_path, "--patience", 1)
    code, facts, _, _ = linked(capsys, 48, *words, misbehaviour=wrong)
    assert (code, facts["outcome"]) == (3, "link lost")
    assert sentence in facts["why"]
    with (tmp_path / "trial-0.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert float(rows[-1]["t_s"]) == pytest.approx(1.0, abs=1e-9)
    assert (tmp_path / "trial-0.mcap").stat().st_size > 1000


# ------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("px4", "quad-x500", "--speed", "fast"), "'fast' is no speed; valid: max, or simulated over wall time"),
        (("px4", "quad-x500", "--speed", "0"), "'0' is no speed"),
        (("px4", "quad-x500", "--speed", "-1"), "'-1' is no speed"),
        (("px4", "quad-x500", "--speed", "nan"), "'nan' is no speed"),
        (("px4", "quad-x500", "--instances", "0"), "0 is not in the range 1<=x<=99"),
        (("px4", "quad-x500", "--instances", "2", "--port", "4700"), "--port and --instances do not go together"),
        (("px4", "quad-x500", "--rate", "0.5"), "0.5 is not in the range"),
        (("px4", "quad-x500", "--rate", "333.3"), "valid: such as"),
        (("px4", "quad-x500", "--patience", "0"), "0.0 is not in the range x>=0.1"),
        (("px4", "quad-x500", "--rc", "1500,a"), "not 1 to 18 pulses in us"),
        (("px4", "quad-x500", "--rc", ",".join(["1500"] * 19)), "not 1 to 18 pulses in us"),
        (("px4", "quad-x500", "--json-version", "9"), "'9' is not one of"),
        (("px4", "quad-x500", "--set", "vehicle.mass_kg"), "vehicle.mass_kg"),
        (("px4", "quad-x501"), "quad-x501"),
        (("px4", "quad-x500", "--host", "203.0.113.7"), "this machine has no such address; valid: 127.0.0.1"),
        (("px4", "quad-x500", "--for", "-1"), "-1.0 is not in the range"),
        (("vim", "quad-x500"), "'vim' is not one of 'px4', 'ardupilot'"),
        (("px4",), "Missing argument 'SCENARIO'"),
    ],
)
def test_bad_options_are_sentences(capsys: Capture, words: tuple[str, ...], sentence: str) -> None:
    with FakePx4(port=TCP + 49, misbehaviour=Misbehaviour(closes_at=1)):  # what is not refused ends all the same
        code, out, err = command(capsys, *words, "--instance", 49, "--once")
    assert (code, out) == (2, "")
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err


def test_a_port_that_is_taken_is_named(capsys: Capture) -> None:
    with socket.create_server(("127.0.0.1", TCP + 50)):
        code, _, err = command(capsys, "px4", "quad-x500", "--instance", 50)
    assert code == 2
    assert "TCP 127.0.0.1:4610: taken by another program; valid: a free port (another --instance or --port)" in err
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", UDP + 500))
        code, _, err = command(capsys, "ardupilot", "quad-x500", "--instance", 50)
    assert code == 2
    assert "UDP 127.0.0.1:9502: taken by another program" in err


def test_a_folder_that_cannot_be_is_told_before_the_flight(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with FakePx4(port=TCP + 51, misbehaviour=Misbehaviour(closes_at=1)):
            code, _, err = command(capsys, "px4", "quad-x500", "--instance", 51, "--once", "--record", "--out", out)
        assert code == 2
        assert f"--out {out}: cannot be made" in err
        assert "waiting on" not in err


def test_a_folder_for_nothing_is_refused(capsys: Capture, tmp_path: Path) -> None:
    with FakePx4(port=TCP + 51, misbehaviour=Misbehaviour(closes_at=1)):
        code, _, err = command(capsys, "px4", "quad-x500", "--instance", 51, "--once", "--out", tmp_path / "a")
    assert code == 2
    assert "--out goes with --record" in err
    assert not (tmp_path / "a").exists()


# ------------------------------------------------------------------------------------------- processes


class Running:
    """The command in a process and a session of its own, and what it has said so far."""

    def __init__(self, *words: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "fieldworthy.cli.main", "link", *(str(word) for word in words)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(Path(fieldworthy.__file__).parents[1]), "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self.said = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line

    def until(self, so: Callable[[str], bool], limit_s: float = 60.0) -> None:
        until = time.monotonic() + limit_s
        while not so(self.said):
            assert time.monotonic() < until, self.said
            assert self.process.poll() is None, self.said
            time.sleep(0.02)

    def end(self) -> int:
        """Its exit code, once it and all that it has started have ended."""
        code = self.process.wait(30.0)
        self._thread.join(10.0)  # the end of what it says is the end of all who can say something
        assert not self._thread.is_alive(), "somebody is still there"
        return code


@contextmanager
def running(*words: object) -> Iterator[Running]:
    found = Running(*words)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.process.terminate()
            found.process.wait(10.0)


needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@needs_signals
def test_one_autopilot_after_another_until_ctrl_c() -> None:
    """The first closes; the second, and one that restarts, are served by the same command; each flight is a trial."""
    with running("px4", "quad-x500", "--instance", 52, "--speed", "max") as it:
        it.until(lambda said: "waiting on" in said)
        with FakePx4(port=TCP + 52, misbehaviour=Misbehaviour(closes_at=100)):
            it.until(lambda said: "flight 0: link lost at 0.400 s" in said)
        with FakePx4(port=TCP + 52, misbehaviour=Misbehaviour(restarts_at=200)) as px4:
            it.until(lambda said: "has come: flight 2" in said)
            assert "flight 1: link lost at 0.800 s" in it.said
            assert px4.sessions == 2
            os.killpg(it.process.pid, signal.SIGINT)
            it.until(lambda said: "flight 2: stopped at" in said)
            assert px4.complaints == []
        assert it.end() == 0
    assert "Traceback" not in it.said


@pytest.mark.slow
@needs_signals
def test_ctrl_c_while_waiting() -> None:
    for words, code in (((), 0), (("--once",), 130)):
        with running("px4", "quad-x500", "--instance", 53, *words) as it:
            it.until(lambda said: "waiting on" in said)
            os.killpg(it.process.pid, signal.SIGINT)
            assert it.end() == code, it.said
            assert "Traceback" not in it.said


@needs_signals
@pytest.mark.parametrize("whom", ["all", "parent"])
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_two_instances_side_by_side(whom: str, number: signal.Signals) -> None:
    """Each on its port, at the same time; a signal ends both, given to all as by a terminal or to the first alone."""
    first = 54 if whom == "all" else 56
    with running("px4", "quad-x500", "--instances", 2, "--instance", first, "--speed", "max") as it:
        it.until(lambda said: said.count("waiting on") == 2)
        with FakePx4(port=TCP + first) as one, FakePx4(port=TCP + first + 1) as two:
            it.until(lambda said: "has come: flight 0" in said and "has come: flight 1" in said)
            until = time.monotonic() + 30.0
            while min(one.sensors, two.sensors) < 100:
                assert time.monotonic() < until
                time.sleep(0.02)
            (os.killpg if whom == "all" else os.kill)(it.process.pid, number)
            code = it.end()
        if number == signal.SIGINT:
            assert code == 0
            assert "flight 0: stopped at" in it.said  # each its own trial, so that they are not the same
            assert "flight 1: stopped at" in it.said
        assert "Traceback" not in it.said


def test_faults_that_cannot_reach_ardupilot_are_told(capsys: Capture) -> None:
    fault = 'faults=[{kind="sensor-loss", part="gnss", at_s=5}, {kind="rotor-loss", part="1", at_s=9}]'
    with FakeArdupilot(UDP + 10 * 48, lambda t_s, state: (1000,) * 4, rate_hz=800):
        words = ("--instance", 48, "--once", "--for", 0.5, "--speed", "max", "--set", fault)
        code, _, err = command(capsys, "ardupilot", "quad-x500", *words)
    assert code == 0
    assert err.count("does not reach ArduPilot") == 1
    assert "sensor-loss of the gnss does not reach ArduPilot" in err
