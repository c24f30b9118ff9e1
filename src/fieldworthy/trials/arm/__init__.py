"""An arm's task: played with each solver, planned as a whole, measured, kept, reported."""
