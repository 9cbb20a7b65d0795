"""CQELS-QL."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.syntax import tree
from penstock.translate.blocks import BlockLanguage, Read
from penstock.translate.window_forms import WindowForm, usual_forms
from penstock.translate.writer import SparqlWriter

__all__ = ["CqelsQl"]


class CqelsQl(BlockLanguage):
    title = "CQELS"
    emits = "istream"
    window_forms = usual_forms(
        WindowForm.STEP,
        WindowForm.RANGE,
        WindowForm.SLIDE,
        WindowForm.ALL,
        WindowForm.NOW,
        WindowForm.COUNT,
        WindowForm.COUNT_STEP,
    )

    def __init__(self, query: tree.Query, meaning: ops.Query, background: bool) -> None:
        super().__init__(query, meaning, background)
        self._read: set[Read] = set()

    def datasets(self) -> Iterator[str]:
        dataset = self.meaning.dataset
        if dataset is not None and not dataset.default and not dataset.adds:
            raise self.cannot("its default graph is empty, and FROM NAMED does not empty it there")
        return SparqlWriter.datasets(self)

    def streams(self) -> Iterator[str]:
        for number, (stream, window) in enumerate(self.unread(self._read)):
            variable = self.unused(f"?unread{number}")
            yield f"FROM NAMED {self.terms.iri(stream.value)} {self.window(window)} AS {variable}"

    def block(self, read: Read, name: NamedNode | None, inside: str) -> str:
        self._read.add(read)
        stream, window = read
        return f"STREAM {self.terms.iri(stream.value)} {self.window(window)} {inside}"
