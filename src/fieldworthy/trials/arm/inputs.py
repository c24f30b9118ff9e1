"""Files that an arm's task names: copied beside the task of a run, so that the run folder can be played again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fieldworthy.scenario.arm_schema import ArmTask
from fieldworthy.scenario.arm_task import arm_task_data

FOLDER = "inputs"
_WITH_FILES_OF_ITS_OWN = (".urdf", ".xml", ".xacro")
"""Kept where they are: they name meshes by paths of their own."""


def portable(task: ArmTask, folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """(the task's data for a file in `folder`, SHA-256 of each file that it names); copies go to `folder`/inputs.

    Raises: OSError when a copy cannot be written.
    """
    data, home, sums = arm_task_data(task), Path(task.source_path).parent, dict[str, str]()
    taken: dict[Path, str] = {}

    def moved(name: str) -> str:
        path = (home / name).resolve()
        if not path.is_file():
            return name
        sums[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        if path.suffix.lower() in _WITH_FILES_OF_ITS_OWN:
            return str(path)
        if path not in taken:
            used = set(taken.values())
            new = next(
                n for n in (path.name, *(f"{path.stem}-{k}{path.suffix}" for k in range(2, 99))) if n not in used
            )
            (folder / FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(path, folder / FOLDER / new)
            taken[path] = new
        return f"{FOLDER}/{taken[path]}"

    _each_file(data, moved)
    return data, sums


def _each_file(data: dict[str, Any], moved: Callable[[str], str]) -> None:
    data["arm"]["model"] = moved(data["arm"]["model"])
    for name, value in data["motion"].items():
        if isinstance(value, str):
            data["motion"][name] = moved(value)
    for shape in data.get("obstacles", ()):
        if isinstance(shape.get("file"), str):
            shape["file"] = moved(shape["file"])
