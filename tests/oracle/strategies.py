"""Generated queries: the forms, modifiers and aggregates around the patterns of `patterns.py`.

Kept out on purpose, because pyoxigraph and the recommendation differ there or because neither promises anything:

- SAMPLE of anything but a key, and the order of GROUP_CONCAT (its length is asked for instead); GROUP_CONCAT of tagged
  strings (pyoxigraph keeps a tag that all share, so the W3C tests aggregates/agg-groupconcat-04 and -06 fail there);
- SUM, AVG, MIN, MAX over variables that may be unbound and expressions that may fail: whether one error spoils the
  group is read differently; COUNT of an expression that fails somewhere (pyoxigraph: unbound; by the recommendation
  it counts the others);
- MIN and MAX where equal values have different terms (1 and 1.0), or over values of different kinds;
- ORDER BY over values of different kinds, whose order is not defined;
- a key that is a plain variable with a new name, `GROUP BY (?t AS ?key)`, which pyoxigraph may refuse to parse;
- DESCRIBE, whose answer is the engine's own choice.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.oracle import expressions as ex
from tests.oracle.data import GRAPHS, PREFIXES, Data, dataset
from tests.oracle.patterns import Context, block, graph, graph_variable, group
from tests.support.tape import Tape

DATA_BYTES, QUERY_BYTES = 300, 300
ORDERED = ("i", "n", "s", "t")  # variables whose values have a defined order among themselves
PROJECTABLE = ("x", "y", "z", "i", "n", "s", "l", "d", "f", "o", "w", "g")


@dataclass(frozen=True, slots=True)
class Source:
    """FROM and FROM NAMED, by the names of the graphs; None where the query has no such clause at all."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "".join(f"\nFROM :{g}" for g in self.default) + "".join(f"\nFROM NAMED :{g}" for g in self.named)


@dataclass(frozen=True, slots=True)
class Generated:
    """A query, and what about its answer is promised.

    `text` goes to Penstock. `whole` is the same without REDUCED, LIMIT and OFFSET: what those leave is up to the
    engine, so the answer is checked against everything it was chosen from. It is also without FROM and FROM NAMED:
    pyoxigraph gives a triple of two FROM graphs twice, so it is asked on a store that holds just that dataset.
    """

    text: str
    whole: str
    source: Source | None = None
    order: tuple[str, ...] = ()
    limit: int | None = None
    offset: int = 0
    reduced: bool = False


def cases() -> st.SearchStrategy[tuple[Data, Generated]]:
    """A dataset and a query, from the two parts of one tape."""
    return st.binary(min_size=DATA_BYTES + QUERY_BYTES, max_size=DATA_BYTES + QUERY_BYTES).map(case)


def case(tape: bytes) -> tuple[Data, Generated]:
    return dataset(Tape(tape[:DATA_BYTES])), query(Tape(tape[DATA_BYTES:]))


def query(draw: Tape) -> Generated:
    return draw.pick((select, select, select, aggregate, aggregate, ask, construct))(draw)


def generated(head: str, source: Source | None, rest: str) -> Generated:
    """A query whose answer is promised in full."""
    clause = source.text if source else ""
    return Generated(f"{PREFIXES}{head}{clause}\n{rest}", f"{PREFIXES}{head}\n{rest}", source)


def select(draw: Tape) -> Generated:
    context, source, pattern = scoped(draw, 2)
    names = draw.some([name for name in PROJECTABLE if name in draw.scope or draw.chance(8)], 0, 5)
    extras = [f"({ex.anything(draw, 2)} AS {context.new_variable()})" for _ in range(draw.count(0, 1))]
    head = " ".join([*("?" + name for name in names), *extras]) or "*"
    modifier = draw.pick(("", "", "DISTINCT ", "REDUCED "))
    keys = tuple(name for name in names if name in ORDERED) if draw.chance(2) else ()
    rest = f"WHERE {{\n{pattern}\n}}{order_by(draw, keys)}"
    limit, offset = draw.pick((None, None, None, 2, 5, 0)), draw.pick((0, 0, 0, 1))
    text = generated(f"SELECT {modifier}{head}", source, rest + slice_text(limit, offset)).text
    whole = generated(f"SELECT {modifier.replace('REDUCED ', '')}{head}", source, rest).whole
    return Generated(text, whole, source, keys, limit, offset, modifier == "REDUCED ")


def order_by(draw: Tape, keys: tuple[str, ...]) -> str:
    directions = [draw.pick(("?{}", "ASC(?{})", "DESC(?{})")).format(key) for key in keys]
    return f"\nORDER BY {' '.join(directions)}" if directions else ""


def slice_text(limit: int | None, offset: int) -> str:
    return (f" LIMIT {limit}" if limit is not None else "") + (f" OFFSET {offset}" if offset else "")


def scoped(draw: Tape, depth: int) -> tuple[Context, Source | None, str]:
    """A pattern in its dataset; FROM NAMED alone leaves the default graph empty, so that is left for GRAPH."""
    clause = draw.pick(("", "", "", "", "", "default", "both", "named"))
    graphs = tuple(draw.some(GRAPHS, 1, 2))
    source = Source(graphs if clause != "named" else (), graphs if clause != "default" else ()) if clause else None
    context = Context(anchored=clause != "named")
    pattern = draw.saw(graph(draw, context, depth)) if clause == "named" else group(draw, context, depth)
    return context, source, pattern


def ask(draw: Tape) -> Generated:
    _, source, pattern = scoped(draw, 2)
    return generated("ASK", source, f"{{\n{pattern}\n}}")


def construct(draw: Tape) -> Generated:
    _, source, pattern = scoped(draw, 2)
    if draw.chance(5):  # the short form: what is asked for is what is built
        return generated("CONSTRUCT", source, f"WHERE {{ {block(draw)} }}")
    objects = ("?x", "?y", "?n", "?s", "?o", "_:new", '"t"@en')
    template = " ".join(
        f"{draw.pick(('?x', '?y', '?o', '_:new', ':a'))} {draw.pick((':p', ':made', '?w'))} {draw.pick(objects)} ."
        for _ in range(draw.count(1, 2))
    )
    return generated(f"CONSTRUCT {{ {template} }}", source, f"WHERE {{\n{pattern}\n}}")


def aggregate(draw: Tape) -> Generated:
    """Grouping over a pattern whose first block is sure to bind what the stricter aggregates need."""
    draw.saw("?x :i ?i")
    context, source, rest = scoped(draw, 1)
    pattern = ("?x :i ?i ." if context.anchored else graph_variable(draw, "?x :i ?i")) + "\n" + rest
    keys = ["?" + name for name in draw.some(("x", "y", "s", "o"), 0, 2)]
    computed = [f"(LCASE({ex.string(draw, 1)}) AS ?key)"] if draw.chance(2) else []
    heads = [*keys, *(["?key"] if computed else [])]
    heads += [f"({one_aggregate(draw)} AS {context.new_variable()})" for _ in range(draw.count(1, 3))]
    grouping = f"\nGROUP BY {' '.join(keys + computed)}" if keys or computed else ""
    having = f"\nHAVING ({having_condition(draw)})" if draw.chance(4) else ""
    return generated(f"SELECT {' '.join(heads)}", source, f"WHERE {{\n{pattern}\n}}{grouping}{having}")


def one_aggregate(draw: Tape) -> str:
    distinct = draw.pick(("", "", "DISTINCT "))
    argument = draw.pick(("?i", "(?i * 2)", "(?i + 0.5)", "(?i * 1.5e0)", "STRLEN(STR(?i))"))
    forms = (
        f"COUNT({distinct}*)",
        f"COUNT({distinct}{ex.variable(draw, 'node', 'number', 'string', 'mixed')})",
        f"COUNT({distinct}COALESCE({ex.number(draw, 1)}, 0))",
        *(f"{name}({distinct}{argument})" for name in ("SUM", "AVG", "MIN", "MAX")),
        f"STRLEN(GROUP_CONCAT({distinct}STR(?i)))",
        f'STRLEN(GROUP_CONCAT({distinct}STR(?i); SEPARATOR=", "))',
        f"(SUM({distinct}{argument}) + COUNT({distinct}?i))",
        "SAMPLE(1)",
    )
    return draw.pick(forms)


def having_condition(draw: Tape) -> str:
    return f"{one_aggregate(draw)} {draw.pick(('>', '<=', '!='))} {draw.count(0, 4)}"
