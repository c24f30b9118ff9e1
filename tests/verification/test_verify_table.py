"""Every row of the verification table holds, and the table itself is one that can fail."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import fieldworthy.verify
from fieldworthy.core.errors import EngineError, FieldworthyError
from fieldworthy.verify.check import Check
from fieldworthy.verify.table import TOPICS, Outcome, Row, all_rows, expected_text, figure, markdown, rows_of, verify

ROWS = all_rows()
INFRASTRUCTURE = {"__init__", "check", "composed", "table"}


def name(row: Row) -> str:
    return f"{row.topic}-" + re.sub(r"[^\w.+-]+", "_", f"{row.check.model}-{row.check.law}", flags=re.ASCII)[:90]


def check(**changes: object) -> Check:
    return replace(Check("spring", "period", "2 pi sqrt(m/k)", 2.0, lambda: 2.05, 0.1, "s"), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_row_holds(row: Row) -> None:
    got = row.check.got()
    assert row.check.holds(got), f"got {got!r}, expected {row.check.expected!r} within {row.check.tolerance!r}"


def test_every_module_of_checks_is_listed() -> None:
    """A topic that nobody listed would never be run."""
    folder = Path(fieldworthy.verify.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - INFRASTRUCTURE == set(TOPICS)
    assert {row.topic for row in ROWS} == set(TOPICS)


def test_rows_are_told_apart_and_say_where_their_number_comes_from() -> None:
    twice = [key for key, n in Counter((row.check.model, row.check.law) for row in ROWS).items() if n > 1]
    assert not twice
    assert [
        row for row in ROWS if not (row.check.model.strip() and row.check.law.strip() and row.check.source.strip())
    ] == []


def test_no_tolerance_lets_half_or_twice_the_number_pass() -> None:
    """Where the expected number is 0 the tolerance is all that a row says; elsewhere it must be a tolerance."""
    loose = [
        f"{row.topic}: {row.check.model}: {row.check.law}"
        for row in ROWS
        if not (math.isfinite(row.check.expected) and 0.0 <= row.check.tolerance < math.inf)
        or (row.check.expected != 0.0 and row.check.tolerance >= 0.5 * abs(row.check.expected))
    ]
    assert not loose


@pytest.mark.parametrize("got", [1.89, 2.11, math.nan, math.inf, -math.inf])
def test_a_wrong_number_does_not_hold(got: float) -> None:
    outcome = next(verify([Row("x", check(got=lambda: got))]))
    assert not outcome.holds
    assert outcome.as_dict()["ok"] is False


def test_a_model_that_raises_fails_its_row_only() -> None:
    def broken() -> float:
        return 1.0 / 0.0

    first, second = verify([Row("x", check(got=broken)), Row("x", check())])
    assert not first.holds
    assert first.as_dict()["problem"] == "ZeroDivisionError: float division by zero"
    assert first.as_dict()["got"] is None
    assert second.holds


def test_without_a_compiler_no_row_is_called_wrong() -> None:
    def no_compiler() -> float:
        raise EngineError("no LLVM")

    with pytest.raises(EngineError):
        list(verify([Row("x", check(got=no_compiler))]))


def test_models_are_found_in_any_case_and_others_refused() -> None:
    rows = [Row("x", check()), Row("x", check(model="IMU"))]
    assert rows_of(rows, ["imu"]) == rows[1:]
    assert rows_of(rows, []) == rows
    with pytest.raises(
        FieldworthyError, match=r"--model sprung: no such model; did you mean 'spring'\?; valid: spring, IMU"
    ):
        rows_of(rows, ["sprung"])


@pytest.mark.parametrize(
    ("value", "tolerance", "text"),
    [
        (3.9987, 0.1, "4"),  # 4.00, without the zeros
        (3.87, 0.1, "3.87"),
        (22632.06, 0.5, "22632.06"),
        (22632.06, 100.0, "22632"),
        (2.7401e-8, 5e-10, "2.74e-08"),
        (0.0, 1e-9, "0"),
        (3.6e-10, 1e-9, "3.6e-10"),
        (0.123456789, 0.0, "0.123456789"),
        (8.0, 0.0, "8"),
        (math.nan, 0.1, "nan"),
    ],
)
def test_figures_show_a_tenth_of_the_tolerance(value: float, tolerance: float, text: str) -> None:
    assert figure(value, tolerance) == text


def test_page_has_a_line_for_every_row_and_keeps_its_columns() -> None:
    rows = [Row("energy_contact", check(law="a|b_c*d")), Row("sensors", check(got=lambda: 3.0))]
    page = markdown(list(verify(rows)))
    assert "## Energy and contact\n" in page
    assert "| spring | a\\|b\\_c\\*d | 2 ± 0.1 | 2.05 | s | yes | 2 pi sqrt(m/k) |" in page
    assert "| spring | period | 2 ± 0.1 | 3 | s | **no** | 2 pi sqrt(m/k) |" in page
    assert "1 of 2 rows held" in page


def test_exact_numbers_stand_alone() -> None:
    assert expected_text(check(tolerance=0.0)) == "2"
    assert Outcome(Row("x", check(tolerance=0.0)), 2.0).holds
