"""What a RAPID text says, as a tree: expressions, statements, procedures and the module that holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Expression:
    """`op` is number, numbers, text, name, list, field, index, call, star, or an operator on what is in `parts`."""

    op: str
    parts: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Argument:
    """One argument; `name` is set for optional ones (\\WObj:=w), which have no value when they are switches."""

    name: str | None
    value: Expression | None


@dataclass(frozen=True)
class Declare:
    """VAR, CONST or PERS."""

    line: int
    type: str
    name: str
    sizes: tuple[Expression, ...]
    value: Expression | None


@dataclass(frozen=True)
class Assign:
    """target := value;"""

    line: int
    target: Expression
    value: Expression


@dataclass(frozen=True)
class Call:
    """An instruction or a procedure."""

    line: int
    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class If:
    """Branches in order; the condition of ELSE is None."""

    line: int
    branches: tuple[tuple[Expression | None, tuple[Statement, ...]], ...]


@dataclass(frozen=True)
class For:
    """FOR name FROM first TO last STEP step DO."""

    line: int
    name: str
    first: Expression
    last: Expression
    step: Expression | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """WHILE condition DO."""

    line: int
    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Refused:
    """A statement that is understood well enough to say that it is not followed."""

    line: int
    what: str
    valid: str


Statement: TypeAlias = Declare | Assign | Call | If | For | While | Refused


@dataclass
class Procedure:
    """A PROC with its required parameters (type, name)."""

    name: str
    line: int
    parameters: list[tuple[str, str]] = field(default_factory=list)
    body: tuple[Statement, ...] = ()


@dataclass
class Module:
    """What a file holds: data in the order of the file, and procedures by upper-case name."""

    name: str = ""
    data: list[Declare] = field(default_factory=list)
    procedures: dict[str, Procedure] = field(default_factory=dict)
