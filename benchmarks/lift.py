"""Messages lifted to elements: JSON by a context, JSON and CSV by RML, in one process and in two."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from multiprocessing import get_context

from pyoxigraph import RdfFormat, parse
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.common import Effort, seconds
from benchmarks.report import Section, at_least
from penstock.io.nquads_slow import encoded
from penstock.lift import Lifting

MESSAGES, BATCH, RUNS = 400_000, 20_000, 3
DOCUMENTS = 20_000  # for the comparison, which is slow
BAR = 100_000  # messages of JSON a second, in two processes

CONTEXT = {
    "@context": {"@vocab": "http://example.org/", "id": None, "time": None},
    "@id": "http://example.org/sensor/{id}",
    "@type": "Sensor",
    "room": {"@id": "http://example.org/room/{id}"},
}
RML = """
@prefix rml: <http://w3id.org/rml/> .  @prefix : <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Sensor rml:logicalSource [ rml:referenceFormulation rml:%s ];
  rml:subjectMap [ rml:template "http://example.org/sensor/{id}"; rml:class :Sensor ];
  rml:predicateObjectMap
    [ rml:predicate :temperature; rml:objectMap [ rml:reference "temperature"; rml:datatype xsd:decimal ] ],
    [ rml:predicate :humidity; rml:objectMap [ rml:reference "humidity"; rml:datatype xsd:integer ] ],
    [ rml:predicate :unit; rml:objectMap [ rml:reference "unit" ] ],
    [ rml:predicate :room; rml:objectMap [ rml:template "http://example.org/room/{%s}" ] ].
"""
CSV_HEADER = "id,temperature,humidity,time,unit,room"


def generate(count: int) -> tuple[list[bytes], list[bytes]]:
    """Readings of sensors, as JSON and as rows of CSV."""
    chance, moment = random.Random(2026), datetime(2026, 1, 1)
    objects, rows = [], []
    for _ in range(count):
        moment += timedelta(milliseconds=chance.randrange(20))
        room = chance.randrange(50)
        reading = {
            "id": f"s{chance.randrange(5_000)}",
            "temperature": round(chance.uniform(-10, 40), 2),
            "humidity": chance.randrange(100),
            "time": f"{moment.isoformat(timespec='milliseconds')}Z",
            "unit": "Cel",
        }
        objects.append(json.dumps(reading | {"room": {"id": room, "name": f"Room {room}"}}).encode())
        rows.append(",".join(map(str, [*reading.values(), room])).encode())
    return objects, rows


def by_context(messages: list[bytes]) -> int:
    return _LIFTINGS["context"].apply(messages).table.num_rows


def by_rml(messages: list[bytes]) -> int:
    return _LIFTINGS["rml"].apply(messages).table.num_rows


def of_csv(messages: list[bytes]) -> int:
    return _LIFTINGS["csv"].apply(messages).table.num_rows


def by_documents(messages: list[bytes]) -> int:
    """The same triples as by the context, from pyoxigraph's parser, a message at a time."""
    context, rows = json.dumps(CONTEXT["@context"]), 0
    for message in messages:
        reading = json.loads(message)
        reading["room"]["@id"] = f"http://example.org/room/{reading['room']['id']}"
        named = json.dumps({"@id": f"http://example.org/sensor/{reading['id']}", "@type": "Sensor", **reading})
        document = f'{{"@context": {context}, {named[1:]}'.encode()
        rows += len([tuple(encoded(term, "") for term in quad.triple) for quad in parse(document, RdfFormat.JSON_LD)])
    return rows


_LIFTINGS = {
    "context": Lifting.from_text(json.dumps(CONTEXT), time="$.time"),
    "rml": Lifting.from_text(RML % ("JSONPath", "room.id"), time="$.time"),
    "csv": Lifting.from_text(RML % ("CSV", "room"), time="time", header=CSV_HEADER),
}


def speed(
    work: Callable[[list[bytes]], int], messages: list[bytes], pool: ProcessPoolExecutor | None, runs: int
) -> float:
    """Messages a second, the median of some runs after one to warm up. The batches are sent to the processes too."""
    batches = [messages[start : start + BATCH] for start in range(0, len(messages), BATCH)]
    each = partial(_run, work, batches, pool)
    times = [seconds(each) for _ in range(runs + 1)][1:]
    return len(messages) / statistics.median(times)


def _run(work: Callable[[list[bytes]], int], batches: list[list[bytes]], pool: ProcessPoolExecutor | None) -> int:
    return sum(map(work, batches) if pool is None else pool.map(work, batches))


def section(spark: SparkSession, effort: Effort, console: Console) -> Section:
    """Messages a second by each mapping, beside pyoxigraph message by message."""
    count, runs = effort.of(MESSAGES, BATCH), effort.runs(RUNS)
    objects, rows = generate(count)
    assert by_context(objects[:1_000]) == by_documents(objects[:1_000])
    works = {"JSON by a context": (by_context, objects), "JSON by RML": (by_rml, objects), "CSV by RML": (of_csv, rows)}
    found: dict[str, tuple[float, float]] = {}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for name, (work, messages) in works.items():
            console.print(f"measuring: {name}", style="dim")
            found[name] = (speed(work, messages, None, runs), speed(work, messages, pool, runs))
        documents = speed(by_documents, objects[:DOCUMENTS], None, 1)
    cells = [
        (name, f"{one:,.0f}", f"{two:,.0f}", f"{one / documents:.1f}" if name == "JSON by a context" else "–")
        for name, (one, two) in found.items()
    ]
    cells.append(("JSON-LD by pyoxigraph, message by message", f"{documents:,.0f}", "–", "1.0"))
    bars = [
        at_least(f"{name}, two processes, messages a second", two, BAR)
        for name, (_, two) in found.items()
        if name.startswith("JSON")
    ]
    size = sum(map(len, objects)) / count
    title = f"{count:,} messages of {size:.0f} bytes of JSON, 5 or 6 triples each, median of {runs} runs"
    return Section(title, ("mapping", "one process, messages/s", "two processes", "ratio"), cells, bars)
