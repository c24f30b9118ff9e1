"""The exceptions of the package. Every one says what is wrong, where, and what would be valid."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType


class FieldworthyError(Exception):
    """Base of every error that the package raises on purpose: catch this one at the edge of a program."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input."""

    where: str
    """File and line, dotted path or name of the value."""
    what: str
    """What is wrong with it."""
    valid: str = ""
    """What would be valid instead; empty where nothing short can be said."""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}; valid: {self.valid}" if self.valid else text


class ScenarioError(FieldworthyError):
    """An input that cannot be run. Carries all of its problems at once, not only the first."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: list[Problem] = [problems] if isinstance(problems, Problem) else list(problems)
        if not self.problems:
            raise ValueError("ScenarioError needs at least one Problem")
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class EngineError(FieldworthyError):
    """The machine cannot run the compiled engine: no LLVM, an old LLVM, no such device."""


class MissingExtraError(FieldworthyError):
    """A part needs a package that is installed only with an extra."""

    def __init__(self, what: str, extra: str) -> None:
        self.what = what
        self.extra = extra
        super().__init__(what, extra)

    def __str__(self) -> str:
        return f"{self.what} needs the extra '{self.extra}': pip install 'fieldworthy[{self.extra}]'"


def require_extra(module_name: str, extra: str, what: str) -> ModuleType:
    """Import `module_name` now, or say which extra brings it.

    Only the absence of that module (or of a package above it) is translated: a module that is there and fails
    to import something else keeps its own error.
    """
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise MissingExtraError(what, extra) from error
        raise
