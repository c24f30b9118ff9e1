"""A file is there complete, or not at all: written under another name in the same folder, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fieldworthy.core.errors import FieldworthyError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def whole_file(path: Path, needed_bytes: int) -> Iterator[BinaryIO]:
    """Stream whose content appears as `path` when the block ends well; otherwise whatever was at `path` stays.

    `needed_bytes` is the expected size, told to the user when the disk is full.
    """
    target = path.resolve()  # through a link, which stays a link
    try:
        _refuse_what_is_no_file(path, target)
        with _moved_into(target) as part, part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise FieldworthyError(_sentence(path, error, needed_bytes)) from error


def write_whole_text(path: Path, text: str) -> None:
    """Write UTF-8 with line feeds. Raises: FieldworthyError where that cannot be done; what was there stays then."""
    try:
        with _moved_into(path) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise FieldworthyError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def _moved_into(target: Path) -> Iterator[Path]:
    """A path beside the target; the file there takes the target's place when the block ends well."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink()


def _refuse_what_is_no_file(path: Path, target: Path) -> None:
    # Renaming onto a device such as /dev/null would replace it for everybody.
    if target.is_dir():
        raise FieldworthyError(f"cannot write {path}: it is a folder; valid: the name of a file")
    if target.exists() and not target.is_file():
        raise FieldworthyError(f"cannot write {path}: it is a device, not a file; valid: the name of a file")
    if not target.parent.is_dir():
        folder = target.parent
        raise FieldworthyError(f"cannot write {path}: {folder} is not a folder; valid: a file in an existing folder")


def _sentence(path: Path, error: OSError, needed_bytes: int) -> str:
    if error.errno not in _FULL:
        return f"cannot write {path}: {error.strerror or error}"
    free = shutil.disk_usage(path.parent).free
    return (
        f"cannot write {path}: no room ({error.strerror}); it needs up to {needed_bytes} bytes, "
        f"and {free} bytes are free on that disk"
    )
