"""Sensors: what a vehicle can know of the world."""
