"""Whatever the order of a document's statements and however it is cut, its elements are the same."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, serialize

from penstock.io.graphs import GENERATED_AT, parse_documents
from penstock.spark.encoding import encode
from tests.unit.terms import blank_nodes, iris, terms, unhurried

AT, LABELS = NamedNode(GENERATED_AT), "L."
NAMES = [NamedNode("http://e/g1"), NamedNode("http://e/g2"), BlankNode("g3"), BlankNode("g4")]
SAID = {name: second for second, name in enumerate(NAMES[:3])}  # of the last one nobody says when it was

quads = st.builds(
    Quad, iris | blank_nodes | st.sampled_from(NAMES), iris, terms, st.sampled_from([*NAMES, DefaultGraph()])
)
Rows = Counter[tuple[str | int | None, ...]]


def time_of(name: object) -> Quad:
    return Quad(name, AT, Literal(f"1970-01-01T00:00:0{SAID[name]}Z"), DefaultGraph())  # type: ignore[arg-type]


def column(term: object) -> str | None:
    if isinstance(term, DefaultGraph):
        return None
    text = encode(term)  # type: ignore[arg-type]
    return f"_:{LABELS}{text[2:]}" if text.startswith("_:") else text


def expected(statements: list[Quad]) -> tuple[Rows, int]:
    """The elements by the definition, and how many statements are none."""
    rows: Rows = Counter()
    bad = 0
    for quad in statements:
        about = quad.subject if isinstance(quad.graph_name, DefaultGraph) else quad.graph_name
        if about in SAID:
            rows[*map(column, quad.triple), SAID[about] * 1_000_000, column(quad.graph_name)] += 1
        else:
            bad += 1
    return rows, bad


@unhurried
@given(st.lists(quads.filter(lambda quad: quad.predicate != AT), max_size=12), st.data())
def test_order_and_cuts_do_not_matter(statements: list[Quad], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations([*statements, *map(time_of, SAID)]))
    text = b"".join(serialize([quad], format=RdfFormat.TRIG) or b"" for quad in shuffled)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    found = list(parse_documents(pieces, "trig", LABELS))
    rows: Rows = Counter(tuple(row.values()) for part in found for row in part.elements.to_pylist())
    assert (rows, sum(len(part.bad) for part in found)) == expected(statements)
