"""Why a query has an answer: finds what made its solutions, by evaluating their instant again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Triple

from penstock.algebra import ops
from penstock.algebra.expressions import Call, PatternTerm, Var
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.pattern_scope import PatternScope
from penstock.algebra.scope import visible
from penstock.answer import Row, Term
from penstock.errors import OptionError, PenstockError
from penstock.stream.base.time_values import to_datetime
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.reevaluation import Reevaluation
from penstock.stream.runtime.runtime import Runtime
from penstock.why.provenance import Provenance, SourceElement
from penstock.why.widened_pattern import PlacedPattern, Widened, widened
from penstock.why.wording import at, counted

__all__ = ["why_answer", "why_answers"]

_MOST = 10_000  # solutions of the widened pattern that are looked at


def why_answer(runtime: Runtime, task: RegisteredQuery, row: Row | Triple, instant: int | None) -> Provenance:
    """The elements and background triples that made a solution, or a triple of a CONSTRUCT, at an instant."""
    _check(task)
    when = _instant(runtime, task, row) if instant is None else instant
    with runtime.reevaluation(task) as again:
        wide = widened(task.query.pattern)
        variants = [_restricted(task.query, wide.op, bindings) for bindings in _bindings(task.query, row)]
        found = [solution for variant in variants for solution in again.solutions(variant, when, _MOST)]
        if not found and not _is_solution(again, row, when):
            raise PenstockError(_no_solution(again, task, when))
        return _provenance(again, row, when, wide, found)


def why_answers(runtime: Runtime, task: RegisteredQuery, instant: int) -> list[Provenance]:
    """What made each of the solutions at an instant; an error if there is none."""
    _check(task)
    with runtime.reevaluation(task) as again:
        rows, wide = _solutions(again, instant), widened(task.query.pattern)
        if not rows:
            raise PenstockError(_no_solution(again, task, instant))
        names = sorted({name for row in rows for name in row})
        made: dict[tuple[Term | None, ...], list[Row]] = {}
        for solution in again.solutions(_select(task.query, wide.op), instant, _MOST):
            made.setdefault(tuple(map(solution.get, names)), []).append(solution)
        parts = [made.get(tuple(map(row.get, names)), []) for row in rows]
        return [_provenance(again, row, instant, wide, own) for row, own in zip(rows, parts, strict=True)]


def _check(task: RegisteredQuery) -> None:
    if task.query.emit == "events" or task.rules or not task.inputs:
        raise PenstockError(f"The query {task.name} has no windows: what made its answers can only be told of windows.")


def _instant(runtime: Runtime, task: RegisteredQuery, row: Row | Triple) -> int:
    """The newest instant with the solution among the answers that are kept in memory."""
    latest = runtime.instant_of(task, row)
    if latest is None:
        raise OptionError("at: say at which instant the solution was true, as in query.why(row, at=answer.time)")
    return latest


def _bindings(query: ops.Query, row: Row | Triple) -> Iterator[Row]:
    """The row; of a triple, the bindings with which a triple of the template becomes it."""
    if isinstance(row, Mapping):
        unknown = sorted(row.keys() - {var.name for var in query.variables})
        if unknown:
            raise OptionError(f"the query has no variable ?{unknown[0]} in its answers")
        yield row
        return
    for pattern in query.form.template if isinstance(query.form, ops.Construct) else ():
        if (bound := _unified(pattern, row)) is not None:
            yield bound


def _unified(pattern: TriplePattern, triple: Triple) -> Row | None:
    bound: dict[str, Term] = {}
    for asked, term in zip(pattern.terms, (triple.subject, triple.predicate, triple.object), strict=True):
        if isinstance(asked, Var):
            if bound.setdefault(asked.name, term) != term:  # type: ignore[arg-type]
                return None
        elif asked != term:
            return None
    return {name: term for name, term in bound.items() if not name.startswith(".")}


def _restricted(query: ops.Query, op: Op, row: Row) -> ops.Query:
    """The widened pattern with the solution alone: its values, and unbound what is unbound in it."""
    for var in query.variables:
        if var.name not in row and var in visible(op):
            op = ops.Filter(Call("!", (Call("BOUND", (var,)),)), op)
    vars = tuple(map(Var, row))
    op = ops.Join(ops.Table(vars, (tuple(row.values()),)), op) if vars else op
    return _select(query, op)


def _select(query: ops.Query, op: Op) -> ops.Query:
    return replace(query, form=ops.Select(), pattern=op, variables=tuple(sorted(visible(op))))


def _solutions(again: Reevaluation, instant: int) -> list[Row]:
    """The different solutions of the query at an instant, without variables that no text can name."""
    query = again.query
    shown = query.variables or tuple(sorted(var for var in visible(query.pattern) if not var.internal))
    rows = again.solutions(replace(query, form=ops.Select(), variables=shown), instant, _MOST)
    different = {tuple(str(row.get(var.name)) for var in shown): row for row in rows}
    return [row for _, row in sorted(different.items())]


def _is_solution(again: Reevaluation, row: Row | Triple, instant: int) -> bool:
    """Whether the row is a solution; it may be one that no triple has made, such as a count of nothing."""
    return isinstance(row, Mapping) and dict(row) in map(dict, _solutions(again, instant))


def _no_solution(again: Reevaluation, task: RegisteredQuery, instant: int) -> str:
    dropped = sum(map(again.dropped, task.inputs))
    gone = f"; {counted(dropped, 'element')} have been dropped from the log since" if dropped else ""
    return f"The query {task.name} has no such solution at {at(instant)}{gone}."


# From solutions to triples


@dataclass(frozen=True, slots=True)
class _Match:
    """A triple that a solution needs, and where it may be from."""

    triple: Triple
    scope: PatternScope


def _provenance(
    again: Reevaluation, row: Row | Triple, instant: int, wide: Widened, solutions: Iterable[Row]
) -> Provenance:
    matches = dict.fromkeys(
        match for solution in solutions for pattern in wide.patterns for match in _instances(pattern, solution)
    )
    elements = dict.fromkeys(_elements(again, matches, instant))
    background = dict.fromkeys(_background(again, matches))
    ordered = sorted(elements, key=lambda element: (element.time, element.stream, str(element.triple)))
    return Provenance(again.task.name, to_datetime(instant), row, tuple(ordered), tuple(sorted(background, key=str)))


def _instances(pattern: PlacedPattern, solution: Row) -> Iterator[_Match]:
    """The triple that a solution makes of a pattern; none if it leaves a variable of it unbound."""
    terms = [_bound(term, solution) for term in pattern.triple.terms]
    scope = pattern.scope
    names = _bound(scope.graph, solution), _bound(scope.window, solution)
    is_open = (scope.graph is not None and names[0] is None) or (scope.window is not None and names[1] is None)
    if None in terms or is_open or isinstance(terms[0], Literal) or not isinstance(terms[1], NamedNode):
        return
    placed = replace(scope, graph=names[0], window=names[1])  # type: ignore[arg-type]
    yield _Match(Triple(*terms), placed)  # type: ignore[arg-type]


def _bound(term: PatternTerm | None, solution: Row) -> Term | None:
    return solution.get(term.name) if isinstance(term, Var) else term


def _elements(again: Reevaluation, matches: Iterable[_Match], instant: int) -> Iterator[SourceElement]:
    """The elements of the windows that are such triples, or entail one."""
    for window in again.query.streams:
        wanted = {match.triple for match in matches if match.scope.reads(window)}
        for element in again.elements(window, instant, wanted) if wanted else ():
            if not wanted.isdisjoint(again.entailed(element.triple)):
                start = to_datetime(element.start)
                yield SourceElement(element.triple, to_datetime(element.time), window.iri.value, start)


def _background(again: Reevaluation, matches: Iterable[_Match]) -> Iterator[Triple]:
    """The triples of the background that are such triples."""
    by_graph: dict[NamedNode | None, dict[Triple, None]] = {}
    for match in matches:
        if match.scope.background:
            by_graph.setdefault(match.scope.graph, {})[match.triple] = None  # type: ignore[arg-type]
    for graph, triples in by_graph.items():
        yield from again.background_triples(tuple(triples), graph)
