"""`penstock explain`: how a query is understood, planned and computed."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import engines
from penstock.cli.base import app, clean_exit
from penstock.cli.inputs import QueryFile, read_query
from penstock.cli.logs import LogFormatOption, LogLevelOption, to_stderr
from penstock.cli.options import (
    BackgroundOption,
    MasterOption,
    QueryArgument,
    SetOption,
    StoreOption,
    StreamOption,
)
from penstock.cli.query_run import EngineOptions, messages_of
from penstock.errors import OptionError, PenstockError

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
Without --run the query is only planned. With --run all input (--background, --stream) is read and the query answered;
then each operator of the plan is computed by itself, and its actual number of rows stands beside the estimate. The time
of an operator includes all operators below it.

\b
Exit code: 0 success, 2 a wrong query or option, 1 any other failure.
"""


class Format(StrEnum):
    """The values of `--format`."""

    text = "text"
    mermaid = "mermaid"
    svg = "svg"
    json = "json"


class Which(StrEnum):
    """The values of `--graph`."""

    o = "o"
    d = "d"
    both = "both"


@app.command("explain", epilog=_EXAMPLES)
def explain_query(
    query: QueryArgument,
    format: Annotated[Format, typer.Option("--format", "-f", help="Output format.")] = Format.text,
    graph: Annotated[
        Which, typer.Option("--graph", "-g", help="The O-Graph (operators), the D-Graph (terms and sources), or both.")
    ] = Which.both,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Output file (default: standard output).")
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Run the query, and show actual rows, state and time beside the estimates.")
    ] = False,
    background: BackgroundOption = [],  # noqa: B006 (typer reads it, nobody writes it)
    stream: StreamOption = [],  # noqa: B006
    store: StoreOption = "oxigraph",
    master: MasterOption = None,
    set_: SetOption = [],  # noqa: B006
    log_level: LogLevelOption = None,
    log_format: LogFormatOption = None,
) -> None:
    """Show how a query is planned: its graphs, the optimiser rules that changed it, and the cost of each operator."""
    with to_stderr(log_level, log_format), clean_exit():
        if not run and (background or stream):
            raise OptionError("--background and --stream are read with --run only")
        file, settings = read_query(query), dict(map(engines.setting, set_))
        if not run:
            _write(_planned(file, settings), format, graph, output)
            return
        with EngineOptions(background, stream, store, master, settings).finished(file, "--run") as finished:
            explanation = finished.explain(run=True)
        _write(explanation, format, graph, output)


def _planned(file: QueryFile, settings: dict[str, str]) -> Explanation:
    from penstock.explain import explain

    rules = engines.rules_of(settings)
    try:
        with messages_of(file):
            return explain(file.text, file.base, rules=rules)
    except OptionError as error:
        raise OptionError(f"--set: {error}") from None


def _write(explanation: Explanation, format: Format, graph: Which, output: str | None) -> None:
    if output is None and format is Format.text and sys.stdout.isatty():
        from rich.console import Console

        from penstock.explain.text import rendered

        Console().print(rendered(explanation, graph.value))
        return
    text: str = getattr(explanation, format.value)(graph.value)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, "utf-8")
    except OSError as error:
        raise PenstockError(f"--output {output}: {error.strerror}") from None
