"""Messages of a stream of NATS JetStream, exactly once into the log.

    nats://HOST:PORT/STREAM?subject=city.*.speed

The position is the sequence number in the stream, and the time at which the stream was created. A consumer that lives
as long as the connection reads on behind it, in order; the server keeps nothing about the reader.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from penstock.errors import OptionError
from penstock.io.connect.nats import NatsOptions, check_nats, connect, nats_reason
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions
from penstock.stream.ingest.sources.source import SourcePosition

__all__ = ["NatsSource"]

_SILENCE = 5.0  # seconds until a request that found nothing is made again
_UNUSED = 300.0  # seconds after which the server forgets a consumer that nobody asks
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class NatsSourceOptions(NatsOptions):
    """`start` is for a stream of which nothing was read; `batch` the most messages that are brought at once."""

    subject: str | None = None
    start: Literal["earliest", "latest"] = "earliest"
    batch: int = 1000


class NatsSource(Connector):
    """An ordered reader of a stream, or of the messages in it whose subject fits."""

    kind = "nats"
    client = "nats"
    extra = "nats"
    Options = NatsSourceOptions
    _visitor: _Visitor | None = None

    def check(self) -> None:
        check_nats(self.address, self.options)
        if not self.address.path or set(self.address.path) & set(" .*>/\\"):
            raise OptionError("nats: which stream? Write nats://HOST:PORT/STREAM?subject=…")
        if self.options.batch < 1:
            raise OptionError("nats: the option batch is 1 or more")
        self.name = f"nats:{self.address.path}:{self.options.subject or '>'}"

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        place = _Place.of(position.get(""))
        while not self.stopping:
            self._visitor = _Visitor(self, accept, place)
            try:
                asyncio.run(self._visitor.visit())
            except _Lost as lost:
                self.trouble(lost)
                self.back_off(clock)

    def interrupt(self) -> None:
        if self._visitor is not None:
            self._visitor.interrupt()

    def start_at(self, place: _Place, created: str, first: int, last: int) -> None:
        """Move the place to where reading begins, in a stream with these sequence numbers; say what is gone."""
        if place.created is None:
            place.sequence = last if self.options.start == "latest" else 0
        elif place.created != created:
            self.warn("the stream is another one now, of the same name: it is read from its beginning")
            place.sequence = 0
        elif place.sequence + 1 < first:
            self.warn(f"messages up to {first - 1} were removed from the stream before they were read")
        place.created = created


@dataclass(slots=True)
class _Place:
    """The last message that is durable, in the stream that was created at that time (None: nothing was read)."""

    sequence: int = 0
    created: str | None = None

    @classmethod
    def of(cls, position: SourcePosition) -> _Place:
        return cls(int(position[0]), str(position[1])) if isinstance(position, list) else cls()

    @property
    def positions(self) -> Positions:
        return {"": [self.sequence, self.created]}


class _Lost(Exception):
    """The connection is of no use any more."""


class _Visitor:
    """One connection, in an event loop of its own."""

    def __init__(self, source: NatsSource, accept: Accept, place: _Place) -> None:
        self._source, self._accept, self._place = source, accept, place
        self._options: NatsSourceOptions = source.options
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asking: asyncio.Future[list[Any]] | None = None
        self._delivered = 0  # messages of the consumer

    def interrupt(self) -> None:
        """End a request that waits for messages. Any thread may call this."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    async def visit(self) -> None:
        """Connect, and bring messages until the connection is lost or the source is stopped."""
        self._loop = asyncio.get_running_loop()
        try:
            connection = await connect(self._source.module(), self._source.address, self._options, self._closed)
        except Exception as error:
            raise _Lost(nats_reason(error)) from None
        try:
            await self._read(connection.jetstream())
        finally:
            await connection.close()

    async def _read(self, stream: Any) -> None:
        consumer = await self._consumer(stream)
        while not self._source.stopping:
            if found := await self._next(consumer):
                await self._bring(found)

    async def _bring(self, found: list[Any]) -> None:
        """Have the messages made durable. Meanwhile the connection is kept alive, and asks for nothing."""
        messages = [self._message(one) for one in found]
        self._place.sequence = found[-1].metadata.sequence.stream
        await asyncio.to_thread(self._accept, messages, self._place.positions)
        self._source.well()

    async def _consumer(self, stream: Any) -> Any:
        """A consumer behind the place, which the server forgets with the connection."""
        name, api = self._source.address.path, self._source.module("nats.js.api")
        try:
            info = await stream.stream_info(name)
            fresh = self._place.created is None
            self._source.start_at(self._place, str(info.created), info.state.first_seq, info.state.last_seq)
            consumer = await stream.pull_subscribe(
                self._options.subject or "",
                stream=name,
                config=api.ConsumerConfig(
                    deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
                    opt_start_seq=self._place.sequence + 1,
                    ack_policy=api.AckPolicy.NONE,
                    inactive_threshold=_UNUSED,
                    mem_storage=True,
                ),
            )
        except Exception as error:
            raise _Lost(nats_reason(error)) from None
        if fresh:
            await asyncio.to_thread(self._accept, (), self._place.positions)
        self._source.well()
        return consumer

    async def _next(self, consumer: Any) -> list[Any]:
        """The next messages, when there is one; none if there is silence, or the source is stopped."""
        try:
            first = await self._asked(consumer, 1)
            more = min(first[0].metadata.num_pending, self._options.batch - 1) if first else 0
            found = first + (await self._asked(consumer, more) if more else [])
            if not found and not self._source.stopping:
                await consumer.consumer_info()
        except Exception as error:
            raise _Lost(nats_reason(error)) from None
        return self._in_order(found)

    async def _asked(self, consumer: Any, number: int) -> list[Any]:
        self._asking = asyncio.ensure_future(consumer.fetch(number, timeout=_SILENCE))
        try:
            if self._source.stopping:
                return []
            return await self._asking
        except TimeoutError:
            return []
        except asyncio.CancelledError:
            if self._source.stopping:
                return []
            raise ConnectionError("the connection is lost") from None
        finally:
            self._cancel()

    def _in_order(self, found: list[Any]) -> list[Any]:
        """The same, if the consumer has left out none."""
        for one in found:
            self._delivered += 1
            if one.metadata.sequence.consumer != self._delivered:
                raise _Lost(f"messages behind {self._place.sequence} did not arrive")
        return found

    def _message(self, found: Any) -> Message:
        said = found.metadata
        headers = tuple((name.lower(), value.encode()) for name, value in (found.headers or {}).items())
        place = f"{self._source.address.path}@{said.sequence.stream}"
        time = (said.timestamp - _EPOCH) // timedelta(microseconds=1)
        return Message(found.data, headers=headers, topic=found.subject, time=time, partition="", place=place)

    async def _closed(self) -> None:
        self._cancel()

    def _cancel(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
