"""Put a result on disk with its report."""

from __future__ import annotations

from pathlib import Path

from fieldworthy.trials.folder import command_line, default_folder, write_run, write_whole
from fieldworthy.trials.report import write_report
from fieldworthy.trials.result import Result


def save(result: Result, folder: Path | str | None = None, command: str | None = None) -> Path:
    """Write a run folder with its report; returns its path.

    folder: a new or empty one; by default runs/NAME-DATE-TIME.
    Raises: FieldworthyError when it cannot be written; then nothing is left behind.
    """
    target = Path(folder) if folder is not None else default_folder(result.scenario.name)
    return write_whole(target, lambda part: fill(part, result, target, command or command_line()))


def fill(part: Path, result: Result, target: Path, command: str) -> None:
    """Write a run and its report into the folder `part`, which is going to be `target`."""
    write_run(part, result, command)
    write_report(part, shown_as=target)
