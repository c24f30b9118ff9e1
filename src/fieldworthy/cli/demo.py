"""`fieldworthy demo`: the paper's scenarios beside its figures."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click


@dataclass(frozen=True)
class PaperRow:
    """What the paper's table says of a scenario."""

    label: str
    scenario: str
    success: tuple[float, float]
    time_s: tuple[float, float]
    note: str = ""


PAPER = (
    PaperRow("A", "boat-buoy", (0.9, 0.9), (22.0, 22.0)),
    PaperRow("B", "boat-field", (0.7, 0.8), (30.0, 35.0), "five obstacles"),
    PaperRow("B, 35", "boat-field-35", (0.7, 0.8), (30.0, 35.0), "thirty-five obstacles, as the paper's text has it"),
    PaperRow("C", "boat-channel", (0.6, 0.7), (40.0, 40.0)),
)
"""Table 1 of the study that README cites (10 trials each); B is one row there, of 35 obstacles."""


@click.command("demo")
@click.option("--trials", type=click.IntRange(min=1), default=10, show_default=True, help="Trials a scenario.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="New folder for the results.")
def command(trials: int, out: Path | None) -> None:
    """Fly the three scenarios of the LiDAR boat paper, B twice (5 and 35 obstacles), and compare with its table."""
    from rich.table import Table

    from fieldworthy.cli.show import number, other_outcomes, percent, stderr, stdout, watching
    from fieldworthy.scenario import load
    from fieldworthy.trials.campaign import fly
    from fieldworthy.trials.folder import command_line, default_folder, new_folder
    from fieldworthy.trials.report import DemoRow, write_demo_report
    from fieldworthy.trials.save import fill, without_losing

    folder = out or default_folder("demo")
    began = time.monotonic()
    table = Table(box=None, pad_edge=False, header_style="bold", title="Paper and ours", title_justify="left")
    for name in (
        "",
        "scenario",
        "paper: success",
        "ours",
        "95 % interval",
        "paper: time",
        "ours",
        "collisions",
        "other",
    ):
        table.add_column(name, justify="right" if "ours" in name or "paper" in name or "%" in name else "left")
    flown: list[DemoRow] = []
    stopped = ""
    with new_folder(folder) as part:
        for row in PAPER:
            run = part / row.scenario
            try:
                scenario = load(row.scenario, [f"trials={trials}"])
                with watching(f"{row.label}  {row.scenario}") as progress:
                    result = fly(scenario, progress=progress)
                stopped = result.stopped_by
                if not stopped:
                    run.mkdir()
                    fill(run, result, folder / row.scenario, command_line())
            except KeyboardInterrupt:
                stopped = "Ctrl-C"
            if stopped:
                shutil.rmtree(run, ignore_errors=True)
                break
            flown.append(DemoRow(run, row.label, row.success, row.time_s, 10, row.note))
            s = result.summary()
            low, high = s["success"]["ci95"]
            table.add_row(
                row.label, row.scenario, _range(row.success, 100, "%"), percent(s["success"]["rate"]),
                f"{100 * low:.0f} to {100 * high:.0f} %", _range(row.time_s, 1, "s"), number(s["time_s"]["mean"], "s"),
                str(s["collisions"]), other_outcomes(s),
            )  # fmt: skip
            stderr().print(f"{row.label}: {s['success']['count']} of {s['finished']} reached the goal")
        if flown:
            without_losing(partial(write_demo_report, part, flown))
    if flown:
        stdout().print(table)
        click.echo(f"{len(flown) * trials} trials in {time.monotonic() - began:.1f} s, compilation included")
        click.echo(f"report: {folder / 'report.html'}")
    if stopped:
        missing = ", ".join(row.scenario for row in PAPER[len(flown) :])
        kept = "what had finished is kept" if flown else "nothing had finished, nothing is written"
        stderr().print(f"stopped by {stopped}: {kept}; missing: {missing}", markup=False, soft_wrap=True)
        sys.exit(130 if stopped == "Ctrl-C" else 2)


def _range(values: tuple[float, float], factor: float, unit: str) -> str:
    low, high = (f"{factor * value:.0f}" for value in values)
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
