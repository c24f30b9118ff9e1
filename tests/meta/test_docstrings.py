"""What a docstring says of its proof is so: a `Verified by` names a file that is there and a test that is in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "fieldworthy").rglob("*.py"))

_PLACE = re.compile(r"(tests/[\w/]+\.py)(?:::(\w+))?")


def named_tests(source: str) -> Iterator[tuple[str, str]]:
    """(file, test or "") of every `Verified by` in the docstrings of a module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(source)):
        text = ast.get_docstring(node) if isinstance(node, kinds) else None
        for told in re.findall(r"Verified by:(.*?)(?=\n\w|\n\n|\Z)", text or "", re.DOTALL):
            found = _PLACE.findall(told)
            yield from found or [(told.strip(), "")]


def lost(source: str) -> list[str]:
    """Those that name nothing."""
    wrong = []
    for place, name in named_tests(source):
        path = ROOT / place
        if not path.is_file() or (name and not re.search(rf"^ *def {name}\(", path.read_text("utf-8"), re.MULTILINE)):
            wrong.append(f"{place}::{name}" if name else place)
    return wrong


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src" / "fieldworthy")))
def test_the_proof_that_is_named_exists(path: Path) -> None:
    assert lost(path.read_text("utf-8")) == []


def test_this_test_sees_what_is_missing() -> None:
    law = 'def law():\n    """One line.\n\n    Verified by: {}\n    """\n'
    assert lost(law.format("tests/meta/test_docstrings.py::test_this_test_sees_what_is_missing")) == []
    assert lost(law.format("tests/meta/test_docstrings.py, tests/meta/no.py")) == ["tests/meta/no.py"]
    assert lost(law.format("tests/meta/test_docstrings.py::test_nothing"))
    assert lost(law.format("whom you like"))


def test_shared_constants_are_written_once() -> None:
    """Gravity and sea-level density come from `core.constants`; what is checked (`verify`) has its own numbers."""
    free = {"core/constants.py"}
    again = []
    for path in SOURCES:
        name = path.relative_to(ROOT / "src" / "fieldworthy").as_posix()
        if name in free or name.startswith("verify/"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value in (9.80665, 1.225, 101325.0, 288.15):
                again.append(f"{name}:{node.lineno}")
            named = isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "NEVER_S" for t in node.targets)
            if named:
                again.append(f"{name}:{node.lineno}")
    assert again == []
