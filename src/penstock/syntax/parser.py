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
from penstock.tuning import DEFAULT, Tuning

__all__ = ["GRAMMAR", "grammar", "parse", "read", "too_long"]

_OPENING, _CLOSING = "([{", ")]}"

GRAMMAR = ("terminals", "sparql", "csparql", "streaming_sparql", "cqels", "rspql", "epsparql")
"""The language is the sum of these files of `grammar/`, in this order: later ones extend earlier ones."""


def parse(text: str, base: str | None = None, tuning: Tuning = DEFAULT) -> tree.Query:
    """The query's tree, with names resolved and syntax checked.

    Raises `QueryError`, whose message points at the place. Warns of likely mistakes.
    """
    query = read(text, base, tuning)
    for warning in warnings_of(query):
        warnings.warn(warning, stacklevel=2)
    return query


def read(text: str, base: str | None = None, tuning: Tuning = DEFAULT) -> tree.Query:
    """The query's tree, without warnings; see `parse`."""
    source = Source(text)
    try:
        _check_depth(source, tuning.query_depth)
        query: tree.Query = QueryTransformer(source, base).transform(parser().parse(source.decoded))
        check(query)
    except UnexpectedToken as error:
        raise diagnose_token(source, error, parser()) from None
    except LexicalError as error:
        raise diagnose_character(source, error.position) from None
    except RecursionError:
        raise too_long(text) from None
    return query


def _check_depth(source: Source, deepest: int) -> None:
    """Refuse brackets that are nested more deeply than that, at the first that is."""
    if sum(map(source.decoded.count, _OPENING)) <= deepest:
        return
    depth = 0
    for token in _lexer().tokens(source.decoded):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth > deepest:
            hint = "write the query flatter, or in parts: a stream may be derived"
            raise source.error(f"brackets are nested more than {deepest} deep here", token.start_pos or 0, hint=hint)


def too_long(text: str, operators: str = "too many", most: int | None = None) -> QueryError:
    """The error for a query with too many operators in one another for the stack."""
    limit = f"with {sum(map(text.count, _OPENING)):,} brackets in all" if most is None else f"and {most:,} are the most"
    hint = "write it in parts: a stream may be derived, and VALUES has any number of constants"
    return QueryError(f"the query has {operators} operators in one another, {limit}", hint=hint)


@lru_cache(maxsize=1)
def _lexer() -> SparqlLexer:
    return SparqlLexer(parser().lexer_conf)


@lru_cache(maxsize=1)
def parser() -> Lark:
    """The LALR tables, built once a process (under a second): a cache on disk would have to be trusted."""
    return Lark(grammar(), parser="lalr", lexer=SparqlLexer, maybe_placeholders=True)


def grammar() -> str:
    """The whole grammar as one text, so that rules keep their plain names across files."""
    folder = files("penstock.syntax") / "grammar"
    return "\n".join((folder / f"{name}.lark").read_text("utf-8") for name in GRAMMAR)
