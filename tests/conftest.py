"""Dr.Jit looks for LLVM when it is imported: settle where it lies before any test module imports it."""

from __future__ import annotations

from hypothesis import settings

from fieldworthy.core.engine import load_engine

load_engine()

# The same examples every time: a failure must come back when it is looked for.
settings.register_profile("fieldworthy", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("fieldworthy")
