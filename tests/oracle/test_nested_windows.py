"""The law of the design where windows stand inside of a query: blocks of CQELS and RSP-QL that read a window alone, and
groups of Streaming SPARQL with a window of their own, beside windows of FROM STREAM and the background.

The queries are in the words of the languages, mixed; pyoxigraph answers on the snapshots, in which each window is a
graph.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, assume, given

from penstock.algebra.build import translate
from penstock.spark.session.session import private
from tests.oracle.compare import difference_on
from tests.oracle.nested_windows import Inside, inside_cases
from tests.oracle.test_emissions import every_output_says_the_same, makes_names
from tests.oracle.test_snapshots import evaluated, explained
from tests.support.sampling import sampled

pytestmark = [
    pytest.mark.usefixtures("plan"),
    pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning"),  # windows that nothing reads
]


seeded = partial(sampled, phases=(Phase.generate,))  # seeds do not get simpler by being smaller


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


@given(case=inside_cases())
@seeded(12)
def test_windows_of_all_languages_in_one_query(case: Inside, session: Any, tmp_path_factory: Any) -> None:
    check(case, session, tmp_path_factory.mktemp("stream"))


@given(case=inside_cases("blocks"))
@seeded(8)
def test_windows_that_are_read_alone(case: Inside, session: Any, tmp_path_factory: Any) -> None:
    check(case, session, tmp_path_factory.mktemp("stream"))


@given(case=inside_cases("rspql"))
@seeded(8)
def test_windows_whose_content_is_a_graph(case: Inside, session: Any, tmp_path_factory: Any) -> None:
    """Equal triples are one here, whatever the query says about duplicates."""
    check(case, session, tmp_path_factory.mktemp("stream"))


@given(case=inside_cases("streaming"))
@seeded(8)
def test_windows_of_groups(case: Inside, session: Any, tmp_path_factory: Any) -> None:
    check(case, session, tmp_path_factory.mktemp("stream"))


@given(case=inside_cases())
@seeded(4)
def test_every_output_says_the_same(case: Inside, session: Any, tmp_path_factory: Any) -> None:
    planned, query = translate(case.query.text), case.query
    assume(not makes_names(planned) and query.limit is None and not query.offset and not query.reduced)
    every_output_says_the_same(case.streamed, query, session, tmp_path_factory.mktemp("stream"))


def check(case: Inside, session: Any, folder: Any) -> None:
    """Compare with the reference, which reads FROM NAMED as plain SPARQL does; beside windows of CQELS its meaning is
    that of tests/logic/cqels/from_named_adds.rsp."""
    dataset = translate(case.query.text).dataset
    assume(dataset is None or not dataset.adds)
    told = explained(case.streamed, case.query)
    assert {(source.iri, source.window) for source in case.streamed.windows} == case.windows(), told
    answers = evaluated(case.streamed, case.query, session, folder)
    assert sorted(answers) == case.streamed.instants(), told
    for instant, answer in answers.items():
        found = difference_on(case.store(instant), answer, case.query)
        assert found is None, f"at {instant}:\n{found}\n\n{told}"
