"""Mappings in a subset of RML."""

from penstock.lift.rml.application import lift_sources
from penstock.lift.rml.mapping import read_mapping

__all__ = ["lift_sources", "read_mapping"]
