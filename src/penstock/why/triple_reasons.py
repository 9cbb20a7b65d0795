"""Why a triple pattern matches nothing: its predicate or another constant of it does not occur there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.pattern_scope import DEFAULT_SCOPE
from penstock.reasoning.vocabulary import TYPE
from penstock.why.blame import Blamed
from penstock.why.entailment_reasons import entailment_reasons
from penstock.why.near_terms import near_terms
from penstock.why.reasons import Reason
from penstock.why.search import SHOWN, Search
from penstock.why.wording import counted

__all__ = ["bgp_reasons"]

_FREE = Var("why_term")


def bgp_reasons(search: Search, blamed: Blamed) -> Iterator[Reason]:
    """The first pattern that matches nothing, or the first that matches nothing together with those before it."""
    assert isinstance(blamed.op, ops.Bgp)
    patterns, names = blamed.op.patterns, search.names
    for pattern in patterns:
        if len(patterns) == 1 or not search.matches((pattern,), blamed.around):
            yield from _triple(search, pattern, blamed.around)
            return
    number = next(n for n in range(2, len(patterns) + 1) if not search.matches(patterns[:n], blamed.around))
    before = " . ".join(map(names.triple, patterns[: number - 1]))
    text = f"{names.triple(patterns[number - 1])} matches, but not together with {before}"
    yield search.reason(text, "Look whether the data has the terms by which the query joins them")


def _triple(search: Search, pattern: TriplePattern, around: tuple[Op, ...]) -> Iterator[Reason]:
    where, predicates = _places(search, around)
    nothing = f"{search.names.triple(pattern)} matches nothing at any instant, {where}"
    predicate = pattern.predicate
    if isinstance(predicate, NamedNode) and predicate.value not in predicates:
        written = "rdf:type" if predicate == TYPE else search.names.term(predicate)
        near = search.near(near_terms(predicate, map(NamedNode, predicates)))
        remedy = near or _elsewhere(search, predicate, predicates)
        yield search.reason(f"{nothing}: the predicate {written} does not occur there", remedy)
    else:
        yield search.reason(nothing, _other_terms(search, pattern, around))
    if not search.facts.entailment:
        typed = TriplePattern(Var("why_typed"), TYPE, _FREE)
        yield from entailment_reasons(
            pattern, predicates, lambda: search.matching(typed, _FREE.name, around), search.again, search.names
        )


def _places(search: Search, around: tuple[Op, ...]) -> tuple[str, dict[str, int]]:
    """The graphs and streams that a pattern may match, in words; and how often each predicate occurs there, by IRI."""
    scope = DEFAULT_SCOPE
    for outer in around:
        scope = scope.inside(outer)
    streams = dict.fromkeys(window.iri.value for window in scope.windows(search.facts.query.streams))
    held_elements = {stream.iri: stream.counts.elements - stream.dropped for stream in search.facts.streams}
    texts = [f"in the {counted(held_elements.get(iri, 0), 'element')} of <{iri}>" for iri in streams]
    known = [search.again.predicates.get(iri, {}) for iri in streams]
    if scope.background:
        texts.append("in the background")
        known.append(search.again.background_predicates)
    total: dict[str, int] = {}
    for counts in known:
        for predicate, number in counts.items():
            total[predicate] = total.get(predicate, 0) + number
    return ("neither " if len(texts) > 1 else "not ") + " nor ".join(texts), total


def _elsewhere(search: Search, predicate: NamedNode, here: dict[str, int]) -> str:
    """The graphs and streams with a predicate that does not occur here; if nowhere, which ones do here."""
    others = [f"<{name}>" for name, known in search.again.predicates.items() if predicate.value in known]
    others += ["the background"] if predicate.value in search.again.background_predicates else []
    if others:
        return f"It occurs in {' and '.join(others)}, which the pattern does not read here"
    frequent = sorted(here, key=lambda iri: (-here[iri], iri))[:SHOWN]
    listed = search.listed([NamedNode(iri) for iri in frequent])
    return f"The most frequent predicates there are {listed}" if listed else "There is no triple at all"


def _other_terms(search: Search, pattern: TriplePattern, around: tuple[Op, ...]) -> str:
    """Values that stand where the pattern has a constant object or subject."""
    for position in ("object", "subject"):
        asked = getattr(pattern, position)
        if isinstance(asked, Var):
            continue
        changes: dict[str, PatternTerm] = {position: _FREE}
        if present := search.matching(replace(pattern, **changes), _FREE.name, around):
            near = search.near(near_terms(asked, present))
            return near or f"Where it has {search.names.term(asked)}, there is {search.listed(present)}"
    return ""
