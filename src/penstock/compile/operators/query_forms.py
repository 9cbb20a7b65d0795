"""Query forms as SQL: SELECT, ASK, CONSTRUCT and DESCRIBE. https://www.w3.org/TR/sparql11-query/#QueryForms"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions import term_columns
from penstock.compile.operators.operators import compile_op, identified
from penstock.compile.relation import Relation, select
from penstock.compile.sql import Derived, Expr, InQuery, Join, Query, Select, Table

TRIPLE = ("s", "p", "o")
_S, _P, _O = SPO = [sql.name(c) for c in TRIPLE]
IS_TRIPLE = sql.all_of([~term_columns.is_literal(_S), term_columns.is_iri(_P), _O.not_null()])


def select_rows(query: ops.Query, context: Context) -> Query:
    """Return the solutions in order, a column for each projected variable."""
    relation = compile_op(query.pattern, context)
    items = (sql.name(v.name) if v.name in relation.vars else sql.alias(sql.NULL, v.name) for v in query.variables)
    return select(items, relation.sql, order=relation.reorder())


def any_row(query: ops.Query, context: Context) -> Query:
    return Select((), compile_op(query.pattern, context).sql, limit=1)


def template(form: ops.Construct, query: ops.Query, context: Context) -> Query:
    """Return the triples of the template, each once; invalid RDF (a literal as subject, an unbound term) is dropped."""
    relation = compile_op(query.pattern, context)
    if makes_nodes(form, relation):
        relation = identified(relation, context)
    if not form.template:
        return Select([sql.alias(sql.NULL, c) for c in TRIPLE], None, sql.FALSE)
    return Select(SPO, Select([filled(form, relation)], relation.sql), IS_TRIPLE, distinct=True)


def makes_nodes(form: ops.Construct, relation: Relation) -> bool:
    """Whether the template has blank nodes, which are new for each solution."""
    return any(_is_new(term, relation) for triple in form.template for term in _parts(triple))


def filled(form: ops.Construct, relation: Relation) -> Expr:
    """Return the generator of a solution's triples, as columns s, p, o."""
    return sql.call("inline", sql.array(*(_struct(triple, relation) for triple in form.template)))


def _parts(triple: ops.TriplePattern) -> tuple[PatternTerm, ...]:
    return triple.subject, triple.predicate, triple.object


def _is_new(term: PatternTerm, relation: Relation) -> bool:
    return isinstance(term, Var) and term.internal and term.name not in relation.vars


def _struct(triple: ops.TriplePattern, relation: Relation) -> Expr:
    return sql.Struct(TRIPLE, tuple(read(term, relation) for term in _parts(triple)))


def read(term: PatternTerm, relation: Relation) -> Expr:
    """Return the column or constant of a term of the template."""
    if not isinstance(term, Var):
        return term_columns.constant(term)
    if _is_new(term, relation):
        label = sql.call("md5", sql.call("concat", sql.name(str(relation.row)), sql.text(term.name)))
        return sql.call("concat", sql.text("_:"), label)
    return sql.name(term.name) if term.name in relation.vars else sql.NULL


def description(form: ops.Describe, query: ops.Query, context: Context) -> Query:
    """Return the triples of each resource as subject, and of every blank node that they lead to."""
    source, _ = context.source()

    def about(resources: Query) -> Query:
        return Select(SPO, source, InQuery(_S, resources))

    return described(_resources(form, query, context), about, (), context)


def described(resources: Query, about: Callable[[Query], Query], keys: Sequence[str], context: Context) -> Query:
    """Return the triples about resources, and about every blank node that they lead to.

    `resources` has a column s, and a column for each of the `keys`.
    """
    own, done = [sql.name(key) for key in keys], list[str]()
    description = about(resources)
    while True:
        name, new = context.plan.materialised_view(Select([sql.STAR], description, distinct=True))
        done.append(name)
        known = sql.union_all(map(sql.view, done))
        if not new:
            return Select([*SPO, *own], known, distinct=True)
        blank = Select([sql.alias(_O, "s"), *own], Table(name), term_columns.is_blank(_O))
        same = sql.all_of(sql.column("b", c).eq(sql.column("k", c)) for c in ("s", *keys))
        description = about(
            Select([sql.Star("b")], Join(Derived(blank, "b"), Derived(known, "k"), same, "LEFT ANTI JOIN"))
        )


def _resources(form: ops.Describe, query: ops.Query, context: Context) -> Query:
    relation = compile_op(query.pattern, context)
    vars = [term for term in form.terms if isinstance(term, Var)]
    parts = [Select([sql.alias(read(var, relation), "s")], relation.sql) for var in vars]
    parts += [Select([sql.alias(term_columns.constant(term), "s")]) for term in form.terms if not isinstance(term, Var)]
    return Select([_S], sql.Union(parts, all=False), _S.not_null()) if parts else Select([sql.alias(sql.NULL, "s")])
