"""Lifting: messages in JSON, CSV or XML become elements of a stream by a mapping, a whole batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import pyarrow as pa
from pyoxigraph import NamedNode

from penstock.errors import LoadError, OptionError
from penstock.lift import context, rml
from penstock.lift.context.mapping import ContextPlan
from penstock.lift.context.rules import Rules
from penstock.lift.event_time import EventTime, TimeUnit
from penstock.lift.lift_result import Batch, Failure, Lifted, Triples, assemble
from penstock.lift.mapping_text import MappingText
from penstock.lift.message_references import Origin
from penstock.lift.plan import Formulation, RmlPlan
from penstock.lift.records import csv_records, jsonpath, xml_records, xpath
from penstock.lift.records.json_messages import check
from penstock.lift.records.json_records import JsonRecords, records_of
from penstock.lift.records.reference_values import Records, Reference
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Lifting", "MessageFormat"]

MessageFormat: TypeAlias = Literal["json", "ndjson", "csv", "xml"]
"""Of a file: one message of JSON, one in each line, one in each row of CSV, or one of XML."""
_FORMULATIONS: dict[str, Formulation] = {
    "json": Formulation.JSON,
    "ndjson": Formulation.JSON,
    "csv": Formulation.CSV,
    "xml": Formulation.XML,
}


@dataclass(frozen=True, slots=True)
class Lifting:
    """A mapping, compiled once, which lifts batches of messages to elements of a stream.

    `Lifting.from_file("sensors.ttl")` reads a mapping in RML, or by a JSON-LD context if the file ends in `.json` or
    `.jsonld`. `lifting.apply(messages)` returns a `Lifted` with the table of elements, and the messages that could not
    be lifted, each with the reason.
    """

    plan: RmlPlan | ContextPlan
    time: EventTime | None = None
    header: str | None = None
    prefixes: dict[str, str] = field(default_factory=dict, compare=False)
    tuning: Tuning = DEFAULT
    _rules: Rules | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        time: str | None = None,
        time_unit: TimeUnit = "iso",
        time_properties: Sequence[str] = (),
        header: str | None = None,
        tuning: Tuning = DEFAULT,
    ) -> Lifting:
        """The lifting by a mapping file; a `MappingError` shows the place of a mistake in it.

        The time of an element is the value at the reference `time` (JSONPath, XPath or a column, from the record on),
        an xsd:dateTime or in the `time_unit` a number since 1970; or else the object of one of the `time_properties`
        among the triples. `header` names the columns of messages that are rows of CSV without a header.
        """
        try:
            text = Path(path).read_text("utf-8-sig")
        except OSError as error:
            raise LoadError(f"{path}: {error.strerror or error}") from error
        except UnicodeDecodeError:
            raise LoadError(f"{path}: the mapping is not text in UTF-8") from None
        return cls.from_text(
            text,
            name=str(path),
            time=time,
            time_unit=time_unit,
            time_properties=time_properties,
            header=header,
            tuning=tuning,
        )

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        name: str = "mapping",
        time: str | None = None,
        time_unit: TimeUnit = "iso",
        time_properties: Sequence[str] = (),
        header: str | None = None,
        tuning: Tuning = DEFAULT,
    ) -> Lifting:
        """The lifting by the text of a mapping, which is a context if it begins with a brace; `name` is for errors."""
        mapping = MappingText(name, text)
        by_context = text.lstrip().startswith("{") or name.endswith((".json", ".jsonld"))
        plan = context.read_mapping(mapping) if by_context else rml.read_mapping(mapping)
        event_time = _event_time(plan, mapping.prefixes, time, time_unit, time_properties)
        rules = Rules(plan, tuning) if isinstance(plan, ContextPlan) else None
        return cls(plan, event_time, header, dict(mapping.prefixes), tuning, rules)

    @property
    def formulation(self) -> Formulation:
        """The language of the mapping's references."""
        return self.plan.formulation if isinstance(self.plan, RmlPlan) else Formulation.JSON

    def apply(
        self, messages: Sequence[bytes], *, first: int = 0, labels: str = "", origins: Sequence[Origin] = ()
    ) -> Lifted:
        """The elements of messages, which are numbered from `first` on; `labels` goes before blank nodes' labels.

        `origins` has the topic, key and headers of each message, if they are known.
        """
        size = self.tuning.lift_messages
        starts = range(0, len(messages), size) or [0]
        parts = [(slice(start, start + size), first + start) for start in starts]
        return _merged([self._batch(messages[part], Batch(number, labels, origins[part])) for part, number in parts])

    def _batch(self, messages: Sequence[bytes], batch: Batch) -> Lifted:
        return self._lifted(self._sources(messages, batch) if messages else [], batch, len(messages))

    def apply_file(
        self, data: bytes, format: MessageFormat, *, labels: str = "", origin: Origin | None = None
    ) -> Lifted:
        """The elements of a file, whose messages (rows of CSV, lines of NDJSON that are not empty) count from 1.

        `origin` is the topic, key and headers of all of them.
        """
        if _FORMULATIONS.get(format) is not self.formulation:
            known = ", ".join(name for name, formulation in _FORMULATIONS.items() if formulation is self.formulation)
            raise OptionError(f"the mapping is for {known}, and not for {format}")
        if format == "csv" and self.header is None:
            records, reasons = csv_records.read_document(data)
            count = len(records.messages)
            batch = Batch(1, labels, _same(origin, count + len(reasons)))
            batch.failures.add_all(reasons, 1)
            return self._lifted([replace(records, messages=records.messages + 1)], batch, count)
        lines = format in ("ndjson", "csv")
        messages = [line for line in data.splitlines() if line.strip()] if lines else [data]
        return self.apply(messages, first=1, labels=labels, origins=_same(origin, len(messages)))

    def _sources(self, messages: Sequence[bytes], batch: Batch) -> list[Records]:
        """The valid messages as records."""
        match self.formulation:
            case Formulation.JSON:
                checked = check(messages, self.tuning.slow_messages)
                batch.failures.add_all(checked.reasons, batch.first)
                return [*records_of(checked, batch.first)]
            case Formulation.CSV:
                rows, reasons = csv_records.read_messages(messages, self.header)
                batch.failures.add_all(reasons, batch.first)
                return [replace(rows, messages=rows.messages + batch.first)]
            case Formulation.XML:
                elements, reasons = xml_records.read_messages(messages)
                batch.failures.add_all(reasons, batch.first)
                return [replace(elements, messages=elements.messages + batch.first)]

    def _lifted(self, sources: list[Records], batch: Batch, count: int) -> Lifted:
        table = assemble(self._triples(sources, batch), batch.failures, timed=self.time is not None)
        failures = [Failure(message, reason) for message, reason in sorted(batch.failures.reasons.items())]
        return Lifted(table, failures, batch.absent(), count, batch.first)

    def _triples(self, sources: list[Records], batch: Batch) -> list[Triples]:
        if isinstance(self.plan, RmlPlan):
            return rml.lift_sources(self.plan, sources, self.time, batch)
        records = [source for source in sources if isinstance(source, JsonRecords)]
        return context.lift_sources(self.plan, self._rules or Rules(self.plan, self.tuning), records, self.time, batch)


def _same(origin: Origin | None, count: int) -> Sequence[Origin]:
    return () if origin is None else [origin] * count


def _merged(parts: Sequence[Lifted]) -> Lifted:
    """The batches as one; what is absent is absent from all."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return Lifted(
        pa.concat_tables([part.table for part in parts], promote_options="default"),
        [failure for part in parts for failure in part.failures],
        [sentence for sentence in first.absent if all(sentence in part.absent for part in parts)],
        sum(part.messages for part in parts),
        first.first,
    )


def _event_time(
    plan: RmlPlan | ContextPlan, prefixes: dict[str, str], time: str | None, unit: TimeUnit, properties: Sequence[str]
) -> EventTime | None:
    if unit not in get_args(TimeUnit):
        raise OptionError(f"time_unit={unit!r}: there are {', '.join(get_args(TimeUnit))}")
    if time is not None and properties:
        raise OptionError("the time is at a reference or a property: give time or time_properties")
    if time is None:
        return EventTime(None, unit, tuple(map(_property, properties))) if properties else None
    formulation = plan.formulation if isinstance(plan, RmlPlan) else Formulation.JSON
    try:
        return EventTime(_reference(time, formulation, prefixes), unit)
    except ValueError as error:
        raise OptionError(f"time={time!r}: {error}") from None


def _property(iri: str) -> str:
    try:
        return NamedNode(iri).value
    except ValueError:
        raise OptionError(f"time_properties: {iri!r} is not an absolute IRI") from None


def _reference(text: str, formulation: Formulation, prefixes: dict[str, str]) -> Reference:
    match formulation:
        case Formulation.JSON:
            return jsonpath.parse(text)
        case Formulation.XML:
            return xpath.parse(text, prefixes)
    return text
