"""Query text → syntax tree: grammar, parser, checks, and errors with a hint."""

from penstock.syntax.parser import parse

__all__ = ["parse"]
