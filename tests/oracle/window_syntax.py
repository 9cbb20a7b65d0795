"""Windows in the words of the languages: any of the ways in which each can be written."""

from __future__ import annotations

from pyoxigraph import NamedNode

from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from tests.oracle.data import NS
from tests.oracle.streams import SECOND
from tests.support.tape import Tape

MILLISECOND = SECOND // 1000


def name_of(iri: NamedNode) -> str:
    return f":{iri.value.removeprefix(NS)}"


def bracketed(draw: Tape, window: Window, rspql: bool = False) -> str:
    """In square brackets. In RSP-QL, SLIDE is another word for STEP, and numbers may stand alone."""
    if isinstance(window, CountWindow):
        return f"[{_counting(draw, window)}]"
    if isinstance(window, TimeWindow):
        return f"[{_stepping(draw, window, rspql)}]"
    if window.range is None:
        return "[ALL]"
    if window.range == 1:
        return "[NOW]"
    slide = "" if window.slide == 1 else f" SLIDE {length(draw, window.slide)}"
    return f"[RANGE {length(draw, window.range)}{slide}]"


def _counting(draw: Tape, window: CountWindow) -> str:
    word = draw.pick(("TRIPLES", "RANGE TRIPLES", "ELEMENTS"))
    if window.size == window.step and draw.chance(2):
        return f"{word} {window.size} TUMBLING"
    return f"{word} {window.size}" + ("" if window.step == 1 and draw.chance(2) else f" STEP {window.step}")


def _stepping(draw: Tape, window: TimeWindow, rspql: bool) -> str:
    step = f"{draw.pick(('STEP', 'SLIDE')) if rspql else 'STEP'} {length(draw, window.step, rspql)}"
    if window.delay:
        start, end = length(draw, window.range + window.delay), length(draw, window.delay)
        return f"FROM NOW-{start} TO NOW-{end} {step}"
    if window.range == window.step and draw.chance(2):
        step = "TUMBLING"
    return f"RANGE {length(draw, window.range, rspql)} {step}"


def length(draw: Tape, time: int, plain: bool = False) -> str:
    milliseconds = time // MILLISECOND
    ways = [f"{milliseconds}ms", f"{milliseconds} ms", f"PT{time / SECOND:g}S"]
    ways += [f"{time // SECOND}s", f"{time // SECOND} seconds"] if time % SECOND == 0 else []
    return draw.pick(ways + [f"{milliseconds}"] * plain)


def trailing(draw: Tape, window: Window) -> str | None:
    """As Streaming SPARQL has it, after a stream or at the end of a group; None if that cannot be said."""
    if isinstance(window, CountWindow) and window.step == 1:
        return f"WINDOW ELEMS {window.size}"
    if not isinstance(window, SlideWindow) or window.range is None or window.slide % MILLISECOND:
        return None
    if window.range == window.slide and draw.chance(2):
        return f"WINDOW RANGE {_extent(draw, window.range)} FIXED"
    if window.slide == SECOND and window.range % SECOND == 0 and draw.chance(2):
        return f"WINDOW RANGE {window.range // SECOND} S SLIDE"
    return f"WINDOW RANGE {_extent(draw, window.range)} SLIDE {_extent(draw, window.slide)}"


def _extent(draw: Tape, time: int) -> str:
    milliseconds = time // MILLISECOND
    seconds = [f"{time // SECOND} S"] if time % SECOND == 0 else []
    return draw.pick([f"{milliseconds}", f"{milliseconds} MS", *seconds])
