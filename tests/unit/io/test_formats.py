"""RDF in, quads out; and what is said when it is not RDF."""

from __future__ import annotations

import gzip
from codecs import BOM_UTF8
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from penstock.errors import LoadError
from penstock.io.formats import read

A, P, G = NamedNode("http://e/a"), NamedNode("http://e/p"), NamedNode("http://e/g")
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
ONE = {
    "ttl": '<http://e/a> <http://e/p> "x" .',
    "nt": '<http://e/a> <http://e/p> "x" .',
    "nq": '<http://e/a> <http://e/p> "x" .',
    "trig": '<http://e/a> <http://e/p> "x" .',
    "rdf": f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/"><rdf:Description rdf:about="http://e/a">'
    "<e:p>x</e:p></rdf:Description></rdf:RDF>",
    "jsonld": '{"@id": "http://e/a", "http://e/p": "x"}',
}
MEDIA_TYPES = {
    "text/turtle": "ttl",
    "application/n-triples": "nt",
    "application/n-quads": "nq",
    "application/trig": "trig",
    "application/rdf+xml": "rdf",
    "application/ld+json": "jsonld",
}


@pytest.mark.parametrize("extension", ONE)
@pytest.mark.parametrize("as_text", [str, Path])
def test_extension_says_the_format(tmp_path: Path, extension: str, as_text: type) -> None:
    file = tmp_path / f"one.{extension}"
    file.write_text(ONE[extension])
    assert list(read(as_text(file))) == [Quad(A, P, Literal("x"))]


@pytest.mark.parametrize("extension", ONE)
def test_gzip(tmp_path: Path, extension: str) -> None:
    file = tmp_path / f"one.{extension}.gz"
    file.write_bytes(gzip.compress(ONE[extension].encode()))
    assert list(read(file)) == [Quad(A, P, Literal("x"))]


@pytest.mark.parametrize("extension", ONE)
def test_a_byte_order_mark_is_skipped(tmp_path: Path, extension: str) -> None:
    marked = BOM_UTF8 + ONE[extension].encode()
    file, packed = tmp_path / f"one.{extension}", tmp_path / f"two.{extension}.gz"
    file.write_bytes(marked)
    packed.write_bytes(gzip.compress(marked))
    assert [list(read(source)) for source in (file, packed)] == [[Quad(A, P, Literal("x"))]] * 2
    assert list(read(marked, format=extension)) == [Quad(A, P, Literal("x"))]


def test_a_byte_order_mark_in_the_middle_is_a_mistake() -> None:
    with pytest.raises(LoadError, match=r"^bytes, line 2, column 1: "):
        list(read(f"{ONE['nt']}\n\ufeff{ONE['nt']}".encode(), format="nt"))


@pytest.mark.parametrize(
    ("name", "extension"), [("turtle", "ttl"), ("TTL", "ttl"), (".nt", "nt"), ("xml", "rdf"), *MEDIA_TYPES.items()]
)
def test_bytes_with_a_format(name: str, extension: str) -> None:
    assert list(read(ONE[extension].encode(), format=name)) == [Quad(A, P, Literal("x"))]


def test_format_wins_over_the_extension(tmp_path: Path) -> None:
    file = tmp_path / "one.ttl"
    file.write_text(ONE["jsonld"])
    assert list(read(file, format="jsonld")) == [Quad(A, P, Literal("x"))]


def test_base_is_the_file_unless_given(tmp_path: Path) -> None:
    file = tmp_path / "a b.ttl"
    file.write_text("<#x> <http://e/p> <> .")
    own = (tmp_path / "a b.ttl").as_uri()
    assert list(read(file)) == [Quad(NamedNode(f"{own}#x"), P, NamedNode(own))]
    assert list(read(file, base="http://e/d")) == [Quad(NamedNode("http://e/d#x"), P, NamedNode("http://e/d"))]


@pytest.mark.parametrize("graph", ["http://e/g", G])
def test_graph_takes_only_triples_without_a_graph_of_their_own(graph: str | NamedNode) -> None:
    data = b"<http://e/a> <http://e/p> <http://e/1> . <http://e/other> { <http://e/a> <http://e/p> <http://e/2> . }"
    names = {quad.object: quad.graph_name for quad in read(data, graph, format="trig")}
    assert names == {NamedNode("http://e/1"): G, NamedNode("http://e/2"): NamedNode("http://e/other")}


def test_statements_in_memory_keep_their_blank_nodes() -> None:
    node = BlankNode("n")
    given: list[Triple | Quad] = [
        Triple(node, P, A),
        Quad(node, P, A, NamedNode("http://e/other")),
        Quad(A, P, node, DefaultGraph()),
    ]
    placed = [Quad(node, P, A, G), Quad(node, P, A, NamedNode("http://e/other")), Quad(A, P, node, G)]
    assert list(read(iter(given), G)) == placed


def test_labels_of_two_sources_never_meet() -> None:
    data = b"_:x <http://e/p> _:x ."
    (first,), (second,) = read(data, format="nt"), read(data, format="nt")
    assert first.subject == first.object
    assert first.subject != second.subject


MALFORMED: list[tuple[str, str | bytes, str, str]] = [
    ("bad.ttl", "<http://e/a> <http://e/p> 1 .\n<http://e/a> oops .", "line 2, column", ""),
    ("bad.nt", '<http://e/a> <http://e/p> "x" .\n' * 3 + "<http://e/a> bad .\n", "line 4, column 14", "must be an IRI"),
    ("bad.nq", "<http://e/a> <http://e/p> .\n", "line 1, column", ""),
    ("bad.trig", "<http://e/g> {\n<http://e/a> <http://e/p> 1 .", "line 2", ""),
    ("open.rdf", f'<rdf:RDF xmlns:rdf="{RDF}">\n\n<rdf:Description rdf:about="http://e/a">', "line 3", "no element"),
    ("tags.rdf", f'<rdf:RDF xmlns:rdf="{RDF}">\n<rdf:Description>\n</rdf:RDF>', "line 3, column", "mismatched tag"),
    ("prefix.rdf", f'<rdf:RDF xmlns:rdf="{RDF}">\n\n<x:p/>\n\n</rdf:RDF>', "line 3", "x:"),
    ("bad.jsonld", '{"@id": "http://e/a",\n "http://e/p": }', "line 2, column", ""),
    ("type.jsonld", '[{"@id": "http://e/a",\n "@type": 5},\n{},\n{}]', "line 2", "@type"),
    ("remote.jsonld", '{"@context": "http://e/c", "@id": "http://e/a"}', "line 1", "does not fetch"),
    ("latin.ttl", b'<http://e/a> <http://e/p> "\xe9" .', "line 1", "UTF-8"),
    ("star.ttl", "<http://e/a> <http://e/p> <<( <http://e/a> <http://e/p> 1 )>> .", "", "RDF 1.1"),
    ("direction.ttl", '<http://e/a> <http://e/p> "x"@en--ltr .', "", "RDF 1.1"),
    ("cut.ttl.gz", gzip.compress(b"<http://e/a> <http://e/p> 1 .\n" * 99)[:-9], "", "the gzip file is cut off"),
    ("plain.ttl.gz", "<http://e/a> <http://e/p> 1 .", "", "gzip"),
    ("data.foo", "", "", "unknown extension .foo: name it .ttl,"),
    ("data.gz", "", "", "no extension: name it .ttl,"),
]


@pytest.mark.parametrize(("name", "content", "place", "reason"), MALFORMED, ids=[case[0] for case in MALFORMED])
def test_malformed_files(tmp_path: Path, name: str, content: str | bytes, place: str, reason: str) -> None:
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LoadError) as caught:
        list(read(file))
    message = str(caught.value)
    assert message.startswith(str(file))
    assert place in message
    assert reason in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["missing.ttl", "missing.ttl.gz"])
def test_missing_file_is_known_before_the_first_quad(name: str) -> None:
    with pytest.raises(LoadError, match="No such file"):
        read(name)


def test_a_url_is_not_fetched() -> None:
    with pytest.raises(LoadError, match=r"http://e/data\.ttl: Penstock does not fetch"):
        read("http://e/data.ttl")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="directory"):
        read(tmp_path, format="nt")


def test_bytes_need_a_format() -> None:
    with pytest.raises(LoadError, match="give format="):
        read(b"")


@pytest.mark.parametrize("format", ["foo", "n3", "text/n3", "text/html"])
def test_unknown_format(format: str) -> None:
    with pytest.raises(LoadError, match=r"unknown format .*one of turtle"):
        read(b"", format=format)


def test_relative_iris_in_bytes_ask_for_a_base() -> None:
    with pytest.raises(LoadError, match=r"line 1, column 1: .* needs base="):
        list(read(b"<a> <b> <c> .", format="turtle"))
    assert list(read(b"<a> <p> <a> .", base="http://e/", format="turtle")) == [Quad(A, P, A)]


def test_bad_base_and_graph() -> None:
    with pytest.raises(LoadError, match="base IRI 'nope'"):
        list(read(b"<a> <b> <c> .", base="nope", format="turtle"))
    with pytest.raises(LoadError, match="graph='nope'"):
        read(b"", graph="nope", format="turtle")


def test_something_else_in_a_list() -> None:
    with pytest.raises(LoadError, match="item 2 is neither"):
        list(read([Triple(A, P, A), "x"]))  # type: ignore[list-item]


@pytest.mark.parametrize("extension", ["ttl", "nt", "nq", "trig", "jsonld"])
def test_a_literal_that_is_too_long_for_the_parser(tmp_path: Path, extension: str) -> None:
    file = tmp_path / f"one.{extension}"
    file.write_text(ONE[extension].replace('"x"', f'"{"x" * 20_000_000}"'))
    with pytest.raises(LoadError) as caught:
        list(read(file))
    assert str(caught.value) == f"{file}: a term in it is longer than the 16 MiB that the parser reads at once"


def test_a_gzip_file_that_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "one.nt.gz"
    file.write_bytes(gzip.compress(ONE["nt"].encode())[:-1])
    with pytest.raises(LoadError) as caught:
        list(read(file))
    assert str(caught.value) == f"{file}: the gzip file is cut off; nothing of it is loaded"


def test_n3_is_read_where_it_is_turtle(tmp_path: Path) -> None:
    file, packed = tmp_path / "one.n3", tmp_path / "two.n3.gz"
    file.write_text(ONE["ttl"])
    packed.write_bytes(gzip.compress(ONE["ttl"].encode()))
    assert [list(read(source)) for source in (file, packed)] == [[Quad(A, P, Literal("x"))]] * 2


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("{ ?x a ?y } => { ?y a ?x } .", "line 2, column 1", "{ is not a valid subject or graph name"),
        ("<http://e/a> = <http://e/b> .", "line 2, column 14", "= is not a valid predicate"),
    ],
)
def test_n3_that_is_not_turtle(tmp_path: Path, text: str, place: str, reason: str) -> None:
    file = tmp_path / "one.n3"
    file.write_text(f"{ONE['ttl']}\n{text}\n")
    with pytest.raises(LoadError) as caught:
        list(read(file))
    assert str(caught.value) == f"{file}, {place}: {reason}; of N3, only what is Turtle too is read"
