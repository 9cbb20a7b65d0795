"""SEQ of single events with a bounded duration: Python tasks that each evaluate one piece of the time axis.

The elements of such a sequence lie close together. So a task reads its piece of the stream and a little before it, and
nothing is shuffled. Other sequences, and small ones, are joined by Spark (`sequence_join`).
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.compile import notes, sql
from penstock.compile.context import Context
from penstock.compile.operators.events import sequence_kernel
from penstock.compile.operators.events.sequence_kernel import Chain, Piece, Step, sequences
from penstock.compile.relation import ENDS, STARTS, Relation, is_key
from penstock.model import term_encoding
from penstock.model.span import Span
from penstock.tuning import DEFAULT, Tuning


def compile_by_tasks(op: ops.Seq, within: int, context: Context) -> Relation | None:
    """Return the sequence, evaluated by tasks; None if it is not of single events, or too small to pay."""
    streaming, steps = context.plan.streaming, _steps(op)
    if streaming is None or steps is None or not _is_plain(context):
        return None
    contents = context.contents()
    paths = tuple(path for content in contents for path in content.paths)
    lasts = [content.lasts for content in contents]
    known = None if None in lasts else max(last for last in lasts if last is not None)
    span = streaming.timeline.span
    plan = context.plan
    cut = pieces(sum(c.rows for c in contents), span, known, within, plan.cores, plan.tuning)
    if not paths or not cut:
        return None
    chain = Chain(steps, within, paths, plan.tuning.sequence_pairs, plan.tuning.sequence_batch_rows)
    notes.note(f"a sequence of {len(steps)} events within {notes.about(within)}: in {len(cut)} tasks")
    types = dict.fromkeys(chain.vars, "STRING") | {STARTS: "BIGINT", ENDS: "BIGINT"}
    columns = ", ".join(f"{sql.write_expression(sql.name(name))} {type}" for name, type in types.items())
    view = plan.new_view()
    plan.run_tasks(view, cut, partial(sequences, chain), columns, (sequence_kernel,))
    return Relation(sql.view(view), tuple(types), frozenset(types))


def pieces(rows: int, span: Span, before: int | None, within: int, cores: int, tuning: Tuning = DEFAULT) -> list[Piece]:
    """Return the span, and the time before it that matters (None: any), cut into pieces; none if that does not pay."""
    most = (span.through - span.after) // (tuning.sequence_margin * max(1, within))
    if rows < tuning.hinted_elements or most < cores:
        return []
    count = min(most, max(tuning.sequence_tasks_per_core * cores, -(-rows // tuning.sequence_task_elements)))
    width = -(-(span.through - span.after) // count)
    cuts = [*range(span.after, span.through, width)][1:]
    first = None if before is None else span.after - before
    return [Piece(*bounds) for bounds in zip([first, *cuts], [*cuts, span.through], strict=True)]


def _is_plain(context: Context) -> bool:
    """Whether elements are read from their files unchanged."""
    streaming = context.plan.streaming
    assert streaming is not None
    own = context.graph is None and context.window is None and not context.universes
    plain = streaming.entailed is None and not streaming.stamped
    return own and plain and all(c.paths and not c.when for c in context.contents())


def _steps(op: ops.Op) -> tuple[Step, ...] | None:
    match op:
        case ops.Seq(left, right):
            before, after = _steps(left), _steps(right)
            return None if before is None or after is None else before + after
        case ops.Bgp((pattern,)):
            return _step(pattern)
        case ops.Project(vars, inner):
            return _projected(_steps(inner), {var.name for var in vars})
    return None


def _projected(steps: tuple[Step, ...] | None, kept: set[str]) -> tuple[Step, ...] | None:
    """Return the steps with only these variables; None if a variable by which steps join would be lost."""
    counted = Counter(var for step in steps or () for var in step.vars.values())
    if steps is None or any(count > 1 and var not in kept for var, count in counted.items()):
        return None
    return tuple(Step(s.terms, {place: var for place, var in s.vars.items() if var in kept}) for s in steps)


def _step(pattern: ops.TriplePattern) -> tuple[Step, ...] | None:
    places = {"s": pattern.subject, "p": pattern.predicate, "o": pattern.object}
    vars = {place: term.name for place, term in places.items() if isinstance(term, Var)}
    terms = {place: term_encoding.encode(term) for place, term in places.items() if not isinstance(term, Var)}
    once = len(set(vars.values())) == len(vars)
    return (Step(terms, vars),) if once and not any(map(is_key, vars.values())) else None
