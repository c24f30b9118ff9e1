"""`fieldworthy replay`: one trial again."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import click


@click.command("replay")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--trial", type=click.IntRange(min=0), required=True, metavar="K", help="Number of the trial.")
@click.option(
    "--record", is_flag=True, help="Also write trial-K.mcap (Foxglove, PlotJuggler, rosbag2) and trial-K.csv."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder for recordings; by default the run's."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run: Path, trial: int, record: bool, out: Path | None, as_json: bool) -> None:
    """Fly one trial of the run folder RUN again, alone, and say whether every bit of its track agrees.

    Exit code 1 when it does not.
    """
    from fieldworthy.core.errors import FieldworthyError
    from fieldworthy.trials.replay import replay

    again = replay(run, trial)
    result = again.result
    clearance = result.clearance_m[0]
    answer = {
        "run": str(run),
        "trial": trial,
        "agrees": again.agrees,
        "differences": list(again.differences),
        "samples": int(result.length[0]),
        "outcome": str(result.outcome[0]),
        "why": result.why[0],
        "time_s": float(result.time_s[0]),
        "clearance_m": round(float(clearance), 4) if math.isfinite(clearance) else None,
        "recordings": [],
    }
    if result.metrics:
        known = {name: float(values[0]) for name, values in result.metrics.items()}
        answer["metrics"] = {name: round(x, 6) if math.isfinite(x) else None for name, x in known.items()}
    if record:
        from fieldworthy.trials.recorder import record as fly_recorded
        from fieldworthy.trials.recorder import write_recording

        folder = out or run
        if not folder.is_dir():
            try:
                folder.mkdir(parents=True)
            except OSError as error:
                raise FieldworthyError(f"--out {folder}: cannot be made ({error.strerror})") from error
        if "pilot" in again.facts:
            from fieldworthy.trials.piloted_again import record_again

            recording = record_again(run, again.scenario, again.facts, trial)
        else:
            recording = fly_recorded(again.scenario, trial, again.facts)
        answer["recordings"] = [str(path) for path in write_recording(recording, folder)]
    if as_json:
        click.echo(json.dumps(answer))
    else:
        click.echo(f"trial {trial}: {answer['outcome']} after {answer['time_s']:.2f} s ({answer['why']})")
        if again.agrees:
            click.echo(f"every bit of {answer['samples']} samples agrees with the campaign")
        for line in again.differences:
            click.echo(f"differs: {line}")
        for path in answer["recordings"]:  # type: ignore[attr-defined]
            click.echo(f"recorded: {path}")
    if not again.agrees:
        sys.exit(1)
