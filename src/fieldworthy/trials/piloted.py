"""A campaign flown by a real autopilot: each trial with a new process, one mission, and the report of any campaign.

Trials fly side by side in processes of their own, since an autopilot and its simulator take turns and keep one core
busy together.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.links.autopilot_process import AutopilotProcess
from fieldworthy.links.ground_station import GroundStation, Phase
from fieldworthy.links.host import Flown, Host, Options, flight, ready
from fieldworthy.links.lockstep import Log
from fieldworthy.links.lost import LinkLost, Loss
from fieldworthy.links.vehicle import for_autopilot
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.campaign import Progress, result_of
from fieldworthy.trials.interrupt import stop_wanted
from fieldworthy.trials.linked import ending
from fieldworthy.trials.pilot import Pilot
from fieldworthy.trials.pilot_delay import delayed
from fieldworthy.trials.pilot_faults import Switch, refuse_unheard, switches
from fieldworthy.trials.piloted_trial import Trial, as_flight, sample_ticks
from fieldworthy.trials.reasons import gone_before
from fieldworthy.trials.result import GAVE_UP, LINK_LOST, OUTCOME_NAMES, STOPPED, Result
from fieldworthy.world.one_trial import OneTrial

ARRIVES_S = 60.0
"""Wall time from the start of the process to its connection."""

POLL_S = 0.02
"""Simulated time between looks at the ground station's link."""


def piloted(scenario: Scenario, pilot: Pilot) -> Scenario:
    """The scenario as the autopilot flies it, which is also what the run folder keeps.

    Raises: ScenarioError, FieldworthyError where that cannot be.
    """
    refuse_unheard(scenario, pilot.kind)
    return for_autopilot(delayed(scenario, pilot.ground_s), pilot.kind, pilot.rate_hz)


def fly_piloted(
    scenario: Scenario,
    pilot: Pilot,
    trials: int | Sequence[int] | None = None,
    progress: Callable[[Progress], None] | None = None,
    jobs: int = 1,
    logs: Path | None = None,
) -> Result:
    """Fly the given trials (how many, or their numbers; by default as many as the scenario says) with the autopilot.

    jobs: trials side by side. logs: folder for what each autopilot printed.
    Ctrl-C ends the run and keeps the trials that have finished, and so does an autopilot that cannot be started
    (`Result.stopped_by` says so). Raises: ScenarioError, AutopilotProcessError before anything is flown.
    """
    count = scenario.trials if trials is None else trials
    numbers = list(range(count)) if isinstance(count, int) else list(count)
    changed = piloted(scenario, pilot)
    pilot.command(changed, pilot.first_instance)
    began, done, stopped = time.perf_counter(), [], ""
    with stop_wanted() as wanted:
        for trial in _each(changed, pilot, numbers, min(jobs, len(numbers)), logs, wanted):
            if isinstance(trial, str):
                stopped = trial
                break
            done.append(trial)
            if progress is not None:
                outcomes = {name: sum(t.outcome == name for t in done) for name in OUTCOME_NAMES}
                progress(Progress(len(done), len(numbers), outcomes, len(done) / len(numbers)))
        stopped = "Ctrl-C" if wanted() and not stopped else stopped
    done.sort(key=lambda trial: numbers.index(trial.trial))
    flights = [as_flight(changed, trial) for trial in done]
    result = result_of(changed, len(numbers), flights, stopped, time.perf_counter() - began)
    return replace(
        result,
        commands=tuple(trial.commands for trial in done),
        texts=tuple(trial.texts for trial in done),
        pilot=pilot.facts(changed),
    )


def _each(
    scenario: Scenario, pilot: Pilot, numbers: list[int], jobs: int, logs: Path | None, wanted: Callable[[], bool]
) -> Any:
    """Each finished Trial as it comes, or a sentence on why it goes on no longer."""
    if jobs <= 1:
        for number in numbers:
            try:
                trial = fly_trial(scenario, pilot, number, pilot.first_instance, logs, wanted)
            except FieldworthyError as error:
                yield f"trial {number}: {error}"
                return
            if trial.outcome == STOPPED:
                return
            yield trial
        return
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    waiting, free = list(numbers), list(range(pilot.first_instance, pilot.first_instance + jobs))
    flying: dict[Future[Trial], tuple[int, int]] = {}
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(stop,)) as pool:
        while waiting or flying:
            while waiting and free and not wanted():
                number, instance = waiting.pop(0), free.pop(0)
                with _no_ctrl_c():  # a process that begins here is deaf to it from its first moment
                    future = pool.submit(_in_process, scenario, pilot, number, instance, logs)
                flying[future] = number, instance
            if not flying:
                return
            over, _ = wait(flying, timeout=0.2, return_when=FIRST_COMPLETED)
            if wanted():
                stop.set()
            for future in over:
                number, instance = flying.pop(future)
                free.append(instance)
                try:
                    trial = future.result()
                except (FieldworthyError, BrokenProcessPool) as error:
                    stop.set()
                    gone = "its process has been ended from outside"
                    yield f"trial {number}: {gone if isinstance(error, BrokenProcessPool) else error}"
                    return
                if trial.outcome != STOPPED:
                    yield trial


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Ctrl-C waits until this is over; processes started here do not hear it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_stop: Any = None
"""In a process of the pool: the event that ends its trial."""


def _begin(stop: Any) -> None:
    global _stop
    _stop = stop
    # One vehicle is no work for many threads, and the neighbours want the cores.
    os.environ.setdefault("FIELDWORTHY_THREADS", "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C, and tells


def _in_process(scenario: Scenario, pilot: Pilot, number: int, instance: int, logs: Path | None) -> Trial:
    return fly_trial(scenario, pilot, number, instance, logs, _stop.is_set)


def fly_trial(
    scenario: Scenario, pilot: Pilot, number: int, instance: int, logs: Path | None, stopped: Callable[[], bool]
) -> Trial:
    """Start an autopilot, fly its mission, end it. scenario: as `piloted` makes it.

    Raises: AutopilotProcessError, LinkLost when the autopilot does not start or never comes.
    """
    vehicle = ready(scenario, pilot.kind, number)
    host = Host(pilot.kind, instance=instance)
    log = Log(every=sample_ticks(scenario), with_commands=True)
    station: GroundStation | None = None
    log_to = logs / f"trial-{number}.log" if logs is not None else None
    try:
        with AutopilotProcess(pilot.command(scenario, instance), log_to=log_to) as process:
            if not _came(host, process, stopped):
                return _not_flown(vehicle, number)
            station = pilot.station(scenario, instance)
            watch = _Watch(station, switches(scenario, pilot.kind, number), process, stopped)
            options = Options(pilot.patience_s, (), pilot.version)
            flown = flight(
                host, vehicle, scenario, log, options=options, stopped=watch.ended, beside=watch.look,
            )  # fmt: skip
            last_words = process.last_words(3) if flown.lost is not None else ""
    finally:
        host.close()
        if station is not None:
            station.close()
    return _ended(flown, scenario, number, station, last_words, watch.stopped)


class _Watch:
    """Lets the ground station work, and tells when nothing more will come of a trial."""

    def __init__(
        self, station: GroundStation, switches: list[Switch], process: AutopilotProcess, stopped: Callable[[], bool]
    ) -> None:
        self._station, self._switches, self._process, self._wanted = station, list(switches), process, stopped
        self._next_s = 0.0
        self.over = self.stopped = False
        """Nothing more will come; and that is because somebody wants to stop."""

    def ended(self) -> bool:
        """Asked at every step, and while an autopilot that may be silent is waited for."""
        if not self.over and self._wanted():
            self.over = self.stopped = True
        return self.over

    def look(self, link: Any, t_s: float) -> None:
        """Called after every step."""
        if t_s < self._next_s:
            return
        self._next_s = t_s + POLL_S
        station = self._station
        station.poll(t_s)
        while self._switches and t_s >= self._switches[0].t_s:
            for name, value in self._switches.pop(0).parameters.items():
                station.set_parameter(name, value)
        if self._process.poll() is not None:
            raise LinkLost(Loss.CLOSED, f"{self._process.command.name} has ended by itself")
        # What has given up in the air still has to come down: whether it does so whole is worth knowing.
        if station.phase is Phase.FAILED and not (station.armed and station.in_air):
            self.over = True


def _came(host: Host, process: AutopilotProcess, stopped: Callable[[], bool]) -> bool:
    """Wait for the autopilot; False where somebody wanted to stop before it was there."""
    until = time.perf_counter() + ARRIVES_S
    while not host.wait(0.2):
        process.check()
        if stopped():
            return False
        if time.perf_counter() > until:
            raise LinkLost(
                Loss.NOBODY,
                f"{process.command.name} has not come to {host.address} in {ARRIVES_S:g} s; its last words: "
                f"{process.last_words(3)}",
            )
    return True


def _not_flown(vehicle: OneTrial, number: int) -> Trial:
    nothing = np.zeros((0, len(vehicle.names)))
    return Trial(number, STOPPED, "stopped before its start", vehicle.standing, [], 0.0, nothing, ())


def _ended(
    flown: Flown, scenario: Scenario, number: int, station: GroundStation, last_words: str, stopped: bool
) -> Trial:
    vehicle = flown.vehicle
    if flown.lost is not None and flown.lost.loss is Loss.OURS:
        raise FieldworthyError(str(flown.lost))
    outcome, why = ending(flown, scenario)
    if outcome == STOPPED and not stopped:
        down = "; then came down whole" if station.in_air is False and station.reached is not None else ""
        outcome, why = GAVE_UP, f"{station.problem}{down}"
    elif station.problem and outcome != "goal":
        why = f"{why}; {station.problem}"
    if outcome == LINK_LOST and last_words:
        why = f"{why}; its last words: {' / '.join(last_words.splitlines())}"
    if outcome in (GAVE_UP, LINK_LOST):
        last = {name: float(values[0]) for name, values in flown.log.frames[-1].values.items()}
        why = "; ".join([why, *gone_before(scenario, number, last, vehicle.t_s)])
    return Trial(
        trial=number,
        outcome=outcome,
        why=why,
        standing=vehicle.standing,
        frames=flown.log.frames,
        time_s=vehicle.t_s,
        commands=np.array(flown.log.commands).reshape(-1, len(vehicle.names)),
        texts=tuple(station.texts),
    )
