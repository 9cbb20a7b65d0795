"""Whatever the order of a document's statements and however it is cut, its elements are the same."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, serialize

from penstock.io.graphs import GENERATED_AT, Properties, parse_documents
from penstock.model.term_encoding import encode
from tests.support.terms import blank_nodes, iris, terms, unhurried

AT, FROM, TO, LABELS = NamedNode(GENERATED_AT), NamedNode("http://e/from"), NamedNode("http://e/to"), "L."
NAMES = [NamedNode("http://e/g1"), NamedNode("http://e/g2"), BlankNode("g3"), BlankNode("g4")]
LASTING = Properties((GENERATED_AT,), FROM.value, TO.value)

quads = st.builds(
    Quad, iris | blank_nodes | st.sampled_from(NAMES), iris, terms, st.sampled_from([*NAMES, DefaultGraph()])
)
untimed = st.lists(quads.filter(lambda quad: quad.predicate not in (AT, FROM, TO)), max_size=12)
seconds = st.integers(0, 4)
Rows = Counter[tuple[str | int | None, ...]]
Said = dict[tuple[NamedNode | BlankNode, NamedNode], int]


def time_of(name: NamedNode | BlankNode, property: NamedNode, second: int) -> Quad:
    return Quad(name, property, Literal(f"1970-01-01T00:00:0{second}Z"), DefaultGraph())


def when(about: object, said: Said) -> tuple[int, int | None] | None:
    """The time, and the start if there is an interval, by the definition."""
    time, start, end = (said.get((about, property)) for property in (AT, FROM, TO))  # type: ignore[arg-type]
    if start is None or end is None:
        alone = [second for second in (start, end, time) if second is not None]
        return (alone[0] * 1_000_000, None) if alone else None
    return None if end < start else (end * 1_000_000, None if start == end else start * 1_000_000)


def column(term: object) -> str | None:
    if isinstance(term, DefaultGraph):
        return None
    text = encode(term)  # type: ignore[arg-type]
    return f"_:{LABELS}{text[2:]}" if text.startswith("_:") else text


def expected(statements: list[Quad], said: Said) -> tuple[Rows, int]:
    """The elements by the definition, and how many statements are none."""
    rows: Rows = Counter()
    bad = 0
    for quad in statements:
        about = quad.subject if isinstance(quad.graph_name, DefaultGraph) else quad.graph_name
        if (times := when(about, said)) is None:
            bad += 1
        else:
            rows[*map(column, quad.triple), times[0], column(quad.graph_name), times[1]] += 1
    return rows, bad


@unhurried
@given(untimed, st.dictionaries(st.tuples(st.sampled_from(NAMES), st.just(AT)), seconds), st.data())
def test_order_and_cuts_do_not_matter(statements: list[Quad], said: Said, data: st.DataObject) -> None:
    check(statements, said, Properties(), data)


@unhurried
@given(untimed, st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from([AT, FROM, TO])), seconds), st.data())
def test_nor_do_they_for_graphs_that_last(statements: list[Quad], said: Said, data: st.DataObject) -> None:
    check(statements, said, LASTING, data)


def check(statements: list[Quad], said: Said, properties: Properties, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations([*statements, *(time_of(*key, second) for key, second in said.items())]))
    text = b"".join(serialize([quad], format=RdfFormat.TRIG) or b"" for quad in shuffled)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    found = list(parse_documents(pieces, "trig", LABELS, properties))
    rows: Rows = Counter(tuple(row.values()) for part in found for row in part.elements.to_pylist())
    assert (rows, sum(len(part.bad) for part in found)) == expected(statements, said)
