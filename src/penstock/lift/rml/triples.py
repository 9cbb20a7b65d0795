"""Applies a plan of RML to records: each term map is a column of terms, each statement a product of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from penstock.lift.columns import Column, Ints, joined, matching_rows, repeated
from penstock.lift.lift_result import Failures, Triples
from penstock.lift.plan import Constant, Reference, Statement, Template, TermMap, TermType, TriplesMap
from penstock.lift.records.reference_values import Records, ReferenceValues
from penstock.lift.terms import absolute_iris, blank_nodes, literals, natural_literals, percent_encoded

__all__ = ["triples_of"]


@dataclass(frozen=True, slots=True)
class _Terms:
    """A column of terms with the record of each; None: the same term for every record."""

    rows: Ints | None
    terms: pa.StringArray | str


def triples_of(
    triples_map: TriplesMap,
    records: Records,
    values: Mapping[Reference, ReferenceValues],
    labels: str,
    failures: Failures,
) -> list[Triples]:
    """The triples of records, in which the references have found these values."""
    batch = _Batch(records, values, labels, failures)
    subject = batch.terms(triples_map.subject)
    return [batch.triples(subject, statement) for statement in triples_map.statements]


class _Batch:
    """The terms of term maps for a batch of records, each computed once."""

    def __init__(
        self, records: Records, values: Mapping[Reference, ReferenceValues], labels: str, failures: Failures
    ) -> None:
        self._records = records
        self._found = values
        self._labels = labels
        self._failures = failures
        self._terms: dict[TermMap, _Terms] = {}

    def triples(self, subject: _Terms, statement: Statement) -> Triples:
        """The triples of a statement: all combinations of the terms of a record."""
        parts = [subject, *(self.terms(term_map) for term_map in statement.term_maps())]
        everyone = np.arange(len(self._records.messages))
        varying = [part.rows for part in parts if part.rows is not None] or [everyone]
        places = iter(matching_rows(varying))
        rows, columns = None, []
        for part in parts:
            if part.rows is None:
                columns.append(part.terms)
                continue
            place = next(places)
            rows = part.rows[place] if rows is None else rows
            terms = cast(pa.StringArray, part.terms)
            columns.append(terms if len(place) == len(terms) and _unmoved(place) else terms.take(place))
        rows = everyone if rows is None else rows
        s, p, o, *g = (repeated(each, len(rows)) if isinstance(each, str) else each for each in columns)
        return Triples(self._records.messages[rows], rows, s, p, o, g[0] if g else None)

    def terms(self, term_map: TermMap) -> _Terms:
        """The terms of a term map."""
        if term_map not in self._terms:
            self._terms[term_map] = (
                _Terms(None, term_map.term) if isinstance(term_map, Constant) else self._computed(term_map)
            )
        return self._terms[term_map]

    def _computed(self, template: Template) -> _Terms:
        column = self._values(template)
        match template.term_type:
            case TermType.LITERAL if template.tail is None:
                return _Terms(column.rows, natural_literals(column))
            case TermType.LITERAL:
                return _Terms(column.rows, literals(column.texts, template.tail or ""))
            case TermType.BLANK:
                return _Terms(column.rows, blank_nodes(column.texts, self._labels))
        return self._iris(column, template.base)

    def _iris(self, column: Column, base: str) -> _Terms:
        terms, right = absolute_iris(column.texts)
        wrong = np.flatnonzero(~right)
        if len(wrong) and base:
            texts = column.take(wrong).texts
            resolved, fine = absolute_iris(joined(base, texts))
            terms = pa.concat_arrays([terms, resolved]).take(_moved(len(terms), wrong))
            wrong = wrong[~fine]
        for place in wrong.tolist():
            value = str(column.texts[place])
            messages = self._records.messages[column.rows[place : place + 1]]
            self._failures.add(messages, f"{value!r} is not an absolute IRI")
        return _Terms(column.rows, terms)

    def _values(self, template: Template) -> Column:
        """The texts of a template, one for each combination of the values of a record."""
        columns = [self._column(reference) for reference in template.values]
        if template.alone:
            return columns[0]
        encoded = template.encoded and template.term_type is TermType.IRI
        texts = [percent_encoded(column.texts) if encoded else column.texts for column in columns]
        places = matching_rows([column.rows for column in columns])
        parts: list[pa.StringArray | str] = [template.texts[0]]
        for text, values, place in zip(template.texts[1:], texts, places, strict=True):
            parts += [values if _unmoved(place) and len(place) == len(values) else values.take(place), text]
        return Column(columns[0].rows[places[0]], joined(*parts))

    def _column(self, reference: Reference) -> Column:
        values = self._found[reference]
        if len(values.object_rows):
            reason = f"{reference} is an object, and a value is needed: refer to a field of it"
            self._failures.add(self._records.messages[values.object_rows], reason)
        return values.column


def _moved(count: int, places: Ints) -> Ints:
    """Places in a column followed by new values for some of its rows."""
    moved = np.arange(count)
    moved[places] = np.arange(count, count + len(places))
    return moved


def _unmoved(places: Ints) -> bool:
    return not len(places) or bool(places[0] == 0 and (np.diff(places) == 1).all())
