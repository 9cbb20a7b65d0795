"""From the text of a query to its tree: grammar, parser, check pass, and errors that say what to do."""

from penstock.syntax.parser import parse

__all__ = ["parse"]
