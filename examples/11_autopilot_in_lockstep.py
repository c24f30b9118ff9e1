"""Fly a quadrotor with an autopilot in lockstep: a stand-in that speaks PX4's simulator API lifts it off.

You learn: what `fieldworthy link px4 quad-x500` does for a real PX4 (docs/autopilots.md). A vehicle is made ready, a
host waits for the autopilot, and a flight takes turns with it: each step is moved, sensed, told and answered.
"""

from fieldworthy.links.fake_px4 import FakePx4, armed_from
from fieldworthy.links.host import Host, flight, ready
from fieldworthy.links.lockstep import Log
from fieldworthy.links.vehicle import for_autopilot
from fieldworthy.scenario import load

scenario = for_autopilot(load("quad-x500"), "px4")  # bare actuators, 64 bits, 250 exchanges a second
vehicle = ready(scenario, "px4", trial=0, endless=True)
host = Host("px4", port=0)  # any free port; PX4 itself looks for 4560
log = Log(every=250)  # ticks of 1 ms between samples

with FakePx4("127.0.0.1", host.port, controls=armed_from(1.0, throttle=0.7)) as autopilot:
    assert host.wait(10.0), "the stand-in has not come"
    flown = flight(host, vehicle, scenario, log, stopped=lambda: vehicle.t_s >= 3.0)
host.close()

for frame in log.frames:
    print(f"{frame.t_s:5.2f} s  throttle {frame.values['throttle_0'][0]:.2f}  up {frame.values['up_m'][0]:5.2f} m")
print(f"{vehicle.t_s:g} simulated seconds in {flown.wall_s:.2f} s; complaints: {autopilot.complaints or 'none'}")
assert vehicle.value("up_m") > 2.0
