"""What the compiler chose is told to who listens, with the operator that it was chosen for."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.algebra import ops, sse
from penstock.algebra.expressions import Var
from penstock.compile import notes, sql
from penstock.compile.cardinality import Cardinality
from penstock.compile.operators import joins
from penstock.compile.operators.events import sequence_join
from penstock.compile.relation import ENDS, FROM, STARTS, TO, Relation
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.optimise import Uniform, optimise
from penstock.optimise.cost import Estimate

SECOND = 1_000_000


class Probe:
    def __init__(self) -> None:
        self.ops: list[ops.Op] = []

    def begin(self, query: ops.Query, contents: Sequence[WindowRelation]) -> None:
        self.ops.clear()

    def seen(self, op: ops.Op, relation: Relation) -> None:
        self.ops.append(op)


def relation(*times: str) -> Relation:
    size = Cardinality(lambda: Estimate(1e6, {Var("gate"): 1e3}), 10 * SECOND)
    vars = ("gate", *times)
    return Relation(sql.view("t"), vars, frozenset(vars), cardinality=size)


def op(text: str) -> ops.Op:
    return sse.read(text)


def test_buckets_of_a_join_are_told_with_the_join() -> None:
    recorder, made = notes.Recorder(Probe()), op("(join (bgp (?gate :p ?x)) (bgp (?gate :q ?y)))")
    assert isinstance(made, ops.Join)
    with notes.recording(recorder):
        notes.compiled(made.left, relation(FROM, TO))
        joined = joins.join(relation(FROM, TO), relation(FROM, TO), span=Span(0, 2_000 * SECOND))
        notes.compiled(made, joined)
    [(whose, text)] = recorder.notes
    assert whose is made
    assert text.startswith("on ?gate: in buckets of ")
    assert text.endswith(" s")


def test_sequences_tell_how_long_they_may_be() -> None:
    recorder = notes.Recorder(Probe())
    with notes.recording(recorder):
        sequence_join.join(relation(STARTS, ENDS), relation(STARTS, ENDS), 90 * SECOND, Span(0, 2_000 * SECOND))
    assert recorder.unclaimed[0].startswith("within 1.5 m: in buckets of ")


def test_a_plan_that_is_compiled_once_more_starts_anew() -> None:
    recorder, query = notes.Recorder(Probe()), ops.Query(ops.Ask(), op("(bgp (?s ?p ?o))"))
    with notes.recording(recorder):
        for _ in range(2):
            notes.planned(optimise(query, Uniform()), Uniform())
            notes.note("once")
            notes.compiled(query.pattern, relation())
    assert [text for _, text in recorder.notes] == ["once"]
    assert isinstance(recorder.probe, Probe)
    assert recorder.probe.ops == [query.pattern]


def test_nobody_listens() -> None:
    notes.note("lost")
    notes.compiled(op("(bgp (?s ?p ?o))"), relation())
    with notes.recording(notes.Recorder(Probe())) as recorder:
        pass
    assert recorder.unclaimed == []
