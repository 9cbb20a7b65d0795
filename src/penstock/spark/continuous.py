"""Continuous queries: the same plan at every instant, all due instants in one Spark job.

An evaluation is a pure function of the streams' elements, the background and the span of instants.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count

from pyspark.sql import DataFrame

from penstock.algebra import ops
from penstock.algebra.bounds import kept_for
from penstock.algebra.longest import longest_sequences
from penstock.algebra.occurrence import is_timed
from penstock.algebra.scope import exists_in, expressions_of
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, ceiling, floor
from penstock.io.columns import LOGGED, ddl
from penstock.optimise import optimise, walk
from penstock.spark import arrival, contents, encoding, events, instants, spells, sql, stamps
from penstock.spark.background import Background
from penstock.spark.contents import Content, Stream
from penstock.spark.context import Context, Plan, Streaming, Tables, Universe
from penstock.spark.emitted import Emitted
from penstock.spark.evaluated import Evaluated
from penstock.spark.jobs import Jobs
from penstock.spark.lets import naming
from penstock.spark.relation import ALWAYS, INSTANT
from penstock.spark.settled import Settled
from penstock.spark.timeline import Changes, Lattice, Span, Timeline

__all__ = ["Background", "ContinuousQuery", "Emitted", "Evaluated", "Span", "Stream"]

_numbers = count()
_SCHEMA = ddl(LOGGED)


class ContinuousQuery:
    """One registered query, optimised once and evaluated span by span."""

    def __init__(
        self,
        query: ops.Query,
        background: Background,
        *,
        duplicates: str = "keep",
        emit: str | None = None,
        rules: Collection[str] | None = None,
        retention: int | None = None,
    ) -> None:
        if duplicates not in ("keep", "merge"):
            raise ValueError(f'duplicates is "keep" or "merge", not {duplicates!r}')
        self._background = background
        self._merge = duplicates == "merge"
        self._query, self._rules = _bounded(query, _emit(query, emit), retention), rules
        self._steps = _steps(query)
        self._joins = _joins(query)
        self.emit = _emit(query, emit)
        self._settled = Settled(background)
        self._jobs = Jobs(background.session)
        self._number = next(_numbers)
        self._by_instant = self.emit != "events"  # whether a row is there at some instants, and not at others

    def evaluate(
        self, streams: Mapping[str, Stream], span: Span, before: str | None = None, final: bool = False
    ) -> Evaluated | Emitted:
        """The answers at the instants of the span; `streams` has those that the query names, by IRI.

        A query that does not report whole answers takes up what its last evaluation left open, at the path `before`;
        `final` says that time ends with the span.
        """
        self._jobs.partition(sum(stream.rows for stream in streams.values()), self._joins)
        try:
            return self._evaluated(streams, span, before, final)
        except events.Unsettled:
            self._by_instant = True
            return self._evaluated(streams, span, before, final)

    def _evaluated(
        self, streams: Mapping[str, Stream], span: Span, before: str | None, final: bool
    ) -> Evaluated | Emitted:
        with naming(), self._planned(streams, span) as (query, context):
            if self.emit == "events":
                frame = self._jobs.session.sql(instants.events(query, context))
                return Evaluated(frame, [], lambda _: frame)
            if self.emit != "rstream":
                return self._emitted(query, span, before, final, context)
            frame = self._jobs.session.sql(instants.answers(query, context))
            streaming = context.plan.streaming
            assert streaming is not None
            if isinstance(streaming.timeline, Lattice):
                return Evaluated(frame, list(streaming.timeline), lambda some: self._occupied(streams, some))
            times = self._jobs.session.sql(context.universes[0].sql)
            return Evaluated(frame, None, lambda _: times)

    def _emitted(self, query: ops.Query, span: Span, before: str | None, final: bool, context: Context) -> Emitted:
        """What the spells of the span say; only instants at which something is said have an answer."""
        view = None
        if before is not None:
            view = context.plan.view()
            self._jobs.session.read.parquet(before).createOrReplaceTempView(view)
        columns, text = instants.spells(query, view, context)
        found = self._jobs.session.sql(spells.emitted(self.emit, text, columns, span, final))
        return Emitted(found, columns, self.emit == "intervals")

    def _occupied(self, streams: Mapping[str, Stream], span: Span) -> DataFrame:
        found = [self._content(s, i, streams, span) for i, s in enumerate(self._query.streams)]
        return self._jobs.session.sql(_occupied(Lattice(self._steps, span), found))

    def instants(self, after: int, through: int) -> bool:
        """Whether there can be an instant t with after < t <= through."""
        return any(floor(through, step) > after for step in self._steps) or (self._moves() and through > after)

    def last_instant(self, last: int) -> int:
        """The last instant of a bounded run whose last element has that time: the time itself, or the next instant."""
        return min((ceiling(last, step) for step in self._steps), default=last)

    def horizon(self, progress: int, stream: str) -> int | None:
        """Up to which time elements of the stream are past for all instants after `progress`; None: that depends on
        how many there are."""
        windows = [s.window for s in self._query.streams if s.iri.value == stream]
        ends = [self._end(w, progress) for w in windows if not isinstance(w, CountWindow)]
        return min(ends) if len(ends) == len(windows) and ends else None

    def _end(self, window: TimeWindow | SlideWindow, progress: int) -> int:
        """Windows that change at any time may have an instant then, and see what this one still holds."""
        if isinstance(window, SlideWindow):
            return -ALWAYS if window.range is None else floor(progress - window.range, window.slide) + window.slide - 1
        steps = () if self._moves() else self._steps
        following = min((ceiling(progress + 1, step) for step in steps), default=progress + 1)
        return floor(following, window.step) - window.delay - window.range

    def tail(self, stream: str) -> int:
        """How many of the newest elements up to the progress have to be kept for windows that count them."""
        windows = [s.window for s in self._query.streams if s.iri.value == stream]
        return max((w.size + w.step for w in windows if isinstance(w, CountWindow)), default=0)

    def close(self) -> None:
        """Let go of what is kept with Spark."""
        self._settled.clear()

    def _moves(self) -> bool:
        """Whether instants are wherever something comes or leaves."""
        registration = self._query.registration
        fixed = registration is not None and registration.every is not None
        return not fixed and not all(isinstance(s.window, TimeWindow) for s in self._query.streams)

    # Planning

    @contextmanager
    def _planned(self, streams: Mapping[str, Stream], span: Span) -> Iterator[tuple[ops.Query, Context]]:
        query = optimise(self._query, self._background.statistics, self._rules).query
        tables = self._background.tables(query.dataset)
        jobs = self._jobs
        plan = Plan(tables, jobs.compute, query.base, "", jobs.fetch, jobs.share, jobs.spread, jobs.cores)
        try:
            found = [self._content(s, i, streams, span) for i, s in enumerate(query.streams)]
            plan.tables = Tables(tables.default, tables.named, tables.graphs | {c.graph for c in found})
            if not self._by_instant:
                plan.streaming = self._streaming(query, tuple(map(self._event, found)), Lattice((1,), span))
                yield query, Context(plan)
                return
            timeline = self._timeline(found, span, plan)
            seen = self._seen(found, query, timeline, tables)
            plan.streaming = self._streaming(query, seen, timeline)
            yield query, Context(plan).with_universe(Universe((INSTANT,), _occupied(timeline, found)))
        finally:
            self._jobs.drop(plan.views)

    def _content(self, source: ops.StreamWindow, i: int, streams: Mapping[str, Stream], span: Span) -> Content:
        stream, window = streams[source.iri.value], source.window
        view = self._view(stream, f"penstock_stream_{self._number}_{i}", ordered=isinstance(window, CountWindow))
        name = None if source.name is None else encoding.encode(source.name)
        stored, entailed = self._background.surveyed(stream), self._background.entailed
        return Content(
            encoding.encode(source.iri),
            source.named,
            contents.visible(view, window, span, stream.dropped),
            stored if entailed is None else entailed.predicates(stored),
            ends=isinstance(window, TimeWindow) or (isinstance(window, SlideWindow) and window.range is not None),
            rows=stream.rows,
            paths=stream.paths,
            name=name,
            tag=source.tag,
            moves=not isinstance(window, TimeWindow),
            stored=stored,
            lasts=None if isinstance(window, CountWindow) else window.range,
            counts=partial(self._background.counts, stream),
        )

    def _view(self, stream: Stream, name: str, ordered: bool) -> str:
        """The stream's elements; `ordered` with the place where they lie, for the order of those of the same time."""
        session = self._jobs.session
        if not stream.paths:
            frame = session.createDataFrame([], f"{_SCHEMA}, file STRING, row BIGINT")
        else:
            frame = session.read.schema(_SCHEMA).parquet(*stream.paths)
        if ordered and stream.paths:
            place = arrival.place(frame.inputFiles(), stream.paths)
            frame = frame.selectExpr("*", f"{place} AS file", "_metadata.row_index AS row")
        frame.createOrReplaceTempView(name)
        return name

    def _timeline(self, found: list[Content], span: Span, plan: Plan) -> Timeline:
        if not self._moves():
            return Lattice(self._steps, span)
        moving, still = ([c.sql for c in found if c.moves is moves] for moves in (True, False))
        instants = [_occupied(Lattice(self._steps, span), found)] if self._steps else []
        return Changes(plan.keep(Changes.numbered(moving, still, instants, span))[0], span)

    def _event(self, content: Content) -> Content:
        """What is in no window: all there is, and mostly only its own time matters."""
        when = content.when if self._by_instant else ()
        if not self._merge:
            return replace(content, when=when)
        content = self._closed(content)
        columns = ", ".join([contents.ELEMENT, *map(sql.name, when)])
        return replace(content, sql=f"SELECT DISTINCT {columns} FROM ({content.sql})", when=when, paths=())

    def _seen(self, found: list[Content], query: ops.Query, timeline: Timeline, tables: Tables) -> tuple[Content, ...]:
        """The windows as patterns read them: equal triples merged if that is wanted, and the instant in place of an
        interval where no element is seen twice."""
        if self.emit == "events":
            return tuple(map(self._event, found))
        seen = [self._merged(c, s.merge, tables) for c, s in zip(found, query.streams, strict=True)]
        windows = [s.window for s in query.streams]
        if seen != found or not isinstance(timeline, Lattice):
            return tuple(seen)
        if not all(contents.is_seen_once(w, timeline) for w in windows):
            return tuple(seen)
        return tuple(replace(c, sql=contents.at_its_instant(c.sql, timeline), when=(INSTANT,)) for c in found)

    def _closed(self, content: Content) -> Content:
        """With what follows from its elements, before equal triples become one."""
        entailed = self._background.entailed
        return content if entailed is None else replace(content, sql=entailed.triples(content.sql), closed=True)

    def _merged(self, content: Content, merge: bool, tables: Tables) -> Content:
        if not (self._merge or (merge and content.name is not None)):
            return content
        content = self._closed(content)
        if content.name is not None:
            each = contents.merged(content.sql, "s, p, o, g")
            return replace(content, sql=contents.merged(content.sql), each=each)
        return replace(content, sql=contents.absent_from(contents.merged(content.sql), tables.default))

    def _streaming(self, query: ops.Query, found: tuple[Content, ...], timeline: Timeline) -> Streaming:
        asked, calls = stamps.asked(query.pattern), stamps.calls(query.pattern)
        default = tuple(c for c in found if not c.named and c.name is None)
        if self._merge and self.emit != "events":
            tags = {c.tag: [d for d in default if d.tag == c.tag] for c in default}
            default = tuple(contents.as_one(some, timeline) if len(some) > 1 else some[0] for some in tags.values())
        known, statistics = self._background.predicates(), self._background.statistics
        occurring = self.emit == "events" or is_timed(query)
        outermost = None if self.emit == "events" else events.outermost(query)
        return Streaming(
            timeline,
            found,
            default,
            known,
            asked,
            calls,
            self._settled,
            statistics,
            occurring,
            self._background.entailed,
            longest_sequences(query.pattern) if occurring else {},
            outermost,
        )


def _occupied(timeline: Timeline, found: list[Content]) -> str:
    """The instants at which some window holds something."""
    return timeline.occupied([c.sql for c in found if c.ends], [c.sql for c in found if not c.ends])


def _emit(query: ops.Query, asked: str | None) -> str:
    """What is reported. A stream has points of time: what derives one tells when triples become true."""
    said = asked or query.emit or "rstream"
    derives = query.registration is not None and query.registration.output is not None
    if said == "events" and not events.complete(query):
        return "istream"
    return "istream" if said == "intervals" and derives else said


def _bounded(query: ops.Query, emit: str, retention: int | None) -> ops.Query:
    """Of events, only those that are young enough for some answer: then the streams are windows like any others.
    Patterns that have no bound have the retention, and what is not complete with its last element has that as window.
    """
    found = kept_for(query).values() if emit == "events" else (None,)
    kept = [bound for own in found if (bound := retention if own is None else own) is not None]
    if query.emit != "events" or len(kept) < len(found):
        return query
    window = SlideWindow(max(kept, default=0) + 1)
    return replace(query, streams=tuple(replace(s, window=window) for s in query.streams))


def _joins(query: ops.Query) -> bool:
    """Whether rows meet other rows at all: not in a query of one pattern on windows of time."""
    found = list(walk.nodes(query.pattern))
    sources = [pattern for op in found if isinstance(op, ops.Bgp) for pattern in op.patterns]
    other = any(isinstance(op, ops.Path | ops.Table) or any(map(exists_in, expressions_of(op))) for op in found)
    return len(sources) > 1 or other or any(isinstance(s.window, CountWindow) for s in query.streams)


def _steps(query: ops.Query) -> tuple[int, ...]:
    """The steps whose multiples are the instants: that of COMPUTED EVERY, else those of the windows."""
    if query.registration is not None and query.registration.every is not None:
        return (query.registration.every,)
    return tuple(dict.fromkeys(s.window.step for s in query.streams if isinstance(s.window, TimeWindow)))
