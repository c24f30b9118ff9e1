"""What every stream of a recording is made of: entries on topics, and the names of frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fieldworthy.trials.record.recording import Recording, has_pose, nanoseconds

MAP, BODY, LIDAR = "map", "base_link", "lidar"


class Entry(NamedTuple):
    """One message, and when it exists."""

    log_ns: int
    message: Any


class Topic(NamedTuple):
    """One channel of the file."""

    name: str
    kind: str
    latched: bool
    entries: Iterator[Entry]


def posed(recording: Recording) -> Iterator[tuple[int, int]]:
    """Index and time of the samples that have a pose: viewers reject a frame that is not finite."""
    for index in np.flatnonzero(has_pose(recording)).tolist():
        yield index, nanoseconds(recording.t_s[index])
