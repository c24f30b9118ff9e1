"""What a reader must know before a run's result."""

from __future__ import annotations

from fieldworthy.trials.report import page
from fieldworthy.trials.report.data import RunData
from fieldworthy.trials.report.text import esc, plural


def notices(run: RunData) -> list[str]:
    """What must be known before the result: an interrupted run, one without results, and the run's own notes."""
    stopped = str(run.run.get("stopped_by") or "")
    by = f" by {esc(stopped)}" if stopped else ""
    asked = run.run.get("trials", len(run.trials))
    if not run.trials:
        before = f" before {esc(stopped)}" if stopped else ""
        return [
            page.banner(
                f"<strong>No trial finished{before}</strong>, so there is nothing to report yet. "
                "Run the scenario again."
            )
        ]
    told = _notes(run)
    if run.run.get("interrupted") or (isinstance(asked, int) and len(run.trials) < asked):
        return [
            page.banner(
                f"<strong>This run was interrupted{by}:</strong> {len(run.trials)} of {plural(int(asked), 'trial')} "
                "finished, and the page reports on these. The missing ones may be those that take long, so success may "
                "look better or worse than it is."
            ),
            *told,
        ]
    return told


def _notes(run: RunData) -> list[str]:
    """run.json's "notes": on the map, and on trials that are all the same."""
    notes = run.run.get("notes")
    return [page.banner(esc(note)) for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
