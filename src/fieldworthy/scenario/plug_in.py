"""Find the controller and the sensors that a scenario names: built-in ones, or `module:Class` of the user's own."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import msgspec

from fieldworthy.core.errors import Problem, ScenarioError
from fieldworthy.core.suggest import did_you_mean
from fieldworthy.guidance.external import External
from fieldworthy.guidance.mission import Mission
from fieldworthy.guidance.sector import Sector
from fieldworthy.guidance.straight import Straight
from fieldworthy.scenario.check import check_parameters
from fieldworthy.scenario.drawn_parameters import check_drawn
from fieldworthy.scenario.load import is_built_in
from fieldworthy.scenario.schema import Scenario

CONTROLLERS: dict[str, Any] = {
    "sector": Sector,
    "straight": Straight,
    "mission": Mission,
    "external": External,
}
"""Built-in controllers by the name that scenarios use."""

SECTOR = "(low, high) in degrees, -180 <= low < high <= 180"
_SILENT = "it does not say what it reads"


def load_controller(scenario: Scenario) -> tuple[Any, Any]:
    """The controller, made, and its checked parameters (None if its class has none).

    Raises: ScenarioError naming what is wrong with the name, the class or a parameter.
    """
    kind = controller_class(scenario.control.controller, plug_in_folder(scenario))
    where = f"{scenario.source_path or scenario.name} [control.parameters]"
    parameters = _parameters(kind, scenario.control.parameters, where)
    check_drawn(scenario, "control.parameters", kind, parameters)
    controller = make(kind, parameters, where)
    reads = getattr(controller, "reads_deg", "missing")
    if reads is not None and not is_sector(reads):
        what = f"the constructor of {kind.__name__} left reads_deg = {reads!r}" if reads != "missing" else _SILENT
        raise ScenarioError(Problem(where, what, SECTOR))
    return controller, parameters


def plug_in_folder(scenario: Scenario) -> Path:
    """Where modules of the user's own are looked for: beside the scenario file; for a built-in scenario, whose folder
    is the package's, the current folder."""
    return Path.cwd() if is_built_in(scenario) else Path(scenario.source_path).parent


def load_sensor(scenario: Scenario, name: str) -> tuple[Any, Any]:
    """One of the user's own sensors, made, and its checked parameters (None if its class has none).

    Raises: ScenarioError naming what is wrong with the name, the class or a parameter.
    """
    config = scenario.sensors.extra[name]
    where = f"[sensors.extra.{name}] sensor = '{config.sensor}'"
    kind = _user_class(config.sensor, plug_in_folder(scenario), where)
    problems = _shared_problems(kind, "read", "def read(self, truth, noise, parameters) -> Reading", 4)
    if problems:
        raise ScenarioError([Problem(where, what, valid) for what, valid in problems])
    place = f"{scenario.source_path or scenario.name} [sensors.extra.{name}.parameters]"
    parameters = _parameters(kind, config.parameters, place)
    check_drawn(scenario, f"sensors.extra.{name}.parameters", kind, parameters)
    return make(kind, parameters, place), parameters


def _parameters(kind: Any, given: dict[str, Any], where: str) -> Any:
    expected = getattr(kind, "Parameters", None)
    if expected is not None:
        return check_parameters(expected, given, where)
    if given:
        raise ScenarioError(Problem(where, f"{kind.__name__} has no parameters, but {', '.join(given)} given", "none"))
    return None


def make(kind: Any, parameters: Any, where: str) -> Any:
    """An instance: the class gets its parameters if its constructor takes one argument.

    Raises: ScenarioError with what its constructor raised.
    """
    try:
        takes = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
        return kind(parameters) if takes else kind()
    except Exception as error:
        # A user's constructor may raise anything; it belongs in one sentence with its place.
        what = f"{kind.__name__}() failed: {type(error).__name__}: {error}"
        raise ScenarioError(Problem(where, what, "parameters that its constructor takes")) from error


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
    kind = _user_class(name, folder, where)
    problems = contract_problems(kind)
    if problems:
        raise ScenarioError([Problem(where, what, valid) for what, valid in problems])
    return kind


def _user_class(name: str, folder: Path, where: str) -> Any:
    """The class that `module:Class` names; the module is looked for in `folder` first."""
    module_name, colon, class_name = name.partition(":")
    if not colon or not module_name or not class_name:
        raise ScenarioError(Problem(where, f"'{name}' names no class", "module:Class"))
    if module_name.endswith(".py") or "/" in module_name:
        meant = module_name.removesuffix(".py").removeprefix("./").replace("/", ".")
        what = f"'{module_name}' is the name of a file; did you mean '{meant}:{class_name}'?"
        raise ScenarioError(Problem(where, what, f"module:Class, the module being a file in {folder} or on sys.path"))
    module = _user_module(module_name, folder, where)
    kind = getattr(module, class_name, None)
    if not inspect.isclass(kind):
        classes = [n for n, v in vars(module).items() if inspect.isclass(v) and v.__module__ == module.__name__]
        what = f"{module_name} has no class '{class_name}'{did_you_mean(class_name, classes)}"
        raise ScenarioError(Problem(where, what, ", ".join(classes)))
    return kind


def _user_module(name: str, folder: Path, where: str) -> Any:
    own = folder / f"{name.replace('.', '/')}.py"
    known = sys.modules.get(name)
    if own.exists() and known is not None and Path(getattr(known, "__file__", None) or "") != own:
        # Another scenario's folder had a module of the same name.
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and not name.startswith(error.name):
            raise ScenarioError(Problem(where, f"importing {name} failed: {error}")) from error
        raise ScenarioError(
            Problem(where, f"no module '{name}'", f"{name}.py in {folder} or a module on sys.path")
        ) from None
    except Exception as error:
        # A user's module may raise anything while it is imported; it belongs in one sentence with its place.
        raise ScenarioError(Problem(where, f"importing {name} failed: {type(error).__name__}: {error}")) from error
    finally:
        sys.path.remove(str(folder))


def contract_problems(kind: Any) -> list[tuple[str, str]]:
    """What a controller class lacks, each with what would be valid; see `control.controller`."""
    found = []
    reads = getattr(kind, "reads_deg", "missing")
    if reads == "missing" and "__init__" not in vars(kind):
        found.append((_SILENT, "reads_deg = (-35.0, 35.0), or reads_deg = None for no LiDAR"))
    elif reads != "missing" and reads is not None and not is_sector(reads):
        found.append((f"reads_deg = {reads!r} is not a sector", SECTOR))
    if getattr(kind, "arrays", "numpy") not in ("numpy", "lanes"):
        found.append((f"arrays = {kind.arrays!r}", "'numpy' or 'lanes'"))
    if not hasattr(kind, "arrays"):
        kind.arrays = "numpy"
    return found + _shared_problems(kind, "command", "def command(self, readings, parameters) -> Command", 3)


def _shared_problems(kind: Any, method: str, signature: str, arguments: int) -> list[tuple[str, str]]:
    """What a plug-in class lacks of what controllers and sensors have in common."""
    found = []
    function = getattr(kind, method, None)
    if not callable(function):
        found.append((f"{kind.__name__} has no method '{method}'", signature))
    elif len(inspect.signature(function).parameters) != arguments:
        found.append((f"{kind.__name__}.{method}() takes other arguments", signature))
    expected = getattr(kind, "Parameters", None)
    if expected is not None and not (inspect.isclass(expected) and issubclass(expected, msgspec.Struct)):
        found.append(("Parameters is no parameter class", "class Parameters(fieldworthy.Parameters): …"))
    memory = getattr(kind, "memory", {})
    if not isinstance(memory, dict) or not all(isinstance(v, int | float) for v in memory.values()):
        found.append((f"memory = {memory!r}", "a dictionary of names and first values, such as {'timer_s': 0.0}"))
    return found


def is_sector(reads: Any) -> bool:
    """Whether a value says which azimuths are read."""
    try:
        low, high = reads
        return bool(-180.0 <= low < high <= 180.0)
    except (TypeError, ValueError):
        return False
