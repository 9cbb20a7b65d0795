"""Queries to explain, and graphs as something that a test can write down."""

from __future__ import annotations

from penstock.explain.model import Graph, Node
from penstock.explain.sources import KnownPredicates

BROKERS = "http://brokerscentral.org/brokers.rdf"
MARKET = "http://stockexchange.org/market.trdf"

TOTAL_AMOUNT = f"""
REGISTER QUERY TotalAmountPerDayAndBroker AS
PREFIX b: <http://brokerscentral.org/accounts#>
PREFIX x: <http://stockexchange.org/exchanges#>
SELECT DISTINCT ?broker ?total
FROM <{BROKERS}>
FROM STREAM <{MARKET}> [RANGE 24h TUMBLING]
WHERE {{
  ?broker b:is_from ?country .
  ?broker x:does ?tx .
  ?tx x:with ?amount .
  FILTER (?country = 'CH' && ?amount >= 10)
}}
AGGREGATE {{ (?total, SUM(?amount), ?broker) }}
"""

SELLER_MARKET = f"""
REGISTER QUERY SellerMarketMovementsPerDay AS
PREFIX x: <http://stockexchanges.org/exchanges#>
FROM <{BROKERS}>
FROM STREAM <{MARKET}> [RANGE 24 hours TUMBLING]
SELECT DISTINCT ?seller, ?market, ?tot
WHERE {{ GRAPH ?market {{ ?Transaction x:seller ?seller . ?Transaction x:with ?amount . }} }}
AGGREGATE {{ (?tot, SUM(?amount), {{?seller, ?market}}) }}
"""

BROKERS_AND_MARKET = KnownPredicates(
    frozenset({"http://brokerscentral.org/accounts#is_from"}),
    {MARKET: frozenset({"http://stockexchange.org/exchanges#does", "http://stockexchange.org/exchanges#with"})},
)
"""What the papers' example takes for granted: brokers are background, and what they do is a stream."""


def tree(graph: Graph, root: Node | None = None) -> str:
    """The graph from its result (or another node) down, a node a line: kind and what stands in it."""

    def lines(id: str, depth: int) -> list[str]:
        node = graph.node(id)
        own = " ".join([node.kind, " · ".join(node.lines)]).strip()
        below = [line for edge in graph.into(id) for line in lines(edge.source, depth + 1)]
        return ["  " * depth + own, *below]

    return "\n".join(lines((root or graph.nodes[0]).id, 0))


def edges(graph: Graph) -> list[str]:
    """Each edge by the titles of its ends."""
    arrow = {True: "⇢", False: "→"}
    found = []
    for edge in graph.edges:
        ends = f"{graph.node(edge.source).title} {arrow[edge.dashed]} {graph.node(edge.target).title}"
        found.append(f"{ends} {edge.label}".rstrip())
    return found


def sources(graph: Graph) -> dict[str, list[str]]:
    """Of each vertex the titles of the boxes that it comes from."""
    titles = {box.id: f"{box.kind} {box.title}".rstrip() for box in graph.boxes}
    return {node.title: [titles[box] for box in node.sources] for node in graph.nodes}
