"""How a query is understood, planned and computed: graphs of operators and of what they speak about, for people."""

from penstock.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
