"""Generated windows of a query, in the words of all languages: of FROM STREAM, of blocks, and of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import NamedNode

from penstock.algebra.windows import SlideWindow, Window
from tests.oracle.streams import SECOND, WINDOWS
from tests.oracle.window_syntax import bracketed, name_of, trailing
from tests.support.tape import Tape

GROUP_KINDS = ("leaving", "leaving", "leaving", "leaving", "counting")  # what can be said at the end of a group


@dataclass(frozen=True, slots=True)
class Own:
    """A window of FROM STREAM."""

    stream: NamedNode
    window: Window
    named: bool
    clause: str


@dataclass(frozen=True, slots=True)
class Alone:
    """A window that blocks read: `opens` is how they begin, `graph` its name in plain SPARQL."""

    stream: NamedNode
    window: Window
    graph: str
    opens: str
    clause: str = ""

    @property
    def merges(self) -> bool:
        return self.opens.startswith("WINDOW")


@dataclass(frozen=True, slots=True)
class Overriding:
    """A window at the end of a group; `graph` is what its default graph is called in plain SPARQL."""

    window: Window
    graph: str
    closes: str

    def of_stream(self, stream: NamedNode) -> str:
        return self.graph + name_of(stream)[1:]


Declared: TypeAlias = tuple[Sequence[Own], Sequence[Alone], Sequence[Overriding]]

STYLES = {  # of windows of FROM STREAM, with names, in STREAM blocks and at the end of groups: how many there are
    "mixed": ((0, 2), (1, 2), (0, 1), (0, 2)),
    "blocks": ((0, 0), (1, 2), (0, 2), (0, 0)),
    "single": ((0, 0), (1, 1), (0, 0), (0, 0)),
    "rspql": ((0, 0), (1, 2), (0, 0), (0, 0)),
    "csparql": ((1, 2), (0, 0), (0, 0), (0, 0)),
    "streaming": ((1, 2), (0, 0), (0, 0), (1, 2)),
}


def declared(draw: Tape, streams: Sequence[NamedNode], style: str, kinds: Sequence[str]) -> Declared:
    owned, named, unnamed, groups = (draw.count(*limits) for limits in STYLES[style])
    own = [_own(draw, stream, kinds) for stream in draw.some(streams, owned, owned)]
    naming = _rspql if style == "rspql" else _named
    alone = [naming(draw, i, draw.pick(streams), kinds) for i in range(1, named + 1)]
    alone += [_unnamed(draw, i, draw.pick(streams), kinds) for i in range(1, unnamed + 1)]
    return own, alone, [_overriding(draw, i) for i in range(1, groups + 1)]


def _window(draw: Tape, kinds: Sequence[str]) -> Window:
    return WINDOWS[draw.pick(tuple(kinds))](draw, draw.pick((1, 2, 5)) * SECOND)


def _own(draw: Tape, stream: NamedNode, kinds: Sequence[str]) -> Own:
    """Of C-SPARQL or Streaming SPARQL, which both have no windows without a step."""
    window, named = _window(draw, [kind for kind in kinds if kind != "moving"]), draw.chance(6)
    written = trailing(draw, window) if isinstance(window, SlideWindow) or draw.chance(2) else None
    clause = f"FROM {'NAMED ' if named else ''}STREAM {name_of(stream)} {written or bracketed(draw, window)}"
    return Own(stream, window, named, clause)


def _named(draw: Tape, number: int, stream: NamedNode, kinds: Sequence[str]) -> Alone:
    return draw.pick((_rspql, _cqels))(draw, number, stream, kinds)


def _cqels(draw: Tape, number: int, stream: NamedNode, kinds: Sequence[str]) -> Alone:
    window, variable = _window(draw, kinds), f"?win{number}"
    clause = f"FROM NAMED {name_of(stream)} {bracketed(draw, window)} AS {variable}"
    return Alone(stream, window, f":w{number}", f"GRAPH {variable}", clause)


def _rspql(draw: Tape, number: int, stream: NamedNode, kinds: Sequence[str]) -> Alone:
    """There are no windows from which elements leave by slides."""
    window, name = _window(draw, [kind for kind in kinds if kind != "leaving"]), f":w{number}"
    on = f"ON {draw.pick(('', 'STREAM '))}{name_of(stream)} {bracketed(draw, window, rspql=True)}"
    return Alone(stream, window, name, f"WINDOW {name}", f"FROM NAMED WINDOW {name} {on}")


def _unnamed(draw: Tape, number: int, stream: NamedNode, kinds: Sequence[str]) -> Alone:
    window = _window(draw, kinds)
    return Alone(stream, window, f":b{number}", f"STREAM {name_of(stream)} {bracketed(draw, window)}")


def _overriding(draw: Tape, number: int) -> Overriding:
    window = _window(draw, GROUP_KINDS)
    return Overriding(window, f":o{number}", f"{trailing(draw, window)} }}")
