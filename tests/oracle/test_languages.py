"""A query said in C-SPARQL, CQELS-QL and RSP-QL has the same answers on the same data.

Generated queries are translated into each language that can say them. Most are compared on snapshots in plain SPARQL,
by pyoxigraph, which takes no time; some are run as they are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given

from penstock.algebra.build import translate
from penstock.spark.session.session import private
from tests.oracle.compare import answered, same
from tests.oracle.nested_windows import Inside
from tests.oracle.test_emissions import makes_names
from tests.oracle.test_snapshots import evaluated, explained
from tests.oracle.translated_queries import bag_of, cases, is_plain, plain, snapshot, translations
from tests.support.sampling import sampled

pytestmark = pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")  # windows that nothing reads
seeded = partial(sampled, phases=(Phase.generate,))  # seeds do not get simpler by being smaller

# Of a hundred queries, how many have to be sayable at least: with a background beside the streams, and without.
SAYABLE = {
    ("csparql", True): {"csparql": 100, "cqels": 50, "rspql": 50},
    ("csparql", False): {"csparql": 100, "cqels": 50, "rspql": 50},
    ("single", False): {"csparql": 40, "cqels": 60, "rspql": 100},
    ("blocks", True): {"csparql": 3, "cqels": 45, "rspql": 70},
    ("blocks", False): {"csparql": 8, "cqels": 45, "rspql": 70},
    ("streaming", True): {"cqels": 60, "rspql": 8},
    ("mixed", True): {"csparql": 3, "cqels": 45, "rspql": 35},
}


@pytest.mark.parametrize(("style", "background"), SAYABLE)
def test_translations_mean_the_same(style: str, background: bool) -> None:
    told: Counter[tuple[str, bool]] = Counter()

    @given(case=cases(style, background, telling=False))
    @seeded(100, suppressed=tuple(HealthCheck))
    def compare(case: Inside) -> None:
        for language, text in translations(case, background, told):
            same_windows(case, text)
            if is_plain(text):
                same_on_snapshots(case, language, text)

    compare()
    for language, percent in SAYABLE[style, background].items():
        said, not_said = told[language, True], told[language, False]
        assert 100 * said >= percent * (said + not_said), f"{language} can say {said} and cannot {not_said}"


def same_windows(case: Inside, text: str) -> None:
    """Instants depend on windows, so there are neither more nor fewer."""
    meant, said = translate(case.query.text), translate(text)
    assert {(s.iri, s.window) for s in said.streams} == {(s.iri, s.window) for s in meant.streams}, text
    every = [None if query.registration is None else query.registration.every for query in (meant, said)]
    assert every[0] == every[1], text
    assert (said.emit or "rstream", said.variables) == ("rstream", meant.variables), text


def same_on_snapshots(case: Inside, language: str, text: str) -> None:
    query = translate(text)
    as_plain = plain(text, query)
    for instant in case.streamed.instants()[::5]:
        meant = answered(case.store(instant), case.query.whole)
        found = answered(snapshot(case, query, instant), as_plain)
        assert same(found, meant), f"{language} at {instant}: {found}, not {meant}\n{text}\n{told_of(case)}"


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


@pytest.mark.parametrize(("style", "background"), [("csparql", True), ("single", False), ("mixed", True)])
def test_translations_run_the_same(style: str, background: bool, session: Any, tmp_path_factory: Any) -> None:
    @given(case=cases(style, background, telling=True))
    @seeded(5, suppressed=tuple(HealthCheck))
    def compare(case: Inside) -> None:
        told: Counter[tuple[str, bool]] = Counter()
        said = dict(translations(case, background, told))
        assume(len(said) > 1 and not makes_names(translate(case.query.text)))
        meant = ran(case, case.query.text, session, tmp_path_factory)
        for text in said.values():
            found = ran(case, text, session, tmp_path_factory)
            assert sorted(found) == sorted(meant), f"{text}\n{told_of(case)}"
            for instant, bag in found.items():
                assert same(bag, meant[instant]), f"at {instant}\n{text}\n{told_of(case)}"

    compare()


def ran(case: Inside, text: str, session: Any, tmp_path_factory: Any) -> dict[int, Any]:
    streamed, query = replace(case.streamed, windows=translate(text).streams), replace(case.query, text=text)
    answers = evaluated(streamed, query, session, tmp_path_factory.mktemp("stream"))
    return {instant: bag_of(answer) for instant, answer in answers.items()}


def told_of(case: Inside) -> str:
    return explained(case.streamed, case.query)
