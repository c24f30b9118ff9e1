"""Recordings read back by other people's readers, against answers known beforehand.

The case: a boat on its way east at 2 m/s along north = 5 m, a 1 m wide pile ahead of it at east = 20 m. In ENU the boat
points along x, so its yaw is 0, and wherever the boat is, the rays that hit the pile must land at (19.5, 5, 2).
"""

from __future__ import annotations

import csv
import math
import os
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldworthy.core.errors import FieldworthyError, MissingExtraError
from fieldworthy.environment.shapes import Box, Cylinder, Polygon, Polyline, Sphere
from fieldworthy.trials.record import Cloud, Recording, streams, write_csv, write_mcap
from fieldworthy.trials.record.recording import nanoseconds

pytest.importorskip("rosbags")
mcap_reader = pytest.importorskip("mcap.reader")
mcap_ros2 = pytest.importorskip("mcap_ros2.decoder")

SPEED_M_S = 2.0
SAMPLES = 31
PERIOD_S = 0.1
EAST_FACE_M = 19.5
HALF = math.sqrt(0.5)
NOSE_EAST = (HALF, 0.0, 0.0, HALF)
LAYOUT = (
    Cylinder(north_m=5.0, east_m=20.0, radius_m=0.5, top_up_m=3.0, bottom_up_m=-1.0, label="pile"),
    Sphere(north_m=40.0, east_m=-7.0, up_m=1.0, radius_m=0.8),
    Box(north_m=10.0, east_m=0.0, length_m=4.0, width_m=2.0, heading_rad=math.pi / 2, top_up_m=2.0, bottom_up_m=-2.0),
    Polygon(
        points_ne_m=((0.0, 100.0), (10.0, 100.0), (10.0, 120.0), (0.0, 120.0)),
        holes_ne_m=(((2.0, 105.0), (4.0, 105.0), (4.0, 110.0), (2.0, 110.0)),),
        top_up_m=3.0,
        bottom_up_m=-1.0,
    ),
    Polyline(points_ne_m=((0.0, -50.0), (30.0, -50.0), (30.0, -60.0)), top_up_m=1.0, bottom_up_m=0.0),
    Cylinder(north_m=0.0, east_m=50.0, radius_m=1.0, top_up_m=2.0, bottom_up_m=0.0, vel_north_m_s=3.0, label="ferry"),
)


def _cloud(index: int) -> Cloud:
    """Two rays at different times of one sweep, from the mast 1 m ahead of the boat's origin and 2 m above it."""
    start_s = index * PERIOD_S
    offsets_s = np.array([0.02, 0.08], dtype=np.float32)
    ranges_m = EAST_FACE_M - (SPEED_M_S * (start_s + offsets_s.astype(float)) + 1.0)
    # The LiDAR is mounted looking to starboard (90 degrees right), so straight ahead is its left: negative y in FRD.
    points = np.column_stack((np.zeros(2), -ranges_m, np.zeros(2)))
    ring = np.array([3, 15], dtype=np.uint16)
    return Cloud(
        t_start_s=start_s,
        t_end_s=start_s + PERIOD_S,
        points_frd_m=points.astype(np.float32),
        range_m=ranges_m,
        ring=ring,
        time_offset_s=offsets_s,
    )


def _recording(**changes: Any) -> Recording:
    t_s = np.arange(SAMPLES) * PERIOD_S
    zero = np.zeros(SAMPLES)
    values: dict[str, Any] = {
        "name": "nose-east",
        "trial": 3,
        "seed": 7,
        "provenance": {"fieldworthy": "0.1.0", "scenario_sha256": "abc"},
        "t_s": t_s,
        "north_m": zero + 5.0,
        "east_m": SPEED_M_S * t_s,
        "down_m": zero,
        "quat_ned_from_frd": np.tile(NOSE_EAST, (SAMPLES, 1)),
        "vel_ned_m_s": np.tile((0.0, SPEED_M_S, 0.0), (SAMPLES, 1)),
        "rate_frd_rad_s": np.tile((0.1, 0.2, 0.3), (SAMPLES, 1)),
        "cmd_surge_m_s": zero + 2.5,
        "cmd_yaw_rate_rad_s": zero + 0.4,
        "mode": (np.arange(SAMPLES) % 3).astype(np.int8),
        "clearance_m": 10.0 - t_s,
        "outcome": "goal",
        "why": "reached the goal",
        "sensors": {"log.speed_m_s": np.where(t_s < 0.25, np.nan, t_s)},
        "clouds": [_cloud(index) for index in range(SAMPLES - 1)],
        "lidar_translation_frd_m": (1.0, 0.0, -2.0),
        "quat_body_from_lidar": (HALF, 0.0, 0.0, HALF),
        "layout": LAYOUT,
        "goal": (5.0, 60.0, 4.0),
        "waypoints": ((0.0, 30.0, 3.0),),
        "hull_frd_m": np.array([[2.5, 0.0], [-2.5, 1.0], [-2.5, -1.0]]),
        "reference_lon_lat_deg": (-122.44, 47.26),
    }
    return Recording(**{**values, **changes})


def _read(path: Path) -> dict[str, list[tuple[int, Any]]]:
    """Every message, decoded by mcap-ros2-support: (log time, message) by topic."""
    messages = defaultdict(list)
    with path.open("rb") as stream:
        reader = mcap_reader.make_reader(stream, decoder_factories=[mcap_ros2.DecoderFactory()], validate_crcs=True)
        for _, channel, raw, message in reader.iter_decoded_messages():
            messages[channel.topic].append((raw.log_time, message))
    return dict(messages)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "trial.mcap"
    write_mcap(path, _recording())
    return path


@pytest.fixture(scope="module")
def topics(written: Path) -> dict[str, list[tuple[int, Any]]]:
    return _read(written)


def _stamp_ns(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def _matrix(rotation: Any) -> np.ndarray[Any, Any]:
    """Rotation matrix of a ROS quaternion, from the textbook formula (Diebel 2006, eq. 125, transposed)."""
    w, x, y, z = rotation.w, rotation.x, rotation.y, rotation.z
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _xyz(vector: Any) -> np.ndarray[Any, Any]:
    return np.array([vector.x, vector.y, vector.z])


def test_message_counts(topics: dict[str, list[tuple[int, Any]]]) -> None:
    each = ("/clock", "/tf", "/odom", "/cmd_vel", "/mode", "/clearance", "/gps")
    once = ("/tf_static", "/obstacles", "/goal", "/hull")
    counts = {**dict.fromkeys(each, SAMPLES), **dict.fromkeys(once, 1)}
    counts |= {"/sensors/log/speed_m_s": SAMPLES - 3}  # silent for the first three samples
    counts |= {"/path": 4, "/points": SAMPLES - 1, "/obstacles/moving": 31}
    assert {topic: len(messages) for topic, messages in topics.items()} == counts


def test_stamps_are_simulated_time_to_the_nanosecond(topics: dict[str, list[tuple[int, Any]]]) -> None:
    ticks = [index * 100_000_000 for index in range(SAMPLES)]
    for topic in ("/clock", "/tf", "/odom", "/cmd_vel", "/mode", "/clearance", "/gps", "/obstacles/moving"):
        assert [ns for ns, _ in topics[topic]] == ticks, topic
    assert [_stamp_ns(message.clock) for _, message in topics["/clock"]] == ticks
    assert [_stamp_ns(message.transforms[0].header.stamp) for _, message in topics["/tf"]] == ticks
    assert [_stamp_ns(message.header.stamp) for _, message in topics["/points"]] == ticks[:-1]
    assert [ns for ns, _ in topics["/points"]] == ticks[1:]


def test_an_hour_of_ticks_is_exact() -> None:
    # 205 * 0.01 * 1e9 is 2049999999.9999998: cutting it off instead of rounding would be 1 ns early.
    assert [nanoseconds(tick * 0.01) for tick in range(360_000)] == [tick * 10_000_000 for tick in range(360_000)]


def test_nose_east_is_yaw_zero(topics: dict[str, list[tuple[int, Any]]]) -> None:
    ns, message = topics["/tf"][10]
    transform = message.transforms[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("map", "base_link")
    assert _xyz(transform.transform.translation) == pytest.approx([SPEED_M_S * ns * 1e-9, 5.0, 0.0], abs=1e-12)
    assert _matrix(transform.transform.rotation) == pytest.approx(np.eye(3), abs=1e-12)


@pytest.mark.parametrize(
    ("quat_ned_from_frd", "axes"),
    [
        ((1.0, 0.0, 0.0, 0.0), [(0, 1, 0), (-1, 0, 0), (0, 0, 1)]),  # nose north: forward = +y, left = west
        ((HALF, HALF, 0.0, 0.0), [(0, 1, 0), (0, 0, 1), (1, 0, 0)]),  # north, right side down: left = up, deck = east
        ((HALF, 0.0, HALF, 0.0), [(0, 0, 1), (-1, 0, 0), (0, -1, 0)]),  # nose up
    ],
)
def test_attitudes(tmp_path: Path, quat_ned_from_frd: tuple[float, ...], axes: list[tuple[int, int, int]]) -> None:
    path = tmp_path / "attitude.mcap"
    write_mcap(path, _recording(quat_ned_from_frd=np.tile(quat_ned_from_frd, (SAMPLES, 1)), clouds=[], layout=()))
    rotation = _read(path)["/tf"][0][1].transforms[0].transform.rotation
    np.testing.assert_allclose(_matrix(rotation).T, axes, atol=1e-12)


@pytest.mark.parametrize(
    ("quat_body_from_lidar", "axes"),
    [
        ((HALF, 0.0, -HALF, 0.0), [(0, 0, -1), (0, 1, 0), (1, 0, 0)]),  # looks down: its top is forward
        ((HALF, HALF, 0.0, 0.0), [(1, 0, 0), (0, 0, 1), (0, -1, 0)]),  # right side down: its left is up
    ],
)
def test_mounts(tmp_path: Path, quat_body_from_lidar: tuple[float, ...], axes: list[tuple[int, int, int]]) -> None:
    path = tmp_path / "mount.mcap"
    write_mcap(path, _recording(quat_body_from_lidar=quat_body_from_lidar, clouds=[], layout=()))
    mount = _read(path)["/tf_static"][0][1].transforms[0].transform
    np.testing.assert_allclose(_matrix(mount.rotation).T, axes, atol=1e-12)
    assert _xyz(mount.translation).tolist() == [1.0, 0.0, 2.0]


def test_signs_of_velocity_and_rates(topics: dict[str, list[tuple[int, Any]]]) -> None:
    odometry = topics["/odom"][0][1]
    assert (odometry.header.frame_id, odometry.child_frame_id) == ("map", "base_link")
    assert _xyz(odometry.twist.twist.linear) == pytest.approx([SPEED_M_S, 0.0, 0.0], abs=1e-12)
    assert _xyz(odometry.twist.twist.angular) == pytest.approx([0.1, -0.2, -0.3])
    command = topics["/cmd_vel"][0][1]
    assert command.linear.x == 2.5
    assert command.angular.z == -0.4, "a turn to starboard is clockwise, negative in FLU"


def test_points_land_on_the_pile(topics: dict[str, list[tuple[int, Any]]]) -> None:
    mount = topics["/tf_static"][0][1].transforms[0]
    assert (mount.header.frame_id, mount.child_frame_id) == ("base_link", "lidar")
    poses = [message.transforms[0].transform for _, message in topics["/tf"]]
    pose_t_s = [ns * 1e-9 for ns, _ in topics["/tf"]]
    layout = np.dtype(
        [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("time", "<f4")]
    )
    for _, cloud in topics["/points"]:
        assert [(field.name, field.offset, field.datatype) for field in cloud.fields] == [
            ("x", 0, 7),
            ("y", 4, 7),
            ("z", 8, 7),
            ("intensity", 12, 7),
            ("ring", 16, 4),
            ("time", 18, 7),
        ]
        assert (cloud.header.frame_id, cloud.width, cloud.height, cloud.point_step) == ("lidar", 2, 1, 22)
        assert cloud.is_dense
        points = np.frombuffer(bytes(cloud.data), dtype=layout)
        assert points["ring"].tolist() == [3, 15]
        for point in points:
            at_s = _stamp_ns(cloud.header.stamp) * 1e-9 + float(point["time"])
            position = [np.interp(at_s, pose_t_s, [_xyz(p.translation)[axis] for p in poses]) for axis in range(3)]
            in_body = _matrix(mount.transform.rotation) @ [point["x"], point["y"], point["z"]]
            in_body = in_body + _xyz(mount.transform.translation)
            in_map = _matrix(poses[0].rotation) @ in_body + position
            assert in_map == pytest.approx([EAST_FACE_M, 5.0, 2.0], abs=1e-5)


def test_obstacles_stand_where_they_are(topics: dict[str, list[tuple[int, Any]]]) -> None:
    by_id = {marker.id: marker for marker in topics["/obstacles"][0][1].markers}
    assert sorted(by_id) == [0, 1, 2, 3, 4]
    pile, ball, box, prism, wall = (by_id[number] for number in range(5))
    assert [marker.type for marker in by_id.values()] == [3, 2, 1, 11, 11]
    assert pile.ns == "pile"
    assert _xyz(pile.pose.position).tolist() == [20.0, 5.0, 1.0]
    assert _xyz(pile.scale).tolist() == [1.0, 1.0, 4.0]
    assert _xyz(ball.pose.position).tolist() == [-7.0, 40.0, 1.0]
    assert _matrix(box.pose.orientation) == pytest.approx(np.eye(3), abs=1e-12), "a box heading east lies along x"
    assert _xyz(box.scale).tolist() == [4.0, 2.0, 4.0]
    corners = np.array([_xyz(point) for point in prism.points]) + _xyz(prism.pose.position)
    assert corners.min(axis=0).tolist() == [100.0, 0.0, -1.0]
    assert corners.max(axis=0).tolist() == [120.0, 10.0, 3.0]
    # Divergence theorem: closed, outward triangles enclose the volume of the ring, (200 - 10) m2 x 4 m.
    a, b, c = corners[0::3], corners[1::3], corners[2::3]
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(760.0)
    sides = np.array([_xyz(point) for point in wall.points]).reshape(-1, 3, 3)
    area = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1).sum() / 2.0
    assert area == pytest.approx(40.0)


def test_moving_obstacle_goal_and_hull(topics: dict[str, list[tuple[int, Any]]]) -> None:
    for ns, message in topics["/obstacles/moving"]:
        (ferry,) = message.markers
        assert (ferry.id, ferry.ns, ferry.header.frame_id) == (5, "ferry", "map")
        assert _xyz(ferry.pose.position) == pytest.approx([50.0, 3.0 * ns * 1e-9, 1.0])
    goal, waypoint = topics["/goal"][0][1].markers
    assert (goal.ns, waypoint.ns) == ("goal", "waypoint")
    assert _xyz(goal.pose.position).tolist() == [60.0, 5.0, 0.0]
    assert (goal.scale.x, waypoint.scale.x) == (8.0, 6.0)
    hull = topics["/hull"][0][1]
    assert hull.frame_locked
    assert hull.header.frame_id == "base_link"
    assert [(point.x, point.y) for point in hull.points] == [(2.5, 0.0), (-2.5, -1.0), (-2.5, 1.0), (2.5, 0.0)]


def test_path_grows_and_ends_at_the_boat(topics: dict[str, list[tuple[int, Any]]]) -> None:
    assert [ns for ns, _ in topics["/path"]] == [0, 1_000_000_000, 2_000_000_000, 3_000_000_000]
    assert [len(message.poses) for _, message in topics["/path"]] == [1, 11, 21, 31]
    assert topics["/path"][-1][1].poses[-1].pose.position.x == pytest.approx(6.0)


def test_scalars_and_gps(topics: dict[str, list[tuple[int, Any]]]) -> None:
    assert [message.data for _, message in topics["/mode"]] == [index % 3 for index in range(SAMPLES)]
    assert topics["/clearance"][30][1].data == pytest.approx(7.0)
    first, last = topics["/gps"][0][1], topics["/gps"][-1][1]
    # On WGS 84 a degree is 111.17 km northwards and 75.66 km eastwards at 47.26 N (NGA.STND.0036, series for latitude).
    assert first.latitude - 47.26 == pytest.approx(5.0 / 111_177.0, rel=1e-3)
    assert last.longitude - first.longitude == pytest.approx(6.0 / 75_682.0, rel=1e-3)
    assert first.longitude == pytest.approx(-122.44)


def test_rosbags_reads_all_of_it(written: Path, topics: dict[str, list[tuple[int, Any]]]) -> None:
    from rosbags.highlevel import AnyReader
    from rosbags.interfaces import ConnectionExtRosbag2, QosDurability

    counts: dict[str, int] = defaultdict(int)
    with AnyReader([written]) as reader:
        last_ns = 0
        for connection, ns, raw in reader.messages():
            assert ns >= last_ns
            last_ns = ns
            reader.deserialize(raw, connection.msgtype)
            counts[connection.topic] += 1
        latched = set()
        for connection in reader.connections:
            assert isinstance(connection.ext, ConnectionExtRosbag2)
            (qos,) = connection.ext.offered_qos_profiles
            if qos.durability == QosDurability.TRANSIENT_LOCAL:
                latched.add(connection.topic)
    assert latched == {"/tf_static", "/obstacles", "/goal", "/hull"}
    assert counts == {topic: len(messages) for topic, messages in topics.items()}


def test_provenance_and_format(written: Path) -> None:
    with written.open("rb") as stream:
        reader = mcap_reader.make_reader(stream)
        metadata = {record.name: record.metadata for record in reader.iter_metadata()}
        summary = reader.get_summary()
        assert reader.get_header().profile == "ros2"
    assert metadata["fieldworthy"]["scenario_sha256"] == "abc"
    assert metadata["fieldworthy"]["trial"] == "3"
    assert metadata["fieldworthy"]["seed"] == "7"
    assert metadata["fieldworthy"]["outcome"] == "goal"
    assert metadata["fieldworthy"]["why"] == "reached the goal"
    assert {index.compression for index in summary.chunk_indexes} == {"lz4"}
    kinds = [schema.name for schema in summary.schemas.values()]
    assert len(kinds) == len(set(kinds))


def test_the_same_recording_is_the_same_file(written: Path, tmp_path: Path) -> None:
    write_mcap(tmp_path / "again.mcap", _recording())
    assert (tmp_path / "again.mcap").read_bytes() == written.read_bytes()


def test_trial_that_became_non_finite(tmp_path: Path) -> None:
    east = _recording().east_m.copy()
    east[-1] = np.nan
    path = tmp_path / "non-finite.mcap"
    write_mcap(path, _recording(east_m=east))
    topics = _read(path)
    assert len(topics["/clock"]) == SAMPLES
    assert len(topics["/tf"]) == len(topics["/odom"]) == len(topics["/gps"]) == SAMPLES - 1
    write_csv(path.with_suffix(".csv"), _recording(east_m=east))
    assert path.with_suffix(".csv").read_text().splitlines()[-1].split(",")[2] == "nan"


def test_path_of_a_long_trial_is_thinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PATH_MESSAGES", 20)
    monkeypatch.setattr(streams, "PATH_POSES", 50)
    count = 301
    one = _recording()
    repeat: dict[str, Any] = {
        name: np.resize(getattr(one, name), (count, *getattr(one, name).shape[1:])) for name in _PER_SAMPLE
    }
    long = replace(one, **repeat, t_s=np.arange(count) * 1.0, sensors={}, clouds=[], layout=())
    write_mcap(tmp_path / "long.mcap", long)
    with (tmp_path / "long.mcap").open("rb") as stream:
        messages = list(mcap_reader.make_reader(stream).iter_messages(["/path"]))
    assert len(messages) == 21
    schema, _, raw = messages[-1]
    assert raw.log_time == 300 * 1_000_000_000
    last = mcap_ros2.DecoderFactory().decoder_for("cdr", schema)(raw.data)
    assert 40 <= len(last.poses) <= 51
    assert last.poses[-1].pose.position.x == one.east_m[(count - 1) % SAMPLES]


_PER_SAMPLE = (
    "north_m",
    "east_m",
    "down_m",
    "quat_ned_from_frd",
    "vel_ned_m_s",
    "rate_frd_rad_s",
    "cmd_surge_m_s",
    "cmd_yaw_rate_rad_s",
    "mode",
    "clearance_m",
)


def test_csv_reads_back_to_the_same_numbers(tmp_path: Path) -> None:
    recording = _recording()
    path = tmp_path / "trial.csv"
    write_csv(path, recording)
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0])[:4] == ["t_s", "north_m", "east_m", "down_m"]
    assert [float(row["t_s"]) for row in rows] == recording.t_s.tolist()
    assert [float(row["clearance_m"]) for row in rows] == recording.clearance_m.tolist()
    assert float(rows[0]["heading_rad"]) == pytest.approx(math.pi / 2)
    assert float(rows[0]["surge_m_s"]) == pytest.approx(SPEED_M_S)
    assert float(rows[0]["sway_m_s"]) == pytest.approx(0.0, abs=1e-12)
    assert float(rows[0]["yaw_rate_rad_s"]) == 0.3
    assert rows[4]["mode"] == "1"
    assert float(rows[0]["lat_deg"]) == pytest.approx(47.26 + 5.0 / 111_177.0, abs=1e-8)


@pytest.mark.parametrize("write", [write_mcap, write_csv])
class TestNothingHalfWritten:
    def test_path_is_a_folder(self, tmp_path: Path, write: Any) -> None:
        with pytest.raises(FieldworthyError, match="it is a folder"):
            write(tmp_path, _recording())

    def test_no_such_folder(self, tmp_path: Path, write: Any) -> None:
        with pytest.raises(FieldworthyError, match="is not a folder"):
            write(tmp_path / "absent" / "trial.out", _recording())

    def test_a_device_is_left_alone(self, write: Any) -> None:
        with pytest.raises(FieldworthyError, match="it is a device"):
            write(os.devnull, _recording())
        assert not Path(os.devnull).is_file()

    def test_no_permission(self, tmp_path: Path, write: Any) -> None:
        write(tmp_path / "loads everything first", _recording())
        tmp_path.chmod(0o500)
        user = getattr(os, "geteuid", lambda: -1)()
        if user == 0:
            os.seteuid(65534)  # root may write everywhere, nobody may not
        try:
            with pytest.raises(FieldworthyError, match="Permission denied"):
                write(tmp_path / "trial.out", _recording())
        finally:
            if user == 0:
                os.seteuid(0)
            tmp_path.chmod(0o700)

    def test_link_stays_a_link(self, tmp_path: Path, write: Any) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "trial.out")
        write(tmp_path / "link", _recording())
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "trial.out").stat().st_size > 1000

    def test_disk_full_keeps_the_earlier_file(self, tmp_path: Path, write: Any) -> None:
        resource = pytest.importorskip("resource")
        path = tmp_path / "trial.out"
        path.write_text("earlier")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
        try:
            with pytest.raises(FieldworthyError, match=r"trial\.out: no room .* up to \d+ bytes"):
                write(path, _recording())
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_text() == "earlier"
        assert [entry.name for entry in tmp_path.iterdir()] == ["trial.out"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"t_s": np.zeros(0)}, "at least one sample"),
        ({"north_m": np.zeros(3)}, r"north_m has shape \(3,\); valid: \(31,\)"),
        ({"quat_ned_from_frd": np.zeros((SAMPLES, 3))}, r"valid: \(31, 4\)"),
        ({"t_s": np.zeros(SAMPLES)}, "not a rising series"),
        ({"t_s": np.full(SAMPLES, np.nan)}, "not a rising series"),
        ({"hull_frd_m": np.zeros(4)}, "hull_frd_m"),
        ({"clouds": [replace(_cloud(0), ring=np.zeros(5, dtype=np.uint16))]}, r"clouds\[0\]"),
        ({"clouds": [replace(_cloud(0), t_end_s=-1.0)]}, r"clouds\[0\] runs from"),
    ],
)
def test_recordings_that_make_no_sense(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(FieldworthyError, match=said):
        _recording(**changes)


@pytest.mark.parametrize("module", ["mcap.writer", "rosbags.typesys"])
def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"an MCAP recording needs the extra 'log'"):
        write_mcap(tmp_path / "trial.mcap", _recording())
    assert list(tmp_path.iterdir()) == []


def test_one_sample_and_an_empty_sweep(tmp_path: Path) -> None:
    one = _recording()
    first: dict[str, Any] = {name: getattr(one, name)[:1] for name in _PER_SAMPLE}
    empty = Cloud(
        t_start_s=0.0,
        t_end_s=0.0,
        points_frd_m=np.zeros((0, 3), dtype=np.float32),
        range_m=np.zeros(0),
        ring=np.zeros(0, dtype=np.uint16),
        time_offset_s=np.zeros(0, dtype=np.float32),
    )
    write_mcap(tmp_path / "one.mcap", replace(one, **first, t_s=one.t_s[:1], sensors={}, clouds=[empty]))
    topics = _read(tmp_path / "one.mcap")
    assert topics["/points"][0][1].width == 0
    assert len(topics["/tf"]) == len(topics["/path"]) == 1
