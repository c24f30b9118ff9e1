"""What a user is told to start, for each frame, port and address: what these programs take, read in their own sources.

PX4, px4-rc.mavlinksim: TCP 4560 + instance at PX4_SIM_HOSTNAME. ArduPilot, SITL_cmdline.cpp: `-I` adds ten times the
instance to the port that is set at that moment, so --sim-port-out stands behind it.
"""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastcrc")

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.start_lines import start_lines
from fieldworthy.scenario import load


def test_px4_of_a_quadrotor() -> None:
    lines = start_lines("px4", load("quad-x500"), "TCP 127.0.0.1:4560", 0, 250.0)
    assert lines[0] == "quad-x500 listens on TCP 127.0.0.1:4560"
    assert "  PX4_SIM_MODEL=none_iris BUILD/bin/px4 -i 0 -d BUILD/etc" in lines


def test_px4_of_a_plane() -> None:
    assert "PX4_SIM_MODEL=gazebo-classic_plane " in "\n".join(
        start_lines("px4", load("plane"), "TCP 127.0.0.1:4560", 0, 250.0)
    )


def test_px4_has_no_model_of_a_hexarotor_and_says_so() -> None:
    hexa = load("quad-hover", ["vehicle.model=hexa-f550"])
    said = "\n".join(start_lines("px4", hexa, "TCP 127.0.0.1:4560", 0, 250.0))
    assert "none_iris" not in said
    assert "PX4_SIM_MODEL=MODEL" in said
    assert "PX4 has none of hexa x for this link" in said
    assert "CA_ROTOR_COUNT 6" in said


@pytest.mark.parametrize(("instance", "port", "number"), [(0, 4560, 0), (3, 4563, 3), (0, 4567, 7), (5, 4560, 0)])
def test_px4_is_given_the_instance_that_its_port_has(instance: int, port: int, number: int) -> None:
    lines = start_lines("px4", load("quad-x500"), f"TCP 127.0.0.1:{port}", instance, 250.0)
    assert any(f"-i {number} -d" in line for line in lines)
    assert any(line.endswith(f"offboard programs on UDP {14540 + number}") for line in lines)


def test_px4_on_a_port_that_no_instance_has() -> None:
    lines = start_lines("px4", load("quad-x500"), "TCP 127.0.0.1:9999", 0, 250.0)
    assert any("for 9999 set simulator_tcp_port in" in line for line in lines)


@pytest.mark.parametrize(("address", "host"), [("0.0.0.0", "THIS_HOST"), ("192.168.0.7", "192.168.0.7")])
def test_from_another_machine(address: str, host: str) -> None:
    px4 = start_lines("px4", load("quad-x500"), f"TCP {address}:4560", 0, 250.0)
    assert any(line.startswith(f"  PX4_SIM_HOSTNAME={host} PX4_SIM_MODEL=none_iris ") for line in px4)
    ardupilot = start_lines("ardupilot", load("quad-x500"), f"UDP {address}:9002", 0, 800.0)
    assert any(f" --sim-address {host} " in line for line in ardupilot)
    for lines in (px4, ardupilot):
        assert lines[0].endswith(", open to the network")
        assert any(line.startswith("THIS_HOST being") for line in lines) == (host == "THIS_HOST")


@pytest.mark.parametrize(
    ("instance", "port", "told"),
    [(0, 9002, None), (2, 9022, None), (0, 9500, 9500), (2, 9002, 9002)],
)
def test_ardupilot_is_told_a_port_behind_its_instance(instance: int, port: int, told: int | None) -> None:
    said = "\n".join(start_lines("ardupilot", load("quad-x500"), f"UDP 127.0.0.1:{port}", instance, 800.0))
    found = re.search(rf"-I{instance} (?:--sim-port-out (\d+) )?--home", said)
    assert found is not None, said
    assert found[1] == (None if told is None else str(told))
    assert "--sim-address" not in said


def test_ardupilot_frames() -> None:
    """FRAME_CLASS and FRAME_TYPE as AP_Motors_Class.h numbers them."""
    quad, hexa = load("quad-hover"), load("quad-hover", ["vehicle.model=hexa-f550"])
    for scenario, frame in ((quad, "FRAME_CLASS 1, FRAME_TYPE 1"), (hexa, "FRAME_CLASS 2, FRAME_TYPE 1")):
        lines = start_lines("ardupilot", scenario, "UDP 127.0.0.1:9002", 0, 800.0)
        assert any(line.endswith(f"copter.parm with {frame}") for line in lines)
    plane = "\n".join(start_lines("ardupilot", load("plane"), "UDP 127.0.0.1:9002", 0, 800.0))
    assert "arduplane" in plane
    assert "plane.parm with SERVO3_MIN 1100, SERVO3_MAX 1900" in plane


def test_ardupilot_rover_is_told_how_it_is_read_and_to_avoid() -> None:
    boat = load("rover-boat")
    said = "\n".join(start_lines("ardupilot", boat, "UDP 127.0.0.1:9002", 0, 100.0))
    pulses = "SERVO1_MIN 1000, SERVO1_MAX 2000, SERVO3_MIN 1000, SERVO3_MAX 2000"
    assert f"rover.parm with FRAME_CLASS 2, {pulses}, PRX1_TYPE 2, OA_TYPE 1" in said
    assert "SERVO1 is read as the steering, SERVO3 as the throttle" in said
    said = "\n".join(start_lines("ardupilot", boat, "UDP 127.0.0.1:9002", 0, 100.0, skid=True))
    assert "SERVO1_FUNCTION 73, SERVO3_FUNCTION 74" in said
    assert "SERVO1 is read as the left throttle, SERVO3 as the right one" in said


def test_a_vehicle_without_a_frame_is_refused() -> None:
    with pytest.raises(FieldworthyError, match="no frame of px4"):
        start_lines("px4", load("vtol-transition"), "TCP 127.0.0.1:4560", 0, 250.0)
