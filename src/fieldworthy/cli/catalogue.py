"""`fieldworthy list`: what comes with the package."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial

import click

from fieldworthy.catalog import FOLDERS

KINDS = ("scenarios", "arm tasks", *FOLDERS.values(), "controllers")


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(KINDS), metavar="[KIND]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(kind: str | None, as_json: bool) -> None:
    """List what comes with the package: scenarios, arm tasks, vehicles, devices, controllers; or one KIND of them."""
    from fieldworthy.catalog import load_entry, names
    from fieldworthy.scenario import built_in_names, load
    from fieldworthy.scenario.arm_task import built_in_tasks, load_arm_task
    from fieldworthy.scenario.plug_in import CONTROLLERS

    def first_line(text: str | None) -> str:
        return (text or "").strip().splitlines()[0]

    def titles(thing: str) -> dict[str, str]:
        return {name: load_entry(thing, name).title for name in names(thing)}

    found: dict[str, Callable[[], dict[str, str]]] = {
        "scenarios": lambda: {name: load(name).title for name in built_in_names()},
        "arm tasks": lambda: {name: load_arm_task(name).title for name in built_in_tasks()},
        **{folder: partial(titles, thing) for thing, folder in FOLDERS.items()},
        "controllers": lambda: {
            name: first_line(sys.modules[kind.__module__].__doc__) for name, kind in CONTROLLERS.items()
        },
    }
    listed: dict[str, dict[str, str]] = {name: make() for name, make in found.items() if kind in (None, name)}
    if as_json:
        click.echo(json.dumps(listed))
        return
    for title, entries in listed.items():
        click.secho(title, bold=True)
        width = max(map(len, entries))
        for name, text in entries.items():
            click.echo(f"  {name:<{width}}  {text}")
