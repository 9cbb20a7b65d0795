"""Applies a context to objects of JSON, a whole column at a time: a column for each name at each path of names.

Each object becomes a node: its IRI comes from a template, from a name for @id, or it is a blank node. Objects in it are
nodes in turn. Records with something that no rule covers are *left* to documents.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa

from penstock.lift.columns import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    TEXT,
    Column,
    Ints,
    Mask,
    joined,
    mapped,
    matching,
    repeated,
    replaced,
    strings,
)
from penstock.lift.context.mapping import ContextPlan
from penstock.lift.context.rules import ABSENT, NameRules, Rules
from penstock.lift.context.subjects import template_iris
from penstock.lift.lift_result import Batch, Triples
from penstock.lift.numbers import canonical_double, json_ld_number
from penstock.lift.records.json_records import JsonRecords
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.reference_values import ReferenceValues
from penstock.lift.terms import literals

__all__ = ["NodeTriples"]

_SURE = r"^https?://[A-Za-z0-9\-.]+(/[A-Za-z0-9\-._~/]*)?(#[A-Za-z0-9\-._~/]*)?$"
_SHORT = r"^-?[0-9]{1,18}$"


class NodeTriples:
    """The triples of a batch of objects, and which of these records are left to documents."""

    def __init__(self, plan: ContextPlan, rules: Rules, batch: Batch) -> None:
        self._plan = plan
        self._rules = rules
        self._batch = batch
        self._messages: Ints = np.zeros(0, np.int64)
        self._paths: dict[tuple[str, ...], int] = {}
        self._triples: list[Triples] = []
        self.left: Mask = np.zeros(0, np.bool_)

    def apply(self, objects: JsonRecords, records: Ints) -> list[Triples]:
        """The triples of the objects, each of which is the record with its number."""
        self._messages = objects.messages
        self.left = np.zeros(len(objects.messages), np.bool_)
        if self._plan.scoped:
            self.left[:] = True
            return []
        places = np.arange(len(objects.messages))
        self._node((), objects, places, self._subjects((), objects, places))
        kept = [_where(triples, ~self.left[triples.records]) for triples in self._triples]
        return [
            Triples(each.messages, records[each.records], each.s, each.p, each.o) for each in kept if len(each.records)
        ]

    def _node(self, path: tuple[str, ...], objects: JsonRecords, places: Ints, subjects: pa.StringArray) -> None:
        """Add the triples of objects at a path; `places` are those of the records that they are in."""
        for predicate, term in self._rules.types(path):
            self._add(places, subjects, predicate, repeated(term, len(places)))
        names = self._names(path, objects, places)
        columns = objects.find([JsonPath((name,)) for name in names]) if names else []
        for name, values in zip(names, columns, strict=True):
            self._name(path, name, values, places, subjects)

    def _names(self, path: tuple[str, ...], objects: JsonRecords, places: Ints) -> list[str]:
        """The names with triples. Objects with keywords, or with rare ones of very many names, are left."""
        lists = [names for names in objects.key_lists() if names]
        names = list(dict.fromkeys(name for each in lists for name in each))
        shape = self._plan.shape.at(path)
        odd = {
            name for name in names if name.startswith("@") or (name in self._plan.id_aliases and shape.id is not None)
        }
        odd |= set(names[self._rules.tuning.lift_names :])
        if odd:
            rows = [row for row, each in enumerate(objects.all_keys()) if not odd.isdisjoint(each or ())]
            self.left[places[rows]] = True
        kept = [name for name in names if name not in odd and name not in self._plan.id_aliases]
        return [name for name in kept if not self._rules.of(path, name).absent]

    def _name(
        self, path: tuple[str, ...], name: str, values: ReferenceValues, places: Ints, subjects: pa.StringArray
    ) -> None:
        """Add the triples of one name."""
        rules = self._rules.of(path, name)
        if not rules.arrays:
            self.left[places[values.array_rows]] = True
        if not rules.nulls:
            self.left[places[values.null_rows]] = True
        for kind in (TEXT, INTEGER, DOUBLE, BOOLEAN):
            column = values.column.of_kind(kind)
            if len(column.rows):
                self._values(path, name, kind, column, places, subjects)
        if values.objects is not None and not rules.no_objects:
            self._nested(path, name, values, rules, places, subjects)

    def _values(
        self, path: tuple[str, ...], name: str, kind: int, column: Column, places: Ints, subjects: pa.StringArray
    ) -> None:
        """Add the triples of values of one kind."""
        rules = self._rules.of(path, name)
        rule = rules.kinds.get(kind)
        if rule is ABSENT:
            return
        if rule is None:
            self.left[places[column.rows]] = True
            return
        if rule.iri:
            column = self._iris(path, name, column, places)
            terms = column.texts
        elif kind in (INTEGER, DOUBLE):
            terms = self._numbers(rules, column, places)
        else:
            terms = literals(column.texts, rule.tail)
        self._add(places[column.rows], _taken(subjects, column.rows), rules.predicate, terms)

    def _numbers(self, rules: NameRules, column: Column, places: Ints) -> pa.StringArray:
        """Numbers as JSON-LD writes them: those without a fraction as integers, whatever they are written like."""
        whole, other = rules.kinds.get(INTEGER), rules.kinds.get(DOUBLE)
        if whole is None or other is None or ABSENT in (whole, other):
            self.left[places[column.rows]] = True
            return literals(column.texts, "")
        if not whole.canonical and matching(column.texts, _SHORT).all():
            return literals(column.texts, whole.tail)

        def term(text: str) -> str:
            integer = json_ld_number(text)
            if integer is None:
                return f'"{canonical_double(text)}"{other.tail}'
            return f'"{canonical_double(integer) if whole.canonical else integer}"{whole.tail}'

        return mapped(column.texts, term)

    def _iris(self, path: tuple[str, ...], name: str, column: Column, places: Ints) -> Column:
        """The values as IRIs; those that JSON-LD drops are not there."""
        sure = matching(column.texts, _SURE)
        doubtful = np.flatnonzero(~sure)
        terms = joined("<", column.texts, ">")
        if not len(doubtful):
            return Column(column.rows, terms)
        asked = mapped(column.texts.take(doubtful), lambda value: self._rules.iri(path, name, value))
        unknown = asked.is_null().to_numpy(zero_copy_only=False)
        self.left[places[column.rows[doubtful[unknown]]]] = True
        terms = replaced(terms, doubtful, cast(pa.StringArray, asked.fill_null("")))
        kept = np.ones(len(terms), np.bool_)
        kept[doubtful] = matching(cast(pa.StringArray, asked.fill_null("")), ".")
        return Column(column.rows, terms).take(kept)

    def _nested(
        self,
        path: tuple[str, ...],
        name: str,
        values: ReferenceValues,
        rules: NameRules,
        places: Ints,
        subjects: pa.StringArray,
    ) -> None:
        """Add the triples to and of objects."""
        inner, objects = places[values.object_rows], cast(JsonRecords, values.objects)
        if not rules.nodes or len(path) >= self._rules.tuning.lift_depth:
            self.left[inner] = True
            return
        below = (*path, name)
        nodes = self._subjects(below, objects, inner)
        self._add(inner, _taken(subjects, values.object_rows), rules.predicate, nodes)
        self._node(below, objects, inner, nodes)

    def _subjects(self, path: tuple[str, ...], objects: JsonRecords, places: Ints) -> pa.StringArray:
        """The nodes that objects are."""
        shape = self._plan.shape.at(path)
        if shape.id is not None:
            iris = template_iris(shape.id, objects, self._batch, lambda row, why: self._fail(places[row], why))
            return joined("<", iris, ">")
        blank = self._blank(path, places)
        if not self._plan.id_aliases:
            return blank
        if len(self._plan.id_aliases) > 1:
            self.left[places] = True
            return blank
        return self._named(self._plan.id_aliases[0], objects, places, blank)

    def _named(self, alias: str, objects: JsonRecords, places: Ints, blank: pa.StringArray) -> pa.StringArray:
        """The nodes that a name for @id gives; where it is absent, blank nodes."""
        (values,) = objects.find([JsonPath((alias,))])
        column = values.column.of_kind(TEXT)
        terms = mapped(column.texts, lambda value: self._rules.subject(alias, value))
        unknown = terms.is_null().to_numpy(zero_copy_only=False)
        odd = [values.array_rows, values.null_rows, values.object_rows, column.rows[unknown]]
        if values.column.kinds is not None:
            odd.append(values.column.rows[values.column.kinds != TEXT])
        self.left[places[np.concatenate(odd)]] = True
        rows, first = np.unique(column.rows, return_index=True)
        return replaced(blank, rows, cast(pa.StringArray, terms.fill_null("_:x")).take(first))

    def _blank(self, path: tuple[str, ...], places: Ints) -> pa.StringArray:
        """A blank node for each object: by record, path, and place among those of the same record there."""
        number = self._paths.setdefault(path, len(self._paths))
        nth = np.arange(len(places)) - np.searchsorted(places, places)
        numbers = (self._messages[places].tolist(), places.tolist(), nth.tolist())
        return strings(
            [
                f"_:{self._batch.labels}{message}.{place}.{number}.{n}"
                for message, place, n in zip(*numbers, strict=True)
            ]
        )

    def _add(self, places: Ints, subjects: pa.StringArray, predicate: str, objects: pa.StringArray) -> None:
        terms = (subjects, repeated(predicate, len(places)), objects)
        self._triples.append(Triples(self._messages[places], places, *terms))

    def _fail(self, place: int, reason: str) -> None:
        self._batch.failures.add(self._messages[place : place + 1], reason)


def _taken(terms: pa.StringArray, rows: Ints) -> pa.StringArray:
    return terms if len(rows) == len(terms) and (np.diff(rows) == 1).all() else terms.take(rows)


def _where(triples: Triples, kept: Mask) -> Triples:
    if kept.all():
        return triples
    rows = np.flatnonzero(kept)
    s, p, o = (column.take(rows) for column in (triples.s, triples.p, triples.o))
    return Triples(triples.messages[rows], triples.records[rows], s, p, o)
