"""The repository keeps its own promises: what the README says can be typed, links lead somewhere, versions agree."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fieldworthy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LAUNCHER_COMMANDS = {"test"}
"""Words that ./fw handles itself."""

LONGEST_FILE = 300
REASON = re.compile(r"long because \S+", re.IGNORECASE)


def markdown_files() -> list[Path]:
    hidden = (
        path for path in ROOT.rglob("*.md") if not any(p.startswith(".") for p in path.relative_to(ROOT).parts[:-1])
    )
    return sorted(hidden)


def without_code(text: str) -> str:
    """Markdown less its fenced blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings get on the usual hosts."""
    headings = re.findall(
        r"^#+ +(.*?) *#*$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", markdown_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)", without_code(text))
    targets += re.findall(r"(?:src|href)=\"([^\"]+)\"", without_code(text))
    dead = []
    for target in targets:
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        found = page.exists()
        if found and anchor and page.suffix == ".md":
            found = anchor in anchors(page.read_text(encoding="utf-8"))
        if not found:
            dead.append(target)
    assert not dead, f"dead links: {', '.join(dead)}"


def documented_commands() -> Iterator[tuple[str, list[str]]]:
    """(page, words after the program's name) of every `./fw` or `fieldworthy` line in a fenced block of a page."""
    for path in markdown_files():
        for block in re.findall(
            r"^ *```[^\n]*\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.match(r"\s*(?:\$ )?(?:\./fw|fieldworthy)\s+(.+)$", line)
                if found:
                    yield str(path.relative_to(ROOT)), shlex.split(found.group(1), comments=True)


def command_line() -> Any:
    """The click group behind `fieldworthy`."""
    import click

    module = importlib.import_module("fieldworthy.cli.main")
    groups = [value for value in vars(module).values() if isinstance(value, click.Group)]
    assert len(groups) == 1, "cli/main.py holds one click group"
    return groups[0]


def test_documented_commands_exist_with_their_options() -> None:
    import click

    group = command_line()
    context = click.Context(group)
    known = set(group.list_commands(context))
    wrong = []
    for page, words in documented_commands():
        if not words or words[0].startswith("-") or words[0].isupper() or words[0] in LAUNCHER_COMMANDS:
            continue
        if words[0] not in known:
            wrong.append(f"{page}: no command {words[0]}; there are {', '.join(sorted(known))}")
            continue
        command = group.get_command(context, words[0])
        if isinstance(command, click.Group) and words[1:2] and not words[1].startswith("-"):
            command = command.get_command(context, words[1])
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        for word in words[1:]:
            option = word.partition("=")[0]
            if option.startswith("--") and option not in options | {"--help"}:
                wrong.append(f"{page}: {words[0]} has no {option}; it has {', '.join(sorted(options))}")
    assert not wrong, "\n".join(wrong)


def test_the_readme_shows_the_two_commands() -> None:
    words = [words[0] for page, words in documented_commands() if page == "README.md"]
    assert "demo" in words
    assert "test" in words


def test_long_files_say_why() -> None:
    """A file over 300 lines is rarely one concept; where it is, its head has a comment "Long because …"."""
    silent = []
    for path in sorted(SOURCE.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LONGEST_FILE and not any(REASON.search(line) for line in lines[:40]):
            silent.append(f"{path.relative_to(ROOT)}: {len(lines)} lines")
    assert not silent, "\n".join(silent)


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    bare = sorted(str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").exists())
    assert not bare, f"without __init__.py: {', '.join(bare)}"


def test_versions_agree() -> None:
    import fieldworthy

    released = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert fieldworthy.__version__ == PROJECT["version"]
    assert released, "CHANGELOG.md has a heading `## [x.y.z] - date`"
    assert released[0] == PROJECT["version"], "the newest heading of CHANGELOG.md"


def test_public_names_exist() -> None:
    import fieldworthy

    missing = [name for name in fieldworthy.__all__ if not hasattr(fieldworthy, name)]
    assert not missing, f"in __all__, but not there: {', '.join(missing)}"


def test_every_module_says_what_it_is() -> None:
    import ast

    silent = [
        str(path.relative_to(ROOT))
        for path in sorted(SOURCE.rglob("*.py"))
        if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent, f"without a docstring: {', '.join(silent)}"


def test_every_slow_test_and_example_is_in_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "examples/*.py" in script
    assert "-m slow" in script


def fenced(page: str, head: str) -> str:
    """The fenced block of a page whose first line is the given comment."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (block,) = (block for block in blocks if block.startswith(f"# {head}"))
    return str(block)


def run_block(head: str) -> dict[str, Any]:
    """The names that a block of CONTRIBUTING.md defines."""
    module = types.ModuleType("contributed")
    sys.modules["contributed"] = module  # dataclasses look their module up
    try:
        exec(compile(fenced("CONTRIBUTING.md", head), head, "exec"), vars(module))
    finally:
        del sys.modules["contributed"]
    return vars(module)


def test_the_contributed_controller_keeps_the_contract_and_turns_away() -> None:
    import numpy as np

    from fieldworthy.control.controller import Readings
    from fieldworthy.scenario.plug_in import contract_problems
    from fieldworthy.sensors.scan import ScanArrays

    names = run_block("keep_clear.py")
    assert contract_problems(names["KeepClear"]) == []
    azimuth_rad = np.deg2rad(np.linspace(-60.0, 60.0, 5))[:, None]
    range_m = np.full((3, 5, 1), 100.0)
    range_m[1, 0], range_m[2, 4] = 10.0, 10.0  # clear; something to port; something to starboard
    zero = np.zeros(3)
    readings = Readings(
        t_s=0.0,
        period_s=0.1,
        trial=np.arange(3),
        north_m=zero,
        east_m=zero,
        heading_rad=zero,
        surge_m_s=zero,
        sway_m_s=zero,
        yaw_rate_rad_s=zero,
        target_north_m=zero + 100.0,
        target_east_m=zero,
        scan=ScanArrays(range_m, azimuth_rad, np.zeros(1), np.zeros((5, 1)), 0.0),
    )
    answer = names["KeepClear"]().command(readings, names["KeepClearParameters"]())
    assert answer.yaw_rate_rad_s[0] == 0.0
    assert answer.yaw_rate_rad_s[1] > 0.0 > answer.yaw_rate_rad_s[2]
    assert list(answer.mode) == [0, 1, 1]
    assert answer.surge_m_s[1] < answer.surge_m_s[0]


def test_the_contributed_boat_file_is_read(tmp_path: Path) -> None:
    from fieldworthy.catalog import load_entry

    (tmp_path / "my-boat.toml").write_text(fenced("CONTRIBUTING.md", "my-boat.toml"), encoding="utf-8")
    entry = load_entry("boat", "my-boat.toml", tmp_path)
    assert entry.values == {"length_m": 6.2, "mass_kg": 1450.0}
    assert set(entry.values) <= set(load_entry("boat", "boat-5m").values)


def test_the_contributed_boat_file_says_that_it_is_a_fragment(tmp_path: Path) -> None:
    from fieldworthy.core.errors import ScenarioError
    from fieldworthy.scenario import load
    from fieldworthy.scenario.boat_values import BOAT_VALUES

    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    before = text[: text.index("# my-boat.toml")].rstrip().removesuffix("```toml").rstrip().splitlines()[-1]
    assert "A fragment, which has two of the 27 values" in before
    assert len(BOAT_VALUES) == 27
    (tmp_path / "my-boat.toml").write_text(fenced("CONTRIBUTING.md", "my-boat.toml"), encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        'schema = 1\nname = "s"\nvehicle.model = "my-boat.toml"\n[goal]\nnorth_m = 50.0\neast_m = 0.0\n'
    )
    with pytest.raises(ScenarioError, match=r"boat 'my-boat' lacks yaw_inertia_kg_m2, beam_m"):
        load(tmp_path / "s.toml")


def test_the_contributed_sensor_reads_what_its_law_says() -> None:
    import numpy as np

    from fieldworthy.sensors.sensor import Noise, Truth

    names = run_block("compass.py")
    parameters = names["CompassParameters"](noise_rad=0.02, walk_rad_sqrt_s=0.0)
    trials = np.arange(2000, dtype=np.uint32)
    motion = {name: np.zeros(2000) for name in Truth.__dataclass_fields__ if name.endswith(("_m", "_rad", "_s"))}
    motion |= {"t_s": 1.0, "period_s": 0.2, "heading_rad": np.full(2000, 3.0 + np.pi)}
    truth = Truth(trial=trials, **motion, memory={"deviation_rad": np.zeros(2000)})
    reading = names["Compass"]().read(truth, Noise(1, "compass", trials, 5), parameters)
    heading = reading.values["heading_rad"]
    # Four standard errors of the mean and of the standard deviation; 3 + pi is 3 - pi.
    assert abs(heading.mean() - (3.0 - np.pi)) < 4.0 * 0.02 / 2000**0.5
    assert abs(heading.std() - 0.02) < 4.0 * 0.02 / 4000**0.5
