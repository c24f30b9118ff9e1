"""Total energy control on a point mass whose thrust and path answer at once: energies balance as they must."""

from dataclasses import replace
from math import sin

import pytest

from fieldworthy.control.tecs import TecsParameters, first_tecs, tecs_control

G, MASS, THRUST, DRAG, CRUISE = 9.81, 10.0, 50.0, 12.0, 20.0
P = TecsParameters(
    height_time_s=4.0, speed_time_s=4.0, climb_max_m_s=4.0, sink_max_m_s=2.0,
    power_max_m2_s3=(THRUST - DRAG) * CRUISE / MASS, power_min_m2_s3=-DRAG * CRUISE / MASS, throttle_trim=DRAG / THRUST,
    throttle_gain=0.5, throttle_integral_1_s=0.2, pitch_gain=0.5, pitch_integral_1_s=0.3, pitch_min_rad=-0.35,
    pitch_max_rad=0.35, airspeed_min_m_s=14.0, airspeed_max_m_s=28.0, turn_power_m2_s3=3.0, rate_filter_s=0.5,
)  # fmt: skip
TRIM = 0.04


def ask(height_error=0.0, wanted=CRUISE, climb=0.0, airspeed=CRUISE, state=None, p=P, bank_cos=1.0, dt=0.02):
    return tecs_control(
        p, height_error, 0.0, wanted, climb, airspeed, TRIM, bank_cos, G, state or first_tecs(airspeed), dt
    )


def fly(duration_s, height=100.0, speed=CRUISE, target=100.0, wanted=CRUISE, thrust=THRUST, drag=DRAG, dt=0.02):
    """V' = (T - D)/m - g sin(gamma), h' = V sin(gamma), gamma' = (pitch - trim - gamma)/0.3 s."""
    gamma, state, rows = 0.0, first_tecs(speed), []
    for k in range(round(duration_s / dt)):
        answer, state = ask(target - height, wanted, speed * sin(gamma), speed, state, dt=dt)
        rows.append((k * dt, height, speed, gamma, answer.throttle, answer.pitch_rad))
        gamma += dt * (answer.pitch_rad - TRIM - gamma) / 0.3
        speed += dt * ((answer.throttle * thrust - drag) / MASS - G * sin(gamma))
        height += dt * speed * sin(gamma)
    return rows


def test_in_equilibrium_it_answers_the_trim():
    answer, state = ask()
    assert answer.throttle == pytest.approx(DRAG / THRUST)
    assert answer.pitch_rad == TRIM
    assert (state.throttle_integral, state.pitch_integral_rad) == (0.0, 0.0)


def test_too_fast_and_too_low_by_the_same_energy_is_for_the_pitch_alone():
    """g dh + V dV = 0: with equal time constants no energy is wanted, so the throttle stays at its trim."""
    excess = 1.0
    fast = CRUISE + excess
    answer, _ = ask(height_error=fast * excess / G, airspeed=fast)
    assert answer.throttle == pytest.approx(DRAG / THRUST, abs=1e-12)
    assert answer.pitch_rad > TRIM + 0.02


def test_climb_needs_the_power_that_height_takes():
    rows = fly(20.0, target=500.0)
    _, _, speed, gamma, throttle, _ = rows[-1]
    assert speed * sin(gamma) == pytest.approx(4.0, rel=0.01)
    assert throttle * THRUST == pytest.approx(DRAG + MASS * G * 4.0 / speed, rel=0.01)
    assert speed == pytest.approx(CRUISE, abs=0.1)
    assert max(abs(row[2] - CRUISE) for row in rows) < 0.7


def test_height_and_speed_are_reached_together():
    rows = fly(60.0, target=120.0, wanted=23.0)
    assert rows[-1][1] == pytest.approx(120.0, abs=0.1)
    assert rows[-1][2] == pytest.approx(23.0, abs=0.05)
    assert max(row[1] for row in rows) < 121.0
    assert max(row[2] for row in rows) < 23.4


def test_wrong_drag_leaves_no_error():
    rows = fly(60.0, drag=1.5 * DRAG)
    assert rows[-1][1] == pytest.approx(100.0, abs=0.1)
    assert rows[-1][2] == pytest.approx(CRUISE, abs=0.05)
    assert rows[-1][4] * THRUST == pytest.approx(1.5 * DRAG, rel=0.01)


def test_weak_engine_climbs_as_it_can_and_does_not_stall():
    """Of 16 N of thrust, 4 N are left over for climbing: it climbs with them, and the speed stays above its minimum."""
    rows = fly(120.0, target=1000.0, thrust=16.0)
    late = rows[-500:]
    assert min(row[2] for row in rows) > 13.0
    climbs = [row[2] * sin(row[3]) for row in late]
    assert sum(climbs) / len(climbs) == pytest.approx(4.0 * late[-1][2] / (MASS * G), rel=0.15)
    assert late[-1][4] == pytest.approx(1.0, abs=0.02)


def test_too_slow_opens_the_throttle_and_lowers_the_nose_whatever_the_height():
    for height_error in (0.0, 200.0, -200.0):
        answer, _ = ask(height_error=height_error, airspeed=0.8 * P.airspeed_min_m_s)
        assert answer.throttle == 1.0
        assert answer.pitch_rad < TRIM - 0.05


def test_bank_adds_the_induced_power_of_its_load_factor():
    """At 60 degrees the lift is twice the weight and the induced drag four times: three times more to pay for."""
    answer, _ = ask(bank_cos=0.5)
    assert (answer.throttle - DRAG / THRUST) * THRUST * CRUISE / MASS == pytest.approx(3.0 * P.turn_power_m2_s3)


def test_integrals_do_not_wind_up_at_the_limits():
    p = replace(P, climb_max_m_s=100.0)
    state = first_tecs(CRUISE)
    for _ in range(3000):
        answer, state = ask(height_error=1000.0, state=state, p=p)
    assert answer.pitch_rad == P.pitch_max_rad
    assert state.pitch_integral_rad < P.pitch_max_rad
    answer, state = ask(height_error=-1000.0, state=state, p=p)
    assert answer.pitch_rad < 0.0


@pytest.mark.parametrize("dt", [0.001, 0.01, 0.05])
def test_result_does_not_depend_on_the_tick(dt):
    rows = fly(10.0, target=110.0, dt=dt)
    reference = fly(10.0, target=110.0, dt=0.0005)
    assert rows[-1][1] == pytest.approx(reference[-1][1], abs=0.1 + 3.0 * dt)
    assert rows[-1][2] == pytest.approx(reference[-1][2], abs=0.1)
