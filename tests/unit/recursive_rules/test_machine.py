"""Recursive rules by hand: the paper's running average, cycles that end and cycles that do not, what rules read."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from pyoxigraph import RdfFormat, Store, parse

from penstock.algebra.build import translate
from penstock.errors import QueryError
from penstock.model.term_encoding import encode
from penstock.recursive_rules.analysis.background import StoreBackground
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.machine import Element, Limits, Machine, merged
from penstock.recursive_rules.rete.negated_sequence import NegatedSequence

PREFIXES = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
DAY = 86_400_000_000

COUNTING = """CONSTRUCT { _:aaa :hasCount ?count . _:aaa :hasSum ?sum } WHERE {
  SELECT (?prevcount + 1 AS ?count) (?prevsum + ?price AS ?sum) WHERE {
    {{ ?point :hasCount ?prevcount . ?point :hasSum ?prevsum } SEQ { :ACME :hasStockPrice ?price }}
    EQUALSOPTIONAL
    {{ ?point :hasCount ?prevcount . ?point :hasSum ?prevsum } SEQ { :ACME :hasStockPrice ?inbetween }
     SEQ { :ACME :hasStockPrice ?price }}
    FILTER (!BOUND(?inbetween) && getDURATION() < "P10D"^^xsd:duration) } }"""

AVERAGE = """CONSTRUCT { :ACME :hasAverage ?average } WHERE { SELECT (?sum / ?count AS ?average) WHERE {
    {{ :ACME :hasStockPrice ?price } SEQ { ?point :hasCount ?count . ?point :hasSum ?sum }}
    EQUALSOPTIONAL
    {{ :ACME :hasStockPrice ?price } SEQ { :ACME :hasStockPrice ?inbetween }
     SEQ { ?point :hasCount ?count . ?point :hasSum ?sum }}
    FILTER (!BOUND(?inbetween) && getDURATION() > "P10D"^^xsd:duration) } }"""


def rule(name: str, text: str) -> Rule:
    return Rule(name, translate(PREFIXES + text))


def elements(*lines: str, stream: str | None = None) -> list[Element]:
    """From lines as `0 5 :a :p 1`: start, end, triple."""
    made = [_element(line, stream) for line in lines]
    return sorted(made, key=lambda element: element.end)


def _element(line: str, stream: str | None) -> Element:
    start, end, triple = line.split(" ", 2)
    (quad,) = parse(f"@prefix : <http://e/> . {triple} .", RdfFormat.TURTLE)
    return Element(int(start), int(end), encode(quad.subject), encode(quad.predicate), encode(quad.object), stream)


def shown(found: Iterable[Element]) -> list[str]:
    """As the lines above, with `_` for blank nodes."""
    return sorted(f"{e.start} {e.end} {' '.join(map(_shown, e[2:5]))}" for e in found)


def _shown(term: str) -> str:
    if term.startswith("_:"):
        return "_"
    return re.sub(r'^<http://e/(.*)>$|^"(.*)"\^\^.*$', lambda m: f":{m[1]}" if m[1] else m[2], term)


SEED = (f"{0} {0} :p :hasCount 0", f"{0} {0} :p :hasSum 0")
PRICES = (
    f"{-2 * DAY} {-2 * DAY} :ACME :hasStockPrice 99",
    f"{1 * DAY} {1 * DAY} :ACME :hasStockPrice 10",
    f"{4 * DAY} {4 * DAY} :ACME :hasStockPrice 20.5",
    f"{9 * DAY} {9 * DAY} :ACME :hasStockPrice 6",
    f"{11 * DAY} {11 * DAY} :ACME :hasStockPrice 7",
)
COUNTED = sorted(
    f"0 {day * DAY} _ :{what}"
    for day, count, total in ((1, 1, "10"), (4, 2, "30.5"), (9, 3, "36.5"))
    for what in (f"hasCount {count}", f"hasSum {total}")
)


def test_query_5_counts_and_adds_while_its_window_lasts() -> None:
    """The price at day 11 is more than ten days after the seed."""
    machine = Machine([rule("counting", COUNTING)])
    assert shown(machine.run(elements(*SEED, *PRICES))) == COUNTED


def test_query_6_has_the_average_when_the_window_is_exceeded() -> None:
    """From the last price before the seed to the price at day 9 are eleven days; to that at day 4, only six."""
    machine = Machine([rule("counting", COUNTING), rule("average", AVERAGE)])
    found = shown(machine.run(elements(*SEED, *PRICES)))
    assert [line for line in found if "hasAverage" in line] == [
        f"{-2 * DAY} {9 * DAY} :ACME :hasAverage 12.166666666666666666"
    ]
    assert [line for line in found if "hasAverage" not in line] == COUNTED


def test_count_and_sum_of_one_solution_share_a_blank_node() -> None:
    found = list(Machine([rule("counting", COUNTING)]).run(elements(*SEED, *PRICES)))
    nodes = {(element.end, element.subject) for element in found}
    assert len(nodes) == len({subject for _, subject in nodes}) == 3


def test_blank_node_labels_do_not_depend_on_run_or_rule_name() -> None:
    runs = [list(Machine([rule(name, COUNTING)]).run(elements(*SEED, *PRICES))) for name in ("one", "other")]
    assert runs[0] == runs[1]


def test_elements_between_two_events_are_looked_up_not_enumerated() -> None:
    machine = Machine([rule("counting", COUNTING)])
    (node,) = (node for node in machine._network.nodes if isinstance(node, NegatedSequence))
    made: list[int] = []
    node.outputs.insert(0, lambda rows: made.append(len(rows)))
    list(machine.run(elements(*SEED, *(f"{n} {n} :ACME :hasStockPrice 1" for n in range(1, 200)))))
    assert made == [1] * 199


def test_rows_older_than_the_bound_are_forgotten() -> None:
    """One seed a day, and a price every hour for 100 days: a point matters for ten days."""
    seeds = [line for day in range(100) for line in (f"{day * DAY} {day * DAY} :p{day} :hasCount 0",
             f"{day * DAY} {day * DAY} :p{day} :hasSum 0")]  # fmt: skip
    prices = [f"{h * DAY // 24 + 1} {h * DAY // 24 + 1} :ACME :hasStockPrice 1" for h in range(2400)]
    machine = Machine([rule("counting", COUNTING)])
    sizes = []
    ordered = elements(*seeds, *prices)
    for part in range(10):
        list(machine.run(ordered[part * len(ordered) // 10 : (part + 1) * len(ordered) // 10]))
        sizes.append(len(machine.save()))
    assert max(sizes[5:]) < 1.5 * max(sizes[2:5])


# Cycles

CLOSED = "CONSTRUCT { ?a :reaches ?c } WHERE { ?a :reaches ?b . ?b :reaches ?c }"


def events(text: str) -> str:
    """Without an operator of events a query becomes one by naming its streams."""
    return text.replace("WHERE", "FROM STREAM <http://e/s> FROM STREAM <urn:penstock:rules> WHERE")


def test_a_cycle_at_one_time_ends_with_nothing_new() -> None:
    steps = elements("5 5 :a :reaches :b", "5 5 :b :reaches :c", "5 5 :c :reaches :a", "7 7 :c :reaches :d")
    found = shown(Machine([rule("closed", events(CLOSED))]).run(steps))
    at_once = {f"5 5 :{a} :reaches :{b}" for a in "abc" for b in "abc"} - {"5 5 :a :reaches :b", "5 5 :b :reaches :c"}
    assert {line for line in found if line.startswith("5 5")} == at_once - {"5 5 :c :reaches :a"}
    assert "5 7 :a :reaches :d" in found
    assert "7 7 :a :reaches :d" not in found


ENDLESS = "CONSTRUCT { ?a :n ?more } WHERE { { ?a :n ?n } BIND(?n + 1 AS ?more) }"


def test_a_rule_without_end_is_stopped_and_named() -> None:
    quiet = rule("quiet", events("CONSTRUCT { ?a :m ?n } WHERE { ?a :n ?n }"))
    machine = Machine([quiet, rule("counts for ever", events(ENDLESS))], limits=Limits(rounds=50))
    with pytest.raises(
        QueryError, match=r"rule counts for ever does not terminate: more than 50 iterations.*\n.*write SEQ"
    ):
        machine.feed(elements("3 3 :a :n 0"))


def test_too_many_triples_are_an_end_too() -> None:
    machine = Machine([rule("counts for ever", events(ENDLESS))], limits=Limits(triples=10))
    with pytest.raises(QueryError, match="rule counts for ever does not terminate: more than 10 triples"):
        machine.feed(elements("3 3 :a :n 0"))


def test_the_same_over_time_ends() -> None:
    counting = "CONSTRUCT { ?a :n ?more } WHERE { { ?a :n ?n } SEQ { ?a :tick ?t } BIND(?n + 1 AS ?more) }"
    steps = elements("0 0 :a :n 0", "1 1 :a :tick 1", "2 2 :a :tick 2", "2 2 :b :tick 2")
    found = shown(Machine([rule("counting", counting)]).run(steps))
    assert found == ["0 1 :a :n 1", "0 2 :a :n 1", "0 2 :a :n 2"]


def test_a_rule_may_not_ask_for_the_absence_of_its_own_triples() -> None:
    liar = "CONSTRUCT { ?a :q ?b } WHERE { ?a :p ?b FILTER NOT EXISTS { ?a :q ?b } }"
    with pytest.raises(QueryError, match=r"rule liar negates a pattern that its own triples may match(.|\n)*SEQ"):
        Machine([rule("liar", events(liar))])


def test_a_rule_may_negate_its_own_earlier_triples() -> None:
    """Every other :p is a :q."""
    text = """CONSTRUCT { ?a :q ?b } WHERE {
        { { ?a :q ?last } OPTIONALSEQ { ?a :p ?b } }
        FILTER (!BOUND(?last) || getDURATION() > "PT0.000001S"^^xsd:duration) }"""
    steps = elements(*(f"{n} {n} :a :p {n}" for n in range(1, 4)))
    assert shown(Machine([rule("every", text)]).run(steps)) == ["1 1 :a :q 1", "1 3 :a :q 3"]


# What rules read


def test_background_has_no_time_and_is_always_there() -> None:
    store = Store()
    store.load(b"<http://e/b> <http://e/in> <http://e/c> .", RdfFormat.N_TRIPLES)
    text = "CONSTRUCT { ?a :at ?c } WHERE { { ?a :at ?b . ?b :in ?c } SEQ { ?a :tick ?t } }"
    machine = Machine([rule("located", text)], StoreBackground(store))
    assert shown(machine.run(elements("1 2 :a :at :b", "4 4 :a :tick 1"))) == ["1 4 :a :at :c"]


def test_a_rule_reads_only_the_streams_that_it_names() -> None:
    text = "CONSTRUCT { ?a :q ?b } FROM STREAM <http://e/s> WHERE { { ?a :p ?b } SEQ { ?a :q ?c } }"
    here = elements("1 1 :a :p :x", "2 2 :a :q :y", "3 3 :b :q :y", stream="http://e/s")
    there = elements("1 1 :b :p :x", stream="http://e/t")
    ordered = sorted([*here, *there], key=lambda e: e.end)
    machine = Machine([rule("here", text)])
    assert shown(machine.run(ordered)) == ["1 2 :a :q :x"]


def test_a_derived_element_equal_to_a_given_one_is_dropped() -> None:
    text = "CONSTRUCT { ?a :n ?n } WHERE { { ?a :n ?n } SEQ { ?a :tick ?t } }"
    steps = elements("0 0 :a :n 0", "0 2 :a :n 0", "2 2 :a :tick 2")
    assert shown(Machine([rule("kept", text)]).run(steps)) == []


def test_an_event_that_changes_a_result_of_the_background_is_an_error() -> None:
    store = Store()
    store.load(b"<http://e/a> <http://e/is> <http://e/b> .", RdfFormat.N_TRIPLES)
    text = "CONSTRUCT { ?a :q ?z } WHERE { { { ?a :is ?b OPTIONAL { ?a :p ?c } } { ?a :t ?z } } SEQ { ?a :q ?y } }"
    machine = Machine([rule("unsure", text)], StoreBackground(store))
    machine.feed(elements("1 1 :a :t 1"))
    with pytest.raises(QueryError, match="rule unsure: an event changes a result of the background alone"):
        machine.feed(elements("2 2 :a :p 1"))


def test_minus_without_a_common_variable_takes_nothing_away() -> None:
    text = (
        "CONSTRUCT { ?a :n ?n } WHERE { { ?a :n ?n } SEQ { ?a :tick ?t MINUS { ?x :stop ?y } MINUS { ?a :off ?z } } }"
    )
    steps = elements(
        "0 0 :a :n 0", "0 0 :b :n 0", "1 1 :a :stop 1", "1 1 :b :off 1", "2 2 :a :tick 2", "2 2 :b :tick 2"
    )
    assert shown(Machine([rule("kept", text)]).run(steps)) == ["0 2 :a :n 0"]


# State


def test_saving_half_way_changes_nothing() -> None:
    rules = [rule("counting", COUNTING), rule("average", AVERAGE)]
    ordered = elements(*SEED, *PRICES)
    first = Machine(rules)
    found = list(first.run(ordered[:4]))
    found += Machine(rules, saved=first.save()).run(ordered[4:])
    assert found == list(Machine(rules).run(ordered))


def test_added_and_dropped_rules_leave_the_state_of_other_rules() -> None:
    """The average needs prices from before it came, and does without those that only it would have remembered."""
    alone, both = [rule("counting", COUNTING)], [rule("average", AVERAGE), rule("counting", COUNTING)]
    ordered = elements(*SEED, *PRICES)
    for rules, others in ((alone, both), (both, alone)):
        first = Machine(rules)
        found = list(first.run(ordered[:4], "counting"))
        found += Machine(others, saved=first.save()).run(ordered[4:], "counting")
        assert shown(found) == COUNTED


def test_saved_states_of_partitions_are_merged() -> None:
    """Elements of two subjects, apart until a rule comes that lets them meet."""
    texts = (
        "CONSTRUCT { ?a :n ?v } { { ?a :n ?u } SEQ { ?a :p ?v } }",
        "CONSTRUCT { :x :n ?v } { { ?a :n ?u } SEQ { ?b :q ?v } }",
    )
    rules = [rule(f"r{number}", text) for number, text in enumerate(texts)]
    parts = [Machine(rules[:1]) for _ in range(2)]
    for subject, part in zip("ab", parts, strict=True):
        assert not part.feed(elements(f"1 1 :{subject} :n 0"))
    one = Machine(rules, saved=merged(part.save() for part in parts))
    assert shown(one.feed(elements("2 2 :a :p 1", "2 2 :b :p 2"))) == ["1 2 :a :n 1", "1 2 :b :n 2"]
    assert one.now == 2


def test_feeding_elements_out_of_order_is_an_error() -> None:
    machine = Machine([rule("counting", COUNTING)])
    machine.feed(elements("5 5 :a :p 1"))
    with pytest.raises(ValueError, match="after 5"):
        machine.feed(elements("5 5 :a :p 2"))
    with pytest.raises(ValueError, match="end at one time"):
        machine.feed(elements("6 6 :a :p 2", "7 7 :a :p 2"))


# What a recursive rule cannot have


@pytest.mark.parametrize(
    ("pattern", "what", "hint"),
    [
        ("{ SELECT ?a (COUNT(?b) AS ?n) { ?a :q ?b } GROUP BY ?a }", "no aggregates", "SEQ"),
        ("{ SELECT ?a ?n { ?a :q ?n } ORDER BY ?n LIMIT 1 }", "no LIMIT", "a rule of its own"),
        ("{ ?a :q+ ?n }", "no property paths", "write the path as rules"),
        ("{ ?a :q ?b BIND(RAND() AS ?n) }", r"no RAND\(\)", "from the events"),
        ("{ ?a :q ?b BIND(NOW() AS ?n) }", r"no NOW\(\)", "getENDTIME"),
        ("{ ?a :q ?n OPTIONAL { ?a :p ?c FILTER EXISTS { ?a :r ?d } } }", "no EXISTS in the filter of an", "braces"),
    ],
)
def test_refusals_name_the_rule_and_say_what_to_write(pattern: str, what: str, hint: str) -> None:
    text = f"CONSTRUCT {{ ?a :q ?n }} WHERE {{ {pattern} SEQ {{ ?a :t ?t }} }}"
    with pytest.raises(QueryError, match=rf"rule wrong feeds itself(.|\n)*{what}(.|\n)*{hint}"):
        Machine([rule("wrong", text)])
