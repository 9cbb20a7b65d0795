"""The guides' examples run as they stand, one after the other, and print what is shown below them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n(?:.*?\n\n)??^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["streams.md", "reasoning.md"])
def test_examples(
    name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = (ROOT / "docs" / name).read_text("utf-8")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for code, shown in EXAMPLE.findall(guide):
        exec(compile(code, f"docs/{name}", "exec"), names)
        assert capsys.readouterr().out == shown
    assert len(EXAMPLE.findall(guide)) == guide.count("```python")
    assert spark.range(3).count() == 3  # the examples shared the session and left it running
