"""Collects the facts that tell why a query has no answer: its state and that of its streams. Nothing is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import ceil

from penstock.algebra.ops import Query
from penstock.algebra.schedule import schedule
from penstock.stream.base.clock import Clock
from penstock.stream.base.dead_letter import DeadLetter
from penstock.stream.base.watermark import Position, Watermarks, combined
from penstock.stream.ingest.dead_letters import missed_by
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.log.stream_log import Counts, StreamLog
from penstock.stream.registry.catalogue import Catalogue, memory_of
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.progress import QueryStatus
from penstock.tuning import DEFAULT, Tuning

__all__ = ["FactCollector", "QueryFacts", "StreamFacts", "lateness_for"]

SHARE = 0.95
"""The share of the elements that the advised lateness would have kept."""
_EXAMPLES = 3
_NONE, _NOWHERE = Counts(0, 0, 0), Position()


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """A stream of a query. Times are microseconds.

    `source` is a path or an address; None: pushes alone. `derived_by` is the name of the query that derives it.
    `first` is the time of the oldest element that is held, and `dropped` the number of those that no longer are.
    `partitions` are the event times of the partitions of its source, and `slowest` the one that holds back the others.
    `malformed_examples` are a few lines, and `advised_lateness` would have kept 95 % of the elements (None: as it is).
    """

    iri: str
    source: str | None = None
    derived_by: str | None = None
    counts: Counts = _NONE
    first: int | None = None
    dropped: int = 0
    position: Position = _NOWHERE
    watermark: int | None = None
    problem: str | None = None
    malformed_examples: tuple[DeadLetter, ...] = ()
    advised_lateness: int | None = None
    partitions: Mapping[str, Position] = field(default_factory=dict)
    slowest: str | None = None

    @property
    def positions(self) -> list[Position]:
        """The event times whose minimum is the stream's."""
        return list(self.partitions.values()) or [self.position]


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """A query and its streams. `through` is the watermark of its streams together, `now` the time of the clock, and
    `next_instant` the first one that is not answered. `report` is its report, and `latest` the time of the newest
    answer that is kept in memory."""

    query: Query
    text: str
    status: QueryStatus
    report: str
    streams: tuple[StreamFacts, ...]
    now: int
    live: bool = False
    progress: int | None = None
    through: int | None = None
    next_instant: int | None = None
    latest: int | None = None
    entailment: bool = False

    @property
    def is_open(self) -> bool:
        """Whether more may come: it is live, or was when it stopped. A bounded run answers up to the newest element."""
        newest = [stream.position.newest for stream in self.streams if stream.position.newest is not None]
        return self.live or any(self.progress is None or time > self.progress for time in newest)


class FactCollector:
    """Collects the facts of one query from the parts of a runtime."""

    def __init__(
        self,
        log: StreamLog,
        inputs: StreamView,
        watermarks: Watermarks,
        streams: Mapping[str, Declared],
        catalogue: Catalogue,
        clock: Clock,
        letters: Callable[[str], Iterator[DeadLetter]],
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._tuning = tuning
        self._log, self._inputs, self._watermarks, self._letters = log, inputs, watermarks, letters
        self._streams, self._catalogue, self._clock = streams, catalogue, clock

    def of(
        self, task: RegisteredQuery, status: QueryStatus, problems: Mapping[str, str] | None, entailment: bool
    ) -> QueryFacts:
        """The facts of a query. `problems` are those of the sources of a live engine; None: it is not live."""
        now, live = self._clock.now(), problems is not None
        streams = tuple(self._stream(name, (problems or {}).get(name)) for name in task.inputs)
        through, progress = self._through(streams, now), task.progress
        memory = memory_of(task.sink)
        newest = None if memory is None else memory.latest()
        return QueryFacts(
            task.query,
            task.entry.text,
            status,
            task.entry.emit or task.query.emit or "rstream",
            streams,
            now,
            live,
            progress,
            through,
            _next(task.query, progress, streams),
            None if newest is None or newest.time is None else round(newest.time.timestamp() * 1e6),
            entailment,
        )

    def _through(self, streams: Sequence[StreamFacts], now: int) -> int | None:
        """The watermark of the streams together, as a round would compute it now; nothing is decided by asking."""
        declared = [position for stream in streams if stream.derived_by is None for position in stream.positions]
        return combined(declared, now, [stream.watermark for stream in streams if stream.derived_by is not None])

    def _stream(self, name: str, problem: str | None) -> StreamFacts:
        if (query := self._catalogue.derived.get(name)) is not None:
            position, end, source = self._watermarks.position(name), query.progress, None
        else:
            position, source = self._watermarks.position(name), self._source(name)
            end = combined(self._watermarks.positions(name), self._clock.now())
        held, counts = self._inputs.segments(name), self._log.counts(name)
        elements = counts.elements + sum(part.rows for part in self._inputs.in_place(name))
        late, malformed = self._split(name) if counts.late or counts.malformed else ([], ())
        return StreamFacts(
            name,
            source,
            None if query is None else query.name,
            Counts(elements, counts.late, counts.malformed),
            min((part.first for part in held), default=None),
            self._inputs.dropped(name),
            position,
            end,
            problem,
            malformed,
            lateness_for(elements, late, position.lateness),
            self._watermarks.partitions(name),
            self._watermarks.slowest(name),
        )

    def _source(self, name: str) -> str | None:
        declared = self._streams.get(name)
        if declared is None or declared.source is None:
            return None
        return declared.path or "an iterable"

    def _split(self, name: str) -> tuple[list[int], tuple[DeadLetter, ...]]:
        """The microseconds by which late elements missed the watermark, and a few malformed lines."""
        late, malformed = list[int](), list[DeadLetter]()
        for letter in islice(self._letters(name), self._tuning.why_letters):
            if letter.kind == "malformed":
                malformed += [letter] if len(malformed) < _EXAMPLES else []
            elif (missed := missed_by(letter)) is not None:
                late.append(missed)
        return late, tuple(malformed)


def lateness_for(kept: int, missed: Iterable[int], allowed: int, share: float = SHARE) -> int | None:
    """The lateness that would have kept that share of the elements; None if the allowed one has.

    `missed` is by how much each late element was beyond the allowed lateness."""
    behind = sorted(missed)
    wanted = ceil(share * (kept + len(behind)) - 1e-9) - kept
    return allowed + behind[wanted - 1] if behind and wanted > 0 else None


def _next(query: Query, progress: int | None, streams: Sequence[StreamFacts]) -> int | None:
    """The first instant after the progress, or after the first element; None: there is neither."""
    firsts = [stream.first for stream in streams if stream.first is not None]
    if query.emit == "events" or (progress is None and not firsts):
        return None
    return schedule(query).next_instant(min(firsts) - 1 if progress is None else progress)
