"""Scalars, small vectors, integrators, random numbers and frames: what every other part stands on.

Nothing here imports Dr.Jit, CasADi or NumPy on its own; an engine is loaded when one of its scalars arrives.
"""
