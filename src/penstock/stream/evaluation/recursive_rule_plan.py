"""The plan of recursive rules: the elements of a span go through one machine per partition, in Spark's workers.

The state of a machine goes to the next evaluation in a row beside the triples that it returns. So an evaluation reads
the elements of its own span alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame

from penstock.algebra.expressions import Term, Var
from penstock.algebra.ops import TriplePattern
from penstock.algebra.schedule import Schedule
from penstock.algebra.windows import SlideWindow
from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.reports.validity import SINCE
from penstock.compile.windows.plan_span import within
from penstock.io.columns import LOGGED, ddl
from penstock.model import term_encoding
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.reasoning import Ontology
from penstock.recursive_rules.analysis.background import BackgroundTriple
from penstock.recursive_rules.analysis.entailment import NOTHING, Entailment, entailment_of
from penstock.recursive_rules.analysis.partition import SUBJECT, Partition, partition
from penstock.recursive_rules.analysis.rule import Rule, terms_of
from penstock.recursive_rules.machine import Element, Machine, merged
from penstock.recursive_rules.state_format import read_partition, write_partition
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.snapshot_result import marked
from penstock.spark.session.catalog import catalog
from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["RecursiveRulePlan"]

Constants = tuple[Term | None, ...]

# Parts into which elements are split by their key: more than cores, so that an uneven share matters less. Saved states
# belong to a part, so this is no threshold that may change.
_PARTS = 16
_ELEMENT = "part INT, start BIGINT, ts BIGINT, s STRING, p STRING, o STRING, stream STRING"
_STATE = "part INT, state STRING"
_SPLIT = b"penstock.split"  # in the file's metadata: how the elements were split, as JSON
_MADE = "part INT, ts BIGINT, s STRING, p STRING, o STRING, start BIGINT, state STRING"
_COLUMNS: dict[str, pa.DataType] = {
    "part": pa.int32(), "ts": pa.int64(), "s": pa.string(), "p": pa.string(), "o": pa.string(), "start": pa.int64(),
    "state": pa.string(),
}  # fmt: skip
_SCHEMA = pa.schema(_COLUMNS)


class RecursiveRulePlan:
    """The compiled form of a recursive rule and the rules of its cycle. It reports the triples of the rule itself."""

    emit, carries = "rules", True
    schedule = Schedule(at_changes=True, elsewhere=(SlideWindow(0),))  # operator state has what elements before were

    def __init__(
        self, name: str, group: Sequence[Rule], background: BackgroundTables, retention: int | None = None
    ) -> None:
        self._name = name
        self._group = tuple(group)
        self._background = background
        self._retention = retention
        self._known_entailment: tuple[Ontology | None, Entailment] = (None, NOTHING)

    def evaluate(self, evaluation: Evaluation) -> RuleResult:
        """The triples that elements of the span complete. A rule is of no family, so it has one file."""
        before = evaluation.before
        assert before is None or isinstance(before, str)
        entailment = self._entailment()
        saved, split = _states(before, partition(self._group, entailment=entailment))
        states = self._background.session.createDataFrame(saved, _STATE)
        elements = self._elements(evaluation.streams, evaluation.span, split)
        together = elements.groupBy("part").cogroup(states.groupBy("part"))
        return RuleResult(together.applyInArrow(self._advance(entailment), _MADE), split)

    def _entailment(self) -> Entailment:
        """The entailments of the ontology as it is now that the rules may read."""
        entailed, (last, entailment) = self._background.entailed, self._known_entailment
        ontology = None if entailed is None else entailed.ontology
        if ontology is not last:
            entailment = entailment_of(ontology, [pattern for rule in self._group for pattern in rule.patterns()])
            self._known_entailment = ontology, entailment
        return entailment

    def _elements(self, streams: Mapping[str, StreamFiles], span: Span, split: Partition | None) -> DataFrame:
        session = self._background.session
        due = sql.write_expression(within(sql.name("ts"), span))
        part = sql.alias(_part(split).cast("INT"), "part")
        start = sql.alias(sql.coalesce(sql.name("start"), sql.name("ts")), "start")
        own = [*map(sql.write_expression, (part, start)), "ts", "s", "p", "o"]
        frames = [
            session.read.schema(ddl(LOGGED))
            .parquet(*stream.paths)
            .where(due)
            .selectExpr(*own, sql.write_expression(sql.alias(sql.text(name), "stream")))
            for name, stream in streams.items()
            if stream.paths
        ]
        return reduce(DataFrame.unionAll, frames) if frames else session.createDataFrame([], _ELEMENT)

    def _advance(self, entailment: Entailment) -> Callable[[pa.Table, pa.Table], pa.Table]:
        name = self._name
        background = RuleMatches({_constants(one): self._known(one) for rule in self._group for one in rule.patterns()})
        machine = partial(
            Machine,
            self._group,
            background,
            entailment=entailment,
            retention=self._retention,
            tuning=self._background.tuning,
        )
        return lambda elements, states: advance(name, machine, elements, states)

    def _known(self, pattern: TriplePattern) -> list[BackgroundTriple]:
        """The triples of the background that agree with the constants of a pattern."""
        default = self._background.tables(self._group[0].query.dataset).default
        given = zip("spo", terms_of(pattern), strict=True)
        match = sql.all_of(sql.name(c).eq(term_columns.constant(t)) for c, t in given if not isinstance(t, Var))
        query = sql.Select(map(sql.name, "spo"), default, match)
        table = catalog(self._background.session).rows(query).toArrow()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


class RuleMatches:
    """The part of the background that rules ask for, by the constants of patterns."""

    def __init__(self, known: Mapping[Constants, list[BackgroundTriple]]) -> None:
        self._known = known

    def matches(self, pattern: TriplePattern) -> Iterable[BackgroundTriple]:
        return self._known[_constants(pattern)]


def _constants(pattern: TriplePattern) -> Constants:
    return tuple(None if isinstance(term, Var) else term for term in terms_of(pattern))


def _part(split: Partition | None) -> sql.Expr:
    """The part that an element belongs to: by the term that all it can meet have in common."""
    if split is None:
        return sql.lifted(0)
    s, o = sql.name("s"), sql.name("o")
    by_object = sorted(term_encoding.encode(p) for p, place in split.places.items() if place != SUBJECT)
    if split.other not in (None, SUBJECT):
        return _hashed(o)  # then it is the place of all
    return _hashed(sql.case((sql.name("p").among(sql.texts(by_object)), o), otherwise=s) if by_object else s)


def _hashed(term: sql.Expr) -> sql.Expr:
    return sql.call("pmod", sql.call("hash", term), _PARTS)


def _states(before: str | None, preferred: Partition | None) -> tuple[pa.Table, Partition | None]:
    """The saved states of the machines, and the partition of elements: the preferred one if it agrees with the saved
    one. Else one machine continues, with the states of all partitions."""
    if before is None:
        return _state_table({}), preferred
    saved = parquet.read_table(before)
    split: Partition | None = read_partition(saved.schema.metadata[_SPLIT].decode())
    parts: dict[int, str] = {row["part"]: row["state"] for row in saved.to_pylist()}
    if split is not None and preferred is not None and split.agrees(preferred):
        return _state_table(parts), preferred
    return _state_table({0: merged(parts.values())} if parts else {}), None


def _state_table(states: Mapping[int, str]) -> pa.Table:
    return pa.table([pa.array(states, pa.int32()), pa.array(states.values(), pa.string())], names=["part", "state"])


def advance(name: str, make: Callable[..., Machine], elements: pa.Table, states: pa.Table) -> pa.Table:
    """The triples that a rule derives from the elements of a partition, and the state of the machine then."""
    saved = states.column("state")[0].as_py() if states.num_rows else None
    if not elements.num_rows:
        return _result_table(states.column("part")[0].as_py(), [], saved)
    machine = make(saved=saved)
    ordered = elements.sort_by("ts").select(["start", "ts", "s", "p", "o", "stream"])
    rows = zip(*(column.to_pylist() for column in ordered.columns), strict=True)
    derived = list(machine.run(rows, name))
    return _result_table(elements.column("part")[0].as_py(), derived, machine.save())


def _result_table(part: int, derived: Sequence[Element], state: str | None) -> pa.Table:
    """A row a triple, and one more with the state."""
    columns = list(zip(*derived, strict=True)) or [()] * len(Element._fields)
    start, end, s, p, o, _ = ([*column, None] for column in columns)
    parts, states = [part] * len(start), [*([None] * len(derived)), state]
    cells: list[list[Any]] = [parts, end, s, p, o, start, states]
    return pa.table([pa.array(c, field.type) for c, field in zip(cells, _SCHEMA, strict=True)], schema=_SCHEMA)


class RuleResult:
    """The result of an evaluation: triples with their intervals, and the states of the machines."""

    def __init__(self, rows: DataFrame, split: Partition | None) -> None:
        self._rows, self._split = rows, split

    @property
    def frame(self) -> DataFrame:
        """The triples, each with its end in the first column and its start in the last."""
        return self._rows.where("state IS NULL").selectExpr("ts AS time", "s", "p", "o", f"start AS `{SINCE}`")

    def collect(self) -> pa.Table:
        """Run the Spark job: the same, with a further column `.row` that is true."""
        triples: pa.Table = self._fetched.filter(pc.is_null(self._fetched.column("state")))
        columns = triples.select(["ts", "s", "p", "o", "start"])
        return marked(columns.rename_columns(["time", "s", "p", "o", SINCE]))

    def write_open(self, path: str) -> int:
        """Keep the states. They are needed again only with elements to come, so nothing is open by itself."""
        states = self._fetched.filter(pc.is_valid(self._fetched.column("state")))
        split = {_SPLIT: write_partition(self._split).encode()}
        parquet.write_table(states.select(["part", "state"]).replace_schema_metadata(split), path)
        return 0

    @cached_property
    def _fetched(self) -> pa.Table:
        return self._rows.toArrow()
