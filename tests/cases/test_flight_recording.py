"""Recordings of flights: what robot tools read from them, against the campaign's own tracks and known answers."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flights import SCENARIO

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.scenario import load
from fieldworthy.trials.campaign import fly
from fieldworthy.trials.record import Flight, Recording
from fieldworthy.trials.recorder import record, write_recording
from fieldworthy.trials.result import Result
from fieldworthy.trials.save import save

mcap_reader = pytest.importorskip("mcap.reader")
mcap_ros2 = pytest.importorskip("mcap_ros2.decoder")
pytest.importorskip("rosbags")

TRIAL = 1
REFERENCE = "[reference]\nlon_deg = 10.0\nlat_deg = 45.0\n"
Read = dict[str, list[tuple[int, Any]]]


def read(path: Path) -> Read:
    """Every message: (log time, message) by topic."""
    messages = defaultdict(list)
    with path.open("rb") as stream:
        reader = mcap_reader.make_reader(stream, decoder_factories=[mcap_ros2.DecoderFactory()], validate_crcs=True)
        for _, channel, raw, message in reader.iter_decoded_messages():
            messages[channel.topic].append((raw.log_time, message))
    return dict(messages)


@pytest.fixture(scope="module", name="flown")
def a_flight_with_its_recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Read, list[dict[str, str]]]:
    folder = tmp_path_factory.mktemp("flight")
    path = folder / "hop.toml"
    path.write_text(SCENARIO + REFERENCE)
    scenario = load(path)
    mcap, table = write_recording(record(scenario, TRIAL, {}), folder)
    with table.open(encoding="utf-8") as file:
        return fly(scenario, [TRIAL]), read(mcap), list(csv.DictReader(file))


def of(result: Result, name: str) -> np.ndarray[Any, Any]:
    return np.asarray(result.tracks[name][0, : result.length[0]], float)


def test_a_recording_flies_as_the_campaign(flown: tuple[Result, Read, list[dict[str, str]]]) -> None:
    """The CSV has all of the campaign's tracks, by their names where they have no other form."""
    result, _, rows = flown
    assert len(rows) == result.length[0]
    for name in ("north_m", "airspeed_m_s", "rotor_2_rad_s", "voltage_v", "charge", "cmd_up_m", "target", "margin"):
        column = np.array([float(row[name]) for row in rows])
        np.testing.assert_array_equal(column, of(result, name))
    down = np.array([float(row["vel_down_m_s"]) for row in rows])
    np.testing.assert_array_equal(down, -of(result, "up_m_s"))
    rate = np.array([float(row["pitch_rate_rad_s"]) for row in rows])
    np.testing.assert_array_equal(rate, of(result, "pitch_rate_rad_s"))
    pitch = np.array([float(row["pitch_rad"]) for row in rows])
    np.testing.assert_allclose(pitch, of(result, "pitch_rad"), atol=1e-6)


def test_pose_setpoint_and_estimate_are_east_north_up(flown: tuple[Result, Read, list[dict[str, str]]]) -> None:
    result, topics, _ = flown
    for sample in (0, 100, result.length[0] - 1):
        at = {name: float(values[0, sample]) for name, values in result.tracks.items()}
        pose = topics["/odom"][sample][1].pose.pose.position
        assert (pose.x, pose.y, pose.z) == pytest.approx((at["east_m"], at["north_m"], at["up_m"]))
        believed = topics["/estimate"][sample][1].pose.position
        wanted = (at["believed_east_m"], at["believed_north_m"], at["believed_up_m"])
        assert (believed.x, believed.y, believed.z) == pytest.approx(wanted)
        asked = topics["/setpoint/pose"][sample][1].pose
        assert asked.position.z == pytest.approx(3.0)
        # A heading clockwise from north is a yaw counter-clockwise from east.
        yaw = math.pi / 2 - at["cmd_heading_rad"]
        assert abs(asked.orientation.w) == pytest.approx(abs(math.cos(yaw / 2)), abs=1e-6)
        wind = topics["/wind"][sample][1].vector
        assert (wind.x, wind.y) == pytest.approx((at["wind_east_m_s"], at["wind_north_m_s"]))


def test_rotors_and_battery(flown: tuple[Result, Read, list[dict[str, str]]]) -> None:
    result, topics, _ = flown
    last = result.length[0] - 1
    rotors = topics["/rotors"][last][1]
    assert rotors.name == ["rotor_0", "rotor_1", "rotor_2", "rotor_3"]
    assert rotors.velocity[3] == pytest.approx(of(result, "rotor_3_rad_s")[last])
    assert len(rotors.position) == 0
    battery = topics["/battery"][last][1]
    assert battery.percentage == pytest.approx(of(result, "charge")[last])
    # sensor_msgs/BatteryState: negative when discharging.
    assert battery.current == pytest.approx(-of(result, "current_a")[last])
    assert math.isnan(battery.temperature)


def test_devices_say_each_reading_once_and_late(flown: tuple[Result, Read, list[dict[str, str]]]) -> None:
    """GNSS at its rate, heard after its latency, near the truth within what its error allows."""
    result, topics, rows = flown
    fixes = topics["/gnss/position"]
    stamps = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for _, m in fixes])
    logged = np.array([1e-9 * ns for ns, _ in fixes])
    values = load_gnss(result)
    assert np.diff(stamps) == pytest.approx(1.0 / values["rate_hz"], abs=1e-4)
    assert (logged - stamps >= values.get("latency_s", 0.0) - 1e-4).all()
    errors = np.array([m.point.z for _, m in fixes]) - np.interp(stamps, result.t_s[: len(rows)], of(result, "up_m"))
    assert 0.0 < np.abs(errors).max() < 6.0 * values["vertical_sigma_m"]
    gps = topics["/gps"][-1][1]
    point = fixes[-1][1].point
    # A metre of latitude is 1 / 111,132 deg at 45 degrees (WGS 84: meridian radius 6,367,382 m).
    assert gps.latitude - 45.0 == pytest.approx(math.degrees(point.y / 6_367_382.0), rel=1e-3)
    assert gps.altitude == pytest.approx(point.z)
    # At rest on the ground before take-off the unit feels the ground's push, 1 g upwards: +z in FLU.
    inertial = topics["/imu"][0][1]
    assert inertial.linear_acceleration.z == pytest.approx(9.80665, abs=0.5)
    assert inertial.orientation_covariance[0] == -1.0
    assert len(topics["/imu"]) == len(rows) - 1
    pressure = topics["/barometer"][-1][1].fluid_pressure
    assert 95_000.0 < pressure < 105_000.0
    field = topics["/magnetometer"][-1][1].magnetic_field
    assert 3e-5 < math.hypot(field.x, field.y, field.z) < 7e-5
    heard = [row["gnss.stamp_s"] for row in rows]
    assert heard[0] == "nan"
    assert heard[-1] != "nan"


def load_gnss(result: Result) -> dict[str, float]:
    assert result.scenario.sensors.gnss is not None
    return dict(result.scenario.sensors.gnss.values)


def test_odometry_and_optical_flow_are_in_the_axes_of_ros(tmp_path: Path) -> None:
    """Odometry against the true one, and flow to the right as flow to the left with the other sign."""
    devices = (
        '[sensors.optical_flow]\nmodel = "pmw3901"\n[sensors.odometry]\nmodel = "mocap"\n[sensors.odometry.set]\n'
        "rate_hz = 50.0\nvelocity_noise_m_s = 0.0\nlatency_s = 0.0\ndropout = 0.0\n"
    )
    path = tmp_path / "hop.toml"
    path.write_text(SCENARIO.replace("duration_s = 8.0", "duration_s = 2.0") + devices)
    recording = record(load(path), TRIAL, {})
    mcap, _ = write_recording(recording, tmp_path)
    topics = read(mcap)
    poses = {round(m.header.stamp.sec * 50 + m.header.stamp.nanosec / 2e7): m for _, m in topics["/odometry"]}
    true = {round(m.header.stamp.sec * 50 + m.header.stamp.nanosec / 2e7): m for _, m in topics["/odom"]}
    assert len(poses) > 50
    for tick in sorted(poses.keys() & true.keys())[10:]:
        found, so = poses[tick], true[tick]
        assert (found.header.frame_id, found.child_frame_id) == ("map", "base_link")
        for axis in "xyz":
            # Half a millimetre of noise; velocity without any.
            at, true_at = (getattr(m.pose.pose.position, axis) for m in (found, so))
            assert at == pytest.approx(true_at, abs=0.005)
            assert getattr(found.twist.twist.linear, axis) == pytest.approx(
                getattr(so.twist.twist.linear, axis), abs=1e-4
            )
        turn = sum(
            getattr(found.pose.pose.orientation, part) * getattr(so.pose.pose.orientation, part) for part in "wxyz"
        )
        assert abs(turn) == pytest.approx(1.0, abs=1e-4)
        assert (found.pose.covariance[0], found.twist.covariance[21]) == (pytest.approx(0.0005**2), -1.0)
    assert recording.flight is not None
    heard = recording.flight.devices["optical_flow"]
    last = topics["/optical_flow"][-1][1]
    assert (last.vector.x, last.vector.y) == (heard["integrated_x_rad"][-1], -heard["integrated_y_rad"][-1])
    assert topics["/optical_flow/quality"][-1][1].data == heard["quality"][-1]


def test_what_a_flight_has_not_is_no_topic(flown: tuple[Result, Read, list[dict[str, str]]]) -> None:
    topics = set(flown[1])
    assert not topics & {
        "/points",
        "/tf_static",
        "/cmd_vel",
        "/surfaces",
        "/load",
        "/airspeed",
        "/rangefinder",
        "/odometry",
    }


def test_the_goal_is_a_ball_at_its_height(flown: tuple[Result, Read, list[dict[str, str]]]) -> None:
    (goal,) = flown[1]["/goal"][0][1].markers
    assert (goal.pose.position.z, goal.scale.x, goal.scale.z, goal.type) == (3.0, 3.0, 3.0, 2)


def test_arrays_of_another_length_are_refused(tmp_path: Path) -> None:
    zero = np.zeros(2)
    whole: dict[str, Any] = {
        "name": "n", "trial": 0, "seed": 1, "provenance": {}, "t_s": np.array([0.0, 0.1]), "north_m": zero,
        "east_m": zero, "down_m": zero, "quat_ned_from_frd": np.tile((1.0, 0.0, 0.0, 0.0), (2, 1)),
        "vel_ned_m_s": np.zeros((2, 3)), "rate_frd_rad_s": np.zeros((2, 3)), "mode": np.zeros(2, np.int8),
        "clearance_m": zero,
    }  # fmt: skip
    with pytest.raises(FieldworthyError, match=r"flight\.tracks\['margin'\] has shape \(3,\); valid: \(2,\)"):
        Recording(**whole, flight=Flight(tracks={"margin": np.zeros(3)}))
    with pytest.raises(FieldworthyError, match="cmd_surge_m_s has shape"):
        Recording(**whole)


THROTTLES = """
import fieldworthy as fw

class Lift:
    reads_deg = None

    def command(self, readings, parameters):
        return fw.Actuation(throttle=(0.7, 0.7, 0.7, 0.6))
"""


def test_a_controller_of_actuators_is_recorded_and_reported(tmp_path: Path) -> None:
    """There is no setpoint then: each throttle is a topic of its own, and the page has them in the place of one."""
    (tmp_path / "lift_plug.py").write_text(THROTTLES)
    control = '[control]\ncontroller = "lift_plug:Lift"\ncommands = "actuators"\n'
    path = tmp_path / "lift.toml"
    path.write_text(SCENARIO.replace("duration_s = 8.0", "duration_s = 2.0") + control)
    scenario = load(path)
    mcap, _ = write_recording(record(scenario, 0, {}), tmp_path)
    topics = read(mcap)
    assert topics["/command/throttle_3"][5][1].data == pytest.approx(0.6)
    assert "/setpoint/pose" not in topics
    page = (save(fly(scenario), tmp_path / "run", "a test") / "report.html").read_text()
    assert "Throttles" in page
    assert "no autopilot: the controller commands throttles and surfaces" in page
