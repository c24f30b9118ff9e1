"""The arrays of a recording in the axes of ROS (REP 103): world ENU, body FLU. The rules are those of `core/frames.py`.

The functions of `core` are plain arithmetic, so here a component is a whole column of samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldworthy.core.frames import enu_from_ned, flu_from_frd, lonlat_from_ne, quat_enu_from_flu
from fieldworthy.core.vec import Quat, Vec3, quat_from_yaw, rotate_inverse
from fieldworthy.trials.record.messages import Triple, Wxyz
from fieldworthy.trials.record.recording import Floats, Recording


def enu(north_m: float, east_m: float, up_m: float) -> Triple:
    """A point (east, north, up) [m]."""
    x, y, z = enu_from_ned(Vec3(north_m, east_m, -up_m))
    return x, y, z


def quat_enu_from_heading(heading_rad: float) -> Wxyz:
    """A level body with that heading, clockwise from north, as quat_enu_from_flu."""
    return quat_enu(quat_from_yaw(heading_rad))


def quat_enu(quat_ned_from_frd: Quat) -> Wxyz:
    """An attitude as quat_enu_from_flu."""
    w, x, y, z = quat_enu_from_flu(quat_ned_from_frd)
    return w, x, y, z


def flu(vectors_frd: Floats) -> Floats:
    """Vectors of shape (n, 3), forward left up."""
    return _rows(flu_from_frd(_vec(vectors_frd)))


def poses_enu(recording: Recording) -> tuple[Floats, Floats]:
    """Position (S, 3) in ENU [m] and quat_enu_from_flu (S, 4), wxyz."""
    position = enu_from_ned(Vec3(*map(_doubles, (recording.north_m, recording.east_m, recording.down_m))))
    return _rows(position), _rows(quat_enu_from_flu(_quat(recording.quat_ned_from_frd)))


def twists_flu(recording: Recording) -> tuple[Floats, Floats]:
    """Velocity (S, 3) [m/s] and turn rate (S, 3) [rad/s] of the body, both along its own axes in FLU."""
    vel_frd = rotate_inverse(_quat(recording.quat_ned_from_frd), _vec(recording.vel_ned_m_s))
    return _rows(flu_from_frd(vel_frd)), flu(recording.rate_frd_rad_s)


def commands_flu(recording: Recording) -> tuple[Floats, Floats]:
    """Commanded velocity (S, 3) [m/s] and turn rate (S, 3) [rad/s] in FLU."""
    assert recording.cmd_surge_m_s is not None
    assert recording.cmd_yaw_rate_rad_s is not None
    surge, yaw_rate = _doubles(recording.cmd_surge_m_s), _doubles(recording.cmd_yaw_rate_rad_s)
    zero = np.zeros_like(surge)
    return _rows(flu_from_frd(Vec3(surge, zero, zero))), _rows(flu_from_frd(Vec3(zero, zero, yaw_rate)))


def mount_flu(translation_frd_m: Sequence[float], quat_body_from_device: Sequence[float]) -> tuple[Triple, Wxyz]:
    """Where a device sits on the body, both with FLU axes.

    The vector part of a quaternion is a vector along the axis of the turn, and FRD to FLU is itself a turn.
    """
    x, y, z = flu_from_frd(Vec3(*translation_frd_m))
    w, *axis = quat_body_from_device
    qx, qy, qz = flu_from_frd(Vec3(*axis))
    return (x, y, z), (w, qx, qy, qz)


def lon_lat_deg(north_m: Floats, east_m: Floats, reference_lon_lat_deg: tuple[float, float]) -> tuple[Floats, Floats]:
    """Longitude and latitude (S,) [deg] of points of the world whose origin is the reference."""
    pairs = [
        lonlat_from_ne(north, east, *reference_lon_lat_deg)
        for north, east in zip(_doubles(north_m).tolist(), _doubles(east_m).tolist(), strict=True)
    ]
    lon_lat: Floats = np.array(pairs, dtype=np.float64)
    return lon_lat[:, 0], lon_lat[:, 1]


def _doubles(column: Floats) -> Floats:
    return np.asarray(column, dtype=np.float64)


def _vec(rows: Floats) -> Vec3:
    return Vec3(*_doubles(rows).T)


def _quat(rows: Floats) -> Quat:
    return Quat(*_doubles(rows).T)


def _rows(columns: Vec3 | Quat) -> Floats:
    return np.column_stack(list(columns))
