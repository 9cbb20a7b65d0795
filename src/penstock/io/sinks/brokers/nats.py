"""Answers to a subject of NATS JetStream: a message an answer, whose `Nats-Msg-Id` is query/number/part.

The server drops a message whose id it has seen, within the duplicate window of the stream (two minutes unless set). So
a batch that is delivered again within that time is there once; later its ids let a reader drop doubles.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from threading import Thread
from typing import Any

from penstock.errors import OptionError
from penstock.io.connect.nats import NatsOptions, check_nats, connect, nats_reason
from penstock.io.connect.options import Microseconds
from penstock.io.sinks.connector import AnswerFormat, SinkConnector, encoder
from penstock.io.sinks.sink import Batch

__all__ = ["NatsSink"]

_HALF_A_MINUTE = Microseconds(30_000_000)


@dataclass(frozen=True, slots=True)
class NatsSinkOptions(NatsOptions):
    """`timeout` is for one message."""

    format: AnswerFormat = "ndjson"
    timeout: Microseconds = _HALF_A_MINUTE


class NatsSink(SinkConnector):
    """A publisher to a stream. Messages are acknowledged one by one, so that they are in order after a failure too."""

    kind = "nats"
    client = "nats"
    extra = "nats"
    Options = NatsSinkOptions
    _loop: asyncio.AbstractEventLoop | None = None
    _connection: Any = None

    def check(self) -> None:
        check_nats(self.address, self.options)
        if not self.address.path or set(self.address.path) & set(" *>/"):
            raise OptionError("nats: which subject? Write nats://HOST:PORT/SUBJECT, without wildcards")

    def send(self, batch: Batch) -> None:
        """See `SinkConnector.send`. The stream has all messages when this returns."""
        try:
            self._do(self._publish(batch))
        except Exception as error:
            self.close()
            raise ConnectionError(self._reason(error)) from error

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            connection, self._connection = self._connection, None
            if connection is not None:
                asyncio.run_coroutine_threadsafe(connection.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    async def _publish(self, batch: Batch) -> None:
        if self._connection is None:
            self._connection = await connect(self.module(), self.address, self.options)
        stream, encode = self._connection.jetstream(), encoder(self.options.format)
        for part, answer in enumerate(batch.answers):
            labels = {"Penstock-Query": batch.query, "Penstock-Number": str(batch.number), "Penstock-Part": str(part)}
            headers = {"Nats-Msg-Id": f"{batch.query}/{batch.number}/{part}", **labels}
            seconds = self.options.timeout / 1_000_000
            await stream.publish(self.address.path, encode(answer), timeout=seconds, headers=headers)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for that in the event loop of the connection, which a thread of its own runs between batches too."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            Thread(target=_run, args=(self._loop,), name="penstock-nats", daemon=True).start()
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _reason(self, error: Exception) -> str:
        if type(error).__name__ == "NoStreamResponseError":
            return f"no stream takes the subject {self.address.path}"
        return nats_reason(error)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
