"""`fieldworthy check`: is a scenario sound, and does its controller keep the contract."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click


@click.command("check")
@click.argument("scenarios", nargs=-1, required=True)
@click.option("--set", "settings", multiple=True, metavar="PATH=VALUE",
              help="Override one value; may be given again.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the lines.")
def command(scenarios: tuple[str, ...], settings: tuple[str, ...], as_json: bool) -> None:
    """Validate SCENARIOS: every key and value, every trial's layout, and the controller's contract.

    The controller flies a few trials for two seconds, together and alone: its answers must have the right shapes, be
    the same when asked again, and not depend on which other trials are in the batch. Of what flies, figures of the
    vehicle are told (thrust over weight, hover throttle, battery, inertia), with a warning where one looks odd. Exit
    code 2 when something is wrong; a warning is none.

    Of an arm's task everything that it names is read, each waypoint is reached for by itself, and the whole path is
    planned; a waypoint out of reach, or no continuous path, is something wrong.
    """
    from fieldworthy.cli.arm_check import checked_task
    from fieldworthy.scenario.arm_task import is_arm_task

    answers = [(checked_task if is_arm_task(name) else _checked)(name, settings, as_json) for name in scenarios]
    if as_json:
        click.echo(json.dumps({"scenarios": answers}))
    if not all(answer["sound"] for answer in answers):
        sys.exit(2)


def _checked(name: str, settings: tuple[str, ...], as_json: bool) -> dict[str, Any]:
    """Check one scenario and say so, unless the answer will be JSON."""
    from fieldworthy.core.errors import FieldworthyError
    from fieldworthy.scenario import load
    from fieldworthy.trials.contract import check_scenario
    from fieldworthy.trials.notes import scenario_notes
    from fieldworthy.trials.sanity import Sanity, flight_sanity

    answer: dict[str, Any] = {"scenario": name, "sound": False, "errors": [], "checked": [], "notes": []}
    sanity = Sanity()
    try:
        loaded = load(name, settings, notes=answer["notes"])
        with _working(name) as step:
            answer["checked"] = check_scenario(loaded, step)
        sanity = flight_sanity(loaded)
        answer["notes"] += scenario_notes(loaded)
        answer["sound"] = True
    except FieldworthyError as error:
        answer["errors"] = str(error).splitlines()
    figures = {key: None if value is None else round(value, 6) for key, value in sanity.figures.items()}
    answer |= {"figures": figures, "warnings": sanity.warnings}
    if as_json:
        return answer
    for line in answer["errors"]:
        click.echo(f"error: {line}", err=True)
    if answer["sound"]:
        click.echo(f"{name}: sound")
        for line in (*answer["checked"], *sanity.lines):
            click.echo(f"  {line}")
        for kind, lines in (("warning", sanity.warnings), ("note", answer["notes"])):
            for line in lines:
                click.echo(f"  {kind}: {line}")
    return answer


@contextmanager
def _working(name: str) -> Iterator[Callable[[str], None]]:
    """What is being done, on stderr: a line that changes on a terminal, else the first step alone."""
    from fieldworthy.cli.show import stderr

    console = stderr()
    if console.is_terminal:
        with console.status(f"{name}: …") as status:
            yield lambda step: status.update(f"{name}: {step} …")
        return
    told: list[str] = []

    def plain(step: str) -> None:
        if not told:
            print(f"{name}: {step} …", file=sys.stderr, flush=True)
        told.append(step)

    yield plain
