"""Rotor allocation: least squares of NumPy while nothing saturates, the order of precedence when it does."""

import numpy as np
import pytest
from flight_rig import ARM, ROTORS, UP, RigRotor
from hypothesis import given
from hypothesis import strategies as st

from fieldworthy.control.allocation import allocate, rotor_shares, rotor_speed_for
from fieldworthy.core.errors import ScenarioError
from fieldworthy.core.vec import Vec3


def ring(count, arm=0.4):
    angles = (np.arange(count) + 0.5) * 2.0 * np.pi / count
    return tuple(
        RigRotor(Vec3(arm * float(np.cos(a)), arm * float(np.sin(a)), 0.0), UP, 1.0 if i % 2 else -1.0)
        for i, a in enumerate(angles)
    )


LAYOUTS = {"quad": ROTORS, "hexa": ring(6), "octo": ring(8, 0.6)}


def effect(rotors):
    """Thrust, roll, pitch, yaw of unit thrusts, in NumPy from r x F and the reaction to the drag."""
    rows = []
    for r in rotors:
        axis, arm = np.array([*r.axis_frd]), np.array([*r.pos_frd_m])
        rows.append([-axis[2], *(np.cross(arm, axis) - r.spin * r.torque_ratio_m * axis)])
    return np.array(rows).T


def span(rotors):
    return np.array(
        [[r.thrust_coefficient_n_s2 * w * w for w in (r.speed_min_rad_s, r.speed_max_rad_s)] for r in rotors]
    )


def given_back(name, thrust, moment):
    got = allocate(rotor_shares(LAYOUTS[name]), thrust, Vec3(*moment))
    return got, effect(LAYOUTS[name]) @ np.array(got.rotor_thrust_n)


@pytest.mark.parametrize("name", LAYOUTS)
def test_is_the_least_squares_solution_while_nothing_saturates(name):
    rng = np.random.default_rng(3)
    for _ in range(20):
        demand = np.array([19.6, *rng.uniform(-1.0, 1.0, 3) * [0.4, 0.4, 0.05]])
        got = allocate(rotor_shares(LAYOUTS[name]), float(demand[0]), Vec3(*map(float, demand[1:])))
        least_norm = np.linalg.lstsq(effect(LAYOUTS[name]), demand, rcond=None)[0]
        assert np.array(got.rotor_thrust_n) == pytest.approx(least_norm, abs=1e-12)
        low, high = span(LAYOUTS[name]).T
        assert got.saturation_margin == pytest.approx(
            (np.minimum(least_norm - low, high - least_norm) / (high - low)).min()
        )


def test_signs_by_hand():
    """More on the left rolls right, more in front pitches up, more on those that turn anticlockwise yaws right."""
    front_right, back_left, front_left, back_right = allocate(
        rotor_shares(ROTORS), 20.0, Vec3(0.5, 0.0, 0.0)
    ).rotor_thrust_n
    assert front_left > front_right
    assert (back_left, back_right) == pytest.approx((front_left, front_right))
    assert 2.0 * ARM * (front_left - front_right) == pytest.approx(0.5)
    pitched = allocate(rotor_shares(ROTORS), 20.0, Vec3(0.0, 0.5, 0.0)).rotor_thrust_n
    assert pitched[0] > pitched[1]
    assert pitched[2] > pitched[3]
    yawed = allocate(rotor_shares(ROTORS), 20.0, Vec3(0.0, 0.0, 0.1)).rotor_thrust_n
    # Positive spin about an axis that points up is anticlockwise from above; the body is pushed the other way.
    assert yawed[0] == pytest.approx(yawed[1])
    assert yawed[0] > yawed[2]


demands = st.tuples(
    st.sampled_from(list(LAYOUTS)),
    st.floats(-20.0, 120.0),
    st.tuples(st.floats(-15.0, 15.0), st.floats(-15.0, 15.0), st.floats(-3.0, 3.0)),
)


@given(demands)
def test_order_of_precedence(demand):
    name, thrust, moment = demand
    got, made = given_back(name, thrust, moment)
    f, (low, high) = np.array(got.rotor_thrust_n), span(LAYOUTS[name]).T
    assert (f >= low).all()
    assert (f <= high).all()
    # What it says is what the rotors make.
    assert made == pytest.approx([got.thrust_n, *got.moment_frd_n_m], abs=1e-9)
    # Roll and pitch shrink by one factor, yaw by its own; neither turns round.
    k = made[1:3] @ np.array(moment[:2]) / max(1e-12, float(np.square(moment[:2]).sum()))
    assert made[1:3] == pytest.approx(np.array(moment[:2]) * k, abs=1e-9)
    assert -1e-9 <= k <= 1.0 + 1e-9
    assert -1e-9 <= made[3] * np.sign(moment[2]) <= abs(moment[2]) + 1e-9

    # Against brute force over what a linear programme would search: roll and pitch as large as any thrust lets them be.
    shares = np.linalg.pinv(effect(LAYOUTS[name]))
    tilt, c = shares[:, 1:3] @ np.array(moment[:2]), shares[:, 0]

    def fits(k):
        return ((low - k * tilt) / c).max() <= ((high - k * tilt) / c).min() + 1e-9

    if k < 1.0 - 1e-6 and np.abs(moment[:2]).max() > 1e-6:
        assert fits(k)
        assert not fits(k * 1.01 + 1e-6)
    # The thrust is the nearest that leaves roll and pitch alone; yaw has no say in it.
    floor, ceiling = ((low - k * tilt) / c).max(), ((high - k * tilt) / c).min()
    assert got.thrust_n == pytest.approx(min(max(thrust, floor), ceiling), abs=1e-6)
    # Yaw is cut only where a rotor then stands at its limit.
    if abs(made[3]) < abs(moment[2]) - 1e-6:
        assert min((f - low).min(), (high - f).min()) < 1e-6


def test_margin_is_negative_when_more_is_asked_than_there_is():
    shares = rotor_shares(ROTORS)
    assert allocate(shares, 20.0, Vec3(0.0, 0.0, 0.0)).saturation_margin > 0.3
    assert allocate(shares, 60.0, Vec3(0.0, 0.0, 0.0)).saturation_margin < 0.0
    assert allocate(shares, 20.0, Vec3(0.0, 9.0, 0.0)).saturation_margin < 0.0


def test_centre_of_mass_off_centre_needs_no_moment():
    """Rotors placed about a shifted centre of mass: equal moments for unequal thrusts."""
    shifted = tuple(RigRotor(Vec3(r.pos_frd_m.x + 0.03, r.pos_frd_m.y, 0.0), UP, r.spin) for r in ROTORS)
    f = allocate(rotor_shares(shifted), 20.0, Vec3(0.0, 0.0, 0.0)).rotor_thrust_n
    assert f[0] < f[1]
    assert sum(x * r.pos_frd_m.x for x, r in zip(f, shifted, strict=True)) == pytest.approx(0.0, abs=1e-12)


def test_lanes_of_layouts_are_each_their_own():
    arms = np.array([0.1, 0.174, 0.3])
    rotors = tuple(
        RigRotor(Vec3(r.pos_frd_m.x / ARM * arms, r.pos_frd_m.y / ARM * arms, 0.0), UP, r.spin) for r in ROTORS
    )
    shares = rotor_shares(rotors)
    assert shares[0].per_pitch_1_m == pytest.approx(1.0 / (4.0 * arms))


def test_a_pusher_is_refused_by_its_number():
    with pytest.raises(ScenarioError, match=r"rotors 5: .*leave pushers out"):
        rotor_shares((*ROTORS, RigRotor(Vec3(-0.4, 0.0, 0.0), Vec3(1.0, 0.0, 0.0), 1.0)))


def test_speed_gives_back_the_thrust():
    assert rotor_speed_for(4.9, 1e-5) == pytest.approx(700.0)
    assert rotor_speed_for(-1.0, 1e-5) < 1e-3
