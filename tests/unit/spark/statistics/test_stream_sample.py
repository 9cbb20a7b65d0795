"""How many different terms a stream has, estimated from a few runs of its rows."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.spark.statistics.stream_sample import counts, estimated
from tests.support.tables import table_of

Row = tuple[str, str, str]
P, Q = "<a:p>", "<a:q>"


def passages(rows: int, gates: int, chance: random.Random) -> list[Row]:
    """Any gate at any time, and every car once."""
    return [(f"<a:gate{chance.randrange(gates)}>", P, f"<a:car{i}>") for i in range(rows)]


def test_terms_recurring_over_the_whole_stream_are_few_distinct_terms() -> None:
    rows = passages(8_000, 200, random.Random(1))
    found = estimated([rows[at : at + 500] for at in range(0, 8_000, 1_000)], 1_000_000)
    total, gates, cars = found.predicates["a:p"]
    assert total == found.total == 1_000_000
    assert gates == pytest.approx(200, rel=0.1)
    assert cars == 1_000_000


def test_terms_recurring_only_in_adjacent_rows_are_many_distinct_terms() -> None:
    """The parts of an observation have one subject, but with rows from far away they do not join."""
    rows = [(f"<a:observation{i // 10}>", P, f"<a:o{i}>") for i in range(8_000)]
    found = estimated([rows[at : at + 500] for at in range(0, 8_000, 1_000)], 1_000_000)
    assert found.predicates["a:p"][1] == 1_000_000


def test_a_few_frequent_terms_count_more_than_many_rare_ones() -> None:
    """Half of the rows are one gate: two rows agree as often as with about four gates, however many there are."""
    chance = random.Random(2)
    rows = [(s if chance.random() < 0.5 else "<a:gate>", p, o) for s, p, o in passages(8_000, 1_000, chance)]
    found = estimated([rows[at : at + 500] for at in range(0, 8_000, 1_000)], 1_000_000)
    assert found.predicates["a:p"][1] == pytest.approx(4, rel=0.1)


def test_predicates_share_the_rows() -> None:
    run = [("<a:s>", P, "<a:o>"), ("<a:s>", P, "<a:o>"), ("<a:s>", P, "<a:o>"), ("<a:t>", Q, "<a:o>")]
    found = estimated([run, run], 800)
    assert found.predicates == {"a:p": (600.0, 1.0, 1.0), "a:q": (200.0, 1.0, 1.0)}


@pytest.mark.parametrize(("files", "group"), [(1, 1 << 20), (1, 10_000), (3, 10_000), (20, 1 << 20)])
def test_samples_are_spread_over_files_and_row_groups(tmp_path: Path, files: int, group: int) -> None:
    rows = passages(60_000, 50, random.Random(3))
    size, paths = -(-len(rows) // files), []
    for number in range(files):
        part = rows[number * size : (number + 1) * size]
        paths.append(str(tmp_path / f"{number}.parquet"))
        pq.write_table(table_of(part, "s", "p", "o"), paths[-1], row_group_size=group)
    _, gates, cars = counts(paths, 60_000).predicates["a:p"]
    assert gates == pytest.approx(50, rel=0.1)
    assert cars == 60_000


def test_missing_files_have_no_statistics(tmp_path: Path) -> None:
    assert counts([str(tmp_path / "gone.parquet")], 1_000).predicates == {}
    assert counts([], 0).predicates == {}
