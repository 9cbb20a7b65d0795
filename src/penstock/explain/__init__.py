"""Explanations of queries for people: graphs of operators and of terms, plans, and measured figures."""

from penstock.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
