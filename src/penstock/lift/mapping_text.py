"""The text of a mapping file, and errors that show the place where a term of it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from penstock.errors import MappingError, TextPlace

__all__ = ["MappingText"]

_PREFIX = re.compile(r"(?:@prefix|\bPREFIX)\s+([\w.-]*):\s*<([^<>\s]*)>", re.IGNORECASE)


@dataclass(frozen=True)
class MappingText:
    """A mapping with the name of its file."""

    name: str
    text: str

    @cached_property
    def prefixes(self) -> dict[str, str]:
        """The prefixes that a mapping in Turtle declares."""
        return dict(_PREFIX.findall(self.text))

    def error(self, reason: str, *places: str, hint: str | None = None) -> MappingError:
        """The error, at the first of the places (IRIs, or texts in quotation marks) that is found in the text."""
        for place in places:
            for written in self._spellings(place):
                start = self._find(written)
                if start is not None:
                    line, column = self._position(start)
                    return self.error_at(reason, line, column, len(written), hint)
        return MappingError(reason, file=self.name, hint=hint)

    def error_at(self, reason: str, line: int, column: int, length: int = 1, hint: str | None = None) -> MappingError:
        """The error at a place that is known."""
        return MappingError(reason, file=self.name, place=TextPlace(line, column, self.text, length), hint=hint)

    def short(self, iri: str) -> str:
        """The IRI as the mapping writes it."""
        return next((written for written in self._spellings(iri) if self._find(written) is not None), f"<{iri}>")

    def _spellings(self, place: str) -> list[str]:
        """The spellings of an IRI or a string in the text."""
        short = [
            f"{prefix}:{place.removeprefix(namespace)}"
            for prefix, namespace in self.prefixes.items()
            if namespace and place.startswith(namespace)
        ]
        return [
            *short,
            f"<{place}>",
            f'"{place}"',
            f"'{place}'",
            f'"{_escaped(place)}"',
            f"<#{place.rpartition('#')[2]}>",
        ]

    def _find(self, written: str) -> int | None:
        """The place at which a word stands as a whole."""
        end = r"(?![\w-])" if written[-1:].isalnum() else ""
        start = r"(?<![\w:-])" if written[:1].isalnum() else ""
        match = re.search(start + re.escape(written) + end, self.text)
        return None if match is None else match.start()

    def _position(self, start: int) -> tuple[int, int]:
        before = self.text[:start]
        return before.count("\n") + 1, start - before.rfind("\n")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
