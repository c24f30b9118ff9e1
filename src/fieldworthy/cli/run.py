"""`fieldworthy run`: fly a campaign, or play the task of an arm (cli/arm_run.py)."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def overrides(trials: int | None, seed: int | None, settings: tuple[str, ...]) -> list[str]:
    """All `path=value` overrides of a command, the short options last because they are the most explicit."""
    found = list(settings)
    if trials is not None:
        found.append(f"trials={trials}")
    if seed is not None:
        found.append(f"seed={seed}")
    return found


scenario_options = [
    click.option("--seed", type=click.IntRange(min=0), metavar="S",
                 help="Seed of everything random; default: the scenario's."),
    click.option("--set", "settings", multiple=True, metavar="PATH=VALUE",
                 help="Override one value, e.g. sensors.lidar.noise_m=0.1; may be given again."),
    click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="New folder for the results."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table."),
]  # fmt: skip


def with_options(trials_help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the argument and options that every command on a scenario has."""
    first = [
        click.argument("scenario"),
        click.option("--trials", type=click.IntRange(min=1), metavar="N", help=trials_help),
    ]

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed([*first, *scenario_options]):
            function = option(function)
        return function

    return add


pilot_options = [
    click.option("--pilot", type=click.Choice(["px4", "ardupilot"]),
                 help="Let a real autopilot fly every trial: --binary says which."),
    click.option("--binary", type=click.Path(path_type=Path), metavar="PATH",
                 help="Of the autopilot: build/px4_sitl_default/bin/px4, arducopter, arduplane or ardurover."),
    click.option("--defaults", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
                 help="Parameter file of ArduPilot; may be given again."),
    click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE",
                 help="Parameter of the autopilot; may be given again."),
    click.option("--airframe", default="", metavar="NAME", help="PX4_SIM_MODEL; default: the vehicle's usual one."),
    click.option("--jobs", type=click.IntRange(1, 64), metavar="N",
                 help="Autopilots side by side; default: one a core."),
    click.option("--instance", type=click.IntRange(0, 99), metavar="I",
                 help="Number of the first autopilot, from which its ports follow; default 0."),
    click.option("--rate", type=click.FloatRange(1.0, 4000.0), metavar="HZ",
                 help="Exchanges a second; default 250 for PX4, 800 for ArduPilot, 100 for boats."),
    click.option("--json-version", type=click.Choice(["4.5", "2025-07", "2025-11"]),
                 help="Of ArduPilot's JSON interface: what it may be told; default 4.5."),
    click.option("--patience", type=click.FloatRange(min=0.1), metavar="S",
                 help="Wall time that the autopilot may be silent; default 20."),
]  # fmt: skip


def _piloting(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(pilot_options):
        function = option(function)
    return function


@click.command("run")
@with_options("How many trials; default: the scenario's.")
@click.option(
    "--solver",
    metavar="NAME|all",
    help="Of an arm's task: exact, dls, pinv, ccd, fabrik, dls-seed, "
    "pinv-seed, ccd-seed, fabrik-seed, module:Class, or all of the built-in ones; default: the task's.",
)
@_piloting
def command(
    scenario: str,
    trials: int | None,
    seed: int | None,
    settings: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    solver: str | None,
    pilot: str | None,
    **piloting: Any,
) -> None:
    """Fly SCENARIO (a built-in name or a TOML file) and write its report; or play the task of an arm.

    The results go to runs/NAME-DATE-TIME unless --out says otherwise. Ctrl-C keeps the trials that have finished.

    An arm's task (arm-plane, arm-cylinder, arm-frames, arm-joints, or a TOML file with [arm]) is planned as a whole
    path and played with --solver; Ctrl-C keeps the solvers that have finished. The exit code is 0 when it has run,
    also where a waypoint was not reached: the table, --json and the report say so.
    """
    from fieldworthy.scenario.arm_task import is_arm_task

    if is_arm_task(scenario):
        from fieldworthy.cli import arm_run

        given = {"trials": trials, "seed": seed, "settings": settings, "out": out, "as_json": as_json,
                 "solver": solver, "pilot": pilot, **piloting}  # fmt: skip
        arm_run.run(scenario, given)
        return
    if solver is not None:
        raise click.UsageError(
            "--solver goes with the task of an arm; valid for a vehicle: --set control.controller=NAME"
        )
    from fieldworthy.cli.show import notes_to_stderr, stderr, stop_sentence, watching
    from fieldworthy.core.errors import FieldworthyError
    from fieldworthy.scenario import load
    from fieldworthy.trials.campaign import fly
    from fieldworthy.trials.folder import command_line, default_folder, new_folder
    from fieldworthy.trials.inputs import MOST_BYTES, inputs_of
    from fieldworthy.trials.notes import map_notes, sameness_notes
    from fieldworthy.trials.result import LINK_LOST
    from fieldworthy.trials.save import fill

    notes: list[str] = []
    loaded = load(scenario, overrides(trials, seed, settings), notes=notes)
    who = _pilot(pilot, piloting)
    notes_to_stderr([*notes, *map_notes(loaded)])
    folder = out or default_folder(loaded.name)
    summary: dict[str, Any] = {}
    try:
        with new_folder(folder) as part:
            with watching(loaded.name) as progress:
                if who is None:
                    result = fly(loaded, progress=progress)
                else:
                    from fieldworthy.trials.piloted import fly_piloted

                    logs = part / "autopilot"
                    jobs = piloting["jobs"] or os.cpu_count() or 1
                    result = fly_piloted(loaded, who, progress=progress, jobs=jobs, logs=logs)
            summary = result.summary()
            if len(result.trial):
                fill(part, result, folder, command_line())
            else:  # what an autopilot printed that never flew makes no run folder
                shutil.rmtree(part / "autopilot", ignore_errors=True)
    except FieldworthyError:
        if summary:  # flown, and could not be written: the figures at least are told
            _show(summary, as_json)
        raise
    if len(result.trial):
        summary["report"] = str(folder / "report.html")
    _show(summary, as_json)
    notes_to_stderr(sameness_notes(result))
    if len(result.trial) and inputs_of(loaded).too_large:
        what = f"maps and modules of more than {MOST_BYTES / 1e6:g} MB are not in the run folder: keep them for replay"
        stderr().print(what, markup=False)
    if result.stopped_by:
        kept = f"{len(result.trial)} of {result.asked} trials had finished" + (
            " and are kept" if len(result.trial) else ""
        )
        some = 0 < len(result.trial) < result.asked
        stderr().print(stop_sentence(result.stopped_by, kept, some), markup=False, soft_wrap=True)
        sys.exit(130 if result.stopped_by == "Ctrl-C" else 2)
    if (result.outcome == LINK_LOST).any():
        sys.exit(3)


def _pilot(kind: str | None, given: dict[str, Any]) -> Any:
    """The autopilot that flies, or None for the scenario's own controller."""
    if kind is None:
        names = {"binary": "--binary", "defaults": "--defaults", "parameters": "--param", "airframe": "--airframe",
                 "jobs": "--jobs", "instance": "--instance", "rate": "--rate", "json_version": "--json-version",
                 "patience": "--patience"}  # fmt: skip
        alone = [option for name, option in names.items() if given[name] not in (None, "", ())]
        if alone:
            raise click.UsageError(f"{alone[0]} goes with --pilot px4 or --pilot ardupilot only")
        return None
    if given["binary"] is None:
        usual = "BUILD/bin/px4" if kind == "px4" else "arducopter"
        raise click.UsageError(f"--pilot {kind} needs the autopilot's program; valid: --binary {usual}")
    from fieldworthy.trials.pilot import Pilot

    parameters = dict(_parameter(text) for text in given["parameters"])
    defaults = tuple(path.resolve() for path in given["defaults"])
    return Pilot(
        kind, given["binary"].resolve(), parameters, defaults, given["airframe"],  # type: ignore[arg-type]
        rate_hz=given["rate"], version=given["json_version"] or "4.5", patience_s=given["patience"] or 20.0,
        first_instance=given["instance"] or 0,
    )  # fmt: skip


def _parameter(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        if name and equals and math.isfinite(float(value)):
            return name, float(value)
    except ValueError:
        pass
    raise click.BadParameter(f"--param {text}: not a parameter; valid: NAME=NUMBER, such as MPC_XY_CRUISE=5")


def _show(summary: dict[str, Any], as_json: bool) -> None:
    from fieldworthy.cli.show import stdout, summary_table

    if as_json:
        click.echo(json.dumps(summary))
        return
    console = stdout()
    console.print(summary_table({"scenario": [summary["scenario"]]}, [summary], console.width))
    if summary["report"]:
        click.echo(f"report: {summary['report']}")
