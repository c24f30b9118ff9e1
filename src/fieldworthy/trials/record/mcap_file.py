"""A trial as an MCAP file of ROS 2 messages: opens in Foxglove, PlotJuggler and `ros2 bag` without a conversion.

Format: MCAP 0 (https://mcap.dev/spec), profile `ros2`, CDR messages with their `ros2msg` definitions, LZ4 chunks.
Log time and stamps are simulated time [ns] since the start of the trial, never the wall clock. Where a message says
nothing else, axes are those of REP 103: world ENU, body FLU; so yaw rates are positive counter-clockwise.
Needs the extra 'log' (`mcap`, `rosbags`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from fieldworthy.core.errors import require_extra
from fieldworthy.core.whole_file import whole_file
from fieldworthy.environment.shapes import Layout, Polygon, Polyline, is_moving
from fieldworthy.trials.record.messages import Messages
from fieldworthy.trials.record.recording import Recording, has_pose
from fieldworthy.trials.record.streams import PATH_MESSAGES, PATH_POSES, topics
from fieldworthy.trials.record.topic import Topic

_CHUNK_BYTES = 1 << 20
# What one of each takes in the file before compression, rounded up, to tell how much room a recording needs.
_BYTES_A_SAMPLE = 1200
_BYTES_A_FLIGHT = 2000
_BYTES_A_NUMBER = 60
_BYTES_A_POINT = 23
_BYTES_A_POSE = 90
_BYTES_A_MARKER = 500
_BYTES_A_CORNER = 300
_BYTES_OF_SCHEMAS = 100_000


class _Channel(NamedTuple):
    id: int
    topic: Topic


def write_mcap(path: Path | str, recording: Recording) -> None:
    """Write `recording` to `path`, complete or not at all.

    Raises: FieldworthyError when the file cannot be written (a folder, no permission, disk full), MissingExtraError
    without `mcap` and `rosbags`.
    """
    writing = require_extra("mcap.writer", "log", "an MCAP recording")
    messages = Messages()
    with whole_file(Path(path), _needed_bytes(recording)) as stream:
        _write(stream, writing, recording, messages)


def _write(stream: BinaryIO, writing: Any, recording: Recording, messages: Messages) -> None:
    writer = writing.Writer(stream, chunk_size=_CHUNK_BYTES, compression=writing.CompressionType.LZ4)
    writer.start(profile="ros2", library="fieldworthy")
    schemas: dict[str, int] = {}
    channels = []
    for topic in topics(recording, messages):
        if topic.kind not in schemas:
            schemas[topic.kind] = _register_schema(writer, topic.kind, messages)
        channels.append(_Channel(_register_channel(writer, topic, schemas[topic.kind], messages), topic))
    sequence = dict.fromkeys((channel.id for channel in channels), 0)
    for ns, channel, message in heapq.merge(*map(_entries, channels), key=lambda entry: entry[0]):
        data = messages.encode(channel.topic.kind, message)
        writer.add_message(channel.id, log_time=ns, data=data, publish_time=ns, sequence=sequence[channel.id])
        sequence[channel.id] += 1
    writer.add_metadata("fieldworthy", _provenance(recording))
    # An empty `serialized_metadata` tells rosbag2 from Jazzy on that the QoS codes are numbers, which Humble needs.
    writer.add_metadata("rosbag2", {"ROS_DISTRO": "jazzy", "serialized_metadata": ""})
    writer.finish()


def _entries(channel: _Channel) -> Iterator[tuple[int, _Channel, Any]]:
    return ((entry.log_ns, channel, entry.message) for entry in channel.topic.entries)


def _register_schema(writer: Any, kind: str, messages: Messages) -> int:
    package, name = kind.split("/")
    text = messages.definition(kind).encode()
    return int(writer.register_schema(name=f"{package}/msg/{name}", encoding="ros2msg", data=text))


def _register_channel(writer: Any, topic: Topic, schema: int, messages: Messages) -> int:
    metadata = {"offered_qos_profiles": _qos(topic.latched), "topic_type_hash": messages.type_hash(topic.kind)}
    return int(writer.register_channel(topic.name, "cdr", schema, metadata))


def _qos(latched: bool) -> str:
    """YAML that rosbag2 reads: keep last, reliable; durability 1 = transient local (latched), 2 = volatile."""
    forever = "{sec: 9223372036, nsec: 854775807}"
    policies = {
        "history": "1",
        "depth": "1" if latched else "10",
        "reliability": "1",
        "durability": "1" if latched else "2",
        "deadline": forever,
        "lifespan": forever,
        "liveliness": "1",
        "liveliness_lease_duration": forever,
        "avoid_ros_namespace_conventions": "false",
    }
    return "- " + "\n  ".join(f"{name}: {value}" for name, value in policies.items())


def _provenance(recording: Recording) -> dict[str, str]:
    without_pose = len(recording.t_s) - int(has_pose(recording).sum())
    own = {
        "name": recording.name,
        "trial": str(recording.trial),
        "seed": str(recording.seed),
        "outcome": recording.outcome,
        "why": recording.why,
        "samples_without_finite_pose": str(without_pose),
    }
    return {**{key: str(value) for key, value in recording.provenance.items()}, **own}


def _needed_bytes(recording: Recording) -> int:
    """Upper estimate, before compression."""
    samples, flies = len(recording.t_s), recording.flight is not None
    points = sum(len(cloud.range_m) for cloud in recording.clouds)
    moving = tuple(shape for shape in recording.layout if is_moving(shape))
    moving_messages = 1 + int(10 * (recording.t_s[-1] - recording.t_s[0]))
    return (
        _BYTES_OF_SCHEMAS
        + (_BYTES_A_SAMPLE + _BYTES_A_NUMBER * len(recording.sensors) + _BYTES_A_FLIGHT * flies) * samples
        + _BYTES_A_POINT * points
        + _BYTES_A_POSE * min(samples, PATH_POSES) * PATH_MESSAGES // 2
        + _layout_bytes(recording.layout)
        + _layout_bytes(moving) * moving_messages
    )


def _layout_bytes(layout: Layout) -> int:
    corners = sum(len(shape.points_ne_m) for shape in layout if isinstance(shape, Polygon | Polyline))
    return _BYTES_A_MARKER * len(layout) + _BYTES_A_CORNER * corners
