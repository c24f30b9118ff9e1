"""Numbers of the host that a kernel reads again and again, without a new array for each call."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldworthy.core.engine import Engine, aligned


class HostFloats:
    """A few floats of the host for a kernel that is called again and again, without a new array each time.

    On LLVM kernels read NumPy's own memory, which is filled anew before a call: the call before must be over (whoever
    reads its results has waited for it). Where that memory is not shared, as on CUDA, each call gets a new array.
    """

    def __init__(self, engine: Engine, count: int) -> None:
        self._engine = engine
        self._host = aligned(np.zeros(count), engine.dtype)
        self._array = engine.Float(self._host)
        self.shared = engine.device != "cuda" and self._seen()
        """Whether the array has the host's memory. A version of Dr.Jit that copies it would see nothing but zeros."""

    def holding(self, values: Any) -> Any:
        """The array, with these values in it."""
        if not self.shared:
            return self._engine.floats(values)
        self._host[:] = values
        return self._array

    def _seen(self) -> bool:
        """Whether what is written now is in the array, which was made before."""
        self._host[:] = written = np.arange(1.0, len(self._host) + 1.0)
        seen = bool(np.array_equal(np.array(self._array), written))
        self._host[:] = 0.0
        return seen
