"""Vehicles: what commands and surroundings do to a body."""
