"""What every report page is made of: document, tiles, tables, figures, provenance. No request leaves the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from fieldworthy.core.whole_file import whole_file
from fieldworthy.trials.report.style import script, style_sheet
from fieldworthy.trials.report.text import duration, esc, grouped, short

Cell = str | tuple[str, float]
"""HTML of a table cell, or (HTML, value to sort by)."""


def document(title: str, body: Iterable[str]) -> str:
    """A whole HTML page with its style and script inside."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{esc(title)}</title><style>{style_sheet()}</style></head>\n<body><main>\n"
        + "\n".join(part for part in body if part)
        + f"\n</main><script>{script()}</script></body></html>\n"
    )


def write_page(path: Path, content: str) -> Path:
    """The page at `path`, complete or not at all."""
    data = content.encode("utf-8")
    with whole_file(path, len(data)) as stream:
        stream.write(data)
    return path


def header(eyebrow: str, title: str, lead: str = "") -> str:
    """Top of a page."""
    below = f'<p class="lead">{esc(lead)}</p>' if lead else ""
    return f'<header><p class="eyebrow">{esc(eyebrow)}</p><h1>{esc(title)}</h1>{below}</header>'


def banner(html: str) -> str:
    """Something that the reader must know before the result."""
    return f'<p class="banner" role="note">{html}</p>'


def tiles(items: Sequence[tuple[str, str]]) -> str:
    """Key figures: (figure, what it is and how wide it spreads), both as HTML."""
    return '<div class="tiles">' + "".join(f'<div class="tile"><b>{a}</b>{b}</div>' for a, b in items) + "</div>"


def tile_text(*lines: str) -> str:
    """Lines under the figure of a tile."""
    return "".join(f"<span>{line}</span>" for line in lines if line)


def figure(content: str, caption: str = "", heading: str = "") -> str:
    """A drawing or table on a card."""
    head = f"<h3>{heading}</h3>" if heading else ""
    foot = f"<figcaption><p>{caption}</p></figcaption>" if caption else ""
    return f"<figure>{head}{content}{foot}</figure>"


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], sortable: bool = False) -> str:
    """A table of HTML cells; a column whose name ends in " #" is numeric and stands right."""
    numeric = [name.endswith(" #") for name in columns]
    names = [name.removesuffix(" #") for name in columns]
    head = "".join(
        f"<th class='{'n ' * n}{'free' * ('<wbr>' in name)}'>{name}</th>"
        for name, n in zip(names, numeric, strict=True)
    )
    body = []
    for row in rows:
        cells = []
        for cell, is_number in zip(row, numeric, strict=True):
            html, value = cell if isinstance(cell, tuple) else (cell, None)
            attributes = (" class=n" if is_number else "") + _sort_key(value)
            cells.append(f"<td{attributes}>{html}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    css = ' class="sorted"' if sortable else ""
    return f'<div class="scroll"><table{css}><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _sort_key(value: float | None) -> str:
    """Attribute that the table sorts by; empty (last) for NaN."""
    if value is None:
        return ""
    return f' data-v="{value}"' if math.isfinite(value) else ' data-v=""'


def facts(items: Iterable[tuple[str, str]]) -> str:
    """Names and values (HTML), one a line."""
    rows = "".join(f'<tr><th scope="row">{name}</th><td class="w">{value}</td></tr>' for name, value in items if value)
    return f'<div class="scroll"><table class="facts">{rows}</table></div>'


def code(text: str) -> str:
    """A command that one click selects whole."""
    return f'<code class="copy">{esc(text)}</code>'


def provenance(run: dict[str, Any], more: Sequence[tuple[str, str]] = ()) -> str:
    """Everything that run.json says, in a readable order, and `more`; keys that are new to this version come last."""
    engine = run.get("engine")
    left = dict(run)
    items = [
        ("Command", code(str(left.pop("command"))) if "command" in left else ""),
        ("Started", _moment(left.pop("started_utc", ""))),
        ("Fieldworthy", _version(left.pop("fieldworthy", ""), left.pop("git", None))),
        ("Seed", esc(left.pop("seed", ""))),
        ("Trials", _trials(left)),
        ("Stopped by", esc(left.pop("stopped_by", None) or "")),
        ("Redrawn layouts", esc(left.pop("redrawn", ""))),
        ("Rays cast", _grouped(left.pop("rays", None))),
        ("Time", _time(left)),
        ("Engine", _engine(left.pop("engine")) if isinstance(engine, dict) else ""),
        ("Machine", ", ".join(esc(left.pop(key)) for key in ("cpu", "platform") if left.get(key))),
        ("Python, NumPy", ", ".join(esc(left.pop(key)) for key in ("python", "numpy") if left.get(key))),
        ("Scenario SHA-256", _hash(left.pop("scenario_sha256", ""))),
    ]
    items[1:1] = more
    files = left.pop("files_sha256", None)
    if isinstance(files, dict) and files:
        told = "".join(
            f'<div>{esc(name)}<span class="sub">{_hash(value)}</span></div>' for name, value in files.items()
        )
        items.append((f"{'File' if len(files) == 1 else f'{len(files)} files'} read, SHA-256", told))
    for key in ("schema", "interrupted", "trials", "finished", "wall_s", "sim_s", "scenario_folder", "notes",
                "vehicle"):  # fmt: skip
        left.pop(key, None)
    items += [(esc(key), esc(value)) for key, value in left.items() if value not in (None, "", {}, [])]
    return facts(items)


def _moment(text: object) -> str:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).strftime("%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return esc(text)


def _version(version: object, commit: object) -> str:
    return esc(version) + (f", commit <code>{esc(commit)}</code>" if commit else "")


def _trials(run: dict[str, Any]) -> str:
    finished, asked = run.get("finished"), run.get("trials")
    if asked is None:
        return ""
    return esc(asked) if finished in (None, asked) else f"{esc(finished)} finished of {esc(asked)} asked for"


def _grouped(value: object) -> str:
    """A count in groups of three; nothing where there was nothing to count."""
    return grouped(value) if isinstance(value, (int, float)) and value else ""


def _time(run: dict[str, Any]) -> str:
    wall, sim = run.get("wall_s"), run.get("sim_s")
    if not (isinstance(wall, (int, float)) and isinstance(sim, (int, float)) and wall > 0):
        return ""
    return f"{duration(sim)} simulated in {duration(wall)}: {short(float(f'{sim / wall:.3g}'))} times real time"


def _engine(engine: dict[str, Any]) -> str:
    words = {
        "device": "",
        "precision": "",
        "threads": "threads ",
        "llvm": "LLVM ",
        "drjit": "Dr.Jit ",
        "mitsuba": "Mitsuba ",
    }
    known = [f"{words[key]}{esc(engine[key])}" for key in words if engine.get(key) is not None]
    return ", ".join(known + [f"{esc(key)} {esc(value)}" for key, value in engine.items() if key not in words])


def _hash(value: object) -> str:
    return f"<code>{esc(value)}</code>" if value else ""


def footer(run: dict[str, Any]) -> str:
    """Last line of a page."""
    version = esc(run.get("fieldworthy", ""))
    return (
        f"<footer>Written by Fieldworthy {version}. This page holds everything that it shows and asks nothing of the "
        "network.</footer>"
    )
