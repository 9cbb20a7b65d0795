"""Sinks of answers: memory, a function, a file of lines, a folder of Parquet, or a sink of one's own.

Connectors to brokers and databases are extras. Each is a class in a file of its own and a row in `SINKS`: see
`connector.py`. A mapping with an "address" and options is the same as the address with the options in it.

Other packages offer theirs through the entry point group `penstock.sinks`. The name is the scheme of the spec
(`myqueue` for `"myqueue://ADDRESS"`), or with a dot the ending of a path (`.xlsx`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from penstock.answer import Answer
from penstock.errors import QueryError
from penstock.io.connect.address import address_text
from penstock.io.results.jelly import check_jelly
from penstock.io.sinks.answer_formats import check_kind
from penstock.io.sinks.file_formats import FILES, file_ending
from penstock.io.sinks.files import FileSink
from penstock.io.sinks.function import FunctionSink
from penstock.io.sinks.memory import MemorySink
from penstock.io.sinks.parquet import ParquetSink
from penstock.io.sinks.sink import Batch, Position, Sink
from penstock.plug_ins import PlugIns
from penstock.tuning import DEFAULT, Tuning

__all__ = ["SINKS", "Batch", "MemorySink", "ParquetSink", "Position", "Sink", "SinkSpec", "open_sink", "sink_text"]

SinkSpec: TypeAlias = Callable[[Answer], object] | Sink | str | os.PathLike[str] | Mapping[str, Any] | None

SINKS = PlugIns(
    "penstock.sinks",
    "sink",
    {
        "kafka": "penstock.io.sinks.brokers.kafka:KafkaSink",
        "mqtt": "penstock.io.sinks.brokers.mqtt:MqttSink",
        "mqtts": "penstock.io.sinks.brokers.mqtt:MqttsSink",
        "nats": "penstock.io.sinks.brokers.nats:NatsSink",
        "redis": "penstock.io.sinks.brokers.redis:RedisSink",
        "rediss": "penstock.io.sinks.brokers.redis:RedissSink",
        "ldes": "penstock.io.sinks.ldes:LdesSink",
        "sparql": "penstock.io.sinks.sparql:SparqlSink",
        "webhook": "penstock.io.sinks.webhook:WebhookSink",
        "sqlite": "penstock.io.sinks.databases.sqlite:SqliteSink",
        "postgresql": "penstock.io.sinks.databases.postgresql:PostgresqlSink",
    },
)


def sink_text(spec: SinkSpec) -> str | None:
    """The spec as it can be remembered: an address or absolute path, or None for what lives in this process alone."""
    if isinstance(spec, Mapping):
        return address_text(spec)
    if not isinstance(spec, str | os.PathLike):
        return None
    path = os.fspath(spec)
    if "://" in path:
        return path
    slash = "/" if path.endswith(("/", os.sep)) and path.strip("/") else ""
    return f"{Path(path).absolute()}{slash}"


def open_sink(spec: SinkSpec, kind: str, plug_ins: PlugIns = SINKS, tuning: Tuning = DEFAULT) -> Sink:
    """Return the sink of a spec, for answers of a kind. The ending of a path names its format; a folder ends in "/"."""
    if spec is None:
        return MemorySink(tuning.live_answer_rows)
    if isinstance(spec, Sink):
        return spec
    if isinstance(spec, str | os.PathLike | Mapping):
        return _for_text(sink_text(spec) or "", kind, plug_ins, tuning)
    if callable(spec):
        return FunctionSink(spec)
    raise QueryError(
        f"{spec!r} is not a sink: give a function, a path, or an object with begin, rewind, deliver, close"
    )


def _for_text(text: str, kind: str, plug_ins: PlugIns, tuning: Tuning) -> Sink:
    scheme, _, address = text.partition("://")
    if address:
        sink, _, inner = scheme.partition("+")
        opened = plug_ins.load(sink)(f"{inner}://{address}" if inner else address)
        check_kind(opened, kind)
        return cast(Sink, opened)
    suffix = Path(text).suffix.lower()
    if suffix and suffix not in FILES and plug_ins.find(suffix):
        return cast(Sink, plug_ins.load(suffix)(text))
    return _for_path(text, kind, tuning)


def _for_path(path: str, kind: str, tuning: Tuning) -> Sink:
    if path.endswith("/") or os.path.isdir(path) or Path(path).suffix == ".parquet":
        return ParquetSink(Path(path))
    ending = file_ending(path)
    fitting = ", ".join([ending for ending, (_, can) in FILES.items() if kind in can] + ["or a folder (DIR/)"])
    if ending is None:
        raise QueryError(f"{path}: the ending names no format of answers", hint=f"end it in {fitting}")
    writer, kinds = FILES[ending]
    if kind not in kinds:
        raise QueryError(f"{path}: a {ending} file cannot hold these answers", hint=f"end it in {fitting}")
    if ending == ".jelly":
        check_jelly()
    return FileSink(Path(path), writer, tuning.written_answers)
