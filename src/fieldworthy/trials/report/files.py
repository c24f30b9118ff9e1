"""Reading the files of a run or sweep folder, with a sentence for everything that can be wrong with them."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from pathlib import Path
from typing import Any

from fieldworthy.core.errors import FieldworthyError


def read_text(folder: Path, name: str) -> str:
    """Text of one file of the folder."""
    if not folder.is_dir():
        raise FieldworthyError(f"{folder}: no such folder; valid: the folder that `fieldworthy run` or `sweep` wrote")
    path = folder / name
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FieldworthyError(
            f"{path}: the file is missing, so the report cannot be written; valid: a complete run or sweep folder"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FieldworthyError(f"{path}: cannot be read ({error})") from error


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """One JSON object."""
    try:
        value = json.loads(read_text(folder, name))
    except json.JSONDecodeError as error:
        raise damaged(folder / name, f"it is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise damaged(folder / name, "it does not hold one JSON object")
    return value


def read_toml(folder: Path, name: str) -> tuple[str, dict[str, Any]]:
    """Text and content of one TOML file."""
    text = read_text(folder, name)
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise damaged(folder / name, f"it is not TOML ({error})") from error


def read_csv(folder: Path, name: str) -> tuple[list[str], list[dict[str, str]]]:
    """Column names and rows of one CSV file."""
    reader = csv.DictReader(io.StringIO(read_text(folder, name)), strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise damaged(folder / name, f"line {reader.line_num}: {error}") from error
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise damaged(folder / name, f"line {line} does not have {len(reader.fieldnames or ())} columns")
    return list(reader.fieldnames or ()), rows


def damaged(path: Path, what: str) -> FieldworthyError:
    """The error for a file whose content is not what a run folder holds."""
    return FieldworthyError(f"{path}: {what}; the run folder is damaged: run the scenario again")
