"""Entries of a stream of Redis, exactly once into the log.

    redis://HOST:PORT/KEY?field=payload
    rediss://HOST:PORT/KEY                 with TLS

The position is the id of the last entry that is durable. With `field` the payload is the value of that field, and the
other fields are headers. Without it the payload is the entry as an object of JSON, for a mapping to lift.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from penstock.errors import OptionError
from penstock.io.connect.redis import RedisOptions, check_redis, holds, last_id, new_client, order, redis_reason
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions

__all__ = ["RedisSource", "RedissSource"]

_SILENCE = 200  # milliseconds until a source without entries looks whether it should stop
_BEGINNING = "0-0"


@dataclass(frozen=True, slots=True)
class RedisSourceOptions(RedisOptions):
    """`start` is for a stream of which nothing was read; `batch` the most entries that are brought at once."""

    field: str | None = None
    start: Literal["earliest", "latest"] = "earliest"
    batch: int = 1000


class RedisSource(Connector):
    """A reader by XREAD, without a consumer group: the log knows where it is."""

    kind = "redis"
    client = "redis"
    extra = "redis"
    Options = RedisSourceOptions

    def check(self) -> None:
        check_redis(self.address, self.options)
        if self.options.batch < 1:
            raise OptionError(f"{self.kind}: the option batch is 1 or more")
        self.name = f"redis:{self.options.db}:{self.address.path}"

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        place = position.get("")
        reader = _Reader(self, accept, None if place is None else str(place))
        while not self.stopping:
            try:
                reader.visit()
            except _Lost as lost:
                self.trouble(lost)
                self.back_off(clock)

    def check_place(self, place: str, last: str, *, held: bool) -> None:
        """Say what may be missing behind an entry that was read, in a stream with that last one; `held`: it is there.

        Streams are trimmed from their beginning: behind an entry that is there, none is gone.
        """
        if order(last) < order(place):
            self.warn(f"the stream ends at {last}, before {place}, which was read: entries up to there are not read")
        elif not held and place != _BEGINNING:
            self.warn(f"the stream was trimmed, also of {place}, which was read: entries behind it may be gone unread")


class RedissSource(RedisSource):
    """The same with TLS."""

    kind = "rediss"


class _Lost(Exception):
    """The connection is of no use any more."""


class _Reader:
    """Reads on behind `_place`, the last entry that is durable (None: nothing was read)."""

    def __init__(self, source: RedisSource, accept: Accept, place: str | None) -> None:
        self._source, self._accept, self._place = source, accept, place
        self._key, self._options = source.address.path, source.options
        self._redis: Any = source.module()

    def visit(self) -> None:
        """Connect, and bring entries until the connection is lost or the source is stopped."""
        client = new_client(self._redis, self._source.address, self._options)
        try:
            self._begin(client)
            while not self._source.stopping:
                if found := self._read(client):
                    self._bring(found)
        finally:
            client.close()

    def _begin(self, client: Any) -> None:
        try:
            last = last_id(client, self._key)
            held = self._place is None or last is None or holds(client, self._key, self._place)
        except self._redis.RedisError as error:
            raise _Lost(redis_reason(error, self._key)) from None
        self._source.well()
        if last is None:
            self._source.warn(f"there is no key {self._key} yet")
        if self._place is None:
            self._place = last if last is not None and self._options.start == "latest" else _BEGINNING
            self._accept((), {"": self._place})
        elif last is not None:
            self._source.check_place(self._place, last, held=held)

    def _read(self, client: Any) -> list[tuple[bytes, Mapping[bytes, bytes]]]:
        try:
            answer = client.xread({self._key: self._place}, count=self._options.batch, block=_SILENCE)
        except self._redis.RedisError as error:
            raise _Lost(redis_reason(error, self._key)) from None
        return answer[0][1] if answer else []

    def _bring(self, found: list[tuple[bytes, Mapping[bytes, bytes]]]) -> None:
        self._source.well()
        place = found[-1][0].decode()
        self._accept([self._message(id.decode(), fields) for id, fields in found], {"": place})
        self._place = place

    def _message(self, id: str, fields: Mapping[bytes, bytes]) -> Message:
        payload, headers = _parts(id, fields, self._options.field)
        place, time = f"{self._key}@{id}", order(id)[0] * 1000
        return Message(payload, headers=headers, topic=self._key, time=time, partition="", place=place)


def _parts(id: str, fields: Mapping[bytes, bytes], field: str | None) -> tuple[bytes, tuple[tuple[str, bytes], ...]]:
    """The payload and the headers of an entry. Without its field it is a text that no format takes for an element."""
    if field is None:
        texts = {name.decode(errors="replace"): value.decode(errors="replace") for name, value in fields.items()}
        return json.dumps(texts, ensure_ascii=False).encode(), ()
    headers = tuple((name.decode(errors="replace").lower(), value) for name, value in fields.items())
    missing = json.dumps(f"the entry {id} has no field {field}").encode()
    return fields.get(field.encode(), missing), tuple(one for one in headers if one[0] != field.lower())
