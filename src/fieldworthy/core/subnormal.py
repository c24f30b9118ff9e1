"""Subnormal numbers (below 1e-38 in 32 bits) count as 0 in every thread, or a batch's size would show in its numbers.

Dr.Jit 1.5's worker threads flush them to zero where they run on x86 under Linux or macOS, but work too small to be
shared out runs in the calling thread, which does not. On other machines no thread flushes.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

FLUSH_RESULTS, READ_AS_ZERO = 0x8000, 0x0040
"""Bits of MXCSR (Intel SDM vol. 1, §10.2.3): flush to zero, denormals are zero."""

MXCSR_AT = {"linux": 28, "darwin": 4}
"""Byte at which C's fenv_t holds MXCSR: after the x87 environment (glibc, musl), after its two words (macOS)."""


@contextmanager
def flushed() -> Iterator[None]:
    """The calling thread reckons as the workers do, and as it did before when this ends."""
    with _reckoning(flush=True):
        yield


@contextmanager
def kept() -> Iterator[None]:
    """The calling thread keeps subnormal numbers, and does as before when this ends.

    For floats that are something else, such as MAVLink's parameters of PX4, which hold the bits of an integer.
    """
    with _reckoning(flush=False):
        yield


@contextmanager
def _reckoning(*, flush: bool) -> Iterator[None]:
    at = MXCSR_AT.get(sys.platform)
    if at is None or platform.machine().lower() not in ("x86_64", "amd64"):
        yield
        return
    for kind in (np.float32, np.float64):
        np.finfo(kind)  # kept by NumPy, which would warn if it first looked at the machine in here
    libm = ctypes.CDLL(None)  # the process itself, which has C's mathematics
    before = ctypes.create_string_buffer(64)
    libm.fegetenv(before)
    during = ctypes.create_string_buffer(before.raw, 64)
    mxcsr = ctypes.c_uint32.from_buffer(during, at)
    bits = FLUSH_RESULTS | READ_AS_ZERO
    mxcsr.value = mxcsr.value | bits if flush else mxcsr.value & ~bits
    libm.fesetenv(during)
    try:
        yield
    finally:
        libm.fesetenv(before)
