"""Find the controller that a scenario names: a built-in one, or `module:Class` of the user's own."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import msgspec

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.guidance.sector import Sector
from fieldworthy.guidance.straight import Straight
from fieldworthy.scenario.check import check_parameters
from fieldworthy.scenario.schema import Scenario

CONTROLLERS: dict[str, Any] = {"sector": Sector, "straight": Straight}
"""Built-in controllers by the name that scenarios use."""


def load_controller(scenario: Scenario) -> tuple[Any, Any]:
    """The controller, made, and its checked parameters (None if its class has none).

    Raises: ScenarioError naming what is wrong with the name, the class or a parameter.
    """
    kind = controller_class(scenario.control.controller, Path(scenario.source_path).parent)
    where = f"{scenario.source_path or scenario.name} [control.parameters]"
    given = scenario.control.parameters
    expected = getattr(kind, "Parameters", None)
    if expected is None:
        if given:
            names = ", ".join(given)
            raise ScenarioError(Problem(where, f"{kind.__name__} has no parameters, but {names} given", "none"))
        parameters = None
    else:
        parameters = check_parameters(expected, given, where)
    return make(kind, parameters), parameters


def make(kind: Any, parameters: Any) -> Any:
    """An instance: the class gets its parameters if its constructor takes one argument."""
    takes = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    return kind(parameters) if takes else kind()


def controller_class(name: str, folder: Path) -> Any:
    """The class of a controller by its name; `module:Class` is looked for in `folder` first.

    Raises: ScenarioError when there is none, or when it breaks the contract of `control.controller`.
    """
    where = f"controller = '{name}'"
    if name in CONTROLLERS:
        return CONTROLLERS[name]
    if ":" not in name:
        what = f"no built-in controller of this name{did_you_mean(name, list(CONTROLLERS))}"
        raise ScenarioError(Problem(where, what, f"{', '.join(CONTROLLERS)}; or module:Class"))
    module_name, _, class_name = name.partition(":")
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and not module_name.startswith(error.name):
            raise ScenarioError(Problem(where, f"importing {module_name} failed: {error}", "")) from error
        raise ScenarioError(
            Problem(where, f"no module '{module_name}'", f"{module_name}.py in {folder} or a module on sys.path")
        ) from None
    except Exception as error:
        # A user's module may raise anything while it is imported; it belongs in one sentence with its place.
        raise ScenarioError(
            Problem(where, f"importing {module_name} failed: {type(error).__name__}: {error}")
        ) from error
    finally:
        sys.path.remove(str(folder))
    kind = getattr(module, class_name, None)
    if not inspect.isclass(kind):
        classes = [n for n, v in vars(module).items() if inspect.isclass(v) and v.__module__ == module.__name__]
        what = f"{module_name} has no class '{class_name}'{did_you_mean(class_name, classes)}"
        raise ScenarioError(Problem(where, what, ", ".join(classes)))
    problems = contract_problems(kind)
    if problems:
        raise ScenarioError([Problem(where, what, valid) for what, valid in problems])
    return kind


def contract_problems(kind: Any) -> list[tuple[str, str]]:
    """What a controller class lacks, each with what would be valid; see `control.controller`."""
    found = []
    reads = getattr(kind, "reads_deg", "missing")
    if reads == "missing" and "__init__" not in vars(kind):
        found.append(("it does not say what it reads", "reads_deg = (-35.0, 35.0), or reads_deg = None for no LiDAR"))
    elif reads != "missing" and reads is not None and not _is_sector(reads):
        found.append((f"reads_deg = {reads!r} is not a sector", "(low, high) in degrees, -180 <= low < high <= 180"))
    if getattr(kind, "arrays", "numpy") not in ("numpy", "lanes"):
        found.append((f"arrays = {kind.arrays!r}", "'numpy' or 'lanes'"))
    if not hasattr(kind, "arrays"):
        kind.arrays = "numpy"
    command = getattr(kind, "command", None)
    if not callable(command):
        found.append(("it has no method 'command'", "def command(self, readings, parameters) -> Command"))
    elif len(inspect.signature(command).parameters) != 3:
        found.append(("command() takes other arguments", "def command(self, readings, parameters) -> Command"))
    expected = getattr(kind, "Parameters", None)
    if expected is not None and not (inspect.isclass(expected) and issubclass(expected, msgspec.Struct)):
        found.append(("Parameters is no parameter class", "class Parameters(fieldworthy.Parameters): …"))
    memory = getattr(kind, "memory", {})
    if not isinstance(memory, dict) or not all(isinstance(v, int | float) for v in memory.values()):
        found.append((f"memory = {memory!r}", "a dictionary of names and first values, such as {'timer_s': 0.0}"))
    return found


def _is_sector(reads: Any) -> bool:
    try:
        low, high = reads
        return bool(-180.0 <= low < high <= 180.0)
    except (TypeError, ValueError):
        return False
