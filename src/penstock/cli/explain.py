"""`penstock explain`: how a query is understood, planned and computed."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import engines
from penstock.cli.base import BAD_QUERY, app, clean_exit, complain, status
from penstock.cli.inputs import QueryFile, read_query, split_graph, stream_spec
from penstock.cli.streaming import warnings_of
from penstock.errors import PenstockError, QueryError

if TYPE_CHECKING:
    from penstock.explain import Explanation

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock explain cars.rq
  penstock explain cars.rq --format svg --output cars.svg
  penstock explain cars.rq --graph d --format mermaid
  penstock explain cars.rq --run --background city.ttl --stream http://streams.org/citytollgates.trdf=gates.nq
  echo 'ASK { ?s ?p ?o }' | penstock explain - --format json

\b
Without --run nothing is read and nothing computed. With it, all input is read and the query answered over it; then
each part of its plan is computed by itself, and the rows that were expected stand beside those that were found. The
time beside a part is that of the part with all below it.

\b
Exit code: 0 it is written, 2 the query or the name of an option is wrong, 1 anything else went wrong.
"""


class Format(StrEnum):
    """How an explanation is written."""

    text = "text"
    mermaid = "mermaid"
    svg = "svg"
    json = "json"


class Which(StrEnum):
    """Operators, what they speak about, or both with the rest."""

    o = "o"
    d = "d"
    both = "both"


@app.command("explain", epilog=_EXAMPLES)
def explain_query(
    query: Annotated[str, typer.Argument(metavar="QUERY.rq", help="A file with a query; - is stdin.")],
    format: Annotated[Format, typer.Option("--format", "-f", help="How it is written.")] = Format.text,
    graph: Annotated[
        Which, typer.Option("--graph", "-g", help="The O-Graph (operators), the D-Graph (terms and sources), or both.")
    ] = Which.both,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; standard output unless given.")
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Run it, and tell estimated beside actual rows, state and time.")
    ] = False,
    background: Annotated[
        list[str], typer.Option("--background", "-b", metavar="[GRAPH=]FILE", help="RDF to load first, for --run.")
    ] = [],  # noqa: B006 (typer reads it, nobody writes it)
    stream: Annotated[
        list[str], typer.Option("--stream", "-s", metavar="IRI=FILE", help="Where a stream comes from, for --run.")
    ] = [],  # noqa: B006
    store: Annotated[
        str, typer.Option(metavar="STORE", help="oxigraph, spark, or sparql:URL for a remote endpoint.")
    ] = "oxigraph",
    master: Annotated[str | None, typer.Option(metavar="URL", help="Spark's master; local[*] unless given.")] = None,
    set_: Annotated[
        list[str], typer.Option("--set", metavar="OPTION=VALUE", help="An option of the engine or of Spark (spark.…).")
    ] = [],  # noqa: B006
) -> None:
    """Show how a query is understood and planned: its graphs, the rules that changed it, and what each part costs."""
    code = 0
    with clean_exit():
        if not run and (background or stream):
            raise PenstockError("--background and --stream are read with --run only")
        file, settings = read_query(query), dict(map(engines.setting, set_))
        try:
            with warnings_of(file):
                found = _ran(file, background, stream, store, master, settings) if run else _planned(file, settings)
            _write(found, format, graph, output)
        except QueryError as error:
            complain(f"{file.place}: {error}")
            code = BAD_QUERY
    raise typer.Exit(code)


def _planned(file: QueryFile, settings: dict[str, str]) -> Explanation:
    from penstock.explain import explain

    try:
        return explain(file.text, file.base, rules=engines.rules_of(settings))
    except ValueError as error:
        raise PenstockError(f"--set: {error}") from None


def _ran(
    file: QueryFile, background: list[str], stream: list[str], store: str, master: str | None, settings: dict[str, str]
) -> Explanation:
    """The answers themselves are not wanted."""
    streams = [stream_spec(spec) for spec in stream]
    if any(each.endless for each in streams):
        raise PenstockError("--run reads streams to their end: give files or folders")
    options = {name: settings.pop(name) for name in engines.QUERY_OPTIONS & settings.keys()}
    with status("Running…"), engines.open_engine(store, master, settings, streams=True) as engine:
        for spec in background:
            graph, path = split_graph(spec)
            engine.load(path, graph=graph)
        for each in streams:
            engine.stream(each.iri, each.source)
        name = None if file.registered else file.name
        query = engine.register(file.text, name=name, base=file.base, sink=lambda answer: None, **options)
        engine.run()
        return query.explain(run=True)


def _write(found: Explanation, format: Format, graph: Which, output: str | None) -> None:
    if output is None and format is Format.text and sys.stdout.isatty():
        from rich.console import Console

        from penstock.explain.text import rendered

        Console().print(rendered(found, graph.value))
        return
    text: str = getattr(found, format.value)(graph.value)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, "utf-8")
    except OSError as error:
        raise PenstockError(f"--output {output}: {error.strerror}") from None
