"""The contexts of a log of RDF Messages in JSON-LD, a document a line: a line with a context alone holds for those
behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

__all__ = ["with_contexts"]

_PERHAPS = re.compile(rb'\s*\{\s*"@context"')


def with_contexts(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The numbered lines with the context that holds for them. A line that only has a context is left out; an own
    context of a line comes on top, for that line alone."""
    active: bytes | None = None
    for number, line in lines:
        if (context := _context(line)) is not None:
            active = context
        elif active is None:
            yield number, line
        else:
            yield number, b'{"@context":%b,"@graph":%b}' % (active, line.strip())


def _context(line: bytes) -> bytes | None:
    """The context of a line that has nothing else."""
    if not _PERHAPS.match(line):
        return None
    try:
        document = json.loads(line)
    except ValueError:
        return None  # the parser of JSON-LD says why
    return json.dumps(document["@context"]).encode() if list(document) == ["@context"] else None
