"""Where vehicle, surroundings, sensors and controller meet: World, State, Frame, and the walk of one step.

`step` lets the world's own controller steer. Whoever steers from outside (a link, a learner, a person) calls
`advance(world, state, decision_of(world, state, Command(…)))` with what it makes of `readings_of(world, state)`.
"""

from fieldworthy.world.course import OUTCOMES
from fieldworthy.world.decide import decide, decision_of, readings_of
from fieldworthy.world.state import Frame, State, World
from fieldworthy.world.walk import advance, compact, start, step

__all__ = [
    "OUTCOMES",
    "Frame",
    "State",
    "World",
    "advance",
    "compact",
    "decide",
    "decision_of",
    "readings_of",
    "start",
    "step",
]
