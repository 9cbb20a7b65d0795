"""What the tests of the log and of ingest share: elements by their times."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from penstock.io.columns import ELEMENTS
from penstock.stream.ingest.dead_letters import line_of

STREAM = "http://example.org/stream"
SECOND = 1_000_000


def elements(times: Iterable[int], predicate: str = "p") -> pa.Table:
    """An element for each time, whose object tells it."""
    stamps = list(times)
    return pa.table(
        {
            "s": ["<http://example.org/s>"] * len(stamps),
            "p": [f"<http://example.org/{predicate}>"] * len(stamps),
            "o": [f'"{stamp}"' for stamp in stamps],
            "ts": stamps,
        },
        ELEMENTS,
    )


def text(times: Iterable[int], predicate: str = "p") -> bytes:
    """The same as timestamped N-Quads."""
    rows = elements(times, predicate).to_pylist()
    return "".join(line_of(row["s"], row["p"], row["o"], row["ts"]) for row in rows).encode()
