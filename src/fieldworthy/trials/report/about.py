"""A scenario's description as paragraphs: the first in sight, the rest behind a summary."""

from __future__ import annotations

import re

from fieldworthy.trials.report.text import esc

_NEW_LINE = re.compile(r"[-*•] |[A-Z][\w ]{0,24}: ")
"""How a line begins that starts something new: a list item, or "Speed: …"."""
SHORT = 460
"""Characters that are shown at once."""


def about(description: str) -> str:
    """The description below the answer; empty where there is none."""
    parts = paragraphs(description)
    if not parts:
        return ""
    shown, size = 1, len(parts[0])
    while shown < len(parts) and size + len(parts[shown]) <= SHORT:
        size += len(parts[shown])
        shown += 1
    html = "".join(f"<p>{esc(part)}</p>" for part in parts[:shown])
    rest = "".join(f"<p>{esc(part)}</p>" for part in parts[shown:])
    more = f"<details><summary>More about this scenario</summary>{rest}</details>" if rest else ""
    return f'<section class="about">{html}{more}</section>'


def paragraphs(text: str) -> list[str]:
    """Paragraphs of a text whose lines were broken by hand.

    A blank line ends a paragraph, and so does a break that was meant: before a list item or "Word: …", and after a
    sentence that ends well before the widest line.
    """
    lines = [line.strip() for line in text.strip().splitlines()]
    widest = max((len(line) for line in lines), default=0)
    found: list[list[str]] = [[]]
    for line in lines:
        before = found[-1][-1] if found[-1] else ""
        meant = before.endswith((".", "!", "?", ":", ";")) and len(before) < 0.6 * widest
        if not line or (before and (meant or _NEW_LINE.match(line))):
            found.append([])
        if line:
            found[-1].append(line)
    return [" ".join(part) for part in found if part]
