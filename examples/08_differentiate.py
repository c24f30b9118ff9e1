"""The gradient of a whole flight: how far would the boat miss, and which number moves the miss by how much?

You learn: with Dr.Jit's AD types the same law carries derivatives. A boat steers for a mark in a cross current; the
miss is its distance from the line after 20 s. Reverse mode gives the derivatives with respect to start heading,
course gain and current in one pass; finite differences confirm them.
"""

from dataclasses import fields

import numpy as np

import fieldworthy as fw
from fieldworthy.core.engine import load_engine
from fieldworthy.core.integrate import rk4
from fieldworthy.core.lanes import atan2, clip
from fieldworthy.core.struct import map_leaves
from fieldworthy.core.units import wrap_pi
from fieldworthy.environment.sea import Sea
from fieldworthy.vehicles.boat import BoatCommand, BoatParameters, BoatState, boat_rates

engine = load_engine("f64")  # before anything else imports drjit: the engine says where LLVM lies

import drjit as dr  # noqa: E402

values = fw.load("boat-buoy").vehicle.values
boat = BoatParameters(**{field.name: values[field.name] for field in fields(BoatParameters)})
DT_S, STEPS, MARK_NORTH_M = 0.4, 50, 200.0


def final_east_m(heading_rad, gain_1_s, current_east_m_s, mode):
    """East of the line after 20 s at 4 m/s, steering for a mark straight north."""
    zero = heading_rad * 0.0
    state = map_leaves(lambda x: zero + x, BoatState(*[0.0] * len(fields(BoatState))))
    state.heading_rad = zero + heading_rad
    sea = Sea(0.0, current_east_m_s, 0.0, 0.0)

    def step(i, state):
        bearing = atan2(-state.east_m, MARK_NORTH_M - state.north_m)
        turn = clip(gain_1_s * wrap_pi(bearing - state.heading_rad), -0.3, 0.3)
        command = BoatCommand(surge_m_s=4.0, yaw_rate_rad_s=turn)
        return i + 1, rk4(lambda s: boat_rates(s, command, sea, boat), state, DT_S)

    _, state = dr.while_loop((engine.UInt32(0), state), lambda i, _: i < STEPS, step, mode=mode)
    return state.east_m


inputs = {"heading_rad": 0.1, "gain_1_s": 0.8, "current_east_m_s": 0.4}
lanes = {name: engine.floats([value]) for name, value in inputs.items()}
dr.enable_grad(*lanes.values())
# An evaluated loop runs step by step and keeps what the way back needs.
east_m = final_east_m(**lanes, mode="evaluated")
dr.backward(east_m)
gradient = {name: float(np.asarray(dr.grad(lane))[0]) for name, lane in lanes.items()}

print(f"{float(np.asarray(dr.detach(east_m))[0]):.3f} m east of the line after {DT_S * STEPS:.0f} s")

# Both sides of each central difference are lanes of one flight, in which one input is moved up or down.
STEP = 1e-5
moved = np.kron(np.eye(len(inputs)), [STEP, -STEP])  # (inputs, lanes)
sides = {name: engine.floats(value + moved[row]) for row, (name, value) in enumerate(inputs.items())}
up_and_down = np.asarray(final_east_m(**sides, mode="symbolic")).reshape(-1, 2)
difference = (up_and_down[:, 0] - up_and_down[:, 1]) / (2.0 * STEP)

for name, by_difference in zip(inputs, difference, strict=True):
    print(f"  d east / d {name:17s} {gradient[name]:12.7f}   finite difference {by_difference:12.7f}")
    # Central differences with 1e-5: truncation about 1e-10, rounding about 1e-10.
    assert abs(gradient[name] - by_difference) < 1e-6 * max(1.0, abs(by_difference))
assert gradient["current_east_m_s"] > 0.0  # the current sets to the east
