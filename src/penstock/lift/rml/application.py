"""Applies a plan of RML to a batch of messages: each triples map to the records that its iterator finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from penstock.lift.event_time import EventTime, from_triples, of_records
from penstock.lift.lift_result import Batch, Triples
from penstock.lift.message_references import MessageReference
from penstock.lift.plan import Reference, RmlPlan, TriplesMap
from penstock.lift.records.json_records import JsonRecords
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.reference_values import Records, ReferenceValues
from penstock.lift.records.xml_records import XmlRecords
from penstock.lift.records.xpath import XPath
from penstock.lift.rml.triples import triples_of
from penstock.syntax.suggest import did_you_mean

__all__ = ["lift_sources"]


def lift_sources(plan: RmlPlan, sources: Sequence[Records], time: EventTime | None, batch: Batch) -> list[Triples]:
    """The triples of the messages that the sources hold."""
    parts: list[Triples] = []
    records = 0
    for triples_map in plan.triples_maps:
        for source in sources:
            iterated = _iterated(source, triples_map)
            if len(iterated.messages):
                parts += _lift(triples_map, iterated, source, records, time, batch)
                records += len(iterated.messages)
    return from_triples(parts, time, batch.failures) if time is not None and time.properties else parts


def _iterated(source: Records, triples_map: TriplesMap) -> Records:
    match triples_map.iterator:
        case JsonPath() as path:
            return cast(JsonRecords, source).iterate(path)
        case XPath() as path:
            return cast(XmlRecords, source).iterate(path)
    return source


def _lift(
    triples_map: TriplesMap, records: Records, source: Records, number: int, time: EventTime | None, batch: Batch
) -> list[Triples]:
    """The triples of records, the first of which has this number."""
    values_of = _values(triples_map.references(), records, batch)
    for reference, values in values_of.items():
        there = bool(len(values.column.rows) or len(values.object_rows))
        batch.note(str(reference), there, lambda name=str(reference): did_you_mean(name, records.names()))  # type: ignore[misc]
    parts = triples_of(triples_map, records, values_of, batch.labels, batch.failures)
    if time is not None and time.reference is not None:
        times = of_records(records, source, time, batch.failures)
        parts = [replace(part, ts=times[part.records]) for part in parts]
    offset = np.int64(number)
    return [replace(part, records=part.records + offset) for part in parts]


def _values(references: Sequence[Reference], records: Records, batch: Batch) -> dict[Reference, ReferenceValues]:
    """The values of references to the records, and to the messages that these are in."""
    inside = [reference for reference in references if not isinstance(reference, MessageReference)]
    values: dict[Reference, ReferenceValues] = {}
    if inside:
        values |= zip(inside, records.find(inside), strict=True)
    for reference in references:
        if isinstance(reference, MessageReference):
            values[reference] = batch.find(reference, records.messages)
    return values
