"""Server-Sent Events: reads an event stream, and continues behind the last event after any interruption.

    sse+https://example.org/events#events=post,like

The position is the id of the last event, which is sent as Last-Event-ID. A server that gives no ids cannot continue:
the events of the time without a connection are lost then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from penstock.io.connect.http import HttpOptions, Wire, check_request, failure_of, http_client, reason_of
from penstock.io.connect.options import Microseconds
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions
from penstock.stream.ingest.sources.web.event_stream import Event, EventStream

__all__ = ["SseOptions", "SseSource"]

_MEDIA_TYPE = "text/event-stream"
_NO_MORE = 204  # the status by which a server says that there is no more to come
_SILENCE = Microseconds(300_000_000)


@dataclass(frozen=True, slots=True)
class SseOptions(HttpOptions):
    """`events` are the types that are taken (none: all), `start` is the id to continue behind at first, and `silence`
    how long nothing may come, be it a comment, before it connects again."""

    events: tuple[str, ...] = ()
    start: str = ""
    silence: Microseconds = _SILENCE


class SseSource(Connector):
    """Connects, reads events, and connects again when the connection is lost."""

    kind = "sse"
    Options = SseOptions

    def check(self) -> None:
        check_request(self.kind, self.address.resource, self.options)
        self.name = f"sse:{self.address.resource}"
        self._wire = Wire()
        self._retry: int | None = None

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        self._wire.open()
        id = str(position.get("") or self.options.start)
        with http_client(self.options, silence=self.options.silence) as client:
            while not self.stopping:
                events = EventStream(id)
                is_over = self._visit(client, accept, events)
                id, self._retry = events.id, events.retry if events.retry is not None else self._retry
                if is_over:
                    return
                if self._retry is None:
                    self.back_off(clock)
                else:
                    self.pause(clock, self._retry)

    def interrupt(self) -> None:
        self._wire.cut()

    def _visit(self, client: httpx.Client, accept: Accept, events: EventStream) -> bool:
        """Connect once and read until the end; whether that was the end of all."""
        asked = {"Accept": _MEDIA_TYPE, "Cache-Control": "no-store"}
        if events.id:
            asked["Last-Event-ID"] = events.id
        try:
            with client.stream(
                "GET", self.address.resource, headers=asked, extensions=self._wire.extensions
            ) as response:
                if response.status_code == _NO_MORE:
                    self.well()
                    return True
                self._read(response, accept, events)
        except (httpx.HTTPError, ValueError, OSError) as error:
            self._say(reason_of(error))
        return False

    def _read(self, response: httpx.Response, accept: Accept, events: EventStream) -> None:
        if reason := failure_of(response) or _wrong_type(response):
            return self._say(reason)
        self.well()
        for piece in response.iter_bytes():
            before = events.id
            messages = self._messages(events.add(piece))
            if messages or events.id != before:
                accept(messages, {"": events.id})
            if self.stopping:
                return None
        return self._say("the server has closed the connection")

    def _messages(self, events: Sequence[Event]) -> list[Message]:
        wanted = self.options.events
        return [
            Message(
                event.data,
                key=event.id.encode() or None,
                topic=event.type,
                partition="",
                place=f"{self.address.text}@{event.id}" if event.id else self.address.text,
            )
            for event in events
            if not wanted or event.type in wanted
        ]

    def _say(self, reason: str) -> None:
        if not self.stopping:
            self.trouble(reason)


def _wrong_type(response: httpx.Response) -> str | None:
    given = response.headers.get("content-type", "nothing")
    if given.partition(";")[0].strip().lower() == _MEDIA_TYPE:
        return None
    return f"it sends {given}, and no event stream ({_MEDIA_TYPE})"
