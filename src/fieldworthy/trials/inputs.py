"""What a run was made from besides its scenario file: maps, meshes, winds, catalogue files and modules of one's own.

A run folder keeps copies below `inputs/`, so that it can be replayed on another machine, and checksums of all, so that
a replay can say what has changed. More than MOST_BYTES in total is not copied; then only the checksums are kept.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldworthy.catalog import DEVICES
from fieldworthy.scenario import Scenario
from fieldworthy.scenario.plug_in import plug_in_folder

FOLDER = "inputs"

MOST_BYTES = 20_000_000


@dataclass(frozen=True)
class Inputs:
    """Files by the names that the scenario and Python give them."""

    files: dict[str, Path]
    """Maps, meshes, fields of wind, vehicles and devices, as the scenario names them."""
    modules: dict[str, Path]
    """Modules beside the scenario file: the plug-ins, and what else of that folder they have imported."""
    installed: dict[str, Path]
    """Plug-ins from elsewhere on sys.path, by module name: never copied, since their packages would have to come."""

    @property
    def total_bytes(self) -> int:
        """Of everything that would be copied."""
        return sum(path.stat().st_size for path in {*self.files.values(), *self.modules.values()} if path.is_file())

    @property
    def too_large(self) -> bool:
        """Whether only checksums are kept."""
        return self.total_bytes > MOST_BYTES


def inputs_of(scenario: Scenario) -> Inputs:
    """What a scenario, once built, has been made from."""
    folder = Path(scenario.source_path).parent
    names = [*scenario.scene_mesh]
    names += [name for name in (scenario.obstacles_geojson, scenario.air.grid) if name is not None]
    models = [scenario.vehicle.model, *(model for _, model in device_models(scenario))]
    names += [name for name in models if name.endswith(".toml") or "/" in name or "\\" in name]
    modules, installed = _modules(scenario, plug_in_folder(scenario))
    return Inputs({name: folder / name for name in names}, modules, installed)


def device_models(scenario: Scenario) -> list[tuple[str, str]]:
    """(path of its table, model) of the LiDAR, the battery and every device from the catalogue that there is."""
    homes = [(f"sensors.{name}", getattr(scenario.sensors, name)) for name in ("lidar", *DEVICES)]
    return [(path, device.model) for path, device in (*homes, ("battery", scenario.battery)) if device is not None]


def _modules(scenario: Scenario, folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """(beside the scenario by relative path, elsewhere by module name) of the user's own controller and sensors."""
    plug_ins = [scenario.control.controller, *(extra.sensor for extra in scenario.sensors.extra.values())]
    names = {name.partition(":")[0] for name in plug_ins if ":" in name}
    if not names:
        return {}, {}
    tops = {name.partition(".")[0] for name in names}
    beside, elsewhere = {}, {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name == "__main__" or not file or not str(file).endswith(".py"):
            continue
        path = Path(file)
        # Of a folder that may hold anything (a virtual environment, say): the plug-ins' packages, and files at its top.
        if path.is_relative_to(folder) and (name.partition(".")[0] in tops or path.parent == folder):
            beside[path.relative_to(folder).as_posix()] = path
        elif name in names:
            elsewhere[name] = path
    return dict(sorted(beside.items())), elsewhere


def checksums(files: Mapping[str, Path]) -> dict[str, str | None]:
    """SHA-256 by name; None for a file that has gone."""
    return {name: _sha256(path) for name, path in files.items()}


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def provenance(inputs: Inputs) -> dict[str, Any]:
    """What run.json says of a run's inputs, but for where the copies are."""
    return {
        "files_sha256": checksums(inputs.files),
        "plug_ins_sha256": checksums({**inputs.modules, **inputs.installed}),
    }


def copy_inputs(inputs: Inputs, run: Path) -> dict[str, str] | None:
    """Copy everything below `inputs/` of a run folder; the copies' names there by name, None where it is too much."""
    if inputs.too_large:
        return None
    copies: dict[str, str] = {}
    for name, path in {**inputs.modules, **inputs.files}.items():
        if not path.is_file():
            continue  # gone since it was read; its checksum is null
        kept = name if name in inputs.modules else _name_of_copy(name, set(copies.values()))
        target = run / FOLDER / kept
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        copies[name] = kept
    return copies


def overrides_to_copies(scenario_file: Path, copies: Mapping[str, str]) -> list[str]:
    """Overrides that make a run's scenario read the copies of catalogue files and wind, where their names differ."""
    try:
        data: Any = tomllib.loads(scenario_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []  # whoever loads it says what is wrong
    found = []
    for path in (*(f"sensors.{name}.model" for name in DEVICES), "battery.model", "air.grid"):
        node = data
        for key in path.split("."):
            node = node.get(key) if isinstance(node, dict) else None
        if isinstance(node, str) and copies.get(node, node) != node:
            found.append(f"{path}={json.dumps(copies[node])}")
    return found


def _name_of_copy(name: str, taken: set[str]) -> str:
    """The name itself; of a file outside the scenario's folder its last part, with a number where that is taken."""
    path = Path(name)
    if not path.is_absolute() and ".." not in path.parts and "\\" not in name and name not in taken:
        return path.as_posix()
    candidates = [path.name, *(f"{path.stem}-{number}{path.suffix}" for number in range(2, len(taken) + 3))]
    return next(found for found in candidates if found not in taken)


def changed(scenario: Scenario, facts: Mapping[str, Any]) -> list[str]:
    """Sentences about inputs that are not those of the run that `facts` (run.json) tells of."""
    now = provenance(inputs_of(scenario))
    copies = facts.get("inputs") or {}
    found = []
    for key, what in (("files_sha256", "file"), ("plug_ins_sha256", "module")):
        then = facts.get(key)
        for name, checksum in then.items() if isinstance(then, Mapping) else ():
            if now[key].get(copies.get(name, name), checksum) != checksum:
                found.append(f"the {what} {name} is another one than then: its checksum differs")
    return found
