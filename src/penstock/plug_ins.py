"""Tables of classes by name: Penstock's own, and those that installed packages offer as entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from penstock.errors import SetupError

__all__ = ["PlugIns"]


@dataclass(frozen=True, slots=True)
class PlugIns:
    """The classes of an entry point group. `built_in` are Penstock's own, as `"module:Class"`; they go first.

    A class is imported when it is used, not before: one may need Spark, another a package that is not installed.
    """

    group: str
    noun: str
    built_in: Mapping[str, str] = field(default_factory=dict)
    entry_points: Callable[..., EntryPoints] = entry_points

    def names(self) -> tuple[str, ...]:
        """The names that `load` knows on this machine, sorted."""
        return tuple(sorted({*self.built_in, *self.entry_points(group=self.group).names}))

    def find(self, name: str) -> EntryPoint | None:
        """The entry point of a name, or None."""
        if name in self.built_in:
            return EntryPoint(name, self.built_in[name], self.group)
        return next(iter(self.entry_points(group=self.group, name=name)), None)

    def load(self, name: str) -> Callable[..., Any]:
        """The class of a name; a `SetupError` says which names there are."""
        plug_in = self.find(name)
        if plug_in is None:
            raise SetupError(self._unknown(name))
        try:
            loaded: Callable[..., Any] = plug_in.load()
            return loaded
        except (ImportError, AttributeError) as error:
            reason = f"{plug_in.value} cannot be imported ({error})"
            raise SetupError(f"The {self.noun} {name!r} is broken: {reason}. Install its package again.") from error

    def _unknown(self, name: str) -> str:
        known = self.names()
        near = get_close_matches(name, known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        installed = f"installed are {', '.join(known)}" if known else "none is installed"
        remedy = f"for another, install a package that has it as an entry point {self.group}"
        return f"There is no {self.noun} {name!r}: {guess}{installed}; {remedy}."
