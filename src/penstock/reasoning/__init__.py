"""Reasoning: what follows from a triple by the background's ontology. No Spark here: only terms and sets of them."""

from penstock.reasoning.ontology import Ontology, closed_ontology
from penstock.reasoning.rewrite import Way, ways

__all__ = ["Ontology", "Way", "closed_ontology", "ways"]
