"""The look of a report: report.css and report.js beside this file, placed inside every page.

Colours of outcomes: Okabe and Ito, "Color universal design" (2008), told apart with any colour vision; line style and
marks repeat the difference for black-and-white print.
"""

from __future__ import annotations

from importlib.resources import files

_CLASS_FROM_OUTCOME = {
    "goal": "goal",
    "collision": "collision",
    "timeout": "timeout",
    "left area": "left",
    "non-finite": "nonfinite",
}


def outcome_css(outcome: str) -> str:
    """Class of an outcome; "other" for one that this version does not know."""
    return _CLASS_FROM_OUTCOME.get(outcome, "other")


def style_sheet() -> str:
    """The style sheet of every page."""
    return files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def script() -> str:
    """The script of every page: trial chooser and table sort."""
    return files(__package__).joinpath("report.js").read_text(encoding="utf-8")
