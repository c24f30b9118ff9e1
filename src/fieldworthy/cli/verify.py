"""`fieldworthy verify`: every model against a law or a published number."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from fieldworthy.verify.table import Outcome, Row


@click.command("verify")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model; may be given again.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the table as a page too, such as docs/verification.md.")  # fmt: skip
def command(models: tuple[str, ...], as_json: bool, page: Path | None) -> None:
    """Work out every row of the verification table: what a law or a publication says, and what comes out here.

    Takes some seconds. Exit code 1 when a row does not hold.
    """
    from fieldworthy.cli.show import stdout
    from fieldworthy.verify.table import all_rows, markdown, rows_of

    if page is not None and models:
        raise click.UsageError("--markdown writes the page of all models; valid: it without --model")
    rows = rows_of(all_rows(), models)
    began = time.monotonic()
    outcomes = list(_watched(rows))
    spent_s = time.monotonic() - began
    if page is not None:
        _write(page, markdown(outcomes))
    failed = [outcome for outcome in outcomes if not outcome.holds]
    if as_json:
        facts = {"rows": len(outcomes), "failed": len(failed), "wall_s": round(spent_s, 2)}
        click.echo(json.dumps({**facts, "checks": [outcome.as_dict() for outcome in outcomes]}))
    else:
        console = stdout()
        console.print(verification_table(outcomes, console.width))
        click.echo(f"{len(outcomes) - len(failed)} of {len(outcomes)} rows hold ({spent_s:.0f} s)")
        if page is not None:
            click.echo(f"page: {page}")
    for outcome in failed:
        check = outcome.row.check
        why = outcome.problem or f"got {outcome.got!r}, expected {check.expected!r} within {check.tolerance!r}"
        click.echo(f"does not hold: {check.model}: {check.law}: {why}", err=True)
    if failed:
        sys.exit(1)


def _watched(rows: Sequence[Row]) -> Iterator[Outcome]:
    """The outcomes, with a bar on a terminal and a line every few seconds elsewhere, on stderr."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from fieldworthy.cli.show import QUIET_EVERY_S, stderr
    from fieldworthy.verify.table import verify

    console, last = stderr(), time.monotonic()
    if not console.is_terminal:
        for done, outcome in enumerate(verify(rows)):
            if time.monotonic() - last >= QUIET_EVERY_S:
                last = time.monotonic()
                print(f"verify: {done} of {len(rows)} rows", file=sys.stderr, flush=True)
            yield outcome
        return
    columns = (TextColumn("[bold]{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(rows[0].check.model if rows else "", total=len(rows))
        for done, outcome in enumerate(verify(rows), start=1):
            following = rows[done].check.model if done < len(rows) else ""
            progress.update(task, completed=done, description=following)
            yield outcome


def verification_table(outcomes: Sequence[Outcome], width: int) -> Table:
    """One line a row; a narrow terminal goes without the source, so that no figure is cut."""
    from rich.table import Table
    from rich.text import Text

    from fieldworthy.cli.show import WIDE
    from fieldworthy.verify.table import expected_text, figure

    wide = width >= WIDE
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("model", overflow="fold")
    table.add_column("law", overflow="fold", ratio=3)
    if wide:
        table.add_column("source", overflow="fold", ratio=2, style="dim")
    for name in ("expected", "got"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("ok", no_wrap=True)
    for outcome in outcomes:
        check = outcome.row.check
        ok = Text("yes", "green") if outcome.holds else Text("no", "bold red")
        texts = [Text(check.model), Text(check.law)] + ([Text(check.source)] if wide else [])
        got = "raised" if outcome.problem else figure(outcome.got, check.tolerance)
        table.add_row(*texts, expected_text(check), got, Text(check.unit), ok)
    return table


def _write(page: Path, text: str) -> None:
    """The page, complete or not at all."""
    from fieldworthy.core.whole_file import whole_file

    content = text.encode()
    with whole_file(page, len(content)) as stream:
        stream.write(content)
