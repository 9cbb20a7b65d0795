"""Commands that look for the reason of an outcome: `penstock why`."""

from penstock.cli.diagnosis import why

__all__ = ["why"]
