"""An explanation as text, Mermaid, SVG and JSON, and from the command line; none of it starts Spark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from penstock import Explanation, cli, explain
from penstock.algebra.build import translate
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.compile.physical.nodes import IntervalDistinct
from penstock.explain.execution_figures import of_registered
from penstock.explain.layout import layered, nested
from penstock.explain.number_format import rows
from penstock.optimise import Uniform, optimise
from penstock.spark.query.profile import Profile, RowCount, StoredStream
from penstock.translate.window_forms import written_window
from tests.support.explaining import BROKERS_AND_MARKET, MARKET, SELLER_MARKET, TOTAL_AMOUNT

SECOND = 1_000_000
AWKWARD = """PREFIX : <http://example.org/>
SELECT * { ?x :p "a\\"b`c|d[]{}<>#;&\\n end" . ?x :q/:r* ?end FILTER (?x > 1 && REGEX(?end, "^a|b$")) }"""


@pytest.fixture
def total() -> Explanation:
    return explain(TOTAL_AMOUNT, known=BROKERS_AND_MARKET)


# Text


def test_text_has_trees_vertices_and_rules(total: Explanation) -> None:
    text = str(total)
    assert "└── window  [RANGE 1d TUMBLING]" in text
    assert re.search(r"^● \?broker +variable +1, 2$", text, re.MULTILINE)
    assert [step.rule for step in total.trace] == re.findall(r"^Rule \d+: (\w+)$", text, re.MULTILINE)
    assert all(step.why in text for step in total.trace)
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert "\x1b" not in text


def test_a_repeated_source_is_described_once() -> None:
    tree = explain(TOTAL_AMOUNT).text("o").split("O-Graph after")[0]
    assert (tree.count("window"), tree.count("stream  ")) == (3, 1)


def test_parts_are_apart(total: Explanation) -> None:
    assert "D-Graph" not in total.text("o")
    assert "Rule" not in total.text("o")
    assert "O-Graph" not in total.text("d")


def test_a_plan_that_no_rule_changes() -> None:
    assert "none changed the plan" in str(explain("ASK { ?s ?p ?o }"))


def test_aggregates_are_told_in_their_classes() -> None:
    text = str(explain(SELLER_MARKET))
    assert "?tot = SUM(?amount) is totally distributable: ?market names the stream" in text


# Mermaid


def test_mermaid_has_a_subgraph_for_each_graph_and_source(total: Explanation) -> None:
    lines = total.mermaid().splitlines()
    assert lines[0] == "flowchart BT"
    assert (
        sum(line.strip().startswith("subgraph ") for line in lines) == sum(line.strip() == "end" for line in lines) == 6
    )
    assert '            c_v1(["?broker<br>also in 2"]):::filled' in lines


def test_mermaid_labels_escape_mermaid_syntax() -> None:
    for label in re.findall(r'"([^"]*)"', explain(AWKWARD).mermaid()):
        assert not re.search(r"[`*_\[\]{}|\\&]|#(?!\d+;)|<(?!br>)", label.replace("<br>", "")), label


def test_mermaid_edges_connect_declared_nodes(total: Explanation) -> None:
    text = total.mermaid()
    made = set(re.findall(r"^ +(\w_\w+)[\[(]", text, re.MULTILINE))
    used = {
        end for ends in re.findall(r"^ +(\w_\w+) -.*-?> ?(?:\|.*\| )?(\w_\w+)$", text, re.MULTILINE) for end in ends
    }
    assert used
    assert used <= made


# SVG


@pytest.mark.parametrize("text", [TOTAL_AMOUNT, SELLER_MARKET, AWKWARD, "ASK {}"])
def test_svg_is_xml_with_every_node(text: str) -> None:
    found = explain(text)
    root = ElementTree.fromstring(found.svg())
    groups = root.findall(".//{http://www.w3.org/2000/svg}g[@id]")
    assert len(groups) == sum(len(graph.nodes) for graph in found.graphs())


def test_nodes_do_not_overlap_and_boxes_hold_theirs() -> None:
    sizes = {str(i): (40.0 + 9 * i, 30.0) for i in range(8)}
    edges = [("0", "1"), ("1", "2"), ("2", "3"), ("0", "4"), ("4", "3"), ("5", "0"), ("6", "7")]
    picture = nested(sizes, edges, {"a": ("0", "1", "4"), "b": ("2", "3")}, {"a": 300.0, "b": 10.0})
    places = picture.places
    for one, other in combinations([*sizes], 2):
        a, b = places[one], places[other]
        apart = abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= (a.height + b.height) / 2
        assert apart, (one, other)
    for box, members in {"a": "014", "b": "23"}.items():
        around = places[box]
        for member in members:
            inner = places[member]
            assert around.left <= inner.left
            assert inner.left + inner.width <= around.left + around.width
            assert around.top <= inner.top
            assert inner.top + inner.height <= around.top + around.height


def test_edges_go_down_and_all_is_in_the_picture() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")]
    picture = layered(dict.fromkeys("abcd", (50.0, 20.0)), edges)
    for above, below in edges:
        assert picture.places[above].y < picture.places[below].y
    points = [point for bends in picture.bends.values() for point in bends]
    assert points, "the edge from a to c goes around b"
    for place in picture.places.values():
        assert place.left >= 0
        assert place.left + place.width <= picture.width + 0.1
        assert place.top >= 0
        assert place.top + place.height <= picture.height + 0.1


# JSON


def test_json_is_stable_and_refers_to_existing_nodes(total: Explanation) -> None:
    assert total.json() == explain(TOTAL_AMOUNT, known=BROKERS_AND_MARKET).json()
    written = json.loads(total.json())
    assert (written["version"], written["query"]) == (1, "TotalAmountPerDayAndBroker")
    for graph in [*written["ographs"], written["dgraph"]]:
        ids = {node["id"] for node in graph["nodes"]}
        assert {end for edge in graph["edges"] for end in (edge["source"], edge["target"])} <= ids
        boxes = {box["id"]: box for box in graph["boxes"]}
        for node in graph["nodes"]:
            assert all(node["id"] in boxes[box]["nodes"] for box in node["sources"])
    assert [step["rule"] for step in written["trace"]] == [step.rule for step in total.trace]
    assert written["dgraph"]["nodes"][0] == {
        "id": "v1", "kind": "variable", "title": "?broker", "lines": [], "added": False, "filled": True,
        "sources": ["b1", "b2"],
    }  # fmt: skip


# Figures


@pytest.mark.parametrize(
    ("number", "shown"),
    [(None, "–"), (0, "0"), (0.04, "0.04"), (1.5, "1.5"), (61.4, "61"), (1.2e4, "12,000"), (3.4e6, "3.4M")],
)
def test_numbers_are_short(number: float | None, shown: str) -> None:
    assert rows(number) == shown


@pytest.mark.parametrize(
    ("window", "shown"),
    [
        (TimeWindow(60 * SECOND, 60 * SECOND), "[RANGE 1m TUMBLING]"),
        (TimeWindow(3600 * SECOND, 60 * SECOND, 60 * SECOND), "[FROM NOW-61m TO NOW-1m STEP 1m]"),
        (SlideWindow(None), "[ALL]"),
        (SlideWindow(1), "[NOW]"),
        (SlideWindow(60 * SECOND), "[RANGE 1m]"),
        (SlideWindow(60 * SECOND + 1), "[RANGE 1m and 1us]"),
        (SlideWindow(60 * SECOND, SECOND), "[RANGE 1m SLIDE 1s]"),
        (SlideWindow(60 * SECOND, 60 * SECOND), "[RANGE 1m FIXED]"),
        (CountWindow(5), "[TRIPLES 5]"),
        (CountWindow(5, 2), "[TRIPLES 5 STEP 2]"),
    ],
)
def test_windows_are_written_as_in_queries(window: Window, shown: str) -> None:
    assert written_window(window) == shown


def test_figures_stand_with_their_operators() -> None:
    query = translate(TOTAL_AMOUNT)
    optimised = optimise(query, Uniform())
    root = IntervalDistinct(optimised.query.pattern)
    window = query.streams[0]
    examined = Profile(
        optimised,
        replace(optimised.query, pattern=root),
        "== Physical Plan ==",
        {MARKET: StoredStream(10_000, 105_000, None)},
        estimated={id(root): 10.0},
        counted={id(root): RowCount(122, 61.0, 0.25)},
        held={window: 3333.0},
        windows={window: RowCount(10_000, 2500.0, 1.5)},
        orders=["2020-01-01 00:00:00 cost 9 → 3: it grew"],
        report="from validity intervals, with operator state",
        open=7,
        together=5000,
    )
    found = of_registered("total", query, TOTAL_AMOUNT, examined)
    text = found.text()
    assert "distinct  on validity intervals  (expected 10 · found 61 · 122 in all · 250 ms)" in text
    assert "expected 3,333 · found 2,500 · 10,000 in all · 1.5 s" in text
    assert "10,000 elements in 105 kB" in text
    assert "from validity intervals, with operator state, one of 5,000 queries of one plan, 7 solutions open" in text
    assert "cost 9 → 3: it grew" in text
    assert "== Physical Plan ==" in text
    [distinct] = [n for n in json.loads(found.json())["ographs"][1]["nodes"] if n["title"] == "distinct"]
    assert distinct["lines"] == ["on validity intervals"]
    assert distinct["figures"] == {"estimated": 10.0, "actual": 61.0, "rows": 122, "seconds": 0.25, "state": None}
    assert "found 61" in found.svg()
    assert "found 61" in found.mermaid()


# The command


@pytest.fixture
def query(tmp_path: Path) -> Path:
    file = tmp_path / "total.rq"
    file.write_text(TOTAL_AMOUNT)
    return file


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli.app, ["explain", *map(str, arguments)])


@pytest.mark.parametrize(
    ("format", "begins"), [("text", "O-Graph"), ("mermaid", "flowchart"), ("svg", "<svg"), ("json", "{")]
)
def test_every_format_on_standard_output_and_in_a_file(query: Path, tmp_path: Path, format: str, begins: str) -> None:
    shown = run(query, "--format", format)
    assert shown.exit_code == 0
    assert shown.stdout.startswith(begins)
    assert run(query, "--format", format, "--output", tmp_path / "out").stdout == ""
    assert (tmp_path / "out").read_text("utf-8") == shown.stdout


def test_a_typo_is_shown_with_a_caret(tmp_path: Path) -> None:
    file = tmp_path / "typo.rq"
    file.write_text("SELECT ?x WHER { ?x ?p }")
    result = run(file)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "typo.rq" in result.stderr
    assert "^" in result.stderr


def test_rules_can_be_chosen(query: Path) -> None:
    text = run(query, "--set", "rules=fold_trivial").stdout
    assert "none changed the plan" in text
    assert run(query, "--set", "rules=no_such").exit_code == 2
    assert "no_such" in run(query, "--set", "rules=no_such").stderr


@pytest.mark.parametrize(
    ("code", "arguments", "said"),
    [
        (2, ["-b", "x.ttl"], "--run"),
        (2, ["--run", "-s", "http://e/s=tcp://h:1"], "to their end"),
        (1, ["--output", "/no/such/folder/x"], "--output"),
        (2, ["--set", "speed=3"], "no such option"),
    ],
)
def test_a_wrong_option_is_an_error_of_one_line(query: Path, code: int, arguments: list[str], said: str) -> None:
    result = run(query, *arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    file = tmp_path / "doubt.rq"
    file.write_text(SELLER_MARKET.replace("?market, ?tot", "?market, ?Tot"))
    result = run(file)
    assert result.exit_code == 0
    assert "warning" in result.stderr
    assert "did you mean ?tot" in result.stderr


def test_no_spark_for_a_text() -> None:
    code = "import sys, penstock; str(penstock.explain('ASK { ?s ?p ?o }')); sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
