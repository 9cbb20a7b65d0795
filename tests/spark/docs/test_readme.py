"""The README's Python shows what really comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]


def test_the_python_example(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    code, output = example.groups()
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == output
    assert spark.range(3).count() == 3  # the example shared the session and left it running
