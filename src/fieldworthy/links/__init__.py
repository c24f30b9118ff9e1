"""Autopilots of others in the loop: PX4 and ArduPilot, in lockstep and in real time."""
