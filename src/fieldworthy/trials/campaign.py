"""Fly a campaign: all trials side by side, each until its own end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.subnormal import flushed
from fieldworthy.scenario.build import Built, build
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.flight_metrics import Place, crash_words, flight_metrics
from fieldworthy.trials.interrupt import stop_wanted
from fieldworthy.trials.reasons import reason
from fieldworthy.trials.result import OUTCOME_NAMES, Result
from fieldworthy.world import OUTCOMES, Frame, State, World, compact, start, step
from fieldworthy.world.walk import frame_of

BATCH = 1000
"""Trials flown side by side; more are flown batch after batch, which bounds the memory."""

NAMES = ("running", *OUTCOME_NAMES)
"""Outcomes by their codes: those of `course.OUTCOMES`, and what only a real autopilot makes of a trial."""

THIN_BELOW = 0.75
"""Lanes are compacted when fewer than this share still fly."""


@dataclass(frozen=True)
class Progress:
    """How far a run is: for progress bars."""

    finished: int
    trials: int
    outcomes: dict[str, int]
    share: float
    """Estimated share of the work done, 0 to 1, never falling."""


def fly(
    scenario: Scenario,
    trials: int | Sequence[int] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Fly the given trials (how many, or their numbers; by default as many as the scenario says).

    Ctrl-C, and an error inside a user's controller, end the run and keep the trials that have finished
    (`Result.stopped_by` says so). Raises: ScenarioError when the scenario cannot be built.
    """
    count = scenario.trials if trials is None else trials
    numbers = list(range(count)) if isinstance(count, int) else list(count)
    began = time.perf_counter()
    flights: list[Flight] = []
    stopped = ""
    done = {name: 0 for name in OUTCOMES[1:]}
    with stop_wanted() as wanted, flushed():
        for first in range(0, max(len(numbers), 1), BATCH):
            batch = numbers[first : first + BATCH]

            def report(flight: Flight, first: int = first, size: int = len(batch), before: Any = done) -> None:
                if progress is not None:
                    counts = {name: before[name] + n for name, n in flight.counts().items()}
                    share = (first + size * flight.share()) / len(numbers)
                    progress(Progress(sum(counts.values()), len(numbers), counts, share))

            flight = Flight(build(scenario, batch))
            flights.append(flight)
            stopped = flight.fly(report, wanted)
            if stopped:
                break
            done = {name: done[name] + n for name, n in flight.counts().items()}
    return result_of(scenario, len(numbers), flights, stopped, time.perf_counter() - began)


class Flight:
    """One batch in the air and what has been seen of it. Arrays have one entry a row of the world."""

    def __init__(self, built: Built) -> None:
        self.built = built
        rows = len(built.world.trials)
        self.outcome = np.zeros(rows, np.int64)
        self.end_tick = np.zeros(rows, np.int64)
        self.clearance = np.zeros(rows)
        self.path = np.zeros(rows)
        self.length = np.zeros(rows, np.int32)
        self.complete = np.zeros(rows, np.bool_)
        """Rows whose last sample, where they came to rest, has been taken."""
        self.told: dict[int, str] = {}
        """Endings in a sentence that are known already, by row."""
        self.every_ticks = built.world.timing.control
        """Between samples."""
        self.frames: list[Frame] = []
        self.rays = 0

    def fly(self, report: Callable[[Flight], None], stop_wanted: Callable[[], bool]) -> str:
        """Until every lane has ended; returns why it stopped early, or nothing."""
        world = self.built.world
        try:
            state = start(world)
            while not self.outcome.all():
                if stop_wanted():
                    return "Ctrl-C"
                state, frame = step(world, state)
                self._keep(frame)
                self._note(world, state)
                report(self)
                flying = np.flatnonzero(~self.complete[frame.row])
                if 0 < len(flying) < THIN_BELOW * state.lanes:
                    state = compact(world, state, flying)
            self._keep(frame_of(world, state))
        except FieldworthyError as error:
            return str(error)
        return ""

    def counts(self) -> dict[str, int]:
        """Finished lanes by outcome."""
        return {name: int(np.sum(self.outcome == code)) for code, name in enumerate(OUTCOMES) if code}

    def share(self) -> float:
        """Share of the time limit flown, or of lanes ended, whichever is more."""
        flown = self.frames[-1].tick / self.built.world.timing.end if self.frames else 0.0
        return max(flown, float(np.mean(self.outcome > 0)))

    def _note(self, world: World, state: State) -> None:
        """Take over what has ended during the last ticks."""
        if world.lidar_shape is not None:
            self.rays += world.lidar_shape.pattern.rays * state.lanes * world.timing.control // world.timing.sweep
        outcome, row = np.asarray(state.standing.outcome), np.asarray(state.row)
        ended = np.flatnonzero((outcome > 0) & (self.outcome[row] == 0))
        rows = row[ended]
        self.outcome[rows] = outcome[ended]
        self.end_tick[rows] = np.asarray(state.standing.end_tick)[ended]
        self.clearance[rows] = np.asarray(state.standing.clearance_m)[ended]
        self.path[rows] = np.asarray(state.standing.path_m)[ended]

    def _keep(self, frame: Frame) -> None:
        """Take a sample; of lanes that have ended, the one where they came to rest and no more."""
        # Without its sweep: a sweep is large and lives in the kernels' memory.
        self.frames.append(replace(frame, scan=None))
        open_rows = frame.row[~self.complete[frame.row]]
        self.length[open_rows] = len(self.frames)
        self.complete[open_rows] = self.outcome[open_rows] > 0


def result_of(scenario: Scenario, asked: int, flights: list[Flight], stopped: str, wall_s: float) -> Result:
    """All finished rows of all batches, in the order of their trials."""
    longest = max((int(flight.length[flight.outcome > 0].max(initial=0)) for flight in flights), default=0)
    dt = scenario.dt_s
    worlds = [flight.built.world for flight in flights]
    rows = [np.flatnonzero(flight.outcome > 0) for flight in flights]

    def joined(pick: Callable[[Flight], Any], dtype: Any) -> NDArray[Any]:
        parts = [np.asarray(pick(flight))[row] for flight, row in zip(flights, rows, strict=True)]
        return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)

    time_s = joined(lambda f: f.end_tick, np.float64) * dt
    every = flights[0].every_ticks * dt if flights else 0.0
    parts = [_tracks(flight, row, longest) for flight, row in zip(flights, rows, strict=True)]
    tracks = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
    length = joined(lambda f: f.length, np.int32)
    outcome = np.array([NAMES[code] for code in joined(lambda f: f.outcome, np.int64)], dtype=np.str_)
    t_s = np.arange(longest, dtype=np.float64) * every
    flies = scenario.vehicle.kind == "aircraft" and bool(tracks)
    flown = sum(float(np.sum(f.end_tick[f.outcome > 0])) * dt for f in flights)
    layouts = tuple(w.layouts[r] for w, row in zip(worlds, rows, strict=True) for r in row)
    clearance = joined(lambda f: f.clearance, np.float64)
    if flies:
        # Over open ground there is nothing to keep clear of, and the horizon of clearances is no figure.
        clearance = np.where([bool(layout) for layout in layouts], clearance, np.nan)
    return Result(
        scenario=scenario,
        asked=asked,
        trial=joined(lambda f: f.built.world.trials, np.int32),
        outcome=outcome,
        why=tuple(_why(scenario, flight, int(r)) for flight, row in zip(flights, rows, strict=True) for r in row),
        time_s=time_s,
        clearance_m=clearance,
        path_m=joined(lambda f: f.path, np.float64),
        redrawn=joined(lambda f: f.built.redrawn, np.int64),
        parameters={name: joined(_drawn(name), np.float64) for name in scenario.randomize},
        metrics=flight_metrics(t_s, length, tracks, _places(scenario)) if flies else {},
        crash=crash_words(outcome, length, tracks) if flies else np.zeros(0, np.str_),
        t_s=t_s,
        length=length,
        tracks=tracks,
        layouts=layouts,
        stopped_by=stopped,
        wall_s=wall_s,
        sim_s=flown,
        rays=sum(flight.rays for flight in flights),
    )


def _places(scenario: Scenario) -> list[Place]:
    targets = (*scenario.waypoints, scenario.goal)
    return [Place(t.north_m, t.east_m, t.up_m or 0.0, t.radius_m, t.hold_s or 0.0) for t in targets]


def _drawn(name: str) -> Callable[[Flight], NDArray[np.float64]]:
    return lambda flight: flight.built.drawn[name]


def _tracks(flight: Flight, rows: NDArray[np.intp], longest: int) -> dict[str, NDArray[Any]]:
    """Samples of the given rows, (rows, longest) by name; NaN, or 0 for whole numbers, past a row's own end."""
    if not flight.frames:
        return {}
    place = np.full(len(flight.outcome), -1)
    place[rows] = np.arange(len(rows))
    kinds = {name: values.dtype for frame in flight.frames for name, values in frame.values.items()}
    tracks = {
        name: np.full((len(rows), longest), 0 if dtype.kind == "i" else np.nan, dtype) for name, dtype in kinds.items()
    }
    for first, last in _same_lanes(flight.frames[:longest]):
        frames = flight.frames[first:last]
        row = frames[0].row
        kept = np.flatnonzero(place[row] >= 0)
        own = flight.length[row[kept]][:, None] > np.arange(first, last)
        lane, sample = np.nonzero(own)
        for name in frames[0].values:
            values = np.stack([frame.values[name] for frame in frames], axis=1)
            tracks[name][place[row[kept[lane]]], first + sample] = values[kept[lane], sample]
    return tracks


def _why(scenario: Scenario, flight: Flight, row: int) -> str:
    """The outcome of a row in a sentence, from where it came to rest."""
    if row in flight.told:
        return flight.told[row]
    frame = flight.frames[min(flight.length[row], len(flight.frames)) - 1]
    end_tick = int(flight.end_tick[row])
    return reason(scenario, flight.built.world, frame, row, OUTCOMES[flight.outcome[row]], end_tick)


def _same_lanes(frames: list[Frame]) -> list[tuple[int, int]]:
    """[first, last) of each stretch of frames with the same lanes and the same names."""
    starts = [
        i
        for i, frame in enumerate(frames)
        if i == 0
        or len(frame.row) != len(frames[i - 1].row)
        or frame.values.keys() != frames[i - 1].values.keys()
        or not np.array_equal(frame.row, frames[i - 1].row)
    ]
    return list(zip(starts, [*starts[1:], len(frames)], strict=True)) if frames else []
