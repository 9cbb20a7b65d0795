"""Syntax tree → algebra: https://www.w3.org/TR/sparql11-query/#sparqlAlgebra, and the streaming languages beside it."""

from penstock.algebra.build.query import build, translate, window_of
from penstock.algebra.build.text_templates import TextTemplates, Translation

__all__ = ["TextTemplates", "Translation", "build", "translate", "window_of"]
