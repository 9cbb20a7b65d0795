"""The choice of a sequence's algorithm: tasks that read pieces of time, a join in buckets of time, or a plain join.

A filter on getDURATION() bounds a sequence. The elements of a bounded sequence lie close together: so a task can read
its piece of the stream and a little before it, and nothing is shuffled. Other sequences, and small ones, are joined.
"""

from __future__ import annotations

from collections import Counter

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile.context import Context
from penstock.compile.kernels.sequence_kernel import Step
from penstock.compile.physical.cardinality import partial_join_cardinality
from penstock.compile.physical.facts import Facts, joined
from penstock.compile.physical.join_algorithm import cheapest_width
from penstock.compile.physical.nodes import SequenceBucketJoin, SequenceTasks
from penstock.compile.relation import is_key
from penstock.model import term_encoding
from penstock.model.span import Span
from penstock.optimise.cost import rows_joined
from penstock.tuning import DEFAULT, Tuning

__all__ = ["by_buckets", "by_tasks", "cut_pieces", "steps_of"]

Pieces = tuple[tuple[int | None, int], ...]


def by_buckets(
    op: ops.Seq, left: Facts, right: Facts, within: int, span: Span, tuning: Tuning
) -> tuple[SequenceBucketJoin, Facts]:
    """Return the join in buckets of time of two sides with occurrence times, and the facts of its rows."""
    facts = joined(left, right)
    if left.cardinality is None or right.cardinality is None:  # a row has at most two copies in buckets of this width
        return SequenceBucketJoin(op.left, op.right, within, max(1, within), hashed=False), facts
    one, other = left.cardinality.estimate(), right.cardinality.estimate()
    time = span.through - span.after + within
    width = round(cheapest_width(0, one.rows * within, rows_joined(one, other) / time, tuning.bucket_copy_cost))
    near = within / time  # share of the pairs; half of these are in order
    size = partial_join_cardinality(left.cardinality, right.cardinality, near / 2, None)
    return SequenceBucketJoin(op.left, op.right, within, width, hashed=True), facts.sized(size)


def by_tasks(op: ops.Seq, within: int, context: Context) -> SequenceTasks | None:
    """Return the sequence in tasks; None if it is not of single events, or too small to pay."""
    if steps_of(op) is None or not _is_plain(context):
        return None
    contents, span, plan = context.contents(), context.known_span, context.plan
    if span is None or not any(content.paths for content in contents):
        return None
    lasts = [content.lasts for content in contents]
    before = None if None in lasts else max(last for last in lasts if last is not None)
    pieces = cut_pieces(sum(c.rows for c in contents), span, before, within, plan.cores, plan.tuning)
    return SequenceTasks(op.left, op.right, within, pieces) if pieces else None


def cut_pieces(rows: int, span: Span, before: int | None, within: int, cores: int, tuning: Tuning = DEFAULT) -> Pieces:
    """Return the span, and the time before it that matters (None: any), cut into pieces; none if that does not pay."""
    most = (span.through - span.after) // (tuning.sequence_margin * max(1, within))
    if rows < tuning.hinted_elements or most < cores:
        return ()
    count = min(most, max(tuning.sequence_tasks_per_core * cores, -(-rows // tuning.sequence_task_elements)))
    width = -(-(span.through - span.after) // count)
    cuts = [*range(span.after, span.through, width)][1:]
    first = None if before is None else span.after - before
    return tuple(zip([first, *cuts], [*cuts, span.through], strict=True))


def _is_plain(context: Context) -> bool:
    """Whether elements are read from their files unchanged."""
    streaming = context.plan.streaming
    assert streaming is not None
    own = context.scope.graph is None and not context.in_window and not context.universes
    plain = streaming.entailed is None and not streaming.stamped
    return own and plain and all(c.paths and not c.when for c in context.contents())


def steps_of(op: ops.Op) -> tuple[Step, ...] | None:
    """Return the steps of a sequence of single events; None if it has other operands."""
    match op:
        case ops.Seq(left, right):
            before, after = steps_of(left), steps_of(right)
            return None if before is None or after is None else before + after
        case ops.Bgp((pattern,)):
            return _step(pattern)
        case ops.Project(vars, inner):
            return _projected(steps_of(inner), {var.name for var in vars})
    return None


def _projected(steps: tuple[Step, ...] | None, vars: set[str]) -> tuple[Step, ...] | None:
    """Return the steps with only these variables; None if a variable by which steps join would be lost."""
    counted = Counter(var for step in steps or () for var in step.vars.values())
    if steps is None or any(count > 1 and var not in vars for var, count in counted.items()):
        return None
    return tuple(Step(s.terms, {place: var for place, var in s.vars.items() if var in vars}) for s in steps)


def _step(pattern: ops.TriplePattern) -> tuple[Step, ...] | None:
    places = {"s": pattern.subject, "p": pattern.predicate, "o": pattern.object}
    vars = {place: term.name for place, term in places.items() if isinstance(term, Var)}
    terms = {place: term_encoding.encode(term) for place, term in places.items() if not isinstance(term, Var)}
    once = len(set(vars.values())) == len(vars)
    return (Step(terms, vars),) if once and not any(map(is_key, vars.values())) else None
