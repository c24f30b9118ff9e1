"""`fieldworthy new`: a commented scenario to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import click


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--vehicle", default="boat-5m", show_default=True, metavar="MODEL",
              help="A name from `fieldworthy list boats` or `list aircraft`, or a catalogue file.")  # fmt: skip
def command(file: Path, vehicle: str) -> None:
    """Write FILE, a scenario with every common key explained; change what you need and run it."""
    from fieldworthy.core.errors import FieldworthyError

    if file.suffix != ".toml":
        raise FieldworthyError(f"{file}: a scenario is a TOML file; valid: a name such as {file.name}.toml")
    text = scenario_text(file, vehicle)
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise FieldworthyError(f"{file}: is there already; valid: a new name") from None
    except OSError as error:
        raise FieldworthyError(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"wrote {file}; next: fieldworthy check {file} && fieldworthy run {file}")


def scenario_text(file: Path, vehicle: str) -> str:
    """The template that suits the vehicle, with its name and numbers.

    Raises: ScenarioError for a vehicle that there is not or that cannot be; a path counts from the folder of `file`.
    """
    from fieldworthy.catalog import load_entry, vehicle_kind
    from fieldworthy.core.toml_file import Places
    from fieldworthy.scenario.aircraft_values import check_aircraft
    from fieldworthy.scenario.boat_values import check_boat
    from fieldworthy.scenario.check import Report

    kind = vehicle_kind(vehicle, file.parent)
    entry = load_entry(kind, vehicle, file.parent)
    report = Report(Places(vehicle))
    (check_boat if kind == "boat" else check_aircraft)(entry, report)
    report.raise_if_any()
    values = entry.values
    name = "boat" if kind == "boat" else "wings" if values.get("autopilot") == "fixed-wing" else "rotors"
    text = (resources.files("fieldworthy") / "cli" / f"template_{name}.toml").read_text(encoding="utf-8")
    for word, value in {"my-scenario": file.stem, "my-vehicle": vehicle, **_numbers(values)}.items():
        text = text.replace(word, value)
    return text


def _numbers(values: dict[str, Any]) -> dict[str, str]:
    """What a template says of the vehicle in figures, by the word that stands for it."""

    def number(key: str) -> float:
        value = values.get(key)
        return float(value) if isinstance(value, int | float) else 0.0

    mass, cruise = number("mass_kg"), number("cruise_airspeed_m_s")
    return {
        "LEAST_KG": f"{0.95 * mass:.4g}",
        "MOST_KG": f"{1.1 * mass:.4g}",
        "CRUISE_M_S": f"{cruise:.4g}",
        "LEG_M": f"{round(24.0 * cruise, -1):.1f}",
        "CORNER_M": f"{round(3.0 * cruise, -1):.1f}",
        "FIELD_M": f"{round(60.0 * cruise, -2):.1f}",
    }
