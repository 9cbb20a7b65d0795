"""SQL of a sequence in tasks: a view of the rows that Python tasks return, each for its piece of the time axis."""

from __future__ import annotations

from functools import partial

from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.kernels import sequence_kernel
from penstock.compile.kernels.sequence_kernel import Chain, Piece, sequences
from penstock.compile.operators.compile_operator import compiles
from penstock.compile.physical.nodes import SequenceTasks
from penstock.compile.physical.sequences import steps_of
from penstock.compile.relation import ENDS, STARTS, Relation


@compiles(SequenceTasks)
def compile_tasks(op: SequenceTasks, context: Context) -> Relation:
    """Return the rows of the sequence, which its tasks compute when they are read."""
    steps, plan = steps_of(op), context.plan
    assert steps is not None
    paths = tuple(path for content in context.contents() for path in content.paths)
    chain = Chain(steps, op.within, paths, plan.tuning.sequence_pairs, plan.tuning.sequence_batch_rows)
    types = dict.fromkeys(chain.vars, "STRING") | {STARTS: "BIGINT", ENDS: "BIGINT"}
    columns = ", ".join(f"{sql.write_expression(sql.name(name))} {type}" for name, type in types.items())
    view, pieces = plan.new_view(), [Piece(*bounds) for bounds in op.pieces]
    plan.run_tasks(view, pieces, partial(sequences, chain), columns, (sequence_kernel,))
    return Relation(sql.view(view), tuple(types), frozenset(types))
