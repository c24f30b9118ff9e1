"""One law on every engine: a law takes a list of scalars, one a row of the inputs, and answers a tree of scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import drjit as dr
import numpy as np
from numpy.typing import NDArray

from fieldworthy.core.struct import leaves

Law = Callable[[Any], Any]


def as_floats(law: Law, inputs: NDArray[Any]) -> NDArray[Any]:
    """Outputs [leaf, lane] in Python's floats, a column of the inputs at a time."""
    return np.array([leaves(law([float(v) for v in column])) for column in inputs.T], dtype=float).T


def as_lanes(law: Law, inputs: NDArray[Any], scalar: Any) -> NDArray[Any]:
    """Outputs [leaf, lane] in arrays of Dr.Jit, all columns at once. scalar: its type."""
    outputs = [scalar(value) for value in leaves(law([scalar(row) for row in inputs]))]
    dr.eval(outputs)
    return np.array([np.broadcast_to(output.numpy(), inputs.shape[1]) for output in outputs])


def as_symbols(law: Law, inputs: NDArray[Any]) -> NDArray[Any]:
    """Outputs [leaf, lane] of a CasADi function."""
    x = ca.SX.sym("x", len(inputs))
    function = ca.Function("law", [x], [ca.vertcat(*leaves(law([x[i] for i in range(len(inputs))])))])
    return np.array(function(inputs))
