"""Chains of events on whole columns, against all ways to choose one element for every step."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.compile.kernels.sequence_kernel import Chain, Piece, Step, sequences
from penstock.compile.physical.sequences import cut_pieces
from penstock.model.span import Span
from tests.support.tape import Tape

TERMS = ("<a>", "<b>", '"1"')
VARS = ("x", "y", "z")
Element = tuple[str, str, str, int, int | None]


def elements(tape: Tape) -> list[Element]:
    return [_element(tape) for _ in range(tape.count(0, 12))]


def _element(tape: Tape) -> Element:
    s, p, o = (tape.pick(TERMS) for _ in "spo")
    end = tape.count(0, 20)
    return s, p, o, end, tape.pick((None, None, end - 1, end - 3))


def step(tape: Tape) -> Step:
    vars = dict(zip("spo", tape.some(VARS, 1, 3), strict=False))
    return Step({place: tape.pick(TERMS) for place in "spo" if place not in vars}, vars)


def expected(chain: Chain, found: list[Element], piece: Piece) -> Counter[object]:
    rows: Counter[object] = Counter()
    for chosen in product(found, repeat=len(chain.steps)):
        bounds = [(e[3] if e[4] is None else e[4], e[3]) for e in chosen]
        starts, ends = bounds[0][0], bounds[-1][1]
        known: dict[str, str] = {}
        fits = all(
            element["spo".index(place)] == term for s, element in zip(chain.steps, chosen, strict=True)
            for place, term in s.terms.items()
        )  # fmt: skip
        for s, element in zip(chain.steps, chosen, strict=True):
            fits = fits and all(
                known.setdefault(v, str(element["spo".index(place)])) == element["spo".index(place)]
                for place, v in s.vars.items()
            )
        ordered = all(one[1] < other[0] for one, other in pairwise(bounds))
        due = ends <= piece.through and (piece.after is None or ends > piece.after)
        if fits and ordered and due and ends - starts <= chain.within:
            rows[(*(known[var] for var in chain.vars), starts, ends)] += 1
    return rows


def written(found: list[Element], folder: Path, files: int) -> tuple[str, ...]:
    paths = []
    for number in range(files):
        part = found[number::files]
        columns = [list(column) for column in zip(*part, strict=True)] if part else [[]] * 5
        types = [pa.string()] * 3 + [pa.int64()] * 2
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        table = pa.table(arrays, names=["s", "p", "o", "ts", "start"])
        if all(element[4] is None for element in part):
            table = table.drop_columns(["start"])
        paths.append(str(folder / f"{number}.parquet"))
        pq.write_table(table, paths[-1], row_group_size=5)
    return tuple(paths)


@settings(max_examples=400, deadline=None)
@given(data=st.binary(min_size=40, max_size=90))
def test_all_there_are(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    tape = Tape(data)
    steps, within = tuple(step(tape) for _ in range(tape.count(2, 3))), tape.count(0, 12)
    piece = Piece(tape.pick((None, -1, 4, 9)), tape.pick((20, 20, 14)))
    found = elements(tape)
    chain = Chain(steps, within, written(found, tmp_path_factory.mktemp("chain"), tape.count(1, 2)))
    assert answers(chain, piece) == expected(chain, found, piece)


def answers(chain: Chain, piece: Piece) -> Counter[object]:
    batches = list(sequences(chain, 0, piece))
    assert all(batch.schema.names == [*chain.vars, ".starts", ".ends"] for batch in batches)
    return Counter(tuple(row.values()) for batch in batches for row in batch.to_pylist())


def test_portions_change_nothing(tmp_path: Path) -> None:
    found: list[Element] = [(f"<{i % 3}>", "<p>", f'"{i % 5}"', i, None) for i in range(60)]
    steps = (Step({"p": "<p>"}, {"s": "x", "o": "y"}), Step({"p": "<p>"}, {"s": "x", "o": "z"}))
    chain = Chain(steps, 20, written(found, tmp_path, 1))
    whole = answers(chain, Piece(None, 60))
    few_pairs = replace(chain, pairs=7)
    for cut in (few_pairs, replace(few_pairs, largest_key=7)):  # few pairs at once; no room for distances
        assert answers(cut, Piece(None, 60)) == whole
    assert whole.total() == 60 * 6 - 3 * (1 + 2 + 3 + 4 + 5 + 6)


@given(
    st.integers(0, 10_000_000), st.integers(-50, 50), st.integers(1, 100_000), st.integers(0, 5_000), st.integers(1, 8)
)
def test_pieces_are_the_whole(rows: int, after: int, length: int, within: int, cores: int) -> None:
    cut = [Piece(*bounds) for bounds in cut_pieces(rows, Span(after, after + length), 7, within, cores)]
    if not cut:
        assert rows < 200_000 or length < 8 * max(1, within) * cores
        return
    assert (cut[0].after, cut[-1].through) == (after - 7, after + length)
    assert all(one.through == other.after for one, other in pairwise(cut))
    assert len(cut) >= cores
