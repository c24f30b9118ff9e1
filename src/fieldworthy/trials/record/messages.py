"""ROS 2 messages: made, described and encoded by `rosbags` (no ROS needed). Values here are already in ENU and FLU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.errors import require_extra

Triple = tuple[float, float, float]
Wxyz = tuple[float, float, float, float]

_NS_A_SECOND = 1_000_000_000


class Messages:
    """Messages of ROS 2 Jazzy; the types used here are the same from Humble to Lyrical."""

    def __init__(self) -> None:
        typesys = require_extra("rosbags.typesys", "log", "an MCAP recording")
        self._store: Any = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)

    def make(self, kind: str, **fields: Any) -> Any:
        """A message of `kind`, for example `geometry_msgs/Point`, with all of its fields."""
        return self._store.types[_full(kind)](**fields)

    def definition(self, kind: str) -> str:
        """The type and all that it contains as `.msg` text, so that a reader needs nothing installed."""
        return str(self._store.generate_msgdef(_full(kind), ros_version=2)[0])

    def type_hash(self, kind: str) -> str:
        """The RIHS01 hash by which ROS 2 (Iron and later) compares types."""
        return str(self._store.hash_rihs01(_full(kind)))

    def encode(self, kind: str, message: Any) -> bytes:
        """CDR, little-endian, with its 4-byte header."""
        return bytes(self._store.serialize_cdr(message, _full(kind)))

    def time(self, ns: int) -> Any:
        """`builtin_interfaces/Time`."""
        return self.make("builtin_interfaces/Time", sec=ns // _NS_A_SECOND, nanosec=ns % _NS_A_SECOND)

    def header(self, ns: int, frame: str) -> Any:
        """`std_msgs/Header`."""
        return self.make("std_msgs/Header", stamp=self.time(ns), frame_id=frame)

    def point(self, xyz: Sequence[float]) -> Any:
        """`geometry_msgs/Point` [m]."""
        return self.make("geometry_msgs/Point", x=float(xyz[0]), y=float(xyz[1]), z=float(xyz[2]))

    def vector(self, xyz: Sequence[float]) -> Any:
        """`geometry_msgs/Vector3`."""
        return self.make("geometry_msgs/Vector3", x=float(xyz[0]), y=float(xyz[1]), z=float(xyz[2]))

    def quaternion(self, wxyz: Sequence[float]) -> Any:
        """`geometry_msgs/Quaternion` from our order wxyz."""
        w, x, y, z = (float(value) for value in wxyz)
        return self.make("geometry_msgs/Quaternion", x=x, y=y, z=z, w=w)

    def pose(self, xyz: Sequence[float], wxyz: Sequence[float]) -> Any:
        """`geometry_msgs/Pose`."""
        return self.make("geometry_msgs/Pose", position=self.point(xyz), orientation=self.quaternion(wxyz))

    def twist(self, linear: Sequence[float], angular: Sequence[float]) -> Any:
        """`geometry_msgs/Twist` [m/s, rad/s]."""
        return self.make("geometry_msgs/Twist", linear=self.vector(linear), angular=self.vector(angular))

    def transform(self, ns: int, parent: str, child: str, xyz: Sequence[float], wxyz: Sequence[float]) -> Any:
        """`tf2_msgs/TFMessage` with the one transform parent_from_child."""
        motion = self.make("geometry_msgs/Transform", translation=self.vector(xyz), rotation=self.quaternion(wxyz))
        stamped = self.make(
            "geometry_msgs/TransformStamped", header=self.header(ns, parent), child_frame_id=child, transform=motion
        )
        return self.make("tf2_msgs/TFMessage", transforms=[stamped])

    def odometry(
        self, ns: int, parent: str, child: str, pose: Any, linear: Sequence[float], angular: Sequence[float]
    ) -> Any:
        """`nav_msgs/Odometry`: pose in the parent's frame, twist in the child's; covariances 0: it is the truth."""
        return self.make(
            "nav_msgs/Odometry",
            header=self.header(ns, parent),
            child_frame_id=child,
            pose=self.make("geometry_msgs/PoseWithCovariance", pose=pose, covariance=np.zeros(36)),
            twist=self.make(
                "geometry_msgs/TwistWithCovariance", twist=self.twist(linear, angular), covariance=np.zeros(36)
            ),
        )

    def navsatfix(self, ns: int, frame: str, lon_deg: float, lat_deg: float, alt_m: float) -> Any:
        """`sensor_msgs/NavSatFix`, a plain GPS fix of unknown covariance."""
        return self.make(
            "sensor_msgs/NavSatFix",
            header=self.header(ns, frame),
            status=self.make("sensor_msgs/NavSatStatus", status=0, service=1),
            latitude=float(lat_deg),
            longitude=float(lon_deg),
            altitude=float(alt_m),
            position_covariance=np.zeros(9),
            position_covariance_type=0,
        )

    def cloud(self, ns: int, frame: str, points: NDArray[np.void]) -> Any:
        """`sensor_msgs/PointCloud2` of one row, one field for each field of the structured array."""
        names = points.dtype.names or ()
        kinds = {np.dtype("<f4"): 7, np.dtype("<u2"): 4}
        fields = []
        for name in names:
            dtype, offset = points.dtype.fields[name][:2]  # type: ignore[index]
            fields.append(self.make("sensor_msgs/PointField", name=name, offset=offset, datatype=kinds[dtype], count=1))
        return self.make(
            "sensor_msgs/PointCloud2",
            header=self.header(ns, frame),
            height=1,
            width=len(points),
            fields=fields,
            is_bigendian=False,
            point_step=points.dtype.itemsize,
            row_step=points.nbytes,
            data=np.frombuffer(points.tobytes(), dtype=np.uint8),
            is_dense=bool(all(np.isfinite(points[axis]).all() for axis in "xyz")),
        )


def _full(kind: str) -> str:
    package, name = kind.split("/")
    return f"{package}/msg/{name}"
