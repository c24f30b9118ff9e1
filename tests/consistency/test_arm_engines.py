"""One law of arms on every engine: Python floats, Dr.Jit lanes, CasADi symbols, and written out as Python and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from engines import as_floats, as_lanes, as_symbols
from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.closed_form import branches
from fieldworthy.arms.kinematics import fk, forward_and_jacobian
from fieldworthy.arms.shape import recognised
from fieldworthy.core.engine import load_engine
from fieldworthy.core.straight import written
from fieldworthy.core.vec import Mat3, Vec3

ARMS = ("kr10-r1100", "ur5e", "iiwa7-r800")


def drawn(arm, count):
    return np.random.default_rng(3).uniform(np.maximum(arm.lower, -2.5), np.minimum(arm.upper, 2.5), (count, arm.dof))


def agree(law, inputs, tolerance):
    expected = as_floats(law, inputs)
    scalar = load_engine("f64").Float
    straight = np.array([written(lambda *v: law(v), len(inputs))(*column) for column in inputs.T.tolist()]).T
    arrays = [np.broadcast_to(x, inputs.shape[1]) for x in written(lambda *v: law(v), len(inputs), "numpy")(*inputs)]
    for found in (as_lanes(law, inputs, scalar), as_symbols(law, inputs), straight, np.array(arrays)):
        assert np.abs(found - expected).max() < tolerance


@pytest.mark.parametrize("name", ARMS)
def test_forward_kinematics_and_jacobian(name):
    arm = load_arm(name)
    agree(lambda q: forward_and_jacobian(arm, list(q)), drawn(arm, 40).T.copy(), 1e-12)


@pytest.mark.parametrize("name", ARMS)
def test_closed_forms(name):
    arm = load_arm(name)
    shape = recognised(arm)
    q = drawn(arm, 20)
    poses = fk(arm, q).reshape(-1, 16).T[:12]
    held = q[:, shape.held][None] if shape.held is not None else np.empty((0, 20))
    inputs = np.concatenate([poses, np.zeros((6, 20)), held])

    def law(v):
        rotation = Mat3(v[0], v[1], v[2], v[4], v[5], v[6], v[8], v[9], v[10])
        found = branches(arm, shape, rotation, Vec3(v[3], v[7], v[11]), tuple(v[12:18]), *v[18:])
        # Sines and cosines of the angles: at half a turn two engines may come out on different sides.
        from fieldworthy.core.lanes import cos, sin

        return [(sin(x), cos(x)) for branch in found[:2] for x in branch.angles]

    agree(law, inputs, 1e-7)  # near an edge of reach half of the digits are rounding
