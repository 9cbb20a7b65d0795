"""Generated graph patterns, always valid: a variable that BIND or an aggregate sets is new in the whole query.

Kept out on purpose, because pyoxigraph and the recommendation differ there or because neither promises anything:

- MINUS, VALUES, sub-SELECT and `?g` itself inside `GRAPH ?g`: pyoxigraph lets `?g` be seen inside (the W3C tests
  negation/graph-minus, bindings/graph and aggregates/agg-empty-group-count-graph fail there);
- a path that may have length zero with a constant end that the graph lacks: pyoxigraph finds nothing (the W3C tests
  property-path/zero_or_*_set_* fail there), so such an end is always the node that every graph has;
- `p|q` and `!(p|^q)` where it matters how often: pyoxigraph gives a pair that both sides connect once, not twice, so
  they are only generated below `?`, `*` and `+`, which are sets;
- OPTIONAL, MINUS, BIND and sub-SELECT inside EXISTS: what substitution does to them is an open question, so what
  Penstock does is checked against its own definition instead, see `test_plans.py`;
- LIMIT inside a sub-SELECT that would cut: which rows it keeps is nobody's promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracle import expressions as ex
from tests.oracle.data import ANCHOR, GRAPHS, LINKS, NODES, OBJECTS
from tests.support.tape import Tape

KINDS_OF_OBJECT = {
    **dict.fromkeys(LINKS, ("node",)),
    "i": ("integer", "number"),
    "n": ("number",),
    "s": ("string",),
    "l": ("tagged",),
    "t": ("date",),
    "f": ("boolean",),
    "m": ("mixed",),
}
VALUES_OF = {"x": "p", "y": "p", "i": "i", "n": "n", "s": "s", "o": "m"}  # variable → predicate with such objects


@dataclass
class Context:
    """What the generator has to remember across one query."""

    anchored: bool = True  # whether the active graph is sure to have the anchor
    in_graph_variable: bool = False
    fresh: int = 0
    features: set[str] = field(default_factory=set)

    def new_variable(self) -> str:
        self.fresh += 1
        return f"?v{self.fresh}"


def group(draw: Tape, context: Context, depth: int) -> str:
    """The inside of a pair of braces: something that binds, then up to three further elements."""
    parts = [draw.saw(first(draw, context, depth))]
    for _ in range(draw.count(0, 3 if depth > 1 else 1)):
        parts.append(draw.saw(element(draw, context, depth)))
    return "\n".join(parts)


def first(draw: Tape, context: Context, depth: int) -> str:
    windows = draw.blocks is not None and depth > 0 and not context.in_graph_variable and not draw.chance(4)
    return graph(draw, context, depth) if windows else block(draw)


def element(draw: Tape, context: Context, depth: int) -> str:
    leaves = [lambda: block(draw), lambda: filter_(draw, context), lambda: filter_(draw, context)]
    leaves += [lambda: bind(draw, context), lambda: path(draw, context)]
    outside = [lambda: values(draw)] if not context.in_graph_variable else []
    nested: list[Callable[[], str]] = [
        lambda: f"OPTIONAL {{ {group(draw, context, depth - 1)} }}",
        lambda: f"OPTIONAL {{ {draw.saw(block(draw))} FILTER({ex.condition(draw, 1)}) }}",
        lambda: f"OPTIONAL {{ {draw.saw(block(draw))} FILTER({exists(draw)}) }}",
        lambda: f"{{ {group(draw, context, depth - 1)} }} UNION {{ {group(draw, context, depth - 1)} }}",
        lambda: f"{{ {group(draw, context, depth - 1)} }}",
    ]
    if not context.in_graph_variable:
        nested += [
            lambda: f"MINUS {{ {group(draw, context, depth - 1)} }}",
            *(lambda: graph(draw, context, depth),) * (1 if draw.blocks is None else 4),
            lambda: subselect(draw, context, depth - 1),
        ]
    return draw.pick(leaves + outside + (nested if depth > 0 else []))()


def block(draw: Tape) -> str:
    """One to three triple patterns."""
    return " ".join(triple(draw) for _ in range(draw.pick((1, 1, 1, 2, 2, 3))))


def triple(draw: Tape) -> str:
    subject = node(draw, ("?x", "?x", "?x", "?x", "?y", "?y", "?z"))
    if draw.chance(8):
        return f"{subject} ?w {ex.variable(draw, 'mixed')} ."
    predicate = draw.pick(tuple(KINDS_OF_OBJECT))
    return f"{subject} :{predicate} {object_of(draw, predicate)} ."


def node(draw: Tape, names: tuple[str, ...]) -> str:
    if draw.chance(10):
        return draw.pick(("[]", *(":" + name for name in NODES)))
    return draw.pick(names)


def object_of(draw: Tape, predicate: str) -> str:
    if predicate in LINKS:
        return node(draw, ("?y", "?z", "?y", "?z", "?y", "?z", "?x"))
    if draw.chance(12):
        return draw.pick([term for term in OBJECTS[predicate] if not term.startswith("_:")])
    return ex.variable(draw, *KINDS_OF_OBJECT[predicate])


def filter_(draw: Tape, context: Context) -> str:
    if draw.count(0, 4):
        return f"FILTER({ex.condition(draw, 2)})"
    form = draw.pick(("{0}", "{0}", "({0} || {1})", "({1} && {0})", "({0} || {2})", "({0} = {2})", "IF({0}, {1}, {2})"))
    return f"FILTER({form.format(exists(draw), ex.boolean(draw, 1), exists(draw))})"


def exists(draw: Tape) -> str:
    negation = draw.pick(("", "NOT "))
    if draw.blocks is not None and draw.chance(2):
        return f"{negation}EXISTS {{ {draw.blocks.condition(draw)} }}"
    inside = draw.pick(("{0}", "{0} FILTER({1})", "{{ {0} }} UNION {{ {2} }}", "{0} FILTER NOT EXISTS {{ {2} }}"))
    return f"{negation}EXISTS {{ {inside.format(block(draw), ex.boolean(draw, 1), block(draw))} }}"


def bind(draw: Tape, context: Context) -> str:
    """A new variable, sometimes asked about at once (elsewhere no expression knows its name)."""
    name = context.new_variable()
    form = draw.pick(("anything", "number", "string", "exists"))
    if form == "exists":
        return f"BIND({exists(draw)} AS {name})"
    if form == "anything":
        return f"BIND({ex.anything(draw, 2)} AS {name})"
    if form == "number":
        return f"BIND({ex.number(draw, 2)} AS {name}) FILTER({name} > {ex.number(draw, 0)})"
    return f"BIND({ex.string(draw, 2)} AS {name}) FILTER(STRLEN({name}) < 3 || !BOUND({name}))"


def values(draw: Tape) -> str:
    names = draw.some(sorted(VALUES_OF), 1, 2)
    rows = []
    for _ in range(draw.count(0, 3)):
        cells = [draw.pick(["UNDEF", *_constants(name)]) for name in names]
        rows.append(f"({' '.join(cells)})")
    return f"VALUES ({' '.join('?' + name for name in names)}) {{ {' '.join(rows)} }}"


def _constants(name: str) -> list[str]:
    return [term for term in OBJECTS[VALUES_OF[name]] if not term.startswith("_:")]


def graph(draw: Tape, context: Context, depth: int) -> str:
    if draw.blocks is not None:
        return draw.blocks.element(draw, context, depth)
    if draw.chance(2):
        context.in_graph_variable = True
        inside = group(draw, context, depth - 1)
        context.in_graph_variable = False
        return graph_variable(draw, inside)
    return f"GRAPH :{draw.pick(GRAPHS)} {{ {block(draw)} {filter_(draw, context)} }}"


def graph_variable(draw: Tape, inside: str) -> str:
    return f"GRAPH ?g {{ {inside} }}" if draw.blocks is None else draw.blocks.each_graph(inside)


def path(draw: Tape, context: Context) -> str:
    expression, zero = path_expression(draw, 3 if draw.chance(3) else 2)
    constants = [":" + ANCHOR] if zero else [":" + name for name in NODES]
    ends = ["?x", "?y", "?z", *(constants if context.anchored or not zero else [])]
    return f"{draw.pick(ends)} {expression} {draw.pick(ends)} ."


def path_expression(draw: Tape, depth: int, as_set: bool = False) -> tuple[str, bool]:
    """A path, and whether it has a part that matches without a step."""
    link = ":" + draw.pick(LINKS)
    other = ":" + draw.pick((*LINKS, "i", "m"))
    plain = [link, f"^{link}", f"!{link}", f"!^{link}", f"!({link}|{other})"]
    plain += [f"!({link}|^{other})"] if as_set else []
    forms = ["plain", "?", "*", "+", "/", "^", *(["|"] if as_set else [])]
    form = draw.pick(forms) if depth else "plain"
    if form == "plain":
        return draw.pick(plain), False
    as_set = as_set or form in "?*+"
    left, zero = path_expression(draw, depth - 1, as_set)
    if form in "?*+":
        return f"({left}){form}", zero or form != "+"
    if form == "^":
        return f"^({left})", zero
    right, also_zero = path_expression(draw, depth - 1, as_set)
    return f"({left}{form}{right})", zero or also_zero


def subselect(draw: Tape, context: Context, depth: int) -> str:
    inside = group(draw, context, depth)
    if draw.chance(2):
        distinct = draw.pick(("", "DISTINCT "))
        names = draw.some(("?x", "?y", "?n", "?s"), 1, 3)
        limit = draw.pick(("", "", "LIMIT 1000", "LIMIT 0", "ORDER BY ?x LIMIT 1000"))
        return f"{{ SELECT {distinct}{' '.join(names)} WHERE {{ {inside} }} {limit} }}"
    if draw.chance(4):
        return f"{{ SELECT (COUNT(*) AS {context.new_variable()}) WHERE {{ {inside} }} }}"
    key = draw.pick(("?x", "?y"))
    count = context.new_variable()
    return f"{{ SELECT {key} (COUNT(*) AS {count}) WHERE {{ {inside} }} GROUP BY {key} }}"
