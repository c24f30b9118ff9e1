"""States as trees of scalars: dataclasses, tuples, lists and dictionaries, nested at will.

Everything else is a leaf: a scalar of any engine. `None` stands for "not there" and stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

from fieldworthy.core.lanes import Scalar, select

Tree = TypeVar("Tree")


@cache
def _field_names(kind: Any) -> tuple[str, ...] | None:
    """Field names of a dataclass, None for any other type. Cached: laws are traced often."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


def children(tree: Any) -> list[tuple[str, Any]] | None:
    """(name, child) of a node in order, or None for a leaf. Names are field names, keys or positions."""
    kind: Any = type(tree)
    names = _field_names(kind)
    if names is not None:
        return [(name, getattr(tree, name)) for name in names]
    if isinstance(tree, dict):
        return [(str(key), value) for key, value in tree.items()]
    if isinstance(tree, list | tuple):
        return [(str(index), value) for index, value in enumerate(tree)]
    return [] if tree is None else None


def rebuild(tree: Tree, values: list[Any]) -> Tree:
    """A node of the same type as `tree` with other children, in the order of `children`."""
    kind: Any = type(tree)
    names = _field_names(kind)
    if names is not None:
        return kind(**dict(zip(names, values, strict=True)))  # type: ignore[no-any-return]
    if isinstance(tree, dict):
        return kind(zip(tree.keys(), values, strict=True))  # type: ignore[no-any-return]
    if tree is None:
        return tree
    return kind(*values) if hasattr(kind, "_fields") else kind(values)  # type: ignore[no-any-return]


def map_leaves(fn: Callable[..., Any], tree: Tree, *others: Any) -> Tree:
    """The tree with every leaf replaced by fn(leaf, leaf of the others at the same place)."""
    nodes = children(tree)
    if nodes is None:
        return fn(tree, *others)  # type: ignore[no-any-return]
    columns = [nodes, *(_children_like(tree, nodes, other) for other in others)]
    values = [map_leaves(fn, *(child for _, child in row)) for row in zip(*columns, strict=True)]
    return rebuild(tree, values)


def _children_like(tree: Any, nodes: list[tuple[str, Any]], other: Any) -> list[tuple[str, Any]]:
    """Children of `other`, which must have the shape of `tree`."""
    found = children(other)
    if isinstance(tree, dict) and isinstance(other, dict) and tree.keys() == other.keys():
        return [(str(key), other[key]) for key in tree]  # equal keys may stand in another order
    names = [name for name, _ in nodes]
    if found is None or [name for name, _ in found] != names:
        raise TypeError(
            f"trees differ: {type(tree).__name__} has {', '.join(names) or 'no children'}, {type(other).__name__} has "
            f"{'no children' if not found else ', '.join(name for name, _ in found)}"
        )
    return found


def leaves(tree: Any) -> list[Scalar]:
    """All leaves, first field first, depth first."""
    return list(_walk(tree))


def _walk(tree: Any) -> Iterator[Scalar]:
    nodes = children(tree)
    if nodes is None:
        yield tree
        return
    for _, child in nodes:
        yield from _walk(child)


def add_scaled(state: Tree, step: Scalar, rate: Any) -> Tree:
    """state + step * rate, leaf by leaf."""
    return map_leaves(lambda value, slope: value + step * slope, state, rate)


def where(mask: Scalar, if_true: Tree, if_false: Tree) -> Tree:
    """Leaf by leaf `if_true` where the mask holds, else `if_false`."""
    return map_leaves(lambda a, b: select(mask, a, b), if_true, if_false)
