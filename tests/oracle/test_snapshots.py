"""The law of the design: at every instant the answer is what plain SPARQL gives on the snapshot of that instant.

Generated queries on generated streams, windows and background; pyoxigraph answers on the snapshots. Into how many files
the stream is cut, into how many jobs the instants, which rule is off, and whether the streams' predicates are known
beforehand is part of each example, and must not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from pyoxigraph import Quad

from penstock.algebra.build import translate
from penstock.algebra.ops import Ask, Construct, Query, Registration
from penstock.answer import Answer
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.model.term_encoding import decode, encode
from penstock.optimise import enabled
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import DEFAULT, Tuning
from tests.oracle.compare import difference, oracle
from tests.oracle.strategies import Generated
from tests.oracle.streams import Element, Streamed, streamed_cases
from tests.support.plan_under_test import continuous_query, spans_in_sample, stated_rows
from tests.support.quads import triple_of
from tests.support.sampling import sampled
from tests.support.tables import table_of

pytestmark = pytest.mark.usefixtures("plan")

NAMES = sorted(enabled(None))  # rules and physical choices, of which one is left out


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


Case = tuple[Streamed, Generated]


@given(case=streamed_cases("sliding", "uneven"))
@sampled(16)
def test_sliding_windows(case: Case, session: Any, tmp_path_factory: Any) -> None:
    check(*case, session, tmp_path_factory.mktemp("stream"))


@given(case=streamed_cases("tumbling"))
@sampled(10)
def test_tumbling_windows(case: Case, session: Any, tmp_path_factory: Any) -> None:
    check(*case, session, tmp_path_factory.mktemp("stream"))


@given(case=streamed_cases("sampling", "sparse"))
@sampled(10)
def test_windows_that_sample(case: Case, session: Any, tmp_path_factory: Any) -> None:
    check(*case, session, tmp_path_factory.mktemp("stream"))


@given(case=streamed_cases("counting", "stepping"))
@sampled(12)
def test_windows_that_count(case: Case, session: Any, tmp_path_factory: Any) -> None:
    check(*case, session, tmp_path_factory.mktemp("stream"))


@given(case=streamed_cases())
@sampled(16)
def test_all_kinds_of_windows(case: Case, session: Any, tmp_path_factory: Any) -> None:
    check(*case, session, tmp_path_factory.mktemp("stream"))


def check(streamed: Streamed, query: Generated, session: Any, folder: Path, **options: Any) -> None:
    """At every instant the answer is what plain SPARQL gives on the snapshot, and there are no other instants.

    `options` are those of `evaluated`.
    """
    answers = evaluated(streamed, query, session, folder, **options)
    assert sorted(answers) == streamed.instants(), explained(streamed, query)
    for instant, answer in answers.items():
        found = difference(answer, replace(query, source=None), snapshot(streamed, query, instant))
        assert found is None, f"at {instant}:\n{found}\n\n{explained(streamed, query)}"


def snapshot(streamed: Streamed, query: Generated, instant: int) -> list[Quad]:
    """The dataset that the query asks for, with the windows as they are at the instant."""
    return list(dict.fromkeys(streamed.snapshot(instant, list(oracle(streamed.background, query.source)))))


def explained(streamed: Streamed, query: Generated) -> str:
    lines = [query.text, f"{streamed.windows} every {streamed.every}, duplicates {streamed.duplicates}", "background:"]
    lines += [f"  {quad}" for quad in streamed.background]
    for iri, elements in streamed.elements.items():
        lines += [f"{iri}:", *(f"  {e.time} {e.triple}" for e in elements)]
    return "\n".join(lines)


def evaluated(
    streamed: Streamed,
    query: Generated,
    session: Any,
    folder: Path,
    tuning: Tuning = DEFAULT,
    rules: Sequence[str] | None = None,
) -> dict[int, Answer]:
    """The answers at all instants, with a background in a store of its own."""
    store = OxigraphStore()
    store.load(streamed.background)
    return evaluated_on(BackgroundTables(session, store, tuning), streamed, query, folder, rules)


def evaluated_on(
    known: BackgroundTables, streamed: Streamed, query: Generated, folder: Path, rules: Sequence[str] | None = None
) -> dict[int, Answer]:
    """The answers at all instants, from as many jobs as the example says, by default with one rule or choice off."""
    planned = replace(translate(query.text), streams=streamed.windows, registration=Registration("q", streamed.every))
    rules = [f"-{NAMES[streamed.last % len(NAMES)]}"] if rules is None else rules
    continuous = continuous_query(planned, known, duplicates=streamed.duplicates, rules=rules)
    streams = {iri.value: written(e, folder / iri.value[-1], streamed) for iri, e in streamed.elements.items()}
    rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for span in spans(streamed, continuous.schedule.last_instant(streamed.last)):
        for row in continuous.evaluate(Evaluation(streams, span)).collect().to_pylist():
            found = rows[row.pop("time")]
            if row.pop(".row"):
                found.append(row)
    continuous.close()
    return {instant: answered(planned, found) for instant, found in rows.items()}


def spans(streamed: Streamed, last: int) -> Iterator[Span]:
    count = spans_in_sample(streamed.spans)
    cuts = [-1, *(last * i // count for i in range(1, count)), last]
    for after, through in pairwise(cuts):
        if after < through:
            yield Span(after, through)


def written(elements: list[Element], folder: Path, streamed: Streamed) -> StreamFiles:
    folder.mkdir()
    paths, size = [], -(-len(elements) // streamed.files)
    for i in range(0, len(elements), size):
        part = elements[i : i + size]
        table = table_of([(*map(encode, e.triple), e.time) for e in part], "s", "p", "o", "ts")
        paths.append(str(folder / f"{i:06}.parquet"))
        pq.write_table(table, paths[-1])
    predicates = frozenset(encode(e.triple.predicate) for e in elements) if streamed.known else None
    return StreamFiles(tuple(paths), predicates, rows=stated_rows(streamed.last % 3 * 40_000, len(elements)))


def answered(query: Query, rows: list[dict[str, Any]]) -> Answer:
    if isinstance(query.form, Ask):
        return Answer.ask(bool(rows))
    rows.sort(key=lambda row: row.pop(".order", 0))
    decoded = [{name: decode(cell) for name, cell in row.items() if cell is not None} for row in rows]
    if isinstance(query.form, Construct):
        return Answer.graph(triple_of((row["s"], row["p"], row["o"])) for row in decoded)
    return Answer.solutions([v.name for v in query.variables], decoded)
