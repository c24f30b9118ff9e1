"""`fieldworthy arm new`: a commented task file with waypoints beside it, to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--robot", default="kr10-r1100", show_default=True, metavar="ARM", help="Arm of the new task.")
def new(file: Path, robot: str) -> None:
    """Write FILE.toml, a commented arm task, and FILE.json with its waypoints; then `fieldworthy run FILE.toml`."""
    from fieldworthy.arms.catalogue import load_arm
    from fieldworthy.arms.dataset import data_path
    from fieldworthy.core.errors import FieldworthyError
    from fieldworthy.core.whole_file import write_whole_text

    if not file.name.strip("."):
        raise FieldworthyError(f"'{file}': no name of a file; valid: a name such as my-task.toml")
    arm = load_arm(robot)
    task = file.with_suffix(".toml")
    waypoints = file.with_suffix(".json")
    for place in (task, waypoints):
        if place.exists():
            raise FieldworthyError(f"{place}: is there already; valid: a new file")
    if not task.parent.is_dir():
        raise FieldworthyError(f"{task}: there is no folder {task.parent}; valid: a folder that exists")
    template = (resources.files("fieldworthy.cli") / "template_arm.toml").read_text(encoding="utf-8")
    given = robot if "/" in robot or "." in robot else arm.name
    text = template.replace("NAME", task.stem).replace("MODEL", given).replace("WAYPOINTS", waypoints.name)
    write_whole_text(waypoints, data_path("arm-plane", ".json").read_text(encoding="utf-8"))
    write_whole_text(task, text)
    click.echo(f"written: {task}, {waypoints}")
    click.echo(f"run it: fieldworthy run {task}")
