"""The README's Python shows what really comes out."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.support.documents import ROOT, examples


@pytest.mark.parametrize(("code", "shown"), list(examples(ROOT / "README.md")))
def test_python_examples(
    code: str, shown: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown
    assert spark.range(3).count() == 3  # the example shared the session and left it running
