"""GRAPH of a stream that the query does not read is warned of when the query is registered."""

from __future__ import annotations

import warnings

import pytest

from penstock import Engine, PenstockWarning

CARS = "PREFIX : <http://e/>\nSELECT ?car FROM STREAM :cars [RANGE 1m STEP 1m]"


def test_a_stream_without_a_window() -> None:
    with Engine() as engine:
        engine.stream("http://e/cars")
        engine.stream("http://e/gates")
        with pytest.warns(PenstockWarning) as caught:
            engine.register(f"{CARS}\nWHERE {{ ?car :at ?gate GRAPH :gates {{ ?gate :in ?street }} }}")
    assert [str(each.message) for each in caught] == [
        "line 3: <http://e/gates> is a stream, but this query has no window on it: GRAPH reads the background alone\n"
        "  WHERE { ?car :at ?gate GRAPH :gates { ?gate :in ?street } }\n"
        "                               ^^^^^^\n"
        "hint: add FROM NAMED STREAM <http://e/gates> [RANGE 10m STEP 1m]"
    ]


@pytest.mark.parametrize(
    "query",
    [
        f"{CARS} FROM NAMED STREAM :gates [RANGE 1m STEP 1m] {{ ?car :at ?gate GRAPH :gates {{ ?gate :in ?s }} }}",
        f"{CARS} FROM NAMED :gates {{ ?car :at ?gate GRAPH :gates {{ ?gate :in ?s }} }}",
        f"{CARS} {{ ?car :at ?gate GRAPH :streets {{ ?gate :in ?s }} }}",
        f"{CARS} {{ ?car :at ?gate STREAM :gates [NOW] {{ ?gate :in ?s }} GRAPH :gates {{ ?gate :in ?s }} }}",
    ],
)
def test_other_graphs(query: str) -> None:
    with Engine() as engine, warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.stream("http://e/cars")
        engine.stream("http://e/gates")
        assert engine.register(query).name
