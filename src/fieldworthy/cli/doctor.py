"""`fieldworthy doctor`: what this machine offers."""

from __future__ import annotations

import json
import os
import platform
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


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Say which compiler, device, cores and versions are used here, and try a kernel. Exit code 2 when none works."""
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
