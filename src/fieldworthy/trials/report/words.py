"""What a page calls things: a boat collides with its hull, what flies crashes and has an airframe."""

from __future__ import annotations

from dataclasses import dataclass

from fieldworthy.trials.report.data import RunData


@dataclass(frozen=True)
class Words:
    """Nouns and verbs for one kind of vehicle."""

    vehicle: str
    body: str
    collision: str
    collisions: str
    collided: str


BOAT = Words("boat", "hull", "collision", "collisions", "collided")
AIRCRAFT = Words("vehicle", "airframe", "crash", "crashes", "crashed")


def words_of(run: RunData) -> Words:
    """The words for a run's vehicle."""
    return AIRCRAFT if run.flies else BOAT
