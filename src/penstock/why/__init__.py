"""Why a query has no answer, and what made the answers that it has."""

from penstock.why.reasons import Reason, Why

__all__ = ["Reason", "Why"]
