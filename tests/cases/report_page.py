"""What holds for every page of a report: balanced, self-contained, drawings that parse, no stray NaN."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path


class _Checker(HTMLParser):
    """Notes unbalanced tags, ids, and anything that would load something."""

    void = frozenset(("meta", "br", "path", "line", "rect", "circle", "wbr"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in ("src", "srcset", "data", "xlink:href")]
        self.loads += [tag] if tag in ("link", "iframe", "object", "embed", "img", "base") else []
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def checked(path: Path) -> str:
    """The page, after the checks that hold for every page."""
    page = path.read_text(encoding="utf-8")
    checker = _Checker()
    checker.feed(page)
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    assert checker.loads == []
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg')", page)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.S):
        ElementTree.fromstring(drawing)
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"<script.*?</script>|<pre>.*?</pre>", "", page, flags=re.S))
    assert "prefers-color-scheme:dark" in page
    assert "@media print" in page
    return page
