"""What all tables of a scenario share."""

from __future__ import annotations

import msgspec

HIDDEN = {"hidden": True}
"""Marks a field that no file may set."""


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings that all tables of a scenario share: immutable, keyword-only, no unknown keys."""
