"""Lifting: messages in JSON, CSV or XML become RDF by a mapping."""

from penstock.lift.lift_result import Failure, Lifted
from penstock.lift.lifting import Lifting, MessageFormat

__all__ = ["Failure", "Lifted", "Lifting", "MessageFormat"]
