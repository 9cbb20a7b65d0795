"""RSP-QL."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import NamedNode

from penstock.syntax import tree
from penstock.translate.blocks import BlockLanguage, Read
from penstock.translate.window_forms import WindowForm, usual_forms

__all__ = ["RspQl"]

_NAMES = "urn:penstock:window:"


class RspQl(BlockLanguage):
    title = "RSP-QL"
    window_forms = usual_forms(WindowForm.STEP, WindowForm.PAST, WindowForm.RANGE, WindowForm.ALL, WindowForm.NOW) | {
        WindowForm.COUNT_STEP: "ELEMENTS {size} STEP {step}"
    }

    _names: dict[tuple[Read, NamedNode | None], NamedNode] | None = None

    def block(self, read: Read, name: NamedNode | None, inside: str) -> str:
        return f"WINDOW {self.terms.iri(self._name_of(read, name).value)} {inside}"

    def _name_of(self, read: Read, name: NamedNode | None) -> NamedNode:
        self._names = self._names if self._names is not None else {}
        key = (read, name)
        if key not in self._names:
            taken = {known.value for known in (*self.named, *self._names.values())}
            number = next(i for i in range(1, len(taken) + 2) if f"{_NAMES}{i}" not in taken)
            self._names[key] = name or NamedNode(f"{_NAMES}{number}")
        return self._names[key]

    def any_window(self, variable: tree.Variable, group: tree.Group) -> str:
        """The block; all windows have to be declared then, and no others."""
        if any(not stream.merge for stream in self.meaning.streams):
            raise self.cannot(f"WINDOW ?{variable.name} reads some windows of the query, but not all")
        for name, stream in self.named.items():
            self._name_of((stream.iri, stream.window), name)
        with self.reading(()):
            return f"WINDOW ?{variable.name} {self.group(group)}"

    def streams(self) -> Iterator[str]:
        for read in self.unread([read for read, _ in self._names or {}]):
            self._name_of(read, None)
        for (read, _), name in (self._names or {}).items():
            on = f"ON {self.terms.iri(read[0].value)} {self.window(read[1])}"
            yield f"FROM NAMED WINDOW {self.terms.iri(name.value)} {on}"

    def registered_as(self, emit: str, clause: tree.Registration | None) -> str:
        return emit.upper()
