"""`fieldworthy new`: a commented scenario to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Write FILE, a scenario with every common key explained; change what you need and run it."""
    from fieldworthy.core.errors import FieldworthyError

    if file.suffix != ".toml":
        raise FieldworthyError(f"{file}: a scenario is a TOML file; valid: a name such as {file.name}.toml")
    template = (resources.files("fieldworthy") / "cli" / "template.toml").read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(template.replace("my-scenario", file.stem))
    except FileExistsError:
        raise FieldworthyError(f"{file}: is there already; valid: a new name") from None
    except OSError as error:
        raise FieldworthyError(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"wrote {file}; next: fieldworthy check {file} && fieldworthy run {file}")
