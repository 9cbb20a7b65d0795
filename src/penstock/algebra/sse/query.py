"""Whole queries as s-expressions, form first: `read_query(write_query(query)) == query`.

(select (?gate ?n)
  (register "CarsPerGate" (every 5m))
  (stream :gates (range 10m step 1m))
  (project (?gate ?n)
    (annotate (?n (count)) (?gate) (bgp (?gate :registers ?car)))))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.durations import in_one_unit
from penstock.algebra.expressions import Var
from penstock.algebra.sse.reader import OPERATORS, a, items, read_operator, read_triple
from penstock.algebra.sse.sexpr import Sexpr, SexprError, layout, parse, term, token
from penstock.algebra.sse.writer import written_operator, written_triple
from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, TimeWindow, Window

__all__ = ["read_query", "write_query"]

_PARTS = frozenset(("register", "stream", "from", "base", "emit"))


def write_query(query: ops.Query) -> str:
    """The query as text, always the same for the same query."""
    parts = [*_registration(query), *map(_stream, query.streams), *_dataset(query), *_base(query), *_emit(query)]
    return layout([*_form(query), *parts, written_operator(query.pattern)], OPERATORS | _PARTS)


def _form(query: ops.Query) -> list[Sexpr]:
    match query.form:
        case ops.Construct(template):
            return ["construct", [written_triple(pattern) for pattern in template]]
        case ops.Describe(terms):
            return ["describe", [token(each) for each in terms]]
        case ops.Ask():
            return ["ask"]
    return ["select", [token(var) for var in query.variables]]


def _registration(query: ops.Query) -> list[Sexpr]:
    if query.registration is None:
        return []
    name, every, output = query.registration.name, query.registration.every, query.registration.output
    written: list[Sexpr] = ["register", "_" if name is None else token(Literal(name))]
    written += [] if every is None else [["every", in_one_unit(every)]]
    written += [] if output is None else [["output", token(output)]]
    return [written]


def _stream(stream: ops.StreamWindow) -> Sexpr:
    more: list[Sexpr] = [] if stream.name is None else [["as", token(stream.name)]]
    more += ["merge"] if stream.merge else []
    more += [["tag", str(stream.tag)]] if stream.tag else []
    return ["stream", *(["named"] if stream.named else []), token(stream.iri), _window(stream.window), *more]


def _window(window: Window) -> Sexpr:
    """Every field as it is, so that the text can be read back; `translate/window_forms.py` writes what people write."""
    match window:
        case CountWindow(size, step):
            return ["triples", str(size), "step", str(step)]
        case SlideWindow(range_, slide):
            return ["range", "_" if range_ is None else in_one_unit(range_), "slide", in_one_unit(slide)]
        case TimeWindow(range_, step, delay):
            late: list[Sexpr] = ["delay", in_one_unit(delay)] if delay else []
            return ["range", in_one_unit(range_), "step", in_one_unit(step), *late]


def _dataset(query: ops.Query) -> list[Sexpr]:
    if query.dataset is None:
        return []
    default, named = (list(map(token, graphs)) for graphs in (query.dataset.default, query.dataset.named))
    return [["adds", *named]] if query.dataset.adds else [["from", *default], ["named", *named]]


def _base(query: ops.Query) -> list[Sexpr]:
    return [] if query.base is None else [["base", token(Literal(query.base))]]


def _emit(query: ops.Query) -> list[Sexpr]:
    return [] if query.emit is None else [["emit", query.emit]]


def read_query(text: str) -> ops.Query:
    """The query that the text stands for."""
    name, *parts = items(parse(text))
    if name not in _FORMS:
        raise SexprError(f"unknown form {layout(name)}; there are {', '.join(sorted(_FORMS))}")
    head, parts = ([], parts) if name == "ask" else (list(parts[0]), parts[1:])
    fields: dict[str, Any] = {"form": _FORMS[str(name)](head), "pattern": read_operator(parts[-1])}
    if name == "select":
        fields["variables"] = tuple(a(Var, var) for var in head)
    for part in parts[:-1]:
        _add(fields, *items(part))
    return ops.Query(**fields)


def _add(fields: dict[str, Any], name: Sexpr, *rest: Sexpr) -> None:
    iris = tuple(a(NamedNode, each) for each in rest) if name in ("from", "named", "adds") else ()
    match name:
        case "register":
            fields["registration"] = _read_registration(rest[0], dict(map(tuple, rest[1:])))  # type: ignore[arg-type]
        case "stream":
            fields["streams"] = (*fields.get("streams", ()), _read_stream(list(rest)))
        case "from":
            fields["dataset"] = ops.Dataset(iris, ())
        case "named":
            fields["dataset"] = ops.Dataset(fields["dataset"].default if "dataset" in fields else (), iris)
        case "adds":
            fields["dataset"] = ops.Dataset((), iris, adds=True)
        case "base":
            fields["base"] = a(Literal, rest[0]).value
        case "emit":
            fields["emit"] = str(rest[0])
        case _:
            raise SexprError(f"no part of a query is called {layout(name)}")


def _read_registration(name: Sexpr, more: dict[str, Sexpr]) -> ops.Registration:
    every = _read_duration(more["every"]) if "every" in more else None
    output = a(NamedNode, more["output"]) if "output" in more else None
    return ops.Registration(None if name == "_" else a(Literal, name).value, every, output)


def _read_stream(rest: list[Sexpr]) -> ops.StreamWindow:
    named = rest[0] == "named"
    iri, window, *more = rest[1:] if named else rest
    extra = {str(part[0]): part[1] for part in more if isinstance(part, list)}
    name = a(NamedNode, extra["as"]) if "as" in extra else None
    tag = int(str(extra.get("tag", 0)))
    return ops.StreamWindow(a(NamedNode, iri), _read_window(items(window)), named, name, "merge" in more, tag)


def _read_window(written: list[Sexpr]) -> Window:
    match written:
        case ["triples", size, "step", step]:
            return CountWindow(int(str(size)), int(str(step)))
        case ["range", range_, "step", step]:
            return TimeWindow(_read_duration(range_), _read_duration(step))
        case ["range", range_, "step", step, "delay", delay]:
            return TimeWindow(_read_duration(range_), _read_duration(step), _read_duration(delay))
        case ["range", range_, "slide", slide]:
            return SlideWindow(None if range_ == "_" else _read_duration(range_), _read_duration(slide))
    raise SexprError(f"{layout(written)} is no window")


def _read_duration(written: Sexpr) -> int:
    text = str(written)
    amount = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    if not amount.isdecimal() or text[len(amount) :] not in UNITS:
        raise SexprError(f"{text} is no duration")
    return int(amount) * UNITS[text[len(amount) :]]


_FORMS: dict[str, Callable[[list[Sexpr]], ops.Form]] = {
    "select": lambda head: ops.Select(),
    "ask": lambda head: ops.Ask(),
    "construct": lambda head: ops.Construct(tuple(map(read_triple, head))),
    "describe": lambda head: ops.Describe(tuple(map(term, head))),
}
