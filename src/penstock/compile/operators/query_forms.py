"""Query forms as SQL: SELECT, ASK, CONSTRUCT and DESCRIBE. https://www.w3.org/TR/sparql11-query/#QueryForms"""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions import term_columns
from penstock.compile.operators.operators import compile_op, identified
from penstock.compile.relation import Relation, select

TRIPLE = ("s", "p", "o")
IS_TRIPLE = f"NOT {term_columns.is_literal('s')} AND {term_columns.is_iri('p')} AND o IS NOT NULL"


def select_rows(query: ops.Query, context: Context) -> str:
    """The solutions, a column for each projected variable, in order."""
    relation = compile_op(query.pattern, context)
    items = (sql.name(v.name) if v.name in relation.vars else sql.alias(sql.NULL, v.name) for v in query.variables)
    return select(items, relation.sql, relation.reorder())


def any_row(query: ops.Query, context: Context) -> str:
    return f"SELECT 1 FROM ({compile_op(query.pattern, context).sql}) LIMIT 1"


def template(form: ops.Construct, query: ops.Query, context: Context) -> str:
    """The triples of the template, each once; what is no RDF (a literal as subject, an unbound part) is left out."""
    relation = compile_op(query.pattern, context)
    if makes_nodes(form, relation):
        relation = identified(relation, context)
    if not form.template:
        return f"SELECT {', '.join(sql.alias(sql.NULL, c) for c in TRIPLE)} WHERE false"
    made = f"SELECT {filled(form, relation)} FROM ({relation.sql})"
    return f"SELECT DISTINCT s, p, o FROM ({made}) WHERE {IS_TRIPLE}"


def makes_nodes(form: ops.Construct, relation: Relation) -> bool:
    """Whether the template has blank nodes, which are new ones for each solution."""
    return any(_is_new(term, relation) for triple in form.template for term in _parts(triple))


def filled(form: ops.Construct, relation: Relation) -> str:
    """The generator of a solution's triples, as columns s, p, o."""
    return f"inline(array({', '.join(_struct(triple, relation) for triple in form.template)}))"


def _parts(triple: ops.TriplePattern) -> tuple[PatternTerm, ...]:
    return triple.subject, triple.predicate, triple.object


def _is_new(term: PatternTerm, relation: Relation) -> bool:
    return isinstance(term, Var) and term.internal and term.name not in relation.vars


def _struct(triple: ops.TriplePattern, relation: Relation) -> str:
    pairs = zip(TRIPLE, _parts(triple), strict=True)
    return f"named_struct({', '.join(f'{sql.text(n)}, {read(term, relation)}' for n, term in pairs)})"


def read(term: PatternTerm, relation: Relation) -> str:
    """The column or constant that a term of the template stands for in a solution."""
    if not isinstance(term, Var):
        return term_columns.constant(term)
    if _is_new(term, relation):
        return f"concat('_:', md5(concat({sql.name(str(relation.row))}, {sql.text(term.name)})))"
    return sql.name(term.name) if term.name in relation.vars else sql.NULL


def description(form: ops.Describe, query: ops.Query, context: Context) -> str:
    """The triples of each resource as subject, and of every blank node that they lead to."""
    source, _ = context.source()
    found = f"SELECT s, p, o FROM {source} WHERE s IN ({_resources(form, query, context)})"
    done: list[str] = []
    while True:
        name, new = context.plan.keep(f"SELECT DISTINCT * FROM ({found})")
        done.append(name)
        known = " UNION ALL ".join(f"SELECT * FROM {name}" for name in done)
        if not new:
            return f"SELECT DISTINCT s, p, o FROM ({known})"
        blank = f"SELECT o FROM {done[-1]} WHERE {term_columns.is_blank('o')} AND o NOT IN (SELECT s FROM ({known}))"
        found = f"SELECT s, p, o FROM {source} WHERE s IN ({blank})"


def _resources(form: ops.Describe, query: ops.Query, context: Context) -> str:
    relation = compile_op(query.pattern, context)
    vars = [term for term in form.terms if isinstance(term, Var)]
    parts = [f"SELECT {read(var, relation)} AS r FROM ({relation.sql})" for var in vars]
    parts += [f"SELECT {term_columns.constant(term)} AS r" for term in form.terms if not isinstance(term, Var)]
    return f"SELECT r FROM ({' UNION '.join(parts)}) WHERE r IS NOT NULL" if parts else "SELECT NULL"
