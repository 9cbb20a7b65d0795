"""Live sources of streams: a table of kinds, each with the texts or objects that it stands for.

FOLDER                  watched: every file in it is read once (files appear by being renamed into it)
tcp://HOST:PORT         connects and reads lines; when the connection is lost, connects again
listen://HOST:PORT      accepts producers, and tells each how many of its lines are durable
kafka://HOST:PORT/TOPIC reads all partitions of topics
an iterable             of lines or blocks of lines, asked for the next when the last is durable
a mapping               of an "address" and options: the same as the address with the options in it
a `Source`              of one's own

Connectors to brokers are extras. Each is a class in a file of its own and a row in `SOURCES`: see `connector.py`.
Other packages offer theirs through the entry point group `penstock.sources`; the name is the scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from penstock.errors import PenstockError
from penstock.io.connect.address import address_text
from penstock.plug_ins import PlugIns
from penstock.stream.ingest.sources.folder import Folder
from penstock.stream.ingest.sources.iterable import IterableSource
from penstock.stream.ingest.sources.receiver import Receiver
from penstock.stream.ingest.sources.source import Accept, Message, Positions, Source, SourcePosition

__all__ = [
    "SOURCES", "Accept", "Folder", "Message", "Positions", "Receiver", "Source", "SourcePosition",
    "is_live", "open",
]  # fmt: skip

SOURCES = PlugIns(
    "penstock.sources",
    "source",
    {
        "tcp": "penstock.stream.ingest.sources.tcp:TcpSource",
        "listen": "penstock.stream.ingest.sources.listen:ListenSource",
        "mqtt": "penstock.stream.ingest.sources.mqtt:MqttSource",
        "mqtts": "penstock.stream.ingest.sources.mqtt:MqttsSource",
        "nats": "penstock.stream.ingest.sources.nats:NatsSource",
        "redis": "penstock.stream.ingest.sources.redis:RedisSource",
        "rediss": "penstock.stream.ingest.sources.redis:RedissSource",
        "poll": "penstock.stream.ingest.sources.web.poll:PollSource",
        "sse": "penstock.stream.ingest.sources.web.sse:SseSource",
        "ldes": "penstock.stream.ingest.sources.web.ldes:LdesSource",
        "ws": "penstock.stream.ingest.sources.web.websocket:WebSocketSource",
        "wss": "penstock.stream.ingest.sources.web.websocket:SecureWebSocketSource",
        "kafka": "penstock.stream.ingest.sources.kafka:KafkaSource",
    },
)
# Schemes of paths, as Arrow and Hadoop have them; any other scheme is that of a live source.
_FILE_SYSTEMS = {
    "abfs", "abfss", "adl", "cosn", "dbfs", "file", "ftp", "gcs", "gs", "har", "hdfs", "http", "https", "o3fs", "obs",
    "ofs", "oss", "s3", "s3a", "s3n", "sftp", "swebhdfs", "viewfs", "wasb", "wasbs", "webhdfs",
}  # fmt: skip


def is_live(spec: str) -> bool:
    """Whether a text is the address of a live source, and not a path."""
    scheme, _, address = spec.partition("://")
    return bool(address) and scheme.lower() not in _FILE_SYSTEMS


def open(spec: Any, kinds: PlugIns = SOURCES) -> Folder | Source:
    """The live source that a user's specification stands for."""
    if isinstance(spec, str | Path):
        text = str(spec)
        if not is_live(text):
            return Folder(text)
        scheme, _, address = text.partition("://")
        kind, _, inner = scheme.partition("+")
        return cast(Source, kinds.load(kind)(f"{inner}://{address}" if inner else address))
    if isinstance(spec, Mapping):
        return open(address_text(spec), kinds)
    if isinstance(spec, Source):
        return spec
    if isinstance(spec, Iterable):
        return IterableSource(spec)
    raise PenstockError(f"{spec!r} is not a source: give a folder, tcp://HOST:PORT, listen://HOST:PORT or an iterable.")
