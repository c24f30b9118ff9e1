"""Imports point one way, from the laws up to the command line, so that any part can be read without those above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fieldworthy"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("environment", "catalog"),
    ("vehicles", "sensors"),
    ("control",),
    ("guidance", "arms"),
    ("world",),
    ("scenario",),
    ("links",),
    ("trials", "gap", "learn", "view", "verify"),
    ("cli",),
)
"""Lowest first. A module imports from its own package and from lower layers, never from a neighbour in its layer."""

RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}
TOP = len(LAYERS)
"""Rank of the package's own `__init__` and `__main__`: what a user imports stands on everything."""
FREE = {"fieldworthy.__version__"}
"""A constant of the package itself, whose `__init__` imports nothing until it is asked for a name."""


def imported_modules(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported anywhere in a file, inside functions and type-checking blocks too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".") if is_package else module.split(".")[:-1]
                kept = parts[: len(parts) - (node.level - 1)]
                base = ".".join([*kept, base] if base else kept)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def package_of(full_name: str) -> str | None:
    """'core' for fieldworthy.core.vec, '' for the package itself, None for anything outside of it."""
    parts = full_name.split(".")
    if parts[0] != "fieldworthy":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in RANK else ""


def upward_imports(source: str, module: str, is_package: bool = False) -> list[str]:
    """Sentences about the imports of one file that point sideways or up."""
    own = package_of(module)
    own_rank = RANK.get(own or "", TOP)
    wrong = []
    for line, name in imported_modules(source, module, is_package):
        package = package_of(name)
        if package is None or package == own or name in FREE:
            continue
        rank = RANK.get(package, TOP)
        if rank >= own_rank:
            below = ", ".join(sorted(known for known in RANK if RANK[known] < own_rank)) or "nothing"
            wrong.append(f"{module}:{line} imports {name}; {own or 'fieldworthy'} may import from itself and: {below}")
    return wrong


def modules() -> Iterator[tuple[Path, str, bool]]:
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["fieldworthy", *path.relative_to(SOURCE).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        yield path, ".".join(parts[:-1] if is_package else parts), is_package


def test_no_import_points_up() -> None:
    wrong = [
        sentence
        for path, module, is_package in modules()
        for sentence in upward_imports(path.read_text(encoding="utf-8"), module, is_package)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_package_has_a_layer() -> None:
    packages = {path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py") if path.parent != SOURCE}
    assert packages <= set(RANK), f"give these a place in LAYERS: {', '.join(sorted(packages - set(RANK)))}"


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from fieldworthy.world import state", "fieldworthy.core.vec"),
        ("def f():\n    import fieldworthy.cli.main", "fieldworthy.trials.folder"),
        ("from ..scenario import load", "fieldworthy.world.walk"),
        ("from fieldworthy import sensors", "fieldworthy.vehicles.boat"),
        ("from ...view.server import x", "fieldworthy.trials.report.page"),
        ("import fieldworthy", "fieldworthy.core.units"),
    ],
)
def test_an_upward_import_is_found(source: str, module: str) -> None:
    assert upward_imports(source, module)


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from fieldworthy.core.vec import Vec3", "fieldworthy.vehicles.boat"),
        ("from . import scan\nfrom .scan import Scan", "fieldworthy.sensors.lidar"),
        ("from ..statistics import wilson", "fieldworthy.trials.report.page"),
        ("import numpy\nimport fieldworthy_other.cli", "fieldworthy.core.random"),
        ("from fieldworthy import __version__", "fieldworthy.trials.folder"),
    ],
)
def test_a_downward_import_is_left_alone(source: str, module: str) -> None:
    assert not upward_imports(source, module)
