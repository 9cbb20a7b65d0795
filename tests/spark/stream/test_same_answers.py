"""The same stream gives the same answers, however it is cut and in whichever way it comes in.

A generated stream is replayed from one file, and once more in another way: from several files, from Parquet, pushed
into a live engine in random portions, or dropped as files into a folder that is watched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Quad

from penstock import Answer, Engine
from penstock.model.term_encoding import encode
from penstock.options import Duplicates
from tests.oracle.data import NS, dataset
from tests.oracle.strategies import DATA_BYTES
from tests.oracle.streams import SECOND, STREAM_BYTES, STREAMS, Element, streamed
from tests.support.sampling import sampled
from tests.support.tape import Tape

ONE, TWO = (iri.value for iri in STREAMS)
SLIDING = f"SELECT ?p (COUNT(?b) AS ?n) FROM STREAM <{ONE}> [RANGE 4s STEP 2s] WHERE {{ ?a ?p ?b }} GROUP BY ?p"
COUNTING = f"SELECT ?a ?p ?b FROM STREAM <{ONE}> [RANGE TRIPLES 5 STEP 2] WHERE {{ ?a ?p ?b FILTER(isIRI(?b)) }}"
ANNOTATED = f"""SELECT ?a ?b ?n FROM STREAM <{ONE}> [RANGE 5s TUMBLING] WHERE {{ ?a ?p ?b }}
AGGREGATE {{ (?n, COUNT(?b), {{?a}}) }}"""
OPTIONAL = f"""SELECT ?a ?b ?c (timestamp(?b) AS ?t) FROM STREAM <{ONE}> [RANGE 3s TUMBLING]
FROM STREAM <{TWO}> [RANGE TRIPLES 3] WHERE {{ ?a <{NS}p> ?b OPTIONAL {{ ?b <{NS}q> ?c }} }}"""
DERIVED = f"""REGISTER STREAM <{NS}d> COMPUTED EVERY 3s AS CONSTRUCT {{ ?a <{NS}d> ?b }}
FROM STREAM <{ONE}> [RANGE 6s STEP 2s] WHERE {{ ?a ?p ?b FILTER(isIRI(?b)) }}"""
CONSUMING = f"""SELECT ?a (COUNT(?b) AS ?n) FROM STREAM <{NS}d> [RANGE 9s STEP 3s]
FROM STREAM <{TWO}> [RANGE 9s STEP 3s] WHERE {{ ?a <{NS}d> ?b }} GROUP BY ?a"""
LATEST = f"SELECT ?a ?b FROM STREAM <{NS}d> [RANGE TRIPLES 4] WHERE {{ ?a <{NS}d> ?b }}"
TEXTS = ((SLIDING, OPTIONAL), (COUNTING, ANNOTATED), (DERIVED, CONSUMING), (DERIVED, LATEST))


class Way(Protocol):
    """How a case comes in: declares the streams, brings the elements in, and returns when all is answered."""

    __name__: str

    def __call__(self, engine: Engine, case: Case, folder: Path) -> None: ...


@dataclass(frozen=True)
class Case:
    background: list[Quad]
    elements: dict[str, list[Element]]
    duplicates: Duplicates
    texts: tuple[str, ...]
    way: Way
    cuts: list[int]  # seconds at which the streams are cut
    flushed: list[bool]  # whether answers are waited for there

    @property
    def portions(self) -> list[tuple[int, int]]:
        return list(pairwise([-1, *(cut * SECOND for cut in self.cuts), 100 * SECOND]))

    def table(self, stream: str, after: int, through: int) -> pa.Table:
        some = self.some(stream, after, through)
        terms = [[encode(term) for term in e.triple] for e in some]
        columns = {name: pa.array([row[i] for row in terms], pa.string()) for i, name in enumerate("spo")}
        return pa.table(columns | {"ts": pa.array([e.time for e in some], pa.int64())})

    def lines(self, stream: str, after: int, through: int) -> str:
        return "".join(line(element) for element in self.some(stream, after, through))

    def some(self, stream: str, after: int, through: int) -> list[Element]:
        return [e for e in self.elements[stream] if after < e.time <= through]


def line(element: Element) -> str:
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=element.time)
    stamp = f'"{time:%Y-%m-%dT%H:%M:%S.%fZ}"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    return f"{element.triple.subject} {element.triple.predicate} {element.triple.object} {stamp} .\n"


def cases() -> st.SearchStrategy[Case]:
    size = DATA_BYTES + STREAM_BYTES
    return st.binary(min_size=size, max_size=size).map(case)


def case(tape: bytes) -> Case:
    draw = Tape(tape[-50:])
    made = streamed(dataset(Tape(tape[:DATA_BYTES])), Tape(tape[DATA_BYTES:-50]))
    elements = {iri.value: found for iri, found in made.elements.items()}
    elements.setdefault(TWO, elements[ONE][::2])
    cuts = sorted(draw.some(range(1, 21), 1, 4))
    flushed = [draw.chance(2) for _ in cuts]
    return Case(made.background, elements, made.duplicates, draw.pick(TEXTS), draw.pick(WAYS), cuts, [*flushed, True])


def one_file(engine: Engine, case: Case, folder: Path) -> None:
    for number, stream in enumerate(case.elements):
        path = folder / f"{number}.nq"
        path.write_text(case.lines(stream, -1, 100 * SECOND))
        engine.stream(stream, path)
    engine.run()


def folders(engine: Engine, case: Case, folder: Path) -> None:
    for number, stream in enumerate(case.elements):
        (folder / str(number)).mkdir()
        for part, portion in enumerate(case.portions):
            (folder / str(number) / f"{part}.nq").write_text(case.lines(stream, *portion))
        engine.stream(stream, folder / str(number))
    engine.run()


def one_parquet(engine: Engine, case: Case, folder: Path) -> None:
    for number, stream in enumerate(case.elements):
        pq.write_table(case.table(stream, -1, 100 * SECOND), folder / f"{number}.parquet")
        engine.stream(stream, folder / f"{number}.parquet")
    engine.run()


def parquets(engine: Engine, case: Case, folder: Path) -> None:
    for number, stream in enumerate(case.elements):
        place = folder / f"{number}.parquet"
        place.mkdir()
        for part, portion in enumerate(case.portions):
            pq.write_table(case.table(stream, *portion), place / f"{part}.parquet")
        engine.stream(stream, place)
    engine.run()


def pushed_before(engine: Engine, case: Case, folder: Path) -> None:
    for stream in case.elements:
        engine.stream(stream)
        for portion in case.portions:
            engine.push(stream, case.lines(stream, *portion))
    engine.run()


def pushed_live(engine: Engine, case: Case, folder: Path) -> None:
    for stream in case.elements:
        engine.stream(stream)
    engine.start()
    for portion, flushed in zip(case.portions, case.flushed, strict=True):
        for stream in case.elements:
            engine.push(stream, case.lines(stream, *portion))
        if flushed:
            engine.flush()
    end(engine, case)


def dropped(engine: Engine, case: Case, folder: Path) -> None:
    """One stream as files, the other by pushes. Files appear whole."""
    (folder / "drop").mkdir()
    engine.stream(ONE, folder / "drop")
    engine.stream(TWO)
    engine.start()
    for part, (portion, flushed) in enumerate(zip(case.portions, case.flushed, strict=True)):
        (folder / "new").write_text(case.lines(ONE, *portion))
        (folder / "new").rename(folder / "drop" / f"{part}.nq")
        engine.push(TWO, case.lines(TWO, *portion))
        if flushed:
            engine.flush()
    end(engine, case)


def end(engine: Engine, case: Case) -> None:
    for stream in case.elements:
        engine.advance(stream, 40 * SECOND)
    engine.flush()
    engine.stop()


WAYS: tuple[Way, ...] = (pushed_live, folders, one_parquet, pushed_live, parquets, pushed_before, dropped)


def answers(spark: Any, case: Case, way: Way, folder: Path) -> list[dict[float, Counter[Any]]]:
    """By query and instant."""
    folder.mkdir()
    with Engine(spark=spark) as engine:
        engine.load(case.background)
        queries = [engine.register(text, duplicates=case.duplicates) for text in case.texts]
        way(engine, case, folder)
        return [dict(map(plain, query.answers())) for query in queries]


def plain(answer: Answer) -> tuple[float, Counter[Any]]:
    assert answer.time is not None
    rows: Iterator[Any] = iter(answer.triples) if answer.triples is not None else map(_items, answer.rows)
    return answer.time.timestamp(), Counter(rows)


def _items(row: Any) -> frozenset[Any]:
    return frozenset(row.items())


@given(case=cases())
@sampled(8)
def test_answers_do_not_depend_on_the_source(case: Case, spark: Any, tmp_path_factory: Any) -> None:
    """A live engine goes on after the last element, since it is told that time does."""
    folder = tmp_path_factory.mktemp("same")
    replayed = answers(spark, case, one_file, folder / "replayed")
    other = answers(spark, case, case.way, folder / "other")
    for text, expected, found in zip(case.texts, replayed, other, strict=True):
        until = {time: rows for time, rows in found.items() if time <= max(expected, default=0)}
        assert until == expected, (
            f"{case.way.__name__}, cut at {case.cuts}, flushed {case.flushed}\n{text}\n{explained(case)}"
        )


def explained(case: Case) -> str:
    streams = (f"{stream}:\n{case.lines(stream, -1, 100 * SECOND)}" for stream in case.elements)
    how = f"{case.way.__name__}, cut at {case.cuts}, flushed {case.flushed}, duplicates {case.duplicates}"
    return "\n".join([how, "background:", *map(str, case.background), *streams])
