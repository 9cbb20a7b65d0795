"""The examples of all pages run as they stand, one after the other, and print what is shown below them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.documents import DOCS, ROOT, examples, name_of, pages_with

PAGES = pages_with("python")


def test_examples_are_found_in_all_kinds_of_pages() -> None:
    assert {page.relative_to(DOCS).parts[0] for page in PAGES} == {
        "tutorial",
        "how-to",
        "connect",
        "concepts",
        "reference",
    }
    assert len(PAGES) >= 15


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples(
    page: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(logging.getLogger("penstock"), "handlers", [logging.NullHandler()])
    names: dict[str, object] = {"__name__": "example"}
    for code, shown in examples(page):
        exec(compile(code, name_of(page), "exec"), names)
        assert capsys.readouterr().out == shown
    assert spark.range(3).count() == 3  # the examples shared the session and left it running
