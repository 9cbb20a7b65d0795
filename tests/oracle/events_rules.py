"""Generated sets of rules with a query on top, through the whole engine: from files, or pushed in portions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyoxigraph import NamedNode, Quad

from penstock import Engine, QueryError
from penstock.algebra.expressions import Var
from penstock.algebra.occurrence import is_timed
from penstock.algebra.ops import RULES, Op, Query, Select
from penstock.algebra.scope import visible
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.rule import Rule
from tests.oracle import events_texts as texts
from tests.oracle.events_cases import Cut, cut, for_spark, leaves, prepared, world
from tests.support import event_plans, rule_sets
from tests.support import event_reference as events
from tests.support.event_reference import Element, World
from tests.support.plan_under_test import engine_options
from tests.support.quads import quad_of
from tests.support.tape import Tape

Solutions = frozenset[Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Ruled:
    rules: tuple[Rule, ...]
    plan: Op  # of the query on top
    world: World
    cut: Cut
    query_first: bool
    query_named: bool  # whether the streams are, that it reads
    way: str  # in which the elements come

    @property
    def streams(self) -> list[str]:
        return sorted({e.stream.value for e in self.world.elements if e.stream is not None})

    @property
    def closed(self) -> World:
        """The least fixpoint."""
        derived = rule_sets.closure(self.rules, self.world)
        return replace(self.world, elements=(*self.world.elements, *derived))

    @property
    def solutions(self) -> Solutions:
        """What the query says on it, as a set: two rules may well say the same."""
        return frozenset(events.delivered(self.plan, self.closed))

    @property
    def texts(self) -> Iterator[str]:
        named = self.query_named or not is_timed(Query(Select(), self.plan))
        streams = [*map(NamedNode, self.streams), RULES] if named else []
        query = texts.select(for_spark(self.plan), tuple(sorted(visible(self.plan))), streams)
        rules = [texts.rule(for_spark(made)) for made in self.rules]
        yield from [query, *rules] if self.query_first else [*rules, query]


def ruled_case(tape: Tape) -> Ruled:
    sets = (rule_sets.any_rules, rule_sets.positive_rules, rule_sets.gap_rules, rule_sets.keyed_rules)
    rules = tuple(prepared(made) for made in tape.pick(sets)(tape))
    plan = prepared(rule_sets._likely(tape, event_plans.decided_plan(tape, 1)))
    made = replace(world(tape, tape.pick((1, 1, 2))), streams=())
    return Ruled(
        rules, plan, made, cut(tape), tape.chance(2), tape.chance(2), tape.pick(("files", "files", "python", "live"))
    )


def says_more(case: Ruled) -> bool:
    """Whether the query says something that it would not say without the rules, and all that is short enough."""
    plans = [case.plan, *(made.pattern for made in case.rules)]
    if sum(map(leaves, plans)) > 8 or not visible(case.plan) or not all(map(texts.sayable, plans)):
        return False
    if not is_accepted(case):
        return False
    return case.solutions != frozenset(events.delivered(case.plan, case.world))


def is_accepted(case: Ruled) -> bool:
    """Whether the rules could be one group, which not all can."""
    try:
        list(rule_sets.machine(case.rules, case.world).run(rule_sets.fed(case.world)))
        return rule_sets.closure(case.rules, case.world) is not None
    except (QueryError, rule_sets.NoAnswerError):
        return False


# The engine


def solutions(case: Ruled, spark: Any, folder: Path) -> Solutions:
    with Engine(spark=spark, **engine_options("".join(case.texts), case.cut.rules)) as engine:
        engine.load([quad_of(triple) for triple in case.world.background])
        found = list(WAYS[case.way](engine, case, folder))
    return frozenset(
        (frozenset((Var(name), term) for name, term in row.items()), _time(answer.starts), _time(answer.ends))
        for answer in found
        for row in answer.rows
    )


def _time(moment: datetime | None) -> int:
    assert moment is not None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def registered(engine: Engine, case: Ruled) -> Any:
    queries = [engine.register(text) for text in case.texts]
    return queries[0 if case.query_first else -1]


def from_files(engine: Engine, case: Ruled, folder: Path) -> Iterator[Any]:
    for number, name in enumerate(case.streams):
        path = folder / f"{number}.parquet"
        pq.write_table(_table(case.world.of(NamedNode(name))), path)
        engine.stream(name, path)
    query = registered(engine, case)
    engine.run()
    yield from query.answers()


def from_python(engine: Engine, case: Ruled, folder: Path) -> Iterator[Any]:
    for name in case.streams:
        engine.stream(name, [_pushed(element) for element in case.world.of(NamedNode(name))])
    query = registered(engine, case)
    engine.run()
    yield from query.answers()


def _pushed(element: Element) -> tuple[Quad, int, int]:
    return quad_of(element.triple), element.start, element.end


def _table(elements: Sequence[Element]) -> pa.Table:
    columns: dict[str, list[str] | list[int]] = {
        name: [encode(e.triple[i]) for e in elements] for i, name in enumerate("spo")
    }
    return pa.table(columns | {"ts": [e.start for e in elements], "te": [e.end for e in elements]})


def in_portions(engine: Engine, case: Ruled, folder: Path) -> Iterator[Any]:
    """Live, in order of time."""
    for name in case.streams:
        engine.stream(name)
    query = registered(engine, case)
    engine.start()
    last = max(e.end for e in case.world.elements)
    cuts = [-1, last // 2, last] if case.cut.spans > 1 else [-1, last]
    for after, through in pairwise(cuts):
        for element in case.world.elements:
            if after < element.end <= through and element.stream is not None:
                engine.push(element.stream.value, [_pushed(element)])
        for name in case.streams:
            engine.advance(name, through + 1)
        engine.flush()
    engine.stop()
    yield from query.answers()


WAYS: dict[str, Callable[[Engine, Ruled, Path], Iterator[Any]]] = {
    "files": from_files,
    "python": from_python,
    "live": in_portions,
}
