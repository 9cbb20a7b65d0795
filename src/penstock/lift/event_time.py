"""The times of records: a value of the record, or a property among its triples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.nquads_reasons import clip
from penstock.io.nquads_time import microseconds
from penstock.lift.columns import Column, Ints, mapped, matching, strings
from penstock.lift.lift_result import Failures, Triples
from penstock.lift.records.reference_values import Records, Reference

__all__ = ["EventTime", "TimeUnit", "from_triples", "of_records", "read_times"]

TimeUnit: TypeAlias = Literal["iso", "s", "ms", "us"]
_FACTORS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_USUAL = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z?$"
_NONE = np.iinfo(np.int64).min  # in place of a time that is not there
_YEARS = -62_135_596_800_000_000, 253_402_300_800_000_000  # 1 to 9999


@dataclass(frozen=True, slots=True)
class EventTime:
    """The place of a record's time: at a reference, in a unit, or the object of one of these properties."""

    reference: Reference | None = None
    unit: TimeUnit = "iso"
    properties: tuple[str, ...] = ()


def read_times(column: Column, unit: TimeUnit) -> tuple[Ints, dict[int, str]]:
    """The values as microseconds since 1970, and the reasons why some, by their places, are no times."""
    read = microseconds if unit == "iso" else _epoch_reader(unit)
    fast = _fast_iso(column.texts) if unit == "iso" else _fast_epoch(column.texts, unit)
    if fast is not None:
        return fast, {}
    times, reasons = np.full(len(column.rows), _NONE, np.int64), dict[int, str]()
    for place, text in enumerate(column.texts.to_pylist()):
        try:
            times[place] = read(str(text))
        except ValueError as error:
            reasons[place] = str(error)
    return times, reasons


def _fast_iso(texts: pa.StringArray) -> Ints | None:
    """Times as they are usually written; None if one is not."""
    if not matching(texts, _USUAL).all():
        return None
    try:
        local = pc.utf8_rtrim(texts, "Z").cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    times = local.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return times if _in_years(times) else None


def _fast_epoch(texts: pa.StringArray, unit: TimeUnit) -> Ints | None:
    if not matching(texts, r"^-?[0-9]{1,12}$").all():
        return None
    times = texts.cast(pa.int64()).to_numpy(zero_copy_only=False) * _FACTORS[unit]
    return times if _in_years(times) else None


def _in_years(times: Ints) -> bool:
    return not len(times) or bool(times.min() >= _YEARS[0] and times.max() < _YEARS[1])


def _epoch_reader(unit: TimeUnit) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            time = int(Decimal(text) * _FACTORS[unit])
        except (InvalidOperation, OverflowError, ValueError):
            raise ValueError(f'the timestamp "{clip(text, 60)}" is not a number of {unit} since 1970') from None
        if not _YEARS[0] <= time < _YEARS[1]:
            raise ValueError(f'the timestamp "{clip(text, 60)}" is not in the years 1 to 9999')
        return time

    return read


def of_records(records: Records, source: Records, time: EventTime, failures: Failures) -> Ints:
    """The time of each record: its own value, else that of the message it is in. Records without one fail."""
    messages, reference = records.messages, cast(Reference, time.reference)
    times = np.full(len(messages), _NONE, np.int64)
    _fill(times, records.find([reference])[0].column, np.arange(len(messages)), messages, time, failures)
    if records is not source and (missing := np.flatnonzero(times == _NONE)).size:
        column = source.find([reference])[0].column
        owners, firsts = np.unique(source.messages[column.rows], return_index=True)
        places = np.searchsorted(owners, messages[missing])
        places = places[np.isin(messages[missing], owners)]
        rows = missing[np.isin(messages[missing], owners)]
        _fill(times, column.take(firsts[places]), rows, messages, time, failures)
    failures.add(messages[times == _NONE], f"the message has no time at {reference}")
    return times


def _fill(times: Ints, column: Column, rows: Ints, messages: Ints, time: EventTime, failures: Failures) -> None:
    """Set the times of rows to the values of a column, the first of each row."""
    owners = column.rows if len(rows) == len(times) else rows
    read, reasons = read_times(column, time.unit)
    for place, reason in reasons.items():
        failures.add(messages[owners[place : place + 1]], reason)
    firsts, places = np.unique(owners, return_index=True)
    times[firsts] = read[places]


def from_triples(parts: Sequence[Triples], time: EventTime, failures: Failures) -> list[Triples]:
    """The triples with the times that properties among them have, by record, else by message."""
    if not parts:
        return []
    properties = strings([f"<{iri}>" for iri in time.properties])
    records, messages = dict[int, int](), dict[int, int]()
    for part in parts:
        places = np.flatnonzero(pc.is_in(part.p, properties).to_numpy(zero_copy_only=False))
        if not len(places):
            continue
        lexical = mapped(part.o.take(places), _lexical)
        times, reasons = read_times(Column(part.records[places], lexical), time.unit)
        for place, reason in reasons.items():
            failures.add(part.messages[places[place : place + 1]], reason)
        for place, moment in zip(places.tolist(), times.tolist(), strict=True):
            if moment != _NONE:
                records.setdefault(int(part.records[place]), moment)
                messages.setdefault(int(part.messages[place]), moment)
    names = " or ".join(f"<{iri}>" for iri in time.properties)
    return [
        _timed(part, records, messages, failures, f"the message has no time: no triple has {names}") for part in parts
    ]


def _timed(
    part: Triples, records: dict[int, int], messages: dict[int, int], failures: Failures, reason: str
) -> Triples:
    pairs = zip(part.records.tolist(), part.messages.tolist(), strict=True)
    ts = np.array([records.get(record, messages.get(message, _NONE)) for record, message in pairs], np.int64)
    failures.add(part.messages[ts == _NONE], reason)
    return replace(part, ts=ts)


def _lexical(term: str) -> str:
    """The text of an encoded literal; that of another term is no time."""
    return term[1 : term.rindex('"')] if term.startswith('"') else term
