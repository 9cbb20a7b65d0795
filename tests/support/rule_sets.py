"""Sets of rules evaluated as the paper's section 4.2 defines their closure, slowly, and generated ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Store, Triple

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Const, PatternTerm, Term, Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.scope import visible
from penstock.model.term_encoding import decode, encode
from penstock.optimise.walk import map_children, map_exists
from penstock.recursive_rules.analysis.background import StoreBackground
from penstock.recursive_rules.analysis.entailment import NOTHING, Entailment
from penstock.recursive_rules.analysis.rule import Rule, terms_of
from penstock.recursive_rules.machine import Element, Limits, Machine
from penstock.tuning import DEFAULT, Tuning
from tests.support import event_plans, rdfs
from tests.support.event_reference import Element as Occurred
from tests.support.event_reference import Row, World, rows
from tests.support.plans import IRIS, PREDICATES, TERMS, VARS
from tests.support.quads import quad_of, triple_of
from tests.support.tape import Tape

Occurrences = frozenset[Occurred]
_MANY = 30  # rounds after which an instant is taken for one without an answer


def rule(name: str, template: Sequence[TriplePattern], pattern: Op) -> Rule:
    return Rule(name, ops.Query(ops.Construct(tuple(template)), _sayable(pattern), emit="events"))


def _sayable(op: Op) -> Op:
    """Without BIND of what the group has bound before: no text says that, but patterns with other variables might."""
    op = map_exists(map_children(op, _sayable), _sayable)
    return op.pattern if isinstance(op, ops.Extend) and op.var in visible(op.pattern) else op


# The definition


class NoAnswerError(Exception):
    """The closure of an instant does not settle."""


def closure(rules: Sequence[Rule], world: World, axioms: Iterable[Triple] = ()) -> Occurrences:
    """What the rules add to the elements of the world: instant by instant, what is derived from what there is, and what
    follows from it by the axioms, until that is what there was."""
    derived: Occurrences = frozenset()
    stated = frozenset(axioms)
    for instant in sorted({element.end for element in world.elements}):
        derived |= _at(instant, rules, world.until(instant), derived, stated)
    return derived - frozenset(world.elements)


def _at(
    instant: int, rules: Sequence[Rule], world: World, before: Occurrences, axioms: frozenset[Triple]
) -> Occurrences:
    now: Occurrences = frozenset()
    for _ in range(_MANY):
        there = entailed(frozenset(world.elements) | before | now, axioms)
        seen = replace(world, elements=tuple(sorted(there, key=str)))
        found = frozenset(
            made
            for rule in rules
            for row in rows(rule.pattern, seen)
            if row.ends == instant
            for made in filled(rule, row)
        )
        if found == now:
            return now
        now = found
    raise NoAnswerError


def entailed(elements: Occurrences, axioms: frozenset[Triple]) -> Occurrences:
    """The elements, and what follows from each, at its times."""
    if not axioms:
        return elements
    return frozenset(
        Occurred((t.subject, t.predicate, t.object), element.start, element.end)  # type: ignore[arg-type]
        for element in elements
        for t in rdfs.closure([triple_of(element.triple)], axioms)
    )


def filled(rule: Rule, row: Row) -> list[Occurred]:
    assert row.starts is not None
    assert row.ends is not None
    made = [[_filled(term, row) for term in terms_of(triple)] for triple in rule.template]
    return [Occurred((s, p, o), row.starts, row.ends) for s, p, o in made if _is_triple(s, p, o)]  # type: ignore[arg-type]


def _filled(term: PatternTerm, row: Row) -> Term | None:
    return row.solution.get(term) if isinstance(term, Var) else term


def _is_triple(s: Term | None, p: Term | None, o: Term | None) -> bool:
    return s is not None and not isinstance(s, Literal) and isinstance(p, NamedNode) and o is not None


# The machine on the same


def machine(
    rules: Sequence[Rule],
    world: World,
    limits: Limits | None = None,
    saved: str | None = None,
    entailment: Entailment = NOTHING,
    tuning: Tuning = DEFAULT,
) -> Machine:
    return Machine(rules, background(world), limits, saved, entailment, tuning=tuning)


def background(world: World) -> StoreBackground:
    store = Store()
    store.extend(map(quad_of, world.background))
    return StoreBackground(store)


def fed(world: World) -> list[Element]:
    """The elements in the order of their ends."""
    ordered = sorted(world.elements, key=lambda element: element.end)
    return [Element(e.start, e.end, *map(encode, e.triple)) for e in ordered]


def occurred(element: Element) -> Occurred:
    triple = (decode(element.subject), decode(element.predicate), decode(element.object))
    return Occurred(triple, element.start, element.end)


# Generated ones

DERIVED = tuple(NamedNode(f"http://example.org/{name}") for name in "rs")
READ = (*PREDICATES, *PREDICATES, *PREDICATES, *DERIVED)


def any_rules(tape: Tape) -> list[Rule]:
    return [_rule(tape, i, _likely(tape, event_plans.decided_plan(tape, 3))) for i in range(tape.count(1, 3))]


def positive_rules(tape: Tape) -> list[Rule]:
    """Rules that ask for nothing that is not there, and mostly feed each other at one time."""
    return [_rule(tape, i, _likely(tape, event_plans._made(tape, 2, POSITIVE))) for i in range(tape.count(1, 3))]


def gap_rules(tape: Tape) -> list[Rule]:
    """Rules with NOT between two events, as the paper writes it; what comes last is none of their own triples."""
    return [_rule(tape, i, _gap(tape)) for i in range(tape.count(1, 2))]


def _gap(tape: Tape) -> Op:
    before, absent = (_likely(tape, _operand(tape)) for _ in range(2))
    after, mark = _operand(tape), Var("mark")
    between = ops.Seq(ops.Seq(before, ops.Extend(mark, Const(Literal(True)), absent)), after)
    found: Op = ops.EqualsOptional(ops.Seq(before, after), between)
    found = ops.Filter(Call("!", (Call("BOUND", (mark,)),)), found)
    return ops.Filter(event_plans.short(tape), found) if tape.chance(3) else found


def _operand(tape: Tape) -> Op:
    objects: tuple[PatternTerm, ...] = (*VARS, *VARS, TERMS[0])
    made = [TriplePattern(VARS[0], tape.pick(PREDICATES), tape.pick(objects)) for _ in range(2)]
    first, both = ops.Bgp((made[0],)), ops.Bgp(tuple(made))
    return tape.pick((first, first, first, both, ops.Seq(first, ops.Bgp((made[1],))), ops.LeftJoin(None, first, both)))


def keyed_rules(tape: Tape) -> list[Rule]:
    """Rules whose patterns and triples are all about one variable."""
    return [_keyed(_rule(tape, i, event_plans.decided_plan(tape, 2))) for i in range(tape.count(1, 2))]


def _keyed(made: Rule) -> Rule:
    key = VARS[0]

    def about(op: Op) -> Op:
        if isinstance(op, ops.Bgp):
            return ops.Bgp(tuple(replace(pattern, subject=key) for pattern in op.patterns))
        if isinstance(op, ops.Project):
            op = replace(op, vars=tuple(dict.fromkeys((key, *op.vars))))
        return map_exists(map_children(op, about), about)

    return rule(made.name, [replace(triple, subject=key) for triple in made.template], about(made.pattern))


def dense(tape: Tape) -> World:
    """A longer stream, in which much is alike."""
    return World(tuple(_element(tape) for _ in range(tape.count(6, 14))))


def _element(tape: Tape) -> Occurred:
    start = tape.count(0, 9)
    triple = (tape.pick(IRIS), tape.pick(PREDICATES), tape.pick(TERMS[:2]))
    return Occurred(triple, start, start + tape.pick((0, 0, 0, 1, 3)))


def _rule(tape: Tape, number: int, pattern: Op) -> Rule:
    """The triples are mostly of predicates that only rules have, and made of what the pattern binds."""
    vars = tuple(sorted(visible(pattern)))
    subjects: tuple[PatternTerm, ...] = (*vars, *vars, IRIS[0])
    objects: tuple[PatternTerm, ...] = (*vars, *vars, *TERMS[:2])
    predicates: tuple[PatternTerm, ...] = (*DERIVED, *DERIVED, *DERIVED, *DERIVED, PREDICATES[0])
    triples = [
        TriplePattern(tape.pick(subjects), tape.pick(predicates), tape.pick(objects)) for _ in range(tape.count(1, 2))
    ]
    return rule(f"rule{number}", triples, pattern)


def _likely(tape: Tape, op: Op) -> Op:
    """The same with patterns that match more, and read what rules make as well."""
    subjects, objects = (VARS[0], VARS[0], VARS[1]), (VARS[1], VARS[2], VARS[2], TERMS[0])
    patterns = [pattern for part in everywhere(op) if isinstance(part, ops.Bgp) for pattern in part.patterns]
    others = {p: TriplePattern(tape.pick(subjects), tape.pick(READ), tape.pick(objects)) for p in patterns}

    def changed(op: Op) -> Op:
        if isinstance(op, ops.Bgp):
            return ops.Bgp(tuple(others[pattern] for pattern in op.patterns))
        return map_exists(map_children(op, changed), changed)

    return changed(op)


def typing_rules(tape: Tape) -> list[Rule]:
    """Rules of which some derive, and ask, of what class something is."""
    return [_typing(made) for made in tape.pick((any_rules, positive_rules))(tape)]


def _typing(made: Rule) -> Rule:
    def typed(triple: TriplePattern) -> TriplePattern:
        return replace(triple, predicate=rdfs.TYPE) if triple.predicate == DERIVED[1] else triple

    def changed(op: Op) -> Op:
        if isinstance(op, ops.Bgp):
            return ops.Bgp(tuple(map(typed, op.patterns)))
        return map_exists(map_children(op, changed), changed)

    return rule(made.name, list(map(typed, made.template)), changed(made.pattern))


def axioms(tape: Tape) -> list[Triple]:
    """An ontology; now and then one that speaks of rdf:type itself."""
    said = (*PREDICATES, DERIVED[0], *([rdfs.TYPE] if tape.chance(4) else []))
    kinds = {
        rdfs.SUB_PROPERTY: (said, (*PREDICATES, *DERIVED[:1], rdfs.TYPE)),
        rdfs.SUB_CLASS: (IRIS, IRIS), rdfs.DOMAIN: (said, IRIS), rdfs.RANGE: (said, IRIS),
    }  # fmt: skip
    chosen = [tape.pick(rdfs.SCHEMA) for _ in range(tape.count(1, 4))]
    return [Triple(tape.pick(kinds[kind][0]), kind, tape.pick(kinds[kind][1])) for kind in chosen]


POSITIVE = (
    *[event_plans._binary(ops.Seq)] * 2, *[event_plans._binary(ops.Join)] * 3, event_plans._binary(ops.Equals),
    event_plans._binary(ops.Union), event_plans._project,
    lambda tape, inner: ops.Filter(event_plans.short(tape), inner()),
)  # fmt: skip
