"""Generated ontologies with a background, streams and queries around them.

Axioms are in the background's default graph alone, as are blank nodes. Some ontologies say something of rdf:type
itself: a property below it, one above it, its range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from penstock.options import Duplicates
from tests.oracle.data import NS, PREFIXES
from tests.oracle.strategies import Generated
from tests.oracle.streams import SECOND, STREAMS, Element, Streamed, one_window
from tests.support.quads import quad
from tests.support.rdfs import DOMAIN, RANGE, RDFS, SUB_CLASS, SUB_PROPERTY, TYPE, closure
from tests.support.tape import Tape

ONTOLOGY_BYTES = 500
HEAD = f"{PREFIXES}PREFIX rdfs: <{RDFS}>\n"

CLASSES = tuple(NamedNode(f"{NS}{name}") for name in "ABCDE")
LINKS = tuple(NamedNode(f"{NS}{name}") for name in "pqr")
NUMBER = NamedNode(f"{NS}i")
NODES = tuple(NamedNode(f"{NS}{name}") for name in "abc")
GRAPH = NamedNode(f"{NS}g1")
KINDS = ("sliding", "tumbling", "sliding", "moving", "tumbling", "sliding", "counting", "past")  # mostly the quick ones
STRANGE = (
    Triple(LINKS[2], SUB_PROPERTY, TYPE),
    Triple(TYPE, SUB_PROPERTY, LINKS[1]),
    Triple(TYPE, RANGE, CLASSES[4]),
    Triple(TYPE, DOMAIN, CLASSES[3]),
)
AXIOMS: tuple[Callable[[Tape], Triple], ...] = (
    lambda draw: Triple(draw.pick(CLASSES), SUB_CLASS, draw.pick(CLASSES)),
    lambda draw: Triple(draw.pick(CLASSES), SUB_CLASS, draw.pick(CLASSES)),
    lambda draw: Triple(draw.pick(LINKS), SUB_PROPERTY, draw.pick(LINKS)),
    lambda draw: Triple(draw.pick((*LINKS, NUMBER)), DOMAIN, draw.pick(CLASSES)),
    lambda draw: Triple(draw.pick((*LINKS, NUMBER)), RANGE, draw.pick(CLASSES)),
)


def knowing(draw: Tape, duplicates: Duplicates) -> Streamed:
    """An ontology, some facts, and one or two streams."""
    axioms = [draw.pick(AXIOMS)(draw) for _ in range(draw.count(1, 7))]
    if draw.chance(2):  # from a link to itself it then follows twice
        link, about = draw.pick(LINKS), draw.pick(CLASSES)
        axioms += [Triple(link, DOMAIN, about), Triple(link, RANGE, about)]
    axioms += draw.some(STRANGE, 1, 2) if draw.chance(4) else [STRANGE[0]] if draw.chance(5) else []
    facts = [fact(draw, (*NODES, BlankNode("x"))) for _ in range(draw.count(0, 6))]
    named = [quad(fact(draw, NODES), GRAPH) for _ in range(draw.count(0, 3))]
    windows = tuple(replace(one_window(draw, iri, KINDS), named=draw.chance(8)) for iri in STREAMS[: draw.count(1, 2)])
    elements = {window.iri: elements_of(draw) for window in windows}
    background = [*map(quad, (*axioms, *facts)), *named]
    cut = draw.count(1, 3), draw.count(1, 2), draw.chance(2)
    every = draw.pick((None, None, 3 * SECOND))
    return Streamed(list(dict.fromkeys(background)), elements, windows, every, duplicates, *cut)


def elements_of(draw: Tape) -> list[Element]:
    found = [Element(fact(draw, NODES), draw.count(0, 24) * SECOND // 2) for _ in range(draw.count(2, 10))]
    return sorted(found, key=lambda element: element.time)


def fact(draw: Tape, nodes: tuple[NamedNode | BlankNode, ...]) -> Triple:
    kind = draw.count(0, 6)
    if kind == 0:
        return Triple(draw.pick(nodes), NUMBER, Literal(draw.count(0, 2)))
    if kind < 3:
        return Triple(draw.pick(nodes), TYPE, draw.pick(CLASSES))
    subject = draw.pick(nodes)
    return Triple(subject, draw.pick(LINKS), subject if draw.chance(3) else draw.pick(nodes))


# Queries

PATTERNS: tuple[Callable[[Tape], str], ...] = (
    lambda draw: f"?x a {draw.pick(CLASSES)} .",
    lambda draw: f"?y a {draw.pick(CLASSES)} .",
    lambda draw: "?x a ?c .",
    lambda draw: f"?x {draw.pick(LINKS)} ?y .",
    lambda draw: f"?x {draw.pick(LINKS)} ?y .",
    lambda draw: "?x ?w ?y .",
    lambda draw: f"?x ?w {draw.pick((*CLASSES, *NODES))} .",
    lambda draw: f"{draw.pick(NODES)} ?w ?y .",
    lambda draw: f"?x {draw.pick((*LINKS, NamedNode(f'{NS}unused')))} ?x .",
    lambda draw: f"?c rdfs:{draw.pick(('subClassOf', 'subPropertyOf', 'domain', 'range'))} ?d .",
    lambda draw: f"?x {NUMBER} ?n .",
)
PATHS = ("a/rdfs:subClassOf*", ":p+", ":q*", ":p/:q", "!:p", "!(:p|rdfs:subClassOf)", "(:p|^:q)+", "a?", "^a/:r")


def block(draw: Tape) -> str:
    return " ".join(draw.pick(PATTERNS)(draw) for _ in range(draw.pick((1, 1, 2, 2, 3))))


def element(draw: Tape) -> str:
    forms = (
        "OPTIONAL {{ {0} }}",
        "MINUS {{ {0} }}",
        "FILTER EXISTS {{ {0} }}",
        "FILTER NOT EXISTS {{ {0} }}",
        "{{ {0} }} UNION {{ {1} }}",
        "GRAPH ?g {{ {0} }}",
        f"GRAPH {STREAMS[0]} {{{{ {{0}} }}}}",
        "{2}",
        "{2}",
        "",
    )
    return draw.pick(forms).format(block(draw), block(draw), f"?x {draw.pick(PATHS)} ?y .")


def asked(draw: Tape) -> Generated:
    """Any form, for windows whose equal triples are one."""
    where = f"{{ {block(draw)} {element(draw)} }}"
    form = draw.pick(("SELECT *", "SELECT *", "SELECT DISTINCT ?x ?c", "count", "ASK", "CONSTRUCT { ?x :found ?y }"))
    text = f"{form} WHERE {where}"
    if form == "count":
        text = f"SELECT ?x (COUNT(*) AS ?many) WHERE {where} GROUP BY ?x"
    return Generated(HEAD + text, HEAD + text)


def asked_distinct(draw: Tape) -> Generated:
    """A form to which it does not matter how often something is there."""
    text = f"{HEAD}SELECT DISTINCT * WHERE {{ {block(draw)} {element(draw)} }}"
    return Generated(text, text)


def asked_block(draw: Tape) -> Generated:
    """Patterns alone."""
    text = f"{HEAD}SELECT * WHERE {{ {' '.join(draw.pick(PATTERNS)(draw) for _ in range(draw.count(1, 2)))} }}"
    return Generated(text, text)


# What must come out


def axioms_of(streamed: Streamed) -> set[Triple]:
    """Those of the background, closed."""
    return closure(q.triple for q in streamed.background if isinstance(q.graph_name, DefaultGraph))


def closed(streamed: Streamed, quads: list[Quad]) -> list[Quad]:
    """Every graph of a snapshot with what follows from its triples."""
    axioms = axioms_of(streamed)
    graphs = dict.fromkeys(q.graph_name for q in quads)
    return [
        Quad(t.subject, t.predicate, t.object, graph)
        for graph in graphs
        for t in closure([q.triple for q in quads if q.graph_name == graph], axioms)
    ]


def occurrences(streamed: Streamed, instant: int, axioms: set[Triple]) -> Iterator[Triple]:
    """The default graph as a bag: the closed background, and for each element all that follows from it, once."""
    yield from axioms
    for window in streamed.windows:
        for visible in streamed.visible(window, instant) if not window.named else ():
            yield from closure([visible.triple], axioms)
