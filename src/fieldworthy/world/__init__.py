"""Where vehicle, surroundings, sensors and controller meet: World, State, Frame and `advance`."""

from fieldworthy.world.advance import advance, compact, start
from fieldworthy.world.state import OUTCOMES, Frame, State, World

__all__ = ["OUTCOMES", "Frame", "State", "World", "advance", "compact", "start"]
