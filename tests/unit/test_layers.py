"""The data goes one way (syntax → algebra → optimise → compile → spark → stream), and nothing imports against it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock

PACKAGE = Path(penstock.__path__[0])

FOR_SPARK = {
    "errors", "log", "threads", "options", "tuning", "syntax", "algebra", "optimise", "answer", "io", "knowledge",
    "model", "reasoning", "compile",
}  # fmt: skip

# What each part may import of Penstock besides itself. A part that is not listed stands above all of these.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "log": set(),
    "plug_ins": {"errors"},
    "threads": set(),
    "tuning": set(),
    "options": set(),
    "syntax": {"errors", "tuning"},
    "algebra": {"errors", "syntax", "options", "tuning"},
    "optimise": {"errors", "log", "algebra", "tuning"},
    "reasoning": {"errors", "algebra"},
    "translate": {"errors", "syntax", "algebra"},
    "io": {"errors", "plug_ins", "syntax", "answer", "tuning"},
    "answer": {"errors", "io"},
    "knowledge": {"errors", "plug_ins", "threads", "options", "algebra", "answer", "io", "reasoning"},
    "model": {"algebra", "tuning"},
    "compile": {"errors", "log", "syntax", "algebra", "optimise", "io", "model", "reasoning", "tuning"},
    "spark": FOR_SPARK,
    "recursive_rules": {"errors", "algebra", "model", "reasoning", "tuning"},
    "lift": {"errors", "syntax", "io", "tuning"},
    "stream": FOR_SPARK | {"plug_ins", "spark", "recursive_rules", "lift"},
    "explain": {"errors", "syntax", "algebra", "optimise", "translate", "compile", "spark"},
    "why": {
        "errors",
        "syntax",
        "algebra",
        "answer",
        "io",
        "knowledge",
        "model",
        "reasoning",
        "compile",
        "spark",
        "stream",
        "explain",
        "translate",
        "tuning",
    },
    "query": {"answer", "stream", "explain", "why"},
    "project": FOR_SPARK | {"lift", "spark", "stream", "engine"},
}
KNOWS_SPARK = {"spark", "stream", "io"}

# What each sub-package may import of its own part besides itself.
MAY_IMPORT_INSIDE: dict[str, set[str]] = {
    "syntax.transform": {"functions", "iri", "scope", "source", "suggest", "tree", "units"},
    "syntax.checks": {"bare_aggregates", "functions", "scope", "suggest", "tree"},
    "algebra.build": {
        "depth",
        "expressions",
        "occurrence",
        "ops",
        "scope",
        "smart_constructors",
        "template",
        "windows",
    },
    "algebra.sse": {"durations", "expressions", "ops", "windows"},
    "optimise.rules": {"branches", "cost", "distribute", "join_order", "rule", "statics", "statistics", "walk"},
    "recursive_rules.solutions": set(),
    "recursive_rules.analysis": {"solutions"},
    "recursive_rules.rete": {"solutions", "analysis"},
}

# The rooms of a part in the order of the data: each may import those before it, and none after it.
IN_ORDER: dict[str, tuple[str, ...]] = {
    "compile": (
        "sql",
        "relation",
        "key_domain",
        "table_catalog",
        "parameter_table",
        "expressions",
        "windows",
        "entailment",
        "views",
        "probe",
        "context",
        "kernels",
        "physical",
        "operators",
        "reports",
    ),
    "lift": (
        "mapping_text",
        "columns",
        "message_references",
        "numbers",
        "terms",
        "records",
        "plan",
        "lift_result",
        "event_time",
        "rml",
        "context",
        "lifting",
    ),
    "spark": ("session", "statistics", "store", "views", "query"),
    "stream": ("base", "log", "ingest", "answers", "registry", "evaluation", "runtime"),
}
MOST_MODULES = 16  # of a folder, with its __init__


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


def wrong_inside(room: str, source: str) -> list[str]:
    """Imports of a sub-package against the order of the modules and sub-packages of its part."""
    part, own = room.split(".")
    ours = [name.split(".") for name in imported(ast.parse(source)) if name.startswith(f"penstock.{part}.")]
    return [name[2] for name in ours if name[2] not in {own, *MAY_IMPORT_INSIDE[room]}]


def wrong_in_order(part: str, room: str, source: str) -> list[str]:
    """Imports of rooms of the same part that come later."""
    order = IN_ORDER[part]
    ours = [name.split(".")[2] for name in imported(ast.parse(source)) if name.startswith(f"penstock.{part}.")]
    return [name for name in ours if name != room and name not in order[: order.index(room)]]


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[1].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))
ORDERED = [file for file in FILES if part_of(file) in IN_ORDER and room_of(file) != "__init__"]
ROOMS = [(room, file) for room in MAY_IMPORT_INSIDE for file in sorted((PACKAGE / room.replace(".", "/")).glob("*.py"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_nothing_imports_upward(file: Path) -> None:
    assert wrong_imports(part_of(file), file.read_text("utf-8")) == []


@pytest.mark.parametrize(("room", "file"), ROOMS, ids=lambda value: value if isinstance(value, str) else value.stem)
def test_no_sub_package_imports_upward(room: str, file: Path) -> None:
    assert wrong_inside(room, file.read_text("utf-8")) == []


@pytest.mark.parametrize("file", ORDERED, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_room_imports_a_later_one(file: Path) -> None:
    assert wrong_in_order(part_of(file), room_of(file), file.read_text("utf-8")) == []


@pytest.mark.parametrize("part", IN_ORDER)
def test_every_room_has_its_place_in_the_order(part: str) -> None:
    assert {room_of(file) for file in ORDERED if part_of(file) == part} == set(IN_ORDER[part])


def test_an_import_of_a_later_room_is_found() -> None:
    source = "from penstock.stream.runtime import live_engine\nfrom penstock.stream.base.clock import Clock"
    assert wrong_in_order("stream", "registry", source) == ["runtime"]


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_no_folder_has_more_modules_than_a_person_can_overlook(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES


UNIT = Path(__file__).parent
OF_THE_PROJECT = {"benchmarks", "docs", "support"}  # folders of tests beside those of the package


@pytest.mark.parametrize("tests", [UNIT, UNIT.with_name("spark")], ids=lambda folder: folder.name)
def test_tests_mirror_the_source_tree(tests: Path) -> None:
    """Folders of tests/spark are those of the package, or of its part spark."""
    folders = [file.parent.relative_to(tests) for file in tests.rglob("__init__.py")]
    own = [folder for folder in folders if folder.parts[:1] and folder.parts[0] not in OF_THE_PROJECT]
    assert len(own) > 5
    roots = (PACKAGE, PACKAGE / "spark")
    assert [folder for folder in own if not any((root / folder).is_dir() for root in roots)] == []


PARTICIPLE = re.compile(r"([a-z]*ed|found|made|kept|known|seen|held|told|taken|given|due|late|dead)\.py")


def test_no_module_is_named_by_a_bare_participle() -> None:
    """It says that something was done, not what the module holds."""
    assert PARTICIPLE.fullmatch("settled.py")
    assert [file.name for file in FILES if PARTICIPLE.fullmatch(file.name)] == []


def imports_late(source: str) -> bool:
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return any(isinstance(node, ast.Import | ast.ImportFrom) for function in functions for node in ast.walk(function))


def comments(source: str) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "".join(token.string for token in tokens if token.type == tokenize.COMMENT)


LATE = [file for file in FILES if part_of(file) != "cli" and imports_late(file.read_text("utf-8"))]


@pytest.mark.parametrize("file", LATE, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_that_imports_inside_a_function_says_why(file: Path) -> None:
    """In its docstring or beside the import. That of the command line stands in `cli/__init__.py`."""
    source = file.read_text("utf-8")
    assert "import" in (ast.get_docstring(ast.parse(source)) or "") + comments(source)


@pytest.mark.parametrize("room", MAY_IMPORT_INSIDE)
def test_every_sub_package_of_the_table_exists(room: str) -> None:
    assert len([file for name, file in ROOMS if name == room]) > 1


def test_a_wrong_import_inside_a_part_is_found() -> None:
    source = "from penstock.recursive_rules import machine\nfrom penstock.recursive_rules.solutions.rows import Row"
    assert wrong_inside("recursive_rules.rete", source) == ["machine"]
    assert wrong_inside("recursive_rules.solutions", source) == ["machine"]


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
