"""What decays to rest ends in the same bits in a batch of any size, on any number of threads."""

from __future__ import annotations

import drjit as dr
import numpy as np
import pytest

from fieldworthy.core.engine import load_engine
from fieldworthy.core.subnormal import flushed, kept

SMALL = 1e-38  # normal in 32 bits; a tenth of it is not


def tenth(count: int) -> bytes:
    engine = load_engine("f32")
    found = engine.floats(np.full(count, SMALL)) * engine.scalar(0.1)
    dr.eval(found)
    return found.numpy()[:1].tobytes()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_subnormal_number_does_not_tell_the_size_of_its_batch(threads: int) -> None:
    before = dr.thread_count()
    dr.set_thread_count(threads)
    try:
        with flushed():
            found = {tenth(count) for count in (1, 4, 64, 5000, 100_000)}
    finally:
        dr.set_thread_count(before)
    assert len(found) == 1


def test_the_calling_thread_is_left_as_it_was() -> None:
    least = np.float32(SMALL)
    before = least * np.float32(0.1)
    with pytest.raises(KeyError), flushed():
        raise KeyError
    assert least * np.float32(0.1) == before != 0.0


def test_what_is_kept_within_is_flushed_again_after() -> None:
    least = np.float32(SMALL)
    with flushed():
        with kept():
            inside = least * np.float32(0.1)
            assert inside != 0.0
        after = least * np.float32(0.1)
        flushes = after == 0.0
    machine = load_engine("f32").floats(np.full(100_000, SMALL)) * np.float32(0.1)
    assert flushes == (np.asarray(machine)[-1] == 0.0)
