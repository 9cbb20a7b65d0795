"""Polls a resource: asks for it at an interval, and takes the items that it has not taken before.

    poll+https://example.org/recent?top=250#interval=10s&items=/posts&id=/id&newest=first

The position is the ETag (or the time of the last change) and the newest ids. It is stored with the items, so that
after a crash none is missing that is still in the resource, and none comes twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx

from penstock.errors import OptionError
from penstock.io.connect.http import HttpOptions, Wire, check_request, failure_of, http_client, reason_of
from penstock.io.connect.options import Microseconds
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions
from penstock.stream.ingest.sources.web.items import Item, Paths
from penstock.stream.ingest.sources.web.memory import Memory

__all__ = ["PollOptions", "PollSource"]

_LARGEST = 256 << 20  # bytes of an answer
_HEADER = "header:"
_INTERVAL = Microseconds(10_000_000)


@dataclass(frozen=True, slots=True)
class PollOptions(HttpOptions):
    """`items` leads to the array of items and `id` from an item to its id, or is header:NAME; `newest` tells their
    order, and `remember` how many ids are kept."""

    interval: Microseconds = _INTERVAL
    items: str | None = None
    id: str | None = None
    newest: Literal["first", "last"] = "last"
    remember: int = 1000


class PollSource(Connector):
    """Asks, takes what is new, waits for the interval."""

    kind = "poll"
    Options = PollOptions

    def check(self) -> None:
        options = self.options
        check_request(self.kind, self.address.resource, options)
        by_header = options.id is not None and options.id.startswith(_HEADER)
        for name, path in (("items", options.items), ("id", None if by_header else options.id)):
            if path and not path.startswith("/"):
                raise OptionError(f"{self.kind}: the option {name} is a JSON Pointer such as /{name}, not {path!r}")
        if by_header and options.items is not None:
            raise OptionError(
                f"{self.kind}: a header is the id of a whole answer: give items or {options.id}, not both"
            )
        if options.interval <= 0 or options.remember < 1:
            raise OptionError(f"{self.kind}: interval and remember are more than 0")
        self.name = f"poll:{self.address.resource}"
        self._paths = Paths(options.items, None if by_header else options.id)
        self._header = options.id.removeprefix(_HEADER) if by_header else None
        self._wire = Wire()

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        self._wire.open()
        stored = position.get("")
        validators, memory = _restored(stored, self.options.remember)
        with http_client(self.options) as client:
            while not self.stopping:
                wait = self._ask(client, accept, validators, memory)
                if wait is None:
                    self.back_off(clock)
                else:
                    self.pause(clock, wait)

    def interrupt(self) -> None:
        self._wire.cut()

    def _ask(self, client: httpx.Client, accept: Accept, validators: dict[str, str], memory: Memory) -> int | None:
        """Ask once; the time until the next, or None after a failure."""
        try:
            response, body = self._response(client, validators)
            if reason := failure_of(response):
                self._say(reason)
                return _retry_after(response)
            if response.status_code != 304:
                self._take(response, body, accept, validators, memory)
        except (httpx.HTTPError, ValueError, OSError) as error:
            self._say(reason_of(error))
            return None
        self.well()
        return int(self.options.interval)

    def _response(self, client: httpx.Client, validators: Mapping[str, str]) -> tuple[httpx.Response, bytes]:
        asked = client.stream(
            "GET", self.address.resource, headers=_conditions(validators), extensions=self._wire.extensions
        )
        with asked as response:
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    raise ValueError(f"its answer has more than {_LARGEST >> 20} MiB")
            return response, bytes(body)

    def _take(
        self, response: httpx.Response, body: bytes, accept: Accept, validators: dict[str, str], memory: Memory
    ) -> None:
        """Bring what is new to the log, together with the position behind it."""
        before = {**validators, "ids": memory.ids}
        items = self._items(response, body)
        fresh = memory.fresh(items if self.options.newest == "last" else items[::-1])
        validators.clear()
        validators |= {name: response.headers[name] for name in ("etag", "last-modified") if name in response.headers}
        behind = {**validators, "ids": memory.ids}
        if fresh or behind != before:
            accept(self._messages(response, fresh), {"": behind})

    def _items(self, response: httpx.Response, body: bytes) -> list[Item]:
        if self._header is not None:
            return [Item(body, response.headers.get(self._header))]
        return self._paths.split(body)

    def _messages(self, response: httpx.Response, items: Sequence[Item]) -> list[Message]:
        headers = tuple((name.lower(), value.encode()) for name, value in response.headers.items())
        time = _date(response.headers.get("date"))
        return [
            Message(
                item.payload,
                key=None if item.id is None else item.id.encode(),
                headers=headers,
                topic=self.address.resource,
                time=time,
                partition="",
                place=self.address.text if item.id is None else f"{self.address.text}@{item.id}",
            )
            for item in items
        ]

    def _say(self, reason: str) -> None:
        if not self.stopping:
            self.trouble(reason)


def _restored(stored: Any, most: int) -> tuple[dict[str, str], Memory]:
    """The validators and the ids of a stored position."""
    position = dict(stored) if isinstance(stored, Mapping) else {}
    ids = position.pop("ids", [])
    return {name: str(value) for name, value in position.items()}, Memory(most, map(str, ids))


def _conditions(validators: Mapping[str, str]) -> dict[str, str]:
    names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
    return {names[name]: value for name, value in validators.items() if name in names}


def _retry_after(response: httpx.Response) -> int | None:
    seconds = response.headers.get("retry-after", "")
    return int(seconds) * 1_000_000 if seconds.isdecimal() and len(seconds) < 7 else None


def _date(text: str | None) -> int | None:
    """The time of a header in microseconds."""
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(aware.timestamp()) * 1_000_000
