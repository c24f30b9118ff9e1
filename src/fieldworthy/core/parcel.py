"""One vehicle's tree of numbers as two arrays: what a compiled function is called with when there is one lane only.

Dr.Jit takes about half a microsecond for every array that goes in and comes out of a frozen function; a vehicle with
its devices is some 250 of them. In a parcel all floats lie side by side in one array, all words in another, and the
kernel takes them apart and puts them together again: the call costs a tenth.

Measured: 200 numbers in and out of a frozen function, 112 us as 200 arrays and 9 us as a parcel (one core).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.core.engine import Engine
from fieldworthy.core.struct import leaves, map_leaves

_FLOAT, _WORD, _WIDE, _PLAIN = range(4)


class Parcel:
    """Where each leaf of a tree lies: in the floats, in the words, in an array of its own, or compiled in.

    Arrays of one number go into the parcel, an array that stands at several places once; longer arrays (tables) stay
    arrays; plain numbers are compiled in.
    """

    def __init__(self, engine: Engine, tree: Any, *, separate: bool = False, floats_only: bool = False) -> None:
        """separate: as if no two leaves were the same array, and every plain number were a float of its own: for
        states, whose leaves part ways. floats_only: words become floats."""
        import drjit as dr

        self._engine = engine
        self._places: list[tuple[int, int]] = []
        self._first: tuple[list[int], list[int], list[int]] = ([], [], [])
        known: dict[tuple[type, int], tuple[int, int]] = {}
        for number, leaf in enumerate(leaves(tree)):
            index = getattr(leaf, "index", None)
            if index is None and not separate:
                self._places.append((_PLAIN, 0))
                continue
            kind = _kind(engine, leaf, 1 if index is None else dr.width(leaf))
            kind = _FLOAT if floats_only and kind == _WORD else kind
            key = (type(leaf), number if separate or index is None else int(index))
            if key not in known:
                known[key] = (kind, len(self._first[kind]))
                self._first[kind].append(number)
            self._places.append(known[key])
        self._template = map_leaves(lambda leaf: leaf if getattr(leaf, "index", None) is None else 0.0, tree)

    def arrays(self, tree: Any) -> tuple[Any, Any, tuple[Any, ...]]:
        """A tree of this shape as its array of floats, its array of words, and the arrays that stay by themselves."""
        found = leaves(tree)
        floats, words = ([np.asarray(found[i]).ravel()[0] for i in self._first[kind]] for kind in (_FLOAT, _WORD))
        return self._engine.floats(floats), self._engine.integers(words), tuple(found[i] for i in self._first[_WIDE])

    def tree(self, floats: Any, words: Any, wide: tuple[Any, ...] = ()) -> Any:
        """Inside a kernel: the tree again."""
        import drjit as dr

        made: dict[tuple[int, int], Any] = {}
        places = iter(self._places)

        def leaf(plain: Any) -> Any:
            place = kind, number = next(places)
            if kind == _PLAIN:
                return plain
            if kind == _WIDE:
                return wide[number]
            if place not in made:
                source = floats if kind == _FLOAT else words
                made[place] = dr.gather(type(source), source, self._engine.UInt32(number))
            return made[place]

        return map_leaves(leaf, self._template)

    def put(self, tree: Any) -> tuple[Any, Any]:
        """Inside a kernel: a tree of this shape as new arrays of floats and of words."""
        import drjit as dr

        found, made = leaves(tree), []
        for kind, scalar_type in ((_FLOAT, self._engine.Float), (_WORD, self._engine.UInt32)):
            target = dr.empty(scalar_type, len(self._first[kind]))
            for place, number in enumerate(self._first[kind]):
                # No place twice: without the mode every one of these would be a kernel of its own.
                value = scalar_type(found[number])
                dr.scatter(target, value, self._engine.UInt32(place), mode=dr.ReduceMode.NoConflicts)
            made.append(target)
        return made[0], made[1]


def _kind(engine: Engine, leaf: Any, width: int) -> int:
    if width != 1:
        return _WIDE
    return _WORD if isinstance(leaf, engine.UInt32) else _FLOAT
