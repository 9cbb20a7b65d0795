"""Reasons that lie in the query's own state and in time: failures, the watermark, instants, windows, the lag."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations

from penstock.algebra.ops import StreamWindow
from penstock.algebra.windows import CountWindow
from penstock.stream.runtime.query_facts import QueryFacts, StreamFacts
from penstock.translate.window_forms import written_window
from penstock.why.reasons import Reason
from penstock.why.wording import at, counted, roughly

__all__ = ["query_reasons"]


def query_reasons(facts: QueryFacts) -> Iterator[Reason]:
    """The reasons that lie in the query's state and in time."""
    yield from _state(facts)
    if facts.is_open:
        yield from _watermark(facts)
        yield from _partition(facts)
        yield from _instant(facts)
    yield from _dropped(facts)
    yield from _apart(facts)
    yield from _empty_now(facts)
    yield from _behind(facts)


def _state(facts: QueryFacts) -> Iterator[Reason]:
    """The query is not evaluated at all."""
    name, state, error = facts.status.name, facts.status.state, (facts.status.error or "").rstrip(".")
    again = f'Mend the cause, then engine["{name}"].resume() continues without a gap.'
    match state:
        case "failed":
            yield Reason("failed", f"The query {name} or its sink has failed: {error}.", again)
        case "retrying":
            yield Reason("failed", f"The sink of {name} has failed and is tried again: {error}.", "Mend the sink.")
        case "paused":
            yield Reason("paused", f"The query {name} is paused.", f'engine["{name}"].resume() continues it.')
        case "delivering":
            text = f"The sink of {name} is slow: it is still at work on a batch, and the query waits for it."
            yield Reason("waiting", text, "Look what the sink does; the query catches up when it returns.")
        case "waiting for its sink":
            text = f"The query {name} waits for its sink, which was an object of an earlier process."
            yield Reason("waiting", text, "Register the query again, with its text and its sink.")


def _watermark(facts: QueryFacts) -> Iterator[Reason]:
    """One stream holds back the watermark of the others."""
    awake = [stream for stream in facts.streams if not stream.position.is_idle(facts.now)]
    if len(facts.streams) < 2 or not awake:
        return
    slowest = min(awake, key=lambda stream: _end(stream))
    ahead = [stream for stream in facts.streams if _end(stream) > _end(slowest)]
    if not ahead or not _waits(facts):
        return
    furthest = max(ahead, key=_end)
    silent = (
        f"no element for {roughly(facts.now - slowest.position.last_arrival)}" if facts.live else "no later element"
    )
    elements = counted(sum(stream.counts.elements for stream in ahead), "element")
    if slowest.watermark is None or furthest.watermark is None:
        text = f"There is no watermark yet: <{slowest.iri}> has had {silent}, and {elements} of others wait."
    else:
        text = (
            f"The watermark stands still at {at(slowest.watermark)}: <{slowest.iri}> has had {silent}, "
            f"and <{furthest.iri}> is {roughly(furthest.watermark - slowest.watermark)} further."
        )
    call = f'engine.advance("{slowest.iri}", time)'
    remedy = f'If it may be silent, declare it with idle="10s" or advance=True, or call {call}.'
    yield Reason("watermark", text, remedy)


def _partition(facts: QueryFacts) -> Iterator[Reason]:
    """One partition of a stream's source holds back the others."""
    for stream in facts.streams:
        if stream.slowest is None or not _waits(facts):
            continue
        position, name = stream.partitions[stream.slowest], f"the partition {stream.slowest} of <{stream.iri}>"
        silent = f"no element for {roughly(facts.now - position.last_arrival)}" if facts.live else "no later element"
        newest = max(one.newest for one in stream.partitions.values() if one.newest is not None)
        if position.newest is None:
            text = f"There is no watermark yet: {name} has had {silent}, and the newest of others is of {at(newest)}."
        else:
            text = (
                f"The watermark stands still: {name} has had {silent}, its newest is of {at(position.newest)}, "
                f"and that of others is {roughly(newest - position.newest)} further."
            )
        remedy = 'If a partition may be silent, declare the stream with idle="10s"; else look who writes to it.'
        yield Reason("watermark", text, remedy)


def _end(stream: StreamFacts) -> float:
    return float("-inf") if stream.watermark is None else stream.watermark


def _waits(facts: QueryFacts) -> bool:
    """Whether the next instant is not complete yet."""
    return facts.through is None or (facts.next_instant is not None and facts.next_instant > facts.through)


def _instant(facts: QueryFacts) -> Iterator[Reason]:
    """The next instant is not complete yet."""
    if facts.through is None or facts.next_instant is None or not _waits(facts):
        return
    due = max((stream.position.lateness for stream in facts.streams), default=0) + facts.next_instant
    first = facts.status.answers == 0
    kind, which = ("first instant", "first") if first else ("next instant", "next")
    text = f"The {which} instant is at {at(facts.next_instant)}, and the watermark is at {at(facts.through)}."
    stream = min(facts.streams, key=_end).iri
    remedy = (
        f"It is answered when an element later than {at(due)} comes; if none will, call "
        f'engine.advance("{stream}", time), or declare the stream with advance=True.'
    )
    yield Reason(kind, text, remedy)


def _dropped(facts: QueryFacts) -> Iterator[Reason]:
    """All elements have been dropped from the log."""
    for stream in facts.streams:
        if stream.dropped and stream.first is None:
            text = (
                f"All {counted(stream.dropped, 'element')} of <{stream.iri}> have been dropped from the log, "
                "since no instant to come can see them: why cannot look at them any more."
            )
            yield Reason("dropped", text, "Ask while they are in a window, or run over the stream's file again.")


def _apart(facts: QueryFacts) -> Iterator[Reason]:
    """Two windows never hold elements at the same instant."""
    seen = {stream.iri: stream for stream in facts.streams}
    spans = [(window, span) for window in facts.query.streams if (span := _visible(window, seen)) is not None]
    for (one, (start, end)), (other, (others_start, others_end)) in combinations(spans, 2):
        if one.iri == other.iri or (start < others_end and others_start < end):
            continue
        a, b = seen[one.iri.value], seen[other.iri.value]
        text = (
            f"The windows on <{a.iri}> and <{b.iri}> never hold elements at the same instant: "
            f"the elements of the first are from {_from_to(a)}, those of the second from {_from_to(b)}."
        )
        yield Reason("windows", text, "Compare the clocks of the sources, or widen RANGE.")


def _visible(window: StreamWindow, streams: dict[str, StreamFacts]) -> tuple[float, float] | None:
    """From when to when the window holds some element of those that are held; None: there is none, or it counts."""
    stream = streams.get(window.iri.value)
    if stream is None or stream.first is None or stream.position.newest is None:
        return None
    if isinstance(window.window, CountWindow):
        return None
    end = window.window.visible(stream.position.newest)[1]
    return window.window.visible(stream.first)[0], float("inf") if end is None else end


def _from_to(stream: StreamFacts) -> str:
    assert stream.first is not None
    assert stream.position.newest is not None
    return f"{at(stream.first)} to {at(stream.position.newest)}"


def _empty_now(facts: QueryFacts) -> Iterator[Reason]:
    """A window has become empty: the newest element is older than its range."""
    seen = {stream.iri: stream for stream in facts.streams}
    for window in facts.query.streams:
        span, stream = _visible(window, seen), seen.get(window.iri.value)
        if span is None or stream is None or facts.progress is None or span[1] > facts.progress:
            continue
        assert stream.position.newest is not None
        text = (
            f"The window {written_window(window.window)} on <{stream.iri}> is empty since {at(int(span[1]))}: its "
            f"newest element is of {at(stream.position.newest)}, and the answers have come to {at(facts.progress)}."
        )
        yield Reason("empty now", text, "Wait for newer elements, or widen RANGE.")


def _behind(facts: QueryFacts) -> Iterator[Reason]:
    """The reason if the query does not keep up."""
    if facts.status.behind <= timedelta(0) or facts.status.due == 0 or facts.progress is None or not facts.live:
        return
    due = "" if facts.status.due is None else f", {counted(facts.status.due, 'instant')}"
    length = roughly(facts.status.behind // timedelta(microseconds=1))
    text = f"The query is {length} behind the watermark of its streams{due}."
    remedy = 'Wait, or register it with a longer STEP, or with overload="stretch", which skips instants.'
    yield Reason("behind", text, remedy)
