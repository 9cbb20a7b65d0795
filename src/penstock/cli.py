"""The command line: `penstock run`, `penstock doctor`, `penstock demo`.

Answers go to standard output and everything else to standard error. Spark is imported only by what uses it, so that
help and queries on the embedded store are quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock import output
from penstock.errors import PenstockError, QueryError

if TYPE_CHECKING:
    from penstock.engine import Engine

__all__ = ["app", "open_engine"]

FAILED, BAD_QUERY, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141  # exit codes; the last two as shells have them

_RDF_FILES = {".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld"}
_ENGINE_OPTIONS: dict[str, Callable[[str], Any]] = {
    "rules": lambda names: [name for name in names.split(",") if name],
}

# \b keeps click from joining the lines, so that they can be copied.
_EXAMPLES = """\b
Examples:
  penstock run query.rq --background city.ttl
  penstock run query.rq -b city.ttl -b http://example.org/g=more.nt -f csv
  echo 'ASK { ?s ?p ?o }' | penstock run - -b city.ttl --format json
  penstock run query.rq -b big.nt --store spark --set spark.driver.memory=8g
  penstock run query.rq --store sparql:https://example.org/sparql

\b
Exit code: 0 all queries ran, 1 something could not be read or started, 2 a query or this command line is wrong.
"""

app = typer.Typer(
    name="penstock",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A query as read, with the name that its answers carry and the place that messages point to."""

    name: str
    place: str
    text: str
    base: str | None


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"penstock {version('penstock')}")
    except PackageNotFoundError:
        typer.echo("penstock, from a directory that is not installed")
    raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Continuous SPARQL on Apache Spark."""


@app.command(epilog=_EXAMPLES)
def run(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY.rq", help="Files with a query each; - is stdin.", show_default=False)
    ],
    background: Annotated[
        list[str],
        typer.Option("--background", "-b", metavar="[GRAPH=]FILE", help="RDF to load first; may be given again."),
    ] = [],  # noqa: B006 (typer reads it, nobody writes it)
    format: Annotated[output.Format, typer.Option("--format", "-f", help="How answers are written.")] = (
        output.Format.table
    ),
    store: Annotated[
        str, typer.Option(metavar="STORE", help="oxigraph, spark, or sparql:URL for a remote endpoint.")
    ] = "oxigraph",
    master: Annotated[str | None, typer.Option(metavar="URL", help="Spark's master; local[*] unless given.")] = None,
    set_: Annotated[
        list[str], typer.Option("--set", metavar="OPTION=VALUE", help="An option of the engine or of Spark (spark.…).")
    ] = [],  # noqa: B006
) -> None:
    """Answer SPARQL queries over RDF files or an endpoint."""
    with _clean_exit():
        texts = [_read_query(path) for path in queries]
        with ExitStack() as stack:
            with _status("Starting Spark…" if store == "spark" else "Opening the store…"):
                engine = stack.enter_context(open_engine(store, master, dict(map(_setting, set_))))
            for spec in background:
                graph, file = split_graph(spec)
                with _status(f"Loading {file}…"):
                    engine.load(file, graph=graph)
            failures = [_answer(engine, query, format, titled=len(texts) > 1) for query in texts]
    raise typer.Exit(max(failures))


@app.command()
def doctor(
    full: Annotated[bool, typer.Option("--full", help="Also start Spark, which takes some seconds.")] = False,
) -> None:
    """Say what is missing on this machine, and how to get it."""
    from penstock import doctor as examine

    with _clean_exit():
        with _status("Looking…"):
            results = list(examine.checks(full))
        output.print_checks(results)
    raise typer.Exit(0 if examine.healthy(results) else FAILED)


@app.command()
def demo() -> None:
    """Show Penstock answering, on a small city that comes with it."""
    from penstock import demo as show

    with _clean_exit():
        show.play(lambda: open_engine("spark", None, {}))


@contextmanager
def open_engine(store: str, master: str | None, options: dict[str, str]) -> Iterator[Engine]:
    """The engine for a command. Of the options, those named `spark.…` are Spark's settings, the others the engine's."""
    from penstock import Engine

    settings = {name: value for name, value in options.items() if name.startswith("spark.")}
    others = {name: _engine_option(name)(value) for name, value in options.items() if name not in settings}
    with _spark(store, master, settings):
        try:
            engine = Engine(background=store, master=master, **others)
        except ValueError as error:
            raise PenstockError(f"--set: {error}") from None
        with engine:
            yield engine


def _engine_option(name: str) -> Callable[[str], Any]:
    try:
        return _ENGINE_OPTIONS[name]
    except KeyError:
        known = ", ".join(_ENGINE_OPTIONS)
        raise PenstockError(
            f"--set {name}: there is no such option; there are {known}, and Spark's (spark.…)"
        ) from None


@contextmanager
def _spark(store: str, master: str | None, settings: dict[str, str]) -> Iterator[None]:
    """The embedded session with settings of the user's, for the engine to share; without settings it starts its own."""
    if store != "spark" and (master or settings):
        option = f"--set {next(iter(settings))}" if settings else "--master"
        raise PenstockError(f"{option}: only --store spark uses Spark")
    if not settings:
        yield
        return
    from penstock.spark import session

    started = session.start(master, **settings)
    try:
        yield
    finally:
        session.stop(started)


def split_graph(spec: str) -> tuple[str | None, str]:
    """`[GRAPH=]FILE` in its parts. An IRI may hold `=`, and so may a file name: what exists decides."""
    if "=" not in spec or Path(spec).exists():
        return None, spec
    cuts = [place for place, letter in enumerate(spec) if letter == "="]
    cut = next((cut for cut in cuts if Path(spec[cut + 1 :]).exists()), cuts[-1])
    return spec[:cut], spec[cut + 1 :]


def _read_query(path: str) -> QueryFile:
    file = Path(path)
    if file.suffix in _RDF_FILES:
        raise PenstockError(f"{path} looks like data: give each file its own --background")
    try:
        text = _text(sys.stdin.buffer.read() if path == "-" else file.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise PenstockError(f"{path}: the query cannot be read: {reason}") from None
    if path == "-":
        return QueryFile("stdin", "stdin", text, None)
    return QueryFile(file.stem, path, text, file.resolve().as_uri())


def _text(data: bytes) -> str:
    """A query never holds a zero, and a binary file nearly always does."""
    if b"\0" in data:
        raise ValueError("binary")
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise PenstockError(f"--set {text}: write it as option=value")
    return name, value


def _answer(engine: Engine, query: QueryFile, format: output.Format, *, titled: bool) -> int:
    """Run one query, write its answer, and give its exit code: a failure does not keep the others from running."""
    try:
        with _status(f"Answering {query.name}…"):
            text = output.write(engine.query(query.text, base=query.base), format, query.name)
    except PenstockError as error:
        _complain(f"{query.place}: {error}")
        return BAD_QUERY if isinstance(error, QueryError) else FAILED
    title = f"{query.name}\n" if titled and format is output.Format.table else ""
    sys.stdout.write(title + text)
    sys.stdout.flush()
    return 0


def _complain(message: str) -> None:
    typer.echo(message, err=True)


@contextmanager
def _clean_exit() -> Iterator[None]:
    """Whatever happens, one sentence or silence: no stack trace for what is not a bug."""
    try:
        if sys.stdout is None:
            raise PenstockError("standard output is closed")
        yield
        sys.stdout.flush()
    except PenstockError as error:
        _complain(str(error))
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:  # a full disk, or a reader such as `head` that has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(BROKEN_PIPE) from None
        _complain(f"standard output: {error.strerror}")
        raise typer.Exit(FAILED) from None


def _status(message: str) -> Any:
    """A spinner for people; nothing where standard error is a file."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(message)
