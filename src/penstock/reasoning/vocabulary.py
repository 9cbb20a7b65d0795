"""The words of RDFS that the rules know."""

from pyoxigraph import NamedNode

__all__ = ["DOMAIN", "RANGE", "SCHEMA", "SUB_CLASS", "SUB_PROPERTY", "TYPE"]

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"

TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SUB_CLASS, SUB_PROPERTY = NamedNode(f"{_RDFS}subClassOf"), NamedNode(f"{_RDFS}subPropertyOf")
DOMAIN, RANGE = NamedNode(f"{_RDFS}domain"), NamedNode(f"{_RDFS}range")
SCHEMA = frozenset((SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE))
