"""`penstock run`: queries answered once, and continuous ones over streams."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import engines, output
from penstock.cli.base import BAD_QUERY, FAILED, app, clean_exit, complain, status
from penstock.cli.inputs import QueryFile, read_query, split_graph, stream_spec
from penstock.cli.streaming import Streaming
from penstock.errors import PenstockError, QueryError

if TYPE_CHECKING:
    from penstock.engine import Engine

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock run query.rq --background city.ttl
  penstock run query.rq -b city.ttl -b http://example.org/g=more.nt -f csv
  echo 'ASK { ?s ?p ?o }' | penstock run - -b city.ttl --format json
  penstock run query.rq -b big.nt --store spark --set spark.driver.memory=8g
  penstock run query.rq --store sparql:https://example.org/sparql
  penstock run cars.rq -b city.ttl --stream http://streams.org/citytollgates.trdf=gates.nq.gz
  penstock run cars.rq -s http://streams.org/citytollgates.trdf=listen://127.0.0.1:7007 -f ndjson
  penstock run cars.rq -s http://streams.org/citytollgates.trdf=drop/ --follow --checkpoint state/

\b
A SOURCE is a file of timestamped N-Quads (also .gz) or Parquet, a folder of them, tcp://HOST:PORT to read lines from,
or listen://HOST:PORT to let producers connect. Files run to their end; sockets, and folders with --follow, go on until
Ctrl-C.

\b
Exit code: 0 all queries ran, 2 a query or the name of an option is wrong, 1 anything else went wrong.
"""


@app.command(epilog=_EXAMPLES)
def run(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY.rq", help="Files with a query each; - is stdin.", show_default=False)
    ],
    background: Annotated[
        list[str],
        typer.Option("--background", "-b", metavar="[GRAPH=]FILE", help="RDF to load first; may be given again."),
    ] = [],  # noqa: B006 (typer reads it, nobody writes it)
    stream: Annotated[
        list[str],
        typer.Option("--stream", "-s", metavar="IRI=SOURCE", help="Where a stream comes from; may be given again."),
    ] = [],  # noqa: B006
    format: Annotated[output.Format, typer.Option("--format", "-f", help="How answers are written.")] = (
        output.Format.table
    ),
    follow: Annotated[
        bool, typer.Option("--follow", "--live", help="Go on until Ctrl-C, and watch folders for new files.")
    ] = False,
    lateness: Annotated[
        str | None, typer.Option(metavar="10s", help="How far out of order elements of a stream may come.")
    ] = None,
    idle: Annotated[
        str | None, typer.Option(metavar="10s", help="After how long a silent stream no longer holds others back.")
    ] = None,
    stream_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="trig or jsonld, for sources that do not end in their format.")
    ] = None,
    time_property: Annotated[
        str | None, typer.Option(metavar="IRI", help="What says when a graph was; prov:generatedAtTime unless given.")
    ] = None,
    start_property: Annotated[
        str | None, typer.Option(metavar="IRI", help="What says when a graph began that lasts.")
    ] = None,
    end_property: Annotated[
        str | None, typer.Option(metavar="IRI", help="What says when a graph ended that lasts.")
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where streams and progress are kept, to continue from later.")
    ] = None,
    store: Annotated[
        str, typer.Option(metavar="STORE", help="oxigraph, spark, or sparql:URL for a remote endpoint.")
    ] = "oxigraph",
    master: Annotated[str | None, typer.Option(metavar="URL", help="Spark's master; local[*] unless given.")] = None,
    set_: Annotated[
        list[str], typer.Option("--set", metavar="OPTION=VALUE", help="An option of the engine or of Spark (spark.…).")
    ] = [],  # noqa: B006
) -> None:
    """Answer SPARQL queries over RDF files or an endpoint, and C-SPARQL queries over streams."""
    with clean_exit():
        settings = dict(map(engines.setting, set_))
        texts = [read_query(path) for path in queries]
        job = Streaming(
            queries=texts,
            streams=[stream_spec(spec) for spec in stream],
            format=format,
            follow=follow,
            stream_options={
                "lateness": lateness,
                "idle": idle,
                "format": stream_format,
                "time_property": time_property,
                "start_property": start_property,
                "end_property": end_property,
            },
            query_options={name: settings.pop(name) for name in engines.QUERY_OPTIONS & settings.keys()},
        )
        job.check()
        with ExitStack() as stack:
            with status("Starting Spark…" if store == "spark" or job.needed else "Opening the store…"):
                engine = stack.enter_context(_engine(store, master, settings, checkpoint, job))
            for spec in background:
                graph, file = split_graph(spec)
                with status(f"Loading {file}…"):
                    engine.load(file, graph=graph)
            code = job.run(engine) if job.needed else _answer_all(engine, texts, format)
    raise typer.Exit(code)


def _engine(
    store: str, master: str | None, settings: dict[str, str], checkpoint: str | None, job: Streaming
) -> AbstractContextManager[Engine]:
    """Only continuous queries need more than a store."""
    if not job.needed:
        return engines.open_engine(store, master, settings)
    return engines.open_engine(
        store, master, settings, streams=True, checkpoint=checkpoint, on_progress=job.progress.update
    )


def _answer_all(engine: Engine, queries: list[QueryFile], format: output.Format) -> int:
    return max(_answer(engine, query, format, titled=len(queries) > 1) for query in queries)


def _answer(engine: Engine, query: QueryFile, format: output.Format, *, titled: bool) -> int:
    """Run one query, write its answer, and give its exit code: a failure does not keep the others from running."""
    try:
        with status(f"Answering {query.name}…"):
            text = output.write(engine.query(query.text, base=query.base), format, query.name)
    except PenstockError as error:
        complain(f"{query.place}: {error}")
        return BAD_QUERY if isinstance(error, QueryError) else FAILED
    title = f"{query.name}\n" if titled and format is output.Format.table else ""
    sys.stdout.write(title + text)
    sys.stdout.flush()
    return 0
