"""`penstock lift`: prints the triples that a mapping makes of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.base import FAILED, app, clean_exit, complain
from penstock.errors import OptionError, PenstockError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyoxigraph import Quad

    from penstock.lift import Lifted, Lifting
    from penstock.lift.message_references import Said

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock lift readings.ndjson --mapping sensors.ttl
  penstock lift readings.ndjson --mapping context.jsonld --time $.time --limit 10
  penstock lift trips.csv --mapping trips.ttl --time started --time-unit ms
  penstock lift posts.xml --mapping posts.ttl --output turtle
  penstock lift readings.ndjson --mapping rooms.ttl --topic house/kitchen/temperature
  curl -s http://example.org/posts.json | penstock lift - --mapping posts.ttl --format json

\b
A mapping is RML in Turtle, or a JSON-LD context with templates for @id in a file that ends in .json or .jsonld
(docs/how-to/lifting.md). The format is that of the file's ending. With a time, the lines are timestamped N-Quads, which
can be read as a stream; Turtle shows neither times nor graphs. Messages that cannot be lifted go to standard error,
with their number (of the line that is not empty, or of the row) and the reason.

\b
Exit code: 0 success, 1 some messages could not be lifted or a file cannot be read, 2 the mapping or an option is wrong.
"""


class InputFormat(StrEnum):
    """The values of `--format`."""

    json = "json"
    ndjson = "ndjson"
    csv = "csv"
    xml = "xml"


class OutputFormat(StrEnum):
    """The values of `--output`."""

    nquads = "nquads"
    turtle = "turtle"


class Unit(StrEnum):
    """The values of `--time-unit`."""

    iso = "iso"
    s = "s"
    ms = "ms"
    us = "us"


_ENDINGS = {".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv", ".xml": "xml"}


@app.command(epilog=_EXAMPLES)
def lift(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File of messages; - for stdin.", show_default=False)],
    mapping: Annotated[Path, typer.Option("--mapping", "-m", metavar="M", help="Mapping file.", show_default=False)],
    format: Annotated[InputFormat | None, typer.Option("--format", "-f", help="Format of FILE.")] = None,
    time: Annotated[str | None, typer.Option(metavar="REF", help="Where a record has its time.")] = None,
    time_unit: Annotated[Unit, typer.Option("--time-unit", help="iso: xsd:dateTime; else since 1970.")] = Unit.iso,
    time_property: Annotated[
        list[str] | None, typer.Option("--time-property", metavar="IRI", help="Property that has the time.")
    ] = None,
    header: Annotated[str | None, typer.Option(metavar="A,B,…", help="Columns of CSV without a header.")] = None,
    topic: Annotated[str | None, typer.Option(metavar="T", help="What @topic stands for.")] = None,
    key: Annotated[str | None, typer.Option(metavar="K", help="What @key stands for.")] = None,
    message_header: Annotated[
        list[str] | None, typer.Option("--message-header", metavar="NAME=VALUE", help="What @header.NAME stands for.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Print at most N triples.")] = None,
    output: Annotated[OutputFormat, typer.Option("--output", "-o", help="Output format.")] = OutputFormat.nquads,
) -> None:
    """Lift a file of JSON, CSV or XML to RDF, and print the triples."""
    from penstock.lift import Lifting

    with clean_exit():
        lifting = Lifting.from_file(
            mapping,
            time=time,
            time_unit=time_unit.value,
            time_properties=time_property or (),
            header=header,
        )
        origin = _origin(topic, key, message_header or [])
        lifted = lifting.apply_file(_data(file), _format(file, format).value, origin=origin)
        for text in _texts(lifted, lifting, output, limit):
            typer.echo(text, nl=False)
        for failure in lifted.failures:
            complain(f"{file}, message {failure.message}: {failure.reason}")
        for sentence in lifted.absent:
            complain(f"{file}: {sentence}")
    raise typer.Exit(FAILED if lifted.failures else 0)


def _origin(topic: str | None, key: str | None, headers: list[str]) -> Said:
    """What a broker would say of the messages."""
    from penstock.lift.message_references import Said

    pairs = [header.partition("=") for header in headers]
    if wrong := next((name for name, equals, _ in pairs if not name or not equals), None):
        raise OptionError(f"--message-header {wrong}: write NAME=VALUE, as in --message-header unit=km/h")
    said = tuple((name.strip().lower(), value.encode()) for name, _, value in pairs)
    return Said(topic, None if key is None else key.encode(), said)


def _data(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise PenstockError(f"{file}: {error.strerror or error}") from None


def _format(file: str, format: InputFormat | None) -> InputFormat:
    """The format that is said, else that of the file's ending."""
    ending = _ENDINGS.get(Path(file).suffix.lower())
    if format is None and ending is None:
        raise OptionError(f"{file}: the ending does not say the format: add --format json, ndjson, csv or xml")
    return format or InputFormat(ending or "")


def _texts(lifted: Lifted, lifting: Lifting, output: OutputFormat, limit: int | None) -> Iterator[str]:
    from pyoxigraph import RdfFormat, Triple, serialize

    table = lifted.table if limit is None else lifted.table.slice(0, limit)
    if output is OutputFormat.turtle:
        triples = [Triple(quad.subject, quad.predicate, quad.object) for quad in _quads(table)]
        prefixes = {name: iri for name, iri in lifting.prefixes.items() if name and iri}
        yield (serialize(triples, format=RdfFormat.TURTLE, prefixes=prefixes) or b"").decode()
        return
    times = table.column("ts").to_pylist() if "ts" in table.column_names else None
    for place, quad in enumerate(_quads(table)):
        yield f"{quad} .\n" if times is None else _timed(quad, int(times[place] or 0))


def _timed(quad: Quad, time: int) -> str:
    from penstock.stream.base.time_values import stamp

    return f"{quad} {stamp(time)} .\n"


def _quads(table: pa.Table) -> Iterator[Quad]:
    from penstock.model.term_encoding import decode_quad

    graphs = table.column("g").to_pylist() if "g" in table.column_names else [None] * table.num_rows
    columns = (table.column(name).to_pylist() for name in "spo")
    for s, p, o, graph in zip(*columns, graphs, strict=True):
        yield decode_quad(str(s), str(p), str(o), graph)
