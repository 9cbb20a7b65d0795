"""Reasons that lie in a stream: nothing has come, or all of it was kept aside."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.algebra.ops import Query
from penstock.algebra.windows import UNITS, ceiling
from penstock.io.results.cells import clip, visible
from penstock.stream.base.dead_letter import DeadLetter
from penstock.stream.runtime.query_facts import QueryFacts, StreamFacts
from penstock.why.reasons import Reason
from penstock.why.wording import at, length, roughly, share

__all__ = ["stream_reasons"]

_LONGEST = 120  # characters of a reason that is quoted


def stream_reasons(facts: QueryFacts) -> Iterator[Reason]:
    """The reasons that lie in the streams of a query."""
    for stream in facts.streams:
        yield from _nothing(stream, facts)
        yield from _malformed(stream)
        yield from _late(stream)
    if not facts.streams:
        yield _no_stream(facts.query)


def _no_stream(query: Query) -> Reason:
    if query.emit == "events":
        return Reason("nothing", "No stream is declared, and the query reads all streams.", "Declare one.")
    return Reason("unknown", "The query reads no stream: it is answered once.")


def _nothing(stream: StreamFacts, facts: QueryFacts) -> Iterator[Reason]:
    """Nothing has come: from where, and since when."""
    if stream.counts.elements or stream.counts.late or stream.counts.malformed:
        return
    name, silent = f"<{stream.iri}>", facts.now - stream.position.last_arrival
    since = f" since {at(stream.position.last_arrival)} ({roughly(silent)})" if facts.live else ""
    if stream.derived_by is not None:
        text = f"Nothing has come to {name}, which the query {stream.derived_by} derives."
        yield Reason("nothing", text, f'Ask that query: engine["{stream.derived_by}"].why().')
    elif stream.problem is not None:
        text = f"Nothing has come from {stream.source} to {name}{since}: {stream.problem.rstrip('.')}."
        yield Reason("nothing", text, "Mend the source, or declare another one.")
    elif stream.source is None:
        text = f"Nothing has come to {name}{since}: it has no source but pushes."
        remedy = f'Push elements with engine.push("{stream.iri}", …), or declare a source for it.'
        yield Reason("nothing", text, remedy)
    else:
        text = f"Nothing has come from {stream.source} to {name}{since}."
        unread = not facts.live and facts.progress is None
        remedy = "engine.run() reads it; look whether it holds elements." if unread else _source_remedy(stream.source)
        yield Reason("nothing", text, remedy)


def _source_remedy(source: str) -> str:
    scheme, _, address = source.partition("://")
    remedies = {
        "tcp": f"Look whether the server at {address} sends whole lines.",
        "listen": f"Let a producer connect to {address} and send lines.",
    }
    return remedies.get(scheme, "Look whether it holds elements, and whether another process has yet to write them.")


def _malformed(stream: StreamFacts) -> Iterator[Reason]:
    """Lines were kept aside as malformed, with three examples."""
    elements, _, malformed = stream.counts.elements, stream.counts.late, stream.counts.malformed
    if not malformed:
        return
    total = elements + stream.counts.late + malformed
    examples = "; ".join(map(_example, stream.malformed_examples))
    such = f", such as {examples}" if examples else ""
    were = "was" if malformed == 1 else "were"
    text = f"{share(malformed, total, 'line')} of <{stream.iri}> {were} kept aside as malformed{such}."
    remedy = f'Read them with engine.dead_letters("{stream.iri}") or `penstock dead`, correct them and push them again.'
    yield Reason("malformed" if 2 * malformed >= total else "some malformed", text, remedy)


def _example(letter: DeadLetter) -> str:
    line = f"line {letter.line}" if letter.line else "a line"
    place = f" of {letter.source}" if letter.source not in (None, letter.stream) else ""
    return f"{line}{place} ({clip(visible(letter.reason), _LONGEST)})"


def _late(stream: StreamFacts) -> Iterator[Reason]:
    """Elements came too late, with the lateness that would have kept 95 %."""
    late, total = stream.counts.late, stream.counts.elements + stream.counts.late
    if not late:
        return
    allowed = length(stream.position.lateness)
    text = f"{share(late, total, 'element')} of <{stream.iri}> came too late, beyond the allowed lateness of {allowed}."
    yield Reason("late" if 2 * late >= total else "some late", text, _late_remedy(stream))


def _late_remedy(stream: StreamFacts) -> str:
    if stream.advised_lateness is None:
        return f'Push them again once the stream is declared with more: engine.dead_letters("{stream.iri}").'
    lateness = length(_rounded_up(stream.advised_lateness))
    declared = f'engine.stream("{stream.iri}", …, lateness="{lateness}")'
    return f"A lateness of {lateness} would have kept 95 % of them: {declared}."


def _rounded_up(lateness: int) -> int:
    unit = next((UNITS[unit] for unit in ("m", "s", "ms") if lateness >= 10 * UNITS[unit]), UNITS["ms"])
    return ceiling(lateness, unit)
