"""What a campaign leaves in memory: one row a trial, and their tracks as NumPy arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.environment.shapes import Layout
from fieldworthy.scenario.schema import Scenario
from fieldworthy.trials.statistics import wilson_interval
from fieldworthy.world import OUTCOMES

LINK_LOST, GAVE_UP, STOPPED = "link lost", "gave up", "stopped"
"""How a trial that a real autopilot flies may also end: it is gone; it will not fly on; somebody stopped all."""

OUTCOME_NAMES = ("goal", "collision", "timeout", "left area", "non-finite", LINK_LOST, GAVE_UP)
"""Of finished trials; the last two only with a real autopilot."""


@dataclass(frozen=True, eq=False)
class Result:
    """Finished trials only, one row each; arrays (trials,) unless said otherwise."""

    scenario: Scenario
    asked: int
    """Trials asked for; more than there are rows where a run was interrupted."""
    trial: NDArray[np.int32]
    outcome: NDArray[np.str_]
    """One of OUTCOME_NAMES."""
    why: tuple[str, ...]
    """The outcome in a sentence."""
    time_s: NDArray[np.float64]
    clearance_m: NDArray[np.float64]
    """Least distance between hull and anything; never above world.state.CLEARANCE_HORIZON_M. NaN for flights without
    obstacles."""
    path_m: NDArray[np.float64]
    redrawn: NDArray[np.int64]
    parameters: dict[str, NDArray[np.float64]]
    """Drawn values of randomised parameters, by their paths."""
    metrics: dict[str, NDArray[np.float64]]
    """Of flights: numbers by the names of `trials.metric.METRICS`, NaN where a trial has none. Empty for boats."""
    crash: NDArray[np.str_]
    """Of flights: what a trial crashed by, in a word (`trials.flight_metrics.crash_words`). Empty for boats."""
    t_s: NDArray[np.float64]
    """(samples,)"""
    length: NDArray[np.int32]
    """Samples of each trial that are its own."""
    tracks: dict[str, NDArray[Any]]
    """(trials, samples) by the names of the run folder, NaN (mode, target: 0) after a trial's end."""
    layouts: tuple[Layout, ...]
    stopped_by: str
    """Why the run stopped early, empty when it did not."""
    wall_s: float
    sim_s: float
    rays: int
    commands: tuple[NDArray[np.float64], ...] = ()
    """Of a campaign that a real autopilot flew: all of its commands, (exchanges, numbers of a command) a trial."""
    texts: tuple[tuple[tuple[float, int, str], ...], ...] = ()
    """Of such a campaign: what the autopilot said in each trial, (simulated time, severity, text)."""
    pilot: dict[str, Any] = field(default_factory=dict)
    """Of such a campaign: facts of the autopilot, as plain data."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {n}" for name, n in Counter(self.outcome.tolist()).most_common())
        return f"Result({self.scenario.name!r}, {len(self.trial)} of {self.asked} trials: {counts or 'none finished'})"

    @property
    def success_rate(self) -> float:
        """Share of finished trials that reached the goal; NaN without any."""
        return float(np.mean(self.outcome == "goal")) if len(self.trial) else float("nan")

    def summary(self) -> dict[str, Any]:
        """The figures of the campaign as plain data; None where a figure is not defined."""
        count = Counter(self.outcome.tolist())
        reached = self.time_s[self.outcome == "goal"]
        clear = self.clearance_m[np.isfinite(self.clearance_m)]
        some = len(self.trial) > 0
        return {
            "scenario": self.scenario.name,
            "title": self.scenario.title,
            "vehicle": self.scenario.vehicle.kind,
            "trials": self.asked,
            "finished": len(self.trial),
            "seed": self.scenario.seed,
            "success": {
                "count": count["goal"],
                "rate": round(self.success_rate, 6) if some else None,
                "ci95": [round(x, 6) for x in wilson_interval(count["goal"], len(self.trial))] if some else None,
            },
            "collisions": count["collision"],
            "outcomes": {name: count[name] for name in OUTCOME_NAMES if count[name] or name in OUTCOMES},
            "time_s": {
                "mean": round(float(reached.mean()), 4) if len(reached) else None,
                "min": round(float(reached.min()), 4) if len(reached) else None,
                "max": round(float(reached.max()), 4) if len(reached) else None,
            },
            "clearance_m": {
                "min": round(float(clear.min()), 4) if len(clear) else None,
                "mean": round(float(clear.mean()), 4) if len(clear) else None,
            },
            "metrics": {name: _spread(values) for name, values in self.metrics.items()},
            "crashes": dict(Counter(word for word in self.crash.tolist() if word).most_common()),
            "redrawn": int(self.redrawn.sum()),
            "wall_s": round(self.wall_s, 3),
            "sim_s": round(self.sim_s, 3),
            "report": None,
        }


def _spread(values: NDArray[np.float64]) -> dict[str, float | None]:
    """Mean, least and greatest of the trials that have the number."""
    known = values[np.isfinite(values)]
    if not len(known):
        return {"mean": None, "min": None, "max": None}
    return {
        "mean": round(float(known.mean()), 6),
        "min": round(float(known.min()), 6),
        "max": round(float(known.max()), 6),
    }
