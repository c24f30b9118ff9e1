"""One law, three engines: the boat on Python floats, in 64-bit lanes, and as a symbolic expression.

You learn: every law is written once on scalars. On floats you can walk through it with a debugger; in lanes the same
lines fly thousands of boats; with CasADi (`pip install 'fieldworthy[symbols]'`) they become an expression for C code
or an optimiser.
"""

from dataclasses import fields

import numpy as np

import fieldworthy as fw
from fieldworthy.core.engine import load_engine
from fieldworthy.core.integrate import rk4
from fieldworthy.core.struct import leaves, map_leaves
from fieldworthy.environment.sea import Sea
from fieldworthy.vehicles.boat import BoatCommand, BoatParameters, BoatState, boat_rates

values = fw.load("boat-buoy").vehicle.values
boat = BoatParameters(**{field.name: values[field.name] for field in fields(BoatParameters)})
sea = Sea(current_north_m_s=0.2, current_east_m_s=-0.1, wind_north_m_s=-4.0, wind_east_m_s=3.0)
command = BoatCommand(surge_m_s=4.0, yaw_rate_rad_s=0.2)
DT_S, STEPS = 0.02, 500


def flown(state, command, sea, boat):
    """The state after 10 s under one command."""
    for _ in range(STEPS):
        state = rk4(lambda s: boat_rates(s, command, sea, boat), state, DT_S)
    return state


at_rest = BoatState(*[0.0] * len(fields(BoatState)))
by_floats = flown(at_rest, command, sea, boat)
print(f"floats: north {by_floats.north_m:.6f} m, east {by_floats.east_m:.6f} m, surge {by_floats.surge_m_s:.6f} m/s")

# Three boats in lanes, with different commands. A loop in lanes is a `dr.while_loop`: one kernel flies all steps.
engine = load_engine("f64")  # before drjit is imported: the engine says where LLVM lies
import drjit as dr  # noqa: E402

state = map_leaves(lambda x: engine.floats(np.full(3, x)), at_rest)
commands = BoatCommand(engine.floats([3.0, 4.0, 5.0]), engine.floats([0.1, 0.2, 0.3]))
_, state = dr.while_loop(
    (engine.UInt32(0), state),
    lambda i, _: i < STEPS,
    lambda i, s: (i + 1, rk4(lambda x: boat_rates(x, commands, sea, boat), s, DT_S)),
)
in_lanes = np.array([np.asarray(x) for x in leaves(state)])  # (fields, lanes)
print(f"lanes:  north {in_lanes[0, 1]:.6f} m, east {in_lanes[1, 1]:.6f} m, surge {in_lanes[3, 1]:.6f} m/s")

# 64 bits hold 16 digits; a fused multiply-add here and there moves the last ones in 500 steps.
assert np.allclose(in_lanes[:, 1], leaves(by_floats), rtol=1e-10, atol=1e-10)
# 10 s at about 4 m/s, on a curve.
assert 20.0 < np.hypot(by_floats.north_m, by_floats.east_m) < 45.0

try:
    import casadi as ca
except ImportError:
    print("symbols: CasADi is not installed, skipped")
else:
    names = [field.name for field in fields(BoatState)]
    symbols = BoatState(*[ca.SX.sym(name) for name in names])
    step = rk4(lambda s: boat_rates(s, command, sea, boat), symbols, DT_S)
    function = ca.Function("boat_step", [ca.vertcat(*leaves(symbols))], [ca.vertcat(*leaves(step))])
    x = ca.DM(leaves(at_rest))
    for _ in range(STEPS):
        x = function(x)
    print(f"symbols: north {float(x[0]):.6f} m; a step is {function.n_instructions()} instructions")
    assert np.allclose(np.asarray(x).ravel(), leaves(by_floats), rtol=1e-10, atol=1e-10)
