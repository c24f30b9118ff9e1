"""Scenario files: `load` gives a `Scenario` of strict structs, `to_toml` writes it back."""

from fieldworthy.scenario.check import check_parameters
from fieldworthy.scenario.load import built_in_names, load, map_layout, set_value, to_toml
from fieldworthy.scenario.schema import Scenario

__all__ = ["Scenario", "built_in_names", "check_parameters", "load", "map_layout", "set_value", "to_toml"]
