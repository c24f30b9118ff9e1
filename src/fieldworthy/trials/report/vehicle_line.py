"""The line under a flight's title: which vehicle it was, and what the scenario has changed of it."""

from __future__ import annotations

from typing import Any

from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.flight_facts import PILOTS
from fieldworthy.trials.report.text import joined, short

MOST = 6
"""Values that are named; of the others their number."""


def vehicle_line(run: RunData) -> str:
    """Model, title of its file, overridden values beside those of the file, and what each trial draws; plain text."""
    facts = run.run.get("vehicle")
    facts = facts if isinstance(facts, dict) else {}
    model = str(facts.get("model") or run.table("vehicle").get("model", ""))
    if not model:
        return ""
    told = f"Vehicle: {model}"
    title = str(facts.get("title") or "")
    if title:
        told += f" ({title.removeprefix(f'{model}: ')})"
    overridden = facts.get("overridden")
    changed = [_changed(name, *pair) for name, pair in (overridden if isinstance(overridden, dict) else {}).items()]
    drawn = [
        f"{name.removeprefix('vehicle.')} {short(ends[0])} to {short(ends[1])}"
        for name, ends in run.table("randomize").items()
        if name.startswith("vehicle.")
    ]
    told += f", with {_listed(changed)}" if changed else ""
    pilot = run.run.get("pilot")
    if isinstance(pilot, dict):
        told += f". Flown by {PILOTS.get(str(pilot.get('kind')), 'a real autopilot')}"
    told += f". Drawn for each trial: {_listed(drawn)}" if drawn else ""
    return f"{told}."


def _listed(items: list[str]) -> str:
    return joined(items if len(items) <= MOST else [*items[: MOST - 1], f"{len(items) - MOST + 1} more values"])


def _changed(name: str, was: Any, now: Any) -> str:
    return f"{name} = {_value(now)} ({'not in its file' if was is None else f'{_value(was)} in its file'})"


def _value(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return short(value)
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
