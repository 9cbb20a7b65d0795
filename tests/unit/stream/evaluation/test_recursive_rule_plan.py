"""Recursive rules between two rounds: what their machines remember, when elements are split as before and otherwise."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from pyoxigraph import NamedNode

from penstock.algebra.build import translate
from penstock.compile.sql import write_expression
from penstock.recursive_rules.analysis.partition import Partition
from penstock.recursive_rules.analysis.rule import Rule
from penstock.recursive_rules.machine import Element, Machine
from penstock.recursive_rules.state_format import write_partition
from penstock.stream.evaluation.recursive_rule_plan import _SPLIT, _part, _states

P, Q = NamedNode("http://e/p"), NamedNode("http://e/q")
RULE = Rule("r", translate("PREFIX : <http://e/> CONSTRUCT { ?x :p ?b } { { ?x :p ?a } SEQ { ?x :q ?b } }"))
BY_SUBJECT = Partition({P: "subject", Q: "subject"})


def saved(folder: Path, split: Partition | None, *subjects: str) -> str:
    """A state for each subject, in a part of its own."""
    states = []
    for end, subject in enumerate(subjects):
        machine = Machine([RULE])
        machine.feed([Element(end, end, subject, str(P), '"1"')])
        states.append(machine.save())
    table = pa.table([pa.array(range(len(states)), pa.int32()), pa.array(states, pa.string())], names=["part", "state"])
    parquet.write_table(
        table.replace_schema_metadata({_SPLIT: write_partition(split).encode()}), folder / "states.parquet"
    )
    return str(folder / "states.parquet")


def test_the_first_time_there_is_nothing() -> None:
    states, split = _states(None, BY_SUBJECT)
    assert (states.num_rows, split) == (0, BY_SUBJECT)


def test_elements_that_are_split_as_before(tmp_path: Path) -> None:
    wider = Partition({**BY_SUBJECT.places, NamedNode("http://e/near"): "object"})
    states, split = _states(saved(tmp_path, BY_SUBJECT, "<a>", "<b>"), wider)
    assert states.column("part").to_pylist() == [0, 1]
    assert split == wider


def test_elements_that_are_split_otherwise_meet_in_one_machine(tmp_path: Path) -> None:
    for wanted in (None, Partition({P: "object", Q: "object"})):
        states, split = _states(saved(tmp_path, BY_SUBJECT, "<a>", "<b>"), wanted)
        assert (states.column("part").to_pylist(), split) == ([0], None)
        machine = Machine([RULE], saved=states.column("state")[0].as_py())
        found = machine.feed([Element(9, 9, subject, str(Q), '"2"') for subject in ("<a>", "<b>", "<c>")])
        assert [(made.start, made.subject) for made in found] == [(0, "<a>"), (1, "<b>")]


def test_single_machine_stays_single(tmp_path: Path) -> None:
    states, split = _states(saved(tmp_path, None, "<a>"), BY_SUBJECT)
    assert (states.num_rows, split) == (1, None)


def test_parts_by_the_place_of_the_key() -> None:
    assert write_expression(_part(None)) == "0"
    assert write_expression(_part(BY_SUBJECT)) == "pmod(hash(`s`), 16)"
    mixed = write_expression(_part(Partition({P: "subject", Q: "object"})))
    assert "'<http://e/q>'" in mixed
    assert "'<http://e/p>'" not in mixed
    assert write_expression(_part(Partition({P: "object"}, "object"))) == "pmod(hash(`o`), 16)"
