"""`fieldworthy arm show`: what an arm is made of, and where its numbers come from."""

from __future__ import annotations

import json
import math
from typing import Any

import click


@click.command("show")
@click.argument("arm")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(arm: str, as_json: bool) -> None:
    """The joints of ARM with their limits, how its inverse kinematics are solved, and the sources of its numbers."""
    from rich.table import Table

    from fieldworthy.arms.catalogue import arm_entry, load_arm
    from fieldworthy.arms.closed import closed_of
    from fieldworthy.cli.show import stdout

    found = load_arm(arm)
    form = closed_of(found)
    solved = "least squares from many starts" if form is None else f"closed form: {form.shape.kind}"
    if form is not None and form.shape.held is not None:
        solved += f", with {found.joints[form.shape.held].name} held"
    rows: list[dict[str, Any]] = [
        {
            "joint": joint.name,
            "kind": joint.kind,
            "axis": joint.axis,
            "point_m": joint.point_m,
            "lower": _shown(joint.lower, joint.kind),
            "upper": _shown(joint.upper, joint.kind),
            "speed": _shown(joint.speed, joint.kind),
            "acceleration": _shown(joint.acceleration, joint.kind),
        }
        for joint in found.joints
    ]
    sources = _sources(arm, arm_entry)
    if as_json:
        facts = {"arm": found.name, "title": found.title, "inverse": solved, "joints": rows, "sources": sources}
        click.echo(json.dumps(facts))
        return
    console = stdout()
    click.echo(f"{found.name}: {found.title or 'no title'}")
    table = Table(box=None, pad_edge=False)
    for column in ("joint", "axis", "point [m]", "limits", "speed /s", "acceleration /s²"):
        table.add_column(column, justify="left" if column in ("joint", "axis", "point [m]") else "right")
    for row in rows:
        unit = "deg" if row["kind"] == "revolute" else "m"
        table.add_row(
            row["joint"],
            " ".join(f"{value:g}" for value in row["axis"]),
            " ".join(f"{value:.4g}" for value in row["point_m"]),
            f"{_text(row['lower'])} to {_text(row['upper'])} {unit}",
            _text(row["speed"]),
            _text(row["acceleration"]),
        )
    console.print(table)
    click.echo(f"inverse kinematics: {solved}")
    count = len(found.capsules)
    click.echo(f"collision shapes: {'1 capsule' if count == 1 else f'{count} capsules'}")
    for key, text in sources.items():
        click.echo(f"  {key}: {text}")


def _shown(value: float, kind: str) -> float | None:
    """In degrees or metres; None for no limit."""
    return None if math.isinf(value) else math.degrees(value) if kind == "revolute" else value


def _text(value: float | None) -> str:
    return "no limit" if value is None else f"{value:.6g}"


def _sources(arm: str, entry_of: Any) -> dict[str, str]:
    if arm.lower().endswith((".urdf", ".xml", ".xacro")):
        return {"file": arm}
    entry = entry_of(arm)
    return {key: text for key, text in entry.sources.items() if not key.endswith("_capsules_m")}
