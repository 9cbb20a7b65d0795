"""Answers to a stream of Redis, exactly once: an entry an answer, with the fields query, number, part and answer.

The position is the id of the last entry. After a crash the entries behind it are read, and those answers of the batch
that are among them are not added again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import OptionError, StoreError
from penstock.io.connect.redis import RedisOptions, check_redis, last_id, new_client, order, redis_reason
from penstock.io.sinks.connector import AnswerFormat, SinkConnector, encoder
from penstock.io.sinks.sink import Batch, Position

__all__ = ["RedisSink", "RedissSink"]

_MOST = 500  # entries that are added, or read, at once
_BEGINNING = "0-0"


@dataclass(frozen=True, slots=True)
class RedisSinkOptions(RedisOptions):
    """`max_length` is about how many entries the stream keeps."""

    format: AnswerFormat = "ndjson"
    max_length: int | None = None


class RedisSink(SinkConnector):
    """A writer by XADD."""

    kind = "redis"
    client = "redis"
    extra = "redis"
    Options = RedisSinkOptions
    _open: Any = None
    _position: str = _BEGINNING
    _is_sure = False  # whether nothing of the next batch is in the stream

    def check(self) -> None:
        check_redis(self.address, self.options)
        if self.options.max_length is not None and self.options.max_length < 1:
            raise OptionError(f"{self.kind}: the option max_length is 1 or more")

    def begin(self) -> Position:
        """See `Sink.begin`. The id of the last entry that others have added."""
        try:
            known = last_id(self._connected(), self.address.path)
        except Exception as error:
            self.close()
            raise StoreError(f"{self.address.text}: {redis_reason(error, self.address.path)}") from None
        return known or _BEGINNING

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`. Entries behind the position stay, and are looked up with the next batch."""
        self._position, self._is_sure = str(position or _BEGINNING), False

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        super().deliver(batch)
        return self._position

    def send(self, batch: Batch) -> None:
        """See `SinkConnector.send`."""
        try:
            last = self._add(batch)
        except Exception as error:
            self.close()
            self._is_sure = False
            raise ConnectionError(redis_reason(error, self.address.path)) from error
        self._position, self._is_sure = last, True

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _connected(self) -> Any:
        if self._open is None:
            self._open = new_client(self.module(), self.address, self.options)
        return self._open

    def _add(self, batch: Batch) -> str:
        """Add the answers that are not there yet, and return the id of the last one."""
        client, encode = self._connected(), encoder(self.options.format)
        present = {} if self._is_sure else self._present(client, batch)
        last = max(present.values(), key=order, default=self._position)
        added = client.pipeline()
        for part, answer in enumerate(batch.answers):
            if part not in present:
                fields = {"query": batch.query, "number": batch.number, "part": part, "answer": encode(answer)}
                added.xadd(self.address.path, fields, maxlen=self.options.max_length)
            if len(added) == _MOST:
                last = added.execute()[-1].decode()
        return added.execute()[-1].decode() if len(added) else last

    def _present(self, client: Any, batch: Batch) -> dict[int, str]:
        """The ids of the answers of a batch that are behind the position, by their place in it."""
        key = batch.query.encode(), str(batch.number).encode()
        return {
            int(fields[b"part"]): id
            for id, fields in self._behind(client, self._position)
            if (fields.get(b"query"), fields.get(b"number")) == key and b"part" in fields
        }

    def _behind(self, client: Any, position: str) -> Iterator[tuple[str, dict[bytes, bytes]]]:
        while found := client.xrange(self.address.path, f"({position}", "+", _MOST):
            for id, fields in found:
                position = id.decode()
                yield position, fields


class RedissSink(RedisSink):
    """The same with TLS."""

    kind = "rediss"
