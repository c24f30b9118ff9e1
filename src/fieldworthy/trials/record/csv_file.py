"""A trial as one CSV table: a row a sample, units in the column names, `t_s` first (pandas, PlotJuggler, spreadsheets).

Frames: world NED, body FRD, as everywhere in Fieldworthy; angles are those of the yaw-pitch-roll sequence. Numbers are
the shortest text that reads back to the same double; a value that does not exist is `nan`.
The obstacles are not here: they are no time series, and the run folder's `layouts.json` has them.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from fieldworthy.core.vec import Quat, Vec3, euler_zyx_from_quat, rotate_inverse
from fieldworthy.core.whole_file import whole_file
from fieldworthy.trials.record.recording import Floats, Recording
from fieldworthy.trials.record.ros_axes import lon_lat_deg

_BYTES_A_NUMBER = 20


def write_csv(path: Path | str, recording: Recording) -> None:
    """Write the samples of `recording` to `path`; nothing is left behind if that fails."""
    table = columns(recording)
    needed = _BYTES_A_NUMBER * len(table) * (len(recording.t_s) + 1)
    with whole_file(Path(path), needed) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
        text.detach()


def columns(recording: Recording) -> dict[str, Floats]:
    """The table by column name, each of shape (S,)."""
    quat = np.asarray(recording.quat_ned_from_frd, dtype=float)
    vel = np.asarray(recording.vel_ned_m_s, dtype=float)
    rate = np.asarray(recording.rate_frd_rad_s, dtype=float)
    attitude = [Quat(*row) for row in quat.tolist()]
    euler = np.array([euler_zyx_from_quat(q) for q in attitude])
    body = [rotate_inverse(q, Vec3(*row)) for q, row in zip(attitude, vel.tolist(), strict=True)]
    table = {
        "t_s": recording.t_s,
        "north_m": recording.north_m,
        "east_m": recording.east_m,
        "down_m": recording.down_m,
        **{f"quat_ned_from_frd_{name}": quat[:, i] for i, name in enumerate("wxyz")},
        "roll_rad": euler[:, 0],
        "pitch_rad": euler[:, 1],
        "heading_rad": euler[:, 2],
        "vel_north_m_s": vel[:, 0],
        "vel_east_m_s": vel[:, 1],
        "vel_down_m_s": vel[:, 2],
        "surge_m_s": np.array([v.x for v in body]),
        "sway_m_s": np.array([v.y for v in body]),
        "heave_m_s": np.array([v.z for v in body]),
        "roll_rate_rad_s": rate[:, 0],
        "pitch_rate_rad_s": rate[:, 1],
        "yaw_rate_rad_s": rate[:, 2],
        **_commands(recording),
        "mode": recording.mode,
        "clearance_m": recording.clearance_m,
        **recording.sensors,
    }
    if recording.reference_lon_lat_deg is not None:
        table["lon_deg"], table["lat_deg"] = lon_lat_deg(
            recording.north_m, recording.east_m, recording.reference_lon_lat_deg
        )
    return {name: np.asarray(column) for name, column in table.items()}


def _commands(recording: Recording) -> dict[str, Floats]:
    """What steers: of a flight all of its tracks, and what its devices said last as DEVICE.VALUE."""
    if recording.flight is not None:
        devices = recording.flight.devices
        heard = {f"{name}.{key}": column for name, values in devices.items() for key, column in values.items()}
        return {**recording.flight.tracks, **heard}
    assert recording.cmd_surge_m_s is not None
    assert recording.cmd_yaw_rate_rad_s is not None
    return {"cmd_surge_m_s": recording.cmd_surge_m_s, "cmd_yaw_rate_rad_s": recording.cmd_yaw_rate_rad_s}
