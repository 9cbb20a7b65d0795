"""The template of a rule: solutions → elements."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import RULES
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.entailment import NOTHING, Entailment
from penstock.recursive_rules.analysis.rule import Rule, terms_of
from penstock.recursive_rules.rete.nodes import Receive, Scheduled
from penstock.recursive_rules.solutions.rows import Layout, Row, slots

__all__ = ["TemplateNode"]

Term = Callable[[Row, str], str | None]
_STREAM = RULES.value


class TemplateNode(Scheduled):
    """Turns solutions into elements, adds the entailed ones, and passes those that `derive` reports as new to the
    leaves that read them (`readers`, by triple of the template).

    A blank node of the template is named after the rule and the solution: the same solution has the same one, wherever
    and whenever it is found.
    """

    def __init__(self, rule: Rule, layout: Layout, entailment: Entailment = NOTHING) -> None:
        super().__init__(layout)
        self.rule = rule.name
        self._entailment = entailment
        self._salt = blake2b(repr((rule.query.form, rule.pattern)).encode(), digest_size=16).digest()
        new = dict.fromkeys(term for triple in rule.template for term in terms_of(triple) if rule.is_new(term))
        self._nodes = {term: f"x{number}" for number, term in enumerate(new)}
        self._template = [[self._reader(term) for term in terms_of(triple)] for triple in rule.template]
        self.readers: list[list[Receive]] = [[] for _ in rule.template]
        self.derive: Callable[[str, list[Row]], list[Row]] = lambda rule, elements: elements

    def _reader(self, term: PatternTerm) -> Term:
        if term in self._nodes:
            suffix = self._nodes[term]
            return lambda row, name: f"_:{name}{suffix}"
        places = slots(self.layout)
        if isinstance(term, Var) and term in places:
            place = places[term]
            return lambda row, name: row[place]
        constant = None if isinstance(term, Var) else encode(term)
        return lambda row, name: constant

    def work(self, *inbox: list[Row]) -> list[Row]:
        for elements, readers in zip(self._triples(inbox[0]), self.readers, strict=True):
            new = self.derive(self.rule, elements) if elements else elements
            if new and readers:
                seen = [*new, *self._entailment.rows(new)] if self._entailment else new
                for receive in readers:
                    receive(seen)
        return []

    def _triples(self, rows: list[Row]) -> list[list[Row]]:
        """The elements of the rows that have an interval, by triple of the template."""
        by_triple: list[list[Row]] = [[] for _ in self._template]
        for row in rows:
            if row[1] is not None:
                name = self._name(row) if self._nodes else ""
                for elements, triple in zip(by_triple, self._template, strict=True):
                    s, p, o = [read(row, name) for read in triple]
                    if s is not None and s[0] != '"' and p is not None and p[0] == "<" and o is not None:
                        elements.append((row[0], row[1], s, p, o, _STREAM))
        return by_triple

    def _name(self, row: Row) -> str:
        return "r" + blake2b(repr(row).encode(), digest_size=16, key=self._salt).hexdigest()
