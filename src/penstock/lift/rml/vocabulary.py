"""The words of RML and R2RML: which a mapping may use, where, and what is said of the others."""

from __future__ import annotations

__all__ = ["FNML", "FORMULATIONS", "NAMESPACES", "QL", "R2RML", "REFUSED", "RML", "RML_IO", "WORDS", "local_name"]

R2RML = "http://www.w3.org/ns/r2rml#"
RML_IO = "http://semweb.mmlab.be/ns/rml#"
RML = "http://w3id.org/rml/"
QL = "http://semweb.mmlab.be/ns/ql#"
FNML = "http://semweb.mmlab.be/ns/fnml#"
NAMESPACES = (R2RML, RML_IO, RML, FNML)

_TERM_MAP = {"constant", "template", "reference", "termType"}

WORDS: dict[str, frozenset[str]] = {
    "triples map": frozenset({"logicalSource", "subjectMap", "subject", "predicateObjectMap", "baseIRI"}),
    "logical source": frozenset({"source", "referenceFormulation", "iterator"}),
    "subject map": frozenset(_TERM_MAP | {"class", "graphMap", "graph"}),
    "predicate-object map": frozenset({"predicate", "predicateMap", "object", "objectMap", "graphMap", "graph"}),
    "predicate map": frozenset(_TERM_MAP),
    "object map": frozenset(_TERM_MAP | {"datatype", "datatypeMap", "language", "languageMap"}),
    "graph map": frozenset(_TERM_MAP),
    "language map": frozenset({"constant"}),
    "datatype map": frozenset({"constant"}),
}
"""The words that each part of a mapping may have."""

_JOINS = "joins of triples maps are not in the subset"
_TABLES = "databases are not in the subset: messages are JSON, CSV or XML"
_FUNCTIONS = "functions are not in the subset"
_TARGETS = "targets are not in the subset: triples go to the stream"
_COLLECTIONS = "collections and containers are not in the subset"
_VIEWS = "logical views are not in the subset"
REFUSED: dict[str, str] = {
    "parentTriplesMap": _JOINS,
    "joinCondition": _JOINS,
    "child": _JOINS,
    "parent": _JOINS,
    "childMap": _JOINS,
    "parentMap": _JOINS,
    "logicalTable": _TABLES,
    "tableName": _TABLES,
    "sqlQuery": _TABLES,
    "sqlVersion": _TABLES,
    "query": _TABLES,
    "column": "a column of a database is not in the subset: use rml:reference",
    "inverseExpression": _TABLES,
    "functionValue": _FUNCTIONS,
    "functionExecution": _FUNCTIONS,
    "function": _FUNCTIONS,
    "input": _FUNCTIONS,
    "return": _FUNCTIONS,
    "returnMap": _FUNCTIONS,
    "logicalTarget": _TARGETS,
    "gather": _COLLECTIONS,
    "gatherAs": _COLLECTIONS,
    "viewOn": _VIEWS,
    "field": _VIEWS,
    "leftJoin": _VIEWS,
    "innerJoin": _VIEWS,
    "quotedTriplesMap": "quoted triples are not in the subset",
    "subjectMapStar": "quoted triples are not in the subset",
    "strategy": _COLLECTIONS,
    "null": "null values are not in the subset: null in JSON and an empty cell of CSV are no value",
    "compression": "compression is not in the subset: messages come as they are",
    "encoding": "encodings are not in the subset: messages are in UTF-8",
}
"""Words of RML that are outside of the subset, and why."""

FORMULATIONS = {"JSONPath": "JSONPath", "CSV": "CSV", "XPath": "XPath"}


def local_name(iri: str) -> str | None:
    """The word of RML or R2RML that an IRI stands for; None if it is of another vocabulary."""
    namespace = next((each for each in NAMESPACES if iri.startswith(each)), None)
    return None if namespace is None else iri.removeprefix(namespace)
