"""Numbers of a scenario as lanes: one for all trials, or one a trial where [randomize] says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine
from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.random import Stream
from fieldworthy.scenario.schema import Scenario


class Values:
    """Numbers of the scenario, with those under [randomize] drawn for every row."""

    def __init__(self, scenario: Scenario, trials: NDArray[np.uint32]) -> None:
        self._where = scenario.source_path or scenario.name
        self._read: set[str] = set()
        self._ranges = scenario.randomize
        self.drawn = {
            path: np.array(
                [Stream(scenario.seed, f"randomize {path}").uniform(int(t), 0, 1, low, high)[0] for t in trials]
            )
            for path, (low, high) in scenario.randomize.items()
        }

    def numbers(self, path: str, value: Any) -> Any:
        """The drawn numbers (rows,) of a path, or the value that all rows share."""
        self._read.add(path)
        return self.drawn.get(path, value)

    def highest(self, path: str, value: float) -> float:
        """The most that any trial may draw for a path, or the value itself: what sizes are laid out for."""
        return self._ranges[path][1] if path in self._ranges else value

    def lanes(self, engine: Engine, path: str, value: Any) -> Any:
        """The same as lanes: one number, or one a row."""
        return engine.floats(self.numbers(path, value))

    def refuse_unread(self) -> None:
        """Raise: ScenarioError for randomised paths that nothing has asked for: they would change nothing."""
        idle = [path for path in self.drawn if path not in self._read]
        if idle:
            valid = ", ".join(sorted(self._read))
            raise ScenarioError(
                [Problem(self._where, f'[randomize] "{path}" cannot differ between trials', valid) for path in idle]
            )
