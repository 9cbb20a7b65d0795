"""Applies a context to a batch of messages: by columns where rules cover them, else as documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from penstock.lift.columns import Ints
from penstock.lift.context.documents import document_triples
from penstock.lift.context.mapping import ContextPlan
from penstock.lift.context.nodes import NodeTriples
from penstock.lift.context.rules import Rules
from penstock.lift.event_time import EventTime, from_triples, of_records
from penstock.lift.lift_result import Batch, Triples
from penstock.lift.records.json_records import JsonRecords
from penstock.lift.records.jsonpath import ROOT

__all__ = ["lift_sources"]

_NO_OBJECT = "a message is an object of JSON, or an array of objects"


def lift_sources(
    plan: ContextPlan,
    rules: Rules,
    sources: Sequence[JsonRecords],
    time: EventTime | None,
    batch: Batch,
    *,
    columns: bool = True,
) -> list[Triples]:
    """The triples of the messages that the sources hold; without `columns`, all of them as documents."""
    parts: list[Triples] = []
    records = 0
    for source in sources:
        (roots,) = source.find([ROOT])
        batch.failures.add(source.messages[np.union1d(roots.column.rows, roots.null_rows)], _NO_OBJECT)
        if roots.objects is None:
            continue
        objects = cast(JsonRecords, roots.objects)
        numbers = np.arange(records, records + len(objects.messages))
        triples = _lift(plan, rules, objects, numbers, batch, columns=columns)
        if time is not None and time.reference is not None:
            times = of_records(objects, source, time, batch.failures)
            triples = [replace(part, ts=times[part.records - records]) for part in triples]
        parts += triples
        records += len(objects.messages)
    return from_triples(parts, time, batch.failures) if time is not None and time.properties else parts


def _lift(
    plan: ContextPlan, rules: Rules, objects: JsonRecords, numbers: Ints, batch: Batch, *, columns: bool
) -> list[Triples]:
    """The triples of objects, each of which is the record with its number."""
    nodes = NodeTriples(plan, rules, batch)
    parts = nodes.apply(objects, numbers) if columns else []
    left = np.flatnonzero(nodes.left) if columns else np.arange(len(numbers))
    if len(left):
        numbered = [(int(numbers[row]), int(objects.messages[row]), objects.value(row)) for row in left.tolist()]
        parts.append(document_triples(plan, numbered, batch))
    return parts
