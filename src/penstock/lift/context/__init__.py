"""Mappings by a JSON-LD context with templates for @id."""

from penstock.lift.context.application import lift_sources
from penstock.lift.context.mapping import read_mapping

__all__ = ["lift_sources", "read_mapping"]
