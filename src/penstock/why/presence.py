"""Why a query has an answer: finds the elements and triples of a solution by evaluating its instant again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import Literal, NamedNode, Triple

from penstock.algebra import ops
from penstock.algebra.expressions import Call, PatternTerm, Var, terms_of
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.pattern_scope import PatternScope
from penstock.algebra.scope import visible
from penstock.answer import Row, Term
from penstock.errors import OptionError, PenstockError
from penstock.stream.base.time_values import moment, to_datetime
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.reevaluation import Reevaluation, Solution
from penstock.stream.runtime.runtime import Runtime
from penstock.tuning import Tuning
from penstock.why.provenance import Provenance, SourceElement
from penstock.why.widened_pattern import PlacedPattern, Widened, widened
from penstock.why.wording import at, counted

__all__ = ["why_answer", "why_answers"]

UNLIMITED = 1 << 62


def why_answer(runtime: Runtime, task: RegisteredQuery, row: Row | Triple, instant: int | None) -> Provenance:
    """The elements and background triples that made a solution, or a triple of a CONSTRUCT, at an instant."""
    _check(task)
    when = _instant(runtime, task, row) if instant is None else instant
    with runtime.reevaluation(task) as again:
        wide = widened(again.query.pattern)
        solutions = _made_of(again, wide, row, when)
        if not solutions and not _is_solution(again, row, when):
            raise PenstockError(_no_solution(again, task, when))
        return _with_derivations(runtime, _provenance(again, row, when, wide, solutions), again.tuning)


def why_answers(runtime: Runtime, task: RegisteredQuery, instant: int) -> list[Provenance]:
    """Return the provenance of each solution at an instant; an error if there is none."""
    _check(task)
    with runtime.reevaluation(task) as again:
        rows, wide = _solutions(again, instant), widened(again.query.pattern)
        if not rows:
            raise PenstockError(_no_solution(again, task, instant))
        names = sorted({name for row in rows for name in row})
        made: dict[tuple[Term | None, ...], list[Solution]] = {}
        for solution in again.solutions(_select(again.query, wide.op), instant, again.tuning.why_solutions):
            made.setdefault(tuple(map(solution.row.get, names)), []).append(solution)
        parts = [made.get(tuple(map(row.get, names)), []) for row in rows]
        direct = (_provenance(again, row, instant, wide, own) for row, own in zip(rows, parts, strict=True))
        return [_with_derivations(runtime, each, again.tuning) for each in direct]


def _check(task: RegisteredQuery) -> None:
    if not task.inputs:
        raise PenstockError(f"The query {task.name} reads no stream: only answers over streams have a provenance.")


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
    for asked, term in zip(pattern.terms, terms_of(triple), strict=True):
        if isinstance(asked, Var):
            if bound.setdefault(asked.name, term) != term:
                return None
        elif asked != term:
            return None
    return {name: term for name, term in bound.items() if not name.startswith(".")}


def _restricted(query: ops.Query, op: Op, row: Row) -> ops.Query:
    """The widened pattern with the solution alone: its values, and its unbound variables unbound."""
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
    solutions = again.solutions(replace(query, form=ops.Select(), variables=shown), instant, again.tuning.why_solutions)
    different = {tuple(str(row.get(var.name)) for var in shown): row for row, _ in solutions}
    return [row for _, row in sorted(different.items())]


def _is_solution(again: Reevaluation, row: Row | Triple, instant: int) -> bool:
    """Whether the row is a solution; it may be one that no triple has made, such as a count of nothing."""
    return isinstance(row, Mapping) and dict(row) in map(dict, _solutions(again, instant))


def _no_solution(again: Reevaluation, task: RegisteredQuery, instant: int) -> str:
    dropped = sum(map(again.dropped, task.inputs))
    gone = f"; {counted(dropped, 'element')} have been dropped from the log since" if dropped else ""
    return f"The query {task.name} has no such solution at {at(instant)}{gone}."


def _made_of(again: Reevaluation, wide: Widened, row: Row | Triple, when: int) -> list[Solution]:
    """The solutions of the widened pattern that belong to a solution, or to a triple of a CONSTRUCT."""
    variants = [_restricted(again.query, wide.op, bindings) for bindings in _bindings(again.query, row)]
    return [solution for variant in variants for solution in again.solutions(variant, when, again.tuning.why_solutions)]


# What rules have derived


def _with_derivations(runtime: Runtime, direct: Provenance, tuning: Tuning) -> Provenance:
    """The provenance, with what made the elements that rules have derived, and so on to the elements that came."""
    elements, background = dict.fromkeys(direct.elements), dict.fromkeys(direct.background)
    waiting = list(direct.elements)
    for _ in range(tuning.why_derived):
        if not waiting:
            break
        made = _derivation(runtime, waiting.pop())
        waiting += [element for element in made.elements if element not in elements] if made else []
        elements |= dict.fromkeys(made.elements if made else ())
        background |= dict.fromkeys(made.background if made else ())
    return replace(direct, elements=_by_time(elements), background=tuple(sorted(background, key=str)))


def _derivation(runtime: Runtime, element: SourceElement) -> Provenance | None:
    """The provenance of an element that a rule has derived; None if it came from elsewhere."""
    rule = runtime.catalogue.derived.get(element.stream)
    if rule is None or not rule.is_rule:
        return None
    end, start = moment(element.time), moment(element.start or element.time)
    with runtime.reevaluation(rule) as again:
        wide = widened(again.query.pattern)
        solutions = [each for each in _made_of(again, wide, element.triple, end) if each.start in (None, start)]
        return _provenance(again, element.triple, end, wide, solutions)


def _by_time(elements: Iterable[SourceElement]) -> tuple[SourceElement, ...]:
    return tuple(sorted(elements, key=lambda element: (element.time, element.stream, str(element.triple))))


# From solutions to triples


@dataclass(frozen=True, slots=True)
class _Match:
    """A triple that a solution needs, and where it may be from; of events, not before the start of the first."""

    triple: Triple
    scope: PatternScope
    since: int | None


def _provenance(
    again: Reevaluation, row: Row | Triple, instant: int, wide: Widened, solutions: Iterable[Solution]
) -> Provenance:
    matches = dict.fromkeys(
        match for solution in solutions for pattern in wide.patterns for match in _instances(pattern, solution)
    )
    elements = dict.fromkeys(_elements(again, matches, instant))
    background = dict.fromkeys(_background(again, matches))
    sources = _by_time(elements), tuple(sorted(background, key=str))
    return Provenance(again.task.name, to_datetime(instant), row, *sources)


def _instances(pattern: PlacedPattern, solution: Solution) -> Iterator[_Match]:
    """The triple that a solution makes of a pattern; none if it leaves a variable of it unbound."""
    terms = [_bound(term, solution.row) for term in pattern.triple.terms]
    scope = pattern.scope
    names = _bound(scope.graph, solution.row), _bound(scope.window, solution.row)
    is_open = (scope.graph is not None and names[0] is None) or (scope.window is not None and names[1] is None)
    if None in terms or is_open or isinstance(terms[0], Literal) or not isinstance(terms[1], NamedNode):
        return
    placed = replace(scope, graph=names[0], window=names[1])  # type: ignore[arg-type]
    yield _Match(Triple(*terms), placed, solution.start)  # type: ignore[arg-type]


def _bound(term: PatternTerm | None, solution: Row) -> Term | None:
    return solution.get(term.name) if isinstance(term, Var) else term


def _elements(again: Reevaluation, matches: Iterable[_Match], instant: int) -> Iterator[SourceElement]:
    """The elements of the windows that are such triples, or entail one."""
    for window in again.query.streams:
        wanted: dict[Triple, list[int]] = {}
        for match in matches:
            if match.scope.reads(window):
                wanted.setdefault(match.triple, []).append(-UNLIMITED if match.since is None else match.since)
        for element in again.elements(window, instant, wanted) if wanted else ():
            begins = element.time if element.start is None else element.start
            if any(begins >= min(wanted[triple]) for triple in again.entailed(element.triple) if triple in wanted):
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
