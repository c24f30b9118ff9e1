"""A folder of results that is complete or not there, at a place known to be writable before any work is done."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fieldworthy.core.errors import FieldworthyError

ROOM_BYTES = 1_000_000
"""Written for a trial before work begins: a small run with its report is about so large."""


def check_free(folder: Path) -> None:
    """Refuse a folder that has something in it.

    Raises: FieldworthyError
    """
    try:
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except (OSError, ValueError) as error:
        raise _cannot(folder, error) from error
    if taken:
        raise FieldworthyError(f"{folder}: is there already; valid for --out: a new folder or an empty one")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `folder` at the end; if nothing was put into it, or anything is raised, it goes.

    It is made, and written to for a trial, at once: whoever flies inside the `with` can put the results there.
    Raises: FieldworthyError when the place is taken or cannot be written, now or at the end.
    """
    check_free(folder)
    target = folder.resolve()
    # An empty folder that is there stays: it may be where somebody stands, or where a disk is mounted.
    stays = target.exists()
    part = (target / ".part") if stays else target.with_name(f".{target.name}.{os.getpid()}.part")
    made = [] if stays else [parent for parent in target.parents if not parent.exists()]
    try:
        try:
            part.mkdir(parents=True)
            _try_to_write(part / "room")
            yield part
            if any(part.iterdir()):
                _move(part, target, stays)
        except OSError as error:
            raise _cannot(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for parent in made:  # the nearest first
            try:
                parent.rmdir()
            except OSError:
                break  # something is in it


def write_whole(folder: Path, write: Callable[[Path], None]) -> Path:
    """Let `write` fill a folder that becomes `folder`: complete or not there.

    Raises: FieldworthyError when the disk is full or the place cannot be written.
    """
    with new_folder(folder) as part:
        write(part)
    return folder


def _try_to_write(path: Path) -> None:
    path.write_bytes(bytes(ROOM_BYTES))
    path.unlink()


def _move(part: Path, target: Path, into: bool) -> None:
    if not into:
        part.rename(target)
        return
    moved = []
    try:
        for item in list(part.iterdir()):
            moved.append(item.rename(target / item.name))
    except OSError:
        for item in moved:
            item.rename(part / item.name)
        raise


def _cannot(folder: Path, error: Exception) -> FieldworthyError:
    return FieldworthyError(f"cannot write {folder}: {getattr(error, 'strerror', None) or error}")
