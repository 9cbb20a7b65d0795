"""The machine against the definition of the closure, on generated rules and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import Triple

from penstock.errors import QueryError
from penstock.model.term_encoding import decode
from penstock.reasoning import closed_ontology
from penstock.recursive_rules.analysis.entailment import Entailment, entailment_of
from penstock.recursive_rules.analysis.partition import Partition, partition
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.machine import Element, Machine
from penstock.tuning import DEFAULT, Tuning
from tests.support.event_plans import events, world
from tests.support.event_reference import World
from tests.support.plans import from_tape
from tests.support.rule_sets import (
    Occurrences,
    any_rules,
    axioms,
    closure,
    dense,
    fed,
    gap_rules,
    keyed_rules,
    machine,
    occurred,
    positive_rules,
    typing_rules,
)

Rules = list[Rule]
often = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


def started(rules: Rules, given_: World, saved: str | None = None, tuning: Tuning = DEFAULT) -> Machine:
    """What cannot be evaluated is refused, and that is tested elsewhere."""
    try:
        return machine(rules, given_, saved=saved, tuning=tuning)
    except QueryError:
        assume(False)
        raise


def derived(found: Iterable[Element]) -> Occurrences:
    try:
        return frozenset(map(occurred, found))
    except QueryError as error:
        assume("background alone" not in str(error))
        raise


@often
@given(rules=from_tape(any_rules, 200), given_=from_tape(events, 60))
def test_any_rules(rules: Rules, given_: World) -> None:
    assert derived(started(rules, given_).run(fed(given_))) == closure(rules, given_)


@often
@given(rules=from_tape(positive_rules, 120), given_=from_tape(events, 60))
def test_rules_that_feed_each_other_at_one_time(rules: Rules, given_: World) -> None:
    assert derived(started(rules, given_).run(fed(given_))) == closure(rules, given_)


@often
@given(rules=from_tape(gap_rules, 100), given_=from_tape(dense, 80))
def test_not_between_two_events(rules: Rules, given_: World) -> None:
    assert derived(started(rules, given_).run(fed(given_))) == closure(rules, given_)


@often
@given(rules=from_tape(any_rules, 200), given_=from_tape(world, 60))
def test_with_a_background(rules: Rules, given_: World) -> None:
    assert derived(started(rules, given_).run(fed(given_))) == closure(rules, given_)


@often
@given(rules=from_tape(any_rules, 200), given_=from_tape(world, 60), steps=st.sets(st.integers(0, 8)))
def test_a_machine_can_be_saved_between_any_two_steps(rules: Rules, given_: World, steps: set[int]) -> None:
    through = derived(started(rules, given_).run(fed(given_)))

    def stopping() -> Iterator[Element]:
        running = started(rules, given_)
        for end in sorted({element.end for element in given_.elements}):
            yield from running.feed(element for element in fed(given_) if element.end == end)
            running = started(rules, given_, running.save()) if end in steps else running

    assert derived(stopping()) == through


@often
@given(rules=from_tape(any_rules, 200) | from_tape(gap_rules, 100), given_=from_tape(dense, 80))
def test_pruning_changes_nothing(rules: Rules, given_: World) -> None:
    """Memories are pruned after each step, and not only when there is much in them."""
    forgetful = Tuning(rule_prune_rows=0, rule_prune_steps=1)
    assert derived(started(rules, given_, tuning=forgetful).run(fed(given_))) == closure(rules, given_)


@often
@given(rules=from_tape(typing_rules, 200), given_=from_tape(dense, 80), stated=from_tape(axioms, 20))
def test_with_entailment(rules: Rules, given_: World, stated: list[Triple]) -> None:
    assert derived(reasoning(rules, given_, stated).run(fed(given_))) == closure(rules, given_, stated)


def reasoning(rules: Rules, given_: World, stated: list[Triple]) -> Machine:
    try:
        return machine(rules, given_, entailment=entailment_by(rules, stated))
    except QueryError:
        assume(False)
        raise


def entailment_by(rules: Rules, stated: list[Triple]) -> Entailment:
    ontology = closed_ontology(lambda wanted: [t for t in stated if t.predicate in wanted])
    return entailment_of(ontology, [pattern for rule in rules for pattern in rule.patterns()])


@often
@given(rules=from_tape(keyed_rules, 200), given_=from_tape(dense, 80), stated=from_tape(axioms, 20))
def test_parts_with_entailment(rules: Rules, given_: World, stated: list[Triple]) -> None:
    split = partition(rules, entailment=entailment_by(rules, stated))
    assume(split is not None)
    assert split is not None
    apart = [derived(reasoning(rules, given_, stated).run(part)) for part in in_parts(split, fed(given_))]
    assert frozenset().union(*apart) == derived(reasoning(rules, given_, stated).run(fed(given_)))


@often
@given(rules=from_tape(keyed_rules, 200), given_=from_tape(dense, 80))
def test_parts_with_one_key_can_be_evaluated_apart(rules: Rules, given_: World) -> None:
    split = partition(rules)
    assume(split is not None)
    assert split is not None
    apart = [derived(started(rules, given_).run(part)) for part in in_parts(split, fed(given_))]
    assert frozenset().union(*apart) == derived(started(rules, given_).run(fed(given_)))


def in_parts(split: Partition, elements: Iterable[Element]) -> Iterable[list[Element]]:
    parts: dict[str, list[Element]] = {}
    for element in elements:
        place = split.place(decode(element.predicate))  # type: ignore[arg-type]
        if place is not None:
            parts.setdefault(getattr(element, place), []).append(element)
    return parts.values()
