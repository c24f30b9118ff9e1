"""Ports that cannot be had, in a sentence."""

from __future__ import annotations

import errno

LOOPBACK = "127.0.0.1"
"""This machine, and nobody else."""


def taken(error: OSError) -> str:
    """Why a port could not be had, and what would be valid."""
    if error.errno == errno.EADDRINUSE:
        return "taken by another program; valid: a free port (another --instance or --port), or end that program"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address; valid: 127.0.0.1 (this machine only), 0.0.0.0 (whoever reaches it)"
    return f"{error.strerror or error}; valid: a free port (--instance, --port) of this machine (--host)"
