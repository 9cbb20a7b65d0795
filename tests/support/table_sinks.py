"""What every sink that is a table has to do; the tests of each database call these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pyoxigraph import Literal

from penstock.io.sinks import Sink
from tests.support.batches import TERMS, answer_at, batch_of

__all__ = ["check_restarts", "check_round_trip"]

Rows: TypeAlias = Callable[[str], Sequence[tuple[Any, ...]]]


def values(*texts: str) -> list[Literal]:
    return [Literal(text) for text in texts]


def check_round_trip(opened: Callable[[], Sink], rows: Rows) -> None:
    """Terms of all kinds come back, and numbers are numbers."""
    sink = opened()
    sink.rewind(sink.begin())
    sink.deliver(batch_of(0, answer_at(60, TERMS)))
    sink.close()
    found = rows('SELECT v, v_text, v_number FROM answers ORDER BY "row"')
    assert [row[0] for row in found] == [str(term).replace("\0", "\\u0000") for term in TERMS]
    assert [row[1] for row in found] == [term.value.replace("\0", "\ufffd") for term in TERMS]
    assert {row[1]: float(row[2]) for row in found if row[2] is not None} == {"7": 7, "1.50": 1.5, "1.0E3": 1000}


def check_restarts(opened: Callable[[], Sink], rows: Rows) -> None:
    """A batch that comes again replaces itself, what was not saved is removed, and a new run replaces instants."""
    everything = 'SELECT query, batch, v_text FROM answers ORDER BY time, batch, "row"'
    sink = opened()
    start = sink.begin()
    sink.rewind(start)
    saved = sink.deliver(batch_of(0, answer_at(60, values("a", "b"))))
    sink.deliver(batch_of(1, answer_at(120, values("c", "d"))))
    after = opened()  # without closing the first: as after a kill before the progress was saved
    after.rewind(saved)
    assert rows(everything) == [("cars", 0, "a"), ("cars", 0, "b")]
    last = after.deliver(batch_of(1, answer_at(120, values("c")), answer_at(180, [])))
    after.deliver(batch_of(1, answer_at(120, values("c")), answer_at(180, [])))
    assert rows(everything) == [("cars", 0, "a"), ("cars", 0, "b"), ("cars", 1, "c")]
    assert rows('SELECT query, batch, "rows" FROM penstock_batches') == [("cars", 1, 1)]
    anew = opened()
    anew.rewind(anew.begin())
    anew.deliver(batch_of(0, answer_at(60, values("e"))))
    assert rows(everything) == [("cars", 0, "e"), ("cars", 1, "c")]
    after.rewind(last)
    assert len(rows(everything)) == 2
    for one in (sink, after, anew):
        one.close()
