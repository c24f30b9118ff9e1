"""One interface for all solvers of inverse kinematics, switchable while an arm moves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from fieldworthy.arms.chain import Arm, Array
from fieldworthy.core.errors import FieldworthyError
from fieldworthy.core.suggest import did_you_mean


@dataclass(frozen=True)
class Attempt:
    """What a solver answers, measured by forward kinematics and not by its own word."""

    q: Array
    """Joint positions, shape (dof,), always within the joint limits."""
    reached: bool
    """Both errors are within the solver's tolerance."""
    position_error_m: float
    orientation_error_rad: float
    iterations: int
    why: str = ""
    """Why the pose was not reached; empty where it was."""


class Solver(Protocol):
    """A way of finding joint positions for a pose."""

    name: str

    def solve(self, arm: Arm, base_from_tool: Array, seed: Array) -> Attempt:
        """Joint positions for a pose (4, 4), started from `seed` (dof,), however far the joints must go."""
        ...

    def step(self, arm: Arm, base_from_tool: Array, q: Array, dt_s: float) -> Attempt:
        """One frame towards the pose: no joint goes further than its speed limit allows in dt_s."""
        ...


_HOME = {
    "exact": "fieldworthy.arms.exact_solver:ExactSolver",
    "dls": "fieldworthy.arms.dls:DlsSolver",
    "pinv": "fieldworthy.arms.pinv:PseudoInverseSolver",
    "ccd": "fieldworthy.arms.ccd:CcdSolver",
    "fabrik": "fieldworthy.arms.fabrik:FabrikSolver",
}
_SEED = ("dls", "pinv", "ccd", "fabrik")

SOLVERS = tuple(_HOME)
"""Names of the built-in solvers; the first one is the default."""
SEED_SOLVERS = tuple(f"{name}-seed" for name in _SEED)
"""Those that are also there as the first simulator had them, with its parameters and its faults."""


def make_solver(name: str, *folders: str, **options: Any) -> Solver:
    """A solver by name, or user code by `module:Class`, with its own options.

    Modules are looked for in the current folder too, and in `folders`.
    Raises: FieldworthyError for a name that is none.
    """
    if name in SEED_SOLVERS:
        name, options = name.removesuffix("-seed"), {**options, "faithful": True}
        options.update({"rows": 3} if name in ("dls", "pinv") else {})
    if name not in _HOME and ":" not in name:
        names = (*SOLVERS, *SEED_SOLVERS)
        hint = did_you_mean(name, names)
        raise FieldworthyError(f"solver '{name}': no such solver{hint}; valid: {', '.join(names)}; or module:Class")
    module, _, kind = _HOME.get(name, name).partition(":")
    where = f"solver '{name}'"
    if not module.strip(".") or not kind:
        raise FieldworthyError(f"{where}: no module and class; valid: module:Class")
    for folder in (str(Path.cwd()), *folders):  # user code lies where the user stands, or beside the task
        if ":" in name and folder not in sys.path:
            sys.path.append(folder)
    try:
        make: Callable[..., Solver] = getattr(import_module(module), kind)
    except Exception as error:  # whatever a user's module raises while it is imported
        told = f"{type(error).__name__}: {error}"
        raise FieldworthyError(f"{where}: {told}; valid: module:Class that can be imported") from error
    try:
        made = make(**options)
    except TypeError as error:
        raise FieldworthyError(f"{where}: {error}; valid: options of its constructor") from error
    missing = [word for word in ("solve", "step") if not callable(getattr(made, word, None))]
    if missing or not isinstance(getattr(made, "name", None), str):
        lacks = " and ".join(missing or ["name"])
        raise FieldworthyError(f"{where}: it has no {lacks}; valid: a class with name, solve and step (arms/solver.py)")
    return made
