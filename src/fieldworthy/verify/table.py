"""The checks of all topics, what each gives today, and the docs page that shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.verify.check import Check

TOPICS = (
    "integrators", "engine", "boat", "rotors", "aerodynamics", "air", "energy_contact", "sensors", "control",
    "guidance", "aircraft", "arms", "trajectories",
)  # fmt: skip
"""Modules of this package, each with CHECKS; imported when asked for, in the order in which they are shown."""


@dataclass(frozen=True)
class Row:
    """A check and the topic that it is shown under."""

    topic: str
    check: Check

    @property
    def title(self) -> str:
        """The topic as a heading."""
        return self.topic.replace("_", " and ").capitalize()


@dataclass(frozen=True)
class Outcome:
    """What a check has given."""

    row: Row
    got: float
    """NaN where the model answered with it, or raised."""
    problem: str = ""
    """The error that the model raised."""

    @property
    def holds(self) -> bool:
        """Whether what came out is near enough to what was expected."""
        return not self.problem and self.row.check.holds(self.got)

    def as_dict(self) -> dict[str, Any]:
        """Everything about the row under plain names, for JSON."""
        check = self.row.check
        return {
            "topic": self.row.topic,
            "model": check.model,
            "law": check.law,
            "source": check.source,
            "expected": check.expected,
            "tolerance": check.tolerance,
            "got": self.got if math.isfinite(self.got) else None,
            "unit": check.unit,
            "ok": self.holds,
            **({"problem": self.problem} if self.problem else {}),
        }


def all_rows(topics: Iterable[str] = TOPICS) -> list[Row]:
    """Every check, topic by topic."""
    return [Row(topic, check) for topic in topics for check in import_module(f"fieldworthy.verify.{topic}").CHECKS]


def rows_of(rows: Sequence[Row], models: Sequence[str]) -> list[Row]:
    """The rows of some models, in whatever case they are written; all rows when none is named.

    Raises: FieldworthyError for a name that no row has, with the names that there are.
    """
    known = {row.check.model.casefold(): row.check.model for row in rows}
    for name in models:
        if name.casefold() not in known:
            hint = did_you_mean(name.casefold(), known)
            raise FieldworthyError(f"--model {name}: no such model{hint}; valid: {', '.join(known.values())}")
    wanted = {name.casefold() for name in models}
    return [row for row in rows if not wanted or row.check.model.casefold() in wanted]


def verify(rows: Iterable[Row]) -> Iterator[Outcome]:
    """Run each row's model.

    A model that raises fails its row and no other; an error that the package raises on purpose (no compiler) ends all.
    """
    for row in rows:
        try:
            yield Outcome(row, float(row.check.got()))
        except FieldworthyError:
            raise
        except Exception as error:
            yield Outcome(row, math.nan, f"{type(error).__name__}: {error}")


def figure(value: float, tolerance: float) -> str:
    """A number with so many digits that a difference of a tenth of the tolerance can be seen."""
    if not math.isfinite(value) or value == 0.0:
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    finest = math.floor(math.log10(tolerance)) - 1 if tolerance > 0.0 else exponent - 9
    digits = max(2, exponent - finest + 1)
    if exponent < 7:
        digits = max(digits, exponent + 1)  # no 2e+04 for 22,632
    return f"{value:.{min(digits, 17)}g}"


def expected_text(check: Check) -> str:
    """`4 ± 0.1`; exact numbers stand alone."""
    text = figure(check.expected, check.tolerance)
    return f"{text} ± {check.tolerance:.2g}" if check.tolerance else text


def markdown(outcomes: Sequence[Outcome]) -> str:
    """The docs page: a table for each topic."""
    held = sum(outcome.holds for outcome in outcomes)
    lines = [
        "# Verification",
        "",
        "What every model owes to a law or a published number, worked out anew by",
        "",
        "```sh",
        "./fw verify                                      # some seconds; exit code 1 if a row does not hold",
        "./fw verify --model rotor                        # one model",
        "./fw verify --markdown docs/verification.md      # writes this page",
        "```",
        "",
        f"Each row is a test of `./fw test` too. When this page was written {held} of {len(outcomes)} rows held.",
    ]
    topic = ""
    for outcome in outcomes:
        row, check = outcome.row, outcome.row.check
        if row.topic != topic:
            topic = row.topic
            lines += ["", f"## {row.title}", "", "| model | law | expected | got | unit | ok | source |"]
            lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
        got, ok = figure(outcome.got, check.tolerance), "yes" if outcome.holds else "**no**"
        cells = (check.model, check.law, expected_text(check), got, check.unit, ok, check.source)
        lines.append("| " + " | ".join(_cell(text) for text in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that neither ends a cell nor starts emphasis."""
    if text == "**no**":
        return text
    for special in ("\\", "|", "*", "_", "<", "["):
        text = text.replace(special, f"\\{special}")
    return text
