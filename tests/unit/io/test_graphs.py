"""Documents of graphs with times: what becomes an element, what waits, and what is kept aside with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from penstock.io.columns import LOGGED
from penstock.io.graphs import Documents, Properties, parse_documents
from penstock.io.nquads import BadLine, Parsed

PROV = "http://www.w3.org/ns/prov#generatedAtTime"
HEAD = f"PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX at: <{PROV}>\n"
SECOND = 1_000_000
G1, G2 = "<http://e/g1>", "<http://e/g2>"


def read(text: str | bytes, kind: str = "trig", base: str | None = None, **properties: Any) -> Parsed:
    data = text.encode() if isinstance(text, str) else text
    found = list(parse_documents([data], kind, "L.", Properties(**properties), base))
    assert all(one.elements.schema == LOGGED for one in found)
    return Parsed(pa.concat_tables([one.elements for one in found]), [bad for one in found for bad in one.bad])


def trig(text: str, **options: Any) -> Parsed:
    return read(HEAD + text, **options)


def rows(parsed: Parsed) -> list[tuple[str, float, str | None]]:
    """Objects, seconds, graphs."""
    names = ("o", "ts", "g")
    found = zip(*(parsed.elements[name].to_pylist() for name in names), strict=True)
    return [(o, ts / SECOND, g) for o, ts, g in found]


def reasons(parsed: Parsed) -> list[tuple[int, str]]:
    return [(bad.line, bad.reason) for bad in parsed.bad]


def test_each_triple_of_a_graph_has_its_time_and_name() -> None:
    parsed = trig(
        ':g1 at: "1970-01-01T00:00:01Z"^^xsd:dateTime . :g1 { :a :p 5 , "x"@en ; :q "two\\nlines\\"" }\n'
        ':g2 { :b :p :c } :g2 at: "1970-01-01T00:00:02Z"^^xsd:dateTime .'
    )
    assert parsed.elements.to_pylist() == [
        {"s": "<http://e/a>", "p": "<http://e/p>", "o": o, "ts": SECOND, "g": G1, "start": None}
        for o in ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', '"x"@en')
    ] + [
        {"s": "<http://e/a>", "p": "<http://e/q>", "o": '"two\nlines""', "ts": SECOND, "g": G1, "start": None},
        {"s": "<http://e/b>", "p": "<http://e/p>", "o": "<http://e/c>", "ts": 2 * SECOND, "g": G2, "start": None},
    ]
    assert parsed.bad == []


@pytest.mark.parametrize(
    ("literal", "seconds"),
    [
        ('"1970-01-01T01:00:01+01:00"^^xsd:dateTime', 1),
        ('"1970-01-01T00:00:01.2345678Z"^^xsd:dateTimeStamp', 1.234567),
        ('"1970-01-01T00:00:03"', 3),
    ],
)
def test_times_are_those_of_timestamped_nquads(literal: str, seconds: float) -> None:
    assert rows(trig(f":g1 at: {literal} . :g1 {{ :a :p :b }}")) == [("<http://e/b>", seconds, G1)]


def test_a_time_inside_its_graph_counts_and_is_an_element() -> None:
    parsed = trig(':g1 { :a :p :b . :g1 at: "1970-01-01T00:00:01Z" . :g2 at: "1970-01-01T00:00:09Z" }')
    assert [(o, at) for o, at, _ in rows(parsed)] == [
        ("<http://e/b>", 1),
        ('"1970-01-01T00:00:01Z"', 1),
        ('"1970-01-01T00:00:09Z"', 1),  # about another graph: a triple like any other
    ]
    assert parsed.bad == []


def test_a_graph_may_come_in_pieces_and_its_time_between_them() -> None:
    parsed = trig(
        ':g1 { :a :p 1 } :g2 { :a :p 2 } :g1 { :a :p 3 } :g2 at: "1970-01-01T00:00:02Z" .\n'
        ':g1 at: "1970-01-01T00:00:01Z" . :g1 { :a :p 4 }'
    )
    assert [(o[1], at) for o, at, _ in rows(parsed)] == [("2", 2), ("1", 1), ("3", 1), ("4", 1)]


def test_metadata_of_a_graph_is_an_element_without_a_graph_at_its_time() -> None:
    parsed = trig(':g1 :by :me . :g1 { :a :p :b } :g1 at: "1970-01-01T00:00:01Z" ; :for :you . :me :is :here .')
    assert rows(parsed) == [("<http://e/me>", 1, None), ("<http://e/b>", 1, G1), ("<http://e/you>", 1, None)]
    (bad,) = parsed.bad
    assert bad.text == "<http://e/me> <http://e/is> <http://e/here> ."
    assert bad.reason == f"it is in no graph, and <http://e/me> is none that has a time (<{PROV}>)"


def test_a_graph_without_a_time_is_kept_aside_and_the_others_are_not() -> None:
    parsed = trig(':g1 { :a :p 1 ;\n :q 2 }\n:g2 { :a :p 3 }\n:g2 at: "1970-01-01T00:00:02Z" .')
    assert [(o[1], g) for o, _, g in rows(parsed)] == [("3", G2)]
    assert parsed.bad == [
        BadLine(
            line,
            f'<http://e/a> <http://e/{p}> "{o}"^^<http://www.w3.org/2001/XMLSchema#integer> {G1} .',
            f"its graph has no time (<{PROV}>)",
        )
        for line, p, o in [(2, "p", 1), (3, "q", 2)]
    ]


@pytest.mark.parametrize(
    ("time", "reason"),
    [
        ('"yesterday"', 'the timestamp "yesterday" is not written like 2009-07-20T22:48:52Z'),
        (":noon", "a timestamp must be an xsd:dateTime, not <http://e/noon>"),
        ('"2009-02-30T00:00:00Z"^^xsd:dateTime', 'the timestamp "2009-02-30T00:00:00Z" has an invalid date'),
    ],
)
def test_an_invalid_graph_timestamp_is_reported(time: str, reason: str) -> None:
    parsed = trig(f":g1 {{ :a :p :b }}\n:g1 at: {time} .")
    assert reasons(parsed) == [(3, reason), (2, f"its graph has no time (<{PROV}>)")]
    assert rows(parsed) == []


def test_the_first_of_two_times_counts() -> None:
    first, same, other = (f'"1970-01-01T0{h}:00:01{zone}"' for h, zone in ((0, "Z"), (1, "+01:00"), (2, "Z")))
    parsed = trig(f":g1 at: {first} , {same} .\n:g1 {{ :a :p :b . :g1 at: {other} }}")
    assert rows(parsed) == [("<http://e/b>", 1, G1)]
    assert reasons(parsed) == [(3, f"{G1} has another time already, and the first counts")]


def test_another_property() -> None:
    text = ':g1 :when "1970-01-01T00:00:01Z" ; at: "1970-01-01T00:00:09Z" . :g1 { :a :p :b }'
    assert [(at, g) for _, at, g in rows(trig(text, time=("http://e/when",)))] == [(1, None), (1, G1)]


# Graphs that last.

LASTING = {"start": "http://e/from", "end": "http://e/to"}


def at(second: int) -> str:
    return f'"1970-01-01T00:00:{second:02}Z"'


def spans(parsed: Parsed) -> list[tuple[str, int | None, int]]:
    """The letter of the object, and from when to when, in seconds."""
    found = zip(*(parsed.elements[name].to_pylist() for name in ("o", "start", "ts")), strict=True)
    return [(o.rpartition("/")[2][:1], start and start // SECOND, ts // SECOND) for o, start, ts in found]


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        (f":from {at(1)} ; :to {at(5)}", 1, 5),
        (f":to {at(5)} ; :from {at(1)}", 1, 5),
        (f":from {at(1)} ; at: {at(3)} ; :to {at(5)}", 1, 5),
        (f":from {at(5)} ; :to {at(5)}", None, 5),
        (f":from {at(1)}", None, 1),
        (f":to {at(5)} ; at: {at(3)}", None, 5),
        (f"at: {at(3)}", None, 3),
    ],
)
def test_a_graph_with_a_start_and_an_end_lasts(said: str, start: int | None, end: int) -> None:
    before = trig(f":g1 {said} . :g1 {{ :a :p :b }}", **LASTING)
    after = trig(f":g1 {{ :a :p :b }} :g1 {said} .", **LASTING)
    assert spans(before) == spans(after) == [("b", start, end)]
    assert before.bad == after.bad == []


def test_all_that_belongs_to_a_graph_lasts_as_long() -> None:
    parsed = trig(f":g1 {{ :a :p :b . :g1 :from {at(1)} }} :g1 :to {at(5)} ; :by :me . :g1 {{ :a :p :c }}", **LASTING)
    assert spans(parsed) == [("b", 1, 5), ('"', 1, 5), ("m", 1, 5), ("c", 1, 5)]


def test_a_graph_that_ends_before_it_starts_is_kept_aside_and_the_others_are_not() -> None:
    parsed = trig(f":g1 {{ :a :p :b }}\n:g1 :from {at(5)} ; :to {at(1)} .\n:g1 {{ :a :p :c }} :g2 {{ :a :p :d }}"
                  f":g2 at: {at(1)} .", **LASTING)  # fmt: skip
    assert spans(parsed) == [("d", None, 1)]
    assert reasons(parsed) == [(2, "its graph ends before it starts"), (4, "its graph ends before it starts")]


def test_the_first_start_and_the_first_end_count() -> None:
    parsed = trig(f":g1 :from {at(1)} , {at(2)} .\n:g1 :to {at(5)} , {at(6)} . :g1 {{ :a :p :b }}", **LASTING)
    assert spans(parsed) == [("b", 1, 5)]
    assert reasons(parsed) == [
        (2, f"{G1} has another start already, and the first counts"),
        (3, f"{G1} has another end already, and the first counts"),
    ]


def test_a_property_of_the_time_may_be_that_of_the_start() -> None:
    text = f":g1 at: {at(1)} ; :to {at(5)} . :g1 {{ :a :p :b }} :g2 at: {at(2)} . :g2 {{ :a :p :c }}"
    assert spans(trig(text, start=PROV, end="http://e/to")) == [("b", 1, 5), ("c", None, 2)]


def test_an_end_property_alone_is_the_timestamp() -> None:
    text = f":g1 :to {at(5)} ; :from {at(1)} . :g1 {{ :a :p :b }} :g2 {{ :a :p :c }} :g2 at: {at(2)} ."
    assert spans(trig(text, end="http://e/to")) == [('"', None, 5), ("b", None, 5), ("c", None, 2)]


def test_a_graph_without_any_of_the_times() -> None:
    parsed = trig(":g1 { :a :p :b }", **LASTING)
    assert reasons(parsed) == [(2, f"its graph has no time (<{PROV}>, <http://e/from>, <http://e/to>)")]


def test_blank_nodes_belong_to_the_document_also_as_names() -> None:
    parsed = trig('_:g at: "1970-01-01T00:00:01Z" . _:g { _:a :p _:a . [] :p _:a }')
    assert parsed.elements["g"].to_pylist() == ["_:L.g"] * 2
    (first, second), objects = parsed.elements["s"].to_pylist(), parsed.elements["o"].to_pylist()
    assert (first, objects) == ("_:L.a", ["_:L.a"] * 2)
    assert str(second).startswith("_:L.")
    assert second != first


def test_rdf_1_2_is_refused_statement_by_statement() -> None:
    parsed = trig(':g1 at: "1970-01-01T00:00:01Z" .\n:g1 { :a :p "x"@en--ltr , <<( :a :p :b )>> , "x"@en }')
    assert rows(parsed) == [('"x"@en', 1, G1)]
    assert {bad.reason.partition(":")[0] for bad in parsed.bad} == {"Penstock reads RDF 1.1, which has no such object"}
    assert len(parsed.bad) == 2


BROKEN = ':g1 at: "1970-01-01T00:00:01Z" .\n:g1 { :a :p :b .\n  :a :p ! .\n  :a :p :c }\n'


def test_graphs_before_a_mistake_count_and_the_rest_are_dead_letters() -> None:
    parsed = trig(BROKEN)
    assert rows(parsed) == [("<http://e/b>", 1, G1)]
    assert parsed.bad == [BadLine(4, "  :a :p ! .\n  :a :p :c }", "! is not a valid RDF object")]


def test_of_a_file_the_line_is_enough() -> None:
    assert [bad.text for bad in trig(BROKEN, base="file:///a.trig").bad] == ["  :a :p ! ."]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (b':g { :a :p "\xff" }', 2, "Invalid UTF-8"),
        (b":g { <a> :p :b }", 2, "No scheme found in an absolute IRI; a relative IRI needs a base in the document"),
        (b"\n:g { :a :p :b", 3, ""),
    ],
)
def test_malformed_trig(text: bytes, line: int, reason: str) -> None:
    parsed = read(HEAD.encode() + text)
    assert rows(parsed) == []
    assert parsed.bad[0].line == line
    assert parsed.bad[0].reason.startswith(reason)


def test_mistakes_are_found_in_long_documents() -> None:
    graph = ':g1 at: "1970-01-01T00:00:01Z" .\n' + ":g1 { :a :p :b }\n" * 20_000
    parsed = trig(graph + ":g1 { oops }\n" + graph, base="file:///a.trig")
    assert parsed.elements.num_rows == 20_000
    assert [(bad.line, bad.text) for bad in parsed.bad] == [(20_003, ":g1 { oops }")]


# JSON-LD.

CONTEXT = '"@context": {"@vocab": "http://e/", "at": {"@id": "%s"}}' % PROV  # noqa: UP031


def jsonld(graph: int, second: int, *, body: str = '[{"@id": "http://e/a", "p": {"@id": "_:b"}}]') -> str:
    return f'{{{CONTEXT}, "@id": "http://e/g{graph}", "at": "1970-01-01T00:00:0{second}Z", "@graph": {body}}}'


def test_json_ld_whatever_the_order_of_its_keys() -> None:
    usual = read(jsonld(1, 1), "jsonld")
    turned = read(
        f'{{"@graph": [{{"@id": "http://e/a", "p": {{"@id": "_:b"}}}}], "at": "1970-01-01T00:00:01Z",\n'
        f'"@id": "http://e/g1", {CONTEXT}}}',
        "jsonld",
    )
    assert rows(usual) == rows(turned) == [("_:L.b", 1, G1)]


def test_several_graphs_in_an_array() -> None:
    assert [(at, g) for _, at, g in rows(read(f"[{jsonld(1, 1)},\n{jsonld(2, 2)}]", "jsonld"))] == [(1, G1), (2, G2)]


def test_a_document_a_line() -> None:
    text = f"{jsonld(1, 1)}\n\n{{ oops\r\n{jsonld(1, 2)}\n" + '{"@context": "http://e/c", "a": 1}\n' + jsonld(2, 3)
    parsed = read(text, "ndjsonld")
    assert rows(parsed) == [("_:L.1.b", 1, G1), ("_:L.4.b", 2, G1), ("_:L.6.b", 3, G2)]
    assert [(bad.line, bad.text) for bad in parsed.bad] == [(3, "{ oops"), (5, '{"@context": "http://e/c", "a": 1}')]
    assert parsed.bad[1].reason == "the @context is elsewhere, and Penstock does not fetch it"


def test_lines_are_counted_through_all_pieces() -> None:
    pieces = [f"{jsonld(1, 1)}\n\n".encode(), b"oops\n", f"\n{jsonld(1, 2)}".encode()]
    (parsed,) = parse_documents(pieces, "ndjsonld", "")
    assert parsed.elements.num_rows == 2
    assert [bad.line for bad in parsed.bad] == [3]


# Large documents.


def test_a_document_is_not_read_as_a_whole() -> None:
    """Elements come out long before the input ends, and what has come out is not held."""
    given = 0

    def pieces() -> Iterator[bytes]:
        nonlocal given
        yield HEAD.encode() + b':g1 at: "1970-01-01T00:00:01Z" .\n'
        for _ in range(100):
            given += 1
            yield b":g1 { :a :p :b }\n" * 2_000

    parts = parse_documents(pieces(), "trig", "")
    first = next(parts)
    assert 0 < first.elements.num_rows <= 2_000 * given
    assert given < 50
    assert first.elements.num_rows + sum(part.elements.num_rows for part in parts) == 200_000


# Which files are documents.


@pytest.mark.parametrize(
    ("path", "format", "kind"),
    [
        ("a.trig", None, "trig"),
        ("s3://b/a.TRIG.GZ", None, "trig"),
        ("a.jsonld", "trig", "jsonld"),
        ("a.ndjsonld.gz", None, "ndjsonld"),
        ("a.nq", "trig", None),
        ("a.parquet", "jsonld", None),
        ("a.json", "json-ld", "jsonld"),
        ("a.json", None, None),
        ("noending", "trig", "trig"),
    ],
)
def test_the_extension_decides_the_kind_before_the_format_option(
    path: str, format: str | None, kind: str | None
) -> None:
    assert Documents(format).kind(path) == kind
