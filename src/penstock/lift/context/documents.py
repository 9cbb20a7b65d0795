"""Reads messages as documents of JSON-LD, one by one: the way for whatever has no rule for whole columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from pyoxigraph import DefaultGraph, RdfFormat, parse

from penstock.io.nquads_slow import encoded, unreadable
from penstock.lift.columns import strings
from penstock.lift.context.mapping import ContextPlan, NodeShape
from penstock.lift.context.subjects import template_iris
from penstock.lift.lift_result import Batch, Triples
from penstock.lift.records.json_messages import Float
from penstock.lift.records.json_records import ReadJson

__all__ = ["document_triples"]

_PLACE = re.compile(r"^Parser error at line \d+ (?:column \d+|between [^:]*): | \(line \d+\)$")


def document_triples(plan: ContextPlan, numbered: Iterable[tuple[int, int, Any]], batch: Batch) -> Triples:
    """The triples of objects, each with the numbers of its record and its message."""
    rows: list[tuple[int, int, str, str, str, str | None]] = []
    for record, message, value in numbered:
        try:
            shaped = _shaped(value, plan.shape, message, batch)
            quads = _quads(plan, shaped, f"{batch.labels}{message}.{record}.")
            rows += [(message, record, *terms) for terms in quads]
        except ValueError as error:
            batch.failures.add(np.array([message]), str(error))
        except RecursionError:
            batch.failures.add(np.array([message]), "not readable: objects are nested too deeply")
    messages, records, s, p, o, g = zip(*rows, strict=True) if rows else ([],) * 6
    graphs = strings(g) if any(name is not None for name in g) else None
    of_messages, of_records = np.array(messages, np.int64), np.array(records, np.int64)
    return Triples(of_messages, of_records, strings(s), strings(p), strings(o), graphs)


def _quads(plan: ContextPlan, value: dict[str, Any], labels: str) -> list[tuple[str, str, str, str | None]]:
    """The quads of a document; a `ValueError` says why it is none."""
    document = {"@context": None, **value}
    text = _written(document).replace("null", plan.context, 1)
    names: dict[str, str] = {}
    try:
        quads = list(parse(text.encode(), RdfFormat.JSON_LD))
    except SyntaxError as error:
        raise ValueError(f"not JSON-LD: {_PLACE.sub('', error.msg)}") from None
    except MemoryError:
        raise ValueError("not JSON-LD: a value is too long") from None
    if problem := next(filter(None, map(unreadable, quads)), None):
        raise ValueError(problem)

    def term(node: object) -> str:
        written = encoded(node, "")
        if not written.startswith("_:"):
            return written
        return f"_:{labels}b{names.setdefault(written, str(len(names)))}"

    return [
        (
            term(quad.subject),
            term(quad.predicate),
            term(quad.object),
            None if isinstance(quad.graph_name, DefaultGraph) else term(quad.graph_name),
        )
        for quad in quads
    ]


def _shaped(value: dict[str, Any], shape: NodeShape, message: int, batch: Batch) -> dict[str, Any]:
    """The object of a message with what the mapping adds to it and to the objects in it; what it has itself stays."""
    nested = dict(shape.nested)
    own = {name: _shaped_inside(item, nested.get(name), message, batch) for name, item in value.items()}
    added: dict[str, Any] = {}
    if shape.id is not None and "@id" not in value:
        record = ReadJson([value], np.array([message], np.int64))
        added["@id"] = str(template_iris(shape.id, record, batch, _raise)[0])
    if shape.types and "@type" not in value:
        added["@type"] = list(shape.types)
    return {**added, **own}


def _shaped_inside(value: Any, shape: NodeShape | None, message: int, batch: Batch) -> Any:
    if shape is not None and isinstance(value, dict):
        return _shaped(value, shape, message, batch)
    return [_shaped_inside(item, shape, message, batch) for item in value] if isinstance(value, list) else value


def _raise(_row: int, reason: str) -> None:
    raise ValueError(reason)


def _written(value: Any) -> str:
    """JSON, with numbers as they were written."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return str(value) if isinstance(value, Float) else json.dumps(value)
