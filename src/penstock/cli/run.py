"""`penstock run`: one-shot queries over RDF data, and continuous queries over streams."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import engines, output, project
from penstock.cli.base import app, clean_exit, complain, exit_code, status
from penstock.cli.inputs import QueryFile, input_bytes, read_query, stream_spec
from penstock.cli.logs import LogFormatOption, LogLevelOption, to_stderr
from penstock.cli.options import BackgroundOption, MasterOption, SetOption, StoreOption, StreamOption
from penstock.cli.query_run import load_background
from penstock.cli.stream_run import Streaming, warnings_of
from penstock.errors import PenstockError

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
  penstock run cars.rq -s http://streams.org/citytollgates.trdf=drop/ --follow --log-level info --log-format json
  penstock run city.toml
  penstock run city.toml --watch

\b
A SOURCE is a file of timestamped N-Quads (also .gz) or Parquet, a folder of such files, tcp://HOST:PORT to read lines
from a server, or listen://HOST:PORT to accept connections of producers. Files are read to their end; sockets, and
folders with --follow, are read until Ctrl-C or SIGTERM: then all that is due is answered.

\\b
A project file (.toml) has background, streams, queries, sinks and options: each of its tables is one call of Python
(docs/how-to/project-file.md). Changed while it runs, it is read again with --watch, or when SIGHUP comes.

\b
Log records (--log-level) go to standard error: starts and rounds, dead letters, slow rounds with the reason, queries
that fail with the traceback, plans that the optimiser did not use. A warning or an error is printed without it, too.

\b
Exit code: 0 all queries ran, 2 a wrong query or option, 1 any other failure; 130 after Ctrl-C and 143 after SIGTERM,
unless a live run was ended by it.
"""


@app.command(epilog=_EXAMPLES)
def run(
    context: typer.Context,
    queries: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY.rq",
            help="Files with a query each, or a project file; - reads standard input.",
            show_default=False,
        ),
    ],
    background: BackgroundOption = [],  # noqa: B006 (typer reads it, nobody writes it)
    stream: StreamOption = [],  # noqa: B006
    format: Annotated[output.Format, typer.Option("--format", "-f", help="Output format of the answers.")] = (
        output.Format.table
    ),
    follow: Annotated[
        bool, typer.Option("--follow", "--live", help="Run until Ctrl-C, and watch folders for new files.")
    ] = False,
    lateness: Annotated[
        str | None,
        typer.Option(metavar="10s", help="Allowed lateness: how far the watermark stays behind the newest timestamp."),
    ] = None,
    idle: Annotated[
        str | None,
        typer.Option(metavar="10s", help="Idle timeout: a stream without elements no longer holds back the watermark."),
    ] = None,
    max_ahead: Annotated[
        str | None,
        typer.Option(
            metavar="1d|off", help="Live: an element further ahead of the clock is a dead letter (default 1d)."
        ),
    ] = None,
    stream_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="trig or jsonld, for sources without such a file extension.")
    ] = None,
    time_property: Annotated[
        str | None,
        typer.Option(metavar="IRI", help="Property with a graph's timestamp (default prov:generatedAtTime)."),
    ] = None,
    start_property: Annotated[
        str | None, typer.Option(metavar="IRI", help="Property with the start time of a graph that has a duration.")
    ] = None,
    end_property: Annotated[
        str | None, typer.Option(metavar="IRI", help="Property with the end time of a graph that has a duration.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Checkpoint folder: stream log and progress, to resume from after a stop."),
    ] = None,
    rounds: Annotated[
        str | None,
        typer.Option(
            metavar="spark|auto",
            help="spark: each round is a job of Spark's; auto: this process evaluates rounds of a few elements itself.",
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Of a project file: run until Ctrl-C, and follow changes of the file.")
    ] = False,
    store: StoreOption = "oxigraph",
    master: MasterOption = None,
    set_: SetOption = [],  # noqa: B006
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = None,
) -> None:
    """Answer SPARQL queries over RDF files or an endpoint, and C-SPARQL queries over streams."""
    with to_stderr(log_level, log_format), clean_exit():
        if project.is_project(queries, watch=watch):
            project.check_flags(context)
            raise typer.Exit(project.run_project(queries[0], format, follow=follow, watch=watch))
        engines.check_checkpoint(checkpoint)  # before Java is started
        settings, query_options = engines.split_settings(dict(map(engines.setting, set_)))
        streams = [stream_spec(spec) for spec in stream]
        settings |= {} if rounds is None else {"rounds": rounds}
        if stream or store == "spark":
            bounded = not follow and checkpoint is None
            size = input_bytes(stream, background) if bounded else None
            engines.begin_spark(master, settings, size, streams=bool(stream))
        texts = [read_query(path) for path in queries]
        job = Streaming(
            queries=texts,
            streams=streams,
            format=format,
            follow=follow,
            stream_options={
                "lateness": lateness,
                "idle": idle,
                "max_ahead": max_ahead,
                "format": stream_format,
                "time_property": time_property,
                "start_property": start_property,
                "end_property": end_property,
            },
            query_options=query_options,
        )
        job.check()
        with ExitStack() as stack:
            with status("Starting Spark…" if store == "spark" or job.needed else "Opening the store…"):
                engine = stack.enter_context(_engine(store, master, settings, checkpoint, job))
            load_background(engine, background)
            code = job.run(engine) if job.needed else _answer_all(engine, texts, format)
    raise typer.Exit(code)


def _engine(
    store: str, master: str | None, settings: dict[str, str], checkpoint: str | None, job: Streaming
) -> AbstractContextManager[Engine]:
    """The engine for the queries; without continuous queries, only its store."""
    if not job.needed:
        return engines.open_engine(store, master, settings)
    return engines.open_engine(
        store, master, settings, streams=True, checkpoint=checkpoint, on_progress=job.progress.update
    )


def _answer_all(engine: Engine, queries: list[QueryFile], format: output.Format) -> int:
    return max(_answer(engine, query, format, titled=len(queries) > 1) for query in queries)


def _answer(engine: Engine, query: QueryFile, format: output.Format, *, titled: bool) -> int:
    """Run one query, write its answer, and return its exit code; the other queries run even if it fails."""
    try:
        with warnings_of(query), status(f"Answering {query.name}…"):
            text = output.write(engine.query(query.text, base=query.base), format, query.name)
    except PenstockError as error:
        complain(f"{query.place}: {error}")
        return exit_code(error)
    title = f"{query.name}\n" if titled and format is output.Format.table else ""
    sys.stdout.write(title + text)
    sys.stdout.flush()
    return 0
