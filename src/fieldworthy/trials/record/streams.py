"""The topics of a recorded trial: for each, its messages in the order of simulated time.

Frames: `map` is the world in ENU, `base_link` the body in FLU, `lidar` the LiDAR in FLU. `/tf` has map → base_link;
there is no `odom` between them, as the poses are the truth and do not drift. What only flights have is in
`flight_streams`.
A topic that is latched is written once, at the start.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from fieldworthy.environment.shapes import is_moving, moved
from fieldworthy.trials.record import markers, ros_axes
from fieldworthy.trials.record.flight_streams import flight_topics
from fieldworthy.trials.record.messages import Messages
from fieldworthy.trials.record.recording import Floats, Recording, nanoseconds
from fieldworthy.trials.record.topic import BODY, LIDAR, MAP, Entry, Topic, posed

_NS_A_SECOND = 1_000_000_000
_MOVING_PERIOD_NS = 100_000_000
PATH_MESSAGES = 200
PATH_POSES = 500
# The LiDAR model has no reflectivity; drivers fill this field, and filters drop 0.
_INTENSITY = 100.0
_CLOUD_FIELDS = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("time", "<f4")]
)


def topics(recording: Recording, messages: Messages) -> list[Topic]:
    """All topics of the recording; those of which it has nothing to say are left out."""
    out = [
        Topic("/clock", "rosgraph_msgs/Clock", False, _clock(recording, messages)),
        Topic("/tf", "tf2_msgs/TFMessage", False, _tf(recording, messages)),
        Topic("/odom", "nav_msgs/Odometry", False, _odom(recording, messages)),
        Topic("/path", "nav_msgs/Path", False, _path(recording, messages)),
        Topic("/mode", "std_msgs/Int8", False, _mode(recording, messages)),
        Topic("/clearance", "std_msgs/Float64", False, _numbers(recording, recording.clearance_m, messages)),
        Topic("/obstacles", "visualization_msgs/MarkerArray", True, _fixed(recording, messages)),
    ]
    if recording.quat_body_from_lidar is not None:
        out.insert(1, Topic("/tf_static", "tf2_msgs/TFMessage", True, _tf_static(recording, messages)))
    if recording.cmd_surge_m_s is not None:
        out.insert(5, Topic("/cmd_vel", "geometry_msgs/Twist", False, _cmd_vel(recording, messages)))
    out += flight_topics(recording, messages)
    for name, values in recording.sensors.items():
        out.append(Topic(_sensor_topic(name), "std_msgs/Float64", False, _heard(recording, values, messages)))
    if any(map(is_moving, recording.layout)):
        out.append(Topic("/obstacles/moving", "visualization_msgs/MarkerArray", False, _moving(recording, messages)))
    if recording.clouds:
        out.append(Topic("/points", "sensor_msgs/PointCloud2", False, _points(recording, messages)))
    if recording.goal is not None or recording.waypoints:
        out.append(Topic("/goal", "visualization_msgs/MarkerArray", True, _goal(recording, messages)))
    if len(recording.hull_frd_m) > 1:
        out.append(Topic("/hull", "visualization_msgs/Marker", True, _hull(recording, messages)))
    known = {topic.name for topic in out}
    if recording.reference_lon_lat_deg is not None and "/gps" not in known:
        out.append(Topic("/gps", "sensor_msgs/NavSatFix", False, _gps(recording, messages)))
    return out


def _start_ns(recording: Recording) -> int:
    return nanoseconds(recording.t_s[0])


def _clock(recording: Recording, messages: Messages) -> Iterator[Entry]:
    for t_s in recording.t_s:
        ns = nanoseconds(t_s)
        yield Entry(ns, messages.make("rosgraph_msgs/Clock", clock=messages.time(ns)))


def _tf_static(recording: Recording, messages: Messages) -> Iterator[Entry]:
    assert recording.quat_body_from_lidar is not None
    xyz, wxyz = ros_axes.mount_flu(recording.lidar_translation_frd_m, recording.quat_body_from_lidar)
    ns = _start_ns(recording)
    yield Entry(ns, messages.transform(ns, BODY, LIDAR, xyz, wxyz))


def _tf(recording: Recording, messages: Messages) -> Iterator[Entry]:
    position, quat = ros_axes.poses_enu(recording)
    for i, ns in posed(recording):
        yield Entry(ns, messages.transform(ns, MAP, BODY, position[i], quat[i]))


def _odom(recording: Recording, messages: Messages) -> Iterator[Entry]:
    position, quat = ros_axes.poses_enu(recording)
    linear, angular = ros_axes.twists_flu(recording)
    for i, ns in posed(recording):
        pose = messages.pose(position[i], quat[i])
        yield Entry(ns, messages.odometry(ns, MAP, BODY, pose, linear[i], angular[i]))


def _path(recording: Recording, messages: Messages) -> Iterator[Entry]:
    """The way so far: once a second and at the end; of long trials more rarely and with fewer poses, as it grows."""
    position, quat = ros_axes.poses_enu(recording)
    found = list(posed(recording))
    if not found:
        return
    period_ns = max(1, math.ceil((found[-1][1] - found[0][1]) / _NS_A_SECOND / PATH_MESSAGES)) * _NS_A_SECOND
    stride = math.ceil(len(found) / PATH_POSES)
    poses: list[Any] = []
    due_ns = found[0][1]
    for count, (i, ns) in enumerate(found):
        last = count == len(found) - 1
        if count % stride == 0 or last:
            pose = messages.pose(position[i], quat[i])
            poses.append(messages.make("geometry_msgs/PoseStamped", header=messages.header(ns, MAP), pose=pose))
        if ns >= due_ns or last:
            due_ns += period_ns * ((ns - due_ns) // period_ns + 1)
            yield Entry(ns, messages.make("nav_msgs/Path", header=messages.header(ns, MAP), poses=list(poses)))


def _cmd_vel(recording: Recording, messages: Messages) -> Iterator[Entry]:
    linear, angular = ros_axes.commands_flu(recording)
    for i, t_s in enumerate(recording.t_s):
        yield Entry(nanoseconds(t_s), messages.twist(linear[i], angular[i]))


def _mode(recording: Recording, messages: Messages) -> Iterator[Entry]:
    for t_s, mode in zip(recording.t_s, recording.mode, strict=True):
        yield Entry(nanoseconds(t_s), messages.make("std_msgs/Int8", data=int(mode)))


def _numbers(recording: Recording, values: Floats, messages: Messages) -> Iterator[Entry]:
    for t_s, value in zip(recording.t_s, values, strict=True):
        yield Entry(nanoseconds(t_s), messages.make("std_msgs/Float64", data=float(value)))


def _heard(recording: Recording, values: Floats, messages: Messages) -> Iterator[Entry]:
    """Without the samples at which the sensor had said nothing."""
    for entry in _numbers(recording, values, messages):
        if not math.isnan(entry.message.data):
            yield entry


def _sensor_topic(name: str) -> str:
    """`compass.heading_rad` as `/sensors/compass/heading_rad`; what ROS allows in no name becomes `_`."""
    return "/sensors/" + "/".join(re.sub(r"[^A-Za-z0-9_]", "_", part) for part in name.split(".", 1))


def _points(recording: Recording, messages: Messages) -> Iterator[Entry]:
    """Stamped with the start of the sweep, to which the field `time` adds; logged when the sweep is complete."""
    for cloud in sorted(recording.clouds, key=lambda cloud: cloud.t_end_s):
        points = np.zeros(len(cloud.range_m), dtype=_CLOUD_FIELDS)
        points["x"], points["y"], points["z"] = ros_axes.flu(np.asarray(cloud.points_frd_m)).T
        points["intensity"] = _INTENSITY
        points["ring"] = cloud.ring
        points["time"] = cloud.time_offset_s
        yield Entry(nanoseconds(cloud.t_end_s), messages.cloud(nanoseconds(cloud.t_start_s), LIDAR, points))


def _fixed(recording: Recording, messages: Messages) -> Iterator[Entry]:
    ns = _start_ns(recording)
    shapes = [(number, shape) for number, shape in enumerate(recording.layout) if not is_moving(shape)]
    yield Entry(ns, markers.obstacles(messages, ns, MAP, shapes, moving=False))


def _moving(recording: Recording, messages: Messages) -> Iterator[Entry]:
    # A topic of their own: who joins late, or jumps in time, gets only the last message of a topic. On one topic
    # the fixed obstacles would be lost to them.
    shapes = [(number, shape) for number, shape in enumerate(recording.layout) if is_moving(shape)]
    for ns in range(_start_ns(recording), nanoseconds(recording.t_s[-1]) + 1, _MOVING_PERIOD_NS):
        there = [(number, moved(shape, ns / _NS_A_SECOND)) for number, shape in shapes]
        yield Entry(ns, markers.obstacles(messages, ns, MAP, there, moving=True))


def _goal(recording: Recording, messages: Messages) -> Iterator[Entry]:
    ns = _start_ns(recording)
    yield Entry(ns, markers.goals(messages, ns, MAP, recording.goal, recording.waypoints, recording.target_up_m))


def _hull(recording: Recording, messages: Messages) -> Iterator[Entry]:
    ns = _start_ns(recording)
    yield Entry(ns, markers.hull(messages, ns, BODY, recording.hull_frd_m))


def _gps(recording: Recording, messages: Messages) -> Iterator[Entry]:
    """Altitude is above still water: the height of the water above the ellipsoid is not known."""
    assert recording.reference_lon_lat_deg is not None
    lon, lat = ros_axes.lon_lat_deg(recording.north_m, recording.east_m, recording.reference_lon_lat_deg)
    for i, ns in posed(recording):
        yield Entry(ns, messages.navsatfix(ns, BODY, lon[i], lat[i], -recording.down_m[i]))
