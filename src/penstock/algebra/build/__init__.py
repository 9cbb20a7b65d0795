"""Syntax tree → algebra: https://www.w3.org/TR/sparql11-query/#sparqlAlgebra, and the streaming languages beside it."""

from penstock.algebra.build.query import build, translate, window_of

__all__ = ["build", "translate", "window_of"]
