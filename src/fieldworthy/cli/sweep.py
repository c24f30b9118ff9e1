"""`fieldworthy sweep`: the campaign at every combination of some values."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import click

from fieldworthy.cli.run import overrides, with_options


def parse_vary(text: str) -> tuple[str, list[Any]]:
    """`path=v1,v2,…` as a path and its values; a list of lists in TOML brackets works too.

    Raises: click.UsageError
    """
    path, equals, values = text.partition("=")
    if not equals or not path.strip() or not values.strip():
        raise click.UsageError(f"--vary {text}: valid: PATH=VALUE,VALUE,… such as sensors.lidar.noise_m=0,0.05,0.1")
    if re.fullmatch(r"[-+\d.eE]+(:[-+\d.eE]+){1,2}", values.strip()):
        raise click.UsageError(
            f"--vary {text}: not a range; list the values with commas, such as {path.strip()}=0,0.5,1"
        )
    try:
        found = tomllib.loads(f"v = [{values}]")["v"]
    except ValueError:  # TOMLDecodeError is one, and so are numbers of thousands of digits
        # Words need no quotes on a command line.
        found = [_value(word.strip()) for word in values.split(",")]
    if len(set(map(repr, found))) != len(found):
        raise click.UsageError(f"--vary {text}: a value is given twice")
    return path.strip(), found


def _value(word: str) -> Any:
    try:
        return tomllib.loads(f"v = {word}")["v"]
    except ValueError:
        return word


@click.command("sweep")
@with_options("How many trials per point; default: the scenario's.")
@click.option("--vary", "varied", multiple=True, required=True, metavar="PATH=V1,V2,…",
              help="A value to vary and what it takes; given again, all combinations are flown.")  # fmt: skip
def command(
    scenario: str, trials: int | None, seed: int | None, settings: tuple[str, ...], out: Path | None, as_json: bool,
    varied: tuple[str, ...],
) -> None:  # fmt: skip
    """Fly SCENARIO at every combination of the values of --vary.

    Every point flies the same trials with the same seed, so that differences come from the values.
    """
    from fieldworthy.cli.show import notes_to_stderr, stderr, stdout, stop_sentence, summary_table, watching
    from fieldworthy.scenario import load
    from fieldworthy.trials.campaign import Progress
    from fieldworthy.trials.folder import command_line, default_folder, new_folder
    from fieldworthy.trials.notes import map_notes, sameness_notes
    from fieldworthy.trials.sweep import fill, points_of, sweep

    pairs = [parse_vary(text) for text in varied]
    names = [path for path, _ in pairs]
    if len(set(names)) != len(names):
        raise click.UsageError("--vary: a path is given twice; valid: each path once, with all its values")
    vary = dict(pairs)
    notes: list[str] = []
    loaded = load(scenario, overrides(trials, seed, settings), notes=notes)
    folder = out or default_folder(f"{loaded.name}-sweep")
    points_of(loaded, vary, notes)  # so that a wrong value is told before anything is made
    notes_to_stderr([*notes, *map_notes(loaded)])
    with new_folder(folder) as part:
        with watching(loaded.name) as show:

            def progress(point: int, points: int, values: dict[str, Any], step: Progress) -> None:
                share = (point + step.share) / points
                show(Progress(point * step.trials + step.finished, points * step.trials, step.outcomes, share))

            points = sweep(loaded, vary, progress=progress)
        if points:
            fill(part, loaded, vary, points, folder, command_line())
    report = str(folder / "report.html") if points else None
    rows = [{"values": point.values, **point.result.summary()} for point in points]
    if as_json:
        click.echo(json.dumps({"scenario": loaded.name, "vary": vary, "points": rows, "report": report}))
    else:
        console, columns = stdout(), {name: [str(row["values"][name]) for row in rows] for name in names}
        console.print(summary_table(columns, rows, console.width))
        click.echo(f"report: {report}")
    told = Counter(note for point in points for note in sameness_notes(point.result))
    notes_to_stderr(
        note if count == len(points) else f"{note} ({count} of {len(points)} points)" for note, count in told.items()
    )
    stopped = next((point.result.stopped_by for point in points if point.result.stopped_by), "")
    asked = 1
    for values in vary.values():
        asked *= len(values)
    if stopped or len(points) < asked:
        last = points[-1].result if points else None
        partly = last is not None and len(last.trial) < last.asked
        kept = f"{len(points)} of {asked} points are kept" + (
            f", the last with {len(last.trial)} of {last.asked} trials" if last is not None and partly else ""
        )
        stderr().print(stop_sentence(stopped or "Ctrl-C", kept, partly), markup=False, soft_wrap=True)
        sys.exit(2 if stopped not in ("", "Ctrl-C") else 130)
