"""Messages of the devices that tell motion: an optical flow camera, and odometry from outside the autopilot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fieldworthy.core.vec import Quat
from fieldworthy.trials.record import ros_axes
from fieldworthy.trials.record.messages import Messages
from fieldworthy.trials.record.recording import Floats
from fieldworthy.trials.record.topic import BODY, MAP

Make = Callable[[int, int], Any]

_UNKNOWN = -1.0


def flow(messages: Messages, values: Mapping[str, Floats]) -> Make:
    """Flow [rad] about forward and left since the reading before; z is not measured."""
    x, y = values["integrated_x_rad"], values["integrated_y_rad"]
    turned = ros_axes.flu(np.column_stack([x, y, np.zeros_like(x)]))
    return lambda i, ns: messages.make(
        "geometry_msgs/Vector3Stamped", header=messages.header(ns, BODY), vector=messages.vector(turned[i])
    )


def odometry(messages: Messages, values: Mapping[str, Floats]) -> Make:
    """Pose in the map, velocity in the body, with the variances that it tells; a turn rate it does not tell."""
    north, east, up = (values[f"{axis}_m"] for axis in ("north", "east", "up"))
    vel = ros_axes.flu(np.column_stack([values[f"vel_{axis}_m_s"] for axis in "xyz"]))
    names = ("horizontal_sigma_m", "vertical_sigma_m", "velocity_sigma_m_s", "tilt_sigma_rad", "heading_sigma_rad")

    def make(i: int, ns: int) -> Any:
        turn = ros_axes.quat_enu(Quat(*(float(values[f"quat_{part}"][i]) for part in "wxyz")))
        level, high, fast, tilt, heading = (float(values[name][i]) ** 2 for name in names)
        pose = np.diag([level, level, high, tilt, tilt, heading]).ravel()
        twist = np.diag([fast] * 3 + [_UNKNOWN] * 3).ravel()
        return messages.make(
            "nav_msgs/Odometry", header=messages.header(ns, MAP), child_frame_id=BODY,
            pose=messages.make(
                "geometry_msgs/PoseWithCovariance",
                pose=messages.pose(ros_axes.enu(north[i], east[i], up[i]), turn), covariance=pose,
            ),
            twist=messages.make(
                "geometry_msgs/TwistWithCovariance", twist=messages.twist(vel[i], (0.0, 0.0, 0.0)), covariance=twist
            ),
        )  # fmt: skip

    return make
