"""Why a query has no answer, and what made the answers that it has."""

from penstock.why.provenance import Provenance, SourceElement
from penstock.why.reasons import Reason, Why

__all__ = ["Provenance", "Reason", "SourceElement", "Why"]
