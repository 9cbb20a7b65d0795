"""Which query comes before which, and which streams there have to be."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from penstock.errors import QueryError
from penstock.stream.registry.dependency_order import check_streams, in_order


@dataclass
class Query:
    name: str
    inputs: tuple[str, ...]
    output: str | None = None


def test_producers_precede_readers_in_stable_order() -> None:
    queries = [Query("z", ("b",)), Query("y", ("s",)), Query("x", ("a",), "b"), Query("w", ("s",), "a")]
    names = [query.name for query in in_order(queries)]
    assert names.index("w") < names.index("x") < names.index("z")
    assert set(names) == set("wxyz")


def test_error_names_the_queries_of_a_cycle() -> None:
    queries = [Query("one", ("b",), "a"), Query("two", ("a",), "b"), Query("three", ("s",))]
    with pytest.raises(QueryError, match="these queries depend on each other in a cycle: ") as caught:
        in_order(queries)
    assert "one" in str(caught.value)
    assert "two" in str(caught.value)
    assert "three" not in str(caught.value)


def test_query_that_reads_its_own_stream_is_a_cycle() -> None:
    with pytest.raises(QueryError, match="cycle: one → one"):
        in_order([Query("one", ("a",), "a")])


def test_a_stream_has_one_producer() -> None:
    with pytest.raises(QueryError, match="one and two both derive the stream <a>"):
        in_order([Query("one", ("s",), "a"), Query("two", ("s",), "a")])


def test_streams_are_declared_or_derived() -> None:
    check_streams([Query("one", ("s",), "a"), Query("two", ("a", "t"))], ["s", "t"])


@pytest.mark.parametrize(
    ("stream", "hint"),
    [
        ("http://e/gatse", "did you mean <http://e/gates>?"),
        ("urn:x", 'declare it first: engine.stream("urn:x", SOURCE), or --stream urn:x=SOURCE'),
    ],
)
def test_an_unknown_stream_is_one_sentence_and_a_hint(stream: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        check_streams([Query("one", (stream,))], ["http://e/gates"])
    assert str(caught.value) == f"query one: there is no stream <{stream}>\nhint: {hint}"
