"""Is Penstock's answer one that the query allows, given pyoxigraph's answer to the whole of it?"""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from pyoxigraph import Literal, Quad, QueryBoolean, QuerySolutions, QueryTriples, Store

from tests.oracle.data import NS
from tests.oracle.strategies import Generated, Source
from tests.support.compare import Bag, Blank, Cell, cell, explain_difference, graph, number, same_bag, solutions


def oracle(quads: list[Quad], source: Source | None = None) -> Store:
    """The independent engine, holding the dataset that the query asks for."""
    store = Store()
    if source is None:
        store.extend(quads)
        return store
    for quad in quads:
        name = str(quad.graph_name)
        if name in _iris(source.default):
            store.add(Quad(quad.subject, quad.predicate, quad.object))
        if name in _iris(source.named):
            store.add(quad)
    return store


def _iris(names: tuple[str, ...]) -> set[str]:
    return {f"<{NS}{name}>" for name in names}


def difference(answer: Any, query: Generated, quads: list[Quad]) -> str | None:
    """Why the answer is wrong; None if it is right."""
    return difference_on(oracle(quads, query.source), answer, query)


def difference_on(store: Store, answer: Any, query: Generated) -> str | None:
    match store.query(query.whole):
        case QueryBoolean() as expected:
            return None if answer.boolean is bool(expected) else f"  said {answer.boolean}, expected {bool(expected)}"
        case QueryTriples() as expected:
            return bag_difference(graph(answer.triples), graph(expected))
        case QuerySolutions() as expected:
            return solutions_difference(answer, query, expected)
    raise AssertionError("SELECT, ASK or CONSTRUCT")


def solutions_difference(answer: Any, query: Generated, expected: QuerySolutions) -> str | None:
    names = [variable.value for variable in expected.variables]
    if set(answer.variables) != set(names):
        return f"  variables {sorted(answer.variables)}, expected {sorted(names)}"
    rows = [{name: row[name] for name in names if row[name] is not None} for row in expected]
    actual, whole = solutions(names, answer.rows), solutions(names, rows)
    if query.reduced:
        return reduced_difference(actual, whole, query)
    if query.limit is None and not query.offset:
        found = bag_difference(actual, whole)
    else:
        found = part_difference(actual, whole, query)
    return found or order_difference(list(answer.rows), rows, query)


def bag_difference(actual: Bag, expected: Bag) -> str | None:
    return None if same_bag(actual, expected) else explain_difference(actual, expected)


def sliced(size: int, query: Generated) -> int:
    rest = max(0, size - query.offset)
    return rest if query.limit is None else min(rest, query.limit)


def part_difference(actual: Bag, whole: Bag, query: Generated) -> str | None:
    """LIMIT and OFFSET: the right number of rows, all of them among the whole."""
    size = sliced(whole.total(), query)
    if actual.total() != size:
        return f"  {actual.total()} rows, expected {size} of {whole.total()}"
    extra = nameless(actual) - nameless(whole)
    return f"  not in the whole answer: {extra}" if extra else None


def reduced_difference(actual: Bag, whole: Bag, query: Generated) -> str | None:
    """REDUCED: between DISTINCT and everything."""
    most, least = sliced(whole.total(), query), sliced(len(whole), query)
    if not least <= actual.total() <= most:
        return f"  {actual.total()} rows, expected {least} to {most}"
    extra = nameless(actual) - nameless(whole)
    return f"  not in the whole answer: {extra}" if extra else None


def nameless(bag: Bag) -> Bag:
    """The bag with all blank nodes alike, for comparing parts of answers."""
    found: Bag = Counter()
    for row, count in bag.items():
        found[tuple("blank" if isinstance(item, Blank) else item for item in row)] += count
    return found


def order_difference(actual: list[Any], whole: list[Any], query: Generated) -> str | None:
    """The values of the order keys come in the same sequence, however ties are broken."""
    last = len(whole) if query.limit is None else query.offset + query.limit
    got = [tuple(order_value(row.get(key)) for key in query.order) for row in actual]
    expected = [tuple(order_value(row.get(key)) for key in query.order) for row in whole[query.offset : last]]
    return None if got == expected else f"  in the order {got}\n  expected {expected}"


def order_value(term: Any) -> Cell:
    """Values that are equal in the order: 1.5 as a decimal and as a double."""
    if isinstance(term, Literal) and (value := number(term)):
        return float(cast(Any, value[1]))
    return cell(term)


# pyoxigraph's answers among themselves


def answered(store: Store, text: str) -> Bag | bool:
    match store.query(text):
        case QueryBoolean() as found:
            return bool(found)
        case QuerySolutions() as found:
            names = [variable.value for variable in found.variables]
            return solutions(sorted(names), [{n: row[n] for n in names if row[n] is not None} for row in found])
        case found:
            return graph(found)


def same(one: Bag | bool, other: Bag | bool) -> bool:
    return one is other if isinstance(one, bool) or isinstance(other, bool) else same_bag(one, other)
