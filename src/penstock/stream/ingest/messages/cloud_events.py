"""Takes messages out of CloudEvents 1.0: in JSON (structured mode), or with attributes as headers (binary mode)."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from penstock.io.message_logs.syntax import SYNTAXES
from penstock.io.nquads_time import microseconds
from penstock.stream.ingest.messages.message import Message

__all__ = ["MEDIA_TYPES", "format_of", "unwrap"]

MEDIA_TYPES = {
    "application/n-quads": "nquads",
    "application/n-triples": "ntriples",
    "text/turtle": "turtle",
    "application/trig": "trig",
    "application/ld+json": "jsonld",
    "application/x-jelly-rdf": "jelly",
    "application/json": "json",
    "application/x-ndjson": "ndjson",
    "text/csv": "csv",
    "application/xml": "xml",
    "text/xml": "xml",
}
_PREFIXES = ("ce_", "ce-", "cloudevents:", "")  # of Kafka, of HTTP and NATS, of AMQP, of MQTT 5
_MESSAGES = re.compile(r'\bversion="?[\w.-]+-messages\b')
_NEEDED = ("specversion", "id", "source", "type")


def unwrap(message: Message) -> tuple[str, Message]:
    """The media type of an event's data, and the data as a message with the time of the event.

    A `ValueError` says why the message is no event.
    """
    headers = {name: value.decode(errors="replace") for name, value in message.headers}
    prefix = next((prefix for prefix in _PREFIXES if f"{prefix}specversion" in headers), None)
    if prefix is None:
        event = _event(message.payload)
        return _opened(event, message, _data(event))
    attributes = {name.removeprefix(prefix): value for name, value in headers.items() if name.startswith(prefix)}
    content = headers.get("content-type", headers.get("content_type", "application/json"))
    return _opened({**attributes, "datacontenttype": content}, message, message.payload)


def format_of(media_type: str, *, lifted: bool) -> str:
    """The format of a media type; plain JSON is JSON-LD unless it is lifted. A `ValueError` if there is none."""
    plain, _, parameters = (part.strip().lower() for part in media_type.partition(";"))
    format = MEDIA_TYPES.get(plain) or ("json" if plain.endswith("+json") else None)
    if format is None:
        raise ValueError(f"the event has data of the type {plain}; Penstock reads {', '.join(MEDIA_TYPES)}")
    if f"{format}-messages" in SYNTAXES and _MESSAGES.search(parameters):
        return f"{format}-messages"
    return "jsonld" if format == "json" and not lifted else format


def _event(payload: bytes) -> dict[str, Any]:
    try:
        event = json.loads(payload)
    except ValueError as error:
        raise ValueError(f"neither an event in JSON, nor has it headers of one: {error}") from None
    if not isinstance(event, dict):
        raise ValueError("an event in JSON is an object")
    return event


def _opened(event: Mapping[str, Any], message: Message, data: bytes) -> tuple[str, Message]:
    if missing := [name for name in _NEEDED if not event.get(name)]:
        raise ValueError(f"no CloudEvent: it has no {', '.join(missing)}")
    if not str(event["specversion"]).startswith("1."):
        raise ValueError(f"the event is of CloudEvents {event['specversion']}; Penstock reads 1.0")
    time = microseconds(str(event["time"])) if event.get("time") else message.time
    place = message.place or f"{event['source']} {event['id']}"
    return str(event.get("datacontenttype") or "application/json"), message._replace(
        payload=data, time=time, place=place
    )


def _data(event: Mapping[str, Any]) -> bytes:
    if "data_base64" in event:
        return b64decode(str(event["data_base64"]), validate=True)
    data, media_type = event.get("data"), str(event.get("datacontenttype") or "application/json")
    if isinstance(data, str) and "json" not in media_type:
        return data.encode()
    return json.dumps(data, ensure_ascii=False).encode()
