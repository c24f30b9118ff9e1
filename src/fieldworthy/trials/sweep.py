"""The same campaign at every combination of some values: how much does a parameter matter."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fieldworthy.scenario import Scenario, set_value
from fieldworthy.trials.campaign import Progress, fly
from fieldworthy.trials.folder import command_line, provenance, write_json, write_run, write_whole
from fieldworthy.trials.report import write_report, write_sweep_report
from fieldworthy.trials.result import Result
from fieldworthy.trials.save import without_losing


@dataclass(frozen=True, eq=False)
class Point:
    """One combination of values and its campaign."""

    values: dict[str, Any]
    result: Result


def points_of(
    scenario: Scenario, vary: Mapping[str, Sequence[Any]], notes: list[str] | None = None
) -> list[tuple[dict[str, Any], Scenario]]:
    """Every combination of the values, in the order given, each with its checked scenario.

    notes: takes sentences on what the values have changed besides.
    Raises: ScenarioError for a path or value that the scenario cannot take; nothing has been flown then.
    """
    found, told = [], list[str]()
    for values in itertools.product(*vary.values()):
        point = scenario
        for path, value in sorted(zip(vary, values, strict=True), key=lambda pair: _turn(pair[0])):
            point = set_value(point, path, value, told)
        found.append((dict(zip(vary, values, strict=True)), point))
    if notes is not None:
        notes.extend(dict.fromkeys(told))
    return found


def _turn(path: str) -> int:
    """When to set a path: a controller or a model takes values of the old one with it, a value takes its draw."""
    if path.startswith("randomize"):
        return 3
    return 0 if path in ("control.controller", "vehicle.model") else 1 if path.endswith(".model") else 2


def sweep(
    scenario: Scenario,
    vary: Mapping[str, Sequence[Any]],
    trials: int | None = None,
    progress: Callable[[int, int, dict[str, Any], Progress], None] | None = None,
) -> list[Point]:
    """Fly the campaign at every combination. Ctrl-C ends it and keeps the points flown so far.

    progress: called with the point's number, how many there are, its values, and the campaign's own progress.
    """
    combinations = points_of(scenario, vary)
    flown: list[Point] = []
    for number, (values, point) in enumerate(combinations):

        def report(step: Progress, number: int = number, values: dict[str, Any] = values) -> None:
            if progress is not None:
                progress(number, len(combinations), values, step)

        result = fly(point, trials, report)
        if len(result.trial) or not result.stopped_by:
            flown.append(Point(values, result))
        if result.stopped_by:
            break
    return flown


def save_sweep(
    folder: Path, scenario: Scenario, vary: Mapping[str, Sequence[Any]], points: Sequence[Point], command: str = ""
) -> Path:
    """Write a sweep folder: sweep.json, sweep.csv, one run folder a point, and the reports."""
    return write_whole(folder, lambda part: fill(part, scenario, vary, points, folder, command or command_line()))


def fill(
    part: Path,
    scenario: Scenario,
    vary: Mapping[str, Sequence[Any]],
    points: Sequence[Point],
    target: Path,
    command: str,
) -> None:
    """Write the files of a sweep into the folder `part`, which is going to be `target`."""
    rows = []
    for number, point in enumerate(points):
        name = f"point-{number:03d}"
        (part / name).mkdir()
        write_run(part / name, point.result, command)
        without_losing(partial(write_report, part / name, shown_as=target / name))
        rows.append({"values": point.values, "run": name, "summary": point.result.summary()})
    facts = provenance(points[0].result, command) if points else {}
    asked = math.prod(len(values) for values in vary.values())
    stopped = len(points) < asked or any(point.result.stopped_by for point in points)
    data = {
        **facts,
        "schema": 1,
        "scenario": scenario.name,
        "title": scenario.title,
        "description": scenario.description,
        "interrupted": stopped,
        "vary": {path: list(values) for path, values in vary.items()},
        "wall_s": round(sum(point.result.wall_s for point in points), 3),
        "sim_s": round(sum(point.result.sim_s for point in points), 3),
        "points": rows,
    }
    write_json(part / "sweep.json", data)
    _write_table(part / "sweep.csv", list(vary), points)
    without_losing(partial(write_sweep_report, part))


def _write_table(path: Path, names: list[str], points: Sequence[Point]) -> None:
    metrics = list(points[0].result.metrics) if points else []
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            [*names, "trials", "success_rate", "success_low95", "success_high95", "collisions", "time_mean_s",
             "clearance_min_m", "clearance_mean_m", *(f"mean_{name}" for name in metrics)]
        )  # fmt: skip
        for point in points:
            s = point.result.summary()
            low, high = s["success"]["ci95"] or (None, None)
            table.writerow(
                [*point.values.values(), s["finished"], s["success"]["rate"], low, high, s["collisions"],
                 s["time_s"]["mean"], s["clearance_m"]["min"], s["clearance_m"]["mean"],
                 *(s["metrics"].get(name, {}).get("mean") for name in metrics)]
            )  # fmt: skip
