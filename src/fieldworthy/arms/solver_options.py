"""What the numbers that solvers are made with must be; each error is one sentence.

Verified by: tests/verification/test_arm_dls.py, tests/verification/test_arm_ccd.py
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from fieldworthy.core.errors import FieldworthyError


def check_options(solver: Any, *, counts: tuple[str, ...], positive: tuple[str, ...], unset: tuple[str, ...]) -> None:
    """Raise FieldworthyError for the first option of a solver that is no number of its kind.

    counts: whole numbers from 1. positive: finite numbers above 0, for those in `unset` None too; max_deg_s may be
    infinite, which is no limit.
    """
    for name in counts:
        value = getattr(solver, name)
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise FieldworthyError(f"{solver.name}: {name} {value!r}; valid: a whole number from 1")
    for name in positive:
        value = getattr(solver, name)
        if value is None and name in unset:
            continue
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not (number and value > 0.0 and (math.isfinite(value) or name == "max_deg_s")):
            raise FieldworthyError(
                f"{solver.name}: {name} {value!r}; valid: a number above 0{' or None' * (name in unset)}"
            )


def check_blend(solver: Any) -> None:
    """Raise FieldworthyError where the share of the wrist's turn is no share."""
    value = solver.orientation_blend
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise FieldworthyError(f"{solver.name}: orientation_blend {value!r}; valid: 0 to 1")
