"""Trees of arrays as flat tuples: what a compiled function is called with again and again.

Dr.Jit walks through every argument at every call, and dataclasses within dataclasses cost it more time than the kernel
that works on them. One lane alone goes quicker still, as two arrays: `core.parcel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.core.engine import Engine
from fieldworthy.core.struct import leaves, map_leaves


class Packing:
    """How a tree of arrays lies in a flat tuple, each array once; plain numbers stay in the tree, compiled in."""

    def __init__(self, tree: Any) -> None:
        self._places: list[int | None] = []
        self._first: list[int] = []
        known: dict[tuple[type, int], int] = {}
        for number, leaf in enumerate(leaves(tree)):
            index = getattr(leaf, "index", None)
            if index is None:
                self._places.append(None)
                continue
            key = (type(leaf), int(index))
            if key not in known:
                known[key] = len(self._first)
                self._first.append(number)
            self._places.append(known[key])
        self._template = map_leaves(lambda leaf: leaf if getattr(leaf, "index", None) is None else 0.0, tree)

    @classmethod
    def of_separate(cls, tree: Any) -> Packing:
        """As if no two leaves were the same array: for states, whose leaves part ways."""
        shape = cls.__new__(cls)
        count = len(leaves(tree))
        shape._places, shape._first = list(range(count)), list(range(count))
        shape._template = map_leaves(lambda _: 0.0, tree)
        return shape

    def flat(self, tree: Any) -> tuple[Any, ...]:
        """The arrays of a tree of this shape."""
        found = leaves(tree)
        return tuple(found[number] for number in self._first)

    def tree(self, flat: tuple[Any, ...]) -> Any:
        """The tree again."""
        places = iter(self._places)

        def leaf(plain: Any) -> Any:
            place = next(places)
            return plain if place is None else flat[place]

        return map_leaves(leaf, self._template)


def separate(engine: Engine, flat: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same numbers with no array twice.

    A frozen function is recorded anew for every pattern of equal arguments, and which leaves of a state happen to be
    one array changes during the first steps.
    """
    known: set[int] = set()
    found = []
    for array in flat:
        if array.index in known:
            array = engine.floats(np.asarray(array))
        known.add(array.index)
        found.append(array)
    return tuple(found)
