"""Penstock's parser and pyoxigraph's agree on generated and on damaged lines."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple
from pyoxigraph import parse as parse_rdf

from penstock.io import nquads
from penstock.io.nquads_fast import Block, read_block
from penstock.io.nquads_grammar import DATE_TIME, OBJECT, PLAIN_LINES, TIMED_LINES
from penstock.io.nquads_slow import Reading, read_lines
from penstock.model.term_encoding import encode
from tests.support.terms import blank_nodes, iris, terms, unhurried

STREAM = "http://stream"
TIME = f'"2009-07-20T22:48:52Z"^^<{DATE_TIME}>'
READING = Reading(nquads.scope(STREAM))
Encoded = tuple[str, str, str]

gaps = st.sampled_from([" ", "\t", "  ", ""])
layouts = st.tuples(st.sampled_from(["", " "]), gaps, gaps, gaps, gaps, st.sampled_from(["", " ", " # c", "\r"]))
triples = st.builds(Triple, iris | blank_nodes, iris, terms)
damage = st.sampled_from([*' \t\\"<>_:.@^#%{}éA0-\x00\ufffe', "", '" "', "^^", "\\u0041", "\\uD800", "%4", "[", "@en"])


def encoded(triple: Triple | Quad) -> Encoded:
    s, p, o = (encode(term) for term in (triple.subject, triple.predicate, triple.object))  # type: ignore[arg-type]
    label = f"_:{READING.scope}"
    return tuple(label + term[2:] if term.startswith("_:") else term for term in (s, p, o))  # type: ignore[return-value]


def by_kernels(line: str, pattern: str = TIMED_LINES) -> Encoded | None:
    """What the kernels make of a line, whose place among others must not matter."""
    around = f'_:x <a:p> "Ü\\""@EN {TIME} .\n'
    block = Block.of(pa.py_buffer(f"{around}{line}\n{around}".encode()))
    columns = read_block(block, pattern, READING.scope, timed=pattern is TIMED_LINES)
    found = dict(
        zip(
            columns.lines.tolist(),
            zip(*(c.to_pylist() for c in (columns.s, columns.p, columns.o)), strict=True),
            strict=True,
        )
    )
    return found.get(1)


def by_pyoxigraph(triple: str) -> Encoded | None:
    """What pyoxigraph makes of a line with an IRI in the place of the time; RDF 1.2 is not for us."""
    try:
        quads = list(parse_rdf(f"{triple} <x:time> .".encode(), RdfFormat.N_QUADS))
    except SyntaxError:
        return None
    o = quads[0].object if quads else None
    one = len(quads) == 1 and quads[0].graph_name == NamedNode("x:time")
    if not one or isinstance(o, Triple) or (isinstance(o, Literal) and o.direction is not None):
        return None
    return encoded(quads[0])


def one_by_one(line: str) -> Encoded | None:
    rows, bad = read_lines([(1, line)], READING)
    assert len(rows) + len(bad) <= 1
    return rows[0][1:4] if rows else None


@unhurried
@given(triples, layouts)
def test_generated_lines(triple: Triple, layout: tuple[str, ...]) -> None:
    parts = [*(str(term) for term in triple), TIME, "."]
    line = "".join(gap + part for gap, part in zip(layout, parts, strict=False)) + layout[-1]
    assert one_by_one(line) == encoded(triple)
    assert by_kernels(line) in (None, encoded(triple))


@unhurried
@given(triples)
def test_the_kernels_take_what_pyoxigraph_writes(triple: Triple) -> None:
    assert by_kernels(f"{triple} {TIME} .") == encoded(triple)
    assert by_kernels(f"{triple} .", PLAIN_LINES) == encoded(triple)


@unhurried
@given(triples, iris | blank_nodes)
def test_the_kernels_take_graphs(triple: Triple, graph: NamedNode | BlankNode) -> None:
    line = f"{triple} {graph} {TIME} .\n".encode()
    columns = read_block(Block.of(pa.py_buffer(line)), TIMED_LINES, READING.scope, timed=True)
    *_, found = encoded(Triple(triple.subject, triple.predicate, graph))
    assert [column[0].as_py() for column in (columns.s, columns.p, columns.o)] == [*encoded(triple)]
    assert columns.g is not None
    assert columns.g.to_pylist() == [found]


@unhurried
@given(st.from_regex(OBJECT, fullmatch=True))
def test_whatever_the_kernels_take_is_rdf(term: str) -> None:
    triple = f"<a:s> <a:p> {term}"
    found = by_kernels(f"{triple} {TIME} .")
    assert found == by_pyoxigraph(triple)
    assert found is not None or "angString>" in triple


@unhurried
@given(triples, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 2), damage), min_size=1, max_size=2))
@example(Triple(NamedNode("a:s"), NamedNode("a:p"), BlankNode("x")), [(15, 0, ".")])
@example(Triple(NamedNode("a:s"), NamedNode("a:p"), Literal("x")), [(12, 0, "#")])
def test_damaged_lines(triple: Triple, changes: list[tuple[int, int, str]]) -> None:
    text = str(triple)
    for place, removed, inserted in changes:
        at = place % (len(text) + 1)
        text = text[:at] + inserted + text[at + removed :]
    assert one_by_one(f"{text} {TIME} .") == by_pyoxigraph(text)
    assert by_kernels(f"{text} {TIME} .") in (None, by_pyoxigraph(text))
