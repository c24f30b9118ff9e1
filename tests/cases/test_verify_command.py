"""`fieldworthy verify` as a person uses it: the table, the JSON, the page, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fieldworthy.cli.verify import command
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.verify import table
from fieldworthy.verify.check import Check
from fieldworthy.verify.table import Outcome, Row, all_rows, markdown

PAGE = Path(__file__).parents[2] / "docs" / "verification.md"

GOOD = Check("spring", "period at 1 kg, 1 N/m", "2 pi sqrt(m/k)", 6.2832, lambda: 6.28319, 1e-3, "s")
BAD = Check("rope", "tension when slack", "a rope does not push", 0.0, lambda: 0.5, 1e-9, "N")


def broken() -> float:
    raise KeyError("stiffness")


RAISES = Check("chain", "length", "sum of its links", 1.0, broken, 1e-9, "m")


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command on a table of these checks."""

    def run(*arguments: str, checks: tuple[Check, ...] = (GOOD,)) -> Result:
        monkeypatch.setattr(table, "all_rows", lambda: [Row("springs", check) for check in checks])
        return CliRunner().invoke(command, arguments)

    return run


def test_the_table_shows_law_source_and_figures(verified: Callable[..., Result]) -> None:
    done = verified()
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    for text in ("spring", "period at 1 kg, 1 N/m", "2 pi sqrt(m/k)", "6.2832 ± 0.001", "6.2832", "yes", "1 of 1 rows"):
        assert text in shown


def test_a_row_that_does_not_hold_ends_with_1_and_is_named(verified: Callable[..., Result]) -> None:
    done = verified(checks=(GOOD, BAD, RAISES))
    assert done.exit_code == 1
    assert "1 of 3 rows hold" in done.stdout
    assert "does not hold: rope: tension when slack: got 0.5, expected 0.0 within 1e-09" in done.stderr
    assert "does not hold: chain: length: KeyError: 'stiffness'" in done.stderr
    assert "raised" in done.stdout


def test_json_says_everything(verified: Callable[..., Result]) -> None:
    done = verified("--json", checks=(GOOD, BAD, RAISES))
    assert done.exit_code == 1
    answer: dict[str, Any] = json.loads(done.stdout)
    assert (answer["rows"], answer["failed"]) == (3, 2)
    good, bad, raised = answer["checks"]
    assert good == {
        "topic": "springs", "model": "spring", "law": "period at 1 kg, 1 N/m", "source": "2 pi sqrt(m/k)",
        "expected": 6.2832, "tolerance": 1e-3, "got": 6.28319, "unit": "s", "ok": True,
    }  # fmt: skip
    assert (bad["got"], bad["ok"]) == (0.5, False)
    assert (raised["got"], raised["ok"], raised["problem"]) == (None, False, "KeyError: 'stiffness'")


def test_only_the_models_that_are_named(verified: Callable[..., Result]) -> None:
    done = verified("--model", "SPRING", checks=(GOOD, BAD))
    assert done.exit_code == 0
    assert "rope" not in done.stdout
    refused = verified("--model", "sprin", checks=(GOOD, BAD))
    assert isinstance(refused.exception, FieldworthyError)
    assert "did you mean 'spring'?; valid: spring, rope" in str(refused.exception)


def test_the_page_is_written_whole_and_only_of_all_models(verified: Callable[..., Result], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert verified("--markdown", str(page), checks=(GOOD, BAD)).exit_code == 1  # written all the same
    assert "| rope | tension when slack |" in page.read_text(encoding="utf-8")
    refused = verified("--markdown", str(page), "--model", "spring")
    assert refused.exit_code == 2
    assert "without --model" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
    lost = verified("--markdown", str(tmp_path / "nowhere" / "page.md"))
    assert isinstance(lost.exception, FieldworthyError)


@pytest.mark.slow
def test_one_model_from_the_shell() -> None:
    program = [sys.executable, "-m", "fieldworthy.cli.main", "verify", "--model"]
    done = subprocess.run(
        [*program, "Philox4x32-10", "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 3
    wrong = subprocess.run([*program, "philosox"], capture_output=True, text=True, timeout=120, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: --model philosox: no such model")


def test_the_docs_page_has_today_s_rows() -> None:
    """Only what does not depend on the machine; after a change: fieldworthy verify --markdown docs/verification.md"""

    def rows(page: str) -> list[tuple[str, ...]]:
        lines = (line.split(" | ") for line in page.splitlines() if line.startswith("| "))
        return [(*cells[:3], cells[6]) for cells in lines]

    assert rows(PAGE.read_text(encoding="utf-8")) == rows(markdown([Outcome(row, 0.0) for row in all_rows()]))
