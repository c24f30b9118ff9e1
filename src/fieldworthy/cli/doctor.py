"""`fieldworthy doctor`: what this machine offers."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from importlib.util import find_spec
from typing import Any

import click

EXTRAS = {
    "log": ("mcap", "rosbags"), "symbols": ("casadi",), "wind": ("xarray", "netCDF4"), "sensors": ("pygeomag",),
    "link": ("fastcrc", "pymavlink", "serial"),
}  # fmt: skip
"""Optional extras and the modules that they bring."""


@click.group("doctor", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Say which compiler, device, cores and versions are used here, and try a kernel. Exit code 2 when none works.

    `fieldworthy doctor link px4` explains what is wrong between us and an autopilot.
    """
    if ctx.invoked_subcommand is None:
        _machine(as_json)


def _machine(as_json: bool) -> None:
    from fieldworthy import __version__
    from fieldworthy.core.engine import chosen_device, engine_facts, load_engine
    from fieldworthy.core.errors import EngineError
    from fieldworthy.core.llvm import find_llvm

    facts: dict[str, Any] = {
        "fieldworthy": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }
    problem = ""
    try:
        facts["device"] = chosen_device()
        if facts["device"] == "llvm":
            facts["llvm library"] = str(find_llvm())
        engine = load_engine("f32")
        facts.update(engine_facts(engine))
        facts["kernel"] = _try_kernel(engine)
    except EngineError as error:
        problem = str(error)
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        facts[f"extra '{extra}'"] = "there" if not missing else f"not installed: pip install 'fieldworthy[{extra}]'"
    if as_json:
        click.echo(json.dumps({**facts, "problem": problem or None}))
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            click.echo(f"{name:<{width}}  {value}")
        if problem:
            click.echo(f"error: {problem}", err=True)
    if problem:
        sys.exit(2)


def _try_kernel(engine: Any) -> str:
    """Compile and run a small kernel; a sentence with its answer and times."""
    import drjit as dr

    began = time.perf_counter()
    x = dr.arange(engine.Float, 1_000_000)
    total = dr.sum(dr.minimum(x, 2.0))
    dr.eval(total)
    right = abs(float(total[0]) - 1_999_997.0) < 1.0
    return f"{'works' if right else 'gives a wrong sum'}, first call {1000 * (time.perf_counter() - began):.0f} ms"


@command.command("link")
@click.argument("autopilot", type=click.Choice(["px4", "ardupilot"]))
@click.argument("scenario", default="quad-x500")
@click.option("--instance", type=click.IntRange(0, 99), default=0, metavar="I", help="Number of the autopilot.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: every one.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="P", help="Port in place of the autopilot's usual one.")
@click.option("--rate", type=click.FloatRange(min=1.0, max=4000.0), metavar="HZ", help="Exchanges a second.")
@click.option(
    "--for",
    "for_s",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Wall time to wait and watch.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def link(ctx: click.Context, /, **given: Any) -> None:
    """Check, step by step, what is wrong between the vehicle of SCENARIO (default quad-x500) and an autopilot.

    Looks at our own side first, then waits for the autopilot, which you start as for `fieldworthy link`, and watches it
    for a while. A PX4 that was looked at must be started anew. Exit code 0 when all is well, 3 when the link isn't.
    """
    from fieldworthy.links.diagnosis_gather import Request, diagnose
    from fieldworthy.scenario import load
    from fieldworthy.trials.interrupt import stop_wanted

    as_json = given["as_json"] or bool(ctx.parent and ctx.parent.params["as_json"])
    notes: list[str] = []
    request = Request(
        given["autopilot"], load(given["scenario"], notes=notes), given["host"], given["instance"], given["port"],
        given["for_s"], given["rate"],
    )  # fmt: skip
    for note in notes:
        click.echo(note, err=True)
    found = []
    with stop_wanted() as stopped:
        for finding in diagnose(request, lambda line: click.echo(line, err=True), stopped):
            found.append(finding)
            if not as_json:
                click.echo(_row(finding.name, finding.ok, finding.sentence))
        stop = stopped()
    wrong = sum(finding.ok is False for finding in found)
    if as_json:
        facts = {"autopilot": given["autopilot"], "scenario": request.scenario.name, "complete": not stop}
        rows = [{"name": f.name, "ok": f.ok, "sentence": f.sentence} for f in found]
        click.echo(json.dumps({**facts, "ok": not wrong and not stop, "findings": rows}))
    elif not stop:
        click.echo("all is well" if not wrong else f"{wrong} problem{'s' if wrong > 1 else ''}: start with the first")
    sys.exit(130 if stop else 3 if wrong else 0)


_STATES = {True: "ok", False: "problem", None: "-"}


def _row(name: str, ok: bool | None, sentence: str) -> str:
    """A finding as a line, folded where somebody reads it on a terminal."""
    head = f"{_STATES[ok]:<8} {name:<18} "
    if not sys.stdout.isatty():
        return head + sentence
    width = max(60, shutil.get_terminal_size().columns)
    return click.wrap_text(sentence, width, head, " " * len(head))
