"""Why a query has no answer, and from which elements and triples its answers come."""

from penstock.why.provenance import Provenance, SourceElement
from penstock.why.reasons import Reason, Why

__all__ = ["Provenance", "Reason", "SourceElement", "Why"]
