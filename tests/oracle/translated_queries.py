"""Generated queries said in other languages by `penstock.translate`, and these as plain SPARQL on snapshots."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, Store

from penstock.algebra.build import translate
from penstock.algebra.ops import Query
from penstock.translate import LANGUAGES, CannotSay, translated
from tests.oracle.compare import oracle
from tests.oracle.data import PREFIXES
from tests.oracle.nested_windows import Inside, inside_cases
from tests.oracle.streams import Streamed
from tests.support.compare import Bag, graph, solutions
from tests.support.quads import quad

STEPPED = ("sliding", "uneven", "tumbling", "sliding", "tumbling", "stepping")
KINDS = {  # which windows the queries of a style have: mostly those that others can say
    "csparql": STEPPED,
    "blocks": (*STEPPED, "moving", "now", "all", "past"),
    "single": STEPPED,
    "streaming": ("leaving", "leaving", "now", "all", "sliding"),
    "mixed": (*STEPPED, "leaving", "moving", "now", "all", "past"),
}


def cases(style: str, background: bool, telling: bool) -> st.SearchStrategy[Inside]:
    """Queries whose answers are promised in full, on streams in which no triple comes twice."""

    def wanted(case: Inside) -> bool:
        return _is_promised(case) and (background or _has_none(case)) and (not telling or case.tells())

    found = inside_cases(style, KINDS[style], wanted)
    return found.map(lambda case: replace(case, streamed=_distinct(case.streamed, background)))


def _is_promised(case: Inside) -> bool:
    return case.query.limit is None and not case.query.offset and not case.query.reduced


def _has_none(case: Inside) -> bool:
    """Whether the default graph is not made of named ones."""
    return case.query.source is None or not case.query.source.default


def _distinct(streamed: Streamed, background: bool) -> Streamed:
    seen = {quad.triple for quad in streamed.background}
    elements = {}
    for iri, found in streamed.elements.items():
        first = {e.triple: e for e in reversed(found) if e.triple not in seen}
        elements[iri] = sorted(first.values(), key=lambda e: e.time) or found[:1]
        seen |= set(first)
    quads = [q for q in streamed.background if background or not isinstance(q.graph_name, DefaultGraph)]
    return replace(streamed, elements=elements, background=quads, duplicates="keep")


def translations(case: Inside, background: bool, told: Counter[tuple[str, bool]]) -> Iterator[tuple[str, str]]:
    """The query in each language that can say it; `told` counts which could."""
    for language in LANGUAGES:
        try:
            text = translated(case.query.text, language, merged=True, background=background)
        except CannotSay:
            told[language, False] += 1
        else:
            told[language, True] += 1
            yield language, text


# Translations as plain SPARQL

_CLAUSES = re.compile(r"^(?:REGISTER .* AS|FROM .*)\n", re.MULTILINE)
_BLOCK = re.compile(r"\bSTREAM (\S+ \[[^\]]*\]) \{")


def is_plain(text: str) -> bool:
    """Whether it names all that it reads; pyoxigraph cannot tell windows from graphs."""
    return not re.search(r"\b(?:GRAPH|WINDOW) \?", text)


def plain(text: str, query: Query) -> str:
    """Blocks as graphs that have the names of the windows."""
    text = _BLOCK.sub(lambda block: f"GRAPH {_name_of(block[1], query)} {{", _CLAUSES.sub("", text))
    return text.replace("WINDOW ", "GRAPH ")


def _name_of(read: str, query: Query) -> str:
    (one,) = translate(f"{PREFIXES}ASK {{ STREAM {read} {{ }} }}").streams
    return str(next(s.name for s in query.streams if s.name and (s.iri, s.window) == (one.iri, one.window)))


def snapshot(case: Inside, query: Query, instant: int) -> Store:
    """The dataset as a translation sees it, in which no group has a window. A translation may empty the default graph,
    by FROM NAMED without FROM, where the query does not read it."""
    source, dataset = case.query.source, query.dataset
    if source is not None and dataset is not None and not dataset.default and not dataset.adds:
        source = replace(source, default=())
    store = oracle(case.streamed.background, source)
    background = [q.triple for q in store if isinstance(q.graph_name, DefaultGraph)]
    for stream in query.streams:
        content = [e.triple for e in case.streamed.visible(stream, instant)]
        if stream.name is None:
            store.extend(quad(t) for t in content if not stream.named)
            content += background
        store.add_graph(stream.name or stream.iri)
        store.extend(quad(t, stream.name or stream.iri) for t in content)
    return store


def bag_of(answer: Any) -> Bag | bool:
    """The same of an answer of Penstock."""
    if answer.boolean is not None:
        return bool(answer.boolean)
    if answer.triples is not None:
        return graph(answer.triples)
    return solutions(sorted(answer.variables), answer.rows)
