"""One vehicle's tree of numbers as two arrays: what a compiled function is called with when there is one lane only.

Dr.Jit takes about half a microsecond for every array that goes in and comes out of a frozen function; a vehicle with
its devices is some 250 of them. In a parcel all floats lie side by side in one array, all words in another, and the
kernel takes them apart and puts them together again: the call costs a tenth.

Measured: 200 numbers in and out of a frozen function, 112 us as 200 arrays and 9 us as a parcel (one core).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.engine import Engine
from fieldworthy.core.struct import leaves, map_leaves

_FLOAT, _WORD, _WIDE, _PLAIN = range(4)


class Parcel:
    """Where each leaf of a tree lies: in the floats, in the words, in an array of its own, or compiled in.

    Arrays of one number go into the parcel, an array that stands at several places once; longer arrays (tables) stay
    arrays; plain numbers are compiled in.
    """

    def __init__(self, engine: Engine, tree: Any, *, separate: bool = False) -> None:
        """separate: as if no two leaves were the same array, and every plain number were a float of its own: for
        states, whose leaves part ways."""
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
            key = (type(leaf), number if separate or index is None else int(index))
            if key not in known:
                known[key] = (kind, len(self._first[kind]))
                self._first[kind].append(number)
            self._places.append(known[key])
        self._template = map_leaves(lambda leaf: leaf if getattr(leaf, "index", None) is None else 0.0, tree)

    @property
    def floats(self) -> int:
        """How many floats there are."""
        return len(self._first[_FLOAT])

    @property
    def words(self) -> int:
        """How many words there are."""
        return len(self._first[_WORD])

    def numbers(self, tree: Any) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """The floats and the words of a tree of this shape, on the host."""
        found = leaves(tree)
        floats = [float(np.asarray(found[i]).ravel()[0]) for i in self._first[_FLOAT]]
        words = [int(np.asarray(found[i]).ravel()[0]) for i in self._first[_WORD]]
        return np.array(floats, np.float64), np.array(words, np.uint32)

    def wide(self, tree: Any) -> tuple[Any, ...]:
        """The arrays of a tree that do not go into the parcel."""
        found = leaves(tree)
        return tuple(found[i] for i in self._first[_WIDE])

    def tree(self, floats: Any, words: Any, wide: tuple[Any, ...] = (), first: tuple[int, int] = (0, 0)) -> Any:
        """Inside a kernel: the tree again, from arrays that it lies in from place `first` (of floats, of words) on."""
        import drjit as dr

        word = self._engine.UInt32
        made: dict[tuple[int, int], Any] = {}

        def taken(place: tuple[int, int]) -> Any:
            kind, number = place
            if kind == _WIDE:
                return wide[number]
            source = floats if kind == _FLOAT else words
            return dr.gather(type(source), source, word(first[kind] + number))

        places = iter(self._places)

        def leaf(plain: Any) -> Any:
            place = next(places)
            if place[0] == _PLAIN:
                return plain
            if place not in made:
                made[place] = taken(place)
            return made[place]

        return map_leaves(leaf, self._template)

    def put(self, tree: Any, floats: Any, words: Any, first: tuple[int, int] = (0, 0)) -> None:
        """Inside a kernel: write a tree of this shape into arrays, in place."""
        import drjit as dr

        found, word = leaves(tree), self._engine.UInt32
        for kind, target in ((_FLOAT, floats), (_WORD, words)):
            for place, number in enumerate(self._first[kind]):
                # One number each, no place twice: without the mode every one of them would be a kernel of its own.
                value = type(target)(found[number])
                dr.scatter(target, value, word(first[kind] + place), mode=dr.ReduceMode.NoConflicts)


def _kind(engine: Engine, leaf: Any, width: int) -> int:
    if width != 1:
        return _WIDE
    return _WORD if isinstance(leaf, engine.UInt32) else _FLOAT
