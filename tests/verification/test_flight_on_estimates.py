"""The cascade flown on what the navigation filter believes, not on the truth: biased, late and noisy sensors."""

import math

import flight_rig as rig
import numpy as np
import pytest

from fieldworthy.control import complementary as nav
from fieldworthy.control.multirotor import MultirotorOptions, first_multirotor_state, multirotor_control
from fieldworthy.control.multirotor_gains import default_gains
from fieldworthy.core.integrate import rk4
from fieldworthy.core.rigid_body import normalised_step
from fieldworthy.core.vec import Vec3, rotate_inverse

DT = 0.004
FIELD = Vec3(0.45, 0.02, 0.9)


@pytest.mark.slow
def test_a_step_flown_on_estimates():
    """5 m north at 250 Hz; fixes at 5 Hz, 0.12 s late, 0.1 m and 0.05 m/s rms; gyroscopes off by 0.3 deg/s."""
    rng, options, filtering = np.random.default_rng(2), MultirotorOptions(), nav.FilterOptions()
    gains = default_gains(rig.MASS, rig.INERTIA, rig.ROTORS, DT, rig.GRAVITY)
    p = nav.FilterParameters(rig.GRAVITY, gnss_period_s=0.2, barometer_period_s=0.04, magnetometer_period_s=0.04)
    bias = Vec3(0.005, -0.005, 0.003)
    state, target, late = rig.start_state(), rig.setpoint(north_m=5.0), []
    believed = nav.first(state.body.pos_ned_m, state.body.vel_ned_m_s, state.body.quat_ned_from_frd)
    memory = first_multirotor_state(options, nav.estimate(believed))
    north, up, tilt_off = [], [], []
    for i in range(1, 4001):
        thrusts, memory, _ = multirotor_control(options, gains, target, nav.estimate(believed), memory, DT)
        commands = tuple(math.sqrt(t / rig.K_F) for t in thrusts)
        before = state.body

        def rates(s, commands=commands):
            return rig.rig_rates(s, commands, (Vec3(0.0, 0.0, 0.0),) * 2)

        state = normalised_step(rk4, rates, state, DT)
        now = state.body
        # What inertial sensors feel over the step: mean rate, and mean acceleration less gravity, seen from the body.
        force = (now.vel_ned_m_s - before.vel_ned_m_s) / DT - Vec3(0.0, 0.0, rig.GRAVITY)
        felt = rotate_inverse(before.quat_ned_from_frd, force)
        rate = (before.rate_frd_rad_s + now.rate_frd_rad_s) * 0.5 + bias
        believed = nav.predict(filtering, p, believed, rate, felt, DT)
        late.append((now.pos_ned_m, now.vel_ned_m_s))
        fresh = i % 50 == 0
        pos, vel = late[max(0, i - 31)]
        n = [float(v) for v in rng.normal(0.0, 1.0, 6)]
        pos, vel = pos + Vec3(*n[:3]) * 0.1, vel + Vec3(*n[3:]) * 0.05
        believed = nav.correct_gnss(filtering, p, believed, pos, vel, 0.12, fresh)
        believed = nav.correct_baro(p, believed, -now.pos_ned_m.z + 0.05 * n[0], i % 10 == 0)
        believed = nav.correct_mag(
            p, believed, rotate_inverse(now.quat_ned_from_frd, FIELD), math.atan2(0.02, 0.45), i % 10 == 0
        )
        north.append(now.pos_ned_m.x)
        up.append(-now.pos_ned_m.z)
        down = Vec3(0.0, 0.0, 1.0)
        off = rotate_inverse(now.quat_ned_from_frd, down) - rotate_inverse(believed.quat_ned_from_frd, down)
        tilt_off.append(math.degrees(math.sqrt(off.x**2 + off.y**2 + off.z**2)))
    # A gyroscope bias tilts the belief by b (1 + 1)/w until learnt, about 0.005 * 2 / 0.5 rad = 1.1 deg.
    assert max(tilt_off) < 1.6
    assert max(tilt_off[-1000:]) < 0.4
    assert max(north) < 5.3
    assert np.abs(np.array(north[-1000:]) - 5.0).max() < 0.2
    assert np.abs(np.array(up) - 10.0).max() < 0.2
