"""Every W3C query parses that should, those of the evaluation tests too, and none that should not."""

from __future__ import annotations

import pytest

from penstock.errors import QueryError
from penstock.syntax import parse
from tests.w3c.manifest import ABSENT, SUITE, W3CTest, entries_of, path_of

FOLDERS = tuple(sorted(manifest.parent.name for manifest in SUITE.glob("*/manifest.ttl")))
GOOD = entries_of(FOLDERS, ("PositiveSyntaxTest11", "QueryEvaluationTest", "CSVResultFormatTest"))
BAD = entries_of(FOLDERS, ("NegativeSyntaxTest11",))

pytestmark = pytest.mark.skipif(ABSENT is not None, reason=str(ABSENT))


def text_of(test: W3CTest) -> str:
    """As it is in the file: line ends are part of what is tested."""
    return path_of(test.query).read_bytes().decode("utf-8")


@pytest.mark.parametrize("test", GOOD, ids=lambda test: test.id)
def test_is_a_query(test: W3CTest) -> None:
    text = text_of(test)
    assert parse(text, base=test.query).text == text


@pytest.mark.parametrize("test", BAD, ids=lambda test: test.id)
def test_is_not_a_query(test: W3CTest) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text_of(test), base=test.query)
    assert caught.value.line is not None


def test_the_suite_was_found() -> None:
    assert len(GOOD) > 300
    assert len(BAD) > 40
