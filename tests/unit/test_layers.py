"""The data goes one way (syntax → algebra → optimise → compile → spark → stream), and nothing imports against it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock

PACKAGE = Path(penstock.__path__[0])

# What each part may import of Penstock besides itself. A part that is not listed stands above all of these.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "threads": set(),
    "syntax": {"errors"},
    "algebra": {"errors", "syntax"},
    "optimise": {"errors", "algebra"},
    "reasoning": {"errors", "algebra"},
    "translate": {"errors", "syntax", "algebra"},
    "io": {"errors", "syntax", "answer"},
    "answer": {"errors", "io"},
    "knowledge": {"errors", "threads", "algebra", "answer", "io", "reasoning"},
    "model": {"algebra"},
    "compile": {"errors", "syntax", "algebra", "optimise", "io", "model", "reasoning"},
    "spark": {
        "errors",
        "threads",
        "syntax",
        "algebra",
        "optimise",
        "answer",
        "io",
        "knowledge",
        "model",
        "reasoning",
        "compile",
    },
    "rules": {"errors", "algebra", "model", "reasoning"},
    "stream": {
        "errors",
        "threads",
        "syntax",
        "algebra",
        "optimise",
        "answer",
        "io",
        "knowledge",
        "model",
        "reasoning",
        "compile",
        "spark",
        "rules",
    },
    "explain": {"errors", "algebra", "optimise", "translate", "compile", "spark"},
    "query": {"answer", "stream", "explain"},
}
KNOWS_SPARK = {"spark", "stream", "io"}


def part_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """Full names of all that a module imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class WithoutTypeChecking(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else node


def wrong_imports(part: str, source: str) -> list[str]:
    """Imports against the data's way, be it for their types alone; and pyspark, unless for its types alone."""
    allowed = MAY_IMPORT.get(part)
    ours = [name.split(".")[1] for name in imported(ast.parse(source)) if name.startswith("penstock.")]
    upward = [] if allowed is None else [name for name in ours if name != part and name not in allowed]
    running = imported(WithoutTypeChecking().visit(ast.parse(source)))
    pyspark = [name for name in running if name.split(".")[0] in {"pyspark", "py4j"}]
    return upward + ([] if part in KNOWS_SPARK else pyspark)


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_nothing_imports_upward(file: Path) -> None:
    assert wrong_imports(part_of(file), file.read_text("utf-8")) == []


def test_all_parts_were_looked_at() -> None:
    assert {"syntax", "algebra", "optimise", "spark", "io", "knowledge", "cli"} <= {part_of(file) for file in FILES}


@pytest.mark.parametrize(
    ("part", "source", "wrong"),
    [
        ("syntax", "from penstock.algebra import ops", ["algebra"]),
        ("syntax", "from penstock import algebra", ["algebra"]),
        ("optimise", "def f():\n    import penstock.compile.sql", ["compile"]),
        ("engine", "from pyspark.sql import functions", ["pyspark.sql.functions"]),
        ("engine", "if TYPE_CHECKING:\n    from pyspark.sql import DataFrame", []),
        ("algebra", "from penstock.syntax import tree", []),
        ("spark", "import pyspark", []),
        ("spark", "from penstock.stream.log.stream_log import StreamLog", ["stream"]),
        ("io", "from penstock.stream.base.failpoints import reach", ["stream"]),
        ("query", "if TYPE_CHECKING:\n    from penstock.engine import Engine", ["engine"]),
    ],
)
def test_the_test_can_fail(part: str, source: str, wrong: list[str]) -> None:
    assert wrong_imports(part, source) == wrong
