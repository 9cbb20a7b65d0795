"""Parse tree → `tree.Query`: the transformers of all languages as one, and the rules in which languages meet."""

from __future__ import annotations

from dataclasses import replace

from lark import Token

from penstock.syntax import tree
from penstock.syntax.transform.cqels import CqelsTransformer
from penstock.syntax.transform.csparql import CsparqlTransformer, Registered
from penstock.syntax.transform.epsparql import EventTransformer
from penstock.syntax.transform.expressions import ExpressionTransformer
from penstock.syntax.transform.rspql import RspqlTransformer
from penstock.syntax.transform.sparql import Clause, SparqlTransformer, Where
from penstock.syntax.transform.streaming_sparql import StreamingTransformer
from penstock.syntax.transform.terms import TermTransformer
from penstock.syntax.transform.windows import WindowTransformer

__all__ = ["QueryTransformer"]


class QueryTransformer(
    TermTransformer,
    ExpressionTransformer,
    SparqlTransformer,
    WindowTransformer,
    CsparqlTransformer,
    StreamingTransformer,
    CqelsTransformer,
    RspqlTransformer,
    EventTransformer,
):
    def start(
        self,
        prologue: None,
        registered: Registered | None,
        early: tuple[Clause, ...],
        query: Where,
        values: tree.InlineData | None,
    ) -> tree.Query:
        form, late, where, modifiers = query
        clauses = (*early, *late)
        self.check_window_variables()
        return tree.Query(
            form,
            tuple(clause for clause in clauses if isinstance(clause, tree.DatasetClause)),
            where,
            modifiers,
            values,
            self.base,
            self.source.text,
            tuple(clause for clause in clauses if isinstance(clause, tree.StreamClause)),
            None if registered is None else self._registration(registered),
            tuple(clause for clause in clauses if isinstance(clause, tree.WindowClause)),
            frozenset(self.languages),
        )

    def _registration(self, registered: Registered) -> tree.Registration:
        kind, token, every = registered
        readers = {"NAME": self.bare_name, "IRIREF": self.iri_ref}
        iri = readers.get(token.type, self.prefixed_name)(token)
        name = str(token) if token.type == "NAME" else iri.value
        emit = kind.lower() if kind.type not in ("QUERY", "STREAM", "RULE") else None
        return tree.Registration(name, iri, kind.type != "QUERY", every, emit, kind.type == "RULE")

    # Rules of SPARQL that another language extends

    def group_graph_pattern(self, brace: Token, *parts: tree.Element | tree.Window) -> tree.Group:
        """The window of Streaming SPARQL, if there is one, stands last."""
        if parts and isinstance(parts[-1], tree.SlideWindow | tree.CountWindow):
            *elements, window = parts
            return replace(super().group_graph_pattern(brace, *elements), window=window)  # type: ignore[arg-type]
        return super().group_graph_pattern(brace, *parts)  # type: ignore[arg-type]

    def select_query(self, form: tree.Select, *rest: object) -> tuple[object, ...]:
        where = next(part for part in rest if isinstance(part, tree.Group))
        return super().select_query(self.with_new_names(form, where), *rest)

    def sub_select(
        self, select: tree.Select, where: tree.Group, modifiers: tree.Modifiers, values: tree.InlineData | None
    ) -> tree.SubSelect:
        return super().sub_select(self.with_new_names(select, where), where, modifiers, values)
