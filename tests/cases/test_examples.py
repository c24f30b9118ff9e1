"""The numbered examples run and their own claims hold: each is a program of its own, as a reader would start it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
SLOW = {
    "04_sweep_noise.py", "07_randomize.py", "08_differentiate.py", "09_own_aircraft.py", "10_own_flight_controller.py",
}  # fmt: skip
"""More than a few seconds each."""
LIMIT_S = 120.0
"""For a busy machine; on a free one each takes under 20 s."""


def marked(path: Path) -> object:
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.name in SLOW else [])


@pytest.mark.slow
@pytest.mark.parametrize("path", [marked(path) for path in EXAMPLES])
def test_example_runs(path: Path, tmp_path: Path) -> None:
    # From a folder of its own: an example may not depend on where it is started, nor leave files in the repository.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "says nothing"
    assert not list(tmp_path.iterdir()), "leaves files behind"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_one_learns_and_asserts_something(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert "You learn:" in (ast.get_docstring(tree) or "")
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))


def test_examples_are_numbered_without_gaps() -> None:
    assert [int(path.name[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
