"""Reads a mapping in RML: its graph becomes the plan, or an error that shows the place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pyoxigraph import NamedNode

from penstock.lift.mapping_text import MappingText
from penstock.lift.message_references import reader
from penstock.lift.plan import Constant, Formulation, Reference, RmlPlan, Statement, TermMap, TriplesMap
from penstock.lift.records import jsonpath, xpath
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.xpath import XPath
from penstock.lift.rml.mapping_graph import MappingGraph, Node, Term
from penstock.lift.rml.term_maps import TermMaps
from penstock.lift.rml.vocabulary import FORMULATIONS, NAMESPACES, QL, RML
from penstock.syntax.suggest import did_you_mean

__all__ = ["read_mapping"]

_TYPE = Constant("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")
_PAIR_WORDS = ("predicate", "predicateMap", "object", "objectMap")
_DEFAULT_GRAPH = {f"<{namespace}defaultGraph>" for namespace in NAMESPACES}


def read_mapping(text: MappingText) -> RmlPlan:
    """The plan of a mapping in RML, written in Turtle."""
    graph = MappingGraph.of(text)
    nodes = graph.triples_maps()
    if not nodes:
        _refuse_other_words(graph)
        hint = f"it needs rml:logicalSource and rml:subjectMap, with  @prefix rml: <{RML}> ."
        raise text.error("the mapping has no triples map", hint=hint)
    maps = [_triples_map(graph, node) for node in nodes]
    formulations = {formulation for formulation, _ in maps}
    if len(formulations) > 1:
        names = " and ".join(sorted(formulation.value for formulation in formulations))
        raise text.error(f"the triples maps are for {names}; the messages of a stream have one format")
    return RmlPlan(maps[0][0], tuple(triples_map for _, triples_map in maps))


def _refuse_other_words(graph: MappingGraph) -> None:
    """Raise an error about a misspelt word of a mapping that seems to have no triples map."""
    for node in graph.words:
        graph.check_words(node, "triples map")


def _triples_map(graph: MappingGraph, node: Node) -> tuple[Formulation, TriplesMap]:
    graph.check_words(node, "triples map")
    name = graph.name(node)
    formulation, iterator, parse = _logical_source(graph, node, name)
    maps = TermMaps(graph, parse, _base(graph, node))
    word, subject = _only(graph, node, name, "subjectMap", "subject")
    subject_map = maps.read(subject, word, "subject map")
    graphs = _graphs(graph, subject, maps) if word == "subjectMap" else []
    classes = _classes(graph, subject) if word == "subjectMap" else []
    statements = [Statement(_TYPE, each, within) for each in classes for within in graphs or [None]]
    for term in graph.all(node, "predicateObjectMap"):
        statements += _statements(graph, graph.node_of(term, "predicateObjectMap"), maps, graphs)
    if not statements:
        hint = "add a predicateObjectMap or a class"
        raise graph.text.error(f"{name} makes no triple", *graph.places(node), hint=hint)
    return formulation, TriplesMap(name, iterator, subject_map, tuple(statements))


def _only(graph: MappingGraph, node: Node, name: str, *words: str) -> tuple[str, Term]:
    """The word of these that a triples map has, and its value."""
    values = [(word, value) for word in words for value in graph.all(node, word)]
    if len(values) != 1:
        count = "no" if not values else "more than one"
        raise graph.text.error(f"{name} has {count} {words[0]}", *graph.places(node, *words))
    return values[0]


def _logical_source(
    graph: MappingGraph, node: Node, name: str
) -> tuple[Formulation, JsonPath | XPath | None, Callable[[str], Reference]]:
    """The formulation and the iterator, and the function that reads references."""
    _, term = _only(graph, node, name, "logicalSource")
    source = graph.node_of(term, "logicalSource")
    graph.check_words(source, "logical source")
    formulation = _formulation(graph, node, source, name)
    parse = _parsers(graph)[formulation]
    text = graph.text_of(source, "logical source", "iterator")
    if formulation is Formulation.CSV:
        if text is not None:
            raise graph.text.error("a logical source of CSV has no iterator: its records are the rows", text)
        return formulation, None, reader(parse)
    default = "$" if formulation is Formulation.JSON else "/*"
    try:
        iterator = parse(text or default)
    except ValueError as error:
        raise graph.text.error(f"the iterator {text!r}: {error}", text or "") from None
    if isinstance(iterator, XPath) and (iterator.attribute is not None or iterator.own_text):
        raise graph.text.error(f"the iterator {text!r} finds texts, and records are elements", text or "")
    references = reader(parse, attributes=formulation is Formulation.XML)
    return formulation, iterator if isinstance(iterator, JsonPath | XPath) else None, references


def _formulation(graph: MappingGraph, node: Node, source: Node, name: str) -> Formulation:
    said = graph.one(source, "logical source", "referenceFormulation")
    if said is None:
        hint = "add  rml:referenceFormulation  with JSONPath, CSV or XPath"
        raise graph.text.error(
            f"the logical source of {name} has no referenceFormulation", *graph.places(node, "logicalSource"), hint=hint
        )
    words = {namespace + word: word for namespace in (QL, RML) for word in FORMULATIONS}
    if said.value not in words:
        near = did_you_mean(said.value.rpartition("#")[2].rpartition("/")[2], FORMULATIONS)
        raise graph.text.error(
            f"the reference formulation {graph.name(said)} is not one of JSONPath, CSV and XPath", said.value, hint=near
        )
    return Formulation(words[said.value])


def _parsers(graph: MappingGraph) -> dict[Formulation, Callable[[str], Reference]]:
    return {
        Formulation.JSON: jsonpath.parse,
        Formulation.CSV: str,
        Formulation.XML: partial(xpath.parse, prefixes=graph.text.prefixes),
    }


def _base(graph: MappingGraph, node: Node) -> str:
    base = graph.one(node, "triples map", "baseIRI")
    return "" if base is None else base.value


def _classes(graph: MappingGraph, subject: Term) -> list[Constant]:
    classes = graph.all(graph.node_of(subject, "subjectMap"), "class")
    for term in classes:
        if not isinstance(term, NamedNode):
            raise graph.text.error(f"a class is an IRI, not {graph.name(term)}", term.value)
    return [Constant(f"<{term.value}>") for term in classes]


def _graphs(graph: MappingGraph, term: Term, maps: TermMaps) -> list[TermMap | None]:
    """The graphs that a subject map or predicate-object map names; None is the default graph."""
    node = graph.node_of(term, "graphMap")
    named = [maps.read(value, word, "graph map") for word in ("graph", "graphMap") for value in graph.all(node, word)]
    return [None if isinstance(each, Constant) and each.term in _DEFAULT_GRAPH else each for each in named]


def _statements(graph: MappingGraph, node: Node, maps: TermMaps, graphs: list[TermMap | None]) -> list[Statement]:
    """Each predicate with each object, in each graph of the subject map and of the predicate-object map."""
    graph.check_words(node, "predicate-object map")
    term_maps: dict[str, list[TermMap]] = {}
    for part in ("predicate", "object"):
        words = (part, f"{part}Map")
        term_maps[part] = [maps.read(value, word, f"{part} map") for word in words for value in graph.all(node, word)]
        if not term_maps[part]:
            raise graph.text.error(f"a predicate-object map has no {part}", *graph.places(node, *_PAIR_WORDS))
    within = list(dict.fromkeys([*graphs, *_graphs(graph, node, maps)])) or [None]
    return [
        Statement(predicate, object, each)
        for predicate in term_maps["predicate"]
        for object in term_maps["object"]
        for each in within
    ]
