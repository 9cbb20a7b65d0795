"""Tree → algebra, terms and paths: https://www.w3.org/TR/sparql11-query/#sparqlTranslatePathExpressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import groupby, pairwise

from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build.base import BuilderBase
from penstock.algebra.expressions import PatternTerm, Term, Var
from penstock.errors import QueryError
from penstock.syntax import tree
from penstock.syntax.iri import is_absolute

__all__ = ["TermBuilder", "joined"]

_REPEATS: dict[str, Callable[[ops.PathExpr], ops.PathExpr]] = {
    "?": ops.ZeroOrOne,
    "*": ops.ZeroOrMore,
    "+": ops.OneOrMore,
}


class TermBuilder(BuilderBase):
    # Terms

    def term(self, term: tree.Term) -> PatternTerm:
        match term:
            case tree.Variable(name):
                return Var(name)
            case tree.BlankNode(label):
                if label not in self.blank_nodes:
                    self.blank_nodes[label] = self.fresh("b")
                return self.blank_nodes[label]
            case _:
                return self.constant(term)

    def name(self, name: tree.Variable | tree.Iri) -> Var | NamedNode:
        return Var(name.name) if isinstance(name, tree.Variable) else self.iri(name)

    def constant(self, term: tree.Iri | tree.Literal) -> Term:
        return self.iri(term) if isinstance(term, tree.Iri) else self.literal(term)

    def iri(self, iri: tree.Iri) -> NamedNode:
        try:
            return NamedNode(iri.value)
        except ValueError as error:
            reason, hint = f"<{iri.value}> is not an IRI: {error}", None
            if not is_absolute(iri.value):
                reason = f"<{iri.value}> is a relative IRI, and the query has no base"
                hint = "add a line such as  BASE <http://example.org/>  or give a base with the query"
            raise iri.span.error(QueryError, reason, self.text, hint) from None

    def literal(self, literal: tree.Literal) -> Literal:
        if literal.datatype is not None:
            return Literal(literal.value, datatype=self.iri(literal.datatype))
        try:
            return Literal(literal.value, language=literal.language)
        except ValueError as error:
            reason = f"@{literal.language} is not a language tag: {error}"
            raise literal.span.error(QueryError, reason, self.text) from None

    # Triples and paths

    def triples(self, triples: Iterable[tree.Triple]) -> ops.Op:
        """One Bgp for each run of triples that have no path between them, joined with the paths."""
        return joined(part for triple in triples for part in self.triple(triple))

    def triple(self, triple: tree.Triple) -> Iterator[ops.TriplePattern | ops.Op]:
        subject, object_ = self.term(triple.subject), self.term(triple.object)
        if isinstance(triple.predicate, tree.Variable):
            yield ops.TriplePattern(subject, Var(triple.predicate.name), object_)
        else:
            yield from self.path(subject, triple.predicate, object_)

    def path(self, start: PatternTerm, path: tree.PathExpr, end: PatternTerm) -> Iterator[ops.TriplePattern | ops.Op]:
        """Links, inverses, sequences and alternatives need no path operator."""
        match path:
            case tree.Iri():
                yield ops.TriplePattern(start, self.iri(path), end)
            case tree.InversePath(inner):
                yield from self.path(end, inner, start)
            case tree.SequencePath(steps):
                nodes = [start, *(self.fresh("p") for _ in steps[1:]), end]
                for (left, right), step in zip(pairwise(nodes), steps, strict=True):
                    yield from self.path(left, step, right)
            case tree.AlternativePath(choices):
                yield reduce(ops.Union, [joined(self.path(start, choice, end)) for choice in choices])
            case _:
                yield ops.Path(start, self.path_expression(path), end)

    def path_expression(self, path: tree.PathExpr) -> ops.PathExpr:
        """A path that stays one, as operand of a repetition."""
        match path:
            case tree.Iri():
                return ops.Link(self.iri(path))
            case tree.InversePath(inner):
                return ops.Inverse(self.path_expression(inner))
            case tree.SequencePath(steps):
                return reduce(ops.Sequence, map(self.path_expression, steps))
            case tree.AlternativePath(choices):
                return reduce(ops.Alternative, map(self.path_expression, choices))
            case tree.RepeatPath(inner, modifier):
                return _REPEATS[modifier](self.path_expression(inner))
            case tree.NegatedPath(members):
                return self.negated_set(members)

    def negated_set(self, members: tuple[tree.Iri | tree.InversePath, ...]) -> ops.NegatedSet:
        """`!()` asks for any predicate forwards."""
        forward = tuple(self.iri(member) for member in members if isinstance(member, tree.Iri))
        inverses = [member.path for member in members if isinstance(member, tree.InversePath)]
        backward = tuple(self.iri(path) for path in inverses if isinstance(path, tree.Iri))
        return ops.NegatedSet(forward if forward or not backward else None, backward or None)


def joined(parts: Iterable[ops.TriplePattern | ops.Op]) -> ops.Op:
    """The join of the parts, in which neighbouring triple patterns are one Bgp."""
    runs: list[ops.Op] = []
    for is_triple, run in groupby(parts, lambda part: isinstance(part, ops.TriplePattern)):
        if is_triple:
            runs.append(ops.Bgp(tuple(part for part in run if isinstance(part, ops.TriplePattern))))
        else:
            runs += [part for part in run if isinstance(part, ops.Op)]
    return reduce(ops.Join, runs) if runs else ops.Bgp(())
