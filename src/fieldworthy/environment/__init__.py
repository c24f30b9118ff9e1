"""What surrounds the vehicle: water, wind, waves, and the shapes that can be hit and seen."""
