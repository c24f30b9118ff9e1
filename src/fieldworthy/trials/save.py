"""Put a result on disk with its report."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from fieldworthy.core.errors import FieldworthyError
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
    without_losing(lambda: write_report(part, shown_as=target))


def without_losing(write: Callable[[], object]) -> None:
    """Write a report; if that fails by a fault of ours, say so on stderr and keep what was flown.

    Faults of the place (a full disk) are raised as ever.
    """
    try:
        write()
    except (FieldworthyError, OSError):
        raise
    except Exception as error:
        # Whatever a report trips over, the trials behind it took longer to fly than it takes to draw them again.
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(
            f"the report could not be drawn ({type(error).__name__}: {error}, {Path(where.filename).name} line "
            f"{where.lineno}); the run folder has everything else. Please report this.",
            file=sys.stderr,
        )
