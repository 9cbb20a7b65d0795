"""A checkpoint folder holds data alone: every stored kind of value comes back equal, and nothing is pickled."""

from __future__ import annotations

import ast
import json
import sqlite3
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

import penstock
from penstock.errors import StoreError
from penstock.recursive_rules.analysis.partition import Partition
from penstock.recursive_rules.machine import Element, Machine
from penstock.recursive_rules.state_format import read_partition, read_state, write_partition, write_state
from penstock.stream.evaluation.recursive_rule_plan import _SCHEMA, RuleResult, _states
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.ingest.dead_letters import DeadLetters, Malformed
from penstock.stream.log.journal import Journal, Record
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry.metadata_store import GroupProgress, MetadataStore, QueryRecord
from tests.support.arrivals import STREAM, elements
from tests.support.runtime import FakeDataFrame
from tests.unit.stream.evaluation.test_recursive_rule_plan import BY_SUBJECT, RULE, P

PACKAGE = Path(penstock.__path__[0])
RUNS_CODE = {"pickle", "cloudpickle", "marshal", "shelve", "dill"}  # modules whose readers run code

terms = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
times = st.integers(-(2**63), 2**63 - 1)
rows = st.tuples(times, times) | st.tuples(times, times, terms | st.none(), terms | st.none())
keys = terms | st.tuples() | st.tuples(terms, terms)
states = st.dictionaries(st.text("0123456789abcdef"), st.dictionaries(keys, st.lists(rows, max_size=3), max_size=3))
places = st.sampled_from(["subject", "object"])
predicates = st.sampled_from([NamedNode(f"http://e/{name}") for name in "pqü"])
partitions = st.builds(Partition, st.dictionaries(predicates, places), st.none() | places)


@given(st.none() | times, states)
def test_machine_state_is_restored_equal(now: int | None, memories: dict[str, Any]) -> None:
    assert read_state(write_state(now, memories)) == (now, memories)


@given(st.none() | partitions)
def test_partition_is_restored_equal(partition: Partition | None) -> None:
    assert read_partition(write_partition(partition)) == partition


@pytest.mark.parametrize("text", ['{"format": 2, "now": 1, "memories": {}}', '{"partition": null}'])
def test_a_state_of_another_format_is_refused(text: str) -> None:
    for read in (read_state, read_partition):
        with pytest.raises(StoreError, match=r"The state of rules has format (2|None); this Penstock reads format 1\."):
            read(text)


def advanced(split: Partition | None, subject: str) -> RuleResult:
    """An evaluation of the rule: one state and no triple."""
    machine = Machine([RULE])
    machine.feed([Element(3, 3, subject, str(P), '"1"')])
    row = dict.fromkeys(_SCHEMA.names) | {"part": 5, "state": machine.save()}
    return RuleResult(cast(Any, FakeDataFrame(pa.Table.from_pylist([row], _SCHEMA))), split)


def test_rule_states_are_restored_equal(tmp_path: Path) -> None:
    made = advanced(BY_SUBJECT, "<a>")
    carried = ReportState(tmp_path)
    name, _ = carried.keep(made)
    found, split = _states(carried.path(name), BY_SUBJECT)
    assert split == BY_SUBJECT
    assert found.to_pylist() == [{"part": 5, "state": made._fetched.column("state")[0].as_py()}]


def written(root: Path) -> None:
    """A checkpoint with everything that the runtime itself writes; the rest is Spark's."""
    registry = MetadataStore(root / "registry")
    entry = registry.add(
        QueryRecord("q", "…", sink="/x.csv", position=17, group=1), GroupProgress(5, (("x.parquet", 1),), 3)
    )
    registry.save_streams({STREAM: {"source": None, "lateness": 5}})
    registry.pause(entry.number, True)
    registry.close()
    log = StreamLog(root / "log")
    for number in range(3):
        log.append(STREAM, "folder", number, elements([number]), late=1, malformed=1)
    log.advance(STREAM, 1)
    log.discard(STREAM, 0)
    log.push(STREAM, Record(0, elements([4]), late=1, malformed=1, advanced_to=2))
    DeadLetters(root / "dead").write(STREAM, "folder-0", elements([1]), [Malformed("folder-0", 1, "x", "no triple")])
    for split in (None, BY_SUBJECT):
        ReportState(root / "carried").keep(advanced(split, "<a>"))


def test_a_checkpoint_holds_text_and_numbers_alone(tmp_path: Path) -> None:
    written(tmp_path)
    seen = {_look(file) for file in tmp_path.rglob("*") if file.is_file()}
    assert seen == {".sqlite", ".json", ".parquet", ".nq", ".ndjson", ""}


def _look(file: Path) -> str:
    """The file's suffix, after a look at its content."""
    if file.suffix == ".sqlite":
        _look_at_tables(file)
    elif file.suffix == ".parquet":
        _look_at_columns(pq.read_table(file, partitioning=None))
    elif file.name == "journal":
        for record in Journal(file).read():
            _look_at_columns(record.elements)
    elif file.suffix == ".json":
        json.loads(file.read_text())
    elif file.suffix == ".ndjson":
        assert all(isinstance(json.loads(line), dict) for line in file.read_text().splitlines())
    else:
        assert file.read_text().isprintable() or file.suffix == ".nq"
    return file.suffix


def _look_at_tables(file: Path) -> None:
    connection = sqlite3.connect(file)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    cells = [cell for name in tables for row in connection.execute(f"SELECT * FROM {name}") for cell in row]
    connection.close()
    assert cells
    assert {type(cell) for cell in cells} <= {str, int, float, type(None)}


def _look_at_columns(table: pa.Table) -> None:
    assert not [field for field in table.schema if pa.types.is_binary(field.type)]
    for text in (table.schema.metadata or {}).values():
        json.loads(text)
    for state in table.column("state").to_pylist() if "state" in table.column_names else ():
        assert state is not None
        json.loads(state)


def test_nothing_that_reads_a_checkpoint_can_unpickle() -> None:
    for folder in ("stream", "recursive_rules", "io"):
        for file in (PACKAGE / folder).rglob("*.py"):
            parts = {part for name in _imported(file.read_text()) for part in name.split(".")}
            assert not parts & RUNS_CODE, file


def _imported(source: str) -> list[str]:
    tree = ast.parse(source)
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return [*plain, *(f"{node.module}.{alias.name}" for node in froms for alias in node.names)]
