"""Numbers of the standard world that many laws share, each written once."""

from __future__ import annotations

STANDARD_GRAVITY_M_S2 = 9.80665
"""Weight over mass by definition: 3rd General Conference on Weights and Measures, 1901."""
SEA_LEVEL_DENSITY_KG_M3 = 1.225
"""Of the standard atmosphere (ISO 2533:1975); coefficients of rotors and indicated airspeeds are given for it."""
SEA_LEVEL_PRESSURE_PA = 101325.0
SEA_LEVEL_TEMPERATURE_K = 288.15
NEVER_S = 1.0e9
"""A time beyond every run: of what does not happen."""
