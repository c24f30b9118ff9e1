"""`fieldworthy run` of an arm's task: plan the whole path, play the motion with one solver or all, write the report."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fieldworthy.cli.show import QUIET_EVERY_S, WIDE, notes_to_stderr, stderr, stdout
from fieldworthy.core.errors import FieldworthyError

if TYPE_CHECKING:
    from rich.table import Table

    from fieldworthy.scenario.arm_task import ArmScene
    from fieldworthy.trials.arm.run import Progress

_OF_TRIALS = {"trials": "--trials", "seed": "--seed", "pilot": "--pilot", "binary": "--binary",
              "defaults": "--defaults", "parameters": "--param", "airframe": "--airframe",
              "jobs": "--jobs", "instance": "--instance", "rate": "--rate", "json_version": "--json-version",
              "patience": "--patience"}  # fmt: skip


def run(name: str, given: dict[str, Any]) -> None:
    """Run the task `name` with what the command line gave. Exit code 0 when it has run, reached or not.

    Raises: FieldworthyError, click.UsageError for options that an arm has no use for.
    """
    from fieldworthy.trials.arm.folder import fill
    from fieldworthy.trials.arm.run import run_task
    from fieldworthy.trials.folder import command_line, default_folder, new_folder

    refuse_options_of_trials(given)
    scene, solvers = prepared(name, given["settings"], given["solver"])
    notes_to_stderr(scene.motion.notes)
    folder = given["out"] or default_folder(scene.task.name)
    summary: dict[str, Any] = {}
    try:
        with new_folder(folder) as part:
            with _watching(scene.task.name) as progress:
                result = run_task(scene, solvers, progress)
            summary = result.summary()
            kept = bool(result.measured)
            if kept:
                fill(part, result, command_line())
    except FieldworthyError:
        if summary:  # played, and could not be written: the figures at least are told
            show({**summary, "report": None}, given["as_json"])
        raise
    summary["report"] = str(folder / "report.html") if kept else None
    show(summary, given["as_json"])
    if result.stopped_by:
        finished = f"{len(result.measured)} of {len(result.asked)} solvers had finished" + (
            " and are kept" if kept else ""
        )
        stderr().print(f"stopped by {result.stopped_by}: {finished}", markup=False, soft_wrap=True)
        sys.exit(130)


def refuse_options_of_trials(given: dict[str, Any]) -> None:
    """Raises: click.UsageError for the first option that goes with campaigns of vehicles only."""
    for name, option in _OF_TRIALS.items():
        if given.get(name) not in (None, "", ()):
            raise click.UsageError(
                f"{option} goes with scenarios of vehicles; an arm's task is played once a solver, without chance; "
                "valid here: --solver, --set, --out, --json"
            )


def prepared(name: str, settings: Sequence[str], solver: str | None) -> tuple[ArmScene, list[str]]:
    """The task with everything that it names, and the solvers to be played (none where joint positions are).

    Raises: FieldworthyError
    """
    import msgspec

    from fieldworthy.arms.waypoints import WaypointSet
    from fieldworthy.scenario.arm_task import arm_scene, load_arm_task
    from fieldworthy.trials.arm.run import ALL

    task = load_arm_task(name, settings)
    if solver is not None and solver != "all" and solver != task.solver.name:
        # Options in the file are for the file's solver; those of --set are meant for the one that is asked for.
        told = {text.partition("=")[0].strip().removeprefix("solver.options.") for text in settings}
        task = load_arm_task(name, [*settings, f"solver.name={solver}"])
        own = {key: value for key, value in task.solver.options.items() if key in told}
        task = msgspec.structs.replace(task, solver=msgspec.structs.replace(task.solver, options=own))
    scene = arm_scene(task)
    if not isinstance(scene.motion, WaypointSet):
        if solver is not None:
            raise FieldworthyError(
                f"--solver {solver}: {task.name} plays joint positions, which need no solver; valid: leave --solver out"
            )
        return scene, []
    return scene, list(ALL) if solver == "all" else [task.solver.name]


@contextmanager
def _watching(label: str) -> Iterator[Progress]:
    """A live line on a terminal; else a plain one every few seconds."""
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table as Grid

    console, began, last = stderr(), time.monotonic(), [time.monotonic()]

    def left(index: int, count: int, share: float) -> str:
        done = (index + share) / count
        spent = time.monotonic() - began
        return f"about {spent * (1.0 - done) / done:.0f} s left" if done > 0.05 else ""

    def doing(what: str, index: int, count: int) -> str:
        if what == "planning":
            return "planning the whole path"
        return "playing joint positions" if what == "joints" else f"{what} ({index + 1} of {count})"

    if not console.is_terminal:

        def plain(what: str, index: int, count: int, share: float) -> None:
            if time.monotonic() - last[0] >= QUIET_EVERY_S:
                last[0] = time.monotonic()
                told = f"{label}: {doing(what, index, count)}, {100 * share:.0f} %, {left(index, count, share)}"
                print(told.removesuffix(", "), file=sys.stderr, flush=True)

        yield plain
        return

    with Live(f"{label}: …", console=console, refresh_per_second=8, transient=True) as live:

        def picture(what: str, index: int, count: int, share: float) -> None:
            grid = Grid.grid(padding=(0, 2))
            bar = ProgressBar(total=1.0, completed=(index + share) / count, width=30)
            grid.add_row(f"[bold]{label}[/]", bar, doing(what, index, count), left(index, count, share))
            live.update(grid)

        yield picture


def show(summary: dict[str, Any], as_json: bool) -> None:
    """The answer on stdout: one JSON object, or the tables."""
    if as_json:
        click.echo(json.dumps(summary))
        return
    from fieldworthy.trials.arm.sentences import plan_lines, reading_of_ratios

    console = stdout()
    if summary["solvers"]:
        table = joints_table if summary["motion"] == "joints" else solver_table
        console.print(table(summary["solvers"], console.width))
        for line in reading_of_ratios(summary):
            click.echo(line)
    for line in plan_lines(summary):
        click.echo(line)
    if summary["report"]:
        click.echo(f"report: {summary['report']}")


_WIDE_ONLY = ("path error", "iter.", "reversals", "after", "wrist", "nearest")
"""Columns that a narrow terminal goes without; --json and the report have them."""


def solver_table(rows: Sequence[dict[str, Any]], width: int) -> Table:
    """One row a solver."""
    from fieldworthy.trials.arm.words import angle, length, pair, ratio, stillness

    cells: dict[str, list[str]] = {
        "solver": [row["solver"] for row in rows],
        "reached": [_reached(row) for row in rows],
        "worst\nerror": [length(row["worst_position_error_m"]) for row in rows],
        "path\nerror": [length(row["mean_path_error_m"]) for row in rows],
        "worst\nturn": [angle(row["worst_orientation_error_deg"]) for row in rows],
        "iter.\n/frame": [f"{row['iterations_per_frame']:.1f}" for row in rows],
        "µs\n/frame": [f"{row['solve_us']:.0f}" for row in rows],
        "speed\n/limit": [_over(row["peak_speed_ratio"]) for row in rows],
        "accel.\n/limit": [_over(row["peak_acceleration_ratio"]) for row in rows],
        "reversals\n/s": [f"{row['reversals_per_s']:.1f}" for row in rows],
        "after\narrival": [stillness(row["stillness_rad"]) for row in rows],
        "least\nclearance": [_clearance(row) for row in rows],
        "nearest\npair": [pair(row.get("nearest", "–")) for row in rows],
        "wrist\nsine": ["–" if row["least_wrist_sine"] is None else ratio(row["least_wrist_sine"]) for row in rows],
    }
    return _table(cells, width)


def joints_table(rows: Sequence[dict[str, Any]], width: int) -> Table:
    """The one row of played joint positions."""
    from fieldworthy.trials.arm.words import pair, ratio

    row = rows[0]
    beyond = ", ".join(row["outside_limits"])
    cells = {
        "played": ["joints"],
        "time": [f"{row['time_s']:.1f} s"],
        "limits": ["[green]kept[/]" if not beyond else f"[red]left by {beyond}[/]"],
        "speed\n/limit": [_over(row["peak_speed_ratio"])],
        "accel.\n/limit": [_over(row["peak_acceleration_ratio"])],
        "reversals\n/s": [f"{row['reversals_per_s']:.1f}"],
        "least\nclearance": [_clearance(row)],
        "nearest\npair": [pair(row.get("nearest", "–"))],
        "wrist\nsine": ["–" if row["least_wrist_sine"] is None else ratio(row["least_wrist_sine"])],
        "least\nmanipulability": [f"{row['least_manipulability']:.3g}"],
    }
    return _table(cells, width)


def _table(cells: dict[str, list[str]], width: int) -> Table:
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    names = [name for name in cells if width >= WIDE or not name.replace("\n", " ").startswith(_WIDE_ONLY)]
    for name in names:
        grid.add_column(name, justify="left" if name in ("solver", "played") else "right", no_wrap=True)
    for row in zip(*(cells[name] for name in names), strict=True):
        grid.add_row(*row)
    return grid


def _reached(row: dict[str, Any]) -> str:
    share = f"{row['reached']}/{row['waypoints']}"
    colour = "green" if row["reached"] == row["waypoints"] else "yellow" if row["reached"] else "red"
    return f"[{colour}]{share}[/]"


def _over(value: float | None) -> str:
    from fieldworthy.trials.arm.words import over, ratio

    return f"[yellow]{ratio(value)}[/]" if over(value) else ratio(value)


def _clearance(row: dict[str, Any]) -> str:
    from fieldworthy.trials.arm.words import length

    value = row.get("least_clearance_m")
    return f"[red]{length(value)}[/]" if value is not None and value <= 0.0 else length(value)
