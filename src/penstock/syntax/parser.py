"""Text → `tree.Query`: decode escapes, parse, resolve names, check."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib.resources import files

from lark import Lark
from lark.exceptions import UnexpectedToken

from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.checks.grammar_notes import check
from penstock.syntax.checks.warnings import warnings_of
from penstock.syntax.diagnose import diagnose_character, diagnose_token
from penstock.syntax.lexer import LexicalError, SparqlLexer
from penstock.syntax.source import Source
from penstock.syntax.transform.query import QueryTransformer

__all__ = ["GRAMMAR", "grammar", "parse"]

GRAMMAR = ("terminals", "sparql", "csparql", "streaming_sparql", "cqels", "rspql", "epsparql")
"""The language is the sum of these files of `grammar/`, in this order: later ones extend earlier ones."""


def parse(text: str, base: str | None = None) -> tree.Query:
    """The query's tree, with names resolved and syntax checked.

    Raises `QueryError`, whose message points at the place. Warns of likely mistakes.
    """
    source = Source(text)
    try:
        query: tree.Query = QueryTransformer(source, base).transform(parser().parse(source.decoded))
        check(query)
    except UnexpectedToken as error:
        raise diagnose_token(source, error, parser()) from None
    except LexicalError as error:
        raise diagnose_character(source, error.position) from None
    except RecursionError:
        raise QueryError("the query is nested too deeply") from None
    for warning in warnings_of(query):
        warnings.warn(warning, stacklevel=2)
    return query


@lru_cache(maxsize=1)
def parser() -> Lark:
    """The LALR tables, built once a process (under a second): a cache on disk would have to be trusted."""
    return Lark(grammar(), parser="lalr", lexer=SparqlLexer, maybe_placeholders=True)


def grammar() -> str:
    """The whole grammar as one text, so that rules keep their plain names across files."""
    folder = files("penstock.syntax") / "grammar"
    return "\n".join((folder / f"{name}.lark").read_text("utf-8") for name in GRAMMAR)
