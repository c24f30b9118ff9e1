"""`fieldworthy check`: is a scenario sound, and does its controller keep the contract."""

from __future__ import annotations

import sys

import click


@click.command("check")
@click.argument("scenarios", nargs=-1, required=True)
@click.option("--set", "settings", multiple=True, metavar="PATH=VALUE",
              help="Override one value; may be given again.")  # fmt: skip
def command(scenarios: tuple[str, ...], settings: tuple[str, ...]) -> None:
    """Validate SCENARIOS: every key and value, every trial's layout, and the controller's contract.

    The controller flies a few trials for two seconds, together and alone: its answers must have the right shapes, be
    the same when asked again, and not depend on which other trials are in the batch. Exit code 2 when something is
    wrong.
    """
    from fieldworthy.core.errors import FieldworthyError
    from fieldworthy.scenario import load
    from fieldworthy.trials.contract import check_scenario
    from fieldworthy.trials.notes import scenario_notes

    failed = False
    for name in scenarios:
        try:
            loaded = load(name, settings)
            checked = check_scenario(loaded)
            notes = scenario_notes(loaded)
        except FieldworthyError as error:
            failed = True
            for line in str(error).splitlines():
                click.echo(f"error: {line}", err=True)
            continue
        click.echo(f"{name}: sound")
        for line in checked:
            click.echo(f"  {line}")
        for note in notes:
            click.echo(f"  note: {note}")
    if failed:
        sys.exit(2)
