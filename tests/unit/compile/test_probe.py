"""A probe sees the plan and the relation of each operator, as long as it is set."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.algebra import ops, sse
from penstock.compile import probe, sql
from penstock.compile.relation import Relation
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.optimise import Optimised, Statistics, Uniform, optimise

PATTERN = sse.read("(bgp (?s ?p ?o))")
RELATION = Relation(sql.view("t"), ("s", "p", "o"), frozenset(("s", "p", "o")))


class Recorder:
    def __init__(self) -> None:
        self.plans: list[ops.Query] = []
        self.ops: list[ops.Op] = []

    def planned(
        self, optimised: Optimised, physical: ops.Query, statistics: Statistics, contents: Sequence[WindowRelation]
    ) -> None:
        self.plans.append(physical)

    def compiled(self, op: ops.Op, relation: Relation) -> None:
        self.ops.append(op)


def test_probe_sees_plans_and_operators_inside_its_block() -> None:
    recorder, query = Recorder(), ops.Query(ops.Ask(), PATTERN)
    with probe.probing(recorder):
        probe.planned(optimise(query, Uniform()), query, Uniform())
        probe.compiled(PATTERN, RELATION)
    probe.planned(optimise(query, Uniform()), query, Uniform())
    probe.compiled(PATTERN, RELATION)
    assert recorder.plans == [query]
    assert recorder.ops == [PATTERN]
