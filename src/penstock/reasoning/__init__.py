"""Reasoning: the triples that a triple entails by the background's ontology. Pure Python, without Spark."""

from penstock.reasoning.ontology import Ontology, closed_ontology
from penstock.reasoning.rewrite import Way, ways

__all__ = ["Ontology", "Way", "closed_ontology", "ways"]
