"""How far a posture is from a singularity: by kind the factors of the Jacobian's determinant, zero where it is zero."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from fieldworthy.arms.catalogue import load_arm
from fieldworthy.arms.chain import as_matrix
from fieldworthy.arms.kinematics import jacobian
from fieldworthy.arms.singularity import reach_m, singularities, wrist_sine


def drawn(arm, count, seed):
    return np.random.default_rng(seed).uniform(
        np.maximum(arm.lower, -3.0), np.minimum(arm.upper, 3.0), (count, arm.dof)
    )


@pytest.mark.parametrize(
    "name", ["kr10-r1100", "kr6-r900", "irb120", "irb1200-5-90", "lrmate-200id", "ur3e", "ur5e", "ur10e"]
)
def test_the_determinant_is_the_product_of_the_three_kinds(name):
    """|det J| / (wrist elbow shoulder) is one number for all postures: the product of two lengths."""
    arm = load_arm(name)
    q = drawn(arm, 40, 1)
    found = singularities(arm, q)
    product = found.wrist * found.elbow * found.shoulder_m
    # The determinant does not depend on the point of the tool that the velocity is taken at.
    ratio = np.abs(np.linalg.det(jacobian(arm, q))) / product
    assert ratio == pytest.approx(ratio[0], rel=1e-6)
    assert 0.01 < ratio[0] < 1.0  # two links of decimetres


def test_kinds_by_postures():
    arm = load_arm("ur5e")
    straight_wrist = (0.3, -1.0, 1.2, 0.4, 0.0, 0.5)
    straight_elbow = (0.3, -1.0, 0.0, 0.4, 1.0, 0.5)
    found = singularities(arm, np.array([straight_wrist, straight_elbow]))
    assert found.wrist == pytest.approx([0.0, math.sin(1.0)], abs=1e-12)
    assert found.elbow == pytest.approx([math.sin(1.2), 0.0], abs=1e-12)
    assert found.nearest == ("wrist", "elbow")
    assert found.least_gain == pytest.approx([0.0, 0.0], abs=1e-12)
    assert wrist_sine(arm, np.array([straight_wrist, straight_elbow])) == pytest.approx(found.wrist, abs=1e-12)


def test_shoulder_is_the_distance_from_the_plane_of_axes_one_and_two():
    arm = load_arm("kr10-r1100")
    # Upper arm and forearm upright: joint A2 stands 25 mm before axis 1, the wrist 35 mm behind the forearm's line.
    found = singularities(arm, np.radians([(20.0, -90.0, 0.0, 30.0, 40.0, 0.0)]))
    assert found.shoulder_m[0] == pytest.approx(0.035 - 0.025, abs=1e-9)


def in_millimetres(arm):
    """The same arm with every length a thousand times as large."""
    flange, tool = np.array(arm.flange), np.array(arm.tool)
    flange[:3, 3] *= 1000.0
    tool[:3, 3] *= 1000.0
    joints = tuple(dataclasses.replace(j, point_m=tuple(1000.0 * x for x in j.point_m)) for j in arm.joints)
    return dataclasses.replace(arm, joints=joints, flange=as_matrix(flange), tool=as_matrix(tool), capsules=())


@pytest.mark.parametrize("name", ["fr3", "ur5e", "kr10-r1100", "iiwa7-r800"])
def test_gains_do_not_depend_on_the_unit_of_length(name):
    tool = np.eye(4)
    tool[:3, 3] = (0.02, -0.05, 0.15)
    arm = load_arm(name).with_tool(tool)
    large = in_millimetres(arm)
    assert reach_m(large) == pytest.approx(1000.0 * reach_m(arm), rel=1e-12)
    q = drawn(arm, 20, 2)
    found, scaled = singularities(arm, q), singularities(large, q)
    assert (found.least_gain > 0.0).all()
    assert scaled.least_gain == pytest.approx(found.least_gain, rel=1e-9)
    assert scaled.wrist == pytest.approx(found.wrist, abs=1e-12, nan_ok=True)
    assert scaled.elbow == pytest.approx(found.elbow, abs=1e-12, nan_ok=True)
    assert scaled.shoulder_m == pytest.approx(1000.0 * found.shoulder_m, abs=1e-9, nan_ok=True)


def test_an_arm_without_a_closed_form_has_no_kinds():
    arm = load_arm("fr3")
    found = singularities(arm, drawn(arm, 5, 2))
    assert np.isnan(found.wrist).all()
    assert found.nearest == ("",) * 5
    assert (found.least_gain > 0.0).all()
    assert reach_m(arm) > 0.8
