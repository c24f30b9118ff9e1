"""Trees of scalars keep their shape and their types."""

from dataclasses import dataclass
from typing import NamedTuple

import drjit as dr
import pytest
from drjit.llvm.ad import Float64, UInt32

from fieldworthy.core.struct import add_scaled, leaves, map_leaves, where
from fieldworthy.core.vec import Vec3


@dataclass
class Inner:
    a: object
    b: tuple


class Pair(NamedTuple):
    left: float
    right: float


TREE = {"p": Inner(1.0, (2.0, [3.0, None])), "q": Vec3(4.0, 5.0, 6.0), "r": Pair(7.0, 8.0), "s": 9.0, "t": ()}


def test_leaves_in_order():
    assert leaves(TREE) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    assert leaves(2.5) == [2.5]
    assert leaves(None) == []


def test_map_keeps_the_structure():
    want = {"p": Inner(2.0, (4.0, [6.0, None])), "q": Vec3(8.0, 10.0, 12.0), "r": Pair(14.0, 16.0), "s": 18.0, "t": ()}
    got = map_leaves(lambda x: 2.0 * x, TREE)
    assert got == want
    assert type(got["r"]) is Pair
    assert add_scaled(TREE, 1.0, TREE) == want
    assert add_scaled(1.0, 0.5, 4.0) == 3.0


def test_equal_keys_in_another_order_are_the_same_tree():
    assert add_scaled({"a": 1.0, "b": 2.0}, 1.0, {"b": 20.0, "a": 10.0}) == {"a": 11.0, "b": 22.0}


@pytest.mark.parametrize("other", [(1.0,), (1.0, 2.0, 3.0), {"0": 1.0}, 1.0])
def test_different_shapes_are_refused(other):
    with pytest.raises(TypeError, match="trees differ"):
        add_scaled((1.0, 2.0), 1.0, other)


def test_where_selects_lane_by_lane():
    mask = Float64([1.0, -1.0]) > 0.0
    picked = where(mask, (Vec3(Float64(1.0), 2.0, 3.0), 4.0), (Vec3(Float64(-1.0), -2.0, -3.0), -4.0))
    assert [list(x) for x in leaves(picked)] == [[1, -1], [2, -2], [3, -3], [4, -4]]
    assert where(True, (1.0, 2.0), (3.0, 4.0)) == (1.0, 2.0)
    assert where(False, (1.0, 2.0), (3.0, 4.0)) == (3.0, 4.0)


def test_trees_are_state_of_a_compiled_loop():
    state = {"v": Vec3(Float64([1.0, 2.0]), Float64(0.0), Float64(0.0)), "n": (Float64(1.0),)}
    _, final = dr.while_loop(
        (UInt32(0), state), lambda i, s: i < 3, lambda i, s: (i + 1, add_scaled(s, 1.0, s)), labels=("i", "s")
    )
    assert list(final["v"].x) == [8.0, 16.0]
    assert list(final["n"][0]) == [8.0, 8.0]
