"""Writes a Linked Data Event Stream into a folder: the graph of each instant is a member, with its time.

    ldes:///var/www/readings?size=100

Pages are TriG, 1.trig first, and grow by appending. One that is full says that it is immutable, and leads to the next
by its first time. The position is the newest page, its length and its number of members: rewinding truncates.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.results import time_literal
from penstock.io.sinks.connector import SinkConnector
from penstock.io.sinks.sink import Batch, Position

__all__ = ["LdesSink", "LdesSinkOptions"]

_PATH = "<http://www.w3.org/ns/prov#generatedAtTime>"
_HEAD = f"""@prefix tree: <https://w3id.org/tree#> .
@prefix ldes: <https://w3id.org/ldes#> .
<1.trig#stream> a ldes:EventStream ; ldes:timestampPath {_PATH} ; tree:view <1.trig> .
"""
_NEXT = """<> ldes:immutable true ; tree:relation [ a tree:GreaterThanOrEqualToRelation ;
  tree:node <{}.trig> ; tree:path {} ; tree:value {} ] .
"""


@dataclass(frozen=True, slots=True)
class LdesSinkOptions:
    """`size` is how many members a page has."""

    size: int = 100


class LdesSink(SinkConnector):
    """Appends members to the newest page. An empty answer is no member."""

    kind = "ldes"
    kinds = ("graph",)
    Options = LdesSinkOptions

    def check(self) -> None:
        if self.options.size < 1:
            raise OptionError(f"{self.kind}: size is more than 0")
        self._folder = Path(self.address.place or "/") / self.address.path
        self._page, self._count = 1, 0

    def begin(self) -> Position:
        """See `Sink.begin`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._is_new():
            raise StoreError(f"{self._folder} is not empty: name a new folder for the event stream.")
        self._path(1).unlink(missing_ok=True)
        self._append(_HEAD)
        _sync(self._folder.parent)
        return self._position()

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`."""
        self._page, length, self._count = map(int, str(position).split(":"))
        path = self._path(self._page)
        if not path.is_file() or path.stat().st_size < length:
            raise StoreError(f"{path} has lost answers that were written to it: remove the folder and drop the query.")
        os.truncate(path, length)
        for later in self._folder.glob("*.trig"):
            if later.stem.isdecimal() and int(later.stem) > self._page:
                later.unlink()

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        for answer in batch.answers:
            self._add(answer)
        return self._position()

    def _add(self, answer: Answer) -> None:
        """Append an answer to the newest page, which may be a new one."""
        time = answer.ends or answer.valid_from or answer.time
        if answer.triples is None or time is None:
            raise StoreError(f"{self.address.text}: an event stream has graphs: register a CONSTRUCT.")
        if not answer.triples:
            return
        stamp = time_literal(time, None)
        if self._count == self.options.size:
            self._turn(stamp)
        self._count += 1
        id = f"<{self._page}.trig#{self._count}>"
        graph = f"{id} {{\n{answer.to_ntriples()}}}\n"  # first: who reads half of this finds no member yet
        self._append(f"{graph}{id} {_PATH} {stamp} .\n<1.trig#stream> tree:member {id} .\n")

    def _turn(self, stamp: str) -> None:
        """Finish the page; the next one is there before a relation leads to it."""
        finished, self._page, self._count = self._page, self._page + 1, 0
        self._append(_HEAD)
        self._append(_NEXT.format(self._page, _PATH, stamp), finished)

    def _append(self, text: str, page: int | None = None) -> None:
        """Append to a page, for good; so is the name of a new one."""
        with self._path(page or self._page).open("ab") as file:
            is_new = file.tell() == 0
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            _sync(self._folder)

    def _is_new(self) -> bool:
        """Whether the folder has nothing but what a beginning that was killed may have left."""
        found = [path for path in self._folder.iterdir() if path != self._path(1)]
        return not found and (not self._path(1).exists() or _HEAD.encode().startswith(self._path(1).read_bytes()))

    def _position(self) -> str:
        return f"{self._page}:{self._path(self._page).stat().st_size}:{self._count}"

    def _path(self, page: int) -> Path:
        return self._folder / f"{page}.trig"


def _sync(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
